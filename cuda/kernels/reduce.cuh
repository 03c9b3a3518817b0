/*
 * reduce.cuh
 *	  What the reductions share: scratch, grids, the empty result.
 *
 * Every reduction is one launch.  Blocks either add to totals by atomic
 * additions, which no order can change, or leave their part in a slot; one
 * block makes the result of them.  Between launches the ticket and the totals
 * are zero (that block sees to it) and no slot has a tag above `launches`: so
 * any operation can follow any other on the same scratch.
 */
#ifndef GPUAGG_REDUCE_CUH
#define GPUAGG_REDUCE_CUH

#include "kernels/kernels.h"
#include "device/block.cuh"
#include "device/grid.cuh"

#define REDUCE_MAX_BLOCKS 2048

/* A result's words; sums of floats are added up as they lie in it (reduce_float.cu). */
#define REDUCE_FLOAT_WORDS ((int) (sizeof(GpuaggReduced) / sizeof(uint64_t)))
#define REDUCE_STRIPES	   8 /* blocks take turns, so that fewer add to the same words */

/* The most rows of one block; GPU_MAX_ROWS are 1024 blocks of half of it. */
#define REDUCE_BLOCK_ROWS (UINT64_C(1) << 31)

struct ReduceScratch
{
	uint32_t ticket;
	uint32_t unused;
	uint64_t launches;	 /* that used the slots */
	uint64_t halves[12]; /* totals of integers (reduce_integer.cu): zero between launches */

	/* totals of floats, several that are added up at the end: zero between launches */
	uint64_t float_words[REDUCE_STRIPES][REDUCE_FLOAT_WORDS];

	/* a word each, and the launch that it belongs to, counted from 1: tagged() */
	Quad part[2][REDUCE_MAX_BLOCKS];
};

/*
 * A word with its tag.  The tag is mixed with the word, so that looking at the
 * tag needs all of a Quad: the compiler makes narrower loads, which could see
 * a word and a tag of different stores, of a load that is used in part only.
 */
static __device__ __forceinline__ Quad
tagged(uint64_t word, uint64_t tag)
{
	uint64_t mixed = tag ^ word;

	return {{(uint32_t) word, (uint32_t) (word >> 32), (uint32_t) mixed, (uint32_t) (mixed >> 32)}};
}

static __device__ __forceinline__ bool
has_tag(Quad q, uint64_t tag)
{
	return (((uint32_t) tag ^ q.word[0] ^ q.word[2]) |
			((uint32_t) (tag >> 32) ^ q.word[1] ^ q.word[3])) == 0;
}

static __device__ __forceinline__ uint64_t
word_of(Quad q)
{
	return q.word[0] | (uint64_t) q.word[1] << 32;
}

/*
 * Blocks for nrows rows: one for every rows_per_block, but no more than the
 * device holds at a time, unless a block would get more than REDUCE_BLOCK_ROWS.
 */
static inline unsigned
reduce_blocks(uint64_t nrows, uint64_t rows_per_block, unsigned resident)
{
	uint64_t blocks = divide_up(nrows, rows_per_block);
	uint64_t least = divide_up(nrows, REDUCE_BLOCK_ROWS / 2);

	if (blocks > resident)
		blocks = resident > least ? resident : least;
	if (blocks > REDUCE_MAX_BLOCKS)
		blocks = REDUCE_MAX_BLOCKS;
	return blocks > 0 ? (unsigned) blocks : 1;
}

/*
 * Writes what the result has for floats, as if there were none; all threads of
 * one block call.
 */
static __device__ inline void
reduce_clear_floats(GpuaggReduced *result)
{
	constexpr unsigned WORDS = sizeof(uint64_t);
	constexpr unsigned FIRST = offsetof(GpuaggReduced, f) / WORDS;
	constexpr unsigned SHAPE = offsetof(GpuaggReduced, f.deposits) / WORDS;
	static_assert(sizeof(GpuaggReduced) % WORDS == 0 &&
					  FIRST * WORDS == offsetof(GpuaggReduced, f) &&
					  SHAPE * WORDS + 6 == offsetof(GpuaggReduced, f.width),
				  "cleared by words");
	uint64_t *words = (uint64_t *) result;

	/* deposits, base, width */
	for (unsigned i = FIRST + threadIdx.x; i < sizeof(GpuaggReduced) / WORDS; i += blockDim.x)
		words[i] = i == SHAPE ? (uint64_t) GPUAGG_CHUNKS << 48 : 0;
}

/* Writes the result of no rows; all threads of one block call. */
static __device__ inline void
reduce_clear(GpuaggReduced *result)
{
	reduce_clear_floats(result);
	if (threadIdx.x == 0)
	{
		result->n = 0;
		result->sum = gpuagg_int128_from(0);
		for (int i = 0; i < 3; i++)
			result->squares[i] = 0;
	}
}

/* SUM and MOMENTS of integers and COUNT, of at least one row (reduce_integer.cu). */
extern GpuaggReason gpu_reduce_integer(const GpuReduce *reduce, GpuStreamRef stream);

#endif /* GPUAGG_REDUCE_CUH */
