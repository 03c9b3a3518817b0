/*
 * device.cuh
 *	  The only header through which kernels see CUDA, or its simulator.
 *
 * Rules for kernel source, checked by test/lint/kernel-rules: shared memory is
 * one struct per kernel, through SHARED up to 48 KiB and through SHARED_LARGE
 * with LAUNCH_LARGE beyond; launches through LAUNCH; memory that
 * blocks share while a kernel runs is touched only by load_relaxed,
 * load_acquire, store_relaxed, store_release and
 * atomic_add(_ordered); spin loops call spin_wait;
 * nothing returns before a collective; blocks are whole warps.
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

#include "cuda/kernels.h"
#include "cuda/ladder.h"

#ifdef __CUDA_ARCH__
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
#else
#define UNROLL
#define ROLLED
#endif

/* For what is rarely run: it must not cost registers elsewhere. */
#ifdef GPUAGG_SIM
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __noinline__
#endif

/* Resident blocks to aim for: compilers need more registers for architectures before 9.0. */
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

/* 16 bytes that load_relaxed and store_relaxed read and write as one. */
struct alignas(16) Quad
{
	uint32_t word[4];
};

/*
 * Bulk copies between global and shared memory, where the device has them
 * (BULK_COPY); addresses and sizes are multiples of 16 bytes.  One thread calls.
 *
 * A phase of a barrier ends with its count-th arrival and when the bytes of
 * copy_in, which is an arrival, are there.  copy_barrier_wait(parity) waits for
 * the end of phase 0 (parity 0), 1 (1), 2 (0), ..., and not at all for parity 1
 * in phase 0; what threads wrote before they arrived is then visible.
 *
 * Before copy_out, every thread that wrote into `from` calls copy_out_fence()
 * and then comes to a block barrier.  copy_out_wait<N>() waits until all but
 * the latest N of this thread's copies no longer need their source.
 */
#if defined(GPUAGG_SIM) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
#define BULK_COPY 1
#else
#define BULK_COPY 0
#endif

/*
 * Devices that give a block LARGE_SHARED bytes of shared memory, and those that
 * give it at least SMALL_SHARED.  A kernel in two sizes is compiled in one:
 * WITH_LARGE_SHARED, WITH_SMALL_SHARED; large_shared<kernel>() says in which.
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
 * resident_blocks(kernel, threads, shared_bytes): blocks of this kernel that
 * the device can hold at a time.  Slow.  With shared_bytes, it also allows the
 * kernel that much shared memory on this device, which LAUNCH_LARGE needs.
 *
 * LAUNCH_EARLY: as LAUNCH_LARGE, but the kernel may start while the one before
 * it in the stream ends, where the device can; it calls launched_early() before
 * it touches memory, which waits for the end of that one.  prefetch_l2() may
 * come before: the second-level cache is where all see the same.
 *
 * Shuffles: lanes are in groups of `width`, a power of two; a lane number is
 * taken modulo the width within the caller's group; who would read beyond the
 * group's edge gets his own value, but that xor may reach earlier groups.
 */

#ifdef GPUAGG_SIM

#define SHARED(Type, name) \
	Type &name = *static_cast<Type *>(sim::shared_memory(sizeof(Type), false, SIM_SITE))
#define SHARED_LARGE(Type, name) \
	Type &name = *static_cast<Type *>(sim::shared_memory(sizeof(Type), true, SIM_SITE))

#define LAUNCH_LARGE(kernel, grid, block, bytes, stream, ...)     \
	((void) (stream), sim::launch((grid), (block), (bytes), [=] { \
		 (kernel)(__VA_ARGS__);                                   \
	 }))

#define LAUNCH_EARLY LAUNCH_LARGE

static inline void
launched_early()
{
}

static inline void
prefetch_l2(const void *)
{
}

template <class Kernel>
static inline unsigned
resident_blocks(Kernel, int, size_t = 0)
{
	return sim::MULTIPROCESSORS * sim::BLOCKS_PER_MULTIPROCESSOR;
}

/* Whether the device has fewer than half as many double as float operations. */
static inline bool
slow_doubles()
{
	return false;
}

/* One time the one, one time the other. */
template <auto>
static inline bool
large_shared()
{
	static bool large;

	large = !large;
	return large;
}

/* Where the loop is that waits, for the simulator's messages. */
#define WAITER const char *file = __builtin_FILE(), int line = __builtin_LINE()

static inline void
spin_wait(WAITER)
{
	sim::spin({file, line});
}

