/*
 * running_operation.c
 *	  The operations of running functions, one for each function and type.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/timestamp.h"

#include "engine/cpu.h"
#include "types/value.h"
#include "operation/extreme_ref.h"
#include "operation/integer_value.h"
#include "operation/interval_state.h"
#include "operation/running_operation.h"

/* ---- integers, and what has an order key: one number as the state ---- */

static int64
number_of_int2(Datum value)
{
	return DatumGetInt16(value);
}

static int64
number_of_int4(Datum value)
{
	return DatumGetInt32(value);
}

static int64
number_of_int8(Datum value)
{
	return DatumGetInt64(value);
}

static int64
number_of_float4(Datum value)
{
	float4 number = DatumGetFloat4(value);

	return gpuagg_key_at(GPUAGG_FLOAT32, &number, 0);
}

static int64
number_of_float8(Datum value)
{
	float8 number = DatumGetFloat8(value);

	return gpuagg_key_at(GPUAGG_FLOAT64, &number, 0);
}

static void
take_addend(const RunningOperation *op, RunningState *state, Datum value)
{
	state->number = gpuagg_int128_add(state->number, gpuagg_int128_from(op->number_of(value)));
}

static void
take_key(const RunningOperation *op, RunningState *state, Datum value)
{
	int64 key = op->number_of(value);
	int64 best = (int64) state->number.lo;

	if (state->n == 0 || (op->op == GPUAGG_MIN ? key < best : key > best))
		state->number = gpuagg_int128_from(key);
}

static void
take_count(const RunningOperation *op, RunningState *state, Datum value)
{
	state->number.lo++;
}

static Datum
sum_as_bigint(const RunningOperation *op, int64 n, GpuaggInt128 number)
{
	return Int64GetDatum(gpuagg_int64_value(number));
}

static Datum
sum_as_numeric(const RunningOperation *op, int64 n, GpuaggInt128 number)
{
	return NumericGetDatum(gpuagg_int128_to_numeric(number));
}

static Datum
sum_as_money(const RunningOperation *op, int64 n, GpuaggInt128 number)
{
	return gpuagg_money_value(number);
}

static Datum
average_of_integers(const RunningOperation *op, int64 n, GpuaggInt128 number)
{
	return gpuagg_int_average(n, number);
}

static Datum
key_value(const RunningOperation *op, int64 n, GpuaggInt128 number)
{
	return gpuagg_key_value(op->kind, (int64) number.lo);
}

static Datum
count_value(const RunningOperation *op, int64 n, GpuaggInt128 number)
{
	return Int64GetDatum((int64) number.lo);
}

/* ---- sums of floats ---- */

static void
take_float4(const RunningOperation *op, RunningState *state, Datum value)
{
	gpuagg_growing_sum_deposit(&state->floats, state, (double) DatumGetFloat4(value), 1);
}

static void
take_float8(const RunningOperation *op, RunningState *state, Datum value)
{
	gpuagg_growing_sum_deposit(&state->floats, state, DatumGetFloat8(value), 1);
}

static Datum
sum_of_floats(const RunningOperation *op, const RunningState *state, bool *isnull)
{
	return gpuagg_float_value(op->kind, state->floats.acc, isnull);
}

/* float4 values are exact doubles: so is their average one, as core's. */
static Datum
average_of_floats(const RunningOperation *op, const RunningState *state, bool *isnull)
{
	return gpuagg_float_average_value(state->floats.acc, isnull);
}

/* ---- numeric and interval: by reference ---- */

/* Makes a copy of the value the state's, in place of the one it has. */
static void
replace(const RunningOperation *op, RunningState *state, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(state->context);

	if (state->n > 0)
		pfree(DatumGetPointer(state->ref.extreme));
	state->ref.extreme = datumCopy(value, false, op->result_length);
	MemoryContextSwitchTo(old);
}

static void
take_numeric_extreme(const RunningOperation *op, RunningState *state, Datum value)
{
	Numeric number = DatumGetNumeric(value);

	if (state->n == 0 ||
		gpuagg_numeric_wins(number, DatumGetNumeric(state->ref.extreme), op->op == GPUAGG_MIN))
		replace(op, state, NumericGetDatum(number));
}

static void
take_interval_extreme(const RunningOperation *op, RunningState *state, Datum value)
{
	if (state->n == 0 ||
		gpuagg_interval_wins(DatumGetIntervalP(value), DatumGetIntervalP(state->ref.extreme),
							 op->op == GPUAGG_MIN))
		replace(op, state, value);
}

static Datum
extreme_value(const RunningOperation *op, const RunningState *state, bool *isnull)
{
	*isnull = state->n == 0;
	return *isnull ? (Datum) 0 : state->ref.extreme;
}

