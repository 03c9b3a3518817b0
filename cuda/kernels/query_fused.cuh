/*
 * query_fused.cuh
 *	  What the kernels of query_fused*.cu have in common: rows of a lane, what they read and compute.
 *
 * A lane has V rows in groups of G neighbours: group k of a window of V * 32 rows begins at its
 * row (k * 32 + lane) * G, so that a warp reads a column without gaps.  Row j of group k is
 * bit k * G + j.  All loads of a column are under way before one of its values is used.
 */
#ifndef GPUAGG_QUERY_FUSED_CUH
#define GPUAGG_QUERY_FUSED_CUH

#include "device/grid.cuh"
#include "kernels/query_fused.h"
#include "kernels/query_launch.cuh"

struct FusedLaunch
{
	QueryLaunch query;
	FusedPlan plan;
	uint32_t uses; /* of warps, in a block's memory */
};

/* A column of a chunk, as it is used. */
struct alignas(16) FusedUse
{
	const void *values;
	const uint64_t *valid;
	uint64_t base;
	uint32_t width;
	uint32_t mode;

	FusedUse() = default;

	__device__ __forceinline__ FusedUse(uint8_t type, const GpuQueryBlock &block)
		: values(block.values), valid(block.valid), base(block.base.lo), width(block.width),
		  mode(query_mode(type, block.width))
	{
	}
};

/* Uses by the column. */
struct FusedBlocks
{
	const uint8_t *types;
	const GpuQueryBlock *blocks;

	__device__ __forceinline__ FusedUse condition(uint32_t, const FusedColumn &column) const
	{
		return FusedUse(types[column.column], blocks[column.column]);
	}
};

/* Uses that a warp has in shared memory: of conditions, then of factors. */
struct FusedUses
{
	const FusedUse *use;

	__device__ __forceinline__ FusedUse condition(uint32_t i, const FusedColumn &) const
	{
		return use[i];
	}

	__device__ __forceinline__ FusedUse factor(int f) const
	{
		return use[FUSED_COLUMNS + f];
	}
};

/* Values of a lane as they are stored: of each group 2 * G words. */
template <int V> struct FusedRaw
{
	uint32_t word[2 * V];
};

/* What a load brings. */
template <int SIZE> struct alignas(SIZE) FusedPiece
{
	uint32_t word[SIZE / 4];
};

template <> struct FusedPiece<2>
{
	uint16_t word[1];
};

/* Bits of a type. */
template <int SIZE> struct FusedBits
{
	typedef uint32_t Type;
};

template <> struct FusedBits<8>
{
	typedef uint64_t Type;
};

template <class T> constexpr bool IS_FLOAT = T(0.5f) != T(0);

