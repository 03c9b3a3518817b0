/*
 * window_order.cu
 *	  Rows of a query in the order of keys: what comes behind the sort.
 */
#include "device/grid.cuh"
#include "kernels/float_bits.cuh"
#include "kernels/window.h"

#define THREADS	   256
#define ROUNDS	   4 /* rows of a thread */
#define BLOCK_ROWS (THREADS * ROUNDS)
#define LEVELS	   6 /* 64^6 > 2^31 */

static_assert(GPU_WINDOW_PAD % BLOCK_ROWS == 0, "a block writes whole words of bitmaps");

struct Gathers
{
	uint32_t n;
	struct
	{
		GpuWindowValue value;
		void *values;
		uint32_t *valid;
		uint32_t bytes;
	} of[GPUAGG_WINDOW_COLUMNS];
};

/* Copies a value to another place, or its lower half of 4 bytes. */
static __device__ __forceinline__ void
copy_value(void *to, uint64_t at, const void *from, uint64_t place, uint32_t bytes)
{
	switch (bytes)
	{
		case 2:
			((uint16_t *) to)[at] = (uint16_t) ((const uint32_t *) from)[place];
			break;
		case 4:
			((uint32_t *) to)[at] = ((const uint32_t *) from)[place];
			break;
		case 8:
			((uint64_t *) to)[at] = ((const uint64_t *) from)[place];
			break;
		default:
			((Quad *) to)[at] = ((const Quad *) from)[place];
	}
}

template <int WORDS>
static __global__ void
__launch_bounds__(THREADS)
	gather_rows(const uint64_t *items, uint64_t nrows, const GRID_CONSTANT GpuWindowMasks masks,
				const GRID_CONSTANT Gathers gathers, uint32_t *partitions, uint32_t *peers)
{
	for (int r = 0; r < ROUNDS; r++)
	{
		uint64_t row = ((uint64_t) blockIdx.x * ROUNDS + (uint64_t) r) * THREADS + threadIdx.x;
		bool is_row = row < nrows;
		const uint64_t *item = items + (is_row ? row : 0) * (WORDS + 1);
		uint64_t place = item[WORDS];
		uint64_t of_partition = row == 0;
		uint64_t of_peers = row == 0;
		uint32_t word;

		for (int w = 0; w < WORDS && row > 0; w++)
		{
			uint64_t differs = item[w] ^ item[w - (WORDS + 1) * (int) is_row];

			of_peers |= differs & masks.peers[w];
			of_partition |= differs & masks.partition[w];
		}
		word = __ballot_sync(FULL_MASK, is_row && of_partition != 0);
		if (lane_id() == 0)
			partitions[row / 32] = word;
		word = __ballot_sync(FULL_MASK, is_row && of_peers != 0);
		if (lane_id() == 0)
			peers[row / 32] = word;
		for (uint32_t i = 0; i < gathers.n; i++)
		{
			const GpuWindowValue &value = gathers.of[i].value;

			if (is_row)
				copy_value(gathers.of[i].values, row, value.values, place, gathers.of[i].bytes);
			word = __ballot_sync(FULL_MASK,
								 is_row && (value.valid[place / 32] >> place % 32 & 1) != 0);
			if (lane_id() == 0)
				gathers.of[i].valid[row / 32] = word;
		}
	}
}

GpuaggReason
gpu_window_gather(const uint64_t *items, uint64_t nrows, int words, const GpuWindowMasks *masks,
				  const GpuWindowGathered *gathered, uint32_t ngathered, uint64_t *partitions,
				  uint64_t *peers, GpuStreamRef stream)
{
	unsigned blocks = (unsigned) divide_up(nrows, BLOCK_ROWS);
	Gathers gathers = {};

	if (ngathered > GPUAGG_WINDOW_COLUMNS || words < 1 || words > 2 || nrows > GPUAGG_WINDOW_PLACES)
		return GPUAGG_REFUSED;
	if (nrows == 0)
		return GPUAGG_OK;
	gathers.n = ngathered;
	for (uint32_t i = 0; i < ngathered; i++)
	{
		gathers.of[i].value = *gathered[i].value;
		gathers.of[i].values = gathered[i].values;
		gathers.of[i].valid = gathered[i].valid;
		gathers.of[i].bytes = gathered[i].bytes;
	}
	if (words == 1)
		LAUNCH(gather_rows<1>, blocks, THREADS, stream, items, nrows, *masks, gathers,
			   (uint32_t *) partitions, (uint32_t *) peers);
	else
		LAUNCH(gather_rows<2>, blocks, THREADS, stream, items, nrows, *masks, gathers,
			   (uint32_t *) partitions, (uint32_t *) peers);
	return gpu_launch_status();
}

