/*
 * cpu_test.c
 *	  The CPU engine against row-by-row definitions, seeded.
 *
 * The oracle computes every row from scratch: it combines the valid values from the row's
 * head on.  Sums of floats are tested with values for which a long double holds every
 * partial sum exactly, and with hard values, against the accumulator (which has a test of
 * its own).
 */
#include "engine/cpu.c"
#include "engine/cpu_scan.c"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "random.h"

#define MAX_ROWS 3000

static int passed;
static int failed;

static const char *const kind_names[] = {"", "int32", "int64", "float64", "float32"};
static const char *const op_names[] = {"", "sum", "min", "max", "count", "moments"};

/* One column and its bitmaps, of exactly the size that is needed. */
typedef struct Column
{
	GpuaggKind kind;
	int64 nrows;
	void *values;
	uint64 *validity; /* or NULL */
	uint64 *heads;	  /* or NULL */
} Column;

static uint64 *
make_bitmap(int64 nrows, int one_in)
{
	uint64 *bits = calloc((nrows + 63) / 64 + (nrows == 0), sizeof(uint64));

	for (int64 i = 0; i < nrows; i++)
		if (one_in > 0 && next() % one_in == 0)
			bits[i / 64] |= UINT64_C(1) << (i % 64);
	if (nrows % 64 != 0) /* bits beyond the rows have no meaning */
		bits[nrows / 64] |= ~UINT64_C(0) << (nrows % 64);
	return bits;
}

/* Whole numbers and quarters, infinities, NaN and negative zeros now and then. */
static double
any_float(int special)
{
	static const double specials[] = {INFINITY, -INFINITY, NAN, -0.0, 0.0, -NAN};

	if (special && next() % 16 == 0)
		return special > 1 ? specials[next() % 6] : specials[3 + next() % 2];
	return (double) ((int64) (next() % 4097) - 2048) / 4;
}

static Column
make_column(GpuaggKind kind, int64 nrows)
{
	Column c = {kind, nrows, NULL, NULL, NULL};
	int special = (int) (next() % 3);

	c.values = malloc(nrows * gpuagg_kind_size(kind) + (nrows == 0));
	for (int64 i = 0; i < nrows; i++)
		switch (kind)
		{
			case GPUAGG_INT32:
				((int32 *) c.values)[i] = (int32) (special ? next() : next() % 3 + INT32_MAX - 2);
				break;
			case GPUAGG_INT64:
				((int64 *) c.values)[i] = (int64) (special ? next() : next() % 3 + INT64_MAX - 2);
				break;
			case GPUAGG_FLOAT32:
				((float *) c.values)[i] = (float) any_float(special);
				break;
			case GPUAGG_FLOAT64:
				((double *) c.values)[i] = any_float(special);
				break;
		}
	if (next() % 3 != 0)
		c.validity = make_bitmap(nrows, (int) (next() % 4));
	if (next() % 3 != 0)
		c.heads = make_bitmap(nrows, (int[]){0, 1, 3, 40, 700}[next() % 5]);
	return c;
}

static void
free_column(Column *c)
{
	free(c->values);
	free(c->validity);
	free(c->heads);
}

static int
valid_at(const Column *c, int64 i)
{
	return c->validity == NULL || (c->validity[i / 64] >> (i % 64) & 1);
}

static int
head_at(const Column *c, int64 i)
{
	return c->heads != NULL && (c->heads[i / 64] >> (i % 64) & 1);
}

/* ---- the oracle ---- */

/* The results of a range of rows; a long double is exact for sums of any_float()'s values. */
typedef struct Answer
{
	int64 n;
	__int128 isum;
	unsigned __int128 squares_low; /* sum of the low 64 bits of the squares of integers */
	unsigned __int128 squares_high;
	long double fsum;
	int only_negative_zeros;
	int nan, plus, minus;
	double fbest; /* minimum or maximum */
	int64 ibest;
} Answer;

/* Whether x comes before y: -inf .. -0 < +0 .. inf < NaN. */
static int
before(double x, double y)
{
	if (isnan(x) || isnan(y))
		return !isnan(x) && isnan(y);
	if (x == 0 && y == 0)
		return signbit(x) && !signbit(y);
	return x < y;
}

static double
float_value(const Column *c, int64 i)
{
	return c->kind == GPUAGG_FLOAT32 ? (double) ((float *) c->values)[i]
									 : ((double *) c->values)[i];
}

