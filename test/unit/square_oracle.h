/*
 * square_oracle.h
 *	  Squares of integers of 128 bits, digit by digit.
 */
#ifndef SQUARE_ORACLE_H
#define SQUARE_ORACLE_H

#include <stdint.h>

#include "common/int_words.h"

static inline void
square_words(__int128 v, uint64_t *words)
{
	unsigned __int128 size = v < 0 ? -(unsigned __int128) v : (unsigned __int128) v;
	uint64_t digit[2 * GPUAGG_SQUARE_WORDS] = {0}; /* of 32 bits */

	for (int i = 0; i < 4; i++)
	{
		uint64_t carry = 0;

		for (int j = 0; j < 4; j++)
		{
			carry += digit[i + j] +
					 (uint64_t) (uint32_t) (size >> 32 * i) * (uint32_t) (size >> 32 * j);
			digit[i + j] = (uint32_t) carry;
			carry >>= 32;
		}
		digit[i + 4] = carry;
	}
	for (int i = 0; i < GPUAGG_SQUARE_WORDS; i++)
		words[i] = digit[2 * i] | digit[2 * i + 1] << 32;
}

#endif /* SQUARE_ORACLE_H */
