/*
 * query_fused_narrow_groups.cuh
 *	  What threads have of few groups by integers of small known ranges, in columns of at most 32 bits.
 *
 * Every thread has the sums and counts of all groups to itself, in shared memory, so that nothing is
 * atomic; at the end a warp adds up those of a group and adds them to the grid's.  What
 * launches these kernels makes sure that a thread's sums fit in 64 bits.
 * The groups are numbered by their keys' values; behind them all there is a place for rows that do
 * not count.  A row whose key is outside its range is added to the grid's at once.
 *
 * A thread has a word for each sum, or an extreme's order key as records have it, and one more for
 * the rows where a product is NULL if any can be.  The kernel for sums without NULLs does without
 * all else.
 */
#ifndef GPUAGG_QUERY_FUSED_NARROW_GROUPS_CUH
#define GPUAGG_QUERY_FUSED_NARROW_GROUPS_CUH

#include "kernels/query_fused_narrow.cuh"
#include "kernels/query_fused_outside.cuh"

#define NARROW_COLUMNS	8
#define NARROW_KEYS		4
#define NARROW_PRODUCTS 8

struct NarrowKey
{
	uint32_t column; /* among the launch's */
	uint32_t count;	 /* of the range */
	uint32_t digits; /* with that of NULL, if there is any */
	uint32_t stride;
	int64_t least;
};

struct NarrowProduct
{
	uint32_t nfactors;
	uint32_t number; /* of the aggregate */
	uint32_t known;	 /* factors, the first: they are the product before; of COUNT all */
	uint16_t op;	 /* COUNT, SUM, MIN, MAX */
	uint16_t has_null;
	NarrowFactor factor[FUSED_FACTORS];
};

struct NarrowGroupLaunch
{
	QueryLaunch query;
	uint32_t ncolumns;
	uint32_t nread; /* of them; the others are only counted */
	uint32_t nranges;
	uint32_t nkeys;
	uint32_t nproducts;
	uint32_t words;	 /* of a thread for a group */
	uint32_t places; /* groups */
	uint32_t sums;	 /* where they begin in shared memory; before them are counts */
	uint32_t column[NARROW_COLUMNS];
	NarrowRange range[MOST_RANGES]; /* columns here and below are among the launch's */
	NarrowKey key[NARROW_KEYS];
	NarrowProduct product[NARROW_PRODUCTS];
};

/* What a warp knows of its chunk. */
struct NarrowChunk
{
	NarrowColumn column[NARROW_COLUMNS];
	NarrowBounds bounds[MOST_RANGES];
	NarrowBounds keys[NARROW_KEYS];
	uint32_t above[NARROW_KEYS]; /* of a stored value 0 above the key's least */
	bool no_key[NARROW_KEYS];	 /* is in its range */
	int64_t addend[NARROW_PRODUCTS * FUSED_FACTORS];
};

typedef uint32_t NarrowRaw[NARROW_COLUMNS][NARROW_ROWS];

/* Stored values of a column of that width. */
template <int WIDTH>
static __device__ __forceinline__ void
narrow_stored_in(const NarrowRaw &raw, uint32_t number, uint32_t (&stored)[NARROW_ROWS])
{
	constexpr int WORDS = NARROW_ROWS * WIDTH / 4;
	uint32_t words[NARROW_ROWS] = {};

	/* registers have no numbers */
	switch (number)
	{
#define COLUMN_OF(N)                    \
	case N:                             \
		UNROLL                          \
		for (int i = 0; i < WORDS; i++) \
			words[i] = raw[N][i];       \
		break
		COLUMN_OF(0);
		COLUMN_OF(1);
		COLUMN_OF(2);
		COLUMN_OF(3);
		COLUMN_OF(4);
		COLUMN_OF(5);
		COLUMN_OF(6);
#undef COLUMN_OF
		default:
			UNROLL
			for (int i = 0; i < WORDS; i++)
				words[i] = raw[NARROW_COLUMNS - 1][i];
	}
	narrow_each<WIDTH>(words, [&](int k, uint32_t value) {
		stored[k] = value;
	});
}

