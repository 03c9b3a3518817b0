/*
 * reduce_integer.cu
 *	  Sums, moments and counts: what adds up exactly in 64-bit words.
 *
 * The sums of a thread, and of a block, are 64-bit sums of 32-bit pieces of the
 * values, without carries until the block is done: a block has at most 2^31 rows
 * (REDUCE_BLOCK_ROWS), pieces are below 2^32, the highest one of a signed value
 * within 2^31; so every sum stays within 2^63.
 *
 * A block then has up to six words of the result, which begins with n, sum,
 * squares.  Each 32-bit half of a word is added to a 64-bit word of scratch that
 * counts the additions in its top bits: 2048 halves stay below 2^43, the count is
 * in bits 52 to 63.  The order of additions does not matter, and the block whose
 * addition completes a word has its sum; so there is no fence and no second pass.
 */
#include "kernels/reduce.cuh"

#define SUM_THREADS 256
#define SUM_WARPS	(SUM_THREADS / WARP_SIZE)
#define COUNT_SHIFT 52

static_assert(REDUCE_MAX_BLOCKS <= 1 << 11, "sums of halves and counts of blocks fit 64 bits");

static_assert(WORD_COUNT == 0 && WORD_SUM == 1 && WORD_SQUARES == 3 && INTEGER_WORDS == 6,
			  "a result begins with these words");

/* The pieces of each kind's values and of their squares. */
template <class T> struct Pieces;

template <> struct Pieces<int32_t>
{
	static constexpr int COUNT = 1;
	static constexpr int SQUARE_COUNT = 2;

	static __device__ __forceinline__ void add(uint64_t *sum, int32_t v)
	{
		sum[0] += (uint64_t) (int64_t) v;
	}

	static __device__ __forceinline__ void add_square(uint64_t *sum, int32_t v)
	{
		uint64_t square = (uint64_t) ((int64_t) v * v);

		sum[0] += (uint32_t) square;
		sum[1] += square >> 32;
	}
};

template <> struct Pieces<int64_t>
{
	static constexpr int COUNT = 2;
	static constexpr int SQUARE_COUNT = 4;

	static __device__ __forceinline__ void add(uint64_t *sum, int64_t v)
	{
		sum[0] += (uint32_t) v;
		sum[1] += (uint64_t) (v >> 32);
	}

	static __device__ __forceinline__ void add_square(uint64_t *sum, int64_t v)
	{
		uint64_t magnitude = v < 0 ? 0 - (uint64_t) v : (uint64_t) v;
		unsigned __int128 square = (unsigned __int128) magnitude * magnitude;

		UNROLL
		for (int i = 0; i < SQUARE_COUNT; i++)
			sum[i] += (uint32_t) (square >> 32 * i);
	}
};

/* Adds value * 2^(32 place) to an integer of N words; value is signed. */
template <int N>
static __device__ __forceinline__ void
add_piece(uint64_t *word, uint64_t value, int place)
{
	uint64_t sign = (int64_t) value < 0 ? UINT64_MAX : 0;
	uint64_t carry = 0;

	UNROLL
	for (int w = 0; w < N; w++)
	{
		uint64_t part = w < place / 2 ? 0 : sign;
		uint64_t t;

		if (w == place / 2)
			part = place % 2 == 0 ? value : value << 32;
		else if (w == place / 2 + 1 && place % 2 != 0)
			part = (uint64_t) ((int64_t) value >> 32);
		t = word[w] + carry;
		carry = t < carry;
		word[w] = t + part;
		carry += word[w] < part;
	}
}

/*
 * An operation: it reads Values; add() adds one to LENGTH sums; words() makes a
 * block's sums into the words FIRST to LAST - 1 of the result.  A thread has VECTORS
 * 16-byte loads in flight, a multiprocessor MIN_BLOCKS blocks or more: as measured
 * best on an H200.
 */
template <class T> struct ReduceSum
{
	typedef T Value;

	static constexpr int VECTORS = sizeof(T);
	static constexpr int MIN_BLOCKS = sizeof(T) == 4 ? MULTIPROCESSOR_THREADS / SUM_THREADS : 3;
	static constexpr int MIN_BLOCKS_NULLS = sizeof(T) == 4 ? 4 : 3;
	static constexpr int LENGTH = Pieces<T>::COUNT;
	static constexpr int FIRST = WORD_SUM;
	static constexpr int LAST = WORD_SQUARES;

	static __device__ __forceinline__ void add(uint64_t *sums, Value v)
	{
		Pieces<T>::add(sums, v);
	}

	static __device__ __forceinline__ void words(const uint64_t *sums, uint64_t *word)
	{
		UNROLL
		for (int i = 0; i < Pieces<T>::COUNT; i++)
			add_piece<2>(word + WORD_SUM, sums[i], i);
	}
};

