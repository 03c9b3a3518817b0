/*
 * vector_run.c
 *	  Runs vector programs on the CPU.
 *
 * The instructions of a program become steps once.  A register's vector points to
 * memory of its own while an instruction has written it, and to the column's while
 * COLUMN has: columns are not copied.  The register of a constant holds copies for all
 * rows, made when constants change, so that every instruction can take it; loops of two
 * operands read only the first one.
 */
#include "common/vector_step.h"

#define BITMAP_SIZE (GPUAGG_VECTOR_WORDS * sizeof(uint64_t))

bool gpuagg_vector_plain;

typedef struct Runner
{
	GpuaggVectorRunner public; /* first */
	GpuaggVectorStep *steps;
} Runner;

/* Where the parts of a runner lie, as offsets. */
typedef struct Layout
{
	size_t constants;
	size_t columns;
	size_t registers;
	size_t steps;
	size_t memory; /* of registers, one after the other */
	size_t sets;
	size_t size;
} Layout;

/* What a program does with a register. */
typedef struct Use
{
	int writes;
	int writer;	 /* the last one */
	size_t size; /* of its values, bytes */
	size_t offset;
} Use;

int
gpuagg_vector_width(void)
{
#if defined(__x86_64__)
	return !gpuagg_vector_plain && __builtin_cpu_supports("avx2");
#else
	return 0;
#endif
}

static size_t
round_up(size_t size)
{
	return (size + 63) / 64 * 64;
}

static size_t
add(size_t *end, size_t size)
{
	size_t offset = *end;

	*end += round_up(size);
	return offset;
}

static bool
has_set(const GpuaggVectorInstruction *in)
{
	return in->count > 0 || in->op == GPUAGG_VECTOR_IN_RANGE;
}

static int
set_count(const GpuaggVectorInstruction *in)
{
	return in->count > 0 ? in->count : 2;
}

static Layout
lay_out(const GpuaggVectorProgram *program, Use *uses)
{
	Layout layout;
	size_t end = 0;

	memset(uses, 0, sizeof(Use) * program->nregisters);
	(void) add(&end, sizeof(Runner));
	layout.constants = add(&end, program->nconstants * sizeof(GpuaggVectorConstant));
	layout.columns = add(&end, program->ncolumns * sizeof(GpuaggVector));
	layout.registers = add(&end, program->nregisters * sizeof(GpuaggVector));
	layout.steps = add(&end, program->ninstructions * sizeof(GpuaggVectorStep));
	for (uint32_t i = 0; i < program->ninstructions; i++)
	{
		const GpuaggVectorInstruction *in = &program->instructions[i];
		Use *use = &uses[in->out];
		int type = gpuagg_vector_result(in);
		size_t size = type == GPUAGG_VECTOR_BOOL
						  ? BITMAP_SIZE
						  : GPUAGG_VECTOR_ROWS * gpuagg_vector_type_size(type);

		use->writes++;
		if (in->op != GPUAGG_VECTOR_COLUMN && use->size < size)
			use->size = size;
	}
	layout.memory = end;
	for (uint32_t r = 0; r < program->nregisters; r++)
		uses[r].offset = add(&end, uses[r].size == 0 ? 0 : uses[r].size + BITMAP_SIZE);
	layout.sets = end;
	for (uint32_t i = 0; i < program->ninstructions; i++)
		if (has_set(&program->instructions[i]))
			(void) add(&end, (size_t) set_count(&program->instructions[i]) *
								 gpuagg_vector_type_size(program->instructions[i].type));
	layout.size = end;
	return layout;
}

size_t
gpuagg_vector_runner_size(const GpuaggVectorProgram *program)
{
	Use uses[GPUAGG_VECTOR_REGISTERS];

	return lay_out(program, uses).size;
}

