/*
 * vector_compile.c
 *	  Compiles SQL expressions into a vector program, node by node.
 *
 * Each node either becomes instructions or, as a whole, an expression that is
 * evaluated row by row.  The latter is also taken where instructions would read no
 * column, only values evaluated row by row: core evaluates the rest as well at once.
 *
 * What SQL evaluates only for some rows is compiled under a mask for these: what
 * follows in a list of quals or behind AND and OR, branches of CASE, arguments of
 * COALESCE after the first.
 *
 * An expression without columns is a parameter, whose value is found once, if SQL
 * would evaluate it for the first row of its section, or if that has no effect.
 * Otherwise it is evaluated once by the first row that its mask lets through.
 */
#include "spec/vector_rule.h"

#include <ctype.h>

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* Beyond so many instructions or constants, everything is evaluated row by row. */
#define MANY_INSTRUCTIONS (GPUAGG_VECTOR_INSTRUCTIONS / 2)
#define MANY_CONSTANTS	  (GPUAGG_VECTOR_CONSTANTS / 2)

/* ---- what can be compiled, what has no effects ---- */

static bool
impossible_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Aggref:
		case T_WindowFunc:
		case T_GroupingFunc:
		case T_SubLink:
		case T_SubPlan:
		case T_AlternativeSubPlan:
		case T_PlaceHolderVar:
		case T_CurrentOfExpr:
		case T_Query:
			return true;
		default:
			return expression_tree_walker(node, impossible_walker, context);
	}
}

bool
gpuagg_compile_possible(Node *expr)
{
	return !impossible_walker(expr, NULL) && !expression_returns_set(expr) &&
		   !contain_volatile_functions(expr);
}

static bool
is_users(Oid function, void *context)
{
	return function >= FirstNormalObjectId;
}

static bool
user_function_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return check_functions_in_node(node, is_users, context) ||
		   expression_tree_walker(node, user_function_walker, context);
}

static bool
column_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, Var) || expression_tree_walker(node, column_walker, context);
}

static bool
has_no_column(Expr *expr)
{
	return !column_walker((Node *) expr, NULL);
}

/* Whether evaluating an expression without columns never raises an error. */
static bool
is_harmless(const Expr *expr)
{
	if (IsA(expr, RelabelType))
		return is_harmless(((const RelabelType *) expr)->arg);
	if (IsA(expr, Param))
		return ((const Param *) expr)->paramkind == PARAM_EXTERN;
	return IsA(expr, SQLValueFunction) ||
		   (IsA(expr, FuncExpr) && ((const FuncExpr *) expr)->funcid == F_NOW);
}

/* ---- constants and columns ---- */

/* A numeric constant has a scale and digits of its own. */
static void
constant_form(Oid type, Datum datum, bool isnull, VectorValue *value)
{
	char *text;
	char *point;
	int digits = 0;

	gpuagg_vector_form(type, -1, value);
	if (type != NUMERICOID || isnull)
		return;
	text = DatumGetCString(DirectFunctionCall1(numeric_out, datum));
	if (strspn(text, "-0123456789.") != strlen(text))
		return; /* NaN, Infinity */
	point = strchr(text, '.');
	for (char *p = text; *p != '\0'; p++)
	{
		if (isdigit((unsigned char) *p) && (digits > 0 || *p != '0'))
			digits++;
	}
	if (digits > 38 || (point != NULL && strlen(point + 1) > 38))
		return;
	value->scale = point != NULL ? (int) strlen(point + 1) : 0;
	value->precision = Max(digits, 1);
	value->type = digits <= 18 ? GPUAGG_VECTOR_INT64 : GPUAGG_VECTOR_INT128;
}

bool
gpuagg_compile_constant(VectorBuild *build, Oid type, Datum datum, bool isnull, VectorValue *value)
{
	GpuaggVectorConstant constant;

	if (value->type == GPUAGG_VECTOR_DATUM ||
		!gpuagg_vector_set_constant(&constant, value, type, datum, isnull))
		return false;
	value->reg = gpuagg_build_constant(build, &constant);
	return true;
}

static bool
compile_const(VectorBuild *build, const Const *constant, VectorValue *value)
{
	Datum datum = constant->constvalue;

	constant_form(constant->consttype, datum, constant->constisnull, value);
	if (!constant->constisnull && !constant->constbyval)
		datum = datumCopy(datum, false, constant->constlen);
	return gpuagg_compile_constant(build, constant->consttype, datum, constant->constisnull, value);
}

