/*
 * vector_test.c
 *	  Vector programs: random ones beside an oracle, and the checker against damaged ones.
 *
 *		vector_test [programs [seed]]
 */
#include "vector_oracle.h"
#include "common/vector_text.h"

#include "check.h"
#include "random.h"

#define ROWS			 GPUAGG_VECTOR_ROWS
#define NONE			 GPUAGG_VECTOR_NONE

#define MAX_INSTRUCTIONS 60
#define MAX_CONSTANTS	 40
#define COLUMNS			 16 /* two of each type */
#define EXPRESSIONS		 8	/* one of each type */
#define STRINGS			 40

static char strings[STRINGS][32];
static bool tame; /* values that seldom make an instruction flag a row */

/* A random program, its data, and the values of its expressions. */
typedef struct Trial
{
	GpuaggVectorProgram program;
	GpuaggVectorInstruction instructions[MAX_INSTRUCTIONS];
	GpuaggVectorConstant constants[MAX_CONSTANTS];
	uint8_t columns[COLUMNS];
	GpuaggVector values[COLUMNS];
	GpuaggVector expressions[EXPRESSIONS];
	uint8_t types[GPUAGG_VECTOR_REGISTERS];
	int nrows;
	uint64_t asked[EXPRESSIONS][GPUAGG_VECTOR_WORDS]; /* rows for which row() was called */
} Trial;

