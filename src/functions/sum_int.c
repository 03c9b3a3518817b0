/*
 * sum_int.c
 *	  gpu_sum over int2, int4 and int8: exact sums in 128 bits.
 *
 * A group starts as this small state.  Past gpuagg_batch_threshold() rows it
 * asks for a batch, into which its rows go from then on; the batch's sum is
 * added when the group is finished or serialized.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "engine/batch.h"
#include "engine/value.h"
#include "functions/functions.h"
#include "functions/wire.h"
#include "stat.h"

PG_FUNCTION_INFO_V1(gpuagg_int2_accum);
PG_FUNCTION_INFO_V1(gpuagg_int4_accum);
PG_FUNCTION_INFO_V1(gpuagg_int8_accum);
PG_FUNCTION_INFO_V1(gpuagg_int2_accum_inv);
PG_FUNCTION_INFO_V1(gpuagg_int4_accum_inv);
PG_FUNCTION_INFO_V1(gpuagg_int8_accum_inv);
PG_FUNCTION_INFO_V1(gpuagg_int_combine);
PG_FUNCTION_INFO_V1(gpuagg_int_serialize);
PG_FUNCTION_INFO_V1(gpuagg_int_deserialize);
PG_FUNCTION_INFO_V1(gpuagg_int_sum_int8);
PG_FUNCTION_INFO_V1(gpuagg_int_sum_numeric);

#define WIRE_TAG 'i'
#define NO_BATCH PG_INT64_MAX /* never, or no longer; all rows are reported */

typedef struct IntState
{
	GpuaggBatch *batch; /* or NULL */
	int64 batch_at;		/* ask for a batch when n gets there; or NO_BATCH */
	int64 n;			/* rows in sum */
	GpuaggInt128 sum;
	int32 width; /* bytes of a value in a batch */
} IntState;

static pg_noinline IntState *
make_state(FunctionCallInfo fcinfo, GpuaggKind kind)
{
	bool window;
	MemoryContext context = gpuagg_aggregate_context(fcinfo, &window);
	IntState *state = MemoryContextAllocZero(context, sizeof(IntState));

	gpuagg_begin(fcinfo->flinfo);
	state->batch_at = window ? NO_BATCH : gpuagg_batch_threshold();
	state->width = (int32) gpuagg_kind_size(kind);
	return state;
}

static IntState *
state_of(FunctionCallInfo fcinfo, GpuaggKind kind)
{
	return PG_ARGISNULL(0) ? make_state(fcinfo, kind) : (IntState *) PG_GETARG_POINTER(0);
}

/* Apart, so that the transition function stays small enough for JIT to inline it. */
static pg_noinline void
open_batch(FunctionCallInfo fcinfo, IntState *state, GpuaggKind kind)
{
	bool window;

	state->batch = gpuagg_batch_open(kind, GPUAGG_SUM, 0,
									 gpuagg_aggregate_context(fcinfo, &window));
	if (state->batch == NULL)
		state->batch_at += gpuagg_batch_threshold() + 1; /* ask again later */
}

static inline void
deposit(FunctionCallInfo fcinfo, IntState *state, int64 value, GpuaggKind kind)
{
	GpuaggBatch *batch = state->batch;

	if (batch == NULL && state->n >= state->batch_at)
	{
		open_batch(fcinfo, state, kind);
		batch = state->batch;
	}
	if (batch == NULL)
	{
		state->sum = gpuagg_int128_add(state->sum, gpuagg_int128_from(value));
		state->n++;
		if (state->batch_at == NO_BATCH) /* as a window function: no end to report at */
			gpuagg_stat_direct(1, state->width);
		return;
	}
	if (unlikely(batch->next == batch->end))
		gpuagg_batch_advance(batch);
	if (kind == GPUAGG_INT32)
	{
		*(int32 *) batch->next = (int32) value;
		batch->next += sizeof(int32);
	}
	else
	{
		*(int64 *) batch->next = value;
		batch->next += sizeof(int64);
	}
}

static void
take_away(IntState *state, int64 value)
{
	state->sum = gpuagg_int128_add(state->sum, gpuagg_int128_neg(gpuagg_int128_from(value)));
	state->n--;
}

