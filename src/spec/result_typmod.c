/*
 * result_typmod.c
 *	  Typmods of numerics that SQL gives none: results of aggregates and of expressions.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

#include "common/decimal_quotient.h"
#include "common/power_of_ten.h"
#include "spec/result_typmod.h"
#include "spec/vector_rule.h"
#include "spec/window_function.h"

#define COLUMNS_VARNO 1 /* of the columns that stand for all */

/* Of averages: groups of four digits behind the first in counts, and places, at most. */
#define AVERAGE_GROUPS 1
#define AVERAGE_SCALE  36

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
	if (value->own_scales)
		return gpuagg_own_scales_typmod(value->scale);
	return make_typmod(value->type == GPUAGG_VECTOR_INT128 ? Max(precision, GPUAGG_INT64_DIGITS + 1)
														   : precision,
					   value->scale);
}

int32
gpuagg_own_scales_typmod(int scale)
{
	return make_typmod(GPUAGG_INT128_DIGITS, scale | GPUAGG_TYPMOD_OWN_SCALES);
}

/* Of averages of values with so many places. */
static int32
average_typmod(int places)
{
	int scale = gpuagg_quotient_most_scale(places, AVERAGE_GROUPS);

	return scale <= AVERAGE_SCALE ? gpuagg_own_scales_typmod(scale) : -1;
}

int32
gpuagg_result_typmod(Aggregate aggregate, const Node *argument, const EState *estate)
{
	Oid type = exprType(argument);
	int32 typmod = type == NUMERICOID ? gpuagg_expression_typmod(argument, estate) : -1;
	bool is_decimal = typmod >= (int32) VARHDRSZ;
	int places = is_decimal ? Max(gpuagg_typmod_scale(typmod), 0) : 0;

	switch (aggregate)
	{
		case AGGREGATE_SUM:
			return is_decimal || type == INT8OID ? make_typmod(GPUAGG_INT128_DIGITS, places) : -1;
		case AGGREGATE_AVG:
			return is_decimal || type == INT2OID || type == INT4OID || type == INT8OID
					   ? average_typmod(places)
					   : -1;
		case AGGREGATE_MIN:
		case AGGREGATE_MAX:
			return typmod;
		default:
			return -1;
	}
}

int32
gpuagg_window_result_typmod(const Node *expr, const EState *estate)
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
	return gpuagg_result_typmod(found.aggregate, linitial(args), estate);
}

typedef struct Replacing
{
	const EState *estate;
	AttrNumber ncolumns;
} Replacing;

/* Columns of one row for all columns and window functions; their numbers do not matter. */
static Node *
replace_columns(Node *node, void *context)
{
	Replacing *replacing = context;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var) && !IsA(node, WindowFunc))
		return expression_tree_mutator(node, replace_columns, context);
	return (Node *) makeVar(COLUMNS_VARNO, ++replacing->ncolumns, exprType(node),
							gpuagg_window_result_typmod(node, replacing->estate),
							exprCollation(node), 0);
}

int32
gpuagg_expression_typmod(const Node *expr, const EState *estate)
{
	int32 typmod = exprTypmod(expr);
	Replacing replacing = {estate, 0};
	VectorCompiler *compiler;
	VectorValue value;
	Node *replaced;

	if (typmod >= 0 || exprType(expr) != NUMERICOID || IsA(expr, Var))
		return typmod;
	replaced = replace_columns(unconstify(Node *, expr), &replacing);
	if (!gpuagg_compile_possible(replaced))
		return -1;
	compiler = gpuagg_compiler_make(COLUMNS_VARNO, estate);
	compiler->gives_own_scales = true;
	value = gpuagg_compile_value(compiler, (Expr *) replaced, NULL);
	return form_typmod(&value);
}