static __device__ __forceinline__ void
narrow_stored(const NarrowChunk &chunk, const NarrowRaw &raw, uint32_t number,
			  uint32_t (&stored)[NARROW_ROWS])
{
	switch (chunk.column[number].width)
	{
		case 1:
			narrow_stored_in<1>(raw, number, stored);
			break;
		case 2:
			narrow_stored_in<2>(raw, number, stored);
			break;
		default:
			narrow_stored_in<4>(raw, number, stored);
	}
}

/* Warps of a block: as many as leave registers enough. */
template <class Factor> constexpr unsigned MOST_WARPS = sizeof(Factor) > 4 ? 12 : 16;

/* Factor: of which the values of all factors are; ALL: not only sums without NULLs. */
template <class Factor, bool ALL>
struct NarrowGroupSums : QueryGroups<QueryMachine<NARROW_ROWS, false, false>>
{
	typedef typename FusedBits<sizeof(Factor)>::Type Bits;
	typedef QueryGroups<QueryMachine<NARROW_ROWS, false, false>> Groups;

	using Groups::direct_key;
	using Groups::find_of_grid;
	using Groups::hash_of;
	using Groups::launch;
	using Groups::record;
	using Groups::shared;

	const NarrowGroupLaunch &narrow;
	NarrowChunk &chunk;

	__device__ __forceinline__ NarrowGroupSums(const NarrowGroupLaunch &of, unsigned char *memory)
		: Groups(of.query, memory), narrow(of),
		  chunk(((NarrowChunk *) (memory + of.query.layout.walk))[warp_id()])
	{
	}

	/* Of all groups and the place behind them, a thread's beside another's. */
	__device__ __forceinline__ uint32_t *counts() const
	{
		return (uint32_t *) (shared + launch.layout.sums);
	}

	__device__ __forceinline__ uint64_t *sums() const
	{
		return (uint64_t *) (shared + narrow.sums);
	}

	__device__ __forceinline__ void clear() const
	{
		uint32_t words = (launch.layout.bytes - launch.layout.sums) / 4;

		for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
			counts()[i] = 0;
	}

	/* The lanes of a warp describe a chunk; false: no row of it is in all ranges. */
	__device__ __forceinline__ bool enter(const GpuQueryBlock *blocks) const
	{
		uint32_t lane = (uint32_t) lane_id();
		bool none = false;

		__syncwarp(FULL_MASK);
		if (lane < narrow.ncolumns)
			chunk.column[lane] = NarrowColumn(blocks[narrow.column[lane]]);
		if (lane < narrow.nranges)
		{
			const NarrowRange &range = narrow.range[lane];

			none = !narrow_bounds(range, blocks[narrow.column[range.column]], &chunk.bounds[lane]);
		}
		if (lane < narrow.nkeys)
		{
			const NarrowKey &key = narrow.key[lane];

			const GpuQueryBlock &block = blocks[narrow.column[key.column]];
			NarrowRange range = {0, key.least, key.least + (int64_t) key.count - 1};

			chunk.above[lane] = (uint32_t) (block.base.lo - (uint64_t) key.least);
			chunk.no_key[lane] = !narrow_bounds(range, block, &chunk.keys[lane]);
		}
		if (lane < narrow.nproducts * FUSED_FACTORS)
		{
			const NarrowProduct &product = narrow.product[lane / FUSED_FACTORS];
			const NarrowFactor &factor = product.factor[lane % FUSED_FACTORS];

			if (lane % FUSED_FACTORS < product.nfactors)
				chunk.addend[lane] = narrow_addend(factor, blocks[narrow.column[factor.column]]);
		}
		none = __any_sync(FULL_MASK, none);
		__syncwarp(FULL_MASK);
		return !none;
	}

	/* The numbers of the rows' groups; returns those of the rows whose keys are outside the ranges. */
	__device__ __forceinline__ uint32_t find_places(const NarrowRaw &raw, uint32_t at,
													uint32_t live,
													uint32_t (&place)[NARROW_ROWS]) const
	{
		uint32_t outside = 0;

		UNROLL
		for (int k = 0; k < NARROW_ROWS; k++)
			place[k] = 0;
		ROLLED
		for (uint32_t i = 0; i < narrow.nkeys; i++)
		{
			const NarrowKey &key = narrow.key[i];
			NarrowBounds bounds = chunk.keys[i];
			uint32_t valid = chunk.column[key.column].valid_rows(at);
			uint32_t above = chunk.above[i];
			uint32_t stride = key.stride;
			uint32_t met = 0;
			uint32_t stored[NARROW_ROWS];

			narrow_stored(chunk, raw, key.column, stored);
			UNROLL
			for (int k = 0; k < NARROW_ROWS; k++)
			{
				met |= (uint32_t) bounds.have(stored[k]) << k;
				place[k] += (valid >> k & 1 ? above + stored[k] : key.count) * stride;
			}
			outside |= (chunk.no_key[i] ? valid : valid & ~met);
		}
		outside &= live;
		live &= ~outside;
		UNROLL
		for (int k = 0; k < NARROW_ROWS; k++)
			place[k] = live >> k & 1 ? place[k] : narrow.places;
		return outside;
	}

