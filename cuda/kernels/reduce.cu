/*
 * reduce.cu
 *	  gpu_reduce; minima and maxima of a column.
 *
 * Minima and maxima are those of order keys (column.h).  A block leaves its own in
 * its slot of scratch; one block makes the result of them.
 */
#include "kernels/reduce.cuh"

/* as measured best on an H200 */
#define EXTREME_THREADS	   256
#define EXTREME_VECTORS	   8 /* 16-byte loads in flight, a thread */
#define EXTREME_MIN_BLOCKS 3 /* resident on a multiprocessor */
#define EXTREME_WARPS	   (EXTREME_THREADS / WARP_SIZE)
#define EXTREME_BATCH	   4 /* parts that a thread waits for at a time */

/* The order of a kind's values: rank() orders as order keys do; key() is a rank's order key. */
template <class T> struct IntegerOrder
{
	typedef T Value;
	typedef T Rank;

	static constexpr T LEAST = (T) ((uint64_t) 1 << (8 * sizeof(T) - 1));
	static constexpr T GREATEST = (T) ~LEAST;

	static __device__ __forceinline__ Rank rank(Value v)
	{
		return v;
	}

	static __device__ __forceinline__ int64_t key(Rank r)
	{
		return r;
	}
};

/*
 * The bits of floats, with all bits but the sign inverted for negative ones, are in
 * order as signed integers, except that NaNs with a sign are below -infinity.  As
 * unsigned distances from -infinity these come last, like the other NaNs.
 */
template <class Bits, class Key, Bits INFINITE, Bits NOT_A_NUMBER> struct FloatOrder
{
	typedef Bits Value;
	typedef Bits Rank;

	static constexpr Bits SIGN = (Bits) 1 << (8 * sizeof(Bits) - 1);
	static constexpr Bits LEAST = INFINITE | SIGN;
	static constexpr Bits GREATEST = NOT_A_NUMBER;
	static constexpr Bits FIRST = LEAST ^ (SIGN - 1);

	static __device__ __forceinline__ Rank rank(Value v)
	{
		Bits inverted = (Bits) ((Key) v >> (8 * sizeof(Bits) - 1)) & (SIGN - 1);

		return (v ^ inverted) - FIRST;
	}

	static __device__ __forceinline__ int64_t key(Rank r)
	{
		return r > INFINITE - FIRST ? (Key) NOT_A_NUMBER : (Key) (r + FIRST);
	}
};

typedef FloatOrder<uint32_t, int32_t, GPUAGG_INFINITY32, GPUAGG_NAN32> Float32Order;
typedef FloatOrder<uint64_t, int64_t, GPUAGG_INFINITY64, GPUAGG_NAN64> Float64Order;

template <bool MAX, class Rank>
static __device__ __forceinline__ Rank
better(Rank a, Rank b)
{
	return (MAX ? b > a : b < a) ? b : a;
}

/* The upper half of a 64-bit rank. */
template <class Rank> struct HalfOf;

template <> struct HalfOf<int64_t>
{
	typedef int32_t Type;
};

template <> struct HalfOf<uint64_t>
{
	typedef uint32_t Type;
};

/* The best rank of a warp, in every lane. */
template <bool MAX, class Rank>
static __device__ __forceinline__ Rank
warp_extreme(Rank rank)
{
	if constexpr (sizeof(Rank) == 4)
		return MAX ? warp_reduce_max(rank) : warp_reduce_min(rank);
	else
	{
		/* the best upper half, then the best lower half of those with it */
		typedef typename HalfOf<Rank>::Type Half;
		Half high = (Half) (rank >> 32);
		Half best = warp_extreme<MAX>(high);
		uint32_t low = high == best ? (uint32_t) rank : MAX ? 0 : UINT32_MAX;

		return (Rank) best * ((Rank) 1 << 32) + (Rank) warp_extreme<MAX>(low);
	}
}

/* Results of the warps of a block; used once. */
template <class Rank> struct ExtremeStorage
{
	Rank rank[EXTREME_WARPS];
	uint64_t count[EXTREME_WARPS];
};

template <class Rank> struct ExtremeShared
{
	uint64_t tag;
	bool last;
	ExtremeStorage<Rank> values;
	ExtremeStorage<Rank> parts;
};

