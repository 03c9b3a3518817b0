/*
 * core_function.c
 *	  Which of core's own aggregates are computed as gpuagg's are.
 *
 * CORE_EXACT: core's result does not depend on the order of rows, and ours has the same
 * value and display.  CORE_ALL: it does; sums of floats are rounded after each row, sums of
 * money and intervals may leave their range on the way, and of equal values that look
 * different one is the minimum.
 *
 * Source: pg_aggregate.dat of PostgreSQL 15 to 18.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

#include "gpuagg.h"
#include "spec/core_function.h"

/* An aggregate may have a row for each way in which versions describe it. */
typedef struct CoreFunction
{
	Oid aggfnoid;
	Aggregate aggregate;
	Oid type; /* of the argument; ANYOID: it does not matter */
	int setting;
	const char *transition; /* the built-in functions' C symbols */
	const char *final;		/* NULL: none */
	const char *initial;	/* NULL: none */
} CoreFunction;

#define VARIANCES(TYPE, type, setting, transition, prefix, initial)                               \
	{F_VAR_POP_##TYPE, AGGREGATE_VAR_POP, type, setting, transition, prefix "_var_pop", initial}, \
		{F_VAR_SAMP_##TYPE, AGGREGATE_VAR_SAMP, type,	setting,                                  \
		 transition,		prefix "_var_samp", initial},                                         \
		{F_VARIANCE_##TYPE, AGGREGATE_VAR_SAMP, type,	setting,                                  \
		 transition,		prefix "_var_samp", initial},                                         \
		{F_STDDEV_POP_##TYPE, AGGREGATE_STDDEV_POP, type,	setting,                              \
		 transition,		  prefix "_stddev_pop", initial},                                     \
		{F_STDDEV_SAMP_##TYPE, AGGREGATE_STDDEV_SAMP, type,	  setting,                            \
		 transition,		   prefix "_stddev_samp", initial},                                   \
	{                                                                                             \
		F_STDDEV_##TYPE, AGGREGATE_STDDEV_SAMP, type, setting, transition, prefix "_stddev_samp", \
			initial                                                                               \
	}

#define EXTREMES(TYPE, type, setting, prefix)                                   \
	{F_MIN_##TYPE, AGGREGATE_MIN, type, setting, prefix "smaller", NULL, NULL}, \
	{                                                                           \
		F_MAX_##TYPE, AGGREGATE_MAX, type, setting, prefix "larger", NULL, NULL \
	}

static const CoreFunction core_functions[] = {
	{F_COUNT_, AGGREGATE_COUNT, ANYOID, CORE_EXACT, "int8inc", NULL, "0"},
	{F_COUNT_ANY, AGGREGATE_COUNT, ANYOID, CORE_EXACT, "int8inc_any", NULL, "0"},

	{F_SUM_INT2, AGGREGATE_SUM, INT2OID, CORE_EXACT, "int2_sum", NULL, NULL},
	{F_SUM_INT4, AGGREGATE_SUM, INT4OID, CORE_EXACT, "int4_sum", NULL, NULL},
	{F_SUM_INT8, AGGREGATE_SUM, INT8OID, CORE_EXACT, "int8_avg_accum", "numeric_poly_sum", NULL},
	{F_SUM_NUMERIC, AGGREGATE_SUM, NUMERICOID, CORE_EXACT, "numeric_avg_accum", "numeric_sum",
	 NULL},
	{F_AVG_INT2, AGGREGATE_AVG, INT2OID, CORE_EXACT, "int2_avg_accum", "int8_avg", "{0,0}"},
	{F_AVG_INT4, AGGREGATE_AVG, INT4OID, CORE_EXACT, "int4_avg_accum", "int8_avg", "{0,0}"},
	{F_AVG_INT8, AGGREGATE_AVG, INT8OID, CORE_EXACT, "int8_avg_accum", "numeric_poly_avg", NULL},
	{F_AVG_NUMERIC, AGGREGATE_AVG, NUMERICOID, CORE_EXACT, "numeric_avg_accum", "numeric_avg",
	 NULL},
	VARIANCES(INT2, INT2OID, CORE_EXACT, "int2_accum", "numeric_poly", NULL),
	VARIANCES(INT4, INT4OID, CORE_EXACT, "int4_accum", "numeric_poly", NULL),
	VARIANCES(INT8, INT8OID, CORE_EXACT, "int8_accum", "numeric", NULL),
	VARIANCES(NUMERIC, NUMERICOID, CORE_EXACT, "numeric_accum", "numeric", NULL),
	EXTREMES(INT2, INT2OID, CORE_EXACT, "int2"),
	EXTREMES(INT4, INT4OID, CORE_EXACT, "int4"),
	EXTREMES(INT8, INT8OID, CORE_EXACT, "int8"),
	EXTREMES(DATE, DATEOID, CORE_EXACT, "date_"),
	EXTREMES(TIME, TIMEOID, CORE_EXACT, "time_"),
	EXTREMES(TIMESTAMP, TIMESTAMPOID, CORE_EXACT, "timestamp_"),
	EXTREMES(TIMESTAMPTZ, TIMESTAMPTZOID, CORE_EXACT, "timestamp_"),
	EXTREMES(MONEY, MONEYOID, CORE_EXACT, "cash"),

	{F_SUM_FLOAT4, AGGREGATE_SUM, FLOAT4OID, CORE_ALL, "float4pl", NULL, NULL},
	{F_SUM_FLOAT8, AGGREGATE_SUM, FLOAT8OID, CORE_ALL, "float8pl", NULL, NULL},
	{F_AVG_FLOAT4, AGGREGATE_AVG, FLOAT4OID, CORE_ALL, "float4_accum", "float8_avg", "{0,0,0}"},
	{F_AVG_FLOAT8, AGGREGATE_AVG, FLOAT8OID, CORE_ALL, "float8_accum", "float8_avg", "{0,0,0}"},
	VARIANCES(FLOAT4, FLOAT4OID, CORE_ALL, "float4_accum", "float8", "{0,0,0}"),
	VARIANCES(FLOAT8, FLOAT8OID, CORE_ALL, "float8_accum", "float8", "{0,0,0}"),
	EXTREMES(FLOAT4, FLOAT4OID, CORE_ALL, "float4"),
	EXTREMES(FLOAT8, FLOAT8OID, CORE_ALL, "float8"),
	EXTREMES(NUMERIC, NUMERICOID, CORE_ALL, "numeric_"),
	EXTREMES(INTERVAL, INTERVALOID, CORE_ALL, "interval_"),
	{F_SUM_MONEY, AGGREGATE_SUM, MONEYOID, CORE_ALL, "cash_pl", NULL, NULL},
	{F_SUM_INTERVAL, AGGREGATE_SUM, INTERVALOID, CORE_ALL, "interval_pl", NULL, NULL},
	{F_SUM_INTERVAL, AGGREGATE_SUM, INTERVALOID, CORE_ALL, "interval_avg_accum", "interval_sum",
	 NULL},
	{F_AVG_INTERVAL, AGGREGATE_AVG, INTERVALOID, CORE_ALL, "interval_accum", "interval_avg",
	 "{0 second,0 second}"},
	{F_AVG_INTERVAL, AGGREGATE_AVG, INTERVALOID, CORE_ALL, "interval_avg_accum", "interval_avg",
	 NULL},
};

/* Whether a function is core's own and still runs the code of this name. */
static bool
is_built_in(Oid function, const char *symbol)
{
	HeapTuple tuple;
	Form_pg_proc form;
	Datum source;
	bool isnull;
	bool same;

	if (symbol == NULL || !OidIsValid(function))
		return symbol == NULL && !OidIsValid(function);
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_proc) GETSTRUCT(tuple);
	source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);
	same = function < FirstUnpinnedObjectId && form->prolang == INTERNALlanguageId &&
		   !form->prosecdef && heap_attisnull(tuple, Anum_pg_proc_proconfig, NULL) && !isnull &&
		   strcmp(TextDatumGetCString(source), symbol) == 0;
	ReleaseSysCache(tuple);
	return same;
}

