/*
 * key_layout.h
 *	  Keys of several columns as one number that sorts as they do.
 *
 * A value is an unsigned word of the same order.  In the number it is its distance from the least
 * value (descending: from the greatest), in the bits that the greatest distance takes, less the
 * low bits that are equal in all values (as in timestamps of whole seconds, or floats of few
 * digits).  NULL is one more value at either end.
 *
 * Numbers have one or more words, the uppermost first.
 */
#ifndef GPUAGG_KEY_LAYOUT_H
#define GPUAGG_KEY_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/column.h"

/* What is known of the values of a key. */
typedef struct GpuaggKeyRange
{
	uint64_t least; /* these three if has_values */
	uint64_t greatest;
	uint64_t differs; /* its lowest bit is the lowest in which two values differ */
	bool has_values;
	bool has_nulls;
} GpuaggKeyRange;

typedef struct GpuaggKeyLayout
{
	GpuaggKeyRange range;
	bool descending;
	bool nulls_first;

	/* of lay_out() */
	bool null_bit;	/* above its bits; for NULL, if the values take all 2^64 distances */
	int low_bits;	/* that are equal in all values, and left out */
	int position;	/* of its lowest bit in the number */
	int bits;		/* 0 to 64 */
	uint64_t shift; /* 1 if NULL is packed as 0 */
	uint64_t null_value;
} GpuaggKeyLayout;

/* Chooses how values in the ranges are packed; returns the bits of a number. */
extern int gpuagg_key_lay_out(GpuaggKeyLayout *keys, int nkeys);

/* Of bits from 0 up, those of the first so many keys, which are above all others. */
extern void gpuagg_key_mask(const GpuaggKeyLayout *keys, int nkeys, int first, int words,
							uint64_t *mask);

/* The words of integers and, by their bits, of floats: -0 and 0 have one, and all NaNs. */
static inline GPUAGG_HD uint64_t
gpuagg_key_word(int64_t value)
{
	return (uint64_t) value ^ UINT64_C(1) << 63;
}

static inline GPUAGG_HD uint64_t
gpuagg_key_word_float64(uint64_t bits)
{
	return gpuagg_key_word(gpuagg_order_key64(bits == UINT64_C(1) << 63 ? 0 : bits));
}

static inline GPUAGG_HD uint64_t
gpuagg_key_word_float32(uint32_t bits)
{
	const uint32_t sign = UINT32_C(1) << 31;

	return (uint32_t) gpuagg_order_key32(bits == sign ? 0 : bits) ^ sign;
}

/* The number of such a word. */
static inline int64_t
gpuagg_key_word_value(uint64_t word)
{
	return (int64_t) (word ^ UINT64_C(1) << 63);
}

/* A value in a key's bits of a number, but for null_bit. */
static inline GPUAGG_HD uint64_t
gpuagg_key_packed(const GpuaggKeyLayout *key, bool isnull, uint64_t word)
{
	uint64_t distance = key->descending ? key->range.greatest - word : word - key->range.least;

	return isnull ? key->null_value : (distance >> key->low_bits) + key->shift;
}

#endif /* GPUAGG_KEY_LAYOUT_H */
