/*
 * ladder_test.cc
 *	  gpu_ladder: every algorithm, task, kind and operation, at sizes around
 *	  every boundary and with all block sizes, against one loop on the host.
 *
 * Integers, minima and maxima must agree to the bit, and so must sums of floats
 * that are small integers; other sums of n floats within n eps sum |x|.
 */
#include "harness.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cuda/ladder/ladder.h"

#define GUARD_BYTES 64
#define CHUNK_ROWS	(UINT64_C(1) << 23) /* of very long columns, at a time */

/* Of ladder_affine.cu: launches or measures one scan; returns bytes of scratch. */
extern size_t ladder_affine(const GpuLadder *ladder, bool measuring, GpuStreamRef stream);

namespace
{

const int kinds[] = {GPUAGG_INT32, GPUAGG_INT64, GPUAGG_FLOAT32, GPUAGG_FLOAT64};
const int ops[] = {GPUAGG_SUM, GPUAGG_MIN, GPUAGG_MAX};
const GpuaggTask tasks[] = {GPUAGG_REDUCE, GPUAGG_SCAN, GPUAGG_SEGMENTED_SCAN};

/* A result of any kind, and what sums of floats are compared with. */
struct Total
{
	int64_t integer;
	double real; /* of float32 too; MIN and MAX */
	long double sum;
	long double sum_abs;
	uint64_t n;
};

struct Column
{
	int kind;
	int op;
	bool exact; /* floats are small integers */
	std::vector<char> bytes;
};

int64_t
integer_at(int kind, const char *bytes, uint64_t i)
{
	return kind == GPUAGG_INT32 ? ((const int32_t *) bytes)[i] : ((const int64_t *) bytes)[i];
}

double
real_at(int kind, const char *bytes, uint64_t i)
{
	return kind == GPUAGG_FLOAT32 ? ((const float *) bytes)[i] : ((const double *) bytes)[i];
}

/* Whether a stands before b: -inf < .. < -0 < +0 < .. < inf < NaN. */
bool
real_less(double a, double b)
{
	if (isnan(a) || isnan(b))
		return !isnan(a);
	return a < b || (a == b && signbit(a) && !signbit(b));
}

Total
total_of_none(int kind, int op)
{
	Total t = {};

	if (op == GPUAGG_MIN)
	{
		t.integer = kind == GPUAGG_INT32 ? INT32_MAX : INT64_MAX;
		t.real = NAN;
	}
	if (op == GPUAGG_MAX)
	{
		t.integer = kind == GPUAGG_INT32 ? INT32_MIN : INT64_MIN;
		t.real = -INFINITY;
	}
	return t;
}

void
total_add(Total *t, int kind, int op, const char *bytes, uint64_t i)
{
	t->n++;
	if (!gpuagg_kind_is_float(kind))
	{
		int64_t v = integer_at(kind, bytes, i);

		if (op == GPUAGG_SUM)
			t->integer = (int64_t) ((uint64_t) t->integer + (uint64_t) v);
		else if (op == GPUAGG_MIN ? v < t->integer : v > t->integer)
			t->integer = v;
	}
	else
	{
		double v = real_at(kind, bytes, i);

		if (op == GPUAGG_SUM)
		{
			t->sum += v;
			t->sum_abs += fabs(v);
		}
		else if (op == GPUAGG_MIN ? real_less(v, t->real) : real_less(t->real, v))
			t->real = v;
	}
}

bool
total_is(const Total &t, int kind, int op, bool exact, const char *results, uint64_t i)
{
	if (!gpuagg_kind_is_float(kind))
		return ((const int64_t *) results)[i] == t.integer;

	double real = op == GPUAGG_SUM ? (double) t.sum : t.real;

	if (op == GPUAGG_SUM && !exact)
	{
		long double eps = kind == GPUAGG_FLOAT32 ? FLT_EPSILON : DBL_EPSILON;

		return fabsl(real_at(kind, results, i) - t.sum) <= (long double) t.n * eps * t.sum_abs;
	}
	if (kind == GPUAGG_FLOAT32)
	{
		uint32_t bits = GPUAGG_NAN32;
		float narrow = (float) real;

		if (!isnan(real))
			memcpy(&bits, &narrow, sizeof(bits));
		return ((const uint32_t *) results)[i] == bits;
	}

	uint64_t bits = GPUAGG_NAN64;

	if (!isnan(real))
		memcpy(&bits, &real, sizeof(bits));
	return ((const uint64_t *) results)[i] == bits;
}

void
set_value(Column *column, Random &random, uint64_t i)
{
	uint64_t bits = random.next();
	double small = random.between(-8, 8);
	double real = ldexp((double) (int64_t) bits, random.between(-90, -50));

	/* any bits, and values that matter to an order */
	if (column->op != GPUAGG_SUM)
	{
		static const double special[] = {NAN, -NAN, INFINITY, -INFINITY, 0.0, -0.0};
		uint64_t pick = random.below(40);

		if (pick < 6)
			real = special[pick];
		else if (pick < 20)
			memcpy(&real, &bits, sizeof(real));
	}
	switch (column->kind)
	{
		case GPUAGG_INT32:
			((int32_t *) column->bytes.data())[i] = (int32_t) bits;
			break;
		case GPUAGG_INT64:
			((int64_t *) column->bytes.data())[i] = (int64_t) bits;
			break;
		case GPUAGG_FLOAT32:
			((float *) column->bytes.data())[i] = (float) (column->exact ? small : real);
			break;
		default:
			((double *) column->bytes.data())[i] = column->exact ? small : real;
			break;
	}
}

Column
make_column(int kind, int op, uint64_t n, bool exact, uint64_t seed)
{
	Column column = {kind, op, exact, std::vector<char>(n * gpuagg_kind_size(kind))};
	Random random(seed);

	for (uint64_t i = 0; i < n; i++)
		set_value(&column, random, i);
	return column;
}

bool
is_head(const std::vector<uint64_t> &heads, uint64_t i)
{
	return (heads[i / 64] >> i % 64 & 1) != 0;
}

/* Bits beyond the last row are set, to be ignored. */
std::vector<uint64_t>
make_heads(int pattern, uint64_t n, uint64_t seed)
{
	std::vector<uint64_t> heads((n + 63) / 64, 0);
	Random random(seed);

	for (uint64_t i = 0; i < heads.size() * 64; i++)
	{
		bool head = i >= n;

		switch (pattern)
		{
			case 0:
				break;
			case 1:
				head = true;
				break;
			case 2:
				head = head || random.below(2) == 0;
				break;
			case 3:
				head = head || random.below(64) == 0;
				break;
			case 4: /* where tiles start */
				head = head || i % 32 == 0;
				break;
			case 5: /* around there */
				head = head || i % 64 == 31 || i % 256 == 1 || i == n - 1;
				break;
		}
		if (head)
			heads[i / 64] |= UINT64_C(1) << i % 64;
	}
	return heads;
}

#define NHEAD_PATTERNS 6

std::string
name_of(const GpuLadder &run)
{
	return text("ladder %s, task %d, kind %d, op %d%s, %d threads, %llu rows",
				gpuagg_algorithm(run.algorithm)->name, run.task, run.kind, run.op,
				run.exclusive ? ", exclusive" : "", run.threads, (unsigned long long) run.nrows);
}

/*
 * Runs `ladder` twice over copies of the values and heads; returns the results,
 * of `result_size` bytes each.  Reports when the two differ where they must not
 * or something else was written to.
 */
std::vector<char>
run_twice(GpuLadder ladder, bool affine, const std::vector<char> &values,
		  const std::vector<uint64_t> &heads, size_t result_size, bool repeatable,
		  const std::string &what)
{
	uint64_t nresults = ladder.task == GPUAGG_REDUCE ? 1 : ladder.nrows;
	size_t scratch_size = affine ? ladder_affine(&ladder, true, stream)
								 : gpu_ladder_scratch(&ladder);
	std::vector<char> results[NPATTERNS];

	for (int i = 0; i < NPATTERNS; i++)
	{
		int byte = begin_pattern(i);
		size_t bytes = nresults * result_size;
		std::vector<char> guarded(bytes + GUARD_BYTES);
		std::vector<char> guard(GUARD_BYTES);
		std::vector<char> untouched(GUARD_BYTES, (char) byte);
		DeviceMemory column(values.size() + 1);
		DeviceMemory bits(heads.size() * 8 + 1);
		DeviceMemory result(bytes + GUARD_BYTES);
		DeviceMemory scratch(scratch_size + GUARD_BYTES);

		must(gpu_memset(result.p, byte, result.bytes, stream), "gpu_memset");
		must(gpu_memset(scratch.p, byte, scratch.bytes, stream), "gpu_memset");
		if (!values.empty())
			must(gpu_copy_in(column.p, values.data(), values.size(), stream), "gpu_copy_in");
		if (!heads.empty())
			must(gpu_copy_in(bits.p, heads.data(), heads.size() * 8, stream), "gpu_copy_in");
		ladder.values = column.p;
		ladder.heads = (const uint64_t *) bits.p;
		ladder.results = result.p;
		ladder.scratch = scratch.p;
		if (affine)
			ladder_affine(&ladder, false, stream);
		else
			must(gpu_ladder(&ladder, stream), what.c_str());
		must(gpu_launch_status(), what.c_str());
		must(gpu_copy_out(guarded.data(), result.p, guarded.size(), stream), "gpu_copy_out");
		must(gpu_copy_out(guard.data(), (char *) scratch.p + scratch_size, GUARD_BYTES, stream),
			 "gpu_copy_out");
		finish();
		report(memcmp(guarded.data() + bytes, untouched.data(), GUARD_BYTES) == 0 &&
				   guard == untouched,
			   what + ": wrote beyond its memory");
		guarded.resize(bytes);
		results[i] = guarded;
	}
	if (repeatable)
		report(results[0] == results[1], what + ": two runs differ");
	return results[0];
}

void
test_run(GpuLadder ladder, bool exact, int head_pattern, uint64_t seed)
{
	uint64_t n = ladder.nrows;
	bool segmented = ladder.task == GPUAGG_SEGMENTED_SCAN;
	Column column = make_column(ladder.kind, ladder.op, n, exact, seed);
	std::vector<uint64_t> heads;
	std::string what = name_of(ladder);
	std::vector<char> results;
	Total total = total_of_none(ladder.kind, ladder.op);
	uint64_t wrong = UINT64_MAX;

	if (segmented)
	{
		heads = make_heads(head_pattern, n, seed);
		what += text(", heads %d", head_pattern);
	}
	results = run_twice(ladder, false, column.bytes, heads, gpuagg_ladder_result_size(ladder.kind),
						true, what);
	for (uint64_t i = 0; i < n; i++)
	{
		if (segmented && is_head(heads, i))
			total = total_of_none(ladder.kind, ladder.op);
		if (ladder.task == GPUAGG_REDUCE)
			total_add(&total, ladder.kind, ladder.op, column.bytes.data(), i);
		else
		{
			if (!ladder.exclusive)
				total_add(&total, ladder.kind, ladder.op, column.bytes.data(), i);
			if (wrong == UINT64_MAX &&
				!total_is(total, ladder.kind, ladder.op, exact, results.data(), i))
				wrong = i;
			if (ladder.exclusive)
				total_add(&total, ladder.kind, ladder.op, column.bytes.data(), i);
		}
	}
	if (ladder.task == GPUAGG_REDUCE &&
		!total_is(total, ladder.kind, ladder.op, exact, results.data(), 0))
		wrong = 0;
	if (wrong != UINT64_MAX)
		what += text(": result %llu", (unsigned long long) wrong);
	report(wrong == UINT64_MAX, what);
}

/* Shows whether a step swaps its two arguments. */
void
test_affine(GpuLadder ladder, int head_pattern, uint64_t seed)
{
	uint64_t n = ladder.nrows;
	bool segmented = ladder.task == GPUAGG_SEGMENTED_SCAN;
	std::vector<char> values(n * 8);
	std::vector<uint64_t> heads = make_heads(head_pattern, n, seed);
	std::string what = name_of(ladder) + ", affine";
	std::vector<char> results;
	Random random(seed);
	uint32_t a = 1;
	uint32_t b = 0;
	bool right = true;

	for (uint64_t i = 0; i < n; i++)
		((uint64_t *) values.data())[i] = random.next() | 1;
	results = run_twice(ladder, true, values, heads, 8, true, what);
	for (uint64_t i = 0; i < n; i++)
	{
		uint64_t v = ((const uint64_t *) values.data())[i];
		uint64_t before;

		if (segmented && is_head(heads, i))
		{
			a = 1;
			b = 0;
		}
		before = (uint64_t) b << 32 | a;
		a = (uint32_t) v * a;
		b = (uint32_t) v * b + (uint32_t) (v >> 32);
		right = right && ((const uint64_t *) results.data())[i] ==
							 (ladder.exclusive ? before : (uint64_t) b << 32 | a);
	}
	report(right, what);
}

/* Every kind and operation at one size; block sizes and heads take turns. */
void
test_size(GpuaggTask task, int algorithm, uint64_t n, int *turn, const Options &options)
{
	const GpuaggAlgorithmInfo *info = gpuagg_algorithm(algorithm);

	for (int kind : kinds)
		for (int op : ops)
			for (int exclusive = 0; exclusive < (task == GPUAGG_REDUCE ? 1 : 2); exclusive++)
			{
				GpuLadder ladder = {};

				if (info->integers_only && gpuagg_kind_is_float(kind))
					continue;
				if ((n > 1000000 && ++*turn % 6 != 0) ||
					(options.small && (op == GPUAGG_MAX || ++*turn % 2 == 0)))
					continue;
				ladder.task = task;
				ladder.algorithm = algorithm;
				ladder.kind = kind;
				ladder.op = op;
				ladder.exclusive = exclusive;
				ladder.threads = *turn % 7 == 6 ? 0 : 32 << *turn % 7;
				ladder.nrows = n;
				test_run(ladder, op == GPUAGG_SUM && *turn % 2 == 0, *turn / 7 % NHEAD_PATTERNS,
						 options.seed * 1000003 + (uint64_t) *turn);
				(*turn)++;
			}
	if (task != GPUAGG_REDUCE)
		for (int exclusive = 0; exclusive < 2; exclusive++)
		{
			GpuLadder ladder = {};

			ladder.task = task;
			ladder.algorithm = algorithm;
			ladder.kind = GPUAGG_INT64;
			ladder.op = GPUAGG_SUM;
			ladder.exclusive = exclusive;
			ladder.threads = 32 << *turn % 6;
			ladder.nrows = n;
			test_affine(ladder, *turn / 6 % NHEAD_PATTERNS,
						options.seed * 999983 + (uint64_t) *turn);
			(*turn)++;
		}
}

/* Rows 0 .. n - 1 of a column too long for the host, int32 sums. */
int32_t
long_value(uint64_t i)
{
	return (int32_t) ((i * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

bool
long_head(uint64_t i)
{
	return (i * UINT64_C(0xd1342543de82ef95)) >> 44 == 0 || i == (UINT64_C(1) << 31) + 1;
}

void
test_long(GpuaggTask task, int algorithm, uint64_t n)
{
	GpuLadder ladder = {};
	uint64_t nresults = task == GPUAGG_REDUCE ? 1 : n;
	uint64_t nwords = (n + 63) / 64;
	int64_t total = 0;
	bool right = true;

	ladder.task = task;
	ladder.algorithm = algorithm;
	ladder.kind = GPUAGG_INT32;
	ladder.op = GPUAGG_SUM;
	ladder.nrows = n;

	DeviceMemory values(n * 4);
	DeviceMemory results(nresults * 8);
	DeviceMemory heads(nwords * 8);
	DeviceMemory scratch(gpu_ladder_scratch(&ladder) + 1);
	std::vector<int32_t> rows(CHUNK_ROWS);
	std::vector<int64_t> got(CHUNK_ROWS);
	std::vector<uint64_t> words(CHUNK_ROWS / 64);

	must(gpu_memset(results.p, 0xa5, results.bytes, stream), "gpu_memset");
	must(gpu_memset(scratch.p, 0xa5, scratch.bytes, stream), "gpu_memset");
	for (uint64_t start = 0; start < n; start += CHUNK_ROWS)
	{
		uint64_t count = n - start < CHUNK_ROWS ? n - start : CHUNK_ROWS;

		words.assign(CHUNK_ROWS / 64, 0);
		for (uint64_t i = 0; i < count; i++)
		{
			rows[i] = long_value(start + i);
			if (long_head(start + i))
				words[i / 64] |= UINT64_C(1) << i % 64;
		}
		must(gpu_copy_in((int32_t *) values.p + start, rows.data(), count * 4, stream),
			 "gpu_copy_in");
		must(gpu_copy_in((uint64_t *) heads.p + start / 64, words.data(), (count + 63) / 64 * 8,
						 stream),
			 "gpu_copy_in");
		finish();
	}
	ladder.values = values.p;
	ladder.heads = (const uint64_t *) heads.p;
	ladder.results = results.p;
	ladder.scratch = scratch.p;
	must(gpu_ladder(&ladder, stream), "gpu_ladder");
	for (uint64_t start = 0; start < n; start += CHUNK_ROWS)
	{
		uint64_t count = n - start < CHUNK_ROWS ? n - start : CHUNK_ROWS;

		if (task != GPUAGG_REDUCE)
			must(gpu_copy_out(got.data(), (int64_t *) results.p + start, count * 8, stream),
				 "gpu_copy_out");
		finish();
		for (uint64_t i = 0; i < count; i++)
		{
			if (task == GPUAGG_SEGMENTED_SCAN && long_head(start + i))
				total = 0;
			total += long_value(start + i);
			right = right && (task == GPUAGG_REDUCE || got[i] == total);
		}
	}
	if (task == GPUAGG_REDUCE)
	{
		must(gpu_copy_out(got.data(), results.p, 8, stream), "gpu_copy_out");
		finish();
		right = got[0] == total;
	}
	report(right, name_of(ladder));
}

void
test_table()
{
	int rows = 0;

	for (GpuaggTask task : tasks)
		for (int a = GPUAGG_ALG_NONE; (a = gpuagg_algorithm_next(a, task)) != GPUAGG_ALG_NONE;)
		{
			const GpuaggAlgorithmInfo *info = gpuagg_algorithm(a);
			bool good = info != nullptr && gpuagg_algorithm_find(info->name, task) == a;

			good = good && (info->tasks & (unsigned) task) != 0 && info->idea[0] != '\0' &&
				   info->source[0] != '\0';
			good = good && (info->on_cpu || a == GPUAGG_ALG_PRODUCTION || info->threads >= 32);
			for (double n = 1; good && n < 1e12; n *= 7)
				good = info->additions(n) >= 0 && info->additions(n) <= 6 + n / 2;
			report(good, text("row %d of the table of algorithms", a));
			rows++;
		}
	report(rows == 23 + 12 + 13, "number of algorithms");
	report(gpuagg_algorithm(GPUAGG_ALG_NONE) == nullptr &&
			   gpuagg_algorithm(GPUAGG_NALGORITHMS) == nullptr &&
			   gpuagg_algorithm(GPUAGG_ALG_CUB) == nullptr && gpuagg_algorithm(-1) == nullptr,
		   "numbers that are no algorithm");
	report(gpuagg_algorithm_find("kogge", GPUAGG_SCAN) == GPUAGG_ALG_NONE &&
			   gpuagg_algorithm_find("hierarchical", GPUAGG_SCAN) == GPUAGG_ALG_NONE &&
			   gpuagg_algorithm_find("kogge_stone", GPUAGG_REDUCE) == GPUAGG_ALG_NONE,
		   "names that are no algorithm of the task");
	report(gpuagg_algorithm(GPUAGG_ALG_QUADRATIC)->additions(8) == 4.5 &&
			   gpuagg_algorithm(GPUAGG_ALG_HILLIS_STEELE)->additions(1 << 20) ==
				   19 + 1.0 / (1 << 20) &&
			   gpuagg_algorithm(GPUAGG_ALG_BRENT_KUNG)->additions(512) == 2 * 511.0 / 512 &&
			   gpuagg_algorithm(GPUAGG_ALG_GRID_STRIDE)->additions(4) == 0.75,
		   "additions per element");
}

void
test_refusals()
{
	DeviceMemory memory(4096);
	GpuLadder good = {};

	good.task = GPUAGG_SCAN;
	good.algorithm = GPUAGG_ALG_KOGGE_STONE;
	good.kind = GPUAGG_INT32;
	good.op = GPUAGG_SUM;
	good.nrows = 10000;
	good.values = good.results = good.scratch = memory.p;
	report(gpu_ladder_scratch(&good) > 0, "ladder: scratch of a run");
	for (int i = 0; i < 12; i++)
	{
		GpuLadder bad = good;

		switch (i)
		{
			case 0:
				bad.task = GPUAGG_REDUCE;
				break;
			case 1:
				bad.task = GPUAGG_SCAN | GPUAGG_SEGMENTED_SCAN;
				break;
			case 2:
				bad.algorithm = GPUAGG_ALG_NONE;
				break;
			case 3:
				bad.algorithm = GPUAGG_ALG_SEQUENTIAL;
				break;
			case 4:
				bad.algorithm = GPUAGG_ALG_PRODUCTION;
				break;
			case 5:
				bad.algorithm = GPUAGG_ALG_CUB;
				break;
			case 6:
				bad.kind = 0;
				break;
			case 7:
				bad.op = GPUAGG_COUNT;
				break;
			case 8:
				bad.threads = 48;
				break;
			case 9:
				bad.threads = 2048;
				break;
			case 10:
				bad.threads = -32;
				break;
			case 11:
				bad.task = GPUAGG_REDUCE;
				bad.algorithm = GPUAGG_ALG_WARP_REDUCE_ADD;
				bad.kind = GPUAGG_FLOAT32;
				break;
		}
		report(gpu_ladder(&bad, stream) == GPUAGG_REFUSED && gpu_ladder_scratch(&bad) == 0,
			   text("ladder: refusal %d", i));
	}
}

} // namespace

void
ladder_tests(const Options &options)
{
	std::vector<uint64_t> sizes = {0,	1,	 2,	  31,  32,	33,	  63,	64,	  65,	127, 128,
								   129, 255, 257, 511, 513, 1023, 1024, 1025, 2049, 4099};
	int turn = 0;

	if (options.small)
		sizes = {33, 1025};
	if (!options.simulated && !options.small)
		sizes.insert(sizes.end(), {8191, 16385, 50021, 65537, 100003, (1 << 20) + 1});

	test_table();
	test_refusals();
	for (GpuaggTask task : tasks)
		for (int a = GPUAGG_ALG_NONE; (a = gpuagg_algorithm_next(a, task)) != GPUAGG_ALG_NONE;)
		{
			const GpuaggAlgorithmInfo *info = gpuagg_algorithm(a);

			if (info->on_cpu || a == GPUAGG_ALG_PRODUCTION)
				continue;
			for (uint64_t n : sizes)
				if (info->max_rows == 0 || n <= info->max_rows + 1)
					test_size(task, a, n, &turn, options);
			if (a == GPUAGG_ALG_GRID_HIERARCHICAL && options.simulated && !options.small)
				test_size(task, a, 20011, &turn, options);
			if (!options.simulated && !options.small && info->max_rows == 0)
			{
				GpuLadder ladder = {};

				ladder.task = task;
				ladder.algorithm = a;
				ladder.kind = kinds[turn % (info->integers_only ? 2 : 4)];
				ladder.op = ops[a % 3];
				ladder.exclusive = turn % 2;
				ladder.nrows = (1 << 24) + 3;
				test_run(ladder, true, 3, options.seed + (uint64_t) turn);
			}
		}
	if (options.large)
	{
		uint64_t n = (UINT64_C(1) << 31) + 5;

		test_long(GPUAGG_REDUCE, GPUAGG_ALG_GRID_STRIDE, n);
		test_long(GPUAGG_REDUCE, GPUAGG_ALG_UNROLL_8_TEMPLATED, n);
		test_long(GPUAGG_SCAN, GPUAGG_ALG_GRID_HIERARCHICAL, n);
		test_long(GPUAGG_SCAN, GPUAGG_ALG_BLOCK_HIERARCHICAL, n);
		test_long(GPUAGG_SEGMENTED_SCAN, GPUAGG_ALG_HIERARCHICAL, n);
	}
}
