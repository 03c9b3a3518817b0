/*
 * reduction.h
 *	  Reductions of one column whose rows come one by one.
 *
 * A reduction belongs to one group of one aggregate.  Its owner stores values,
 * none of them NULL, at `next`, which it moves on, after having called
 * gpuagg_reduction_advance() where next == end (at first both are NULL).
 * Nothing above it knows which engine works.
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

/*
 * Rows that a group deposits into its own state before it opens a reduction.
 */
extern int64 gpuagg_reduction_threshold(void);

/*
 * Opens a reduction whose memory lies in `context`; it is dropped with that
 * context.  op: SUM, MOMENTS, MIN, MAX or COUNT.  nrows: rows known to come, or
 * 0.  NULL when this backend has enough of them: the caller goes on without.
 */
extern GpuaggReduction *gpuagg_reduction_open(GpuaggKind kind, GpuaggOp op, int64 nrows,
											  MemoryContext context);

/* Hands full values to an engine and makes room for more. */
extern void gpuagg_reduction_advance(GpuaggReduction *reduction);

/* Stores nrows values, none of them NULL. */
extern void gpuagg_reduction_append(GpuaggReduction *reduction, const void *values, int64 nrows);

/*
 * Waits for everything handed over and returns the result over all rows, which
 * stays valid as long as the reduction's context.  The reduction is closed.
 */
extern const GpuaggReduced *gpuagg_reduction_close(GpuaggReduction *reduction);

#endif /* GPUAGG_REDUCTION_H */
