/*
 * bin.cuh
 *	  A bin: an exact sum of doubles of like size, by double additions.
 *
 * A bin with its unit at place p takes doubles of magnitude below that of place
 * p + BIN_BITS.  Adding its magic number, 1.5 * 2^52 units, rounds a value to a
 * multiple of the unit, which is then the low bits of the sum.  What is left of
 * the value, at most half a unit, goes to the next bin; what is left after the
 * last bin depends on the value alone.  These operations are exact: the sum with
 * the magic number stays in one binade, and both differences are multiples of the
 * value's last place and no larger than it.  (Demmel and Nguyen, "Parallel
 * reproducible summation".)
 *
 * One value changes a bin by at most 2^51 units, so BIN_MOST_VALUES of them stay
 * below 2^63.
 */
#ifndef GPUAGG_BIN_CUH
#define GPUAGG_BIN_CUH

#include "kernels/float_bits.cuh"

#define BIN_BITS		51
#define BIN_MOST_VALUES 4095

/* The bits of 1.5 * 2^52 units. */
static GPUAGG_HD inline uint64_t
bin_magic_bits(int place)
{
	return (uint64_t) ((uint32_t) (place + 1) << 20 | 0x80000) << 32;
}

#endif /* GPUAGG_BIN_CUH */
