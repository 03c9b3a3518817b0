/*
 * window_moved.c
 *	  The rows of a GpuWindow node for the sort of the node above, as columns.
 *
 * They go from the sets to that sort, some at a time.  Under other frames than ROWS those that are open
 * at the end of a set wait in the pipeline's queue until their group has its values.
 */
#include "compat.h"

#include "utils/memutils.h"

#include "engine/cpu.h"
#include "exec/window_giving.h"

typedef struct Moving
{
	const Giving *giving;
	WindowScanState *below;
	ColumnQueue *queue;
	StoreInput *inputs; /* by column of the sort above */

	/* rows from the queue */
	Datum *values;
	bool *isnull;

	/* values that rows have in common, by giving's */
	MemoryContext context; /* of these */
	Datum *last;
	bool *last_isnull;

	Datum *numbers; /* of rows; NULL: they are not asked for */
	int64 number;	/* of the row before those that are put next */
	bool no_nulls[STORE_ROWS];
} Moving;

/* Has columns of the rows below from here on. */
static void
set_columns(Moving *moving, const Datum *values, const bool *isnull)
{
	const Giving *giving = moving->giving;

	for (int c = 0; c < giving->ncolumns; c++)
	{
		int source = giving->sources[c].column;

		if (source >= 0)
			moving->inputs[c] = (StoreInput){
				.values = values + source,
				.isnull = isnull + source,
				.stride = moving->below->pipeline->stride,
			};
	}
}

static void
set_value(Moving *moving, int i, const Datum *value, const bool *isnull, Size stride)
{
	moving->inputs[moving->giving->columns[i]] = (StoreInput){
		.values = value,
		.isnull = isnull,
		.stride = stride,
	};
}

static void
set_integers(Moving *moving, int i, const void *results, const uint8 *status, Size stride)
{
	moving->inputs[moving->giving->columns[i]] = (StoreInput){
		.integers = results,
		.status = status,
		.stride = stride,
	};
}

/* Has the values that a set's rows have, each its own, or all that of the first one. */
static void
set_results(Moving *moving, const WindowRows *rows, bool each)
{
	const Giving *giving = moving->giving;

	for (int i = 0; i < giving->nvalues; i++)
	{
		int f = giving->functions[i];
		Size place = gpuagg_window_place(moving->below, 0, moving->below->spec->nchild + f);

		if (gpuagg_window_giving_integers(giving, i))
			set_integers(moving, i, gpuagg_window_giving_flight(giving, i, rows)->results,
						 gpuagg_window_giving_flight(giving, i, rows)->status, each ? 1 : 0);
		else
			set_value(moving, i, rows->values + place, rows->isnull + place,
					  each ? moving->below->pipeline->stride : 0);
	}
}

/* Puts n rows from this number of the current set on. */
static void
put_set(Moving *moving, int64 first, int64 n)
{
	WindowRows *rows = moving->below->pipeline->current;

	set_columns(moving, rows->values, rows->isnull);
	gpuagg_row_sort_put_columns(moving->giving->to, moving->inputs, first, n);
}

/* ---- under a ROWS frame ---- */

static void
move_singles(Moving *moving)
{
	WindowScanState *below = moving->below;
	WindowPipeline *p = below->pipeline;

	while (gpuagg_window_pipeline_advance(below))
	{
		const WindowRows *rows = p->current;
		bool complete = gpuagg_window_giving_is_complete(moving->giving, rows);

		set_results(moving, rows, true);
		if (complete)
			put_set(moving, 0, rows->nrows);
		for (int64 row = 0; row < rows->nrows && !complete; row++)
		{
			gpuagg_window_settle_single(below, row);
			put_set(moving, row, 1);
		}
		p->next_emitted = p->next_row = rows->nrows;
		below->waiting.nemitted += rows->nrows;
	}
}

/* ---- rows that wait for their group ---- */

/* Has the numbers of the next n rows, where they are asked for. */
static void
number_rows(Moving *moving, int n)
{
	for (int i = 0; i < n && moving->numbers != NULL; i++)
		moving->numbers[i] = Int64GetDatum(++moving->number);
}

/* Puts n rows that wait, with the values at hand. */
static void
put_waiting(Moving *moving, int64 n)
{
	Size stride = moving->below->pipeline->stride;

	set_columns(moving, moving->values, moving->isnull);
	while (n > 0)
	{
		int some = gpuagg_column_queue_get(moving->queue, n, moving->values, moving->isnull,
										   stride);

		if (some == 0)
			elog(ERROR, "rows of a window are missing");
		number_rows(moving, some);
		gpuagg_row_sort_put_columns(moving->giving->to, moving->inputs, 0, some);
		n -= some;
	}
}

/* ---- under other frames, where engines compute all functions ---- */

/* Has the last results before the current set for rows that are their group's last ones. */
static void
set_last(Moving *moving)
{
	const Giving *giving = moving->giving;
	MemoryContext old;

	MemoryContextReset(moving->context);
	old = MemoryContextSwitchTo(moving->context);
	for (int i = 0; i < giving->nvalues; i++)
	{
		int f = giving->functions[i];
		const LastResult *last = &moving->below->pipeline->last[f];

		if (gpuagg_window_giving_integers(giving, i))
		{
			set_integers(moving, i, last->result, &last->status, 0);
			continue;
		}
		moving->last[i] = gpuagg_window_function_result(moving->below, f, -1,
														&moving->last_isnull[i]);
		set_value(moving, i, &moving->last[i], &moving->last_isnull[i], 0);
	}
	MemoryContextSwitchTo(old);
}

