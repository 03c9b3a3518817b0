/*
 * int_family.c
 *	  Sums and squares of integers and money; counts of anything.
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "operation/accumulators.h"
#include "types/decimal.h"
#include "types/value.h"

static void
int_init(Accumulator *acc, MemoryContext context)
{
	bool moments = acc->op == GPUAGG_MOMENTS;
	GpuaggIntSum *sum = &((IntAccumulator *) acc)->sum;

	memset(sum, 0, GPUAGG_INT_SUM_SIZE(moments));
	sum->moments = moments;
}

static int64
int_count(const Accumulator *acc)
{
	return ((const IntAccumulator *) acc)->sum.n;
}

static void
int_deposit(Accumulator *acc, void *owner, SqlForm form, Datum value)
{
	gpuagg_int_sum_add(&((IntAccumulator *) acc)->sum, gpuagg_sql_number(form, value),
					   acc->op == GPUAGG_MOMENTS);
}

static bool
int_remove(Accumulator *acc, void *owner, SqlForm form, Datum value)
{
	gpuagg_int_sum_remove(&((IntAccumulator *) acc)->sum, gpuagg_sql_number(form, value),
						  acc->op == GPUAGG_MOMENTS);
	return true;
}

static void
int_add_reduced(Accumulator *acc, void *owner, const GpuaggReduced *total)
{
	GpuaggIntSum sum = {.n = (int64) total->n, .sum = total->sum};

	memcpy(sum.squares, total->squares, sizeof(sum.squares));
	gpuagg_int_sum_merge(&((IntAccumulator *) acc)->sum, &sum);
}

static void
int_merge(Accumulator *into, void *owner, Accumulator *from)
{
	gpuagg_int_sum_merge(&((IntAccumulator *) into)->sum, &((IntAccumulator *) from)->sum);
}

static void
int_encode(const Accumulator *acc, StringInfo buf)
{
	enlargeStringInfo(buf, GPUAGG_INT_MAX_BYTES);
	buf->len += (int) gpuagg_int_encode(&((const IntAccumulator *) acc)->sum,
										(uint8_t *) buf->data + buf->len);
}

static bool
int_decode(Accumulator *acc, void *owner, GpuaggReader *reader)
{
	bool moments = acc->op == GPUAGG_MOMENTS;
	GpuaggIntSum sum;

	if (!gpuagg_int_decode(reader, &sum) || sum.moments != moments)
		return false;
	memcpy(&((IntAccumulator *) acc)->sum, &sum, GPUAGG_INT_SUM_SIZE(moments));
	return true;
}

Datum
gpuagg_int_value(Aggregate aggregate, Oid result, int64 n, GpuaggInt128 sum)
{
	if (aggregate == AGGREGATE_AVG)
		return NumericGetDatum(gpuagg_decimal_divide(sum, 0, 0, n));
	if (result == NUMERICOID)
		return NumericGetDatum(gpuagg_int128_to_numeric(sum));
	if (result == MONEYOID)
		return gpuagg_money_value(sum);
	return Int64GetDatum(gpuagg_int64_value(sum));
}

static Datum
int_finish(Accumulator *acc, Aggregate aggregate, Oid result, bool *isnull)
{
	const AggregateInfo *info = &gpuagg_aggregates[aggregate];
	const GpuaggIntSum *sum = &((IntAccumulator *) acc)->sum;

	if (info->op == GPUAGG_MOMENTS)
		return gpuagg_int_variance(sum, info->sample, info->root, isnull);
	*isnull = sum->n == 0;
	return *isnull ? (Datum) 0 : gpuagg_int_value(aggregate, result, sum->n, sum->sum);
}

const StateFamily gpuagg_int_family = {
	.size = offsetof(IntAccumulator, sum) + GPUAGG_INT_SUM_SIZE(false),
	.size_of_moments = offsetof(IntAccumulator, sum) + GPUAGG_INT_SUM_SIZE(true),
	.in_place = true,
	.init = int_init,
	.count = int_count,
	.deposit = int_deposit,
	.remove = int_remove,
	.add_reduced = int_add_reduced,
	.merge = int_merge,
	.encode = int_encode,
	.decode = int_decode,
	.finish = int_finish,
};

static void
count_init(Accumulator *acc, MemoryContext context)
{
	((CountAccumulator *) acc)->n = 0;
}

static int64
count_count(const Accumulator *acc)
{
	return ((const CountAccumulator *) acc)->n;
}

static void
count_deposit(Accumulator *acc, void *owner, SqlForm form, Datum value)
{
	((CountAccumulator *) acc)->n++;
}

static void
count_merge(Accumulator *into, void *owner, Accumulator *from)
{
	((CountAccumulator *) into)->n += ((CountAccumulator *) from)->n;
}

static void
count_encode(const Accumulator *acc, StringInfo buf)
{
	GpuaggWriter w;

	enlargeStringInfo(buf, sizeof(int64));
	w.next = (uint8_t *) buf->data + buf->len;
	gpuagg_put(&w, (uint64) ((const CountAccumulator *) acc)->n, sizeof(int64));
	buf->len += sizeof(int64);
}

static bool
count_decode(Accumulator *acc, void *owner, GpuaggReader *reader)
{
	((CountAccumulator *) acc)->n = gpuagg_get_count(reader);
	return !reader->bad;
}

static Datum
count_finish(Accumulator *acc, Aggregate aggregate, Oid result, bool *isnull)
{
	*isnull = false;
	return Int64GetDatum(((CountAccumulator *) acc)->n);
}

/* The aggregate gpu_count has core's functions, over bigint; this is for the nodes. */
const StateFamily gpuagg_count_family = {
	.size = sizeof(CountAccumulator),
	.in_place = true,
	.init = count_init,
	.count = count_count,
	.deposit = count_deposit,
	.merge = count_merge,
	.encode = count_encode,
	.decode = count_decode,
	.finish = count_finish,
};
