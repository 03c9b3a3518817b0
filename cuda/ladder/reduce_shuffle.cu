/*
 * reduce_shuffle.cu
 *	  Reductions by shuffles.
 */
#include "ladder/ladder_reduce.cuh"

/* device_shuffle_two_pass: blocks of the first pass, and threads of the second. */
#define TWO_PASS_BLOCKS 1024

/* Result in lane 0. */
template <class E>
static __device__ __forceinline__ typename E::State
shuffle_down(typename E::State value)
{
	UNROLL
	for (int delta = WARP_SIZE / 2; delta > 0; delta /= 2)
		value = E::combine(value, warp_shfl_down(value, delta));
	return value;
}

/* Result in every lane. */
template <class E>
static __device__ __forceinline__ typename E::State
shuffle_xor(typename E::State value)
{
	UNROLL
	for (int bit = WARP_SIZE / 2; bit > 0; bit /= 2)
		value = E::combine(value, warp_shfl_xor(value, bit));
	return value;
}

/* Sum by the hardware's reduction of 32-bit integers, in pieces of which 32 stay below 2^32. */
static __device__ __forceinline__ int64_t
hardware_add(int64_t value)
{
	const uint32_t mask = (UINT32_C(1) << 27) - 1;
	uint64_t v = (uint64_t) value;
	uint64_t low = warp_reduce_add((uint32_t) v & mask);
	uint64_t middle = warp_reduce_add((uint32_t) (v >> 27) & mask);
	uint64_t high = warp_reduce_add((uint32_t) (v >> 54));

	return (int64_t) (low + (middle << 27) + (high << 54));
}

/* Minimum of 64-bit integers: of the high words, then of the low words of those that have it. */
static __device__ __forceinline__ int64_t
hardware_min(int64_t value)
{
	int32_t high = (int32_t) (value >> 32);
	int32_t least = warp_reduce_min(high);
	uint32_t low = warp_reduce_min(high == least ? (uint32_t) value : UINT32_MAX);

	return (int64_t) ((uint64_t) (uint32_t) least << 32 | low);
}

template <class V>
static __device__ __forceinline__ int64_t
hardware_reduce(const SumElement<V, int64_t> &, int64_t value)
{
	return hardware_add(value);
}

static __device__ __forceinline__ int64_t
hardware_reduce(const LeastElement &, int64_t value)
{
	return hardware_min(value);
}

/* The row of this thread. */
static __device__ __forceinline__ uint64_t
row_of_thread(uint64_t first)
{
	return ladder_block(first) * blockDim.x + threadIdx.x;
}

/* Lane 0 stores its warp's result; warps after the last row have none. */
template <class Out, class State>
static __device__ __forceinline__ void
store_of_warp(const Out &out, void *results, uint64_t row, uint64_t n, State value)
{
	if (lane_id() == 0 && (row < n || row == 0))
		out.store(results, row / WARP_SIZE, value);
}

template <class E>
static __global__ void
__launch_bounds__(LADDER_THREADS)
	warp_shuffle_down(uint64_t first, E element, const void *values, uint64_t n,
					  typename E::Partial out, void *results)
{
	uint64_t row = row_of_thread(first);

	store_of_warp(out, results, row, n, shuffle_down<E>(load_or_identity(element, values, row, n)));
}

template <class E>
static __global__ void
__launch_bounds__(LADDER_THREADS)
	warp_shuffle_xor(uint64_t first, E element, const void *values, uint64_t n,
					 typename E::Partial out, void *results)
{
	uint64_t row = row_of_thread(first);

	store_of_warp(out, results, row, n, shuffle_xor<E>(load_or_identity(element, values, row, n)));
}

template <class E>
static __global__ void
__launch_bounds__(LADDER_THREADS) warp_hardware(uint64_t first, E element, const void *values,
												uint64_t n, typename E::Partial out, void *results)
{
	uint64_t row = row_of_thread(first);

	store_of_warp(out, results, row, n,
				  hardware_reduce(element, load_or_identity(element, values, row, n)));
}

template <class E> struct WarpResults
{
	typename E::State warp[WARP_SIZE];
};

/* Warps by shuffles, then the first warp over their results; in thread 0. */
template <class E>
static __device__ __forceinline__ typename E::State
block_of_warps(typename E::State value, WarpResults<E> &shared)
{
	value = shuffle_down<E>(value);
	if (lane_id() == 0)
		shared.warp[warp_id()] = value;
	__syncthreads();
	if (warp_id() == 0)
	{
		value = lane_id() < (int) (blockDim.x / WARP_SIZE) ? shared.warp[lane_id()] : E::identity();
		value = shuffle_down<E>(value);
	}
	return value;
}

