/*
 * query_groups.cuh
 *	  Groups of the query machine: tables of keys and sums, of a block and of the grid.
 *
 * The grid's table is of records (common/query_group.h), with open addressing.  A key's words are
 * never 0, and each is put by compare-and-swap, the second after the first: whoever finds its
 * first word there and another second one goes on to the next record.  So nobody waits, and
 * a key is in one record.
 *
 * A block has groups in shared memory, and adds them to the grid's at its end.  Where the keys have small ranges, a group's number there comes
 * from its keys' values; else it is its place in a table of keys, for the groups that
 * the block finds first.  Rows of other groups go to the grid's at once.  The sums are in copies
 * that lanes share out.
 *
 * Digits of a sum, 32 bits each in a record, are halves of 16 bits in shared memory, each
 * in a word of 32 bits with a sign.  So no addition carries or waits for what was there before,
 * and as additions commute their order changes no bit.  Before a half could overflow all
 * are carried into the next ones; a group whose last half is near its limits is added to the grid's.
 */
#ifndef GPUAGG_QUERY_GROUPS_CUH
#define GPUAGG_QUERY_GROUPS_CUH

#include "kernels/query_step.cuh"
#include "kernels/query_total.cuh"

#define PLACE_NONE	 UINT32_MAX

#define LOCAL_PROBES 16
#define GRID_PROBES	 128

/* Of the last half of a sum, when others have been carried; it grows by 2^30 until the next time. */
#define LAST_HALF (INT32_C(1) << 29)

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

/* Adds a number to a digit of the grid's; from there on it is never read before it is complete. */
static __device__ __forceinline__ void
query_add_digit(uint64_t *digit, int64_t value)
{
	if (value != 0)
		atomic_add(digit, (uint64_t) value);
}

/* The place of a finite double in the window of sums. */
struct QueryFloatPlace
{
	uint64_t mantissa;
	int at; /* its lowest bit's */
	bool fits;

	__device__ __forceinline__ explicit QueryFloatPlace(uint64_t bits)
	{
		int exponent = (int) (bits >> 52) & 0x7ff;

		mantissa = bits & ((UINT64_C(1) << 52) - 1);
		if (exponent > 0)
			mantissa |= UINT64_C(1) << 52;
		at = (exponent > 0 ? exponent - 1 : 0) - 32 * GPUAGG_GROUP_FLOAT_CHUNK;
		fits = at < 32 * (GPUAGG_GROUP_FLOAT_DIGITS - 2); /* it touches three at most */
		if (at < 0)
		{
			fits = at > -53 && (mantissa & ((UINT64_C(1) << (at > -53 ? -at : 0)) - 1)) == 0;
			mantissa = fits ? mantissa >> -at : 0;
			at = 0;
		}
	}
};

