/*
 * reduce_global.cu
 *	  Reductions in place in global memory, on a copy in scratch.
 *
 * A block has `rows` values from data on, a tile or the end of the column, and
 * halves them until data[0] is their total.
 */
#include "ladder/ladder_reduce.cuh"

template <class E>
static __global__ void
__launch_bounds__(LADDER_THREADS) copy_to_states(uint64_t first, E element, const void *values,
												 uint64_t n, typename E::State *states)
{
	uint64_t i = ladder_block(first) * blockDim.x + threadIdx.x;

	if (i < n)
		states[i] = element.load(values, i);
}

/* A block's values; `values` is the copy. */
template <class E> struct InPlace
{
	typename E::State *data;
	unsigned rows;

	__device__ __forceinline__ InPlace(const void *values, uint64_t n, uint64_t block,
									   unsigned tile)
	{
		uint64_t start = block * tile;

		data = (typename E::State *) values + start;
		rows = n - start < tile ? (unsigned) (n - start) : tile;
	}
	__device__ __forceinline__ void add(unsigned i, unsigned from)
	{
		if (from < rows)
			data[i] = E::combine(data[i], data[from]);
	}

	/* Each thread adds the rows that are a multiple of the block's size after its own. */
	template <int TILES> __device__ __forceinline__ void fold(unsigned threads)
	{
		unsigned t = threadIdx.x;

		if (t < rows)
		{
			typename E::State sum = data[t];

			UNROLL
			for (unsigned k = 1; k < TILES; k++)
				if (t + k * threads < rows)
					sum = E::combine(sum, data[t + k * threads]);
			data[t] = sum;
		}
		rows = rows < threads ? rows : threads;
		__syncthreads();
	}

	/* Warp 0: 64 values to one. */
	__device__ __forceinline__ void last_warp()
	{
		unsigned t = threadIdx.x;

		if (t < WARP_SIZE)
		{
			UNROLL
			for (unsigned stride = WARP_SIZE; stride > 0; stride /= 2)
			{
				if (t < stride)
					add(t, t + stride);
				__syncwarp(FULL_MASK);
			}
		}
	}

	/* Thread 0 stores the result. */
	__device__ __forceinline__ void finish(const typename E::Partial &out, void *results,
										   uint64_t block) const
	{
		if (threadIdx.x == 0)
			out.store(results, block, rows > 0 ? data[0] : E::identity());
	}
};

/* Adds rows 1, 2, 4, .. apart; row t belongs to thread t. */
template <class E>
static __global__ void
__launch_bounds__(LADDER_THREADS) neighbored(uint64_t first, E, const void *values, uint64_t n,
											 typename E::Partial out, void *results)
{
	uint64_t block = ladder_block(first);
	InPlace<E> tile(values, n, block, blockDim.x);
	unsigned t = threadIdx.x;

	for (unsigned stride = 1; stride < blockDim.x; stride *= 2)
	{
		if (t % (2 * stride) == 0)
			tile.add(t, t + stride);
		__syncthreads();
	}
	tile.finish(out, results, block);
}

/* The same additions by the first threads. */
template <class E>
static __global__ void
__launch_bounds__(LADDER_THREADS)
	neighbored_less_divergence(uint64_t first, E, const void *values, uint64_t n,
							   typename E::Partial out, void *results)
{
	uint64_t block = ladder_block(first);
	InPlace<E> tile(values, n, block, blockDim.x);

	for (unsigned stride = 1; stride < blockDim.x; stride *= 2)
	{
		unsigned i = 2 * stride * threadIdx.x;

		if (i < blockDim.x)
			tile.add(i, i + stride);
		__syncthreads();
	}
	tile.finish(out, results, block);
}

/* Folds TILES blocks of rows into one, then halves the stride. */
template <class E, int TILES>
static __global__ void
__launch_bounds__(LADDER_THREADS)
	interleaved_pairs(uint64_t first, E, const void *values, uint64_t n, typename E::Partial out,
					  void *results)
{
	uint64_t block = ladder_block(first);
	InPlace<E> tile(values, n, block, blockDim.x * TILES);
	unsigned t = threadIdx.x;

	if (TILES > 1)
		tile.template fold<TILES>(blockDim.x);
	for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2)
	{
		if (t < stride)
			tile.add(t, t + stride);
		__syncthreads();
	}
	tile.finish(out, results, block);
}

template <class E>
static __global__ void
__launch_bounds__(LADDER_THREADS)
	unroll_8_last_warp(uint64_t first, E, const void *values, uint64_t n, typename E::Partial out,
					   void *results)
{
	uint64_t block = ladder_block(first);
	InPlace<E> tile(values, n, block, blockDim.x * 8);
	unsigned t = threadIdx.x;

	tile.template fold<8>(blockDim.x);
	for (unsigned stride = blockDim.x / 2; stride > WARP_SIZE; stride /= 2)
	{
		if (t < stride)
			tile.add(t, t + stride);
		__syncthreads();
	}
	tile.last_warp();
	tile.finish(out, results, block);
}

