/*
 * window_above.h
 *	  Conditions above a subquery whose rows come from the node GpuWindow.
 */
#ifndef GPUAGG_WINDOW_ABOVE_H
#define GPUAGG_WINDOW_ABOVE_H

#include "plan/window_path.h"

/* The call of one of the node's functions, and its number, that a column of the subquery is; or NULL. */
extern const WindowFunc *gpuagg_window_above_call(const GpuWindowPath *window,
												  const RelOptInfo *rel, const Node *column,
												  int *function);

/* Makes the planner look for them; called once, when the library is loaded. */
extern void gpuagg_window_above_install(void);

#endif /* GPUAGG_WINDOW_ABOVE_H */
