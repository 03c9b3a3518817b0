/*
 * agg_top.h
 *	  The groups of a GpuAgg node that a sort and a LIMIT above may want.
 */
#ifndef GPUAGG_AGG_TOP_H
#define GPUAGG_AGG_TOP_H

#include "exec/agg_state.h"

/*
 * Makes all groups and looks for those, of a node whose spec wants some, before the first is asked
 * for; false: all have to be given out.
 */
extern bool gpuagg_agg_top_begin(AggScanState *node);

/* The next of them, in the slot; false at the end. */
extern bool gpuagg_agg_top_next(AggScanState *node, TupleTableSlot *slot);

#endif /* GPUAGG_AGG_TOP_H */
