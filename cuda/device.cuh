/*
 * device.cuh
 *	  The only header through which kernels see CUDA, or its simulator.
 *
 * Rules for kernel source, checked by test/lint/kernel-rules: shared memory is
 * one struct per kernel through SHARED; launches through LAUNCH; memory that
 * blocks share while a kernel runs is touched only by load_relaxed,
 * load_acquire, store_release and atomic_add; spin loops call spin_wait;
 * nothing returns before a collective; blocks are whole warps.
 */
#ifndef GPUAGG_DEVICE_CUH
#define GPUAGG_DEVICE_CUH

#ifdef __FAST_MATH__
#error "sums are exact only without -ffast-math"
#endif

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef GPUAGG_SIM
#include "test/kernels/sim/sim.h"
#define GPUAGG_HD
#else
#include <cuda_runtime.h>
#define GPUAGG_HD __host__ __device__
#endif

#include "cuda/kernels.h"

#ifdef __CUDA_ARCH__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

#define WARP_SIZE 32
#define FULL_MASK 0xffffffffu

#ifdef GPUAGG_SIM

#define SHARED(Type, name) \
	Type &name = *static_cast<Type *>(sim::shared_memory(sizeof(Type), SIM_SITE))

#define LAUNCH(kernel, grid, block, stream, ...)         \
	((void) (stream), sim::launch((grid), (block), [=] { \
		 (kernel)(__VA_ARGS__);                          \
	 }))

/* Blocks of this kernel that the device can hold at a time. */
template <class Kernel>
static inline unsigned
resident_blocks(Kernel, int)
{
	return sim::MULTIPROCESSORS * sim::BLOCKS_PER_MULTIPROCESSOR;
}

static inline void
spin_wait()
{
	sim::spin();
}

template <class T>
static inline T
load_relaxed(const T *p)
{
	sim::maybe_yield();
	return *p;
}

template <class T>
static inline T
load_acquire(const T *p)
{
	sim::maybe_yield();
	return *p;
}

template <class T>
static inline void
store_release(T *p, T value)
{
	sim::maybe_yield();
	*p = value;
	sim::progress();
}

template <class T>
static inline T
atomic_add(T *p, T value)
{
	T old;

	sim::maybe_yield();
	old = *p;
	*p = (T) (old + value);
	sim::progress();
	return old;
}

/* Shuffles take any trivially copyable value, in one meeting of the warp. */
template <class T>
static inline T
warp_shfl(T value, int lane)
{
	return __shfl_sync(FULL_MASK, value, lane);
}

template <class T>
static inline T
warp_shfl_up(T value, int delta)
{
	return __shfl_up_sync(FULL_MASK, value, delta);
}

template <class T>
static inline T
warp_shfl_down(T value, int delta)
{
	return __shfl_down_sync(FULL_MASK, value, delta);
}

#else

#define SHARED(Type, name) __shared__ Type name

#define LAUNCH(kernel, grid, block, stream, ...) \
	(kernel)<<<(grid), (block), 0, (cudaStream_t) (stream)>>>(__VA_ARGS__)

template <class Kernel>
static inline unsigned
resident_blocks(Kernel kernel, int threads)
{
	int device = 0;
	int multiprocessors = 0;
	int blocks = 0;

	/* a failure here stays to be seen by gpu_launch_status */
	if (cudaGetDevice(&device) != cudaSuccess ||
		cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) !=
			cudaSuccess ||
		cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0) != cudaSuccess ||
		multiprocessors < 1 || blocks < 1)
		return 1;
	return (unsigned) multiprocessors * (unsigned) blocks;
}

static __device__ __forceinline__ void
spin_wait()
{
	__nanosleep(20);
}

static __device__ __forceinline__ uint32_t
load_relaxed(const uint32_t *p)
{
	uint32_t value;

	asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
	return value;
}

static __device__ __forceinline__ uint64_t
load_relaxed(const uint64_t *p)
{
	uint64_t value;

	asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
	return value;
}

static __device__ __forceinline__ uint32_t
load_acquire(const uint32_t *p)
{
	uint32_t value;

	asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
	return value;
}

static __device__ __forceinline__ void
store_release(uint32_t *p, uint32_t value)
{
	asm volatile("st.release.gpu.u32 [%0], %1;" : : "l"(p), "r"(value) : "memory");
}

static __device__ __forceinline__ uint32_t
atomic_add(uint32_t *p, uint32_t value)
{
	return atomicAdd(p, value);
}

static __device__ __forceinline__ uint64_t
atomic_add(uint64_t *p, uint64_t value)
{
	return atomicAdd((unsigned long long *) p, (unsigned long long) value);
}

/* A value of any size as the 32-bit words that shuffles move. */
template <class T> struct ShuffleWords
{
	static_assert(sizeof(T) % 4 == 0, "shuffles move 32-bit words");
	uint32_t word[sizeof(T) / 4];
};

template <class T>
static __device__ __forceinline__ T
warp_shfl(T value, int lane)
{
	ShuffleWords<T> w;

	memcpy(&w, &value, sizeof(T));
	UNROLL
	for (size_t i = 0; i < sizeof(T) / 4; i++)
		w.word[i] = __shfl_sync(FULL_MASK, w.word[i], lane);
	memcpy(&value, &w, sizeof(T));
	return value;
}

template <class T>
static __device__ __forceinline__ T
warp_shfl_up(T value, int delta)
{
	ShuffleWords<T> w;

	memcpy(&w, &value, sizeof(T));
	UNROLL
	for (size_t i = 0; i < sizeof(T) / 4; i++)
		w.word[i] = __shfl_up_sync(FULL_MASK, w.word[i], delta);
	memcpy(&value, &w, sizeof(T));
	return value;
}

template <class T>
static __device__ __forceinline__ T
warp_shfl_down(T value, int delta)
{
	ShuffleWords<T> w;

	memcpy(&w, &value, sizeof(T));
	UNROLL
	for (size_t i = 0; i < sizeof(T) / 4; i++)
		w.word[i] = __shfl_down_sync(FULL_MASK, w.word[i], delta);
	memcpy(&value, &w, sizeof(T));
	return value;
}

#endif /* GPUAGG_SIM */

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

static GPUAGG_HD inline uint64_t
divide_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

#endif /* GPUAGG_DEVICE_CUH */
