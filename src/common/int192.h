/*
 * int192.h
 *	  192-bit signed integers: sums of squares of 64-bit integers.
 *
 * Three 64-bit words in two's complement, least significant first, wherever
 * they are.  Additions wrap; the width table in protocol.h says why they cannot
 * overflow.
 */
#ifndef GPUAGG_INT192_H
#define GPUAGG_INT192_H

#include <stdint.h>

#define GPUAGG_INT192_WORDS 3

static inline void
gpuagg_int192_add(uint64_t *into, const uint64_t *from)
{
	unsigned __int128 sum = (unsigned __int128) into[0] + from[0];

	into[0] = (uint64_t) sum;
	sum = (sum >> 64) + into[1] + from[1];
	into[1] = (uint64_t) sum;
	into[2] += from[2] + (uint64_t) (sum >> 64);
}

/* v * v, at most 2^126. */
static inline unsigned __int128
gpuagg_square(int64_t v)
{
	__int128 wide = v;

	return (unsigned __int128) (wide * wide);
}

static inline void
gpuagg_int192_add_square(uint64_t *into, int64_t v)
{
	unsigned __int128 square = gpuagg_square(v);
	uint64_t words[GPUAGG_INT192_WORDS] = {(uint64_t) square, (uint64_t) (square >> 64), 0};

	gpuagg_int192_add(into, words);
}

static inline void
gpuagg_int192_take_square(uint64_t *from, int64_t v)
{
	unsigned __int128 negative = -gpuagg_square(v);
	uint64_t words[GPUAGG_INT192_WORDS] = {(uint64_t) negative, (uint64_t) (negative >> 64),
										   negative == 0 ? 0 : UINT64_MAX};

	gpuagg_int192_add(from, words);
}

#endif /* GPUAGG_INT192_H */
