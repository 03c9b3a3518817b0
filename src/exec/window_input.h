/*
 * window_input.h
 *	  The rows of a GpuWindow node as they come in, and what each of them starts.
 *
 * A partition is cut into groups of rows that have the same value: single rows under a
 * ROWS frame, peers, or the whole partition.
 */
#ifndef GPUAGG_WINDOW_INPUT_H
#define GPUAGG_WINDOW_INPUT_H

#include "nodes/execnodes.h"

#include "device/stat.h"
#include "exec/row_sort.h"
#include "exec/window_key.h"
#include "exec/window_table.h"
#include "spec/window_spec.h"

typedef struct WindowInput
{
	const WindowSpec *spec;
	PlanState *child;
	PlanState *node;
	ExprContext *econtext; /* of the node; reset before each row */
	WorkReport *report;	   /* gets the fallbacks of the sort */
	AttrNumber last_read;  /* columns up to this one are read of each row */

	/* of a child that is sorted */
	WindowKey *partition_keys;
	WindowKey *order_keys; /* none but under the frame PEERS */
	int norder;
	bool marks_sets; /* what rows start is asked of gpuagg_window_input_mark() */

	/* with spec->sort */
	RowSort *sort;
	bool *wanted;		/* columns of rows that are looked at behind it */
	WindowTable *table; /* whose columns are read, and not the child's rows; or NULL */
	bool shares;		/* a GpuWindow's rows are sorted where that one has them (window_below.h) */
	bool moves;			/* they come from there as columns */
	bool is_below;		/* a node above may sort this one's rows where this one has them */
	bool asked;			/* a node above does so with this one's, as window_arguments.h has it */
	bool refuses;		/* no node does */
	const bool *needed; /* by such a node, of the columns that the plan gives; NULL: all */
	bool sends;			/* columns that come from memory go to the device, too, in this run */

	/* by function, then by argument of a node above that asks for it */
	int nfunctions;
	int narguments;
	Expr **arguments; /* that may be columns of the sort: expressions, numerics; or NULL */
	bool *is_checked; /* the argument could raise an error, which comes with its row */
	bool *computed;	  /* it is a column of the sort, and no row of it raises one */
	int *scales;	  /* of computed decimals, which are bigints there; -1: others */
	bool *wide;	   /* computed decimals of two words: of the upper one, behind all, a bigint, too */
	bool prepared; /* the sort is ready for rows, and what it computes is known */
	bool sorted;   /* it has all rows, in order */
	bool keeps_rows; /* and keeps them in memory, to be read again by number */

	/* where it stands */
	bool at_start; /* no row has come in yet */
	bool ended;
	TupleTableSlot *row; /* came in last; NULL: none yet, or it has been taken */
	bool new_partition;	 /* that row starts one (not set with marks_sets) */
	bool new_group;
} WindowInput;

/* Columns of its sort: the child's, arguments, upper words; and which one an argument's upper word is. */
extern int gpuagg_window_input_columns(const WindowInput *input);
extern int gpuagg_window_input_upper(const WindowInput *input, int argument);

/*
 * Columns that the node looks at, behind the arguments that are computed[]; there is room for upper
 * words.
 */
extern bool *gpuagg_window_input_wanted(const WindowInput *input, const bool *computed);

/* For a node that starts; checks that the user may execute the keys' equality. */
extern void gpuagg_window_input_init(WindowInput *input, const WindowSpec *spec, PlanState *child,
									 PlanState *node, WorkReport *report);

/* Gets the next row, unless one waits to be taken; false at the end. */
extern bool gpuagg_window_input_next(WindowInput *input);

/*
 * With a sort: has all rows in order there.  They may be taken from it directly.  From then on
 * computed[] tells what is.
 */
extern void gpuagg_window_input_sort(WindowInput *input);

/* Its first part, which reads no row: what is computed is known then, unless a row raises an error. */
extern void gpuagg_window_input_prepare(WindowInput *input);

/* Whether a node below still computes what it was asked for, where the input shares its rows. */
extern bool gpuagg_window_input_agrees(const WindowInput *input);

/*
 * With marks_sets: sets the bits of the rows that start a partition or a group, among all
 * that have come in since the last call.  They are given as columns, each row `stride`
 * places after the one before.
 */
extern void gpuagg_window_input_mark(WindowInput *input, const Datum *values, const bool *isnull,
									 Size stride, int64 nrows, uint64 *partition_heads,
									 uint64 *group_heads);

/* Tells the child which of the node's parameters have changed. */
extern void gpuagg_window_input_tell(WindowInput *input, const Bitmapset *changed);

/* After that, with these again, or NULL. */
extern void gpuagg_window_input_rescan(WindowInput *input, const Bitmapset *changed);
extern void gpuagg_window_input_end(WindowInput *input);

#endif /* GPUAGG_WINDOW_INPUT_H */
