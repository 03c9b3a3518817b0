/*
 * vector_codes_test.c
 *	  Conditions on strings that have codes beside the same on the strings themselves.
 */
#include <stdlib.h>
#include <string.h>

#include "common/vector_run.h"

#include "check.h"
#include "random.h"

#define NONE	GPUAGG_VECTOR_NONE
#define ENTRIES 300
#define COLUMNS 3 /* two of strings, one of integers */
#define PROGRAM 40

static GpuaggVectorInstruction instructions[PROGRAM];
static GpuaggVectorConstant constants[8];
static const uint8_t columns[COLUMNS] = {GPUAGG_VECTOR_BYTES, GPUAGG_VECTOR_BYTES,
										 GPUAGG_VECTOR_INT32};
static GpuaggVectorProgram program = {.filter = NONE,
									  .nregisters = PROGRAM,
									  .nconstants = 8,
									  .ncolumns = COLUMNS,
									  .instructions = instructions,
									  .constants = constants,
									  .columns = columns};
static int conditions[PROGRAM]; /* registers */
static int nconditions;

static GpuaggVectorBytes entries[ENTRIES];
static char texts[ENTRIES][40];
static int32_t codes[2][GPUAGG_VECTOR_ROWS];
static GpuaggVectorBytes strings[2][GPUAGG_VECTOR_ROWS];
static GpuaggVectorBytes made[2][GPUAGG_VECTOR_ROWS];
static int32_t numbers[GPUAGG_VECTOR_ROWS];
static uint64_t valid[2][GPUAGG_VECTOR_WORDS];
static GpuaggVectorCodes tables[COLUMNS];
static uint8_t *verdicts[PROGRAM]; /* as large as the entries, for who reads beyond them */
static bool wanted[2][ENTRIES];	   /* entries of evaluated rows, as long as verdicts are kept */
static int nrows;
static int nmade;

static uint16_t
instruction(int op, int type, uint16_t a, uint16_t b, uint32_t arg)
{
	GpuaggVectorInstruction *in = &instructions[program.ninstructions];

	*in = (GpuaggVectorInstruction){.op = (uint8_t) op,
									.type = (uint8_t) type,
									.out = (uint16_t) program.ninstructions++,
									.a = a,
									.b = b,
									.c = NONE,
									.mask = NONE,
									.arg = arg};
	return in->out;
}

static uint16_t
condition(int op, uint16_t a, uint16_t b, uint32_t arg)
{
	conditions[nconditions++] = instruction(op, GPUAGG_VECTOR_BYTES, a, b, arg);
	return (uint16_t) conditions[nconditions - 1];
}

static void
set_constant(int number, const char *text)
{
	constants[number].type = GPUAGG_VECTOR_BYTES;
	constants[number].u.bytes = (GpuaggVectorBytes){(const uint8_t *) text, strlen(text)};
}

/* A filter on the integers, and conditions on the strings of the rows that it leaves. */
static void
make_program(void)
{
	uint8_t types[GPUAGG_VECTOR_REGISTERS];
	uint16_t integer = instruction(GPUAGG_VECTOR_COLUMN, GPUAGG_VECTOR_INT32, NONE, NONE, 2);
	uint16_t limit = instruction(GPUAGG_VECTOR_CONSTANT, GPUAGG_VECTOR_INT32, NONE, NONE, 0);
	uint16_t first;
	uint16_t second;
	uint16_t text;
	uint16_t null;

	constants[0].type = GPUAGG_VECTOR_INT32;
	set_constant(1, "text 7");
	set_constant(2, "");
	set_constant(3, "a longer text of number 12");
	set_constant(4, "%ext%1%");
	set_constant(5, "x");
	set_constant(6, "nothing_");
	set_constant(7, "");
	constants[7].isnull = 1;
	program.filter = instruction(GPUAGG_VECTOR_LT, GPUAGG_VECTOR_INT32, integer, limit, 0);
	first = instruction(GPUAGG_VECTOR_COLUMN, GPUAGG_VECTOR_BYTES, NONE, NONE, 0);
	text = instruction(GPUAGG_VECTOR_CONSTANT, GPUAGG_VECTOR_BYTES, NONE, NONE, 1);
	(void) condition(GPUAGG_VECTOR_NE, first, text, 0);
	program.nfilter = program.ninstructions;
	second = instruction(GPUAGG_VECTOR_COLUMN, GPUAGG_VECTOR_BYTES, NONE, NONE, 1);
	null = instruction(GPUAGG_VECTOR_CONSTANT, GPUAGG_VECTOR_BYTES, NONE, NONE, 7);
	for (int op = GPUAGG_VECTOR_EQ; op <= GPUAGG_VECTOR_GE; op++)
	{
		(void) condition(op, first, text, 0);
		(void) condition(op, text, second, 0);
	}
	(void) condition(GPUAGG_VECTOR_EQ, first, null, 0);
	instructions[condition(GPUAGG_VECTOR_IN, first, NONE, 1)].count = 3;
	instructions[condition(GPUAGG_VECTOR_IN, second, NONE, 5)].count = 1;
	(void) condition(GPUAGG_VECTOR_LIKE, first, NONE, 4);
	(void) condition(GPUAGG_VECTOR_LIKE, second, NONE, 2);
	(void) condition(GPUAGG_VECTOR_IS_NULL, first, NONE, 0);

	(void) condition(GPUAGG_VECTOR_EQ, first, second, 0);
	CHECK(gpuagg_vector_check(&program, types) == -1);
}

