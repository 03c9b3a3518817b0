/*
 * window_table.c
 *	  The columns of a table, or of several, as the input of a GpuWindow node's sort.
 */
#include "compat.h"

#include "executor/executor.h"
#include "executor/execPartition.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

#include "exec/scan_program.h"
#include "exec/window_table.h"

struct WindowTable
{
	PlanState *child;
	int nscans;
	ScanColumns **scans;
};

/* ---- the nodes ---- */

#define MOST_ABOVE 2 /* nodes above the scans */

/* Whether a child does nothing but compute columns of what an Append gives. */
static bool
projects(const PlanState *child)
{
	return IsA(child, ResultState) && outerPlanState(child) != NULL &&
		   IsA(outerPlanState(child), AppendState) && child->qual == NULL &&
		   ((const ResultState *) child)->resconstantqual == NULL;
}

/* The nodes above the scans; returns how many. */
static int
nodes_above(PlanState *child, PlanState **above)
{
	int n = 0;

	if (projects(child))
	{
		above[n++] = child;
		child = outerPlanState(child);
	}
	if (IsA(child, AppendState))
		above[n++] = child;
	return n;
}

/* The Append among them, or NULL. */
static AppendState *
append_of(PlanState *child)
{
	PlanState *above[MOST_ABOVE];
	int n = nodes_above(child, above);

	return n > 0 ? (AppendState *) above[n - 1] : NULL;
}

PlanState **
gpuagg_window_table_plans(PlanState **child, int *n)
{
	const AppendState *append = append_of(*child);

	*n = 1;
	if (append == NULL)
		return child;
	/* whose tables are read one after the other by this process */
	if (append->ps.plan->parallel_aware || append->as_nasyncplans > 0)
		return NULL;
	*n = append->as_nplans;
	return append->appendplans;
}

/* ---- subqueries ---- */

/* The columns of a subquery, over what is below it. */
typedef struct Subquery
{
	Index varno;
	const List *targets;
	Bitmapset *used; /* by number of these */
} Subquery;

static Node *
replace_columns(Node *node, void *context)
{
	Subquery *subquery = context;
	const Var *var = (const Var *) node;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var) || var->varno != (int) subquery->varno || var->varattno <= 0)
		return expression_tree_mutator(node, replace_columns, context);
	subquery->used = bms_add_member(subquery->used, var->varattno - 1);
	return copyObject(
		(Node *) ((TargetEntry *) list_nth(subquery->targets, var->varattno - 1))->expr);
}

/* The subquery's columns over the table of the scan below it; NULL: SQL computes more than these. */
static List *
subquery_targets(const SubqueryScanState *plan)
{
	const SubqueryScan *scan = (const SubqueryScan *) plan->ss.ps.plan;
	Subquery subquery = {scan->scan.scanrelid, plan->subplan->plan->targetlist, NULL};
	List *targets = (List *) expression_tree_mutator((Node *) scan->scan.plan.targetlist,
													 replace_columns, &subquery);
	ListCell *cell;

	foreach (cell, subquery.targets)
	{
		const Node *expr = (const Node *) ((const TargetEntry *) lfirst(cell))->expr;

		if (!IsA(expr, Var) && !IsA(expr, Const) &&
			!bms_is_member(foreach_current_index(cell), subquery.used))
			return NULL;
	}
	return targets;
}

PlanState *
gpuagg_window_table_scan(PlanState *plan)
{
	const SubqueryScanState *subquery = (const SubqueryScanState *) plan;

	return IsA(plan, SubqueryScanState) && plan->qual == NULL &&
				   IsA(subquery->subplan, SeqScanState) && subquery_targets(subquery) != NIL
			   ? subquery->subplan
			   : plan;
}

/* ---- all of them ---- */

List *
gpuagg_window_table_targets(const PlanState *child, PlanState *plan)
{
	List *targets = NIL;
	List *below = gpuagg_window_table_scan(plan) == plan
					  ? plan->plan->targetlist
					  : subquery_targets((const SubqueryScanState *) plan);
	ListCell *cell;

	if (!projects(child))
		return below;
	foreach (cell, child->plan->targetlist)
	{
		TargetEntry *entry = flatCopyTargetEntry(lfirst(cell));

		entry->expr = gpuagg_scan_program_expr(below, entry->expr);
		targets = lappend(targets, entry);
	}
	return targets;
}

void
gpuagg_window_table_choose(PlanState *child, bool *chosen, int n)
{
	const AppendState *append = append_of(child);
	Bitmapset *plans;

	memset(chosen, true, n * sizeof(bool));
	if (append == NULL || append->as_prune_state == NULL || !append->as_prune_state->do_exec_prune)
		return;
	plans = compat_find_matching_subplans(append->as_prune_state);
	for (int i = 0; i < n; i++)
		chosen[i] = bms_is_member(i, plans);
	bms_free(plans);
}

