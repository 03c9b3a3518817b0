/*
 * row_between.h
 *	  Columns that a subquery computes of a window's, by vectors, for a reader of its rows.
 *
 * SQL computes them for all rows, whatever is asked of them above.
 */
#ifndef GPUAGG_ROW_BETWEEN_H
#define GPUAGG_ROW_BETWEEN_H

#include "exec/window_between.h"

/* What core's executor evaluates over a row: a column that is asked for, or a ROW of the program. */
typedef struct BetweenExpr
{
	ExprState *state;
	int *columns; /* of the window's scan tuple, that it has */
	int ncolumns;
	int16 length; /* of its values */
	bool by_value;
} BetweenExpr;

typedef struct RowBetween
{
	WindowBetween *of; /* by column of the subquery that is asked for */
	GpuaggVectorRunner *runner;
	GpuaggVector *inputs; /* columns of its program, to be loaded before each run */
	List *parameters;	  /* what computes them */
	BetweenExpr *rows;	  /* of its ROW instructions, by number */
	bool begun;
	bool by_row; /* a parameter does not fit: each row has to be evaluated */

	/* of one row */
	PlanState *window;
	ExprContext *econtext;
	TupleTableSlot *slot; /* the window's scan tuple */
	bool *needed;		  /* its columns that the expressions have */
	BetweenExpr *exprs;
} RowBetween;

/*
 * As gpuagg_window_between_make(), of the columns that are computed; NULL: there are none, or rows
 * have to come one by one.
 */
extern RowBetween *gpuagg_row_between_make(PlanState *plan, PlanState *window, int n,
										   const int *columns, const int32 *typmods,
										   const bool *computed);
extern void gpuagg_row_between_end(RowBetween *between);

/* Has parameters' values, in the current memory context, when the first row is there. */
extern void gpuagg_row_between_begin(RowBetween *between);

/*
 * Computes n rows, whose inputs are loaded; adds to the rows that core's executor is to evaluate.
 * Values by reference are in the current memory context.
 */
extern void gpuagg_row_between_run(RowBetween *between, int n, uint64 *flagged, bool *any_flagged);

/* A column's value in a row of the window's current vector, by core's executor, which raises its error. */
extern Datum gpuagg_row_between_evaluate(RowBetween *between, int column, int row, bool *isnull);

#endif /* GPUAGG_ROW_BETWEEN_H */
