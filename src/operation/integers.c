/*
 * integers.c
 *	  Aggregates over int2, int4, int8 and money: exact sums, and squares.
 *
 * gpu_sum and gpu_avg share one state; the variances and standard deviations
 * share another, with squares.  A group starts as this small state and goes on
 * in a batch once it is large (group_reduction.h).
 */
#include "postgres.h"

#include "common/int_sum.h"
#include "types/value.h"
#include "operation/group_reduction.h"
#include "operation/family.h"
#include "operation/call.h"
#include "operation/integer_value.h"
#include "device/stat.h"

PG_FUNCTION_INFO_V1(gpuagg_int2_accum);
PG_FUNCTION_INFO_V1(gpuagg_int4_accum);
PG_FUNCTION_INFO_V1(gpuagg_int8_accum);
PG_FUNCTION_INFO_V1(gpuagg_int2_accum_inv);
PG_FUNCTION_INFO_V1(gpuagg_int4_accum_inv);
PG_FUNCTION_INFO_V1(gpuagg_int8_accum_inv);
PG_FUNCTION_INFO_V1(gpuagg_int2_moments);
PG_FUNCTION_INFO_V1(gpuagg_int4_moments);
PG_FUNCTION_INFO_V1(gpuagg_int8_moments);
PG_FUNCTION_INFO_V1(gpuagg_int2_moments_inv);
PG_FUNCTION_INFO_V1(gpuagg_int4_moments_inv);
PG_FUNCTION_INFO_V1(gpuagg_int8_moments_inv);

typedef struct IntState
{
	GroupReduction reduction;
	int64 width;	  /* bytes of a value in a batch */
	GpuaggIntSum acc; /* last, as its squares may be missing */
} IntState;

#define STATE_SIZE(moments) (offsetof(IntState, acc) + GPUAGG_INT_SUM_SIZE(moments))

StaticAssertDecl(STATE_SIZE(false) <= 64 && STATE_SIZE(true) <= 128,
				 "a group's state must stay small");

static IntState *
make_state_in(MemoryContext context, bool window, GpuaggKind kind, bool moments)
{
	IntState *state = MemoryContextAllocZero(context, STATE_SIZE(moments));

	gpuagg_group_reduction_init(&state->reduction, window);
	state->width = (int64) gpuagg_kind_size(kind);
	state->acc.moments = moments;
	return state;
}

static pg_noinline IntState *
make_state(FunctionCallInfo fcinfo, GpuaggKind kind, bool moments)
{
	bool window;
	MemoryContext context = gpuagg_aggregate_context(fcinfo, &window);

	gpuagg_begin(fcinfo->flinfo);
	return make_state_in(context, window, kind, moments);
}

static inline IntState *
state_of(FunctionCallInfo fcinfo, GpuaggKind kind, bool moments)
{
	return PG_ARGISNULL(0) ? make_state(fcinfo, kind, moments) : (IntState *) PG_GETARG_POINTER(0);
}

static pg_attribute_always_inline void
store(void *place, int64 value, GpuaggKind kind)
{
	if (kind == GPUAGG_INT32)
		*(int32 *) place = (int32) value;
	else
		*(int64 *) place = value;
}

/* Takes a value, or nothing when it is NULL, in whatever condition the state is. */
static pg_attribute_always_inline Datum
deposit(FunctionCallInfo fcinfo, int64 value, GpuaggKind kind, bool moments)
{
	IntState *state = state_of(fcinfo, kind, moments);
	void *place;

	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(state);
	place = gpuagg_group_reduction_place(fcinfo, &state->reduction, state->acc.n, kind,
										 moments ? GPUAGG_MOMENTS : GPUAGG_SUM);
	if (place == NULL)
	{
		gpuagg_int_sum_add(&state->acc, value, moments);
		gpuagg_group_reduction_report(&state->reduction, (int) state->width);
	}
	else
		store(place, value, kind);
	PG_RETURN_POINTER(state);
}

/* Ends the group's batch, so that the state itself holds every row. */
static void
gather(IntState *state)
{
	const GpuaggReduced *total = gpuagg_group_reduction_gather(&state->reduction, state->acc.n,
															   (int) state->width);

	if (total != NULL)
	{
		GpuaggIntSum batch = {.n = (int64) total->n, .sum = total->sum};

		memcpy(batch.squares, total->squares, sizeof(batch.squares));
		gpuagg_int_sum_merge(&state->acc, &batch);
	}
}

