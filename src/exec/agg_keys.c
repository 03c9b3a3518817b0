/*
 * agg_keys.c
 *	  Group keys of vectors as words and as bytes.
 */
#include "compat.h"

#include <math.h>

#include "access/nbtree.h"
#include "catalog/pg_type.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "common/column.h"
#include "exec/agg_keys.h"

#define NULL_BITS 1	   /* below a packed number; set: NULL */
#define NULL_SIZE 0xff /* of a short key */

bool
gpuagg_key_has_form(const VectorValue *key, Oid type, Oid equality, Oid collation)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_BTREE_OPFAMILY);
	Oid image;

	if (entry->eq_opr != equality || key->type == GPUAGG_VECTOR_DATUM)
		return false;
	if (key->type != GPUAGG_VECTOR_BYTES)
		return true;

	/* Without the blanks at their ends, which its vectors do not have, values are compared as text. */
	if (getBaseType(type) == BPCHAROID)
		return get_collation_isdeterministic(collation);
	if (!OidIsValid(entry->btree_opf))
		return false;
	image = get_opfamily_proc(entry->btree_opf, entry->btree_opintype, entry->btree_opintype,
							  BTEQUALIMAGE_PROC);
	return OidIsValid(image) &&
		   DatumGetBool(
			   OidFunctionCall1Coll(image, collation, ObjectIdGetDatum(entry->btree_opintype)));
}

bool
gpuagg_key_store(const VectorValue *form, Oid type, GpuaggVector *vector, Datum value, bool isnull)
{
	if (!isnull && type == NUMERICOID && form->scale >= 0)
	{
		Datum rounded = DirectFunctionCall2(numeric_round, value, Int32GetDatum(form->scale));

		if (!DatumGetBool(DirectFunctionCall2(numeric_eq, rounded, value)))
			return false;
		value = rounded;
	}
	return gpuagg_vector_store(vector, form, type, 0, value, isnull);
}

int
gpuagg_key_bits(GpuaggVectorType type)
{
	return NULL_BITS + (type == GPUAGG_VECTOR_BOOL ? 1 : 8 * (int) gpuagg_vector_type_size(type));
}

/* The bits by which numbers are compared, of at most 64: of floats without the sign of zero. */
static pg_attribute_always_inline uint64
number_bits(const GpuaggVector *vector, GpuaggVectorType type, int row)
{
	switch (type)
	{
		case GPUAGG_VECTOR_BOOL:
			return ((const uint64 *) vector->values)[row / 64] >> (row % 64) & 1;
		case GPUAGG_VECTOR_INT16:
			return ((const uint16 *) vector->values)[row];
		case GPUAGG_VECTOR_INT32:
			return ((const uint32 *) vector->values)[row];
		case GPUAGG_VECTOR_INT64:
			return ((const uint64 *) vector->values)[row];
		case GPUAGG_VECTOR_FLOAT32:
		{
			float4 value = ((const float4 *) vector->values)[row] + 0.0f;
			uint32 bits;

			memcpy(&bits, &value, sizeof(bits));
			return isnan(value) ? GPUAGG_NAN32 : bits;
		}
		case GPUAGG_VECTOR_FLOAT64:
		{
			float8 value = ((const float8 *) vector->values)[row] + 0.0;
			uint64 bits;

			memcpy(&bits, &value, sizeof(bits));
			return isnan(value) ? GPUAGG_NAN64 : bits;
		}
		default:
			pg_unreachable();
	}
}

static pg_attribute_always_inline void
pack_column(const GpuaggVector *vector, GpuaggVectorType type, int at, const uint16 *rows, int n,
			PackedKey *keys)
{
	for (int i = 0; i < n; i++)
	{
		unsigned __int128 key = 1;

		if (!gpuagg_key_is_null(vector, rows[i]))
			key = (unsigned __int128) number_bits(vector, type, rows[i]) << NULL_BITS;
		key <<= at;
		keys[i].low |= (uint64) key;
		if (at + gpuagg_key_bits(type) > 64)
			keys[i].high |= (uint64) (key >> 64);
	}
}

void
gpuagg_keys_pack(const VectorValue *forms, int nkeys, const GpuaggVector *vectors,
				 const uint16 *rows, int n, PackedKey *keys)
{
	int at = 0;

	memset(keys, 0, n * sizeof(PackedKey));
	for (int k = 0; k < nkeys; k++)
	{
		const GpuaggVector *vector = &vectors[k];

		switch (forms[k].type)
		{
#define PACK(type)                                    \
	case type:                                        \
		pack_column(vector, type, at, rows, n, keys); \
		break;
			PACK(GPUAGG_VECTOR_BOOL)
			PACK(GPUAGG_VECTOR_INT16)
			PACK(GPUAGG_VECTOR_INT32)
			PACK(GPUAGG_VECTOR_INT64)
			PACK(GPUAGG_VECTOR_FLOAT32)
			PACK(GPUAGG_VECTOR_FLOAT64)
#undef PACK
			default:
				elog(ERROR, "group key of type %d cannot be packed", forms[k].type);
		}
		at += gpuagg_key_bits(forms[k].type);
	}
}

/* ---- short keys ---- */

