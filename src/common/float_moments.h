/*
 * float_moments.h
 *	  Averages, variances and standard deviations from exact sums.
 *
 * Each is an exact rational number, or the root of one, rounded once to the
 * nearest double, ties to even.
 */
#ifndef GPUAGG_FLOAT_MOMENTS_H
#define GPUAGG_FLOAT_MOMENTS_H

#include "common/float_sum.h"

/*
 * The sum divided by the number of values.  NaN, infinities and the sign of zero
 * are those of the sum.
 */
extern GpuaggRounded gpuagg_float_average(const GpuaggFloatSum *sum, double *result);

/*
 * The variance of n values, (n Q - S^2) / n^2, for a sample (n Q - S^2) / (n (n - 1)), or
 * its root, the standard deviation.  NULL without values, and for a sample of one; NaN if
 * a value is NaN or infinite.
 */
extern GpuaggRounded gpuagg_float_variance(const GpuaggFloatSum *sum, const GpuaggFloatSum *squares,
										   int sample, int root, double *result);

#endif /* GPUAGG_FLOAT_MOMENTS_H */
