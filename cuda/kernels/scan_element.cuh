/*
 * scan_element.cuh
 *	  What scans and segmented reductions do with one value: sums of integers,
 *	  minima, maxima, counts.
 *
 * An element type has
 *	Value, Result	types in memory
 *	Acc				what values are converted to and combined in
 *	READS			whether values are read
 *	identity(), apply(a, b), from(value, column), result(acc, column)
 *	OVERFLOWS		whether results may have status OVERFLOW
 *	overflows(acc)	whether its result has
 *	from_carry(state, column), to_carry(acc, column)
 *	low(acc), high(acc), joined(low, high)
 *					the aggregate of a tile, of at most TILE_ROWS_MAX rows, as 64
 *					bits and 14 signed bits above them
 */
#ifndef GPUAGG_SCAN_ELEMENT_CUH
#define GPUAGG_SCAN_ELEMENT_CUH

#include "kernels/scan_column.cuh"

#define TILE_ROWS_MAX 8192
#define TILE_ROWS_MIN 768 /* scratch is for tiles of so many rows */

/* Sums modulo 2^32 and 2^64. */
template <class Unsigned, class Signed> struct NarrowSum
{
	typedef Signed Value;
	typedef Signed Result;
	typedef Unsigned Acc;

	static constexpr bool READS = true;
	static constexpr bool OVERFLOWS = false;

	static __device__ __forceinline__ Acc identity()
	{
		return 0;
	}

	static __device__ __forceinline__ Acc apply(Acc a, Acc b)
	{
		return a + b;
	}

	static __device__ __forceinline__ Acc from(Value v, const ScanColumn &)
	{
		return (Acc) v;
	}

	static __device__ __forceinline__ Result result(Acc a, const ScanColumn &)
	{
		return (Result) a;
	}

	static __device__ __forceinline__ bool overflows(Acc)
	{
		return false;
	}

	static __device__ __forceinline__ Acc from_carry(const GpuaggScanState &s, const ScanColumn &)
	{
		return (Acc) s.sum.lo;
	}

	static __device__ __forceinline__ GpuaggInt128 to_carry(Acc a, const ScanColumn &)
	{
		return gpuagg_int128_from((Signed) a);
	}

	static __device__ __forceinline__ uint64_t low(Acc a)
	{
		return a;
	}

	static __device__ __forceinline__ int32_t high(Acc)
	{
		return 0;
	}

	static __device__ __forceinline__ Acc joined(uint64_t low, int32_t)
	{
		return (Acc) low;
	}
};

/*
 * Sums in 128 bits.  That of a tile is below 2^13 * 2^63 in magnitude, so its bits
 * 64 to 127 are a number from -2^12 to 2^12 - 1.
 */
template <class T, class R> struct WideSum
{
	static_assert(TILE_ROWS_MAX <= 1 << 13, "14 signed bits above 64 hold the sum of a tile");

	typedef T Value;
	typedef R Result;
	typedef GpuaggInt128 Acc;

	static constexpr bool READS = true;
	static constexpr bool OVERFLOWS = sizeof(Result) == sizeof(int64_t);

	static __device__ __forceinline__ Acc identity()
	{
		return {0, 0};
	}

	static __device__ __forceinline__ Acc apply(Acc a, Acc b)
	{
		unsigned __int128 sum = wide(a) + wide(b);

		return {(uint64_t) sum, (int64_t) (sum >> 64)};
	}

	static __device__ __forceinline__ unsigned __int128 wide(Acc a)
	{
		return (unsigned __int128) (uint64_t) a.hi << 64 | a.lo;
	}

	static __device__ __forceinline__ Acc from(Value v, const ScanColumn &)
	{
		return {(uint64_t) (int64_t) v, (int64_t) v >> 63};
	}

	static __device__ __forceinline__ void convert(Acc a, int64_t *result)
	{
		*result = (int64_t) a.lo;
	}

	static __device__ __forceinline__ void convert(Acc a, GpuaggInt128 *result)
	{
		*result = a;
	}

	static __device__ __forceinline__ Result result(Acc a, const ScanColumn &)
	{
		Result r;

		convert(a, &r);
		return r;
	}

	static __device__ __forceinline__ bool overflows(Acc a)
	{
		return OVERFLOWS && !gpuagg_int128_is_int64(a);
	}

	static __device__ __forceinline__ Acc from_carry(const GpuaggScanState &s, const ScanColumn &)
	{
		return s.sum;
	}

	static __device__ __forceinline__ GpuaggInt128 to_carry(Acc a, const ScanColumn &)
	{
		return a;
	}

	static __device__ __forceinline__ uint64_t low(Acc a)
	{
		return a.lo;
	}

	static __device__ __forceinline__ int32_t high(Acc a)
	{
		return (int32_t) a.hi;
	}

	static __device__ __forceinline__ Acc joined(uint64_t low, int32_t high)
	{
		return {low, high};
	}
};

