/*
 * vector_number.c
 *	  Calls of functions over numbers as instructions.
 *
 * Decimals: a value of precision p has at most p digits; below 19 digits any is an
 * INT64, below 39 an INT128.  Precisions of 19 in INT64 and of 39 in INT128 stand
 * for whatever the type holds.  Scales are those of core's results.
 */
#include "spec/vector_rule.h"

#include "utils/numeric.h"

#include "common/power_of_ten.h"

static int
digits_of_type(int type)
{
	switch (type)
	{
		case GPUAGG_VECTOR_INT16:
			return 5;
		case GPUAGG_VECTOR_INT32:
			return 10;
		case GPUAGG_VECTOR_INT64:
			return GPUAGG_INT64_DIGITS + 1;
		default:
			return GPUAGG_INT128_DIGITS + 1;
	}
}

void
gpuagg_value_bool(VectorValue *value, uint16 reg)
{
	*value = (VectorValue){.reg = reg, .type = GPUAGG_VECTOR_BOOL, .scale = -1, .width = -1};
}

static void
plain(VectorValue *value, uint16 reg, GpuaggVectorType type)
{
	*value = (VectorValue){.reg = reg, .type = type, .scale = -1, .width = -1};
}

static void
decimal(VectorValue *value, uint16 reg, GpuaggVectorType type, int precision, int scale)
{
	*value = (VectorValue){.reg = reg,
						   .type = type,
						   .scale = scale,
						   .precision = Min(precision, digits_of_type(type)),
						   .width = -1};
}

static bool
is_number(int type)
{
	return gpuagg_vector_is_integer(type) || gpuagg_vector_type_is_float(type);
}

/* An instruction that is exact if the result is known to fit its type. */
static uint16
two_digits(VectorBuild *build, GpuaggVectorOp op, GpuaggVectorType type, uint16 a, uint16 b,
		   int precision)
{
	GpuaggVectorInstruction instruction = {.op = op,
										   .type = type,
										   .a = a,
										   .b = b,
										   .c = GPUAGG_VECTOR_NONE};

	return precision < digits_of_type(type) ? gpuagg_build_emit_exact(build, instruction)
											: gpuagg_build_emit(build, instruction);
}

/* ---- casts ---- */

static bool
constant_fits(__int128 integer, GpuaggVectorType type)
{
	switch (type)
	{
		case GPUAGG_VECTOR_INT16:
			return integer >= PG_INT16_MIN && integer <= PG_INT16_MAX;
		case GPUAGG_VECTOR_INT32:
			return integer >= PG_INT32_MIN && integer <= PG_INT32_MAX;
		case GPUAGG_VECTOR_INT64:
			return integer >= PG_INT64_MIN && integer <= PG_INT64_MAX;
		default:
			return true;
	}
}

/* Whether a cast gives every value of the type. */
static bool
cast_is_exact(GpuaggVectorType from, GpuaggVectorType to)
{
	if (gpuagg_vector_is_integer(from))
		return from < to;
	return from == GPUAGG_VECTOR_FLOAT32 && to == GPUAGG_VECTOR_FLOAT64;
}

bool
gpuagg_compile_cast(VectorBuild *build, VectorValue *value, GpuaggVectorType to)
{
	GpuaggVectorType from = value->type;
	const GpuaggVectorConstant *constant;
	GpuaggVectorInstruction cast = {.op = GPUAGG_VECTOR_CAST,
									.type = from,
									.to = to,
									.a = value->reg,
									.b = GPUAGG_VECTOR_NONE,
									.c = GPUAGG_VECTOR_NONE};

	if (from == to)
		return true;
	if (!is_number(from) || !is_number(to))
		return false;
	value->type = to;
	constant = gpuagg_build_is_constant(build, value->reg);
	if (constant != NULL && !constant->isnull && gpuagg_vector_is_integer(from) &&
		gpuagg_vector_is_integer(to) && constant_fits(gpuagg_int128_wide(constant->u.integer), to))
	{
		GpuaggVectorConstant other = *constant;

		other.type = to;
		value->reg = gpuagg_build_constant(build, &other);
	}
	else if (cast_is_exact(from, to) || (value->scale >= 0 && gpuagg_vector_is_integer(to) &&
										 value->precision < digits_of_type(to)))
		value->reg = gpuagg_build_emit_exact(build, cast);
	else
		value->reg = gpuagg_build_emit(build, cast);
	return true;
}

