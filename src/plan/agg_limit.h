/*
 * agg_limit.h
 *	  Groups of a GpuAgg node of which a sort and a LIMIT above want the first few alone.
 */
#ifndef GPUAGG_AGG_LIMIT_H
#define GPUAGG_AGG_LIMIT_H

#include "compat.h"

#include "nodes/pathnodes.h"

/* Tells nodes below the sorts of the relation that the rows past the LIMIT are not wanted. */
extern void gpuagg_agg_limit_note(const PlannerInfo *root, const RelOptInfo *ordered);

#endif /* GPUAGG_AGG_LIMIT_H */
