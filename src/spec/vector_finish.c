/*
 * vector_finish.c
 *	  Completes a vector program: drops what nothing reads, shares registers.
 *
 * Registers 0 and up are the outputs, in the order in which they were asked for.
 * Others are used again, by a value of the same type in the same section, once
 * nothing reads them; those of columns, constants and the filter are not.
 */
#include "spec/vector_build.h"

typedef struct Allocation
{
	uint16 *place;	/* of a build's register */
	int *last_read; /* the instruction that reads it last; -1: none */
	int nregisters;
	uint16 free[GPUAGG_VECTOR_TYPES];	  /* the first one to be used again, or NONE; */
	uint16 next[GPUAGG_VECTOR_REGISTERS]; /* and the one after it */
} Allocation;

static void
mark(bool *needed, uint16 reg)
{
	if (reg != GPUAGG_VECTOR_NONE)
		needed[reg] = true;
}

static bool *
find_needed(const VectorBuild *build)
{
	bool *needed = palloc0(Max(build->ncode, 1) * sizeof(bool));
	ListCell *lc;

	mark(needed, build->filter);
	foreach (lc, build->outputs)
		needed[lfirst_int(lc)] = true;
	for (int i = build->ncode - 1; i >= 0; i--)
	{
		const GpuaggVectorInstruction *instruction = &build->code[i];

		if (!needed[i])
			continue;
		mark(needed, instruction->a);
		mark(needed, instruction->b);
		mark(needed, instruction->c);
		mark(needed, instruction->mask);
	}
	return needed;
}

/* How many constants the instruction has, from arg on. */
static int
constants_of(const GpuaggVectorInstruction *instruction)
{
	switch (instruction->op)
	{
		case GPUAGG_VECTOR_CONSTANT:
		case GPUAGG_VECTOR_LIKE:
			return 1;
		case GPUAGG_VECTOR_IN_RANGE:
			return 2;
		case GPUAGG_VECTOR_IN:
		case GPUAGG_VECTOR_TIME_TO_LOCAL:
		case GPUAGG_VECTOR_TIME_FROM_LOCAL:
			return instruction->count;
		default:
			return 0;
	}
}

/* Keeps the constants that are needed, in their order; fills in the program's and the parameters. */
static int *
number_constants(VectorBuild *build, const bool *needed)
{
	VectorCompiler *compiler = build->compiler;
	int *number = palloc(Max(build->nconstants, 1) * sizeof(int));
	GpuaggVectorConstant *constants = palloc0(Max(build->nconstants, 1) *
											  sizeof(GpuaggVectorConstant));
	int n = 0;
	ListCell *lc;

	memset(number, -1, Max(build->nconstants, 1) * sizeof(int));
	for (int i = 0; i < build->ncode; i++)
	{
		const GpuaggVectorInstruction *instruction = &build->code[i];

		for (int k = 0; needed[i] && k < constants_of(instruction); k++)
			number[instruction->arg + k] = 0;
	}
	for (int i = 0; i < build->nconstants; i++)
	{
		if (number[i] < 0)
			continue;
		constants[n] = build->constants[i];
		number[i] = n++;
	}
	foreach (lc, build->parameters)
	{
		VectorParameter *parameter = lfirst(lc);

		if (number[parameter->constant] < 0)
			continue;
		parameter->constant = number[parameter->constant];
		compiler->parameters = lappend(compiler->parameters, parameter);
	}
	compiler->program.constants = constants;
	compiler->program.nconstants = n;
	return number;
}

/* The place of an expression among those of rows; list: the numbers of these as the build has them. */
static int
number_row(List **list, int number)
{
	int place = 0;
	ListCell *lc;

	foreach (lc, *list)
	{
		if (lfirst_int(lc) == number)
			return place;
		place++;
	}
	*list = lappend_int(*list, number);
	return place;
}

/* The same of a column, whose vector has this type. */
static int
number_column(VectorCompiler *compiler, uint8 *types, AttrNumber attno, uint8 type)
{
	int place = 0;
	ListCell *lc;

	foreach (lc, compiler->attributes)
	{
		if (lfirst_int(lc) == attno && types[place] == type)
			return place;
		place++;
	}
	compiler->attributes = lappend_int(compiler->attributes, attno);
	types[place] = type;
	return place;
}

static void
keep_rows(VectorBuild *build, List *numbers)
{
	VectorCompiler *compiler = build->compiler;
	int n = list_length(numbers);
	int i = 0;
	ListCell *lc;

	compiler->row_values = palloc0(Max(n, 1) * sizeof(VectorValue));
	compiler->row_constant = palloc0(Max(n, 1) * sizeof(bool));
	foreach (lc, numbers)
	{
		int number = lfirst_int(lc);

		compiler->rows = lappend(compiler->rows, list_nth(build->rows, number));
		compiler->row_values[i] = *(VectorValue *) list_nth(build->row_values, number);
		compiler->row_constant[i] = list_nth_int(build->row_constant, number) != 0;
		i++;
	}
	compiler->program.nrows = n;
}

/* ---- registers ---- */

static void
read_at(Allocation *allocation, uint16 reg, int instruction)
{
	if (reg != GPUAGG_VECTOR_NONE)
		allocation->last_read[reg] = instruction;
}

