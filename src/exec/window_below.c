/*
 * window_below.c
 *	  The rows of a GpuWindow node below another one, where both sort.
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "engine/cpu.h"
#include "exec/window_arguments.h"
#include "exec/window_below.h"
#include "exec/window_pipeline.h"
#include "exec/window_source.h"

/* How the node below gives what the sort above keeps. */
typedef struct Giving
{
	WindowScanState *below;
	RowSort *from; /* the node's own */
	RowSort *to;
	int narguments;		  /* the last columns of `to` */
	StoreSource *sources; /* by column of `to` */
	int nvalues;		  /* these are functions' values: */
	int *columns;		  /* of `to` */
	int *functions;
} Giving;

/* Finds where the columns come from; false: some are computed. */
static bool
find_sources(Giving *giving)
{
	const PlanState *plan = &giving->below->css.ss.ps;
	const bool *kept = gpuagg_row_sort_kept(giving->to);
	int ncolumns = list_length(plan->plan->targetlist);
	int nchild = giving->below->spec->nchild;

	giving->sources = palloc((ncolumns + giving->narguments + 1) * sizeof(StoreSource));
	giving->columns = palloc((ncolumns + 1) * sizeof(int));
	giving->functions = palloc((ncolumns + 1) * sizeof(int));
	for (int c = 0; c < ncolumns; c++)
	{
		WindowSource source;

		giving->sources[c] = (StoreSource){-1, -1};
		if (!kept[c])
			continue;
		if (!gpuagg_window_source_find(plan, plan, c, &source) || source.scan < 0)
			return false;
		if (source.scan < nchild)
		{
			giving->sources[c].column = source.scan;
			continue;
		}
		giving->columns[giving->nvalues] = c;
		giving->functions[giving->nvalues++] = source.scan - nchild;
	}
	/* arguments that it computes are behind its own */
	for (int i = 0; i < giving->narguments; i++)
		giving->sources[ncolumns + i] = (StoreSource){nchild + giving->below->nfunctions + i, -1};
	return true;
}

/* Sums that scans have as integers are kept as such. */
static void
choose_integers(Giving *giving)
{
	for (int i = 0; i < giving->nvalues; i++)
		giving->sources[giving->columns[i]].scale = gpuagg_window_sums_scale(giving->below,
																			 giving->functions[i]);
}

static void
give(const Giving *giving, int i, int64 first, int64 n, const Datum *values, const bool *isnull,
	 Size stride)
{
	gpuagg_row_sort_set(giving->to, giving->columns[i], giving->from, first, n, values, isnull,
						stride);
}

/* ---- under a ROWS frame ---- */

static bool
is_kept_as_integers(const Giving *giving, int i)
{
	return giving->sources[giving->columns[i]].scale >= 0;
}

static void
give_integers(const Giving *giving, int i, int64 first, int64 n, const void *results,
			  const uint8 *status, Size stride)
{
	gpuagg_row_sort_set_integers(giving->to, giving->columns[i], giving->from, first, n, results,
								 status, stride);
}

static const Flight *
flight_of(const Giving *giving, int i, const WindowRows *rows)
{
	return &rows->columns[giving->functions[i]].scan->flight;
}

/* Of n rows of the current set from this one on values that are in all of them, or in this one. */
static void
give_set(const Giving *giving, const WindowRows *rows, bool has_values, int64 row, int64 n)
{
	const WindowScanState *below = giving->below;

	for (int i = 0; i < giving->nvalues; i++)
	{
		int f = giving->functions[i];
		Size place = gpuagg_window_place(below, row, below->spec->nchild + f);

		if (is_kept_as_integers(giving, i))
		{
			if (has_values)
				give_integers(giving, i, rows->first + row, n, flight_of(giving, i, rows)->results,
							  flight_of(giving, i, rows)->status, 1);
		}
		else if (rows->columns[f].has_values == has_values)
			give(giving, i, rows->first + row, n, rows->values + place, rows->isnull + place,
				 below->pipeline->stride);
	}
}

/* False: they take more memory than they may. */
static bool
give_singles(const Giving *giving)
{
	WindowScanState *below = giving->below;
	WindowPipeline *p = below->pipeline;

	while (gpuagg_window_pipeline_advance(below))
	{
		const WindowRows *rows = p->current;
		bool complete = true;

		for (int i = 0; i < giving->nvalues; i++)
			complete &= is_kept_as_integers(giving, i) ||
						rows->columns[giving->functions[i]].has_values;
		for (int64 row = 0; row < rows->nrows && !complete; row++)
		{
			gpuagg_window_settle_single(below, row);
			give_set(giving, rows, false, row, 1);
		}
		give_set(giving, rows, true, 0, rows->nrows);
		p->next_emitted = p->next_row = rows->nrows;
		below->waiting.nemitted += rows->nrows;
		if (gpuagg_row_sort_is_full(giving->to))
			return false;
	}
	return true;
}

