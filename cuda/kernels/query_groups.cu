/*
 * query_groups.cu
 *	  gpu_query_groups: the records of a table, packed, one behind the other.
 */
#include "device/grid.cuh"
#include "kernels/query.h"

#define THREADS 256
#define WARPS	((uint32_t) THREADS / WARP_SIZE)
#define BLOCKS	1024 /* at most */

struct TableRecords
{
	const uint32_t *from;
	uint32_t slots;
	uint32_t words;
	GpuaggGroupPacking packing;
};

/* A record of the table, or NULL: there is none; the same number of rounds for all threads. */
static __device__ const uint32_t *
record_of(const TableRecords &table, uint32_t round)
{
	uint64_t slot = (uint64_t) round * gridDim.x * THREADS + blockIdx.x * THREADS + threadIdx.x;
	const uint32_t *record = table.from + slot * table.words;

	return slot < table.slots && record[0] != 0 ? record : NULL;
}

static __device__ uint32_t
rounds_of(const TableRecords &table)
{
	uint32_t stride = gridDim.x * THREADS;

	return (table.slots + stride - 1) / stride;
}

/* A word of a packed record; they are asked for in turn, with what they carry. */
static __device__ uint32_t
packed_word(const uint32_t *record, GpuaggGroupWord word, int64_t &carry)
{
	int64_t digit;

	if (word.form == GPUAGG_GROUP_WORD)
		return record[word.at];
	if (word.form == GPUAGG_GROUP_CARRY)
		return (uint32_t) carry;
	digit = *(const int64_t *) (record + word.at);
	if (word.form == GPUAGG_GROUP_DIGIT)
		digit += carry;
	carry = (digit - (int32_t) digit) >> 32;
	return (uint32_t) digit;
}

/* By warp. */
struct FoundWords
{
	uint32_t has[WARPS][GPUAGG_GROUP_WORDS];
};

/* Which words are not 0 in some record. */
static __global__ void
__launch_bounds__(THREADS)
	find_words(const GRID_CONSTANT TableRecords table, GpuQueryTableCounts *counts)
{
	SHARED(FoundWords, found);
	uint32_t words = table.packing.words;
	uint32_t rounds = rounds_of(table);

	for (uint32_t w = (uint32_t) lane_id(); w < words; w += WARP_SIZE)
		found.has[warp_id()][w] = 0;
	__syncwarp(FULL_MASK);
	for (uint32_t i = 0; i < rounds; i++)
	{
		const uint32_t *record = record_of(table, i);
		int64_t carry = 0;

		for (uint32_t w = 0; w < words; w++)
		{
			bool is_there = record != NULL &&
							packed_word(record, table.packing.word[w], carry) != 0;

			if (__any_sync(FULL_MASK, is_there) && lane_id() == 0)
				found.has[warp_id()][w] = 1;
		}
	}
	__syncthreads();
	for (uint32_t w = threadIdx.x; w < words; w += THREADS)
		for (uint32_t warp = 0; warp < WARPS; warp++)
			if (found.has[warp][w] != 0)
				store_relaxed(&counts->has[w], UINT32_C(1));
}

struct KeptWords
{
	uint32_t mask[GPUAGG_GROUP_MASK];
};

/* Returns how many words are kept. */
static __device__ uint32_t
read_mask(const GpuQueryTableCounts *counts, KeptWords *kept)
{
	uint32_t n = 0;

	for (uint32_t i = threadIdx.x / WARP_SIZE; i < GPUAGG_GROUP_MASK; i += WARPS)
	{
		uint32_t mask = __ballot_sync(FULL_MASK, counts->has[i * 32 + lane_id()] != 0);

		if (lane_id() == 0)
			kept->mask[i] = mask;
	}
	__syncthreads();
	for (uint32_t i = 0; i < GPUAGG_GROUP_MASK; i++)
		n += bit_count(kept->mask[i]);
	return n;
}

static __global__ void
__launch_bounds__(THREADS) gather_groups(const GRID_CONSTANT TableRecords table, uint32_t *to,
										 uint64_t room, GpuQueryTableCounts *counts)
{
	SHARED(KeptWords, kept);
	uint32_t n = read_mask(counts, &kept);
	uint32_t rounds = rounds_of(table);

	for (uint32_t i = 0; i < rounds; i++)
	{
		const uint32_t *record = record_of(table, i);
		uint32_t some = __ballot_sync(FULL_MASK, record != NULL);
		uint64_t first = 0;
		int64_t carry = 0;

		if (lane_id() == 0 && some != 0)
			first = atomic_add(&counts->ngroups, (uint64_t) bit_count(some));
		first = warp_shfl(first, 0) + (uint64_t) bit_count(some & ((UINT32_C(1) << lane_id()) - 1));
		if (record == NULL || (first + 1) * n > room)
			continue;

		uint32_t *out = to + first * n;

		for (uint32_t w = 0; w < table.packing.words; w++)
		{
			uint32_t value = packed_word(record, table.packing.word[w], carry);

			if (kept.mask[w / 32] >> (w % 32) & 1)
				*out++ = value;
		}
	}
}

GpuaggReason
gpu_query_groups(const GpuQueryPlan *plan, const GpuQueryTable *table, uint32_t *records,
				 uint64_t room, GpuStreamRef stream)
{
	uint64_t blocks = divide_up(table->slots, THREADS);
	GpuQueryTableCounts *counts = table->counts;
	TableRecords of = {table->records, table->slots, plan->groups.words, {}};
	GpuaggReason reason = gpu_memset(&counts->ngroups, 0, sizeof(counts->ngroups), stream);

	if (reason == GPUAGG_OK)
		reason = gpu_memset(counts->has, 0, sizeof(counts->has), stream);
	if (reason != GPUAGG_OK)
		return reason;
	gpuagg_group_packing(&plan->groups, &of.packing);
	blocks = blocks < BLOCKS ? blocks : BLOCKS;
	LAUNCH(find_words, (unsigned) blocks, THREADS, stream, of, counts);
	reason = gpu_launch_status();
	if (reason != GPUAGG_OK)
		return reason;
	LAUNCH(gather_groups, (unsigned) blocks, THREADS, stream, of, records, room, counts);
	return gpu_launch_status();
}
