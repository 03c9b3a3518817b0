/*
 * window_above.c
 *	  Conditions above a subquery whose rows come from the node GpuWindow.
 *
 * Those that compare a window function's value with a constant are told to the node, which then
 * need not put together the rows that they drop.  They stay where they are, too: what the node
 * lets pass is looked at there.
 */
#include "compat.h"

#include "access/transam.h"
#include "catalog/pg_am.h"
#include "commands/defrem.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "gpuagg.h"
#include "plan/qual_order.h"
#include "plan/window_above.h"
#include "plan/window_path.h"

static set_rel_pathlist_hook_type previous_set_rel_pathlist_hook = NULL;

const WindowFunc *
gpuagg_window_above_call(const GpuWindowPath *window, const RelOptInfo *rel, const Node *column,
						 int *function)
{
	const Var *var = (const Var *) column;
	const TargetEntry *entry;
	ListCell *cell;

	if (!IsA(column, Var) || var->varno != rel->relid || var->varlevelsup != 0)
		return NULL;
	entry = get_tle_by_resno(rel->subroot->processed_tlist, var->varattno);
	if (entry == NULL || !IsA(entry->expr, WindowFunc))
		return NULL;
	foreach (cell, window->match.calls)
		if (equal(lfirst(cell), entry->expr))
		{
			*function = foreach_current_index(cell);
			return lfirst(cell);
		}
	return NULL;
}

/* What a core's operator is of its left type's default order; 0: nothing. */
static int
strategy_of(Oid operator, Oid type)
{
	Oid opclass = GetDefaultOpClass(type, BTREE_AM_OID);

	if (operator>= FirstNormalObjectId || !OidIsValid(opclass))
		return 0;
	return get_op_opfamily_strategy(operator, get_opclass_family(opclass));
}

static bool
is_value(const Node *node)
{
	return IsA(node, Var) || IsA(node, Const) || IsA(node, Param);
}

/* Whether arguments have collations that conflict, of which functions, leakproof ones too, may raise an error. */
static bool
has_conflict(Node *node, void *context)
{
	const List *arguments = NIL;
	ListCell *cell;

	if (node == NULL)
		return false;
	if (IsA(node, OpExpr) || IsA(node, DistinctExpr) || IsA(node, NullIfExpr))
		arguments = ((OpExpr *) node)->args;
	else if (IsA(node, ScalarArrayOpExpr))
		arguments = ((ScalarArrayOpExpr *) node)->args;
	else if (IsA(node, FuncExpr))
		arguments = ((FuncExpr *) node)->args;
	foreach (cell, arguments)
		if (!OidIsValid(exprInputCollation(node)) && OidIsValid(exprCollation(lfirst(cell))))
			return true;
	return expression_tree_walker(node, has_conflict, context);
}

/* Of arrays, rows and ranges the operator does what those of their elements do, if there are such. */
static bool
is_plain(Oid type)
{
	return (get_typtype(type) == TYPTYPE_BASE || get_typtype(type) == TYPTYPE_ENUM) &&
		   !OidIsValid(get_element_type(type));
}

/* Whether nobody notices if the clause is not tested for a row. */
static bool
is_silent(const Node *clause)
{
	const OpExpr *op = (const OpExpr *) clause;

	if (contain_volatile_functions((Node *) clause) || has_conflict((Node *) clause, NULL))
		return false;
	/* other comparisons of plain types by core's operators raise no errors */
	return !contain_leaked_vars((Node *) clause) ||
		   (IsA(clause, OpExpr) && list_length(op->args) == 2 && is_value(linitial(op->args)) &&
			is_value(lsecond(op->args)) && is_plain(exprType(linitial(op->args))) &&
			strategy_of(op->opno, exprType(linitial(op->args))) != 0);
}

static void
note_clause(GpuWindowPath *window, const RelOptInfo *rel, const Node *clause)
{
	const OpExpr *op = (const OpExpr *) clause;
	const Node *constant;
	const WindowFunc *call;
	int function = 0;
	int strategy;
	Oid operator;

	if (!IsA(clause, OpExpr) || list_length(op->args) != 2)
		return;
	operator= op->opno;
	constant = lsecond(op->args);
	call = gpuagg_window_above_call(window, rel, linitial(op->args), &function);
	if (call == NULL)
	{
		operator= get_commutator(op->opno);
		constant = linitial(op->args);
		call = gpuagg_window_above_call(window, rel, lsecond(op->args), &function);
	}
	if (call == NULL || !OidIsValid(operator) ||
		!(IsA(constant, Const) ||
		  (IsA(constant, Param) && ((const Param *) constant)->paramkind == PARAM_EXTERN)))
		return;
	strategy = strategy_of(operator, call->wintype);
	if (strategy == 0)
		return;
	window->above = lappend(window->above, list_make2_int(function, strategy));
	window->above_constants = lappend(window->above_constants, copyObject((void *) constant));
}

static void
note_conditions(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	ListCell *path_cell;
	ListCell *clause_cell;

	if (previous_set_rel_pathlist_hook)
		previous_set_rel_pathlist_hook(root, rel, rti, rte);
	if (!gpuagg_enable_window_scan || rte->rtekind != RTE_SUBQUERY || rel->subroot == NULL)
		return;
	foreach (path_cell, rel->pathlist)
	{
		const SubqueryScanPath *path = lfirst(path_cell);
		GpuWindowPath *window;

		if (!IsA(path, SubqueryScanPath) || !IsA(path->subpath, CustomPath))
			continue;
		window = (GpuWindowPath *) path->subpath;
		if (window->path.methods != &gpuagg_window_path_methods || window->above != NIL ||
			window->run_condition != NIL)
			continue;
		/* those before which nothing is tested that could raise an error, say */
		foreach (clause_cell, gpuagg_qual_order(root, rel->baserestrictinfo))
		{
			note_clause(window, rel, lfirst(clause_cell));
			if (!is_silent(lfirst(clause_cell)))
				break;
		}
	}
}

void
gpuagg_window_above_install(void)
{
	previous_set_rel_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = note_conditions;
}
