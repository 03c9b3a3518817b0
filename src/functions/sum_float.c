/*
 * sum_float.c
 *	  gpu_sum over float4 and float8: exact, rounded once at the end.
 *
 * As in sum_int.c, a large group's rows go through a batch.  float4 values are
 * exact doubles; only the last rounding differs.
 */
#include "postgres.h"

#include "engine/batch.h"
#include "engine/value.h"
#include "functions/float_state.h"
#include "functions/functions.h"
#include "functions/wire.h"
#include "stat.h"

PG_FUNCTION_INFO_V1(gpuagg_float4_accum);
PG_FUNCTION_INFO_V1(gpuagg_float8_accum);
PG_FUNCTION_INFO_V1(gpuagg_float4_accum_inv);
PG_FUNCTION_INFO_V1(gpuagg_float8_accum_inv);
PG_FUNCTION_INFO_V1(gpuagg_float_combine);
PG_FUNCTION_INFO_V1(gpuagg_float_serialize);
PG_FUNCTION_INFO_V1(gpuagg_float_deserialize);
PG_FUNCTION_INFO_V1(gpuagg_float_sum_float4);
PG_FUNCTION_INFO_V1(gpuagg_float_sum_float8);

#define WIRE_TAG 'f'
#define NO_BATCH PG_INT64_MAX /* never, or no longer; all rows are reported */

/* 128 bytes, a size that memory contexts do not round up. */
typedef struct FloatState
{
	GpuaggBatch *batch; /* or NULL */
	int64 batch_at;		/* ask for a batch when the sum has so many rows; or NO_BATCH */
	GrowingSum sum;
} FloatState;

StaticAssertDecl(sizeof(FloatState) <= 128, "a group's state must stay small");

static FloatState *
make_state_in(MemoryContext context, int64 batch_at)
{
	FloatState *state = MemoryContextAlloc(context, sizeof(FloatState));

	state->batch = NULL;
	state->batch_at = batch_at;
	gpuagg_growing_sum_init(&state->sum);
	return state;
}

static pg_noinline FloatState *
make_state(FunctionCallInfo fcinfo)
{
	bool window;
	MemoryContext context = gpuagg_aggregate_context(fcinfo, &window);

	gpuagg_begin(fcinfo->flinfo);
	return make_state_in(context, window ? NO_BATCH : gpuagg_batch_threshold());
}

static FloatState *
state_of(FunctionCallInfo fcinfo)
{
	return PG_ARGISNULL(0) ? make_state(fcinfo) : (FloatState *) PG_GETARG_POINTER(0);
}

/* Apart, so that the transition function stays small enough for JIT to inline it. */
static pg_noinline void
open_batch(FunctionCallInfo fcinfo, FloatState *state)
{
	bool window;

	state->batch = gpuagg_batch_open(GPUAGG_FLOAT64, GPUAGG_SUM, 0,
									 gpuagg_aggregate_context(fcinfo, &window));
	if (state->batch == NULL)
		state->batch_at += gpuagg_batch_threshold() + 1; /* ask again later */
}

static pg_noinline void
deposit_directly(FloatState *state, double value)
{
	gpuagg_growing_sum_deposit(&state->sum, state, value, 1);
	if (state->batch_at == NO_BATCH) /* as a window function: no end to report at */
		gpuagg_stat_direct(1, sizeof(double));
}

static inline void
deposit(FunctionCallInfo fcinfo, FloatState *state, double value)
{
	GpuaggBatch *batch = state->batch;

	if (batch == NULL && state->sum.acc->counts.n >= state->batch_at)
	{
		open_batch(fcinfo, state);
		batch = state->batch;
	}
	if (batch == NULL)
	{
		deposit_directly(state, value);
		return;
	}
	if (unlikely(batch->next == batch->end))
		gpuagg_batch_advance(batch);
	*(double *) batch->next = value;
	batch->next += sizeof(double);
}

/*
 * Ends the group's batch, so that the state itself holds every row.  The rows
 * that never went through a batch are reported to the statistics here, once.
 */
static void
gather(FloatState *state)
{
	const GpuaggReduced *total;

	if (state->batch_at != NO_BATCH)
		gpuagg_stat_direct(state->sum.acc->counts.n,
						   state->sum.acc->counts.n * (int64) sizeof(double));
	state->batch_at = NO_BATCH;
	if (state->batch == NULL)
		return;
	total = gpuagg_batch_close(state->batch);
	state->batch = NULL;
	gpuagg_growing_sum_merge(&state->sum, state, (const GpuaggFloatSum *) &total->f);
}

