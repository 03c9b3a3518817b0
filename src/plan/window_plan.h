/*
 * window_plan.h
 *	  The plan of a window path.
 */
#ifndef GPUAGG_WINDOW_PLAN_H
#define GPUAGG_WINDOW_PLAN_H

#include "nodes/extensible.h"

extern const CustomPathMethods gpuagg_window_path_methods;

#endif /* GPUAGG_WINDOW_PLAN_H */
