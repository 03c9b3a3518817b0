/*
 * query_group_tables.cuh
 *	  Groups of the query machine: which group a row is of, in tables of a block and of the grid.
 *
 * The grid's table is of records (common/query_group.h), with open addressing.  A key's words are
 * never 0, and each is put by compare-and-swap, the second after the first: whoever finds its
 * first word there and another second one goes on to the next record.  So nobody waits, and
 * a key is in one record.
 *
 * A block has groups in shared memory, and adds them to the grid's at its end.  Where the keys
 * have small ranges, a group's number there comes from its keys' values; else it is its place in
 * a table of keys, for the groups that the block finds first.  Rows of other groups go to the
 * grid's at once.  The sums are in copies that lanes share out.
 */
#ifndef GPUAGG_QUERY_GROUP_TABLES_CUH
#define GPUAGG_QUERY_GROUP_TABLES_CUH

#include "kernels/query_step.cuh"

#define PLACE_NONE	 UINT32_MAX
#define LOCAL_PROBES 16
#define GRID_PROBES	 128

/* Words of a group's sums in shared memory: without its key, and values that are no numbers. */
static GPUAGG_HD inline uint32_t
query_group_words(const GpuQueryPlan &plan)
{
	return plan.groups.common - 2 * plan.groups.key_words;
}

/* Words between those of a group's sums in shared memory. */
static GPUAGG_HD inline uint32_t
query_local_stride(const QueryGroupPlaces &groups)
{
	return groups.local * groups.replicas + WARP_SIZE;
}