/* The live rows for which the mask is true; returns whether there are any. */
static bool
wanted_rows(const GpuaggVectorStep *step, uint64_t *wanted)
{
	uint64_t any = 0;

	for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
	{
		wanted[w] = step->runner->live[w];
		if (step->mask != NULL)
			wanted[w] &= gpuagg_vector_true_word(step->mask, w);
		any |= wanted[w];
	}
	return any != 0;
}

static void
run_column(const GpuaggVectorStep *step)
{
	const GpuaggVectorRunner *runner = step->runner;
	uint64_t wanted[GPUAGG_VECTOR_WORDS];

	if (runner->load != NULL && wanted_rows(step, wanted))
		runner->load(runner->owner, (int) step->instruction->arg, wanted);
	if (step->followed && runner->codes != NULL &&
		runner->codes[step->instruction->arg].codes != NULL)
		runner->strings(runner->owner, (int) step->instruction->arg);
	*step->out = runner->columns[step->instruction->arg];
}

/* The value of a constant as one of its type. */
static void
write_constant(const GpuaggVectorConstant *constant, void *value)
{
	int16_t int16 = (int16_t) constant->u.integer.lo;
	int32_t int32 = (int32_t) constant->u.integer.lo;

	if (constant->isnull)
		memset(value, 0, gpuagg_vector_type_size(constant->type));
	else if (constant->type == GPUAGG_VECTOR_INT16)
		memcpy(value, &int16, sizeof(int16));
	else if (constant->type == GPUAGG_VECTOR_INT32)
		memcpy(value, &int32, sizeof(int32));
	else if (constant->type == GPUAGG_VECTOR_INT64)
		memcpy(value, &constant->u.integer.lo, sizeof(int64_t));
	else
		memcpy(value, &constant->u, gpuagg_vector_type_size(constant->type));
}

static void
fill_constant(const GpuaggVectorStep *step)
{
	const GpuaggVectorConstant *constant = &step->runner->constants[step->instruction->arg];
	size_t size = gpuagg_vector_type_size(constant->type);
	uint8_t *values = step->values;

	step->out->values = step->values;
	step->out->valid = constant->isnull ? memset(step->valid, 0, BITMAP_SIZE) : NULL;
	if (constant->type == GPUAGG_VECTOR_BOOL)
	{
		memset(values, constant->u.integer.lo & 1 ? 0xff : 0, BITMAP_SIZE);
		return;
	}
	write_constant(constant, values);
	for (size_t done = size; done < size * GPUAGG_VECTOR_ROWS; done *= 2)
		memcpy(values + done, values, done);
}

static void
run_constant(const GpuaggVectorStep *step)
{
	if (!step->once)
		fill_constant(step);
}

static void
run_row(const GpuaggVectorStep *step)
{
	const GpuaggVectorRunner *runner = step->runner;
	int type = step->instruction->type;
	uint64_t wanted[GPUAGG_VECTOR_WORDS];
	bool any = wanted_rows(step, wanted);

	step->out->values = step->values;
	step->out->valid = memset(step->valid, 0, BITMAP_SIZE);
	if (type == GPUAGG_VECTOR_BOOL)
		memset(step->values, 0, BITMAP_SIZE);
	if (any)
		runner->row(runner->owner, (int) step->instruction->arg, wanted, step->out);
	for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
		step->valid[w] &= wanted[w];
}

void
gpuagg_vector_flag(const GpuaggVectorStep *step, int word, uint64_t bits)
{
	GpuaggVectorRunner *runner = step->runner;

	bits &= runner->live[word] & gpuagg_vector_valid_word(step->out, word);
	if (step->mask != NULL)
		bits &= gpuagg_vector_true_word(step->mask, word);
	runner->flagged[word] |= bits;
	runner->any_flagged |= bits != 0;
}

