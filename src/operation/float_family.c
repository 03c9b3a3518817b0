/*
 * float_family.c
 *	  Sums and squares of floats.
 *
 * float4 values are exact doubles; only the last rounding of their sum differs.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/memutils.h"

#include "common/float_codec.h"
#include "operation/accumulators.h"
#include "types/value.h"

/* 16 bytes are a group's own: sizes that memory contexts do not round up. */
#define SIZE (offsetof(FloatAccumulator, squares))

StaticAssertDecl(SIZE + 16 <= 128 && sizeof(FloatAccumulator) + 16 <= 256,
				 "a group's state must stay small");
StaticAssertDecl(offsetof(FloatAccumulator, small) ==
						 offsetof(FloatAccumulator, sum) + sizeof(GpuaggFloatSum *) &&
					 offsetof(FloatAccumulator, squares_small) ==
						 offsetof(FloatAccumulator, squares) + sizeof(GpuaggFloatSum *),
				 "small chunks lie behind the pointer");

static void
init_sum(GpuaggFloatSum **sum, int width)
{
	*sum = (GpuaggFloatSum *) (sum + 1);
	gpuagg_float_sum_init(*sum, 0, width);
}

static void
free_sum(GpuaggFloatSum **sum)
{
	if ((void *) *sum != sum + 1)
		pfree(*sum);
}

static void
widen(GpuaggFloatSum **sum, void *owner, int base, int width)
{
	GpuaggFloatSum *wide = MemoryContextAlloc(GetMemoryChunkContext(owner),
											  GPUAGG_FLOAT_SUM_SIZE(width));

	gpuagg_float_sum_init(wide, base, width);
	gpuagg_float_sum_widen(wide, *sum);
	free_sum(sum);
	*sum = wide;
}

void
gpuagg_float_fit(GpuaggFloatSum **sum, void *owner, int place, int touched, int chunks)
{
	int base;
	int width;

	if (gpuagg_float_sum_window_for(*sum, place, touched, chunks, &base, &width))
		(*sum)->base = (int16_t) base;
	else
		widen(sum, owner, base, width);
}

static bool
is_empty(const GpuaggFloatSum *sum)
{
	int64_t any = sum->counts.n;

	for (int i = 0; i < sum->width; i++)
		any |= sum->chunk[i];
	return any == 0;
}

void
gpuagg_float_merge(GpuaggFloatSum **sum, void *owner, const GpuaggFloatSum *other, int chunks)
{
	int first;
	int last;

	gpuagg_float_sum_extent(other, &first, &last);
	if (first <= last && Min(last + 2, chunks) - first <= (*sum)->width && is_empty(*sum))
	{
		int spare = (*sum)->width - (Min(last + 2, chunks) - first);

		(*sum)->base = (int16_t) Min(Max(first - spare / 2, 0), chunks - (*sum)->width);
		(*sum)->counts = other->counts;
		(*sum)->deposits = 0;
		memcpy((*sum)->chunk + (first - (*sum)->base), other->chunk + (first - other->base),
			   (last - first + 1) * sizeof(int64_t));
		return;
	}
	if (first <= last)
	{
		/* one more on top, for carries */
		int touched = Min(last + 2, chunks) - first;
		int base = (*sum)->base;

		if (first < base || first + touched > base + (*sum)->width)
			gpuagg_float_fit(sum, owner, first, touched, chunks);
		if (first + touched > (*sum)->base + (*sum)->width)
			widen(sum, owner, (*sum)->base, first + touched - (*sum)->base);
	}
	gpuagg_float_sum_merge(*sum, other);
}

void
gpuagg_float_free(FloatAccumulator *acc)
{
	free_sum(&acc->sum);
	if (acc->head.op == GPUAGG_MOMENTS)
		free_sum(&acc->squares);
}

/* Adds the sums, and the squares when there are any, of propagated accumulators. */
static void
merge_sums(FloatAccumulator *acc, void *owner, const GpuaggFloatSum *sum,
		   const GpuaggFloatSum *squares)
{
	gpuagg_float_merge(&acc->sum, owner, sum, GPUAGG_CHUNKS);
	if (acc->head.op == GPUAGG_MOMENTS)
		gpuagg_float_merge(&acc->squares, owner, squares, GPUAGG_SQUARE_CHUNKS);
}

