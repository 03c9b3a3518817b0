/*
 * decimal.c
 *	  Integers with decimal places as numeric.
 */
#include "types/decimal.h"

#include "utils/fmgrprotos.h"

#include "common/decimal_quotient.h"
#include "common/power_of_ten.h"

/* Numerics hold four decimal digits in each of theirs: so many of these are cut off at a time. */
#define CUT_GROUPS 4
#define CUT		   UINT64CONST(10000000000000000)
#define CUT_HALF   100000000
#define MAX_GROUPS 20 /* 2^256 has 78 digits */

/* Divides the n words, least significant first, by CUT; returns the remainder. */
static uint64
cut_off(uint64 *words, int n)
{
	uint64 rest = 0;

	for (int i = n - 1; i >= 0; i--)
	{
		uint64 quotient = rest == 0 ? words[i] / CUT
									: (uint64) (((unsigned __int128) rest << 64 | words[i]) / CUT);

		rest = words[i] - quotient * CUT;
		words[i] = quotient;
	}
	return rest;
}

/* Puts two groups, of v < 10^8, the lower one first; returns how many v has. */
static inline int
put_groups(uint32 v, uint16 *group)
{
	group[0] = (uint16) (v % 10000);
	group[1] = (uint16) (v / 10000);
	return group[1] != 0 ? 2 : group[0] != 0;
}

/* Groups of four digits of what n words hold, the lowest first; returns how many.  Spoils the words. */
static int
groups_of(uint64 *words, int n, uint16 *group)
{
	int count = 0;
	uint64 rest;

	for (;;)
	{
		uint64 low;

		while (n > 1 && words[n - 1] == 0)
			n--;
		if (n == 1)
			break;
		low = cut_off(words, n);
		(void) put_groups((uint32) (low % CUT_HALF), group + count);
		(void) put_groups((uint32) (low / CUT_HALF), group + count + 2);
		count += CUT_GROUPS;
	}
	for (rest = words[0]; rest >= CUT_HALF; rest /= CUT_HALF)
	{
		(void) put_groups((uint32) (rest % CUT_HALF), group + count);
		count += CUT_GROUPS / 2;
	}
	return count + put_groups((uint32) rest, group + count);
}

/* Of groups as above, `fraction` of them behind the point. */
static inline Numeric
from_groups(const uint16 *group, int count, bool negative, int scale, int fraction)
{
	int weight = count > 0 ? count - fraction - 1 : 0;
	bool is_long = scale > 63 || weight < -64;
	int zeros = 0;
	Size size;
	char *result;
	uint16 *word;

	while (zeros < count && group[zeros] == 0)
		zeros++;
	size = VARHDRSZ + sizeof(uint16) * (1 + is_long + count - zeros);
	result = palloc(size);
	SET_VARSIZE(result, size);
	word = (uint16 *) VARDATA(result);
	if (is_long)
	{
		*word++ = (negative ? 0x4000 : 0) | scale;
		*word++ = (uint16) weight;
	}
	else
		*word++ = 0x8000 | (negative ? 0x2000 : 0) | scale << 7 | (weight & 0x7f);
	for (int i = count - 1; i >= zeros; i--)
		*word++ = group[i];
	return (Numeric) result;
}

Numeric
gpuagg_decimal_words(uint64 *words, int n, bool negative, int scale, int places)
{
	uint16 group[MAX_GROUPS];
	int count = groups_of(words, n, group);

	return from_groups(group, count, negative, scale, places);
}

/* The same of a number of one word. */
static inline Numeric
from_word(uint64 v, bool negative, int scale, int fraction)
{
	uint16 group[CUT_GROUPS + 1];
	uint64 low = v % CUT;
	int count = put_groups((uint32) (low % CUT_HALF), group);
	int above = put_groups((uint32) (low / CUT_HALF), group + CUT_GROUPS / 2);

	group[CUT_GROUPS] = (uint16) (v / CUT);
	if (group[CUT_GROUPS] != 0)
		count = CUT_GROUPS + 1;
	else if (above > 0)
		count = CUT_GROUPS / 2 + above;
	return from_groups(group, count, negative, scale, fraction);
}