static void
run_loop(const GpuaggVectorStep *step)
{
	size_t a_size = gpuagg_vector_type_size(step->instruction->type);
	int words = gpuagg_vector_words(step);
	const uint8_t *a = step->a->values;
	const uint8_t *b = step->scalar != NULL ? step->scalar : step->b != NULL ? step->b->values : a;
	uint64_t wanted[GPUAGG_VECTOR_WORDS];

	gpuagg_vector_strict(step, wanted);
	if (step->loop(a, b, step->values, wanted, words) == 0)
		return;
	for (int w = 0; w < words; w++)
		if (wanted[w] != 0)
			gpuagg_vector_flag(step, w,
							   step->flags(a + 64 * w * a_size,
										   step->scalar != NULL ? b : b + 64 * w * a_size,
										   step->scalar == NULL));
}

void
gpuagg_vector_take_loops(GpuaggVectorStep *step, const GpuaggVectorLoops *loops)
{
	int width = gpuagg_vector_width();

	step->run = run_loop;
	step->flags = loops->flags;
	if (step->scalar != NULL || (step->b_constant && loops->b_constant[width] != NULL))
		step->loop = loops->b_constant[width];
	else if (step->a_constant && loops->a_constant[width] != NULL)
		step->loop = loops->a_constant[width];
	else
		step->loop = loops->vectors[width];
}

static void
choose(GpuaggVectorStep *step)
{
	switch ((GpuaggVectorOp) step->instruction->op)
	{
		case GPUAGG_VECTOR_COLUMN:
			step->run = run_column;
			break;
		case GPUAGG_VECTOR_CONSTANT:
			step->run = run_constant;
			break;
		case GPUAGG_VECTOR_ROW:
			step->run = run_row;
			break;
		case GPUAGG_VECTOR_EQ:
		case GPUAGG_VECTOR_NE:
		case GPUAGG_VECTOR_LT:
		case GPUAGG_VECTOR_LE:
		case GPUAGG_VECTOR_GT:
		case GPUAGG_VECTOR_GE:
			gpuagg_vector_choose_compare(step);
			break;
		case GPUAGG_VECTOR_IN:
		case GPUAGG_VECTOR_IN_RANGE:
			gpuagg_vector_choose_set(step);
			break;
		case GPUAGG_VECTOR_LIKE:
			gpuagg_vector_choose_like(step);
			break;
		case GPUAGG_VECTOR_AND:
		case GPUAGG_VECTOR_OR:
		case GPUAGG_VECTOR_NOT:
		case GPUAGG_VECTOR_IS_TRUE:
		case GPUAGG_VECTOR_IS_FALSE:
		case GPUAGG_VECTOR_IS_NULL:
			gpuagg_vector_choose_logic(step);
			break;
		case GPUAGG_VECTOR_SELECT:
		case GPUAGG_VECTOR_COALESCE:
		case GPUAGG_VECTOR_NULLIF:
		case GPUAGG_VECTOR_LEAST:
		case GPUAGG_VECTOR_GREATEST:
			gpuagg_vector_choose_choice(step);
			break;
		case GPUAGG_VECTOR_ADD:
		case GPUAGG_VECTOR_SUB:
		case GPUAGG_VECTOR_MUL:
		case GPUAGG_VECTOR_DIV:
		case GPUAGG_VECTOR_MOD:
		case GPUAGG_VECTOR_NEG:
		case GPUAGG_VECTOR_ABS:
		case GPUAGG_VECTOR_MUL_WIDE:
		case GPUAGG_VECTOR_DIV_FLOOR:
		case GPUAGG_VECTOR_DIV_ROUND:
			gpuagg_vector_choose_arithmetic(step);
			break;
		case GPUAGG_VECTOR_CAST:
		case GPUAGG_VECTOR_DECIMAL_TO_FLOAT:
			gpuagg_vector_choose_cast(step);
			break;
		case GPUAGG_VECTOR_TIME_TRUNC:
		case GPUAGG_VECTOR_TIME_FIELD:
			gpuagg_vector_choose_time(step);
			break;
		case GPUAGG_VECTOR_TIME_TO_LOCAL:
		case GPUAGG_VECTOR_TIME_FROM_LOCAL:
			gpuagg_vector_choose_zone(step);
			break;
		case GPUAGG_VECTOR_OPS:
			break;
	}
}

