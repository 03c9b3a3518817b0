/*
 * window_table.c
 *	  The columns of a table, or of several, as the input of a GpuWindow node's sort.
 */
#include "compat.h"

#include "executor/executor.h"
#include "executor/execPartition.h"

#include "exec/window_table.h"

struct WindowTable
{
	PlanState *append; /* NULL: the child is the scan */
	int nscans;
	ScanColumns **scans;
};

/* The scans of a child; NULL: it is something else. */
static PlanState **
find_scans(PlanState *child, PlanState **only, int *n)
{
	const AppendState *append = (const AppendState *) child;

	*n = 1;
	*only = child;
	if (!IsA(child, AppendState))
		return only;
	/* whose tables are all known, and read one after the other by this process */
	if (child->plan->parallel_aware || append->as_nasyncplans > 0 ||
		(append->as_prune_state != NULL && append->as_prune_state->do_exec_prune))
		return NULL;
	*n = append->as_nplans;
	return append->appendplans;
}

/* Computes an argument in no table or in all, and as the same. */
static bool
agree(const bool *computed, const int *scales, const bool *other_computed, const int *other_scales,
	  int n)
{
	for (int i = 0; i < n; i++)
		if (computed[i] != other_computed[i] || scales[i] != other_scales[i])
			return false;
	return true;
}

WindowTable *
gpuagg_window_table_make(PlanState *child, PlanState *node, Expr *const *arguments, int n,
						 bool *computed, int *scales)
{
	MemoryContext old = MemoryContextSwitchTo(child->state->es_query_cxt);
	WindowTable *table = palloc0(sizeof(WindowTable));
	bool *other_computed = palloc0((n + 1) * sizeof(bool));
	int *other_scales = palloc0((n + 1) * sizeof(int));
	bool agrees = true;
	PlanState *only;
	PlanState **scans = find_scans(child, &only, &table->nscans);

	table->append = IsA(child, AppendState) ? child : NULL;
	table->scans = palloc0((table->nscans + 1) * sizeof(ScanColumns *));
	for (int i = 0; i < table->nscans && scans != NULL; i++)
	{
		table->scans[i] = gpuagg_scan_columns_make(scans[i], node, arguments, n,
												   i == 0 ? computed : other_computed,
												   i == 0 ? scales : other_scales);
		if (table->scans[i] == NULL)
			scans = NULL;
		else if (i > 0)
			agrees &= agree(computed, scales, other_computed, other_scales, n);
	}
	MemoryContextSwitchTo(old);
	if (scans == NULL || !agrees)
		memset(computed, 0, n * sizeof(bool));
	if (scans == NULL)
		return NULL;
	if (!agrees)
		gpuagg_window_table_compute_none(table);
	return table;
}

bool
gpuagg_window_table_keep(WindowTable *table, const bool *kept)
{
	for (int i = 0; i < table->nscans; i++)
		if (!gpuagg_scan_columns_keep(table->scans[i], kept))
			return false;
	return true;
}

void
gpuagg_window_table_compute_none(WindowTable *table)
{
	for (int i = 0; i < table->nscans; i++)
		gpuagg_scan_columns_compute_none(table->scans[i]);
}

bool
gpuagg_window_table_take(WindowTable *table, RowSort *sort, bool sends)
{
	Instrumentation *instrument = table->append != NULL ? table->append->instrument : NULL;
	int64 nrows = 0;
	bool done = true;
	int n;

	if (instrument != NULL)
		InstrStartNode(instrument);
	for (n = 0; n < table->nscans && done; n++)
	{
		done = gpuagg_scan_columns_take(table->scans[n], sort, sends);
		nrows += gpuagg_scan_columns_rows(table->scans[n]);
	}
	if (instrument != NULL)
		InstrStopNode(instrument, done ? (double) nrows : 0);
	/* all rows come again */
	for (int i = 0; i < n && !done; i++)
		gpuagg_scan_columns_undo(table->scans[i]);
	return done;
}

PageCounts
gpuagg_window_table_counts(const WindowTable *table)
{
	PageCounts counts = {0};

	for (int i = 0; i < table->nscans; i++)
		gpuagg_page_counts_add(&counts, gpuagg_scan_columns_counts(table->scans[i]));
	return counts;
}
