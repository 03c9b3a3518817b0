/*
 * window_path.h
 *	  Paths that compute windows with the node GpuWindow in place of core's.
 */
#ifndef GPUAGG_WINDOW_PATH_H
#define GPUAGG_WINDOW_PATH_H

#include "nodes/extensible.h"

#include "plan/window_match.h"

typedef struct GpuWindowPath
{
	CustomPath path;
	WindowClause *clause;
	WindowMatch match;
	List *run_condition; /* these three as in core's WindowAggPath */
	List *qual;
	bool top;
	bool sort;			   /* the node sorts its input; otherwise that is in order */
	char *kept;			   /* as in WindowSpec */
	List *above;		   /* of conditions above: the function's number and the strategy */
	List *above_constants; /* what they compare with */
} GpuWindowPath;

/* Makes the plan of such a path (window_plan.c). */
extern const CustomPathMethods gpuagg_window_path_methods;

/* Makes the planner consider these paths; called once, when the library is loaded. */
extern void gpuagg_window_path_install(void);

#endif /* GPUAGG_WINDOW_PATH_H */
