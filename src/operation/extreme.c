/*
 * extreme.c
 *	  gpu_min and gpu_max over the types that are passed by value.
 *
 * A state holds the order key (column.h) of the least or greatest value so far.
 * Order keys are a total order, so that no order of rows, split into batches or
 * worker changes the result.  As in sum_int.c, a large group's rows go through a
 * batch.  Types share code by the kind of their column: smallint, integer and
 * date are INT32; bigint, money, time and timestamps INT64.
 */
#include "postgres.h"

#include "engine/cpu.h"
#include "types/value.h"
#include "operation/group_reduction.h"
#include "operation/call.h"
#include "operation/wire.h"
#include "device/stat.h"

PG_FUNCTION_INFO_V1(gpuagg_int2_min);
PG_FUNCTION_INFO_V1(gpuagg_int2_max);
PG_FUNCTION_INFO_V1(gpuagg_int4_min);
PG_FUNCTION_INFO_V1(gpuagg_int4_max);
PG_FUNCTION_INFO_V1(gpuagg_int8_min);
PG_FUNCTION_INFO_V1(gpuagg_int8_max);
PG_FUNCTION_INFO_V1(gpuagg_float4_min);
PG_FUNCTION_INFO_V1(gpuagg_float4_max);
PG_FUNCTION_INFO_V1(gpuagg_float8_min);
PG_FUNCTION_INFO_V1(gpuagg_float8_max);
PG_FUNCTION_INFO_V1(gpuagg_extreme_combine);
PG_FUNCTION_INFO_V1(gpuagg_extreme_serialize);
PG_FUNCTION_INFO_V1(gpuagg_extreme_deserialize);
PG_FUNCTION_INFO_V1(gpuagg_extreme_value);

#define WIRE_TAG 'm'

typedef struct ExtremeState
{
	GroupReduction reduction;
	int64 n;   /* rows in key */
	int64 key; /* when n is 0 one that every other key replaces */
	uint8 kind;
	uint8 op;
} ExtremeState;

static ExtremeState *
make_state_in(MemoryContext context, GpuaggKind kind, GpuaggOp op, bool window)
{
	ExtremeState *state = MemoryContextAlloc(context, sizeof(ExtremeState));

	gpuagg_group_reduction_init(&state->reduction, window);
	state->n = 0;
	state->key = op == GPUAGG_MIN ? PG_INT64_MAX : PG_INT64_MIN;
	state->kind = kind;
	state->op = op;
	return state;
}

static pg_noinline ExtremeState *
make_state(FunctionCallInfo fcinfo, GpuaggKind kind, GpuaggOp op)
{
	bool window;
	MemoryContext context = gpuagg_aggregate_context(fcinfo, &window);

	gpuagg_begin(fcinfo->flinfo);
	return make_state_in(context, kind, op, window);
}

static inline void
take(ExtremeState *state, GpuaggOp op, int64 key, int64 n)
{
	state->key = op == GPUAGG_MIN ? Min(state->key, key) : Max(state->key, key);
	state->n += n;
}

static inline void
deposit(FunctionCallInfo fcinfo, ExtremeState *state, const void *value, GpuaggKind kind,
		GpuaggOp op)
{
	void *place = gpuagg_group_reduction_place(fcinfo, &state->reduction, state->n, kind, op);

	if (place == NULL)
	{
		take(state, op, gpuagg_key_at(kind, value, 0), 1);
		gpuagg_group_reduction_report(&state->reduction, (int) gpuagg_kind_size(kind));
	}
	else
		memcpy(place, value, gpuagg_kind_size(kind));
}

/* Ends the group's batch, so that the state itself holds every row. */
static void
gather(ExtremeState *state)
{
	const GpuaggReduced *total = gpuagg_group_reduction_gather(&state->reduction, state->n,
															   (int) gpuagg_kind_size(state->kind));

	if (total != NULL && total->n > 0)
		take(state, state->op, (int64) total->sum.lo, (int64) total->n);
}

