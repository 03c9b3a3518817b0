/*
 * device.cuh
 *	  The only header through which kernels see CUDA, or its simulator.
 *
 * Rules for kernel source, checked by test/lint/kernel-rules: shared memory is
 * one struct per kernel, through SHARED up to 48 KiB, beyond that through
 * SHARED_LARGE, or bytes through SHARED_BYTES, with LAUNCH_LARGE; launches go
 * through LAUNCH; memory that blocks share while a kernel runs is accessed only by
 * load_relaxed, load_acquire, store_relaxed, store_release and atomics;
 * spin loops call spin_wait; nothing returns before a collective; blocks are whole warps.
 *
 * What differs between CUDA and simulator is in device_cuda.cuh and device_sim.cuh.
 */
#ifndef GPUAGG_DEVICE_CUH
#define GPUAGG_DEVICE_CUH

#ifdef __FAST_MATH__
#error "sums are exact only without -ffast-math"
#endif

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef GPUAGG_SIM
#include "test/kernels/sim/sim.h"
#define GPUAGG_HD
#else
#include <cuda_runtime.h>
#ifdef GPUAGG_HALF
#include <cuda_fp16.h>
#endif
#define GPUAGG_HD __host__ __device__
#endif

#include "device/gpu.h"

#ifdef __CUDA_ARCH__
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
#else
#define UNROLL
#define ROLLED
#endif

/* For code that rarely runs and must not cost registers elsewhere. */
#ifdef GPUAGG_SIM
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __noinline__
#endif

/* Resident blocks to aim for: before architecture 9.0 the compiler needs more registers. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define RESIDENT(blocks) (((blocks) + 1) / 2)
#else
#define RESIDENT(blocks) (blocks)
#endif

/* Threads that every multiprocessor of the architecture holds. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define MULTIPROCESSOR_THREADS 1024
#else
#define MULTIPROCESSOR_THREADS 1536
#endif

#define WARP_SIZE 32
#define FULL_MASK 0xffffffffu

/* 16 bytes that load_relaxed and store_relaxed access as one. */
struct alignas(16) Quad
{
	uint32_t word[4];
};

/*
 * Bulk copies between global and shared memory, where the device has them
 * (BULK_COPY); addresses and sizes are multiples of 16 bytes.  One thread calls.
 *
 * A phase of a barrier ends when all of its `count` arrivals have been made and
 * the bytes of copy_in, which is an arrival, have come.  copy_barrier_wait(parity)
 * waits for the end of phase 0 (parity 0), 1 (1), 2 (0), ...; parity 1 in phase 0
 * does not wait.  What threads wrote before they arrived is then visible.
 *
 * Several copies in a phase: copy_expect, an arrival, says how many bytes will come, and then
 * copy_start, which is none, starts each.
 *
 * Before copy_out, every thread that wrote into `from` calls copy_out_fence(), and
 * then the block has a barrier.  copy_out_wait<N>() waits until all but the latest
 * N of this thread's copies have read their source.
 */
#if defined(GPUAGG_SIM) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
#define BULK_COPY 1
#else
#define BULK_COPY 0
#endif

/*
 * Some devices give a block LARGE_SHARED bytes of shared memory, the others at least
 * SMALL_SHARED.  Of a kernel in two sizes each architecture has one, by
 * WITH_LARGE_SHARED and WITH_SMALL_SHARED; large_shared<kernel>() says which.
 */
#define LARGE_SHARED (227 * 1024)
#define SMALL_SHARED (64 * 1024)
#ifdef GPUAGG_SIM
#define WITH_LARGE_SHARED 1
#define WITH_SMALL_SHARED 1
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200
#define WITH_LARGE_SHARED 1
#define WITH_SMALL_SHARED 0
#else
#define WITH_LARGE_SHARED 0
#define WITH_SMALL_SHARED 1
#endif

/*
 * GRID_CONSTANT: a parameter of a kernel that is read in place, however large it is.
 *
 * resident_blocks(kernel, threads, shared_bytes): blocks of this kernel that the
 * device can hold at a time.  Slow.  With shared_bytes it also allows the kernel
 * that much shared memory, which LAUNCH_LARGE needs.
 *
 * LAUNCH_EARLY: as LAUNCH_LARGE, but where the device can, the kernel may start
 * while the previous one in the stream ends.  It calls launched_early(), which
 * waits for that end, before it accesses memory; only prefetch_l2() may come
 * earlier, since all multiprocessors share that cache.
 *
 * Shuffles: lanes are in groups of `width`, a power of two; a lane number counts
 * modulo the width in the caller's group.  A lane that would read beyond its group
 * gets its own value, except that xor may reach earlier groups.
 */

#ifdef GPUAGG_SIM
#include "device/device_sim.cuh"
#else
#include "device/device_cuda.cuh"
#endif

#define LAUNCH(kernel, grid, block, stream, ...) \
	LAUNCH_LARGE(kernel, grid, block, 0, stream, __VA_ARGS__)

static __device__ __forceinline__ int
lane_id()
{
	return (int) (threadIdx.x % WARP_SIZE);
}

static __device__ __forceinline__ int
warp_id()
{
	return (int) (threadIdx.x / WARP_SIZE);
}

/* Sum, least and greatest of a 32-bit integer over the warp, in every lane; sums modulo 2^32. */
template <class T>
static __device__ __forceinline__ T
warp_reduce_add(T value)
{
	static_assert(sizeof(T) == 4 && T(1.5f) == T(1), "the hardware reduces 32-bit integers");
#if defined(GPUAGG_SIM) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800)
	return __reduce_add_sync(FULL_MASK, value);
#else
	for (int bit = WARP_SIZE / 2; bit > 0; bit /= 2)
	{
		T other = warp_shfl_xor(value, bit);

		value = (T) ((uint32_t) value + (uint32_t) other);
	}
	return value;
#endif
}

template <class T>
static __device__ __forceinline__ T
warp_reduce_min(T value)
{
	static_assert(sizeof(T) == 4 && T(1.5f) == T(1), "the hardware reduces 32-bit integers");
#if defined(GPUAGG_SIM) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800)
	return __reduce_min_sync(FULL_MASK, value);
#else
	for (int bit = WARP_SIZE / 2; bit > 0; bit /= 2)
	{
		T other = warp_shfl_xor(value, bit);

		value = other < value ? other : value;
	}
	return value;
#endif
}

template <class T>
static __device__ __forceinline__ T
warp_reduce_max(T value)
{
	static_assert(sizeof(T) == 4 && T(1.5f) == T(1), "the hardware reduces 32-bit integers");
#if defined(GPUAGG_SIM) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800)
	return __reduce_max_sync(FULL_MASK, value);
#else
	for (int bit = WARP_SIZE / 2; bit > 0; bit /= 2)
	{
		T other = warp_shfl_xor(value, bit);

		value = other > value ? other : value;
	}
	return value;
#endif
}

/* Number of bits that are 1. */
static GPUAGG_HD inline int
bit_count(uint64_t bits)
{
#ifdef __CUDA_ARCH__
	return __popcll(bits);
#else
	return __builtin_popcountll(bits);
#endif
}

static GPUAGG_HD inline uint64_t
divide_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

#endif /* GPUAGG_DEVICE_CUH */
