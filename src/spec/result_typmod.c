/*
 * result_typmod.c
 *	  Typmods of numerics that SQL gives none: results of aggregates and of expressions.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

#include "common/power_of_ten.h"
#include "spec/result_typmod.h"
#include "spec/vector_rule.h"
#include "spec/window_function.h"

#define COLUMNS_VARNO 1 /* of the columns that stand for all */

static int32
make_typmod(int precision, int scale)
{
	return (int32) (precision << 16 | scale) + (int32) VARHDRSZ;
}

static int32
form_typmod(const VectorValue *value)
{
	int precision = Min(value->precision, GPUAGG_INT128_DIGITS);

	if (value->scale < 0)
		return -1;
	return make_typmod(value->type == GPUAGG_VECTOR_INT128 ? Max(precision, GPUAGG_INT64_DIGITS + 1)
														   : precision,
					   value->scale);
}

int32
gpuagg_result_typmod(Aggregate aggregate, const Node *argument)
{
	int32 typmod;

	if (aggregate == AGGREGATE_SUM && exprType(argument) == INT8OID)
		return make_typmod(GPUAGG_INT128_DIGITS, 0);
	if ((aggregate != AGGREGATE_SUM && aggregate != AGGREGATE_MIN && aggregate != AGGREGATE_MAX) ||
		exprType(argument) != NUMERICOID)
		return -1;
	typmod = gpuagg_expression_typmod(argument);
	if (aggregate != AGGREGATE_SUM || typmod < (int32) VARHDRSZ)
		return typmod;
	return make_typmod(GPUAGG_INT128_DIGITS, Max(gpuagg_typmod_scale(typmod), 0));
}

int32
gpuagg_window_result_typmod(const Node *expr)
{
	const List *args;
	Oid function;
	WindowFunction found;
	bool running;

	if (exprType(expr) != NUMERICOID || (!IsA(expr, WindowFunc) && !IsA(expr, FuncExpr)))
		return exprTypmod(expr);
	function = IsA(expr, WindowFunc) ? ((const WindowFunc *) expr)->winfnoid
									 : ((const FuncExpr *) expr)->funcid;
	args = IsA(expr, WindowFunc) ? ((const WindowFunc *) expr)->args
								 : ((const FuncExpr *) expr)->args;
	if (args == NIL || !gpuagg_window_function(function, &found, &running))
		return exprTypmod(expr);
	return gpuagg_result_typmod(found.aggregate, linitial(args));
}

/* Columns of one row for all columns and window functions; their numbers do not matter. */
static Node *
replace_columns(Node *node, void *number)
{
	int *next = number;
	Var *var;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var) && !IsA(node, WindowFunc))
		return expression_tree_mutator(node, replace_columns, number);
	var = makeVar(COLUMNS_VARNO, (AttrNumber)++ * next, exprType(node),
				  gpuagg_window_result_typmod(node), exprCollation(node), 0);
	return (Node *) var;
}

int32
gpuagg_expression_typmod(const Node *expr)
{
	int32 typmod = exprTypmod(expr);
	int ncolumns = 0;
	VectorCompiler *compiler;
	VectorValue value;
	Node *replaced;

	if (typmod >= 0 || exprType(expr) != NUMERICOID || IsA(expr, Var))
		return typmod;
	replaced = replace_columns(unconstify(Node *, expr), &ncolumns);
	if (!gpuagg_compile_possible(replaced))
		return -1;
	compiler = gpuagg_compiler_make(COLUMNS_VARNO, NULL);
	value = gpuagg_compile_value(compiler, (Expr *) replaced, NULL);
	return form_typmod(&value);
}
