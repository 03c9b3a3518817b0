/*
 * device_codes.c
 *	  Strings in a program for the device: their codes instead of them.
 *
 * A condition on strings of a column is decided here for each entry of the column's dictionary,
 * and becomes one on codes: that it is one of those for which the condition holds, or none of the
 * others.  Strings that are not a column's, or are computed, are the CPU's.
 */
#include "compat.h"

#include "exec/device_codes.h"

/* Codes that a condition names, at most. */
#define MAX_CODES 48

/* What a register with strings holds at some instruction. */
typedef struct Strings
{
	int column; /* -1: none */
	int constant;
} Strings;

/* A program that is being made; the registers of the old one, and one more. */
typedef struct Maker
{
	const GpuaggVectorProgram *from;
	DeviceProgram *made; /* NULL: only to see whether there is one */
	GpuaggVectorInstruction *instructions;
	GpuaggVectorConstant *new_constants;
	uint8 *columns;
	Strings registers[GPUAGG_VECTOR_REGISTERS];
} Maker;

static Strings
strings_of(const Maker *maker, uint16 reg)
{
	return reg == GPUAGG_VECTOR_NONE ? (Strings){-1, -1} : maker->registers[reg];
}

/* ---- conditions ---- */

/* Whether the instruction is a condition on strings of one column, and constants. */
static bool
is_condition(const Maker *maker, const GpuaggVectorInstruction *in)
{
	uint16 compared = gpuagg_vector_compared(in, strings_of(maker, in->a).constant >= 0,
											 strings_of(maker, in->b).constant >= 0);

	return strings_of(maker, compared).column >= 0;
}

/* The condition by itself: the column is number 0. */
static void
make_condition(const Maker *maker, const GpuaggVectorInstruction *in,
			   GpuaggVectorInstruction *instructions, GpuaggVectorProgram *program)
{
	static const uint8 columns[] = {GPUAGG_VECTOR_BYTES};
	Strings a = strings_of(maker, in->a);
	Strings b = strings_of(maker, in->b);
	int constant = a.constant >= 0 ? a.constant : b.constant;
	GpuaggVectorInstruction source = {.type = GPUAGG_VECTOR_BYTES,
									  .a = GPUAGG_VECTOR_NONE,
									  .b = GPUAGG_VECTOR_NONE,
									  .c = GPUAGG_VECTOR_NONE,
									  .mask = GPUAGG_VECTOR_NONE};
	uint32 n = 0;

	source.op = GPUAGG_VECTOR_COLUMN;
	instructions[n++] = source;
	if (constant >= 0)
	{
		source.op = GPUAGG_VECTOR_CONSTANT;
		source.out = 1;
		source.arg = (uint32) constant;
		instructions[n++] = source;
	}
	instructions[n] = *in;
	instructions[n].out = 2;
	instructions[n].a = a.column >= 0 ? 0 : 1;
	instructions[n].b = in->b == GPUAGG_VECTOR_NONE ? GPUAGG_VECTOR_NONE : b.column >= 0 ? 0 : 1;
	instructions[n].mask = GPUAGG_VECTOR_NONE;
	*program = (GpuaggVectorProgram){.ninstructions = n + 1,
									 .filter = GPUAGG_VECTOR_NONE,
									 .nregisters = 3,
									 .nconstants = maker->from->nconstants,
									 .ncolumns = 1,
									 .instructions = instructions,
									 .constants = maker->from->constants,
									 .columns = columns};
}

/* Sets holds[] for each entry; false: the condition is NULL, or some entry has to be evaluated otherwise. */
static bool
decide(const Maker *maker, const GpuaggVectorInstruction *in, const GpuaggVectorBytes *entries,
	   uint32 nentries, bool *holds)
{
	GpuaggVectorInstruction instructions[3];
	GpuaggVectorProgram program;
	GpuaggVectorBytes *strings = palloc(GPUAGG_VECTOR_ROWS * sizeof(GpuaggVectorBytes));
	GpuaggVectorRunner *runner;
	void *memory;
	bool decided = true;

	make_condition(maker, in, instructions, &program);
	memory = palloc(gpuagg_vector_runner_size(&program) + 64);
	runner = gpuagg_vector_runner_make((void *) TYPEALIGN(64, memory), &program);
	for (uint32 first = 0; first < nentries && decided; first += GPUAGG_VECTOR_ROWS)
	{
		int n = (int) Min(nentries - first, GPUAGG_VECTOR_ROWS);
		const GpuaggVector *out = &runner->registers[2];

		memcpy(strings, entries + first, n * sizeof(GpuaggVectorBytes));
		runner->columns[0] = (GpuaggVector){strings, NULL};
		(void) gpuagg_vector_run_filter(runner, n);
		gpuagg_vector_run_values(runner);
		decided = !runner->any_flagged;
		for (int i = 0; i < n && decided; i++)
		{
			decided = out->valid == NULL || (out->valid[i / 64] >> (i % 64) & 1) != 0;
			holds[first + i] = (((const uint64 *) out->values)[i / 64] >> (i % 64) & 1) != 0;
		}
	}
	pfree(memory);
	pfree(strings);
	return decided;
}