template <class E>
static __global__ void
__launch_bounds__(LADDER_THREADS) block_shuffle(uint64_t first, E element, const void *values,
												uint64_t n, typename E::Partial out, void *results)
{
	SHARED(WarpResults<E>, shared);
	typename E::State value = load_or_identity(element, values, row_of_thread(first), n);

	value = block_of_warps<E>(value, shared);
	if (threadIdx.x == 0)
		out.store(results, ladder_block(first), value);
}

/* Each thread adds up rows a grid apart. */
template <class E>
static __global__ void
__launch_bounds__(LADDER_THREADS) device_shuffle(uint64_t first, E element, const void *values,
												 uint64_t n, typename E::Partial out, void *results)
{
	SHARED(WarpResults<E>, shared);
	uint64_t stride = (uint64_t) gridDim.x * blockDim.x;
	typename E::State sum = E::identity();

	for (uint64_t row = row_of_thread(first); row < n; row += stride)
		sum = E::combine(sum, element.load(values, row));
	sum = block_of_warps<E>(sum, shared);
	if (threadIdx.x == 0)
		out.store(results, ladder_block(first), sum);
}

/* One partial result a warp. */
struct OfWarps
{
	static uint64_t rows(unsigned)
	{
		return WARP_SIZE;
	}
	static uint64_t partials(unsigned threads)
	{
		return threads / WARP_SIZE;
	}
	template <class E> static uint64_t most(const LadderRun *, unsigned)
	{
		return 0;
	}
};

struct WarpShuffleDown : OfWarps
{
	template <class E> static ReduceKernel<E> kernel(unsigned)
	{
		return warp_shuffle_down<E>;
	}
};

struct WarpShuffleXor : OfWarps
{
	template <class E> static ReduceKernel<E> kernel(unsigned)
	{
		return warp_shuffle_xor<E>;
	}
};

struct WarpReduceAdd : OfWarps
{
	template <class E> static ReduceKernel<E> kernel(unsigned)
	{
		return warp_hardware<E>;
	}
};

struct BlockShuffle : RowsAThread<1>
{
	template <class E> static ReduceKernel<E> kernel(unsigned)
	{
		return block_shuffle<E>;
	}
};

template <class E>
static void
two_passes(LadderRun *run, const E &element)
{
	typedef typename E::Partial Partial;

	const void *values = run->ladder.values;
	uint64_t n = run->ladder.nrows;
	unsigned threads = ladder_threads(run);
	uint64_t blocks = divide_up(n, threads);

	/* in one grid: its size is the stride */
	if (blocks > TWO_PASS_BLOCKS)
		blocks = TWO_PASS_BLOCKS;
	if (blocks > LADDER_GRID)
		blocks = LADDER_GRID;
	if (blocks <= 1)
	{
		LADDER_LAUNCH(run, device_shuffle<E>, 1, threads, element, values, n, element.last(),
					  run->ladder.results);
	}
	else
	{
		typename E::State *partials = ladder_take<typename E::State>(run, blocks);

		LADDER_LAUNCH(run, device_shuffle<E>, blocks, threads, element, values, n,
					  element.partial(), partials);
		LADDER_LAUNCH(run, device_shuffle<Partial>, 1, TWO_PASS_BLOCKS, element.partial(), partials,
					  blocks, element.last(), run->ladder.results);
	}
}

/* By the hardware's reduction, which is for integers only. */
template <class V, class S>
static void
reduce_hardware(LadderRun *, const SumElement<V, S> &)
{
}

template <class V>
static void
reduce_hardware(LadderRun *run, const SumElement<V, int64_t> &element)
{
	reduce_column<WarpReduceAdd>(run, element, run->ladder.values, run->ladder.nrows,
								 element.last());
}

static void
reduce_hardware(LadderRun *run, const LeastElement &element)
{
	reduce_column<WarpReduceAdd>(run, element, run->ladder.values, run->ladder.nrows,
								 element.last());
}

template <class E>
static void
reduce_shuffle(LadderRun *run, const E &element)
{
	const void *values = run->ladder.values;
	uint64_t n = run->ladder.nrows;

	switch (run->ladder.algorithm)
	{
		case GPUAGG_ALG_WARP_SHUFFLE_DOWN:
			reduce_column<WarpShuffleDown>(run, element, values, n, element.last());
			break;
		case GPUAGG_ALG_WARP_SHUFFLE_XOR:
			reduce_column<WarpShuffleXor>(run, element, values, n, element.last());
			break;
		case GPUAGG_ALG_WARP_REDUCE_ADD:
			reduce_hardware(run, element);
			break;
		case GPUAGG_ALG_BLOCK_SHUFFLE:
			reduce_column<BlockShuffle>(run, element, values, n, element.last());
			break;
		case GPUAGG_ALG_DEVICE_SHUFFLE_TWO_PASS:
			two_passes(run, element);
			break;
	}
}

void
gpu_ladder_reduce_shuffle(LadderRun *run)
{
	ladder_with_element(run, [=](const auto &element) {
		reduce_shuffle(run, element);
	});
}
