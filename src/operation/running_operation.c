/*
 * running_operation.c
 *	  Running functions as operations on partitions, row by row and in batches.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "common/int192.h"
#include "engine/cpu.h"
#include "operation/accumulators.h"
#include "operation/running_operation.h"
#include "types/decimal.h"
#include "types/value.h"

/* Of an aggregate's batches over values of this kind. */
static GpuaggKind
batch_kind(Aggregate aggregate, SqlFamily family, GpuaggKind kind)
{
	if (aggregate == AGGREGATE_COUNT)
		return GPUAGG_INT32; /* of values that nobody reads */
	if (aggregate != AGGREGATE_AVG)
		return kind;
	/* of integers in 64 bits, whose scans give 128: exact for any number of rows */
	return family == SQL_FAMILY_INT ? GPUAGG_INT64 : family == SQL_FAMILY_FLOAT ? kind : 0;
}

bool
gpuagg_running_exists(Aggregate aggregate, Oid type)
{
	return gpuagg_aggregates[aggregate].running &&
		   gpuagg_aggregate_family(aggregate, gpuagg_sql_type(type)) != SQL_FAMILY_NONE;
}

const RunningOperation *
gpuagg_running_operation(Aggregate aggregate, Oid oid)
{
	static const SqlType any = {.oid = ANYOID};
	const SqlType *type = aggregate == AGGREGATE_COUNT ? &any : gpuagg_sql_type(oid);
	const SqlType *result;
	RunningOperation *op;

	if (!gpuagg_running_exists(aggregate, oid))
		elog(ERROR, "gpu_running_%s takes no type %u", gpuagg_aggregates[aggregate].name, oid);
	op = palloc0(sizeof(RunningOperation));
	op->aggregate = aggregate;
	op->result = gpuagg_aggregate_result(aggregate, type);
	result = gpuagg_sql_type(op->result);
	op->result_length = result->length;
	op->width = type->width;
	op->form = type->form;
	op->family = gpuagg_aggregate_family(aggregate, type);
	op->kind = batch_kind(aggregate, op->family, type->kind);
	op->op = gpuagg_aggregates[aggregate].op;
	op->scale = -1;
	return op;
}

const RunningOperation *
gpuagg_running_decimal(Aggregate aggregate, int scale)
{
	RunningOperation *op = (RunningOperation *) gpuagg_running_operation(aggregate, INT8OID);

	op->result = NUMERICOID;
	op->result_length = -1;
	op->scale = scale;
	return op;
}

const RunningOperation *
gpuagg_running_wide(Aggregate aggregate, int scale)
{
	RunningOperation *op = (RunningOperation *) gpuagg_running_decimal(aggregate, scale);

	op->wide = true;
	return op;
}

RunningState *
gpuagg_running_state_make(const RunningOperation *op, MemoryContext context)
{
	Accumulator *acc = gpuagg_accumulator_make(context, offsetof(RunningState, acc), op->family,
											   op->op, op->kind);
	RunningState *state = (RunningState *) ((char *) acc - offsetof(RunningState, acc));

	state->context = context;
	return state;
}

bool
gpuagg_running_state_clear(const RunningOperation *op, RunningState *state)
{
	if (op->family == SQL_FAMILY_FLOAT)
		gpuagg_float_free((FloatAccumulator *) &state->acc);
	else if (!gpuagg_families[op->family]->in_place)
		return false;
	gpuagg_accumulator_init(&state->acc, state->context, op->family, op->op, op->kind);
	state->n = 0;
	return true;
}

bool
gpuagg_running_can_read_ahead(Node *x)
{
	return !contain_leaked_vars(x) && !contain_volatile_functions(x);
}

/* ---- batches ---- */

void
gpuagg_running_store_column(const RunningOperation *op, void *values, const Datum *column,
							const bool *isnull, Size stride, int64 nrows)
{
	if (op->op != GPUAGG_COUNT) /* does not read them */
		gpuagg_sql_store_column(op->form, op->kind, values, column, isnull, stride, nrows);
}

