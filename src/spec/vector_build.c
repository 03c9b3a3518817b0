/*
 * vector_build.c
 *	  Instructions of a vector program, and what they refer to, while it is compiled.
 */
#include "spec/vector_build.h"

VectorBuild *
gpuagg_build_make(VectorCompiler *compiler, Index varno)
{
	VectorBuild *build = palloc0(sizeof(VectorBuild));

	build->compiler = compiler;
	build->varno = varno;
	build->max_code = 64;
	build->code = palloc(build->max_code * sizeof(GpuaggVectorInstruction));
	build->max_constants = 16;
	build->constants = palloc(build->max_constants * sizeof(GpuaggVectorConstant));
	build->is_parameter = palloc(build->max_constants * sizeof(bool));
	build->max_memos = 32;
	build->memos = palloc(build->max_memos * sizeof(VectorMemo));
	build->filter = GPUAGG_VECTOR_NONE;
	build->mask = GPUAGG_VECTOR_NONE;
	build->conjunct = GPUAGG_VECTOR_NONE;
	return build;
}

/* ---- masks ---- */

/* Whether `outer` is true wherever `inner` is. */
static bool
implies(const VectorBuild *build, uint16 inner, uint16 outer)
{
	const GpuaggVectorInstruction *made;

	if (outer == GPUAGG_VECTOR_NONE || inner == outer)
		return true;
	if (inner == GPUAGG_VECTOR_NONE)
		return false;
	made = &build->code[inner];
	return made->op == GPUAGG_VECTOR_AND &&
		   (implies(build, made->a, outer) || implies(build, made->b, outer));
}

/* Rows of the second section have passed the filter. */
bool
gpuagg_build_covers(const VectorBuild *build, uint16 mask)
{
	return implies(build, build->mask, mask) ||
		   (!build->in_filter && build->filter != GPUAGG_VECTOR_NONE &&
			implies(build, build->filter, mask));
}

uint16
gpuagg_build_mask(VectorBuild *build, uint16 outer, uint16 condition, VectorMaskWhen when)
{
	uint16 mask = condition;

	switch (when)
	{
		case VECTOR_MASK_TRUE:
			break;
		case VECTOR_MASK_NOT_TRUE:
			mask = gpuagg_build_one(build, GPUAGG_VECTOR_IS_TRUE, GPUAGG_VECTOR_BOOL, condition);
			mask = gpuagg_build_one(build, GPUAGG_VECTOR_NOT, GPUAGG_VECTOR_BOOL, mask);
			break;
		case VECTOR_MASK_NOT_FALSE:
			mask = gpuagg_build_one(build, GPUAGG_VECTOR_IS_FALSE, GPUAGG_VECTOR_BOOL, condition);
			mask = gpuagg_build_one(build, GPUAGG_VECTOR_NOT, GPUAGG_VECTOR_BOOL, mask);
			break;
		case VECTOR_MASK_NULL:
			mask = gpuagg_build_one(build, GPUAGG_VECTOR_IS_NULL,
									gpuagg_vector_result(&build->code[condition]), condition);
			break;
	}
	if (outer == GPUAGG_VECTOR_NONE)
		return mask;
	return gpuagg_build_two(build, GPUAGG_VECTOR_AND, GPUAGG_VECTOR_BOOL, outer, mask);
}

/* ---- instructions ---- */

/* Whether the mask matters to an instruction: it flags, or its evaluation has effects. */
static bool
needs_mask(const GpuaggVectorInstruction *instruction)
{
	switch (instruction->op)
	{
		case GPUAGG_VECTOR_ROW:
		case GPUAGG_VECTOR_ADD:
		case GPUAGG_VECTOR_SUB:
		case GPUAGG_VECTOR_MUL:
		case GPUAGG_VECTOR_DIV:
		case GPUAGG_VECTOR_MOD:
		case GPUAGG_VECTOR_NEG:
		case GPUAGG_VECTOR_ABS:
		case GPUAGG_VECTOR_DIV_FLOOR:
		case GPUAGG_VECTOR_DIV_ROUND:
		case GPUAGG_VECTOR_IN_RANGE:
		case GPUAGG_VECTOR_CAST:
		case GPUAGG_VECTOR_DECIMAL_TO_FLOAT:
		case GPUAGG_VECTOR_TIME_TRUNC:
		case GPUAGG_VECTOR_TIME_FIELD:
		case GPUAGG_VECTOR_TIME_TO_LOCAL:
		case GPUAGG_VECTOR_TIME_FROM_LOCAL:
			return true;
		default:
			return false;
	}
}

