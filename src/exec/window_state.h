/*
 * window_state.h
 *	  What the parts of the node GpuWindow share.
 *
 * Rows come in, in order (window_input.c).  They are computed in sets, by either engine
 * (window_pipeline.c), or, where nothing may be read ahead, one by one (window_row.c).
 * They wait until their group has its values, and leave (window_emit.c).
 */
#ifndef GPUAGG_WINDOW_STATE_H
#define GPUAGG_WINDOW_STATE_H

#include "compat.h"

#include "commands/explain.h"
#include "nodes/extensible.h"

#include "exec/row_store.h"
#include "exec/window_input.h"
#include "operation/running_bound.h"

struct WindowRows;

typedef struct WindowPassed WindowPassed;

typedef struct WindowFunctionState
{
	const RunningOperation *op; /* of arguments as they come */
	const RunningOperation *plain;
	WindowValue number;	   /* or WINDOW_AGGREGATE */
	bool every_row;		   /* count(*), and numbers of rows */
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

/* Rows that have been taken and not emitted: those that are ready, then those of the open group. */
typedef struct WindowWaitingRows
{
	int64 ready; /* whose group has ended: the functions have its values */
	int64 pending;
	RowStore *store; /* has them, unless the input keeps them or the current set has them */
	int64 nemitted;	 /* rows emitted before them: the number of the first in the input */
} WindowWaitingRows;

/* Of rows of the open partition that have been emitted or dropped. */
typedef struct WindowNumbers
{
	int64 rows;
	int64 groups; /* those that were closed, too */
} WindowNumbers;

/* What was done, for the statistics and EXPLAIN. */
typedef struct WindowWork
{
	bool begun;		  /* the statement's statistics have */
	bool above;		  /* the device computed rows for the node above, in some run; */
	bool with_window; /* and did so for a window above with that one's own */
	int64 uncounted;  /* rows taken one by one, not yet among the counters */
	int64 spilled;	  /* rows that waited on disk as columns, of earlier runs */
	WorkReport report;
} WindowWork;

/*
 * What becomes of rows once their functions have values, as in core's node.  Where the run
 * condition fails, it fails for all further rows of the partition: their functions are not
 * computed and are NULL.  The topmost window drops those rows, others let them pass, as
 * windows above count them.
 */
typedef struct WindowRun
{
	List *conditions;	  /* expressions, for EXPLAIN */
	ExprState *condition; /* or NULL */
	bool ends;	  /* a failure ends the query: there are no partitions and no window above */
	bool passing; /* it has failed in the open partition */
	bool ended;
} WindowRun;

/* A condition above, where it is known how to compare. */
typedef struct WindowBound
{
	Oid type; /* of the constant */
	ExprState *constant;
	bool known; /* the bound, in this run */
	RunningBound bound;
} WindowBound;

typedef struct WindowScanState
{
	CustomScanState css;
	WindowSpec *spec;
	bool prepared; /* for a run, since the start or the last rescan */
	bool begun;	   /* the same, and a row has been asked for */

	int nfunctions;
	WindowFunctionState *functions;
	bool has_expressions; /* among the arguments that are not computed */
	bool has_scans;		  /* an engine can compute some function */
	bool can_read_ahead;  /* every argument, or it is computed */

	MemoryContext partition_context; /* states that cannot be emptied in place */
	MemoryContext group_context;	 /* values of a group, or of some rows; reset at its start */

	WindowInput input;
	struct WindowPipeline *pipeline; /* NULL: rows are taken one by one */
	WindowWaitingRows waiting;
	WindowNumbers numbers; /* not under a ROWS frame, where counts are row numbers */
	WindowWork work;
	WindowRun run;

	/* rows that these drop are not put together; none where that could be noticed */
	int nbounds;		 /* that are known */
	WindowBound *bounds; /* one for each condition of spec->above */
	int64 dropped;		 /* rows, since the start */

	WindowPassed *passed; /* what the device does by these; NULL: nothing yet (window_passed.h) */
	bool given;			  /* it has given this run's rows */

	/* those of the scan tuple that are given, where nothing is computed, or NULL; whether no one else looks at it */
	AttrNumber *columns;
	bool copies;

	/* the row at hand */
	Datum *values; /* the child's columns, then the functions' values */
	bool *isnull;
	TupleTableSlot *tuple_slot; /* the child's columns as a tuple */
	TupleTableSlot *value_slot; /* the same as values, for the store */
} WindowScanState;

/* ---- window_scan.c ---- */

/* What happens before a run, whoever computes it; and when the first row is asked for. */
extern void gpuagg_window_prepare(WindowScanState *node);
extern void gpuagg_window_begin(WindowScanState *node);

/* ---- window_call.c ---- */

/* Initialises the functions and makes the checks that core makes of them. */
extern void gpuagg_window_functions_init(WindowScanState *node);

/* Goes by what kinds of arguments there are, after the input has computed some, or none. */
extern void gpuagg_window_functions_settle(WindowScanState *node);

/* Evaluates `exclusive` of each function, when the first row is asked for. */
extern void gpuagg_window_functions_begin(WindowScanState *node);

/* Empties the states for a new partition; with only_direct not those that scans carry on. */
extern void gpuagg_window_functions_clear(WindowScanState *node, bool only_direct);

/*
 * Takes a value, unless it is NULL, and sets the function's value up to the row under
 * a ROWS frame.  That lies in the current context or in the state.
 */
extern void gpuagg_window_function_step(WindowFunctionState *function, Datum value, bool isnull);

/* Sets the function's value to NULL, without computing it. */
static inline void
gpuagg_window_function_pass(WindowFunctionState *function)
{
	function->value = (Datum) 0;
	function->isnull = true;
}

/* ---- window_bounds.c ---- */

extern void gpuagg_window_bounds_init(WindowScanState *node);

/*
 * Chooses the bounds that count, when the first row is asked for: of functions' values as these
 * operations have them; NULL: as the functions are.
 */
extern void gpuagg_window_bounds_begin(WindowScanState *node, const RunningOperation *const *ops);

/* Finds the rows that they drop, of a set whose scans are finished. */
extern void gpuagg_window_bounds_drop(WindowScanState *node, struct WindowRows *rows);

/* Forgets what concerns the partition before. */
static inline void
gpuagg_window_begin_partition(WindowScanState *node)
{
	node->run.passing = false;
	node->numbers = (WindowNumbers){0, 0};
}

/* ---- window_row.c ---- */

/* The next row of the result, or NULL at the end. */
extern TupleTableSlot *gpuagg_window_next_by_row(WindowScanState *node);

/* Counts rows that the function takes one by one. */
extern void gpuagg_window_count_direct(WindowScanState *node, const WindowFunctionState *function,
									   int64 rows);

/* Brings the rows taken one by one into the statistics. */
extern void gpuagg_window_count_rows(WindowScanState *node);

/* Adds to the report the fallbacks that have been counted since `before`. */
extern void gpuagg_window_report_since(WorkReport *report, const WorkReport *before);

/* ---- window_emit.c ---- */

/* The next row of the result, or NULL at the end. */
extern TupleTableSlot *gpuagg_window_next_by_set(WindowScanState *node);

/*
 * Makes these columns the scan tuple, over which expressions are evaluated.  It points to
 * them, and whoever has the scan tuple may write to them.
 */
extern void gpuagg_window_show(WindowScanState *node, Datum *values, bool *isnull);

/* For a node that starts, and whose conditions are known. */
extern void gpuagg_window_project_init(WindowScanState *node);

/* The row that the plan asks for, of these columns as the scan tuple. */
extern TupleTableSlot *gpuagg_window_project(WindowScanState *node, Datum *values, bool *isnull);

/* A row of the child as columns into node->values. */
extern void gpuagg_window_copy_columns(WindowScanState *node, TupleTableSlot *row);

/*
 * Makes the pending rows ready: the functions get the values that they have at row i of
 * the current set, or, if that is -1, after the last row that was taken.
 */
extern void gpuagg_window_close_group(WindowScanState *node, int64 i);

/* Sets one function's value like this; by reference it lasts until the next call. */
extern void gpuagg_window_find_value(WindowScanState *node, int f, int64 i);

/*
 * Sets, in a row of the current set under a ROWS frame, those functions' values that a set does not
 * have; by reference they last until the next call.
 */
extern void gpuagg_window_settle_single(WindowScanState *node, int64 row);

/* Keeps the last results of the current set, in the pipeline, as its last group goes on. */
extern void gpuagg_window_keep_last(WindowScanState *node);

/*
 * Under another frame, in sets: the next rows whose functions have the same values, by number in
 * the input those before waiting.nemitted; returns how many, 0 at the end.  They leave like this.
 * earlier: how many of them waited before the current set, whose last ones are before next_emitted;
 * or NULL.
 */
extern int64 gpuagg_window_next_group(WindowScanState *node, int64 *earlier);

/* Puts the functions' values behind these columns; returns the row that the plan asks for. */
extern TupleTableSlot *gpuagg_window_emit(WindowScanState *node, Datum *values, bool *isnull);

/* The same for the first of the rows that are ready. */
extern TupleTableSlot *gpuagg_window_emit_ready(WindowScanState *node);

/* ---- window_explain.c ---- */

extern void gpuagg_window_explain(CustomScanState *css, List *ancestors, ExplainState *es);

#endif /* GPUAGG_WINDOW_STATE_H */
