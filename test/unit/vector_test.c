/*
 * vector_test.c
 *	  Vector programs: random ones beside an oracle, and the checker against damaged ones.
 *
 *		vector_test [programs [seed]]
 */
#include "vector_oracle.h"
#include "common/vector_text.h"

#include "check.h"
#include "vector_random.h"

static bool
bit(const uint64_t *bitmap, int i)
{
	return bitmap[i / 64] >> (i % 64) & 1;
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
make_trial(Trial *t, int nrows, bool expressions)
{
	int filter_until = (int) (next() % 20);
	int length = filter_until + (int) (next() % (MAX_INSTRUCTIONS - 20));

	memset(t, 0, sizeof(*t));
	t->nrows = nrows;
	t->program.nrows = expressions ? EXPRESSIONS : 0;
	for (int k = 0; k < COLUMNS; k++)
		make_vector(1 + k / 2, &t->values[k], nrows);
	for (int k = 0; k < EXPRESSIONS; k++)
		make_vector(1 + k, &t->expressions[k], nrows);
	make_program(t, filter_until, length);
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
		GpuaggVectorProgram other;
		uint8_t types[GPUAGG_VECTOR_REGISTERS];
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
		make_zone(&runner->constants[t.zone], ZONE_PIECES);
		other = t.program;
		other.constants = runner->constants;
		if (gpuagg_vector_check(&other, types) != -1) /* what was a zone by chance is none now */
			memcpy(runner->constants, t.constants, sizeof(t.constants));
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
	REFUSED(p.nregisters = GPUAGG_VECTOR_REGISTERS + 1, 4);
	REFUSED(p.nregisters = 3, 3);
	REFUSED(p.nconstants = GPUAGG_VECTOR_CONSTANTS + 1, 4);
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

/* As many registers as there may be, each of an instruction of its own. */
static void
test_large(void)
{
	static GpuaggVectorInstruction instructions[GPUAGG_VECTOR_REGISTERS];
	static uint8_t types[GPUAGG_VECTOR_REGISTERS];
	static const uint8_t columns[] = {GPUAGG_VECTOR_INT64};
	GpuaggVectorConstant one = {.type = GPUAGG_VECTOR_INT64, .u.integer.lo = 1};
	GpuaggVectorProgram p = {GPUAGG_VECTOR_REGISTERS,
							 0,
							 NONE,
							 GPUAGG_VECTOR_REGISTERS,
							 1,
							 1,
							 0,
							 0,
							 instructions,
							 &one,
							 columns};
	int64_t values[GPUAGG_VECTOR_ROWS];
	GpuaggVectorRunner *runner;
	bool ok = true;

	for (uint16_t i = 0; i < GPUAGG_VECTOR_REGISTERS; i++)
		instructions[i] = (GpuaggVectorInstruction){
			.op = i == 0   ? GPUAGG_VECTOR_COLUMN
				  : i == 1 ? GPUAGG_VECTOR_CONSTANT
						   : GPUAGG_VECTOR_ADD,
			.type = GPUAGG_VECTOR_INT64,
			.out = i,
			.a = i < 2	  ? NONE
				 : i == 2 ? 0
						  : (uint16_t) (i - 1),
			.b = i < 2 ? NONE : 1,
			.c = NONE,
			.mask = NONE,
		};
	CHECK(gpuagg_vector_check(&p, types) == -1);
	CHECK(!gpuagg_vector_fits_device(&p));
	runner = aligned_alloc(64, gpuagg_vector_runner_size(&p));
	(void) gpuagg_vector_runner_make(runner, &p);
	for (int row = 0; row < GPUAGG_VECTOR_ROWS; row++)
		values[row] = (int64_t) (next() >> 2);
	runner->columns[0] = (GpuaggVector){values, NULL};
	gpuagg_vector_run_filter(runner, GPUAGG_VECTOR_ROWS);
	gpuagg_vector_run_values(runner);
	for (int i = 2; i < GPUAGG_VECTOR_REGISTERS; i++)
		for (int row = 0; row < GPUAGG_VECTOR_ROWS; row++)
			ok &= ((const int64_t *) runner->registers[i].values)[row] == values[row] + i - 1;
	CHECK(ok && !runner->any_flagged);
	free(runner);
	p.ninstructions = p.nregisters = GPUAGG_VECTOR_DEVICE_REGISTERS;
	CHECK(gpuagg_vector_fits_device(&p));
	p.nregisters++;
	CHECK(!gpuagg_vector_fits_device(&p));
}

/* As many constants as there may be, in one IN. */
static void
test_many(void)
{
	static GpuaggVectorConstant constants[GPUAGG_VECTOR_CONSTANTS];
	static const uint8_t columns[] = {GPUAGG_VECTOR_INT32};
	GpuaggVectorInstruction instructions[] = {
		{GPUAGG_VECTOR_COLUMN, GPUAGG_VECTOR_INT32, 0, 0, 0, NONE, NONE, NONE, NONE, 0, 0},
		{GPUAGG_VECTOR_IN, GPUAGG_VECTOR_INT32, 0, 0, 1, 0, NONE, NONE, NONE, 0, 0},
	};
	GpuaggVectorProgram p = {2, 0, NONE, 2, 0, 1, 0, 0, instructions, constants, columns};
	uint8_t types[2];
	bool ok = true;

	for (int n = 1; n <= GPUAGG_VECTOR_CONSTANTS; n += 1 + n / 3)
	{
		bool *holds = calloc(2 * GPUAGG_VECTOR_CONSTANTS, sizeof(bool));
		int32_t values[GPUAGG_VECTOR_ROWS];
		GpuaggVectorRunner *runner;
		const uint64_t *found;

		p.nconstants = instructions[1].count = (uint16_t) n;
		for (int k = 0; k < n; k++)
		{
			uint64_t value = next() % (2 * GPUAGG_VECTOR_CONSTANTS);

			constants[k] = (GpuaggVectorConstant){.type = GPUAGG_VECTOR_INT32,
												  .u.integer.lo = value};
			holds[value] = true;
		}
		CHECK(gpuagg_vector_check(&p, types) == -1);
		runner = aligned_alloc(64, gpuagg_vector_runner_size(&p));
		(void) gpuagg_vector_runner_make(runner, &p);
		for (int row = 0; row < GPUAGG_VECTOR_ROWS; row++)
			values[row] = (int32_t) (next() % (2 * GPUAGG_VECTOR_CONSTANTS));
		runner->columns[0] = (GpuaggVector){values, NULL};
		gpuagg_vector_run_filter(runner, GPUAGG_VECTOR_ROWS);
		gpuagg_vector_run_values(runner);
		found = runner->registers[1].values;
		for (int row = 0; row < GPUAGG_VECTOR_ROWS; row++)
			ok &= (found[row / 64] >> row % 64 & 1) == holds[values[row]];
		free(runner);
		free(holds);
	}
	CHECK(ok);
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
	test_large();
	test_many();
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
