/*
 * reduction.h
 *	  Reductions of one column whose rows come one by one.
 *
 * A reduction belongs to one group of one aggregate.  Its owner stores values that
 * are not NULL at `next` and moves `next` on.  When next == end it first calls
 * gpuagg_reduction_advance(); at the start both are NULL.  Callers do not know
 * which engine does the work.
 */
#ifndef GPUAGG_REDUCTION_H
#define GPUAGG_REDUCTION_H

#include "common/reduced.h"

typedef struct GpuaggReduction
{
	char *next;
	char *end;
	struct ReductionWork *work;
} GpuaggReduction;

/* Rows that a group deposits into its own state before it opens a reduction. */
extern int64 gpuagg_reduction_threshold(void);

/*
 * Opens a reduction in `context`; it is dropped with that context.  op: SUM,
 * MOMENTS, MIN, MAX or COUNT.  nrows: rows of a column in memory, or 0 when rows come
 * one by one.  NULL when this backend has too many open reductions; the caller then
 * goes on without one.
 */
extern GpuaggReduction *gpuagg_reduction_open(GpuaggKind kind, GpuaggOp op, int64 nrows,
											  MemoryContext context);

/* Records why the device did not get the nrows rows of a group without a reduction; kind: or 0. */
extern void gpuagg_reduction_missing(GpuaggKind kind, int64 nrows);

/* Hands the stored values to an engine and makes room for more. */
extern void gpuagg_reduction_advance(GpuaggReduction *reduction);

/* Stores nrows values that are not NULL. */
extern void gpuagg_reduction_append(GpuaggReduction *reduction, const void *values, int64 nrows);

/*
 * Closes the reduction: waits for all work and returns the result over all rows,
 * which is valid as long as the reduction's context.
 */
extern const GpuaggReduced *gpuagg_reduction_close(GpuaggReduction *reduction);

#endif /* GPUAGG_REDUCTION_H */
