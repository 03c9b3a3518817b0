/*
 * window_between.c
 *	  What a subquery computes between a window and what is above, as a vector program.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"

#include "exec/window_between.h"
#include "exec/window_source.h"
#include "exec/window_state.h"
#include "spec/result_typmod.h"

/* The number of a column of the scan tuple; -1: the expression is none. */
static int
scan_column(const Node *expr)
{
	const Var *var = (const Var *) expr;

	return IsA(var, Var) && var->varno == INDEX_VAR ? var->varattno - 1 : -1;
}

/* Where that has its typmod; NULL: the expression is none. */
static int32 *
typmod_of(const WindowBetween *between, const Node *expr)
{
	int column = scan_column(expr);

	return column >= 0 && column < between->nscan ? &between->typmods[column] : NULL;
}

static Node *
set_typmods(Node *node, void *between)
{
	const int32 *typmod;

	if (node == NULL)
		return NULL;
	typmod = typmod_of(between, node);
	if (typmod != NULL && *typmod >= 0)
	{
		Var *var = copyObject((Var *) node);

		var->vartypmod = *typmod;
		return (Node *) var;
	}
	return expression_tree_mutator(node, set_typmods, between);
}

Expr *
gpuagg_window_between_expr(const PlanState *plan, const PlanState *window, int column)
{
	const TargetEntry *entry = list_nth(plan->plan->targetlist, column);
	const Var *var = (const Var *) entry->expr;

	if (plan == window)
		return entry->expr;
	if (!IsA(var, Var) || var->varattno <= 0)
		return NULL;
	entry = list_nth(window->plan->targetlist, var->varattno - 1);
	return entry->expr;
}

/* What is known of a window's columns. */
typedef struct Knowing
{
	const PlanState *window;
	const int32 *known; /* typmods by column, where they are not -1; or NULL */
} Knowing;

static int32 expr_typmod(const Knowing *knowing, const Node *expr);

/* Of a column of a window's scan tuple: a function's, or one of the child, which may be a window. */
static int32
scan_typmod(const Knowing *knowing, int column)
{
	const PlanState *window = knowing->window;
	const TargetEntry *entry = list_nth(((const CustomScan *) window->plan)->custom_scan_tlist,
										column);
	PlanState *child = ((const WindowScanState *) window)->input.child;
	Knowing below = {child, NULL};
	int32 typmod = gpuagg_window_result_typmod((const Node *) entry->expr, window->state);

	if (knowing->known != NULL && knowing->known[column] >= 0)
		return knowing->known[column];
	if (typmod >= 0 || !IsA(entry->expr, Var) || gpuagg_window_source_node(child) != child)
		return typmod;
	entry = list_nth(child->plan->targetlist, column);
	return expr_typmod(&below, (const Node *) entry->expr);
}

static Node *
set_scan_typmods(Node *node, void *knowing)
{
	int column;

	if (node == NULL)
		return NULL;
	column = scan_column(node);
	if (column >= 0)
	{
		Var *var = copyObject((Var *) node);

		var->vartypmod = scan_typmod(knowing, column);
		return (Node *) var;
	}
	return expression_tree_mutator(node, set_scan_typmods, knowing);
}

/* Of an expression over that. */
static int32
expr_typmod(const Knowing *knowing, const Node *expr)
{
	if (exprType(expr) != NUMERICOID)
		return exprTypmod(expr);
	return gpuagg_expression_typmod(set_scan_typmods(unconstify(Node *, expr),
													 unconstify(Knowing *, knowing)),
									knowing->window->state);
}

int32
gpuagg_window_between_find_typmod(const PlanState *plan, const PlanState *window, int column,
								  const int32 *known)
{
	Knowing knowing = {window, known};
	const Expr *expr = gpuagg_window_between_expr(plan, window, column);

	return expr != NULL ? expr_typmod(&knowing, (const Node *) expr) : -1;
}

/* Finds the expressions, and typmods of the columns that are some; false: one cannot be had. */
static bool
find_exprs(WindowBetween *between, const PlanState *plan, const PlanState *window, int n,
		   const int *columns, const int32 *typmods)
{
	for (int i = 0; i < n; i++)
	{
		int32 *typmod;

		between->exprs[i] = gpuagg_window_between_expr(plan, window, columns[i]);
		if (between->exprs[i] == NULL || !gpuagg_compile_possible((Node *) between->exprs[i]))
			return false;
		typmod = typmod_of(between, (Node *) between->exprs[i]);
		if (typmod != NULL && *typmod < 0)
			*typmod = typmods[i];
	}
	for (int i = 0; i < n; i++)
		between->exprs[i] = (Expr *) set_typmods((Node *) between->exprs[i], between);
	return true;
}

static void
find_forms(WindowBetween *between, const List *columns)
{
	int n = (int) between->compiler->program.ncolumns;
	ListCell *cell;

	between->forms = palloc0((n + 1) * sizeof(VectorValue));
	between->types = palloc((n + 1) * sizeof(Oid));
	foreach (cell, between->compiler->attributes)
	{
		int i = foreach_current_index(cell);
		int column = lfirst_int(cell) - 1;
		const Node *expr = (const Node *) ((TargetEntry *) list_nth(columns, column))->expr;
		int32 typmod = between->typmods[column];

		between->types[i] = exprType(expr);
		gpuagg_vector_form(between->compiler->program.columns[i] == GPUAGG_VECTOR_DATUM
							   ? InvalidOid
							   : between->types[i],
						   typmod >= 0 ? typmod : exprTypmod(expr), &between->forms[i]);
	}
}

WindowBetween *
gpuagg_window_between_make(const PlanState *plan, const PlanState *window, int n,
						   const int *columns, const int32 *typmods, const int32 *known,
						   const bool *computed)
{
	const List *scan = ((const CustomScan *) window->plan)->custom_scan_tlist;
	WindowBetween *between = palloc0(sizeof(WindowBetween));
	Knowing knowing = {window, known};

	between->nscan = list_length(scan);
	between->typmods = palloc((between->nscan + 1) * sizeof(int32));
	for (int i = 0; i < between->nscan; i++)
		between->typmods[i] = scan_typmod(&knowing, i);
	between->exprs = palloc0((n + 1) * sizeof(Expr *));
	between->values = palloc0((n + 1) * sizeof(VectorValue));
	if (!find_exprs(between, plan, window, n, columns, typmods))
		return NULL;
	between->compiler = gpuagg_compiler_make(INDEX_VAR, window->state);
	between->compiler->gives_own_scales = true;
	for (int i = 0; i < n; i++)
		if (computed == NULL || computed[i])
			between->values[i] = gpuagg_compile_value(between->compiler, between->exprs[i], NULL);
	if (!gpuagg_compile_finish(between->compiler) || between->compiler->user_function)
		return NULL;
	find_forms(between, scan);
	return between;
}

int32
gpuagg_window_between_typmod(const WindowBetween *between, int i, int32 otherwise)
{
	const int32 *typmod = typmod_of(between, (const Node *) between->exprs[i]);

	return typmod != NULL ? *typmod : otherwise;
}