void
gpuagg_running_store_wide(GpuaggInt128 *values, const Datum *low, const Datum *high,
						  const bool *isnull, Size stride, int64 nrows)
{
	for (int64 i = 0; i < nrows; i++)
		values[i] = isnull[i * stride] ? gpuagg_int128_from(0)
									   : (GpuaggInt128){DatumGetUInt64(low[i * stride]),
														DatumGetInt64(high[i * stride])};
}

void
gpuagg_running_to_carry(const RunningOperation *op, const RunningState *state,
						GpuaggScanState *carry)
{
	const Accumulator *acc = &state->acc;

	gpuagg_float_sum_init(gpuagg_float_sum_of(&carry->f), 0, GPUAGG_CHUNKS);
	carry->f.counts.n = state->n;
	carry->sum = gpuagg_int128_from(0);
	if (op->wide)
	{
		carry->sum = state->wide;
		carry->f.chunk[0] = state->top;
		return;
	}
	switch (op->family)
	{
		case SQL_FAMILY_FLOAT:
			carry->f.counts.n = 0;
			gpuagg_float_sum_merge(gpuagg_float_sum_of(&carry->f),
								   ((const FloatAccumulator *) acc)->sum);
			break;
		case SQL_FAMILY_INT:
			carry->sum = ((const IntAccumulator *) acc)->sum.sum;
			break;
		case SQL_FAMILY_KEY:
			if (state->n > 0)
				carry->sum = gpuagg_int128_from(((const KeyAccumulator *) acc)->key);
			break;
		default:
			carry->sum = gpuagg_int128_from(state->n);
			break;
	}
}

void
gpuagg_running_from_carry(const RunningOperation *op, RunningState *state,
						  const GpuaggScanState *carry, int64 n)
{
	Accumulator *acc = &state->acc;

	(void) gpuagg_running_state_clear(op, state);
	state->n = n;
	if (op->wide)
	{
		state->wide = carry->sum;
		state->top = carry->f.chunk[0];
		return;
	}
	switch (op->family)
	{
		case SQL_FAMILY_FLOAT:
			gpuagg_float_merge(&((FloatAccumulator *) acc)->sum, state,
							   (const GpuaggFloatSum *) &carry->f, GPUAGG_CHUNKS);
			break;
		case SQL_FAMILY_INT:
			((IntAccumulator *) acc)->sum.n = n;
			((IntAccumulator *) acc)->sum.sum = carry->sum;
			break;
		case SQL_FAMILY_KEY:
			if (n > 0)
				gpuagg_key_take((KeyAccumulator *) acc, op->op, (int64) carry->sum.lo, n);
			break;
		default:
			((CountAccumulator *) acc)->n = (int64) carry->sum.lo;
			break;
	}
}

static Datum
wide_value(const RunningOperation *op, const void *results, int64 i, int64 n)
{
	const uint64 *sum = (const uint64 *) results + i * GPUAGG_INT192_WORDS;
	GpuaggInt128 narrow = {sum[0], (int64) sum[1]};
	Numeric total;

	if (op->family == SQL_FAMILY_KEY)
		return NumericGetDatum(
			gpuagg_decimal_to_numeric(((const GpuaggInt128 *) results)[i], op->scale));
	if (op->aggregate == AGGREGATE_AVG && sum[2] == (narrow.hi < 0 ? PG_UINT64_MAX : 0))
		return NumericGetDatum(gpuagg_decimal_divide(narrow, op->scale, op->scale, n));
	total = gpuagg_decimal_total_to_numeric(sum, op->scale);
	if (op->aggregate != AGGREGATE_AVG)
		return NumericGetDatum(total);
	return DirectFunctionCall2(numeric_div, NumericGetDatum(total),
							   NumericGetDatum(int64_to_numeric(n)));
}

static Datum
decimal_value(const RunningOperation *op, const void *results, int64 i, int64 n)
{
	GpuaggInt128 value = op->family == SQL_FAMILY_KEY
							 ? gpuagg_int128_from(((const int64 *) results)[i])
							 : ((const GpuaggInt128 *) results)[i];

	if (op->aggregate == AGGREGATE_AVG)
		return NumericGetDatum(gpuagg_decimal_divide(value, op->scale, op->scale, n));
	return NumericGetDatum(gpuagg_decimal_to_numeric(value, op->scale));
}

