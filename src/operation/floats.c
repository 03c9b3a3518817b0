/*
 * floats.c
 *	  Aggregates over float4 and float8: exact sums and squares, rounded once at
 *	  the end.
 *
 * gpu_sum and gpu_avg share one state; the variances and standard deviations
 * share another, with squares.  As in integers.c, a large group's rows go
 * through a batch.  float4 values are exact doubles; only the last rounding of
 * their sum differs.
 */
#include "postgres.h"

#include "common/float_codec.h"
#include "types/value.h"
#include "operation/group_reduction.h"
#include "operation/family.h"
#include "operation/float_state.h"
#include "operation/call.h"
#include "device/stat.h"

PG_FUNCTION_INFO_V1(gpuagg_float4_accum);
PG_FUNCTION_INFO_V1(gpuagg_float8_accum);
PG_FUNCTION_INFO_V1(gpuagg_float4_accum_inv);
PG_FUNCTION_INFO_V1(gpuagg_float8_accum_inv);
PG_FUNCTION_INFO_V1(gpuagg_float4_moments);
PG_FUNCTION_INFO_V1(gpuagg_float8_moments);
PG_FUNCTION_INFO_V1(gpuagg_float4_moments_inv);
PG_FUNCTION_INFO_V1(gpuagg_float8_moments_inv);

/* 128 bytes without squares, 256 with: sizes that memory contexts do not round up. */
typedef struct FloatState
{
	GroupReduction reduction;
	GrowingSum sum;
	int64 moments; /* 1: with squares */
	GrowingSquares squares;
} FloatState;

#define STATE_SIZE(moments) ((moments) ? sizeof(FloatState) : offsetof(FloatState, squares))

StaticAssertDecl(STATE_SIZE(false) <= 128 && STATE_SIZE(true) <= 256,
				 "a group's state must stay small");

/* window: it opens no batch and has no rows to report. */
static FloatState *
make_state_in(MemoryContext context, bool window, bool moments)
{
	FloatState *state = MemoryContextAlloc(context, STATE_SIZE(moments));

	gpuagg_group_reduction_init(&state->reduction, window);
	gpuagg_growing_sum_init(&state->sum);
	state->moments = moments;
	if (moments)
		gpuagg_growing_squares_init(&state->squares);
	return state;
}

static pg_noinline FloatState *
make_state(FunctionCallInfo fcinfo, bool moments)
{
	bool window;
	MemoryContext context = gpuagg_aggregate_context(fcinfo, &window);

	gpuagg_begin(fcinfo->flinfo);
	return make_state_in(context, window, moments);
}

static inline FloatState *
state_of(FunctionCallInfo fcinfo, bool moments)
{
	return PG_ARGISNULL(0) ? make_state(fcinfo, moments) : (FloatState *) PG_GETARG_POINTER(0);
}

/* Takes a value into the state itself, or with sign -1 out of it again. */
static pg_noinline void
deposit_directly(FloatState *state, double value, int sign)
{
	gpuagg_growing_sum_deposit(&state->sum, state, value, sign);
	if (state->moments)
		gpuagg_growing_squares_deposit(&state->squares, state, value, sign);
	if (sign > 0)
		gpuagg_group_reduction_report(&state->reduction, sizeof(double));
}

static inline void
deposit(FunctionCallInfo fcinfo, FloatState *state, double value, bool moments)
{
	double *place = gpuagg_group_reduction_place(fcinfo, &state->reduction,
												 state->sum.acc->counts.n, GPUAGG_FLOAT64,
												 moments ? GPUAGG_MOMENTS : GPUAGG_SUM);

	if (place == NULL)
		deposit_directly(state, value, 1);
	else
		*place = value;
}

/* Adds the sums, and the squares when the state has them, of propagated accumulators. */
static void
merge(FloatState *state, const GpuaggFloatSum *sum, const GpuaggFloatSum *squares)
{
	gpuagg_growing_sum_merge(&state->sum, state, sum);
	if (state->moments)
		gpuagg_growing_squares_merge(&state->squares, state, squares);
}

/* Ends the group's batch, so that the state itself holds every row. */
static void
gather(FloatState *state)
{
	const GpuaggReduced *total =
		gpuagg_group_reduction_gather(&state->reduction, state->sum.acc->counts.n, sizeof(double));
	GpuaggFloatSquaresFull squares;

	if (total == NULL)
		return;
	if (state->moments)
	{
		gpuagg_float_sum_init(gpuagg_float_squares_of(&squares), 0, GPUAGG_SQUARE_CHUNKS);
		memcpy(squares.chunk, total->f_squares, sizeof(squares.chunk));
	}
	merge(state, (const GpuaggFloatSum *) &total->f, gpuagg_float_squares_of(&squares));
}

