/*
 * cpu.h
 *	  Reductions and scans in this process.
 *
 * Takes and gives exactly what the device does (cuda/kernels/kernels.h), with the same
 * bits, for the operations SUM, MOMENTS, MIN, MAX and COUNT.
 */
#ifndef GPUAGG_CPU_H
#define GPUAGG_CPU_H

#include "engine/engine.h"

/*
 * Adds the rows whose validity bit is 1 (validity NULL: all) to *total, which
 * gpuagg_reduced_init() has made.  Can be cancelled.
 */
extern void gpuagg_cpu_reduce(GpuaggKind kind, GpuaggOp op, const void *values,
							  const uint64 *validity, int64 nrows, GpuaggReduced *total);

/*
 * Scans the rows of the flight from the state `carry` on, which is left as it is
 * after the last row.  Rows whose validity bit is 0 add nothing; a row whose head
 * bit is 1 starts anew.  What results and status hold, row by row, and what an
 * empty segment gives, is written at GpuScan in cuda/kernels/kernels.h.  Can be
 * cancelled.
 */
extern void gpuagg_cpu_scan(const Flight *scan, GpuaggScanState *carry);

/* The least order key of a kind, and the greatest: the identities of MAX and MIN. */

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