template <int V, int G> struct FusedRows
{
	static constexpr int GROUPS = V / G;
	static constexpr uint32_t WINDOW = V * WARP_SIZE;
	static constexpr uint32_t ALL = ALL_ROWS<V>;

	uint32_t row;  /* this lane's first */
	uint32_t last; /* begin of the last group that has a row of the chunk */

	/* The rows that a window has; the chunk ends before `end`. */
	__device__ __forceinline__ uint32_t begin(uint32_t first, uint32_t end)
	{
		uint32_t live = ALL;

		row = first + (uint32_t) lane_id() * G;
		last = (end - 1) / G * G;
		if (end - first < WINDOW)
		{
			live = 0;
			UNROLL
			for (int i = 0; i < V; i++)
				live |= (uint32_t) (row + i / G * G * WARP_SIZE + i % G < end) << i;
		}
		return live;
	}

	/* Where group k is read: one beyond the chunk's end is the last one, and no row of it lives. */
	__device__ __forceinline__ uint32_t group(int k) const
	{
		uint32_t at = row + (uint32_t) (k * G * WARP_SIZE);

		return at < last ? at : last;
	}

	/* Has what a window reads of a column that begins so many rows later brought nearer: a load takes long. */
	__device__ __forceinline__ void look_ahead(const FusedUse &use, uint32_t later) const
	{
		constexpr uint32_t LINE = 128;
		uint32_t lane = (uint32_t) lane_id();
		uint64_t first = (uint64_t) (row - lane * G + later) * use.width + lane * LINE;

		if (lane * LINE < WINDOW * use.width && first < (uint64_t) last * use.width)
			prefetch_l2((const char *) use.values + first);
	}

	__device__ __forceinline__ uint32_t bits(const uint64_t *bitmap) const
	{
		const uint8_t *bytes = global_memory((const uint8_t *) bitmap); /* words: little-endian */
		uint32_t byte[GROUPS];
		uint32_t all = 0;

		UNROLL
		for (int k = 0; k < GROUPS; k++)
			byte[k] = bytes[group(k) / 8];
		UNROLL
		for (int k = 0; k < GROUPS; k++)
			all |= (byte[k] >> group(k) % 8 & ALL_ROWS<G>) << (k * G);
		return all;
	}

	/* Pieces of SIZE bytes, a group's each. */
	template <int SIZE>
	__device__ __forceinline__ void take(const void *values, FusedRaw<V> &raw) const
	{
		constexpr int PIECE = SIZE < 16 ? SIZE : 16;
		typedef FusedPiece<PIECE> Piece;

		UNROLL
		for (int k = 0; k < GROUPS; k++)
		{
			const char *from = (const char *) values + (uint64_t) group(k) * (SIZE / G);

			UNROLL
			for (int i = 0; i < SIZE; i += PIECE)
			{
				Piece piece = *global_memory((const Piece *) (from + i));

				UNROLL
				for (int w = 0; w < (PIECE + 3) / 4; w++)
					raw.word[k * 2 * G + i / 4 + w] = piece.word[w];
			}
		}
	}

	/* Values of a column, of up to WIDTH bytes each. */
	template <int WIDTH>
	__device__ __forceinline__ void load(const FusedUse &use, FusedRaw<V> &raw) const
	{
		switch (use.mode)
		{
			case LOAD_8:
				take<G>(use.values, raw);
				break;
			case LOAD_16:
			case LOAD_INT16:
				take<2 * G>(use.values, raw);
				break;
			case LOAD_32:
				take<4 * G>(use.values, raw);
				break;
			default:
				if (WIDTH == 8)
					take<8 * G>(use.values, raw);
		}
	}

	/* The same of class T: floats have their own width. */
	template <class T>
	__device__ __forceinline__ void load_class(const FusedUse &use, FusedRaw<V> &raw) const
	{
		if (IS_FLOAT<T>)
			take<(int) sizeof(T) * G>(use.values, raw);
		else
			load<(int) sizeof(T)>(use, raw);
	}

	/* Stored values of a width with the base added. */
	template <int WIDTH, bool SIGNED, class T>
	__device__ __forceinline__ static void widen(const FusedRaw<V> &raw, uint64_t base, T (&v)[V])
	{
		typedef typename FusedBits<sizeof(T)>::Type Bits;

		UNROLL
		for (int i = 0; i < V; i++)
		{
			const uint32_t *word = &raw.word[i / G * 2 * G];
			int byte = i % G * WIDTH;
			Bits bits = word[byte / 4];

			if (WIDTH < 4)
				bits = bits >> byte % 4 * 8 & ((UINT32_C(1) << WIDTH % 4 * 8) - 1);
			if (SIGNED)
				bits = (Bits) (int16_t) bits;
			if (WIDTH == 8 && sizeof(T) == 8)
				bits |= (Bits) ((uint64_t) word[byte / 4 + 1] << 32);
			bits += (Bits) base;
			memcpy(&v[i], &bits, sizeof(T));
		}
	}

	/* Hands the values to f, f(T (&values)[V]). */
	template <class T, class F>
	__device__ __forceinline__ static void values(const FusedRaw<V> &raw, uint32_t mode,
												  uint64_t base, F f)
	{
		T v[V];

		if (IS_FLOAT<T>)
		{
			widen<(int) sizeof(T), false>(raw, 0, v);
			f(v);
			return;
		}
		switch (mode)
		{
			case LOAD_8:
				widen<1, false>(raw, base, v);
				f(v);
				break;
			case LOAD_16:
				widen<2, false>(raw, base, v);
				f(v);
				break;
			case LOAD_INT16:
				widen<2, true>(raw, base, v);
				f(v);
				break;
			case LOAD_32:
				widen<4, false>(raw, base, v);
				f(v);
				break;
			default:
				if (sizeof(T) == 8)
				{
					widen<8, false>(raw, base, v);
					f(v);
				}
		}
	}

	template <class T>
	__device__ __forceinline__ static void values(const FusedRaw<V> &raw, uint32_t mode,
												  uint64_t base, T (&v)[V])
	{
		values<T>(raw, mode, base, [&](const T(&from)[V]) {
			UNROLL
			for (int k = 0; k < V; k++)
				v[k] = from[k];
		});
	}
};

