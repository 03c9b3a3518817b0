/*
 * window_giving.c
 *	  How a GpuWindow node below another one gives its rows to the sort above.
 */
#include "compat.h"

#include "utils/memutils.h"

#include "engine/cpu.h"
#include "exec/window_giving.h"
#include "exec/window_source.h"

/* Finds where the columns come from; false: some are computed. */
static bool
find_sources(Giving *giving)
{
	const PlanState *plan = &giving->below->css.ss.ps;
	const bool *kept = gpuagg_row_sort_kept(giving->to);
	int ncolumns = list_length(plan->plan->targetlist);
	int nchild = giving->below->spec->nchild;

	giving->ncolumns = gpuagg_window_input_columns(giving->above);
	giving->sources = palloc((giving->ncolumns + 1) * sizeof(StoreSource));
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
	for (int i = 0; i < giving->above->narguments; i++)
	{
		int argument = giving->below->nfunctions + i;

		giving->sources[ncolumns + i] =
			(StoreSource){giving->above->computed[i] ? nchild + argument : -1, -1};
		if (giving->above->computed[i] && giving->above->wide[i])
			giving->sources[gpuagg_window_input_upper(giving->above, i)] =
				(StoreSource){gpuagg_window_input_upper(&giving->below->input, argument), -1};
	}
	return true;
}

/* Sums that scans have as integers are kept as such. */
static void
choose_integers(Giving *giving)
{
	for (int i = 0; i < giving->nvalues; i++)
		giving->sources[giving->columns[i]].scale = gpuagg_running_sums_scale(
			giving->below->functions[giving->functions[i]].op);
}

/* Whether engines compute all functions, and none numbers rows. */
static bool
has_scans_alone(const WindowScanState *below)
{
	for (int f = 0; f < below->nfunctions; f++)
		if (below->functions[f].op->kind == 0 || below->functions[f].number != WINDOW_AGGREGATE)
			return false;
	return true;
}

bool
gpuagg_window_giving_in_sets(const Giving *giving)
{
	return giving->below->spec->frame == WINDOW_ROWS || has_scans_alone(giving->below);
}

bool
gpuagg_window_giving_begin(Giving *giving)
{
	if (!find_sources(giving))
		return false;
	if (gpuagg_window_giving_in_sets(giving))
		choose_integers(giving);
	return true;
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

/* The values of groups, at their last rows. */
static void
find_values(const WindowScanState *below, int f, WindowRows *rows, int64 n, Datum *values,
			bool *isnull, Size stride)
{
	MemoryContext old = MemoryContextSwitchTo(rows->copied);

	for (int64 row = 0; row < n; row++)
		if (row + 1 == n || gpuagg_bit(rows->group_heads, row + 1))
			values[row * stride] = gpuagg_window_function_result(below, f, row,
																 &isnull[row * stride]);
	MemoryContextSwitchTo(old);
}

void
gpuagg_window_giving_spread(const Giving *giving, WindowRows *rows, int64 n)
{
	const WindowScanState *below = giving->below;
	Size stride = below->pipeline->stride;

	for (int i = 0; i < giving->nvalues; i++)
	{
		int f = giving->functions[i];
		const Flight *flight = gpuagg_window_giving_flight(giving, i, rows);
		Size place = gpuagg_window_place(below, 0, below->spec->nchild + f);
		Datum *values = rows->values + place;
		bool *isnull = rows->isnull + place;

		if (gpuagg_window_giving_integers(giving, i))
		{
			spread_integers(rows, n, (GpuaggInt128 *) flight->results, flight->status);
			continue;
		}
		if (!gpuagg_running_result_column(below->functions[f].op, flight->results, flight->status,
										  n, values, isnull, stride))
			find_values(below, f, rows, n, values, isnull, stride);
		spread_values(rows, n, values, isnull, stride);
	}
}