template <class Machine> struct QueryGroupTables
{
	typedef typename Machine::Lanes Lanes;

	static constexpr int V = Machine::ROWS;

	const QueryLaunch &launch;
	unsigned char *shared;

	__device__ __forceinline__ QueryGroupTables(const QueryLaunch &query, unsigned char *memory)
		: launch(query), shared(memory)
	{
	}

	/*
	 * Where this thread's rows are among the sums, or the records of those whose groups are not
	 * the block's; its next row's is blockDim.x further.
	 */
	__device__ __forceinline__ uint32_t *places() const
	{
		return (uint32_t *) (shared + launch.layout.places) + threadIdx.x;
	}

	/* This thread's rows whose groups are not the block's. */
	__device__ __forceinline__ uint32_t &of_grid() const
	{
		return places()[V * blockDim.x];
	}

	/* Keys of half of this thread's rows; second words behind all first ones. */
	__device__ __forceinline__ uint64_t *stash() const
	{
		return (uint64_t *) (shared + launch.layout.stash) + threadIdx.x;
	}

	/* Of the block's groups, if by keys; second words behind all first ones. */
	__device__ __forceinline__ uint64_t *keys() const
	{
		return (uint64_t *) (shared + launch.layout.keys);
	}

	/* Where lanes add what is not to be counted: behind the sums of all groups. */
	__device__ __forceinline__ uint32_t nowhere() const
	{
		return launch.groups.local * launch.groups.replicas + (uint32_t) lane_id();
	}

	/* Copies of a word of sums, of all groups of the block. */
	__device__ __forceinline__ uint32_t local_stride() const
	{
		return query_local_stride(launch.groups);
	}

	__device__ __forceinline__ uint32_t *local_word(uint32_t word) const
	{
		return (uint32_t *) (shared + launch.layout.sums) +
			   (word - 2 * launch.plan.groups.key_words) * local_stride();
	}

	__device__ __forceinline__ uint32_t *record(uint32_t number) const
	{
		return launch.table.records + (uint64_t) number * launch.plan.groups.words;
	}

	/* Begins with nothing; a barrier follows. */
	__device__ __forceinline__ void start() const
	{
		uint32_t nkeys = launch.groups.direct ? 0
											  : launch.groups.local * launch.plan.groups.key_words;
		uint32_t nwords = local_stride() * query_group_words(launch.plan);

		for (uint32_t i = threadIdx.x; i < nkeys; i += blockDim.x)
			keys()[i] = 0;
		for (uint32_t i = threadIdx.x; i < nwords; i += blockDim.x)
			((uint32_t *) (shared + launch.layout.sums))[i] = 0;
	}

	/* ---- finding groups ---- */

	__device__ __forceinline__ uint64_t hash_of(const uint64_t (&key)[2]) const
	{
		uint64_t h = key[0] * UINT64_C(0x9e3779b97f4a7c15);

		if (launch.plan.groups.key_words > 1)
			h ^= (h >> 32) + key[1] * UINT64_C(0xc2b2ae3d27d4eb4f);
		h ^= h >> 32;
		h *= UINT64_C(0xd6e8feb86659fd93);
		return h ^ h >> 32;
	}

	__device__ __forceinline__ uint32_t local_at(uint64_t hash) const
	{
		return (uint32_t) ((hash >> 32) * launch.groups.local >> 32);
	}

	/* The group of the block with that key, which may be new; PLACE_NONE: it has no place. */
	__device__ __forceinline__ uint32_t find_local(const uint64_t (&key)[2], uint64_t hash) const
	{
		uint32_t n = launch.groups.local;
		uint32_t at = local_at(hash);

		ROLLED
		for (int probe = 0; probe < LOCAL_PROBES && n > 0; probe++)
		{
			uint64_t there = load_shared(&keys()[at]);

			if (there == 0)
				there = atomic_cas(&keys()[at], 0, key[0]);
			if (there == 0 || there == key[0])
			{
				if (launch.plan.groups.key_words == 1)
					return at;
				there = load_shared(&keys()[n + at]);
				if (there == 0)
					there = atomic_cas(&keys()[n + at], 0, key[1]);
				if (there == 0 || there == key[1])
					return at;
			}
			at = at + 1 == n ? 0 : at + 1;
		}
		return PLACE_NONE;
	}

	/* A record that has been found; isnew: nobody had it before. */
	__device__ __forceinline__ uint32_t count_found(uint32_t at, bool isnew) const
	{
		if (isnew)
			atomic_add(&launch.table.counts->nfound, (uint64_t) 1);
		return at;
	}

	/* The same of the grid, as a record's number. */
	__device__ __forceinline__ uint32_t find_of_grid(const uint64_t (&key)[2], uint64_t hash) const
	{
		uint32_t mask = launch.table.slots - 1;
		uint32_t at = (uint32_t) hash & mask;

		ROLLED
		for (int probe = 0; probe < GRID_PROBES; probe++)
		{
			uint64_t *words = (uint64_t *) record(at);
			uint64_t there = load_relaxed(&words[0]);

			if (there == 0)
				there = atomic_cas(&words[0], 0, key[0]);
			if ((there == 0 || there == key[0]) && launch.plan.groups.key_words > 1)
			{
				there = load_relaxed(&words[1]);
				if (there == 0)
					there = atomic_cas(&words[1], 0, key[1]);
				if (there == 0 || there == key[1])
					return count_found(at, there == 0);
			}
			else if (there == 0 || there == key[0])
				return count_found(at, there == 0);
			at = (at + 1) & mask;
		}
		store_relaxed(&launch.table.counts->full, (uint32_t) 1);
		return PLACE_NONE;
	}

	__device__ __forceinline__ bool in_part(uint64_t hash) const
	{
		uint32_t mixed = (uint32_t) (hash >> 32) * UINT32_C(0x9e3779b1);

		return launch.table.parts == 1 ||
			   (uint32_t) ((uint64_t) mixed * launch.table.parts >> 32) == launch.table.part;
	}

	/* ---- groups by their keys' ranges ---- */

	/* A value as its key has it: all its bits, and none above. */
	__device__ __forceinline__ static uint64_t key_bits(int type, uint64_t value)
	{
		switch (type)
		{
			case GPUAGG_VECTOR_INT16:
				return value & 0xffff;
			case GPUAGG_VECTOR_INT32:
				return (uint32_t) value;
			default:
				return value;
		}
	}

	/* The key of the block's group of that number. */
	__device__ __forceinline__ void direct_key(uint32_t group, uint64_t (&key)[2]) const
	{
		const GpuaggGroupLayout &layout = launch.plan.groups;
		WideBits bits = 0;

		ROLLED
		for (uint32_t i = 0; i < layout.nkeys; i++)
		{
			const GpuQueryRange &range = launch.table.range[i];
			uint32_t digit = group % (range.count + 1);
			uint64_t value = key_bits(layout.key_type[i], (uint64_t) range.least + digit);

			group /= range.count + 1;
			bits |= (digit == range.count ? (WideBits) 1 : (WideBits) value << 1)
					<< layout.key_at[i];
		}
		key[0] = (uint64_t) bits << 1 | 1;
		key[1] = (uint64_t) (bits >> 63) << 1 | 1;
	}

	/* Places those rows that are within the ranges; returns the others. */
	__device__ __forceinline__ uint32_t find_direct(const Machine &machine, uint32_t rows) const
	{
		const GpuaggGroupLayout &layout = launch.plan.groups;
		uint32_t lane = (uint32_t) lane_id() & (launch.groups.replicas - 1);
		uint32_t stride = launch.groups.replicas;
		uint32_t outside = 0;
		uint32_t place[V];

		UNROLL
		for (int k = 0; k < V; k++)
			place[k] = lane;
		ROLLED
		for (uint32_t i = 0; i < layout.nkeys; i++)
		{
			const GpuQueryRange &range = launch.table.range[i];
			bool is_short = layout.key_type[i] == GPUAGG_VECTOR_INT16 ||
							layout.key_type[i] == GPUAGG_VECTOR_INT32;
			uint32_t beyond = 0;
			Lanes b;

			b.valid = 0;
			machine.load(b, launch.plan.key[i]);
			if (layout.key_type[i] == GPUAGG_VECTOR_BOOL)
			{
				UNROLL
				for (int k = 0; k < V; k++)
					b.low[k] = b.bits >> k & 1;
			}
			UNROLL
			for (int k = 0; k < V; k++)
			{
				uint32_t digit = (uint32_t) b.low[k] - (uint32_t) range.least;

				/* of less than 64 bits no differences go further */
				if (!is_short && b.low[k] - (uint64_t) range.least > UINT32_MAX)
					digit = UINT32_MAX;
				beyond |= (uint32_t) (digit >= range.count) << k;
				digit = b.valid >> k & 1 ? digit : range.count;
				place[k] += digit * stride;
			}
			outside |= beyond & b.valid;
			stride *= range.count + 1;
		}
		UNROLL
		for (int k = 0; k < V; k++)
		{
			place[k] = (rows & ~outside) >> k & 1 ? place[k] : nowhere();
			places()[k * blockDim.x] = place[k];
			atomic_add(local_word(layout.rows) + place[k], (uint32_t) 1);
		}
		return rows & outside;
	}

	/* ---- groups by keys ---- */

	/* A key's bits in the lanes' `low`, and which rows' are no key. */
	__device__ __forceinline__ uint32_t normalise(Lanes &b, int type) const
	{
		uint32_t bad = 0;

		switch (type)
		{
			case GPUAGG_VECTOR_BOOL:
				UNROLL
				for (int k = 0; k < V; k++)
					b.low[k] = b.bits >> k & 1;
				break;
			case GPUAGG_VECTOR_FLOAT32:
				UNROLL
				for (int k = 0; k < V; k++)
				{
					uint32_t bits = (uint32_t) b.low[k];

					bad |= (uint32_t) (bits == UINT32_C(0x80000000)) << k;
					b.low[k] = (bits & 0x7fffffff) > 0x7f800000 ? GPUAGG_NAN32 : bits;
				}
				break;
			case GPUAGG_VECTOR_FLOAT64:
				UNROLL
				for (int k = 0; k < V; k++)
				{
					uint64_t size = b.low[k] & ~(UINT64_C(1) << 63);

					bad |= (uint32_t) (size == 0 && b.low[k] != 0) << k;
					b.low[k] = size > UINT64_C(0x7ff0000000000000) ? GPUAGG_NAN64 : b.low[k];
				}
				break;
			default:
				UNROLL
				for (int k = 0; k < V; k++)
					b.low[k] = key_bits(type, b.low[k]);
		}
		return bad & b.valid;
	}

	/* Keys of half of the rows, packed, as 126 bits; returns which rows' are none. */
	__device__ __forceinline__ uint32_t pack(const Machine &machine, int half,
											 uint64_t (&low)[V / 2], uint64_t (&high)[V / 2]) const
	{
		const GpuaggGroupLayout &layout = launch.plan.groups;
		uint32_t bad = 0;

		ROLLED
		for (uint32_t i = 0; i < layout.nkeys; i++)
		{
			uint32_t at = layout.key_at[i];
			Lanes b;

			machine.load(b, launch.plan.key[i]);
			bad |= normalise(b, layout.key_type[i]);
			UNROLL
			for (int k = 0; k < V / 2; k++)
			{
				bool is_null = (b.valid >> (half * (V / 2) + k) & 1) == 0;
				WideBits bits = half == 0 ? b.low[k] : b.low[k + V / 2];

				bits = (is_null ? (WideBits) 1 : bits << 1) << at;
				low[k] |= (uint64_t) bits;
				high[k] |= (uint64_t) (bits >> 64);
			}
		}
		return bad;
	}

	/* Counts a row of a group of the block. */
	__device__ __forceinline__ void enter_local(uint32_t at, uint32_t group) const
	{
		uint32_t replicas = launch.groups.replicas;
		uint32_t place = group * replicas + ((uint32_t) lane_id() & (replicas - 1));

		atomic_add(local_word(launch.plan.groups.rows) + place, (uint32_t) 1);
		places()[at] = place;
	}

	/* The same of a row of any group; true: it is the grid's. */
	__device__ __forceinline__ bool enter(uint32_t at, const uint64_t (&key)[2]) const
	{
		uint64_t hash = hash_of(key);
		uint32_t place = PLACE_NONE;

		if (!in_part(hash))
			return false;
		if (!launch.groups.direct)
			place = find_local(key, hash);
		if (place != PLACE_NONE)
		{
			enter_local(at, place);
			return false;
		}
		place = find_of_grid(key, hash);
		if (place == PLACE_NONE)
			return false;
		atomic_add(record(place) + launch.plan.groups.rows, (uint32_t) 1);
		places()[at] = place;
		return true;
	}

	/* Whether a key is where it is looked for first among the block's. */
	__device__ __forceinline__ bool is_first(const uint64_t (&key)[2], uint32_t at) const
	{
		return load_shared(&keys()[at]) == key[0] &&
			   (launch.plan.groups.key_words == 1 ||
				load_shared(&keys()[launch.groups.local + at]) == key[1]);
	}

	/* Places those rows among a half by their keys. */
	__device__ __forceinline__ void find_half(int half, uint32_t rows) const
	{
		bool looks = launch.groups.local > 0 && !launch.groups.direct && launch.table.parts == 1;
		uint32_t second = V / 2 * blockDim.x;
		uint32_t left = rows;

		ROLLED
		for (int k = 0; k < V / 2 && looks; k++)
		{
			int row = half * (V / 2) + k;
			uint64_t key[2] = {stash()[k * blockDim.x], 0};
			uint32_t group;

			if (launch.plan.groups.key_words > 1)
				key[1] = stash()[second + k * blockDim.x];
			group = local_at(hash_of(key));
			if ((rows >> row & 1) != 0 && is_first(key, group))
			{
				enter_local(row * blockDim.x, group);
				left &= ~(UINT32_C(1) << row);
			}
		}
		/* each lane by itself: those that were not found at once */
		while (left != 0)
		{
			uint32_t bit = left & -left;
			uint32_t row = (uint32_t) bit_count(bit - 1);
			uint32_t k = row - (uint32_t) half * (V / 2);
			uint64_t key[2] = {stash()[k * blockDim.x], 0};

			if (launch.plan.groups.key_words > 1)
				key[1] = stash()[second + k * blockDim.x];
			of_grid() |= enter(row * blockDim.x, key) ? bit : 0;
			left ^= bit;
		}
		__syncwarp(FULL_MASK);
	}

	/* Places rows by their keys. */
	__device__ __forceinline__ void find_hashed(Machine &machine, uint32_t rows) const
	{
		uint32_t second = V / 2 * blockDim.x;

		ROLLED
		for (int half = 0; half < 2; half++)
		{
			uint64_t low[V / 2] = {};
			uint64_t high[V / 2] = {};

			machine.flagged |= pack(machine, half, low, high) & machine.live;
			UNROLL
			for (int k = 0; k < V / 2; k++)
			{
				uint64_t *to = stash() + k * blockDim.x;

				to[0] = low[k] << 1 | 1;
				if (launch.plan.groups.key_words > 1)
					to[second] = (high[k] << 1 | low[k] >> 63) << 1 | 1;
			}
			find_half(half, rows & ((UINT32_C(1) << V / 2) - 1) << half * (V / 2));
		}
	}

	/* Finds the groups of the live rows, and counts these there. */
	__device__ __forceinline__ void find(Machine &machine) const
	{
		/* a table that is full means nothing, whatever else comes */
		bool adds = launch.table.check == 0 && load_relaxed(&launch.table.counts->full) == 0;
		uint32_t rows = adds ? machine.live : 0;

		of_grid() = 0;
		if (launch.groups.direct)
			rows = find_direct(machine, rows);
		else
		{
			UNROLL
			for (int k = 0; k < V; k++)
				places()[k * blockDim.x] = nowhere();
		}
		if (!launch.groups.direct || __any_sync(FULL_MASK, rows != 0))
			find_hashed(machine, rows);
	}

	/* The record of a group that is the block's. */
	__device__ __forceinline__ uint32_t grid_place(uint32_t group) const
	{
		uint64_t key[2];

		if (launch.groups.direct)
			direct_key(group, key);
		else
		{
			key[0] = keys()[group];
			key[1] = launch.plan.groups.key_words > 1 ? keys()[launch.groups.local + group] : 0;
		}
		return find_of_grid(key, hash_of(key));
	}
};

#endif /* GPUAGG_QUERY_GROUP_TABLES_CUH */
