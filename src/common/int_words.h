/*
 * int_words.h
 *	  Integers of some 64-bit words in two's complement, least significant first.
 */
#ifndef GPUAGG_INT_WORDS_H
#define GPUAGG_INT_WORDS_H

#include <stdint.h>

/* Of sums of integers of up to 128 bits, and of their squares: 2^62 rows cannot overflow these. */
#define GPUAGG_SUM_WORDS	3
#define GPUAGG_SQUARE_WORDS 5

/* Adds; what does not fit is lost. */
static inline void
gpuagg_words_add(uint64_t *into, const uint64_t *from, int n)
{
	unsigned __int128 carry = 0;

	for (int i = 0; i < n; i++)
	{
		carry += (unsigned __int128) into[i] + from[i];
		into[i] = (uint64_t) carry;
		carry >>= 64;
	}
}

static inline void
gpuagg_words_negate(uint64_t *words, int n)
{
	uint64_t carry = 1;

	for (int i = 0; i < n; i++)
	{
		words[i] = ~words[i] + carry;
		carry = carry && words[i] == 0;
	}
}

/* Replaces them by their absolute value; returns whether they were negative. */
static inline int
gpuagg_words_absolute(uint64_t *words, int n)
{
	if ((int64_t) words[n - 1] >= 0)
		return 0;
	gpuagg_words_negate(words, n);
	return 1;
}

/* Multiplies positive ones. */
static inline void
gpuagg_words_multiply(uint64_t *words, int n, uint64_t by)
{
	unsigned __int128 carry = 0;

	for (int i = 0; i < n; i++)
	{
		carry += (unsigned __int128) words[i] * by;
		words[i] = (uint64_t) carry;
		carry >>= 64;
	}
}

/* Divides positive ones; returns the remainder. */
static inline uint64_t
gpuagg_words_divide(uint64_t *words, int n, uint64_t by)
{
	uint64_t rest = 0;

	for (int i = n - 1; i >= 0; i--)
	{
		unsigned __int128 v = (unsigned __int128) rest << 64 | words[i];

		if (v <= UINT64_MAX)
		{
			rest = words[i] % by;
			words[i] /= by;
		}
		else
		{
			words[i] = (uint64_t) (v / by);
			rest = (uint64_t) (v % by);
		}
	}
	return rest;
}

#endif /* GPUAGG_INT_WORDS_H */
