/*
 * agg_plan.c
 *	  The plan of a GpuAgg path.
 *
 * custom_scan_tlist has what the executor compiles; custom_exprs only the parameters in
 * it, as setrefs.c would replace an argument there that equals a group key by a column.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

#include "plan/agg_path.h"
#include "plan/agg_subquery.h"

static bool
collect_parameters(Node *node, void *context)
{
	List **parameters = context;

	if (node == NULL)
		return false;
	if (IsA(node, Param))
	{
		if (((const Param *) node)->paramkind == PARAM_EXEC)
			*parameters = list_append_unique(*parameters, node);
		return false;
	}
	return expression_tree_walker(node, collect_parameters, context);
}

Aggref *
gpuagg_agg_partial(const Aggref *aggref)
{
	Aggref *partial = (Aggref *) copyObjectImpl(aggref);

	partial->aggsplit = AGGSPLIT_INITIAL_SERIAL;
	partial->aggtype = BYTEAOID;
	partial->aggcollid = InvalidOid;
	return partial;
}

static List *
hide(const List *exprs)
{
	List *hidden = NIL;
	ListCell *cell;

	foreach (cell, exprs)
		hidden = lappend(hidden, gpuagg_agg_hide(lfirst(cell)));
	return hidden;
}

static List *
add_entries(List *tlist, const List *exprs, bool partial, bool junk)
{
	ListCell *cell;

	foreach (cell, exprs)
	{
		Expr *expr = partial ? (Expr *) gpuagg_agg_partial(lfirst(cell)) : copyObject(lfirst(cell));

		tlist = lappend(tlist,
						makeTargetEntry(expr, (AttrNumber) (list_length(tlist) + 1), NULL, junk));
	}
	return tlist;
}

static Plan *
plan_agg(PlannerInfo *root, RelOptInfo *rel, CustomPath *custom, List *tlist, List *clauses,
		 List *plans)
{
	const GpuAggPath *path = (const GpuAggPath *) custom;
	const AggMatch *match = &path->match;
	const List *quals = path->mode == AGG_FINAL ? NIL : match->quals;
	CustomScan *plan = makeNode(CustomScan);
	AggSpec spec = {.mode = path->mode,
					.over_children = path->mode != AGG_FINAL && match->children != NIL,
					.nkeys = list_length(match->keys),
					.equality = match->equality,
					.ncarried = list_length(match->carried),
					.ndistinct = list_length(match->distinct),
					.distinct_equality = match->distinct_equality,
					.ncalls = list_length(match->aggrefs),
					.calls = match->calls,
					.sets = match->sets,
					.groupings = match->grouping_keys,
					.nquals = list_length(quals),
					.top = path->top};
	List *entries;

	if (match->subquery != NULL)
	{
		const List *targets = ((const Plan *) linitial(plans))->targetlist;

		spec.over_subquery = true;
		spec.attributes = gpuagg_agg_subquery_attributes(targets);
		spec.typmods = gpuagg_agg_subquery_typmods(match->subquery, targets);
	}
	entries = add_entries(NIL, match->keys, false, false);
	entries = add_entries(entries, match->carried, false, false);
	entries = add_entries(entries,
						  path->mode == AGG_PARTIAL ? match->distinct : hide(match->distinct),
						  false, false);
	entries = add_entries(entries, match->aggrefs, path->mode == AGG_PARTIAL, false);
	entries = add_entries(entries, match->groupings, false, false);
	entries = add_entries(entries, hide(quals), false, true);
	plan->custom_scan_tlist = entries;
	plan->scan.scanrelid = path->mode == AGG_FINAL || spec.over_children || spec.over_subquery
							   ? 0
							   : path->table;
	plan->scan.plan.targetlist = tlist;
	if (path->mode != AGG_PARTIAL)
		plan->scan.plan.qual = copyObject((List *) path->having);
	plan->custom_plans = plans;
	plan->custom_private = gpuagg_agg_spec_list(&spec);
	plan->flags = custom->flags;
	plan->methods = GetCustomScanMethods(AGG_NODE_NAME, false);
	(void) collect_parameters((Node *) entries, &plan->custom_exprs);
	return &plan->scan.plan;
}

/*
 * Its list of results is empty.  The table is that of custom_relids: with scanrelid it would be
 * opened by each process, whether or not it reads a part of it.
 */
static Plan *
plan_table(PlannerInfo *root, RelOptInfo *rel, CustomPath *custom, List *tlist, List *clauses,
		   List *plans)
{
	CustomScan *plan = makeNode(CustomScan);

	plan->scan.plan.targetlist = tlist;
	plan->flags = custom->flags;
	plan->methods = GetCustomScanMethods(AGG_TABLE_NAME, false);
	/* an Append prunes anew when a parameter changes that some plan below it has */
	(void) collect_parameters((Node *) ((GpuAggTablePath *) custom)->quals, &plan->custom_exprs);
	return &plan->scan.plan;
}

const CustomPathMethods gpuagg_agg_path_methods = {
	.CustomName = AGG_NODE_NAME,
	.PlanCustomPath = plan_agg,
};

const CustomPathMethods gpuagg_agg_table_path_methods = {
	.CustomName = AGG_TABLE_NAME,
	.PlanCustomPath = plan_table,
};
