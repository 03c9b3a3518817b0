/*
 * natural.h
 *	  Natural numbers of a bounded size, and rounding of their quotients.
 *
 * The value is the sum over i < width of limb[i] * 2^(64*(base+i)), where base >= 0.
 * The top limb is not zero; the value 0 has width 0.
 *
 * The largest numbers are n times a sum of squares, and the square of a sum
 * (float_moments.c): both are below 2^(64 * GPUAGG_NATURAL_LIMBS).
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
 * The magnitude of the sum of chunk[i] * 2^(32*(base+i)), of chunks within 2^62.
 * Returns whether the sum is negative.
 */
extern int gpuagg_natural_from_chunks(GpuaggNatural *to, const int64_t *chunk, int base, int width);

extern void gpuagg_natural_multiply(GpuaggNatural *a, uint64_t factor);
extern void gpuagg_natural_square(GpuaggNatural *to, const GpuaggNatural *a);

/* a -= b; returns 0 if b is larger, and leaves a undefined. */
extern int gpuagg_natural_subtract(GpuaggNatural *a, const GpuaggNatural *b);

/*
 * a * 2^exponent / (d1 * d2), or its square root, rounded once to the nearest
 * double, ties to even; infinity if out of range.  The divisors are above 0 and
 * below 2^62.
 */
extern double gpuagg_natural_quotient(const GpuaggNatural *a, int exponent, uint64_t d1,
									  uint64_t d2);
extern double gpuagg_natural_quotient_root(const GpuaggNatural *a, int exponent, uint64_t d1,
										   uint64_t d2);

#endif /* GPUAGG_NATURAL_H */