static void
add_instruction(Maker *maker, GpuaggVectorInstruction in)
{
	maker->instructions[maker->made->program.ninstructions++] = in;
}

/* Adds the codes of the entries with that verdict as constants; one that no string has, if there is none. */
static uint16
add_codes(Maker *maker, const bool *holds, uint32 n, bool verdict)
{
	GpuaggVectorProgram *program = &maker->made->program;
	uint32 first = program->nconstants;

	for (uint32 i = 0; i < n; i++)
		if (holds[i] == verdict)
			maker->new_constants[program->nconstants++] =
				(GpuaggVectorConstant){.type = GPUAGG_VECTOR_INT32,
									   .u.integer = gpuagg_int128_from((int32) i)};
	if (program->nconstants == first)
		maker->new_constants[program->nconstants++] =
			(GpuaggVectorConstant){.type = GPUAGG_VECTOR_INT32,
								   .u.integer = gpuagg_int128_from(-1)};
	return (uint16) (program->nconstants - first);
}

/* The condition as one on codes; false: it names too many, or cannot be decided. */
static bool
add_condition(Maker *maker, const GpuaggVectorInstruction *in)
{
	GpuaggVectorProgram *program = &maker->made->program;
	uint16 column_reg = strings_of(maker, in->a).column >= 0 ? in->a : in->b;
	int column = strings_of(maker, column_reg).column;
	uint32 n = maker->made->nentries[column];
	bool *holds = palloc(n * sizeof(bool));
	GpuaggVectorInstruction test = {.op = GPUAGG_VECTOR_IN,
									.type = GPUAGG_VECTOR_INT32,
									.out = in->out,
									.a = column_reg,
									.b = GPUAGG_VECTOR_NONE,
									.c = GPUAGG_VECTOR_NONE,
									.mask = GPUAGG_VECTOR_NONE};
	uint32 true_codes = 0;
	bool inverted;

	if (!decide(maker, in, maker->made->entries[column], n, holds))
		return false;
	for (uint32 i = 0; i < n; i++)
		true_codes += holds[i];
	inverted = n - true_codes < true_codes;
	if ((inverted ? n - true_codes : true_codes) > MAX_CODES ||
		program->nconstants + MAX_CODES > GPUAGG_VECTOR_CONSTANTS)
		return false;
	test.arg = program->nconstants;
	test.count = add_codes(maker, holds, n, !inverted);
	pfree(holds);
	if (inverted)
	{
		GpuaggVectorInstruction contrary = {.op = GPUAGG_VECTOR_NOT,
											.type = GPUAGG_VECTOR_BOOL,
											.out = in->out,
											.a = (uint16) maker->from->nregisters,
											.b = GPUAGG_VECTOR_NONE,
											.c = GPUAGG_VECTOR_NONE,
											.mask = GPUAGG_VECTOR_NONE};

		test.out = contrary.a;
		add_instruction(maker, test);
		add_instruction(maker, contrary);
	}
	else
		add_instruction(maker, test);
	return true;
}

/* ---- the program ---- */

/* Takes an instruction over strings; false: it has no counterpart. */
static bool
take_strings(Maker *maker, GpuaggVectorInstruction in)
{
	Strings a = strings_of(maker, in.a);

	switch (in.op)
	{
		case GPUAGG_VECTOR_COLUMN:
			maker->registers[in.out] = (Strings){(int) in.arg, -1};
			break;
		case GPUAGG_VECTOR_CONSTANT:
			maker->registers[in.out] = (Strings){-1, (int) in.arg};
			return true;
		case GPUAGG_VECTOR_IS_NULL:
			if (a.column < 0)
				return false;
			break;
		default:
			return is_condition(maker, &in) && (maker->made == NULL || add_condition(maker, &in));
	}
	in.type = GPUAGG_VECTOR_INT32;
	if (maker->made != NULL)
		add_instruction(maker, in);
	return true;
}

static bool
take_instructions(Maker *maker)
{
	for (uint32 i = 0; i < maker->from->ninstructions; i++)
	{
		const GpuaggVectorInstruction *in = &maker->from->instructions[i];

		if (maker->made != NULL && i == maker->from->nfilter)
			maker->made->program.nfilter = maker->made->program.ninstructions;
		if (in->type == GPUAGG_VECTOR_BYTES)
		{
			if (!take_strings(maker, *in))
				return false;
			if (gpuagg_vector_result(in) == GPUAGG_VECTOR_BYTES)
				continue;
		}
		else if (maker->made != NULL)
			add_instruction(maker, *in);
		if (in->out != GPUAGG_VECTOR_NONE)
			maker->registers[in->out] = (Strings){-1, -1};
	}
	if (maker->made != NULL && maker->from->nfilter == maker->from->ninstructions)
		maker->made->program.nfilter = maker->made->program.ninstructions;
	return true;
}

