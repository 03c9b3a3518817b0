/*
 * agg_window.h
 *	  Aggregates over a subquery whose rows come from the node GpuWindow.
 */
#ifndef GPUAGG_AGG_WINDOW_H
#define GPUAGG_AGG_WINDOW_H

#include "compat.h"

#include "nodes/pathnodes.h"

/* The path of a subquery, cheapest of all, above a node GpuWindow and nothing else; or NULL. */
extern Path *gpuagg_agg_window(const RelOptInfo *input);

/* Of that path, and the node's work on its rows. */
extern Cost gpuagg_agg_window_cost(const Path *path, int expressions);

/* What the spec of a node over its plan has of the plan's columns (agg_spec.h). */
extern List *gpuagg_agg_window_attributes(const List *targets);
extern List *gpuagg_agg_window_typmods(const Path *path, const List *targets);

#endif /* GPUAGG_AGG_WINDOW_H */
