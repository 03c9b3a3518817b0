/*
 * window_plan.h
 *	  The plan of a window path.
 */
#ifndef GPUAGG_WINDOW_PLAN_H
#define GPUAGG_WINDOW_PLAN_H

#include "nodes/extensible.h"

extern const CustomPathMethods gpuagg_window_path_methods;

/*
 * To be called first of all when a node starts: makes plain calls of the window
 * functions in custom_scan_tlist.  Changes nothing but what EXPLAIN prints.
 */
extern void gpuagg_window_plan_settle(CustomScan *plan);

#endif /* GPUAGG_WINDOW_PLAN_H */