/* The best rank of the warp and the sum of its counts, in the storage and in every lane. */
template <bool MAX, bool NULLS, class Rank>
static __device__ __forceinline__ void
leave_extreme(Rank *rank, uint64_t *count, ExtremeStorage<Rank> &storage)
{
	*rank = warp_extreme<MAX>(*rank);
	if (NULLS)
		*count = warp_reduce_add64(*count);
	if (lane_id() == 0)
	{
		storage.rank[warp_id()] = *rank;
		if (NULLS)
			storage.count[warp_id()] = *count;
	}
}

/* The best rank and the sum of counts of the block, after a barrier. */
template <bool MAX, bool NULLS, class Rank>
static __device__ __forceinline__ void
take_extreme(Rank *rank, uint64_t *count, const ExtremeStorage<Rank> &storage)
{
	*rank = storage.rank[0];
	if (NULLS)
		*count = storage.count[0];
	UNROLL
	for (int w = 1; w < EXTREME_WARPS; w++)
	{
		*rank = better<MAX>(*rank, storage.rank[w]);
		if (NULLS)
			*count += storage.count[w];
	}
}

/* Waits for this thread's share of the other blocks' parts and takes them in. */
template <bool MAX, bool NULLS, class Rank>
static __device__ __forceinline__ void
await_parts(const ReduceScratch *scratch, uint64_t tag, Rank *rank, uint64_t *count)
{
	for (unsigned first = threadIdx.x; first < gridDim.x; first += EXTREME_BATCH * EXTREME_THREADS)
	{
		Quad part[EXTREME_BATCH][1 + NULLS];
		bool complete;

		do
		{
			complete = true;
			UNROLL
			for (int k = 0; k < EXTREME_BATCH; k++)
			{
				unsigned b = first + (unsigned) k * EXTREME_THREADS;

				UNROLL
				for (int i = 0; i < 1 + NULLS; i++)
				{
					part[k][i] = tagged(i == 0 ? (uint64_t) *rank : 0, tag);
					if (b < gridDim.x && b != blockIdx.x)
						part[k][i] = load_relaxed(&scratch->part[i][b]);
				}
			}
			UNROLL
			for (int k = 0; k < EXTREME_BATCH; k++)
			{
				UNROLL
				for (int i = 0; i < 1 + NULLS; i++)
					complete &= has_tag(part[k][i], tag);
			}
			if (!complete)
				spin_wait_short();
		} while (!complete);

		UNROLL
		for (int k = 0; k < EXTREME_BATCH; k++)
		{
			*rank = better<MAX>(*rank, (Rank) word_of(part[k][0]));
			if (NULLS)
				*count += word_of(part[k][NULLS]);
		}
	}
}

/*
 * Blocks take a ticket as they start.  The block with the last ticket waits for the
 * parts of all others: they have started and wait for nothing.  A part is words in
 * slots, each stored together with the launch's tag, so that stores need no order.
 */
template <class Order, bool MAX, bool NULLS>
static __global__ void
__launch_bounds__(EXTREME_THREADS, EXTREME_MIN_BLOCKS) reduce_extreme(GpuReduce reduce)
{
	typedef typename Order::Value Value;
	typedef typename Order::Rank Rank;
	constexpr int GROUP = EXTREME_VECTORS * Vector<Value>::LENGTH;
	constexpr Value ABSENT = MAX ? Order::LEAST : Order::GREATEST;

	SHARED(ExtremeShared<Rank>, shared);
	ReduceScratch *scratch = (ReduceScratch *) reduce.scratch;
	uint32_t ticket = 0;
	uint64_t tag = 0;
	Rank rank = Order::rank(ABSENT);
	uint64_t count;

	auto take = [&](const Value(&group)[GROUP]) {
		constexpr int CHAINS = 4; /* independent chains of comparisons */
		Rank best[CHAINS];

		UNROLL
		for (int i = 0; i < GROUP; i++)
			best[i % CHAINS] = i < CHAINS ? Order::rank(group[i])
										  : better<MAX>(best[i % CHAINS], Order::rank(group[i]));
		UNROLL
		for (int i = 0; i < CHAINS; i++)
			rank = better<MAX>(rank, best[i]);
	};

	if (gridDim.x > 1 && threadIdx.x == 0)
	{
		tag = load_relaxed(&scratch->launches) + 1;
		ticket = atomic_add(&scratch->ticket, (uint32_t) 1);
	}
	if (blockIdx.x == 0)
		reduce_clear_floats(reduce.result);

	count = grid_for_each_group<Value, EXTREME_VECTORS, NULLS>((const Value *) reduce.values,
															   reduce.validity, reduce.nrows,
															   ABSENT, take);

	leave_extreme<MAX, NULLS>(&rank, &count, shared.values);
	if (threadIdx.x == 0)
	{
		shared.tag = tag;
		shared.last = ticket == gridDim.x - 1;
	}
	__syncthreads();
	if (gridDim.x > 1 && shared.last)
	{
		/* each warp's count once */
		count = lane_id() == 0 ? count : 0;
		await_parts<MAX, NULLS>(scratch, shared.tag, &rank, &count);
		leave_extreme<MAX, NULLS>(&rank, &count, shared.parts);
		__syncthreads();
	}
	if (threadIdx.x == 0)
	{
		bool last = ticket == gridDim.x - 1;

		take_extreme<MAX, NULLS>(&rank, &count,
								 gridDim.x > 1 && last ? shared.parts : shared.values);
		if (gridDim.x > 1 && !last)
		{
			store_relaxed(&scratch->part[0][blockIdx.x], tagged((uint64_t) rank, tag));
			if (NULLS)
				store_relaxed(&scratch->part[1][blockIdx.x], tagged(count, tag));
		}
		else
		{
			uint64_t n = NULLS ? count : reduce.nrows;

			reduce.result->n = n;
			reduce.result->sum = gpuagg_int128_from(n > 0 ? Order::key(rank) : 0);
			for (int i = 0; i < 3; i++)
				reduce.result->squares[i] = 0;
			if (gridDim.x > 1)
			{
				store_relaxed(&scratch->ticket, (uint32_t) 0);
				store_relaxed(&scratch->launches, tag);
			}
		}
	}
}

