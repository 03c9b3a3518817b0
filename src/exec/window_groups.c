/*
 * window_groups.c
 *	  The rows of a GpuWindow node as vectors, where functions have one value for each group of rows.
 *
 * Rows of the current set whose group ends in it are given with the values at its last row.  Those of
 * the group that is open at the set's end wait, as a number, until another set ends it.  Columns of
 * all rows are taken from the sort, if that keeps them, or else from the sets, and of rows that wait
 * from the pipeline's queue.
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "engine/cpu.h"
#include "exec/window_groups.h"

/* The vector at hand. */
typedef struct GroupVector
{
	/* rows of the current set that have the values; -1: the last one before it */
	int64 at[GPUAGG_VECTOR_ROWS];
	const Datum *values; /* the child's columns, row by row: room's, or a set's */
	const bool *isnull;
	Datum *room;
	bool *room_isnull;
	int64 *numbers; /* GPUAGG_VECTOR_ROWS for each function; or NULL: there are no such functions */
} GroupVector;

struct WindowGroups
{
	RowColumns *columns;   /* to be taken from the sort; NULL: it does not keep them */
	MemoryContext context; /* of their values; reset with each vector */

	int64 ready;	/* rows from waiting.nemitted on, whose group has ended: */
	int64 queued;	/* so many are in the queue, */
	int64 ready_in; /* the others in the current set from this one on */
	int64 ready_at; /* with the values there, as GroupVector.at */
	int64 open;		/* rows behind them of the open group, which have left the current set */
	bool begins;	/* the first of these two begins its group, */
	bool begins_partition;
	int64 closed; /* rows of the current set before it are of groups that end in it */
	int64 rank;	  /* of the group that was begun last */

	GroupVector vector;
};

/* Whether some function is a number of rows or groups. */
static bool
has_numbers(const WindowScanState *node)
{
	for (int f = 0; f < node->nfunctions; f++)
		if (node->functions[f].number != WINDOW_AGGREGATE)
			return true;
	return false;
}

void
gpuagg_window_groups_begin(WindowScanState *node, const bool *needed)
{
	WindowPipeline *p = node->pipeline;
	int nchild = node->spec->nchild;
	MemoryContext old;
	WindowGroups *groups;
	bool *columns;

	old = MemoryContextSwitchTo(p->context);
	groups = palloc0(sizeof(WindowGroups));
	columns = palloc0(p->stride * sizeof(bool));
	memcpy(columns, needed, nchild * sizeof(bool));
	if (node->input.keeps_rows)
	{
		/* sets need none of them */
		p->needed = palloc0(p->stride * sizeof(bool));
		groups->columns = gpuagg_row_sort_select(node->input.sort, columns);
		groups->columns->integers = true;
	}
	else
		(void) gpuagg_window_pipeline_queue(node, columns);
	groups->context = AllocSetContextCreate(p->context, "GpuWindow vectors",
											ALLOCSET_DEFAULT_SIZES);
	groups->vector.room = palloc(GPUAGG_VECTOR_ROWS * p->stride * sizeof(Datum));
	groups->vector.room_isnull = palloc(GPUAGG_VECTOR_ROWS * p->stride * sizeof(bool));
	if (has_numbers(node))
		groups->vector.numbers = palloc(GPUAGG_VECTOR_ROWS * node->nfunctions * sizeof(int64));
	p->groups = groups;
	MemoryContextSwitchTo(old);
}

/* ---- rows ---- */

/* The numbers of the vector's next row, which begins a group, or one and a partition. */
static void
put_numbers(WindowScanState *node, int row, bool begins, bool begins_partition)
{
	WindowGroups *groups = node->pipeline->groups;
	WindowNumbers *numbers = &node->numbers;

	if (groups->vector.numbers == NULL)
		return;
	if (begins && begins_partition)
		gpuagg_window_begin_partition(node);
	if (begins)
	{
		numbers->groups++;
		groups->rank = numbers->rows + 1;
	}
	numbers->rows++;
	for (int f = 0; f < node->nfunctions; f++)
	{
		WindowValue number = node->functions[f].number;

		groups->vector.numbers[f * GPUAGG_VECTOR_ROWS + row] = number == WINDOW_ROW_NUMBER
																   ? numbers->rows
															   : number == WINDOW_RANK
																   ? groups->rank
																   : numbers->groups;
	}
}

