/*
 * reduce_float.cu
 *	  Exact sums and moments of columns of floats.
 *
 * A warp adds values in bins (reduce_bins.cuh) below a top that it chooses from
 * some of them: near bins in registers, then far bins in shared memory.  What does
 * not fit goes value by value to the block's chunks in shared memory: values too
 * large, and what is left of values below the last bin.  NaN and infinities are
 * counted there.  When much does not fit, or the bins are full, the warp empties
 * the bins and chooses the top again; so one large value has little cost.  Where
 * double arithmetic is slow, threads hold chunks in registers instead.
 *
 * Blocks add their words to totals in scratch by integer atomics, whose order does
 * not matter; the last block propagates carries and writes the result.
 */
#include "kernels/reduce_bin_sums.cuh"

#define FLOAT_THREADS BINS_THREADS

static_assert(RESULT_WORDS <= FLOAT_THREADS, "a thread for each word");

/*
 * Groups of a block between carries.  A group is at most 16 values of each of 256
 * threads; a value makes at most 5 deposits in a chunk (a square two integers, and
 * what bins held, at most once a group), each below 2^32: below 2^62 in all.
 * Blocks with at most CARRY_NEVER groups each need no carry, even together.
 */
#define CARRY_GROUPS (1u << 15)
#define CARRY_NEVER	 (CARRY_GROUPS / REDUCE_MAX_BLOCKS)

/* Sums of a thread without double arithmetic. */
template <class T> struct HeldSums
{
	typedef T Value;

	static constexpr int VECTORS = 2;
	static constexpr int BLOCKS = 4;
	static constexpr int NULLS_BLOCKS = 4;
	static constexpr int TAKEN = VECTORS * Vector<T>::LENGTH;

	struct Storage
	{
	};

	HeldChunks chunks;

	__device__ __forceinline__ void start(Storage &)
	{
		chunks.start(0);
	}

	__device__ __forceinline__ void flush(SplitWord *word, Storage &)
	{
		chunks.flush(word + WORD_CHUNK);
	}

	__device__ __forceinline__ void take(T (&v)[TAKEN], SplitWord *word, Storage &, uint32_t)
	{
		ROLLED
		for (int k = 0; k < TAKEN; k++)
		{
			uint64_t bits = bits_of((double) v[0]);
			bool finite = bits_finite(bits);

			if (finite)
				chunks.deposit(bits, word + WORD_CHUNK);
			if (__any_sync(FULL_MASK, !finite || bits == SIGN_BIT))
			{
				count_nonfinite(word, !finite, bits);
				count_negative_zeros(word, bits == SIGN_BIT);
			}
			rotate<1>(v);
		}
	}
};

template <class Sums> struct FloatStorage
{
	WordStorage words;
	typename Sums::Storage sums;
};

/* Makes the result of the totals, and clears them. */
static __device__ __forceinline__ void
deliver(const GpuReduce &reduce, WordStorage &shared, ReduceScratch *scratch)
{
	int i = (int) threadIdx.x;
	int64_t word = 0;

	if (i < RESULT_WORDS)
	{
		uint64_t part[REDUCE_STRIPES];

		UNROLL
		for (int s = 0; s < REDUCE_STRIPES; s++)
			part[s] = load_relaxed(&scratch->float_words[s][i]);
		UNROLL
		for (int s = 0; s < REDUCE_STRIPES; s++)
		{
			word += (int64_t) part[s];
			if (part[s] != 0)
				store_relaxed(&scratch->float_words[s][i], (uint64_t) 0);
		}
	}
	word = propagate_words(word, shared);
	if (i < RESULT_WORDS)
	{
		if (i == WORD_SHAPE)
			word = (int64_t) SHAPE_FULL;
		((int64_t *) reduce.result)[i] = word;
	}
}

