/*
 * sort_key.h
 *	  Values of fixed width as unsigned words of the same order.
 */
#ifndef GPUAGG_SQL_H
#define GPUAGG_SQL_H

#include "common/key_layout.h"
#include "types/sql_type.h"

#define SORT_MAX_KEYS 8 /* of one sort */

/* How a column of this type is sorted by this operator; false where it is not known. */
extern bool gpuagg_sort_key_find(Oid type, Oid sort_operator, SqlForm *form, bool *descending);

/*
 * The word of a value: equal values have equal words (-0 and 0, all NaNs), and
 * words are in the order of <.
 */
static inline uint64
gpuagg_sort_key_word(SqlForm form, Datum value)
{
	float8 value8;
	float4 value4;
	uint64 bits64;
	uint32 bits32;

	switch (form)
	{
		case SQL_BOOL:
			return DatumGetBool(value);
		case SQL_INT16:
		case SQL_INT32:
		case SQL_INT64:
			return gpuagg_key_word(gpuagg_sql_number(form, value));
		case SQL_UINT32:
			return DatumGetUInt32(value);
		case SQL_FLOAT32:
			value4 = DatumGetFloat4(value);
			memcpy(&bits32, &value4, sizeof(bits32));
			return gpuagg_key_word_float32(bits32);
		case SQL_FLOAT64:
			value8 = DatumGetFloat8(value);
			memcpy(&bits64, &value8, sizeof(bits64));
			return gpuagg_key_word_float64(bits64);
		case SQL_OPAQUE:
			break;
	}
	pg_unreachable();
}

/* Whether each word is that of one value alone. */
static inline bool
gpuagg_sort_key_is_exact(SqlForm form)
{
	return form == SQL_BOOL || form == SQL_INT16 || form == SQL_INT32 || form == SQL_INT64 ||
		   form == SQL_UINT32;
}

/* That value, as it is read from a row. */
static inline Datum
gpuagg_sort_key_datum(SqlForm form, uint64 word)
{
	switch (form)
	{
		case SQL_BOOL:
			return CharGetDatum((char) word);
		case SQL_INT16:
			return Int16GetDatum((int16) gpuagg_key_word_value(word));
		case SQL_INT32:
			return Int32GetDatum((int32) gpuagg_key_word_value(word));
		case SQL_INT64:
			return Int64GetDatum(gpuagg_key_word_value(word));
		case SQL_UINT32:
			return Int32GetDatum((int32) word);
		default:
			pg_unreachable();
	}
}

#endif /* GPUAGG_SQL_H */
