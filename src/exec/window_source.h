/*
 * window_source.h
 *	  Where the columns of a plan over a node GpuWindow or GpuAgg come from.
 */
#ifndef GPUAGG_WINDOW_SOURCE_H
#define GPUAGG_WINDOW_SOURCE_H

#include "nodes/execnodes.h"

typedef struct WindowSource
{
	int scan;			   /* column of the node's scan tuple; -1: a constant */
	const Const *constant; /* that */
} WindowSource;

/* The GpuWindow node that a plan is, or chooses and filters columns of as a subquery; or NULL. */
extern PlanState *gpuagg_window_source_node(PlanState *plan);

/* The same of a node GpuAgg. */
extern PlanState *gpuagg_window_source_groups(PlanState *plan);

/* Finds where a column of such a plan, by number from 0, comes from; false: it is computed. */
extern bool gpuagg_window_source_find(const PlanState *plan, const PlanState *node, int column,
									  WindowSource *source);

#endif /* GPUAGG_WINDOW_SOURCE_H */
