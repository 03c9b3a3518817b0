/*
 * reduce_test.cc
 *	  gpu_reduce of everything but sums and moments of floats: every kind and
 *	  operation, with and without NULLs, sizes around every boundary.
 *
 * All launches share one scratch, cleared once: whatever ran on it last, the
 * next result must be right.  The whole result is compared, byte by byte.
 */
#include "harness.h"

#include <math.h>
#include <memory>
#include <string.h>

namespace
{

enum Nulls
{
	NO_BITMAP,
	NONE_NULL,
	ALL_NULL,
	SOME_NULL,
	ONE_VALID,
	ONE_NULL,
	NNULLS
};

struct ReduceCase
{
	int kind;
	int op;
	Nulls nulls;
	uint64_t n;
	uint64_t misaligned; /* values start so many values after an aligned address */
	std::vector<char> values;
	std::vector<uint64_t> validity;
	std::string what;
};

const char *const op_names[] = {"", "sum", "min", "max", "count", "moments"};
const char *const nulls_names[] = {"no bitmap", "no NULL",	 "all NULL",
								   "some NULL", "one valid", "one NULL"};

DeviceMemory &
scratch()
{
	static std::unique_ptr<DeviceMemory> memory;

	if (memory == nullptr)
	{
		memory.reset(new DeviceMemory(gpu_reduce_scratch()));
		must(gpu_memset(memory->p, 0, memory->bytes, stream), "gpu_memset");
	}
	return *memory;
}

bool
row_valid(const ReduceCase &c, uint64_t row)
{
	return c.nulls == NO_BITMAP || (c.validity[row / 64] >> (row % 64) & 1);
}

/* A row's value as an integer, or a float as the double that equals it. */
int64_t
integer_at(const ReduceCase &c, uint64_t row)
{
	int32_t v32;
	int64_t v64;

	if (c.kind == GPUAGG_INT32)
	{
		memcpy(&v32, &c.values[row * 4], 4);
		return v32;
	}
	memcpy(&v64, &c.values[row * 8], 8);
	return v64;
}

double
float_at(const ReduceCase &c, uint64_t row)
{
	float v32;
	double v64;

	if (c.kind == GPUAGG_FLOAT32)
	{
		memcpy(&v32, &c.values[row * 4], 4);
		return v32;
	}
	memcpy(&v64, &c.values[row * 8], 8);
	return v64;
}

/* NaN is the greatest; -0 is less than +0. */
bool
float_less(double a, double b)
{
	if (isnan(a) || isnan(b))
		return !isnan(a);
	if (a == 0 && b == 0)
		return signbit(a) && !signbit(b);
	return a < b;
}

/* The order key of a float of this kind: its bits, from -0 down -1, -2, .. */
int64_t
order_key(int kind, double x)
{
	int64_t magnitude;
	float narrow = (float) fabs(x);
	double wide = fabs(x);
	uint32_t bits32;

	if (kind == GPUAGG_FLOAT32)
	{
		memcpy(&bits32, &narrow, 4);
		magnitude = isnan(x) ? 0x7fc00000 : bits32;
	}
	else
	{
		memcpy(&magnitude, &wide, 8);
		magnitude = isnan(x) ? INT64_C(0x7ff8000000000000) : magnitude;
	}
	return !isnan(x) && signbit(x) ? -1 - magnitude : magnitude;
}

void
add_square(uint64_t *squares, int64_t v)
{
	unsigned __int128 magnitude = v < 0 ? -(unsigned __int128) v : (unsigned __int128) v;
	unsigned __int128 square = (uint64_t) magnitude * (unsigned __int128) (uint64_t) magnitude;
	unsigned __int128 sum = ((unsigned __int128) squares[1] << 64) + squares[0];

	squares[2] += __builtin_add_overflow(sum, square, &sum);
	squares[0] = (uint64_t) sum;
	squares[1] = (uint64_t) (sum >> 64);
}

GpuaggReduced
expected_result(const ReduceCase &c)
{
	GpuaggReduced r;
	bool is_float = c.kind == GPUAGG_FLOAT32 || c.kind == GPUAGG_FLOAT64;
	__int128 sum = 0;
	int64_t best = 0;
	double best_float = 0;

	memset(&r, 0, sizeof(r));
	r.f.width = GPUAGG_CHUNKS;
	for (uint64_t i = 0; i < c.n; i++)
	{
		if (!row_valid(c, i))
			continue;
		r.n++;
		if (c.op == GPUAGG_MIN || c.op == GPUAGG_MAX)
		{
			if (is_float)
			{
				double v = float_at(c, i);

				if (r.n == 1 ||
					(c.op == GPUAGG_MIN ? float_less(v, best_float) : float_less(best_float, v)))
					best_float = v;
			}
			else
			{
				int64_t v = integer_at(c, i);

				if (r.n == 1 || (c.op == GPUAGG_MIN ? v < best : v > best))
					best = v;
			}
		}
		else if (c.op != GPUAGG_COUNT)
		{
			sum += integer_at(c, i);
			if (c.op == GPUAGG_MOMENTS)
				add_square(r.squares, integer_at(c, i));
		}
	}
	if (r.n > 0 && (c.op == GPUAGG_MIN || c.op == GPUAGG_MAX))
		sum = is_float ? order_key(c.kind, best_float) : best;
	r.sum.lo = (uint64_t) sum;
	r.sum.hi = (int64_t) (sum >> 64);
	return r;
}

std::vector<uint64_t>
make_validity(Nulls nulls, uint64_t n, Random &random)
{
	std::vector<uint64_t> words((n + 63) / 64);
	uint64_t one = n > 0 ? random.below(n) : 0;

	/* bits beyond the last row are anything */
	for (uint64_t &word : words)
		word = random.next();
	for (uint64_t i = 0; i < n && nulls != SOME_NULL; i++)
	{
		bool valid = nulls == NONE_NULL || (nulls == ONE_VALID && i == one) ||
					 (nulls == ONE_NULL && i != one);

		words[i / 64] &= ~(UINT64_C(1) << (i % 64));
		words[i / 64] |= (uint64_t) valid << (i % 64);
	}
	return words;
}

/* The column ends where its memory ends, right before the simulator's guard. */
GpuaggReduced
run_once(const ReduceCase &c, int byte)
{
	size_t size = gpuagg_kind_size(c.kind);
	DeviceMemory column((c.n + c.misaligned) * size + (c.n == 0));
	DeviceMemory bitmap(c.validity.size() * 8 + 8);
	DeviceMemory result(sizeof(GpuaggReduced));
	GpuReduce reduce = {};
	GpuaggReduced r;

	reduce.kind = c.kind;
	reduce.op = c.op;
	reduce.nrows = c.n;
	reduce.values = (char *) column.p + c.misaligned * size;
	reduce.validity = c.nulls == NO_BITMAP ? nullptr : (uint64_t *) bitmap.p;
	reduce.result = (GpuaggReduced *) result.p;
	reduce.scratch = scratch().p;
	must(gpu_memset(column.p, byte, column.bytes, stream), "gpu_memset");
	must(gpu_memset(bitmap.p, byte, bitmap.bytes, stream), "gpu_memset");
	must(gpu_memset(result.p, byte, result.bytes, stream), "gpu_memset");
	if (c.n > 0)
	{
		must(gpu_copy_in((char *) reduce.values, c.values.data(), c.n * size, stream),
			 "gpu_copy_in");
		must(gpu_copy_in(bitmap.p, c.validity.data(), c.validity.size() * 8, stream),
			 "gpu_copy_in");
	}
	must(gpu_reduce(&reduce, stream), "gpu_reduce");
	must(gpu_copy_out(&r, result.p, sizeof(r), stream), "gpu_copy_out");
	finish();
	return r;
}

void
check_case(ReduceCase &c, Random &random)
{
	GpuaggReduced expected;

	c.validity = make_validity(c.nulls, c.n, random);
	expected = expected_result(c);
	for (int i = 0; i < NPATTERNS; i++)
	{
		GpuaggReduced r = run_once(c, begin_pattern(i));

		report(memcmp(&r, &expected, sizeof(r)) == 0,
			   text("reduce %s, kind %d, %s, %llu rows, misaligned %llu, %s, pattern %d",
					op_names[c.op], c.kind, c.what.c_str(), (unsigned long long) c.n,
					(unsigned long long) c.misaligned, nulls_names[c.nulls], i));
	}
}

void
fill_integers(ReduceCase &c, const IntegerFamily &family, Random &random)
{
	bool narrow = c.kind == GPUAGG_INT32;

	c.what = family.name;
	c.values.resize(c.n * gpuagg_kind_size(c.kind));
	for (uint64_t i = 0; i < c.n; i++)
	{
		int64_t v = family.value(random, i, narrow ? INT32_MIN : INT64_MIN,
								 narrow ? INT32_MAX : INT64_MAX);
		int32_t v32 = (int32_t) v;

		if (narrow)
			memcpy(&c.values[i * 4], &v32, 4);
		else
			memcpy(&c.values[i * 8], &v, 8);
	}
}

/* NULL family: any bits, NaNs of every kind among them. */
void
fill_floats(ReduceCase &c, const FloatFamily *family, Random &random)
{
	size_t size = gpuagg_kind_size(c.kind);

	c.what = family != nullptr ? family->name : "any bits";
	c.values.resize(c.n * size);
	for (uint64_t i = 0; i < c.n; i++)
	{
		uint64_t bits = random.next();
		double v = family != nullptr ? family->value(random, i, c.n) : 0;
		float v32 = (float) v;

		if (family == nullptr)
			memcpy(&c.values[i * size], &bits, size);
		else if (c.kind == GPUAGG_FLOAT32)
			memcpy(&c.values[i * 4], &v32, 4);
		else
			memcpy(&c.values[i * 8], &v, 8);
	}
}

void
test_size(uint64_t n, const Options &options)
{
	Random random(options.seed * 1000003 + n);
	unsigned turn = (unsigned) n;
	size_t nfloats = float_families.size() + 1;
	ReduceCase c;

	c.n = n;
	for (int kind : {GPUAGG_INT32, GPUAGG_INT64})
		for (const IntegerFamily &family : integer_families)
			for (int op : {GPUAGG_SUM, GPUAGG_MIN, GPUAGG_MAX, GPUAGG_MOMENTS})
			{
				c.kind = kind;
				c.op = op;
				c.nulls = (Nulls) (turn % NNULLS);
				c.misaligned = turn / NNULLS % (16 / gpuagg_kind_size(kind));
				turn++;
				fill_integers(c, family, random);
				check_case(c, random);
			}
	for (int kind : {GPUAGG_FLOAT32, GPUAGG_FLOAT64})
		for (int i = 0; i < 6; i++)
			for (int op : {GPUAGG_MIN, GPUAGG_MAX})
			{
				size_t family = turn % nfloats;

				c.kind = kind;
				c.op = op;
				c.nulls = (Nulls) (turn % NNULLS);
				c.misaligned = turn / NNULLS % (16 / gpuagg_kind_size(kind));
				turn++;
				fill_floats(c, family == 0 ? nullptr : &float_families[family - 1], random);
				check_case(c, random);
			}
	for (int nulls = 0; nulls < NNULLS; nulls++)
	{
		c.kind = GPUAGG_INT64;
		c.op = GPUAGG_COUNT;
		c.nulls = (Nulls) nulls;
		c.misaligned = 0;
		fill_integers(c, integer_families[0], random);
		check_case(c, random);
	}
}

/* Every combination of operation, kind, NULLs and misalignment, at a few sizes. */
void
test_combinations(const Options &options)
{
	for (uint64_t n : {0, 1, 63, 4096, 4103})
		for (int kind : {GPUAGG_INT32, GPUAGG_INT64, GPUAGG_FLOAT64, GPUAGG_FLOAT32})
			for (int op = GPUAGG_SUM; op <= GPUAGG_MOMENTS; op++)
				for (int nulls = 0; nulls < NNULLS; nulls++)
					for (uint64_t off = 0; off < 16 / gpuagg_kind_size(kind); off++)
					{
						Random random(options.seed * 1000003 + n);
						ReduceCase c;

						if (gpuagg_kind_is_float(kind) &&
							(op == GPUAGG_SUM || op == GPUAGG_MOMENTS))
							continue;
						c.kind = kind;
						c.op = op;
						c.nulls = (Nulls) nulls;
						c.misaligned = off;
						c.n = n;
						if (gpuagg_kind_is_float(kind))
							fill_floats(c, nullptr, random);
						else
							fill_integers(c, integer_families[0], random);
						check_case(c, random);
					}
}

/*
 * One column that all operations share, reduced over and over in a random
 * order of operations, sizes and starts; results are looked at in bulk.
 */
void
hammer(uint64_t launches, uint64_t rows, const Options &options)
{
	constexpr int NCASES = 96;
	constexpr uint64_t BULK = 500;
	Random random(options.seed * 1000003 + 77);
	std::vector<uint64_t> raw(rows), bits(rows / 64 + 1);
	DeviceMemory column(rows * 8), bitmap(bits.size() * 8);
	DeviceMemory results(BULK * sizeof(GpuaggReduced));
	std::vector<GpuReduce> runs(NCASES);
	std::vector<GpuaggReduced> expected(NCASES), got(BULK);
	std::vector<int> taken(BULK);
	uint64_t wrong = 0;

	for (uint64_t &v : raw)
		v = random.next();
	for (uint64_t &word : bits)
		word = random.next();
	must(gpu_copy_in(column.p, raw.data(), column.bytes, stream), "gpu_copy_in");
	must(gpu_copy_in(bitmap.p, bits.data(), bitmap.bytes, stream), "gpu_copy_in");

	for (int i = 0; i < NCASES; i++)
	{
		GpuReduce &run = runs[i];
		ReduceCase c;
		size_t size;

		c.op = random.between(GPUAGG_SUM, GPUAGG_MOMENTS);
		c.kind = random.between(GPUAGG_INT32, GPUAGG_FLOAT32);
		if (c.op == GPUAGG_SUM || c.op == GPUAGG_MOMENTS)
			c.kind = random.between(GPUAGG_INT32, GPUAGG_INT64);
		size = gpuagg_kind_size(c.kind);
		c.misaligned = random.below(16 / size);
		c.n = 1 + random.below(i % 3 == 0 ? 64 : rows - 4);
		c.nulls = random.below(2) ? SOME_NULL : NO_BITMAP;
		c.values.assign((char *) raw.data() + c.misaligned * size,
						(char *) raw.data() + (c.misaligned + c.n) * size);
		c.validity = bits;
		expected[i] = expected_result(c);

		memset(&run, 0, sizeof(run));
		run.kind = c.kind;
		run.op = c.op;
		run.nrows = c.n;
		run.values = (char *) column.p + c.misaligned * size;
		run.validity = c.nulls == NO_BITMAP ? nullptr : (uint64_t *) bitmap.p;
		run.scratch = scratch().p;
	}

	for (uint64_t done = 0; done < launches; done += BULK)
	{
		uint64_t n = launches - done < BULK ? launches - done : BULK;

		must(gpu_memset(results.p, begin_pattern((int) (done / BULK % NPATTERNS)), results.bytes,
						stream),
			 "gpu_memset");
		for (uint64_t i = 0; i < n; i++)
		{
			GpuReduce run = runs[taken[i] = (int) random.below(NCASES)];

			run.result = (GpuaggReduced *) results.p + i;
			must(gpu_reduce(&run, stream), "gpu_reduce");
		}
		must(gpu_copy_out(got.data(), results.p, n * sizeof(GpuaggReduced), stream),
			 "gpu_copy_out");
		finish();
		for (uint64_t i = 0; i < n; i++)
			wrong += memcmp(&got[i], &expected[taken[i]], sizeof(GpuaggReduced)) != 0;
	}
	report(wrong == 0, text("reduce, %llu of %llu launches in a random order are wrong",
							(unsigned long long) wrong, (unsigned long long) launches));
}

/*
 * More than 2^31 rows: a block of random rows over and over, with extremes in
 * the rows beyond 2^31, and valid rows there whatever the block's bits are.
 */
void
test_beyond_31_bits(int kind, const Options &options)
{
	constexpr uint64_t BLOCK = UINT64_C(1) << 23;
	constexpr uint64_t REPEATS = 256;
	constexpr uint64_t BEYOND = 5;
	size_t size = gpuagg_kind_size(kind);
	Random random(options.seed * 1000003 + 31);
	DeviceMemory column((BLOCK * REPEATS + BEYOND) * size);
	DeviceMemory bitmap(BLOCK * REPEATS / 8 + 8);
	DeviceMemory result(sizeof(GpuaggReduced));
	ReduceCase block, last;

	for (ReduceCase *c : {&block, &last})
	{
		c->kind = kind;
		c->n = c == &block ? BLOCK : BEYOND;
		fill_integers(*c, integer_families[c == &block ? 1 : 4], random);
		c->validity = make_validity(SOME_NULL, c->n, random);
		for (uint64_t i = 0; i < (c == &block ? REPEATS : 1); i++)
		{
			uint64_t at = c == &block ? i * BLOCK : BLOCK * REPEATS;

			must(gpu_copy_in((char *) column.p + at * size, c->values.data(), c->n * size, stream),
				 "gpu_copy_in");
			must(gpu_copy_in((char *) bitmap.p + at / 8, c->validity.data(), c->validity.size() * 8,
							 stream),
				 "gpu_copy_in");
		}
	}
	for (int op = GPUAGG_SUM; op <= GPUAGG_MOMENTS; op++)
		for (Nulls nulls : {NO_BITMAP, SOME_NULL})
		{
			GpuaggReduced expected, tail, r;
			GpuReduce reduce = {};

			block.op = last.op = op;
			block.nulls = last.nulls = nulls;
			expected = expected_result(block);
			tail = expected_result(last);
			if (op == GPUAGG_MIN || op == GPUAGG_MAX)
			{
				int64_t a = (int64_t) expected.sum.lo, b = (int64_t) tail.sum.lo;

				if (tail.n > 0 && (op == GPUAGG_MIN ? b < a : b > a))
					expected.sum = tail.sum;
			}
			else
			{
				unsigned __int128 sum =
					((unsigned __int128) expected.sum.hi << 64 | expected.sum.lo) * REPEATS +
					((unsigned __int128) tail.sum.hi << 64 | tail.sum.lo);
				unsigned __int128 low = (unsigned __int128) expected.squares[0] * REPEATS;
				unsigned __int128 high = (unsigned __int128) expected.squares[1] * REPEATS;

				/* blocks of small values: no square reaches the third word */
				low += tail.squares[0];
				high += (low >> 64) + tail.squares[1];
				expected.sum.lo = (uint64_t) sum;
				expected.sum.hi = (int64_t) (sum >> 64);
				expected.squares[0] = (uint64_t) low;
				expected.squares[1] = (uint64_t) high;
				expected.squares[2] += tail.squares[2] + (uint64_t) (high >> 64);
			}
			expected.n = expected.n * REPEATS + tail.n;

			reduce.kind = kind;
			reduce.op = op;
			reduce.nrows = BLOCK * REPEATS + BEYOND;
			reduce.values = column.p;
			reduce.validity = nulls == NO_BITMAP ? nullptr : (uint64_t *) bitmap.p;
			reduce.result = (GpuaggReduced *) result.p;
			reduce.scratch = scratch().p;
			must(gpu_reduce(&reduce, stream), "gpu_reduce");
			must(gpu_copy_out(&r, result.p, sizeof(r), stream), "gpu_copy_out");
			finish();
			report(memcmp(&r, &expected, sizeof(r)) == 0,
				   text("reduce %s, kind %d, 2^31 + %llu rows, %s", op_names[op], kind,
						(unsigned long long) BEYOND, nulls_names[nulls]));
		}
}

void
test_refusals()
{
	DeviceMemory memory(sizeof(GpuaggReduced));
	GpuReduce good = {};

	good.kind = GPUAGG_INT32;
	good.op = GPUAGG_SUM;
	good.nrows = 1;
	good.values = memory.p;
	good.result = (GpuaggReduced *) memory.p;
	good.scratch = scratch().p;

	GpuReduce bad = good;

	bad.kind = 0;
	report(gpu_reduce(&bad, stream) == GPUAGG_REFUSED, "reduce of no kind");
	bad.kind = GPUAGG_FLOAT32 + 1;
	report(gpu_reduce(&bad, stream) == GPUAGG_REFUSED, "reduce of an unknown kind");
	bad = good;
	bad.op = 0;
	report(gpu_reduce(&bad, stream) == GPUAGG_REFUSED, "reduce by no operation");
	bad.op = GPUAGG_MOMENTS + 1;
	report(gpu_reduce(&bad, stream) == GPUAGG_REFUSED, "reduce by an unknown operation");
	bad = good;
	bad.nrows = GPU_MAX_ROWS + 1;
	report(gpu_reduce(&bad, stream) == GPUAGG_REFUSED, "reduce of too many rows");
}

} // namespace

void
reduce_tests(const Options &options)
{
	std::vector<uint64_t> sizes = {0,	  1,	 2,		3,	   5,	  31,	32,	  33,	64,
								   65,	  127,	 255,	256,   257,	  1023, 1024, 1025, 2047,
								   2048,  2049,	 4095,	4096,  4097,  8191, 8192, 8193, 16385,
								   32767, 32768, 32769, 65535, 65537, 70001};

	if (options.small)
		sizes = {0, 1, 33, 2049, 10007};
	if (!options.simulated && !options.small)
		sizes.insert(sizes.end(), {100003, (1 << 20) + 1, (1 << 22) - 1, (1 << 24) + 3});

	test_refusals();
	test_combinations(options);
	for (uint64_t n : sizes)
		test_size(n, options);
	hammer(options.hammer && !options.simulated ? 100000 : 500, options.simulated ? 9000 : 1 << 20,
		   options);
	if (options.large && !options.simulated)
	{
		test_beyond_31_bits(GPUAGG_INT32, options);
		test_beyond_31_bits(GPUAGG_INT64, options);
	}
}