	/* The bits of a lane's rows where a product is not NULL. */
	__device__ __forceinline__ uint32_t valid_rows(const NarrowProduct &product, uint32_t row) const
	{
		uint32_t valid = ALL_ROWS<NARROW_ROWS>;

		ROLLED
		for (uint32_t f = 0; product.has_null != 0 && f < product.nfactors; f++)
			valid &= chunk.column[product.factor[f].column].valid_rows(row);
		return valid;
	}

	/* What is not a sum of products that are all there; the next words of the groups. */
	__device__ __forceinline__ void add_others(const NarrowProduct &product, uint32_t row,
											   const uint64_t (&value)[NARROW_ROWS], char *first,
											   uint32_t stride, uint32_t (&at)[NARROW_ROWS]) const
	{
		uint32_t valid = valid_rows(product, row);

		if (product.op == GPUAGG_SUM)
		{
			UNROLL
			for (int k = 0; k < NARROW_ROWS; k++)
			{
				*(uint64_t *) (first + at[k]) += valid >> k & 1 ? value[k] : 0;
				at[k] += stride;
			}
		}
		else if (product.op != GPUAGG_COUNT)
		{
			uint64_t flip = query_extreme_flip(product.op);

			UNROLL
			for (int k = 0; k < NARROW_ROWS; k++)
			{
				uint64_t *best = (uint64_t *) (first + at[k]);
				uint64_t key = valid >> k & 1 ? value[k] ^ flip : 0;

				*best = key > *best ? key : *best;
				at[k] += stride;
			}
		}
		if (product.has_null != 0)
		{
			UNROLL
			for (int k = 0; k < NARROW_ROWS; k++)
			{
				if ((valid >> k & 1) == 0)
					++*(uint64_t *) (first + at[k]);
				at[k] += stride;
			}
		}
	}

	/* Adds the products of all rows to what this thread has of their groups. */
	__device__ __forceinline__ void add(const NarrowRaw &raw, uint32_t row,
										const uint32_t (&place)[NARROW_ROWS]) const
	{
		uint32_t stride = blockDim.x * (uint32_t) sizeof(uint64_t); /* between products */
		char *first = (char *) (sums() + threadIdx.x);
		uint32_t at[NARROW_ROWS];
		uint64_t value[NARROW_ROWS] = {};

		UNROLL
		for (int k = 0; k < NARROW_ROWS; k++)
		{
			counts()[place[k] * blockDim.x + threadIdx.x]++;
			at[k] = place[k] * narrow.words * stride;
		}
		ROLLED
		for (uint32_t p = 0; p < narrow.nproducts; p++)
		{
			const NarrowProduct &product = narrow.product[p];

			ROLLED
			for (uint32_t f = product.known; f < product.nfactors; f++)
			{
				/* the complement of a number is one less than its contrary */
				Bits sign = product.factor[f].negative != 0 ? ~(Bits) 0 : 0;
				Bits addend = (Bits) chunk.addend[p * FUSED_FACTORS + f] - sign;
				uint32_t stored[NARROW_ROWS];

				narrow_stored(chunk, raw, product.factor[f].column, stored);
				if (f == 0)
				{
					UNROLL
					for (int k = 0; k < NARROW_ROWS; k++)
						value[k] = (uint64_t) (int64_t) (Factor) (addend + (stored[k] ^ sign));
				}
				else
				{
					UNROLL
					for (int k = 0; k < NARROW_ROWS; k++)
						value[k] *= (uint64_t) (int64_t) (Factor) (addend + (stored[k] ^ sign));
				}
			}
			if constexpr (ALL)
				add_others(product, row, value, first, stride, at);
			else
			{
				UNROLL
				for (int k = 0; k < NARROW_ROWS; k++)
				{
					*(uint64_t *) (first + at[k]) += value[k];
					at[k] += stride;
				}
			}
		}
	}

