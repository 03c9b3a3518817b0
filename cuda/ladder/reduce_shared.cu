/*
 * reduce_shared.cu
 *	  Reductions in shared memory, each better than the one before it.
 *
 * A block loads its rows into shared memory, one a thread, and halves them until one
 * is left.  Rows beyond the end count as the identity.
 */
#include "ladder/ladder_reduce.cuh"

/* The most blocks of grid_stride, whatever the device. */
#define GRID_STRIDE_BLOCKS 4096

template <class E, int N> struct SharedStates
{
	typename E::State value[N];
};

/* Stride 1, 2, 4, ..; threads work whose number is a multiple of twice the stride. */
template <class E>
static __global__ void
__launch_bounds__(LADDER_THREADS)
	interleaved_modulo(uint64_t first, E element, const void *values, uint64_t n,
					   typename E::Partial out, void *results)
{
	typedef SharedStates<E, LADDER_THREADS> Shared;
	SHARED(Shared, shared);
	uint64_t block = ladder_block(first);
	unsigned t = threadIdx.x;

	shared.value[t] = load_or_identity(element, values, block * blockDim.x + t, n);
	__syncthreads();
	for (unsigned stride = 1; stride < blockDim.x; stride *= 2)
	{
		if (t % (2 * stride) == 0)
			shared.value[t] = E::combine(shared.value[t], shared.value[t + stride]);
		__syncthreads();
	}
	if (t == 0)
		out.store(results, block, shared.value[0]);
}

/* The same additions by the first threads: whole warps work or not, but with bank conflicts. */
template <class E>
static __global__ void
__launch_bounds__(LADDER_THREADS)
	interleaved_strided(uint64_t first, E element, const void *values, uint64_t n,
						typename E::Partial out, void *results)
{
	typedef SharedStates<E, LADDER_THREADS> Shared;
	SHARED(Shared, shared);
	uint64_t block = ladder_block(first);
	unsigned t = threadIdx.x;

	shared.value[t] = load_or_identity(element, values, block * blockDim.x + t, n);
	__syncthreads();
	for (unsigned stride = 1; stride < blockDim.x; stride *= 2)
	{
		unsigned i = 2 * stride * t;

		if (i < blockDim.x)
			shared.value[i] = E::combine(shared.value[i], shared.value[i + stride]);
		__syncthreads();
	}
	if (t == 0)
		out.store(results, block, shared.value[0]);
}

/* Halves a block's values to one; neighbouring threads use neighbouring banks. */
template <class E>
static __device__ __forceinline__ void
halve(typename E::State *value)
{
	unsigned t = threadIdx.x;

	for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2)
	{
		if (t < stride)
			value[t] = E::combine(value[t], value[t + stride]);
		__syncthreads();
	}
}

template <class E>
static __global__ void
__launch_bounds__(LADDER_THREADS)
	sequential_addressing(uint64_t first, E element, const void *values, uint64_t n,
						  typename E::Partial out, void *results)
{
	typedef SharedStates<E, LADDER_THREADS> Shared;
	SHARED(Shared, shared);
	uint64_t block = ladder_block(first);
	unsigned t = threadIdx.x;

	shared.value[t] = load_or_identity(element, values, block * blockDim.x + t, n);
	__syncthreads();
	halve<E>(shared.value);
	if (t == 0)
		out.store(results, block, shared.value[0]);
}

/* Half the blocks: each thread loads two rows. */
template <class E>
static __global__ void
__launch_bounds__(LADDER_THREADS)
	first_add_on_load(uint64_t first, E element, const void *values, uint64_t n,
					  typename E::Partial out, void *results)
{
	typedef SharedStates<E, LADDER_THREADS> Shared;
	SHARED(Shared, shared);
	uint64_t block = ladder_block(first);
	unsigned t = threadIdx.x;
	uint64_t i = block * blockDim.x * 2 + t;

	shared.value[t] = E::combine(load_or_identity(element, values, i, n),
								 load_or_identity(element, values, i + blockDim.x, n));
	__syncthreads();
	halve<E>(shared.value);
	if (t == 0)
		out.store(results, block, shared.value[0]);
}

/*
 * halve() with a block size that the compiler knows, so that it unrolls the loop;
 * the last warp needs no block barriers.
 */
template <class E, int BLOCK>
static __device__ __forceinline__ void halve_unrolled(typename E::State (&value)[BLOCK])
{
	int t = (int) threadIdx.x;

	UNROLL
	for (int stride = BLOCK / 2; stride > WARP_SIZE; stride /= 2)
	{
		if (t < stride)
			value[t] = E::combine(value[t], value[t + stride]);
		__syncthreads();
	}
	if (t < WARP_SIZE)
	{
		UNROLL
		for (int stride = BLOCK < 2 * WARP_SIZE ? BLOCK / 2 : WARP_SIZE; stride > 0; stride /= 2)
		{
			if (t < stride)
				value[t] = E::combine(value[t], value[t + stride]);
			__syncwarp(FULL_MASK);
		}
	}
}