static void
take_numeric(const RunningOperation *op, RunningState *state, Datum value)
{
	gpuagg_numeric_state_add(state->ref.numeric, value);
}

static Datum
sum_of_numerics(const RunningOperation *op, const RunningState *state, bool *isnull)
{
	return gpuagg_numeric_state_sum(state->ref.numeric, isnull);
}

static Datum
average_of_numerics(const RunningOperation *op, const RunningState *state, bool *isnull)
{
	return gpuagg_numeric_state_avg(state->ref.numeric, isnull);
}

static void
take_interval(const RunningOperation *op, RunningState *state, Datum value)
{
	gpuagg_interval_state_add(state->ref.interval, value);
}

static Datum
sum_of_intervals(const RunningOperation *op, const RunningState *state, bool *isnull)
{
	return gpuagg_interval_state_sum(state->ref.interval, isnull);
}

static Datum
average_of_intervals(const RunningOperation *op, const RunningState *state, bool *isnull)
{
	return gpuagg_interval_state_avg(state->ref.interval, isnull);
}

/* ---- all of them ---- */

/* Whose state is a number. */
#define NUMBER(function, type, width, length, kind, op, number_of, take, value) \
	{                                                                           \
		function, type, width, length, kind, op, number_of, take, value, NULL   \
	}

/* Minima and maxima of a type that has order keys. */
#define KEYS(type, width, kind, number_of)                                                 \
	NUMBER(RUNNING_MIN, type, width, 0, kind, GPUAGG_MIN, number_of, take_key, key_value), \
		NUMBER(RUNNING_MAX, type, width, 0, kind, GPUAGG_MAX, number_of, take_key, key_value)

/* Whose state is more than that; kind 0: rows are taken one by one. */
#define STATE(function, type, width, length, kind, op, take, value)      \
	{                                                                    \
		function, type, width, length, kind, op, NULL, take, NULL, value \
	}

static const RunningOperation operations[] = {
	NUMBER(RUNNING_SUM, INT2OID, 2, 0, GPUAGG_INT32, GPUAGG_SUM, number_of_int2, take_addend,
		   sum_as_bigint),
	NUMBER(RUNNING_SUM, INT4OID, 4, 0, GPUAGG_INT32, GPUAGG_SUM, number_of_int4, take_addend,
		   sum_as_bigint),
	NUMBER(RUNNING_SUM, INT8OID, 8, -1, GPUAGG_INT64, GPUAGG_SUM, number_of_int8, take_addend,
		   sum_as_numeric),
	NUMBER(RUNNING_SUM, MONEYOID, 8, 0, GPUAGG_INT64, GPUAGG_SUM, number_of_int8, take_addend,
		   sum_as_money),
	STATE(RUNNING_SUM, FLOAT4OID, 4, 0, GPUAGG_FLOAT32, GPUAGG_SUM, take_float4, sum_of_floats),
	STATE(RUNNING_SUM, FLOAT8OID, 8, 0, GPUAGG_FLOAT64, GPUAGG_SUM, take_float8, sum_of_floats),
	STATE(RUNNING_SUM, INTERVALOID, sizeof(Interval), sizeof(Interval), 0, GPUAGG_SUM,
		  take_interval, sum_of_intervals),
	STATE(RUNNING_SUM, NUMERICOID, 0, -1, 0, GPUAGG_SUM, take_numeric, sum_of_numerics),

	/* in 64 bits, whose scans give 128: exact for any number of rows */
	NUMBER(RUNNING_AVG, INT2OID, 2, -1, GPUAGG_INT64, GPUAGG_SUM, number_of_int2, take_addend,
		   average_of_integers),
	NUMBER(RUNNING_AVG, INT4OID, 4, -1, GPUAGG_INT64, GPUAGG_SUM, number_of_int4, take_addend,
		   average_of_integers),
	NUMBER(RUNNING_AVG, INT8OID, 8, -1, GPUAGG_INT64, GPUAGG_SUM, number_of_int8, take_addend,
		   average_of_integers),

	STATE(RUNNING_AVG, FLOAT4OID, 4, 0, 0, GPUAGG_SUM, take_float4, average_of_floats),
	STATE(RUNNING_AVG, FLOAT8OID, 8, 0, 0, GPUAGG_SUM, take_float8, average_of_floats),
	STATE(RUNNING_AVG, NUMERICOID, 0, -1, 0, GPUAGG_SUM, take_numeric, average_of_numerics),
	STATE(RUNNING_AVG, INTERVALOID, sizeof(Interval), sizeof(Interval), 0, GPUAGG_SUM,
		  take_interval, average_of_intervals),

	KEYS(INT2OID, 2, GPUAGG_INT32, number_of_int2),
	KEYS(INT4OID, 4, GPUAGG_INT32, number_of_int4),
	KEYS(INT8OID, 8, GPUAGG_INT64, number_of_int8),
	KEYS(FLOAT4OID, 4, GPUAGG_FLOAT32, number_of_float4),
	KEYS(FLOAT8OID, 8, GPUAGG_FLOAT64, number_of_float8),
	KEYS(MONEYOID, 8, GPUAGG_INT64, number_of_int8),
	KEYS(DATEOID, 4, GPUAGG_INT32, number_of_int4),
	KEYS(TIMEOID, 8, GPUAGG_INT64, number_of_int8),
	KEYS(TIMESTAMPOID, 8, GPUAGG_INT64, number_of_int8),
	KEYS(TIMESTAMPTZOID, 8, GPUAGG_INT64, number_of_int8),
	STATE(RUNNING_MIN, NUMERICOID, 0, -1, 0, GPUAGG_MIN, take_numeric_extreme, extreme_value),
	STATE(RUNNING_MAX, NUMERICOID, 0, -1, 0, GPUAGG_MAX, take_numeric_extreme, extreme_value),
	STATE(RUNNING_MIN, INTERVALOID, sizeof(Interval), sizeof(Interval), 0, GPUAGG_MIN,
		  take_interval_extreme, extreme_value),
	STATE(RUNNING_MAX, INTERVALOID, sizeof(Interval), sizeof(Interval), 0, GPUAGG_MAX,
		  take_interval_extreme, extreme_value),

	NUMBER(RUNNING_COUNT, ANYOID, 0, 0, GPUAGG_INT32, GPUAGG_COUNT, NULL, take_count, count_value),
};

