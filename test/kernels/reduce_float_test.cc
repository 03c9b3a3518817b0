/*
 * reduce_float_test.cc
 *	  gpu_reduce's sums and moments of floats: exact, so that every case is
 *	  compared with a very long integer, the whole result byte by byte.
 *
 * All launches share one scratch, cleared once.
 */
#include "harness.h"

#include <float.h>
#include <math.h>
#include <memory>
#include <string.h>

#include "oracle.h"

namespace
{

/* A way of computing that the kernel would not choose for a small column. */
struct Method
{
	const char *name;
	bool moments_too;
	GpuFloatMethod method; /* as gpu_reduce chooses, when all is 0 */
};

const Method methods[] = {
	{"default", true, {0, 0, 0, 0}},   {"integers", false, {1, 0, 0, 0}},
	{"one block", true, {0, 1, 0, 0}}, {"flushes", true, {0, 1, 1, 3}},
	{"carries", true, {0, 2, 3, 1}},   {"integers, carries", false, {1, 1, 0, 1}},
};

struct FloatCase
{
	int kind;
	int op;
	const Method *method;
	bool nulls;
	uint64_t n;
	uint64_t misaligned; /* values start so many values after an aligned address */
	std::vector<double> values;
	std::vector<uint64_t> validity;
	std::string what;
};

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

GpuaggReduced
expected_result(const FloatCase &c)
{
	GpuaggReduced r;
	Oracle oracle;
	BigSquares squares;

	oracle_clear(&oracle);
	squares_clear(&squares);
	for (uint64_t i = 0; i < c.n; i++)
		if (!c.nulls || (c.validity[i / 64] >> (i % 64) & 1))
		{
			oracle_add(&oracle, c.values[i]);
			if (c.op == GPUAGG_MOMENTS && isfinite(c.values[i]))
				squares_add(&squares, c.values[i]);
		}

	memset(&r, 0, sizeof(r));
	r.n = (uint64_t) oracle.n;
	r.f.counts.n = oracle.n;
	r.f.counts.n_nan = oracle.n_nan;
	r.f.counts.n_pinf = oracle.n_pinf;
	r.f.counts.n_ninf = oracle.n_ninf;
	r.f.counts.n_negzero = oracle.n_negzero;
	r.f.width = GPUAGG_CHUNKS;
	for (int i = 0; i < GPUAGG_CHUNKS; i++)
		r.f.chunk[i] = oracle.sum.word[i];
	r.f.chunk[GPUAGG_CHUNKS - 1] |= (int64_t) ((uint64_t) oracle.sum.word[GPUAGG_CHUNKS] << 32);
	for (int i = 0; i < GPUAGG_SQUARE_CHUNKS; i++)
		r.f_squares[i] = squares.word[i];
	r.f_squares[GPUAGG_SQUARE_CHUNKS - 1] |=
		(int64_t) ((uint64_t) squares.word[GPUAGG_SQUARE_CHUNKS] << 32);
	return r;
}

/* The column ends where its memory ends. */
GpuaggReduced
run_once(const FloatCase &c, int byte)
{
	bool narrow = c.kind == GPUAGG_FLOAT32;
	size_t size = gpuagg_kind_size(c.kind);
	std::vector<float> floats(c.values.begin(), narrow ? c.values.end() : c.values.begin());
	DeviceMemory column((c.n + c.misaligned) * size + (c.n == 0));
	DeviceMemory bitmap(c.validity.size() * 8 + 8);
	DeviceMemory result(sizeof(GpuaggReduced));
	GpuReduce reduce = {};
	GpuaggReduced r;

	reduce.kind = c.kind;
	reduce.op = c.op;
	reduce.nrows = c.n;
	reduce.values = (char *) column.p + c.misaligned * size;
	reduce.validity = c.nulls ? (uint64_t *) bitmap.p : nullptr;
	reduce.result = (GpuaggReduced *) result.p;
	reduce.scratch = scratch().p;
	must(gpu_memset(column.p, byte, column.bytes, stream), "gpu_memset");
	must(gpu_memset(result.p, byte, result.bytes, stream), "gpu_memset");
	if (c.n > 0)
		must(gpu_copy_in((char *) reduce.values,
						 narrow ? (const void *) floats.data() : c.values.data(), c.n * size,
						 stream),
			 "gpu_copy_in");
	if (!c.validity.empty())
		must(gpu_copy_in(bitmap.p, c.validity.data(), c.validity.size() * 8, stream),
			 "gpu_copy_in");
	if (c.method == &methods[0])
		must(gpu_reduce(&reduce, stream), "gpu_reduce");
	else
		must(gpu_reduce_float(&reduce, &c.method->method, stream), "gpu_reduce_float");
	must(gpu_copy_out(&r, result.p, sizeof(r), stream), "gpu_copy_out");
	finish();
	return r;
}

void
check_case(const FloatCase &c)
{
	GpuaggReduced expected = expected_result(c);

	for (int i = 0; i < NPATTERNS; i++)
	{
		GpuaggReduced r = run_once(c, begin_pattern(i));

		report(memcmp(&r, &expected, sizeof(r)) == 0,
			   text("reduce float%d, %s, %s, %s, %llu rows, misaligned %llu, %s, pattern %d",
					c.kind == GPUAGG_FLOAT32 ? 32 : 64, c.op == GPUAGG_SUM ? "sum" : "moments",
					c.what.c_str(), c.method->name, (unsigned long long) c.n,
					(unsigned long long) c.misaligned, c.nulls ? "NULLs" : "no bitmap", i));
	}
}

/* Families around the limits between ways through the kernel. */

/*
 * A warp that chose its bins' top from values of 1 takes values below 2^9 (doubles)
 * or 2^7 (floats, and with squares) into them.  The top is chosen in the first rows.
 */
#define FIRST_ROWS 8192
#define TOP_64	   0x1p9
#define TOP_32	   0x1p7

double
random_sign(Random &random, double x)
{
	return random.below(2) ? x : -x;
}

/* Just below the bins' top: the bins fill fastest. */
double
fullest(Random &, uint64_t row, uint64_t)
{
	return row < FIRST_ROWS ? 1 : nextafter(TOP_64, 0);
}

double
fullest_negative(Random &, uint64_t row, uint64_t)
{
	return row < FIRST_ROWS ? -1 : -nextafter(TOP_64, 0);
}

double
fullest_float(Random &, uint64_t row, uint64_t)
{
	return row < FIRST_ROWS ? 1 : nextafterf(TOP_32, 0);
}

double
fullest_square(Random &, uint64_t row, uint64_t)
{
	return row < FIRST_ROWS ? -1 : -nextafter(TOP_32, 0);
}

double
around_top(Random &random, uint64_t row, uint64_t)
{
	double top = ldexp(1, random.between(4, 10));

	if (row < FIRST_ROWS || random.below(32) != 0)
		return 1;
	switch (random.below(5))
	{
		case 0:
			return random_sign(random, top);
		case 1:
			return random_sign(random, nextafter(top, 0));
		case 2:
			return random_sign(random, nextafter(top, INFINITY));
		case 3:
			return random_sign(random, top * 0x1.00000ffffffffp0);
		default:
			return random_sign(random, top * 1.5);
	}
}

/* Halves of the units of bins, and one last place beside them: ties in every bin. */
double
unit_ties(Random &random, uint64_t row, uint64_t)
{
	int unit = (random.below(2) ? 9 : 7) - 51 * random.between(1, 4);
	double x = ldexp((double) (2 * random.below(1 << 20) + 1), unit - 1);

	if (row < 64)
		return 1;
	switch (random.below(3))
	{
		case 0:
			x = nextafter(x, 0);
			break;
		case 1:
			x = nextafter(x, INFINITY);
			break;
	}
	return random_sign(random, x);
}

double
around_2_1011(Random &random, uint64_t, uint64_t)
{
	switch (random.below(4))
	{
		case 0:
			return random_sign(random, 0x1p1011);
		case 1:
			return random_sign(random, nextafter(0x1p1011, 0));
		case 2:
			return random_sign(random, nextafter(0x1p1011, INFINITY));
		default:
			return random_sign(random, 0x1p1010);
	}
}

/* Around every place where the way to square changes, and the type's limits. */
double
around_square_limits(Random &random, uint64_t, uint64_t)
{
	static const int places[] = {-1074, -1022, -538, -537, -486, -485, -484, 504, 505,
								 506,	510,   511,	 512,  1010, 1011, 1012, 1023};
	double x = ldexp(1, places[random.below(sizeof(places) / sizeof(places[0]))]);

	switch (random.below(4))
	{
		case 0:
			x = nextafter(x, 0);
			break;
		case 1:
			x = nextafter(x, INFINITY);
			break;
		case 2:
			x *= 1 + (double) (random.next() >> 12) * 0x1p-52;
			break;
	}
	return random_sign(random, x);
}

double
tiny_squares(Random &random, uint64_t row, uint64_t)
{
	double x = ldexp((double) (random.next() >> 11), random.between(-560, -520));

	return row % 7 == 0 ? 0 : random_sign(random, x);
}

/* Full mantissas over more places than the bins have. */
double
wide(Random &random, uint64_t, uint64_t)
{
	return random_sign(random, ldexp((double) (random.next() >> 11), -random.between(0, 160)));
}

double
one_in_ten_large(Random &random, uint64_t, uint64_t)
{
	double x = (double) (random.next() >> 11);

	return random_sign(random, random.below(10) == 0 ? x * 0x1p100 : x);
}

/* Zeros of either sign among values whose squares are too small for two doubles, or not. */
double
zeros_and_tiny(Random &random, uint64_t row, uint64_t)
{
	double x = (double) (random.next() >> (row % 5 == 0 ? 11 : 50));

	switch (random.below(8))
	{
		case 0:
			return -0.0;
		case 1:
			return random_sign(random, ldexp(x, -1074));
		case 2:
			return random_sign(random, ldexp(x, random.between(-600, -480)));
		case 3:
			return random_sign(random, ldexp(x, random.between(-480, -330)));
		case 4:
			return row % 1000 < 500 ? 0 : random_sign(random, x);
		default:
			return 0;
	}
}

/* The bins take each of these whole, but not its square. */
double
tiny_powers(Random &random, uint64_t, uint64_t)
{
	return random.below(2) ? random_sign(random, ldexp(1, random.between(-530, -486))) : 0;
}

/* Mostly zeros, of either sign. */
double
sparse(Random &random, uint64_t, uint64_t)
{
	switch (random.below(100))
	{
		case 0:
			return random_sign(random, (double) (random.next() >> 11));
		case 1:
			return -0.0;
		default:
			return 0;
	}
}

/* One place higher every 64 rows: tops are always too low. */
double
climbing(Random &random, uint64_t row, uint64_t)
{
	return random_sign(random,
					   ldexp((double) (random.next() >> 11), (int) (row / 64 % 1900) - 1100));
}

double
odd_first(Random &random, uint64_t row, uint64_t)
{
	static const double odd[] = {NAN, INFINITY, -INFINITY, -NAN};

	return row < 2048 || random.below(50) == 0 ? odd[random.below(4)] : random_sign(random, 3.25);
}

double
sentinels(Random &random, uint64_t row, uint64_t)
{
	return row % 100 == 0 ? random_sign(random, 1e300) : (double) (random.next() >> 11) * 0x1p-53;
}

double
any_bits(Random &random, uint64_t, uint64_t)
{
	uint64_t bits = random.next();
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

const FloatFamily own_families[] = {
	{"fullest", fullest, false},
	{"fullest negative", fullest_negative, false},
	{"fullest of floats", fullest_float, false},
	{"fullest of squares", fullest_square, false},
	{"around the top", around_top, false},
	{"ties of units", unit_ties, false},
	{"around 2^1011", around_2_1011, false},
	{"around the limits of squares", around_square_limits, false},
	{"tiny squares", tiny_squares, false},
	{"wide", wide, false},
	{"one in ten large", one_in_ten_large, false},
	{"sparse", sparse, false},
	{"zeros and tiny", zeros_and_tiny, false},
	{"tiny powers", tiny_powers, false},
	{"climbing", climbing, false},
	{"odd first", odd_first, false},
	{"sentinels", sentinels, false},
	{"any bits", any_bits, false},
};

std::vector<FloatFamily>
families()
{
	std::vector<FloatFamily> all(float_families);

	all.insert(all.end(), std::begin(own_families), std::end(own_families));
	return all;
}

/* A float like the double: its exponent is made to fit, subnormals included. */
float
narrowed(double x)
{
	int exponent;
	double fraction = frexp(x, &exponent);

	if (!isfinite(x) || x == 0 || (exponent >= -100 && exponent <= 100))
		return (float) x;
	return (float) ldexp(fraction, exponent / 8);
}

void
fill(FloatCase &c, const FloatFamily &family, uint64_t seed)
{
	Random random(seed);

	c.what = family.name;
	c.values.resize(c.n);
	for (uint64_t i = 0; i < c.n; i++)
	{
		double v = family.value(random, i, c.n);

		c.values[i] = c.kind == GPUAGG_FLOAT32 ? narrowed(v) : v;
	}
	c.validity.assign(c.nulls ? (c.n + 63) / 64 : 0, 0);
	for (uint64_t &word : c.validity)
		word = random.below(8) == 0 ? 0 : random.next() | random.next();
}

/* Every family at this size, in some of the ways. */
void
test_size(uint64_t n, const Options &options)
{
	constexpr unsigned NMETHODS = sizeof(methods) / sizeof(methods[0]);
	Random random(options.seed * 1000003 + n);
	FloatCase c;

	c.n = n;
	for (const FloatFamily &family : families())
		for (int kind : {GPUAGG_FLOAT64, GPUAGG_FLOAT32})
		{
			c.kind = kind;
			c.method = &methods[random.below(NMETHODS)];
			c.op = random.below(2) && c.method->moments_too ? GPUAGG_MOMENTS : GPUAGG_SUM;
			c.nulls = random.below(3) == 0;
			c.misaligned = random.below(16 / gpuagg_kind_size(kind));
			fill(c, family, random.next());
			check_case(c);
		}
}

/* All combinations. */
void
test_combinations(uint64_t n, const Options &options)
{
	FloatCase c;

	c.n = n;
	for (const FloatFamily &family : families())
		for (const Method &method : methods)
			for (int kind : {GPUAGG_FLOAT64, GPUAGG_FLOAT32})
				for (int op : {GPUAGG_SUM, GPUAGG_MOMENTS})
					for (int nulls = 0; nulls < 2; nulls++)
					{
						if (op == GPUAGG_MOMENTS && !method.moments_too)
							continue;
						c.kind = kind;
						c.op = op;
						c.method = &method;
						c.nulls = nulls;
						c.misaligned = nulls;
						fill(c, family, options.seed * 1000003 + n);
						check_case(c);
					}
}

/* One case of every kind and operation at a size. */
void
test_large(uint64_t n, const FloatFamily &family, const Method &method, const Options &options)
{
	FloatCase c;

	c.n = n;
	c.method = &method;
	c.nulls = false;
	c.misaligned = 1;
	for (int kind : {GPUAGG_FLOAT64, GPUAGG_FLOAT32})
		for (int op : {GPUAGG_SUM, GPUAGG_MOMENTS})
		{
			c.kind = kind;
			c.op = op;
			fill(c, family, options.seed * 1000003 + n);
			check_case(c);
		}
}

/* Any launch must work on the scratch that any other left. */
void
hammer(uint64_t launches, uint64_t rows, const Options &options)
{
	constexpr int NCASES = 48;
	constexpr uint64_t BULK = 500;
	Random random(options.seed * 1000003 + 78);
	std::vector<double> values(rows);
	std::vector<uint64_t> bits(rows / 64 + 1);
	DeviceMemory column(rows * 8), bitmap(bits.size() * 8);
	DeviceMemory results(BULK * sizeof(GpuaggReduced));
	std::vector<GpuReduce> runs(NCASES);
	std::vector<GpuaggReduced> expected(NCASES), got(BULK);
	std::vector<int> taken(BULK);
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < rows; i++)
		values[i] = i % 5 == 0 ? any_bits(random, i, rows) : random_sign(random, (double) i * 0.1);
	for (uint64_t &word : bits)
		word = random.next();
	must(gpu_copy_in(column.p, values.data(), column.bytes, stream), "gpu_copy_in");
	must(gpu_copy_in(bitmap.p, bits.data(), bitmap.bytes, stream), "gpu_copy_in");

	for (int i = 0; i < NCASES; i++)
	{
		FloatCase c;
		uint64_t first = random.below(4);
		GpuReduce &run = runs[i];

		c.kind = random.below(2) ? GPUAGG_FLOAT64 : GPUAGG_FLOAT32;
		c.op = random.below(2) ? GPUAGG_SUM : GPUAGG_MOMENTS;
		c.nulls = random.below(2);
		c.n = 1 + random.below(i % 3 == 0 ? 64 : rows - 4);
		c.validity = bits;
		for (uint64_t k = 0; k < c.n; k++)
			if (c.kind == GPUAGG_FLOAT64)
				c.values.push_back(values[first + k]);
			else
			{
				float v;

				memcpy(&v, (char *) values.data() + (first + k) * 4, 4);
				c.values.push_back(v);
			}
		expected[i] = expected_result(c);

		memset(&run, 0, sizeof(run));
		run.kind = c.kind;
		run.op = c.op;
		run.nrows = c.n;
		run.values = (char *) column.p + first * gpuagg_kind_size(c.kind);
		run.validity = c.nulls ? (uint64_t *) bitmap.p : nullptr;
		run.scratch = scratch().p;
	}

	for (uint64_t done = 0; done < launches; done += BULK)
	{
		begin_pattern((int) (done / BULK % NPATTERNS));
		for (uint64_t i = 0; i < BULK; i++)
		{
			taken[i] = (int) random.below(NCASES);
			GpuReduce run = runs[taken[i]];

			run.result = (GpuaggReduced *) results.p + i;
			must(gpu_reduce(&run, stream), "gpu_reduce");

			/* an operation of another kind on the same scratch */
			if (i % 16 == 0)
			{
				run.op = GPUAGG_MAX;
				run.result = (GpuaggReduced *) results.p + (i + 1) % BULK;
				if (i + 1 < BULK)
					must(gpu_reduce(&run, stream), "gpu_reduce");
			}
		}
		must(gpu_copy_out(got.data(), results.p, BULK * sizeof(GpuaggReduced), stream),
			 "gpu_copy_out");
		finish();
		for (uint64_t i = 0; i < BULK; i++)
			wrong += memcmp(&got[i], &expected[taken[i]], sizeof(GpuaggReduced)) != 0;
	}
	report(wrong == 0, text("%llu of %llu float reductions in a row are wrong, seed %llu",
							(unsigned long long) wrong, (unsigned long long) launches,
							(unsigned long long) options.seed));
}

/*
 * Zeros and NULLs go the same way as other values, through no further vote or
 * sum of a warp.
 */
void
test_zeros_cost_nothing(const Options &options)
{
	Random random(options.seed);
	FloatCase c;

	c.method = &methods[0];
	c.n = 100003;
	c.misaligned = 0;
	for (int kind : {GPUAGG_FLOAT64, GPUAGG_FLOAT32})
		for (int op : {GPUAGG_SUM, GPUAGG_MOMENTS})
			for (int nulls = 0; nulls < 2; nulls++)
			{
				uint64_t made[3];

				c.kind = kind;
				c.op = op;
				c.nulls = nulls;
				for (int with = 0; with < 3; with++)
				{
					uint64_t before = collectives_made();

					c.what = text("ones and twos, %d in 3 zero or NULL", with);
					c.values.resize(c.n);
					for (uint64_t i = 0; i < c.n; i++)
						c.values[i] = (int) random.below(3) < with ? 0 : 1 + (double) (i % 2);
					c.validity.assign(nulls ? (c.n + 63) / 64 : 0, UINT64_MAX);
					for (uint64_t &word : c.validity)
						for (int i = 0; i < with; i++)
							word &= random.next() | random.next();
					check_case(c);
					made[with] = collectives_made() - before;
				}
				report(
					made[0] == made[1] && made[0] == made[2],
					text("reduce float%d, %s, %s: %llu, %llu, %llu warp collectives without zeros, "
						 "with some, with more",
						 kind == GPUAGG_FLOAT32 ? 32 : 64, op == GPUAGG_SUM ? "sum" : "moments",
						 nulls ? "NULLs" : "no bitmap", (unsigned long long) made[0],
						 (unsigned long long) made[1], (unsigned long long) made[2]));
			}
}

void
test_refusals()
{
	GpuReduce reduce = {};
	GpuFloatMethod method = {};

	reduce.kind = GPUAGG_INT64;
	reduce.op = GPUAGG_SUM;
	report(gpu_reduce_float(&reduce, &method, stream) == GPUAGG_REFUSED, "float sum of integers");
	reduce.kind = GPUAGG_FLOAT64;
	reduce.op = GPUAGG_MIN;
	report(gpu_reduce_float(&reduce, &method, stream) == GPUAGG_REFUSED, "float minimum as a sum");
	reduce.op = GPUAGG_SUM;
	reduce.nrows = GPU_MAX_ROWS + 1;
	report(gpu_reduce_float(&reduce, &method, stream) == GPUAGG_REFUSED, "float sum of too much");
}

} // namespace

void
reduce_float_tests(const Options &options)
{
	std::vector<uint64_t> sizes = {0,	 1,	   2,	 3,	   31,	 32,   33,	 255,  257,
								   1023, 1025, 2047, 2048, 2049, 4095, 4097, 8193, 16385};

	if (options.small)
		sizes = {1, 33, 2049, 20011};
	if (!options.simulated && !options.small)
		sizes.insert(sizes.end(), {40009, 100003});

	test_refusals();
	test_zeros_cost_nothing(options);
	for (uint64_t n : sizes)
		test_size(n, options);

	/* more groups than the first of each block */
	if (!options.small)
		test_combinations(options.simulated ? 9001 : 20011, options);

	/* bins that fill up to the last value that they may take */
	if (!options.simulated && !options.small)
		for (const FloatFamily &family :
			 {own_families[0], own_families[1], own_families[2], own_families[3], own_families[4]})
			test_large((1 << 21) + 4099, family, methods[2], options);

	hammer(options.hammer  ? 100000
		   : options.small ? 500
						   : 1000,
		   options.simulated ? 3000 : 70000, options);

	/* more than 2^31 bytes */
	if (options.large)
		test_large((UINT64_C(1) << 28) + 5, float_families[1], methods[0], options);
}