/* The result of no rows, but with this count. */
static __global__ void
reduce_nothing(GpuaggReduced *result, uint64_t count)
{
	reduce_clear(result);
	if (threadIdx.x == 0)
		result->n = count;
}

template <class Order, bool MAX, bool NULLS>
static void
launch_extreme(const GpuReduce &reduce, GpuStreamRef stream)
{
	constexpr int ROWS = EXTREME_THREADS * EXTREME_VECTORS * Vector<typename Order::Value>::LENGTH;
	unsigned resident = cached_resident_blocks<reduce_extreme<Order, MAX, NULLS>>(EXTREME_THREADS);

	LAUNCH((reduce_extreme<Order, MAX, NULLS>), reduce_blocks(reduce.nrows, ROWS, resident),
		   EXTREME_THREADS, stream, reduce);
}

template <class Order>
static void
launch(const GpuReduce &reduce, GpuStreamRef stream)
{
	if (reduce.op == GPUAGG_MAX && reduce.validity != nullptr)
		launch_extreme<Order, true, true>(reduce, stream);
	else if (reduce.op == GPUAGG_MAX)
		launch_extreme<Order, true, false>(reduce, stream);
	else if (reduce.validity != nullptr)
		launch_extreme<Order, false, true>(reduce, stream);
	else
		launch_extreme<Order, false, false>(reduce, stream);
}

size_t
gpu_reduce_scratch(void)
{
	return sizeof(ReduceScratch);
}

GpuaggReason
gpu_reduce(const GpuReduce *reduce, GpuStreamRef stream)
{
	bool counts = reduce->op == GPUAGG_COUNT;

	if (reduce->nrows > GPU_MAX_ROWS || reduce->op < GPUAGG_SUM || reduce->op > GPUAGG_MOMENTS ||
		(!counts && gpuagg_kind_size(reduce->kind) == 0))
		return GPUAGG_REFUSED;

	if (reduce->nrows == 0 || (counts && reduce->validity == nullptr))
		LAUNCH(reduce_nothing, 1, EXTREME_THREADS, stream, reduce->result, reduce->nrows);
	else if (reduce->op != GPUAGG_MIN && reduce->op != GPUAGG_MAX)
	{
		if (counts || !gpuagg_kind_is_float(reduce->kind))
			return gpu_reduce_integer(reduce, stream);
		return gpu_reduce_float(reduce, nullptr, stream);
	}
	else if (reduce->kind == GPUAGG_INT32)
		launch<IntegerOrder<int32_t>>(*reduce, stream);
	else if (reduce->kind == GPUAGG_INT64)
		launch<IntegerOrder<int64_t>>(*reduce, stream);
	else if (reduce->kind == GPUAGG_FLOAT32)
		launch<Float32Order>(*reduce, stream);
	else
		launch<Float64Order>(*reduce, stream);
	return gpu_launch_status();
}
