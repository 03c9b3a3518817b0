/*
 * agg_device_between.c
 *	  What a subquery computes between a window and aggregates above, in a program for the device.
 */
#include "compat.h"

#include "exec/agg_averages.h"
#include "exec/agg_device_between.h"
#include "exec/agg_device_passes.h"
#include "exec/compiled.h"
#include "exec/window_between.h"

struct AggBetween
{
	WindowBetween *of; /* by column of the node's program */
	int nbooleans;	   /* among the columns that it reads */
};

/* ---- the expressions ---- */

/* Whether the program's columns are what the expressions give. */
static bool
has_columns(const AggScanState *node, const PlanState *window, const WindowBetween *of)
{
	ListCell *cell;

	foreach (cell, gpuagg_agg_device_compiler(node)->attributes)
	{
		int i = foreach_current_index(cell);
		Form_pg_attribute attribute = TupleDescAttr(node->row_desc, lfirst_int(cell) - 1);
		VectorValue form;

		gpuagg_vector_form(
			attribute->atttypid,
			gpuagg_window_between_typmod(of, i,
										 gpuagg_agg_averages_typmod(node, window, node->averages,
																	attribute->attnum)),
			&form);
		if (of->values[i].type != form.type || of->values[i].scale != form.scale)
			return false;
	}
	return true;
}

/* Whether both programs, and what makes booleans, are no more than one may be. */
static bool
has_room(const AggScanState *node, const AggBetween *between)
{
	const GpuaggVectorProgram *above = &gpuagg_agg_device_compiler(node)->program;
	const GpuaggVectorProgram *below = &between->of->compiler->program;
	uint32 naverages = node->averages != NULL ? (uint32) node->averages->n : 0;

	return above->nregisters + below->nregisters + 2 + naverages * DEVICE_QUOTIENT_REGISTERS <=
			   GPUAGG_VECTOR_DEVICE_REGISTERS &&
		   above->nconstants + below->nconstants + 1 + naverages * DEVICE_QUOTIENT_CONSTANTS <=
			   GPUAGG_VECTOR_DEVICE_CONSTANTS &&
		   above->ninstructions + below->ninstructions + 2 * between->nbooleans + 1 +
				   naverages * DEVICE_QUOTIENT_INSTRUCTIONS <=
			   GPUAGG_VECTOR_DEVICE_INSTRUCTIONS &&
		   below->ncolumns <= GPUAGG_WINDOW_COLUMNS;
}

/* The program's columns, as the subquery has them. */
static WindowBetween *
make_program(const AggScanState *node, const PlanState *window)
{
	const List *attributes = gpuagg_agg_device_compiler(node)->attributes;
	int n = list_length(attributes);
	int *columns = palloc0((n + 1) * sizeof(int));
	int32 *typmods = palloc((n + 1) * sizeof(int32));
	const int32 *known = node->averages != NULL ? node->averages->known : NULL;
	ListCell *cell;

	foreach (cell, attributes)
	{
		int i = foreach_current_index(cell);

		while (list_nth_int(node->spec->attributes, columns[i]) != lfirst_int(cell))
			columns[i]++;
		typmods[i] = TupleDescAttr(node->row_desc, lfirst_int(cell) - 1)->atttypmod;
	}
	return n > 0 ? gpuagg_window_between_make(linitial(node->css.custom_ps), window, n, columns,
											  typmods, known, NULL)
				 : NULL;
}

static AggBetween *
make(const AggScanState *node, const PlanState *window)
{
	AggBetween *between = palloc0(sizeof(AggBetween));
	WindowBetween *of = between->of = make_program(node, window);

	if (of == NULL || of->compiler->parameters != NIL ||
		!gpuagg_compiled_for_device(&of->compiler->program, false) ||
		!has_columns(node, window, of))
		return NULL;
	for (uint32 i = 0; i < of->compiler->program.ncolumns; i++)
		between->nbooleans += of->forms[i].type == GPUAGG_VECTOR_BOOL;
	return has_room(node, between) ? between : NULL;
}

AggBetween *
gpuagg_agg_between_make(const AggScanState *node, const PlanState *window)
{
	MemoryContext old = MemoryContextSwitchTo(node->css.ss.ps.state->es_query_cxt);
	AggBetween *between = make(node, window);

	MemoryContextSwitchTo(old);
	return between;
}

int
gpuagg_agg_between_sources(const AggBetween *between, WindowSource *sources)
{
	ListCell *cell;

	foreach (cell, between->of->compiler->attributes)
		sources[foreach_current_index(cell)] = (WindowSource){lfirst_int(cell) - 1, NULL};
	return list_length(between->of->compiler->attributes);
}

