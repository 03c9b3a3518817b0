/*
 * natural.h
 *	  Natural numbers of a bounded size, and rounding of their quotients.
 *
 * The value is the sum over i < width of limb[i] * 2^(64*(base+i)); base is not
 * negative, so the value is whole.  The top limb is not zero, and the value 0
 * has width 0.
 *
 * The largest number here is n times a sum of squares, or the square of a sum
 * (float_moments.c): both end below bit 64 * GPUAGG_NATURAL_LIMBS.
 */
#ifndef GPUAGG_NATURAL_H
#define GPUAGG_NATURAL_H

#include <stdint.h>

#define GPUAGG_NATURAL_LIMBS 74

typedef struct GpuaggNatural
{
	int base;
	int width;
	uint64_t limb[GPUAGG_NATURAL_LIMBS];
} GpuaggNatural;

/*
 * The magnitude of the sum of chunk[i] * 2^(32*(base+i)), chunks within 2^62.
 * Returns whether it is negative.
 */
extern int gpuagg_natural_from_chunks(GpuaggNatural *to, const int64_t *chunk, int base, int width);

extern void gpuagg_natural_multiply(GpuaggNatural *a, uint64_t factor);
extern void gpuagg_natural_square(GpuaggNatural *to, const GpuaggNatural *a);

/* a -= b; returns 0, and a is of no use, when b is larger. */
extern int gpuagg_natural_subtract(GpuaggNatural *a, const GpuaggNatural *b);

/*
 * a * 2^exponent / (d1 * d2), or its square root, rounded once to the nearest
 * double, ties to even: infinity when that is out of range.  The divisors are
 * above 0 and below 2^62.
 */
extern double gpuagg_natural_quotient(const GpuaggNatural *a, int exponent, uint64_t d1,
									  uint64_t d2);
extern double gpuagg_natural_quotient_root(const GpuaggNatural *a, int exponent, uint64_t d1,
										   uint64_t d2);

#endif /* GPUAGG_NATURAL_H */
