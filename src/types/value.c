/*
 * value.c
 *	  Exact results as SQL values; errors where they are out of range.
 */
#include "compat.h"

#include "utils/cash.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"

#include "common/float_moments.h"
#include "types/decimal.h"
#include "types/value.h"

/* ---- floats ---- */

/* "value out of range: overflow", as core raises it. */
static void
check_rounded(GpuaggRounded rounded, bool *isnull)
{
	if (rounded == GPUAGG_ROUNDED_OVERFLOW)
		float_overflow_error();
	*isnull = rounded == GPUAGG_ROUNDED_NULL;
}

Datum
gpuagg_float_value(GpuaggKind kind, const GpuaggFloatSum *acc, bool *isnull)
{
	double result8 = 0;
	float result4 = 0;
	GpuaggRounded rounded;

	if (kind == GPUAGG_FLOAT32)
		rounded = gpuagg_float_sum_round32(acc, &result4);
	else
		rounded = gpuagg_float_sum_round64(acc, &result8);

	check_rounded(rounded, isnull);
	if (*isnull)
		return (Datum) 0;
	return kind == GPUAGG_FLOAT32 ? Float4GetDatum(result4) : Float8GetDatum(result8);
}

Datum
gpuagg_float_average_value(const GpuaggFloatSum *acc, bool *isnull)
{
	double result = 0;

	check_rounded(gpuagg_float_average(acc, &result), isnull);
	return *isnull ? (Datum) 0 : Float8GetDatum(result);
}

Datum
gpuagg_float_variance_value(const GpuaggFloatSum *acc, const GpuaggFloatSum *squares, bool sample,
							bool root, bool *isnull)
{
	double result = 0;

	check_rounded(gpuagg_float_variance(acc, squares, sample, root, &result), isnull);
	return *isnull ? (Datum) 0 : Float8GetDatum(result);
}

/* ---- integers ---- */

void
gpuagg_bigint_overflow(void)
{
	ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("bigint out of range")));
}

Numeric
gpuagg_int128_to_numeric(GpuaggInt128 value)
{
	return gpuagg_decimal_to_numeric(value, 0);
}

Datum
gpuagg_money_value(GpuaggInt128 sum)
{
	if (!gpuagg_int128_is_int64(sum))
		ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("money out of range")));
	return CashGetDatum((Cash) sum.lo);
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
 * numeric_sqrt() rounds half up to a scale of its own, never below v's.  Where
 * that is higher, rounding once more gives c, which is right unless the first
 * rounding went up to the very middle h = c - ulp / 2, from below.  All middles
 * are numbers of the higher scale and rounding keeps order: so the root is below
 * h + ulp, and c is right if and only if the root is not below h.
 */
Datum
gpuagg_numeric_root(Datum v)
{
	int32 scale = DatumGetInt32(DirectFunctionCall1(numeric_scale, v));
	Datum root = DirectFunctionCall1(numeric_sqrt, v);
	Datum half;
	Datum middle;

	if (DatumGetInt32(DirectFunctionCall1(numeric_scale, root)) == scale)
		return root;
	root = DirectFunctionCall2(numeric_round, root, Int32GetDatum(scale));
	half = NumericGetDatum(int64_div_fast_to_numeric(5, scale + 1));
	middle = DirectFunctionCall2(numeric_sub, root, half);
	if (DatumGetBool(
			DirectFunctionCall2(numeric_ge, v, DirectFunctionCall2(numeric_mul, middle, middle))))
		return root;
	middle = DirectFunctionCall2(numeric_sub, middle, half);
	return DirectFunctionCall2(numeric_round, middle, Int32GetDatum(scale));
}

/*
 * Core divides n * squares - sum * sum by n * n or n * (n - 1), at the scale that
 * division of numerics chooses.  Both products are at most n^2 * 2^126, below
 * 2^255 for the n of the width table, so that four words hold them and the sign of
 * their difference.
 */
Datum
gpuagg_int_variance(const GpuaggIntSum *acc, bool sample, bool root, bool *isnull)
{
	uint64 n[] = {(uint64) acc->n};
	uint64 others = sample ? n[0] - 1 : n[0];
	GpuaggInt128 magnitude = acc->sum.hi < 0 ? gpuagg_int128_neg(acc->sum) : acc->sum;
	uint64 sum[] = {magnitude.lo, (uint64) magnitude.hi};
	uint64 above[GPUAGG_INT192_WORDS + 1];
	uint64 square[lengthof(above)];
	uint64 below[2];
	Datum variance;

	*isnull = acc->n < (sample ? 2 : 1);
	if (*isnull)
		return (Datum) 0;
	multiply(above, acc->squares, GPUAGG_INT192_WORDS, n, 1);
	multiply(square, sum, lengthof(sum), sum, lengthof(sum));
	subtract(above, square, lengthof(above));
	/* negative: of no integers at all */
	if ((int64) above[3] < 0 || (above[0] | above[1] | above[2] | above[3]) == 0)
		return NumericGetDatum(int64_to_numeric(0));
	multiply(below, n, 1, &others, 1);
	variance = DirectFunctionCall2(numeric_div,
								   NumericGetDatum(
									   gpuagg_decimal_words(above, lengthof(above), false, 0, 0)),
								   NumericGetDatum(
									   gpuagg_decimal_words(below, lengthof(below), false, 0, 0)));
	/* a variance of many digits after the point can round to zero, of the same scale */
	if (!root || DatumGetBool(DirectFunctionCall2(numeric_eq, variance,
												  NumericGetDatum(int64_to_numeric(0)))))
		return variance;
	return gpuagg_numeric_root(variance);
}
