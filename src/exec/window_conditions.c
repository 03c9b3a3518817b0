/*
 * window_conditions.c
 *	  Conditions above a GpuWindow node as a vector program over the columns that the device has of it.
 */
#include "compat.h"

#include "access/stratnum.h"

#include "exec/window_conditions.h"

StaticAssertDecl(GPUAGG_WINDOW_COLUMNS <= 32, "there are instructions for all columns");

void
gpuagg_window_conditions_begin(WindowConditions *conditions, const WindowDevice *device)
{
	conditions->program = (GpuaggVectorProgram){.filter = GPUAGG_VECTOR_NONE,
												.ncolumns = (uint32) device->ncolumns,
												.instructions = conditions->instructions,
												.constants = conditions->constants,
												.columns = conditions->types};
	for (int i = 0; i < device->ncolumns; i++)
	{
		conditions->types[i] = (uint8) gpuagg_device_type(device->forms[i].type);
		conditions->loaded[i] = GPUAGG_VECTOR_NONE;
	}
}

/* Adds an instruction; returns its register, which is its alone. */
static uint16
add(WindowConditions *conditions, GpuaggVectorInstruction instruction)
{
	uint16 reg = (uint16) conditions->program.ninstructions;

	instruction.out = reg;
	instruction.c = instruction.mask = GPUAGG_VECTOR_NONE;
	conditions->instructions[conditions->program.ninstructions++] = instruction;
	conditions->program.nregisters = conditions->program.ninstructions;
	return reg;
}

uint16
gpuagg_window_conditions_load(WindowConditions *conditions, int column)
{
	if (conditions->loaded[column] == GPUAGG_VECTOR_NONE)
		conditions->loaded[column] = add(conditions, (GpuaggVectorInstruction){
														 .op = GPUAGG_VECTOR_COLUMN,
														 .type = conditions->types[column],
														 .a = GPUAGG_VECTOR_NONE,
														 .b = GPUAGG_VECTOR_NONE,
														 .arg = (uint32) column,
													 });
	return conditions->loaded[column];
}

/* A constant's register. */
static uint16
add_constant(WindowConditions *conditions, GpuaggVectorConstant constant)
{
	GpuaggVectorProgram *program = &conditions->program;

	conditions->constants[program->nconstants] = constant;
	return add(conditions, (GpuaggVectorInstruction){
							   .op = GPUAGG_VECTOR_CONSTANT,
							   .type = constant.type,
							   .a = GPUAGG_VECTOR_NONE,
							   .b = GPUAGG_VECTOR_NONE,
							   .arg = program->nconstants++,
						   });
}

/* A comparison that has to hold beside those before. */
static void
add_comparison(WindowConditions *conditions, GpuaggVectorOp op, int type, uint16 a, uint16 b)
{
	GpuaggVectorProgram *program = &conditions->program;
	uint16 with =
		add(conditions,
			(GpuaggVectorInstruction){.op = (uint8) op, .type = (uint8) type, .a = a, .b = b});

	if (program->filter != GPUAGG_VECTOR_NONE)
		with = add(conditions, (GpuaggVectorInstruction){.op = GPUAGG_VECTOR_AND,
														 .type = GPUAGG_VECTOR_BOOL,
														 .a = (uint16) program->filter,
														 .b = with});
	program->filter = with;
}

static void
add_condition(WindowConditions *conditions, GpuaggVectorOp op, uint16 reg,
			  GpuaggVectorConstant constant)
{
	add_comparison(conditions, op, constant.type, reg, add_constant(conditions, constant));
}

static uint16
add_cast(WindowConditions *conditions, int type, int to, uint16 reg)
{
	return add(conditions, (GpuaggVectorInstruction){.op = GPUAGG_VECTOR_CAST,
													 .type = (uint8) type,
													 .to = (uint8) to,
													 .a = reg,
													 .b = GPUAGG_VECTOR_NONE});
}

