/*
 * vector_check.c
 *	  What a vector program must be, in one table of instructions.
 */
#include <string.h>

#include "common/vector.h"
#include "common/zone.h"

#define BIT(type) (1 << GPUAGG_VECTOR_##type)
#define INTEGERS  (BIT(INT16) | BIT(INT32) | BIT(INT64) | BIT(INT128))
#define NUMBERS	  (INTEGERS | BIT(FLOAT32) | BIT(FLOAT64))
#define ORDERED	  (NUMBERS | BIT(BYTES))
#define ALL		  (ORDERED | BIT(BOOL))
#define ANY		  (ALL | BIT(DATUM))

/* What the type of a result is: that of the operands, `to`, or a type of its own. */
typedef enum Result
{
	SAME,
	TO,
	TO_BOOL,
	TO_INT64,
	TO_INT128,
	TO_FLOAT64
} Result;

/* What `arg` is. */
typedef enum Arg
{
	UNUSED, /* 0 */
	COLUMN,
	CONSTANT,
	EXPRESSION,
	SET,   /* `count` constants from it on */
	RANGE, /* two constants */
	ZONE,  /* `count` constants from it on, pieces in their order */
	SCALE,
	UNIT, /* a field that times can be truncated to */
	FIELD
} Arg;

typedef struct Form
{
	uint16_t types; /* bits of the types of operands; 0: no instruction */
	uint8_t result; /* Result */
	uint8_t arg;	/* Arg */
	uint8_t a;		/* whether there is such an operand */
	uint8_t b;
	uint8_t c;
} Form;

static const Form forms[GPUAGG_VECTOR_OPS] = {
	[GPUAGG_VECTOR_COLUMN] = {ANY, SAME, COLUMN, 0, 0, 0},
	[GPUAGG_VECTOR_CONSTANT] = {ALL, SAME, CONSTANT, 0, 0, 0},
	[GPUAGG_VECTOR_ROW] = {ANY, SAME, EXPRESSION, 0, 0, 0},
	[GPUAGG_VECTOR_EQ] = {ALL, TO_BOOL, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_NE] = {ALL, TO_BOOL, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_LT] = {ALL, TO_BOOL, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_LE] = {ALL, TO_BOOL, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_GT] = {ALL, TO_BOOL, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_GE] = {ALL, TO_BOOL, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_IN] = {ORDERED, TO_BOOL, SET, 1, 0, 0},
	[GPUAGG_VECTOR_LIKE] = {BIT(BYTES), TO_BOOL, CONSTANT, 1, 0, 0},
	[GPUAGG_VECTOR_AND] = {BIT(BOOL), TO_BOOL, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_OR] = {BIT(BOOL), TO_BOOL, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_NOT] = {BIT(BOOL), TO_BOOL, UNUSED, 1, 0, 0},
	[GPUAGG_VECTOR_IS_TRUE] = {BIT(BOOL), TO_BOOL, UNUSED, 1, 0, 0},
	[GPUAGG_VECTOR_IS_FALSE] = {BIT(BOOL), TO_BOOL, UNUSED, 1, 0, 0},
	[GPUAGG_VECTOR_IS_NULL] = {ANY, TO_BOOL, UNUSED, 1, 0, 0},
	[GPUAGG_VECTOR_SELECT] = {ALL, SAME, UNUSED, 1, 1, 1},
	[GPUAGG_VECTOR_COALESCE] = {ALL, SAME, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_NULLIF] = {ALL, SAME, UNUSED, 1, 0, 1},
	[GPUAGG_VECTOR_LEAST] = {ALL, SAME, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_GREATEST] = {ALL, SAME, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_ADD] = {NUMBERS, SAME, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_SUB] = {NUMBERS, SAME, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_MUL] = {NUMBERS, SAME, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_DIV] = {NUMBERS, SAME, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_MOD] = {INTEGERS, SAME, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_NEG] = {NUMBERS, SAME, UNUSED, 1, 0, 0},
	[GPUAGG_VECTOR_ABS] = {NUMBERS, SAME, UNUSED, 1, 0, 0},
	[GPUAGG_VECTOR_MUL_WIDE] = {BIT(INT64), TO_INT128, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_DIV_FLOOR] = {INTEGERS, SAME, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_DIV_ROUND] = {INTEGERS, SAME, UNUSED, 1, 1, 0},
	[GPUAGG_VECTOR_IN_RANGE] = {NUMBERS, SAME, RANGE, 1, 0, 0},
	[GPUAGG_VECTOR_CAST] = {NUMBERS, TO, UNUSED, 1, 0, 0},
	[GPUAGG_VECTOR_DECIMAL_TO_FLOAT] = {BIT(INT64) | BIT(INT128), TO_FLOAT64, SCALE, 1, 0, 0},
	[GPUAGG_VECTOR_TIME_TRUNC] = {BIT(INT64), SAME, UNIT, 1, 0, 0},
	[GPUAGG_VECTOR_TIME_FIELD] = {BIT(INT64), SAME, FIELD, 1, 0, 0},
	[GPUAGG_VECTOR_TIME_TO_LOCAL] = {BIT(INT64), SAME, ZONE, 1, 0, 0},
	[GPUAGG_VECTOR_TIME_FROM_LOCAL] = {BIT(INT64), SAME, ZONE, 1, 0, 0},
};