template <class Machine> struct QueryGroups
{
	typedef typename Machine::Lanes Lanes;

	static constexpr int V = Machine::ROWS;
	static constexpr bool WIDE = Machine::HAS_WIDE;

	const QueryLaunch &launch;
	unsigned char *shared;

	__device__ __forceinline__ QueryGroups(const QueryLaunch &query, unsigned char *memory)
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
		uint32_t outside_any = 0;
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
				outside |= (uint32_t) (digit >= range.count) << k;
				digit = b.valid >> k & 1 ? digit : range.count;
				place[k] += digit * stride;
			}
			outside_any |= outside & b.valid;
			outside = 0;
			stride *= range.count + 1;
		}
		UNROLL
		for (int k = 0; k < V; k++)
		{
			place[k] = (rows & ~outside_any) >> k & 1 ? place[k] : nowhere();
			places()[k * blockDim.x] = place[k];
			atomic_add(local_word(layout.rows) + place[k], (uint32_t) 1);
		}
		return rows & outside_any;
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

	/* ---- adding values ---- */

	/*
	 * Calls local(place, k), where place may be nowhere, for all rows k, and grid(record, k) for
	 * those of other groups.
	 */
	template <class Local, class Grid>
	__device__ __forceinline__ void each(uint32_t rows, Local local, Grid grid) const
	{
		uint32_t others = rows & of_grid();
		uint32_t own = rows & ~of_grid();

		if (launch.groups.local > 0)
		{
			UNROLL
			for (int k = 0; k < V; k++)
				local(own >> k & 1 ? places()[k * blockDim.x] : nowhere(), k);
		}
		if (others != 0)
		{
			UNROLL
			for (int k = 0; k < V; k++)
				if (others >> k & 1)
					grid(record(places()[k * blockDim.x]), k);
		}
	}

	__device__ __forceinline__ void count(uint32_t rows, uint32_t word) const
	{
		each(
			rows,
			[&](uint32_t place, int) {
				atomic_add(local_word(word) + place, (uint32_t) 1);
			},
			[&](uint32_t *to, int) {
				atomic_add(to + word, (uint32_t) 1);
			});
	}

	/* Adds integers value(k) whose lowest N halves of 16 bits, the last with its sign, are all. */
	template <int N, class T, class Value>
	__device__ __forceinline__ void add_halves(uint32_t rows, uint32_t word, Value value) const
	{
		constexpr int DIGITS = sizeof(T) / 4;

		each(
			rows,
			[&](uint32_t place, int k) {
				uint32_t *half = local_word(word) + place;
				T v = value(k);

				UNROLL
				for (int i = 0; i < N; i++, half += local_stride())
					atomic_add(half, (uint32_t) (v >> 16 * i) & (i < N - 1 ? 0xffff : UINT32_MAX));
			},
			[&](uint32_t *to, int k) {
				uint64_t *digit = (uint64_t *) (to + word);
				T v = value(k);

				UNROLL
				for (int i = 0; i < DIGITS; i++)
					query_add_digit(digit + i, i < DIGITS - 1 ? (int64_t) (uint32_t) (v >> 32 * i)
															  : (int64_t) (v >> 32 * (DIGITS - 1)));
			});
	}

	/* Sums of digits of the block or the grid take integers of any size. */
	template <class T>
	__device__ __forceinline__ void add_integers(const Lanes &a, uint32_t rows, uint32_t word) const
	{
		auto value = [&](int k) {
			return Machine::template value<T>(a, k);
		};
		uint64_t used = 0; /* bits of all rows' that differ from the sign, or above these */

		UNROLL
		for (int k = 0; k < V; k++)
		{
			T v = value(k) ^ value(k) >> (8 * sizeof(T) - 1);

			used |= (uint64_t) v;
			if constexpr (sizeof(T) > 8)
				used |= v >> 63 != 0 ? UINT64_C(1) << 63 : 0;
		}
		/* the last half has the sign */
		if (!__any_sync(FULL_MASK, used >> 15 != 0))
			add_halves<1, T>(rows, word, value);
		else if (sizeof(T) == 4 || !__any_sync(FULL_MASK, used >> 31 != 0))
			add_halves<2, T>(rows, word, value);
		else if constexpr (sizeof(T) > 4)
		{
			if (!__any_sync(FULL_MASK, used >> 47 != 0))
				add_halves<3, T>(rows, word, value);
			else if (sizeof(T) == 8 || !__any_sync(FULL_MASK, used >> 63 != 0))
				add_halves<4, T>(rows, word, value);
			else if constexpr (sizeof(T) > 8)
				add_halves<8, T>(rows, word, value);
		}
	}

	/* Squares of so many bits are never negative: a factor has its sign among half of them. */
	template <class T, class Square>
	__device__ __forceinline__ void add_squares(const Lanes &a, uint32_t rows, uint32_t word) const
	{
		add_halves<sizeof(Square) / 2, Square>(rows, word, [&](int k) {
			Square v = (Square) Machine::template value<T>(a, k);

			return v * v;
		});
	}

	/* Order keys plus 2^63; of MIN the complement. */
	template <class T>
	__device__ __forceinline__ void add_extremes(const GpuaggGroupField &field, const Lanes &a,
												 uint32_t rows) const
	{
		uint64_t flip = (field.op == GPUAGG_MIN ? UINT64_MAX : 0) ^ UINT64_C(1) << 63;
		auto key_of = [&](int k) {
			return (uint64_t) query_order_key(Machine::template value<T>(a, k)) ^ flip;
		};

		each(
			rows,
			[&](uint32_t place, int k) {
				uint64_t *best = (uint64_t *) local_word(field.value) + place;

				if (key_of(k) > load_shared(best))
					atomic_max(best, key_of(k));
			},
			[&](uint32_t *to, int k) {
				uint64_t *best = (uint64_t *) (to + field.value);

				if (key_of(k) > load_relaxed(best))
					atomic_max(best, key_of(k));
			});
	}

	/* A float that is no number, -0, or does not fit. */
	__device__ __forceinline__ void add_special(uint32_t number, uint32_t at, uint64_t bits) const
	{
		const GpuQueryTable &table = launch.table;
		uint64_t size = bits & ~(UINT64_C(1) << 63);
		int special;

		if (size == 0)
			special = GPUAGG_GROUP_MINUS_ZERO;
		else if (size > UINT64_C(0x7ff0000000000000))
			special = GPUAGG_GROUP_NAN;
		else if (size == UINT64_C(0x7ff0000000000000))
			special = bits >> 63 ? GPUAGG_GROUP_MINUS_INFINITY : GPUAGG_GROUP_PLUS_INFINITY;
		else
		{
			uint32_t n = atomic_add(&table.counts->nfar, (uint32_t) 1);
			const uint64_t *key = (const uint64_t *) record(at);

			if (n < table.far_room)
				table.far[n] = {{key[0], launch.plan.groups.key_words > 1 ? key[1] : 0},
								double_of(bits),
								number};
			atomic_add(record(at) + launch.plan.groups.field[number].missing, (uint32_t) 1);
			return;
		}
		atomic_add(record(at) + launch.plan.groups.field[number].specials + special, (uint32_t) 1);
	}

	/* A float's halves; most have four. */
	__device__ __forceinline__ void add_float(uint32_t *half, uint64_t bits) const
	{
		QueryFloatPlace place(bits);
		int shift = place.at % 16;
		uint64_t low = place.mantissa << shift;
		uint32_t high = (uint32_t) (place.mantissa >> 32 >> (32 - shift));
		uint32_t sign = bits >> 63 ? UINT32_MAX : 0;

		half += (uint32_t) (place.at / 16) * local_stride();
		UNROLL
		for (int i = 0; i < 5; i++, half += local_stride())
		{
			uint32_t v = i < 4 ? (uint32_t) (low >> (i < 4 ? 16 * i : 0)) & 0xffff : high;

			if (v != 0)
				atomic_add(half, (v ^ sign) - sign);
		}
	}

	/* The same in a record. */
	__device__ __forceinline__ void add_far_float(uint64_t *digit, uint64_t bits) const
	{
		QueryFloatPlace place(bits);
		WideBits wide = (WideBits) place.mantissa << place.at % 32;

		digit += place.at / 32;
		UNROLL
		for (int i = 0; i < 3; i++)
		{
			int64_t v = (int64_t) (uint32_t) (wide >> 32 * i);

			query_add_digit(digit + i, bits >> 63 ? -v : v);
		}
	}

	__device__ __forceinline__ void add_floats(uint32_t number, const Lanes &a, uint32_t rows) const
	{
		const GpuaggGroupField &field = launch.plan.groups.field[number];
		uint32_t special = 0;

		UNROLL
		for (int k = 0; k < V; k++)
		{
			uint64_t size = a.low[k] & ~(UINT64_C(1) << 63);
			bool fits = size < UINT64_C(0x7ff0000000000000) && QueryFloatPlace(a.low[k]).fits;

			special |= (uint32_t) (!fits || (size == 0 && a.low[k] != 0)) << k;
			rows &= ~((uint32_t) (a.low[k] == 0) << k);
		}
		special &= rows;
		rows &= ~special;
		each(
			rows,
			[&](uint32_t place, int k) {
				add_float(local_word(field.value) + place, rows >> k & 1 ? a.low[k] : 0);
			},
			[&](uint32_t *to, int k) {
				add_far_float((uint64_t *) (to + field.value), a.low[k]);
			});
		if (special != 0)
		{
			uint64_t low[V];

			UNROLL
			for (int k = 0; k < V; k++)
				low[k] = a.low[k];
			ROLLED
			for (int k = 0; k < V; k++, Machine::turn(low))
				if (special >> k & 1)
				{
					uint32_t place = places()[k * blockDim.x];
					uint32_t at = of_grid() >> k & 1 ? place
								  : place < nowhere() - (uint32_t) lane_id()
									  ? grid_place(place / launch.groups.replicas)
									  : PLACE_NONE;

					if (at != PLACE_NONE)
						add_special(number, at, low[0]);
				}
		}
	}

	/* Adds the values of those of the live rows to an aggregate. */
	__device__ __forceinline__ void add(const Machine &machine, const GpuQueryStep &step,
										const Lanes &a, uint32_t rows) const
	{
		const GpuaggGroupField &field = launch.plan.groups.field[step.arg];
		uint32_t missing = machine.live & ~rows;

		if (launch.table.check != 0)
			return;
		if (missing != 0)
			count(missing, field.missing);
		switch (step.code)
		{
			case QUERY_AGGREGATE_CODE(GPUAGG_SUM, QUERY_INT32):
				add_integers<int32_t>(a, rows, field.value);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_SUM, QUERY_INT64):
				add_integers<int64_t>(a, rows, field.value);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_SUM, QUERY_FLOAT64):
				add_floats(step.arg, a, rows);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_MIN, QUERY_INT32):
			case QUERY_AGGREGATE_CODE(GPUAGG_MAX, QUERY_INT32):
				add_extremes<int32_t>(field, a, rows);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_MIN, QUERY_INT64):
			case QUERY_AGGREGATE_CODE(GPUAGG_MAX, QUERY_INT64):
				add_extremes<int64_t>(field, a, rows);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_MIN, QUERY_FLOAT32):
			case QUERY_AGGREGATE_CODE(GPUAGG_MAX, QUERY_FLOAT32):
				add_extremes<float>(field, a, rows);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_MIN, QUERY_FLOAT64):
			case QUERY_AGGREGATE_CODE(GPUAGG_MAX, QUERY_FLOAT64):
				add_extremes<double>(field, a, rows);
				break;
			default:
				if constexpr (Machine::HAS_HEAVY)
					add_heavy(step, field, a, rows);
		}
	}

	__device__ __forceinline__ void add_heavy(const GpuQueryStep &step,
											  const GpuaggGroupField &field, const Lanes &a,
											  uint32_t rows) const
	{
		switch (step.code)
		{
			case QUERY_AGGREGATE_CODE(GPUAGG_MOMENTS, QUERY_INT32):
				add_integers<int32_t>(a, rows, field.value);
				add_squares<int32_t, uint64_t>(a, rows, field.squares);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_MOMENTS, QUERY_INT64):
				add_integers<int64_t>(a, rows, field.value);
				add_squares<int64_t, WideBits>(a, rows, field.squares);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_SUM, QUERY_INT128):
				if constexpr (WIDE)
					add_integers<Wide>(a, rows, field.value);
				break;
		}
	}

	/* ---- from the block's groups to the grid's ---- */

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
				flush_extreme(group, to, field.value);
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

#endif /* GPUAGG_QUERY_GROUPS_CUH */