template <class E, int BLOCK>
static __global__ void
__launch_bounds__(BLOCK) unrolled_templated(uint64_t first, E element, const void *values,
											uint64_t n, typename E::Partial out, void *results)
{
	typedef SharedStates<E, BLOCK> Shared;
	SHARED(Shared, shared);
	uint64_t block = ladder_block(first);
	unsigned t = threadIdx.x;
	uint64_t i = block * BLOCK * 2 + t;

	shared.value[t] = E::combine(load_or_identity(element, values, i, n),
								 load_or_identity(element, values, i + BLOCK, n));
	__syncthreads();
	halve_unrolled<E, BLOCK>(shared.value);
	if (t == 0)
		out.store(results, block, shared.value[0]);
}

/* As many blocks as the device holds; each thread first adds up many rows. */
template <class E, int BLOCK>
static __global__ void
__launch_bounds__(BLOCK) grid_stride(uint64_t first, E element, const void *values, uint64_t n,
									 typename E::Partial out, void *results)
{
	typedef SharedStates<E, BLOCK> Shared;
	SHARED(Shared, shared);
	uint64_t block = ladder_block(first);
	uint64_t stride = (uint64_t) gridDim.x * BLOCK * 2;
	unsigned t = threadIdx.x;
	typename E::State sum = E::identity();

	for (uint64_t i = block * BLOCK * 2 + t; i < n; i += stride)
		sum = E::combine(sum, E::combine(element.load(values, i),
										 load_or_identity(element, values, i + BLOCK, n)));
	shared.value[t] = sum;
	__syncthreads();
	halve_unrolled<E, BLOCK>(shared.value);
	if (t == 0)
		out.store(results, block, shared.value[0]);
}

struct InterleavedModulo : RowsAThread<1>
{
	template <class E> static ReduceKernel<E> kernel(unsigned)
	{
		return interleaved_modulo<E>;
	}
};

struct InterleavedStrided : RowsAThread<1>
{
	template <class E> static ReduceKernel<E> kernel(unsigned)
	{
		return interleaved_strided<E>;
	}
};

struct SequentialAddressing : RowsAThread<1>
{
	template <class E> static ReduceKernel<E> kernel(unsigned)
	{
		return sequential_addressing<E>;
	}
};

struct FirstAddOnLoad : RowsAThread<2>
{
	template <class E> static ReduceKernel<E> kernel(unsigned)
	{
		return first_add_on_load<E>;
	}
};

struct UnrolledTemplated : RowsAThread<2>
{
	template <class E> static ReduceKernel<E> kernel(unsigned threads)
	{
		return KERNEL_OF_SIZE(unrolled_templated, E, threads);
	}
};

template <class E, int BLOCK>
static unsigned
grid_stride_resident()
{
	static const unsigned blocks = resident_blocks(grid_stride<E, BLOCK>, BLOCK);

	return blocks;
}

struct GridStride : RowsAThread<2>
{
	template <class E> static ReduceKernel<E> kernel(unsigned threads)
	{
		return KERNEL_OF_SIZE(grid_stride, E, threads);
	}
	template <class E> static uint64_t most(const LadderRun *run, unsigned threads)
	{
		unsigned blocks = GRID_STRIDE_BLOCKS;

		if (!run->measuring)
			blocks = KERNEL_OF_SIZE(grid_stride_resident, E, threads)();
		return blocks < GRID_STRIDE_BLOCKS ? blocks : GRID_STRIDE_BLOCKS;
	}
};

template <class E>
static void
reduce_shared(LadderRun *run, const E &element)
{
	const void *values = run->ladder.values;
	uint64_t n = run->ladder.nrows;

	switch (run->ladder.algorithm)
	{
		case GPUAGG_ALG_INTERLEAVED_MODULO:
			reduce_column<InterleavedModulo>(run, element, values, n, element.last());
			break;
		case GPUAGG_ALG_INTERLEAVED_STRIDED:
			reduce_column<InterleavedStrided>(run, element, values, n, element.last());
			break;
		case GPUAGG_ALG_SEQUENTIAL_ADDRESSING:
			reduce_column<SequentialAddressing>(run, element, values, n, element.last());
			break;
		case GPUAGG_ALG_FIRST_ADD_ON_LOAD:
			reduce_column<FirstAddOnLoad>(run, element, values, n, element.last());
			break;
		case GPUAGG_ALG_UNROLLED_TEMPLATED:
			reduce_column<UnrolledTemplated>(run, element, values, n, element.last());
			break;
		case GPUAGG_ALG_GRID_STRIDE:
			reduce_column<GridStride>(run, element, values, n, element.last());
			break;
	}
}

void
gpu_ladder_reduce_shared(LadderRun *run)
{
	ladder_with_element(run, [=](const auto &element) {
		reduce_shared(run, element);
	});
}
