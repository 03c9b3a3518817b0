/*
 * interval_state.c
 *	  Sums and averages of intervals, exact, as SQL values.
 */
#include "compat.h"

#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "operation/interval_state.h"

IntervalState *
gpuagg_interval_state_make(MemoryContext context)
{
	return MemoryContextAllocZero(context, sizeof(IntervalState));
}

/* The accumulator of this value alone, taken `sign` (1 or -1) times. */
static GpuaggIntervalSum
sum_of(Datum value, int sign)
{
	const Interval *interval = DatumGetIntervalP(value);
	int infinity = compat_interval_infinity(interval);
	GpuaggIntervalSum one = {.n = sign};

	if (infinity > 0)
		one.n_pinf = sign;
	else if (infinity < 0)
		one.n_ninf = sign;
	else
	{
		one.months = gpuagg_int128_from((int64) interval->month * sign);
		one.days = gpuagg_int128_from((int64) interval->day * sign);
		one.micros = gpuagg_int128_from(interval->time);
		if (sign < 0) /* in 128 bits, where the least int64 has an opposite */
			one.micros = gpuagg_int128_neg(one.micros);
	}
	return one;
}

void
gpuagg_interval_state_add(IntervalState *state, Datum value)
{
	GpuaggIntervalSum one = sum_of(value, 1);

	gpuagg_interval_sum_merge(state, &one);
}

void
gpuagg_interval_state_remove(IntervalState *state, Datum value)
{
	GpuaggIntervalSum one = sum_of(value, -1);

	gpuagg_interval_sum_merge(state, &one);
}

static bool
fits_int32(GpuaggInt128 value)
{
	return gpuagg_int128_is_int64(value) && (int64) value.lo == (int32) value.lo;
}

/* The finite sum in *result; false when it is out of range. */
static bool
finite_sum(const IntervalState *state, Interval *result)
{
	if (!fits_int32(state->months) || !fits_int32(state->days) ||
		!gpuagg_int128_is_int64(state->micros))
		return false;
	result->month = (int32) state->months.lo;
	result->day = (int32) state->days.lo;
	result->time = (TimeOffset) state->micros.lo;
	return compat_interval_infinity(result) == 0;
}

Datum
gpuagg_interval_state_sum(const IntervalState *state, bool *isnull)
{
	Interval *result;
	bool in_range;

	*isnull = state->n == 0;
	if (*isnull)
		return (Datum) 0;
	result = palloc(sizeof(Interval));
	in_range = state->n_pinf == 0 || state->n_ninf == 0;
	if (in_range && state->n_pinf + state->n_ninf != 0)
		compat_interval_set_infinity(result, state->n_pinf != 0 ? 1 : -1);
	else if (in_range)
		in_range = finite_sum(state, result);
	if (!in_range)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), errmsg("interval out of range")));
	return IntervalPGetDatum(result);
}

Datum
gpuagg_interval_state_avg(const IntervalState *state, bool *isnull)
{
	Datum sum = gpuagg_interval_state_sum(state, isnull);

	if (*isnull || compat_interval_infinity(DatumGetIntervalP(sum)) != 0)
		return sum;
	return DirectFunctionCall2(interval_div, sum, Float8GetDatum((double) state->n));
}
