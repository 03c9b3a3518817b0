/*
 * chunks.cuh
 *	  Exact sums of doubles in chunks (float_sum.h), the way a thread keeps them.
 *
 * A thread adds into five chunks held in registers, placed around the exponents
 * it meets; what falls outside goes to the block's full array in shared memory.
 * A value adds less than 2^32 to any chunk, so the 2^31 rows of a launch keep
 * every chunk, of a thread, a block or the grid, below 2^63 with no carry
 * propagated in between.
 */
#ifndef GPUAGG_CHUNKS_CUH
#define GPUAGG_CHUNKS_CUH

#include "warp.cuh"
#include "window.cuh"

#define CHUNKS_HELD	  5
#define CHUNKS_MISSES 16 /* values outside before the place is chosen again */

/* The chunk number where a finite double's lowest piece goes: 0 to 63. */
static __device__ __forceinline__ int
chunk_of(Decoded d)
{
	return d.place / 32;
}

struct HeldChunks
{
	int base; /* chunk number of held[0]; chunks base .. base + 4 exist */
	int misses;
	int64_t held[CHUNKS_HELD];

	/* Places the chunks so that `first` and its neighbours can be added. */
	__device__ __forceinline__ void start(int first)
	{
		base = first > 0 ? first - 1 : 0;
		misses = 0;
		UNROLL
		for (int i = 0; i < CHUNKS_HELD; i++)
			held[i] = 0;
	}

	/* Adds what is held to the block's array. */
	__device__ __forceinline__ void flush(int64_t *block_chunks) const
	{
		UNROLL
		for (int i = 0; i < CHUNKS_HELD; i++)
			if (held[i] != 0)
				atomic_add((uint64_t *) &block_chunks[base + i], (uint64_t) held[i]);
	}

	/* Adds one finite value. */
	__device__ __forceinline__ void deposit(uint64_t bits, int64_t *block_chunks)
	{
		Decoded d = decode(bits);
		int first = chunk_of(d);
		int shift = d.place % 32;
		uint64_t low = d.mantissa << shift;
		int64_t piece[3];

		piece[0] = (int64_t) (uint32_t) low;
		piece[1] = (int64_t) (low >> 32);
		piece[2] = (int64_t) (shift > 0 ? d.mantissa >> (64 - shift) : 0);
		UNROLL
		for (int i = 0; i < 3; i++)
			piece[i] = d.negative ? -piece[i] : piece[i];

		int at = first - base;

		if (at >= 0 && at <= CHUNKS_HELD - 3)
		{
			UNROLL
			for (int i = 0; i < CHUNKS_HELD; i++)
				UNROLL
			for (int k = 0; k < 3; k++)
				if (i - k >= 0 && i - k <= CHUNKS_HELD - 3)
					held[i] += at == i - k ? piece[k] : 0;
		}
		else if (d.mantissa != 0)
		{
			UNROLL
			for (int k = 0; k < 3; k++)
				if (piece[k] != 0)
					atomic_add((uint64_t *) &block_chunks[first + k], (uint64_t) piece[k]);
			if (++misses >= CHUNKS_MISSES)
			{
				flush(block_chunks);
				start(first);
			}
		}
	}

	/* As flush, for all lanes of a warp together: one addition for each chunk where they can. */
	__device__ __forceinline__ void flush_warp(int64_t *block_chunks) const
	{
		int common = warp_shfl(base, 0);

		if (__all_sync(FULL_MASK, base == common))
		{
			UNROLL
			for (int i = 0; i < CHUNKS_HELD; i++)
			{
				int64_t sum = warp_sum(held[i]);

				if (lane_id() == 0 && sum != 0)
					atomic_add((uint64_t *) &block_chunks[common + i], (uint64_t) sum);
			}
		}
		else
			flush(block_chunks);
	}
};

/* Propagates carries: chunks below the top one end in [0, 2^32). */
static __device__ inline void
chunks_propagate(int64_t *chunk)
{
	int64_t carry = 0;

	for (int i = 0; i < GPUAGG_CHUNKS - 1; i++)
	{
		int64_t v = chunk[i] + carry;

		carry = v >> 32;
		chunk[i] = (int64_t) (uint32_t) v;
	}
	chunk[GPUAGG_CHUNKS - 1] += carry;
}

#endif /* GPUAGG_CHUNKS_CUH */
