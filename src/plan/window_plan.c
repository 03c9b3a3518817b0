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

static Plan *
plan_window(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
			List *plans)
{
	const GpuWindowPath *window = (const GpuWindowPath *) path;
	const List *calls = window->match.calls;
	const List *child = ((Plan *) linitial(plans))->targetlist;
	CustomScan *scan = makeNode(CustomScan);
	WindowSpec spec = {
		.nchild = list_length(child),
		.frame = window->match.frame,
		.sort = window->sort,
		.npartition = list_length(window->clause->partitionClause),
		.partition = make_columns(window->clause->partitionClause, child, window->sort),
		.norder = list_length(window->clause->orderClause),
		.order = make_columns(window->clause->orderClause, child, window->sort),
		.nfunctions = list_length(calls),
		.functions = window->match.functions,
		.kept = window->kept,
	};

	scan->scan.plan.targetlist = tlist;
	scan->flags = path->flags;
	scan->custom_plans = plans;
	scan->custom_exprs = make_arguments(calls);
	scan->custom_private = gpuagg_window_spec_list(&spec);
	scan->custom_scan_tlist = make_scan_tlist(child, calls);
	scan->methods = GetCustomScanMethods(WINDOW_NODE_NAME, false);
	return (Plan *) scan;
}

const CustomPathMethods gpuagg_window_path_methods = {
	.CustomName = WINDOW_NODE_NAME,
	.PlanCustomPath = plan_window,
};