/* The same where the wait is a microsecond or so: without sleeping. */
static inline void
spin_wait_short(WAITER)
{
	sim::spin({file, line});
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
store_relaxed(T *p, T value)
{
	sim::maybe_yield();
	*p = value;
	sim::progress();
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

template <class T>
static inline T
atomic_add_ordered(T *p, T value)
{
	return atomic_add(p, value);
}

/*
 * A copy is made when somebody has waited for it a while: who forgets to wait
 * reads what was there before, and who waits for a later phase passes early.
 */
struct CopyBarrier
{
	uint32_t phase;
	uint32_t count;
	uint32_t missing;
	uint32_t bytes; /* of a copy under way */
	void *to;
	const void *from;
	uint32_t looks;
};

static inline void
copy_barrier_init(CopyBarrier *barrier, uint32_t count = 1)
{
	*barrier = {0, count, count, 0, nullptr, nullptr, 0};
}

static inline void
copy_barrier_arrive(CopyBarrier *barrier)
{
	if (--barrier->missing == 0)
	{
		barrier->missing = barrier->count;
		barrier->phase++;
	}
	sim::progress();
}

static inline void
copy_in(CopyBarrier *barrier, void *to, const void *from, uint32_t bytes)
{
	assert(((uintptr_t) to | (uintptr_t) from | bytes) % 16 == 0 && barrier->bytes == 0);
	barrier->bytes = bytes;
	barrier->to = to;
	barrier->from = from;
	barrier->looks = 0;
}

static inline void
copy_barrier_wait(CopyBarrier *barrier, uint32_t parity, WAITER)
{
	constexpr uint32_t LOOKS = 50;

	while ((barrier->phase & 1) == parity)
	{
		if (barrier->bytes > 0 && ++barrier->looks > LOOKS)
		{
			memcpy(barrier->to, barrier->from, barrier->bytes);
			barrier->bytes = 0;
			copy_barrier_arrive(barrier);
		}
		else
		{
			if (barrier->bytes > 0)
				sim::progress();
			spin_wait(file, line);
		}
	}
}

static inline void
copy_out_fence()
{
}

static inline void
copy_out(void *to, const void *from, uint32_t bytes)
{
	assert(((uintptr_t) to | (uintptr_t) from | bytes) % 16 == 0);
	memcpy(to, from, bytes);
}

template <int N>
static inline void
copy_out_wait()
{
}

/* A shuffle takes any trivially copyable value, in one meeting of the lanes. */
template <class T>
static inline T
warp_shfl(T value, int lane, int width = WARP_SIZE, unsigned mask = FULL_MASK)
{
	return __shfl_sync(mask, value, lane, width);
}

template <class T>
static inline T
warp_shfl_up(T value, int delta, int width = WARP_SIZE, unsigned mask = FULL_MASK)
{
	return __shfl_up_sync(mask, value, delta, width);
}

template <class T>
static inline T
warp_shfl_down(T value, int delta, int width = WARP_SIZE, unsigned mask = FULL_MASK)
{
	return __shfl_down_sync(mask, value, delta, width);
}

template <class T>
static inline T
warp_shfl_xor(T value, int lane_bits, int width = WARP_SIZE, unsigned mask = FULL_MASK)
{
	return __shfl_xor_sync(mask, value, lane_bits, width);
}

#else

#define SHARED(Type, name) __shared__ Type name
#define SHARED_LARGE(Type, name)                                     \
	extern __shared__ __align__(128) unsigned char dynamic_shared[]; \
	Type &name = *reinterpret_cast<Type *>(dynamic_shared)

#define LAUNCH_LARGE(kernel, grid, block, bytes, stream, ...) \
	(kernel)<<<(grid), (block), (bytes), (cudaStream_t) (stream)>>>(__VA_ARGS__)

#define LAUNCH_EARLY(kernel, grid, block, bytes, stream, ...) \
	launch_early((kernel), (grid), (block), (bytes), (cudaStream_t) (stream), __VA_ARGS__)

static inline bool
early_launches()
{
	int device = 0;
	int major = 0;

	return cudaGetDevice(&device) == cudaSuccess &&
		   cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) ==
			   cudaSuccess &&
		   major >= 9;
}

/* A failure stays to be seen by gpu_launch_status. */
template <class... Parameters, class... Arguments>
static inline void
launch_early(void (*kernel)(Parameters...), unsigned blocks, int threads, size_t bytes,
			 cudaStream_t stream, Arguments... arguments)
{
	static const bool early = early_launches(); /* a process has one device */
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};

	attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	attribute.val.programmaticStreamSerializationAllowed = 1;
	config.gridDim = dim3(blocks);
	config.blockDim = dim3((unsigned) threads);
	config.dynamicSmemBytes = bytes;
	config.stream = stream;
	config.attrs = &attribute;
	config.numAttrs = early;
	(void) cudaLaunchKernelEx(&config, kernel, arguments...);
}

