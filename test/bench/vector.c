/*
 * vector.c
 *	  Benchmark of vector programs: nanoseconds a row of single instructions and of whole programs.
 *
 *		build/bench/vector [WORD]		only lines that contain WORD
 *
 * Every line is the best of many runs over the same vectors of 1,024 rows, in the first-level
 * cache, without NULLs unless it says so.  Programs take a new vector from a larger
 * table each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/vector_run.h"

#define ROWS   GPUAGG_VECTOR_ROWS
#define TIMES  200 /* vectors in a run */
#define RUNS   40
#define NONE   GPUAGG_VECTOR_NONE
#define LENGTH 12 /* bytes of a string */

static const char *only = "";

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

static uint64_t state = 1;

static uint32_t
any(uint32_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t) (state >> 33) % below;
}

/* A program under construction. */
typedef struct Text
{
	GpuaggVectorProgram program;
	GpuaggVectorInstruction instructions[64];
	GpuaggVectorConstant constants[64];
	uint8_t columns[16];
	GpuaggVector values[16];
} Text;

static uint16_t
put(Text *t, int op, int type, uint16_t a, uint16_t b, uint32_t arg)
{
	GpuaggVectorInstruction *in = &t->instructions[t->program.ninstructions++];

	memset(in, 0, sizeof(*in));
	in->op = (uint8_t) op;
	in->type = (uint8_t) type;
	in->out = (uint16_t) t->program.nregisters++;
	in->a = a;
	in->b = b;
	in->c = NONE;
	in->mask = NONE;
	in->arg = arg;
	return in->out;
}

static uint16_t
constant(Text *t, int type, double value)
{
	GpuaggVectorConstant *c = &t->constants[t->program.nconstants];

	memset(c, 0, sizeof(*c));
	c->type = (uint8_t) type;
	if (type == GPUAGG_VECTOR_FLOAT64)
		c->u.float64 = value;
	else if (type == GPUAGG_VECTOR_FLOAT32)
		c->u.float32 = (float) value;
	else
		c->u.integer = gpuagg_int128_from((int64_t) value);
	return put(t, GPUAGG_VECTOR_CONSTANT, type, NONE, NONE, t->program.nconstants++);
}

/* A column of numbers below a bound. */
static uint16_t
column(Text *t, int type, uint32_t bound, int nulls)
{
	size_t size = type == GPUAGG_VECTOR_BOOL ? 1 : gpuagg_vector_type_size(type);
	GpuaggVector *v = &t->values[t->program.ncolumns];

	v->values = aligned_alloc(64, ROWS * size);
	v->valid = nulls ? malloc(ROWS / 8) : NULL;
	for (int i = 0; i < ROWS; i++)
	{
		uint32_t n = any(bound);
		char *text;

		if (nulls && i % 64 == 0)
			v->valid[i / 64] = ~(UINT64_C(1) << any(64));
		switch (type)
		{
			case GPUAGG_VECTOR_BOOL:
				((uint8_t *) v->values)[i] = (uint8_t) any(256);
				break;
			case GPUAGG_VECTOR_INT16:
				((int16_t *) v->values)[i] = (int16_t) n;
				break;
			case GPUAGG_VECTOR_INT32:
				((int32_t *) v->values)[i] = (int32_t) n;
				break;
			case GPUAGG_VECTOR_INT64:
				((int64_t *) v->values)[i] = n;
				break;
			case GPUAGG_VECTOR_INT128:
				((GpuaggInt128 *) v->values)[i] = gpuagg_int128_from(n);
				break;
			case GPUAGG_VECTOR_FLOAT32:
				((float *) v->values)[i] = (float) n + 0.5F;
				break;
			case GPUAGG_VECTOR_FLOAT64:
				((double *) v->values)[i] = n + 0.5;
				break;
			default:
				text = malloc(LENGTH + 1);
				snprintf(text, LENGTH + 1, "text %07u", n);
				((GpuaggVectorBytes *) v->values)[i].data = (uint8_t *) text;
				((GpuaggVectorBytes *) v->values)[i].size = LENGTH;
		}
	}
	t->columns[t->program.ncolumns] = (uint8_t) type;
	return put(t, GPUAGG_VECTOR_COLUMN, type, NONE, NONE, t->program.ncolumns++);
}

