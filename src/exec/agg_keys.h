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

/* Whether equality of a type, by that operator, is that of its vector's numbers or bytes. */
extern bool gpuagg_key_has_form(const VectorValue *form, Oid type, Oid equality, Oid collation);

/*
 * Stores a key in row 0 of its vector, if it has the form.  A numeric of another display
 * scale is the same key as one of the column's.
 */
extern bool gpuagg_key_store(const VectorValue *form, Oid type, GpuaggVector *vector, Datum value,
							 bool isnull);

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

/* Multiplications by odd constants, and the upper half of the last. */
static inline uint32
gpuagg_key_hash(PackedKey key)
{
	uint64 h = key.low * UINT64CONST(0x9E3779B97F4A7C15);

	h ^= (key.high + UINT64CONST(0x632BE59BD9B4E019)) * UINT64CONST(0xC2B2AE3D27D4EB4F);
	h ^= h >> 32;
	h *= UINT64CONST(0xD6E8FEB86659FD93);
	return (uint32) (h >> 32);
}

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

static inline PackedKey
gpuagg_key_of_integer(int64 value, GpuaggVectorType type)
{
	uint64 bits = type == GPUAGG_VECTOR_INT16	? (uint16) value
				  : type == GPUAGG_VECTOR_INT32 ? (uint32) value
												: (uint64) value;

	return (PackedKey){.low = bits << 1, .high = bits >> 63};
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
