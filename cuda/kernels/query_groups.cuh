/*
 * query_groups.cuh
 *	  Groups of the query machine: rows' values into sums of a block's groups or the grid's.
 *
 * As sums are digits with a sign each (query_group_flush.cuh), no addition carries or waits for what
 * was there before, and as additions commute their order changes no bit.
 */
#ifndef GPUAGG_QUERY_GROUPS_CUH
#define GPUAGG_QUERY_GROUPS_CUH

#include "kernels/query_group_flush.cuh"

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

template <class Machine> struct QueryGroups : QueryGroupFlush<Machine>
{
	typedef QueryGroupFlush<Machine> Flush;
	typedef typename Machine::Lanes Lanes;

	using Flush::greatest_of_block;
	using Flush::greatest_of_grid;
	using Flush::grid_place;
	using Flush::launch;
	using Flush::local_stride;
	using Flush::local_word;
	using Flush::nowhere;
	using Flush::of_grid;
	using Flush::places;
	using Flush::record;

	static constexpr int V = Machine::ROWS;
	static constexpr bool WIDE = Machine::HAS_WIDE;

	__device__ __forceinline__ QueryGroups(const QueryLaunch &query, unsigned char *memory)
		: Flush(query, memory)
	{
	}

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

	/* The same of 128 bits, whose upper halves are often 0. */
	__device__ __forceinline__ void add_wide_squares(const Lanes &a, uint32_t rows,
													 uint32_t word) const
	{
		uint64_t low[V];
		uint64_t high[V];

		UNROLL
		for (int k = 0; k < V; k++)
		{
			low[k] = a.low[k];
			high[k] = a.high[k];
		}
		ROLLED
		for (int k = 0; k < V; k++, Machine::turn(low), Machine::turn(high))
		{
			uint32_t place = places()[k * blockDim.x];
			uint64_t square[4];

			if ((rows >> k & 1) == 0)
				continue;
			query_square(QueryType<Wide>::from(low[0], high[0]), square);
			if (of_grid() >> k & 1)
			{
				uint64_t *digit = (uint64_t *) (record(place) + word);

				UNROLL
				for (int i = 0; i < 8; i++)
					query_add_digit(digit + i,
									(int64_t) (uint32_t) (square[i / 2] >> 32 * (i % 2)));
			}
			else
			{
				uint32_t *half = local_word(word) + place;

				UNROLL
				for (int i = 0; i < 16; i++, half += local_stride())
				{
					uint32_t v = (uint32_t) (square[i / 4] >> 16 * (i % 4)) & 0xffff;

					if (v != 0)
						atomic_add(half, v);
				}
			}
		}
	}

	/* Order keys plus 2^63; of MIN the complement. */
	template <class T>
	__device__ __forceinline__ void add_extremes(const GpuaggGroupField &field, const Lanes &a,
												 uint32_t rows) const
	{
		uint64_t flip = query_extreme_flip(field.op);
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

	/* Values of 128 bits: those that 64 bits hold, and whose key is not 0 there, as these. */
	__device__ __forceinline__ void add_wide_extremes(const GpuaggGroupField &field, const Lanes &a,
													  uint32_t rows) const
	{
		WideBits sign = (WideBits) 1 << 127;
		uint64_t flip = field.op == GPUAGG_MIN ? UINT64_MAX : 0;
		uint64_t low[V];
		uint64_t high[V];
		uint32_t narrow = 0;

		UNROLL
		for (int k = 0; k < V; k++)
		{
			low[k] = a.low[k];
			high[k] = a.high[k];
			narrow |= (uint32_t) (high[k] == (uint64_t) ((int64_t) low[k] >> 63) &&
								  (low[k] ^ flip) != UINT64_C(1) << 63)
					  << k;
		}
		add_extremes<int64_t>(field, a, rows & narrow);
		rows &= ~narrow;
		if (rows == 0)
			return;
		ROLLED
		for (int k = 0; k < V; k++, Machine::turn(low), Machine::turn(high))
		{
			uint32_t place = places()[k * blockDim.x];
			bool is_far = of_grid() >> k & 1;
			WideBits key = ((WideBits) (high[0] ^ flip) << 64 | (low[0] ^ flip)) ^ sign;

			key += key < sign;
			if ((rows >> k & 1) != 0 && (is_far || place < nowhere() - (uint32_t) lane_id()))
				(is_far ? greatest_of_grid(record(place), field.value)
						: greatest_of_block(place, field.value))
					.raise(key);
		}
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

	/* The same of its square, which is never negative. */
	__device__ __forceinline__ void add_float_square(uint32_t *half, uint64_t bits) const
	{
		QueryFloatPlace place(bits);
		WideBits square = (WideBits) place.mantissa * place.mantissa << 2 * place.at % 16;

		half += (uint32_t) (2 * place.at / 16) * local_stride();
		UNROLL
		for (int i = 0; i < 8; i++, half += local_stride())
		{
			uint32_t v = (uint32_t) (square >> 16 * i) & 0xffff;

			if (v != 0)
				atomic_add(half, v);
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

	__device__ __forceinline__ void add_far_square(uint64_t *digit, uint64_t bits) const
	{
		QueryFloatPlace place(bits);
		int shift = 2 * place.at % 32;
		WideBits square = (WideBits) place.mantissa * place.mantissa;

		digit += 2 * place.at / 32;
		UNROLL
		for (int i = 0; i < 4; i++)
			query_add_digit(digit + i, (int64_t) (uint32_t) (square << shift >> 32 * i));
		query_add_digit(digit + 4, (int64_t) (uint32_t) (square >> 96 >> (32 - shift)));
	}

	template <bool SQUARES>
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
				if constexpr (SQUARES)
					add_float_square(local_word(field.squares) + place,
									 rows >> k & 1 ? a.low[k] : 0);
			},
			[&](uint32_t *to, int k) {
				add_far_float((uint64_t *) (to + field.value), a.low[k]);
				if constexpr (SQUARES)
					add_far_square((uint64_t *) (to + field.squares), a.low[k]);
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
				add_floats<false>(step.arg, a, rows);
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
			case QUERY_AGGREGATE_CODE(GPUAGG_MOMENTS, QUERY_FLOAT64):
				add_floats<true>(step.arg, a, rows);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_SUM, QUERY_INT128):
				if constexpr (WIDE)
					add_integers<Wide>(a, rows, field.value);
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_MOMENTS, QUERY_INT128):
				if constexpr (WIDE)
				{
					add_integers<Wide>(a, rows, field.value);
					add_wide_squares(a, rows, field.squares);
				}
				break;
			case QUERY_AGGREGATE_CODE(GPUAGG_MIN, QUERY_INT128):
			case QUERY_AGGREGATE_CODE(GPUAGG_MAX, QUERY_INT128):
				if constexpr (WIDE)
					add_wide_extremes(field, a, rows);
				break;
		}
	}
};

#endif /* GPUAGG_QUERY_GROUPS_CUH */
