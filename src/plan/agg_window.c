/*
 * agg_window.c
 *	  Aggregates over a subquery whose rows come from the node GpuWindow.
 */
#include "plan/agg_window.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"

#include "plan/window_above.h"
#include "plan/window_path.h"
#include "spec/vector_rule.h"

/* Of a row, for each expression, as a part of what an operator costs core. */
#define EXPRESSION_PART 0.25

/* Digits of a sum of decimals or bigints, of which engines have 128 bits. */
#define SUM_DIGITS 38

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

Path *
gpuagg_agg_window(const RelOptInfo *input)
{
	Path *path = input->cheapest_total_path;
	const CustomPath *window;

	if (input->reloptkind != RELOPT_BASEREL || input->rtekind != RTE_SUBQUERY ||
		!bms_is_empty(input->lateral_relids) || path == NULL)
		return NULL;
	while (IsA(path, ProjectionPath))
		path = ((ProjectionPath *) path)->subpath;
	if (!IsA(path, SubqueryScanPath) || path->param_info != NULL)
		return NULL;
	window = (const CustomPath *) ((const SubqueryScanPath *) path)->subpath;
	if (!IsA(window, CustomPath) || window->methods != &gpuagg_window_path_methods)
		return NULL;
	return with_filter_columns((const SubqueryScanPath *) path);
}

Cost
gpuagg_agg_window_cost(const Path *path, int expressions)
{
	return path->total_cost + EXPRESSION_PART * expressions * cpu_operator_cost * path->rows;
}

List *
gpuagg_agg_window_attributes(const List *targets)
{
	List *attributes = NIL;
	ListCell *cell;

	foreach (cell, targets)
		attributes = lappend_int(attributes,
								 ((const Var *) ((TargetEntry *) lfirst(cell))->expr)->varattno);
	return attributes;
}

static int32
make_typmod(int scale)
{
	return (int32) ((SUM_DIGITS << 16 | scale) + VARHDRSZ);
}

/* Of a column whose values are a sum: its display scale is that of all values. */
static int32
typmod_of(const GpuWindowPath *window, const RelOptInfo *rel, const Var *var)
{
	int function = 0;
	const WindowFunc *call = gpuagg_window_above_call(window, rel, (const Node *) var, &function);
	const Expr *argument;
	int32 typmod;

	if (call == NULL || call->wintype != NUMERICOID || call->args == NIL)
		return var->vartypmod;
	argument = linitial(call->args);
	typmod = exprTypmod((const Node *) argument);
	switch (window->match.functions[function].aggregate)
	{
		case AGGREGATE_SUM:
			if (exprType((const Node *) argument) == INT8OID)
				return make_typmod(0);
			return typmod >= (int32) VARHDRSZ ? make_typmod(Max(gpuagg_typmod_scale(typmod), 0))
											  : -1;
		case AGGREGATE_MIN:
		case AGGREGATE_MAX:
			return typmod;
		default:
			return var->vartypmod;
	}
}

List *
gpuagg_agg_window_typmods(const Path *path, const List *targets)
{
	const GpuWindowPath *window =
		(const GpuWindowPath *) ((const SubqueryScanPath *) path)->subpath;
	List *typmods = NIL;
	ListCell *cell;

	foreach (cell, targets)
		typmods = lappend_int(typmods,
							  typmod_of(window, path->parent,
										(const Var *) ((TargetEntry *) lfirst(cell))->expr));
	return typmods;
}