static void
begin(Maker *maker, const GpuaggVectorProgram *from)
{
	memset(maker, 0, sizeof(Maker));
	maker->from = from;
	for (uint32 i = 0; i < from->nregisters; i++)
		maker->registers[i] = (Strings){-1, -1};
}

static bool
has_strings(const GpuaggVectorProgram *program)
{
	for (uint32 i = 0; i < program->ncolumns; i++)
		if (program->columns[i] == GPUAGG_VECTOR_BYTES)
			return true;
	return false;
}

const char *
gpuagg_device_codes_refusal(const GpuaggVectorProgram *from)
{
	Maker *maker = palloc(sizeof(Maker));
	const char *refusal = NULL;

	begin(maker, from);
	if (has_strings(from) &&
		(from->nregisters >= GPUAGG_VECTOR_REGISTERS ||
		 from->ninstructions > GPUAGG_VECTOR_INSTRUCTIONS / 2 || !take_instructions(maker)))
		refusal = "an expression of strings is the CPU's";
	pfree(maker);
	return refusal;
}

/* Finds the entries of a column's dictionaries, one after the other; false: some cannot be had. */
static bool
find_entries(const PageReader *const *readers, const int *const *places, int n, int column,
			 DeviceProgram *made)
{
	uint32 ncolumns = made->program.ncolumns;
	GpuaggVectorBytes *all = NULL;
	uint32 nall = 0;

	for (int i = 0; i < n; i++)
	{
		const GpuaggVectorBytes *entries;
		uint32 nentries;
		int own = places[i] != NULL ? places[i][column] : column;

		if (readers[i] == NULL || own < 0)
			continue;
		entries = gpuagg_page_device_strings(readers[i], own, &nentries);
		if (entries == NULL || nentries > (uint32) PG_INT32_MAX - nall)
			return false;
		made->entries[column] = entries;
		made->nentries[column] = nentries;
		if (n == 1)
			return true;
		made->firsts[i * ncolumns + column] = (int32) nall;
		all = all == NULL ? palloc_extended(Max(nentries, 1) * sizeof(*all), MCXT_ALLOC_HUGE)
						  : repalloc_huge(all, ((Size) nall + nentries + 1) * sizeof(*all));
		memcpy(all + nall, entries, nentries * sizeof(*all));
		nall += nentries;
	}
	made->entries[column] = all != NULL ? all : palloc(sizeof(*all));
	made->nentries[column] = nall;
	return true;
}

bool
gpuagg_device_codes_program(const GpuaggVectorProgram *from, const PageReader *const *readers,
							const int *const *places, int n, DeviceProgram *made)
{
	Maker *maker;

	memset(made, 0, sizeof(DeviceProgram));
	made->program = *from;
	if (!has_strings(from))
		return true;
	maker = palloc(sizeof(Maker));
	begin(maker, from);
	maker->made = made;
	maker->instructions = palloc(2 * from->ninstructions * sizeof(GpuaggVectorInstruction));
	maker->new_constants = palloc0(GPUAGG_VECTOR_CONSTANTS * sizeof(GpuaggVectorConstant));
	maker->columns = palloc(from->ncolumns);
	made->entries = palloc0(from->ncolumns * sizeof(GpuaggVectorBytes *));
	made->nentries = palloc0(from->ncolumns * sizeof(uint32));
	if (n > 1)
		made->firsts = palloc0((Size) n * from->ncolumns * sizeof(int32));
	made->program.ninstructions = 0;
	made->program.nregisters = from->nregisters + 1;
	made->program.instructions = maker->instructions;
	made->program.constants = maker->new_constants;
	made->program.columns = maker->columns;
	for (uint32 i = 0; i < from->nconstants; i++)
		if (from->constants[i].type != GPUAGG_VECTOR_BYTES)
			maker->new_constants[i] = from->constants[i];
		else
			maker->new_constants[i].type = GPUAGG_VECTOR_INT32; /* nothing has it */
	for (uint32 i = 0; i < from->ncolumns; i++)
	{
		maker->columns[i] = (uint8) gpuagg_device_type(from->columns[i]);
		if (from->columns[i] != GPUAGG_VECTOR_BYTES)
			continue;
		if (!find_entries(readers, places, n, (int) i, made))
			return false;
	}
	return take_instructions(maker);
}