/* ---- under other frames, where engines compute all functions ---- */

/* Whether no function is one of the others, or numbers rows. */
static bool
has_scans_alone(const WindowScanState *below)
{
	for (int f = 0; f < below->nfunctions; f++)
		if (below->functions[f].op->kind == 0 || below->functions[f].number != WINDOW_AGGREGATE)
			return false;
	return true;
}

/* Gives n rows the value of that row of the current set, or, if that is -1, the last one before it. */
static void
give_value(const Giving *giving, int i, int64 first, int64 n, int64 row)
{
	int f = giving->functions[i];
	const WindowFunctionState *function = &giving->below->functions[f];

	gpuagg_window_find_value(giving->below, f, row);
	give(giving, i, first, n, &function->value, &function->isnull, 0);
}

/* Gives rows before the current set, which are a group's last ones, the last results before it. */
static void
give_last(const Giving *giving, int64 first, int64 n)
{
	const WindowScanState *below = giving->below;

	for (int i = 0; i < giving->nvalues && n > 0; i++)
	{
		const LastResult *last = &below->pipeline->last[giving->functions[i]];

		if (is_kept_as_integers(giving, i))
		{
			give_integers(giving, i, first, n, last->result, &last->status, 0);
			continue;
		}
		give_value(giving, i, first, n, -1);
	}
}

/* What the macro gives each of n rows is what the last row of its group has. */
#define SPREAD(copy)                                 \
	for (int64 row = n - 2; row >= 0; row--)         \
		if (!gpuagg_bit(rows->group_heads, row + 1)) \
			copy;

static void
spread_integers(const WindowRows *rows, int64 n, GpuaggInt128 *results, uint8 *status)
{
	SPREAD((results[row] = results[row + 1], status[row] = status[row + 1]))
}

static void
spread_values(const WindowRows *rows, int64 n, Datum *values, bool *isnull, Size stride)
{
	SPREAD((values[row * stride] = values[(row + 1) * stride],
			isnull[row * stride] = isnull[(row + 1) * stride]))
}

/* Gives each of these groups its value, as give_ended() does. */
static void
give_each(const Giving *giving, int i, const WindowRows *rows, int64 n, int64 earlier)
{
	int64 first = -earlier;

	for (int64 row = 0; row < n; row++)
	{
		if (row + 1 < n && !gpuagg_bit(rows->group_heads, row + 1))
			continue;
		give_value(giving, i, rows->first + first, row + 1 - first, row);
		first = row + 1;
	}
}

/*
 * Gives the first n rows of the current set, whose groups end there, their values, and as many
 * rows before it the value of the first one's group, of which they are.
 */
static void
give_ended(const Giving *giving, WindowRows *rows, int64 n, int64 earlier)
{
	const WindowScanState *below = giving->below;
	Size stride = below->pipeline->stride;

	for (int i = 0; i < giving->nvalues; i++)
	{
		int f = giving->functions[i];
		const Flight *flight = flight_of(giving, i, rows);
		Size place = gpuagg_window_place(below, 0, below->spec->nchild + f);
		Datum *values = rows->values + place;
		bool *isnull = rows->isnull + place;

		if (is_kept_as_integers(giving, i))
		{
			spread_integers(rows, n, (GpuaggInt128 *) flight->results, flight->status);
			give_integers(giving, i, rows->first - earlier, earlier, flight->results,
						  flight->status, 0);
			give_integers(giving, i, rows->first, n, flight->results, flight->status, 1);
		}
		else if (gpuagg_running_result_column(below->functions[f].op, flight->results,
											  flight->status, n, values, isnull, stride))
		{
			spread_values(rows, n, values, isnull, stride);
			give(giving, i, rows->first - earlier, earlier, values, isnull, 0);
			give(giving, i, rows->first, n, values, isnull, stride);
		}
		else
			give_each(giving, i, rows, n, earlier);
	}
}

static bool
give_scans(const Giving *giving)
{
	WindowScanState *below = giving->below;
	WindowPipeline *p = below->pipeline;
	int64 pending = 0; /* rows before the current set, of the group that is open */

	while (gpuagg_window_pipeline_advance(below))
	{
		WindowRows *rows = p->current;
		int64 open = rows->nrows - 1; /* the last row that starts a group, or the first one */

		if (pending > 0 && gpuagg_bit(rows->group_heads, 0))
		{
			give_last(giving, rows->first - pending, pending);
			pending = 0;
		}
		while (open > 0 && !gpuagg_bit(rows->group_heads, open))
			open--;
		gpuagg_window_keep_last(below);
		if (open > 0)
		{
			give_ended(giving, rows, open, pending);
			pending = 0;
		}
		pending += rows->nrows - open;
		p->next_emitted = p->next_row = rows->nrows;
		below->waiting.nemitted += rows->nrows;
		if (gpuagg_row_sort_is_full(giving->to))
			return false;
	}
	give_last(giving, below->waiting.nemitted - pending, pending);
	return true;
}

