/*
 * value.c
 *	  Exact results as SQL values; errors where they are out of range.
 */
#include "postgres.h"

#include "utils/float.h"

#include "common/float_moments.h"
#include "types/value.h"

void
gpuagg_bigint_overflow(void)
{
	ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("bigint out of range")));
}

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