template <class T> struct ReduceMoments
{
	typedef T Value;

	static constexpr int VECTORS = 4;
	static constexpr int MIN_BLOCKS = 4;
	static constexpr int MIN_BLOCKS_NULLS = 4;
	static constexpr int LENGTH = Pieces<T>::COUNT + Pieces<T>::SQUARE_COUNT;
	static constexpr int FIRST = WORD_SUM;
	static constexpr int LAST = INTEGER_WORDS;

	static __device__ __forceinline__ void add(uint64_t *sums, Value v)
	{
		Pieces<T>::add(sums, v);
		Pieces<T>::add_square(sums + Pieces<T>::COUNT, v);
	}

	static __device__ __forceinline__ void words(const uint64_t *sums, uint64_t *word)
	{
		ReduceSum<T>::words(sums, word);
		UNROLL
		for (int i = 0; i < Pieces<T>::SQUARE_COUNT; i++)
			add_piece<3>(word + WORD_SQUARES, sums[Pieces<T>::COUNT + i], i);
	}
};

/* Bits in the words of a bitmap. */
struct ReduceCount
{
	typedef uint64_t Value;

	static constexpr int VECTORS = 4;
	static constexpr int MIN_BLOCKS = 4;
	static constexpr int MIN_BLOCKS_NULLS = 4;
	static constexpr int LENGTH = 1;
	static constexpr int FIRST = WORD_COUNT;
	static constexpr int LAST = WORD_SUM;

	static __device__ __forceinline__ void add(uint64_t *sums, Value v)
	{
		sums[0] += (uint64_t) bit_count(v);
	}

	static __device__ __forceinline__ void words(const uint64_t *sums, uint64_t *word)
	{
		word[WORD_COUNT] = sums[0];
	}
};

/* Sums over the block, in every thread of warp 0. */
template <int LENGTH>
static __device__ __forceinline__ void
block_sums(uint64_t (&sums)[LENGTH], uint64_t (&storage)[SUM_WARPS][LENGTH])
{
	UNROLL
	for (int i = 0; i < LENGTH; i++)
		sums[i] = warp_reduce_add64(sums[i]);
	if (lane_id() == 0)
	{
		UNROLL
		for (int i = 0; i < LENGTH; i++)
			storage[warp_id()][i] = sums[i];
	}
	__syncthreads();
	if (warp_id() == 0)
	{
		UNROLL
		for (int i = 0; i < LENGTH; i++)
		{
			sums[i] = 0;
			UNROLL
			for (int w = 0; w < SUM_WARPS; w++)
				sums[i] += storage[w][i];
		}
	}
}

/*
 * Adds up the words FIRST to LAST - 1 of all blocks; warp 0 of each block calls.
 * True, in every lane, in the one block that gets the sums.
 *
 * Lane i has half i of the words.  That block is the one whose addition completes
 * the first half.  Every other block has by then begun to add its other halves, and
 * does so without waiting: they will be complete too.
 */
template <int FIRST, int LAST>
static __device__ __forceinline__ bool
grid_sums(uint64_t (&word)[INTEGER_WORDS], uint64_t *halves)
{
	constexpr uint64_t ONE = UINT64_C(1) << COUNT_SHIFT;
	int lane = lane_id();
	bool mine = lane >= 2 * FIRST && lane < 2 * LAST;
	uint64_t sum = 0;
	bool last;

	UNROLL
	for (int i = 2 * FIRST; i < 2 * LAST; i++)
		sum = i == lane ? (uint32_t) (word[i / 2] >> 32 * (i % 2)) : sum;
	if (mine)
		sum = atomic_add(&halves[lane], sum + ONE) + sum + ONE;
	last = warp_shfl((int) (sum >> COUNT_SHIFT == gridDim.x), 2 * FIRST) != 0;
	if (last)
	{
		uint64_t carry = 0;

		if (mine)
		{
			while (sum >> COUNT_SHIFT != gridDim.x)
			{
				spin_wait_short();
				sum = load_relaxed(&halves[lane]);
			}
			store_relaxed(&halves[lane], (uint64_t) 0);
		}
		__syncwarp(FULL_MASK);
		UNROLL
		for (int i = 2 * FIRST; i < 2 * LAST; i++)
		{
			uint64_t half = warp_shfl(sum, i) % ONE;

			if (i == 2 * WORD_SUM || i == 2 * WORD_SQUARES)
				carry = 0;
			half += carry;
			carry = half >> 32;
			word[i / 2] = i % 2 == 0 ? (uint32_t) half : word[i / 2] | half << 32;
		}
	}
	return last;
}