static void
answer_add(Answer *a, const Column *c, int op, int64 i)
{
	if (c->kind == GPUAGG_INT32 || c->kind == GPUAGG_INT64)
	{
		int64 v = c->kind == GPUAGG_INT32 ? ((int32 *) c->values)[i] : ((int64 *) c->values)[i];
		unsigned __int128 square = (unsigned __int128) ((__int128) v * v);

		a->isum += v;
		a->squares_low += (uint64) square;
		a->squares_high += square >> 64;
		if (a->n == 0 || (op == GPUAGG_MIN ? v < a->ibest : v > a->ibest))
			a->ibest = v;
	}
	else
	{
		double v = float_value(c, i);

		a->only_negative_zeros = (a->n == 0 || a->only_negative_zeros) && v == 0 && signbit(v);
		a->nan |= isnan(v);
		a->plus |= v == INFINITY;
		a->minus |= v == -INFINITY;
		if (isfinite(v))
			a->fsum += v;
		if (a->n == 0 || (op == GPUAGG_MIN ? before(v, a->fbest) : before(a->fbest, v)))
			a->fbest = v;
	}
	a->n++;
}

static Answer
answer_of(const Column *c, int op, int64 first, int64 end)
{
	Answer a;

	memset(&a, 0, sizeof(a));
	for (int64 i = first; i < end; i++)
		if (valid_at(c, i))
			answer_add(&a, c, op, i);
	return a;
}

static double
float_answer(const Answer *a, int op)
{
	if (op != GPUAGG_SUM)
	{
		if (a->n == 0)
			return op == GPUAGG_MIN ? NAN : -INFINITY;
		return a->fbest;
	}
	if (a->n == 0)
		return 0;
	if (a->nan || (a->plus && a->minus))
		return NAN;
	if (a->plus || a->minus)
		return a->plus ? INFINITY : -INFINITY;
	if (a->fsum == 0)
		return a->only_negative_zeros ? -0.0 : 0.0;
	return (double) a->fsum;
}

/* Whether two values are the same, NaN being the canonical one. */
static int
same64(double got, double want)
{
	uint64 bits;
	uint64 wanted;

	memcpy(&bits, &got, sizeof(bits));
	memcpy(&wanted, &want, sizeof(wanted));
	return isnan(want) ? bits == GPUAGG_NAN64 : bits == wanted;
}

static int
same32(float got, double want)
{
	float narrow = (float) want;
	uint32 bits;
	uint32 wanted;

	memcpy(&bits, &got, sizeof(bits));
	memcpy(&wanted, &narrow, sizeof(wanted));
	return isnan(want) ? bits == GPUAGG_NAN32 : bits == wanted;
}

/* Whether result i of a scan is as it should be. */
static int
row_is_right(const Flight *scan, int64 i, const Answer *a)
{
	GpuaggKind kind = scan->work.kind;
	int64 identity = scan->work.op == GPUAGG_MIN ? (kind == GPUAGG_INT32 ? INT32_MAX : INT64_MAX)
												 : (kind == GPUAGG_INT32 ? INT32_MIN : INT64_MIN);
	const void *r = scan->results;

	if (scan->status != NULL && scan->status[i] != (a->n == 0 ? GPUAGG_ROW_NULL : GPUAGG_ROW_VALUE))
		return 0;
	if (scan->work.op == GPUAGG_COUNT)
		return ((const int64 *) r)[i] == a->n;
	if (kind == GPUAGG_FLOAT32)
		return same32(((const float *) r)[i], float_answer(a, scan->work.op));
	if (kind == GPUAGG_FLOAT64)
		return same64(((const double *) r)[i], float_answer(a, scan->work.op));
	if (scan->work.op == GPUAGG_SUM && kind == GPUAGG_INT32)
		return ((const int64 *) r)[i] == (int64) a->isum;
	if (scan->work.op == GPUAGG_SUM)
		return ((const GpuaggInt128 *) r)[i].lo == (uint64) a->isum &&
			   ((const GpuaggInt128 *) r)[i].hi == (int64) (a->isum >> 64);
	if (kind == GPUAGG_INT32)
		return ((const int32 *) r)[i] == (int32) (a->n == 0 ? identity : a->ibest);
	return ((const int64 *) r)[i] == (a->n == 0 ? identity : a->ibest);
}

/*
 * Whether these are the squares of the column's finite values.  They are quarters
 * and small, so that the sum is a number of 64 bits in units of 1/16, which is
 * bit 0 of chunk 67.
 */
