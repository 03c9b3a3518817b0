/*
 * bench_kernels.cu
 *	  Kernels around a benchmark: its column, a plain read of it, a checksum.
 */
#include "device/device.cuh"

#include "kernels/bench_kernels.h"
#include "device/block.cuh"
#include "device/grid.cuh"
#include "common/bench_column.h"

#define BENCH_THREADS 256
#define BENCH_WARPS	  (BENCH_THREADS / WARP_SIZE)
#define READ_VECTORS  8 /* of 16 bytes, in flight in a thread */

static __device__ __forceinline__ uint64_t
grid_thread()
{
	return (uint64_t) blockIdx.x * BENCH_THREADS + threadIdx.x;
}

static __device__ __forceinline__ uint64_t
grid_threads()
{
	return (uint64_t) gridDim.x * BENCH_THREADS;
}

template <class T>
static __global__ void
__launch_bounds__(BENCH_THREADS) bench_values(T *values, uint64_t n, uint64_t seed)
{
	for (uint64_t i = grid_thread(); i < n; i += grid_threads())
		values[i] = (T) gpuagg_bench_value(seed, i);
}

static __global__ void
__launch_bounds__(BENCH_THREADS) bench_heads(uint64_t *heads, uint64_t n, uint64_t seed)
{
	for (uint64_t word = grid_thread(); word < divide_up(n, 64); word += grid_threads())
	{
		uint64_t bits = 0;

		for (uint64_t i = word * 64; i < word * 64 + 64 && i < n; i++)
			bits |= (uint64_t) gpuagg_bench_head(seed, i) << i % 64;
		heads[word] = bits;
	}
}

/* The search for a head goes back to row 0 at most, which is one. */
static __global__ void
__launch_bounds__(BENCH_THREADS) bench_keys(const uint64_t *heads, int32_t *keys, uint64_t n)
{
	for (uint64_t i = grid_thread(); i < n; i += grid_threads())
	{
		uint64_t word = i / 64;
		uint64_t bits = heads[word] << (63 - i % 64) >> (63 - i % 64);
		uint64_t key = 0;

		while (bits == 0 && word > 0)
			bits = heads[--word];
		for (key = word * 64; bits > 1; bits >>= 1)
			key++;
		keys[i] = (int32_t) (uint32_t) key;
	}
}

struct ReadStorage
{
	uint64_t warp[BENCH_WARPS];
};

/* Adds up what it reads, so that no load can be left out. */
static __global__ void
__launch_bounds__(BENCH_THREADS) bench_read(const Vector<uint64_t> *vectors, uint64_t nvectors,
											const uint32_t *tail, uint64_t ntail, uint64_t *sink)
{
	SHARED(ReadStorage, shared);
	uint64_t tile = (uint64_t) BENCH_THREADS * READ_VECTORS;
	uint64_t sum = 0;

	for (uint64_t start = blockIdx.x * tile; start < nvectors; start += gridDim.x * tile)
	{
		uint64_t first = start + threadIdx.x;

		if (start + tile <= nvectors)
		{
			Vector<uint64_t> v[READ_VECTORS];

			UNROLL
			for (int k = 0; k < READ_VECTORS; k++)
				v[k] = vectors[first + (uint64_t) k * BENCH_THREADS];
			UNROLL
			for (int k = 0; k < READ_VECTORS; k++)
				sum += v[k].value[0] + v[k].value[1];
		}
		else
			for (uint64_t at = first; at < nvectors; at += BENCH_THREADS)
				sum += vectors[at].value[0] + vectors[at].value[1];
	}
	if (grid_thread() < ntail)
		sum += tail[grid_thread()];
	sum = block_sum<uint64_t, BENCH_THREADS>(sum, shared.warp);
	if (threadIdx.x == 0)
		atomic_add(sink, sum);
}

template <int KIND>
static __device__ __forceinline__ uint64_t
result_bits(int64_t result)
{
	return gpuagg_bench_integer_bits(KIND, (uint64_t) result);
}

template <int KIND>
static __device__ __forceinline__ uint64_t
result_bits(double result)
{
	return gpuagg_bench_float_bits(result);
}

struct ChecksumStorage
{
	uint64_t warp[BENCH_WARPS];
};

/* Wide: int64_t or double, to which T converts without loss. */
template <int KIND, class T, class Wide>
static __global__ void
__launch_bounds__(BENCH_THREADS) bench_checksum(const T *results, uint64_t n, uint64_t *checksum)
{
	SHARED(ChecksumStorage, shared);
	uint64_t sum = 0;

	for (uint64_t i = grid_thread(); i < n; i += grid_threads())
		sum += gpuagg_bench_mix(i, result_bits<KIND>((Wide) results[i]));
	sum = block_sum<uint64_t, BENCH_THREADS>(sum, shared.warp);
	if (threadIdx.x == 0)
		atomic_add(checksum, sum);
}

