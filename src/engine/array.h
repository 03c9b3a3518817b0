/*
 * array.h
 *	  Runs the production engines over whole columns in memory, in chunks.
 */
#ifndef GPUAGG_ARRAY_H
#define GPUAGG_ARRAY_H

#include "common/protocol.h"

/* A column without NULLs, and what to compute over it. */
typedef struct ArrayColumn
{
	GpuaggKind kind;
	GpuaggOp op; /* SUM, MIN or MAX */
	bool exclusive;
	int64 nrows;
	const void *values;
	const uint64 *heads; /* bit i: row i starts a segment; NULL: one segment */
} ArrayColumn;

/* The exact result over all rows, on the device or on the CPU. */
extern void gpuagg_array_reduce(const ArrayColumn *column, GpuaggReduced *total);

/*
 * Scans the column, on the device or on the CPU.  results takes
 * gpuagg_ladder_result_size(kind) bytes for each row, bigint or the column's
 * float type.  Sums of floats are exact and rounded once at every row.  Raises
 * an error when a sum is out of range.
 */
extern void gpuagg_array_scan(const ArrayColumn *column, void *results);

#endif /* GPUAGG_ARRAY_H */