/* By which a number with so many decimal places becomes one of whole groups. */
static inline uint64
power_of_group(int places)
{
	static const uint64 powers[] = {1, 1000, 100, 10};

	return powers[places % 4];
}

/* The same of a number whose last digit is number `places` behind the point, and whose last word is 0. */
static Numeric
from_words(uint64 *words, int n, bool negative, int places, int scale)
{
	uint64 power = power_of_group(places);
	unsigned __int128 carry = 0;

	for (int i = 0; i < n && power > 1; i++)
	{
		carry += (unsigned __int128) words[i] * power;
		words[i] = (uint64) carry;
		carry >>= 64;
	}
	return gpuagg_decimal_words(words, n, negative, scale, (places + 3) / 4);
}

static Numeric
from_magnitude(unsigned __int128 magnitude, bool negative, int places, int scale)
{
	uint64 words[] = {(uint64) magnitude, (uint64) (magnitude >> 64), 0};

	if (magnitude <= PG_UINT64_MAX / 1000)
		return from_word(words[0] * power_of_group(places), negative, scale, (places + 3) / 4);
	return from_words(words, lengthof(words), negative, places, scale);
}

Numeric
gpuagg_decimal_total_to_numeric(const uint64 *total, int scale)
{
	bool negative = (int64) total[2] < 0;
	uint64 words[] = {total[0], total[1], total[2], 0};
	uint64 carry = negative ? 1 : 0;

	for (int i = 0; i < 3 && negative; i++)
	{
		words[i] = ~words[i] + carry;
		carry = carry != 0 && words[i] == 0;
	}
	return from_words(words, lengthof(words), negative, scale, scale);
}

static unsigned __int128
magnitude_of(GpuaggInt128 value)
{
	unsigned __int128 wide = (unsigned __int128) gpuagg_int128_wide(value);

	return value.hi < 0 ? -wide : wide;
}

Numeric
gpuagg_decimal_display(GpuaggInt128 value, int places, int scale)
{
	return from_magnitude(magnitude_of(value), value.hi < 0, places, scale);
}

Numeric
gpuagg_decimal_to_numeric(GpuaggInt128 value, int scale)
{
	Assert(scale >= 0 && scale <= NUMERIC_MAX_PRECISION);
	return gpuagg_decimal_display(value, scale, scale);
}

Numeric
gpuagg_decimal_divide(GpuaggInt128 value, int places, int scale, int64 n)
{
	GpuaggQuotient quotient;

	if (gpuagg_decimal_quotient(magnitude_of(value), places, scale, (uint64) n, &quotient))
		/* a quotient other than 0 has digits before it is rounded */
		return from_magnitude(quotient.value, value.hi < 0, quotient.scale, quotient.scale);
	return DatumGetNumeric(
		DirectFunctionCall2(numeric_div,
							NumericGetDatum(gpuagg_decimal_display(value, places, scale)),
							NumericGetDatum(int64_to_numeric(n))));
}

bool
gpuagg_decimal_divide_integer(GpuaggInt128 value, int places, int64 n, int scale,
							  GpuaggInt128 *result)
{
	GpuaggQuotient quotient;
	unsigned __int128 magnitude;
	int more;

	if (!gpuagg_decimal_quotient(magnitude_of(value), places, places, (uint64) n, &quotient))
		return false;
	more = scale - quotient.scale;
	if (more < 0 || gpuagg_decimal_digits(quotient.value) + more > GPUAGG_INT128_DIGITS)
		return false;
	magnitude = quotient.value * (unsigned __int128) gpuagg_power_of_ten(more);
	*result = gpuagg_int128_narrow((__int128) (value.hi < 0 ? -magnitude : magnitude));
	return true;
}
