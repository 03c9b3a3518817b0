/*
 * agg_subquery.h
 *	  Aggregates over a subquery whose rows come from a node GpuWindow, or are groups of a GpuAgg.
 */
#ifndef GPUAGG_AGG_SUBQUERY_H
#define GPUAGG_AGG_SUBQUERY_H

#include "compat.h"

#include "nodes/pathnodes.h"

#include "operation/family.h"

/* The path of a subquery, cheapest of all, above one of these nodes and nothing else; or NULL. */
extern Path *gpuagg_agg_subquery(const RelOptInfo *input);

/* Of that path, and the node's work on its rows. */
extern Cost gpuagg_agg_subquery_cost(const Path *path, int expressions);

/* The typmod of an aggregate's results: of numerics where these have one scale; -1: there is none. */
extern int32 gpuagg_agg_result_typmod(Aggregate aggregate, const Aggref *aggref);

/* What the spec of a node over its plan has of the plan's columns (agg_spec.h). */
extern List *gpuagg_agg_subquery_attributes(const List *targets);
extern List *gpuagg_agg_subquery_typmods(const Path *path, const List *targets);

#endif /* GPUAGG_AGG_SUBQUERY_H */
