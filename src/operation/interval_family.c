/*
 * interval_family.c
 *	  Sums of intervals.
 *
 * Core adds field by field and refuses every intermediate sum that is out of
 * range; only the result is judged by us.
 */
#include "compat.h"

#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "common/interval_sum.h"
#include "operation/family.h"

typedef struct IntervalAccumulator
{
	Accumulator head;
	GpuaggIntervalSum sum;
} IntervalAccumulator;

static GpuaggIntervalSum *
sum_of(const Accumulator *acc)
{
	return &((IntervalAccumulator *) acc)->sum;
}

static void
interval_init(Accumulator *acc, MemoryContext context)
{
	*sum_of(acc) = (GpuaggIntervalSum){0};
}

static int64
interval_count(const Accumulator *acc)
{
	return sum_of(acc)->n;
}

/* Adds the accumulator of this value alone, taken `sign` (1 or -1) times. */
static void
take(Accumulator *acc, Datum value, int sign)
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
	gpuagg_interval_sum_merge(sum_of(acc), &one);
}

static void
interval_deposit(Accumulator *acc, void *owner, SqlForm form, Datum value)
{
	take(acc, value, 1);
}

static bool
interval_remove(Accumulator *acc, void *owner, SqlForm form, Datum value)
{
	take(acc, value, -1);
	return true;
}

static void
interval_merge(Accumulator *into, void *owner, Accumulator *from)
{
	gpuagg_interval_sum_merge(sum_of(into), sum_of(from));
}

static void
interval_encode(const Accumulator *acc, StringInfo buf)
{
	enlargeStringInfo(buf, GPUAGG_INTERVAL_MAX_BYTES);
	buf->len += (int) gpuagg_interval_encode(sum_of(acc), (uint8_t *) buf->data + buf->len);
}

static bool
interval_decode(Accumulator *acc, void *owner, GpuaggReader *reader)
{
	return acc->op == GPUAGG_SUM && gpuagg_interval_decode(reader, sum_of(acc));
}

static bool
fits_int32(GpuaggInt128 value)
{
	return gpuagg_int128_is_int64(value) && (int64) value.lo == (int32) value.lo;
}

/* The finite sum in *result; false when it is out of range. */
static bool
finite_sum(const GpuaggIntervalSum *sum, Interval *result)
{
	if (!fits_int32(sum->months) || !fits_int32(sum->days) || !gpuagg_int128_is_int64(sum->micros))
		return false;
	result->month = (int32) sum->months.lo;
	result->day = (int32) sum->days.lo;
	result->time = (TimeOffset) sum->micros.lo;
	return compat_interval_infinity(result) == 0;
}

/* "interval out of range" also when there were infinities of both signs. */
static Datum
interval_finish(Accumulator *acc, Aggregate aggregate, Oid type, bool *isnull)
{
	const GpuaggIntervalSum *sum = sum_of(acc);
	bool infinite = sum->n_pinf + sum->n_ninf != 0;
	bool in_range = sum->n_pinf == 0 || sum->n_ninf == 0;
	Interval *result;

	*isnull = sum->n == 0;
	if (*isnull)
		return (Datum) 0;
	result = palloc(sizeof(Interval));
	if (in_range && infinite)
		compat_interval_set_infinity(result, sum->n_pinf != 0 ? 1 : -1);
	else if (in_range)
		in_range = finite_sum(sum, result);
	if (!in_range)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), errmsg("interval out of range")));
	if (aggregate == AGGREGATE_SUM || infinite)
		return IntervalPGetDatum(result);
	return DirectFunctionCall2(interval_div, IntervalPGetDatum(result),
							   Float8GetDatum((double) sum->n));
}

const StateFamily gpuagg_interval_family = {
	.size = sizeof(IntervalAccumulator),
	.width = sizeof(Interval),
	.in_place = true,
	.init = interval_init,
	.count = interval_count,
	.deposit = interval_deposit,
	.remove = interval_remove,
	.merge = interval_merge,
	.encode = interval_encode,
	.decode = interval_decode,
	.finish = interval_finish,
};
