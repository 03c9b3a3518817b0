/*
 * measure.cc
 *	  Buffers and timing of the kernel benchmark.
 */
#include "bench.h"

#include <algorithm>
#include <assert.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <map>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/kernels/bench_kernels.h"
#include "cuda/kernels/cub.h"

/* All sets of a size take at least so much together: several times an L2 cache. */
#define FOOTPRINT		  (UINT64_C(256) << 20)
#define MAX_SETS		  1024
#define MIN_LAUNCHES	  20

#define LONGEST_REPLAY_US 50e3 /* unless that is less than MIN_LAUNCHES */

static void
check(cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return;
	printf("%s: %s\n", what, cudaGetErrorString(error));
	exit(1);
}

void
must(GpuaggReason reason, const char *what)
{
	if (reason == GPUAGG_OK)
		return;
	printf("%s: %s %s\n", what, gpuagg_reason_name(reason), gpu_last_error());
	exit(1);
}

static cudaStream_t
cuda_stream()
{
	return (cudaStream_t) stream;
}

void
finish()
{
	check(cudaStreamSynchronize(cuda_stream()), "a launch");
}

DeviceMemory::DeviceMemory(size_t size, bool cleared) : p(nullptr), bytes(size)
{
	must(gpu_malloc(&p, size), "gpu_malloc");
	if (cleared)
		must(gpu_memset(p, 0, size, stream), "gpu_memset");
}

DeviceMemory::~DeviceMemory()
{
	must(gpu_free(p), "gpu_free");
}

/* Two regions, as large as the largest sets so far need. */
static char *region[2];
static size_t region_bytes[2];

static void
reserve(int which, size_t bytes)
{
	if (bytes <= region_bytes[which])
		return;
	finish();
	must(gpu_free(region[which]), "gpu_free");
	must(gpu_malloc((void **) &region[which], bytes), "gpu_malloc");
	region_bytes[which] = bytes;
}

static size_t
aligned(size_t bytes)
{
	return (bytes + GPUAGG_ALIGN - 1) / GPUAGG_ALIGN * GPUAGG_ALIGN;
}

Sets::Sets(uint64_t nrows, size_t value_size, size_t result_size)
	: rows(nrows), value_bytes(nrows * value_size), result_bytes(nrows * result_size)
{
	uint64_t wanted = (FOOTPRINT + bytes() - 1) / bytes();
	size_t half;

	count = (int) std::min<uint64_t>(wanted, MAX_SETS);
	/* the copy reads half of the bytes of a set and writes the other half */
	half = std::max(aligned(bytes() / 2), aligned(value_bytes));
	reserve(0, half * (size_t) count);
	half = std::max(aligned(bytes() / 2), aligned(result_bytes));
	reserve(1, half * (size_t) count);
}

void *
Sets::values(int set) const
{
	return region[0] + aligned(value_bytes) * (size_t) set;
}

void *
Sets::results(int set) const
{
	return region[1] + aligned(result_bytes) * (size_t) set;
}

void
Sets::fill(int kind, Pattern pattern) const
{
	for (int set = 0; set < count; set++)
		fill_values(kind, pattern, rows, 1000003 * (uint64_t) set, values(set));
	finish();
}

static double
median(std::vector<double> &v)
{
	std::sort(v.begin(), v.end());
	return v[v.size() / 2];
}

/* Microseconds between two events around what `enqueue` enqueues, NREPEATS times. */
static double
median_time(const std::function<void(int)> &enqueue)
{
	std::vector<double> times;
	cudaEvent_t from, to;

	check(cudaEventCreate(&from), "cudaEventCreate");
	check(cudaEventCreate(&to), "cudaEventCreate");
	for (int i = 0; i < NREPEATS + 2; i++)
	{
		float ms;

		finish();
		check(cudaEventRecord(from, cuda_stream()), "cudaEventRecord");
		enqueue(i);
		check(cudaEventRecord(to, cuda_stream()), "cudaEventRecord");
		finish();
		check(cudaEventElapsedTime(&ms, from, to), "cudaEventElapsedTime");
		if (i >= 2)
			times.push_back(ms * 1e3);
	}
	check(cudaEventDestroy(from), "cudaEventDestroy");
	check(cudaEventDestroy(to), "cudaEventDestroy");
	return median(times);
}

