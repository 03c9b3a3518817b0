/*
 * float_state.h
 *	  An exact float sum that grows with its inputs, in a memory context.
 *
 * It starts with a few chunks of its own; most sums never need more.
 */
#ifndef GPUAGG_FLOAT_STATE_H
#define GPUAGG_FLOAT_STATE_H

#include "common/float_sum.h"

typedef struct GrowingSum
{
	GpuaggFloatSum *acc;		/* `small`, or a wider one in `context` */
	MemoryContext context;
	union
	{
		GpuaggFloatSum acc;
		char		space[GPUAGG_FLOAT_SUM_SIZE(GPUAGG_SMALL_WIDTH)];
	}			small;
} GrowingSum;

/* An empty sum; what it grows into lies in `context`. */
extern void gpuagg_growing_sum_init(GrowingSum *sum, MemoryContext context);

/* Frees what it has grown into. */
extern void gpuagg_growing_sum_free(GrowingSum *sum);

/* Makes room for x. */
extern void gpuagg_growing_sum_fit(GrowingSum *sum, double x);

/* Adds all that a propagated accumulator holds. */
extern void gpuagg_growing_sum_merge(GrowingSum *sum, const GpuaggFloatSum *other);

static inline void
gpuagg_growing_sum_deposit(GrowingSum *sum, double x, int sign)
{
	if (unlikely(!gpuagg_float_sum_deposit(sum->acc, x, sign)))
	{
		gpuagg_growing_sum_fit(sum, x);
		(void) gpuagg_float_sum_deposit(sum->acc, x, sign);
	}
}

#endif							/* GPUAGG_FLOAT_STATE_H */
