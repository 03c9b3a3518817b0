/*
 * sort_key.h
 *	  Values of fixed width as unsigned words of the same order.
 */
#ifndef GPUAGG_SORT_KEY_H
#define GPUAGG_SORT_KEY_H

#include "common/column.h"

#define SORT_MAX_KEYS 8 /* of one sort */

typedef enum SortKeyKind
{
	SORT_KEY_BOOL,
	SORT_KEY_INT16,
	SORT_KEY_INT32,
	SORT_KEY_INT64,
	SORT_KEY_OID,
	SORT_KEY_FLOAT32,
	SORT_KEY_FLOAT64
} SortKeyKind;

/* How a column of this type is sorted by this operator; false where it is not known. */
extern bool gpuagg_sort_key_find(Oid type, Oid sort_operator, SortKeyKind *kind, bool *descending);

/*
 * The word of a value: equal values have equal words (-0 and 0, all NaNs), and
 * words are in the order of <.
 */
static inline uint64
gpuagg_sort_key_word(SortKeyKind kind, Datum value)
{
	const uint64 sign64 = UINT64CONST(1) << 63;
	const uint32 sign32 = UINT32_C(1) << 31;
	float8 value8;
	float4 value4;
	uint64 bits64;
	uint32 bits32;

	switch (kind)
	{
		case SORT_KEY_BOOL:
			return DatumGetBool(value);
		case SORT_KEY_INT16:
			return (uint64) (int64) DatumGetInt16(value) ^ sign64;
		case SORT_KEY_INT32:
			return (uint64) (int64) DatumGetInt32(value) ^ sign64;
		case SORT_KEY_INT64:
			return (uint64) DatumGetInt64(value) ^ sign64;
		case SORT_KEY_OID:
			return DatumGetObjectId(value);
		case SORT_KEY_FLOAT32:
			value4 = DatumGetFloat4(value);
			memcpy(&bits32, &value4, sizeof(bits32));
			return (uint32) gpuagg_order_key32(bits32 == sign32 ? 0 : bits32) ^ sign32;
		case SORT_KEY_FLOAT64:
			value8 = DatumGetFloat8(value);
			memcpy(&bits64, &value8, sizeof(bits64));
			return (uint64) gpuagg_order_key64(bits64 == sign64 ? 0 : bits64) ^ sign64;
	}
	pg_unreachable();
}

#endif /* GPUAGG_SORT_KEY_H */
