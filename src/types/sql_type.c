/*
 * sql_type.c
 *	  The one table of SQL types.
 */
#include "types/sql_type.h"

#include "catalog/pg_type.h"
#include "utils/fmgroids.h"

static const SqlType sql_types[] = {
	/* by value: oid, width, 0, form, kind, =, min and max, sums: state, types of results */
	{BOOLOID, 1, 0, SQL_BOOL, 0, F_BOOLEQ},
	{CHAROID, 1, 0, SQL_OPAQUE, 0, F_CHAREQ},
	{INT2OID, 2, 0, SQL_INT16, GPUAGG_INT32, F_INT2EQ, SQL_FAMILY_KEY, SQL_FAMILY_INT,
	 GPUAGG_STATE_INT2, INT8OID, NUMERICOID, NUMERICOID},
	{INT4OID, 4, 0, SQL_INT32, GPUAGG_INT32, F_INT4EQ, SQL_FAMILY_KEY, SQL_FAMILY_INT,
	 GPUAGG_STATE_INT4, INT8OID, NUMERICOID, NUMERICOID},
	{INT8OID, 8, 0, SQL_INT64, GPUAGG_INT64, F_INT8EQ, SQL_FAMILY_KEY, SQL_FAMILY_INT,
	 GPUAGG_STATE_INT8, NUMERICOID, NUMERICOID, NUMERICOID},
	{MONEYOID, 8, 0, SQL_INT64, GPUAGG_INT64, F_CASH_EQ, SQL_FAMILY_KEY, SQL_FAMILY_INT,
	 GPUAGG_STATE_MONEY, MONEYOID},
	{OIDOID, 4, 0, SQL_UINT32, 0, F_OIDEQ},
	{DATEOID, 4, 0, SQL_INT32, GPUAGG_INT32, F_DATE_EQ, SQL_FAMILY_KEY},
	{TIMEOID, 8, 0, SQL_INT64, GPUAGG_INT64, F_TIME_EQ, SQL_FAMILY_KEY},
	{TIMESTAMPOID, 8, 0, SQL_INT64, GPUAGG_INT64, F_TIMESTAMP_EQ, SQL_FAMILY_KEY},
	{TIMESTAMPTZOID, 8, 0, SQL_INT64, GPUAGG_INT64, F_TIMESTAMPTZ_EQ, SQL_FAMILY_KEY},

	/* 0 equals -0 */
	{FLOAT4OID, 4, 0, SQL_FLOAT32, GPUAGG_FLOAT32, InvalidOid, SQL_FAMILY_KEY, SQL_FAMILY_FLOAT,
	 GPUAGG_STATE_FLOAT4, FLOAT4OID, FLOAT8OID, FLOAT8OID},
	{FLOAT8OID, 8, 0, SQL_FLOAT64, GPUAGG_FLOAT64, InvalidOid, SQL_FAMILY_KEY, SQL_FAMILY_FLOAT,
	 GPUAGG_STATE_FLOAT8, FLOAT8OID, FLOAT8OID, FLOAT8OID},

	{NUMERICOID, 0, -1, SQL_OPAQUE, 0, InvalidOid, SQL_FAMILY_NUMERIC_EXTREME, SQL_FAMILY_NUMERIC,
	 GPUAGG_STATE_NUMERIC, NUMERICOID, NUMERICOID, NUMERICOID},
	{INTERVALOID, sizeof(Interval), sizeof(Interval), SQL_OPAQUE, 0, InvalidOid,
	 SQL_FAMILY_INTERVAL_EXTREME, SQL_FAMILY_INTERVAL, GPUAGG_STATE_INTERVAL, INTERVALOID,
	 INTERVALOID},
};

const SqlType *
gpuagg_sql_type(Oid oid)
{
	for (int i = 0; i < lengthof(sql_types); i++)
		if (sql_types[i].oid == oid)
			return &sql_types[i];
	return NULL;
}

const SqlType *
gpuagg_sql_type_of_state(GpuaggStateType state)
{
	for (int i = 0; i < lengthof(sql_types); i++)
		if (state != 0 && sql_types[i].state == state)
			return &sql_types[i];
	return NULL;
}

bool
gpuagg_sql_compares_bits(Oid function)
{
	for (int i = 0; i < lengthof(sql_types); i++)
		if (OidIsValid(function) && sql_types[i].equality == function)
			return true;
	return false;
}

GpuaggKind
gpuagg_sql_array_kind(Oid oid)
{
	const SqlType *type = gpuagg_sql_type(oid);

	if (type == NULL || !OidIsValid(type->average) || gpuagg_kind_size(type->kind) != type->width)
		return 0;
	return type->kind;
}

/* Where form and kind are constants: one loop with nothing to decide in it. */
static pg_attribute_always_inline void
store_column(SqlForm form, GpuaggKind kind, void *values, const Datum *column, const bool *isnull,
			 Size stride, int64 nrows)
{
	for (int64 i = 0; i < nrows; i++)
	{
		Datum value = isnull[i * stride] ? (Datum) 0 : column[i * stride];

		switch (kind)
		{
			case GPUAGG_INT32:
				((int32 *) values)[i] = (int32) gpuagg_sql_number(form, value);
				break;
			case GPUAGG_INT64:
				((int64 *) values)[i] = gpuagg_sql_number(form, value);
				break;
			case GPUAGG_FLOAT32:
				((float4 *) values)[i] = DatumGetFloat4(value);
				break;
			case GPUAGG_FLOAT64:
				((float8 *) values)[i] = DatumGetFloat8(value);
				break;
		}
	}
}

/* A loop for each form and kind that go together. */
#define STORE(form_, kind_)                                                \
	if (form == (form_) && kind == (kind_))                                \
	{                                                                      \
		store_column(form_, kind_, values, column, isnull, stride, nrows); \
		return;                                                            \
	}

void
gpuagg_sql_store_column(SqlForm form, GpuaggKind kind, void *values, const Datum *column,
						const bool *isnull, Size stride, int64 nrows)
{
	STORE(SQL_INT16, GPUAGG_INT32)
	STORE(SQL_INT32, GPUAGG_INT32)
	STORE(SQL_INT16, GPUAGG_INT64)
	STORE(SQL_INT32, GPUAGG_INT64)
	STORE(SQL_INT64, GPUAGG_INT64)
	STORE(SQL_UINT32, GPUAGG_INT64)
	STORE(SQL_FLOAT32, GPUAGG_FLOAT32)
	STORE(SQL_FLOAT64, GPUAGG_FLOAT64)
	elog(ERROR, "values of form %d are in no column of kind %d", (int) form, (int) kind);
}