/* The type that the device gives a column in. */
static GpuaggVectorType
given_type(GpuaggVectorType type)
{
	return type == GPUAGG_VECTOR_BOOL ? GPUAGG_VECTOR_INT32 : type;
}

/* The average that a column of the program below is; NULL: it is none. */
static const AggAverage *
average_of(const AggScanState *node, const AggBetween *between, uint32 column)
{
	return gpuagg_agg_averages_find(node->averages,
									list_nth_int(between->of->compiler->attributes, (int) column) -
										1);
}

bool
gpuagg_agg_between_fits(const AggScanState *node, const AggBetween *between,
						const WindowDevice *window)
{
	for (uint32 i = 0; i < between->of->compiler->program.ncolumns; i++)
	{
		const AggAverage *average = average_of(node, between, i);

		if ((window->counts[i] >= 0) != (average != NULL) ||
			window->forms[i].type !=
				given_type((GpuaggVectorType) between->of->compiler->program.columns[i]) ||
			window->forms[i].scale !=
				(average != NULL ? average->quotient.places : between->of->forms[i].scale))
			return false;
	}
	return true;
}

void
gpuagg_agg_between_place(AggScanState *node, const AggBetween *between)
{
	uint32 next = gpuagg_agg_device_compiler(node)->program.nregisters +
				  between->of->compiler->program.nregisters + 2;

	for (int i = 0; i < node->averages->n; i++, next += DEVICE_QUOTIENT_REGISTERS)
		node->averages->list[i].first = (uint16) next;
}

/* ---- the program ---- */

/* A program that is being made of two. */
typedef struct Joiner
{
	const AggScanState *node;
	const AggBetween *between;
	GpuaggVectorProgram *program;
	GpuaggVectorInstruction *instructions;
	GpuaggVectorConstant *constants;
	uint16 first_register; /* of the program below */
	uint32 first_constant;
	uint16 zero; /* registers of what makes booleans */
	uint16 number;
} Joiner;

static GpuaggVectorInstruction
make_instruction(GpuaggVectorOp op, GpuaggVectorType type, uint16 out, uint16 a, uint16 b,
				 uint32 arg)
{
	return (GpuaggVectorInstruction){.op = (uint8) op,
									 .type = (uint8) type,
									 .out = out,
									 .a = a,
									 .b = b,
									 .c = GPUAGG_VECTOR_NONE,
									 .mask = GPUAGG_VECTOR_NONE,
									 .arg = arg};
}

static void
add(Joiner *joiner, GpuaggVectorInstruction in)
{
	joiner->instructions[joiner->program->ninstructions++] = in;
}

static uint16
moved(const Joiner *joiner, uint16 reg)
{
	return reg == GPUAGG_VECTOR_NONE ? reg : (uint16) (reg + joiner->first_register);
}

/* Whether arg is the number of a constant. */
static bool
has_constants(GpuaggVectorOp op)
{
	return op == GPUAGG_VECTOR_CONSTANT || op == GPUAGG_VECTOR_IN || op == GPUAGG_VECTOR_LIKE ||
		   op == GPUAGG_VECTOR_IN_RANGE || op == GPUAGG_VECTOR_TIME_TO_LOCAL ||
		   op == GPUAGG_VECTOR_TIME_FROM_LOCAL;
}

static void
add_column(Joiner *joiner, GpuaggVectorType type, uint16 out, int column)
{
	add(joiner, make_instruction(GPUAGG_VECTOR_COLUMN, type, out, GPUAGG_VECTOR_NONE,
								 GPUAGG_VECTOR_NONE, (uint32) column));
}

/* An average, instead of a column: of the sum and the count behind it. */
static void
add_average(Joiner *joiner, const AggAverage *average, uint16 out, uint32 column)
{
	uint16 sum = average->first + DEVICE_QUOTIENT_REGISTERS - 1;
	uint16 count = sum - 1;
	DeviceProgramWriter writer = {joiner->program, joiner->instructions, joiner->constants};

	add_column(joiner, GPUAGG_VECTOR_INT128, sum, (int) column);
	add_column(joiner, GPUAGG_VECTOR_INT64, count, joiner->node->window->counts[column]);
	gpuagg_device_quotient_write(&average->quotient, &writer, out, sum, count, average->first);
}