static int
squares_match(const Column *c, const int64_t *chunk)
{
	uint64 sum = 0;

	for (int64 i = 0; i < c->nrows; i++)
	{
		double v = c->kind == GPUAGG_FLOAT64 ? ((double *) c->values)[i] : ((float *) c->values)[i];

		if (valid_at(c, i) && isfinite(v))
			sum += (uint64) (int64) (v * 4) * (uint64) (int64) (v * 4);
	}
	for (int i = 0; i < GPUAGG_SQUARE_CHUNKS; i++)
		if (chunk[i] != (i == 67 ? (int64) (uint32) sum : i == 68 ? (int64) (sum >> 32) : 0))
			return 0;
	return 1;
}

/* ---- tests ---- */

static void
test_reduce(GpuaggKind kind, GpuaggOp op, int64 nrows)
{
	Column c = make_column(kind, nrows);
	Answer a = answer_of(&c, op, 0, nrows);
	int64 half = nrows / 128 * 64; /* two calls add up */
	GpuaggReduced total;
	int ok;

	gpuagg_reduced_init(&total);
	gpuagg_cpu_reduce(kind, op, c.values, c.validity, half, &total);
	gpuagg_cpu_reduce(kind, op, (char *) c.values + half * gpuagg_kind_size(kind),
					  c.validity == NULL ? NULL : c.validity + half / 64, nrows - half, &total);
	ok = total.n == (uint64) a.n;
	if (op == GPUAGG_MOMENTS && gpuagg_kind_is_float(kind))
		ok &= squares_match(&c, total.f_squares);
	if ((op == GPUAGG_SUM || op == GPUAGG_MOMENTS) && gpuagg_kind_is_float(kind))
	{
		double result = 0;
		GpuaggRounded rounded = gpuagg_float_sum_round64(gpuagg_float_sum_of(&total.f), &result);

		ok &= rounded == (a.n == 0 ? GPUAGG_ROUNDED_NULL : GPUAGG_ROUNDED_VALUE);
		ok &= a.n == 0 || same64(result, float_answer(&a, GPUAGG_SUM));
	}
	else if (op == GPUAGG_SUM || op == GPUAGG_MOMENTS)
	{
		unsigned __int128 high = a.squares_high + (a.squares_low >> 64);

		ok &= total.sum.lo == (uint64) a.isum && total.sum.hi == (int64) (a.isum >> 64);
		ok &= op == GPUAGG_SUM ||
			  (total.squares[0] == (uint64) a.squares_low && total.squares[1] == (uint64) high &&
			   total.squares[2] == (uint64) (high >> 64));
	}
	else if (op != GPUAGG_COUNT && a.n > 0)
	{
		int64 key = (int64) total.sum.lo;

		ok &= total.sum.hi == (key < 0 ? -1 : 0);
		if (kind == GPUAGG_FLOAT64)
		{
			uint64 bits = gpuagg_order_bits64(key);
			double v;

			memcpy(&v, &bits, sizeof(v));
			ok &= same64(v, a.fbest);
		}
		else if (kind == GPUAGG_FLOAT32)
		{
			uint32 bits = gpuagg_order_bits32((int32) key);
			float v;

			memcpy(&v, &bits, sizeof(v));
			ok &= same32(v, a.fbest);
		}
		else
			ok &= key == a.ibest;
	}
	passed += ok;
	failed += !ok;
	if (!ok && failed <= 20)
		printf("not ok: reduce %s %s, %ld rows\n", kind_names[kind], op_names[op], (long) nrows);
	free_column(&c);
}

