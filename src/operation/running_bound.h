/*
 * running_bound.h
 *	  Which values of a running function a comparison with a constant lets pass.
 */
#ifndef GPUAGG_RUNNING_BOUND_H
#define GPUAGG_RUNNING_BOUND_H

#include "operation/running_operation.h"

typedef struct RunningBound
{
	bool floats;
	int strategy; /* of a btree; these two of floats */
	double value;
	GpuaggInt128 least; /* those that pass, these two among them; of others */
	GpuaggInt128 greatest;
	int64 factor; /* what sums are multiplied by, to be compared */
} RunningBound;

/* Whether bounds can be had for values of the operation's scans and constants of a type. */
extern bool gpuagg_running_bound_exists(const RunningOperation *op, Oid type);

/*
 * The bound for `value <strategy> constant`, which is not NULL; false: that is none that we know.  In
 * the current memory context.
 */
extern bool gpuagg_running_bound_make(const RunningOperation *op, int strategy, Oid type,
									  Datum constant, RunningBound *bound);

/*
 * Sets the bits of rows whose value, in a scan's results, does not pass; of averages not of all of
 * them.  Not of rows whose value is an error.  counts: as gpuagg_running_result() needs them.
 */
extern void gpuagg_running_bound_drop(const RunningOperation *op, const RunningBound *bound,
									  const void *results, const uint8 *status, const int64 *counts,
									  int64 nrows, uint64 *dropped);

#endif /* GPUAGG_RUNNING_BOUND_H */