static GpuaggVector *
operand(const GpuaggVectorRunner *runner, uint16_t number)
{
	return number == GPUAGG_VECTOR_NONE ? NULL : &runner->registers[number];
}

/* Whether the register, as it is before an instruction, holds a constant. */
static bool
is_constant(const GpuaggVectorProgram *program, const Use *uses, uint16_t number)
{
	return number != GPUAGG_VECTOR_NONE &&
		   program->instructions[uses[number].writer].op == GPUAGG_VECTOR_CONSTANT;
}

/* The column that the register, as it is before an instruction, holds; -1: none. */
static int
column_of(const GpuaggVectorProgram *program, const Use *uses, uint16_t number)
{
	const GpuaggVectorInstruction *writer;

	if (number == GPUAGG_VECTOR_NONE)
		return -1;
	writer = &program->instructions[uses[number].writer];
	return writer->op == GPUAGG_VECTOR_COLUMN ? (int) writer->arg : -1;
}

/* The column of strings that an instruction compares with constants; -1: it is none such. */
static int
coded_column(const GpuaggVectorProgram *program, const Use *uses, const GpuaggVectorStep *step)
{
	const GpuaggVectorInstruction *in = step->instruction;

	return in->type == GPUAGG_VECTOR_BYTES
			   ? column_of(program, uses,
						   gpuagg_vector_compared(in, step->a_constant, step->b_constant))
			   : -1;
}

/* Whether an instruction looks at the strings that COLUMN number `column` has made. */
static bool
is_followed(const GpuaggVectorProgram *program, const GpuaggVectorStep *steps, uint32_t column)
{
	uint16_t reg = program->instructions[column].out;

	for (uint32_t i = column + 1; i < program->ninstructions; i++)
	{
		const GpuaggVectorInstruction *in = &program->instructions[i];

		if ((in->a == reg || in->b == reg || in->c == reg) && steps[i].coded < 0 &&
			in->op != GPUAGG_VECTOR_IS_NULL)
			return true;
		if (in->out == reg)
			return false;
	}
	return false;
}

GpuaggVectorRunner *
gpuagg_vector_runner_make(void *memory, const GpuaggVectorProgram *program)
{
	Use uses[GPUAGG_VECTOR_REGISTERS];
	Layout layout = lay_out(program, uses);
	uint8_t *base = memory;
	size_t sets = layout.sets;
	Runner *runner = memory;
	GpuaggVectorRunner *public = &runner->public;

	memset(memory, 0, layout.memory);
	public->program = program;
	public->constants = (GpuaggVectorConstant *) (base + layout.constants);
	public->columns = (GpuaggVector *) (base + layout.columns);
	public->registers = (GpuaggVector *) (base + layout.registers);
	runner->steps = (GpuaggVectorStep *) (base + layout.steps);
	if (program->nconstants > 0)
		memcpy(public->constants, program->constants,
			   program->nconstants * sizeof(GpuaggVectorConstant));
	for (uint32_t i = 0; i < program->ninstructions; i++)
	{
		const GpuaggVectorInstruction *in = &program->instructions[i];
		GpuaggVectorStep *step = &runner->steps[i];
		Use *use = &uses[in->out];

		step->instruction = in;
		step->runner = public;
		step->a = operand(public, in->a);
		step->b = operand(public, in->b);
		step->c = operand(public, in->c);
		step->mask = operand(public, in->mask);
		step->out = operand(public, in->out);
		step->values = base + use->offset;
		step->valid = (uint64_t *) (base + use->offset + use->size);
		step->a_constant = is_constant(program, uses, in->a);
		step->b_constant = is_constant(program, uses, in->b);
		step->once = use->writes == 1;
		if (has_set(in))
			step->set = base +
						add(&sets, (size_t) set_count(in) * gpuagg_vector_type_size(in->type));
		step->coded = coded_column(program, uses, step);
		use->writer = (int) i;
		choose(step);
	}
	for (uint32_t i = 0; i < program->ninstructions; i++)
		if (program->instructions[i].op == GPUAGG_VECTOR_COLUMN &&
			program->instructions[i].type == GPUAGG_VECTOR_BYTES)
			runner->steps[i].followed = is_followed(program, runner->steps, i);
	gpuagg_vector_constants_changed(public);
	return public;
}

