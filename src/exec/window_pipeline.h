/*
 * window_pipeline.h
 *	  The rows of a GpuWindow node in sets, on their way through an engine.
 *
 * Two sets are in work: the current one, whose rows are emitted, and the one after it,
 * which the device has meanwhile.
 */
#ifndef GPUAGG_WINDOW_PIPELINE_H
#define GPUAGG_WINDOW_PIPELINE_H

#include "engine/scan.h"
#include "exec/column_queue.h"
#include "exec/row_blocks.h"
#include "exec/window_state.h"

/* What a set of rows has of one function. */
typedef struct WindowFunctionColumn
{
	ColumnScan *scan; /* NULL: the function's state takes the arguments */
	bool has_values;  /* the function's values are in the rows */
	int64 *counts;	  /* of averages: arguments not NULL up to each row of its partition */
	int64 open_count; /* arguments not NULL in the partition that is open after the last row */
} WindowFunctionColumn;

/*
 * A set of rows.  A row has the child's columns, then one for each function: first its
 * argument, where that is an expression, then its value.  The value may take the
 * argument's place, as scans and states read arguments before a group has its value, and
 * nothing reads a row again once it has been emitted.
 */
typedef struct WindowRows
{
	int64 capacity; /* rows that the arrays have room for */
	int64 nrows;
	Datum *values; /* row by row */
	bool *isnull;
	uint64 *partition_heads; /* bit i: row i starts a partition */
	uint64 *group_heads;	 /* bit i: row i starts a group */
	uint64 *dropped;		 /* bit i: row i is dropped, if its group ends with it; with nbounds */
	RowBlocks *copies;		 /* of rows that values by reference point into, or NULL */
	MemoryContext
		copied; /* values by reference: of expressions, and of sorted rows that do not stay */
	Size copied_bytes;
	WindowFunctionColumn *columns; /* one a function */
	ColumnScan **scans;			   /* of those that have one */
	bool on_device;

	/* with late columns, of a sort that keeps rows: rows up to that one, not dropped, have them */
	bool is_late;
	int64 first; /* number of the first row in the sort */
	int64 completed;
} WindowRows;

/* A scan's result at one row. */
typedef struct LastResult
{
	uint64 result[3];
	uint8 status;
	int64 count; /* as in counts */
} LastResult;

typedef struct WindowGroups WindowGroups;

typedef struct WindowPipeline
{
	MemoryContext context;
	int stride; /* columns of a row */
	int nscans;
	bool all_by_value; /* the child's columns */
	bool can_overlap;  /* there is staging memory for two sets */
	int64 rows_taken;
	int64 device_from;	/* rows_taken from which on to ask for the device */
	int64 cpu_capacity; /* rows of the next set that the CPU scans */

	/* of a sort, for who takes rows as columns: what it has as integers is given as pointers to these */
	RowColumns *integers; /* all columns like this; or NULL */

	/* where rows are dropped: what scans need of all rows, and what is left for the others */
	RowColumns *early;
	RowColumns *late;

	/* of a node above that takes vectors (window_vectors.h): columns that it needs; or NULL */
	const bool *needed;
	int64 first_given; /* of current: the first of the rows that it has */
	int ngiven;
	WindowGroups *groups; /* of frames other than ROWS (window_groups.h); or NULL */

	WindowRows sets[2];
	WindowRows *current;   /* or NULL */
	WindowRows *submitted; /* the set after it, or NULL */
	int64 next_row;		   /* of current: the first that is neither ready nor pending */
	int64 next_emitted;	   /* of current: the first that has not been emitted */
	int64 settled; /* of current, before that row: values of functions with scans have been made */
	int64 earlier_rows; /* that wait before that one, in the store, the queue or the input */
	LastResult *last;	/* of the row before current, when it belongs to the open group */

	ColumnQueue *queue; /* where rows wait as columns, for who takes them so; or NULL */

	GpuaggScanState carry; /* of one function, between its state and its scan */
} WindowPipeline;

/* Makes node->pipeline; device_from as above.  Its functions have begun. */
extern void gpuagg_window_pipeline_make(WindowScanState *node, int64 device_from);

/* Has a sort's rows with integers, as above, before there are any. */
extern void gpuagg_window_pipeline_keep_integers(WindowScanState *node);

/* The scale of a column that has them; -1: others. */
extern int gpuagg_window_pipeline_scale(const WindowScanState *node, int column);

/* Drops it, if there is one, with all its rows. */
extern void gpuagg_window_pipeline_drop(WindowScanState *node);

/* Has the input's rows wait in a queue, which it makes: of these columns of its sort or child. */
extern ColumnQueue *gpuagg_window_pipeline_queue(WindowScanState *node, const bool *kept);

/* Whether rows that wait are in the store. */
static inline bool
gpuagg_window_stores_rows(const WindowScanState *node)
{
	return !node->input.keeps_rows && node->pipeline->queue == NULL;
}

/*
 * Makes the next set the current one; false when there is none.  Rows of the set before
 * that have not been emitted then wait in the store.
 */
extern bool gpuagg_window_pipeline_advance(WindowScanState *node);

/*
 * Rows of the current set from number `first` on, up to `most`, are about to be emitted: they get
 * the columns that they have not got yet.
 */
extern void gpuagg_window_pipeline_complete(WindowScanState *node, int64 first, int64 most);

/*
 * A function's value at row i of the current set, or, if that is -1, at the last row before it, of
 * its scan; by reference in the current memory context.
 */
extern Datum gpuagg_window_function_result(const WindowScanState *node, int f, int64 i,
										   bool *isnull);

/* How many rows of a set are of groups that end in it, as far as that is known. */
extern int64 gpuagg_window_closed_rows(const WindowRows *rows);

/* The first bit from i on that is `set`, or not, or n. */
extern int64 gpuagg_window_next_bit(const uint64 *bitmap, bool set, int64 i, int64 n);

/* The index of a row's column in values and isnull. */
static inline Size
gpuagg_window_place(const WindowScanState *node, int64 row, int column)
{
	return row * node->pipeline->stride + column;
}

/* The column that has a function's arguments. */
static inline int
gpuagg_window_argument_column(const WindowScanState *node, int f)
{
	const WindowFunctionState *function = &node->functions[f];

	return function->attno > 0 && !node->input.computed[f] ? function->attno - 1
														   : node->spec->nchild + f;
}

#endif /* GPUAGG_WINDOW_PIPELINE_H */
