/*
 * device_cuda.cuh
 *	  What kernels see of the device, over CUDA and PTX.
 *
 * Included by device.cuh alone; its twin declares the same.
 */
#ifndef GPUAGG_DEVICE_CUDA_CUH
#define GPUAGG_DEVICE_CUDA_CUH

#define GRID_CONSTANT	   __grid_constant__
#define SHARED(Type, name) __shared__ Type name
#define SHARED_LARGE(Type, name)                                     \
	extern __shared__ __align__(128) unsigned char dynamic_shared[]; \
	Type &name = *reinterpret_cast<Type *>(dynamic_shared)

#define SHARED_BYTES(name) extern __shared__ __align__(128) unsigned char name[]

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

/* gpu_launch_status() reports a failure. */
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

/* The same pointer, known to point to global memory. */
template <class T>
static __device__ __forceinline__ const T *
global_memory(const T *p)
{
	return (const T *) __cvta_global_to_generic(__cvta_generic_to_global(p));
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

	/* gpu_launch_status() reports a failure */
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

/* By the architecture that the kernel was compiled for; a process has one device. */
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

static __device__ __forceinline__ uint64_t
load_acquire(const uint64_t *p)
{
	uint64_t value;

	asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
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

/* Sets *p to `to` if it is `from`; what it was. */
static __device__ __forceinline__ uint64_t
atomic_cas(uint64_t *p, uint64_t from, uint64_t to)
{
	return atomicCAS((unsigned long long *) p, (unsigned long long) from, (unsigned long long) to);
}

static __device__ __forceinline__ void
atomic_max(uint64_t *p, uint64_t value)
{
	atomicMax((unsigned long long *) p, (unsigned long long) value);
}

/* Also releases what was written before. */
static __device__ __forceinline__ void
atomic_set_release(uint64_t *p, uint64_t value)
{
	asm volatile("{\n\t.reg .b64 old;\n\tatom.exch.release.gpu.b64 old, [%0], %1;\n\t}"
				 :
				 : "l"(p), "l"(value)
				 : "memory");
}

/* As load_relaxed, of shared memory. */
static __device__ __forceinline__ uint64_t
load_shared(const uint64_t *p)
{
	return *(const volatile uint64_t *) p;
}

/* Also releases what was written before, and acquires what others released by it. */
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

/* As atomic_cas; also acquires what others released by store_release. */
static __device__ __forceinline__ uint32_t
atomic_cas_acquire(uint32_t *p, uint32_t from, uint32_t to)
{
	uint32_t old;

	asm volatile("atom.cas.acquire.gpu.b32 %0, [%1], %2, %3;"
				 : "=r"(old)
				 : "l"(p), "r"(from), "r"(to)
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
	uint64_t word; /* without bulk copies: low half arrivals, high half arrivals of a phase */
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
copy_expect(CopyBarrier *barrier, uint32_t bytes)
{
	asm volatile("{\n\t.reg .b64 state;\n\t"
				 "mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1;\n\t}"
				 :
				 : "r"(shared_address(barrier)), "r"(bytes)
				 : "memory");
}

static __device__ __forceinline__ void
copy_start(CopyBarrier *barrier, void *to, const void *from, uint32_t bytes)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
				 "[%1], [%2], %3, [%0];"
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

/* Without bulk copies a barrier only counts arrivals. */
static __device__ __forceinline__ void
copy_barrier_init(CopyBarrier *barrier, uint32_t count = 1)
{
	barrier->word = (uint64_t) count << 32;
}

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
copy_expect(CopyBarrier *, uint32_t)
{
	__trap();
}

static __device__ __forceinline__ void
copy_start(CopyBarrier *, void *, const void *, uint32_t)
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

/* The value with `shuffle` applied to each of its 32-bit words. */
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

#endif /* GPUAGG_DEVICE_CUDA_CUH */