/* The loop unrolled by hand, for blocks of up to 1024. */
template <class E>
static __global__ void
__launch_bounds__(LADDER_THREADS)
	unroll_8_complete(uint64_t first, E, const void *values, uint64_t n, typename E::Partial out,
					  void *results)
{
	uint64_t block = ladder_block(first);
	InPlace<E> tile(values, n, block, blockDim.x * 8);
	unsigned t = threadIdx.x;

	tile.template fold<8>(blockDim.x);
	if (blockDim.x >= 1024 && t < 512)
		tile.add(t, t + 512);
	__syncthreads();
	if (blockDim.x >= 512 && t < 256)
		tile.add(t, t + 256);
	__syncthreads();
	if (blockDim.x >= 256 && t < 128)
		tile.add(t, t + 128);
	__syncthreads();
	if (blockDim.x >= 128 && t < 64)
		tile.add(t, t + 64);
	__syncthreads();
	tile.last_warp();
	tile.finish(out, results, block);
}

/* Unrolled by the compiler, which knows the block's size. */
template <class E, int BLOCK>
static __global__ void
__launch_bounds__(BLOCK) unroll_8_templated(uint64_t first, E, const void *values, uint64_t n,
											typename E::Partial out, void *results)
{
	uint64_t block = ladder_block(first);
	InPlace<E> tile(values, n, block, BLOCK * 8);
	unsigned t = threadIdx.x;

	tile.template fold<8>(BLOCK);
	UNROLL
	for (unsigned stride = BLOCK / 2; stride > WARP_SIZE; stride /= 2)
	{
		if (t < stride)
			tile.add(t, t + stride);
		__syncthreads();
	}
	tile.last_warp();
	tile.finish(out, results, block);
}

struct Neighbored : RowsAThread<1>
{
	template <class E> static ReduceKernel<E> kernel(unsigned)
	{
		return neighbored<E>;
	}
};

struct NeighboredLessDivergence : RowsAThread<1>
{
	template <class E> static ReduceKernel<E> kernel(unsigned)
	{
		return neighbored_less_divergence<E>;
	}
};

template <int TILES> struct InterleavedPairs : RowsAThread<TILES>
{
	template <class E> static ReduceKernel<E> kernel(unsigned)
	{
		return interleaved_pairs<E, TILES>;
	}
};

struct Unroll8LastWarp : RowsAThread<8>
{
	template <class E> static ReduceKernel<E> kernel(unsigned)
	{
		return unroll_8_last_warp<E>;
	}
};

struct Unroll8Complete : RowsAThread<8>
{
	template <class E> static ReduceKernel<E> kernel(unsigned)
	{
		return unroll_8_complete<E>;
	}
};

struct Unroll8Templated : RowsAThread<8>
{
	template <class E> static ReduceKernel<E> kernel(unsigned threads)
	{
		return KERNEL_OF_SIZE(unroll_8_templated, E, threads);
	}
};

template <class E>
static void
reduce_global(LadderRun *run, const E &element)
{
	uint64_t n = run->ladder.nrows;
	unsigned threads = ladder_threads(run);
	typename E::State *copy = ladder_take<typename E::State>(run, n);

	LADDER_LAUNCH(run, copy_to_states<E>, divide_up(n, threads), threads, element,
				  run->ladder.values, n, copy);
	switch (run->ladder.algorithm)
	{
		case GPUAGG_ALG_NEIGHBORED:
			reduce_column<Neighbored>(run, element.partial(), copy, n, element.last());
			break;
		case GPUAGG_ALG_NEIGHBORED_LESS_DIVERGENCE:
			reduce_column<NeighboredLessDivergence>(run, element.partial(), copy, n,
													element.last());
			break;
		case GPUAGG_ALG_INTERLEAVED_PAIRS:
			reduce_column<InterleavedPairs<1>>(run, element.partial(), copy, n, element.last());
			break;
		case GPUAGG_ALG_UNROLL_2:
			reduce_column<InterleavedPairs<2>>(run, element.partial(), copy, n, element.last());
			break;
		case GPUAGG_ALG_UNROLL_4:
			reduce_column<InterleavedPairs<4>>(run, element.partial(), copy, n, element.last());
			break;
		case GPUAGG_ALG_UNROLL_8:
			reduce_column<InterleavedPairs<8>>(run, element.partial(), copy, n, element.last());
			break;
		case GPUAGG_ALG_UNROLL_8_LAST_WARP:
			reduce_column<Unroll8LastWarp>(run, element.partial(), copy, n, element.last());
			break;
		case GPUAGG_ALG_UNROLL_8_COMPLETE:
			reduce_column<Unroll8Complete>(run, element.partial(), copy, n, element.last());
			break;
		case GPUAGG_ALG_UNROLL_8_TEMPLATED:
			reduce_column<Unroll8Templated>(run, element.partial(), copy, n, element.last());
			break;
	}
}

void
gpu_ladder_reduce_global(LadderRun *run)
{
	ladder_with_element(run, [=](const auto &element) {
		reduce_global(run, element);
	});
}