static int
type_in(int type, int types)
{
	return type > 0 && type < GPUAGG_VECTOR_TYPES && (types >> type & 1);
}

/* Between different numbers, but for floats to INT128. */
static int
is_cast(int from, int to)
{
	return type_in(to, NUMBERS) && from != to &&
		   !(type_in(from, BIT(FLOAT32) | BIT(FLOAT64)) && to == GPUAGG_VECTOR_INT128);
}

int
gpuagg_vector_result(const GpuaggVectorInstruction *in)
{
	const Form *form = &forms[in->op < GPUAGG_VECTOR_OPS ? in->op : 0];

	if (!type_in(in->type, form->types))
		return 0;
	switch ((Result) form->result)
	{
		case SAME:
			return in->type;
		case TO:
			return is_cast(in->type, in->to) ? in->to : 0;
		case TO_BOOL:
			return GPUAGG_VECTOR_BOOL;
		case TO_INT64:
			return GPUAGG_VECTOR_INT64;
		case TO_INT128:
			return GPUAGG_VECTOR_INT128;
		case TO_FLOAT64:
			return GPUAGG_VECTOR_FLOAT64;
	}
	return 0;
}

/* Pieces of a zone, as far as they are known: in range, and ascending. */
static int
is_zone(const GpuaggVectorConstant *constants, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
	{
		int64_t piece = (int64_t) constants[i].u.integer.lo;
		int64_t last = i == 0 ? piece : (int64_t) constants[i - 1].u.integer.lo;

		if (constants[i].isnull)
			continue;
		if (zone_begin(piece, false) < -ZONE_SECONDS || zone_begin(piece, false) > ZONE_SECONDS)
			return 0;
		if (i > 0 && !constants[i - 1].isnull &&
			(zone_begin(last, false) > zone_begin(piece, false) ||
			 zone_begin(last, true) > zone_begin(piece, true)))
			return 0;
	}
	return n >= 2;
}

static int
arg_is_right(const GpuaggVectorProgram *program, const GpuaggVectorInstruction *in, Arg kind)
{
	int counts = kind == SET || kind == ZONE;
	uint32_t constants = kind == CONSTANT ? 1 : kind == RANGE ? 2 : counts ? in->count : 0;

	if ((in->count != 0) != counts)
		return 0;
	switch (kind)
	{
		case UNUSED:
			return in->arg == 0;
		case COLUMN:
			return in->arg < program->ncolumns && program->columns[in->arg] == in->type;
		case EXPRESSION:
			return in->arg < program->nrows;
		case SCALE:
			return in->arg <= GPUAGG_VECTOR_SCALE;
		case UNIT:
			return in->arg > 0 && in->arg <= GPUAGG_FIELD_MILLENNIUM;
		case FIELD:
			return in->arg > 0 && in->arg <= GPUAGG_FIELD_EPOCH;
		case CONSTANT:
		case RANGE:
		case SET:
		case ZONE:
			if (in->arg > program->nconstants || constants > program->nconstants - in->arg)
				return 0;
			for (uint32_t i = 0; i < constants; i++)
				if (program->constants[in->arg + i].type != in->type)
					return 0;
			return kind != ZONE || is_zone(&program->constants[in->arg], constants);
	}
	return 0;
}