static bool
begins_with(HeapTuple tuple, const char *initial)
{
	bool isnull;
	Datum value = SysCacheGetAttr(AGGFNOID, tuple, Anum_pg_aggregate_agginitval, &isnull);

	if (isnull || initial == NULL)
		return isnull && initial == NULL;
	return strcmp(TextDatumGetCString(value), initial) == 0;
}

static bool
is_described(HeapTuple tuple, const CoreFunction *core)
{
	Form_pg_aggregate form = (Form_pg_aggregate) GETSTRUCT(tuple);

	return form->aggkind == AGGKIND_NORMAL && !form->aggfinalextra &&
		   is_built_in(form->aggtransfn, core->transition) &&
		   is_built_in(form->aggfinalfn, core->final) && begins_with(tuple, core->initial);
}

int
gpuagg_core_function(Oid aggfnoid, WindowFunction *function)
{
	HeapTuple tuple;
	int setting = CORE_OFF;

	if (aggfnoid >= FirstUnpinnedObjectId)
		return CORE_OFF;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggfnoid));
	if (!HeapTupleIsValid(tuple))
		return CORE_OFF;
	for (int i = 0; i < lengthof(core_functions) && setting == CORE_OFF; i++)
	{
		const CoreFunction *core = &core_functions[i];

		if (core->aggfnoid != aggfnoid || !is_described(tuple, core))
			continue;
		setting = core->setting;
		function->aggregate = core->aggregate;
		function->type = core->type;
	}
	ReleaseSysCache(tuple);
	return setting;
}

/* Functions that number rows. */
static const struct
{
	Oid winfnoid;
	WindowValue value;
	const char *symbol;
} core_numbers[] = {
	{F_ROW_NUMBER, WINDOW_ROW_NUMBER, "window_row_number"},
	{F_RANK_, WINDOW_RANK, "window_rank"},
	{F_DENSE_RANK_, WINDOW_DENSE_RANK, "window_dense_rank"},
};

bool
gpuagg_core_beside(Oid winfnoid, WindowFunction *function)
{
	*function = (WindowFunction){WINDOW_AGGREGATE, AGGREGATE_COUNT, ANYOID, winfnoid};
	if (winfnoid == F_COUNT_)
		return gpuagg_core_function(winfnoid, function) != CORE_OFF;
	for (int i = 0; i < lengthof(core_numbers); i++)
		if (core_numbers[i].winfnoid == winfnoid)
		{
			function->value = core_numbers[i].value;
			return is_built_in(winfnoid, core_numbers[i].symbol);
		}
	return false;
}
