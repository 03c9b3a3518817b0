/*
 * decimal_variance.h
 *	  Variances of decimal numbers from their exact sums, with core's display scales.
 */
#ifndef GPUAGG_DECIMAL_VARIANCE_H
#define GPUAGG_DECIMAL_VARIANCE_H

#include "common/decimal_sum.h"

/*
 * The variance of the n > 0 finite values of acc, which has squares: divided by n, or for
 * a sample (n > 1) by n - 1.  It is rounded half up to the scale that core's division
 * gives it, which is returned.  The variance is put into propagated limbs in the memory
 * given, to be freed by the caller.
 */
extern int gpuagg_decimal_variance(GpuaggDecimalSum *acc, int sample, const GpuaggMemory *memory,
								   GpuaggLimbs *variance);

#endif /* GPUAGG_DECIMAL_VARIANCE_H */
