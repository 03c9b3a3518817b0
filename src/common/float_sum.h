/*
 * float_sum.h
 *	  Exact sums of IEEE 754 doubles: a superaccumulator.
 *
 * The value of an accumulator is the sum over i of chunk[i] * 2^(32*(base+i) - 1074),
 * exactly, plus the NaN and infinite inputs that the counts say.  Chunks are 32-bit
 * pieces held in int64, so that GPUAGG_MAX_DEPOSITS values can be added before carries
 * must be propagated.  GPUAGG_CHUNKS of them cover every finite double.  An accumulator
 * may hold only the window of chunks that its inputs have touched (base, width); it is
 * widened when needed.
 *
 * A sum of squares has the same form and most of the same functions, with
 * GPUAGG_SQUARE_CHUNKS chunks of 2^(32*(base+i) - 2148) and unused counts
 * (float_squares.h).
 *
 * Deposit, subtract and merge are exact, so associative and commutative: order, batches,
 * workers and engines cannot change the result.  Rounding is separate and happens once.
 *
 * The chunk format follows R. Neal, "Fast exact summation using small and
 * large superaccumulators", arXiv 1505.05571.
 */
#ifndef GPUAGG_FLOAT_SUM_H
#define GPUAGG_FLOAT_SUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/column.h"
#include "common/int128.h"

#define GPUAGG_CHUNKS		 67
#define GPUAGG_SQUARE_CHUNKS 134		/* of sums of squares: bit 0 of chunk 0 weighs 2^-2148 */
#define GPUAGG_MAX_DEPOSITS	 (1u << 30) /* half of what an int64 chunk can take */
#define GPUAGG_SMALL_WIDTH	 6			/* chunks of a group's first state */
#define GPUAGG_TOUCHED		 3			/* chunks that one deposit touches */
#define GPUAGG_MIN_EXPONENT	 (-1074)	/* weight of bit 0 of chunk 0 */

/*
 * The device's running sums: 256 bits that start at a chosen chunk.  Values and a
 * carried sum are below 2^223 in them: 2^31 of them stay below 2^255.
 */
#define GPUAGG_SUM256_CHUNKS	 8
#define GPUAGG_SUM256_VALUE_BITS (32 * GPUAGG_SUM256_CHUNKS - 33)

/* What the inputs were; all counts are of non-NULL inputs. */
typedef struct GpuaggFloatCounts
{
	int64_t n; /* all */
	int64_t n_nan;
	int64_t n_pinf;
	int64_t n_ninf;
	int64_t n_negzero;
} GpuaggFloatCounts;

typedef struct GpuaggFloatSum
{
	GpuaggFloatCounts counts;
	uint32_t deposits; /* since carries were last propagated */
	int16_t base;	   /* place of chunk[0] among all GPUAGG_CHUNKS */
	int16_t width;	   /* number of chunks held */
	int64_t chunk[];
} GpuaggFloatSum;

/* An accumulator with all chunks, as it crosses the process boundary. */
typedef struct GpuaggFloatSumFull
{
	GpuaggFloatCounts counts;
	uint32_t deposits;
	int16_t base;  /* 0 */
	int16_t width; /* GPUAGG_CHUNKS */
	int64_t chunk[GPUAGG_CHUNKS];
} GpuaggFloatSumFull;

#define GPUAGG_FLOAT_SUM_SIZE(width) (offsetof(GpuaggFloatSum, chunk) + (width) * sizeof(int64_t))

/* Outcome of rounding. */
typedef enum GpuaggRounded
{
	GPUAGG_ROUNDED_VALUE,	/* finite, infinite or NaN */
	GPUAGG_ROUNDED_NULL,	/* no input */
	GPUAGG_ROUNDED_OVERFLOW /* all inputs finite, exact sum out of range */
} GpuaggRounded;

/* A full accumulator as the general kind, which has the same layout up to chunk. */
static inline GpuaggFloatSum *
gpuagg_float_sum_of(GpuaggFloatSumFull *full)
{
	return (GpuaggFloatSum *) full;
}

extern void gpuagg_float_sum_init(GpuaggFloatSum *acc, int base, int width);
extern void gpuagg_float_sum_propagate(GpuaggFloatSum *acc);
extern int gpuagg_float_sum_window_for(const GpuaggFloatSum *acc, int place, int touched,
									   int chunks, int *base, int *width);