	/* Adds a row to the grid's groups. */
	__device__ void add_outside(const GpuQueryBlock *blocks, uint32_t row) const
	{
		const GpuQueryPlan &plan = launch.plan;
		WideBits bits = 0;
		uint32_t at;

		ROLLED
		for (uint32_t i = 0; i < plan.groups.nkeys; i++)
		{
			uint32_t column = QUERY_SOURCE_NUMBER(plan.key[i]);
			int64_t stored = stored_value(blocks[column], plan.type[column], row);
			uint64_t value = Groups::key_bits(plan.groups.key_type[i], (uint64_t) stored);

			bits |= (is_valid(blocks[column], row) ? (WideBits) value << 1 : (WideBits) 1)
					<< plan.groups.key_at[i];
		}

		uint64_t key[2] = {(uint64_t) bits << 1 | 1, (uint64_t) (bits >> 63) << 1 | 1};

		at = find_of_grid(key, hash_of(key));
		if (at == PLACE_NONE)
			return;
		atomic_add(record(at) + plan.groups.rows, (uint32_t) 1);
		ROLLED
		for (uint32_t p = 0; p < narrow.nproducts; p++)
		{
			const NarrowProduct &product = narrow.product[p];
			const GpuaggGroupField &field = plan.groups.field[product.number];
			int64_t value = 1;
			bool valid = true;

			ROLLED
			for (uint32_t f = 0; f < product.nfactors; f++)
			{
				const NarrowFactor &factor = product.factor[f];
				uint32_t column = narrow.column[factor.column];

				if (ALL)
					valid = valid && is_valid(blocks[column], row);
				if (ALL && product.op == GPUAGG_COUNT)
					continue;

				int64_t stored = stored_value(blocks[column], plan.type[column], row);

				value *= factor.negative ? factor.constant - stored : factor.constant + stored;
			}
			if (ALL && !valid)
				atomic_add(record(at) + field.missing, (uint32_t) 1);
			else if (!ALL || product.op == GPUAGG_SUM)
				add_outside_value((uint64_t *) (record(at) + field.value), field.words == 2, value);
			else if (product.op != GPUAGG_COUNT)
				atomic_max((uint64_t *) (record(at) + field.value),
						   (uint64_t) value ^ query_extreme_flip(product.op));
		}
	}

	__device__ __forceinline__ void take_window(const GpuQueryBlock *blocks, const uint64_t *mask,
												uint32_t first, uint32_t end) const
	{
		uint32_t row = first + (uint32_t) lane_id() * NARROW_ROWS;
		uint32_t at = narrow_at(row, end);
		uint32_t live = narrow_rows(row, end);
		uint32_t place[NARROW_ROWS];
		uint32_t outside;
		NarrowRaw raw;

		UNROLL
		for (uint32_t c = 0; c < NARROW_COLUMNS; c++)
			if (c < narrow.nread)
				narrow_load(chunk.column[c], at, raw[c]);
		if (mask != nullptr)
			live &= *global_memory((const uint8_t *) mask + at / NARROW_ROWS);
		ROLLED
		for (uint32_t i = 0; i < narrow.nranges; i++)
		{
			NarrowBounds bounds = chunk.bounds[i];
			uint32_t column = narrow.range[i].column;
			uint32_t met = 0;
			uint32_t stored[NARROW_ROWS];

			narrow_stored(chunk, raw, column, stored);
			UNROLL
			for (int k = 0; k < NARROW_ROWS; k++)
				met |= (uint32_t) bounds.have(stored[k]) << k;
			live &= met & chunk.column[column].valid_rows(at);
		}
		if (!__any_sync(FULL_MASK, live != 0))
			return;
		outside = find_places(raw, at, live, place);
		add(raw, at, place);
		while (outside != 0)
		{
			add_outside(blocks, row + (uint32_t) bit_count((outside & -outside) - 1));
			outside &= outside - 1;
		}
		__syncwarp(FULL_MASK);
	}

