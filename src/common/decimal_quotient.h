/*
 * decimal_quotient.h
 *	  Quotients of sums by counts, with the digits of core's division of numerics.
 */
#ifndef GPUAGG_DECIMAL_QUOTIENT_H
#define GPUAGG_DECIMAL_QUOTIENT_H

#include "common/decimal_limbs.h"

#define GPUAGG_GROUP_DIGITS 4

typedef struct GpuaggQuotient
{
	unsigned __int128 value; /* times 10^-scale */
	int scale;
} GpuaggQuotient;

/* The first group of four digits of v; *weight: how many groups follow it. */
static inline uint64_t
gpuagg_first_group(unsigned __int128 v, int *weight)
{
	uint64_t low;

	for (*weight = 0; v >> 64 != 0; (*weight)++)
		v /= GPUAGG_DECIMAL_BASE;
	for (low = (uint64_t) v; low >= GPUAGG_DECIMAL_BASE; (*weight)++)
		low /= GPUAGG_DECIMAL_BASE;
	return low;
}

/*
 * The display scale that core gives a quotient whose first group has this weight, by estimate: at
 * least the dividend's, and enough for 16 significant digits; at most 1000.
 */
static inline int
gpuagg_quotient_scale(int weight, int scale)
{
	int digits = 16 - weight * GPUAGG_GROUP_DIGITS;

	if (digits < scale)
		digits = scale;
	return digits > 1000 ? 1000 : digits;
}

/*
 * The greatest display scale of quotients of sums with so many places by counts that have so many
 * groups of four digits behind the first.
 */
static inline int
gpuagg_quotient_most_scale(int places, int groups)
{
	return gpuagg_quotient_scale(-((places + GPUAGG_GROUP_DIGITS - 1) / GPUAGG_GROUP_DIGITS) -
									 groups - 1,
								 places);
}

/*
 * A sum, times 10^-places, divided by n > 0 and rounded half up.  The sum is of display scale `scale`
 * and has no digits behind that.  0: 128 bits are too few.
 */
extern int gpuagg_decimal_quotient(unsigned __int128 sum, int places, int scale, uint64_t n,
								   GpuaggQuotient *quotient);

#endif /* GPUAGG_DECIMAL_QUOTIENT_H */
