/*
 * cpu.h
 *	  The engine that is always there: reductions and scans in this process.
 *
 * Takes and gives exactly what the device does (cuda/kernels.h), with the same
 * bits.
 */
#ifndef GPUAGG_CPU_H
#define GPUAGG_CPU_H

#include "common/protocol.h"

/*
 * The sum of a batch: for integer kinds n and sum, for floats the full
 * accumulator with its counts.
 */
typedef struct GpuaggSum
{
	GpuaggKind kind;
	int64 n;
	GpuaggInt128 sum;
	GpuaggFloatSumFull f;
} GpuaggSum;

extern void gpuagg_sum_init(GpuaggSum *total, GpuaggKind kind);

/* Adds nrows values, none of them NULL, to total. */
extern void gpuagg_cpu_reduce(GpuaggSum *total, const void *values, int64 nrows);

/*
 * Inclusive running sums of nrows values from the state `carry`, which is left
 * as it is after the last row.  validity: bit i is 0 when row i is NULL.
 * results: int64 for int32, GpuaggInt128 for int64, double for float64;
 * status: GPUAGG_ROW_* of each row.
 */
extern void gpuagg_cpu_scan(GpuaggKind kind, const void *values, const uint64 *validity,
							int64 nrows, GpuaggScanState *carry, void *results, uint8 *status);

#endif /* GPUAGG_CPU_H */