static bool
compile_var(VectorBuild *build, const Var *var, VectorValue *value)
{
	if (var->varno != build->varno || var->varlevelsup != 0 || var->varattno <= 0)
		return false;
	gpuagg_vector_form(var->vartype, var->vartypmod, value);
	gpuagg_build_column(build, var->varattno, value);
	return true;
}

/* ---- calls ---- */

static bool
compile_call(VectorBuild *build, Oid function, Oid collation, List *args, VectorValue *value)
{
	VectorCall call = {.build = build,
					   .function = gpuagg_vector_function(function),
					   .args = args,
					   .collation = collation};

	return call.function != NULL && call.function->rule(&call, value);
}

void
gpuagg_compile_argument(const VectorCall *call, int number, VectorValue *value)
{
	gpuagg_compile_node(call->build, list_nth(call->args, number), value);
}

static bool
compile_op(VectorBuild *build, OpExpr *op, VectorValue *value)
{
	set_opfuncid(op);
	return compile_call(build, op->opfuncid, op->inputcollid, op->args, value);
}

/* Unequal, or one of them NULL: not (equal and known, or both NULL). */
static bool
compile_distinct(VectorBuild *build, DistinctExpr *distinct, VectorValue *value)
{
	VectorValue equal;
	VectorValue a;
	VectorValue b;
	uint16 both;
	uint16 reg;

	if (!compile_op(build, (OpExpr *) distinct, &equal))
		return false;
	gpuagg_compile_node(build, linitial(distinct->args), &a);
	gpuagg_compile_node(build, lsecond(distinct->args), &b);
	both = gpuagg_build_two(build, GPUAGG_VECTOR_AND, GPUAGG_VECTOR_BOOL,
							gpuagg_build_one(build, GPUAGG_VECTOR_IS_NULL, a.type, a.reg),
							gpuagg_build_one(build, GPUAGG_VECTOR_IS_NULL, b.type, b.reg));
	reg = gpuagg_build_one(build, GPUAGG_VECTOR_IS_TRUE, GPUAGG_VECTOR_BOOL, equal.reg);
	reg = gpuagg_build_two(build, GPUAGG_VECTOR_OR, GPUAGG_VECTOR_BOOL, reg, both);
	gpuagg_value_bool(value, gpuagg_build_one(build, GPUAGG_VECTOR_NOT, GPUAGG_VECTOR_BOOL, reg));
	return true;
}

static bool
compile_nullif(VectorBuild *build, NullIfExpr *nullif, VectorValue *value)
{
	VectorValue equal;

	if (!compile_op(build, (OpExpr *) nullif, &equal))
		return false;
	gpuagg_compile_node(build, linitial(nullif->args), value);
	if (value->type == GPUAGG_VECTOR_DATUM)
		return false;
	value->reg = gpuagg_build_choice(build, GPUAGG_VECTOR_NULLIF, value->type, value->reg,
									 GPUAGG_VECTOR_NONE, equal.reg);
	return true;
}

/* ---- IN ---- */

/* The constants of an array as values that column a can have; others cannot be equal to it. */
static bool
set_of(const ArrayType *array, Oid type, const VectorValue *a, GpuaggVectorConstant **constants,
	   int *n, bool *has_null)
{
	int16 length;
	bool by_value;
	char align;
	Datum *datums;
	bool *nulls;
	int count;

	get_typlenbyvalalign(type, &length, &by_value, &align);
	deconstruct_array((ArrayType *) array, type, length, by_value, align, &datums, &nulls, &count);
	*constants = palloc(Max(count, 1) * sizeof(GpuaggVectorConstant));
	*n = 0;
	*has_null = false;
	for (int i = 0; i < count; i++)
	{
		VectorValue form;
		GpuaggVectorConstant *constant = &(*constants)[*n];

		if (nulls[i])
		{
			*has_null = true;
			continue;
		}
		constant_form(type, datums[i], false, &form);
		if (!gpuagg_vector_set_constant(constant, &form, type, datums[i], false))
		{
			if (type != NUMERICOID)
				return false;
			continue; /* NaN, Infinity, more digits than a decimal has */
		}
		if (gpuagg_vector_is_integer(constant->type))
		{
			__int128 integer = gpuagg_int128_wide(constant->u.integer);
			int less = Max(form.scale, 0) - Max(a->scale, 0);

			for (; less > 0 && integer % 10 == 0; less--)
				integer /= 10;
			if (less > 0)
				continue;
			for (; less < 0 && integer < gpuagg_power_of_ten(37) &&
				   integer > -gpuagg_power_of_ten(37);
				 less++)
				integer *= 10;
			if (less < 0)
				continue;
			if ((a->type == GPUAGG_VECTOR_INT16 && integer != (int16) integer) ||
				(a->type == GPUAGG_VECTOR_INT32 && integer != (int32) integer) ||
				(a->type == GPUAGG_VECTOR_INT64 && integer != (int64) integer))
				continue;
			constant->u.integer = gpuagg_int128_narrow(integer);
			constant->type = a->type;
		}
		if (constant->type != a->type)
			return false;
		(*n)++;
	}
	return true;
}

