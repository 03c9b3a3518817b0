/*
 * query_part.cuh
 *	  Aggregates of the query machine: what blocks leave for the last one, and how that is combined.
 */
#ifndef GPUAGG_QUERY_PART_CUH
#define GPUAGG_QUERY_PART_CUH

#include "kernels/query_step.cuh"
#include "kernels/reduce_bin_sums.cuh"

#define QUERY_MAX_BLOCKS 1056
#define QUERY_STRIPES	 8
#define QUERY_WORDS		 WORD_SQUARE /* of a result without squares of floats */

/*
 * Sums are in two's complement, least word first; MIN and MAX have a key of 128 bits in sum.  Squares
 * of INT128 alone have more than three words.
 */
template <bool SQUARES> struct QueryPart
{
	uint64_t n;
	uint64_t sum[3];
	uint64_t squares[SQUARES ? 5 : 3];
};

struct QueryScratch
{
	uint32_t ticket;
	uint32_t unused;
	uint64_t nflagged;
	uint64_t float_words[GPU_QUERY_AGGREGATES][QUERY_STRIPES][RESULT_WORDS];
	union
	{
		QueryPart<false> part[GPU_QUERY_AGGREGATES][QUERY_MAX_BLOCKS];
		QueryPart<true> wide_part[GPU_QUERY_AGGREGATES][QUERY_MAX_BLOCKS];
	};
};

/*
 * A block's sum of floats, and where the kernel has sums of squares, too, room for these; bins but
 * for the near ones, which are words of a thread.
 */
template <bool SQUARES> struct QueryFloatsOf
{
	SplitWord word[SQUARES ? RESULT_WORDS : QUERY_WORDS];
	union
	{
		FarBins<2> far;
		FarBins<SQUARES ? 3 : 2> all;
	};
	struct
	{
		int top;
		float limit;
		uint32_t groups;
		uint32_t far_groups;
		int misses;
	} warp[QUERY_THREADS / WARP_SIZE];
};

typedef QueryFloatsOf<false> QueryFloats;

/* Adds to an integer of N words. */
template <int N>
static __device__ __forceinline__ void
query_add(uint64_t (&into)[N], const uint64_t (&from)[N])
{
	uint64_t carry = 0;

	UNROLL
	for (int i = 0; i < N; i++)
	{
		uint64_t sum = into[i] + carry;

		carry = sum < carry;
		into[i] = sum + from[i];
		carry += into[i] < from[i];
	}
}

static __device__ __forceinline__ void
query_add_wide(uint64_t (&into)[3], Wide v)
{
	uint64_t from[3] = {(uint64_t) v, (uint64_t) ((WideBits) v >> 64), v < 0 ? UINT64_MAX : 0};

	query_add(into, from);
}

template <class Part>
static __device__ __forceinline__ Wide
query_key(const Part &part)
{
	return QueryType<Wide>::from(part.sum[0], part.sum[1]);
}

template <class Part>
static __device__ __forceinline__ void
query_combine(Part &into, const Part &from, int op)
{
	if (op == GPUAGG_MIN || op == GPUAGG_MAX)
	{
		bool less = query_key(from) < query_key(into);

		if (from.n > 0 && (into.n == 0 || less == (op == GPUAGG_MIN)))
		{
			into.sum[0] = from.sum[0];
			into.sum[1] = from.sum[1];
		}
	}
	else
	{
		query_add(into.sum, from.sum);
		query_add(into.squares, from.squares);
	}
	into.n += from.n;
}

/* Combination over the warp, in every lane. */
template <class Part>
static __device__ __forceinline__ void
query_combine_warp(Part &part, int op)
{
	ROLLED
	for (int bit = 1; bit < WARP_SIZE; bit *= 2)
		query_combine(part, warp_shfl_xor(part, bit), op);
}

#endif /* GPUAGG_QUERY_PART_CUH */
