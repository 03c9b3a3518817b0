/*
 * agg_results.h
 *	  The groups of a GpuAgg node as vectors, for a node above that computes with them.
 *
 * They are columns of the node's scan tuple: keys, then results.  Tuples are not put together,
 * but where HAVING is to be tested.
 */
#ifndef GPUAGG_AGG_RESULTS_H
#define GPUAGG_AGG_RESULTS_H

#include "nodes/execnodes.h"

#include "common/int128.h"

/*
 * Begins a run of a node that gives results, and makes its groups; false: they have to be asked
 * for as rows, one by one.  Not after a row has been asked for, until a rescan.
 */
extern bool gpuagg_agg_results_begin(PlanState *node);

/*
 * Begins a look at the groups, or ends it: then they are there again from the first one on.  False:
 * not all can be, or could be, looked at.
 */
extern bool gpuagg_agg_results_look(PlanState *node, bool look);

/*
 * Goes to the next groups; returns how many, up to GPUAGG_VECTOR_ROWS, 0 at the end.  The first: of
 * those that pass HAVING; the second: of all.
 */
extern int gpuagg_agg_results_next(PlanState *node);
extern int gpuagg_agg_results_next_any(PlanState *node);

/* Whether one of these passes HAVING. */
extern bool gpuagg_agg_results_passes(PlanState *node, int row);

/* A value of one of these, in the current memory context or the node's until it goes on. */
extern Datum gpuagg_agg_results_datum(PlanState *node, int column, int row, bool *isnull);

/* One of these as the slot's tuple, whose values are as those of datum(). */
extern void gpuagg_agg_results_store(PlanState *node, int row, TupleTableSlot *slot);

/*
 * A column of sums that are numeric as integers, times 10^-scale; sets the bits of those that are
 * not NULL.  False: some is no such integer, or has another display scale.
 */
extern bool gpuagg_agg_results_integers(PlanState *node, int column, int scale,
										GpuaggInt128 *values, uint64 *valid);

#endif /* GPUAGG_AGG_RESULTS_H */