/* scalar = ANY (constant array), scalar <> ALL (constant array) */
static bool
compile_constant_array(VectorBuild *build, ScalarArrayOpExpr *expr, VectorValue *value)
{
	const VectorFunction *function = gpuagg_vector_function(expr->opfuncid);
	const Const *constant = lsecond(expr->args);
	GpuaggVectorConstant *constants;
	GpuaggVectorInstruction in = {.op = GPUAGG_VECTOR_IN,
								  .b = GPUAGG_VECTOR_NONE,
								  .c = GPUAGG_VECTOR_NONE};
	VectorValue a;
	bool has_null;
	int n;
	Oid type;
	Oid left_type = exprType(linitial(expr->args));

	if (function == NULL || constant->constisnull ||
		function->op != (expr->useOr ? GPUAGG_VECTOR_EQ : GPUAGG_VECTOR_NE))
		return false;
	if (function->rule != gpuagg_rule_two && function->rule != gpuagg_rule_decimal_compare &&
		!(function->rule == gpuagg_rule_text_equal && gpuagg_collation_is_bytes(expr->inputcollid)))
		return false;
	type = ARR_ELEMTYPE(DatumGetArrayTypeP(constant->constvalue));
	gpuagg_compile_node(build, linitial(expr->args), &a);
	/* Elements in the type that the comparison has, or in one that they fit into. */
	if (a.type == GPUAGG_VECTOR_FLOAT32 && function->type == GPUAGG_VECTOR_FLOAT64 &&
		!gpuagg_compile_cast(build, &a, GPUAGG_VECTOR_FLOAT64))
		return false;
	if (a.type == GPUAGG_VECTOR_BOOL || a.type == GPUAGG_VECTOR_DATUM ||
		(left_type == NUMERICOID && a.scale < 0) ||
		!set_of(DatumGetArrayTypeP(constant->constvalue), type, &a, &constants, &n, &has_null))
		return false;
	if (n == 0 || n > PG_UINT16_MAX || build->nconstants + n > MANY_CONSTANTS)
		return false;
	in.type = a.type;
	in.a = a.reg;
	in.count = (uint16) n;
	in.arg = gpuagg_build_constants(build, constants, n);
	gpuagg_value_bool(value, gpuagg_build_emit(build, in));
	if (has_null)
		value->reg = gpuagg_build_two(build, GPUAGG_VECTOR_OR, GPUAGG_VECTOR_BOOL, value->reg,
									  gpuagg_build_null(build, GPUAGG_VECTOR_BOOL));
	if (!expr->useOr)
		value->reg = gpuagg_build_one(build, GPUAGG_VECTOR_NOT, GPUAGG_VECTOR_BOOL, value->reg);
	return true;
}

/* Any comparison with the elements of ARRAY[...], all of which are evaluated. */
static bool
compile_array_of(VectorBuild *build, ScalarArrayOpExpr *expr, VectorValue *value)
{
	const ArrayExpr *array = lsecond(expr->args);
	ListCell *lc;
	bool first = true;

	if (array->multidims || array->elements == NIL)
		return false;
	foreach (lc, array->elements)
	{
		VectorValue one;

		if (!compile_call(build, expr->opfuncid, expr->inputcollid,
						  list_make2(linitial(expr->args), lfirst(lc)), &one) ||
			one.type != GPUAGG_VECTOR_BOOL)
			return false;
		if (first)
			*value = one;
		else
			value->reg = gpuagg_build_two(build, expr->useOr ? GPUAGG_VECTOR_OR : GPUAGG_VECTOR_AND,
										  GPUAGG_VECTOR_BOOL, value->reg, one.reg);
		first = false;
	}
	return true;
}

