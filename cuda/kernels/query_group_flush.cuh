/*
 * query_group_flush.cuh
 *	  Groups of the query machine: from a block's sums to the grid's.
 *
 * Digits of a sum, 32 bits each in a record, are halves of 16 bits in shared memory, each
 * in a word of 32 bits with a sign.  Before a half could overflow all
 * are carried into the next ones; a group whose last half is near its limits is added to the grid's.
 */
#ifndef GPUAGG_QUERY_GROUP_FLUSH_CUH
#define GPUAGG_QUERY_GROUP_FLUSH_CUH

#include "kernels/query_group_tables.cuh"
#include "kernels/query_part.cuh"

/*
 * Rows of a copy of groups' sums between carries: a half begins below 2^16, each row adds less than
 * that, and the one below carries up to 2^15; all of it stays below 2^31.
 */
#define QUERY_LOCAL_ROWS ((UINT32_C(1) << 15) - 2)

/* Of the last half of a sum, when others have been carried; it grows by 2^30 until the next time. */
#define LAST_HALF (INT32_C(1) << 29)

/* Adds a number to a digit of the grid's; from there on it is never read before it is complete. */
static __device__ __forceinline__ void
query_add_digit(uint64_t *digit, int64_t value)
{
	if (value != 0)
		atomic_add(digit, (uint64_t) value);
}

/* An extreme's key, as records have it, is the order key's bits with these changed. */
static __device__ __forceinline__ uint64_t
query_extreme_flip(int op)
{
	return (op == GPUAGG_MIN ? UINT64_MAX : 0) ^ UINT64_C(1) << 63;
}

/*
 * The greatest of keys of 128 bits, in memory of the block or the grid: no atomic has as many, so who
 * has a greater one takes a lock, and gives it back before anyone of its warp goes on.
 */
struct QueryGreatest
{
	uint64_t *high;
	uint64_t *low;
	uint32_t *lock;

	/* The low word is written first: it is the high word's that was read before, or a greater one's. */
	__device__ __forceinline__ bool is_less(WideBits key) const
	{
		uint64_t upper = load_acquire(high);

		return ((WideBits) upper << 64 | load_relaxed(low)) < key;
	}

	__device__ __forceinline__ void raise(WideBits key) const
	{
		bool done = false;

		while (!done)
		{
			done = !is_less(key);
			if (!done && atomic_cas_acquire(lock, 0, 1) == 0)
			{
				if (is_less(key))
				{
					atomic_set_release(low, (uint64_t) key);
					atomic_set_release(high, (uint64_t) (key >> 64));
				}
				store_release(lock, UINT32_C(0));
				done = true;
			}
			if (!done)
				spin_wait();
		}
	}
};

