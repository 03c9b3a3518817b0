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
 * would evaluate it for the first row of its section, or if that has no effect but
 * an error: then the executor evaluates all rows.  Otherwise it is evaluated once by the
 * first row that its mask lets through.
 */
#include "spec/vector_rule.h"

#include <ctype.h>

#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "common/power_of_ten.h"

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

bool
gpuagg_compile_has_no_column(Expr *expr)
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

/* Types whose functions, core's, compute with nothing but their arguments and settings. */
static bool
is_plain_type(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case CASHOID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case INTERVALOID:
			return true;
		default:
			return false;
	}
}

/*
 * Whether a call of the function may do something else than compute.  An error would leave statements
 * of a function in SQL half done.
 */
static bool
may_have_effects(Oid function, void *context)
{
	HeapTuple tuple;
	bool internal;

	if (is_users(function, context) || function == F_TXID_CURRENT)
		return true;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	internal = HeapTupleIsValid(tuple) &&
			   ((Form_pg_proc) GETSTRUCT(tuple))->prolang == INTERNALlanguageId;
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return !internal;
}

static bool
effect_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, List))
		return expression_tree_walker(node, effect_walker, context);
	if (!is_plain_type(exprType(node)) || check_functions_in_node(node, may_have_effects, context))
		return true;
	switch (nodeTag(node))
	{
		case T_Const:
		case T_Param:
		case T_SQLValueFunction:
		case T_RelabelType:
		case T_FuncExpr:
		case T_OpExpr:
			return (IsA(node, Param) && ((const Param *) node)->paramkind != PARAM_EXTERN) ||
				   expression_tree_walker(node, effect_walker, context);
		default:
			return true;
	}
}

/* Whether evaluating it has no effect but its value, or an error that may be forgotten. */
static bool
only_computes(const Expr *expr)
{
	return !effect_walker((Node *) expr, NULL);
}

/* ---- constants and columns ---- */

/* A numeric constant has a scale and digits of its own. */
void
gpuagg_vector_constant_form(Oid type, Datum datum, bool isnull, VectorValue *value)
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
	if (digits > GPUAGG_INT128_DIGITS ||
		(point != NULL && strlen(point + 1) > GPUAGG_INT128_DIGITS))
		return;
	value->scale = point != NULL ? (int) strlen(point + 1) : 0;
	value->precision = Max(digits, 1);
	value->type = digits <= GPUAGG_INT64_DIGITS ? GPUAGG_VECTOR_INT64 : GPUAGG_VECTOR_INT128;
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

	gpuagg_vector_constant_form(constant->consttype, datum, constant->constisnull, value);
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
	/* a sum, which may have any value */
	if (value->precision == GPUAGG_INT128_DIGITS)
		value->precision++;
	gpuagg_build_column(build, var->varattno, value);
	return true;
}

/* ---- calls ---- */

bool
gpuagg_compile_call(VectorBuild *build, Oid function, Oid collation, List *args, VectorValue *value)
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
	return gpuagg_compile_call(build, op->opfuncid, op->inputcollid, op->args, value);
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

/* ---- nodes ---- */

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
			return gpuagg_compile_call(build, ((FuncExpr *) expr)->funcid,
									   ((FuncExpr *) expr)->inputcollid, ((FuncExpr *) expr)->args,
									   value);
		case T_DistinctExpr:
			return compile_distinct(build, (DistinctExpr *) expr, value);
		case T_NullIfExpr:
			return compile_nullif(build, (NullIfExpr *) expr, value);
		case T_ScalarArrayOpExpr:
			return gpuagg_compile_array_op(build, (ScalarArrayOpExpr *) expr, value);
		case T_BoolExpr:
			return compile_bool(build, (BoolExpr *) expr, value);
		case T_NullTest:
			return compile_null_test(build, (NullTest *) expr, value);
		case T_BooleanTest:
			return compile_boolean_test(build, (BooleanTest *) expr, value);
		case T_CaseExpr:
			return gpuagg_compile_case(build, (CaseExpr *) expr, value);
		case T_CoalesceExpr:
			return gpuagg_compile_coalesce(build, (CoalesceExpr *) expr, value);
		case T_MinMaxExpr:
			return gpuagg_compile_min_max(build, (MinMaxExpr *) expr, value);
		default:
			return false;
	}
}

static void
compile_row(VectorBuild *build, Expr *expr, VectorValue *value)
{
	gpuagg_vector_form(exprType((Node *) expr), exprTypmod((Node *) expr), value);
	gpuagg_build_row(build, expr, gpuagg_compile_has_no_column(expr), value);
}

/* What has no column: a parameter, or evaluated by the first row that reaches it. */
static void
compile_once(VectorBuild *build, Expr *expr, VectorValue *value)
{
	bool early = build->mask != GPUAGG_VECTOR_NONE && !is_harmless(expr);

	gpuagg_vector_form(exprType((Node *) expr), exprTypmod((Node *) expr), value);
	if (value->type == GPUAGG_VECTOR_DATUM && IsA(expr, Param))
		gpuagg_parameter_form(build->compiler->estate, (const Param *) expr, value);
	if (value->type != GPUAGG_VECTOR_DATUM && (!early || only_computes(expr)))
		gpuagg_build_parameter(build, expr, early, value);
	else
		gpuagg_build_row(build, expr, true, value);
}

