/*
 * cpu.h
 *	  Reductions and scans in this process.
 *
 * Input and results are the same as the device's (cuda/kernels/kernels.h), bit for
 * bit, for the operations SUM, MOMENTS, MIN, MAX and COUNT.
 */
#ifndef GPUAGG_CPU_H
#define GPUAGG_CPU_H

#include "engine/engine.h"

/*
 * Adds the rows whose validity bit is 1 (validity NULL: all) to *total, which was
 * set up by gpuagg_reduced_init().  Can be cancelled.
 */
extern void gpuagg_cpu_reduce(GpuaggKind kind, GpuaggOp op, const void *values,
							  const uint64 *validity, int64 nrows, GpuaggReduced *total);

/*
 * Scans the rows of the flight, starting from the state `carry`, which is set to
 * the state after the last row.  Rows whose validity bit is 0 add nothing; a row
 * whose head bit is 1 starts a segment.  GpuScan in cuda/kernels/kernels.h defines
 * results and status of each row and of an empty segment.  Can be cancelled.
 */
extern void gpuagg_cpu_scan(const Flight *scan, GpuaggScanState *carry);

static inline bool
gpuagg_bit(const uint64 *bitmap, int64 i)
{
	return (bitmap[i / 64] >> (i % 64) & 1) != 0;
}

/* The order key of value i, whatever its kind (column.h). */
static pg_attribute_always_inline int64
gpuagg_key_at(GpuaggKind kind, const void *values, int64 i)
{
	switch (kind)
	{
		case GPUAGG_INT32:
			return ((const int32 *) values)[i];
		case GPUAGG_INT64:
			return ((const int64 *) values)[i];
		case GPUAGG_FLOAT32:
		{
			uint32 bits;

			memcpy(&bits, (const char *) values + i * 4, sizeof(bits));
			return gpuagg_order_key32(bits);
		}
		case GPUAGG_FLOAT64:
		{
			uint64 bits;

			memcpy(&bits, (const char *) values + i * 8, sizeof(bits));
			return gpuagg_order_key64(bits);
		}
	}
	pg_unreachable();
}

#endif /* GPUAGG_CPU_H */
