/*
 * reduce.cuh
 *	  What the reductions share: words of a result, scratch, grids, the empty result.
 *
 * Every reduction is one launch.  Blocks either add to totals by atomic
 * additions, whose order does not matter, or leave their part in a slot; one
 * block makes the result.  Between launches the ticket and the totals are zero
 * (that block clears them), and no slot has a tag above `launches`.  So any
 * operation can follow any other on the same scratch.
 */
#ifndef GPUAGG_REDUCE_CUH
#define GPUAGG_REDUCE_CUH

#include "device/block.cuh"
#include "device/grid.cuh"
#include "kernels/kernels.h"

#define REDUCE_MAX_BLOCKS 2048
#define REDUCE_STRIPES	  8 /* totals of floats, so that fewer blocks add to the same words */

/* A result as words of 64 bits. */
#define RESULT_WORD(field) ((int) (offsetof(GpuaggReduced, field) / sizeof(uint64_t)))
#define RESULT_WORDS	   ((int) (sizeof(GpuaggReduced) / sizeof(uint64_t)))

constexpr int WORD_COUNT = RESULT_WORD(n);
constexpr int WORD_SUM = RESULT_WORD(sum);
constexpr int WORD_SQUARES = RESULT_WORD(squares);
constexpr int INTEGER_WORDS = RESULT_WORD(f);
constexpr int WORD_SHAPE = RESULT_WORD(f.deposits); /* and base and width */
constexpr uint64_t SHAPE_FULL = (uint64_t) GPUAGG_CHUNKS << 48;

static_assert(WORD_SHAPE * sizeof(uint64_t) + 6 == offsetof(GpuaggReduced, f.width),
			  "width is the top 16 bits of a word");

/* The most rows of one block; GPU_MAX_ROWS are 1024 blocks of half of it. */
#define REDUCE_BLOCK_ROWS (UINT64_C(1) << 31)

struct ReduceScratch
{
	uint32_t ticket;
	uint32_t unused;
	uint64_t launches;									/* that used the slots */
	uint64_t halves[2 * INTEGER_WORDS];					/* totals of integers: reduce_integer.cu */
	uint64_t float_words[REDUCE_STRIPES][RESULT_WORDS]; /* totals of floats: reduce_float.cu */
	Quad part[2][REDUCE_MAX_BLOCKS];					/* slots: tagged() words */
};

/*
 * A word, and the launch it belongs to, counted from 1.  The tag is xor-ed with the
 * word, so that a look at it uses the whole Quad: of a load that is used in part
 * the compiler makes narrower loads, which may see different stores.
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
 * Blocks for nrows rows: one for every rows_per_block, but at most as many as are
 * resident, unless a block would get more than REDUCE_BLOCK_ROWS.
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

/* Writes the result's part for floats as if there were none; all threads of one block. */
static __device__ inline void
reduce_clear_floats(GpuaggReduced *result)
{
	uint64_t *words = (uint64_t *) result;

	for (unsigned i = INTEGER_WORDS + threadIdx.x; i < RESULT_WORDS; i += blockDim.x)
		words[i] = i == WORD_SHAPE ? SHAPE_FULL : 0;
}

/* Writes the result of no rows; all threads of one block. */
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
