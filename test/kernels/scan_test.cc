/*
 * scan_test.cc
 *	  gpu_scan: every row against the oracle, NULLs, carried states, batches,
 *	  and values that do not fit the window.
 */
#include "harness.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "oracle.h"

#define WINDOW_BITS		  256
#define WINDOW_VALUE_BITS 223 /* of a value or the carry, see kernels.h */

/* What a scan gives back. */
struct ScanOutput
{
	std::vector<unsigned char> results;
	std::vector<uint8_t> status;
	GpuScanState state;
};

/* One column and how to scan it. */
struct ScanCase
{
	int kind;
	unsigned flags;
	int window;
	const void *values;
	const uint64_t *validity;
	uint64_t n;
	GpuScanState carry;
	std::string what;
};

enum Nulls
{
	NO_BITMAP,
	NO_NULLS,
	ALL_NULL,
	NULLS_FIRST,
	SOME_NULL
};

static GpuScanState
empty_state()
{
	GpuScanState s;

	memset(&s, 0, sizeof(s));
	s.state.f.width = GPUAGG_CHUNKS;
	return s;
}

static ScanOutput
run_once(const ScanCase &c, int byte, bool in_place)
{
	size_t size = gpuagg_kind_size(c.kind);
	size_t result_size = gpuagg_scan_result_size(c.kind, GPUAGG_SUM, 0);
	size_t words = (c.n + 63) / 64;
	DeviceMemory column(c.n * size);
	DeviceMemory validity(words * 8);
	DeviceMemory results(c.n * result_size);
	DeviceMemory status(c.n);
	DeviceMemory in(sizeof(GpuScanState));
	DeviceMemory out(sizeof(GpuScanState));
	DeviceMemory scratch(gpu_scan_scratch(c.n));
	GpuScanState *state_out = (GpuScanState *) (in_place ? in.p : out.p);
	ScanOutput output;

	output.results.resize(c.n * result_size);
	output.status.resize(c.n);
	must(gpu_memset(results.p, byte, results.bytes, stream), "gpu_memset");
	must(gpu_memset(status.p, byte, status.bytes, stream), "gpu_memset");
	must(gpu_memset(out.p, byte, out.bytes, stream), "gpu_memset");
	must(gpu_memset(scratch.p, byte, scratch.bytes, stream), "gpu_memset");
	must(gpu_copy_in(column.p, c.values, c.n * size, stream), "gpu_copy_in");
	if (c.validity != nullptr)
		must(gpu_copy_in(validity.p, c.validity, words * 8, stream), "gpu_copy_in");
	must(gpu_copy_in(in.p, &c.carry, sizeof(c.carry), stream), "gpu_copy_in");

	GpuScan scan = {};

	scan.kind = c.kind;
	scan.op = GPUAGG_SUM;
	scan.flags = c.flags;
	scan.window = c.window;
	scan.nrows = c.n;
	scan.values = column.p;
	scan.validity = c.validity != nullptr ? (const uint64_t *) validity.p : nullptr;
	scan.state_in = (const GpuScanState *) in.p;
	scan.results = results.p;
	scan.status = (uint8_t *) status.p;
	scan.state_out = state_out;
	scan.scratch = scratch.p;
	must(gpu_scan(&scan, stream), "gpu_scan");
	must(gpu_copy_out(output.results.data(), results.p, c.n * result_size, stream), "gpu_copy_out");
	must(gpu_copy_out(output.status.data(), status.p, c.n, stream), "gpu_copy_out");
	must(gpu_copy_out(&output.state, state_out, sizeof(GpuScanState), stream), "gpu_copy_out");
	finish();
	return output;
}

/* Scans; reports when two runs differ.  The second run has one state for in and out. */
static ScanOutput
run_scan(const ScanCase &c)
{
	ScanOutput first = run_once(c, begin_pattern(0), false);

	for (int i = 1; i < NPATTERNS; i++)
	{
		ScanOutput other = run_once(c, begin_pattern(i), true);

		report(first.results == other.results && first.status == other.status &&
				   memcmp(&first.state, &other.state, sizeof(first.state)) == 0,
			   c.what + ": two runs differ");
	}
	return first;
}

/* A validity bitmap; bits past the last row are set, and mean nothing. */
static std::vector<uint64_t>
make_validity(Nulls nulls, uint64_t n, Random &random)
{
	std::vector<uint64_t> bitmap((n + 63) / 64, ~UINT64_C(0));

	for (uint64_t i = 0; i < n; i++)
		if (nulls == ALL_NULL || (nulls == NULLS_FIRST && i < n / 2) ||
			(nulls == SOME_NULL && random.below(3) == 0))
			bitmap[i / 64] &= ~(UINT64_C(1) << (i % 64));
	return bitmap;
}