#define DEFINE_TRANSITION(name, getarg, moments)                                            \
	static pg_noinline Datum name##_slowly(FunctionCallInfo fcinfo)                         \
	{                                                                                       \
		FloatState *state = state_of(fcinfo, moments);                                      \
                                                                                            \
		if (!PG_ARGISNULL(1))                                                               \
			deposit(fcinfo, state, (double) getarg(1), moments);                            \
		PG_RETURN_POINTER(state);                                                           \
	}                                                                                       \
                                                                                            \
	Datum gpuagg_##name(PG_FUNCTION_ARGS)                                                   \
	{                                                                                       \
		if (likely(!PG_ARGISNULL(0) && !PG_ARGISNULL(1)))                                   \
		{                                                                                   \
			FloatState *state = (FloatState *) PG_GETARG_POINTER(0);                        \
			double *place = gpuagg_group_reduction_room(&state->reduction, GPUAGG_FLOAT64); \
                                                                                            \
			if (likely(place != NULL))                                                      \
			{                                                                               \
				*place = (double) getarg(1);                                                \
				PG_RETURN_POINTER(state);                                                   \
			}                                                                               \
		}                                                                                   \
		return name##_slowly(fcinfo);                                                       \
	}                                                                                       \
                                                                                            \
	Datum gpuagg_##name##_inv(PG_FUNCTION_ARGS)                                             \
	{                                                                                       \
		FloatState *state = state_of(fcinfo, moments);                                      \
                                                                                            \
		if (!PG_ARGISNULL(1))                                                               \
			deposit_directly(state, (double) getarg(1), -1);                                \
		PG_RETURN_POINTER(state);                                                           \
	}

DEFINE_TRANSITION(float4_accum, PG_GETARG_FLOAT4, false)
DEFINE_TRANSITION(float8_accum, PG_GETARG_FLOAT8, false)
DEFINE_TRANSITION(float4_moments, PG_GETARG_FLOAT4, true)
DEFINE_TRANSITION(float8_moments, PG_GETARG_FLOAT8, true)

static void *
family_make(MemoryContext context, bool moments)
{
	return make_state_in(context, true, moments); /* its rows are reported */
}

static bool
family_moments(const void *state)
{
	return ((const FloatState *) state)->moments;
}

static int64
family_count(const void *state)
{
	return ((const FloatState *) state)->sum.acc->counts.n;
}

static void
family_gather(void *state)
{
	gather(state);
}

static void
family_merge(void *into, void *from)
{
	FloatState *other = from;

	gpuagg_float_sum_propagate(other->sum.acc);
	if (other->moments)
		gpuagg_float_sum_propagate(other->squares.acc);
	merge(into, other->sum.acc, other->moments ? other->squares.acc : NULL);
}

static void
family_encode(void *state, StringInfo buf)
{
	FloatState *s = state;

	enlargeStringInfo(buf, GPUAGG_FLOAT_MAX_BYTES);
	buf->len += gpuagg_float_encode(s->sum.acc, s->moments ? s->squares.acc : NULL,
									(uint8_t *) buf->data + buf->len);
}

static void *
family_decode(GpuaggReader *reader)
{
	FloatState *state;
	GpuaggFloatMoments read;

	if (!gpuagg_float_decode(reader, &read))
		return NULL;
	state = make_state_in(CurrentMemoryContext, true, read.moments);
	merge(state, gpuagg_float_sum_of(&read.sum), gpuagg_float_squares_of(&read.squares));
	return state;
}

static Datum
family_sum(void *state, GpuaggStateType type, bool *isnull)
{
	return gpuagg_float_value(type == GPUAGG_STATE_FLOAT4 ? GPUAGG_FLOAT32 : GPUAGG_FLOAT64,
							  ((FloatState *) state)->sum.acc, isnull);
}

static Datum
family_average(void *state, bool *isnull)
{
	return gpuagg_float_average_value(((FloatState *) state)->sum.acc, isnull);
}

static Datum
family_variance(void *state, bool sample, bool root, bool *isnull)
{
	FloatState *s = state;

	return gpuagg_float_variance_value(s->sum.acc, s->squares.acc, sample, root, isnull);
}

const StateFamily gpuagg_float_family = {
	.tag = 'f',
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

DEFINE_FAMILY_FUNCTIONS(float)
DEFINE_FAMILY_VARIANCES(float)
DEFINE_FAMILY_SUM(float, sum_float4, GPUAGG_STATE_FLOAT4)
DEFINE_FAMILY_SUM(float, sum_float8, GPUAGG_STATE_FLOAT8)