template <class Sums, int BLOCKS, bool NULLS>
static __global__ void
__launch_bounds__(FLOAT_THREADS, RESIDENT(BLOCKS))
	reduce_floats(GpuReduce reduce, GpuFloatMethod method)
{
	typedef typename Sums::Value T;
	constexpr int GROUP = Sums::TAKEN;
	static_assert(GROUP <= 16, "carries are due after so many groups");

	SHARED(FloatStorage<Sums>, shared);
	ReduceScratch *scratch = (ReduceScratch *) reduce.scratch;
	int i = (int) threadIdx.x;
	uint32_t groups = 0; /* since the last carry */
	uint32_t limit = method.carry_groups < CARRY_NEVER ? method.carry_groups : CARRY_NEVER;
	uint64_t valid;
	Sums sums;

	if (i < RESULT_WORDS)
		shared.words.word[i] = split_word(0);
	sums.start(shared.sums);
	__syncthreads();

	valid = grid_for_each_group<T, Sums::VECTORS, NULLS>((const T *) reduce.values, reduce.validity,
														 reduce.nrows, (T) 0,
														 [&](const T(&group)[GROUP]) {
															 T v[GROUP];

															 UNROLL
															 for (int k = 0; k < GROUP; k++)
																 v[k] = group[k];
															 sums.take(v, shared.words.word,
																	   shared.sums,
																	   method.flush_groups);
															 if (++groups == method.carry_groups)
															 {
																 carry_block(shared.words);
																 groups = 0;
																 limit = 0;
															 }
														 });
	sums.flush(shared.words.word, shared.sums);
	if (NULLS)
	{
		valid = warp_sum(valid);
		if (lane_id() == 0)
		{
			split_add(&shared.words.word[WORD_COUNT], (int64_t) valid);
			split_add(&shared.words.word[WORD_VALID], (int64_t) valid);
		}
	}
	else if (blockIdx.x == 0 && i == 0)
	{
		split_add(&shared.words.word[WORD_COUNT], (int64_t) reduce.nrows);
		split_add(&shared.words.word[WORD_VALID], (int64_t) reduce.nrows);
	}
	if (groups > limit || limit == 0)
		carry_block(shared.words);
	else
		__syncthreads();
	if (i < RESULT_WORDS)
	{
		int64_t word = split_value(shared.words.word[i]);

		if (word != 0)
			atomic_add(&scratch->float_words[blockIdx.x % REDUCE_STRIPES][i], (uint64_t) word);
	}
	if (last_block(&scratch->ticket))
		deliver(reduce, shared.words, scratch);
}

template <class Sums, int BLOCKS, bool NULLS>
static void
launch_floats(const GpuReduce &reduce, const GpuFloatMethod &method, GpuStreamRef stream)
{
	unsigned resident = cached_resident_blocks<reduce_floats<Sums, BLOCKS, NULLS>>(FLOAT_THREADS);
	unsigned blocks = reduce_blocks(reduce.nrows, FLOAT_THREADS * Sums::TAKEN, resident);

	if (method.blocks > 0 && blocks > method.blocks)
		blocks = method.blocks;
	LAUNCH((reduce_floats<Sums, BLOCKS, NULLS>), blocks, FLOAT_THREADS, stream, reduce, method);
}

template <class Sums>
static void
launch(const GpuReduce &reduce, const GpuFloatMethod &method, GpuStreamRef stream)
{
	if (reduce.validity != nullptr)
		launch_floats<Sums, Sums::NULLS_BLOCKS, true>(reduce, method, stream);
	else
		launch_floats<Sums, Sums::BLOCKS, false>(reduce, method, stream);
}

template <class T>
static void
launch_kind(const GpuReduce &reduce, const GpuFloatMethod &method, GpuStreamRef stream)
{
	if (reduce.op == GPUAGG_MOMENTS)
		launch<BinSums<T, true>>(reduce, method, stream);
	else if (method.integers)
		launch<HeldSums<T>>(reduce, method, stream);
	else
		launch<BinSums<T, false>>(reduce, method, stream);
}

GpuaggReason
gpu_reduce_float(const GpuReduce *reduce, const GpuFloatMethod *method, GpuStreamRef stream)
{
	static const bool slow = slow_doubles();
	GpuFloatMethod chosen = {slow, 0, 0, 0};

	if (method != nullptr)
		chosen = *method;
	if (chosen.flush_groups == 0)
		chosen.flush_groups = BIN_MOST_VALUES;
	if (chosen.carry_groups == 0)
		chosen.carry_groups = CARRY_GROUPS;
	if (reduce->nrows > GPU_MAX_ROWS || !gpuagg_kind_is_float(reduce->kind) ||
		(reduce->op != GPUAGG_SUM && reduce->op != GPUAGG_MOMENTS))
		return GPUAGG_REFUSED;

	if (reduce->kind == GPUAGG_FLOAT64)
		launch_kind<double>(*reduce, chosen, stream);
	else
		launch_kind<float>(*reduce, chosen, stream);
	return gpu_launch_status();
}