template <class Op> struct SumStorage
{
	uint64_t sums[SUM_WARPS][Op::LENGTH];
	uint64_t count[SUM_WARPS][1];
};

/* Reduces `length` values, with NULLS those whose bit in reduce.validity is 1. */
template <class Op, bool NULLS>
static __global__ void
__launch_bounds__(SUM_THREADS, NULLS ? Op::MIN_BLOCKS_NULLS : Op::MIN_BLOCKS)
	reduce_sums(const typename Op::Value *values, uint64_t length, GpuReduce reduce)
{
	typedef typename Op::Value Value;
	constexpr int GROUP = Op::VECTORS * Vector<Value>::LENGTH;
	constexpr int FIRST = NULLS ? WORD_COUNT : Op::FIRST;

	SHARED(SumStorage<Op>, shared);
	ReduceScratch *scratch = (ReduceScratch *) reduce.scratch;
	uint64_t sums[Op::LENGTH] = {};
	uint64_t count[1];

	auto take = [&](const Value(&group)[GROUP]) {
		UNROLL
		for (int i = 0; i < GROUP; i++)
			Op::add(sums, group[i]);
	};

	if (blockIdx.x == 0)
		reduce_clear_floats(reduce.result);
	count[0] = grid_for_each_group<Value, Op::VECTORS, NULLS>(values, reduce.validity, length, 0,
															  take);
	if (NULLS)
		block_sums(count, shared.count);
	block_sums(sums, shared.sums);
	if (warp_id() == 0)
	{
		uint64_t word[INTEGER_WORDS] = {};
		bool last = true;

		if (NULLS)
			word[WORD_COUNT] = count[0];
		Op::words(sums, word);
		if (gridDim.x > 1)
			last = grid_sums<FIRST, Op::LAST>(word, scratch->halves);
		if (!NULLS && Op::FIRST != WORD_COUNT)
			word[WORD_COUNT] = reduce.nrows;
		if (Op::FIRST == WORD_COUNT && reduce.nrows % 64 > 0)
			/* bits of the last word beyond the last row */
			word[WORD_COUNT] -= (uint64_t) bit_count(reduce.validity[reduce.nrows / 64] >>
													 reduce.nrows % 64);
		if (last && lane_id() == 0)
		{
			UNROLL
			for (int i = 0; i < INTEGER_WORDS; i++)
				((uint64_t *) reduce.result)[i] = word[i];
		}
	}
}

template <class Op, bool NULLS>
static void
launch_sums(const void *values, uint64_t length, const GpuReduce &reduce, GpuStreamRef stream)
{
	constexpr int ROWS = SUM_THREADS * Op::VECTORS * Vector<typename Op::Value>::LENGTH;
	unsigned resident = cached_resident_blocks<reduce_sums<Op, NULLS>>(SUM_THREADS);

	LAUNCH((reduce_sums<Op, NULLS>), reduce_blocks(length, ROWS, resident), SUM_THREADS, stream,
		   (const typename Op::Value *) values, length, reduce);
}

template <class Op>
static void
launch(const GpuReduce &reduce, GpuStreamRef stream)
{
	if (reduce.validity != nullptr)
		launch_sums<Op, true>(reduce.values, reduce.nrows, reduce, stream);
	else
		launch_sums<Op, false>(reduce.values, reduce.nrows, reduce, stream);
}

GpuaggReason
gpu_reduce_integer(const GpuReduce *reduce, GpuStreamRef stream)
{
	if (reduce->op == GPUAGG_COUNT)
		launch_sums<ReduceCount, false>(reduce->validity, divide_up(reduce->nrows, 64), *reduce,
										stream);
	else if (reduce->op == GPUAGG_SUM && reduce->kind == GPUAGG_INT32)
		launch<ReduceSum<int32_t>>(*reduce, stream);
	else if (reduce->op == GPUAGG_SUM)
		launch<ReduceSum<int64_t>>(*reduce, stream);
	else if (reduce->kind == GPUAGG_INT32)
		launch<ReduceMoments<int32_t>>(*reduce, stream);
	else
		launch<ReduceMoments<int64_t>>(*reduce, stream);
	return gpu_launch_status();
}
