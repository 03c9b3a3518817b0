/*
 * window_between.h
 *	  What a subquery computes between a window and what is above, as a vector program.
 *
 * The expressions become a program over the columns of the window's scan tuple.
 */
#ifndef GPUAGG_WINDOW_BETWEEN_H
#define GPUAGG_WINDOW_BETWEEN_H

#include "nodes/execnodes.h"

#include "spec/vector_compile.h"

typedef struct WindowBetween
{
	VectorCompiler *compiler; /* its attributes are columns of the window's scan tuple, from 1 on */
	VectorValue *forms;		  /* of these, by number in the program */
	Oid *types;
	Expr **exprs; /* by column that is asked for: over the scan tuple */
	VectorValue *values;
	int nscan;		/* columns of the scan tuple, */
	int32 *typmods; /* and those that who is above knows them by; -1: their own */
} WindowBetween;

/*
 * What a column of a plan is, by number, that is the node GpuWindow or a subquery over it: over the
 * window's scan tuple; NULL: it is none.
 */
extern Expr *gpuagg_window_between_expr(const PlanState *plan, const PlanState *window, int column);

/*
 * Of n columns of such a plan, and their typmods as who is above knows them; known: the same of the
 * scan tuple's columns, where they are not -1, or NULL; computed: those that are to be in the program,
 * NULL: all.  NULL: there is no program for them that may run in another order than SQL's.  In the
 * current memory context.
 */
extern WindowBetween *gpuagg_window_between_make(const PlanState *plan, const PlanState *window,
												 int n, const int *columns, const int32 *typmods,
												 const int32 *known, const bool *computed);

/* The typmod of such a column, of numerics by what it is and the parameters that are known now. */
extern int32 gpuagg_window_between_find_typmod(const PlanState *plan, const PlanState *window,
											   int column, const int32 *known);

/* By which a column that is asked for is known if it is one of the scan tuple; otherwise: if it is none. */
extern int32 gpuagg_window_between_typmod(const WindowBetween *between, int i, int32 otherwise);

#endif /* GPUAGG_WINDOW_BETWEEN_H */
