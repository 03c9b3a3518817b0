/*
 * sql_type.h
 *	  The one table of SQL types: how their values lie, and what can be done with them.
 *
 * A type that is not in the table can be counted, and nothing else.
 */
#ifndef GPUAGG_SQL_TYPE_H
#define GPUAGG_SQL_TYPE_H

#include "compat.h"

#include "common/column.h"
#include "common/envelope.h"

/* What a Datum holds. */
typedef enum SqlForm
{
	SQL_OPAQUE, /* a reference, or bits that are only compared */
	SQL_BOOL,
	SQL_INT16,
	SQL_INT32,
	SQL_INT64,
	SQL_UINT32,
	SQL_FLOAT32,
	SQL_FLOAT64
} SqlForm;

/* How aggregates over a type keep their state; operation/family.h has the table. */
typedef enum SqlFamily
{
	SQL_FAMILY_NONE,
	SQL_FAMILY_COUNT,
	SQL_FAMILY_INT,
	SQL_FAMILY_FLOAT,
	SQL_FAMILY_NUMERIC,
	SQL_FAMILY_INTERVAL,
	SQL_FAMILY_KEY, /* minima and maxima as order keys */
	SQL_FAMILY_NUMERIC_EXTREME,
	SQL_FAMILY_INTERVAL_EXTREME,
	SQL_FAMILIES
} SqlFamily;

typedef struct SqlType
{
	Oid oid;
	int16 width;  /* bytes of a value, for the statistics; 0: they vary */
	int16 length; /* of values by reference, as pg_type.typlen; 0: by value */
	SqlForm form;
	GpuaggKind kind;	/* of a column of its numbers, which are as wide or wider; 0: none */
	Oid equality;		/* = as a function, where equal values have equal bits */
	SqlFamily extremes; /* of minima and maxima */
	SqlFamily sums;		/* of sums, averages and variances */
	GpuaggStateType state;

	/* types of results; InvalidOid: there is no such aggregate */
	Oid sum;
	Oid average;
	Oid variance;
} SqlType;

/* The row of a type, or of the type whose sums are in states with this number; NULL: none. */
extern const SqlType *gpuagg_sql_type(Oid oid);
extern const SqlType *gpuagg_sql_type_of_state(GpuaggStateType state);

/* Whether this function compares values for equality that have equal bits when they are equal. */
extern bool gpuagg_sql_compares_bits(Oid function);

/* The kind of an array of numbers of this type, which lie as in a column; 0: it is none. */
extern GpuaggKind gpuagg_sql_array_kind(Oid oid);

/* The number that a value is: an integer, or the order key (column.h) of a float. */
static inline int64
gpuagg_sql_number(SqlForm form, Datum value)
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
			return DatumGetInt16(value);
		case SQL_INT32:
			return DatumGetInt32(value);
		case SQL_INT64:
			return DatumGetInt64(value);
		case SQL_UINT32:
			return DatumGetUInt32(value);
		case SQL_FLOAT32:
			value4 = DatumGetFloat4(value);
			memcpy(&bits32, &value4, sizeof(bits32));
			return gpuagg_order_key32(bits32);
		case SQL_FLOAT64:
			value8 = DatumGetFloat8(value);
			memcpy(&bits64, &value8, sizeof(bits64));
			return gpuagg_order_key64(bits64);
		case SQL_OPAQUE:
			break;
	}
	pg_unreachable();
}

/*
 * Stores rows 0 to nrows - 1 of a column of Datums, of which each is `stride` after
 * the one before, as values of that kind; a NULL as 0.
 */
extern void gpuagg_sql_store_column(SqlForm form, GpuaggKind kind, void *values,
									const Datum *column, const bool *isnull, Size stride,
									int64 nrows);

#endif /* GPUAGG_SQL_TYPE_H */