static __device__ __forceinline__ void
prefetch_l2(const void *p)
{
	asm volatile("prefetch.global.L2 [%0];" : : "l"(__cvta_generic_to_global(p)));
}

static __device__ __forceinline__ void
launched_early()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;\n\t"
				 "griddepcontrol.launch_dependents;"
				 :
				 :
				 : "memory");
#endif
}

template <class Kernel>
static inline unsigned
resident_blocks(Kernel kernel, int threads, size_t shared_bytes = 0)
{
	int device = 0;
	int multiprocessors = 0;
	int blocks = 0;

	/* a failure here stays to be seen by gpu_launch_status */
	if (cudaGetDevice(&device) != cudaSuccess ||
		cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) !=
			cudaSuccess)
		return 1;
	if (shared_bytes > 0 &&
		cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
							 (int) shared_bytes) != cudaSuccess)
		return 1;
	if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes) !=
			cudaSuccess ||
		multiprocessors < 1 || blocks < 1)
		return 1;
	return (unsigned) multiprocessors * (unsigned) blocks;
}

static inline bool
slow_doubles()
{
	int device = 0;
	int ratio = 0;

	return cudaGetDevice(&device) == cudaSuccess &&
		   cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, device) ==
			   cudaSuccess &&
		   ratio > 2;
}

/* What the code that the device runs was compiled for; a process has one device. */
template <auto KERNEL>
static inline bool
large_shared()
{
	cudaFuncAttributes attributes;
	static const bool large = cudaFuncGetAttributes(&attributes, KERNEL) == cudaSuccess &&
							  attributes.ptxVersion >= 90 && attributes.ptxVersion < 120;

	return large;
}

static __device__ __forceinline__ void
spin_wait()
{
	__nanosleep(20);
}

static __device__ __forceinline__ void
spin_wait_short()
{
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
store_relaxed(uint32_t *p, uint32_t value)
{
	asm volatile("st.relaxed.gpu.u32 [%0], %1;" : : "l"(p), "r"(value) : "memory");
}

static __device__ __forceinline__ void
store_relaxed(uint64_t *p, uint64_t value)
{
	asm volatile("st.relaxed.gpu.u64 [%0], %1;" : : "l"(p), "l"(value) : "memory");
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

/* Also a release of what was written before and an acquire of what others released by it. */
static __device__ __forceinline__ uint32_t
atomic_add_ordered(uint32_t *p, uint32_t value)
{
	uint32_t old;

	asm volatile("atom.add.acq_rel.gpu.u32 %0, [%1], %2;"
				 : "=r"(old)
				 : "l"(p), "r"(value)
				 : "memory");
	return old;
}

static __device__ __forceinline__ Quad
load_relaxed(const Quad *p)
{
	uint64_t low;
	uint64_t high;
	Quad value;

	asm volatile("{\n\t.reg .b128 q;\n\t"
				 "ld.relaxed.gpu.global.b128 q, [%2];\n\t"
				 "mov.b128 {%0, %1}, q;\n\t}"
				 : "=l"(low), "=l"(high)
				 : "l"(p)
				 : "memory");
	value.word[0] = (uint32_t) low;
	value.word[1] = (uint32_t) (low >> 32);
	value.word[2] = (uint32_t) high;
	value.word[3] = (uint32_t) (high >> 32);
	return value;
}

static __device__ __forceinline__ void
store_relaxed(Quad *p, Quad value)
{
	uint64_t low = value.word[0] | (uint64_t) value.word[1] << 32;
	uint64_t high = value.word[2] | (uint64_t) value.word[3] << 32;

	asm volatile("{\n\t.reg .b128 q;\n\t"
				 "mov.b128 q, {%1, %2};\n\t"
				 "st.relaxed.gpu.global.b128 [%0], q;\n\t}"
				 :
				 : "l"(p), "l"(low), "l"(high)
				 : "memory");
}

struct CopyBarrier
{
	uint64_t word; /* without bulk copies: arrivals in the low half, those of a phase in the high */
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

static __device__ __forceinline__ uint32_t
shared_address(const void *p)
{
	return (uint32_t) __cvta_generic_to_shared(p);
}

static __device__ __forceinline__ void
copy_barrier_init(CopyBarrier *barrier, uint32_t count = 1)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n\t"
				 "fence.proxy.async.shared::cta;"
				 :
				 : "r"(shared_address(barrier)), "r"(count)
				 : "memory");
}

static __device__ __forceinline__ void
copy_barrier_arrive(CopyBarrier *barrier)
{
	asm volatile("{\n\t.reg .b64 state;\n\t"
				 "mbarrier.arrive.shared::cta.b64 state, [%0];\n\t}"
				 :
				 : "r"(shared_address(barrier))
				 : "memory");
}

static __device__ __forceinline__ void
copy_in(CopyBarrier *barrier, void *to, const void *from, uint32_t bytes)
{
	asm volatile("{\n\t.reg .b64 state;\n\t"
				 "mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %3;\n\t"
				 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
				 "[%1], [%2], %3, [%0];\n\t}"
				 :
				 : "r"(shared_address(barrier)), "r"(shared_address(to)),
				   "l"(__cvta_generic_to_global(from)), "r"(bytes)
				 : "memory");
}

static __device__ __forceinline__ void
copy_barrier_wait(CopyBarrier *barrier, uint32_t parity)
{
	asm volatile("{\n\t.reg .pred done;\n\t"
				 "again:\n\t"
				 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
				 "@!done bra again;\n\t}"
				 :
				 : "r"(shared_address(barrier)), "r"(parity)
				 : "memory");
}

static __device__ __forceinline__ void
copy_out_fence()
{
	asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

static __device__ __forceinline__ void
copy_out(void *to, const void *from, uint32_t bytes)
{
	asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\t"
				 "cp.async.bulk.commit_group;"
				 :
				 : "l"(__cvta_generic_to_global(to)), "r"(shared_address(from)), "r"(bytes)
				 : "memory");
}

template <int N>
static __device__ __forceinline__ void
copy_out_wait()
{
	asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(N) : "memory");
}

