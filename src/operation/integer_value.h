/*
 * integer_value.h
 *	  Exact sums of integers as SQL values.
 *
 * All of them are made in the current context, where the work on the way stays
 * too.  Sums of bigint type are gpuagg_int64_value() (engine/value.h).
 */
#ifndef GPUAGG_INTEGER_VALUE_H
#define GPUAGG_INTEGER_VALUE_H

#include "fmgr.h"
#include "utils/numeric.h"

#include "common/int_sum.h"

/* The exact value as numeric, display scale 0. */
extern Numeric gpuagg_int128_to_numeric(GpuaggInt128 value);

/* The sum as money; raises "money out of range" when it does not fit. */
extern Datum gpuagg_money_value(GpuaggInt128 sum);

/* The average of n > 0 integers, with the digits of core's avg. */
extern Datum gpuagg_int_average(int64 n, GpuaggInt128 sum);

/*
 * The variance of the values in acc, of moments, over n or (sample) n - 1; root:
 * the standard deviation.  *isnull when there are too few of them.
 */
extern Datum gpuagg_int_variance(const GpuaggIntSum *acc, bool sample, bool root, bool *isnull);

#endif /* GPUAGG_INTEGER_VALUE_H */
