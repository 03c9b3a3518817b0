/*
 * aggregates.c
 *	  The functions that aggregates consist of, but for transitions of numerics.
 *
 * Types share code by how their values lie: money is a bigint to all but its final
 * function, dates are integers.  A group starts as a small state and goes on in a
 * reduction once it is large (group_reduction.h); a transition function tries that
 * first, calling nothing, and leaves the rest to another one.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "engine/cpu.h"
#include "functions/aggregate_group.h"
#include "operation/accumulators.h"
#include "operation/call.h"

/* ---- transitions ---- */

/*
 * Of accumulators of a Type, whose values go to a reduction as ctype; acc->count:
 * the values taken; take: the statement that takes `value` into `acc`.
 */
#define DEFINE_TRANSITION(name, family, op, kind, ctype, getarg, Type, count, take)            \
	static pg_noinline Datum name##_slowly(FunctionCallInfo fcinfo)                            \
	{                                                                                          \
		AggregateGroup *group = gpuagg_group_of(fcinfo, family, op, kind);                     \
		Type *acc = (Type *) &group->acc;                                                      \
		ctype *place;                                                                          \
		ctype value;                                                                           \
                                                                                               \
		if (PG_ARGISNULL(1))                                                                   \
		{                                                                                      \
			gpuagg_stat_null();                                                                \
			PG_RETURN_POINTER(group);                                                          \
		}                                                                                      \
		value = getarg(1);                                                                     \
		place = gpuagg_group_reduction_place(fcinfo, &group->reduction, acc->count, kind, op); \
		if (place == NULL)                                                                     \
		{                                                                                      \
			take;                                                                              \
			gpuagg_group_reduction_report(&group->reduction, (int) sizeof(ctype));             \
		}                                                                                      \
		else                                                                                   \
			*place = value;                                                                    \
		PG_RETURN_POINTER(group);                                                              \
	}                                                                                          \
                                                                                               \
	PG_FUNCTION_INFO_V1(gpuagg_##name);                                                        \
                                                                                               \
	Datum gpuagg_##name(PG_FUNCTION_ARGS)                                                      \
	{                                                                                          \
		if (likely(!PG_ARGISNULL(0) && !PG_ARGISNULL(1)))                                      \
		{                                                                                      \
			AggregateGroup *group = (AggregateGroup *) PG_GETARG_POINTER(0);                   \
			ctype *place = gpuagg_group_reduction_room(&group->reduction, kind);               \
                                                                                               \
			if (likely(place != NULL))                                                         \
			{                                                                                  \
				*place = getarg(1);                                                            \
				PG_RETURN_POINTER(group);                                                      \
			}                                                                                  \
		}                                                                                      \
		return name##_slowly(fcinfo);                                                          \
	}

static pg_noinline void
take_float(FloatAccumulator *acc, void *owner, double value)
{
	gpuagg_float_take(acc, owner, value, 1);
}

#define DEFINE_INT(name, op, kind, ctype, getarg, form)                                     \
	DEFINE_TRANSITION(name, SQL_FAMILY_INT, op, kind, ctype, getarg, IntAccumulator, sum.n, \
					  gpuagg_int_sum_add(&acc->sum, value, op == GPUAGG_MOMENTS))           \
	DEFINE_FUNCTION(gpuagg_##name##_inv,                                                    \
					gpuagg_group_remove(fcinfo, SQL_FAMILY_INT, op, kind, form))

#define DEFINE_FLOAT(name, op, getarg, form)                                               \
	DEFINE_TRANSITION(name, SQL_FAMILY_FLOAT, op, GPUAGG_FLOAT64, double, (double) getarg, \
					  FloatAccumulator, sum->counts.n, take_float(acc, group, value))      \
	DEFINE_FUNCTION(gpuagg_##name##_inv,                                                   \
					gpuagg_group_remove(fcinfo, SQL_FAMILY_FLOAT, op, GPUAGG_FLOAT64, form))

#define DEFINE_KEY(name, op, kind, ctype, getarg)                                       \
	DEFINE_TRANSITION(name, SQL_FAMILY_KEY, op, kind, ctype, getarg, KeyAccumulator, n, \
					  gpuagg_key_take(acc, op, gpuagg_key_at(kind, &value, 0), 1))

#define DEFINE_EXTREMES(type, kind, ctype, getarg)          \
	DEFINE_KEY(type##_min, GPUAGG_MIN, kind, ctype, getarg) \
	DEFINE_KEY(type##_max, GPUAGG_MAX, kind, ctype, getarg)

DEFINE_INT(int2_accum, GPUAGG_SUM, GPUAGG_INT32, int32, PG_GETARG_INT16, SQL_INT16)
DEFINE_INT(int4_accum, GPUAGG_SUM, GPUAGG_INT32, int32, PG_GETARG_INT32, SQL_INT32)
DEFINE_INT(int8_accum, GPUAGG_SUM, GPUAGG_INT64, int64, PG_GETARG_INT64, SQL_INT64)
DEFINE_INT(int2_moments, GPUAGG_MOMENTS, GPUAGG_INT32, int32, PG_GETARG_INT16, SQL_INT16)
DEFINE_INT(int4_moments, GPUAGG_MOMENTS, GPUAGG_INT32, int32, PG_GETARG_INT32, SQL_INT32)
DEFINE_INT(int8_moments, GPUAGG_MOMENTS, GPUAGG_INT64, int64, PG_GETARG_INT64, SQL_INT64)

/* float4 values are exact doubles */
DEFINE_FLOAT(float4_accum, GPUAGG_SUM, PG_GETARG_FLOAT4, SQL_FLOAT32)
DEFINE_FLOAT(float8_accum, GPUAGG_SUM, PG_GETARG_FLOAT8, SQL_FLOAT64)
DEFINE_FLOAT(float4_moments, GPUAGG_MOMENTS, PG_GETARG_FLOAT4, SQL_FLOAT32)
DEFINE_FLOAT(float8_moments, GPUAGG_MOMENTS, PG_GETARG_FLOAT8, SQL_FLOAT64)

DEFINE_EXTREMES(int2, GPUAGG_INT32, int32, PG_GETARG_INT16)
DEFINE_EXTREMES(int4, GPUAGG_INT32, int32, PG_GETARG_INT32)
DEFINE_EXTREMES(int8, GPUAGG_INT64, int64, PG_GETARG_INT64)
DEFINE_EXTREMES(float4, GPUAGG_FLOAT32, float4, PG_GETARG_FLOAT4)
DEFINE_EXTREMES(float8, GPUAGG_FLOAT64, float8, PG_GETARG_FLOAT8)

static Datum
accumulate_interval(FunctionCallInfo fcinfo)
{
	AggregateGroup *group = gpuagg_group_of(fcinfo, SQL_FAMILY_INTERVAL, GPUAGG_SUM, 0);

	if (!PG_ARGISNULL(1))
	{
		gpuagg_interval_family.deposit(&group->acc, group, SQL_OPAQUE, PG_GETARG_DATUM(1));
		gpuagg_group_reduction_report(&group->reduction, sizeof(Interval));
	}
	else
		gpuagg_stat_null();
	PG_RETURN_POINTER(group);
}

DEFINE_FUNCTION(gpuagg_interval_accum, accumulate_interval(fcinfo))
DEFINE_FUNCTION(gpuagg_interval_accum_inv,
				gpuagg_group_remove(fcinfo, SQL_FAMILY_INTERVAL, GPUAGG_SUM, 0, SQL_OPAQUE))

/* The state is the value so far; transition and combine function are one, of two values. */
static Datum
numeric_extreme(FunctionCallInfo fcinfo, bool least)
{
	Datum state = NumericGetDatum(PG_GETARG_NUMERIC(0));
	Datum value = NumericGetDatum(PG_GETARG_NUMERIC(1));

	return gpuagg_numeric_wins(value, state, least) ? value : state;
}

static Datum
interval_extreme(FunctionCallInfo fcinfo, bool least)
{
	Datum state = PG_GETARG_DATUM(0);
	Datum value = PG_GETARG_DATUM(1);

	return gpuagg_interval_wins(value, state, least) ? value : state;
}

DEFINE_FUNCTION(gpuagg_numeric_min, numeric_extreme(fcinfo, true))
DEFINE_FUNCTION(gpuagg_numeric_max, numeric_extreme(fcinfo, false))
DEFINE_FUNCTION(gpuagg_interval_min, interval_extreme(fcinfo, true))
DEFINE_FUNCTION(gpuagg_interval_max, interval_extreme(fcinfo, false))

/*
 * Core's functions over enums, declared for anyelement, as an aggregate of its own needs
 * them.  They are refused for other types, whose values they would take for OIDs.
 */
static Datum
enum_extreme(FunctionCallInfo fcinfo, PGFunction extreme)
{
	if (fcinfo->flinfo->fn_extra == NULL)
	{
		Oid type = get_fn_expr_argtype(fcinfo->flinfo, 0);

		if (!OidIsValid(type) || !type_is_enum(type))
			ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
							errmsg("type %s is not an enum", format_type_be(type))));
		fcinfo->flinfo->fn_extra = lookup_type_cache(type, 0); /* as the functions do */
	}
	return extreme(fcinfo);
}

DEFINE_FUNCTION(gpuagg_enum_smaller, enum_extreme(fcinfo, enum_smaller))
DEFINE_FUNCTION(gpuagg_enum_larger, enum_extreme(fcinfo, enum_larger))

/* Of records.  Equal ones may differ: as in core, the last of them is taken. */
typedef struct RecordExtreme
{
	FmgrInfo compare;
	Datum value;
} RecordExtreme;

static Datum
record_extreme(FunctionCallInfo fcinfo, bool least)
{
	bool window;
	MemoryContext context = gpuagg_aggregate_context(fcinfo, &window);
	RecordExtreme *state = PG_ARGISNULL(0) ? NULL : (RecordExtreme *) PG_GETARG_POINTER(0);
	Datum value;
	MemoryContext old;

	if (PG_ARGISNULL(1))
	{
		fcinfo->isnull = state == NULL;
		return PointerGetDatum(state);
	}
	value = PointerGetDatum(PG_GETARG_HEAPTUPLEHEADER(1));
	if (state == NULL)
	{
		state = MemoryContextAllocZero(context, sizeof(RecordExtreme));
		fmgr_info_cxt(F_BTRECORDCMP, &state->compare, context);
	}
	else
	{
		int order = DatumGetInt32(
			FunctionCall2Coll(&state->compare, PG_GET_COLLATION(), state->value, value));

		if (least ? order < 0 : order > 0)
			PG_RETURN_POINTER(state);
		pfree(DatumGetPointer(state->value));
	}
	old = MemoryContextSwitchTo(context);
	state->value = datumCopy(value, false, -1);
	MemoryContextSwitchTo(old);
	PG_RETURN_POINTER(state);
}

DEFINE_FUNCTION(gpuagg_record_min, record_extreme(fcinfo, true))
DEFINE_FUNCTION(gpuagg_record_max, record_extreme(fcinfo, false))
DEFINE_FUNCTION(gpuagg_record_extreme, ((RecordExtreme *) PG_GETARG_POINTER(0))->value)

/* ---- states and results ---- */

DEFINE_FUNCTION(gpuagg_state_combine, gpuagg_group_combine(fcinfo))
DEFINE_FUNCTION(gpuagg_state_serialize, gpuagg_group_serialize(fcinfo))
DEFINE_FUNCTION(gpuagg_state_deserialize, gpuagg_group_deserialize(fcinfo))

#define DEFINE_FINAL(name, family, aggregate, result) \
	DEFINE_FUNCTION(gpuagg_##name, gpuagg_group_final(fcinfo, family, aggregate, result))

#define DEFINE_VARIANCES(name, family, result)                            \
	DEFINE_FINAL(name##_var_pop, family, AGGREGATE_VAR_POP, result)       \
	DEFINE_FINAL(name##_var_samp, family, AGGREGATE_VAR_SAMP, result)     \
	DEFINE_FINAL(name##_stddev_pop, family, AGGREGATE_STDDEV_POP, result) \
	DEFINE_FINAL(name##_stddev_samp, family, AGGREGATE_STDDEV_SAMP, result)

DEFINE_FINAL(int_sum_int8, SQL_FAMILY_INT, AGGREGATE_SUM, INT8OID)
DEFINE_FINAL(int_sum_numeric, SQL_FAMILY_INT, AGGREGATE_SUM, NUMERICOID)
DEFINE_FINAL(int_sum_money, SQL_FAMILY_INT, AGGREGATE_SUM, MONEYOID)
DEFINE_FINAL(int_avg, SQL_FAMILY_INT, AGGREGATE_AVG, NUMERICOID)
DEFINE_VARIANCES(int, SQL_FAMILY_INT, NUMERICOID)

DEFINE_FINAL(float_sum_float4, SQL_FAMILY_FLOAT, AGGREGATE_SUM, FLOAT4OID)
DEFINE_FINAL(float_sum_float8, SQL_FAMILY_FLOAT, AGGREGATE_SUM, FLOAT8OID)
DEFINE_FINAL(float_avg, SQL_FAMILY_FLOAT, AGGREGATE_AVG, FLOAT8OID)
DEFINE_VARIANCES(float, SQL_FAMILY_FLOAT, FLOAT8OID)

DEFINE_FINAL(numeric_sum, SQL_FAMILY_NUMERIC, AGGREGATE_SUM, NUMERICOID)
DEFINE_FINAL(numeric_avg, SQL_FAMILY_NUMERIC, AGGREGATE_AVG, NUMERICOID)
DEFINE_VARIANCES(numeric, SQL_FAMILY_NUMERIC, NUMERICOID)

DEFINE_FINAL(interval_sum, SQL_FAMILY_INTERVAL, AGGREGATE_SUM, INTERVALOID)
DEFINE_FINAL(interval_avg, SQL_FAMILY_INTERVAL, AGGREGATE_AVG, INTERVALOID)

/* of minima and maxima of all types: the state knows of what kind its key is */
DEFINE_FINAL(extreme_value, SQL_FAMILY_KEY, AGGREGATE_MIN, InvalidOid)