static bool
row_valid(const ScanCase &c, uint64_t i)
{
	return c.validity == nullptr || (c.validity[i / 64] >> (i % 64) & 1);
}

/*
 * Integers
 */
template <class T>
static void
check_integers(const ScanCase &c, const ScanOutput &output)
{
	const T *values = (const T *) c.values;
	unsigned __int128 carried = (unsigned __int128) (uint64_t) c.carry.state.sum.hi << 64 |
								c.carry.state.sum.lo;
	__int128 sum = (__int128) carried;
	int64_t seen = c.carry.state.f.counts.n;
	uint64_t wrong = 0;
	uint64_t first_wrong = 0;

	for (uint64_t i = 0; i < c.n; i++)
	{
		__int128 before = sum;
		int64_t seen_before = seen;
		uint8_t status = GPUAGG_ROW_VALUE;
		bool same;

		if (row_valid(c, i))
		{
			sum += values[i];
			seen++;
		}
		if (!(c.flags & GPUAGG_SCAN_EXCLUSIVE))
		{
			before = sum;
			seen_before = seen;
		}
		if (seen_before == 0)
			status = GPUAGG_ROW_NULL;
		else if (sizeof(T) == 4 && (before < INT64_MIN || before > INT64_MAX))
			status = GPUAGG_ROW_OVERFLOW;
		if (sizeof(T) == 4)
		{
			int64_t result = (int64_t) before;

			same = memcmp(&output.results[i * 8], &result, 8) == 0;
		}
		else
			same = memcmp(&output.results[i * 16], &before, 16) == 0;
		if ((!same || output.status[i] != status) && wrong++ == 0)
			first_wrong = i;
	}

	const GpuaggScanState &s = output.state.state;
	bool state_right = s.sum.lo == (uint64_t) sum && s.sum.hi == (int64_t) (sum >> 64) &&
					   s.f.counts.n == seen && s.f.counts.n_nan == 0 && s.f.base == 0 &&
					   s.f.width == GPUAGG_CHUNKS && s.f.deposits == 0 &&
					   output.state.out_of_window == 0;

	report(wrong == 0, c.what + text(": %llu rows wrong, first %llu", (unsigned long long) wrong,
									 (unsigned long long) first_wrong));
	report(state_right, c.what + ": state");
}

template <class T>
static void
test_integers(int kind, const IntegerFamily &family, uint64_t n, Nulls nulls, bool exclusive,
			  int carry, const Options &options)
{
	Random random(options.seed * 1000003 + n * 31 + nulls);
	std::vector<T> values(n);
	std::vector<uint64_t> validity = make_validity(nulls, n, random);
	ScanCase c;

	for (uint64_t i = 0; i < n; i++)
		values[i] = (T) family.value(random, i, sizeof(T) == 8 ? INT64_MIN : INT32_MIN,
									 sizeof(T) == 8 ? INT64_MAX : INT32_MAX);
	c.kind = kind;
	c.flags = (exclusive ? GPUAGG_SCAN_EXCLUSIVE : 0) |
			  (nulls != NO_BITMAP ? GPUAGG_SCAN_VALIDITY : 0);
	c.window = 0;
	c.values = values.data();
	c.validity = nulls != NO_BITMAP ? validity.data() : nullptr;
	c.n = n;
	c.carry = empty_state();
	if (carry != 0)
	{
		/* on the edge of int64: the first rows fall on either side */
		c.carry.state.sum.lo = carry > 0 ? (uint64_t) INT64_MAX - 5 : (uint64_t) INT64_MIN + 5;
		c.carry.state.sum.hi = carry > 0 ? 0 : -1;
		c.carry.state.f.counts.n = 12345;
	}
	c.what = text("scan kind %d, %s, %llu rows, nulls %d%s, carry %d", kind, family.name,
				  (unsigned long long) n, nulls, exclusive ? ", exclusive" : "", carry);
	check_integers<T>(c, run_scan(c));
}

/*
 * Doubles
 */