/* ---- and back to the places ---- */

template <int WORDS>
static __global__ void
__launch_bounds__(THREADS)
	scatter_rows(const uint64_t *items, uint64_t nrows, const void *values, const uint32_t *valid,
				 const GRID_CONSTANT GpuWindowValue to)
{
	for (int r = 0; r < ROUNDS; r++)
	{
		uint64_t row = ((uint64_t) blockIdx.x * ROUNDS + (uint64_t) r) * THREADS + threadIdx.x;
		uint64_t place;

		if (row >= nrows)
			return;
		place = items[row * (WORDS + 1) + WORDS];
		copy_value(to.values, place, values, row, to.bytes);
		/* no other row adds this bit */
		if (valid != nullptr && (valid[row / 32] >> row % 32 & 1) != 0)
			(void) atomic_add(&to.valid[place / 32], UINT32_C(1) << place % 32);
	}
}

GpuaggReason
gpu_window_scatter(const uint64_t *items, uint64_t nrows, int words, const void *values,
				   const uint32_t *valid, const GpuWindowValue *to, GpuStreamRef stream)
{
	unsigned blocks = (unsigned) divide_up(nrows, BLOCK_ROWS);

	if (words < 1 || words > 2 || nrows > GPUAGG_WINDOW_PLACES)
		return GPUAGG_REFUSED;
	if (nrows == 0)
		return GPUAGG_OK;
	if (words == 1)
		LAUNCH(scatter_rows<1>, blocks, THREADS, stream, items, nrows, values, valid, *to);
	else
		LAUNCH(scatter_rows<2>, blocks, THREADS, stream, items, nrows, values, valid, *to);
	return gpu_launch_status();
}

/* ---- the next and the last bit ---- */

/* Words of a level's bitmap. */
struct Levels
{
	const uint64_t *word[LEVELS];
	uint64_t n[LEVELS];
	int count;
};

static uint64_t
level_words(uint64_t nbits)
{
	return divide_up(nbits, 64);
}

/* Words that a level takes: those that a block writes. */
static uint64_t
level_room(uint64_t nbits)
{
	return divide_up(nbits, THREADS) * (THREADS / 64);
}

static Levels
levels_of(const uint64_t *bitmap, uint64_t nrows, const uint64_t *at)
{
	Levels levels = {};

	levels.word[0] = bitmap;
	levels.n[0] = level_words(nrows);
	levels.count = 1;
	while (levels.n[levels.count - 1] > 1)
	{
		uint64_t nbits = levels.n[levels.count - 1];

		levels.word[levels.count] = at;
		levels.n[levels.count] = level_words(nbits);
		levels.count++;
		at += level_room(nbits);
	}
	return levels;
}

size_t
gpu_window_levels_bytes(uint64_t nrows)
{
	uint64_t words = 0;

	for (uint64_t nbits = level_words(nrows); nbits > 1; nbits = level_words(nbits))
		words += level_room(nbits);
	return words * sizeof(uint64_t);
}

static __global__ void
__launch_bounds__(THREADS) raise_level(const uint64_t *from, uint64_t n, uint32_t *to)
{
	uint64_t at = (uint64_t) blockIdx.x * THREADS + threadIdx.x;
	uint32_t word = __ballot_sync(FULL_MASK, at < n && from[at] != 0);

	if (lane_id() == 0)
		to[at / 32] = word;
}