/* As many blocks as the device holds, but none without work. */
template <auto KERNEL>
static unsigned
bench_blocks(uint64_t nthreads)
{
	uint64_t wanted = divide_up(nthreads, BENCH_THREADS);
	unsigned limit = cached_resident_blocks<KERNEL>(BENCH_THREADS);

	return wanted < 1 ? 1 : wanted < limit ? (unsigned) wanted : limit;
}

template <class T>
static GpuaggReason
launch_values(uint64_t nrows, uint64_t seed, void *values, GpuStreamRef stream)
{
	LAUNCH(bench_values<T>, bench_blocks<bench_values<T>>(nrows), BENCH_THREADS, stream,
		   (T *) values, nrows, seed);
	return gpu_launch_status();
}

GpuaggReason
gpu_bench_values(int kind, uint64_t nrows, uint64_t seed, void *values, GpuStreamRef stream)
{
	switch (kind)
	{
		case GPUAGG_INT32:
			return launch_values<int32_t>(nrows, seed, values, stream);
		case GPUAGG_INT64:
			return launch_values<int64_t>(nrows, seed, values, stream);
		case GPUAGG_FLOAT32:
			return launch_values<float>(nrows, seed, values, stream);
		case GPUAGG_FLOAT64:
			return launch_values<double>(nrows, seed, values, stream);
		default:
			return GPUAGG_REFUSED;
	}
}

GpuaggReason
gpu_bench_heads(uint64_t nrows, uint64_t seed, uint64_t *heads, GpuStreamRef stream)
{
	LAUNCH(bench_heads, bench_blocks<bench_heads>(divide_up(nrows, 64)), BENCH_THREADS, stream,
		   heads, nrows, seed);
	return gpu_launch_status();
}

GpuaggReason
gpu_bench_keys(uint64_t nrows, const uint64_t *heads, int32_t *keys, GpuStreamRef stream)
{
	LAUNCH(bench_keys, bench_blocks<bench_keys>(nrows), BENCH_THREADS, stream, heads, keys, nrows);
	return gpu_launch_status();
}

GpuaggReason
gpu_bench_read(uint64_t bytes, const void *values, uint64_t *sink, GpuStreamRef stream)
{
	uint64_t nvectors = bytes / sizeof(Vector<uint64_t>);
	uint64_t ntail = bytes % sizeof(Vector<uint64_t>) / sizeof(uint32_t);

	LAUNCH(bench_read, bench_blocks<bench_read>(divide_up(nvectors, READ_VECTORS)), BENCH_THREADS,
		   stream, (const Vector<uint64_t> *) values, nvectors,
		   (const uint32_t *) values + bytes / sizeof(uint32_t) - ntail, ntail, sink);
	return gpu_launch_status();
}

template <int KIND, class T, class Wide>
static GpuaggReason
launch_checksum(uint64_t nresults, const void *results, uint64_t *sum, GpuStreamRef stream)
{
	LAUNCH((bench_checksum<KIND, T, Wide>), (bench_blocks<bench_checksum<KIND, T, Wide>>(nresults)),
		   BENCH_THREADS, stream, (const T *) results, nresults, sum);
	return gpu_launch_status();
}

GpuaggReason
gpu_bench_checksum(int kind, size_t result_size, uint64_t nresults, const void *results,
				   uint64_t *sum, GpuStreamRef stream)
{
	if (kind == GPUAGG_INT32 && result_size == 4)
		return launch_checksum<GPUAGG_INT32, int32_t, int64_t>(nresults, results, sum, stream);
	if (kind == GPUAGG_INT32 && result_size == 8)
		return launch_checksum<GPUAGG_INT32, int64_t, int64_t>(nresults, results, sum, stream);
	if (kind == GPUAGG_INT64 && result_size == 8)
		return launch_checksum<GPUAGG_INT64, int64_t, int64_t>(nresults, results, sum, stream);
	if (kind == GPUAGG_FLOAT32 && result_size == 4)
		return launch_checksum<GPUAGG_FLOAT32, float, double>(nresults, results, sum, stream);
	if (kind == GPUAGG_FLOAT64 && result_size == 8)
		return launch_checksum<GPUAGG_FLOAT64, double, double>(nresults, results, sum, stream);
	return GPUAGG_REFUSED;
}