/*
 * Ends the group's batch, so that the state itself holds every row.  The rows
 * that never went through a batch are reported to the statistics here, once.
 */
static void
gather(IntState *state)
{
	const GpuaggReduced *total;

	if (state->batch_at != NO_BATCH)
		gpuagg_stat_direct(state->n, state->n * state->width);
	state->batch_at = NO_BATCH;
	if (state->batch == NULL)
		return;
	total = gpuagg_batch_close(state->batch);
	state->batch = NULL;
	state->sum = gpuagg_int128_add(state->sum, total->sum);
	state->n += (int64) total->n;
}

#define DEFINE_ACCUM(type, getarg, kind)              \
	Datum gpuagg_##type##_accum(PG_FUNCTION_ARGS)     \
	{                                                 \
		IntState *state = state_of(fcinfo, kind);     \
                                                      \
		if (!PG_ARGISNULL(1))                         \
			deposit(fcinfo, state, getarg(1), kind);  \
		PG_RETURN_POINTER(state);                     \
	}                                                 \
                                                      \
	Datum gpuagg_##type##_accum_inv(PG_FUNCTION_ARGS) \
	{                                                 \
		IntState *state = state_of(fcinfo, kind);     \
                                                      \
		if (!PG_ARGISNULL(1))                         \
			take_away(state, getarg(1));              \
		PG_RETURN_POINTER(state);                     \
	}

DEFINE_ACCUM(int2, PG_GETARG_INT16, GPUAGG_INT32)
DEFINE_ACCUM(int4, PG_GETARG_INT32, GPUAGG_INT32)
DEFINE_ACCUM(int8, PG_GETARG_INT64, GPUAGG_INT64)

Datum
gpuagg_int_combine(PG_FUNCTION_ARGS)
{
	IntState *state = state_of(fcinfo, GPUAGG_INT64); /* its rows are reported */

	if (!PG_ARGISNULL(1))
	{
		IntState *other = (IntState *) PG_GETARG_POINTER(1);

		gather(other);
		state->batch_at = NO_BATCH;
		state->sum = gpuagg_int128_add(state->sum, other->sum);
		state->n += other->n;
	}
	PG_RETURN_POINTER(state);
}

Datum
gpuagg_int_serialize(PG_FUNCTION_ARGS)
{
	bool window;
	IntState *state = (IntState *) PG_GETARG_POINTER(0);
	StringInfoData buf;

	(void) gpuagg_aggregate_context(fcinfo, &window);
	gather(state);
	gpuagg_wire_begin(&buf, WIRE_TAG);
	pq_sendint64(&buf, (uint64) state->n);
	pq_sendint64(&buf, (uint64) state->sum.hi);
	pq_sendint64(&buf, state->sum.lo);
	PG_RETURN_BYTEA_P(gpuagg_wire_end(&buf));
}

Datum
gpuagg_int_deserialize(PG_FUNCTION_ARGS)
{
	bool window;
	IntState *state;
	StringInfoData buf;

	(void) gpuagg_aggregate_context(fcinfo, &window);
	state = palloc0(sizeof(IntState));
	state->batch_at = NO_BATCH;
	gpuagg_wire_open(&buf, PG_GETARG_BYTEA_PP(0), WIRE_TAG);
	state->n = pq_getmsgint64(&buf);
	state->sum.hi = pq_getmsgint64(&buf);
	state->sum.lo = (uint64) pq_getmsgint64(&buf);
	gpuagg_wire_close(&buf);
	PG_RETURN_POINTER(state);
}

/* The gathered state, or NULL when there was no row. */
static IntState *
final_state(FunctionCallInfo fcinfo)
{
	IntState *state = PG_ARGISNULL(0) ? NULL : (IntState *) PG_GETARG_POINTER(0);

	if (state == NULL)
		return NULL;
	gather(state);
	return state->n == 0 ? NULL : state;
}

Datum
gpuagg_int_sum_int8(PG_FUNCTION_ARGS)
{
	IntState *state = final_state(fcinfo);

	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_INT64(gpuagg_int64_value(state->sum));
}

Datum
gpuagg_int_sum_numeric(PG_FUNCTION_ARGS)
{
	IntState *state = final_state(fcinfo);

	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_NUMERIC(gpuagg_int128_to_numeric(state->sum));
}
