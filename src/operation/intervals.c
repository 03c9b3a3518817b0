/*
 * intervals.c
 *	  gpu_sum and gpu_avg over intervals, on the CPU.
 */
#include "postgres.h"

#include "datatype/timestamp.h"

#include "operation/family.h"
#include "operation/call.h"
#include "operation/interval_state.h"
#include "device/stat.h"

PG_FUNCTION_INFO_V1(gpuagg_interval_accum);
PG_FUNCTION_INFO_V1(gpuagg_interval_accum_inv);

static pg_noinline IntervalState *
make_state(FunctionCallInfo fcinfo)
{
	bool window;

	gpuagg_begin_report(fcinfo->flinfo);
	return gpuagg_interval_state_make(gpuagg_aggregate_context(fcinfo, &window));
}

static inline IntervalState *
state_of(FunctionCallInfo fcinfo)
{
	return PG_ARGISNULL(0) ? make_state(fcinfo) : (IntervalState *) PG_GETARG_POINTER(0);
}

Datum
gpuagg_interval_accum(PG_FUNCTION_ARGS)
{
	IntervalState *state = state_of(fcinfo);

	if (!PG_ARGISNULL(1))
	{
		gpuagg_interval_state_add(state, PG_GETARG_DATUM(1));
		gpuagg_stat_direct(1, sizeof(Interval));
	}
	PG_RETURN_POINTER(state);
}

Datum
gpuagg_interval_accum_inv(PG_FUNCTION_ARGS)
{
	IntervalState *state = state_of(fcinfo);

	if (!PG_ARGISNULL(1))
		gpuagg_interval_state_remove(state, PG_GETARG_DATUM(1));
	PG_RETURN_POINTER(state);
}

static void *
family_make(MemoryContext context, bool moments)
{
	return gpuagg_interval_state_make(context);
}

static bool
family_moments(const void *state)
{
	return false;
}

static int64
family_count(const void *state)
{
	return ((const IntervalState *) state)->n;
}

static void
family_gather(void *state)
{
}

static void
family_merge(void *into, void *from)
{
	gpuagg_interval_sum_merge(into, from);
}

static void
family_encode(void *state, StringInfo buf)
{
	enlargeStringInfo(buf, GPUAGG_INTERVAL_MAX_BYTES);
	buf->len += gpuagg_interval_encode(state, (uint8_t *) buf->data + buf->len);
}

static void *
family_decode(GpuaggReader *reader)
{
	IntervalState *state = gpuagg_interval_state_make(CurrentMemoryContext);

	return gpuagg_interval_decode(reader, state) ? state : NULL;
}

static Datum
family_sum(void *state, GpuaggStateType type, bool *isnull)
{
	return gpuagg_interval_state_sum(state, isnull);
}

static Datum
family_average(void *state, bool *isnull)
{
	return gpuagg_interval_state_avg(state, isnull);
}

const StateFamily gpuagg_interval_family = {
	.tag = 't',
	.begin = gpuagg_begin_report,
	.make = family_make,
	.moments = family_moments,
	.count = family_count,
	.gather = family_gather,
	.merge = family_merge,
	.encode = family_encode,
	.decode = family_decode,
	.sum = family_sum,
	.average = family_average,
};

DEFINE_FAMILY_FUNCTIONS(interval)
DEFINE_FAMILY_SUM(interval, sum, GPUAGG_STATE_INTERVAL)