static bool
compile_array_op(VectorBuild *build, ScalarArrayOpExpr *expr, VectorValue *value)
{
	Node *array = lsecond(expr->args);

	set_sa_opfuncid(expr);
	if (IsA(array, Const))
		return compile_constant_array(build, expr, value);
	return IsA(array, ArrayExpr) && compile_array_of(build, expr, value);
}

/* ---- logic ---- */

static bool
compile_bool(VectorBuild *build, BoolExpr *expr, VectorValue *value)
{
	bool is_and = expr->boolop == AND_EXPR;
	uint16 outer = build->mask;
	bool known = true;
	ListCell *lc;

	foreach (lc, expr->args)
	{
		VectorValue next;

		gpuagg_compile_node(build, lfirst(lc), &next);
		if (next.type != GPUAGG_VECTOR_BOOL)
		{
			known = false;
			break;
		}
		if (expr->boolop == NOT_EXPR)
			gpuagg_value_bool(value, gpuagg_build_one(build, GPUAGG_VECTOR_NOT, GPUAGG_VECTOR_BOOL,
													  next.reg));
		else if (foreach_current_index(lc) == 0)
			*value = next;
		else
			value->reg = gpuagg_build_two(build, is_and ? GPUAGG_VECTOR_AND : GPUAGG_VECTOR_OR,
										  GPUAGG_VECTOR_BOOL, value->reg, next.reg);
		if (lnext(expr->args, lc) != NULL)
			build->mask = gpuagg_build_mask(build, build->mask, next.reg,
											is_and ? VECTOR_MASK_NOT_FALSE : VECTOR_MASK_NOT_TRUE);
	}
	build->mask = outer;
	return known;
}

static bool
compile_null_test(VectorBuild *build, NullTest *test, VectorValue *value)
{
	VectorValue a;
	uint16 reg;

	if (test->argisrow)
		return false;
	gpuagg_compile_node(build, test->arg, &a);
	reg = gpuagg_build_one(build, GPUAGG_VECTOR_IS_NULL, a.type, a.reg);
	if (test->nulltesttype == IS_NOT_NULL)
		reg = gpuagg_build_one(build, GPUAGG_VECTOR_NOT, GPUAGG_VECTOR_BOOL, reg);
	gpuagg_value_bool(value, reg);
	return true;
}

static bool
compile_boolean_test(VectorBuild *build, BooleanTest *test, VectorValue *value)
{
	VectorValue a;
	GpuaggVectorOp op;
	uint16 reg;

	gpuagg_compile_node(build, test->arg, &a);
	if (a.type != GPUAGG_VECTOR_BOOL)
		return false;
	switch (test->booltesttype)
	{
		case IS_TRUE:
		case IS_NOT_TRUE:
			op = GPUAGG_VECTOR_IS_TRUE;
			break;
		case IS_FALSE:
		case IS_NOT_FALSE:
			op = GPUAGG_VECTOR_IS_FALSE;
			break;
		default:
			op = GPUAGG_VECTOR_IS_NULL;
			break;
	}
	reg = gpuagg_build_one(build, op, GPUAGG_VECTOR_BOOL, a.reg);
	if (test->booltesttype == IS_NOT_TRUE || test->booltesttype == IS_NOT_FALSE ||
		test->booltesttype == IS_NOT_UNKNOWN)
		reg = gpuagg_build_one(build, GPUAGG_VECTOR_NOT, GPUAGG_VECTOR_BOOL, reg);
	gpuagg_value_bool(value, reg);
	return true;
}

/* ---- choices ---- */

static bool
is_null_constant(const Expr *expr)
{
	return IsA(expr, Const) && ((const Const *) expr)->constisnull;
}

/*
 * Brings a value to the form of *all, which it is chosen into; first: that becomes its
 * own.  Decimals of different scales have no common form, as each is displayed with
 * its own.  A NULL has any form.
 */