/* An instruction of the program below. */
static void
add_below(Joiner *joiner, GpuaggVectorInstruction in)
{
	const AggAverage *average = in.op == GPUAGG_VECTOR_COLUMN
									? average_of(joiner->node, joiner->between, in.arg)
									: NULL;

	in.out = moved(joiner, in.out);
	in.a = moved(joiner, in.a);
	in.b = moved(joiner, in.b);
	in.c = moved(joiner, in.c);
	in.mask = moved(joiner, in.mask);
	if (has_constants((GpuaggVectorOp) in.op))
		in.arg += joiner->first_constant;
	if (average != NULL)
	{
		add_average(joiner, average, in.out, in.arg);
		return;
	}
	if (in.op == GPUAGG_VECTOR_COLUMN && in.type == GPUAGG_VECTOR_BOOL)
	{
		add_column(joiner, GPUAGG_VECTOR_INT32, joiner->number, (int) in.arg);
		in = make_instruction(GPUAGG_VECTOR_NE, GPUAGG_VECTOR_INT32, in.out, joiner->number,
							  joiner->zero, 0);
	}
	add(joiner, in);
}

/* One of the node's: its columns are copies of registers. */
static void
add_above(Joiner *joiner, const AggBetween *between, GpuaggVectorInstruction in)
{
	if (in.op == GPUAGG_VECTOR_COLUMN)
	{
		uint16 value = moved(joiner, between->of->values[in.arg].reg);

		in = make_instruction(GPUAGG_VECTOR_COALESCE, (GpuaggVectorType) in.type, in.out, value,
							  value, 0);
	}
	add(joiner, in);
}

/* The node's constants, those of the program below, and 0; behind them is room. */
static GpuaggVectorConstant *
join_constants(const AggScanState *node, const GpuaggVectorProgram *below)
{
	uint32 n = gpuagg_agg_device_compiler(node)->program.nconstants;
	GpuaggVectorConstant *constants = palloc0(GPUAGG_VECTOR_DEVICE_CONSTANTS *
											  sizeof(GpuaggVectorConstant));

	memcpy(constants, gpuagg_agg_device_runner(node)->constants, n * sizeof(GpuaggVectorConstant));
	memcpy(constants + n, below->constants, below->nconstants * sizeof(GpuaggVectorConstant));
	constants[n + below->nconstants].type = GPUAGG_VECTOR_INT32;
	return constants;
}

/* Types of the window's columns: those of the program below, and counts. */
static const uint8 *
column_types(const AggScanState *node, const GpuaggVectorProgram *below)
{
	uint8 *types = palloc(node->window->ncolumns + 1);

	for (int i = 0; i < node->window->ncolumns; i++)
		types[i] = (uint8) (i < (int) below->ncolumns
								? given_type((GpuaggVectorType) below->columns[i])
								: GPUAGG_VECTOR_INT64);
	return types;
}

GpuaggVectorProgram
gpuagg_agg_between_program(const AggScanState *node, const AggBetween *between)
{
	const GpuaggVectorProgram *above = &gpuagg_agg_device_compiler(node)->program;
	const GpuaggVectorProgram *below = &between->of->compiler->program;
	uint32 nregisters = above->nregisters + below->nregisters;
	uint32 naverages = node->averages != NULL ? (uint32) node->averages->n : 0;
	GpuaggVectorProgram program = {.filter = above->filter,
								   .nregisters = nregisters + 2 +
												 naverages * DEVICE_QUOTIENT_REGISTERS,
								   .nconstants = above->nconstants + below->nconstants + 1,
								   .ncolumns = (uint32) node->window->ncolumns};
	Joiner joiner = {.node = node,
					 .between = between,
					 .program = &program,
					 .instructions = palloc(GPUAGG_VECTOR_DEVICE_INSTRUCTIONS *
											sizeof(GpuaggVectorInstruction)),
					 .constants = join_constants(node, below),
					 .first_register = (uint16) above->nregisters,
					 .first_constant = above->nconstants,
					 .zero = (uint16) nregisters,
					 .number = (uint16) (nregisters + 1)};

	add(&joiner, make_instruction(GPUAGG_VECTOR_CONSTANT, GPUAGG_VECTOR_INT32, joiner.zero,
								  GPUAGG_VECTOR_NONE, GPUAGG_VECTOR_NONE, program.nconstants - 1));
	for (uint32 i = 0; i < below->ninstructions; i++)
		add_below(&joiner, below->instructions[i]);
	if (above->filter != GPUAGG_VECTOR_NONE)
		program.nfilter = program.ninstructions + above->nfilter;
	for (uint32 i = 0; i < above->ninstructions; i++)
		add_above(&joiner, between, above->instructions[i]);
	program.instructions = joiner.instructions;
	program.constants = joiner.constants;
	program.columns = column_types(node, below);
	return program;
}