extern void gpuagg_float_sum_widen(GpuaggFloatSum *to, const GpuaggFloatSum *from);
extern void gpuagg_float_sum_extent(const GpuaggFloatSum *acc, int *first, int *last);
extern void gpuagg_float_sum_merge(GpuaggFloatSum *into, const GpuaggFloatSum *from);
extern GpuaggRounded gpuagg_float_sum_round64(const GpuaggFloatSum *acc, double *result);
extern GpuaggRounded gpuagg_float_sum_round32(const GpuaggFloatSum *acc, float *result);

/*
 * The finite values' sum by n, not 0, as the nearest double.  Returns 0, with nothing set, where the
 * sum is 0 or its leading bits do not settle it.
 */
extern int gpuagg_float_sum_quotient(const GpuaggFloatSum *acc, uint64_t n, double *result);
extern void gpuagg_float_sum_deposit_array(GpuaggFloatSumFull *acc, const double *x, int64_t n);

/* The lowest bit, from 2^-1074 up, of the finite double of these bits; it takes 53. */
static inline GPUAGG_HD int
gpuagg_float_sum_bit(uint64_t bits)
{
	int exponent = (int) (bits >> 52) & 0x7ff;

	return exponent > 0 ? exponent - 1 : 0;
}

/* The chunk where 256 bits begin that are to hold bits from `low` on; and whether they hold those below `high`. */
static inline int
gpuagg_sum256_window(int low)
{
	int chunk = low / 32;

	return chunk < GPUAGG_CHUNKS - GPUAGG_SUM256_CHUNKS ? chunk
														: GPUAGG_CHUNKS - GPUAGG_SUM256_CHUNKS;
}

static inline int
gpuagg_sum256_holds(int window, int high)
{
	return high <= window * 32 + GPUAGG_SUM256_VALUE_BITS;
}

/* The lowest chunk that a deposit of the finite x touches. */
static inline int
gpuagg_float_sum_place(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return gpuagg_float_sum_bit(bits) >> 5;
}

/*
 * Adds (sign = 1) or subtracts again (sign = -1) one value.  Returns 0, with nothing
 * changed, if x is finite and does not fit the window: the caller widens the accumulator
 * and calls again.
 */
static inline int
gpuagg_float_sum_deposit(GpuaggFloatSum *acc, double x, int sign)
{
	uint64_t bits;
	uint64_t mantissa;
	int exponent;
	int i;
	int shift;
	unsigned __int128 wide;
	int64_t minus;

	memcpy(&bits, &x, sizeof(bits));
	exponent = (int) (bits >> 52) & 0x7ff;
	mantissa = bits & ((UINT64_C(1) << 52) - 1);

	if (exponent == 0x7ff)
	{
		if (mantissa != 0)
			acc->counts.n_nan += sign;
		else if (bits >> 63)
			acc->counts.n_ninf += sign;
		else
			acc->counts.n_pinf += sign;
		acc->counts.n += sign;
		return 1;
	}
	if (exponent == 0)
	{
		if (mantissa == 0)
		{
			acc->counts.n_negzero += (bits >> 63) ? sign : 0;
			acc->counts.n += sign;
			return 1;
		}
		exponent = 1;
	}
	else
		mantissa |= UINT64_C(1) << 52;

	i = ((exponent - 1) >> 5) - acc->base;
	if (i < 0 || i + 2 >= acc->width)
		return 0;
	shift = (exponent - 1) & 31;
	wide = (unsigned __int128) mantissa << shift;

	/* no branch on the value's sign, which cannot be predicted: (v ^ -1) - -1 is -v */
	minus = -(int64_t) ((bits >> 63) != (uint64_t) (sign < 0));
	acc->chunk[i] += ((int64_t) (uint32_t) wide ^ minus) - minus;
	acc->chunk[i + 1] += ((int64_t) (uint32_t) (wide >> 32) ^ minus) - minus;
	acc->chunk[i + 2] += ((int64_t) (wide >> 64) ^ minus) - minus;
	acc->counts.n += sign;
	if (++acc->deposits >= GPUAGG_MAX_DEPOSITS)
		gpuagg_float_sum_propagate(acc);
	return 1;
}

#endif /* GPUAGG_FLOAT_SUM_H */