static void
begin(Text *t)
{
	memset(t, 0, sizeof(*t));
	t->program.filter = NONE;
	t->program.instructions = t->instructions;
	t->program.constants = t->constants;
	t->program.columns = t->columns;
}

/* Best time of a row, ns. */
static void
measure(Text *t, const char *name)
{
	uint8_t types[GPUAGG_VECTOR_REGISTERS];
	GpuaggVectorRunner *runner;
	double best = 1e300;
	int rows = 0;
	int flagged = 0;

	if (strstr(name, only) == NULL)
		return;
	if (gpuagg_vector_check(&t->program, types) != -1)
	{
		printf("%s: not a program\n", name);
		exit(1);
	}
	runner = gpuagg_vector_runner_make(aligned_alloc(64, gpuagg_vector_runner_size(&t->program)),
									   &t->program);
	memcpy(runner->columns, t->values, t->program.ncolumns * sizeof(GpuaggVector));
	for (int run = 0; run < RUNS; run++)
	{
		double start = now();

		for (int i = 0; i < TIMES; i++)
		{
			rows = gpuagg_vector_run_filter(runner, ROWS);
			gpuagg_vector_run_values(runner);
			flagged |= runner->any_flagged;
		}
		if (now() - start < best)
			best = now() - start;
	}
	printf("%-44s %7.3f ns%s", name, best / TIMES / ROWS, flagged ? "  (flags)" : "");
	if (rows != ROWS)
		printf("  (%d rows pass)", rows);
	printf("\n");
	free(runner);
}

static const char *const type_names[] = {NULL,	   "bool",	  "int16",	 "int32", "int64",
										 "int128", "float32", "float64", "bytes"};

/* One instruction: two columns, a column and a constant, and with NULLs. */
static void
binary(int op, const char *name, int type, uint32_t bound)
{
	char label[100];
	Text t;

	begin(&t);
	put(&t, op, type, column(&t, type, bound, 0), column(&t, type, bound, 0), 0);
	snprintf(label, sizeof(label), "%s %s", name, type_names[type]);
	measure(&t, label);
	if (type == GPUAGG_VECTOR_BOOL || type == GPUAGG_VECTOR_BYTES)
		return;
	begin(&t);
	put(&t, op, type, column(&t, type, bound, 0), constant(&t, type, 7), 0);
	snprintf(label, sizeof(label), "%s %s, constant", name, type_names[type]);
	measure(&t, label);
	begin(&t);
	put(&t, op, type, column(&t, type, bound, 1), column(&t, type, bound, 1), 0);
	snprintf(label, sizeof(label), "%s %s, NULLs", name, type_names[type]);
	measure(&t, label);
}

static void
unary(int op, const char *name, int type, int to, uint32_t arg)
{
	char label[100];
	Text t;
	uint16_t a;

	begin(&t);
	a = column(&t, type, 30000, 0);
	if (op == GPUAGG_VECTOR_TIME_TRUNC || op == GPUAGG_VECTOR_TIME_FIELD)
		for (int i = 0; i < ROWS; i++)
			((int64_t *) t.values[0].values)[i] = (int64_t) any(1000) * 86400000000 * 3 +
												  any(2000000000);
	put(&t, op, type, a, NONE, arg);
	t.instructions[1].to = (uint8_t) to;
	snprintf(label, sizeof(label), "%s %s%s%s", name, type_names[type], to ? " to " : "",
			 to ? type_names[to] : "");
	measure(&t, label);
}

static void
sets(int type, int count)
{
	char label[100];
	Text t;
	uint16_t a;

	begin(&t);
	a = column(&t, type, 30000, 0);
	put(&t, GPUAGG_VECTOR_IN, type, a, NONE, 0);
	t.instructions[1].count = (uint16_t) count;
	for (int i = 0; i < count; i++)
	{
		t.constants[i].type = (uint8_t) type;
		if (type == GPUAGG_VECTOR_BYTES)
			t.constants[i].u.bytes = ((GpuaggVectorBytes *) t.values[0].values)[i * 7];
		else
			t.constants[i].u.integer = gpuagg_int128_from(any(30000));
	}
	t.program.nconstants = (uint32_t) count;
	snprintf(label, sizeof(label), "in %s, %d constants", type_names[type], count);
	measure(&t, label);
}

