/*
 * window_path.h
 *	  Paths that compute windows with the node GpuWindow in place of core's.
 */
#ifndef GPUAGG_WINDOW_PATH_H
#define GPUAGG_WINDOW_PATH_H

#include "plan/window_match.h"

typedef struct GpuWindowPath
{
	CustomPath path; /* over the rows in order, or as they come when `sort` */
	WindowClause *clause;
	WindowMatch match;
	bool sort;
	char *kept; /* as in WindowSpec */
} GpuWindowPath;

/* Makes the planner consider them; called once, when the library is loaded. */
extern void gpuagg_window_path_install(void);

#endif /* GPUAGG_WINDOW_PATH_H */