#else

/* Without bulk copies only the barrier's phases are of use. */
static __device__ __forceinline__ void
copy_barrier_init(CopyBarrier *barrier, uint32_t count = 1)
{
	barrier->word = (uint64_t) count << 32;
}

/* Arrivals are counted in the low half: each phase is `count` of them. */
static __device__ __forceinline__ void
copy_barrier_arrive(CopyBarrier *barrier)
{
	__threadfence_block();
	atomicAdd_block((unsigned *) &barrier->word, 1u);
}

static __device__ __forceinline__ void
copy_barrier_wait(CopyBarrier *barrier, uint32_t parity)
{
	uint64_t word;

	for (;;)
	{
		word = *(volatile uint64_t *) &barrier->word;
		if (((uint32_t) word / (uint32_t) (word >> 32) & 1) != parity)
			break;
		spin_wait();
	}
	__threadfence_block();
}

static __device__ __forceinline__ void
copy_in(CopyBarrier *, void *, const void *, uint32_t)
{
	__trap();
}

static __device__ __forceinline__ void
copy_out_fence()
{
}

static __device__ __forceinline__ void
copy_out(void *, const void *, uint32_t)
{
	__trap();
}

template <int N>
static __device__ __forceinline__ void
copy_out_wait()
{
}

#endif

/* The value whose every 32-bit word has been through `shuffle`. */
template <class T, class F>
static __device__ __forceinline__ T
shuffle_words(T value, F shuffle)
{
	constexpr size_t WORDS = (sizeof(T) + 3) / 4;
	uint32_t word[WORDS] = {};

	memcpy(word, &value, sizeof(T));
	UNROLL
	for (size_t i = 0; i < WORDS; i++)
		word[i] = shuffle(word[i]);
	memcpy(&value, word, sizeof(T));
	return value;
}

template <class T>
static __device__ __forceinline__ T
warp_shfl(T value, int lane, int width = WARP_SIZE, unsigned mask = FULL_MASK)
{
	return shuffle_words(value, [=](uint32_t word) {
		return __shfl_sync(mask, word, lane, width);
	});
}

template <class T>
static __device__ __forceinline__ T
warp_shfl_up(T value, int delta, int width = WARP_SIZE, unsigned mask = FULL_MASK)
{
	return shuffle_words(value, [=](uint32_t word) {
		return __shfl_up_sync(mask, word, delta, width);
	});
}

template <class T>
static __device__ __forceinline__ T
warp_shfl_down(T value, int delta, int width = WARP_SIZE, unsigned mask = FULL_MASK)
{
	return shuffle_words(value, [=](uint32_t word) {
		return __shfl_down_sync(mask, word, delta, width);
	});
}

template <class T>
static __device__ __forceinline__ T
warp_shfl_xor(T value, int lane_bits, int width = WARP_SIZE, unsigned mask = FULL_MASK)
{
	return shuffle_words(value, [=](uint32_t word) {
		return __shfl_xor_sync(mask, word, lane_bits, width);
	});
}

#endif /* GPUAGG_SIM */

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