static void
move_scans(Moving *moving)
{
	WindowScanState *below = moving->below;
	WindowPipeline *p = below->pipeline;
	int64 waiting = 0; /* rows before the current set, of the group that is open */

	while (gpuagg_window_pipeline_advance(below))
	{
		WindowRows *rows = p->current;
		int64 closed = gpuagg_window_closed_rows(rows);

		if (waiting > 0 && gpuagg_bit(rows->group_heads, 0))
		{
			set_last(moving);
			put_waiting(moving, waiting);
			waiting = 0;
		}
		gpuagg_window_keep_last(below);
		if (closed > 0)
		{
			gpuagg_window_giving_spread(moving->giving, rows, closed);
			set_results(moving, rows, false);
			put_waiting(moving, waiting);
			set_results(moving, rows, true);
			put_set(moving, 0, closed);
			waiting = 0;
		}
		/* the others go to the queue as the set is left */
		p->next_emitted = p->next_row = closed;
		waiting += rows->nrows - closed;
		below->waiting.nemitted += rows->nrows;
	}
	if (waiting == 0)
		return;
	set_last(moving);
	put_waiting(moving, waiting);
}

/* ---- under other frames, with any functions ---- */

static bool
has_row_numbers(const Moving *moving)
{
	for (int i = 0; i < moving->giving->nvalues; i++)
		if (moving->below->functions[moving->giving->functions[i]].number == WINDOW_ROW_NUMBER)
			return true;
	return false;
}

/* Puts n rows of the current set from this number on, of the group that is ready. */
static void
put_ready(Moving *moving, int64 first, int64 n)
{
	const WindowRows *rows = moving->below->pipeline->current;

	while (n > 0)
	{
		int some = (int) Min(n, STORE_ROWS);
		Size place = gpuagg_window_place(moving->below, first, 0);

		number_rows(moving, some);
		set_columns(moving, rows->values + place, rows->isnull + place);
		gpuagg_row_sort_put_columns(moving->giving->to, moving->inputs, 0, some);
		first += some;
		n -= some;
	}
}

static void
move_groups(Moving *moving)
{
	const Giving *giving = moving->giving;
	WindowScanState *below = moving->below;
	int64 earlier; /* of its rows, that wait in the queue */
	int64 n;

	moving->numbers = has_row_numbers(moving) ? palloc(STORE_ROWS * sizeof(Datum)) : NULL;
	for (int i = 0; i < giving->nvalues; i++)
	{
		const WindowFunctionState *function = &below->functions[giving->functions[i]];

		if (function->number == WINDOW_ROW_NUMBER)
			set_value(moving, i, moving->numbers, moving->no_nulls, 1);
		else
			set_value(moving, i, &function->value, &function->isnull, 0);
	}
	while (n = gpuagg_window_next_group(below, &earlier), n > 0)
	{
		moving->number = below->numbers.rows - n;
		put_waiting(moving, earlier);
		put_ready(moving, below->pipeline->next_emitted - (n - earlier), n - earlier);
	}
}

/* ---- all ---- */

/* Columns of the rows below that go to the sort above. */
static bool *
find_moved(const Giving *giving)
{
	bool *moved = palloc0(giving->below->pipeline->stride * sizeof(bool));

	for (int c = 0; c < giving->ncolumns; c++)
		if (giving->sources[c].column >= 0)
			moved[giving->sources[c].column] = true;
	return moved;
}

void
gpuagg_window_giving_move(const Giving *giving)
{
	WindowScanState *below = giving->below;
	int ncolumns = giving->ncolumns;
	int *scales = palloc((ncolumns + 1) * sizeof(int));
	Moving *moving = palloc0(sizeof(Moving));

	moving->giving = giving;
	moving->below = below;
	moving->inputs = palloc0((ncolumns + 1) * sizeof(StoreInput));
	gpuagg_window_pipeline_keep_integers(below);
	for (int c = 0; c < ncolumns; c++)
		scales[c] = giving->sources[c].column < 0
						? giving->sources[c].scale
						: gpuagg_window_pipeline_scale(below, giving->sources[c].column);
	gpuagg_row_sort_keep_integers(giving->to, scales);
	if (below->spec->frame == WINDOW_ROWS)
	{
		move_singles(moving);
		return;
	}
	moving->context = AllocSetContextCreate(CurrentMemoryContext, "GpuWindow last values",
											ALLOCSET_SMALL_SIZES);
	moving->values = palloc(STORE_ROWS * below->pipeline->stride * sizeof(Datum));
	moving->isnull = palloc(STORE_ROWS * below->pipeline->stride * sizeof(bool));
	moving->last = palloc((giving->nvalues + 1) * sizeof(Datum));
	moving->last_isnull = palloc((giving->nvalues + 1) * sizeof(bool));
	moving->queue = gpuagg_window_pipeline_queue(below, find_moved(giving));
	if (gpuagg_window_giving_in_sets(giving))
		move_scans(moving);
	else
		move_groups(moving);
}
