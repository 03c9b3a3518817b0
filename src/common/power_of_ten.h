/*
 * power_of_ten.h
 *	  Powers of ten in 128 bits, and how many digits a number has.
 */
#ifndef GPUAGG_POWER_OF_TEN_H
#define GPUAGG_POWER_OF_TEN_H

#include <stdint.h>

/* Any number of so many digits fits. */
#define GPUAGG_INT64_DIGITS	 18
#define GPUAGG_INT128_DIGITS 38

/* 10^n, n from 0 to 38. */
static inline __int128
gpuagg_power_of_ten(int n)
{
	static const uint64_t powers[] = {1,
									  10,
									  100,
									  1000,
									  10000,
									  100000,
									  1000000,
									  10000000,
									  100000000,
									  1000000000,
									  UINT64_C(10000000000),
									  UINT64_C(100000000000),
									  UINT64_C(1000000000000),
									  UINT64_C(10000000000000),
									  UINT64_C(100000000000000),
									  UINT64_C(1000000000000000),
									  UINT64_C(10000000000000000),
									  UINT64_C(100000000000000000),
									  UINT64_C(1000000000000000000),
									  UINT64_C(10000000000000000000)};

	return n < 20 ? (__int128) powers[n] : (__int128) powers[19] * powers[n - 19];
}

/* How many decimal digits v has; 0 has none. */
static inline int
gpuagg_decimal_digits(unsigned __int128 v)
{
	uint64_t high = (uint64_t) (v >> 64);
	uint64_t low = (uint64_t) v;
	int bits = high != 0 ? 128 - __builtin_clzll(high) : low != 0 ? 64 - __builtin_clzll(low) : 0;
	/* all numbers of so many bits have as many digits, or one more: 1233 / 4096 is log10(2) */
	int digits = bits * 1233 >> 12;

	return digits + (v >= (unsigned __int128) gpuagg_power_of_ten(digits));
}

#endif /* GPUAGG_POWER_OF_TEN_H */
