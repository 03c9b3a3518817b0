/*
 * harness.h
 *	  What the kernel tests share: device memory, counting, random numbers,
 *	  families of columns.
 */
#ifndef GPUAGG_TEST_HARNESS_H
#define GPUAGG_TEST_HARNESS_H

#include <stdint.h>
#include <string>
#include <vector>

#include "cuda/device/gpu.h"
#include "cuda/kernels/kernels.h"

extern int npassed;
extern int nfailed;

/* One test: passed, or failed with a line that says where. */
extern void report(bool passed, const std::string &what);

/* printf into a string */
extern std::string text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the program when a call that must succeed does not. */
extern void must(GpuaggReason reason, const char *what);

struct Random
{
	uint64_t state;

	explicit Random(uint64_t seed) : state(seed)
	{
	}
	uint64_t next();
	uint64_t below(uint64_t n);
	int between(int low, int high); /* both included */
};

/* Device memory that ends with its scope. */
struct DeviceMemory
{
	void *p;
	size_t bytes;

	explicit DeviceMemory(size_t size);
	~DeviceMemory();
	DeviceMemory(const DeviceMemory &) = delete;
	DeviceMemory &operator=(const DeviceMemory &) = delete;
};

/* The stream of all tests, and waiting for it. */
extern GpuStreamRef stream;
extern void finish();

/*
 * Every launch runs twice: with memory poisoned by another pattern, and on the
 * simulator in another order.  Both must give the same.
 */
#define NPATTERNS 2
extern int begin_pattern(int number);

/*
 * Warp collectives that launches have made so far: a measure of the ways they went
 * that is the same in every run.  0 on a real device.
 */
extern uint64_t collectives_made();

struct Options
{
	uint64_t seed;
	bool simulated;
	bool large;	 /* also columns of many millions of rows */
	bool small;	 /* only a few sizes, for slow checkers */
	bool hammer; /* many launches, one after another */
};

/* A named way to fill a column of doubles. */
struct FloatFamily
{
	const char *name;
	double (*value)(Random &random, uint64_t row, uint64_t nrows);
	bool narrow; /* all values fit one window of 256 bits */
};

struct IntegerFamily
{
	const char *name;
	int64_t (*value)(Random &random, uint64_t row, int64_t min, int64_t max);
};

extern const std::vector<FloatFamily> float_families;
extern const std::vector<IntegerFamily> integer_families;

extern void shuffle_tests(const Options &options);
extern void chunks_tests(const Options &options);
extern void reduce_tests(const Options &options);
extern void reduce_float_tests(const Options &options);
extern void scan_tests(const Options &options);
extern void scan_float_tests(const Options &options);
extern void segmented_tests(const Options &options);
extern void ladder_tests(const Options &options);
extern void query_tests(const Options &options);

#endif /* GPUAGG_TEST_HARNESS_H */
