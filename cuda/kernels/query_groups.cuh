/*
 * query_groups.cuh
 *	  Groups of the query machine: tables of keys and sums, of a block and of the grid.
 *
 * The grid's table is of records (common/query_group.h), with open addressing.  A key's words are
 * never 0, and each is put by compare-and-swap, the second after the first: whoever finds its
 * first word there and another second one goes on to the next record.  So nobody waits, and
 * a key is in one record.  A block has a table of the same kind in shared memory for the groups
 * that it finds first, with the words of the sums apart and in copies that lanes share out; it
 * adds them to the grid's at its end.  Rows of groups without a place there go to the grid's at once.
 *
 * Sums are integers of some 32-bit words, to which carries are added one after the other: each
 * addition gives back what was there before, and so says whether it carries.  Additions
 * commute, so the order in which threads add changes no bit.
 */
#ifndef GPUAGG_QUERY_GROUPS_CUH
#define GPUAGG_QUERY_GROUPS_CUH

#include "kernels/query_step.cuh"
#include "kernels/query_total.cuh"

/* Where a row's group is: of the block, a number; of the grid, one with this bit. */
#define PLACE_OF_GRID UINT32_C(0x80000000)
#define PLACE_NONE	  UINT32_MAX /* it does not count here */

#define LOCAL_PROBES  64
#define LOCAL_FEW	  4 /* when a key has found no place */
#define GRID_PROBES	  128

/* Words of a group's sums in shared memory: without its key, and values that are no numbers. */
static GPUAGG_HD inline uint32_t
query_group_words(const GpuQueryPlan &plan)
{
	return plan.groups.common - 2 * plan.groups.key_words;
}

/* Adds one word and what was carried to *p; returns what is carried on. */
static __device__ __forceinline__ uint32_t
query_add_word(uint32_t *p, uint32_t value, uint32_t carry)
{
	uint32_t sum = value + carry;
	bool carries = sum < carry; /* then it is 0 */

	if (sum != 0)
		carries = atomic_add(p, sum) + sum < sum;
	return carries;
}

/* Adds an integer of M words, sign-extended, to one of N, whose words are `stride` apart. */
template <int N, int M>
static __device__ __forceinline__ void
query_add_words(uint32_t *p, uint32_t stride, const uint32_t (&value)[M], uint32_t sign)
{
	uint32_t carry = 0;

	UNROLL
	for (int i = 0; i < N; i++)
		carry = query_add_word(p + i * stride, i < M ? value[i < M ? i : 0] : sign, carry);
}

/* The place of a finite double among the words of its sum. */
struct QueryFloatWords
{
	uint32_t value[3];
	uint32_t sign;
	int first; /* word */
	bool fits;

	__device__ __forceinline__ explicit QueryFloatWords(uint64_t bits)
	{
		int exponent = (int) (bits >> 52) & 0x7ff;
		uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
		int at;

		if (exponent > 0)
			mantissa |= UINT64_C(1) << 52;
		/* bit of the sum; 2^32 values below 2^222 in it stay below 2^255 */
		at = (exponent > 0 ? exponent - 1 : 0) - 32 * GPUAGG_GROUP_FLOAT_CHUNK;
		fits = at <= 222 - 53;
		if (at < 0)
		{
			fits = at > -53 && (mantissa & ((UINT64_C(1) << (at > -53 ? -at : 0)) - 1)) == 0;
			mantissa = fits ? mantissa >> -at : 0;
			at = 0;
		}
		first = at / 32;

		WideBits wide = (WideBits) mantissa << at % 32;

		sign = bits >> 63 ? UINT32_MAX : 0;
		if (sign != 0)
			wide = -wide;
		UNROLL
		for (int i = 0; i < 3; i++)
			value[i] = (uint32_t) (wide >> (32 * i));
	}
};

