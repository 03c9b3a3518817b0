/*
 * reduce_test.cc
 *	  gpu_reduce: every kind, sizes around every boundary, every family.
 */
#include "harness.h"

#include <string.h>

#include "oracle.h"

static GpuaggReason
launch_reduce(int kind, const void *values, uint64_t n, GpuaggReduced *result, void *scratch)
{
	GpuReduce reduce = {};

	reduce.kind = kind;
	reduce.op = GPUAGG_SUM;
	reduce.nrows = n;
	reduce.values = values;
	reduce.result = result;
	reduce.scratch = scratch;
	return gpu_reduce(&reduce, stream);
}

/*
 * Reduces the column, which starts `misaligned` values after an aligned
 * address.  Reports when two runs differ.
 */
static GpuaggReduced
run_reduce(int kind, const void *values, uint64_t n, uint64_t misaligned, const std::string &what)
{
	size_t size = gpuagg_kind_size(kind);
	GpuaggReduced results[NPATTERNS];

	for (int i = 0; i < NPATTERNS; i++)
	{
		int byte = begin_pattern(i);
		DeviceMemory column((n + misaligned) * size);
		DeviceMemory result(sizeof(GpuaggReduced));
		DeviceMemory scratch(gpu_reduce_scratch());
		char *start = (char *) column.p + misaligned * size;

		must(gpu_memset(result.p, byte, result.bytes, stream), "gpu_memset");
		must(gpu_memset(scratch.p, byte, scratch.bytes, stream), "gpu_memset");
		must(gpu_copy_in(start, values, n * size, stream), "gpu_copy_in");
		must(launch_reduce(kind, start, n, (GpuaggReduced *) result.p, scratch.p), "gpu_reduce");
		must(gpu_copy_out(&results[i], result.p, sizeof(GpuaggReduced), stream), "gpu_copy_out");
		finish();
	}
	report(memcmp(&results[0], &results[1], sizeof(GpuaggReduced)) == 0,
		   what + ": two runs differ");
	return results[0];
}

static bool
plain_accumulator(const GpuaggFloatSumFull &f)
{
	return f.deposits == 0 && f.base == 0 && f.width == GPUAGG_CHUNKS;
}

template <class T>
static void
test_integers(int kind, const IntegerFamily &family, uint64_t n, uint64_t misaligned,
			  const Options &options)
{
	std::string what = text("reduce kind %d, %s, %llu rows, misaligned %llu", kind, family.name,
							(unsigned long long) n, (unsigned long long) misaligned);
	Random random(options.seed * 1000003 + n);
	std::vector<T> values(n);
	__int128 expected = 0;

	for (uint64_t i = 0; i < n; i++)
	{
		values[i] = (T) family.value(random, i, sizeof(T) == 8 ? INT64_MIN : INT32_MIN,
									 sizeof(T) == 8 ? INT64_MAX : INT32_MAX);
		expected += values[i];
	}

	GpuaggReduced r = run_reduce(kind, values.data(), n, misaligned, what);
	bool right = r.n == n && r.sum.lo == (uint64_t) expected &&
				 r.sum.hi == (int64_t) (expected >> 64) && plain_accumulator(r.f) &&
				 r.f.counts.n == 0;

	for (int i = 0; i < GPUAGG_CHUNKS; i++)
		right = right && r.f.chunk[i] == 0;
	report(right, what);
}

static bool
chunks_equal(const GpuaggFloatSumFull &f, const Big &sum)
{
	for (int i = 0; i < GPUAGG_CHUNKS - 1; i++)
		if (f.chunk[i] != (int64_t) sum.word[i])
			return false;
	return f.chunk[GPUAGG_CHUNKS - 1] ==
		   (int64_t) ((uint64_t) sum.word[GPUAGG_CHUNKS] << 32 | sum.word[GPUAGG_CHUNKS - 1]);
}

static void
test_floats(const FloatFamily &family, uint64_t n, uint64_t misaligned, const Options &options)
{
	std::string what = text("reduce float64, %s, %llu rows, misaligned %llu", family.name,
							(unsigned long long) n, (unsigned long long) misaligned);
	Random random(options.seed * 1000003 + n);
	std::vector<double> values(n);
	Oracle oracle;

	oracle_clear(&oracle);
	for (uint64_t i = 0; i < n; i++)
	{
		values[i] = family.value(random, i, n);
		oracle_add(&oracle, values[i]);
	}

	GpuaggReduced r = run_reduce(GPUAGG_FLOAT64, values.data(), n, misaligned, what);
	const GpuaggFloatCounts &counts = r.f.counts;

	report(r.n == n && r.sum.lo == 0 && r.sum.hi == 0 && plain_accumulator(r.f) &&
			   counts.n == oracle.n && counts.n_nan == oracle.n_nan &&
			   counts.n_pinf == oracle.n_pinf && counts.n_ninf == oracle.n_ninf &&
			   counts.n_negzero == oracle.n_negzero && chunks_equal(r.f, oracle.sum),
		   what);
}

static void
test_refusals()
{
	DeviceMemory memory(4096);
	GpuaggReduced *result = (GpuaggReduced *) memory.p;

	report(launch_reduce(0, memory.p, 1, result, memory.p) == GPUAGG_REFUSED,
		   "reduce of no kind");
	report(launch_reduce(GPUAGG_INT32, memory.p, 0, result, memory.p) == GPUAGG_REFUSED,
		   "reduce of no rows");
	report(launch_reduce(GPUAGG_INT32, memory.p, (uint64_t) GPUAGG_MAX_ROWS + 1, result, memory.p) == GPUAGG_REFUSED,
		   "reduce of too many rows");
}

void
reduce_tests(const Options &options)
{
	std::vector<uint64_t> sizes = {1,	 2,	   3,	 31,   32,	 33,   255,	  256,	 257,  1023,
								   1024, 1025, 2047, 2048, 2049, 4097, 16383, 16385, 40009};

	if (options.small)
		sizes = {1, 33, 2049, 10007};
	if (!options.simulated && !options.small)
		sizes.insert(sizes.end(), {100003, (1 << 20) + 1, (1 << 24) + 3});

	test_refusals();
	for (uint64_t n : sizes)
	{
		uint64_t misaligned = n < 2000 ? n % 4 : 0;

		for (const IntegerFamily &family : integer_families)
		{
			test_integers<int32_t>(GPUAGG_INT32, family, n, misaligned, options);
			test_integers<int64_t>(GPUAGG_INT64, family, n, misaligned % 2, options);
		}
		for (size_t f = 0; f < float_families.size(); f++)
			if (n < (1 << 22) || f % 3 == 0)
				test_floats(float_families[f], n, misaligned % 2, options);
	}

	/* enough rows a thread that its chunks are placed again, in some lanes or in all */
	for (const FloatFamily &family : float_families)
		if (!family.narrow)
			test_floats(family, 150001, 0, options);

	if (options.large)
	{
		/* more than 2^31 bytes */
		uint64_t n = (UINT64_C(1) << 28) + 5;

		test_integers<int64_t>(GPUAGG_INT64, integer_families[0], n, 1, options);
		test_integers<int32_t>(GPUAGG_INT32, integer_families[2], 2 * n, 3, options);
		test_floats(float_families[1], n, 1, options);
	}
}