static bool
bit(const uint64_t *bitmap, int i)
{
	return bitmap[i / 64] >> (i % 64) & 1;
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
		v = next() % 2 ? int_max[type] - (__int128) (next() % 3)
					   : -int_max[type] - 1 + (__int128) (next() % 3);
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

/* Puts a random value into a row of a vector. */
static void
put_value(int type, void *values, int i)
{
	__int128 v;

	switch (type)
	{
		case GPUAGG_VECTOR_BOOL:
			if (next() % 2)
				((uint64_t *) values)[i / 64] |= UINT64_C(1) << i % 64;
			else
				((uint64_t *) values)[i / 64] &= ~(UINT64_C(1) << i % 64);
			return;
		case GPUAGG_VECTOR_FLOAT32:
			((float *) values)[i] = (float) any_float(type);
			return;
		case GPUAGG_VECTOR_FLOAT64:
			((double *) values)[i] = any_float(type);
			return;
		case GPUAGG_VECTOR_BYTES:
			((GpuaggVectorBytes *) values)[i] = any_string();
			return;
	}
	v = any_integer(type);
	if (type == GPUAGG_VECTOR_INT16)
		((int16_t *) values)[i] = (int16_t) v;
	else if (type == GPUAGG_VECTOR_INT32)
		((int32_t *) values)[i] = (int32_t) v;
	else if (type == GPUAGG_VECTOR_INT64)
		((int64_t *) values)[i] = (int64_t) v;
	else
		((GpuaggInt128 *) values)[i] = gpuagg_int128_narrow(v);
}

static Value
get_value(int type, const GpuaggVector *vector, int i)
{
	Value v = {KNOWN, 0, 0, {NULL, 0}};

	if (vector->valid != NULL && !bit(vector->valid, i))
	{
		v.state = ISNULL;
		return v;
	}
	switch (type)
	{
		case GPUAGG_VECTOR_BOOL:
			v.i = bit(vector->values, i);
			break;
		case GPUAGG_VECTOR_INT16:
			v.i = ((int16_t *) vector->values)[i];
			break;
		case GPUAGG_VECTOR_INT32:
			v.i = ((int32_t *) vector->values)[i];
			break;
		case GPUAGG_VECTOR_INT64:
			v.i = ((int64_t *) vector->values)[i];
			break;
		case GPUAGG_VECTOR_INT128:
			v.i = gpuagg_int128_wide(((GpuaggInt128 *) vector->values)[i]);
			break;
		case GPUAGG_VECTOR_FLOAT32:
			v.f = ((float *) vector->values)[i];
			break;
		case GPUAGG_VECTOR_FLOAT64:
			v.f = ((double *) vector->values)[i];
			break;
		default:
			v.s = ((GpuaggVectorBytes *) vector->values)[i];
	}
	return v;
}

/* A vector of random values: memory of its size, and no strings where there are none. */
static void
make_vector(int type, GpuaggVector *v, int nrows)
{
	size_t size = type == GPUAGG_VECTOR_BOOL ? GPUAGG_VECTOR_WORDS * 8
											 : ROWS * gpuagg_vector_type_size(type);
	uint64_t nulls = next() % 3;

	v->values = malloc(size);
	v->valid = nulls == 0 ? NULL : malloc(GPUAGG_VECTOR_WORDS * 8);
	memset(v->values, 0xff, size);
	for (int i = 0; i < nrows; i++)
		put_value(type, v->values, i);
	for (int w = 0; w < GPUAGG_VECTOR_WORDS && v->valid != NULL; w++)
		v->valid[w] = next() | (nulls == 1 ? next() | next() | next() : 0);
	for (int i = 0; i < nrows && v->valid != NULL; i++)
		if (!bit(v->valid, i) && type == GPUAGG_VECTOR_BYTES)
			memset((GpuaggVectorBytes *) v->values + i, 0xff, sizeof(GpuaggVectorBytes));
}

static void
free_vector(GpuaggVector *v)
{
	free(v->values);
	free(v->valid);
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

	memset(in, 0, sizeof(*in));
	in->op = (uint8_t) op;
	in->type = (uint8_t) type;
	in->a = in->b = in->c = in->mask = NONE;
	if (op == GPUAGG_VECTOR_COLUMN)
		in->arg = (uint32_t) (2 * (type - 1)) + (uint32_t) (shape & 1);
	else if (op == GPUAGG_VECTOR_ROW)
		in->arg = (uint32_t) type - 1;
	else if (op == GPUAGG_VECTOR_CONSTANT || op == GPUAGG_VECTOR_LIKE || op == GPUAGG_VECTOR_IN ||
			 op == GPUAGG_VECTOR_IN_RANGE)
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
	if (op == GPUAGG_VECTOR_IN)
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

static void
make_trial(Trial *t, int nrows, bool expressions)
{
	int filter_until = (int) (next() % 20);
	int length = filter_until + (int) (next() % (MAX_INSTRUCTIONS - 20));

	memset(t, 0, sizeof(*t));
	t->nrows = nrows;
	t->program.filter = NONE;
	t->program.instructions = t->instructions;
	t->program.constants = t->constants;
	t->program.columns = t->columns;
	t->program.ncolumns = COLUMNS;
	t->program.nrows = expressions ? EXPRESSIONS : 0;
	t->program.nconstants = MAX_CONSTANTS;
	for (int k = 0; k < COLUMNS; k++)
	{
		t->columns[k] = (uint8_t) (1 + k / 2);
		make_vector(t->columns[k], &t->values[k], nrows);
	}
	for (int k = 0; k < EXPRESSIONS; k++)
		make_vector(1 + k, &t->expressions[k], nrows);
	for (int k = 0; k < MAX_CONSTANTS; k++)
		make_constant(&t->constants[k],
					  k > 0 && next() % 4 ? t->constants[k - 1].type : 1 + (int) (next() % 8));
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

static void
free_trial(Trial *t)
{
	for (int k = 0; k < COLUMNS; k++)
		free_vector(&t->values[k]);
	for (int k = 0; k < EXPRESSIONS; k++)
		free_vector(&t->expressions[k]);
}

/* The runner's call for an expression's rows. */
static void
give_rows(void *owner, int number, const uint64_t *wanted, GpuaggVector *out)
{
	Trial *t = owner;
	const GpuaggVector *from = &t->expressions[number];
	size_t size = gpuagg_vector_type_size(number + 1);

	for (int i = 0; i < t->nrows; i++)
	{
		if (!bit(wanted, i))
			continue;
		t->asked[number][i / 64] |= UINT64_C(1) << i % 64;
		if (from->valid != NULL && !bit(from->valid, i))
			continue;
		out->valid[i / 64] |= UINT64_C(1) << i % 64;
		if (number + 1 != GPUAGG_VECTOR_BOOL)
			memcpy((char *) out->values + i * size, (char *) from->values + i * size, size);
		else if (bit(from->values, i))
			((uint64_t *) out->values)[i / 64] |= UINT64_C(1) << i % 64;
	}
	for (int w = t->nrows / 64 + 1; w < GPUAGG_VECTOR_WORDS; w++)
		CHECK(wanted[w] == 0);
}

static GpuaggVectorRunner *
make_runner(Trial *t)
{
	size_t size = gpuagg_vector_runner_size(&t->program);
	void *memory = aligned_alloc(64, size);
	GpuaggVectorRunner *runner;

	memset(memory, 0xee, size);
	runner = gpuagg_vector_runner_make(memory, &t->program);
	memcpy(runner->columns, t->values, t->program.ncolumns * sizeof(GpuaggVector));
	runner->row = give_rows;
	runner->owner = t;
	return runner;
}

static bool
same(int type, const Value *got, const Value *want)
{
	if (want->state == ANY)
		return true;
	if (want->state == ISNULL || got->state == ISNULL)
		return want->state == got->state;
	if (type == GPUAGG_VECTOR_BYTES)
		return got->s.data == want->s.data && got->s.size == want->s.size;
	if (is_float(type))
		return (isnan(got->f) && isnan(want->f)) ||
			   (got->f == want->f && signbit(got->f) == signbit(want->f));
	return got->i == want->i;
}

static void
print_instruction(const GpuaggVectorInstruction *in, int i)
{
	printf("  %d: r%d = op %d, type %d, to %d, a %d, b %d, c %d, mask %d, count %d, arg %u\n", i,
		   in->out, in->op, in->type, in->to, in->a, in->b, in->c, in->mask, in->count, in->arg);
}

static long rows_compared, rows_flagged, values_compared;
static long op_count[GPUAGG_VECTOR_OPS];

/* One section over one row. */
static void
oracle_section(const Trial *t, const GpuaggVectorConstant *constants, Row *row, int i,
			   uint32_t from, uint32_t to)
{
	for (uint32_t k = from; k < to; k++)
	{
		const GpuaggVectorInstruction *in = &t->instructions[k];
		Value source = {KNOWN, 0, 0, {NULL, 0}};

		if (in->op == GPUAGG_VECTOR_COLUMN)
			source = get_value(in->type, &t->values[in->arg], i);
		else if (in->op == GPUAGG_VECTOR_ROW)
			source = get_value(in->type, &t->expressions[in->arg], i);
		oracle_step(in, constants, row, source);
	}
}

/* Compares a run with the oracle; false: said what differs. */
static bool
agrees(Trial *t, GpuaggVectorRunner *runner)
{
	const GpuaggVectorProgram *p = &t->program;
	uint64_t live[GPUAGG_VECTOR_WORDS];
	uint64_t first_flags[GPUAGG_VECTOR_WORDS];
	static Row row;
	bool any = false;
	int n = gpuagg_vector_run_filter(runner, t->nrows);

	memcpy(live, runner->live, sizeof(live));
	memcpy(first_flags, runner->flagged, sizeof(live));
	if (n != gpuagg_vector_count(live))
		return printf("count of live rows\n"), false;
	gpuagg_vector_run_values(runner);
	for (int i = 0; i < ROWS; i++)
	{
		bool flagged = bit(runner->flagged, i);
		bool known_filter = true;

		any |= flagged;
		if (i >= t->nrows)
		{
			if (flagged || bit(live, i))
				return printf("row %d of %d\n", i, t->nrows), false;
			continue;
		}
		memset(&row, 0, sizeof(row));
		oracle_section(t, runner->constants, &row, i, 0, p->nfilter);
		row.passed = true;
		if (p->filter != NONE)
		{
			const Value *f = &row.registers[p->filter];

			known_filter = f->state != ANY;
			row.passed = f->state == KNOWN && f->i;
		}
		if (!row.unknown && row.flagged != bit(first_flags, i))
			return printf("row %d: flagged by the filter\n", i), false;
		if (row.unknown || row.flagged || !known_filter)
		{
			if (row.flagged && !flagged)
				return printf("row %d: not flagged\n", i), false;
			rows_flagged++;
			continue;
		}
		if (row.passed != bit(live, i))
			return printf("row %d: passes\n", i), false;
		if (!row.passed)
		{
			if (flagged)
				return printf("row %d: flagged, and did not pass\n", i), false;
			continue;
		}
		oracle_section(t, runner->constants, &row, i, p->nfilter, p->ninstructions);
		if (row.unknown ? row.flagged && !flagged : row.flagged != flagged)
			return printf("row %d: flagged %d, not %d\n", i, flagged, row.flagged), false;
		if (row.unknown || row.flagged)
		{
			rows_flagged++;
			continue;
		}
		rows_compared++;
		for (uint32_t r = 0; r < p->nregisters; r++)
		{
			Value got = {KNOWN, 0, 0, {NULL, 0}};

			if (t->types[r] == 0)
				continue;
			got = get_value(t->types[r], &runner->registers[r], i);
			if (!same(t->types[r], &got, &row.registers[r]))
			{
				printf(
					"row %d, register %u of type %d: %ld %.17g state %d, not %ld %.17g state %d\n",
					i, r, t->types[r], (long) got.i, got.f, got.state, (long) row.registers[r].i,
					row.registers[r].f, row.registers[r].state);
				return false;
			}
			values_compared += row.registers[r].state != ANY;
		}
	}
	if (any != runner->any_flagged)
		return printf("any_flagged\n"), false;
	return true;
}

static void
test_programs(int programs)
{
	static const int sizes[] = {0, 1, 63, 64, 65, 1023, 1024, 300, 1024};
	static Trial t;
	int bad = 0;

	for (int k = 0; k < programs && bad < 3; k++)
	{
		uint64_t of_trial = seed;
		GpuaggVectorRunner *runner;
		bool ok;

		tame = next() % 3 > 0;
		gpuagg_vector_plain = next() % 2;
		make_trial(&t, sizes[next() % 9], true);
		runner = make_runner(&t);
		ok = agrees(&t, runner);
		for (uint32_t i = 0; i < t.program.ninstructions; i++)
			op_count[t.instructions[i].op]++;
		/* again with other constants and a part of the rows */
		for (uint32_t c = 0; c < MAX_CONSTANTS; c++)
			make_constant(&runner->constants[c], t.constants[c].type);
		gpuagg_vector_constants_changed(runner);
		t.nrows = (int) (next() % (uint64_t) (t.nrows + 1));
		ok = ok && agrees(&t, runner);
		CHECK(ok);
		if (!ok)
		{
			bad++;
			printf("seed %lu, %u of %u instructions filter into r%u\n", (unsigned long) of_trial,
				   t.program.nfilter, t.program.ninstructions, t.program.filter);
			for (uint32_t i = 0; i < t.program.ninstructions; i++)
				print_instruction(&t.instructions[i], (int) i);
		}
		free(runner);
		free_trial(&t);
	}
	printf("%ld rows compared, %ld flagged, %ld values\n", rows_compared, rows_flagged,
		   values_compared);
	for (int op = 1; op < GPUAGG_VECTOR_OPS && programs >= 200; op++)
		CHECK(op_count[op] > 0);
}

/* Damaged programs: refused, or run without a wrong access (which the sanitizers would see). */
static void
test_damage(int programs)
{
	static Trial t;
	long accepted = 0, refused = 0;

	for (int k = 0; k < programs; k++)
	{
		make_trial(&t, 1 + (int) (next() % ROWS), false);
		for (int again = 0; again < 60 && t.program.ninstructions > 0; again++)
		{
			GpuaggVectorProgram program = t.program;
			GpuaggVectorInstruction *in = &t.instructions[next() % program.ninstructions];
			GpuaggVectorInstruction kept = *in;
			uint32_t *head[] = {&t.program.nfilter, &t.program.filter, &t.program.nregisters,
								&t.program.spare};
			uint8_t types[GPUAGG_VECTOR_REGISTERS];
			int n = 1 + (next() % 4 == 0);

			while (n-- > 0)
			{
				/* low bytes of the numbers half of the time */
				uint8_t *byte = (uint8_t *) in +
								(next() % sizeof(*in) & (next() % 2 ? ~UINT64_C(1) : ~UINT64_C(0)));

				if (next() % 8 == 0)
					*head[next() % 4] = (uint32_t) (next() >> (32 + next() % 32));
				else
					*byte = next() % 4 ? (uint8_t) (next() % 30) : (uint8_t) next();
			}
			if (gpuagg_vector_check(&t.program, types) == -1)
			{
				GpuaggVectorRunner *runner = make_runner(&t);

				gpuagg_vector_run_filter(runner, t.nrows);
				gpuagg_vector_run_values(runner);
				free(runner);
				accepted++;
			}
			else
				refused++;
			*in = kept;
			t.program = program;
		}
		free_trial(&t);
	}
	printf("%ld damaged programs refused, %ld run\n", refused, accepted);
	CHECK(refused > 0 && accepted > 0);
}

/* Every operation of two operands over random pairs of a type's hard values. */
static void
test_pairs(int type)
{
	static Trial t;

	for (int op = GPUAGG_VECTOR_EQ; op <= GPUAGG_VECTOR_DIV_ROUND; op++)
	{
		GpuaggVectorRunner *runner;

		memset(&t, 0, sizeof(t));
		t.nrows = ROWS;
		t.program = (GpuaggVectorProgram){3, 0, NONE,			3,			 0,		   2,
										  0, 0, t.instructions, t.constants, t.columns};
		for (uint16_t k = 0; k < 3; k++)
		{
			GpuaggVectorInstruction *in = &t.instructions[k];

			*in = (GpuaggVectorInstruction){
				GPUAGG_VECTOR_COLUMN, (uint8_t) type, 0, 0, k, NONE, NONE, NONE, NONE, 0, k};
			if (k < 2)
			{
				t.columns[k] = (uint8_t) type;
				make_vector(type, &t.values[k], ROWS);
				continue;
			}
			in->op = (uint8_t) op;
			in->a = 0;
			in->b = 1;
			in->arg = 0;
		}
		if (gpuagg_vector_check(&t.program, t.types) == -1)
		{
			runner = make_runner(&t);
			CHECK(agrees(&t, runner));
			free(runner);
		}
		free_trial(&t);
	}
}

/* What the checker refuses, one by one. */
static void
test_refusals(void)
{
	static const uint8_t columns[] = {GPUAGG_VECTOR_INT64, GPUAGG_VECTOR_BOOL, 99};
	GpuaggVectorConstant constants[2] = {{.type = GPUAGG_VECTOR_INT64},
										 {.type = GPUAGG_VECTOR_INT32}};
	GpuaggVectorInstruction good[] = {
		{GPUAGG_VECTOR_COLUMN, GPUAGG_VECTOR_INT64, 0, 0, 0, NONE, NONE, NONE, NONE, 0, 0},
		{GPUAGG_VECTOR_CONSTANT, GPUAGG_VECTOR_INT64, 0, 0, 1, NONE, NONE, NONE, NONE, 0, 0},
		{GPUAGG_VECTOR_LT, GPUAGG_VECTOR_INT64, 0, 0, 2, 0, 1, NONE, NONE, 0, 0},
		{GPUAGG_VECTOR_ADD, GPUAGG_VECTOR_INT64, 0, 0, 3, 0, 1, NONE, 2, 0, 0},
	};
	GpuaggVectorInstruction in[4];
	GpuaggVectorProgram p = {4, 3, 2, 4, 2, 2, 0, 0, in, constants, columns};
	uint8_t types[GPUAGG_VECTOR_REGISTERS];

#define REFUSED(change, where)                            \
	do                                                    \
	{                                                     \
		GpuaggVectorProgram kept = p;                     \
                                                          \
		memcpy(in, good, sizeof(good));                   \
		change;                                           \
		CHECK(gpuagg_vector_check(&p, types) == (where)); \
		p = kept;                                         \
	} while (0)

	REFUSED((void) 0, -1);
	CHECK(types[2] == GPUAGG_VECTOR_BOOL && types[3] == GPUAGG_VECTOR_INT64);
	REFUSED(p.ninstructions = UINT32_MAX, GPUAGG_VECTOR_INSTRUCTIONS);
	REFUSED(p.nfilter = 5, 4);
	REFUSED(p.nfilter = 2, 4);
	REFUSED(p.filter = 3, 4);
	REFUSED(p.filter = 4, 4);
	REFUSED(p.nregisters = 300, 4);
	REFUSED(p.nregisters = 3, 3);
	REFUSED(p.nconstants = 1000, 4);
	REFUSED(p.ncolumns = 100000, 4);
	REFUSED(p.ncolumns = 3, 4);
	REFUSED(p.spare = 1, 4);
	REFUSED(constants[0].isnull = 2, 4);
	constants[0].isnull = 0;
	REFUSED(in[0].arg = 1, 0);
	REFUSED(in[0].arg = 2, 0);
	REFUSED(in[0].a = 0, 0);
	REFUSED(in[0].count = 1, 0);
	REFUSED(in[0].mask = 0, 0);
	REFUSED(in[1].arg = 1, 1);
	REFUSED(in[1].arg = 2, 1);
	REFUSED(in[2].b = NONE, 2);
	REFUSED(in[2].b = 3, 2);
	REFUSED(in[2].c = 0, 2);
	REFUSED(in[2].out = 0, 2);
	REFUSED(in[2].type = GPUAGG_VECTOR_INT32, 2);
	REFUSED(in[2].to = 1, 2);
	REFUSED(in[2].spare = 1, 2);
	REFUSED(in[3].op = 0, 3);
	REFUSED(in[3].op = 255, 3);
	REFUSED(in[3].op = GPUAGG_VECTOR_LIKE, 3);
	REFUSED(in[3].type = 200, 3);
	REFUSED(in[3].mask = 0, 3);
	REFUSED(in[3].mask = 3, 3);
	REFUSED(in[3].arg = 1, 3);
	REFUSED((in[3].op = GPUAGG_VECTOR_IN, in[3].b = NONE, in[3].count = 2), 3);
	REFUSED((in[3].op = GPUAGG_VECTOR_IN, in[3].b = NONE, in[3].count = 0), 3);
	REFUSED((in[3].op = GPUAGG_VECTOR_IN, in[3].b = NONE, in[3].count = 1, in[3].arg = UINT32_MAX),
			3);
	REFUSED((in[3].op = GPUAGG_VECTOR_IN, in[3].b = NONE, in[3].count = 1), -1);
	REFUSED((in[3].op = GPUAGG_VECTOR_CAST, in[3].b = NONE, in[3].to = GPUAGG_VECTOR_INT64), 3);
	REFUSED((in[3].op = GPUAGG_VECTOR_CAST, in[3].b = NONE, in[3].to = GPUAGG_VECTOR_INT16), -1);
	REFUSED((in[3].op = GPUAGG_VECTOR_TIME_TRUNC, in[3].b = NONE, in[3].arg = GPUAGG_FIELD_DOW), 3);
	REFUSED((in[3].op = GPUAGG_VECTOR_TIME_FIELD, in[3].b = NONE, in[3].arg = GPUAGG_FIELD_DOW),
			-1);
	REFUSED((in[3].op = GPUAGG_VECTOR_TIME_FIELD, in[3].b = NONE, in[3].arg = 20), 3);
}

static void
test_like(void)
{
	static const char alphabet[] = "ab%\\";
	char many[3 * GPUAGG_LIKE_PIECES + 1];
	GpuaggLike parsed;
	GpuaggVectorBytes pattern = {(const uint8_t *) many, 0};
	long matches = 0;
	bool ok = true;

	for (int k = 0; k < 200000; k++)
	{
		char p[8], text[8];
		GpuaggVectorBytes ps = {(const uint8_t *) p, next() % 8};
		GpuaggVectorBytes ts = {(const uint8_t *) text, next() % 8};
		bool usable = true;

		for (int i = 0; i < 8; i++)
		{
			p[i] = alphabet[next() % 4];
			text[i] = alphabet[next() % 2 ? 0 : next() % 4];
		}
		usable = like_usable(ps.data, ps.size);
		ok &= gpuagg_like_parse(ps, &parsed) == usable;
		if (!usable)
			continue;
		matches += like(ts.data, ts.size, ps.data, ps.size);
		ok &= gpuagg_like_match(&parsed, ts) == like(ts.data, ts.size, ps.data, ps.size);
	}
	CHECK(ok && matches > 1000);
	for (int i = 0; i < GPUAGG_LIKE_PIECES + 1; i++)
		memcpy(many + 2 * i, "a%", 2);
	pattern.size = 2 * GPUAGG_LIKE_PIECES;
	CHECK(gpuagg_like_parse(pattern, &parsed));
	pattern.size++;
	CHECK(!gpuagg_like_parse(pattern, &parsed));
}

int
main(int argc, char **argv)
{
	static const char alphabet[] = "abab%%_\\";
	int programs = argc > 1 ? atoi(argv[1]) : 1500;

	if (argc > 2)
		seed = strtoull(argv[2], NULL, 10);
	printf("seed %lu\n", (unsigned long) seed);
	for (int k = 0; k < STRINGS; k++)
	{
		/* short ones, some of them patterns; and longer ones that begin alike */
		int size = k % 3 ? k % 8 : 8 + k % 17;

		for (int i = 0; i < size; i++)
			strings[k][i] = size >= 8 ? alphabet[i < 8 + k % 5 ? (uint64_t) i % 2 : next() % 4]
									  : alphabet[next() % (k % 2 ? 6 : 8)];
	}
	test_refusals();
	test_like();
	for (int again = 0; again < 20; again++)
		for (int type = GPUAGG_VECTOR_INT16; type <= GPUAGG_VECTOR_FLOAT64; type++)
		{
			gpuagg_vector_plain = again % 2;
			tame = again % 4 > 1;
			test_pairs(type);
		}
	test_programs(programs);
	test_damage(programs / 8);
	return check_summary();
}