bool
gpuagg_rule_cast(const VectorCall *call, VectorValue *value)
{
	VectorValue a;

	gpuagg_compile_argument(call, 0, &a);
	if (a.type != call->function->type || !gpuagg_compile_cast(call->build, &a, call->function->to))
		return false;
	plain(value, a.reg, call->function->to);
	return true;
}

bool
gpuagg_rule_same(const VectorCall *call, VectorValue *value)
{
	gpuagg_compile_argument(call, 0, value);
	value->width = -1;
	return value->type == call->function->type || (call->function->type == 0 && value->scale >= 0);
}

/* true is 1, false 0 */
bool
gpuagg_rule_bool_to_int(const VectorCall *call, VectorValue *value)
{
	VectorBuild *build = call->build;
	GpuaggVectorType to = call->function->to;
	VectorValue a;
	uint16 number;

	gpuagg_compile_argument(call, 0, &a);
	if (a.type != GPUAGG_VECTOR_BOOL)
		return false;
	number = gpuagg_build_choice(build, GPUAGG_VECTOR_SELECT, to,
								 gpuagg_build_integer(build, to, 1),
								 gpuagg_build_integer(build, to, 0), a.reg);
	number = gpuagg_build_choice(build, GPUAGG_VECTOR_NULLIF, to, number, GPUAGG_VECTOR_NONE,
								 gpuagg_build_one(build, GPUAGG_VECTOR_IS_NULL, GPUAGG_VECTOR_BOOL,
												  a.reg));
	plain(value, number, to);
	return true;
}

bool
gpuagg_rule_int_to_bool(const VectorCall *call, VectorValue *value)
{
	VectorBuild *build = call->build;
	VectorValue a;

	gpuagg_compile_argument(call, 0, &a);
	if (a.type != call->function->type)
		return false;
	gpuagg_value_bool(value, gpuagg_build_two(build, GPUAGG_VECTOR_NE, a.type, a.reg,
											  gpuagg_build_integer(build, a.type, 0)));
	return true;
}

/* ---- integers, floats and what is stored as one ---- */

static bool
is_comparison(int op)
{
	return op >= GPUAGG_VECTOR_EQ && op <= GPUAGG_VECTOR_GE;
}

bool
gpuagg_rule_two(const VectorCall *call, VectorValue *value)
{
	int op = call->function->op;
	GpuaggVectorType type = call->function->type;
	VectorValue a;
	VectorValue b;
	uint16 reg;

	gpuagg_compile_argument(call, 0, &a);
	gpuagg_compile_argument(call, 1, &b);
	if (!gpuagg_compile_cast(call->build, &a, type) || !gpuagg_compile_cast(call->build, &b, type))
		return false;
	reg = gpuagg_build_two(call->build, op, type, a.reg, b.reg);
	plain(value, reg, is_comparison(op) ? GPUAGG_VECTOR_BOOL : type);
	return true;
}

bool
gpuagg_rule_one(const VectorCall *call, VectorValue *value)
{
	VectorValue a;

	gpuagg_compile_argument(call, 0, &a);
	if (a.type != call->function->type)
		return false;
	plain(value, gpuagg_build_one(call->build, call->function->op, a.type, a.reg), a.type);
	return true;
}

/* ---- decimals ---- */

static bool
two_decimals(const VectorCall *call, VectorValue *a, VectorValue *b)
{
	gpuagg_compile_argument(call, 0, a);
	gpuagg_compile_argument(call, 1, b);
	return a->scale >= 0 && b->scale >= 0;
}

/* The type for results of so many digits from values of these types. */
static GpuaggVectorType
type_for(const VectorBuild *build, const VectorValue *a, const VectorValue *b, int precision)
{
	if (a->type == GPUAGG_VECTOR_INT128 || b->type == GPUAGG_VECTOR_INT128)
		return GPUAGG_VECTOR_INT128;
	return precision <= GPUAGG_INT64_DIGITS || build->compiler->narrow ? GPUAGG_VECTOR_INT64
																	   : GPUAGG_VECTOR_INT128;
}