static bool
same_form(VectorBuild *build, VectorValue *all, VectorValue *next, bool first)
{
	if (first)
	{
		*all = *next;
		return next->type != GPUAGG_VECTOR_DATUM;
	}
	if (all->scale != next->scale)
		return false;
	if (all->type != next->type)
	{
		if (all->scale < 0)
			return false;
		if (!gpuagg_compile_cast(build, all->type < next->type ? all : next,
								 Max(all->type, next->type)))
			return false;
	}
	all->precision = Max(all->precision, next->precision);
	if (all->width != next->width)
		all->width = -1;
	return true;
}

typedef struct Replacement
{
	Expr *arg;
} Replacement;

/* CASE x WHEN y is CASE WHEN x = y, in which x stands for CaseTestExpr. */
static Node *
replace_case_test(Node *node, void *context)
{
	Replacement *replacement = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, CaseTestExpr))
		return (Node *) replacement->arg;
	return expression_tree_mutator(node, replace_case_test, context);
}

/* Whether there is another expression with a CaseTestExpr of its own. */
static bool
case_test_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if ((IsA(node, CaseExpr) && ((CaseExpr *) node)->arg != NULL) || IsA(node, ArrayCoerceExpr))
		return true;
	return expression_tree_walker(node, case_test_walker, context);
}

/* The branches of a CASE as pairs of conditions and results; NIL: it has some that are not for us. */
static List *
case_conditions(const CaseExpr *expr)
{
	List *conditions = NIL;
	ListCell *lc;

	foreach (lc, expr->args)
	{
		CaseWhen *when = lfirst_node(CaseWhen, lc);
		Node *condition = (Node *) when->expr;

		if (expr->arg != NULL)
		{
			Replacement replacement = {.arg = expr->arg};

			if (case_test_walker(condition, NULL))
				return NIL;
			condition = replace_case_test(condition, &replacement);
		}
		conditions = lappend(conditions, condition);
	}
	return conditions;
}

static bool
compile_case(VectorBuild *build, CaseExpr *expr, VectorValue *value)
{
	List *conditions = case_conditions(expr);
	int n = list_length(conditions);
	uint16 outer = build->mask;
	VectorValue *when = palloc(Max(n, 1) * sizeof(VectorValue));
	VectorValue *then = palloc((n + 1) * sizeof(VectorValue));
	bool *is_null = palloc((n + 1) * sizeof(bool));
	bool first = true;
	uint16 reg;

	for (int i = 0; i < n; i++)
	{
		uint16 left = build->mask;
		Expr *result = list_nth_node(CaseWhen, expr->args, i)->result;

		gpuagg_compile_node(build, list_nth(conditions, i), &when[i]);
		if (when[i].type != GPUAGG_VECTOR_BOOL)
		{
			n = 0;
			break;
		}
		is_null[i] = is_null_constant(result);
		build->mask = gpuagg_build_mask(build, left, when[i].reg, VECTOR_MASK_TRUE);
		if (!is_null[i])
			gpuagg_compile_node(build, result, &then[i]);
		build->mask = gpuagg_build_mask(build, left, when[i].reg, VECTOR_MASK_NOT_TRUE);
	}
	is_null[n] = expr->defresult == NULL || is_null_constant(expr->defresult);
	if (n > 0 && !is_null[n])
		gpuagg_compile_node(build, expr->defresult, &then[n]);
	build->mask = outer;
	if (n == 0)
		return false;

	for (int i = 0; i <= n; i++)
	{
		if (is_null[i])
			continue;
		if (!same_form(build, value, &then[i], first))
			return false;
		first = false;
	}
	if (first)
		return false;
	/* Now that the form is known. */
	for (int i = 0; i <= n; i++)
	{
		if (is_null[i])
			then[i].reg = gpuagg_build_null(build, value->type);
		else if (!gpuagg_compile_cast(build, &then[i], value->type))
			return false;
	}
	reg = then[n].reg;
	for (int i = n - 1; i >= 0; i--)
		reg = gpuagg_build_choice(build, GPUAGG_VECTOR_SELECT, value->type, then[i].reg, reg,
								  when[i].reg);
	value->reg = reg;
	return true;
}