/* Rows of which `op constant` is true. */
template <class C, int V>
static __device__ __forceinline__ uint32_t
fused_compare(const C (&v)[V], C constant, int op)
{
	uint32_t bits = 0;

	switch (op)
	{
		case GPUAGG_VECTOR_EQ:
			UNROLL
			for (int k = 0; k < V; k++)
				bits |= (uint32_t) QueryEqual<C>::test(v[k], constant) << k;
			break;
		case GPUAGG_VECTOR_LT:
			UNROLL
			for (int k = 0; k < V; k++)
				bits |= (uint32_t) QueryLess<C>::test(v[k], constant) << k;
			break;
		default:
			UNROLL
			for (int k = 0; k < V; k++)
				bits |= (uint32_t) QueryMore<C>::test(v[k], constant) << k;
	}
	return bits;
}

/*
 * The rows that meet all conditions on a column of INT64 that is stored in at most 32 bits: these
 * are compared with what the constant is above the base.
 */
template <int V, int G>
static __device__ __forceinline__ uint32_t
fused_meet_narrow(const FusedPlan &plan, const FusedColumn &column, const FusedRaw<V> &raw,
				  uint32_t mode, int64_t base)
{
	uint32_t rows = ALL_ROWS<V>;
	uint32_t v[V];

	FusedRows<V, G>::values(raw, mode, 0, v);
	ROLLED
	for (uint32_t i = column.first; i < (uint32_t) column.first + column.count; i++)
	{
		const FusedCondition &condition = plan.condition[i];
		int64_t constant = (int64_t) condition.constant;
		uint64_t above = (uint64_t) constant - (uint64_t) base;
		uint32_t bits;

		if (constant < base)
			bits = condition.op == GPUAGG_VECTOR_GT ? ALL_ROWS<V> : 0;
		else if (above > UINT32_MAX)
			bits = condition.op == GPUAGG_VECTOR_LT ? ALL_ROWS<V> : 0;
		else
			bits = fused_compare(v, (uint32_t) above, condition.op);
		rows &= condition.inverted ? ~bits : bits;
	}
	return rows;
}

/* The rows whose values, of class C, meet all conditions on their column. */
template <class C, int V, int G>
static __device__ __forceinline__ uint32_t
fused_meet(const FusedPlan &plan, const FusedColumn &column, const FusedUse &use,
		   const FusedRaw<V> &raw)
{
	uint32_t rows = ALL_ROWS<V>;
	uint32_t mode = use.mode;
	C v[V];

	if (sizeof(C) == 8 && !IS_FLOAT<C> && (mode == LOAD_8 || mode == LOAD_16 || mode == LOAD_32))
		return fused_meet_narrow<V, G>(plan, column, raw, mode, (int64_t) use.base);
	FusedRows<V, G>::values(raw, mode, use.base, v);
	ROLLED
	for (uint32_t i = column.first; i < (uint32_t) column.first + column.count; i++)
	{
		const FusedCondition &condition = plan.condition[i];
		C constant = QueryType<C>::from(condition.constant, 0);
		uint32_t bits = fused_compare(v, constant, condition.op);

		rows &= condition.inverted ? ~bits : bits;
	}
	return rows;
}

/*
 * Those of the live rows that meet all conditions on columns that are read for them alone; uses: of
 * the rows' chunk.  While a column is compared the next one's values are under way.
 */
template <class Uses, int V, int G>
static __device__ __forceinline__ uint32_t
fused_meet_all(const FusedPlan &plan, const Uses &uses, const FusedRows<V, G> &rows, uint32_t live)
{
	FusedRaw<V> next;

	if (plan.nread > 0)
		rows.template load<8>(uses.condition(0, plan.column[0]), next);
	ROLLED
	for (uint32_t i = 0; i < plan.nread; i++)
	{
		const FusedColumn &column = plan.column[i];
		FusedUse use = uses.condition(i, column);
		FusedRaw<V> raw = next;

		if (i + 1 < plan.nread)
			rows.template load<8>(uses.condition(i + 1, plan.column[i + 1]), next);
		if (use.valid != nullptr)
			live &= rows.bits(use.valid);
		switch (column.class_of)
		{
			case QUERY_INT32:
				live &= fused_meet<int32_t, V, G>(plan, column, use, raw);
				break;
			case QUERY_INT64:
				live &= fused_meet<int64_t, V, G>(plan, column, use, raw);
				break;
			case QUERY_FLOAT32:
				live &= fused_meet<float, V, G>(plan, column, use, raw);
				break;
			default:
				live &= fused_meet<double, V, G>(plan, column, use, raw);
		}
	}
	return live;
}

/* Which arithmetic a class has. */
template <class T> struct FusedArithmetic
{
	typedef QueryAdd<T> Add;
	typedef QuerySub<T> Sub;
	typedef QueryMul<T> Mul;
};

template <> struct FusedArithmetic<float>
{
	typedef QueryFloatAdd<float> Add;
	typedef QueryFloatSub<float> Sub;
	typedef QueryFloatMul<float> Mul;
};

