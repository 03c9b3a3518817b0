/*
 * window_below.c
 *	  The rows of a GpuWindow node below another one, where both sort.
 */
#include "compat.h"

#include "miscadmin.h"

#include "exec/window_below.h"
#include "exec/window_pipeline.h"
#include "exec/window_source.h"

/* How the node below gives what the sort above keeps. */
typedef struct Giving
{
	WindowScanState *below;
	RowSort *from; /* the node's own */
	RowSort *to;
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

	giving->sources = palloc((ncolumns + 1) * sizeof(StoreSource));
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
	return true;
}

/* Sums that scans have as integers are kept as such. */
static void
choose_integers(Giving *giving)
{
	for (int i = 0; i < giving->nvalues; i++)
		giving->sources[giving->columns[i]].scale =
			gpuagg_window_sums_scale(giving->below, giving->functions[i]);
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
give_integers(const Giving *giving, int i, const WindowRows *rows, int64 row, int64 n)
{
	const Flight *flight = &rows->columns[giving->functions[i]].scan->flight;

	gpuagg_row_sort_set_integers(giving->to, giving->columns[i], giving->from, rows->first + row, n,
								 (const GpuaggInt128 *) flight->results + row,
								 flight->status + row);
}

/* Functions' values that are in n rows of the current set, or for one row those that were not. */
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
				give_integers(giving, i, rows, row, n);
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

/* ---- under other frames ---- */

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

/* Whether it computes its functions over rows that it has in memory. */
static bool
begin(WindowScanState *below)
{
	Assert(!below->begun);
	gpuagg_window_begin(below);
	if (below->pipeline == NULL)
		return false;
	gpuagg_window_input_sort(&below->input);
	return below->input.keeps_rows;
}

static bool
take(Giving *giving)
{
	WindowScanState *below = giving->below;
	bool done;

	if (!begin(below))
		return false;
	giving->from = below->input.sort;
	if (below->spec->frame == WINDOW_ROWS)
		choose_integers(giving);
	if (!gpuagg_row_sort_share(giving->to, giving->from, giving->sources))
		return false;
	/* of the rows its functions' arguments alone */
	below->pipeline->needed = palloc0(below->pipeline->stride * sizeof(bool));
	done = below->spec->frame == WINDOW_ROWS ? give_singles(giving) : give_groups(giving);
	gpuagg_window_pipeline_drop(below);
	if (done)
		gpuagg_row_sort_rest(giving->from);
	return done;
}

bool
gpuagg_window_below_take(PlanState *child, RowSort *sort)
{
	Giving giving = {.below = (WindowScanState *) child, .to = sort};
	MemoryContext old;
	bool done;

	if (gpuagg_window_source_node(child) != child || child->qual != NULL ||
		!giving.below->spec->sort || giving.below->run.condition != NULL)
		return false;
	old = MemoryContextSwitchTo(child->state->es_query_cxt);
	done = find_sources(&giving);
	if (done)
	{
		if (child->chgParam != NULL)
			ExecReScan(child);
		if (child->instrument != NULL)
			InstrStartNode(child->instrument);
		done = take(&giving);
		if (child->instrument != NULL)
			InstrStopNode(child->instrument,
						  done ? (double) giving.below->waiting.nemitted : 0);
		if (!done)
		{
			gpuagg_row_sort_clear(sort);
			ExecReScan(child);
		}
	}
	MemoryContextSwitchTo(old);
	return done;
}
