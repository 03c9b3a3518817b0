/*
 * window_plan.c
 *	  The plan of a window path.
 *
 * The planner looks in custom_scan_tlist for the WindowFuncs that nodes above ask for, so
 * it has WindowFuncs until the plan is finished.  The executor's node makes plain calls of
 * them, for EXPLAIN.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "plan/window_path.h"

static WindowColumn *
make_columns(const List *clauses, const List *tlist, bool sort)
{
	WindowColumn *columns = palloc0(list_length(clauses) * sizeof(WindowColumn));
	ListCell *cell;

	foreach (cell, clauses)
	{
		SortGroupClause *clause = lfirst(cell);
		TargetEntry *entry = get_sortgroupclause_tle(clause, (List *) tlist);
		WindowColumn *column = &columns[foreach_current_index(cell)];

		column->attno = entry->resno;
		column->equality = clause->eqop;
		column->collation = exprCollation((Node *) entry->expr);
		column->sort_operator = sort ? clause->sortop : InvalidOid;
		column->nulls_first = clause->nulls_first;
	}
	return columns;
}

/* The child's columns, then the functions. */
static List *
make_scan_tlist(const List *child, const List *calls)
{
	List *tlist = NIL;
	ListCell *cell;

	foreach (cell, child)
	{
		TargetEntry *entry = lfirst(cell);

		tlist = lappend(tlist, makeTargetEntry(copyObject(entry->expr), entry->resno, NULL, false));
	}
	foreach (cell, calls)
		tlist = lappend(tlist, makeTargetEntry(copyObject(lfirst(cell)), list_length(tlist) + 1,
											   NULL, false));
	return tlist;
}

/* x and `exclusive` of each function. */
static List *
make_arguments(const List *calls)
{
	List *arguments = NIL;
	ListCell *cell;

	foreach (cell, calls)
	{
		const List *args = ((WindowFunc *) lfirst(cell))->args;
		int nargs = list_length(args);

		arguments = lappend(arguments, nargs > 0 ? copyObject(linitial(args))
												 : makeNullConst(ANYOID, -1, InvalidOid));
		arguments = lappend(arguments,
							nargs > 1 ? copyObject(lsecond(args)) : makeBoolConst(false, false));
	}
	return arguments;
}

/* The column of the scan tuple that an expression is, or 0.  at: where to look first. */
static int
find_column(const Node *expr, const List *child, const List *calls, int at)
{
	ListCell *cell;

	if (at < list_length(child) && ((TargetEntry *) list_nth(child, at))->expr == (Expr *) expr)
		return at + 1;
	foreach (cell, calls)
		if (equal(expr, lfirst(cell)))
			return list_length(child) + foreach_current_index(cell) + 1;
	foreach (cell, child)
		if (equal(expr, ((TargetEntry *) lfirst(cell))->expr))
			return foreach_current_index(cell) + 1;
	return 0;
}

/* The columns that make up a target list, or NULL if some of it is to be computed. */
static int *
find_output(const List *tlist, const List *child, const List *calls)
{
	int *output = palloc(list_length(tlist) * sizeof(int));
	ListCell *cell;

	foreach (cell, tlist)
	{
		int i = foreach_current_index(cell);

		output[i] = find_column((Node *) ((TargetEntry *) lfirst(cell))->expr, child, calls, i);
		if (output[i] == 0)
			return NULL;
	}
	return output;
}

static WindowAbove *
make_above(const List *pairs)
{
	WindowAbove *above = palloc(Max(list_length(pairs), 1) * sizeof(WindowAbove));
	ListCell *cell;

	foreach (cell, pairs)
		above[foreach_current_index(cell)] = (WindowAbove){linitial_int(lfirst(cell)),
														   lsecond_int(lfirst(cell))};
	return above;
}

/* Takes a node's target list out of the plan, if its output makes up for it. */
static void
drop_target_list(Plan *plan)
{
	CustomScan *scan;
	WindowSpec *spec;

	while (IsA(plan, Sort) || IsA(plan, IncrementalSort))
		plan = plan->lefttree;
	scan = (CustomScan *) plan;
	if (!IsA(plan, CustomScan) || scan->methods != GetCustomScanMethods(WINDOW_NODE_NAME, false))
		return;
	spec = gpuagg_window_spec_read(scan->custom_private);
	/* a sort above may have added columns that it computes */
	if (spec->noutput == list_length(plan->targetlist))
		plan->targetlist = NIL;
}

static Plan *
plan_window(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
			List *plans)
{
	const GpuWindowPath *window = (const GpuWindowPath *) path;
	const List *calls = window->match.calls;
	const List *child = ((Plan *) linitial(plans))->targetlist; /* whatever is dropped below */
	CustomScan *scan = makeNode(CustomScan);
	WindowSpec spec = {
		.nchild = list_length(child),
		.frame = window->match.frame,
		.sort = window->sort,
		.top = window->top,
		.npartition = list_length(window->clause->partitionClause),
		.partition = make_columns(window->clause->partitionClause, child, window->sort),
		.norder = list_length(window->clause->orderClause),
		.order = make_columns(window->clause->orderClause, child, window->sort),
		.nfunctions = list_length(calls),
		.functions = window->match.functions,
		.nabove = list_length(window->above),
		.above = make_above(window->above),
		.output = find_output(tlist, child, calls),
		.kept = window->kept,
	};

	spec.noutput = spec.output != NULL ? list_length(tlist) : -1;
	drop_target_list(linitial(plans));
	scan->scan.plan.targetlist = tlist;
	scan->flags = path->flags;
	scan->custom_plans = plans;
	scan->scan.plan.qual = copyObject(window->qual);
	scan->custom_exprs = list_concat(make_arguments(calls), copyObject(window->run_condition));
	scan->custom_exprs = list_concat(scan->custom_exprs, copyObject(window->above_constants));
	scan->custom_private = gpuagg_window_spec_list(&spec);
	scan->custom_scan_tlist = make_scan_tlist(child, calls);
	scan->methods = GetCustomScanMethods(WINDOW_NODE_NAME, false);
	return (Plan *) scan;
}

const CustomPathMethods gpuagg_window_path_methods = {
	.CustomName = WINDOW_NODE_NAME,
	.PlanCustomPath = plan_window,
};
