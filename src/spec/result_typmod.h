/*
 * result_typmod.h
 *	  Typmods of numerics that SQL gives none: results of aggregates and of expressions.
 *
 * Their scale is the display scale of all values, as far as these are finite.  Averages have display
 * scales of their own (GPUAGG_TYPMOD_OWN_SCALES).
 */
#ifndef GPUAGG_RESULT_TYPMOD_H
#define GPUAGG_RESULT_TYPMOD_H

#include "nodes/execnodes.h"

#include "operation/family.h"

/* Of values that have display scales of their own, up to this one. */
extern int32 gpuagg_own_scales_typmod(int scale);

/*
 * Of an aggregate's results, by its first argument; -1: they have no scale in common.  estate: as
 * gpuagg_compiler_make().
 */
extern int32 gpuagg_result_typmod(Aggregate aggregate, const Node *argument, const EState *estate);

/*
 * Of a window function's results, as a call of it or as what EXPLAIN prints instead.  Of any other
 * expression exprTypmod().
 */
extern int32 gpuagg_window_result_typmod(const Node *expr, const EState *estate);

/* Of an expression over columns and window functions. */
extern int32 gpuagg_expression_typmod(const Node *expr, const EState *estate);

#endif /* GPUAGG_RESULT_TYPMOD_H */