static Oracle
carried_oracle(const GpuScanState &carry)
{
	const GpuaggFloatSumFull &f = carry.state.f;
	Oracle oracle;

	oracle_clear(&oracle);
	oracle.n = f.counts.n;
	oracle.n_nan = f.counts.n_nan;
	oracle.n_pinf = f.counts.n_pinf;
	oracle.n_ninf = f.counts.n_ninf;
	oracle.n_negzero = f.counts.n_negzero;

	/* chunks are below 2^32 here, but for the top one */
	for (int i = 0; i < GPUAGG_CHUNKS; i++)
		oracle.sum.word[i] = (uint32_t) f.chunk[i];
	for (int i = GPUAGG_CHUNKS; i < BIG_WORDS; i++)
		oracle.sum.word[i] = (uint32_t) (f.chunk[GPUAGG_CHUNKS - 1] >>
										 (i == GPUAGG_CHUNKS ? 32 : 63));
	return oracle;
}

static GpuScanState
state_of(const Oracle &oracle)
{
	GpuScanState s = empty_state();
	GpuaggFloatSumFull &f = s.state.f;

	f.counts.n = oracle.n;
	f.counts.n_nan = oracle.n_nan;
	f.counts.n_pinf = oracle.n_pinf;
	f.counts.n_ninf = oracle.n_ninf;
	f.counts.n_negzero = oracle.n_negzero;
	for (int i = 0; i < GPUAGG_CHUNKS; i++)
		f.chunk[i] = (int64_t) oracle.sum.word[i];
	f.chunk[GPUAGG_CHUNKS - 1] |= (int64_t) ((uint64_t) oracle.sum.word[GPUAGG_CHUNKS] << 32);
	return s;
}

static bool
in_window(int window, int lowest, int highest)
{
	return lowest >= 32 * window && highest < 32 * window + WINDOW_VALUE_BITS;
}

static bool
double_in_window(int window, double x)
{
	int lowest;
	int highest;

	if (!isfinite(x) || x == 0)
		return true;
	double_extent(x, &lowest, &highest);
	return in_window(window, lowest, highest);
}

static bool
carry_in_window(int window, const Oracle &carried)
{
	int lowest;
	int highest;

	if (big_is_zero(&carried.sum))
		return true;
	big_extent(&carried.sum, &lowest, &highest);
	return in_window(window, lowest, highest);
}

/* The first window that holds all rows and the carry, or the lowest chunk in use. */
static int
choose_window(const ScanCase &c, const Oracle &carried)
{
	const double *values = (const double *) c.values;
	int lowest = INT_MAX;
	int low;
	int high;

	if (!big_is_zero(&carried.sum))
		big_extent(&carried.sum, &lowest, &high);
	for (uint64_t i = 0; i < c.n; i++)
		if (row_valid(c, i) && isfinite(values[i]) && values[i] != 0)
		{
			double_extent(values[i], &low, &high);
			if (low < lowest)
				lowest = low;
		}
	return lowest == INT_MAX ? 0 : lowest / 32;
}

static void
check_floats(const ScanCase &c, const ScanOutput &output)
{
	const double *values = (const double *) c.values;
	Oracle oracle = carried_oracle(c.carry);
	bool inside = carry_in_window(c.window, oracle);
	uint64_t wrong = 0;
	uint64_t first_wrong = 0;

	for (uint64_t i = 0; i < c.n && inside; i++)
		inside = !row_valid(c, i) || double_in_window(c.window, values[i]);
	report(output.state.out_of_window == !inside, c.what + ": out_of_window");
	if (!inside)
		return;

	for (uint64_t i = 0; i < c.n; i++)
	{
		uint8_t status = GPUAGG_ROW_VALUE;
		uint64_t bits;
		bool overflow;

		if (row_valid(c, i) && !(c.flags & GPUAGG_SCAN_EXCLUSIVE))
			oracle_add(&oracle, values[i]);
		bits = oracle_result(&oracle, &overflow);
		if (oracle.n == 0)
			status = GPUAGG_ROW_NULL;
		else if (overflow)
			status = GPUAGG_ROW_OVERFLOW;
		if ((memcmp(&output.results[i * 8], &bits, 8) != 0 || output.status[i] != status) &&
			wrong++ == 0)
			first_wrong = i;
		if (row_valid(c, i) && (c.flags & GPUAGG_SCAN_EXCLUSIVE))
			oracle_add(&oracle, values[i]);
	}

	GpuScanState expected = state_of(oracle);

	report(wrong == 0, c.what + text(": %llu rows wrong, first %llu", (unsigned long long) wrong,
									 (unsigned long long) first_wrong));
	report(memcmp(&output.state, &expected, sizeof(expected)) == 0, c.what + ": state");
}

