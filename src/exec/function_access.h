/*
 * function_access.h
 *	  Who may execute an aggregate or window function.
 */
#ifndef GPUAGG_FUNCTION_ACCESS_H
#define GPUAGG_FUNCTION_ACCESS_H

#include "nodes/parsenodes.h"

/*
 * Raises an error unless, as core demands when its own node starts, the user may execute
 * the function, and the owner of an aggregate the functions that it consists of.  kind: what the error calls it.
 */
extern void gpuagg_check_function_access(Oid function, ObjectType kind);

/* The same for the function of an operator by which groups are told apart. */
extern void gpuagg_check_operator_access(Oid operator);

#endif /* GPUAGG_FUNCTION_ACCESS_H */