static void
like(const char *pattern)
{
	char label[100];
	Text t;

	begin(&t);
	put(&t, GPUAGG_VECTOR_LIKE, GPUAGG_VECTOR_BYTES, column(&t, GPUAGG_VECTOR_BYTES, 30000, 0),
		NONE, 0);
	t.constants[0].type = GPUAGG_VECTOR_BYTES;
	t.constants[0].u.bytes.data = (const uint8_t *) pattern;
	t.constants[0].u.bytes.size = strlen(pattern);
	t.program.nconstants = 1;
	snprintf(label, sizeof(label), "like '%s'", pattern);
	measure(&t, label);
}

/* sum(p * d) where date in [a, b) and d between 5 and 7 and q < 24 (all as INT64, date as INT32) */
static void
program_filter(uint32_t days, const char *name)
{
	Text t;
	uint16_t date, d, q, p, x, y;

	begin(&t);
	date = column(&t, GPUAGG_VECTOR_INT32, 2500, 0);
	d = column(&t, GPUAGG_VECTOR_INT64, 11, 0);
	q = column(&t, GPUAGG_VECTOR_INT64, 50, 0);
	x = put(&t, GPUAGG_VECTOR_GE, GPUAGG_VECTOR_INT32, date, constant(&t, GPUAGG_VECTOR_INT32, 0),
			0);
	y = put(&t, GPUAGG_VECTOR_LT, GPUAGG_VECTOR_INT32, date,
			constant(&t, GPUAGG_VECTOR_INT32, days), 0);
	x = put(&t, GPUAGG_VECTOR_AND, GPUAGG_VECTOR_BOOL, x, y, 0);
	y = put(&t, GPUAGG_VECTOR_GE, GPUAGG_VECTOR_INT64, d, constant(&t, GPUAGG_VECTOR_INT64, 5), 0);
	x = put(&t, GPUAGG_VECTOR_AND, GPUAGG_VECTOR_BOOL, x, y, 0);
	y = put(&t, GPUAGG_VECTOR_LE, GPUAGG_VECTOR_INT64, d, constant(&t, GPUAGG_VECTOR_INT64, 7), 0);
	x = put(&t, GPUAGG_VECTOR_AND, GPUAGG_VECTOR_BOOL, x, y, 0);
	y = put(&t, GPUAGG_VECTOR_LT, GPUAGG_VECTOR_INT64, q, constant(&t, GPUAGG_VECTOR_INT64, 24), 0);
	x = put(&t, GPUAGG_VECTOR_AND, GPUAGG_VECTOR_BOOL, x, y, 0);
	t.program.filter = x;
	t.program.nfilter = t.program.ninstructions;
	p = column(&t, GPUAGG_VECTOR_INT64, 10000000, 0);
	put(&t, GPUAGG_VECTOR_MUL, GPUAGG_VECTOR_INT64, p, d, 0);
	measure(&t, name);
}

/* p * (100 - d) * (100 + t) */
static void
program_charge(int type, const char *name)
{
	Text t;
	uint16_t p, d, tax, x;

	begin(&t);
	p = column(&t, type, 10000000, 0);
	d = column(&t, type, 11, 0);
	tax = column(&t, type, 9, 0);
	x = put(&t, GPUAGG_VECTOR_SUB, type, constant(&t, type, 100), d, 0);
	x = put(&t, GPUAGG_VECTOR_MUL, type, p, x, 0);
	put(&t, GPUAGG_VECTOR_MUL, type, x,
		put(&t, GPUAGG_VECTOR_ADD, type, constant(&t, type, 100), tax, 0), 0);
	measure(&t, name);
}

