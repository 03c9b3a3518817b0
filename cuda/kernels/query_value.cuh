/*
 * query_value.cuh
 *	  Registers of the query machine, and operations on single values.
 *
 * A lane has V rows of a warp's V * 32: row k * 32 + lane is its k-th.  Bit k of a lane's
 * bits is about that row.  Operations give what those of src/common/vector_*.c give, wrapped
 * values included, and say which rows are to be flagged.
 */
#ifndef GPUAGG_QUERY_VALUE_CUH
#define GPUAGG_QUERY_VALUE_CUH

#include "kernels/float_bits.cuh"
#include "kernels/query.h"

typedef __int128 Wide;
typedef unsigned __int128 WideBits;

/* A register: numbers of up to 32 bits in the low half of `low`, whose other half may be anything. */
template <int V, bool WIDE> struct QueryLanes
{
	uint64_t low[V];
	uint64_t high[WIDE ? V : 1]; /* of INT128 */
	uint32_t valid;				 /* bits of rows that are not NULL */
	uint32_t bits;				 /* of a BOOL */
};

template <int V> constexpr uint32_t ALL_ROWS = (UINT32_C(1) << V) - 1;

template <class T> struct QueryType;

#define QUERY_TYPE(T, BITS)                                                       \
	template <> struct QueryType<T>                                               \
	{                                                                             \
		typedef BITS Bits;                                                        \
		static __device__ __forceinline__ T from(uint64_t low, uint64_t)          \
		{                                                                         \
			return (T) (BITS) low;                                                \
		}                                                                         \
		static __device__ __forceinline__ void to(T v, uint64_t &low, uint64_t &) \
		{                                                                         \
			low = (BITS) v;                                                       \
		}                                                                         \
	};

QUERY_TYPE(int32_t, uint32_t)
QUERY_TYPE(int64_t, uint64_t)

template <> struct QueryType<Wide>
{
	typedef WideBits Bits;

	static __device__ __forceinline__ Wide from(uint64_t low, uint64_t high)
	{
		return (Wide) ((WideBits) high << 64 | low);
	}

	static __device__ __forceinline__ void to(Wide v, uint64_t &low, uint64_t &high)
	{
		low = (uint64_t) v;
		high = (uint64_t) ((WideBits) v >> 64);
	}
};

template <> struct QueryType<float>
{
	static __device__ __forceinline__ float from(uint64_t low, uint64_t)
	{
		uint32_t bits = (uint32_t) low;
		float v;

		memcpy(&v, &bits, sizeof(v));
		return v;
	}

	static __device__ __forceinline__ void to(float v, uint64_t &low, uint64_t &)
	{
		uint32_t bits;

		memcpy(&bits, &v, sizeof(v));
		low = bits;
	}
};

template <> struct QueryType<double>
{
	static __device__ __forceinline__ double from(uint64_t low, uint64_t)
	{
		return double_of(low);
	}

	static __device__ __forceinline__ void to(double v, uint64_t &low, uint64_t &)
	{
		low = bits_of(v);
	}
};

/* The order key of a value of up to 64 bits; NaNs have one key. */
template <class T>
static __device__ __forceinline__ int64_t
query_order_key(T v)
{
	uint64_t bits = 0;
	uint64_t unused = 0;

	QueryType<T>::to(v, bits, unused);
	if constexpr (T(0.5f) == T(0))
		return (int64_t) v;
	else if constexpr (sizeof(T) == 4)
		return gpuagg_order_key32((uint32_t) bits);
	else
		return gpuagg_order_key64(bits);
}

/* NULLs and dead rows are computed too: nothing traps. */
template <class T> struct QueryAdd
{
	static constexpr bool HEAVY = false;

	static __device__ __forceinline__ T run(T a, T b, bool &bad)
	{
		typedef typename QueryType<T>::Bits Bits;
		T r = (T) ((Bits) a + (Bits) b);

		bad = ((a ^ r) & (b ^ r)) < 0;
		return r;
	}
};

