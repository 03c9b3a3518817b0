/*
 * vector_in.c
 *	  Comparisons with the elements of an array as instructions: IN and the like.
 */
#include "spec/vector_rule.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "common/power_of_ten.h"

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
		gpuagg_vector_constant_form(type, datums[i], false, &form);
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
	if (n == 0 || n > PG_UINT16_MAX || build->nconstants + n > VECTOR_MANY_CONSTANTS)
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

		if (!gpuagg_compile_call(build, expr->opfuncid, expr->inputcollid,
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

bool
gpuagg_compile_array_op(VectorBuild *build, ScalarArrayOpExpr *expr, VectorValue *value)
{
	Node *array = lsecond(expr->args);

	set_sa_opfuncid(expr);
	if (IsA(array, Const))
		return compile_constant_array(build, expr, value);
	return IsA(array, ArrayExpr) && compile_array_of(build, expr, value);
}
