/*
 * float_state.h
 *	  Exact sums of floats and of their squares that grow with their inputs, in a
 *	  memory context.
 *
 * Each starts with a few chunks of its own; most never need more.
 */
#ifndef GPUAGG_FLOAT_STATE_H
#define GPUAGG_FLOAT_STATE_H

#include "common/float_squares.h"

typedef struct GrowingSum
{
	GpuaggFloatSum *acc; /* `small`, or a wider one */
	int64_t small[GPUAGG_FLOAT_SUM_SIZE(GPUAGG_SMALL_WIDTH) / sizeof(int64_t)];
} GrowingSum;

typedef struct GrowingSquares
{
	GpuaggFloatSum *acc; /* `small`, or a wider one */
	int64_t small[GPUAGG_FLOAT_SUM_SIZE(GPUAGG_SQUARES_SMALL_WIDTH) / sizeof(int64_t)];
} GrowingSquares;

/* An empty sum. */
extern void gpuagg_growing_sum_init(GrowingSum *sum);

/* Frees what it has grown into. */
extern void gpuagg_growing_sum_free(GrowingSum *sum);

/*
 * Makes room for x; adds all that a propagated accumulator holds.  What the sum
 * grows into lies in the memory context of `owner`, an allocated chunk.
 */
extern void gpuagg_growing_sum_fit(GrowingSum *sum, void *owner, double x);
extern void gpuagg_growing_sum_merge(GrowingSum *sum, void *owner, const GpuaggFloatSum *other);

/* The same of squares. */
extern void gpuagg_growing_squares_init(GrowingSquares *squares);
extern void gpuagg_growing_squares_fit(GrowingSquares *squares, void *owner, double x);
extern void gpuagg_growing_squares_merge(GrowingSquares *squares, void *owner,
										 const GpuaggFloatSum *other);

static inline void
gpuagg_growing_sum_deposit(GrowingSum *sum, void *owner, double x, int sign)
{
	if (unlikely(!gpuagg_float_sum_deposit(sum->acc, x, sign)))
	{
		gpuagg_growing_sum_fit(sum, owner, x);
		(void) gpuagg_float_sum_deposit(sum->acc, x, sign);
	}
}

static inline void
gpuagg_growing_squares_deposit(GrowingSquares *squares, void *owner, double x, int sign)
{
	if (unlikely(!gpuagg_float_squares_deposit(squares->acc, x, sign)))
	{
		gpuagg_growing_squares_fit(squares, owner, x);
		(void) gpuagg_float_squares_deposit(squares->acc, x, sign);
	}
}

#endif /* GPUAGG_FLOAT_STATE_H */
