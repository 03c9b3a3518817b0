/*
 * vector_random.h
 *	  Random vector programs and values, for tests in C and in C++.
 */
#ifndef GPUAGG_UNIT_VECTOR_RANDOM_H
#define GPUAGG_UNIT_VECTOR_RANDOM_H

#include "common/vector_run.h"

#include "random.h"
#include "zone_random.h"

#define ROWS			 GPUAGG_VECTOR_ROWS
#define NONE			 GPUAGG_VECTOR_NONE

#define MAX_INSTRUCTIONS 60
#define MAX_CONSTANTS	 40
#define ZONE_PIECES		 6
#define COLUMNS			 16 /* two of each type */
#define EXPRESSIONS		 8	/* one of each type */
#define STRINGS			 40

static char strings[STRINGS][32];
static bool no_strings; /* nor what else a device does not run */
static bool tame;		/* values that seldom make an instruction flag a row */

/* A random program, its data, and the values of its expressions. */
typedef struct Trial
{
	GpuaggVectorProgram program;
	GpuaggVectorInstruction instructions[MAX_INSTRUCTIONS];
	GpuaggVectorConstant constants[MAX_CONSTANTS];
	int zone; /* the first of ZONE_PIECES constants that are one */
	uint8_t columns[COLUMNS];
	GpuaggVector values[COLUMNS];
	GpuaggVector expressions[EXPRESSIONS];
	uint8_t types[GPUAGG_VECTOR_REGISTERS];
	int nrows;
	uint64_t asked[EXPRESSIONS][GPUAGG_VECTOR_WORDS]; /* rows for which row() was called */
} Trial;

static __int128
greatest_integer(int type)
{
	int bits = type == GPUAGG_VECTOR_INT16	 ? 15
			   : type == GPUAGG_VECTOR_INT32 ? 31
			   : type == GPUAGG_VECTOR_INT64 ? 63
											 : 127;

	return (__int128) (((unsigned __int128) 1 << bits) - 1);
}

static double
any_float(int type)
{
	static const double few[] =
		{0,			-0.0,		  1,	   -1,	   2.5,			  -3.5, NAN,
		 1e300,		-1e300,		  1e-300,  3e38,   1e-40,		  NAN,	INFINITY,
		 -INFINITY, 2147483647.5, 32767.5, 9.3e18, -2147483648.5, 1e19, 4503599627370497.5,
		 8388609};
	double v = few[next() % (tame ? 7 : sizeof(few) / sizeof(few[0]))];

	if (tame ? next() % 3 : next() % 2)
		v = (double) ((int64_t) next() >> (tame ? 40 + next() % 24 : next() % 64)) /
			(next() % 2 ? 1 : 64);
	return type == GPUAGG_VECTOR_FLOAT32 ? (float) v : v;
}

static __int128
any_integer(int type)
{
	static const int64_t few[] = {0, 1, -1, 2, 7, 100, 86400, INT64_MAX, INT64_MIN};
	int bits = type == GPUAGG_VECTOR_INT16	  ? 16
			   : type == GPUAGG_VECTOR_INT32  ? 32
			   : type == GPUAGG_VECTOR_INT128 ? 128
											  : 64;
	__int128 v = few[next() % 9];

	if (tame && next() % 200)
	{
		if (next() % 2)
			return few[next() % 6];
		v = (int64_t) (next() % 2000) - 300;
		if (type == GPUAGG_VECTOR_INT128 && next() % 2)
			return v * INT64_C(98765432109) * INT64_C(9876543210987);
		return type < GPUAGG_VECTOR_INT64 || next() % 2 ? v : v * INT64_C(98765432109);
	}
	if (next() % 3 == 0)
		v = (__int128) ((unsigned __int128) next() << 64 | next()) >> next() % 128;
	else if (next() % 3 == 0)
		v = next() % 2 ? greatest_integer(type) - (__int128) (next() % 3)
					   : -greatest_integer(type) - 1 + (__int128) (next() % 3);
	else if (next() % 4 == 0) /* a time */
		v = (int64_t) (next() % UINT64_C(9220000000000000000)) - INT64_C(215000000000000000);
	return (__int128) ((unsigned __int128) v << (128 - bits)) >> (128 - bits);
}

static GpuaggVectorBytes
any_string(void)
{
	int k = (int) (next() % STRINGS);
	GpuaggVectorBytes s = {(const uint8_t *) strings[k], strlen(strings[k])};

	return s;
}

static void
make_constant(GpuaggVectorConstant *c, int type)
{
	memset(c, 0, sizeof(*c));
	c->type = (uint8_t) type;
	c->isnull = next() % (tame ? 50 : 10) == 0;
	if (type == GPUAGG_VECTOR_FLOAT32)
		c->u.float32 = (float) any_float(type);
	else if (type == GPUAGG_VECTOR_FLOAT64)
		c->u.float64 = any_float(type);
	else if (type == GPUAGG_VECTOR_BYTES)
		c->u.bytes = any_string();
	else if (type == GPUAGG_VECTOR_BOOL)
		c->u.integer.lo = next() % 2;
	else
		c->u.integer = gpuagg_int128_narrow(any_integer(type));
}

/* A register that holds a value of the type; NONE: there is none. */
static uint16_t
any_register(const Trial *t, int type)
{
	int n = (int) t->program.nregisters;
	int first = n > 0 ? (int) (next() % (uint64_t) n) : 0;

	for (int k = 0; k < n; k++)
		if (t->types[(first + k) % n] == type)
			return (uint16_t) ((first + k) % n);
	return NONE;
}

