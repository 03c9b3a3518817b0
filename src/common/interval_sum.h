/*
 * interval_sum.h
 *	  Exact sums of intervals, field by field.
 */
#ifndef GPUAGG_INTERVAL_SUM_H
#define GPUAGG_INTERVAL_SUM_H

#include "common/codec.h"
#include "common/int128.h"

/* Infinite values are counted, and are in no sum. */
typedef struct GpuaggIntervalSum
{
	int64_t n; /* values that are not NULL, infinite ones too */
	int64_t n_pinf;
	int64_t n_ninf;
	GpuaggInt128 months;
	GpuaggInt128 days;
	GpuaggInt128 micros;
} GpuaggIntervalSum;

/* Adds the values of `from`. */
extern void gpuagg_interval_sum_merge(GpuaggIntervalSum *into, const GpuaggIntervalSum *from);

/* Bytes: n, the counts of infinities, the three sums. */
#define GPUAGG_INTERVAL_MAX_BYTES (3 * 8 + 3 * 16)

/* Writes acc to room, of GPUAGG_INTERVAL_MAX_BYTES; returns how many bytes it took. */
extern size_t gpuagg_interval_encode(const GpuaggIntervalSum *acc, uint8_t *room);

/*
 * Reads what gpuagg_interval_encode() wrote.  0 if so many values cannot have these sums.
 */
extern int gpuagg_interval_decode(GpuaggReader *reader, GpuaggIntervalSum *acc);

#endif /* GPUAGG_INTERVAL_SUM_H */