/* Has the columns of the vector's rows where the current set has them. */
static void
take_set(WindowScanState *node, int64 first)
{
	const WindowRows *rows = node->pipeline->current;
	GroupVector *vector = &node->pipeline->groups->vector;

	vector->values = rows->values + gpuagg_window_place(node, first, 0);
	vector->isnull = rows->isnull + gpuagg_window_place(node, first, 0);
}

/* Has them from the queue, of up to n rows; returns of how many. */
static int
take_queue(WindowScanState *node, int64 n)
{
	WindowPipeline *p = node->pipeline;
	GroupVector *vector = &p->groups->vector;
	int taken = gpuagg_column_queue_get(p->queue, n, vector->room, vector->room_isnull, p->stride);

	if (taken == 0)
		elog(ERROR, "rows of a window are missing");
	vector->values = vector->room;
	vector->isnull = vector->room_isnull;
	return taken;
}

/* Has those of n rows from the sort. */
static void
take_sort(WindowScanState *node, int n)
{
	WindowGroups *groups = node->pipeline->groups;
	GroupVector *vector = &groups->vector;
	MemoryContext old;

	MemoryContextReset(groups->context);
	old = MemoryContextSwitchTo(groups->context);
	gpuagg_row_sort_columns(node->input.sort, groups->columns, node->waiting.nemitted, n,
							vector->room, vector->room_isnull, node->pipeline->stride);
	MemoryContextSwitchTo(old);
	vector->values = vector->room;
	vector->isnull = vector->room_isnull;
}

/* Rows whose values are all at the same place. */
static int
give_ready(WindowScanState *node)
{
	WindowGroups *groups = node->pipeline->groups;
	int n = (int) Min(groups->ready, GPUAGG_VECTOR_ROWS);

	if (groups->queued > 0)
	{
		n = take_queue(node, Min(groups->queued, n));
		groups->queued -= n;
	}
	else if (groups->columns == NULL)
	{
		take_set(node, groups->ready_in);
		groups->ready_in += n;
	}
	for (int row = 0; row < n; row++)
	{
		groups->vector.at[row] = groups->ready_at;
		put_numbers(node, row, groups->begins, groups->begins_partition);
		groups->begins = false;
	}
	groups->ready -= n;
	return n;
}

/* Rows of the current set. */
static int
give_closed(WindowScanState *node)
{
	WindowPipeline *p = node->pipeline;
	const WindowRows *rows = p->current;
	GroupVector *vector = &p->groups->vector;
	int n = (int) Min(p->groups->closed - p->next_row, GPUAGG_VECTOR_ROWS);
	int64 last = gpuagg_window_next_bit(rows->group_heads, true, p->next_row + n, rows->nrows) - 1;

	if (p->groups->columns == NULL)
		take_set(node, p->next_row);
	for (int row = n - 1; row >= 0; row--)
	{
		vector->at[row] = last;
		if (gpuagg_bit(rows->group_heads, p->next_row + row))
			last = p->next_row + row - 1;
	}
	for (int row = 0; row < n && vector->numbers != NULL; row++)
		put_numbers(node, row, gpuagg_bit(rows->group_heads, p->next_row + row),
					gpuagg_bit(rows->partition_heads, p->next_row + row));
	p->next_row += n;
	return n;
}