/* Whether a register may be another's once nothing reads it. */
static bool
may_be_shared(const VectorBuild *build, int reg)
{
	switch (build->code[reg].op)
	{
		case GPUAGG_VECTOR_COLUMN:
		case GPUAGG_VECTOR_CONSTANT:
			return false;
		default:
			return reg != build->filter && !list_member_int(build->outputs, reg);
	}
}

static void
release(Allocation *allocation, const VectorBuild *build, uint16 reg, int instruction)
{
	int type;

	if (reg == GPUAGG_VECTOR_NONE || allocation->last_read[reg] != instruction ||
		!may_be_shared(build, reg) || (reg < build->nfilter) != (instruction < build->nfilter))
		return;
	allocation->last_read[reg] = -1; /* once, where it is read twice */
	type = gpuagg_vector_result(&build->code[reg]);
	allocation->next[allocation->place[reg]] = allocation->free[type];
	allocation->free[type] = allocation->place[reg];
}

static void
forget_free(Allocation *allocation)
{
	for (int type = 0; type < GPUAGG_VECTOR_TYPES; type++)
		allocation->free[type] = GPUAGG_VECTOR_NONE;
}

/* A register for the result of instruction i; false: there are no more. */
static bool
place(Allocation *allocation, const VectorBuild *build, int i)
{
	int type = gpuagg_vector_result(&build->code[i]);

	if (allocation->place[i] != GPUAGG_VECTOR_NONE)
		return true; /* an output */
	if (allocation->free[type] != GPUAGG_VECTOR_NONE && may_be_shared(build, i))
	{
		allocation->place[i] = allocation->free[type];
		allocation->free[type] = allocation->next[allocation->place[i]];
	}
	else if (allocation->nregisters < GPUAGG_VECTOR_REGISTERS)
		allocation->place[i] = (uint16) allocation->nregisters++;
	else
		return false;
	return true;
}

static Allocation *
make_allocation(const VectorBuild *build, const bool *needed)
{
	Allocation *allocation = palloc0(sizeof(Allocation));
	int n = Max(build->ncode, 1);
	ListCell *lc;

	allocation->place = palloc(n * sizeof(uint16));
	allocation->last_read = palloc(n * sizeof(int));
	for (int i = 0; i < n; i++)
	{
		allocation->place[i] = GPUAGG_VECTOR_NONE;
		allocation->last_read[i] = -1;
	}
	forget_free(allocation);
	foreach (lc, build->outputs)
		allocation->place[lfirst_int(lc)] = (uint16) allocation->nregisters++;
	for (int i = 0; i < build->ncode; i++)
	{
		const GpuaggVectorInstruction *instruction = &build->code[i];

		if (!needed[i])
			continue;
		read_at(allocation, instruction->a, i);
		read_at(allocation, instruction->b, i);
		read_at(allocation, instruction->c, i);
		read_at(allocation, instruction->mask, i);
	}
	return allocation;
}

static uint16
placed(const Allocation *allocation, uint16 reg)
{
	return reg == GPUAGG_VECTOR_NONE ? GPUAGG_VECTOR_NONE : allocation->place[reg];
}

bool
gpuagg_build_finish(VectorBuild *build)
{
	VectorCompiler *compiler = build->compiler;
	GpuaggVectorProgram *program = &compiler->program;
	bool *needed = find_needed(build);
	int *constants = number_constants(build, needed);
	GpuaggVectorInstruction *code = palloc0(Max(build->ncode, 1) * sizeof(GpuaggVectorInstruction));
	Allocation *allocation;
	uint8 *columns;
	List *rows = NIL;
	int n = 0;

	if (list_length(build->outputs) > GPUAGG_VECTOR_REGISTERS)
		return false;
	allocation = make_allocation(build, needed);
	columns = palloc0(Max(build->ncode, 1));
	for (int i = 0; i < build->ncode; i++)
	{
		const GpuaggVectorInstruction *from = &build->code[i];
		GpuaggVectorInstruction *to = &code[n];

		if (i == build->nfilter)
			forget_free(allocation);
		if (!needed[i])
			continue;
		if (!place(allocation, build, i))
			return false;
		*to = *from;
		to->out = allocation->place[i];
		to->a = placed(allocation, from->a);
		to->b = placed(allocation, from->b);
		to->c = placed(allocation, from->c);
		to->mask = placed(allocation, from->mask);
		release(allocation, build, from->a, i);
		release(allocation, build, from->b, i);
		release(allocation, build, from->c, i);
		release(allocation, build, from->mask, i);
		if (constants_of(from) > 0)
			to->arg = constants[from->arg];
		else if (from->op == GPUAGG_VECTOR_ROW)
			to->arg = number_row(&rows, from->arg);
		else if (from->op == GPUAGG_VECTOR_COLUMN)
		{
			to->arg = number_column(compiler, columns, (AttrNumber) from->arg, from->type);
			if (i < build->nfilter)
				compiler->nfilter_columns = list_length(compiler->attributes);
		}
		n++;
		if (i < build->nfilter)
			program->nfilter = n;
	}
	keep_rows(build, rows);
	program->ninstructions = n;
	program->filter = placed(allocation, build->filter);
	program->nregisters = allocation->nregisters;
	program->ncolumns = list_length(compiler->attributes);
	program->instructions = code;
	program->columns = columns;
	return program->ninstructions <= GPUAGG_VECTOR_INSTRUCTIONS &&
		   program->nconstants <= GPUAGG_VECTOR_CONSTANTS;
}