/*
 * A random instruction, by trial and error: what the checker's rules say is asked of
 * gpuagg_vector_check() only.
 */
static bool
try_instruction(Trial *t)
{
	GpuaggVectorProgram *p = &t->program;
	GpuaggVectorInstruction *in = &t->instructions[p->ninstructions];
	uint32_t nregisters = p->nregisters;
	uint8_t types[GPUAGG_VECTOR_REGISTERS];
	int op = 1 + (int) (next() % (GPUAGG_VECTOR_OPS - 1));
	int type = 1 + (int) (next() % GPUAGG_VECTOR_BYTES);
	uint64_t shape = next();

	if (no_strings &&
		(type == GPUAGG_VECTOR_BYTES || op == GPUAGG_VECTOR_ROW || op == GPUAGG_VECTOR_LIKE))
		return false;
	memset(in, 0, sizeof(*in));
	in->op = (uint8_t) op;
	in->type = (uint8_t) type;
	in->a = in->b = in->c = in->mask = NONE;
	if (op == GPUAGG_VECTOR_COLUMN)
		in->arg = (uint32_t) (2 * (type - 1)) + (uint32_t) (shape & 1);
	else if (op == GPUAGG_VECTOR_ROW)
		in->arg = (uint32_t) type - 1;
	else if (op == GPUAGG_VECTOR_CONSTANT || op == GPUAGG_VECTOR_LIKE || op == GPUAGG_VECTOR_IN ||
			 op == GPUAGG_VECTOR_IN_RANGE || op >= GPUAGG_VECTOR_TIME_TO_LOCAL)
		for (uint32_t k = 0; k < MAX_CONSTANTS; k++)
		{
			in->arg = (uint32_t) (next() % MAX_CONSTANTS);
			if (t->constants[in->arg].type == type)
				break;
		}
	else if (op == GPUAGG_VECTOR_CAST)
		in->to = (uint8_t) (1 + next() % GPUAGG_VECTOR_BYTES);
	else if (op == GPUAGG_VECTOR_DECIMAL_TO_FLOAT)
		in->arg = (uint32_t) (next() % 25);
	else if (op >= GPUAGG_VECTOR_TIME_TRUNC)
		in->arg = (uint32_t) (next() % (GPUAGG_FIELD_EPOCH + 2));
	if (op == GPUAGG_VECTOR_IN || op >= GPUAGG_VECTOR_TIME_TO_LOCAL)
	{
		while (in->arg + in->count < MAX_CONSTANTS &&
			   t->constants[in->arg + in->count].type == type)
			in->count++;
		if (in->count > 1 && shape & 2)
			in->count = (uint16_t) (1 + next() % in->count);
	}
	if (op > GPUAGG_VECTOR_ROW)
		in->a = any_register(t, type);
	if (shape & 4)
		in->b = any_register(t, type);
	if (op >= GPUAGG_VECTOR_SELECT && op <= GPUAGG_VECTOR_NULLIF)
		in->c = any_register(t, GPUAGG_VECTOR_BOOL);
	if ((shape >> 8) % 4 == 0)
		in->mask = any_register(t, GPUAGG_VECTOR_BOOL);
	if (nregisters < 24 || (shape >> 16) % 4 == 0)
	{
		in->out = (uint16_t) nregisters;
		if (nregisters < GPUAGG_VECTOR_REGISTERS)
			p->nregisters++;
	}
	else
		in->out = (uint16_t) (next() % nregisters);
	p->ninstructions++;
	if (gpuagg_vector_check(p, types) == -1)
	{
		memcpy(t->types, types, sizeof(types));
		return true;
	}
	p->ninstructions--;
	p->nregisters = nregisters;
	return false;
}

/*
 * A program of at most so many instructions, of which the first `filter_until` may compute a
 * filter; its columns have two of each type, from BOOL on.
 */
static void
make_program(Trial *t, int filter_until, int length)
{
	t->program.filter = NONE;
	t->program.instructions = t->instructions;
	t->program.constants = t->constants;
	t->program.columns = t->columns;
	t->program.ncolumns = COLUMNS;
	t->program.nconstants = MAX_CONSTANTS;
	for (int k = 0; k < COLUMNS; k++)
		t->columns[k] = (uint8_t) (1 + k / 2);
	for (int k = 0; k < MAX_CONSTANTS; k++)
		make_constant(&t->constants[k],
					  k > 0 && next() % 4 ? t->constants[k - 1].type : 1 + (int) (next() % 8));
	t->zone = (int) (next() % (MAX_CONSTANTS - ZONE_PIECES));
	make_zone(&t->constants[t->zone], ZONE_PIECES);
	for (int tries = 0; tries < 20000 && (int) t->program.ninstructions < length; tries++)
	{
		uint16_t filter;

		(void) try_instruction(t);
		if ((int) t->program.ninstructions != filter_until || t->program.filter != NONE)
			continue;
		filter = any_register(t, GPUAGG_VECTOR_BOOL);
		if (filter != NONE && next() % 2)
		{
			t->program.nfilter = t->program.ninstructions;
			t->program.filter = filter;
		}
	}
}

#endif /* GPUAGG_UNIT_VECTOR_RANDOM_H */