static void
float_init(Accumulator *acc, MemoryContext context)
{
	FloatAccumulator *f = (FloatAccumulator *) acc;

	init_sum(&f->sum, GPUAGG_SMALL_WIDTH);
	if (acc->op == GPUAGG_MOMENTS)
		init_sum(&f->squares, GPUAGG_SQUARES_SMALL_WIDTH);
}

static int64
float_count(const Accumulator *acc)
{
	return ((const FloatAccumulator *) acc)->sum->counts.n;
}

static void
take(Accumulator *acc, void *owner, SqlForm form, Datum value, int sign)
{
	double x = form == SQL_FLOAT32 ? (double) DatumGetFloat4(value) : DatumGetFloat8(value);

	gpuagg_float_take((FloatAccumulator *) acc, owner, x, sign);
}

static void
float_deposit(Accumulator *acc, void *owner, SqlForm form, Datum value)
{
	take(acc, owner, form, value, 1);
}

static bool
float_remove(Accumulator *acc, void *owner, SqlForm form, Datum value)
{
	take(acc, owner, form, value, -1);
	return true;
}

static void
float_add_reduced(Accumulator *acc, void *owner, const GpuaggReduced *total)
{
	GpuaggFloatSquaresFull squares;

	if (acc->op != GPUAGG_MOMENTS)
	{
		merge_sums((FloatAccumulator *) acc, owner, (const GpuaggFloatSum *) &total->f, NULL);
		return;
	}
	gpuagg_float_sum_init(gpuagg_float_squares_of(&squares), 0, GPUAGG_SQUARE_CHUNKS);
	memcpy(squares.chunk, total->f_squares, sizeof(squares.chunk));
	merge_sums((FloatAccumulator *) acc, owner, (const GpuaggFloatSum *) &total->f,
			   gpuagg_float_squares_of(&squares));
}

static void
float_merge(Accumulator *into, void *owner, Accumulator *from)
{
	FloatAccumulator *other = (FloatAccumulator *) from;
	bool moments = from->op == GPUAGG_MOMENTS;

	gpuagg_float_sum_propagate(other->sum);
	if (moments)
		gpuagg_float_sum_propagate(other->squares);
	merge_sums((FloatAccumulator *) into, owner, other->sum, moments ? other->squares : NULL);
}

static void
float_encode(const Accumulator *acc, StringInfo buf)
{
	const FloatAccumulator *f = (const FloatAccumulator *) acc;

	enlargeStringInfo(buf, GPUAGG_FLOAT_MAX_BYTES);
	buf->len += (int) gpuagg_float_encode(f->sum, acc->op == GPUAGG_MOMENTS ? f->squares : NULL,
										  (uint8_t *) buf->data + buf->len);
}

static bool
float_decode(Accumulator *acc, void *owner, GpuaggReader *reader)
{
	GpuaggFloatMoments read;

	if (!gpuagg_float_decode(reader, &read) || read.moments != (acc->op == GPUAGG_MOMENTS))
		return false;
	merge_sums((FloatAccumulator *) acc, owner, gpuagg_float_sum_of(&read.sum),
			   gpuagg_float_squares_of(&read.squares));
	return true;
}

Datum
gpuagg_float_result(Aggregate aggregate, Oid result, const GpuaggFloatSum *sum, bool *isnull)
{
	if (aggregate == AGGREGATE_AVG)
		return gpuagg_float_average_value(sum, isnull);
	return gpuagg_float_value(result == FLOAT4OID ? GPUAGG_FLOAT32 : GPUAGG_FLOAT64, sum, isnull);
}

static Datum
float_finish(Accumulator *acc, Aggregate aggregate, Oid result, bool *isnull)
{
	const AggregateInfo *info = &gpuagg_aggregates[aggregate];
	FloatAccumulator *f = (FloatAccumulator *) acc;

	if (info->op == GPUAGG_MOMENTS)
		return gpuagg_float_variance_value(f->sum, f->squares, info->sample, info->root, isnull);
	return gpuagg_float_result(aggregate, result, f->sum, isnull);
}

const StateFamily gpuagg_float_family = {
	.size = SIZE,
	.size_of_moments = sizeof(FloatAccumulator),
	.init = float_init,
	.count = float_count,
	.deposit = float_deposit,
	.remove = float_remove,
	.add_reduced = float_add_reduced,
	.merge = float_merge,
	.encode = float_encode,
	.decode = float_decode,
	.finish = float_finish,
};
