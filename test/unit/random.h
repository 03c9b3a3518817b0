/*
 * random.h
 *	  Random numbers of unit tests: splitmix64, from a seed that tests may set.
 */
#ifndef GPUAGG_UNIT_RANDOM_H
#define GPUAGG_UNIT_RANDOM_H

#include <stdint.h>

static uint64_t seed = 42;

static uint64_t
next(void)
{
	uint64_t z = seed += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

#endif /* GPUAGG_UNIT_RANDOM_H */
