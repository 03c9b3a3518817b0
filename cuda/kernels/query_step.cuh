/*
 * query_step.cuh
 *	  Steps of the query machine: operands, operations, results.
 *
 * A warp runs a plan's steps over its rows of a tile; all that decides which way it goes is
 * the same in all lanes.  Registers are never indexed by a number that is not known when the
 * kernel is compiled, so they stay registers.
 */
#ifndef GPUAGG_QUERY_STEP_CUH
#define GPUAGG_QUERY_STEP_CUH

#include "common/zone.h"
#include "kernels/query_tile.cuh"
#include "kernels/query_value.cuh"

template <int V, bool WIDE, bool HEAVY> struct QueryMachine
{
	typedef QueryLanes<V, WIDE> Lanes;

	static constexpr int ROWS = V;
	static constexpr bool HAS_WIDE = WIDE;
	static constexpr bool HAS_HEAVY = HEAVY;
	static constexpr uint32_t ALL = ALL_ROWS<V>;

	const QueryLaunch &launch;
	const unsigned char *stage;
	unsigned char *temporaries; /* of the warp */
	uint32_t live;
	uint32_t flagged;

	__device__ __forceinline__ QueryMachine(const QueryLaunch &query, unsigned char *memory)
		: launch(query), stage(nullptr), temporaries(memory), live(0), flagged(0)
	{
	}

	/* This lane's bits of a bitmap of the tile. */
	__device__ __forceinline__ uint32_t tile_bits(const unsigned char *bitmap) const
	{
		const Quad *quads = (const Quad *) (bitmap + warp_id() * V * 4);
		uint32_t all = UINT32_MAX;
		uint32_t bits = 0;
		uint32_t word[V];

		UNROLL
		for (int k = 0; k < V; k += 4)
		{
			Quad quad = quads[k / 4];

			UNROLL
			for (int i = 0; i < 4; i++)
			{
				word[k + i] = quad.word[i];
				all &= quad.word[i];
			}
		}
		if (all == UINT32_MAX)
			return ALL;
		UNROLL
		for (int k = 0; k < V; k++)
			bits |= (word[k] >> lane_id() & 1) << k;
		return bits;
	}

	/* Begins a tile; returns whether this warp has a live row. */
	__device__ __forceinline__ bool begin(const unsigned char *begun)
	{
		const QueryTile &tile = *(const QueryTile *) begun;
		int first = warp_id() * V * WARP_SIZE;
		int left = (int) tile.rows - first;

		stage = begun;
		flagged = 0;
		live = ALL;
		if (left < V * WARP_SIZE)
		{
			live = 0;
			UNROLL
			for (int k = 0; k < V; k++)
				live |= (uint32_t) (k * WARP_SIZE + lane_id() < left) << k;
		}
		if (tile.has_mask)
			live &= tile_bits(stage + launch.layout.mask);
		return __any_sync(FULL_MASK, live != 0);
	}

	__device__ __forceinline__ const QueryColumn &column(uint32_t number) const
	{
		return ((const QueryColumn *) (stage + sizeof(QueryTile)))[number];
	}

	__device__ __forceinline__ uint32_t column_valid(uint32_t number) const
	{
		return column(number).has_nulls ? tile_bits(stage + launch.layout.valid[number]) : ALL;
	}

	/* NULL bits of temporaries, of a BOOL those of its values too, from bit 16 on. */
	__device__ __forceinline__ uint32_t &temporary_bits(uint32_t number) const
	{
		uint32_t *bits = (uint32_t *) (temporaries + launch.plan.temporaries * V * WARP_SIZE);

		return bits[(number >> 16) * WARP_SIZE + (uint32_t) lane_id()];
	}

	template <class T> __device__ __forceinline__ T *temporary(uint32_t number) const
	{
		return (T *) (temporaries + (number & 0xffff) * V * WARP_SIZE) + lane_id();
	}

	/* Values of the tile that begin at `from`. */
	template <class T, class As>
	__device__ __forceinline__ static void take(uint64_t (&to)[V], const unsigned char *from)
	{
		const T *values = (const T *) from + warp_id() * V * WARP_SIZE + lane_id();

		UNROLL
		for (int k = 0; k < V; k++)
			to[k] = (uint64_t) (As) values[k * WARP_SIZE];
	}

	__device__ __forceinline__ void load_column(Lanes &to, uint32_t number) const
	{
		const QueryColumn &from = column(number);
		const unsigned char *values = stage + launch.layout.values[number];

		if (WIDE)
		{
			UNROLL
			for (int k = 0; k < V; k++)
				to.high[WIDE ? k : 0] = 0;
		}
		switch (from.mode)
		{
			case LOAD_BITS:
				to.bits = tile_bits(values);
				break;
			case LOAD_8:
				take<uint8_t, uint8_t>(to.low, values);
				break;
			case LOAD_16:
				take<uint16_t, uint16_t>(to.low, values);
				break;
			case LOAD_INT16:
				take<int16_t, int64_t>(to.low, values);
				break;
			case LOAD_32:
				take<uint32_t, uint32_t>(to.low, values);
				break;
			case LOAD_64:
				take<uint64_t, uint64_t>(to.low, values);
				break;
			default:
				if (WIDE)
				{
					const Quad *quads = (const Quad *) values + warp_id() * V * WARP_SIZE +
										lane_id();

					UNROLL
					for (int k = 0; k < V; k++)
					{
						Quad quad = quads[k * WARP_SIZE];

						to.low[k] = quad.word[0] | (uint64_t) quad.word[1] << 32;
						to.high[WIDE ? k : 0] = quad.word[2] | (uint64_t) quad.word[3] << 32;
					}
				}
		}
		if (from.has_base)
		{
			UNROLL
			for (int k = 0; k < V; k++)
			{
				to.low[k] += from.base_low;
				if (WIDE)
					to.high[WIDE ? k : 0] += from.base_high + (to.low[k] < from.base_low);
			}
		}
		to.valid = column_valid(number);
	}

	__device__ __forceinline__ void load(Lanes &to, uint32_t source) const
	{
		uint32_t number = QUERY_SOURCE_NUMBER(source);

		switch (QUERY_SOURCE_KIND(source))
		{
			case QUERY_COLUMN:
				load_column(to, number);
				break;
			case QUERY_CONSTANT:
			case QUERY_NULL:
				UNROLL
				for (int k = 0; k < V; k++)
				{
					to.low[k] = launch.plan.constants[number].lo;
					if (WIDE)
						to.high[WIDE ? k : 0] = (uint64_t) launch.plan.constants[number].hi;
				}
				to.bits = (to.low[0] & 1) != 0 ? ALL : 0;
				to.valid = QUERY_SOURCE_KIND(source) == QUERY_CONSTANT ? ALL : 0;
				break;
			case QUERY_TEMPORARY0:
				to.valid = temporary_bits(number);
				to.bits = to.valid >> 16;
				to.valid &= ALL;
				break;
			case QUERY_TEMPORARY4:
				UNROLL
				for (int k = 0; k < V; k++)
					to.low[k] = temporary<uint32_t>(number)[k * WARP_SIZE];
				to.valid = temporary_bits(number);
				break;
			case QUERY_TEMPORARY8:
				UNROLL
				for (int k = 0; k < V; k++)
					to.low[k] = temporary<uint64_t>(number)[k * WARP_SIZE];
				to.valid = temporary_bits(number);
				break;
			default: /* QUERY_TEMPORARY16 */
				if (WIDE)
				{
					UNROLL
					for (int k = 0; k < V; k++)
					{
						Quad quad = temporary<Quad>(number)[k * WARP_SIZE];

						to.low[k] = quad.word[0] | (uint64_t) quad.word[1] << 32;
						to.high[WIDE ? k : 0] = quad.word[2] | (uint64_t) quad.word[3] << 32;
					}
				}
				to.valid = temporary_bits(number);
				break;
		}
	}

	/* The rows for which a BOOL that is not in the accumulator is true; of NONE: all. */
	__device__ __forceinline__ uint32_t rows_of(uint32_t source) const
	{
		uint32_t number = QUERY_SOURCE_NUMBER(source);
		uint32_t bits;

		switch (QUERY_SOURCE_KIND(source))
		{
			case QUERY_NONE:
				return ALL;
			case QUERY_COLUMN:
				return tile_bits(stage + launch.layout.values[number]) & column_valid(number);
			case QUERY_CONSTANT:
				return (launch.plan.constants[number].lo & 1) != 0 ? ALL : 0;
			case QUERY_TEMPORARY0:
				bits = temporary_bits(number);
				return bits & bits >> 16;
			default:
				return 0;
		}
	}

	__device__ __forceinline__ void store(const Lanes &from, uint32_t source) const
	{
		uint32_t number = QUERY_SOURCE_NUMBER(source);

		switch (QUERY_SOURCE_KIND(source))
		{
			case QUERY_TEMPORARY0:
				temporary_bits(number) = from.valid | from.bits << 16;
				break;
			case QUERY_TEMPORARY4:
				UNROLL
				for (int k = 0; k < V; k++)
					temporary<uint32_t>(number)[k * WARP_SIZE] = (uint32_t) from.low[k];
				temporary_bits(number) = from.valid;
				break;
			case QUERY_TEMPORARY8:
				UNROLL
				for (int k = 0; k < V; k++)
					temporary<uint64_t>(number)[k * WARP_SIZE] = from.low[k];
				temporary_bits(number) = from.valid;
				break;
			case QUERY_TEMPORARY16:
				if (WIDE)
				{
					UNROLL
					for (int k = 0; k < V; k++)
						temporary<Quad>(number)[k * WARP_SIZE] = {
							{(uint32_t) from.low[k], (uint32_t) (from.low[k] >> 32),
							 (uint32_t) from.high[WIDE ? k : 0],
							 (uint32_t) (from.high[WIDE ? k : 0] >> 32)}};
				}
				temporary_bits(number) = from.valid;
				break;
		}
	}

	template <class T> __device__ __forceinline__ static T value(const Lanes &lanes, int k)
	{
		return QueryType<T>::from(lanes.low[k], lanes.high[WIDE ? k : 0]);
	}

	template <class T> __device__ __forceinline__ static void put(Lanes &lanes, int k, T v)
	{
		QueryType<T>::to(v, lanes.low[k], lanes.high[WIDE ? k : 0]);
	}

	/* A loop that only uses the first row keeps registers without being unrolled. */
	template <int SIZE> __device__ __forceinline__ static void turn(uint64_t (&v)[SIZE])
	{
		uint64_t first = v[0];

		UNROLL
		for (int k = 0; k < SIZE - 1; k++)
			v[k] = v[k + 1];
		v[SIZE - 1] = first;
	}

	__device__ __forceinline__ static void turn(Lanes &lanes)
	{
		turn(lanes.low);
		if (WIDE)
			turn(lanes.high);
	}

	/* a = a op b; returns the rows that are to be flagged if they count. */
	template <class Op, class T, class B = T>
	__device__ __forceinline__ static uint32_t binary(Lanes &a, Lanes &b)
	{
		uint32_t bad = 0;

		a.valid &= b.valid;
		if constexpr (Op::HEAVY)
		{
			ROLLED
			for (int k = 0; k < V; k++)
			{
				bool wrong = false;

				put(a, 0, Op::run(value<T>(a, 0), value<B>(b, 0), wrong));
				bad |= (uint32_t) wrong << k;
				turn(a);
				turn(b);
			}
		}
		else
		{
			UNROLL
			for (int k = 0; k < V; k++)
			{
				bool wrong = false;

				put(a, k, Op::run(value<T>(a, k), value<B>(b, k), wrong));
				bad |= (uint32_t) wrong << k;
			}
		}
		return bad;
	}

	template <class Op, class T> __device__ __forceinline__ static uint32_t unary(Lanes &a)
	{
		uint32_t bad = 0;

		UNROLL
		for (int k = 0; k < V; k++)
		{
			bool wrong = false;

			put(a, k, Op::run(value<T>(a, k), value<T>(a, k), wrong));
			bad |= (uint32_t) wrong << k;
		}
		return bad;
	}

	template <class Op, class T> __device__ __forceinline__ static uint32_t cast(Lanes &a)
	{
		uint32_t bad = 0;

		if constexpr (Op::HEAVY)
		{
			ROLLED
			for (int k = 0; k < V; k++)
			{
				bool wrong = false;

				put(a, 0, Op::run(value<T>(a, 0), wrong));
				bad |= (uint32_t) wrong << k;
				turn(a);
			}
		}
		else
		{
			UNROLL
			for (int k = 0; k < V; k++)
			{
				bool wrong = false;

				put(a, k, Op::run(value<T>(a, k), wrong));
				bad |= (uint32_t) wrong << k;
			}
		}
		return bad;
	}

	/* Parts of times: a field, or what is truncated to it. */
	template <bool TRUNCATES>
	__device__ __forceinline__ static uint32_t part_of_time(Lanes &a, int field)
	{
		uint32_t bad = 0;

		ROLLED
		for (int k = 0; k < V; k++)
		{
			int64_t time = value<int64_t>(a, 0);
			bool right;

			put(a, 0,
				TRUNCATES ? calendar_trunc(field, time, &right)
						  : calendar_field(field, time, &right));
			bad |= (uint32_t) !right << k;
			turn(a);
		}
		return bad;
	}

	/* A piece of a step's zone. */
	__device__ __forceinline__ int64_t piece_of(const GpuQueryStep &step, uint32_t number) const
	{
		const GpuaggInt128 &two = launch.plan.constants[step.arg + number / 2];

		return number % 2 == 0 ? (int64_t) two.lo : two.hi;
	}

	/* Times to a zone's local times, or the other way. */
	template <bool LOCAL>
	__device__ __forceinline__ uint32_t shift_time(Lanes &a, const GpuQueryStep &step) const
	{
		uint32_t bad = step.inverted ? ALL : 0;
		uint32_t last = step.count - 1u;

		ROLLED
		for (int k = 0; k < V; k++)
		{
			int64_t time = value<int64_t>(a, 0);
			int64_t seconds = zone_seconds(time);
			int64_t piece = piece_of(step, 0);
			uint32_t low = 0;
			uint32_t high = last;

			bad |= (uint32_t) (seconds < zone_begin(piece, LOCAL) ||
							   seconds >= zone_begin(piece_of(step, last), LOCAL))
				   << k;
			while (high - low > 1)
			{
				uint32_t middle = (low + high) / 2;
				int64_t there = piece_of(step, middle);
				bool before = seconds < zone_begin(there, LOCAL);

				low = before ? low : middle;
				high = before ? middle : high;
				piece = before ? piece : there;
			}
			put(a, 0,
				(int64_t) ((uint64_t) time +
						   (uint64_t) ((LOCAL ? -1 : 1) * zone_shift(piece) * CALENDAR_SECOND)));
			turn(a);
		}
		return bad;
	}

	template <class Test, class T>
	__device__ __forceinline__ static uint32_t compare(const Lanes &a, const Lanes &b)
	{
		uint32_t bits = 0;

		UNROLL
		for (int k = 0; k < V; k++)
			bits |= (uint32_t) Test::test(value<T>(a, k), value<T>(b, k)) << k;
		return bits;
	}

	/* Which rows equal one of a step's constants; or are outside of the two. */
	template <class T>
	__device__ __forceinline__ uint32_t in_set(const Lanes &a, const GpuQueryStep &step) const
	{
		uint32_t bits = 0;

		ROLLED
		for (uint32_t i = step.arg; i < (uint32_t) step.arg + step.count; i++)
		{
			const GpuaggInt128 &constant = launch.plan.constants[i];
			T member = QueryType<T>::from(constant.lo, (uint64_t) constant.hi);

			UNROLL
			for (int k = 0; k < V; k++)
				bits |= (uint32_t) QueryEqual<T>::test(value<T>(a, k), member) << k;
		}
		return bits;
	}

	template <class T>
	__device__ __forceinline__ uint32_t outside(const Lanes &a, const GpuQueryStep &step) const
	{
		const GpuaggInt128 &from = launch.plan.constants[step.arg];
		const GpuaggInt128 &to = launch.plan.constants[step.arg + 1u];
		T least = QueryType<T>::from(from.lo, (uint64_t) from.hi);
		T greatest = QueryType<T>::from(to.lo, (uint64_t) to.hi);
		uint32_t bits = step.inverted ? ALL : 0;

		UNROLL
		for (int k = 0; k < V; k++)
			bits |= (uint32_t) (QueryLess<T>::test(value<T>(a, k), least) ||
								QueryLess<T>::test(greatest, value<T>(a, k)))
					<< k;
		return bits;
	}

	/* Takes b's values in those rows. */
	__device__ __forceinline__ static void choose(Lanes &a, const Lanes &b, uint32_t rows)
	{
		UNROLL
		for (int k = 0; k < V; k++)
		{
			a.low[k] = rows >> k & 1 ? b.low[k] : a.low[k];
			if (WIDE)
				a.high[WIDE ? k : 0] = rows >> k & 1 ? b.high[WIDE ? k : 0] : a.high[WIDE ? k : 0];
		}
		a.bits = (b.bits & rows) | (a.bits & ~rows);
	}

	/* LEAST, GREATEST: rows where b comes first of the two, or is the only one. */
	__device__ __forceinline__ static void choose_better(Lanes &a, const Lanes &b, uint32_t better)
	{
		choose(a, b, (better & a.valid & b.valid) | ~a.valid);
		a.valid |= b.valid;
	}

	/* Runs a step but for sources and aggregates; bad: rows to be flagged if they count. */
	__device__ __forceinline__ uint32_t compute(const GpuQueryStep &step, uint32_t code, Lanes &a,
												Lanes &b)
	{
		uint32_t bad = 0;
		uint32_t rows;

		switch (code)
		{
#define QUERY_COMPARE(CLASS, T)                              \
	case QUERY_CODE(GPUAGG_VECTOR_EQ, CLASS):                \
		a.bits = compare<QueryEqual<T>, T>(a, b);            \
		goto compared;                                       \
	case QUERY_CODE(GPUAGG_VECTOR_LT, CLASS):                \
		a.bits = compare<QueryLess<T>, T>(a, b);             \
		goto compared;                                       \
	case QUERY_CODE(GPUAGG_VECTOR_GT, CLASS):                \
		a.bits = compare<QueryMore<T>, T>(a, b);             \
		goto compared;                                       \
	case QUERY_CODE(GPUAGG_VECTOR_IN, CLASS):                \
		a.bits = in_set<T>(a, step);                         \
		bad = step.inverted ? ALL : 0;                       \
		break;                                               \
	case QUERY_CODE(GPUAGG_VECTOR_IN_RANGE, CLASS):          \
		bad = outside<T>(a, step);                           \
		break;                                               \
	case QUERY_CODE(GPUAGG_VECTOR_LEAST, CLASS):             \
		choose_better(a, b, compare<QueryLess<T>, T>(b, a)); \
		break;                                               \
	case QUERY_CODE(GPUAGG_VECTOR_GREATEST, CLASS):          \
		choose_better(a, b, compare<QueryLess<T>, T>(a, b)); \
		break;

#define QUERY_BINARY(OP, CLASS, NAME, T)        \
	case QUERY_CODE(GPUAGG_VECTOR_##OP, CLASS): \
		bad = binary<NAME<T>, T>(a, b);         \
		break;
#define QUERY_UNARY(OP, CLASS, NAME, T)         \
	case QUERY_CODE(GPUAGG_VECTOR_##OP, CLASS): \
		bad = unary<NAME<T>, T>(a);             \
		break;

#define QUERY_INTEGERS(CLASS, T)          \
	QUERY_COMPARE(CLASS, T)               \
	QUERY_BINARY(ADD, CLASS, QueryAdd, T) \
	QUERY_BINARY(SUB, CLASS, QuerySub, T) \
	QUERY_BINARY(MUL, CLASS, QueryMul, T) \
	QUERY_UNARY(NEG, CLASS, QueryNeg, T)  \
	QUERY_UNARY(ABS, CLASS, QueryAbs, T)
#define QUERY_QUOTIENTS(CLASS, T)                    \
	QUERY_BINARY(DIV, CLASS, QueryDiv, T)            \
	QUERY_BINARY(MOD, CLASS, QueryMod, T)            \
	QUERY_BINARY(DIV_FLOOR, CLASS, QueryDivFloor, T) \
	QUERY_BINARY(DIV_ROUND, CLASS, QueryDivRound, T)

#define QUERY_FLOATS(CLASS, T)                 \
	QUERY_COMPARE(CLASS, T)                    \
	QUERY_BINARY(ADD, CLASS, QueryFloatAdd, T) \
	QUERY_BINARY(SUB, CLASS, QueryFloatSub, T) \
	QUERY_BINARY(MUL, CLASS, QueryFloatMul, T) \
	QUERY_UNARY(NEG, CLASS, QueryFloatNeg, T)  \
	QUERY_UNARY(ABS, CLASS, QueryFloatAbs, T)

			QUERY_INTEGERS(QUERY_INT32, int32_t)
			QUERY_INTEGERS(QUERY_INT64, int64_t)
			QUERY_FLOATS(QUERY_FLOAT32, float)
			QUERY_FLOATS(QUERY_FLOAT64, double)

			case QUERY_CODE(QUERY_FIT16, QUERY_INT32):
			case QUERY_CAST(QUERY_INT32, QUERY_INT16):
				bad = cast<QueryNarrow<int32_t, int32_t, 16>, int32_t>(a);
				break;

#define QUERY_CAST_BY(FROM, TO, T, ...) \
	case QUERY_CAST(FROM, TO):          \
		bad = cast<__VA_ARGS__, T>(a);  \
		break;

			case QUERY_CAST(QUERY_INT32, QUERY_INT32): /* from INT16 */
				break;
				QUERY_CAST_BY(QUERY_INT32, QUERY_INT64, int32_t, QueryNarrow<int32_t, int64_t, 64>)
				QUERY_CAST_BY(QUERY_INT32, QUERY_FLOAT32, int32_t, QueryToFloat<int32_t, float>)
				QUERY_CAST_BY(QUERY_INT32, QUERY_FLOAT64, int32_t, QueryToFloat<int32_t, double>)
				QUERY_CAST_BY(QUERY_INT64, QUERY_INT16, int64_t, QueryNarrow<int64_t, int32_t, 16>)
				QUERY_CAST_BY(QUERY_INT64, QUERY_INT32, int64_t, QueryNarrow<int64_t, int32_t, 32>)
				QUERY_CAST_BY(QUERY_INT64, QUERY_FLOAT32, int64_t, QueryToFloat<int64_t, float>)
				QUERY_CAST_BY(QUERY_INT64, QUERY_FLOAT64, int64_t, QueryToFloat<int64_t, double>)
				QUERY_CAST_BY(QUERY_FLOAT32, QUERY_INT16, float, QueryRound<float, int32_t, 16>)
				QUERY_CAST_BY(QUERY_FLOAT32, QUERY_INT32, float, QueryRound<float, int32_t, 32>)
				QUERY_CAST_BY(QUERY_FLOAT32, QUERY_INT64, float, QueryRound<float, int64_t, 64>)
				QUERY_CAST_BY(QUERY_FLOAT32, QUERY_FLOAT64, float, QueryFloatToDouble)
				QUERY_CAST_BY(QUERY_FLOAT64, QUERY_INT16, double, QueryRound<double, int32_t, 16>)
				QUERY_CAST_BY(QUERY_FLOAT64, QUERY_INT32, double, QueryRound<double, int32_t, 32>)
				QUERY_CAST_BY(QUERY_FLOAT64, QUERY_INT64, double, QueryRound<double, int64_t, 64>)
				QUERY_CAST_BY(QUERY_FLOAT64, QUERY_FLOAT32, double, QueryDoubleToFloat)

			case QUERY_CODE(GPUAGG_VECTOR_EQ, QUERY_BOOL):
				a.bits = ~(a.bits ^ b.bits);
				goto compared;
			case QUERY_CODE(GPUAGG_VECTOR_LT, QUERY_BOOL):
				a.bits = ~a.bits & b.bits;
				goto compared;
			case QUERY_CODE(GPUAGG_VECTOR_GT, QUERY_BOOL):
				a.bits = a.bits & ~b.bits;
			compared:
				a.bits = (step.inverted ? ~a.bits : a.bits) & ALL;
				a.valid &= b.valid;
				break;
			case QUERY_CODE(GPUAGG_VECTOR_LEAST, QUERY_BOOL):
				choose_better(a, b, ~b.bits & a.bits);
				break;
			case QUERY_CODE(GPUAGG_VECTOR_GREATEST, QUERY_BOOL):
				choose_better(a, b, ~a.bits & b.bits);
				break;

			case QUERY_CODE(GPUAGG_VECTOR_AND, QUERY_BOOL):
				/* rows where one of them is false */
				rows = (a.valid & ~a.bits) | (b.valid & ~b.bits);
				a.valid = rows | (a.valid & b.valid);
				a.bits = ~rows & ALL;
				break;
			case QUERY_CODE(GPUAGG_VECTOR_OR, QUERY_BOOL):
				rows = (a.valid & a.bits) | (b.valid & b.bits);
				a.valid = rows | (a.valid & b.valid);
				a.bits = rows;
				break;
			case QUERY_CODE(GPUAGG_VECTOR_NOT, QUERY_BOOL):
				a.bits = ~a.bits & ALL;
				break;
			case QUERY_CODE(GPUAGG_VECTOR_IS_TRUE, QUERY_BOOL):
				a.bits &= a.valid;
				a.valid = ALL;
				break;
			case QUERY_CODE(GPUAGG_VECTOR_IS_FALSE, QUERY_BOOL):
				a.bits = ~a.bits & a.valid;
				a.valid = ALL;
				break;

#define QUERY_EVERY(OP)                                 \
	case QUERY_CODE(GPUAGG_VECTOR_##OP, QUERY_BOOL):    \
	case QUERY_CODE(GPUAGG_VECTOR_##OP, QUERY_INT32):   \
	case QUERY_CODE(GPUAGG_VECTOR_##OP, QUERY_INT64):   \
	case QUERY_CODE(GPUAGG_VECTOR_##OP, QUERY_INT128):  \
	case QUERY_CODE(GPUAGG_VECTOR_##OP, QUERY_FLOAT32): \
	case QUERY_CODE(GPUAGG_VECTOR_##OP, QUERY_FLOAT64)

				QUERY_EVERY(IS_NULL) : a.bits = ~a.valid & ALL;
				a.valid = ALL;
				break;
				QUERY_EVERY(SELECT) : rows = rows_of(step.c);
				choose(a, b, ~rows);
				a.valid = (rows & a.valid) | (~rows & b.valid);
				break;
				QUERY_EVERY(COALESCE) : choose(a, b, ~a.valid);
				a.valid |= b.valid;
				break;
				QUERY_EVERY(NULLIF) : a.valid &= ~rows_of(step.c);
				break;

			default:
				if constexpr (HEAVY)
					bad = compute_heavy(step, code, a, b);
		}
		return bad;
	}

	/* What takes many registers: quotients, and parts of times. */
	__device__ __forceinline__ uint32_t compute_heavy(const GpuQueryStep &step, uint32_t code,
													  Lanes &a, Lanes &b)
	{
		uint32_t bad = 0;

		switch (code)
		{
			QUERY_QUOTIENTS(QUERY_INT32, int32_t)
			QUERY_QUOTIENTS(QUERY_INT64, int64_t)
			QUERY_BINARY(DIV, QUERY_FLOAT32, QueryFloatDiv, float)
			QUERY_BINARY(DIV, QUERY_FLOAT64, QueryFloatDiv, double)

			case QUERY_CODE(GPUAGG_VECTOR_TIME_TRUNC, QUERY_INT64):
				bad = part_of_time<true>(a, step.arg);
				break;
			case QUERY_CODE(GPUAGG_VECTOR_TIME_FIELD, QUERY_INT64):
				bad = part_of_time<false>(a, step.arg);
				break;
			case QUERY_CODE(GPUAGG_VECTOR_TIME_TO_LOCAL, QUERY_INT64):
				bad = shift_time<false>(a, step);
				break;
			case QUERY_CODE(GPUAGG_VECTOR_TIME_FROM_LOCAL, QUERY_INT64):
				bad = shift_time<true>(a, step);
				break;
			case QUERY_CODE(GPUAGG_VECTOR_DECIMAL_TO_FLOAT, QUERY_INT64):
				bad = binary<QueryDecimal<int64_t>, int64_t, double>(a, b);
				break;
			default:
				if constexpr (WIDE)
					bad = compute_wide(step, code, a, b);
		}
		return bad;
	}

	/* What has 128 bits, of operands or result. */
	__device__ __forceinline__ uint32_t compute_wide(const GpuQueryStep &step, uint32_t code,
													 Lanes &a, Lanes &b)
	{
		uint32_t bad = 0;

		switch (code)
		{
			QUERY_INTEGERS(QUERY_INT128, Wide)
			QUERY_QUOTIENTS(QUERY_INT128, Wide)
			QUERY_CAST_BY(QUERY_INT32, QUERY_INT128, int32_t, QueryNarrow<int32_t, Wide, 128>)
			QUERY_CAST_BY(QUERY_INT64, QUERY_INT128, int64_t, QueryNarrow<int64_t, Wide, 128>)
			QUERY_CAST_BY(QUERY_INT128, QUERY_INT16, Wide, QueryNarrow<Wide, int32_t, 16>)
			QUERY_CAST_BY(QUERY_INT128, QUERY_INT32, Wide, QueryNarrow<Wide, int32_t, 32>)
			QUERY_CAST_BY(QUERY_INT128, QUERY_INT64, Wide, QueryNarrow<Wide, int64_t, 64>)
			QUERY_CAST_BY(QUERY_INT128, QUERY_FLOAT32, Wide, QueryToFloat<Wide, float>)
			QUERY_CAST_BY(QUERY_INT128, QUERY_FLOAT64, Wide, QueryToFloat<Wide, double>)

			case QUERY_CODE(GPUAGG_VECTOR_DECIMAL_TO_FLOAT, QUERY_INT128):
				bad = binary<QueryDecimal<Wide>, Wide, double>(a, b);
				break;
			case QUERY_CODE(GPUAGG_VECTOR_MUL_WIDE, QUERY_INT64):
				bad = binary<QueryMulWide, int64_t>(a, b);
				break;
			compared:
				a.bits = (step.inverted ? ~a.bits : a.bits) & ALL;
				a.valid &= b.valid;
		}
		return bad;
	}
};

#endif /* GPUAGG_QUERY_STEP_CUH */
