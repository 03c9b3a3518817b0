/*
 * agg_keys.h
 *	  Group keys of vectors as words and as bytes: equal where the keys are.
 *
 * A packed key has each number at a place of its own, and needs that all of them fit.
 * A short key has a byte before each value, which says whether it is NULL and how many
 * bytes follow; only some rows' keys may fit.  A key as bytes has no limit.  Of floats
 * the sign of zero and the bits of NaN do not count.
 */
#ifndef GPUAGG_AGG_KEYS_H
#define GPUAGG_AGG_KEYS_H

#include "lib/stringinfo.h"

#include "spec/vector_compile.h"

typedef struct PackedKey
{
	uint64 low;
	uint64 high;
} PackedKey;

#define GPUAGG_SHORT_KEY 16 /* bytes */

/* What a key of a type takes in a packed one; types of numbers up to 64 bits, and bool. */
extern int gpuagg_key_bits(GpuaggVectorType type);

/* Packs the keys of rows[0 to n - 1]; vectors: one for each key. */
extern void gpuagg_keys_pack(const VectorValue *forms, int nkeys, const GpuaggVector *vectors,
							 const uint16 *rows, int n, PackedKey *keys);

/*
 * The short keys of rows[0 to n - 1], and how many bytes of them are used: over
 * GPUAGG_SHORT_KEY where a key does not fit.  Returns whether all fit.
 */
extern bool gpuagg_keys_shorten(const VectorValue *forms, int nkeys, const GpuaggVector *vectors,
								const uint16 *rows, int n, PackedKey *keys, uint8 *used);

/* Appends the keys of one row. */
extern void gpuagg_keys_append(StringInfo buf, const VectorValue *forms, int nkeys,
							   const GpuaggVector *vectors, int row);

/* A packed key that is one integer. */
static inline bool
gpuagg_key_packs_null(PackedKey key)
{
	return (key.low & 1) != 0;
}

static inline int64
gpuagg_key_unpack(PackedKey key, GpuaggVectorType type)
{
	uint64 value = key.high << 63 | key.low >> 1;

	return type == GPUAGG_VECTOR_INT16	 ? (int16) value
		   : type == GPUAGG_VECTOR_INT32 ? (int32) value
										 : (int64) value;
}

/* The value of a row of a vector of integers up to 64 bits. */
static inline int64
gpuagg_key_integer(const GpuaggVector *vector, GpuaggVectorType type, int row)
{
	switch (type)
	{
		case GPUAGG_VECTOR_INT16:
			return ((const int16 *) vector->values)[row];
		case GPUAGG_VECTOR_INT32:
			return ((const int32 *) vector->values)[row];
		default:
			return ((const int64 *) vector->values)[row];
	}
}

static inline bool
gpuagg_key_is_null(const GpuaggVector *vector, int row)
{
	return vector->valid != NULL && (vector->valid[row / 64] >> (row % 64) & 1) == 0;
}

#endif /* GPUAGG_AGG_KEYS_H */
