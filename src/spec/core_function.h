/*
 * core_function.h
 *	  Which of core's own aggregates are computed as gpuagg's are.
 */
#ifndef GPUAGG_CORE_FUNCTION_H
#define GPUAGG_CORE_FUNCTION_H

#include "spec/window_spec.h"

/*
 * The least gpuagg.core_aggregates under which an aggregate of core's may be computed, and
 * what it is; CORE_OFF: there is none, or the catalogs describe another aggregate than core's.
 */
extern int gpuagg_core_function(Oid aggfnoid, WindowFunction *function);

/*
 * Whether a window function is one of core's that the node GpuWindow computes beside those of
 * gpuagg's, whatever the settings: count(*), row_number(), rank(), dense_rank(); and what it is.
 */
extern bool gpuagg_core_beside(Oid winfnoid, WindowFunction *function);

#endif /* GPUAGG_CORE_FUNCTION_H */