/* An operand: a register of the type, none where there is to be none. */
static int
operand_is_right(const GpuaggVectorProgram *program, const uint8_t *types, int wanted,
				 uint16_t number, int type)
{
	if (!wanted)
		return number == GPUAGG_VECTOR_NONE;
	return number < program->nregisters && types[number] == type;
}

static int
instruction_is_right(const GpuaggVectorProgram *program, const GpuaggVectorInstruction *in,
					 const uint8_t *types)
{
	const Form *form;

	if (gpuagg_vector_result(in) == 0)
		return 0;
	form = &forms[in->op];
	return (in->to == 0 || form->result == TO) && in->spare == 0 && in->out < program->nregisters &&
		   arg_is_right(program, in, (Arg) form->arg) &&
		   operand_is_right(program, types, form->a, in->a, in->type) &&
		   operand_is_right(program, types, form->b, in->b, in->type) &&
		   operand_is_right(program, types, form->c, in->c, GPUAGG_VECTOR_BOOL) &&
		   operand_is_right(program, types, in->mask != GPUAGG_VECTOR_NONE, in->mask,
							GPUAGG_VECTOR_BOOL) &&
		   in->out != in->a && in->out != in->b && in->out != in->c && in->out != in->mask;
}

static int
constant_is_right(const GpuaggVectorConstant *constant)
{
	static const uint8_t zeros[sizeof(constant->spare)];

	if (!type_in(constant->type, ALL) || constant->isnull > 1 ||
		memcmp(constant->spare, zeros, sizeof(zeros)) != 0)
		return 0;
	return constant->isnull || constant->type != GPUAGG_VECTOR_BYTES ||
		   constant->u.bytes.data != NULL || constant->u.bytes.size == 0;
}

int
gpuagg_vector_check(const GpuaggVectorProgram *program, uint8_t *types)
{
	int whole = (int) program->ninstructions;

	if (program->ninstructions > GPUAGG_VECTOR_INSTRUCTIONS)
		return GPUAGG_VECTOR_INSTRUCTIONS;
	if (program->nfilter > program->ninstructions ||
		program->nregisters > GPUAGG_VECTOR_REGISTERS ||
		program->nconstants > GPUAGG_VECTOR_CONSTANTS ||
		program->ncolumns > GPUAGG_VECTOR_COLUMNS || program->spare != 0)
		return whole;
	for (uint32_t i = 0; i < program->nconstants; i++)
		if (!constant_is_right(&program->constants[i]))
			return whole;
	for (uint32_t i = 0; i < program->ncolumns; i++)
		if (!type_in(program->columns[i], ANY))
			return whole;
	memset(types, 0, program->nregisters);
	for (uint32_t i = 0; i <= program->ninstructions; i++)
	{
		const GpuaggVectorInstruction *in = &program->instructions[i];

		if (i == program->nfilter && program->filter != GPUAGG_VECTOR_NONE &&
			(program->filter >= program->nregisters ||
			 types[program->filter] != GPUAGG_VECTOR_BOOL))
			return whole;
		if (i == program->ninstructions)
			break;
		if (!instruction_is_right(program, in, types))
			return (int) i;
		types[in->out] = (uint8_t) gpuagg_vector_result(in);
	}
	return -1;
}

bool
gpuagg_vector_fits_device(const GpuaggVectorProgram *program)
{
	return program->ninstructions <= GPUAGG_VECTOR_DEVICE_INSTRUCTIONS &&
		   program->nregisters <= GPUAGG_VECTOR_DEVICE_REGISTERS &&
		   program->nconstants <= GPUAGG_VECTOR_DEVICE_CONSTANTS;
}