Datum
gpuagg_running_result(const RunningOperation *op, const void *results, const uint8 *status, int64 i,
					  int64 n, bool *isnull)
{
	bool floats = op->family == SQL_FAMILY_FLOAT;

	if (status[i] == GPUAGG_ROW_OVERFLOW)
	{
		if (floats)
			float_overflow_error();
		gpuagg_bigint_overflow();
	}
	*isnull = status[i] == GPUAGG_ROW_NULL && op->op != GPUAGG_COUNT;
	if (*isnull)
		return (Datum) 0;
	if (floats)
		return gpuagg_running_result_kind(op) == GPUAGG_FLOAT32
				   ? Float4GetDatum(((const float4 *) results)[i])
				   : Float8GetDatum(((const float8 *) results)[i]);
	if (op->wide)
		return wide_value(op, results, i, n);
	if (op->scale >= 0)
		return decimal_value(op, results, i, n);
	if (op->family == SQL_FAMILY_KEY)
		return gpuagg_key_value(op->kind, gpuagg_key_at(op->kind, results, i));
	if (op->family == SQL_FAMILY_COUNT)
		return Int64GetDatum(((const int64 *) results)[i]);
	return gpuagg_int_value(op->aggregate, op->result, n,
							op->kind == GPUAGG_INT64
								? ((const GpuaggInt128 *) results)[i]
								: gpuagg_int128_from(((const int64 *) results)[i]));
}

void
gpuagg_running_results(const RunningOperation *op, const void *results, const uint8 *status,
					   const int64 *counts, int64 first, int64 end, Datum *values, bool *isnull,
					   Size stride)
{
	int scale = gpuagg_running_sums_scale(op);

	for (int64 i = first; i < end; i++, values += stride, isnull += stride)
		if (scale >= 0 && status[i] == GPUAGG_ROW_VALUE)
		{
			*isnull = false;
			*values = NumericGetDatum(
				gpuagg_decimal_to_numeric(((const GpuaggInt128 *) results)[i], scale));
		}
		else
			*values = gpuagg_running_result(op, results, status, i, counts != NULL ? counts[i] : 0,
											isnull);
}

bool
gpuagg_running_average(const RunningOperation *op, GpuaggInt128 sum, int64 n, int scale,
					   GpuaggInt128 *average)
{
	return gpuagg_decimal_divide_integer(sum, Max(op->scale, 0), n, scale, average);
}

#define RESULT_COLUMN(datum)                                            \
	for (int64 i = 0; i < nrows; i++)                                   \
	{                                                                   \
		column[i * stride] = (datum);                                   \
		isnull[i * stride] = status[i] == GPUAGG_ROW_NULL && !is_count; \
	}

bool
gpuagg_running_result_column(const RunningOperation *op, const void *results, const uint8 *status,
							 int64 nrows, Datum *column, bool *isnull, Size stride)
{
	bool is_count = op->op == GPUAGG_COUNT;
	GpuaggKind kind = gpuagg_running_result_kind(op);

	if (op->scale >= 0)
		return false;
	if (op->op == GPUAGG_SUM &&
		(op->kind == GPUAGG_INT64 || memchr(status, GPUAGG_ROW_OVERFLOW, nrows) != NULL))
		return false;
	if (is_count || (op->op == GPUAGG_SUM && op->kind == GPUAGG_INT32))
		RESULT_COLUMN(Int64GetDatum(((const int64 *) results)[i]))
	else if (kind == GPUAGG_FLOAT32)
		RESULT_COLUMN(Float4GetDatum(((const float4 *) results)[i]))
	else if (kind == GPUAGG_FLOAT64)
		RESULT_COLUMN(Float8GetDatum(((const float8 *) results)[i]))
	else if (op->kind == GPUAGG_INT32)
		RESULT_COLUMN(Int32GetDatum(((const int32 *) results)[i]))
	else
		RESULT_COLUMN(Int64GetDatum(((const int64 *) results)[i]))
	return true;
}
