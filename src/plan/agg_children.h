/*
 * agg_children.h
 *	  The tables that a partitioned table, or the parent of an inheritance tree, is made of.
 */
#ifndef GPUAGG_AGG_CHILDREN_H
#define GPUAGG_AGG_CHILDREN_H

#include "compat.h"

#include "nodes/pathnodes.h"

typedef struct AggChild
{
	RelOptInfo *rel;
	bool readable; /* a heap, whose pages the node reads; else rows come from core's paths */
} AggChild;

/*
 * The leaves below a parent that planning has not pruned, in core's order: a list of
 * AggChild.  The parent itself is among them where it has rows.
 */
extern List *gpuagg_agg_children(PlannerInfo *root, const RelOptInfo *parent);

/* Whether the node reads the pages of this relation itself. */
extern bool gpuagg_agg_readable(const RangeTblEntry *rte);

#endif /* GPUAGG_AGG_CHILDREN_H */