template <class T> struct QuerySub
{
	static constexpr bool HEAVY = false;

	static __device__ __forceinline__ T run(T a, T b, bool &bad)
	{
		typedef typename QueryType<T>::Bits Bits;
		T r = (T) ((Bits) a - (Bits) b);

		bad = ((a ^ b) & (a ^ r)) < 0;
		return r;
	}
};

template <class T> struct QueryMul;

template <> struct QueryMul<int32_t>
{
	static constexpr bool HEAVY = false;

	static __device__ __forceinline__ int32_t run(int32_t a, int32_t b, bool &bad)
	{
		int64_t r = (int64_t) a * b;

		bad = r != (int32_t) r;
		return (int32_t) r;
	}
};

template <> struct QueryMul<int64_t>
{
	static constexpr bool HEAVY = false;

	static __device__ __forceinline__ int64_t run(int64_t a, int64_t b, bool &bad)
	{
		Wide r = (Wide) a * b;

		bad = (int64_t) ((WideBits) r >> 64) != (int64_t) r >> 63;
		return (int64_t) r;
	}
};

template <> struct QueryMul<Wide>
{
	static constexpr bool HEAVY = true;

	static __device__ __forceinline__ Wide run(Wide a, Wide b, bool &bad)
	{
		bool negative = (a < 0) != (b < 0);
		WideBits x = a < 0 ? -(WideBits) a : (WideBits) a;
		WideBits y = b < 0 ? -(WideBits) b : (WideBits) b;
		uint64_t x_high = (uint64_t) (x >> 64);
		uint64_t y_high = (uint64_t) (y >> 64);
		WideBits low = (WideBits) (uint64_t) x * (uint64_t) y;
		WideBits cross = x_high != 0 ? (WideBits) x_high * (uint64_t) y
									 : (WideBits) y_high * (uint64_t) x;
		WideBits size = low + (cross << 64);
		WideBits most = ((WideBits) 1 << 127) - !negative;

		bad = (x_high != 0 && y_high != 0) || cross >> 64 != 0 || size < low || size > most;
		return (Wide) (negative ? -size : size);
	}
};

/* Words of the square, least first. */
static __device__ __forceinline__ void
query_square(Wide v, uint64_t (&square)[4])
{
	WideBits size = v < 0 ? -(WideBits) v : (WideBits) v;
	uint64_t low = (uint64_t) size;
	uint64_t high = (uint64_t) (size >> 64); /* at most 2^63 */
	WideBits least = (WideBits) low * low;
	WideBits twice = (WideBits) low * high << 1;
	WideBits middle = (least >> 64) + (uint64_t) twice;
	WideBits most = (WideBits) high * high + (twice >> 64) + (middle >> 64);

	square[0] = (uint64_t) least;
	square[1] = (uint64_t) middle;
	square[2] = (uint64_t) most;
	square[3] = (uint64_t) (most >> 64);
}

struct QueryMulWide
{
	static constexpr bool HEAVY = false;

	static __device__ __forceinline__ Wide run(int64_t a, int64_t b, bool &bad)
	{
		bad = false;
		return (Wide) a * b;
	}
};

template <class T> struct QueryNeg
{
	static constexpr bool HEAVY = false;

	static __device__ __forceinline__ T run(T a, T, bool &bad)
	{
		T r = (T) (0 - (typename QueryType<T>::Bits) a);

		bad = (a & r) < 0;
		return r;
	}
};

template <class T> struct QueryAbs
{
	static constexpr bool HEAVY = false;

	static __device__ __forceinline__ T run(T a, T, bool &bad)
	{
		T r = a < 0 ? (T) (0 - (typename QueryType<T>::Bits) a) : a;

		bad = r < 0;
		return r;
	}
};