/* The rest of the current set is of the group that is open. */
static void
leave_open(WindowScanState *node)
{
	WindowPipeline *p = node->pipeline;
	WindowGroups *groups = p->groups;
	const WindowRows *rows = p->current;

	if (groups->open == 0)
	{
		groups->begins = true;
		groups->begins_partition = gpuagg_bit(rows->partition_heads, p->next_row);
	}
	groups->open += rows->nrows - p->next_row;
	gpuagg_window_keep_last(node);
	/* the rows go to the queue, if there is one, as the set is left */
	p->next_emitted = p->queue != NULL ? p->next_row : rows->nrows;
	p->next_row = rows->nrows;
}

/* Goes on to the next set; false: there are no more rows. */
static bool
go_on(WindowScanState *node)
{
	WindowPipeline *p = node->pipeline;
	WindowGroups *groups = p->groups;
	const WindowRows *rows;
	int64 end;

	if (p->current != NULL && p->next_row < p->current->nrows)
		leave_open(node);
	if (!gpuagg_window_pipeline_advance(node))
	{
		groups->closed = 0;
		groups->ready = groups->open;
		groups->queued = p->queue != NULL ? groups->open : 0;
		groups->ready_at = -1;
		groups->open = 0;
		return groups->ready > 0;
	}
	rows = p->current;
	groups->closed = gpuagg_window_closed_rows(rows);
	if (groups->open == 0)
		return true;
	end = gpuagg_window_next_bit(rows->group_heads, true, 0, rows->nrows);
	if (end == rows->nrows)
		return true;
	groups->ready = groups->open + end;
	groups->queued = p->queue != NULL ? groups->open : 0;
	groups->ready_in = 0;
	groups->ready_at = end - 1;
	groups->open = 0;
	p->next_row = end;
	return true;
}

int
gpuagg_window_groups_next(WindowScanState *node)
{
	WindowPipeline *p = node->pipeline;
	WindowGroups *groups = p->groups;
	int n;

	while (groups->ready == 0 && (p->current == NULL || p->next_row >= groups->closed))
	{
		CHECK_FOR_INTERRUPTS();
		if (!go_on(node))
			return 0;
	}
	n = groups->ready > 0 ? give_ready(node) : give_closed(node);
	if (p->current != NULL)
		p->next_emitted = p->next_row;
	if (groups->columns != NULL)
		take_sort(node, n);
	node->waiting.nemitted += n;
	return n;
}

/* ---- values ---- */

Datum
gpuagg_window_groups_column(const WindowScanState *node, int column, int row, bool *isnull)
{
	const GroupVector *vector = &node->pipeline->groups->vector;
	Size place = gpuagg_window_place(node, row, column);

	*isnull = vector->isnull[place];
	return vector->values[place];
}

int64
gpuagg_window_groups_place(const WindowScanState *node, int row)
{
	return node->pipeline->groups->vector.at[row];
}

Datum
gpuagg_window_groups_result(const WindowScanState *node, int f, int row, bool *isnull)
{
	const GroupVector *vector = &node->pipeline->groups->vector;

	if (node->functions[f].number != WINDOW_AGGREGATE)
	{
		*isnull = false;
		return Int64GetDatum(vector->numbers[f * GPUAGG_VECTOR_ROWS + row]);
	}
	return gpuagg_window_function_result(node, f, vector->at[row], isnull);
}

void
gpuagg_window_groups_integers(const WindowScanState *node, int f, GpuaggInt128 *values,
							  uint64 *valid)
{
	const WindowPipeline *p = node->pipeline;
	const GroupVector *vector = &p->groups->vector;
	const Flight *flight = p->current != NULL ? &p->current->columns[f].scan->flight : NULL;

	for (int row = 0; row < p->ngiven; row++)
	{
		int64 i = vector->at[row];

		if ((i < 0 ? p->last[f].status : flight->status[i]) != GPUAGG_ROW_VALUE)
			continue;
		if (i < 0)
			memcpy(&values[row], p->last[f].result, sizeof(GpuaggInt128));
		else
			values[row] = ((const GpuaggInt128 *) flight->results)[i];
		valid[row / 64] |= UINT64CONST(1) << row % 64;
	}
}