/* A scan in two parts, the state carried from one to the next. */
static void
test_scan(GpuaggKind kind, GpuaggOp op, int exclusive, int64 nrows)
{
	Column c = make_column(kind, nrows);
	Size width = gpuagg_scan_result_size(kind, op, 0);
	int64 cut = nrows == 0 ? 0 : (int64) (next() % (nrows / 64 + 1)) * 64;
	Flight scan = {0};
	GpuaggScanState carry;
	int64 first = 0;
	int64 wrong = -1;

	scan.work.kind = kind;
	scan.work.op = op;
	scan.work.flags = exclusive ? GPUAGG_SCAN_EXCLUSIVE : 0;
	scan.results = malloc(nrows * width + (nrows == 0));
	scan.status = next() % 4 == 0 ? NULL : malloc(nrows + (nrows == 0));
	memset(&carry, 0, sizeof(carry));
	gpuagg_float_sum_init(gpuagg_float_sum_of(&carry.f), 0, GPUAGG_CHUNKS);

	for (int part = 0; part < 2; part++)
	{
		Flight some = scan;
		int64 from = part == 0 ? 0 : cut;

		some.work.nrows = (part == 0 ? cut : nrows) - from;
		some.values = (char *) c.values + from * gpuagg_kind_size(kind);
		some.validity = c.validity == NULL ? NULL : c.validity + from / 64;
		some.heads = c.heads == NULL ? NULL : c.heads + from / 64;
		some.results = (char *) scan.results + from * width;
		some.status = scan.status == NULL ? NULL : scan.status + from;
		gpuagg_cpu_scan(&some, &carry);
	}
	for (int64 i = 0; i < nrows && wrong < 0; i++)
	{
		Answer a;

		if (head_at(&c, i))
			first = i;
		a = answer_of(&c, op, first, exclusive ? i : i + 1);
		if (!row_is_right(&scan, i, &a))
			wrong = i;
	}
	passed += wrong < 0;
	failed += wrong >= 0;
	if (wrong >= 0 && failed <= 20)
		printf("not ok: scan %s %s%s, %ld rows, row %ld\n", kind_names[kind], op_names[op],
			   exclusive ? " exclusive" : "", (long) nrows, (long) wrong);
	free(scan.results);
	free(scan.status);
	free_column(&c);
}

/* Sums of hard floats: any bits, so that blocks have windows of every width. */
static void
test_hard_scan(GpuaggKind kind, int64 nrows)
{
	GpuaggFloatSumFull exact;
	GpuaggFloatSum *acc = gpuagg_float_sum_of(&exact);
	Flight scan = {0};
	GpuaggScanState carry;
	uint64 *heads = make_bitmap(nrows, 100);
	char *values = malloc(nrows * gpuagg_kind_size(kind));
	int ok = 1;
	int span = (int) (next() % 64) + 1; /* how far exponents lie apart */

	for (int64 i = 0; i < nrows; i++)
	{
		double x = ldexp((double) (int64) next(), (int) (next() % span) * 30 - 900);
		float y = (float) ldexp((double) (int64) next(), (int) (next() % span) * 3 - 160);

		if (i > nrows / 2 && next() % 200 == 0)
			x = y = next() % 2 ? INFINITY : 0;
		if (kind == GPUAGG_FLOAT32)
			((float *) values)[i] = y;
		else
			((double *) values)[i] = x;
	}
	memset(&carry, 0, sizeof(carry));
	gpuagg_float_sum_init(gpuagg_float_sum_of(&carry.f), 0, GPUAGG_CHUNKS);
	scan.work.kind = kind;
	scan.work.op = GPUAGG_SUM;
	scan.work.nrows = nrows;
	scan.values = values;
	scan.heads = heads;
	scan.results = malloc(nrows * gpuagg_kind_size(kind));
	scan.status = malloc(nrows);
	gpuagg_cpu_scan(&scan, &carry);

	gpuagg_float_sum_init(acc, 0, GPUAGG_CHUNKS);
	for (int64 i = 0; i < nrows; i++)
	{
		double want = 0;
		float want32 = 0;
		int status;

		if (heads[i / 64] >> (i % 64) & 1)
			gpuagg_float_sum_init(acc, 0, GPUAGG_CHUNKS);
		(void) gpuagg_float_sum_deposit(acc,
										kind == GPUAGG_FLOAT32 ? (double) ((float *) values)[i]
															   : ((double *) values)[i],
										1);
		if (kind == GPUAGG_FLOAT32)
			status = gpuagg_float_sum_round32(acc, &want32);
		else
			status = gpuagg_float_sum_round64(acc, &want);
		ok &= scan.status[i] == status;
		if (status == GPUAGG_ROUNDED_VALUE)
			ok &= kind == GPUAGG_FLOAT32 ? same32(((float *) scan.results)[i], want32)
										 : same64(((double *) scan.results)[i], want);
	}
	passed += ok;
	failed += !ok;
	if (!ok && failed <= 20)
		printf("not ok: scan of hard %s, %ld rows\n", kind_names[kind], (long) nrows);
	free(scan.results);
	free(scan.status);
	free(values);
	free(heads);
}

