/*
 * value.h
 *	  Exact results as SQL values; errors where they are out of range.
 */
#ifndef GPUAGG_VALUE_H
#define GPUAGG_VALUE_H

#include "compat.h"

#include "utils/numeric.h"

#include "common/column.h"
#include "common/float_sum.h"
#include "common/int_sum.h"

/*
 * All values are made in the current context, where the work on the way stays too.
 */

/* "bigint out of range", as core raises it. */
pg_noreturn extern void gpuagg_bigint_overflow(void);

/* The sum as a bigint; raises an error when it does not fit. */
static inline int64
gpuagg_int64_value(GpuaggInt128 sum)
{
	if (unlikely(!gpuagg_int128_is_int64(sum)))
		gpuagg_bigint_overflow();
	return (int64) sum.lo;
}

/*
 * The value of an SQL type with columns of that kind, which has this order key
 * (column.h).
 */
static inline Datum
gpuagg_key_value(GpuaggKind kind, int64 key)
{
	uint32 bits32;
	uint64 bits64;
	float4 value4;
	float8 value8;

	switch (kind)
	{
		case GPUAGG_INT32:
			return Int32GetDatum((int32) key);
		case GPUAGG_INT64:
			return Int64GetDatum(key);
		case GPUAGG_FLOAT32:
			bits32 = gpuagg_order_bits32((int32) key);
			memcpy(&value4, &bits32, sizeof(value4));
			return Float4GetDatum(value4);
		case GPUAGG_FLOAT64:
			bits64 = gpuagg_order_bits64(key);
			memcpy(&value8, &bits64, sizeof(value8));
			return Float8GetDatum(value8);
	}
	pg_unreachable();
}

/*
 * The sum rounded to real (FLOAT32) or double precision (FLOAT64); *isnull when
 * there was no value.  Raises an error when it is out of range.
 */
extern Datum gpuagg_float_value(GpuaggKind kind, const GpuaggFloatSum *acc, bool *isnull);

/*
 * The average of floats, their variance or, with root, standard deviation;
 * *isnull when there is none.  Raises an error when it is out of range.
 */
extern Datum gpuagg_float_average_value(const GpuaggFloatSum *acc, bool *isnull);
extern Datum gpuagg_float_variance_value(const GpuaggFloatSum *acc, const GpuaggFloatSum *squares,
										 bool sample, bool root, bool *isnull);

/* The exact value as numeric, display scale 0. */
extern Numeric gpuagg_int128_to_numeric(GpuaggInt128 value);

/* The sum as money; raises "money out of range" when it does not fit. */
extern Datum gpuagg_money_value(GpuaggInt128 sum);

/*
 * The variance of the values in acc, of moments, over n or (sample) n - 1; root:
 * the standard deviation.  *isnull when there are too few of them.  Digits and
 * display scale are core's.
 */
extern Datum gpuagg_int_variance(const GpuaggIntSum *acc, bool sample, bool root, bool *isnull);

/* The square root of the numeric v > 0, rounded half up to v's own display scale, as core's. */
extern Datum gpuagg_numeric_root(Datum v);

#endif /* GPUAGG_VALUE_H */
