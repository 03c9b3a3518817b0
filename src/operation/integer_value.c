/*
 * integer_value.c
 *	  Exact sums of integers as SQL values.
 */
#include "compat.h"

#include "utils/cash.h"
#include "utils/fmgrprotos.h"

#include "operation/integer_value.h"
#include "operation/numeric_variance.h"

/* Numerics hold four decimal digits in each of theirs: so many are cut off at a time. */
#define PART_DIGITS 16
#define PART		UINT64CONST(10000000000000000)

/* Divides the n words, least significant first, by PART; returns the remainder. */
static uint64
cut_off(uint64 *words, int n)
{
	uint64 rest = 0;

	for (int i = n - 1; i >= 0; i--)
	{
		unsigned __int128 above = (unsigned __int128) rest << 64 | words[i];

		words[i] = (uint64) (above / PART);
		rest = (uint64) (above % PART);
	}
	return rest;
}

/* The number that n > 0 words hold, least significant first; leaves them in disorder. */
static Numeric
words_to_numeric(uint64 *words, int n, bool negative)
{
	Numeric result = NULL;
	bool last = false;

	for (int power = 0; !last; power += PART_DIGITS)
	{
		int64 part;
		Numeric value;

		while (n > 1 && words[n - 1] == 0)
			n--;
		last = n == 1 && words[0] < PART;
		part = (int64) (last ? words[0] : cut_off(words, n));
		value = int64_div_fast_to_numeric(negative ? -part : part, -power);
		if (result != NULL)
			value = DatumGetNumeric(
				DirectFunctionCall2(numeric_add, NumericGetDatum(value), NumericGetDatum(result)));
		result = value;
	}
	return result;
}

/* The magnitude of a number of n words in two's complement; returns whether it was negative. */
static bool
make_magnitude(uint64 *words, int n)
{
	bool negative = (int64) words[n - 1] < 0;
	uint64 carry = 1;

	for (int i = 0; i < n && negative; i++)
	{
		words[i] = ~words[i] + carry;
		carry &= words[i] == 0;
	}
	return negative;
}

/* Groups of four digits of the magnitude, the lowest first; returns how many. */
static int
groups_of(unsigned __int128 magnitude, uint16 *group)
{
	int n = 0;
	uint64 rest;

	while (magnitude > PG_UINT64_MAX)
	{
		uint64 low = (uint64) (magnitude % UINT64CONST(10000000000000000));

		magnitude /= UINT64CONST(10000000000000000);
		for (int i = 0; i < 4; i++, low /= 10000)
			group[n++] = (uint16) (low % 10000);
	}
	for (rest = (uint64) magnitude; rest > 0; rest /= 10000)
		group[n++] = (uint16) (rest % 10000);
	return n;
}

/* In the short form (numeric_read.h), without the groups of zeros at its end. */
Numeric
gpuagg_int128_to_numeric(GpuaggInt128 value)
{
	bool negative = value.hi < 0;
	uint16 group[10]; /* 2^127 has 39 digits */
	int n = groups_of(gpuagg_int128_wide(negative ? gpuagg_int128_neg(value) : value), group);
	int zeros = 0;
	Size size;
	char *result;
	uint16 *word;

	while (zeros < n && group[zeros] == 0)
		zeros++;
	size = VARHDRSZ + sizeof(uint16) * (1 + n - zeros);
	result = palloc(size);
	SET_VARSIZE(result, size);
	word = (uint16 *) VARDATA(result);
	*word++ = 0x8000 | (negative ? 0x2000 : 0) | (n > 0 ? n - 1 : 0);
	for (int i = n - 1; i >= zeros; i--)
		*word++ = group[i];
	return (Numeric) result;
}

Datum
gpuagg_money_value(GpuaggInt128 sum)
{
	if (!gpuagg_int128_is_int64(sum))
		ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("money out of range")));
	return CashGetDatum((Cash) sum.lo);
}

Datum
gpuagg_int_average(int64 n, GpuaggInt128 sum)
{
	return DirectFunctionCall2(numeric_div, NumericGetDatum(gpuagg_int128_to_numeric(sum)),
							   NumericGetDatum(int64_to_numeric(n)));
}

/* into = a * b, of na + nb words. */
static void
multiply(uint64 *into, const uint64 *a, int na, const uint64 *b, int nb)
{
	memset(into, 0, (na + nb) * sizeof(uint64));
	for (int i = 0; i < na; i++)
	{
		uint64 carry = 0;

		for (int k = 0; k < nb; k++)
		{
			/* at most (2^64 - 1)^2 + 2 * (2^64 - 1), which is 2^128 - 1 */
			unsigned __int128 sum = (unsigned __int128) a[i] * b[k] + into[i + k] + carry;

			into[i + k] = (uint64) sum;
			carry = (uint64) (sum >> 64);
		}
		into[i + nb] = carry;
	}
}

/* a -= b, of n words. */
static void
subtract(uint64 *a, const uint64 *b, int n)
{
	unsigned __int128 borrow = 0;

	for (int i = 0; i < n; i++)
	{
		unsigned __int128 difference = (unsigned __int128) a[i] - b[i] - borrow;

		a[i] = (uint64) difference;
		borrow = difference >> 64 != 0;
	}
}

/*
 * n * squares - sum * sum over n * n or n * (n - 1).  Both products are at most
 * n^2 * 2^126, below 2^255 for the n of the width table, so that four words hold
 * them and the sign of their difference.
 */
Datum
gpuagg_int_variance(const GpuaggIntSum *acc, bool sample, bool root, bool *isnull)
{
	uint64 n[] = {(uint64) acc->n};
	uint64 others = sample ? n[0] - 1 : n[0];
	uint64 sum[] = {acc->sum.lo, (uint64) acc->sum.hi};
	uint64 above[GPUAGG_INT192_WORDS + 1];
	uint64 square[lengthof(above)];
	uint64 below[2];

	*isnull = acc->n < (sample ? 2 : 1);
	if (*isnull)
		return (Datum) 0;
	multiply(above, acc->squares, GPUAGG_INT192_WORDS, n, 1);
	(void) make_magnitude(sum, lengthof(sum));
	multiply(square, sum, lengthof(sum), sum, lengthof(sum));
	subtract(above, square, lengthof(above));
	if ((int64) above[lengthof(above) - 1] < 0) /* of no integers at all */
		memset(above, 0, sizeof(above));
	multiply(below, n, 1, &others, 1);
	return gpuagg_numeric_ratio_variance(words_to_numeric(above, lengthof(above), false),
										 words_to_numeric(below, lengthof(below), false), root);
}
