/*
 * reduce_bins.cuh
 *	  Bins (bin.cuh) of reductions of floats, and their way into chunks.
 *
 * Bins below place `top` take doubles of magnitude below that of place `top`; the
 * unit of bin i is place top - 51 (i + 1), but not below 0.  A bin adds up the
 * bits of sums, magic numbers included, modulo 2^64.
 */
#ifndef GPUAGG_REDUCE_BINS_CUH
#define GPUAGG_REDUCE_BINS_CUH

#include "kernels/bin.cuh"
#include "kernels/reduce_chunks.cuh"

#define BINS_LOWEST	 52	  /* top: magnitudes below 2^-1022, all subnormals */
#define BINS_HIGHEST 2085 /* top: magnitudes below 2^1011; magic numbers stay finite */

/* Lanes' sums are added by 22-bit pieces, so that 32 of them stay below 2^27. */
#define FLUSH_BITS	 22
#define FLUSH_PIECES 3

/* The place of a bin's unit. */
static __device__ __forceinline__ int
bin_place(int top, int bin)
{
	int place = top - BIN_BITS * (bin + 1);

	return place > 0 ? place : 0;
}

/*
 * Adds a value, which is below the unit of bin FIRST - 1, to COUNT bins from FIRST
 * on.  Returns what is left of it: 0, or the bits below the last bin; -0 for -0 only.
 */
template <int FIRST, int COUNT>
static __device__ __forceinline__ double
bins_add(uint64_t *sum, double v, int top)
{
	UNROLL
	for (int i = 0; i < COUNT; i++)
	{
		double magic = double_of(bin_magic_bits(bin_place(top, FIRST + i)));
		double t = v + magic;

		sum[i] += bits_of(t);
		v = v - (t - magic);
	}
	return v;
}

/* What bins_add() would leave. */
template <int FIRST, int COUNT>
static __device__ __forceinline__ double
bins_rest(double v, int top)
{
	UNROLL
	for (int i = 0; i < COUNT; i++)
	{
		double magic = double_of(bin_magic_bits(bin_place(top, FIRST + i)));

		v = v - ((v + magic) - magic);
	}
	return v;
}

/*
 * Moves what the lanes of a warp hold in COUNT bins from FIRST on into chunks, whose
 * bit `units` is place 0.  first, second, further: additions that every lane has
 * made to the first of these bins, to the second, and to each of the others.
 */
template <int FIRST, int COUNT>
static __device__ __forceinline__ void
bins_flush(const uint64_t *sum, uint32_t first, uint32_t second, uint32_t further, int top,
		   SplitWord *chunk, int units)
{
	static_assert(COUNT * FLUSH_PIECES <= WARP_SIZE, "a lane for each piece");
	uint32_t mask = (UINT32_C(1) << FLUSH_BITS) - 1;
	int bin = lane_id() / FLUSH_PIECES; /* whose piece this lane deposits */
	int piece = lane_id() % FLUSH_PIECES;
	int place = bin_place(top, FIRST + bin) + FLUSH_BITS * piece + units;
	int64_t mine = 0;

	UNROLL
	for (int i = 0; i < COUNT; i++)
	{
		uint32_t additions = i == 0 ? first : i == 1 ? second : further;
		uint64_t held = sum[i] - additions * bin_magic_bits(bin_place(top, FIRST + i));
		int64_t low = warp_reduce_add((uint32_t) held & mask);
		int64_t middle = warp_reduce_add((uint32_t) (held >> FLUSH_BITS) & mask);
		int64_t high = warp_reduce_add((int32_t) ((int64_t) held >> 2 * FLUSH_BITS));

		if (bin == i)
			mine = piece == 0 ? low : piece == 1 ? middle : high;
	}
	if (mine != 0)
		chunks_deposit(chunk, place, (uint64_t) (mine < 0 ? -mine : mine), mine < 0);
}

/* The square of x is two normal doubles, high and low, for |x| between these places: [2^-485, 2^505). */
#define SQUARES_LOWEST	(1074 - 485)
#define SQUARES_HIGHEST (1074 + 505)
#define SQUARE_UNITS	1074 /* place of 2^-1074 in chunks of squares */

static __device__ __forceinline__ float
float_from(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/*
 * Grows with |v|, and for a NaN is below no limit.  Of a double it is the high
 * word, taken as a float: a NaN itself from 2^1017 on, beyond every limit.
 */
static __device__ __forceinline__ float
magnitude(double v)
{
	return fabsf(float_from((uint32_t) (bits_of(v) >> 32)));
}

static __device__ __forceinline__ float
magnitude(float v)
{
	return fabsf(v);
}

/* magnitude() of 2^(place - 1074), a normal value of the type. */
static __device__ __forceinline__ float
limit_at(double, int place)
{
	return float_from((uint32_t) (place - 51) << 20);
}

#define FLOAT32_LOWEST 948 /* the place of 2^-126 */

static __device__ __forceinline__ float
limit_at(float, int place)
{
	int exponent = place - FLOAT32_LOWEST + 1;

	return float_from((uint32_t) (exponent < 0xff ? exponent : 0xff) << 23);
}

static __device__ __forceinline__ bool
is_finite(double v)
{
	return bits_finite(bits_of(v));
}

static __device__ __forceinline__ bool
is_finite(float v)
{
	return fabsf(v) < float_from(GPUAGG_INFINITY32);
}

/*
 * A word that grows with |v|: 0 for zeros only, size_nonfinite() or more for what is
 * not finite.  size_exponent() is the exponent field, as of a double, of the others.
 */
static __device__ __forceinline__ uint32_t
size_word(double v)
{
	uint64_t bits = bits_of(v);

	return (uint32_t) (bits >> 31) | ((uint32_t) bits << 1 != 0);
}

static __device__ __forceinline__ uint32_t
size_word(float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits << 1;
}

template <class T>
static __device__ __forceinline__ uint32_t
size_nonfinite()
{
	return sizeof(T) == 8 ? 0xffe00000 : 0xff000000;
}

template <class T>
static __device__ __forceinline__ int
size_exponent(uint32_t size)
{
	int exponent = (int) (size >> (sizeof(T) == 8 ? 21 : 24));

	return (exponent > 0 ? exponent : 1) + (sizeof(T) == 8 ? 0 : 1023 - 127);
}

#endif /* GPUAGG_REDUCE_BINS_CUH */