static bool
same(const GpuaggVectorInstruction *x, const GpuaggVectorInstruction *y)
{
	return x->op == y->op && x->type == y->type && x->to == y->to && x->a == y->a && x->b == y->b &&
		   x->c == y->c && x->count == y->count && x->arg == y->arg;
}

static uint16
emit(VectorBuild *build, GpuaggVectorInstruction instruction, bool masked)
{
	for (int i = 0; i < build->ncode; i++)
	{
		const GpuaggVectorInstruction *made = &build->code[i];

		if (same(made, &instruction) && (!masked || gpuagg_build_covers(build, made->mask)))
			return (uint16) i;
	}
	if (build->ncode == build->max_code)
	{
		/* The compiler gives up on single expressions long before. */
		if (build->ncode >= GPUAGG_VECTOR_NONE / 2)
			elog(ERROR, "expressions are too large for a vector program");
		build->max_code *= 2;
		build->code = repalloc(build->code, build->max_code * sizeof(GpuaggVectorInstruction));
	}
	instruction.spare = 0;
	instruction.mask = masked									? build->mask
					   : instruction.op == GPUAGG_VECTOR_COLUMN ? build->conjunct
																: GPUAGG_VECTOR_NONE;
	instruction.out = (uint16) build->ncode;
	build->code[build->ncode] = instruction;
	return (uint16) build->ncode++;
}

uint16
gpuagg_build_emit(VectorBuild *build, GpuaggVectorInstruction instruction)
{
	return emit(build, instruction, needs_mask(&instruction));
}

uint16
gpuagg_build_emit_exact(VectorBuild *build, GpuaggVectorInstruction instruction)
{
	return emit(build, instruction, false);
}

uint16
gpuagg_build_choice(VectorBuild *build, GpuaggVectorOp op, GpuaggVectorType type, uint16 a,
					uint16 b, uint16 c)
{
	GpuaggVectorInstruction instruction = {.op = op, .type = type, .a = a, .b = b, .c = c};

	return gpuagg_build_emit(build, instruction);
}

uint16
gpuagg_build_two(VectorBuild *build, GpuaggVectorOp op, GpuaggVectorType type, uint16 a, uint16 b)
{
	return gpuagg_build_choice(build, op, type, a, b, GPUAGG_VECTOR_NONE);
}

uint16
gpuagg_build_one(VectorBuild *build, GpuaggVectorOp op, GpuaggVectorType type, uint16 a)
{
	return gpuagg_build_two(build, op, type, a, GPUAGG_VECTOR_NONE);
}

uint16
gpuagg_build_source(VectorBuild *build, GpuaggVectorOp op, GpuaggVectorType type, int arg)
{
	GpuaggVectorInstruction instruction = {.op = op,
										   .type = type,
										   .a = GPUAGG_VECTOR_NONE,
										   .b = GPUAGG_VECTOR_NONE,
										   .c = GPUAGG_VECTOR_NONE,
										   .arg = arg};

	return gpuagg_build_emit(build, instruction);
}

/* ---- constants ---- */

static int
add_constant(VectorBuild *build, const GpuaggVectorConstant *constant, bool is_parameter)
{
	if (build->nconstants == build->max_constants)
	{
		build->max_constants *= 2;
		build->constants = repalloc(build->constants,
									build->max_constants * sizeof(GpuaggVectorConstant));
		build->is_parameter = repalloc(build->is_parameter, build->max_constants * sizeof(bool));
	}
	build->constants[build->nconstants] = *constant;
	build->is_parameter[build->nconstants] = is_parameter;
	return build->nconstants++;
}

int
gpuagg_build_constants(VectorBuild *build, const GpuaggVectorConstant *constants, int n)
{
	int first = build->nconstants;

	for (int i = 0; i + n <= build->nconstants; i++)
	{
		int k = 0;

		while (k < n && !build->is_parameter[i + k] &&
			   gpuagg_vector_same_constant(&build->constants[i + k], &constants[k]))
			k++;
		if (k == n)
			return i;
	}
	for (int k = 0; k < n; k++)
		add_constant(build, &constants[k], false);
	return first;
}

uint16
gpuagg_build_constant(VectorBuild *build, const GpuaggVectorConstant *constant)
{
	return gpuagg_build_source(build, GPUAGG_VECTOR_CONSTANT, constant->type,
							   gpuagg_build_constants(build, constant, 1));
}

uint16
gpuagg_build_integer(VectorBuild *build, GpuaggVectorType type, __int128 integer)
{
	GpuaggVectorConstant constant = {.type = type};

	constant.u.integer = gpuagg_int128_narrow(integer);
	return gpuagg_build_constant(build, &constant);
}

