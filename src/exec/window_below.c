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
#include "exec/window_giving.h"
#include "exec/window_source.h"

static void
give(const Giving *giving, int i, int64 first, int64 n, const Datum *values, const bool *isnull,
	 Size stride)
{
	gpuagg_row_sort_set(giving->to, giving->columns[i], giving->from, first, n, values, isnull,
						stride);
}

/* ---- under a ROWS frame ---- */

static void
give_integers(const Giving *giving, int i, int64 first, int64 n, const void *results,
			  const uint8 *status, Size stride)
{
	gpuagg_row_sort_set_integers(giving->to, giving->columns[i], giving->from, first, n, results,
								 status, stride);
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

		if (gpuagg_window_giving_integers(giving, i))
		{
			if (has_values)
				give_integers(giving, i, rows->first + row, n,
							  gpuagg_window_giving_flight(giving, i, rows)->results,
							  gpuagg_window_giving_flight(giving, i, rows)->status, 1);
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
		bool complete = gpuagg_window_giving_is_complete(giving, rows);

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

/* Gives rows before the current set, which are a group's last ones, the last results before it. */
static void
give_last(const Giving *giving, int64 first, int64 n)
{
	for (int i = 0; i < giving->nvalues && n > 0; i++)
	{
		const LastResult *last = &giving->below->pipeline->last[giving->functions[i]];
		const WindowFunctionState *function;

		if (gpuagg_window_giving_integers(giving, i))
		{
			give_integers(giving, i, first, n, last->result, &last->status, 0);
			continue;
		}
		gpuagg_window_find_value(giving->below, giving->functions[i], -1);
		function = &giving->below->functions[giving->functions[i]];
		give(giving, i, first, n, &function->value, &function->isnull, 0);
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

	gpuagg_window_giving_spread(giving, rows, n);
	for (int i = 0; i < giving->nvalues; i++)
	{
		Size place = gpuagg_window_place(below, 0, below->spec->nchild + giving->functions[i]);
		const Flight *flight = gpuagg_window_giving_flight(giving, i, rows);

		if (gpuagg_window_giving_integers(giving, i))
		{
			give_integers(giving, i, rows->first - earlier, earlier, flight->results,
						  flight->status, 0);
			give_integers(giving, i, rows->first, n, flight->results, flight->status, 1);
			continue;
		}
		give(giving, i, rows->first - earlier, earlier, rows->values + place, rows->isnull + place,
			 0);
		give(giving, i, rows->first, n, rows->values + place, rows->isnull + place, stride);
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
		int64 open = gpuagg_window_closed_rows(rows);

		if (pending > 0 && gpuagg_bit(rows->group_heads, 0))
		{
			give_last(giving, rows->first - pending, pending);
			pending = 0;
		}
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

	while (n = gpuagg_window_next_group(below, NULL), n > 0)
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

/* The child, if it is one that sorts and gives all its rows, as the node above does, and computes nothing of them. */
static WindowScanState *
find_below(const WindowInput *above)
{
	WindowScanState *below = (WindowScanState *) above->child;

	if (gpuagg_window_source_node(above->child) != above->child || !above->spec->sort ||
		!below->spec->sort || above->child->qual != NULL || below->run.condition != NULL ||
		below->columns == NULL)
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

/* Whether it has sets, as far as is known before it has read rows; these are read once. */
static bool
has_sets(WindowScanState *below)
{
	gpuagg_window_input_prepare(&below->input);
	gpuagg_window_functions_settle(below);
	return below->has_scans && below->can_read_ahead;
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
	Assert(below->input.is_below || below->input.sort == NULL);
	below->input.is_below = true;
	gpuagg_window_arguments_ask(above, &below->input);
	if (above->child->chgParam != NULL)
		ExecReScan(above->child);
	Assert(!below->begun);
	done = has_sets(below);
	if (!done && below->input.asked)
		begin_rows(below);
	MemoryContextSwitchTo(old);
	return done;
}

/* Begins it, and sorts its rows; false: rows raise errors, which are to come with them. */
static bool
begin_below(const WindowInput *above, WindowScanState *below)
{
	gpuagg_window_begin(below);
	if (below->pipeline == NULL)
		return false;
	gpuagg_window_input_sort(&below->input);
	return gpuagg_window_input_agrees(above);
}

/* The sort above is one of the rows where the node has them; false: that takes too much memory. */
static bool
share(const Giving *giving)
{
	WindowScanState *below = giving->below;
	MemoryContext old;
	bool done;

	if (!below->input.keeps_rows ||
		!gpuagg_row_sort_share(giving->to, giving->from, giving->sources))
		return false;
	/* of the rows its functions' arguments alone */
	old = MemoryContextSwitchTo(below->pipeline->context);
	below->pipeline->needed = palloc0(below->pipeline->stride * sizeof(bool));
	MemoryContextSwitchTo(old);
	if (!gpuagg_window_giving_in_sets(giving))
		done = give_groups(giving);
	else
		done = below->spec->frame == WINDOW_ROWS ? give_singles(giving) : give_scans(giving);
	if (done)
		return true;
	/* its functions are computed again */
	gpuagg_row_sort_clear(giving->to);
	below->css.methods->ReScanCustomScan(&below->css);
	gpuagg_window_begin(below);
	return false;
}

static bool
take(WindowInput *above, Giving *giving)
{
	if (!gpuagg_window_giving_begin(giving))
		return false;
	above->shares = share(giving);
	above->moves = !above->shares;
	if (above->moves)
		gpuagg_window_giving_move(giving);
	gpuagg_window_pipeline_drop(giving->below);
	gpuagg_row_sort_rest(giving->from);
	return true;
}

bool
gpuagg_window_below_take(WindowInput *above)
{
	WindowScanState *below = find_below(above);
	MemoryContext query = above->child->state->es_query_cxt;
	MemoryContext context = AllocSetContextCreate(query, "GpuWindow rows from below",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(query);
	Giving giving = {.below = below, .to = above->sort, .above = above};
	bool done;

	start_below(below);
	done = begin_below(above, below);
	giving.from = below->input.sort;
	MemoryContextSwitchTo(context);
	done = done && take(above, &giving);
	stop_below(below, done ? (double) below->waiting.nemitted : 0);
	MemoryContextSwitchTo(query);
	if (!done)
		begin_rows(below);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return done;
}