GpuaggReason
gpu_window_levels(const uint64_t *bitmap, uint64_t nrows, uint64_t *levels, GpuStreamRef stream)
{
	Levels of = levels_of(bitmap, nrows, levels);
	GpuaggReason reason = GPUAGG_OK;

	for (int i = 1; i < of.count && reason == GPUAGG_OK; i++)
	{
		LAUNCH(raise_level, (unsigned) divide_up(of.n[i - 1], THREADS), THREADS, stream,
			   of.word[i - 1], of.n[i - 1], (uint32_t *) of.word[i]);
		reason = gpu_launch_status();
	}
	return reason;
}

static __device__ __forceinline__ int
first_bit(uint64_t bits)
{
	return bit_count((bits & (~bits + 1)) - 1);
}

/* The first bit behind a row; nrows: there is none. */
static __device__ __forceinline__ uint64_t
next_bit(const Levels &levels, uint64_t row, uint64_t nrows)
{
	uint64_t at = row + 1;

	for (int l = 0; l < levels.count && at / 64 < levels.n[l]; l++)
	{
		uint64_t bits = levels.word[l][at / 64] & UINT64_MAX << at % 64;

		if (bits != 0)
		{
			at = at / 64 * 64 + (uint64_t) first_bit(bits);
			while (l-- > 0)
				at = at * 64 + (uint64_t) first_bit(levels.word[l][at]);
			return at;
		}
		at = at / 64 + 1;
	}
	return nrows;
}

/* The last bit at or before a row; row 0 has one. */
static __device__ __forceinline__ uint64_t
last_bit_before(const Levels &levels, uint64_t row)
{
	uint64_t at = row;

	for (int l = 0; l < levels.count; l++)
	{
		uint64_t bits = levels.word[l][at / 64] & UINT64_MAX >> (63 - at % 64);

		if (bits != 0)
		{
			at = at / 64 * 64 + (uint64_t) (bit_length(bits) - 1);
			while (l-- > 0)
				at = at * 64 + (uint64_t) (bit_length(levels.word[l][at]) - 1);
			return at;
		}
		if (at < 64)
			return 0;
		at = at / 64 - 1;
	}
	return 0;
}

static __global__ void
__launch_bounds__(THREADS)
	reach_rows(const GRID_CONSTANT GpuWindowReach reach, const GRID_CONSTANT Levels levels)
{
	for (int r = 0; r < ROUNDS; r++)
	{
		uint64_t row = ((uint64_t) blockIdx.x * ROUNDS + (uint64_t) r) * THREADS + threadIdx.x;
		bool is_row = row < reach.nrows;
		uint64_t from = row;
		uint8_t status = GPUAGG_ROW_NULL;
		uint32_t word;

		if (is_row && reach.reach == GPUAGG_REACH_FIRST_PEER)
			from = last_bit_before(levels, row);
		else if (is_row && reach.reach != GPUAGG_REACH_ROW)
			from = next_bit(levels, row, reach.nrows) - 1;
		if (is_row && reach.values != nullptr)
			copy_value(reach.values, row, reach.results, from, reach.bytes);
		if (reach.status == nullptr)
			continue;
		if (is_row)
			status = reach.status[from];
		word = __ballot_sync(FULL_MASK, status == GPUAGG_ROW_VALUE);
		if (lane_id() == 0)
			reach.valid[row / 32] = word;
		word = __ballot_sync(FULL_MASK, status == GPUAGG_ROW_OVERFLOW);
		if (lane_id() == 0 && word != 0)
			store_relaxed(reach.overflows, (uint32_t) 1);
	}
}

GpuaggReason
gpu_window_reach(const GpuWindowReach *reach, GpuStreamRef stream)
{
	Levels levels = {};

	if (reach->nrows > GPUAGG_WINDOW_PLACES)
		return GPUAGG_REFUSED;
	if (reach->nrows == 0)
		return GPUAGG_OK;
	if (reach->reach != GPUAGG_REACH_ROW)
		levels = levels_of(reach->heads, reach->nrows, reach->levels);
	LAUNCH(reach_rows, (unsigned) divide_up(reach->nrows, BLOCK_ROWS), THREADS, stream, *reach,
		   levels);
	return gpu_launch_status();
}