static bool
compile_coalesce(VectorBuild *build, CoalesceExpr *expr, VectorValue *value)
{
	uint16 outer = build->mask;
	bool done = true;
	bool first = true;
	ListCell *lc;

	foreach (lc, expr->args)
	{
		VectorValue next;

		if (is_null_constant(lfirst(lc)))
			continue;
		if (!first)
			build->mask = gpuagg_build_mask(build, outer, value->reg, VECTOR_MASK_NULL);
		gpuagg_compile_node(build, lfirst(lc), &next);
		done = same_form(build, value, &next, first);
		if (!done)
			break;
		if (!first)
			value->reg = gpuagg_build_two(build, GPUAGG_VECTOR_COALESCE, value->type, value->reg,
										  next.reg);
		first = false;
	}
	build->mask = outer;
	return done && !first;
}

/* Whether values of the type are ordered as their registers are. */
static bool
is_ordered(Oid type, Oid collation, const VectorValue *value)
{
	switch (type)
	{
		case TEXTOID:
		case VARCHAROID:
			return gpuagg_collation_orders_bytes(collation);
		case BPCHAROID:
		case NAMEOID:
			return false;
		default:
			return value->type != GPUAGG_VECTOR_DATUM && value->type != GPUAGG_VECTOR_BOOL;
	}
}

static bool
compile_min_max(VectorBuild *build, MinMaxExpr *expr, VectorValue *value)
{
	bool first = true;
	ListCell *lc;

	foreach (lc, expr->args)
	{
		VectorValue next;

		if (is_null_constant(lfirst(lc)))
			continue;
		gpuagg_compile_node(build, lfirst(lc), &next);
		if (!is_ordered(expr->minmaxtype, expr->inputcollid, &next) ||
			!same_form(build, value, &next, first))
			return false;
		if (!first)
			value->reg = gpuagg_build_two(build,
										  expr->op == IS_LEAST ? GPUAGG_VECTOR_LEAST
															   : GPUAGG_VECTOR_GREATEST,
										  value->type, value->reg, next.reg);
		first = false;
	}
	return !first;
}

/* Another type with the same values; char(n) only from itself, as its registers are trimmed. */
static bool
compile_relabel(VectorBuild *build, RelabelType *relabel, VectorValue *value)
{
	Oid from = getBaseType(exprType((Node *) relabel->arg));
	Oid to = getBaseType(relabel->resulttype);
	VectorValue form;

	gpuagg_vector_form(relabel->resulttype, relabel->resulttypmod, &form);
	if (form.type == GPUAGG_VECTOR_DATUM && to != NUMERICOID)
		return false;
	if ((from == BPCHAROID) != (to == BPCHAROID))
		return false;
	gpuagg_compile_node(build, relabel->arg, value);
	if (value->scale < 0 && value->type != form.type)
		return false;
	value->width = form.width;
	return true;
}

/* ---- nodes ---- */

static bool
compile(VectorBuild *build, Expr *expr, VectorValue *value)
{
	switch (nodeTag(expr))
	{
		case T_Var:
			return compile_var(build, (Var *) expr, value);
		case T_Const:
			return compile_const(build, (Const *) expr, value);
		case T_RelabelType:
			return compile_relabel(build, (RelabelType *) expr, value);
		case T_OpExpr:
			return compile_op(build, (OpExpr *) expr, value);
		case T_FuncExpr:
			return compile_call(build, ((FuncExpr *) expr)->funcid,
								((FuncExpr *) expr)->inputcollid, ((FuncExpr *) expr)->args, value);
		case T_DistinctExpr:
			return compile_distinct(build, (DistinctExpr *) expr, value);
		case T_NullIfExpr:
			return compile_nullif(build, (NullIfExpr *) expr, value);
		case T_ScalarArrayOpExpr:
			return compile_array_op(build, (ScalarArrayOpExpr *) expr, value);
		case T_BoolExpr:
			return compile_bool(build, (BoolExpr *) expr, value);
		case T_NullTest:
			return compile_null_test(build, (NullTest *) expr, value);
		case T_BooleanTest:
			return compile_boolean_test(build, (BooleanTest *) expr, value);
		case T_CaseExpr:
			return compile_case(build, (CaseExpr *) expr, value);
		case T_CoalesceExpr:
			return compile_coalesce(build, (CoalesceExpr *) expr, value);
		case T_MinMaxExpr:
			return compile_min_max(build, (MinMaxExpr *) expr, value);
		default:
			return false;
	}
}

