/*
 * numerics.c
 *	  Aggregates over numeric: exact sums, and squares.
 *
 * gpu_sum and gpu_avg share one state; the variances and standard deviations
 * share another, with squares.  A group starts as this small state.  Once it is
 * large, those of its values that are 64-bit integers at the state's scale go to
 * a batch (group_reduction.h); a value that asks for another scale ends that batch, and
 * later ones have another.  All others are the state's.
 */
#include "compat.h"

#include "operation/group_reduction.h"
#include "operation/family.h"
#include "operation/call.h"
#include "operation/numeric_read.h"
#include "operation/numeric_state.h"
#include "device/stat.h"

PG_FUNCTION_INFO_V1(gpuagg_numeric_accum);
PG_FUNCTION_INFO_V1(gpuagg_numeric_accum_inv);
PG_FUNCTION_INFO_V1(gpuagg_numeric_moments);
PG_FUNCTION_INFO_V1(gpuagg_numeric_moments_inv);

#define VALUE_BYTES ((int) sizeof(int64)) /* as the statistics count a row */

typedef struct NumericAggregate
{
	GroupReduction reduction;
	int64 n_reported;  /* of sums.fast.n */
	NumericState sums; /* last, as its squares may be missing */
} NumericAggregate;

#define STATE_SIZE(moments) (offsetof(NumericAggregate, sums) + GPUAGG_DECIMAL_SUM_SIZE(moments))

StaticAssertDecl(STATE_SIZE(true) <= 128, "a group's state must stay small");

static NumericAggregate *
make_state_in(MemoryContext context, bool window, bool moments)
{
	NumericAggregate *state = MemoryContextAllocZero(context, STATE_SIZE(moments));

	gpuagg_group_reduction_init(&state->reduction, window);
	gpuagg_numeric_state_init(&state->sums, context, moments);
	return state;
}

static pg_noinline NumericAggregate *
make_state(FunctionCallInfo fcinfo, bool moments)
{
	bool window;
	MemoryContext context = gpuagg_aggregate_context(fcinfo, &window);

	gpuagg_begin(fcinfo->flinfo);
	return make_state_in(context, window, moments);
}

static inline NumericAggregate *
state_of(FunctionCallInfo fcinfo, bool moments)
{
	return PG_ARGISNULL(0) ? make_state(fcinfo, moments)
						   : (NumericAggregate *) PG_GETARG_POINTER(0);
}

/* Ends the group's batch, so that the state itself holds every row. */
static void
gather(NumericAggregate *state)
{
	GpuaggIntSum *fast = &state->sums.fast;
	const GpuaggReduced *total =
		gpuagg_group_reduction_gather(&state->reduction, fast->n - state->n_reported, VALUE_BYTES);

	if (total != NULL)
	{
		GpuaggIntSum batch = {.n = (int64) total->n, .sum = total->sum};

		memcpy(batch.squares, total->squares, sizeof(batch.squares));
		gpuagg_decimal_add_fast(&state->sums, &batch);
	}
	state->n_reported = fast->n;
}

/* Makes the state's scale one that suits x.  The values in a batch have the scale it had. */
static void
suit_scale(NumericAggregate *state, const GpuaggDecimal *x)
{
	int groups = gpuagg_decimal_groups_for(&state->sums, x);

	if (groups == state->sums.groups)
		return;
	if (state->reduction.reduction != NULL)
	{
		gather(state);
		gpuagg_group_reduction_init(&state->reduction, false);
	}
	gpuagg_decimal_rescale(&state->sums, groups);
}

/* Any value whatever. */
static pg_noinline void
deposit_slowly(NumericAggregate *state, Datum value)
{
	Size size;
	const char *data = gpuagg_numeric_in_place(value, &size);
	GpuaggDecimalSpecial special;
	GpuaggDecimal x;

	if (data == NULL)
	{
		Datum whole = PointerGetDatum(PG_DETOAST_DATUM(value));

		deposit_slowly(state, whole);
		pfree(DatumGetPointer(whole));
		return;
	}
	special = gpuagg_numeric_read(data, size, &x);
	if (special != GPUAGG_DECIMAL_FINITE)
	{
		gpuagg_decimal_special(&state->sums, special, 1);
		gpuagg_stat_direct(1, VALUE_BYTES);
		return;
	}
	suit_scale(state, &x);
	gpuagg_decimal_add(&state->sums, &x);
	gpuagg_group_reduction_report(&state->reduction, VALUE_BYTES);
}