bool
gpuagg_compile_rescale(VectorBuild *build, VectorValue *value, int scale)
{
	int more = scale - value->scale;
	int precision = value->precision + more;
	const GpuaggVectorConstant *constant;
	GpuaggVectorType type;
	bool own_scales;

	Assert(more >= 0);
	if (more == 0)
		return true;
	if (more > GPUAGG_INT128_DIGITS)
		return false;
	type = type_for(build, value, value, precision);
	if (type == GPUAGG_VECTOR_INT64 && more > GPUAGG_INT64_DIGITS)
		type = GPUAGG_VECTOR_INT128;
	constant = gpuagg_build_is_constant(build, value->reg);
	if (constant != NULL && (constant->isnull || precision <= GPUAGG_INT128_DIGITS))
	{
		GpuaggVectorConstant other = *constant;

		if (precision > GPUAGG_INT64_DIGITS)
			type = GPUAGG_VECTOR_INT128;
		other.type = type;
		if (!other.isnull)
			other.u.integer = gpuagg_int128_narrow(gpuagg_int128_wide(constant->u.integer) *
												   gpuagg_power_of_ten(more));
		decimal(value, gpuagg_build_constant(build, &other), type, precision, scale);
		return true;
	}
	if (!gpuagg_compile_cast(build, value, type))
		return false;
	own_scales = value->own_scales;
	decimal(value,
			two_digits(build, GPUAGG_VECTOR_MUL, type, value->reg,
					   gpuagg_build_integer(build, type, gpuagg_power_of_ten(more)), precision),
			type, precision, scale);
	value->own_scales = own_scales;
	return true;
}

bool
gpuagg_compile_same_decimals(VectorBuild *build, VectorValue *a, VectorValue *b)
{
	int scale = Max(a->scale, b->scale);

	if (!gpuagg_compile_rescale(build, a, scale) || !gpuagg_compile_rescale(build, b, scale))
		return false;
	if (a->type == b->type)
		return true;
	return gpuagg_compile_cast(build, a->type < b->type ? a : b, Max(a->type, b->type));
}

bool
gpuagg_rule_int_to_decimal(const VectorCall *call, VectorValue *value)
{
	VectorValue a;
	int digits;

	gpuagg_compile_argument(call, 0, &a);
	if (a.type != call->function->type)
		return false;
	digits = digits_of_type(a.type);
	if (!gpuagg_compile_cast(call->build, &a, GPUAGG_VECTOR_INT64))
		return false;
	decimal(value, a.reg, GPUAGG_VECTOR_INT64, digits, 0);
	return true;
}

bool
gpuagg_rule_decimal_add(const VectorCall *call, VectorValue *value)
{
	VectorBuild *build = call->build;
	VectorValue a;
	VectorValue b;
	GpuaggVectorType type;
	int precision;

	if (!two_decimals(call, &a, &b) || !gpuagg_compile_same_decimals(build, &a, &b))
		return false;
	precision = Max(a.precision, b.precision) + 1;
	type = type_for(build, &a, &b, precision);
	if (!gpuagg_compile_cast(build, &a, type) || !gpuagg_compile_cast(build, &b, type))
		return false;
	decimal(value, two_digits(build, call->function->op, type, a.reg, b.reg, precision), type,
			precision, a.scale);
	value->own_scales = a.own_scales || b.own_scales;
	return true;
}

bool
gpuagg_rule_decimal_multiply(const VectorCall *call, VectorValue *value)
{
	VectorBuild *build = call->build;
	VectorValue a;
	VectorValue b;
	GpuaggVectorType type;
	int precision;
	uint16 reg;

	if (!two_decimals(call, &a, &b))
		return false;
	precision = a.precision + b.precision;
	type = type_for(build, &a, &b, precision);
	if (type == GPUAGG_VECTOR_INT128 && a.type == GPUAGG_VECTOR_INT64 &&
		b.type == GPUAGG_VECTOR_INT64)
		reg = gpuagg_build_two(build, GPUAGG_VECTOR_MUL_WIDE, GPUAGG_VECTOR_INT64, a.reg, b.reg);
	else
	{
		if (!gpuagg_compile_cast(build, &a, type) || !gpuagg_compile_cast(build, &b, type))
			return false;
		reg = two_digits(build, GPUAGG_VECTOR_MUL, type, a.reg, b.reg, precision);
	}
	decimal(value, reg, type, precision, a.scale + b.scale);
	value->own_scales = a.own_scales || b.own_scales;
	return a.scale + b.scale <= GPUAGG_INT128_DIGITS;
}

bool
gpuagg_rule_decimal_compare(const VectorCall *call, VectorValue *value)
{
	VectorValue a;
	VectorValue b;

	if (!two_decimals(call, &a, &b) || !gpuagg_compile_same_decimals(call->build, &a, &b))
		return false;
	gpuagg_value_bool(value,
					  gpuagg_build_two(call->build, call->function->op, a.type, a.reg, b.reg));
	return true;
}

