/*
 * vector_case.c
 *	  CASE, COALESCE, GREATEST and LEAST as instructions.
 */
#include "spec/vector_rule.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

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
	all->own_scales |= next->own_scales;
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

bool
gpuagg_compile_case(VectorBuild *build, CaseExpr *expr, VectorValue *value)
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

bool
gpuagg_compile_coalesce(VectorBuild *build, CoalesceExpr *expr, VectorValue *value)
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
	switch (getBaseType(type))
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

bool
gpuagg_compile_min_max(VectorBuild *build, MinMaxExpr *expr, VectorValue *value)
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