template <> struct FusedArithmetic<double>
{
	typedef QueryFloatAdd<double> Add;
	typedef QueryFloatSub<double> Sub;
	typedef QueryFloatMul<double> Mul;
};

/* v = v op constant, or the other way round; returns rows to be flagged if they count. */
template <class T, class Op, int V>
static __device__ __forceinline__ uint32_t
fused_offset(T (&v)[V], T constant, bool contrary)
{
	uint32_t bad = 0;

	UNROLL
	for (int k = 0; k < V; k++)
	{
		bool wrong = false;

		v[k] = contrary ? Op::run(constant, v[k], wrong) : Op::run(v[k], constant, wrong);
		bad |= (uint32_t) wrong << k;
	}
	return bad;
}

/* The values of a factor; returns rows to be flagged if they count. */
template <class T, int V, int G>
static __device__ __forceinline__ uint32_t
fused_factor(const FusedFactor &factor, const FusedRaw<V> &raw, uint32_t mode, uint64_t base,
			 T (&v)[V])
{
	typedef FusedArithmetic<T> Arithmetic;
	T constant = QueryType<T>::from(factor.constant, 0);

	FusedRows<V, G>::values(raw, mode, base, v);
	if (sizeof(T) == 8 && factor.widened)
	{
		UNROLL
		for (int k = 0; k < V; k++)
			v[k] = (T) (int32_t) v[k];
	}
	switch (factor.how)
	{
		case FUSED_COLUMN:
			return 0;
		case FUSED_SUM:
			return fused_offset<T, typename Arithmetic::Add>(v, constant, false);
		case FUSED_DIFFERENCE:
			return fused_offset<T, typename Arithmetic::Sub>(v, constant, false);
		default:
			return fused_offset<T, typename Arithmetic::Sub>(v, constant, true);
	}
}

/* Sums of a thread, and how they come into a block's totals (query_total.cuh). */
template <class T, int V> struct FusedSums;

template <int V> struct FusedSums<int32_t, V>
{
	static constexpr bool FLOATS = false;

	uint64_t sum;

	__device__ __forceinline__ void start(QueryFloats *)
	{
		sum = 0;
	}

	__device__ __forceinline__ void add(int32_t (&v)[V], uint32_t rows, QueryFloats *)
	{
		UNROLL
		for (int k = 0; k < V; k++)
			sum += (uint64_t) (int64_t) (rows >> k & 1 ? v[k] : 0);
	}

	template <class Totals>
	__device__ __forceinline__ void leave(const Totals &totals, uint32_t first, QueryFloats *)
	{
		totals.word(first + 1) = sum;
	}
};

template <int V> struct FusedSums<int64_t, V>
{
	static constexpr bool FLOATS = false;

	uint64_t low;
	uint64_t high;

	__device__ __forceinline__ void start(QueryFloats *)
	{
		low = high = 0;
	}

	__device__ __forceinline__ void add(int64_t (&v)[V], uint32_t rows, QueryFloats *)
	{
		UNROLL
		for (int k = 0; k < V; k++)
		{
			uint64_t value = rows >> k & 1 ? (uint64_t) v[k] : 0;

			low += (uint32_t) value;
			high += (uint64_t) ((int64_t) value >> 32);
		}
	}

	template <class Totals>
	__device__ __forceinline__ void leave(const Totals &totals, uint32_t first, QueryFloats *)
	{
		totals.word(first + 1) = low;
		totals.word(first + 2) = high;
	}
};

template <class T, int V> struct FusedFloatSums
{
	typedef BinSums<T, false, V *(int) sizeof(T) / 16> Bins;

	static constexpr bool FLOATS = true;

	static_assert(Bins::TAKEN == V, "bins take a lane's rows");

	Bins bins;

	__device__ __forceinline__ void start(QueryFloats *floats)
	{
		bins.start(floats->far);
	}

	__device__ __forceinline__ void add(T (&v)[V], uint32_t rows, QueryFloats *floats)
	{
		UNROLL
		for (int k = 0; k < V; k++)
			v[k] = rows >> k & 1 ? v[k] : 0;
		bins.take(v, floats->word, floats->far, BIN_MOST_VALUES);
	}

	template <class Totals>
	__device__ __forceinline__ void leave(const Totals &, uint32_t, QueryFloats *floats)
	{
		bins.flush(floats->word, floats->far);
	}
};

template <int V> struct FusedSums<float, V> : FusedFloatSums<float, V>
{
};

template <int V> struct FusedSums<double, V> : FusedFloatSums<double, V>
{
};

#endif /* GPUAGG_QUERY_FUSED_CUH */
