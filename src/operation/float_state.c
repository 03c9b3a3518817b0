/*
 * float_state.c
 *	  Growing exact sums of floats and of their squares.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "operation/float_state.h"

static void
widen(GpuaggFloatSum **acc, const void *small, void *owner, int base, int width)
{
	GpuaggFloatSum *wide = MemoryContextAlloc(GetMemoryChunkContext(owner),
											  GPUAGG_FLOAT_SUM_SIZE(width));

	gpuagg_float_sum_init(wide, base, width);
	gpuagg_float_sum_widen(wide, *acc);
	if ((void *) *acc != small)
		pfree(*acc);
	*acc = wide;
}

/* Makes room for a deposit of `touched` chunks from `place` on, of `chunks` in all. */
static void
fit(GpuaggFloatSum **acc, const void *small, void *owner, int place, int touched, int chunks)
{
	int base;
	int width;

	if (gpuagg_float_sum_window_for(*acc, place, touched, chunks, &base, &width))
		(*acc)->base = (int16_t) base;
	else
		widen(acc, small, owner, base, width);
}

/* Adds a propagated accumulator. */
static void
merge(GpuaggFloatSum **acc, const void *small, void *owner, const GpuaggFloatSum *other, int chunks)
{
	int first;
	int last;

	gpuagg_float_sum_extent(other, &first, &last);
	if (first <= last)
	{
		/* one more on top, for carries */
		int touched = Min(last + 2, chunks) - first;
		int base = (*acc)->base;

		if (first < base || first + touched > base + (*acc)->width)
			fit(acc, small, owner, first, touched, chunks);
		if (first + touched > (*acc)->base + (*acc)->width)
			widen(acc, small, owner, (*acc)->base, first + touched - (*acc)->base);
	}
	gpuagg_float_sum_merge(*acc, other);
}

void
gpuagg_growing_sum_init(GrowingSum *sum)
{
	sum->acc = (GpuaggFloatSum *) sum->small;
	gpuagg_float_sum_init(sum->acc, 0, GPUAGG_SMALL_WIDTH);
}

void
gpuagg_growing_sum_free(GrowingSum *sum)
{
	if ((void *) sum->acc != sum->small)
		pfree(sum->acc);
	sum->acc = NULL;
}

void
gpuagg_growing_sum_fit(GrowingSum *sum, void *owner, double x)
{
	fit(&sum->acc, sum->small, owner, gpuagg_float_sum_place(x), GPUAGG_TOUCHED, GPUAGG_CHUNKS);
}

void
gpuagg_growing_sum_merge(GrowingSum *sum, void *owner, const GpuaggFloatSum *other)
{
	merge(&sum->acc, sum->small, owner, other, GPUAGG_CHUNKS);
}

void
gpuagg_growing_squares_init(GrowingSquares *squares)
{
	squares->acc = (GpuaggFloatSum *) squares->small;
	gpuagg_float_sum_init(squares->acc, 0, GPUAGG_SQUARES_SMALL_WIDTH);
}

void
gpuagg_growing_squares_fit(GrowingSquares *squares, void *owner, double x)
{
	fit(&squares->acc, squares->small, owner, gpuagg_float_squares_place(x), GPUAGG_SQUARES_TOUCHED,
		GPUAGG_SQUARE_CHUNKS);
}

void
gpuagg_growing_squares_merge(GrowingSquares *squares, void *owner, const GpuaggFloatSum *other)
{
	merge(&squares->acc, squares->small, owner, other, GPUAGG_SQUARE_CHUNKS);
}