	/* The number of a group among all that the ranges leave (query_group_tables.cuh). */
	__device__ __forceinline__ uint32_t number_of(uint32_t place) const
	{
		uint32_t number = 0;
		uint32_t stride = 1;

		ROLLED
		for (uint32_t i = 0; i < narrow.nkeys; i++)
		{
			number += place / narrow.key[i].stride % narrow.key[i].digits * stride;
			stride *= narrow.key[i].count + 1;
		}
		return number;
	}

	/* The sum over the lanes, in all of them. */
	__device__ __forceinline__ static uint64_t over_lanes(uint64_t v)
	{
		ROLLED
		for (int bit = 1; bit < WARP_SIZE; bit *= 2)
			v += warp_shfl_xor(v, bit);
		return v;
	}

	/* What all threads have of a word, to a group of the grid's: a sum, */
	__device__ __forceinline__ static void flush_sum(const uint64_t *sum, uint64_t *digit,
													 bool is_one)
	{
		uint64_t low = 0;
		uint64_t high = 0;

		for (uint32_t i = (uint32_t) lane_id(); i < blockDim.x; i += WARP_SIZE)
		{
			low += (uint32_t) sum[i];
			high += (uint64_t) ((int64_t) sum[i] >> 32);
		}
		low = over_lanes(low);
		high = over_lanes(high);
		if (lane_id() == 0)
		{
			query_add_digit(digit, (int64_t) (is_one ? low + (high << 32) : low));
			if (!is_one)
				query_add_digit(digit + 1, (int64_t) high);
		}
	}

	/* an extreme, */
	__device__ __forceinline__ static void flush_extreme(const uint64_t *keys, uint64_t *best)
	{
		uint64_t most = 0;

		for (uint32_t i = (uint32_t) lane_id(); i < blockDim.x; i += WARP_SIZE)
			most = keys[i] > most ? keys[i] : most;
		ROLLED
		for (int bit = 1; bit < WARP_SIZE; bit *= 2)
		{
			uint64_t other = warp_shfl_xor(most, bit);

			most = other > most ? other : most;
		}
		if (lane_id() == 0 && most > load_relaxed(best))
			atomic_max(best, most);
	}

	/* or rows that do not count. */
	__device__ __forceinline__ static void flush_missing(const uint64_t *counts, uint32_t *missing)
	{
		uint64_t n = 0;

		for (uint32_t i = (uint32_t) lane_id(); i < blockDim.x; i += WARP_SIZE)
			n += counts[i];
		n = over_lanes(n);
		if (lane_id() == 0 && n > 0)
			atomic_add(missing, (uint32_t) n);
	}

	/* A warp adds a group to the grid's. */
	__device__ __forceinline__ void flush(uint32_t place) const
	{
		uint32_t lane = (uint32_t) lane_id();
		const uint32_t *count = counts() + place * blockDim.x;
		const uint64_t *sum = sums() + place * narrow.words * blockDim.x;
		uint64_t key[2];
		uint64_t rows = 0;
		uint32_t at = PLACE_NONE;

		for (uint32_t i = lane; i < blockDim.x; i += WARP_SIZE)
			rows += count[i];
		rows = over_lanes(rows);
		if (rows == 0)
			return;
		if (lane == 0)
		{
			direct_key(number_of(place), key);
			at = find_of_grid(key, hash_of(key));
			if (at != PLACE_NONE)
				atomic_add(record(at) + launch.plan.groups.rows, (uint32_t) rows);
		}
		at = warp_shfl(at, 0);
		for (uint32_t p = 0; p < narrow.nproducts && at != PLACE_NONE; p++)
		{
			const NarrowProduct &product = narrow.product[p];
			const GpuaggGroupField &field = launch.plan.groups.field[product.number];

			if (!ALL || product.op == GPUAGG_SUM)
				flush_sum(sum, (uint64_t *) (record(at) + field.value), field.words == 2);
			else if (product.op != GPUAGG_COUNT)
				flush_extreme(sum, (uint64_t *) (record(at) + field.value));
			if (!ALL || product.op != GPUAGG_COUNT)
				sum += blockDim.x;
			if (ALL && product.has_null != 0)
			{
				flush_missing(sum, record(at) + field.missing);
				sum += blockDim.x;
			}
		}
	}
};

#endif /* GPUAGG_QUERY_FUSED_NARROW_GROUPS_CUH */
