/*
 * agg_subquery.c
 *	  Aggregates over a subquery whose rows come from a node GpuWindow, or are groups of a GpuAgg.
 */
#include "plan/agg_subquery.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"

#include "plan/agg_path.h"
#include "plan/window_path.h"
#include "spec/result_typmod.h"

/* Of a row, for each expression, as a part of what an operator costs core. */
#define EXPRESSION_PART 0.25

/* Whether the path gives columns of the subquery alone. */
static bool
has_columns(const Path *path)
{
	ListCell *cell;

	foreach (cell, path->pathtarget->exprs)
	{
		const Var *var = lfirst(cell);

		if (!IsA(var, Var) || var->varno != path->parent->relid || var->varattno <= 0)
			return false;
	}
	return true;
}

/* The path with columns that its filter has among those that it gives. */
static Path *
with_filter_columns(const SubqueryScanPath *path)
{
	SubqueryScanPath *copy = makeNode(SubqueryScanPath);
	ListCell *cell;

	*copy = *path;
	copy->path.pathtarget = copy_pathtarget(path->path.pathtarget);
	foreach (cell, path->path.parent->baserestrictinfo)
		add_new_columns_to_pathtarget(
			copy->path.pathtarget, pull_var_clause((Node *) ((RestrictInfo *) lfirst(cell))->clause,
												   PVC_RECURSE_PLACEHOLDERS));
	return has_columns(&copy->path) ? &copy->path : NULL;
}

static bool
is_source(const CustomPath *path)
{
	return IsA(path, CustomPath) && (path->methods == &gpuagg_window_path_methods ||
									 path->methods == &gpuagg_agg_path_methods);
}

/*
 * Whether SQL computes columns for each row that nobody may ask for.  Looked for where the planner does, in the
 * subquery as it was before it was planned.
 */
static bool
has_volatile_columns(const RelOptInfo *input)
{
	const RangeTblEntry *rte = planner_rt_fetch(input->relid, input->subroot->parent_root);

	return contain_volatile_functions((Node *) rte->subquery->targetList);
}

Path *
gpuagg_agg_subquery(const RelOptInfo *input)
{
	Path *path = input->cheapest_total_path;

	if (input->reloptkind != RELOPT_BASEREL || input->rtekind != RTE_SUBQUERY ||
		!bms_is_empty(input->lateral_relids) || path == NULL)
		return NULL;
	while (IsA(path, ProjectionPath))
		path = ((ProjectionPath *) path)->subpath;
	if (!IsA(path, SubqueryScanPath) || path->param_info != NULL ||
		!is_source((const CustomPath *) ((const SubqueryScanPath *) path)->subpath))
		return NULL;
	if (has_volatile_columns(input))
		return NULL;
	return with_filter_columns((const SubqueryScanPath *) path);
}

Cost
gpuagg_agg_subquery_cost(const Path *path, int expressions)
{
	return path->total_cost + EXPRESSION_PART * expressions * cpu_operator_cost * path->rows;
}

List *
gpuagg_agg_subquery_attributes(const List *targets)
{
	List *attributes = NIL;
	ListCell *cell;

	foreach (cell, targets)
		attributes = lappend_int(attributes,
								 ((const Var *) ((TargetEntry *) lfirst(cell))->expr)->varattno);
	return attributes;
}

int32
gpuagg_agg_result_typmod(Aggregate aggregate, const Aggref *aggref)
{
	const Node *argument;

	/* averages of groups come as they are */
	if (aggref->aggtype != NUMERICOID || aggref->args == NIL || aggregate == AGGREGATE_AVG)
		return -1;
	/* groups have integers of columns and casts alone */
	argument = (Node *) linitial_node(TargetEntry, aggref->args)->expr;
	if (exprType(argument) == NUMERICOID && exprTypmod(argument) < (int32) VARHDRSZ)
		return -1;
	return gpuagg_result_typmod(aggregate, argument, NULL);
}

/* Of a column of the subquery that an aggregate is. */
static int32
aggregate_typmod(const AggMatch *match, const RelOptInfo *rel, const Var *var)
{
	const TargetEntry *entry = get_tle_by_resno(rel->subroot->processed_tlist, var->varattno);
	ListCell *cell;

	if (entry == NULL || !IsA(entry->expr, Aggref) ||
		exprType((const Node *) entry->expr) != NUMERICOID)
		return var->vartypmod;
	foreach (cell, match->aggrefs)
		if (equal(lfirst(cell), entry->expr))
			return gpuagg_agg_result_typmod(match->calls[foreach_current_index(cell)].aggregate,
											lfirst(cell));
	return var->vartypmod;
}

List *
gpuagg_agg_subquery_typmods(const Path *path, const List *targets)
{
	const Path *source = ((const SubqueryScanPath *) path)->subpath;
	List *typmods = NIL;
	ListCell *cell;

	foreach (cell, targets)
	{
		const Var *var = (const Var *) ((TargetEntry *) lfirst(cell))->expr;
		bool groups = ((const CustomPath *) source)->methods == &gpuagg_agg_path_methods;

		typmods = lappend_int(typmods, groups
										   ? aggregate_typmod(&((const GpuAggPath *) source)->match,
															  path->parent, var)
										   : var->vartypmod);
	}
	return typmods;
}
