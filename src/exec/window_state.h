/*
 * window_state.h
 *	  What the parts of the node GpuWindow share.
 *
 * Rows come in order (window_input.c).  A partition is cut into groups of rows
 * that have the same value: single rows under a ROWS frame, peers, or the whole
 * partition.  Rows are computed in batches, on either engine (window_batch.c), or,
 * where nothing may be read ahead, one by one (window_row.c).
 */
#ifndef GPUAGG_WINDOW_STATE_H
#define GPUAGG_WINDOW_STATE_H

#include "compat.h"

#include "commands/explain.h"
#include "nodes/extensible.h"

#include "exec/row_sort.h"
#include "exec/row_store.h"
#include "exec/window_key.h"
#include "operation/running_operation.h"
#include "spec/window_spec.h"
#include "device/stat.h"

typedef struct WindowFunctionState
{
	const RunningOperation *op;
	bool every_row;		   /* count(*) */
	AttrNumber attno;	   /* of the argument in the child's rows; 0: an expression */
	ExprState *argument;   /* over the scan tuple */
	int16 argument_length; /* typlen of arguments by reference; 0: by value */
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
	bool has_kinds;		  /* some function has batches */
	bool can_read_ahead;  /* every argument */

	MemoryContext partition_context; /* states that cannot be emptied in place */
	MemoryContext group_context;	 /* values of a group; reset at its start */

	/* with spec->sort */
	RowSort *sort;
	bool sorted;
	bool rows_stay; /* in the sort, to be looked at again */
	TupleTableSlot *sort_slot;

	/* where it stands */
	bool begun;
	bool first_row; /* none has come in yet */
	bool input_ended;
	TupleTableSlot *row; /* that came in last, if have_row; not taken yet */
	bool have_row;
	bool marks_late;	/* what rows start is found once a batch has them */
	bool new_partition; /* otherwise, of row: it starts one */
	bool new_group;		/* it starts a group */
	int64 rows_taken;

	/* rows that wait: those to be emitted with the functions' values, those of the open group */
	RowStore *rows;			/* where they are kept, unless they stay in the sort */
	int64 rows_emitted;		/* where they do: the next one's number */
	TupleTableSlot *stored; /* a row in passing: fetched from there, or copied into a batch */
	Datum *values;			/* of a row that is emitted: the child's columns, the functions */
	bool *isnull;
	int64 ready;
	int64 pending;

	bool in_batches;
	int64 device_at; /* rows_taken from which on to ask for the device */
	struct WindowBatches *batches;
	bool all_by_value;		 /* the child's columns */
	TupleTableSlot *passing; /* for a row on its way from a batch to the store */

	/* for the statistics */
	bool reported;
	int64 uncounted; /* rows taken one by one, not yet among the counters */
	WorkReport report;
} WindowScanState;

/* ---- window_input.c ---- */

/* Gets the next row from below, unless there is one; false at the end. */
extern bool gpuagg_window_next(WindowScanState *node);

/*
 * With marks_late: where partitions and groups start among the rows that have come
 * in since the last call, as columns of which each row is `stride` after the one before.
 */
extern void gpuagg_window_mark_rows(WindowScanState *node, const Datum *values, const bool *isnull,
									Size stride, int64 nrows, uint64 *heads, uint64 *groups);

extern void gpuagg_window_rescan_input(WindowScanState *node);
extern void gpuagg_window_end_input(WindowScanState *node);

/* ---- window_function.c ---- */

/* Initialises the functions and makes the checks that core makes of them. */
extern void gpuagg_window_functions_init(WindowScanState *node);

/* What can only be known when rows are there, once in a run. */
extern void gpuagg_window_functions_begin(WindowScanState *node);

/* Empties the states for the partition that begins; not those that batches carry on, if only_direct. */
extern void gpuagg_window_functions_clear(WindowScanState *node, bool only_direct);

/*
 * Takes a value, unless it is NULL, and puts down the function's value up to the
 * row under a ROWS frame, which lies in the current context or in the state.
 */
extern void gpuagg_window_function_step(WindowFunctionState *function, Datum value, bool isnull);

/* ---- window_row.c ---- */

/*
 * Makes the scan tuple, over which expressions are evaluated, that of these
 * columns, which it refers to and whoever holds it may write to.
 */
static inline void
gpuagg_window_show(WindowScanState *node, Datum *values, bool *isnull)
{
	TupleTableSlot *scan = node->css.ss.ss_ScanTupleSlot;

	ExecClearTuple(scan);
	scan->tts_values = values;
	scan->tts_isnull = isnull;
	ExecStoreVirtualTuple(scan);
	node->css.ss.ps.ps_ExprContext->ecxt_scantuple = scan;
}

/* A row from below as columns into node->values. */
extern void gpuagg_window_copy_columns(WindowScanState *node, TupleTableSlot *row);

/* The functions' values behind the columns of a row. */
extern void gpuagg_window_put_values(WindowScanState *node, Datum *values, bool *isnull);

/* The row that the plan asks for, of these columns. */
extern TupleTableSlot *gpuagg_window_project(WindowScanState *node, Datum *values, bool *isnull);

/* The first of the rows that are kept, which is no more, as columns into node->values. */
extern void gpuagg_window_fetch_kept(WindowScanState *node);

/* The next row of the result, or NULL at the end. */
extern TupleTableSlot *gpuagg_window_by_row(WindowScanState *node);

/* Counts rows that the function takes one by one. */
extern void gpuagg_window_count_direct(WindowScanState *node, const WindowFunctionState *function,
									   int64 rows);

/* Adds to the node's report the fallbacks that have been counted since. */
extern void gpuagg_window_report_since(WindowScanState *node, const WorkReport *before);

/* Brings the rows taken one by one into the statistics. */
extern void gpuagg_window_count_rows(WindowScanState *node);

/* ---- window_batch.c, window_emit.c ---- */

/* The next row of the result, or NULL at the end. */
extern TupleTableSlot *gpuagg_window_by_batch(WindowScanState *node);

/* Drops what there is of batches. */
extern void gpuagg_window_drop_batches(WindowScanState *node);

/* ---- window_explain.c ---- */

extern void gpuagg_window_explain(CustomScanState *css, List *ancestors, ExplainState *es);

#endif /* GPUAGG_WINDOW_STATE_H */
