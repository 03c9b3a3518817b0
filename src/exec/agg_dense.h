/*
 * agg_dense.h
 *	  Counts and sums of a GpuAgg node's groups whose keys are integers of a small range.
 *
 * Such a group has a place, a number that its keys give without a table: it is one of a mixed
 * radix, whose digits are each key's difference to the smallest.  What is counted and summed
 * lies in arrays by place, and goes into the groups' states now and then: it is folded.
 */
#ifndef GPUAGG_AGG_DENSE_H
#define GPUAGG_AGG_DENSE_H

#include "exec/agg_state.h"

/* Arrays for a node's first set; NULL: it has no keys or no states for them. */
extern AggDense *gpuagg_dense_make(const AggScanState *node);

/*
 * Takes the live rows of the vector, n > 0 of them, into their groups; rows: their numbers, or
 * NULL if these are many of the vector's.  False: nothing was done, as their keys have no places.
 */
extern bool gpuagg_dense_take(AggScanState *node, const uint16 *rows, int n);

/* Everything into the groups' states: before anybody reads these, or clears the groups. */
extern void gpuagg_dense_fold(AggScanState *node);

#endif /* GPUAGG_AGG_DENSE_H */
