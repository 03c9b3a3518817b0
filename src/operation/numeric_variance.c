/*
 * numeric_variance.c
 *	  Variances and standard deviations with core's digits and display scales.
 *
 * Core divides n * squares - sum * sum by n * n or n * (n - 1) at the scale
 * that division of numerics chooses, and takes the root of that rounded variance
 * at the same scale.
 */
#include "postgres.h"

#include "utils/fmgrprotos.h"

#include "operation/numeric_variance.h"

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

Datum
gpuagg_numeric_ratio_variance(Numeric above, Numeric below, bool root)
{
	Datum zero = NumericGetDatum(int64_to_numeric(0));
	Datum variance;

	if (DatumGetBool(DirectFunctionCall2(numeric_le, NumericGetDatum(above), zero)))
		return zero;
	variance = DirectFunctionCall2(numeric_div, NumericGetDatum(above), NumericGetDatum(below));
	/* a variance of many digits after the point can round to zero, of the same scale */
	if (!root || DatumGetBool(DirectFunctionCall2(numeric_eq, variance, zero)))
		return variance;
	return gpuagg_numeric_root(variance);
}
