/*
 * float_squares.h
 *	  Exact sums of squares of IEEE 754 doubles.
 *
 * The accumulator is that of float_sum.h with a smaller unit: bit 0 of chunk 0
 * weighs 2^-2148, the square of the least subnormal, and GPUAGG_SQUARE_CHUNKS
 * chunks cover every square.  NaN and infinite inputs add nothing here; the sum's counts
 * have them.
 */
#ifndef GPUAGG_FLOAT_SQUARES_H
#define GPUAGG_FLOAT_SQUARES_H

#include "common/float_sum.h"

#define GPUAGG_SQUARES_SMALL_WIDTH	9 /* chunks of a group's first state */
#define GPUAGG_SQUARES_TOUCHED		5 /* chunks that one deposit touches */
#define GPUAGG_SQUARES_MIN_EXPONENT (-2148)

/* An accumulator with all chunks; begins as GpuaggFloatSum does. */
typedef struct GpuaggFloatSquaresFull
{
	GpuaggFloatCounts counts; /* not used */
	uint32_t deposits;
	int16_t base;  /* 0 */
	int16_t width; /* GPUAGG_SQUARE_CHUNKS */
	int64_t chunk[GPUAGG_SQUARE_CHUNKS];
} GpuaggFloatSquaresFull;

static inline GpuaggFloatSum *
gpuagg_float_squares_of(GpuaggFloatSquaresFull *full)
{
	return (GpuaggFloatSum *) full;
}

/* Adds n <= 2^30 squares to a full accumulator, exactly.  Any content is allowed. */
extern void gpuagg_float_squares_deposit_array(GpuaggFloatSquaresFull *acc, const double *x,
											   int64_t n);

/* The same for values whose squares are exact doubles, such as those of floats. */
extern void gpuagg_float_squares_deposit_floats(GpuaggFloatSquaresFull *acc, const float *x,
												int64_t n);

/*
 * Adds chunks below 2^62 to those of a reduction.  These are in [0, 2^32), except the top
 * one (protocol.h), and so is the result.
 */
extern void gpuagg_float_squares_merge_chunks(int64_t *into, const int64_t *from);

/* The lowest chunk that the square of the finite x touches. */
static inline int
gpuagg_float_squares_place(double x)
{
	uint64_t bits;
	int exponent;

	memcpy(&bits, &x, sizeof(bits));
	exponent = (int) (bits >> 52) & 0x7ff;
	return (exponent > 0 ? exponent - 1 : 0) >> 4;
}

/*
 * The square of m * 2^(exponent - 1075), 0 < m < 2^53, as five pieces of 32 bits for the
 * chunks from its place on; the last is below 2^8.
 */
static inline void
gpuagg_float_square_pieces(uint64_t m, int exponent, int64_t piece[GPUAGG_SQUARES_TOUCHED])
{
	unsigned __int128 square = (unsigned __int128) m * m; /* below 2^106 */
	int shift = 2 * (exponent - 1) & 31;				  /* at most 30 */
	unsigned __int128 low = (unsigned __int128) (uint64_t) square << shift;
	unsigned __int128 high = (unsigned __int128) (uint64_t) (square >> 64) << shift;

	high += low >> 64;
	piece[0] = (int64_t) (uint32_t) low;
	piece[1] = (int64_t) (uint32_t) (low >> 32);
	piece[2] = (int64_t) (uint32_t) high;
	piece[3] = (int64_t) (uint32_t) (high >> 32);
	piece[4] = (int64_t) (high >> 64);
}

/*
 * Adds (sign = 1) or subtracts again (sign = -1) one square.  Returns 0, with nothing
 * changed, if it does not fit the window.
 */
static inline int
gpuagg_float_squares_deposit(GpuaggFloatSum *acc, double x, int sign)
{
	uint64_t bits;
	uint64_t mantissa;
	int64_t piece[GPUAGG_SQUARES_TOUCHED];
	int exponent;
	int i;

	memcpy(&bits, &x, sizeof(bits));
	exponent = (int) (bits >> 52) & 0x7ff;
	mantissa = bits & ((UINT64_C(1) << 52) - 1);
	if (exponent == 0x7ff || (exponent == 0 && mantissa == 0))
		return 1;
	if (exponent == 0)
		exponent = 1;
	else
		mantissa |= UINT64_C(1) << 52;

	i = ((exponent - 1) >> 4) - acc->base;
	if (i < 0 || i + GPUAGG_SQUARES_TOUCHED > acc->width)
		return 0;
	gpuagg_float_square_pieces(mantissa, exponent, piece);
	for (int k = 0; k < GPUAGG_SQUARES_TOUCHED; k++)
		acc->chunk[i + k] += sign < 0 ? -piece[k] : piece[k];
	if (++acc->deposits >= GPUAGG_MAX_DEPOSITS)
		gpuagg_float_sum_propagate(acc);
	return 1;
}

#endif /* GPUAGG_FLOAT_SQUARES_H */
