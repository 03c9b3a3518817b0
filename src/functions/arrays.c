/*
 * arrays.c
 *	  gpu_reduce, gpu_scan, gpu_segmented_scan: every algorithm by name, over arrays.
 *
 * `production` is exact and runs on the device or the CPU.  The other algorithms
 * are for comparison, and each runs on one of the two.  Each function takes arrays
 * of all types, since an array stores its element type.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "engine/named.h"
#include "types/sql_type.h"
#include "types/value.h"
#include "operation/call.h"

PG_FUNCTION_INFO_V1(gpuagg_reduce_array);
PG_FUNCTION_INFO_V1(gpuagg_scan_array);
PG_FUNCTION_INFO_V1(gpuagg_segmented_scan_array);

#define CHECK_ROWS 65536 /* rows between checks for interrupts */

/* One call: the column and what to do with it. */
typedef struct ArrayCall
{
	GpuaggTask task;
	ArrayType *array;
	ArrayColumn column;
	GpuaggAlgorithm algorithm;
} ArrayCall;

static const char *const op_names[] =
	{[GPUAGG_SUM] = "sum", [GPUAGG_MIN] = "min", [GPUAGG_MAX] = "max"};

/* ---- arguments ---- */

static GpuaggOp
op_argument(const text *argument)
{
	char *name = text_to_cstring(argument);

	for (int op = GPUAGG_SUM; op <= GPUAGG_MAX; op++)
		if (strcmp(name, op_names[op]) == 0)
			return (GpuaggOp) op;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown operation \"%s\"", name),
			 errhint("Operations are sum, min, max.")));
}

static GpuaggAlgorithm
algorithm_argument(const text *argument, GpuaggTask task, const char *function)
{
	char *name = text_to_cstring(argument);
	GpuaggAlgorithm algorithm = gpuagg_algorithm_find(name, task);
	StringInfoData known;

	if (algorithm != GPUAGG_ALG_NONE)
		return algorithm;
	initStringInfo(&known);
	while ((algorithm = gpuagg_algorithm_next(algorithm, task)) != GPUAGG_ALG_NONE)
		appendStringInfo(&known, "%s%s", known.len > 0 ? ", " : "",
						 gpuagg_algorithm(algorithm)->name);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown algorithm \"%s\"", name),
			 errhint("Algorithms of %s() are %s.", function, known.data)));
}

/* Checks that an array has one dimension or is empty, and no NULLs.  Returns its length. */
static int64
check_array(ArrayType *array, const char *what)
{
	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("array of %s must have one dimension, not %d", what, ARR_NDIM(array))));
	if (array_contains_nulls(array))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						errmsg("array of %s must not contain nulls", what)));
	return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
}

static uint64 *
heads_argument(ArrayType *array, int64 nrows)
{
	const bool *head = (const bool *) ARR_DATA_PTR(array);
	uint64 *heads;

	if (check_array(array, "heads") != nrows)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("arrays of values and heads must have the same length")));
	heads = palloc0((nrows + 63) / 64 * sizeof(uint64));
	for (int64 i = 0; i < nrows; i++)
	{
		if (i % CHECK_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		heads[i / 64] |= (uint64) head[i] << (i % 64);
	}
	return heads;
}

/* Reads the arguments: values, [heads,] op, [exclusive,] algorithm. */
static void
begin_call(FunctionCallInfo fcinfo, ArrayCall *call, GpuaggTask task, const char *function)
{
	const GpuaggAlgorithmInfo *info;
	int next = 0;
	int heads = -1;

	memset(call, 0, sizeof(*call));
	call->task = task;
	call->array = PG_GETARG_ARRAYTYPE_P(next++);
	if (task == GPUAGG_SEGMENTED_SCAN)
		heads = next++;
	call->column.op = op_argument(PG_GETARG_TEXT_PP(next++));
	if (task != GPUAGG_REDUCE)
		call->column.exclusive = PG_GETARG_BOOL(next++);
	call->algorithm = algorithm_argument(PG_GETARG_TEXT_PP(next), task, function);

	call->column.kind = gpuagg_sql_array_kind(ARR_ELEMTYPE(call->array));
	if (call->column.kind == 0)
		elog(ERROR, "unexpected array of type %u", ARR_ELEMTYPE(call->array));
	call->column.nrows = check_array(call->array, "values");
	call->column.values = ARR_DATA_PTR(call->array);
	if (heads >= 0)
		call->column.heads = heads_argument(PG_GETARG_ARRAYTYPE_P(heads), call->column.nrows);

	info = gpuagg_algorithm(call->algorithm);
	if (info->integers_only && gpuagg_kind_is_float(call->column.kind))
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("algorithm \"%s\" takes arrays of integers only", info->name)));

	gpuagg_begin_report(fcinfo->flinfo);
	if (call->algorithm == GPUAGG_ALG_PRODUCTION)
		gpuagg_begin_engine();
}

