/*
 * decimal_variance.h
 *	  Variances of decimal numbers from their exact sums, with core's display scales.
 */
#ifndef GPUAGG_DECIMAL_VARIANCE_H
#define GPUAGG_DECIMAL_VARIANCE_H

#include "common/decimal_sum.h"

/*
 * The variance of the n > 0 finite values of acc, of moments, over n or (sample;
 * n > 1) n - 1, rounded half up to the scale that core's division gives it, which
 * is returned.  The variance goes to propagated limbs in the memory given; they
 * are the caller's to free.
 */
extern int gpuagg_decimal_variance(GpuaggDecimalSum *acc, int sample, const GpuaggMemory *memory,
								   GpuaggLimbs *variance);

#endif /* GPUAGG_DECIMAL_VARIANCE_H */