static void
compile_row(VectorBuild *build, Expr *expr, VectorValue *value)
{
	gpuagg_vector_form(exprType((Node *) expr), exprTypmod((Node *) expr), value);
	gpuagg_build_row(build, expr, has_no_column(expr), value);
}

/* What has no column: a parameter, or evaluated by the first row that reaches it. */
static void
compile_once(VectorBuild *build, Expr *expr, VectorValue *value)
{
	gpuagg_vector_form(exprType((Node *) expr), exprTypmod((Node *) expr), value);
	if (value->type != GPUAGG_VECTOR_DATUM &&
		(build->mask == GPUAGG_VECTOR_NONE || is_harmless(expr)))
		gpuagg_build_parameter(build, expr, value);
	else
		gpuagg_build_row(build, expr, true, value);
}

void
gpuagg_compile_node(VectorBuild *build, Expr *expr, VectorValue *value)
{
	int columns = build->column_uses;
	int rows = build->row_uses;

	if (!IsA(expr, Const) && has_no_column(expr))
	{
		compile_once(build, expr, value);
		return;
	}
	if (build->ncode > MANY_INSTRUCTIONS || build->nconstants > MANY_CONSTANTS ||
		!compile(build, expr, value))
	{
		/* What was tried before does not count. */
		build->column_uses = columns;
		build->row_uses = rows;
		compile_row(build, expr, value);
	}
	else if (build->row_uses > rows && build->column_uses == columns)
	{
		build->row_uses = rows;
		compile_row(build, expr, value);
	}
}

/* ---- the interface ---- */

VectorCompiler *
gpuagg_compiler_make(Oid relation, Index varno)
{
	VectorCompiler *compiler = palloc0(sizeof(VectorCompiler));

	compiler->program.filter = GPUAGG_VECTOR_NONE;
	compiler->build = gpuagg_build_make(compiler, varno);
	return compiler;
}

static void
note_user_function(VectorCompiler *compiler, Expr *expr)
{
	if (!compiler->user_function)
		compiler->user_function = user_function_walker((Node *) expr, NULL);
}

void
gpuagg_compile_filter(VectorCompiler *compiler, List *quals)
{
	VectorBuild *build = compiler->build;
	ListCell *lc;

	Assert(build->ncode == 0);
	build->in_filter = true;
	foreach (lc, quals)
	{
		Expr *qual = lfirst(lc);
		VectorValue value;

		note_user_function(compiler, qual);
		gpuagg_compile_node(build, qual, &value);
		build->mask = gpuagg_build_mask(build, build->mask, value.reg, VECTOR_MASK_TRUE);
	}
	build->filter = build->mask;
	build->mask = GPUAGG_VECTOR_NONE;
	build->nfilter = build->ncode;
	build->in_filter = false;
}

/* A char(n) whose n is not known cannot be given back without its blanks. */
static bool
can_be_given_back(Expr *expr, const VectorValue *value)
{
	return getBaseType(exprType((Node *) expr)) != BPCHAROID || value->width >= 0;
}

VectorValue
gpuagg_compile_value(VectorCompiler *compiler, Expr *expr, Expr *where)
{
	VectorBuild *build = compiler->build;
	VectorValue value;
	int output = 0;
	ListCell *lc;

	if (where != NULL)
	{
		VectorValue condition;

		note_user_function(compiler, where);
		gpuagg_compile_node(build, where, &condition);
		build->mask = condition.reg;
	}
	note_user_function(compiler, expr);
	gpuagg_compile_node(build, expr, &value);
	if (!can_be_given_back(expr, &value))
	{
		gpuagg_vector_form(InvalidOid, -1, &value);
		gpuagg_build_row(build, expr, has_no_column(expr), &value);
	}
	build->mask = GPUAGG_VECTOR_NONE;

	foreach (lc, build->outputs)
	{
		if (lfirst_int(lc) == value.reg)
			break;
		output++;
	}
	if (lc == NULL)
		build->outputs = lappend_int(build->outputs, value.reg);
	value.reg = (uint16) output;
	return value;
}

bool
gpuagg_compile_finish(VectorCompiler *compiler)
{
	return gpuagg_build_finish(compiler->build);
}
