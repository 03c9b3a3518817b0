/*
 * scan_program.h
 *	  Expressions over a sequential scan's table as a vector program.
 */
#ifndef GPUAGG_SCAN_PROGRAM_H
#define GPUAGG_SCAN_PROGRAM_H

#include "nodes/execnodes.h"

#include "spec/vector_compile.h"

/* Whether a node that starts to run is a scan whose table can be read in its place. */
extern bool gpuagg_scan_program_possible(PlanState *scan);

/* Attributes that the expressions have, up to the last one; -1: also what a slot has not. */
extern int gpuagg_scan_program_attributes(const List *exprs, Index varno, int all);

/* The attribute that a column of those above the scan's table is, by number, or 0. */
extern AttrNumber gpuagg_scan_program_attribute(const SeqScan *plan, const List *targets, int i);

/* An expression over such columns, as of an outer plan or a custom scan's tuple, over the table. */
extern Expr *gpuagg_scan_program_expr(const List *targets, const Expr *expr);

/*
 * The program of the filter and of those of n expressions over the table that are not NULL, with
 * their values; decimals stay bigints, if there are any.  NULL: core's executor is to evaluate
 * some of it.  estate: as gpuagg_compiler_make().
 */
extern VectorCompiler *gpuagg_scan_program_make(Index varno, const EState *estate, List *quals,
												Expr *const *exprs, int n, VectorValue *values);

#endif /* GPUAGG_SCAN_PROGRAM_H */