template <class Machine> struct QueryGroupFlush : QueryGroupTables<Machine>
{
	typedef QueryGroupTables<Machine> Tables;

	using Tables::grid_place;
	using Tables::launch;
	using Tables::local_stride;
	using Tables::local_word;
	using Tables::record;

	static constexpr bool WIDE = Machine::HAS_WIDE;

	__device__ __forceinline__ QueryGroupFlush(const QueryLaunch &query, unsigned char *memory)
		: Tables(query, memory)
	{
	}

	/* Where the greatest of 128 bits is in a record, or among the block's sums. */
	__device__ __forceinline__ static QueryGreatest greatest_of_grid(uint32_t *to, uint32_t word)
	{
		return {(uint64_t *) (to + word + GPUAGG_GROUP_WIDE_HIGH),
				(uint64_t *) (to + word + GPUAGG_GROUP_WIDE_LOW),
				to + word + GPUAGG_GROUP_WIDE_LOCK};
	}

	__device__ __forceinline__ QueryGreatest greatest_of_block(uint32_t place, uint32_t word) const
	{
		return {(uint64_t *) local_word(word + GPUAGG_GROUP_WIDE_HIGH) + place,
				(uint64_t *) local_word(word + GPUAGG_GROUP_WIDE_LOW) + place,
				local_word(word + GPUAGG_GROUP_WIDE_LOCK) + place};
	}

	/* Takes a count out of all copies. */
	__device__ __forceinline__ uint32_t take_count(uint32_t group, uint32_t word) const
	{
		uint32_t *from = local_word(word) + group * launch.groups.replicas;
		uint32_t total = 0;

		ROLLED
		for (uint32_t r = 0; r < launch.groups.replicas; r++)
		{
			total += from[r];
			from[r] = 0;
		}
		return total;
	}

	__device__ __forceinline__ void flush_sum(uint32_t group, uint32_t *to, uint32_t word,
											  uint32_t words) const
	{
		ROLLED
		for (uint32_t i = 0; i < words; i += 2)
		{
			uint32_t *low = local_word(word + i) + group * launch.groups.replicas;
			uint32_t *high = low + local_stride();
			int64_t total = 0;

			ROLLED
			for (uint32_t r = 0; r < launch.groups.replicas; r++)
			{
				total += (int32_t) low[r] + (int64_t) (int32_t) high[r] * 65536;
				low[r] = 0;
				high[r] = 0;
			}
			query_add_digit((uint64_t *) (to + word + i), total);
		}
	}

	__device__ __forceinline__ void flush_extreme(uint32_t group, uint32_t *to, uint32_t word) const
	{
		uint32_t replicas = launch.groups.replicas;
		const uint64_t *from = (const uint64_t *) local_word(word) + group * replicas;
		uint64_t *best = (uint64_t *) (to + word);
		uint64_t most = 0;

		ROLLED
		for (uint32_t r = 0; r < replicas; r++)
			most = from[r] > most ? from[r] : most;
		if (most > load_relaxed(best))
			atomic_max(best, most);
	}

	__device__ __forceinline__ void flush_wide_extreme(uint32_t group, uint32_t *to,
													   uint32_t word) const
	{
		WideBits most = 0;

		ROLLED
		for (uint32_t r = 0; r < launch.groups.replicas; r++)
		{
			QueryGreatest from = greatest_of_block(group * launch.groups.replicas + r, word);
			WideBits key = (WideBits) *from.high << 64 | *from.low;

			most = key > most ? key : most;
		}
		greatest_of_grid(to, word).raise(most);
	}

	/* A group is then as of no rows. */
	__device__ __forceinline__ void flush_group(uint32_t group) const
	{
		const GpuaggGroupLayout &layout = launch.plan.groups;
		uint32_t rows = take_count(group, layout.rows);
		uint32_t at = rows > 0 ? grid_place(group) : PLACE_NONE;
		uint32_t *to = record(at);

		if (at == PLACE_NONE)
			return;
		atomic_add(to + layout.rows, rows);
		ROLLED
		for (uint32_t a = 0; a < layout.naggregates; a++)
		{
			const GpuaggGroupField &field = layout.field[a];

			if (field.missing != GPUAGG_GROUP_NONE)
			{
				uint32_t missing = take_count(group, field.missing);

				if (missing > 0)
					atomic_add(to + field.missing, missing);
			}
			if (field.value != GPUAGG_GROUP_NONE &&
				(field.op == GPUAGG_MIN || field.op == GPUAGG_MAX))
			{
				flush_extreme(group, to, field.value);
				if (WIDE && field.type == GPUAGG_VECTOR_INT128)
					flush_wide_extreme(group, to, field.value);
			}
			else if (field.value != GPUAGG_GROUP_NONE)
				flush_sum(group, to, field.value, field.words);
			if (field.squares != GPUAGG_GROUP_NONE)
				flush_sum(group, to, field.squares, field.square_words);
		}
	}

	/* All threads, at the end: adds the block's groups to the grid's. */
	__device__ __forceinline__ void leave(QueryScratch *) const
	{
		/* blocks begin at different groups, as atomics to one address wait for each other */
		uint32_t n = launch.groups.local;
		uint32_t begin = (uint32_t) ((uint64_t) n * blockIdx.x / gridDim.x);

		if (load_relaxed(&launch.table.counts->full) != 0)
			return;
		for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
			flush_group(i + begin < n ? i + begin : i + begin - n);
	}

	/* Carries from half to half; true: the last one is near its limits. */
	__device__ __forceinline__ bool settle_sum(uint32_t place, uint32_t word, uint32_t words) const
	{
		int32_t carry = 0;

		ROLLED
		for (uint32_t i = 0;; i++)
		{
			int32_t *half = (int32_t *) local_word(word + i) + place;
			int32_t value = *half + carry;

			if (i == words - 1)
			{
				*half = value;
				return value > LAST_HALF || value < -LAST_HALF;
			}
			*half = value & 0xffff;
			carry = value >> 16;
		}
	}

	__device__ __forceinline__ void settle_group(uint32_t group) const
	{
		const GpuaggGroupLayout &layout = launch.plan.groups;
		bool is_near = false;

		ROLLED
		for (uint32_t a = 0; a < layout.naggregates; a++)
		{
			const GpuaggGroupField &field = layout.field[a];

			if (field.value == GPUAGG_GROUP_NONE || field.op == GPUAGG_MIN ||
				field.op == GPUAGG_MAX)
				continue;
			ROLLED
			for (uint32_t r = 0; r < launch.groups.replicas; r++)
			{
				uint32_t place = group * launch.groups.replicas + r;

				is_near |= settle_sum(place, field.value, field.words);
				if (field.squares != GPUAGG_GROUP_NONE)
					is_near |= settle_sum(place, field.squares, field.square_words);
			}
		}
		if (is_near)
			flush_group(group);
	}

	/* All threads, behind a barrier that follows on a tile: before sums could overflow. */
	__device__ __forceinline__ void end_tile(uint32_t tile) const
	{
		if ((tile + 1) % launch.groups.settle_tiles != 0)
			return;
		for (uint32_t i = threadIdx.x; i < launch.groups.local; i += blockDim.x)
			settle_group(i);
		__syncthreads();
	}

	/* The last block's: whether rows were flagged, and how many groups there are. */
	__device__ __forceinline__ void deliver(QueryScratch *scratch) const
	{
		if (threadIdx.x == 0)
		{
			launch.results->nflagged = load_relaxed(&scratch->nflagged);
			store_relaxed(&scratch->nflagged, (uint64_t) 0);
			launch.results->nfound = load_relaxed(&launch.table.counts->nfound);
			launch.results->full = load_relaxed(&launch.table.counts->full);
		}
	}
};

#endif /* GPUAGG_QUERY_GROUP_FLUSH_CUH */