uint16
gpuagg_build_null(VectorBuild *build, GpuaggVectorType type)
{
	GpuaggVectorConstant constant = {.type = type, .isnull = true};

	return gpuagg_build_constant(build, &constant);
}

const GpuaggVectorConstant *
gpuagg_build_is_constant(const VectorBuild *build, uint16 reg)
{
	const GpuaggVectorInstruction *made = &build->code[reg];

	if (made->op != GPUAGG_VECTOR_CONSTANT || build->is_parameter[made->arg])
		return NULL;
	return &build->constants[made->arg];
}

uint16
gpuagg_build_in_range(VectorBuild *build, GpuaggVectorType type, uint16 a, __int128 least,
					  __int128 most)
{
	GpuaggVectorConstant limits[2] = {{.type = type}, {.type = type}};
	GpuaggVectorInstruction instruction = {.op = GPUAGG_VECTOR_IN_RANGE,
										   .type = type,
										   .a = a,
										   .b = GPUAGG_VECTOR_NONE,
										   .c = GPUAGG_VECTOR_NONE};

	limits[0].u.integer = gpuagg_int128_narrow(least);
	limits[1].u.integer = gpuagg_int128_narrow(most);
	instruction.arg = gpuagg_build_constants(build, limits, 2);
	return gpuagg_build_emit(build, instruction);
}

/* ---- sources ---- */

void
gpuagg_build_column(VectorBuild *build, AttrNumber attno, VectorValue *value)
{
	build->column_uses++;
	value->reg = gpuagg_build_source(build, GPUAGG_VECTOR_COLUMN, value->type, attno);
}

static VectorParameter *
find_parameter(VectorBuild *build, Expr *expr, const VectorConversion *conversion)
{
	ListCell *lc;

	foreach (lc, build->parameters)
	{
		VectorParameter *parameter = lfirst(lc);

		if (parameter->conversion == conversion && equal(parameter->expr, expr))
			return parameter;
	}
	return NULL;
}

static VectorParameter *
add_parameter(VectorBuild *build, Expr *expr, const VectorConversion *conversion, bool early,
			  const VectorValue *value)
{
	GpuaggVectorConstant constant = {.type = value->type, .isnull = true};
	VectorParameter *parameter = palloc0(sizeof(VectorParameter));

	parameter->constant = build->nconstants;
	for (int i = 0; i < (conversion != NULL ? conversion->n : 1); i++)
		add_constant(build, &constant, true);
	parameter->expr = expr;
	parameter->conversion = conversion;
	parameter->value = *value;
	parameter->filter = build->in_filter;
	parameter->early = early;
	build->parameters = lappend(build->parameters, parameter);
	return parameter;
}

void
gpuagg_build_parameter(VectorBuild *build, Expr *expr, bool early, VectorValue *value)
{
	VectorParameter *parameter = find_parameter(build, expr, NULL);

	if (parameter == NULL)
		parameter = add_parameter(build, expr, NULL, early, value);
	/* rows that pass the filter may be others than those that reach it there */
	else if (parameter->filter == build->in_filter)
		parameter->early &= early;
	value->reg = gpuagg_build_source(build, GPUAGG_VECTOR_CONSTANT, value->type,
									 parameter->constant);
}

int
gpuagg_build_converted(VectorBuild *build, Expr *expr, const VectorConversion *conversion)
{
	VectorValue value = {.reg = GPUAGG_VECTOR_NONE,
						 .type = conversion->type,
						 .scale = -1,
						 .width = -1};
	VectorParameter *parameter = find_parameter(build, expr, conversion);

	if (parameter == NULL)
		parameter = add_parameter(build, expr, conversion, true, &value);
	return parameter->constant;
}

void
gpuagg_build_row(VectorBuild *build, Expr *expr, bool constant, VectorValue *value)
{
	int number = 0;
	ListCell *lc;

	if (!constant)
		build->row_uses++;
	foreach (lc, build->rows)
	{
		const VectorValue *kept = list_nth(build->row_values, number);

		if (kept->type == value->type && equal(lfirst(lc), expr))
			break;
		number++;
	}
	if (number == list_length(build->rows))
	{
		VectorValue *kept = palloc(sizeof(VectorValue));

		*kept = *value;
		build->rows = lappend(build->rows, expr);
		build->row_values = lappend(build->row_values, kept);
		build->row_constant = lappend_int(build->row_constant, constant);
	}
	value->reg = gpuagg_build_source(build, GPUAGG_VECTOR_ROW, value->type, number);
}