template <class T> struct QueryDiv
{
	static constexpr bool HEAVY = true;

	static __device__ __forceinline__ T run(T a, T b, bool &bad)
	{
		T safe = b == 0 || b == -1 ? 1 : b;
		T negative = (T) (0 - (typename QueryType<T>::Bits) a);

		bad = b == -1 ? (a & negative) < 0 : b == 0;
		return b == -1 ? negative : a / safe;
	}
};

template <class T> struct QueryMod
{
	static constexpr bool HEAVY = true;

	static __device__ __forceinline__ T run(T a, T b, bool &bad)
	{
		T safe = b == 0 || b == -1 ? 1 : b;

		bad = b == 0;
		return a % safe;
	}
};

template <class T> struct QueryDivFloor
{
	static constexpr bool HEAVY = true;

	static __device__ __forceinline__ T run(T a, T b, bool &bad)
	{
		T safe = b <= 0 ? 1 : b;
		T quotient = a / safe;

		bad = b <= 0;
		return quotient - (quotient * safe > a);
	}
};

template <class T> struct QueryDivRound
{
	static constexpr bool HEAVY = true;

	static __device__ __forceinline__ T run(T a, T b, bool &bad)
	{
		T safe = b <= 0 ? 1 : b;
		T quotient = a / safe;
		T rest = a - quotient * safe;
		T size = rest < 0 ? -rest : rest;

		bad = b <= 0;
		return quotient + (size == 0 || size < safe - size ? 0 : rest < 0 ? -1 : 1);
	}
};

/* Floats: infinite from finite operands, and zero from a product or quotient that is none. */
template <class T>
static __device__ __forceinline__ bool
query_infinite(T v)
{
	return fabs(v) == (T) INFINITY;
}

template <class T>
static __device__ __forceinline__ bool
query_overflow(T a, T b, T r)
{
	return query_infinite(r) && !query_infinite(a) && !query_infinite(b);
}

template <class T> struct QueryFloatAdd
{
	static constexpr bool HEAVY = false;

	static __device__ __forceinline__ T run(T a, T b, bool &bad)
	{
		T r = a + b;

		bad = query_overflow(a, b, r);
		return r;
	}
};

template <class T> struct QueryFloatSub
{
	static constexpr bool HEAVY = false;

	static __device__ __forceinline__ T run(T a, T b, bool &bad)
	{
		T r = a - b;

		bad = query_overflow(a, b, r);
		return r;
	}
};

template <class T> struct QueryFloatMul
{
	static constexpr bool HEAVY = false;

	static __device__ __forceinline__ T run(T a, T b, bool &bad)
	{
		T r = a * b;

		bad = query_overflow(a, b, r) || (r == 0 && a != 0 && b != 0);
		return r;
	}
};

template <class T> struct QueryFloatDiv
{
	static constexpr bool HEAVY = true;

	static __device__ __forceinline__ T run(T a, T b, bool &bad)
	{
		T r = a / b;

		bad = query_overflow(a, b, r) || (b == 0 && a == a) ||
			  (r == 0 && a != 0 && !query_infinite(b));
		return r;
	}
};

template <class T> struct QueryFloatNeg
{
	static constexpr bool HEAVY = false;

	static __device__ __forceinline__ T run(T a, T, bool &bad)
	{
		bad = false;
		return -a;
	}
};

template <class T> struct QueryFloatAbs
{
	static constexpr bool HEAVY = false;

	static __device__ __forceinline__ T run(T a, T, bool &bad)
	{
		bad = false;
		return fabs(a);
	}
};

/* Order: NaN is greater than all others and equals itself. */
template <class T> struct QueryEqual
{
	static __device__ __forceinline__ bool test(T a, T b)
	{
		return a == b || (a != a && b != b);
	}
};

template <class T> struct QueryLess
{
	static __device__ __forceinline__ bool test(T a, T b)
	{
		return a == a && !(a >= b);
	}
};