/* The same in two parts of integers of 128 bits; the greatest ones' sums have more. */
static void
test_wide_scan(GpuaggOp op, int exclusive, int64 nrows)
{
	int nwords = op == GPUAGG_SUM ? 3 : 2;
	int64 cut = (int64) (next() % (nrows / 64 + 1)) * 64;
	int shift = (int) (next() % 128);
	Flight scan = {0};
	GpuaggScanState carry;
	GpuaggInt128 *values = malloc(nrows * sizeof(GpuaggInt128) + 1);
	uint64 *heads = make_bitmap(nrows, next() % 2 ? 100 : 0);
	uint64 *validity = make_bitmap(nrows, next() % 3 + 1);
	uint64 *results = malloc(nrows * nwords * sizeof(uint64) + 1);
	uint8 *status = malloc(nrows + 1);
	/* of the rows from the head on: in two halves, as 2^64 of a number of 64 bits each fits them */
	__int128 low = 0;
	__int128 high = 0;
	__int128 best = 0;
	int64 n = 0;
	int ok = 1;

	for (int64 i = 0; i < nrows; i++)
		values[i] = gpuagg_int128_narrow((__int128) ((unsigned __int128) next() << 64 | next()) >>
										 shift);
	scan.work.kind = GPUAGG_INT64;
	scan.work.op = op;
	scan.work.flags = GPUAGG_SCAN_WIDE | (exclusive ? GPUAGG_SCAN_EXCLUSIVE : 0);
	memset(&carry, 0, sizeof(carry));
	for (int part = 0; part < 2; part++)
	{
		Flight some = scan;
		int64 from = part == 0 ? 0 : cut;

		some.work.nrows = (part == 0 ? cut : nrows) - from;
		some.values = values + from;
		some.validity = validity + from / 64;
		some.heads = heads + from / 64;
		some.results = results + from * nwords;
		some.status = status + from;
		gpuagg_cpu_scan(&some, &carry);
	}
	for (int64 i = 0; i < nrows; i++)
	{
		if (gpuagg_bit(heads, i))
			low = high = n = 0;
		for (int put = 0; put < 2; put++)
		{
			const uint64 *result = results + i * nwords;
			__int128 value = gpuagg_int128_wide(values[i]);

			if ((put == 0) == exclusive)
			{
				__int128 upper = high + (low >> 64);

				ok &= status[i] == (n > 0 ? GPUAGG_ROW_VALUE : GPUAGG_ROW_NULL);
				if (n == 0)
					continue;
				if (op == GPUAGG_SUM)
					ok &= result[0] == (uint64) low && result[1] == (uint64) upper &&
						  result[2] == (uint64) (upper >> 64);
				else
					ok &= result[0] == (uint64) best && result[1] == (uint64) (best >> 64);
				continue;
			}
			if (!gpuagg_bit(validity, i))
				continue;
			if (n++ == 0 || (op == GPUAGG_MIN ? value < best : value > best))
				best = value;
			low += (uint64) value;
			high += value >> 64;
		}
	}
	passed += ok;
	failed += !ok;
	if (!ok && failed <= 20)
		printf("not ok: scan of wide %s, %ld rows\n", op_names[op], (long) nrows);
	free(values);
	free(heads);
	free(validity);
	free(results);
	free(status);
}

int
main(void)
{
	static const int64 sizes[] = {0,   1,	2,	 63,   64,	 65,   127,	 128,
								  511, 512, 513, 1023, 1024, 1025, 2048, MAX_ROWS};

	printf("seed %lu\n", (unsigned long) seed);
	for (int op = GPUAGG_SUM; op <= GPUAGG_MAX; op++)
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
			for (int again = 0; again < 20; again++)
				test_wide_scan(op, again % 2, sizes[k]);
	for (int kind = GPUAGG_INT32; kind <= GPUAGG_FLOAT32; kind++)
		for (int op = GPUAGG_SUM; op <= GPUAGG_COUNT; op++)
			for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
				for (int again = 0; again < (sizes[k] < 600 ? 12 : 2); again++)
				{
					test_reduce(kind, op, sizes[k]);
					test_scan(kind, op, 0, sizes[k]);
					test_scan(kind, op, 1, sizes[k]);
				}
	for (int kind = GPUAGG_INT32; kind <= GPUAGG_FLOAT32; kind++)
	{
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
			for (int again = 0; again < 12; again++)
				test_reduce(kind, GPUAGG_MOMENTS, sizes[k]);
		test_reduce(kind, GPUAGG_MOMENTS, 200001); /* more than a piece */
	}
	test_reduce(GPUAGG_INT32, GPUAGG_SUM, 200001);
	test_reduce(GPUAGG_FLOAT32, GPUAGG_SUM, 200001);
	for (int again = 0; again < 40; again++)
	{
		test_hard_scan(GPUAGG_FLOAT64, 2500);
		test_hard_scan(GPUAGG_FLOAT32, 2500);
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed > 0;
}
