/*
 * bench.h
 *	  What the parts of the kernel benchmark share: columns, timing, results.
 *
 * Every size is measured over several sets of buffers in turn, together well
 * above the L2 cache, so that each launch finds its column in device memory.
 */
#ifndef GPUAGG_TEST_BENCH_H
#define GPUAGG_TEST_BENCH_H

#include <functional>
#include <stdint.h>
#include <string>
#include <vector>

extern "C" {
#include "common/algorithm.h"
#include "common/float_sum.h"
#include "common/reason.h"
}
#include "cuda/device/gpu.h"
#include "cuda/kernels/kernels.h"

/* Ends the program when a call that must succeed does not. */
extern void must(GpuaggReason reason, const char *what);

extern GpuStreamRef stream;
extern void finish();

struct DeviceMemory
{
	void *p;
	size_t bytes;

	explicit DeviceMemory(size_t size, bool cleared = false);
	~DeviceMemory();
	DeviceMemory(const DeviceMemory &) = delete;
	DeviceMemory &operator=(const DeviceMemory &) = delete;
};

/* Contents of columns; ints are random over their whole range. */
enum Pattern
{
	ORDINARY,	/* floats: near to normal, of mean 0 and variance 1/3 */
	SENTINEL,	/* the same, and 1e300 in the middle */
	ZEROS,		/* the same, but one in eight is 0 */
	SPREAD_60,	/* each scaled by a power of two from 2^-60 to 1 */
	ADVERSARIAL /* any finite bits */
};

/* First chunk of sums of floats: 2^-114, below the last bit of all patterns but ADVERSARIAL. */
constexpr int BENCH_WINDOW = 30;

/* Where segments start: nowhere, every so many rows, or one of the two others. */
constexpr int64_t SHAPE_NONE = 0;
constexpr int64_t SHAPE_RANDOM = -1; /* one row in 64, at random */
constexpr int64_t SHAPE_POWER_LAW =
	-2; /* of every density from 1 to 2^-15, by regions of 2^16 rows */

extern const char *pattern_name(Pattern pattern);
extern std::string shape_name(int64_t shape);

/* fill.cu */
extern void fill_values(int kind, Pattern pattern, uint64_t n, uint64_t seed, void *values);
/* Integers of 1, 2, 4, 8 or 16 bytes below `below` (0: any), without a sign. */
extern void fill_below(uint32_t width, uint64_t below, uint64_t n, uint64_t seed, void *values);
extern void fill_bits(uint64_t n, uint64_t seed, uint64_t *bits); /* one in eight is 0 */
extern void fill_heads(int64_t shape, uint64_t n, uint64_t seed, uint64_t *heads);
/* Launches a kernel named mark_kernel, by which a profiler's report is cut. */
extern void mark();

extern void fill_head_flags(const uint64_t *heads, uint64_t n, int32_t *flags);

/*
 * Rows i of n for which a[stride_a * i] and b[stride_b * i] differ by more
 * than the tolerance; ints are compared modulo 2^32 or 2^64.
 */
extern uint64_t count_differences(int kind, uint64_t n, const void *a, int stride_a, const void *b,
								  int stride_b, double tolerance);

/* Sets of buffers, in two regions of device memory that all Sets share. */
struct Sets
{
	uint64_t rows;
	size_t value_bytes;	 /* of a set */
	size_t result_bytes; /* of a set */
	int count;

	/* element sizes in bytes; result_size 0: a launch writes no column */
	Sets(uint64_t nrows, size_t value_size, size_t result_size);
	void *values(int set) const;
	void *results(int set) const;
	uint64_t bytes() const /* read and written by a launch */
	{
		return value_bytes + result_bytes;
	}
	void fill(int kind, Pattern pattern) const;
};

/* Microseconds of a launch: medians of NREPEATS. */
struct Times
{
	double graph;  /* in replays of a graph of at least 20 launches */
	double single; /* with nothing else under way */
};

constexpr int NREPEATS = 21;

/* enqueue(set) makes one launch on the buffers of that set. */
extern Times measure(const Sets &sets, const std::function<void(int)> &enqueue);

/* A plain read, and a copy, of what sets.bytes() says: the bandwidth to compare with. */
extern Times measure_read(const Sets &sets);
extern Times measure_copy(const Sets &sets);

/* Launches while a profiler counts. */
extern void profile(const std::function<void()> &launch);

/* CUB's sums over the sets; keys are those of one set. */
extern Times measure_cub(int task, int kind, const Sets &sets, const int32_t *keys);
extern void run_cub(int task, int kind, uint64_t n, const void *values, const int32_t *keys,
					void *results);

/* One line of the table and of the file. */
struct Result
{
	std::string part;
	std::string what;
	std::string variant;
	uint64_t rows;
	uint64_t bytes; /* read and written by a launch */
	Times ours;
	Times cub;			 /* 0: CUB has no such thing */
	char bandwidth;		 /* 'R' or 'C' */
	Times bandwidth_run; /* over the same bytes */
	bool right;

	/* limits; 0: none */
	double graph_over_cub;
	double single_over_cub;
	double share; /* of the bandwidth, at least */
};

extern void report(const Result &result);

/* A limit on the worst of several results against the best. */
extern void report_spread(const std::string &part, const std::string &what, double worst,
						  double best, double limit);

struct Options
{
	std::vector<uint64_t> sizes;
	uint64_t largest;	   /* the size of all that is measured at one size */
	const char *only = ""; /* queries whose name has this */
};

extern void reduce_cases(const Options &options);
extern void scan_cases(const Options &options);
extern void segmented_cases(const Options &options);
extern void query_cases(const Options &options);
extern void ladder_cases(const Options &options);
extern void counter_cases(const Options &options);

extern const char *kind_name(int kind);

#endif /* GPUAGG_TEST_BENCH_H */