#define QUERY_INTEGER_ORDER(T)                                \
	template <> struct QueryEqual<T>                          \
	{                                                         \
		static __device__ __forceinline__ bool test(T a, T b) \
		{                                                     \
			return a == b;                                    \
		}                                                     \
	};                                                        \
	template <> struct QueryLess<T>                           \
	{                                                         \
		static __device__ __forceinline__ bool test(T a, T b) \
		{                                                     \
			return a < b;                                     \
		}                                                     \
	};

QUERY_INTEGER_ORDER(int32_t)
QUERY_INTEGER_ORDER(uint32_t)
QUERY_INTEGER_ORDER(int64_t)
QUERY_INTEGER_ORDER(Wide)

template <class T> struct QueryMore
{
	static __device__ __forceinline__ bool test(T a, T b)
	{
		return QueryLess<T>::test(b, a);
	}
};

/* Casts, to an integer type as a value of R, 16 bits as int32_t. */
template <class A, class R, int BITS> struct QueryNarrow
{
	static constexpr bool HEAVY = false;

	static __device__ __forceinline__ R run(A a, bool &bad)
	{
		R r = BITS == 16 ? (R) (int16_t) a : (R) a;

		bad = a != (A) r;
		return r;
	}
};

/* The nearest of a type of floats, half to even. */
template <class A, class R> struct QueryToFloat
{
	static constexpr bool HEAVY = false;

	static __device__ __forceinline__ R run(A a, bool &bad)
	{
		bad = false;
		return (R) a;
	}
};

/*
 * Of 128 bits the first 64 from the highest that is 1, the last of them also for all below it,
 * are rounded as the whole is, and then scaled, which is exact.
 */
template <class R> struct QueryToFloat<Wide, R>
{
	static constexpr bool HEAVY = true;

	static __device__ __forceinline__ R run(Wide a, bool &bad)
	{
		WideBits size = a < 0 ? -(WideBits) a : (WideBits) a;
		int length = bit_length((uint64_t) (size >> 64));
		uint64_t first = (uint64_t) (size >> length);
		R r;

		if (length > 0 && (size & (((WideBits) 1 << length) - 1)) != 0)
			first |= 1;
		r = (R) first * (R) double_of((uint64_t) (1023 + length) << 52);
		bad = false;
		return a < 0 ? -r : r;
	}
};

/* BITS of the integer type, W from where on every float of the type is a whole number. */
template <class A, class R, int BITS> struct QueryRound
{
	static constexpr bool HEAVY = false;

	static __device__ __forceinline__ R run(A a, bool &bad)
	{
		const A whole = sizeof(A) == 4 ? (A) 8388608 : (A) 4503599627370496;
		const A least = -(A) (UINT64_C(1) << (BITS - 1));
		A signed_whole = a < 0 ? -whole : whole;
		A rounded = fabs(a) < whole ? (a + signed_whole) - signed_whole : a;

		bad = !(rounded >= least && rounded < -least);
		return bad ? (R) 0 : (R) rounded;
	}
};

struct QueryFloatToDouble
{
	static constexpr bool HEAVY = false;

	static __device__ __forceinline__ double run(float a, bool &bad)
	{
		bad = false;
		return a;
	}
};

struct QueryDoubleToFloat
{
	static constexpr bool HEAVY = false;

	static __device__ __forceinline__ float run(double a, bool &bad)
	{
		float r = (float) a;

		bad = (r == 0 && a != 0) || (query_infinite(r) && !query_infinite(a));
		return r;
	}
};

/* b: the power of ten, 0 for one that is no double (vector_cast.c). */
template <class A> struct QueryDecimal
{
	static constexpr bool HEAVY = true;

	static __device__ __forceinline__ double run(A a, double b, bool &bad)
	{
		const A limit = b == 0 ? (A) 0 : (A) ((A) 1 << 53);
		bool ignored;

		bad = !(b == 1 || (a >= -limit && a <= limit));
		return QueryToFloat<A, double>::run(a, ignored) / (b == 0 ? 1 : b);
	}
};

#endif /* GPUAGG_QUERY_VALUE_CUH */