bool
gpuagg_rule_decimal_sign(const VectorCall *call, VectorValue *value)
{
	VectorValue a;

	gpuagg_compile_argument(call, 0, &a);
	if (a.scale < 0)
		return false;
	*value = a;
	value->reg = two_digits(call->build, call->function->op, a.type, a.reg, GPUAGG_VECTOR_NONE,
							a.precision);
	return true;
}

/* Fewer decimal places, half away from zero; false: no type has the divisor. */
static bool
round_to(VectorBuild *build, VectorValue *value, int scale)
{
	int less = value->scale - scale;
	int precision = Max(value->precision - less + 1, 1);
	uint16 divisor;

	if (less > GPUAGG_INT128_DIGITS)
		return false;
	if (less > GPUAGG_INT64_DIGITS && value->type == GPUAGG_VECTOR_INT64)
		gpuagg_compile_cast(build, value, GPUAGG_VECTOR_INT128);
	divisor = gpuagg_build_integer(build, value->type, gpuagg_power_of_ten(less));
	decimal(value, two_digits(build, GPUAGG_VECTOR_DIV_ROUND, value->type, value->reg, divisor, 0),
			value->type, precision, scale);
	return true;
}

/* The value of an argument that is an integer constant. */
static bool
constant_integer(const VectorCall *call, int number, int *integer)
{
	const Const *constant = list_nth(call->args, number);

	if (!IsA(constant, Const) || constant->constisnull || constant->consttype != INT4OID)
		return false;
	*integer = DatumGetInt32(constant->constvalue);
	return true;
}

/* numeric(p, s) of a numeric */
bool
gpuagg_rule_decimal_typmod(const VectorCall *call, VectorValue *value)
{
	VectorBuild *build = call->build;
	VectorValue a;
	VectorValue form;
	int typmod;

	gpuagg_compile_argument(call, 0, &a);
	if (a.scale < 0 || !constant_integer(call, 1, &typmod) || gpuagg_typmod_scale(typmod) < 0)
		return false;
	gpuagg_vector_form(NUMERICOID, typmod, &form);
	if (form.scale < 0)
		return false;
	if (form.scale >= a.scale)
	{
		if (!gpuagg_compile_rescale(build, &a, form.scale))
			return false;
	}
	else if (!round_to(build, &a, form.scale))
		return false;
	if (a.precision > form.precision)
	{
		__int128 most = gpuagg_power_of_ten(form.precision) - 1;

		if (a.type == GPUAGG_VECTOR_INT128 || form.precision <= GPUAGG_INT64_DIGITS)
			a.reg = gpuagg_build_in_range(build, a.type, a.reg, -most, most);
		a.precision = form.precision;
	}
	if (!gpuagg_compile_cast(build, &a, form.type))
		return false;
	decimal(value, a.reg, form.type, a.precision, form.scale);
	return true;
}

/* round(numeric, constant) */
bool
gpuagg_rule_decimal_round(const VectorCall *call, VectorValue *value)
{
	int scale;

	gpuagg_compile_argument(call, 0, value);
	if (value->scale < 0 || !constant_integer(call, 1, &scale) || scale < 0 ||
		scale > GPUAGG_INT128_DIGITS)
		return false;
	if (scale >= value->scale ? !gpuagg_compile_rescale(call->build, value, scale)
							  : !round_to(call->build, value, scale))
		return false;
	value->own_scales = false;
	return true;
}

bool
gpuagg_rule_decimal_to_int(const VectorCall *call, VectorValue *value)
{
	VectorValue a;

	gpuagg_compile_argument(call, 0, &a);
	if (a.scale < 0)
		return false;
	if (a.scale > 0 && !round_to(call->build, &a, 0))
		return false;
	if (!gpuagg_compile_cast(call->build, &a, call->function->to))
		return false;
	plain(value, a.reg, call->function->to);
	return true;
}

bool
gpuagg_rule_decimal_to_float(const VectorCall *call, VectorValue *value)
{
	GpuaggVectorInstruction instruction = {.op = GPUAGG_VECTOR_DECIMAL_TO_FLOAT,
										   .b = GPUAGG_VECTOR_NONE,
										   .c = GPUAGG_VECTOR_NONE};
	VectorValue a;

	gpuagg_compile_argument(call, 0, &a);
	/* most of those with more digits than a double's are row by row anyway */
	if (a.scale < 0 || a.own_scales)
		return false;
	instruction.type = a.type;
	instruction.a = a.reg;
	instruction.arg = a.scale;
	plain(value, gpuagg_build_emit(call->build, instruction), GPUAGG_VECTOR_FLOAT64);
	return true;
}
