/*
 * window_function.h
 *	  Which window functions are ours.
 */
#ifndef GPUAGG_WINDOW_FUNCTION_H
#define GPUAGG_WINDOW_FUNCTION_H

#include "spec/window_spec.h"

/*
 * Whether a function is a running function of the extension's, or an aggregate made of
 * its functions, or one of core's that gpuagg.core_aggregates takes, with a running operation.  *running: it is the former, and its
 * second argument is `exclusive`.
 */
extern bool gpuagg_window_function(Oid winfnoid, WindowFunction *function, bool *running);

/*
 * Whether a function is an aggregate made of the extension's functions, or one of core's that
 * gpuagg.core_aggregates takes; what it is, and over which type: ANYOID where that does not matter.
 */
extern bool gpuagg_known_aggregate(Oid aggfnoid, Aggregate *aggregate, Oid *type);

/*
 * Why one of core's aggregates is not taken, which another gpuagg.core_aggregates would take;
 * NULL: it is, or none would, or the setting is off.
 */
extern const char *gpuagg_core_objection(Oid function);

#endif /* GPUAGG_WINDOW_FUNCTION_H */