#define DEFINE_ACCUM(name, op, ctype, getarg, kind)                                    \
	Datum gpuagg_##name(PG_FUNCTION_ARGS)                                              \
	{                                                                                  \
		ExtremeState *state = PG_ARGISNULL(0) ? make_state(fcinfo, kind, op)           \
											  : (ExtremeState *) PG_GETARG_POINTER(0); \
                                                                                       \
		if (!PG_ARGISNULL(1))                                                          \
		{                                                                              \
			ctype value = getarg(1);                                                   \
                                                                                       \
			deposit(fcinfo, state, &value, kind, op);                                  \
		}                                                                              \
		PG_RETURN_POINTER(state);                                                      \
	}

#define DEFINE_ACCUMS(type, ctype, getarg, kind)              \
	DEFINE_ACCUM(type##_min, GPUAGG_MIN, ctype, getarg, kind) \
	DEFINE_ACCUM(type##_max, GPUAGG_MAX, ctype, getarg, kind)

DEFINE_ACCUMS(int2, int32, PG_GETARG_INT16, GPUAGG_INT32)
DEFINE_ACCUMS(int4, int32, PG_GETARG_INT32, GPUAGG_INT32)
DEFINE_ACCUMS(int8, int64, PG_GETARG_INT64, GPUAGG_INT64)
DEFINE_ACCUMS(float4, float4, PG_GETARG_FLOAT4, GPUAGG_FLOAT32)
DEFINE_ACCUMS(float8, float8, PG_GETARG_FLOAT8, GPUAGG_FLOAT64)

Datum
gpuagg_extreme_combine(PG_FUNCTION_ARGS)
{
	ExtremeState *state = PG_ARGISNULL(0) ? NULL : (ExtremeState *) PG_GETARG_POINTER(0);
	ExtremeState *other = PG_ARGISNULL(1) ? NULL : (ExtremeState *) PG_GETARG_POINTER(1);

	if (other == NULL)
	{
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	if (state == NULL)
		state = make_state(fcinfo, other->kind, other->op);
	gather(other);
	state->reduction.open_at = NEVER_OPEN; /* its rows are reported */
	take(state, state->op, other->key, other->n);
	PG_RETURN_POINTER(state);
}

Datum
gpuagg_extreme_serialize(PG_FUNCTION_ARGS)
{
	bool window;
	ExtremeState *state = (ExtremeState *) PG_GETARG_POINTER(0);
	StringInfoData buf;

	(void) gpuagg_aggregate_context(fcinfo, &window);
	gather(state);
	gpuagg_wire_begin(&buf, WIRE_TAG);
	pq_sendbyte(&buf, state->kind);
	pq_sendbyte(&buf, state->op);
	pq_sendint64(&buf, (uint64) state->n);
	pq_sendint64(&buf, (uint64) state->key);
	PG_RETURN_BYTEA_P(gpuagg_wire_end(&buf));
}

Datum
gpuagg_extreme_deserialize(PG_FUNCTION_ARGS)
{
	bool window;
	ExtremeState *state;
	GpuaggKind kind;
	GpuaggOp op;
	StringInfoData buf;

	(void) gpuagg_aggregate_context(fcinfo, &window);
	gpuagg_wire_open(&buf, PG_GETARG_BYTEA_PP(0), WIRE_TAG);
	kind = pq_getmsgbyte(&buf);
	op = pq_getmsgbyte(&buf);
	state = make_state_in(CurrentMemoryContext, kind, op, true);
	state->n = pq_getmsgint64(&buf);
	state->key = pq_getmsgint64(&buf);
	gpuagg_wire_close(&buf);
	PG_RETURN_POINTER(state);
}

/* The final function of them all: the state knows of what type the key is. */
Datum
gpuagg_extreme_value(PG_FUNCTION_ARGS)
{
	ExtremeState *state = PG_ARGISNULL(0) ? NULL : (ExtremeState *) PG_GETARG_POINTER(0);

	if (state == NULL)
		PG_RETURN_NULL();
	gather(state);
	if (state->n == 0)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(gpuagg_key_value(state->kind, state->key));
}
