/*
 * window_state.h
 *	  What the parts of the node GpuWindow share.
 *
 * Rows come in order (window_input.c).  A partition is cut into groups of rows
 * that have the same value: single rows under a ROWS frame, peers, or the whole
 * partition.  Rows are computed one by one (window_row.c) or, on the device, in
 * batches (window_batch.c); either can go on where the other has stopped, since
 * between two rows all they need is the functions' states and the rows of the
 * open group.
 */
#ifndef GPUAGG_WINDOW_STATE_H
#define GPUAGG_WINDOW_STATE_H

#include "compat.h"

#include "commands/explain.h"
#include "nodes/extensible.h"

#include "exec/row_sort.h"
#include "exec/row_store.h"
#include "exec/window_key.h"
#include "functions/running.h"
#include "plan/window_spec.h"
#include "stat.h"

#define HELD_ROWS 64

typedef struct WindowFunctionState
{
	const RunningOperation *op;
	bool every_row;		 /* count(*) */
	AttrNumber attno;	 /* of the argument in the child's rows; 0: an expression */
	ExprState *argument; /* over the scan tuple */
	ExprState *exclusive_argument;
	bool exclusive;
	RunningState *state; /* of the rows taken of the open partition */

	/* of the group that is being emitted */
	Datum value;
	bool isnull;
} WindowFunctionState;

typedef struct WindowScanState
{
	CustomScanState css;
	WindowSpec *spec;
	PlanState *child;

	WindowKey *partition;
	WindowKey *order; /* PEERS only */
	int norder;
	int nfunctions;
	WindowFunctionState *functions;
	AttrNumber last_read; /* columns up to it are read of each row that comes in */
	bool has_expressions; /* among the arguments */
	bool has_kinds;		  /* every function has batches */
	bool can_read_ahead;  /* every argument */

	MemoryContext partition_context; /* states that cannot be emptied in place */
	MemoryContext group_context;	 /* values of a group; reset at its start */

	/* with spec->sort */
	RowSort *sort;
	bool sorted;
	TupleTableSlot *sort_slot;

	/* where it stands */
	bool begun;
	bool first_row; /* none has come in yet */
	bool input_ended;
	TupleTableSlot *row; /* that came in last, if have_row; not taken yet */
	bool have_row;
	bool new_partition; /* of row: it starts one */
	bool new_group;		/* it starts a group */
	int64 rows_taken;
	int64 batch_at; /* rows_taken from which on to ask for the device */

	/* rows: those to be emitted with the functions' values, then those of the open group */
	RowStore *rows;
	TupleTableSlot *stored; /* the one fetched last */
	bool all_by_value;		/* the child's columns */
	Datum *held_values;		/* of the nheld rows that come before those in the store */
	bool *held_isnull;
	int nheld;				  /* at most HELD_ROWS */
	int held_at;			  /* of them, the next to be emitted */
	TupleTableSlot *held_row; /* in passing */
	int64 ready;
	int64 pending;

	struct WindowBatches *batches; /* NULL: row by row */

	/* for the statistics */
	bool reported;
	int64 uncounted; /* rows taken one by one, not yet among the counters */
	WorkReport report;
} WindowScanState;

/* ---- window_input.c ---- */

/* Gets the next row from below, unless there is one; false at the end. */
extern bool gpuagg_window_next(WindowScanState *node);

extern void gpuagg_window_rescan_input(WindowScanState *node);
extern void gpuagg_window_end_input(WindowScanState *node);

/* ---- window_function.c ---- */

/* Initialises the functions and makes the checks that core makes of them. */
extern void gpuagg_window_functions_init(WindowScanState *node);

/* What can only be known when rows are there, once in a run. */
extern void gpuagg_window_functions_begin(WindowScanState *node);

/* Empties the states, for the partition that begins. */
extern void gpuagg_window_functions_clear(WindowScanState *node);

/*
 * The function's argument at node->row; false when it is NULL.  Columns of the
 * row up to last_read are there, and the scan tuple if has_expressions.
 */
static inline bool
gpuagg_window_argument(WindowScanState *node, WindowFunctionState *function, Datum *value)
{
	bool isnull;

	if (function->attno > 0)
	{
		*value = node->row->tts_values[function->attno - 1];
		return !node->row->tts_isnull[function->attno - 1];
	}
	if (function->every_row)
	{
		*value = (Datum) 0;
		return true;
	}
	*value = ExecEvalExpr(function->argument, node->css.ss.ps.ps_ExprContext, &isnull);
	return !isnull;
}

/* ---- window_row.c ---- */

/* Makes what arguments are evaluated over there, of node->row. */
extern void gpuagg_window_prepare_arguments(WindowScanState *node);

/* The next row of the result, or NULL: at the end, or with node->batches to go on with. */
extern TupleTableSlot *gpuagg_window_by_row(WindowScanState *node);

/* Emits the first of the rows that are ready. */
extern TupleTableSlot *gpuagg_window_emit_stored(WindowScanState *node);

/* Moves the rows that are held to the store. */
extern void gpuagg_window_store_held(WindowScanState *node);

/* Brings the rows taken one by one into the statistics. */
extern void gpuagg_window_count_rows(WindowScanState *node);

/* ---- window_batch.c ---- */

/* Tries to go on in batches from the row at hand, and then sets node->batches. */
extern bool gpuagg_window_try_batches(WindowScanState *node);

static inline bool
gpuagg_window_begin_batches(WindowScanState *node)
{
	return node->rows_taken >= node->batch_at && gpuagg_window_try_batches(node);
}

/* The next row of the result, or NULL: then node->batches is NULL, and rows go one by one. */
extern TupleTableSlot *gpuagg_window_by_batch(WindowScanState *node);

/* Drops what there is of batches. */
extern void gpuagg_window_drop_batches(WindowScanState *node);

/* ---- window_explain.c ---- */

extern void gpuagg_window_explain(CustomScanState *css, List *ancestors, ExplainState *es);

#endif /* GPUAGG_WINDOW_STATE_H */