/* Scans the column in batches of random size; the rows must be the same as in one. */
static void
check_batches(const ScanCase &whole, const ScanOutput &output, Random &random)
{
	size_t size = gpuagg_kind_size(whole.kind);
	size_t result_size = gpuagg_scan_result_size(whole.kind, GPUAGG_SUM, 0);
	ScanOutput joined;
	ScanCase part = whole;
	uint64_t done = 0;

	joined.state = whole.carry;
	while (done < whole.n)
	{
		uint64_t left = whole.n - done;
		std::vector<uint64_t> validity;

		part.n = 1 + random.below(left < 6000 ? left : 6000);
		part.values = (const char *) whole.values + done * size;
		validity.assign((part.n + 63) / 64, 0);
		for (uint64_t i = 0; i < part.n; i++)
			if (row_valid(whole, done + i))
				validity[i / 64] |= UINT64_C(1) << (i % 64);
		part.validity = whole.validity != nullptr ? validity.data() : nullptr;
		part.carry = joined.state;

		ScanOutput one = run_once(part, begin_pattern(0), false);

		joined.results.insert(joined.results.end(), one.results.begin(), one.results.end());
		joined.status.insert(joined.status.end(), one.status.begin(), one.status.end());
		joined.state = one.state;
		done += part.n;
	}
	report(joined.results.size() == whole.n * result_size && joined.results == output.results &&
			   joined.status == output.status &&
			   memcmp(&joined.state, &output.state, sizeof(output.state)) == 0,
		   whole.what + ": in batches");
}

enum Carry
{
	CARRY_NONE,
	CARRY_SMALL,
	CARRY_NEGZERO,
	CARRY_INFINITE,
	CARRY_HUGE
};

static GpuScanState
make_carry(Carry carry, const FloatFamily &family, Random &random)
{
	Oracle oracle;

	oracle_clear(&oracle);
	switch (carry)
	{
		case CARRY_NONE:
			break;
		case CARRY_SMALL:
			for (int i = 0; i < 5; i++)
			{
				double x = family.value(random, 10, 100);

				oracle_add(&oracle, isfinite(x) ? -x : 1);
			}
			break;
		case CARRY_NEGZERO:
			oracle_add(&oracle, -0.0);
			break;
		case CARRY_INFINITE:
			oracle_add(&oracle, random.below(2) ? INFINITY : -INFINITY);
			break;
		case CARRY_HUGE:
			oracle_add(&oracle, -1e300);
			oracle_add(&oracle, -1e-300);
			break;
	}
	return state_of(oracle);
}

static void
test_floats(const FloatFamily &family, uint64_t n, Nulls nulls, bool exclusive, Carry carry,
			int window_off, const Options &options)
{
	Random random(options.seed * 1000003 + n * 31 + nulls);
	std::vector<double> values(n);
	std::vector<uint64_t> validity = make_validity(nulls, n, random);
	ScanCase c;
	int window;

	for (uint64_t i = 0; i < n; i++)
		values[i] = family.value(random, i, n);
	c.kind = GPUAGG_FLOAT64;
	c.flags = (exclusive ? GPUAGG_SCAN_EXCLUSIVE : 0) |
			  (nulls != NO_BITMAP ? GPUAGG_SCAN_VALIDITY : 0);
	c.values = values.data();
	c.validity = nulls != NO_BITMAP ? validity.data() : nullptr;
	c.n = n;
	c.carry = make_carry(carry, family, random);
	window = choose_window(c, carried_oracle(c.carry)) + window_off;
	c.window = window < 0 ? 0 : window >= GPUAGG_CHUNKS ? GPUAGG_CHUNKS - 1 : window;
	c.what = text("scan float64, %s, %llu rows, nulls %d%s, carry %d, window %d%+d", family.name,
				  (unsigned long long) n, nulls, exclusive ? ", exclusive" : "", carry,
				  c.window - window_off, window_off);

	ScanOutput output = run_scan(c);

	check_floats(c, output);
	if (n > 40 && n < 20000 && output.state.out_of_window == 0)
		check_batches(c, output, random);
}

static void
test_all_integers(uint64_t n, const Options &options)
{
	for (size_t f = 0; f < integer_families.size(); f++)
	{
		const IntegerFamily &family = integer_families[f];
		Nulls nulls = (Nulls) ((n + f) % 5);
		int carry = (int) ((n + f) % 3) - 1;

		test_integers<int32_t>(GPUAGG_INT32, family, n, nulls, f % 2 != 0, carry, options);
		test_integers<int64_t>(GPUAGG_INT64, family, n, nulls, f % 2 == 0, carry, options);
	}
}

