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
	GpuaggFloatSum *acc; /* `small`, or a wider one */
	union
	{
		GpuaggFloatSum acc;
		char space[GPUAGG_FLOAT_SUM_SIZE(GPUAGG_SMALL_WIDTH)];
	} small;
} GrowingSum;

/* An empty sum. */
extern void gpuagg_growing_sum_init(GrowingSum *sum);

/* Frees what it has grown into. */
extern void gpuagg_growing_sum_free(GrowingSum *sum);

/*
 * Makes room for x; for chunks first to last of all GPUAGG_CHUNKS; adds all that
 * a propagated accumulator holds.  What the sum grows into lies in the memory
 * context of `owner`, an allocated chunk.
 */
extern void gpuagg_growing_sum_fit(GrowingSum *sum, void *owner, double x);
extern void gpuagg_growing_sum_reserve(GrowingSum *sum, void *owner, int first, int last);
extern void gpuagg_growing_sum_merge(GrowingSum *sum, void *owner, const GpuaggFloatSum *other);

static inline void
gpuagg_growing_sum_deposit(GrowingSum *sum, void *owner, double x, int sign)
{
	if (unlikely(!gpuagg_float_sum_deposit(sum->acc, x, sign)))
	{
		gpuagg_growing_sum_fit(sum, owner, x);
		(void) gpuagg_float_sum_deposit(sum->acc, x, sign);
	}
}

#endif /* GPUAGG_FLOAT_STATE_H */