static uint8_t *
verdicts_of(void *owner, int number, const GpuaggVectorCodes *table)
{
	if (verdicts[number] == NULL)
		verdicts[number] = calloc(table->nentries, 1);
	return verdicts[number];
}

static void
forget(void)
{
	for (int i = 0; i < PROGRAM; i++)
	{
		free(verdicts[i]);
		verdicts[i] = NULL;
	}
	memset(wanted, 0, sizeof(wanted));
}

static void
make_strings(void *owner, int column)
{
	for (int i = 0; i < nrows; i++)
		made[column][i] = entries[codes[column][i]];
	nmade++;
}

static void
make_rows(int nentries)
{
	nrows = (int) (next() % (GPUAGG_VECTOR_ROWS + 1));
	for (int i = 0; i < nrows; i++)
	{
		numbers[i] = (int32_t) (next() % 100);
		for (int c = 0; c < 2; c++)
		{
			codes[c][i] = (int32_t) (next() % (uint64_t) nentries);
			strings[c][i] = entries[codes[c][i]];
		}
	}
	/* behind the rows lies what is no code */
	for (int i = nrows; i < GPUAGG_VECTOR_ROWS; i++)
		codes[0][i] = codes[1][i] = INT32_MAX;
	for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
		for (int c = 0; c < 2; c++)
			valid[c][w] = next() | next();
}

static bool
bit(const uint64_t *bits, int row)
{
	return (bits[row / 64] >> row % 64 & 1) != 0;
}

/* Only entries of rows that are evaluated are decided. */
static bool
decided_rightly(const GpuaggVectorRunner *runner, int nentries)
{
	bool ok = true;

	for (int i = 0; i < nrows; i++)
		for (int c = 0; c < 2; c++)
			wanted[c][codes[c][i]] |= bit(runner->live, i) &&
									  (runner->columns[c].valid == NULL || bit(valid[c], i));
	for (uint32_t i = program.nfilter; i < program.ninstructions; i++)
		for (int k = 0; k < nentries && verdicts[i] != NULL; k++)
			ok &= verdicts[i][k] == 0 || wanted[0][k] || wanted[1][k];
	return ok;
}

static void
compare(GpuaggVectorRunner *plain, GpuaggVectorRunner *coded, bool nulls, int nentries)
{
	bool same = true;

	for (int c = 0; c < 2; c++)
	{
		plain->columns[c] = (GpuaggVector){strings[c], nulls ? valid[c] : NULL};
		coded->columns[c] = (GpuaggVector){made[c], nulls ? valid[c] : NULL};
		tables[c] = (GpuaggVectorCodes){codes[c], entries, (uint32_t) nentries, 1};
	}
	plain->columns[2] = coded->columns[2] = (GpuaggVector){numbers, NULL};
	coded->codes = tables;
	CHECK(gpuagg_vector_run_filter(plain, nrows) == gpuagg_vector_run_filter(coded, nrows));
	gpuagg_vector_run_values(plain);
	gpuagg_vector_run_values(coded);
	for (int k = 0; k < nconditions; k++)
	{
		const GpuaggVector *a = &plain->registers[conditions[k]];
		const GpuaggVector *b = &coded->registers[conditions[k]];

		for (int i = 0; i < nrows; i++)
		{
			bool null = a->valid != NULL && !bit(a->valid, i);

			if (!bit(plain->live, i))
				continue;
			same &= null == (b->valid != NULL && !bit(b->valid, i));
			same &= null || bit(a->values, i) == bit(b->values, i);
		}
	}
	CHECK(same);
	CHECK(plain->any_flagged == coded->any_flagged);
	CHECK(decided_rightly(coded, nentries));
}

static GpuaggVectorRunner *
make_runner(void)
{
	GpuaggVectorRunner *runner =
		gpuagg_vector_runner_make(aligned_alloc(64, gpuagg_vector_runner_size(&program)), &program);

	runner->verdicts = verdicts_of;
	runner->strings = make_strings;
	return runner;
}

static void
check_all(void)
{
	GpuaggVectorRunner *plain = make_runner();
	GpuaggVectorRunner *coded = make_runner();

	for (int round = 0; round < 400; round++)
	{
		int nentries = 1 + (int) (next() % (round % 2 == 0 ? ENTRIES : 3));

		for (int turn = 0; turn < 3; turn++)
		{
			GpuaggInt128 limit = gpuagg_int128_from((int64_t) (next() % 3) * 50);

			plain->constants[0].u.integer = coded->constants[0].u.integer = limit;
			gpuagg_vector_constants_changed(plain);
			gpuagg_vector_constants_changed(coded);
			make_rows(nentries);
			nmade = 0;
			compare(plain, coded, next() % 2 == 0, nentries);
			/* one instruction follows the strings of both columns */
			CHECK(nmade == 2);
		}
		forget();
	}
	free(plain);
	free(coded);
}

int
main(void)
{
	for (int i = 0; i < ENTRIES; i++)
	{
		snprintf(texts[i], sizeof(texts[i]), i % 3 == 0 ? "text %d" : "a longer text of number %d",
				 i);
		entries[i] = (GpuaggVectorBytes){(const uint8_t *) texts[i], strlen(texts[i])};
	}
	entries[1].size = 0;
	make_program();
	check_all();
	return check_summary();
}