/* ---- results ---- */

static Datum
bits_as_datum(GpuaggKind kind, const void *result)
{
	switch (kind)
	{
		case GPUAGG_FLOAT32:
			return Float4GetDatum(*(const float *) result);
		case GPUAGG_FLOAT64:
			return Float8GetDatum(*(const double *) result);
		default:
			return Int64GetDatum(*(const int64 *) result);
	}
}

static Datum
plain_as_datum(const ArrayColumn *column, PlainValue value)
{
	int64 result;

	gpuagg_plain_store(column->kind, column->op, value, &result, 0);
	return bits_as_datum(column->kind, &result);
}

static Datum
reduced_as_datum(const ArrayColumn *column, const GpuaggReduced *total)
{
	PlainValue value = {0};
	bool isnull;

	if (column->op == GPUAGG_SUM && gpuagg_kind_is_float(column->kind))
		return gpuagg_float_value(column->kind, (const GpuaggFloatSum *) &total->f, &isnull);
	value.i = gpuagg_int128_from(gpuagg_int64_value(total->sum));
	return plain_as_datum(column, value);
}

/* A new array for the results, with the values' subscripts; its elements are not set. */
static ArrayType *
make_results(const ArrayCall *call)
{
	Oid type = gpuagg_kind_is_float(call->column.kind) ? ARR_ELEMTYPE(call->array) : INT8OID;
	Size size;
	ArrayType *results;

	if (call->column.nrows == 0)
		return construct_empty_array(type);
	size = ARR_OVERHEAD_NONULLS(1) +
		   call->column.nrows * gpuagg_ladder_result_size(call->column.kind);
	if (!AllocSizeIsValid(size))
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("array size exceeds the maximum allowed (%d)", (int) MaxAllocSize)));
	results = palloc(size);
	SET_VARSIZE(results, size);
	results->ndim = 1;
	results->dataoffset = 0;
	results->elemtype = type;
	ARR_DIMS(results)[0] = ARR_DIMS(call->array)[0];
	ARR_LBOUND(results)[0] = ARR_LBOUND(call->array)[0];
	return results;
}

Datum
gpuagg_reduce_array(PG_FUNCTION_ARGS)
{
	ArrayCall call;
	GpuaggReduced total;

	begin_call(fcinfo, &call, GPUAGG_REDUCE, "gpu_reduce");
	if (call.column.nrows == 0)
		PG_RETURN_NULL();
	if (call.algorithm != GPUAGG_ALG_PRODUCTION)
		return plain_as_datum(&call.column, gpuagg_ladder_reduce(&call.column, call.algorithm));
	gpuagg_array_reduce(&call.column, &total);
	return reduced_as_datum(&call.column, &total);
}

static Datum
scan(FunctionCallInfo fcinfo, GpuaggTask task, const char *function)
{
	ArrayCall call;
	ArrayType *results;

	begin_call(fcinfo, &call, task, function);
	results = make_results(&call);
	if (call.column.nrows == 0)
		PG_RETURN_ARRAYTYPE_P(results);
	if (call.algorithm == GPUAGG_ALG_PRODUCTION)
		gpuagg_array_scan(&call.column, ARR_DATA_PTR(results));
	else
		gpuagg_ladder_scan(&call.column, call.algorithm, ARR_DATA_PTR(results));
	PG_RETURN_ARRAYTYPE_P(results);
}

Datum
gpuagg_scan_array(PG_FUNCTION_ARGS)
{
	return scan(fcinfo, GPUAGG_SCAN, "gpu_scan");
}

Datum
gpuagg_segmented_scan_array(PG_FUNCTION_ARGS)
{
	return scan(fcinfo, GPUAGG_SEGMENTED_SCAN, "gpu_segmented_scan");
}
