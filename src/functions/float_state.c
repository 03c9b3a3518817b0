/*
 * float_state.c
 *	  Growing exact float sums.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "functions/float_state.h"

GpuaggFloatSum *
gpuagg_float_state_make(MemoryContext context)
{
	GpuaggFloatSum *acc = MemoryContextAlloc(context, GPUAGG_FLOAT_SUM_SIZE(GPUAGG_SMALL_WIDTH));

	gpuagg_float_sum_init(acc, 0, GPUAGG_SMALL_WIDTH);
	return acc;
}

static GpuaggFloatSum *
widen(GpuaggFloatSum *acc, int base, int width)
{
	GpuaggFloatSum *wide = MemoryContextAlloc(GetMemoryChunkContext(acc),
											  GPUAGG_FLOAT_SUM_SIZE(width));

	gpuagg_float_sum_init(wide, base, width);
	gpuagg_float_sum_widen(wide, acc);
	pfree(acc);
	return wide;
}

GpuaggFloatSum *
gpuagg_float_state_fit(GpuaggFloatSum *acc, double x)
{
	int			base;
	int			width;

	if (!gpuagg_float_sum_window_for(acc, x, &base, &width))
		return widen(acc, base, width);
	acc->base = (int16_t) base;
	return acc;
}

GpuaggFloatSum *
gpuagg_float_state_merge(GpuaggFloatSum *acc, const GpuaggFloatSum *other)
{
	int			first;
	int			last;

	gpuagg_float_sum_extent(other, &first, &last);
	if (first <= last)
	{
		/* one more chunk on top, for carries */
		first = Min(first, acc->base);
		last = Min(Max(last + 1, acc->base + acc->width - 1), GPUAGG_CHUNKS - 1);
		if (first < acc->base || last >= acc->base + acc->width)
			acc = widen(acc, first, last - first + 1);
	}
	gpuagg_float_sum_merge(acc, other);
	return acc;
}