static pg_attribute_always_inline void
deposit(FunctionCallInfo fcinfo, NumericAggregate *state, Datum value, bool moments)
{
	NumericState *sums = &state->sums;
	Size size;
	const char *data = gpuagg_numeric_in_place(value, &size);
	GpuaggDecimal x;
	int64 fast;
	int64 *place;

	if (unlikely(data == NULL || sums->n_scale == 0 ||
				 gpuagg_numeric_read(data, size, &x) != GPUAGG_DECIMAL_FINITE ||
				 !gpuagg_decimal_int64(&x, sums->groups, &fast)))
	{
		deposit_slowly(state, value);
		return;
	}
	place = gpuagg_group_reduction_place(fcinfo, &state->reduction,
										 sums->fast.n - state->n_reported, GPUAGG_INT64,
										 moments ? GPUAGG_MOMENTS : GPUAGG_SUM);
	if (place == NULL)
	{
		gpuagg_int_sum_add(&sums->fast, fast, moments);
		gpuagg_group_reduction_report(&state->reduction, VALUE_BYTES);
	}
	else
		*place = fast;
	gpuagg_decimal_add_scale(sums, x.scale);
}

#define DEFINE_TRANSITION(name, moments)                                                        \
	Datum gpuagg_numeric_##name(PG_FUNCTION_ARGS)                                               \
	{                                                                                           \
		NumericAggregate *state = state_of(fcinfo, moments);                                    \
                                                                                                \
		if (!PG_ARGISNULL(1))                                                                   \
			deposit(fcinfo, state, PG_GETARG_DATUM(1), moments);                                \
		PG_RETURN_POINTER(state);                                                               \
	}                                                                                           \
                                                                                                \
	/* NULL: cannot, and core starts the frame anew */                                          \
	Datum gpuagg_numeric_##name##_inv(PG_FUNCTION_ARGS)                                         \
	{                                                                                           \
		NumericAggregate *state = state_of(fcinfo, moments);                                    \
                                                                                                \
		if (!PG_ARGISNULL(1) && !gpuagg_numeric_state_remove(&state->sums, PG_GETARG_DATUM(1))) \
			PG_RETURN_NULL();                                                                   \
		PG_RETURN_POINTER(state);                                                               \
	}

DEFINE_TRANSITION(accum, false)
DEFINE_TRANSITION(moments, true)

static void *
family_make(MemoryContext context, bool moments)
{
	return make_state_in(context, true, moments); /* its rows are reported */
}

static bool
family_moments(const void *state)
{
	return ((const NumericAggregate *) state)->sums.fast.moments;
}

static int64
family_count(const void *state)
{
	return gpuagg_decimal_count(&((const NumericAggregate *) state)->sums);
}

static void
family_gather(void *state)
{
	gather(state);
}

static void
family_merge(void *into, void *from)
{
	gpuagg_decimal_merge(&((NumericAggregate *) into)->sums, &((NumericAggregate *) from)->sums);
}

static void
family_encode(void *state, StringInfo buf)
{
	NumericState *sums = &((NumericAggregate *) state)->sums;

	enlargeStringInfo(buf, (int) gpuagg_decimal_encoded_bytes(sums));
	buf->len += (int) gpuagg_decimal_encode(sums, (uint8_t *) buf->data + buf->len);
}

static void *
family_decode(GpuaggReader *reader)
{
	NumericAggregate *state = make_state_in(CurrentMemoryContext, true, true);

	return gpuagg_decimal_decode(reader, &state->sums) ? state : NULL;
}

static Datum
family_sum(void *state, GpuaggStateType type, bool *isnull)
{
	return gpuagg_numeric_state_sum(&((NumericAggregate *) state)->sums, isnull);
}

static Datum
family_average(void *state, bool *isnull)
{
	return gpuagg_numeric_state_avg(&((NumericAggregate *) state)->sums, isnull);
}

static Datum
family_variance(void *state, bool sample, bool root, bool *isnull)
{
	return gpuagg_numeric_state_variance(&((NumericAggregate *) state)->sums, sample, root, isnull);
}

const StateFamily gpuagg_numeric_family = {
	.tag = 'n',
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

DEFINE_FAMILY_FUNCTIONS(numeric)
DEFINE_FAMILY_VARIANCES(numeric)
DEFINE_FAMILY_SUM(numeric, sum, GPUAGG_STATE_NUMERIC)
