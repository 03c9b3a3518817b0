/*
 * window_function.h
 *	  Which window functions are ours.
 */
#ifndef GPUAGG_WINDOW_FUNCTION_H
#define GPUAGG_WINDOW_FUNCTION_H

#include "spec/window_spec.h"

/*
 * Whether a function is a running function of the extension's, or an aggregate made of
 * its functions that has a running operation.  *running: it is the former, and its
 * second argument is `exclusive`.
 */
extern bool gpuagg_window_function(Oid winfnoid, WindowFunction *function, bool *running);

/*
 * Whether a function is an aggregate made of the extension's functions; what it is, and
 * over which type: ANYOID where that does not matter.
 */
extern bool gpuagg_known_aggregate(Oid aggfnoid, Aggregate *aggregate, Oid *type);

#endif /* GPUAGG_WINDOW_FUNCTION_H */