const RunningOperation *
gpuagg_running_find(RunningFunction function, Oid type)
{
	for (int i = 0; i < lengthof(operations); i++)
		if (operations[i].function == function &&
			(operations[i].type == type || operations[i].type == ANYOID))
			return &operations[i];
	return NULL;
}

const RunningOperation *
gpuagg_running_operation(RunningFunction function, Oid type)
{
	const RunningOperation *op = gpuagg_running_find(function, type);

	if (op == NULL)
		elog(ERROR, "running function %d takes no type %u", (int) function, type);
	return op;
}

RunningState *
gpuagg_running_state_make(const RunningOperation *op, MemoryContext context)
{
	bool sums = op->number_value == NULL && op->op == GPUAGG_SUM;
	bool floats = sums && (op->type == FLOAT4OID || op->type == FLOAT8OID);
	RunningState *state = MemoryContextAllocZero(context, floats ? sizeof(RunningState)
																 : offsetof(RunningState, floats));

	state->context = context;
	if (floats)
		gpuagg_growing_sum_init(&state->floats);
	else if (sums && op->type == INTERVALOID)
		state->ref.interval = gpuagg_interval_state_make(context);
	else if (sums && op->type == NUMERICOID)
		state->ref.numeric = gpuagg_numeric_state_make(context, false);
	return state;
}

bool
gpuagg_running_state_clear(const RunningOperation *op, RunningState *state)
{
	if (op->number_value != NULL)
		state->number = gpuagg_int128_from(0);
	else if (op->type == FLOAT4OID || op->type == FLOAT8OID)
	{
		gpuagg_growing_sum_free(&state->floats);
		gpuagg_growing_sum_init(&state->floats);
	}
	else
		return false;
	state->n = 0;
	return true;
}

bool
gpuagg_running_can_read_ahead(Node *x)
{
	return !contain_leaked_vars(x) && !contain_volatile_functions(x);
}

Datum
gpuagg_running_value(const RunningOperation *op, const RunningState *state, bool *isnull)
{
	if (op->number_value == NULL)
		return op->state_value(op, state, isnull);
	*isnull = state->n == 0 && op->function != RUNNING_COUNT;
	return *isnull ? (Datum) 0 : op->number_value(op, state->n, state->number);
}

/* ---- batches ---- */

static bool
sums_floats(const RunningOperation *op)
{
	return gpuagg_kind_is_float(op->kind) && op->op == GPUAGG_SUM;
}

void
gpuagg_running_store(const RunningOperation *op, void *values, int64 i, Datum value)
{
	if (op->op == GPUAGG_COUNT) /* does not read them */
		return;
	switch (op->kind)
	{
		case GPUAGG_INT32:
			((int32 *) values)[i] = (int32) op->number_of(value);
			break;
		case GPUAGG_INT64:
			((int64 *) values)[i] = op->number_of(value);
			break;
		case GPUAGG_FLOAT32:
			((float4 *) values)[i] = DatumGetFloat4(value);
			break;
		case GPUAGG_FLOAT64:
			((float8 *) values)[i] = DatumGetFloat8(value);
			break;
	}
}