static bool
can_be_early(Expr *expr)
{
	return gpuagg_compile_has_no_column(expr) && only_computes(expr);
}

bool
gpuagg_compile_early(VectorBuild *build, Expr *expr, VectorValue *value)
{
	gpuagg_vector_form(exprType((Node *) expr), exprTypmod((Node *) expr), value);
	if (value->type == GPUAGG_VECTOR_DATUM || !can_be_early(expr))
		return false;
	gpuagg_build_parameter(build, expr, true, value);
	return true;
}

bool
gpuagg_compile_converted(VectorBuild *build, Expr *expr, const VectorConversion *conversion,
						 int *constant)
{
	if (!can_be_early(expr))
		return false;
	*constant = gpuagg_build_converted(build, expr, conversion);
	return true;
}

/* An integer as numeric: its scale is known before its value is. */
static bool
is_integer_as_numeric(const Expr *expr)
{
	const FuncExpr *call = (const FuncExpr *) expr;

	return IsA(expr, FuncExpr) &&
		   (call->funcid == F_NUMERIC_INT2 || call->funcid == F_NUMERIC_INT4 ||
			call->funcid == F_NUMERIC_INT8);
}

/* An expression of parameters whose scale may follow from theirs. */
static bool
has_scale_of_parameters(const VectorBuild *build, const Expr *expr)
{
	VectorValue form;

	if (build->compiler->estate == NULL || IsA(expr, Param) ||
		exprType((const Node *) expr) != NUMERICOID)
		return false;
	gpuagg_vector_form(NUMERICOID, exprTypmod((const Node *) expr), &form);
	return form.type == GPUAGG_VECTOR_DATUM;
}

static void
compile_new(VectorBuild *build, Expr *expr, VectorValue *value)
{
	int columns = build->column_uses;
	int rows = build->row_uses;

	if (!IsA(expr, Const) && !is_integer_as_numeric(expr) &&
		!has_scale_of_parameters(build, expr) && gpuagg_compile_has_no_column(expr))
	{
		compile_once(build, expr, value);
		return;
	}
	if (build->ncode > VECTOR_MANY_INSTRUCTIONS || build->nconstants > VECTOR_MANY_CONSTANTS ||
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

/* What has been compiled is not compiled again: some nodes compile an operand more than once. */
void
gpuagg_compile_node(VectorBuild *build, Expr *expr, VectorValue *value)
{
	int columns = build->column_uses;
	int rows = build->row_uses;
	VectorMemo *memo;

	check_stack_depth();
	for (int i = build->nmemos - 1; i >= 0; i--)
	{
		memo = &build->memos[i];
		if (memo->expr == expr && gpuagg_build_covers(build, memo->mask))
		{
			*value = memo->value;
			build->column_uses += memo->columns;
			build->row_uses += memo->rows;
			return;
		}
	}
	compile_new(build, expr, value);
	if (build->nmemos == build->max_memos)
	{
		build->max_memos *= 2;
		build->memos = repalloc(build->memos, build->max_memos * sizeof(VectorMemo));
	}
	memo = &build->memos[build->nmemos++];
	memo->expr = expr;
	memo->mask = build->mask;
	memo->value = *value;
	memo->columns = build->column_uses - columns;
	memo->rows = build->row_uses - rows;
}

/* ---- the interface ---- */

VectorCompiler *
gpuagg_compiler_make(Index varno, const EState *estate)
{
	VectorCompiler *compiler = palloc0(sizeof(VectorCompiler));

	compiler->program.filter = GPUAGG_VECTOR_NONE;
	compiler->estate = estate;
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
		build->conjunct = build->mask;
		gpuagg_compile_node(build, qual, &value);
		build->mask = gpuagg_build_mask(build, build->mask, value.reg, VECTOR_MASK_TRUE);
	}
	build->filter = build->mask;
	build->mask = GPUAGG_VECTOR_NONE;
	build->conjunct = GPUAGG_VECTOR_NONE;
	build->nfilter = build->ncode;
	build->in_filter = false;
}

/*
 * A char(n) whose n is not known cannot be given back without its blanks, nor a decimal without its
 * display scale.
 */
static bool
can_be_given_back(const VectorBuild *build, Expr *expr, const VectorValue *value)
{
	if (value->own_scales)
		return build->compiler->gives_own_scales;
	return getBaseType(exprType((Node *) expr)) != BPCHAROID || value->width >= 0;
}

/* A value as the executor has it. */
static void
compile_datum(VectorBuild *build, Expr *expr, VectorValue *value)
{
	bool is_column = value->own_scales && IsA(expr, Var);

	gpuagg_vector_form(InvalidOid, -1, value);
	if (is_column)
		gpuagg_build_column(build, ((const Var *) expr)->varattno, value);
	else
		gpuagg_build_row(build, expr, gpuagg_compile_has_no_column(expr), value);
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
	if (!can_be_given_back(build, expr, &value))
		compile_datum(build, expr, &value);
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
