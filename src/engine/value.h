/*
 * value.h
 *	  Exact results as SQL values; errors where they are out of range.
 */
#ifndef GPUAGG_VALUE_H
#define GPUAGG_VALUE_H

#include "common/column.h"
#include "common/float_sum.h"
#include "common/int128.h"

/* "bigint out of range", as core raises it. */
extern void gpuagg_bigint_overflow(void) pg_attribute_noreturn();

/* The sum as a bigint; raises an error when it does not fit. */
static inline int64
gpuagg_int64_value(GpuaggInt128 sum)
{
	if (unlikely(!gpuagg_int128_is_int64(sum)))
		gpuagg_bigint_overflow();
	return (int64) sum.lo;
}

/*
 * The sum rounded to real (FLOAT32) or double precision (FLOAT64); *isnull when
 * there was no value.  Raises an error when it is out of range.
 */
extern Datum gpuagg_float_value(GpuaggKind kind, const GpuaggFloatSum *acc, bool *isnull);

#endif /* GPUAGG_VALUE_H */
