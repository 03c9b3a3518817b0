/*
 * result_typmod.h
 *	  Typmods of numerics that SQL gives none: results of aggregates and of expressions.
 *
 * Their scale is the display scale of all values, as far as these are finite.
 */
#ifndef GPUAGG_RESULT_TYPMOD_H
#define GPUAGG_RESULT_TYPMOD_H

#include "nodes/primnodes.h"

#include "operation/family.h"

/* Of an aggregate's results, by its first argument; -1: they have no scale in common. */
extern int32 gpuagg_result_typmod(Aggregate aggregate, const Node *argument);

/*
 * Of a window function's results, as a call of it or as what EXPLAIN prints instead.  Of any other
 * expression exprTypmod().
 */
extern int32 gpuagg_window_result_typmod(const Node *expr);

/* Of an expression over columns and window functions. */
extern int32 gpuagg_expression_typmod(const Node *expr);

#endif /* GPUAGG_RESULT_TYPMOD_H */