/* ---- under other frames, with any functions ---- */

/* Numbers of the n rows up to this one. */
static void
give_numbers(const Giving *giving, int i, int64 first, int64 n, int64 last)
{
	const bool isnull = false;

	for (int64 row = 0; row < n; row++)
	{
		Datum number = Int64GetDatum(last - n + row + 1);

		give(giving, i, first + row, 1, &number, &isnull, 0);
	}
}

static bool
give_groups(const Giving *giving)
{
	WindowScanState *below = giving->below;
	int64 n;

	while (n = gpuagg_window_next_group(below), n > 0)
	{
		int64 first = below->waiting.nemitted - n;

		for (int i = 0; i < giving->nvalues; i++)
		{
			const WindowFunctionState *function = &below->functions[giving->functions[i]];

			if (function->number == WINDOW_ROW_NUMBER)
				give_numbers(giving, i, first, n, below->numbers.rows);
			else
				give(giving, i, first, n, &function->value, &function->isnull, 0);
		}
		if (gpuagg_row_sort_is_full(giving->to))
			return false;
	}
	return true;
}

/* ---- the node below ---- */

/* The child, if it is one that sorts and gives all its rows, as the node above does. */
static WindowScanState *
find_below(const WindowInput *above)
{
	WindowScanState *below = (WindowScanState *) above->child;

	if (gpuagg_window_source_node(above->child) != above->child || !above->spec->sort ||
		!below->spec->sort || above->child->qual != NULL || below->run.condition != NULL)
		return NULL;
	return below;
}

static void
start_below(WindowScanState *below)
{
	if (below->css.ss.ps.instrument != NULL)
		InstrStartNode(below->css.ss.ps.instrument);
}

static void
stop_below(WindowScanState *below, double nrows)
{
	if (below->css.ss.ps.instrument != NULL)
		InstrStopNode(below->css.ss.ps.instrument, nrows);
}

/* Makes it compute rows that are asked for one by one, from the first one on. */
static void
begin_rows(WindowScanState *below)
{
	gpuagg_window_arguments_refuse(below);
	ExecReScan(&below->css.ss.ps);
}

bool
gpuagg_window_below_begin(WindowInput *above)
{
	WindowScanState *below = find_below(above);
	MemoryContext old;
	bool done;

	if (below == NULL)
		return false;
	old = MemoryContextSwitchTo(above->child->state->es_query_cxt);
	gpuagg_window_arguments_ask(above, &below->input);
	if (above->child->chgParam != NULL)
		ExecReScan(above->child);
	Assert(!below->begun);
	start_below(below);
	gpuagg_window_begin(below);
	done = below->pipeline != NULL;
	if (done)
	{
		gpuagg_window_input_sort(&below->input);
		done = below->input.keeps_rows;
	}
	stop_below(below, 0);
	if (!done && below->input.asked)
		begin_rows(below);
	MemoryContextSwitchTo(old);
	return done;
}

static bool
take(Giving *giving)
{
	WindowScanState *below = giving->below;
	bool in_sets = below->spec->frame == WINDOW_ROWS || has_scans_alone(below);
	MemoryContext old = MemoryContextSwitchTo(below->pipeline->context);
	bool done = find_sources(giving);

	/* of the rows its functions' arguments alone */
	below->pipeline->needed = palloc0(below->pipeline->stride * sizeof(bool));
	MemoryContextSwitchTo(old);
	if (done && in_sets)
		choose_integers(giving);
	if (!done || !gpuagg_row_sort_share(giving->to, giving->from, giving->sources))
	{
		below->pipeline->needed = NULL; /* its rows are asked for with all columns */
		return false;
	}
	if (!in_sets)
		done = give_groups(giving);
	else
		done = below->spec->frame == WINDOW_ROWS ? give_singles(giving) : give_scans(giving);
	gpuagg_window_pipeline_drop(below);
	if (done)
		gpuagg_row_sort_rest(giving->from);
	return done;
}

bool
gpuagg_window_below_take(WindowInput *above)
{
	WindowScanState *below = find_below(above);
	MemoryContext old = MemoryContextSwitchTo(above->child->state->es_query_cxt);
	Giving giving = {
		.below = below,
		.from = below->input.sort,
		.to = above->sort,
		.narguments = above->narguments,
	};
	bool done;

	start_below(below);
	done = take(&giving);
	stop_below(below, done ? (double) below->waiting.nemitted : 0);
	if (!done)
		begin_rows(below);
	MemoryContextSwitchTo(old);
	return done;
}
