/*
 * decimal_limbs.h
 *	  Signed decimal numbers of any length, to which numbers and squares are added.
 *
 * The value of limbs is the sum over i of limb[i] * 10^(16 * (first + i)).  Each limb
 * has 128 bits, so that many numbers can be added before carries are propagated.  After
 * that the top limb is in (-10^16, 10^16) and has the sign; all others are in [0, 10^16).
 *
 * Load: a number adds less than 10^16 to a limb; the square of a number of k limbs adds
 * at most k * 10^32 < k * 2^107.  Carries are propagated before these k add up to more
 * than 2^19, so a limb stays below 2^126 + 2^54.
 */
#ifndef GPUAGG_DECIMAL_LIMBS_H
#define GPUAGG_DECIMAL_LIMBS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/int128.h"

#define GPUAGG_DECIMAL_BASE 10000 /* of a group of four digits */
#define GPUAGG_LIMB			UINT64_C(10000000000000000)
#define GPUAGG_LIMB_GROUPS	4

/* A finite number: the sum over i of digit[i] * 10000^(weight - i). */
typedef struct GpuaggDecimal
{
	const char *digits; /* uint16 in host order, at any address; neither first nor last is 0 */
	int ndigits;
	int weight;
	int scale; /* digits to display after the point; the value has no more */
	int negative;
} GpuaggDecimal;

typedef struct GpuaggLimbs
{
	GpuaggInt128 *limb;
	int32_t first;
	int32_t width;
	uint32_t load; /* since carries were propagated */
} GpuaggLimbs;

/*
 * Allocates `bytes` (old: NULL), or frees old (bytes: 0).  Never returns NULL for
 * bytes > 0.
 */
typedef struct GpuaggMemory
{
	void *(*resize)(void *owner, void *old, size_t bytes);
	void *owner;
} GpuaggMemory;

/* 10000^n, n <= 4. */
static inline uint64_t
gpuagg_decimal_power(int n)
{
	static const uint64_t powers[] = {1, 10000, 100000000, UINT64_C(1000000000000), GPUAGG_LIMB};

	return powers[n];
}

static inline unsigned
gpuagg_decimal_digit(const GpuaggDecimal *x, int i)
{
	uint16_t digit;

	memcpy(&digit, x->digits + 2 * i, sizeof(digit));
	return digit;
}

extern void gpuagg_limbs_free(const GpuaggMemory *memory, GpuaggLimbs *limbs);

/* Makes the limbs span first to last; if it allocates, with one more on top for carries. */
extern void gpuagg_limbs_reserve(const GpuaggMemory *memory, GpuaggLimbs *limbs, int first,
								 int last);
extern void gpuagg_limbs_propagate(const GpuaggMemory *memory, GpuaggLimbs *limbs);

/*
 * The limbs of x, least significant first; that one's number goes to *first.  Returns how
 * many they are: at most GPUAGG_LIMBS_OF(x), for which there must be room.
 */
extern int gpuagg_limbs_of(const GpuaggDecimal *x, uint64_t *limb, int *first);
#define GPUAGG_LIMBS_OF(x) ((x)->ndigits / GPUAGG_LIMB_GROUPS + 2)

/* Adds (sign = 1) or subtracts (sign = -1) the square of the number with these limbs. */
extern void gpuagg_limbs_add_square(const GpuaggMemory *memory, GpuaggLimbs *limbs,
									const uint64_t *limb, int first, int width, int sign);

/* Adds (sign = 1) or subtracts (sign = -1) x, which is not 0. */
extern void gpuagg_limbs_add_decimal(const GpuaggMemory *memory, GpuaggLimbs *limbs,
									 const GpuaggDecimal *x, int sign);

/*
 * Propagated limbs as a number of scale 0.  Its digits are written to room for
 * GPUAGG_LIMB_GROUPS a limb.
 */
extern GpuaggDecimal gpuagg_limbs_decimal(const GpuaggLimbs *limbs, uint16_t *room);

/*
 * A number of scale 0 from its groups of digits, the first of the given weight; zero
 * groups at either end are left out.
 */
extern GpuaggDecimal gpuagg_decimal_trimmed(const uint16_t *digits, int ndigits, int weight,
											int negative);

/* Adds propagated limbs. */
extern void gpuagg_limbs_merge(const GpuaggMemory *memory, GpuaggLimbs *into,
							   const GpuaggLimbs *from);

/*
 * The absolute value of propagated limbs, to be called for each limb from the least
 * significant on; the borrow is 0 at first.
 */
static inline uint64_t
gpuagg_limb_magnitude(const GpuaggLimbs *limbs, int i, int negative, int *borrow)
{
	__int128 v = gpuagg_int128_wide(limbs->limb[i]);

	if (!negative)
		return (uint64_t) v;
	v = -v - *borrow;
	*borrow = v < 0;
	return (uint64_t) (v < 0 ? v + (int64_t) GPUAGG_LIMB : v);
}

static inline int
gpuagg_limbs_negative(const GpuaggLimbs *limbs)
{
	return limbs->width > 0 && limbs->limb[limbs->width - 1].hi < 0;
}

#endif /* GPUAGG_DECIMAL_LIMBS_H */