void
gpuagg_vector_constants_changed(GpuaggVectorRunner *public)
{
	Runner *runner = (Runner *) public;

	for (uint32_t i = 0; i < public->program->ninstructions; i++)
	{
		GpuaggVectorStep *step = &runner->steps[i];
		const GpuaggVectorInstruction *in = step->instruction;
		size_t size = gpuagg_vector_type_size(in->type);

		if (in->op == GPUAGG_VECTOR_CONSTANT && step->once)
			fill_constant(step);
		if (!has_set(in))
			continue;
		step->has_null = false;
		for (int k = 0; k < set_count(in); k++)
		{
			const GpuaggVectorConstant *constant = &public->constants[in->arg + (uint32_t) k];

			write_constant(constant, (uint8_t *) step->set + (size_t) k * size);
			step->has_null |= constant->isnull != 0;
		}
		if (in->op == GPUAGG_VECTOR_IN)
			gpuagg_vector_sort_set(in->type, step->set, in->count);
	}
}

int
gpuagg_vector_run_filter(GpuaggVectorRunner *public, int nrows)
{
	const Runner *runner = (const Runner *) public;
	const GpuaggVectorProgram *program = public->program;

	public->nrows = nrows;
	public->any_flagged = false;
	memset(public->flagged, 0, sizeof(public->flagged));
	gpuagg_vector_all(public->live, nrows);
	for (uint32_t i = 0; i < program->nfilter; i++)
		runner->steps[i].run(&runner->steps[i]);
	if (program->filter == GPUAGG_VECTOR_NONE)
		return nrows;
	for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
	public->live[w] &= gpuagg_vector_true_word(&public->registers[program->filter], w);
	return gpuagg_vector_count(public->live);
}

void
gpuagg_vector_run_selected(GpuaggVectorRunner *public, int nrows, const uint64_t *live,
						   const bool *kept)
{
	const Runner *runner = (const Runner *) public;

	public->nrows = nrows;
	public->any_flagged = false;
	memset(public->flagged, 0, sizeof(public->flagged));
	memcpy(public->live, live, sizeof(public->live));
	for (uint32_t i = 0; i < public->program->nfilter; i++)
	{
		const GpuaggVectorStep *step = &runner->steps[i];

		if (!kept[i])
			continue;
		/* where it is needed, which registers of the filter tell, is known already */
		if (step->instruction->op == GPUAGG_VECTOR_COLUMN)
			*step->out = public->columns[step->instruction->arg];
		else
			step->run(step);
	}
}

void
gpuagg_vector_run_values(GpuaggVectorRunner *public)
{
	const Runner *runner = (const Runner *) public;

	for (uint32_t i = public->program->nfilter; i < public->program->ninstructions; i++)
		runner->steps[i].run(&runner->steps[i]);
}

int
gpuagg_vector_list(const uint64_t *bitmap, uint16_t *rows)
{
	int n = 0;

	for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
	{
		uint64_t left = bitmap[w];

		if (left == UINT64_MAX)
			for (int i = 0; i < 64; i++)
				rows[n++] = (uint16_t) (w * 64 + i);
		else
			for (; left != 0; left &= left - 1)
				rows[n++] = (uint16_t) (w * 64 + __builtin_ctzll(left));
	}
	return n;
}