#define DEFINE_TRANSITION(name, getarg, kind, moments)                          \
	static pg_noinline Datum name##_slowly(FunctionCallInfo fcinfo)             \
	{                                                                           \
		return deposit(fcinfo, getarg(1), kind, moments);                       \
	}                                                                           \
                                                                                \
	Datum gpuagg_##name(PG_FUNCTION_ARGS)                                       \
	{                                                                           \
		if (likely(!PG_ARGISNULL(0) && !PG_ARGISNULL(1)))                       \
		{                                                                       \
			IntState *state = (IntState *) PG_GETARG_POINTER(0);                \
			void *place = gpuagg_group_reduction_room(&state->reduction, kind); \
                                                                                \
			if (likely(place != NULL))                                          \
			{                                                                   \
				store(place, getarg(1), kind);                                  \
				PG_RETURN_POINTER(state);                                       \
			}                                                                   \
		}                                                                       \
		return name##_slowly(fcinfo);                                           \
	}                                                                           \
                                                                                \
	Datum gpuagg_##name##_inv(PG_FUNCTION_ARGS)                                 \
	{                                                                           \
		IntState *state = state_of(fcinfo, kind, moments);                      \
                                                                                \
		if (!PG_ARGISNULL(1))                                                   \
			gpuagg_int_sum_remove(&state->acc, getarg(1), moments);             \
		PG_RETURN_POINTER(state);                                               \
	}

DEFINE_TRANSITION(int2_accum, PG_GETARG_INT16, GPUAGG_INT32, false)
DEFINE_TRANSITION(int4_accum, PG_GETARG_INT32, GPUAGG_INT32, false)
DEFINE_TRANSITION(int8_accum, PG_GETARG_INT64, GPUAGG_INT64, false)
DEFINE_TRANSITION(int2_moments, PG_GETARG_INT16, GPUAGG_INT32, true)
DEFINE_TRANSITION(int4_moments, PG_GETARG_INT32, GPUAGG_INT32, true)
DEFINE_TRANSITION(int8_moments, PG_GETARG_INT64, GPUAGG_INT64, true)

static void *
family_make(MemoryContext context, bool moments)
{
	return make_state_in(context, true, GPUAGG_INT64, moments); /* its rows are reported */
}

static bool
family_moments(const void *state)
{
	return ((const IntState *) state)->acc.moments;
}

static int64
family_count(const void *state)
{
	return ((const IntState *) state)->acc.n;
}

static void
family_gather(void *state)
{
	gather(state);
}

static void
family_merge(void *into, void *from)
{
	gpuagg_int_sum_merge(&((IntState *) into)->acc, &((IntState *) from)->acc);
}

static void
family_encode(void *state, StringInfo buf)
{
	enlargeStringInfo(buf, GPUAGG_INT_MAX_BYTES);
	buf->len += gpuagg_int_encode(&((IntState *) state)->acc, (uint8_t *) buf->data + buf->len);
}

static void *
family_decode(GpuaggReader *reader)
{
	IntState *state = make_state_in(CurrentMemoryContext, true, GPUAGG_INT64, true);

	return gpuagg_int_decode(reader, &state->acc) ? state : NULL;
}

static Datum
family_sum(void *state, GpuaggStateType type, bool *isnull)
{
	const GpuaggIntSum *acc = &((IntState *) state)->acc;

	*isnull = acc->n == 0;
	if (*isnull)
		return (Datum) 0;
	switch (type)
	{
		case GPUAGG_STATE_INT8:
			return NumericGetDatum(gpuagg_int128_to_numeric(acc->sum));
		case GPUAGG_STATE_MONEY:
			return gpuagg_money_value(acc->sum);
		default:
			return Int64GetDatum(gpuagg_int64_value(acc->sum));
	}
}

static Datum
family_average(void *state, bool *isnull)
{
	const GpuaggIntSum *acc = &((IntState *) state)->acc;

	*isnull = acc->n == 0;
	return *isnull ? (Datum) 0 : gpuagg_int_average(acc->n, acc->sum);
}

static Datum
family_variance(void *state, bool sample, bool root, bool *isnull)
{
	return gpuagg_int_variance(&((IntState *) state)->acc, sample, root, isnull);
}

const StateFamily gpuagg_int_family = {
	.tag = 'i',
	.begin = gpuagg_begin,
	.make = family_make,
	.moments = family_moments,
	.count = family_count,
	.gather = family_gather,
	.merge = family_merge,
	.encode = family_encode,
	.decode = family_decode,
	.sum = family_sum,
	.average = family_average,
	.variance = family_variance,
};

DEFINE_FAMILY_FUNCTIONS(int)
DEFINE_FAMILY_VARIANCES(int)
DEFINE_FAMILY_SUM(int, sum_int8, GPUAGG_STATE_INT4)
DEFINE_FAMILY_SUM(int, sum_numeric, GPUAGG_STATE_INT8)
DEFINE_FAMILY_SUM(int, sum_money, GPUAGG_STATE_MONEY)
