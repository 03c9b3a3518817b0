/*
 * float_state.c
 *	  Growing exact float sums.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "functions/float_state.h"

void
gpuagg_growing_sum_init(GrowingSum *sum)
{
	sum->acc = &sum->small.acc;
	gpuagg_float_sum_init(sum->acc, 0, GPUAGG_SMALL_WIDTH);
}

void
gpuagg_growing_sum_free(GrowingSum *sum)
{
	if (sum->acc != &sum->small.acc)
		pfree(sum->acc);
	sum->acc = NULL;
}

static void
widen(GrowingSum *sum, void *owner, int base, int width)
{
	GpuaggFloatSum *wide = MemoryContextAlloc(GetMemoryChunkContext(owner),
											  GPUAGG_FLOAT_SUM_SIZE(width));

	gpuagg_float_sum_init(wide, base, width);
	gpuagg_float_sum_widen(wide, sum->acc);
	gpuagg_growing_sum_free(sum);
	sum->acc = wide;
}

void
gpuagg_growing_sum_fit(GrowingSum *sum, void *owner, double x)
{
	int base;
	int width;

	if (gpuagg_float_sum_window_for(sum->acc, x, &base, &width))
		sum->acc->base = (int16_t) base;
	else
		widen(sum, owner, base, width);
}

void
gpuagg_growing_sum_reserve(GrowingSum *sum, void *owner, int first, int last)
{
	GpuaggFloatSum *acc = sum->acc;
	int own_first;
	int own_last;

	last = Min(last + 1, GPUAGG_CHUNKS - 1); /* one more on top, for carries */
	gpuagg_float_sum_extent(acc, &own_first, &own_last);
	if (own_first > own_last)
	{
		/* nothing in it yet: it can move, chunks to spare on both sides */
		int spare = Max(acc->width - (last - first + 1), 0);

		acc->base = (int16_t) Min(Max(first - spare / 2, 0), GPUAGG_CHUNKS - acc->width);
	}
	first = Min(first, acc->base);
	last = Max(last, acc->base + acc->width - 1);
	if (last - first >= acc->width)
		widen(sum, owner, first, last - first + 1);
}

void
gpuagg_growing_sum_merge(GrowingSum *sum, void *owner, const GpuaggFloatSum *other)
{
	int first;
	int last;

	gpuagg_float_sum_extent(other, &first, &last);
	if (first <= last)
		gpuagg_growing_sum_reserve(sum, owner, first, last);
	gpuagg_float_sum_merge(sum->acc, other);
}