static void
rescan(PlanState *plan)
{
	MemoryContext old = MemoryContextSwitchTo(plan->state->es_query_cxt);

	if (plan->chgParam != NULL)
		ExecReScan(plan);
	MemoryContextSwitchTo(old);
}

void
gpuagg_window_table_begin_plan(PlanState *plan)
{
	rescan(plan);
	if (IsA(plan, SubqueryScanState))
		rescan(((SubqueryScanState *) plan)->subplan);
}

void
gpuagg_window_table_end_plan(PlanState *plan, int64 nrows)
{
	if (!IsA(plan, SubqueryScanState) || plan->instrument == NULL)
		return;
	InstrStartNode(plan->instrument);
	InstrStopNode(plan->instrument, (double) nrows);
}

void
gpuagg_window_table_begin(PlanState *child)
{
	PlanState *above[MOST_ABOVE];
	int n = nodes_above(child, above);

	for (int i = 0; i < n; i++)
	{
		rescan(above[i]);
		if (above[i]->instrument != NULL)
			InstrStartNode(above[i]->instrument);
	}
}

void
gpuagg_window_table_end(PlanState *child, int64 nrows)
{
	PlanState *above[MOST_ABOVE];
	int n = nodes_above(child, above);

	for (int i = 0; i < n; i++)
		if (above[i]->instrument != NULL)
			InstrStopNode(above[i]->instrument, (double) nrows);
}

/* ---- their columns ---- */

/* Computes an argument in no table or in all, and as the same. */
static bool
agree(const bool *computed, const int *scales, const bool *wide, const bool *other_computed,
	  const int *other_scales, const bool *other_wide, int n)
{
	for (int i = 0; i < n; i++)
		if (computed[i] != other_computed[i] || scales[i] != other_scales[i] ||
			wide[i] != other_wide[i])
			return false;
	return true;
}

WindowTable *
gpuagg_window_table_make(PlanState *child, PlanState *node, Expr *const *arguments, int n,
						 bool *computed, int *scales, bool *wide)
{
	MemoryContext old = MemoryContextSwitchTo(child->state->es_query_cxt);
	WindowTable *table = palloc0(sizeof(WindowTable));
	bool *other_computed = palloc0((n + 1) * sizeof(bool));
	int *other_scales = palloc0((n + 1) * sizeof(int));
	bool *other_wide = palloc0((n + 1) * sizeof(bool));
	bool agrees = true;
	PlanState **plans = gpuagg_window_table_plans(&child, &table->nscans);

	table->child = child;
	table->scans = palloc0((table->nscans + 1) * sizeof(ScanColumns *));
	for (int i = 0; i < table->nscans && plans != NULL; i++)
	{
		table->scans[i] =
			gpuagg_scan_columns_make(gpuagg_window_table_scan(plans[i]),
									 gpuagg_window_table_targets(child, plans[i]), node, arguments,
									 n, i == 0 ? computed : other_computed,
									 i == 0 ? scales : other_scales, i == 0 ? wide : other_wide);
		if (table->scans[i] == NULL)
			plans = NULL;
		else if (i > 0)
			agrees &= agree(computed, scales, wide, other_computed, other_scales, other_wide, n);
	}
	MemoryContextSwitchTo(old);
	if (plans == NULL || !agrees)
		memset(computed, 0, n * sizeof(bool));
	if (plans == NULL)
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
	PlanState **plans = gpuagg_window_table_plans(&table->child, &table->nscans);
	bool *chosen = palloc((table->nscans + 1) * sizeof(bool));
	int64 nrows = 0;
	bool done = true;
	int n;

	gpuagg_window_table_begin(table->child);
	gpuagg_window_table_choose(table->child, chosen, table->nscans);
	for (n = 0; n < table->nscans && done; n++)
	{
		if (!chosen[n])
			continue;
		gpuagg_window_table_begin_plan(plans[n]);
		done = gpuagg_scan_columns_take(table->scans[n], sort, sends);
		nrows += gpuagg_scan_columns_rows(table->scans[n]);
	}
	gpuagg_window_table_end(table->child, done ? nrows : 0);
	/* or all rows come again */
	for (int i = 0; i < n; i++)
		if (chosen[i] && done)
			gpuagg_window_table_end_plan(plans[i], gpuagg_scan_columns_rows(table->scans[i]));
		else if (chosen[i])
			gpuagg_scan_columns_undo(table->scans[i]);
	pfree(chosen);
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