static GpuaggVectorOp
comparison(int strategy)
{
	switch (strategy)
	{
		case BTLessStrategyNumber:
			return GPUAGG_VECTOR_LT;
		case BTLessEqualStrategyNumber:
			return GPUAGG_VECTOR_LE;
		case BTEqualStrategyNumber:
			return GPUAGG_VECTOR_EQ;
		case BTGreaterEqualStrategyNumber:
			return GPUAGG_VECTOR_GE;
		default:
			return GPUAGG_VECTOR_GT;
	}
}

/* The greatest integer of a type; the least is this one's complement. */
static __int128
greatest_of(int type)
{
	return type == GPUAGG_VECTOR_INT32	 ? PG_INT32_MAX
		   : type == GPUAGG_VECTOR_INT64 ? PG_INT64_MAX
										 : (__int128) (~(unsigned __int128) 0 >> 1);
}

static GpuaggVectorConstant
integer(int type, __int128 value)
{
	return (GpuaggVectorConstant){.type = (uint8) type, .u.integer = gpuagg_int128_narrow(value)};
}

/* Values above the integer before the least, and below the one behind the greatest. */
static void
add_integers(WindowConditions *conditions, const RunningBound *bound, int column)
{
	int type = conditions->types[column];
	__int128 most = greatest_of(type);
	__int128 least = gpuagg_int128_wide(bound->least);
	__int128 greatest = gpuagg_int128_wide(bound->greatest);

	if (least > -most - 1)
		add_condition(conditions, GPUAGG_VECTOR_GT,
					  gpuagg_window_conditions_load(conditions, column),
					  integer(type, Min(least - 1, most)));
	if (greatest < most)
		add_condition(conditions, GPUAGG_VECTOR_LT,
					  gpuagg_window_conditions_load(conditions, column),
					  integer(type, Max(greatest + 1, -most - 1)));
}

static void
add_floats(WindowConditions *conditions, const RunningBound *bound, int column)
{
	uint16 reg = gpuagg_window_conditions_load(conditions, column);

	if (conditions->types[column] == GPUAGG_VECTOR_FLOAT32)
		reg = add_cast(conditions, GPUAGG_VECTOR_FLOAT32, GPUAGG_VECTOR_FLOAT64, reg);
	add_condition(conditions, comparison(bound->strategy), reg,
				  (GpuaggVectorConstant){.type = GPUAGG_VECTOR_FLOAT64, .u.float64 = bound->value});
}

/* A register times an integer of 128 bits. */
static uint16
add_product(WindowConditions *conditions, uint16 reg, __int128 factor)
{
	uint16 with = add_constant(conditions, integer(GPUAGG_VECTOR_INT128, factor));

	return add(conditions, (GpuaggVectorInstruction){.op = GPUAGG_VECTOR_MUL,
													 .type = GPUAGG_VECTOR_INT128,
													 .a = reg,
													 .b = with});
}

/* Sums times the factor between products of these integers and counts, as rows are dropped. */
static void
add_quotients(WindowConditions *conditions, const RunningBound *bound, int column, int counts)
{
	uint16 sum = add_product(conditions, gpuagg_window_conditions_load(conditions, column),
							 bound->factor);
	uint16 count = add_cast(conditions, GPUAGG_VECTOR_INT64, GPUAGG_VECTOR_INT128,
							gpuagg_window_conditions_load(conditions, counts));

	add_comparison(conditions, GPUAGG_VECTOR_GT, GPUAGG_VECTOR_INT128, sum,
				   add_product(conditions, count, gpuagg_int128_wide(bound->least) - 1));
	add_comparison(conditions, GPUAGG_VECTOR_LT, GPUAGG_VECTOR_INT128, sum,
				   add_product(conditions, count, gpuagg_int128_wide(bound->greatest) + 1));
}

void
gpuagg_window_conditions_add(WindowConditions *conditions, const RunningBound *bound, int column,
							 int counts)
{
	if (conditions->program.nconstants + 3 > WINDOW_CONDITIONS)
		return;
	if (bound->floats)
		add_floats(conditions, bound, column);
	else if (counts >= 0)
		add_quotients(conditions, bound, column, counts);
	else
		add_integers(conditions, bound, column);
}