static void
test_all_floats(uint64_t n, const Options &options)
{
	for (size_t f = 0; f < float_families.size(); f++)
	{
		const FloatFamily &family = float_families[f];
		Nulls nulls = (Nulls) ((n + f) % 5);
		bool exclusive = (n + f) % 2 != 0;

		if (n > (1 << 22) && f % 4 != 1)
			continue;
		test_floats(family, n, nulls, exclusive, (Carry) (f % 4), 0, options);
		test_floats(family, n, NO_BITMAP, !exclusive, CARRY_NONE, 0, options);
		if (n > 100000)
			continue;

		/* too high, too low, a carry that is far away */
		test_floats(family, n, nulls, exclusive, CARRY_NONE, 1, options);
		test_floats(family, n, nulls, exclusive, CARRY_SMALL, -1, options);
		test_floats(family, n, nulls, exclusive, CARRY_NONE, -6, options);
		test_floats(family, n, nulls, exclusive, CARRY_HUGE, 0, options);
	}
}

/* Values that just fit the window and that just do not, as a row and as the carry. */
static void
test_window_edges()
{
	const struct
	{
		int place; /* of the value's only bit, above the window's lowest */
		bool fits;
	} edges[] = {{-1, false}, {0, true}, {WINDOW_VALUE_BITS - 1, true}, {WINDOW_VALUE_BITS, false}};

	for (int window : {1, 2, 20, 40, 58})
		for (const auto &edge : edges)
			for (double sign : {1.0, -1.0})
				for (bool as_carry : {false, true})
				{
					double edge_value = sign * ldexp(1.0, 32 * window + edge.place - 1074);
					std::vector<double> values(40, ldexp(1.0, 32 * window + 5 - 1074));
					Oracle carried;
					ScanCase c;

					oracle_clear(&carried);
					if (as_carry)
						oracle_add(&carried, edge_value);
					else
						values[17] = edge_value;
					c.kind = GPUAGG_FLOAT64;
					c.flags = 0;
					c.window = window;
					c.values = values.data();
					c.validity = nullptr;
					c.n = values.size();
					c.carry = state_of(carried);
					c.what = text("scan float64, %s at place %d of window %d, sign %g",
								  as_carry ? "carry" : "value", edge.place, window, sign);

					ScanOutput output = run_scan(c);

					/* -2^223 is the lowest number of 224 bits: as a carry it does fit */
					if (as_carry && sign < 0 && edge.place == WINDOW_VALUE_BITS)
						continue;
					report(output.state.out_of_window == !edge.fits, c.what);
					if (edge.fits)
						check_floats(c, output);
				}
}

static void
test_refusals()
{
	DeviceMemory memory(65536);
	GpuScanState *state = (GpuScanState *) memory.p;
	uint8_t *status = (uint8_t *) memory.p;

	GpuScan scan = {};

	scan.op = GPUAGG_SUM;
	scan.nrows = 1;
	scan.values = memory.p;
	scan.state_in = state;
	scan.results = memory.p;
	scan.status = status;
	scan.state_out = state;
	scan.scratch = memory.p;
	report(gpu_scan(&scan, stream) == GPUAGG_REFUSED, "scan of no kind");
	scan.kind = GPUAGG_FLOAT64;
	scan.window = GPUAGG_CHUNKS;
	report(gpu_scan(&scan, stream) == GPUAGG_REFUSED, "scan in no window");
}

void
scan_tests(const Options &options)
{
	std::vector<uint64_t> sizes = {1,	 2,	   7,	 8,		9,	   31,	 32,   33,
								   255,	 256,  257,	 1023,	1024,  1025, 2047, 2048,
								   2049, 4095, 4097, 16384, 16385, 33001};

	if (options.small)
		sizes = {1, 33, 2049, 10007};
	if (!options.simulated && !options.small)
		sizes.insert(sizes.end(), {100003, (1 << 20) + 1, (1 << 24) + 3});

	test_refusals();
	test_window_edges();
	for (uint64_t n : sizes)
	{
		test_all_integers(n, options);
		test_all_floats(n, options);
	}

	if (options.large)
	{
		/* more than 2^31 bytes of results */
		uint64_t n = (UINT64_C(1) << 27) + 5;

		test_integers<int64_t>(GPUAGG_INT64, integer_families[0], n, SOME_NULL, false, 0, options);
		test_integers<int32_t>(GPUAGG_INT32, integer_families[0], 2 * n, NO_BITMAP, false, 0,
							   options);
		test_floats(float_families[1], n, NO_BITMAP, false, CARRY_SMALL, 0, options);
	}
}
