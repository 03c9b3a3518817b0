/*
 * extreme_ref.c
 *	  gpu_min and gpu_max over numeric and interval.
 *
 * The state is the value so far; transition and combine function are one, of
 * two values of which neither is NULL.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "operation/extreme_ref.h"

PG_FUNCTION_INFO_V1(gpuagg_numeric_min);
PG_FUNCTION_INFO_V1(gpuagg_numeric_max);
PG_FUNCTION_INFO_V1(gpuagg_interval_min);
PG_FUNCTION_INFO_V1(gpuagg_interval_max);

/* Digits after the point; of NaN and infinities, whose equals are the same, 0. */
static int32
display_scale(Numeric value)
{
	if (numeric_is_nan(value) || numeric_is_inf(value))
		return 0;
	return DatumGetInt32(DirectFunctionCall1(numeric_scale, NumericGetDatum(value)));
}

bool
gpuagg_numeric_wins(Numeric a, Numeric b, bool least)
{
	int32 order = DatumGetInt32(
		DirectFunctionCall2(numeric_cmp, NumericGetDatum(a), NumericGetDatum(b)));

	if (order == 0)
		return display_scale(a) > display_scale(b);
	return (order < 0) == least;
}

static int
compare_numbers(int64 a, int64 b)
{
	return (a > b) - (a < b);
}

bool
gpuagg_interval_wins(const Interval *a, const Interval *b, bool least)
{
	int order = DatumGetInt32(
		DirectFunctionCall2(interval_cmp, IntervalPGetDatum(a), IntervalPGetDatum(b)));

	if (order == 0)
		order = compare_numbers(a->month, b->month);
	if (order == 0)
		order = compare_numbers(a->day, b->day);
	if (order == 0)
		order = compare_numbers(a->time, b->time);
	return least ? order < 0 : order > 0;
}

static Datum
numeric_extreme(FunctionCallInfo fcinfo, bool least)
{
	Numeric state = PG_GETARG_NUMERIC(0);
	Numeric value = PG_GETARG_NUMERIC(1);

	PG_RETURN_NUMERIC(gpuagg_numeric_wins(value, state, least) ? value : state);
}

Datum
gpuagg_numeric_min(PG_FUNCTION_ARGS)
{
	return numeric_extreme(fcinfo, true);
}

Datum
gpuagg_numeric_max(PG_FUNCTION_ARGS)
{
	return numeric_extreme(fcinfo, false);
}

static Datum
interval_extreme(FunctionCallInfo fcinfo, bool least)
{
	Interval *state = PG_GETARG_INTERVAL_P(0);
	Interval *value = PG_GETARG_INTERVAL_P(1);

	PG_RETURN_INTERVAL_P(gpuagg_interval_wins(value, state, least) ? value : state);
}

Datum
gpuagg_interval_min(PG_FUNCTION_ARGS)
{
	return interval_extreme(fcinfo, true);
}

Datum
gpuagg_interval_max(PG_FUNCTION_ARGS)
{
	return interval_extreme(fcinfo, false);
}