/* MIN and MAX of one signed integer type, or of floats by their order keys. */
template <class Key> struct Extreme
{
	typedef Key Value; /* the value's bits */
	typedef Key Result;
	typedef Key Acc; /* the key, flipped for MAX */

	static constexpr bool READS = true;
	static constexpr bool OVERFLOWS = false;

	static __device__ __forceinline__ Acc identity()
	{
		return sizeof(Key) == 4 ? (Key) INT32_MAX : (Key) INT64_MAX;
	}

	static __device__ __forceinline__ Acc apply(Acc a, Acc b)
	{
		return b < a ? b : a;
	}

	static __device__ __forceinline__ int32_t key(int32_t bits)
	{
		return gpuagg_order_key32((uint32_t) bits);
	}

	static __device__ __forceinline__ int64_t key(int64_t bits)
	{
		return gpuagg_order_key64((uint64_t) bits);
	}

	static __device__ __forceinline__ int32_t bits(int32_t key)
	{
		return (int32_t) gpuagg_order_bits32(key);
	}

	static __device__ __forceinline__ int64_t bits(int64_t key)
	{
		return (int64_t) gpuagg_order_bits64(key);
	}

	static __device__ __forceinline__ Acc from(Value v, const ScanColumn &column)
	{
		return (column.is_float ? key(v) : v) ^ (Key) column.flip;
	}

	static __device__ __forceinline__ Key capped(Acc a, const ScanColumn &column)
	{
		return apply(a, (Key) column.cap) ^ (Key) column.flip;
	}

	static __device__ __forceinline__ Result result(Acc a, const ScanColumn &column)
	{
		Key k = capped(a, column);

		return column.is_float ? bits(k) : k;
	}

	static __device__ __forceinline__ bool overflows(Acc)
	{
		return false;
	}

	static __device__ __forceinline__ Acc from_carry(const GpuaggScanState &s,
													 const ScanColumn &column)
	{
		return s.f.counts.n > 0 ? (Key) s.sum.lo ^ (Key) column.flip : identity();
	}

	static __device__ __forceinline__ GpuaggInt128 to_carry(Acc a, const ScanColumn &column)
	{
		return gpuagg_int128_from(capped(a, column));
	}

	static __device__ __forceinline__ uint64_t low(Acc a)
	{
		return (uint64_t) (int64_t) a;
	}

	static __device__ __forceinline__ int32_t high(Acc)
	{
		return 0;
	}

	static __device__ __forceinline__ Acc joined(uint64_t low, int32_t)
	{
		return (Key) low;
	}
};

/* Counts: every valid row adds 1. */
struct Counter : NarrowSum<uint64_t, int64_t>
{
	static constexpr bool READS = false;

	static __device__ __forceinline__ Acc from(Value, const ScanColumn &)
	{
		return 1;
	}
};

#endif /* GPUAGG_SCAN_ELEMENT_CUH */
