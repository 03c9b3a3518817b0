/*
 * vector_string.c
 *	  Calls of functions over strings as instructions.
 *
 * With a deterministic collation, strings are equal when their bytes are; in the
 * collation C, their order is that of the bytes.
 */
#include "spec/vector_rule.h"

#include "mb/pg_wchar.h"
#include "utils/lsyscache.h"

#include "common/vector_text.h"

bool
gpuagg_collation_is_bytes(Oid collation)
{
	return OidIsValid(collation) && get_collation_isdeterministic(collation);
}

bool
gpuagg_collation_orders_bytes(Oid collation)
{
	return OidIsValid(collation) && compat_collation_is_c(collation);
}

static bool
two_strings(const VectorCall *call, VectorValue *value)
{
	VectorValue a;
	VectorValue b;

	gpuagg_compile_argument(call, 0, &a);
	gpuagg_compile_argument(call, 1, &b);
	if (a.type != GPUAGG_VECTOR_BYTES || b.type != GPUAGG_VECTOR_BYTES)
		return false;
	gpuagg_value_bool(value, gpuagg_build_two(call->build, call->function->op, GPUAGG_VECTOR_BYTES,
											  a.reg, b.reg));
	return true;
}

bool
gpuagg_rule_text_equal(const VectorCall *call, VectorValue *value)
{
	return gpuagg_collation_is_bytes(call->collation) && two_strings(call, value);
}

bool
gpuagg_rule_text_compare(const VectorCall *call, VectorValue *value)
{
	return gpuagg_collation_orders_bytes(call->collation) && two_strings(call, value);
}

/*
 * LIKE a constant pattern that vector programs know.  Encodings other than UTF-8 and
 * those of single bytes go row by row.
 */
bool
gpuagg_rule_like(const VectorCall *call, VectorValue *value)
{
	VectorBuild *build = call->build;
	const Const *constant = lsecond(call->args);
	GpuaggVectorInstruction like = {.op = GPUAGG_VECTOR_LIKE,
									.type = GPUAGG_VECTOR_BYTES,
									.b = GPUAGG_VECTOR_NONE,
									.c = GPUAGG_VECTOR_NONE};
	VectorValue pattern;
	VectorValue a;
	GpuaggLike pieces;
	uint16 reg;

	if (!IsA(constant, Const) || constant->constisnull ||
		!gpuagg_collation_is_bytes(call->collation) ||
		(GetDatabaseEncoding() != PG_UTF8 && pg_database_encoding_max_length() != 1))
		return false;
	gpuagg_compile_node(build, (Expr *) constant, &pattern);
	gpuagg_compile_argument(call, 0, &a);
	if (pattern.type != GPUAGG_VECTOR_BYTES || a.type != GPUAGG_VECTOR_BYTES)
		return false;
	if (!gpuagg_like_parse(gpuagg_build_is_constant(build, pattern.reg)->u.bytes, &pieces))
		return false;
	like.a = a.reg;
	like.arg = build->code[pattern.reg].arg;
	reg = gpuagg_build_emit(build, like);
	if (call->function->to != 0)
		reg = gpuagg_build_one(build, GPUAGG_VECTOR_NOT, GPUAGG_VECTOR_BOOL, reg);
	gpuagg_value_bool(value, reg);
	return true;
}