template <class Machine> struct QueryGroups
{
	typedef typename Machine::Lanes Lanes;

	static constexpr int V = Machine::ROWS;
	static constexpr bool WIDE = Machine::HAS_WIDE;

	const QueryLaunch &launch;
	uint32_t *places; /* of this thread; of its next row blockDim.x further */
	uint64_t *keys;	  /* of the block's groups; second words behind all first ones */
	uint32_t *sums;	  /* words of theirs, by word, group and copy */
	int probes;		  /* of this thread, in the block's table */

	__device__ __forceinline__ QueryGroups(const QueryLaunch &query, unsigned char *shared)
		: launch(query), places((uint32_t *) (shared + query.layout.places) + threadIdx.x),
		  keys((uint64_t *) (shared + query.layout.keys)),
		  sums((uint32_t *) (shared + query.layout.sums)), probes(LOCAL_PROBES)
	{
	}

	/* Copies of a word of sums, of all groups of the block. */
	__device__ __forceinline__ uint32_t local_stride() const
	{
		return launch.groups.local * launch.groups.replicas;
	}

	__device__ __forceinline__ uint32_t *local_word(uint32_t word) const
	{
		return sums + (word - 2 * launch.plan.groups.key_words) * local_stride();
	}

	__device__ __forceinline__ uint32_t *record(uint32_t number) const
	{
		return launch.table.records + (uint64_t) number * launch.plan.groups.words;
	}

	/* Begins with nothing; a barrier follows. */
	__device__ __forceinline__ void start() const
	{
		uint32_t nkeys = launch.groups.local * launch.plan.groups.key_words;
		uint32_t nwords = local_stride() * query_group_words(launch.plan);

		for (uint32_t i = threadIdx.x; i < nkeys; i += blockDim.x)
			keys[i] = 0;
		for (uint32_t i = threadIdx.x; i < nwords; i += blockDim.x)
			sums[i] = 0;
	}

	/* ---- finding groups ---- */

	__device__ __forceinline__ static uint64_t hash_of(const uint64_t (&key)[2])
	{
		uint64_t h = key[0] * UINT64_C(0x9e3779b97f4a7c15);

		h ^= (h >> 32) + key[1] * UINT64_C(0xc2b2ae3d27d4eb4f);
		h ^= h >> 29;
		h *= UINT64_C(0xd6e8feb86659fd93);
		return h ^ h >> 32;
	}

	/* The group of the block with that key, which may be new; PLACE_NONE: it has no place. */
	__device__ __forceinline__ uint32_t find_local(const uint64_t (&key)[2], uint64_t hash)
	{
		uint32_t n = launch.groups.local;
		uint32_t at = (uint32_t) ((hash >> 32) * n >> 32);

		ROLLED
		for (int probe = 0; probe < probes && n > 0; probe++)
		{
			uint64_t there = load_shared(&keys[at]);

			if (there == 0)
				there = atomic_cas(&keys[at], 0, key[0]);
			if (there == 0 || there == key[0])
			{
				if (launch.plan.groups.key_words == 1)
					return at;
				there = load_shared(&keys[n + at]);
				if (there == 0)
					there = atomic_cas(&keys[n + at], 0, key[1]);
				if (there == 0 || there == key[1])
					return at;
			}
			at = at + 1 == n ? 0 : at + 1;
		}
		probes = LOCAL_FEW;
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
			case GPUAGG_VECTOR_INT16:
				UNROLL
				for (int k = 0; k < V; k++)
					b.low[k] &= 0xffff;
				break;
			case GPUAGG_VECTOR_INT32:
				UNROLL
				for (int k = 0; k < V; k++)
					b.low[k] = (uint32_t) b.low[k];
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

	/* Finds the groups of the live rows, and counts these there. */
	__device__ __forceinline__ void find(Machine &machine)
	{
		/* a table that is full means nothing, whatever else comes */
		bool adds = launch.table.check == 0 && load_relaxed(&launch.table.counts->full) == 0;

		ROLLED
		for (int half = 0; half < 2; half++)
		{
			uint64_t low[V / 2] = {};
			uint64_t high[V / 2] = {};

			machine.flagged |= pack(machine, half, low, high) & machine.live;
			ROLLED
			for (int k = half * (V / 2); k < (half + 1) * (V / 2); k++)
			{
				uint32_t place = PLACE_NONE;

				if ((machine.live >> k & 1) != 0 && adds)
				{
					uint64_t key[2] = {low[0] << 1 | 1, 0};
					uint64_t hash;

					if (launch.plan.groups.key_words > 1)
						key[1] = (high[0] << 1 | low[0] >> 63) << 1 | 1;
					hash = hash_of(key);
					if (in_part(hash))
						place = enter(key, hash);
				}
				places[k * blockDim.x] = place;
				Machine::turn(low);
				Machine::turn(high);
			}
		}
	}

	/* A row's place in its group, where it is counted. */
	__device__ __forceinline__ uint32_t enter(const uint64_t (&key)[2], uint64_t hash)
	{
		uint32_t rows = launch.plan.groups.rows;
		uint32_t place = find_local(key, hash);

		if (place != PLACE_NONE)
		{
			uint32_t replicas = launch.groups.replicas;

			place = place * replicas + ((uint32_t) lane_id() & (replicas - 1));
			atomic_add(local_word(rows) + place, (uint32_t) 1);
			return place;
		}
		place = find_of_grid(key, hash);
		if (place == PLACE_NONE)
			return place;
		atomic_add(record(place) + rows, (uint32_t) 1);
		return place | PLACE_OF_GRID;
	}

	/* The record of a group that is the block's. */
	__device__ __forceinline__ uint32_t grid_place(uint32_t group) const
	{
		uint64_t key[2] = {keys[group], 0};

		if (launch.plan.groups.key_words > 1)
			key[1] = keys[launch.groups.local + group];
		return find_of_grid(key, hash_of(key));
	}

	/* ---- adding values ---- */

	/*
	 * Calls f(word, stride, k) for those rows k, with where the word of that number is.  Rows of
	 * the block's groups have the place known to the compiler as shared memory.
	 */
	template <class F> __device__ __forceinline__ void each(uint32_t rows, uint32_t word, F f) const
	{
		uint32_t others = 0;

		UNROLL
		for (int k = 0; k < V; k++)
		{
			uint32_t place = rows >> k & 1 ? places[k * blockDim.x] : PLACE_NONE;

			if (place < PLACE_OF_GRID)
				f(local_word(word) + place, local_stride(), k);
			else if (place != PLACE_NONE)
				others |= UINT32_C(1) << k;
		}
		if (others != 0)
		{
			UNROLL
			for (int k = 0; k < V; k++)
				if (others >> k & 1)
					f(record(places[k * blockDim.x] & ~PLACE_OF_GRID) + word, 1, k);
		}
	}

	template <class T, int N, int M>
	__device__ __forceinline__ void add_integers(const Lanes &a, uint32_t rows, uint32_t word) const
	{
		each(rows, word, [&](uint32_t *p, uint32_t stride, int k) {
			T v = Machine::template value<T>(a, k);
			uint32_t value[M];

			UNROLL
			for (int i = 0; i < M; i++)
				value[i] = (uint32_t) (v >> (i == 0 ? 0 : 32 * i));
			query_add_words<N>(p, stride, value, v < 0 ? UINT32_MAX : 0);
		});
	}

	/* Squares of 2 * M words. */
	template <class T, class Square, int N, int M>
	__device__ __forceinline__ void add_squares(const Lanes &a, uint32_t rows, uint32_t word) const
	{
		each(rows, word, [&](uint32_t *p, uint32_t stride, int k) {
			Square v = (Square) Machine::template value<T>(a, k);
			uint32_t value[M];

			v *= v;
			UNROLL
			for (int i = 0; i < M; i++)
				value[i] = (uint32_t) (v >> (32 * i));
			query_add_words<N>(p, stride, value, 0);
		});
	}

	/* Order keys plus 2^63; of MIN the complement. */
	template <class T>
	__device__ __forceinline__ void add_extremes(const GpuaggGroupField &field, const Lanes &a,
												 uint32_t rows) const
	{
		uint64_t flip = field.op == GPUAGG_MIN ? UINT64_MAX : 0;

		UNROLL
		for (int k = 0; k < V; k++)
		{
			uint32_t place = rows >> k & 1 ? places[k * blockDim.x] : PLACE_NONE;
			uint64_t key = (uint64_t) query_order_key(Machine::template value<T>(a, k)) ^
						   UINT64_C(1) << 63 ^ flip;

			if (place < PLACE_OF_GRID)
			{
				uint64_t *best = (uint64_t *) local_word(field.value) + place;

				if (key > load_shared(best))
					atomic_max(best, key);
			}
			else if (place != PLACE_NONE)
			{
				uint64_t *best = (uint64_t *) (record(place & ~PLACE_OF_GRID) + field.value);

				if (key > load_relaxed(best))
					atomic_max(best, key);
			}
		}
	}

	/* A float that is no number, -0, or does not fit. */
	__device__ __forceinline__ void add_special(uint32_t number, uint32_t place,
												uint64_t bits) const
	{
		const GpuQueryTable &table = launch.table;
		uint64_t size = bits & ~(UINT64_C(1) << 63);
		uint32_t at = place & ~PLACE_OF_GRID;
		int special;

		if (place < PLACE_OF_GRID)
			at = grid_place(place / launch.groups.replicas);
		if (at == PLACE_NONE)
			return;
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

	__device__ __forceinline__ void add_floats(uint32_t number, const Lanes &a, uint32_t rows) const
	{
		const GpuaggGroupField &field = launch.plan.groups.field[number];
		uint32_t special = 0;

		UNROLL
		for (int k = 0; k < V; k++)
		{
			uint64_t size = a.low[k] & ~(UINT64_C(1) << 63);
			bool fits = size < UINT64_C(0x7ff0000000000000) && QueryFloatWords(a.low[k]).fits;

			special |= (uint32_t) (!fits || (size == 0 && a.low[k] != 0)) << k;
			rows &= ~((uint32_t) (a.low[k] == 0) << k);
		}
		special &= rows;
		each(rows & ~special, field.value, [&](uint32_t *p, uint32_t stride, int k) {
			QueryFloatWords words(a.low[k]);
			uint32_t carry = 0;
			int i;

			p += (uint32_t) words.first * stride;
			UNROLL
			for (i = 0; i < 3; i++, p += stride)
				carry = query_add_word(p, words.value[i], carry);
			ROLLED
			for (i = words.first + 3; i < GPUAGG_GROUP_FLOAT_WORDS && words.sign + carry != 0;
				 i++, p += stride)
				carry = query_add_word(p, words.sign, carry);
		});
		if (special != 0)
		{
			uint64_t low[V];

			UNROLL
			for (int k = 0; k < V; k++)
				low[k] = a.low[k];
			ROLLED
			for (int k = 0; k < V; k++, Machine::turn(low))
				if ((special >> k & 1) && places[k * blockDim.x] != PLACE_NONE)
					add_special(number, places[k * blockDim.x], low[0]);
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
			each(missing, field.missing, [](uint32_t *p, uint32_t, int) {
				atomic_add(p, (uint32_t) 1);
			});
		switch (step.code)
		{
			case QUERY_AGGREGATE_CODE(GPUAGG_SUM, QUERY_INT32):
				add_integers<int32_t, 2, 1>(a, rows, field.value);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_SUM, QUERY_INT64):
				add_integers<int64_t, 3, 2>(a, rows, field.value);
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
				add_integers<int32_t, 2, 1>(a, rows, field.value);
				add_squares<int32_t, int64_t, 3, 2>(a, rows, field.squares);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_MOMENTS, QUERY_INT64):
				add_integers<int64_t, 3, 2>(a, rows, field.value);
				add_squares<int64_t, Wide, 5, 4>(a, rows, field.squares);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_SUM, QUERY_INT128):
				if constexpr (WIDE)
					add_integers<Wide, 5, 4>(a, rows, field.value);
				break;
		}
	}

	/* ---- the block's end ---- */

	/* Adds an integer of N words of a group of the block to its record. */
	template <int N>
	__device__ __forceinline__ void flush(uint32_t group, uint32_t *to, uint32_t word) const
	{
		uint32_t replicas = launch.groups.replicas;
		const uint32_t *from = local_word(word) + group * replicas;
		uint32_t total[N] = {};

		ROLLED
		for (uint32_t r = 0; r < replicas; r++)
		{
			uint64_t carry = 0;

			UNROLL
			for (int i = 0; i < N; i++)
			{
				carry += (uint64_t) total[i] + from[(uint32_t) i * local_stride() + r];
				total[i] = (uint32_t) carry;
				carry >>= 32;
			}
		}
		query_add_words<N>(to + word, 1, total, 0);
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

	__device__ __forceinline__ void flush_words(uint32_t group, uint32_t *to, uint32_t word,
												uint32_t words) const
	{
		switch (words)
		{
			case 2:
				flush<2>(group, to, word);
				break;
			case 3:
				flush<3>(group, to, word);
				break;
			case 5:
				flush<5>(group, to, word);
				break;
			case GPUAGG_GROUP_FLOAT_WORDS:
				flush<GPUAGG_GROUP_FLOAT_WORDS>(group, to, word);
				break;
		}
	}

	/* All threads: adds the block's groups to the grid's. */
	__device__ __forceinline__ void leave(QueryScratch *) const
	{
		const GpuaggGroupLayout &layout = launch.plan.groups;
		bool full = load_relaxed(&launch.table.counts->full) != 0;

		/* blocks begin at different groups, as atomics to one address wait for each other */
		uint32_t n = launch.groups.local;
		uint32_t begin = (uint32_t) ((uint64_t) n * blockIdx.x / gridDim.x);

		for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
		{
			uint32_t group = i + begin < n ? i + begin : i + begin - n;
			uint32_t at = keys[group] != 0 && !full ? grid_place(group) : PLACE_NONE;
			uint32_t *to = record(at);

			if (at == PLACE_NONE)
				continue;
			flush<1>(group, to, layout.rows);
			ROLLED
			for (uint32_t a = 0; a < layout.naggregates; a++)
			{
				const GpuaggGroupField &field = layout.field[a];

				if (field.missing != GPUAGG_GROUP_NONE)
					flush<1>(group, to, field.missing);
				if (field.value != GPUAGG_GROUP_NONE &&
					(field.op == GPUAGG_MIN || field.op == GPUAGG_MAX))
					flush_extreme(group, to, field.value);
				else if (field.value != GPUAGG_GROUP_NONE)
					flush_words(group, to, field.value, field.words);
				if (field.squares != GPUAGG_GROUP_NONE)
					flush_words(group, to, field.squares, field.square_words);
			}
		}
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