/* CASE WHEN q < 24 THEN d ELSE 0 END */
static void
program_case(void)
{
	Text t;
	uint16_t q, d;

	begin(&t);
	q = column(&t, GPUAGG_VECTOR_INT64, 50, 0);
	d = column(&t, GPUAGG_VECTOR_INT64, 50, 0);
	q = put(&t, GPUAGG_VECTOR_LT, GPUAGG_VECTOR_INT64, q, constant(&t, GPUAGG_VECTOR_INT64, 24), 0);
	put(&t, GPUAGG_VECTOR_SELECT, GPUAGG_VECTOR_INT64, d, constant(&t, GPUAGG_VECTOR_INT64, 0), 0);
	t.instructions[t.program.ninstructions - 1].c = q;
	measure(&t, "program: case when q < 24 then d else 0 end");
}

int
main(int argc, char **argv)
{
	static const char *const fields[] = {NULL,		"microsecond", "millisecond", "second",
										 "minute",	"hour",		   "day",		  "week",
										 "month",	"quarter",	   "year",		  "decade",
										 "century", "millennium",  "dow",		  "isodow",
										 "doy",		"isoyear",	   "julian",	  "epoch"};

	if (argc > 1)
		only = argv[1];
	for (int type = GPUAGG_VECTOR_BOOL; type <= GPUAGG_VECTOR_BYTES; type++)
	{
		binary(GPUAGG_VECTOR_EQ, "=", type, 30);
		binary(GPUAGG_VECTOR_LT, "<", type, 30);
		binary(GPUAGG_VECTOR_LEAST, "least", type, 30);
	}
	binary(GPUAGG_VECTOR_AND, "and", GPUAGG_VECTOR_BOOL, 1);
	for (int type = GPUAGG_VECTOR_INT16; type <= GPUAGG_VECTOR_FLOAT64; type++)
	{
		binary(GPUAGG_VECTOR_ADD, "+", type, 100);
		binary(GPUAGG_VECTOR_MUL, "*", type, 100);
		binary(GPUAGG_VECTOR_DIV, "/", type, 100);
		if (type >= GPUAGG_VECTOR_FLOAT32)
			continue;
		binary(GPUAGG_VECTOR_MOD, "%", type, 100);
		binary(GPUAGG_VECTOR_DIV_ROUND, "div_round", type, 100);
	}
	binary(GPUAGG_VECTOR_MUL_WIDE, "mul_wide", GPUAGG_VECTOR_INT64, 100);
	for (int from = GPUAGG_VECTOR_INT16; from <= GPUAGG_VECTOR_FLOAT64; from++)
		for (int to = GPUAGG_VECTOR_INT16; to <= GPUAGG_VECTOR_FLOAT64; to++)
			if (from != to && (from < GPUAGG_VECTOR_FLOAT32 || to != GPUAGG_VECTOR_INT128))
				unary(GPUAGG_VECTOR_CAST, "cast", from, to, 0);
	unary(GPUAGG_VECTOR_DECIMAL_TO_FLOAT, "decimal_to_float", GPUAGG_VECTOR_INT64, 0, 2);
	for (uint32_t f = GPUAGG_FIELD_MICROSECOND; f <= GPUAGG_FIELD_EPOCH; f++)
	{
		char name[50];

		snprintf(name, sizeof(name), "trunc %s", fields[f]);
		if (f <= GPUAGG_FIELD_MILLENNIUM)
			unary(GPUAGG_VECTOR_TIME_TRUNC, name, GPUAGG_VECTOR_INT64, 0, f);
		snprintf(name, sizeof(name), "field %s", fields[f]);
		unary(GPUAGG_VECTOR_TIME_FIELD, name, GPUAGG_VECTOR_INT64, 0, f);
	}
	for (int type = GPUAGG_VECTOR_INT32; type <= GPUAGG_VECTOR_INT64; type++)
	{
		sets(type, 3);
		sets(type, 20);
	}
	sets(GPUAGG_VECTOR_BYTES, 3);
	sets(GPUAGG_VECTOR_BYTES, 20);
	like("text 00001%");
	like("%9%");
	like("%00%12%");
	program_filter(365, "program: sum(p * d) where 2 % pass");
	program_filter(2500, "program: sum(p * d) where 13 % pass");
	program_charge(GPUAGG_VECTOR_INT64, "program: p * (100 - d) * (100 + t), int64");
	program_charge(GPUAGG_VECTOR_FLOAT64, "program: p * (100 - d) * (100 + t), float64");
	program_case();
	return 0;
}