#define DEFINE_ACCUM(type, getarg)                                                  \
	Datum gpuagg_##type##_accum(PG_FUNCTION_ARGS)                                   \
	{                                                                               \
		FloatState *state = state_of(fcinfo);                                       \
                                                                                    \
		if (!PG_ARGISNULL(1))                                                       \
			deposit(fcinfo, state, (double) getarg(1));                             \
		PG_RETURN_POINTER(state);                                                   \
	}                                                                               \
                                                                                    \
	Datum gpuagg_##type##_accum_inv(PG_FUNCTION_ARGS)                               \
	{                                                                               \
		FloatState *state = state_of(fcinfo);                                       \
                                                                                    \
		if (!PG_ARGISNULL(1))                                                       \
			gpuagg_growing_sum_deposit(&state->sum, state, (double) getarg(1), -1); \
		PG_RETURN_POINTER(state);                                                   \
	}

DEFINE_ACCUM(float4, PG_GETARG_FLOAT4)
DEFINE_ACCUM(float8, PG_GETARG_FLOAT8)

Datum
gpuagg_float_combine(PG_FUNCTION_ARGS)
{
	FloatState *state = state_of(fcinfo);

	if (!PG_ARGISNULL(1))
	{
		FloatState *other = (FloatState *) PG_GETARG_POINTER(1);

		gather(other);
		state->batch_at = NO_BATCH;
		gpuagg_float_sum_propagate(other->sum.acc);
		gpuagg_growing_sum_merge(&state->sum, state, other->sum.acc);
	}
	PG_RETURN_POINTER(state);
}

Datum
gpuagg_float_serialize(PG_FUNCTION_ARGS)
{
	bool window;
	FloatState *state = (FloatState *) PG_GETARG_POINTER(0);
	GpuaggFloatSum *acc;
	const GpuaggFloatCounts *c;
	int first;
	int last;
	StringInfoData buf;

	(void) gpuagg_aggregate_context(fcinfo, &window);
	gather(state);
	acc = state->sum.acc;
	gpuagg_float_sum_propagate(acc);
	gpuagg_float_sum_extent(acc, &first, &last);
	c = &acc->counts;

	gpuagg_wire_begin(&buf, WIRE_TAG);
	pq_sendint64(&buf, (uint64) c->n);
	pq_sendint64(&buf, (uint64) c->n_nan);
	pq_sendint64(&buf, (uint64) c->n_pinf);
	pq_sendint64(&buf, (uint64) c->n_ninf);
	pq_sendint64(&buf, (uint64) c->n_negzero);
	pq_sendint16(&buf, (uint16) first);
	pq_sendint16(&buf, (uint16) (last - first + 1));
	for (int i = first; i <= last; i++)
		pq_sendint64(&buf, (uint64) acc->chunk[i - acc->base]);
	PG_RETURN_BYTEA_P(gpuagg_wire_end(&buf));
}

Datum
gpuagg_float_deserialize(PG_FUNCTION_ARGS)
{
	bool window;
	FloatState *state;
	GpuaggFloatCounts counts;
	GpuaggFloatSum *acc;
	int first;
	int width;
	StringInfoData buf;

	(void) gpuagg_aggregate_context(fcinfo, &window);
	gpuagg_wire_open(&buf, PG_GETARG_BYTEA_PP(0), WIRE_TAG);
	counts.n = pq_getmsgint64(&buf);
	counts.n_nan = pq_getmsgint64(&buf);
	counts.n_pinf = pq_getmsgint64(&buf);
	counts.n_ninf = pq_getmsgint64(&buf);
	counts.n_negzero = pq_getmsgint64(&buf);
	first = (int) pq_getmsgint(&buf, 2);
	width = (int) pq_getmsgint(&buf, 2);
	if (first + width > GPUAGG_CHUNKS)
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						errmsg("invalid serialized aggregate state")));

	state = make_state_in(CurrentMemoryContext, NO_BATCH);
	if (width > 0)
		gpuagg_growing_sum_reserve(&state->sum, state, first, first + width - 1);
	acc = state->sum.acc;
	acc->counts = counts;
	for (int i = 0; i < width; i++)
		acc->chunk[first - acc->base + i] = pq_getmsgint64(&buf);
	gpuagg_wire_close(&buf);
	PG_RETURN_POINTER(state);
}

static Datum
final_sum(FunctionCallInfo fcinfo, GpuaggKind kind)
{
	FloatState *state = PG_ARGISNULL(0) ? NULL : (FloatState *) PG_GETARG_POINTER(0);

	if (state == NULL)
		PG_RETURN_NULL();
	gather(state);
	return gpuagg_float_value(kind, state->sum.acc, &fcinfo->isnull);
}

Datum
gpuagg_float_sum_float4(PG_FUNCTION_ARGS)
{
	return final_sum(fcinfo, GPUAGG_FLOAT32);
}

Datum
gpuagg_float_sum_float8(PG_FUNCTION_ARGS)
{
	return final_sum(fcinfo, GPUAGG_FLOAT64);
}