/* As many launches as sets, if that does not take long. */
static int
launches_in_row(const Sets &sets, const Times &times)
{
	int launches = std::min(sets.count, (int) (LONGEST_REPLAY_US / times.single));

	return std::max(launches, MIN_LAUNCHES);
}

Times
measure(const Sets &sets, const std::function<void(int)> &enqueue)
{
	int launches;
	cudaGraph_t graph;
	cudaGraphExec_t replay;
	Times times;

	/* also does what a launch does only once */
	times.single = median_time([&](int i) {
		enqueue(i % sets.count);
	});

	launches = launches_in_row(sets, times);
	check(cudaStreamBeginCapture(cuda_stream(), cudaStreamCaptureModeRelaxed), "capture");
	for (int i = 0; i < launches; i++)
		enqueue(i % sets.count);
	check(cudaStreamEndCapture(cuda_stream(), &graph), "capture");
	check(cudaGraphInstantiate(&replay, graph, 0), "cudaGraphInstantiate");
	times.graph = median_time([&](int) {
					  check(cudaGraphLaunch(replay, cuda_stream()), "a graph");
				  }) /
				  launches;
	check(cudaGraphExecDestroy(replay), "cudaGraphExecDestroy");
	check(cudaGraphDestroy(graph), "cudaGraphDestroy");
	return times;
}

/* Measures once for each number of bytes. */
static Times
measure_once(std::map<uint64_t, Times> *known, const Sets &sets,
			 const std::function<Times()> &measure_now)
{
	auto found = known->find(sets.bytes());

	if (found == known->end())
		found = known->emplace(sets.bytes(), measure_now()).first;
	return found->second;
}

static Times
measure_read_now(const Sets &sets)
{
	DeviceMemory sink(sizeof(uint64_t), true);

	return measure(sets, [&](int set) {
		must(gpu_bench_read(sets.bytes(), region[0] + aligned(sets.bytes()) * (size_t) set,
							(uint64_t *) sink.p, stream),
			 "gpu_bench_read");
	});
}

static Times
measure_copy_now(const Sets &sets)
{
	size_t half = sets.bytes() / 2;
	auto copy = [&](int set) {
		must(gpu_copy_within(region[1] + aligned(half) * (size_t) set,
							 region[0] + aligned(half) * (size_t) set, half, stream),
			 "gpu_copy_within");
	};
	Times times = measure(sets, copy);
	int launches = launches_in_row(sets, times);
	double streamed = median_time([&](int) {
						  for (int i = 0; i < launches; i++)
							  copy(i % sets.count);
					  }) /
					  launches;

	/* the device may copy in another way in a graph, slower for long copies */
	times.graph = std::min(times.graph, streamed);
	return times;
}

Times
measure_read(const Sets &sets)
{
	static std::map<uint64_t, Times> known;

	return measure_once(&known, sets, [&] {
		return measure_read_now(sets);
	});
}

Times
measure_copy(const Sets &sets)
{
	static std::map<uint64_t, Times> known;

	return measure_once(&known, sets, [&] {
		return measure_copy_now(sets);
	});
}

void
profile(const std::function<void()> &launch)
{
	finish();
	check(cudaProfilerStart(), "cudaProfilerStart");
	launch();
	finish();
	check(cudaProfilerStop(), "cudaProfilerStop");
}

static size_t
cub_scratch(int task, int kind, uint64_t n)
{
	size_t bytes = 0;

	must(gpu_cub(task, kind, n, nullptr, nullptr, nullptr, nullptr, &bytes, stream), "gpu_cub");
	return std::max<size_t>(bytes, 1);
}

Times
measure_cub(int task, int kind, const Sets &sets, const int32_t *keys)
{
	size_t bytes = cub_scratch(task, kind, sets.rows);
	DeviceMemory scratch(bytes);

	return measure(sets, [&](int set) {
		must(gpu_cub(task, kind, sets.rows, sets.values(set), keys, sets.results(set), scratch.p,
					 &bytes, stream),
			 "gpu_cub");
	});
}

void
run_cub(int task, int kind, uint64_t n, const void *values, const int32_t *keys, void *results)
{
	size_t bytes = cub_scratch(task, kind, n);
	DeviceMemory scratch(bytes);

	must(gpu_cub(task, kind, n, values, keys, results, scratch.p, &bytes, stream), "gpu_cub");
	finish();
}
