/*
 * float_state.h
 *	  An exact float sum that grows with its inputs, in a memory context.
 */
#ifndef GPUAGG_FLOAT_STATE_H
#define GPUAGG_FLOAT_STATE_H

#include "common/float_sum.h"

/* An empty accumulator; small, for most groups never see a wider range. */
extern GpuaggFloatSum *gpuagg_float_state_make(MemoryContext context);

/*
 * Makes room for x, or for everything that `other` holds.  Returns the
 * accumulator, which may have moved (the old one is freed).
 */
extern GpuaggFloatSum *gpuagg_float_state_fit(GpuaggFloatSum *acc, double x);
extern GpuaggFloatSum *gpuagg_float_state_merge(GpuaggFloatSum *acc, const GpuaggFloatSum *other);

static inline GpuaggFloatSum *
gpuagg_float_state_deposit(GpuaggFloatSum *acc, double x, int sign)
{
	if (unlikely(!gpuagg_float_sum_deposit(acc, x, sign)))
	{
		acc = gpuagg_float_state_fit(acc, x);
		(void) gpuagg_float_sum_deposit(acc, x, sign);
	}
	return acc;
}

#endif							/* GPUAGG_FLOAT_STATE_H */