/* Up to 15 bytes as a word. */
static inline unsigned __int128
word_of(const uint8 *bytes, size_t size)
{
	uint64 low = 0;
	uint64 high = 0;

	if (size >= 8)
	{
		memcpy(&low, bytes, 8);
		memcpy(&high, bytes + size - 8, 8);
		/* its lower bytes are in `low` already; two shifts, as 64 bits are too many for one */
		high = high >> 1 >> (8 * (16 - size) - 1);
	}
	else if (size >= 4)
	{
		uint32 first;
		uint32 last;

		memcpy(&first, bytes, 4);
		memcpy(&last, bytes + size - 4, 4);
		low = first | (uint64) last << (8 * (size - 4));
	}
	else if (size > 0)
		low = bytes[0] | (uint64) bytes[size / 2] << (8 * (size / 2)) |
			  (uint64) bytes[size - 1] << (8 * (size - 1));
	return (unsigned __int128) high << 64 | low;
}

static inline void
append_short(PackedKey *key, uint8 *used, unsigned __int128 word, int size)
{
	word <<= 8 * *used;
	key->low |= (uint64) word;
	key->high |= (uint64) (word >> 64);
	*used += size;
}

static void
shorten_bytes(const GpuaggVector *vector, const uint16 *rows, int n, PackedKey *keys, uint8 *used)
{
	const GpuaggVectorBytes *values = vector->values;

	for (int i = 0; i < n; i++)
	{
		const GpuaggVectorBytes *bytes = &values[rows[i]];

		if (used[i] >= GPUAGG_SHORT_KEY)
			used[i] = GPUAGG_SHORT_KEY + 1;
		else if (gpuagg_key_is_null(vector, rows[i]))
			append_short(&keys[i], &used[i], NULL_SIZE, 1);
		else if (bytes->size >= (size_t) (GPUAGG_SHORT_KEY - used[i]))
			used[i] = GPUAGG_SHORT_KEY + 1;
		else
			append_short(&keys[i], &used[i], word_of(bytes->data, bytes->size) << 8 | bytes->size,
						 (int) bytes->size + 1);
	}
}

static void
shorten_numbers(const GpuaggVector *vector, GpuaggVectorType type, const uint16 *rows, int n,
				PackedKey *keys, uint8 *used)
{
	int size = type == GPUAGG_VECTOR_BOOL ? 1 : (int) gpuagg_vector_type_size(type);

	for (int i = 0; i < n; i++)
		if (used[i] >= GPUAGG_SHORT_KEY)
			used[i] = GPUAGG_SHORT_KEY + 1;
		else if (gpuagg_key_is_null(vector, rows[i]))
			append_short(&keys[i], &used[i], NULL_SIZE, 1);
		else if (used[i] + size >= GPUAGG_SHORT_KEY || type == GPUAGG_VECTOR_INT128)
			used[i] = GPUAGG_SHORT_KEY + 1;
		else
			append_short(&keys[i], &used[i],
						 (unsigned __int128) number_bits(vector, type, rows[i]) << 8, size + 1);
}

bool
gpuagg_keys_shorten(const VectorValue *forms, int nkeys, const GpuaggVector *vectors,
					const uint16 *rows, int n, PackedKey *keys, uint8 *used)
{
	uint8 most = 0;

	memset(keys, 0, n * sizeof(PackedKey));
	memset(used, 0, n);
	for (int k = 0; k < nkeys; k++)
		if (forms[k].type == GPUAGG_VECTOR_BYTES)
			shorten_bytes(&vectors[k], rows, n, keys, used);
		else
			shorten_numbers(&vectors[k], forms[k].type, rows, n, keys, used);
	for (int i = 0; i < n; i++)
		most = Max(most, used[i]);
	return most <= GPUAGG_SHORT_KEY;
}

/* ---- keys as bytes ---- */

/* Appends one key of a row: a byte that says whether it is NULL, then what is compared. */
static void
append_key(StringInfo buf, const GpuaggVector *vector, GpuaggVectorType type, int row)
{
	if (gpuagg_key_is_null(vector, row))
	{
		appendStringInfoChar(buf, 1);
		return;
	}
	appendStringInfoChar(buf, 0);
	if (type == GPUAGG_VECTOR_BYTES)
	{
		const GpuaggVectorBytes *bytes = &((const GpuaggVectorBytes *) vector->values)[row];
		uint32 size = (uint32) bytes->size;

		appendBinaryStringInfo(buf, (const char *) &size, sizeof(size));
		appendBinaryStringInfo(buf, (const char *) bytes->data, (int) size);
	}
	else if (type == GPUAGG_VECTOR_INT128)
		appendBinaryStringInfo(buf, (const char *) &((const GpuaggInt128 *) vector->values)[row],
							   sizeof(GpuaggInt128));
	else
	{
		uint64 bits = number_bits(vector, type, row);

		appendBinaryStringInfo(buf, (const char *) &bits, sizeof(bits));
	}
}

void
gpuagg_keys_append(StringInfo buf, const VectorValue *forms, int nkeys, const GpuaggVector *vectors,
				   int row)
{
	for (int k = 0; k < nkeys; k++)
		append_key(buf, &vectors[k], forms[k].type, row);
}