/* One loop a type: type of the values, expression of a Datum d. */
#define STORE_COLUMN(type, number)                                       \
	for (int64 i = 0; i < nrows; i++)                                    \
	{                                                                    \
		Datum d = column[i * stride];                                    \
                                                                         \
		((type *) values)[i] = isnull[i * stride] ? 0 : (type) (number); \
	}

void
gpuagg_running_store_column(const RunningOperation *op, void *values, const Datum *column,
							const bool *isnull, Size stride, int64 nrows)
{
	if (op->op == GPUAGG_COUNT) /* does not read them */
		return;
	switch (op->kind)
	{
		case GPUAGG_INT32:
			if (op->type == INT2OID)
				STORE_COLUMN(int32, DatumGetInt16(d))
			else
				STORE_COLUMN(int32, DatumGetInt32(d))
			break;
		case GPUAGG_INT64:
			if (op->type == INT2OID)
				STORE_COLUMN(int64, DatumGetInt16(d))
			else if (op->type == INT4OID)
				STORE_COLUMN(int64, DatumGetInt32(d))
			else
				STORE_COLUMN(int64, DatumGetInt64(d))
			break;
		case GPUAGG_FLOAT32:
			STORE_COLUMN(float4, DatumGetFloat4(d))
			break;
		case GPUAGG_FLOAT64:
			STORE_COLUMN(float8, DatumGetFloat8(d))
			break;
	}
}

void
gpuagg_running_to_carry(const RunningOperation *op, const RunningState *state,
						GpuaggScanState *carry)
{
	gpuagg_float_sum_init(gpuagg_float_sum_of(&carry->f), 0, GPUAGG_CHUNKS);
	carry->sum = state->number;
	if (sums_floats(op))
		gpuagg_float_sum_merge(gpuagg_float_sum_of(&carry->f), state->floats.acc);
	else
		carry->f.counts.n = state->n;
}

void
gpuagg_running_from_carry(const RunningOperation *op, RunningState *state,
						  const GpuaggScanState *carry, int64 n)
{
	state->n = n;
	state->number = carry->sum;
	if (sums_floats(op))
	{
		gpuagg_growing_sum_free(&state->floats);
		gpuagg_growing_sum_init(&state->floats);
		gpuagg_growing_sum_merge(&state->floats, state, (const GpuaggFloatSum *) &carry->f);
	}
}

/* The number at row i of the results of a scan. */
static GpuaggInt128
number_at(const RunningOperation *op, const void *results, int64 i)
{
	if (op->op == GPUAGG_MIN || op->op == GPUAGG_MAX)
		return gpuagg_int128_from(gpuagg_key_at(op->kind, results, i));
	if (op->op == GPUAGG_SUM && op->kind == GPUAGG_INT64)
		return ((const GpuaggInt128 *) results)[i];
	return gpuagg_int128_from(((const int64 *) results)[i]);
}

Datum
gpuagg_running_result(const RunningOperation *op, const void *results, const uint8 *status, int64 i,
					  int64 n, bool *isnull)
{
	if (status[i] == GPUAGG_ROW_OVERFLOW)
	{
		if (sums_floats(op))
			float_overflow_error();
		gpuagg_bigint_overflow();
	}
	*isnull = status[i] == GPUAGG_ROW_NULL && op->function != RUNNING_COUNT;
	if (*isnull)
		return (Datum) 0;
	if (!sums_floats(op))
		return op->number_value(op, n, number_at(op, results, i));
	return op->kind == GPUAGG_FLOAT32 ? Float4GetDatum(((const float4 *) results)[i])
									  : Float8GetDatum(((const float8 *) results)[i]);
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
	bool is_count = op->function == RUNNING_COUNT;

	if (op->op == GPUAGG_SUM &&
		(op->kind == GPUAGG_INT64 || memchr(status, GPUAGG_ROW_OVERFLOW, nrows) != NULL))
		return false;
	if (is_count || (op->op == GPUAGG_SUM && op->kind == GPUAGG_INT32))
		RESULT_COLUMN(Int64GetDatum(((const int64 *) results)[i]))
	else if (op->kind == GPUAGG_FLOAT32)
		RESULT_COLUMN(Float4GetDatum(((const float4 *) results)[i]))
	else if (op->kind == GPUAGG_FLOAT64)
		RESULT_COLUMN(Float8GetDatum(((const float8 *) results)[i]))
	else if (op->kind == GPUAGG_INT32)
		RESULT_COLUMN(Int32GetDatum(((const int32 *) results)[i]))
	else
		RESULT_COLUMN(Int64GetDatum(((const int64 *) results)[i]))
	return true;
}
