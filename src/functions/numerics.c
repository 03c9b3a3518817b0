/*
 * numerics.c
 *	  Transitions of aggregates over numeric.
 *
 * Values of a large group that are 64-bit integers at the state's scale go to its
 * reduction (group_reduction.h); a value that asks for another scale ends that, and
 * later ones have another.  All others are the accumulator's.
 */
#include "compat.h"

#include "functions/aggregate_group.h"
#include "operation/accumulators.h"
#include "operation/numeric_read.h"

#define VALUE_BYTES ((int) sizeof(int64)) /* as the statistics count a row */

static GpuaggDecimalSum *
sums_of(AggregateGroup *group)
{
	return &((NumericAccumulator *) &group->acc)->sums;
}

/* Any value whatever.  Values in a reduction have the scale that the sums had with them. */
static pg_noinline void
deposit_slowly(AggregateGroup *group, Datum value)
{
	GpuaggDecimalSum *sums = sums_of(group);
	Size size;
	const char *data = gpuagg_numeric_in_place(value, &size);
	GpuaggDecimal x;

	if (data == NULL)
	{
		Datum whole = PointerGetDatum(PG_DETOAST_DATUM(value));

		deposit_slowly(group, whole);
		pfree(DatumGetPointer(whole));
		return;
	}
	if (group->reduction.reduction != NULL &&
		gpuagg_numeric_read(data, size, &x) == GPUAGG_DECIMAL_FINITE &&
		gpuagg_decimal_groups_for(sums, &x) != sums->groups)
	{
		gpuagg_group_gather(group);
		gpuagg_group_reduction_init(&group->reduction, false);
	}
	gpuagg_numeric_family.deposit(&group->acc, group, SQL_OPAQUE, value);
	gpuagg_group_reduction_report(&group->reduction, VALUE_BYTES);
}

static pg_attribute_always_inline Datum
transition(FunctionCallInfo fcinfo, GpuaggOp op)
{
	AggregateGroup *group = gpuagg_group_of(fcinfo, SQL_FAMILY_NUMERIC, op, GPUAGG_INT64);
	GpuaggDecimalSum *sums = sums_of(group);
	Datum value = PG_GETARG_DATUM(1);
	Size size;
	const char *data;
	GpuaggDecimal x;
	int64 fast;
	int64 *place;

	if (PG_ARGISNULL(1))
	{
		gpuagg_stat_null();
		PG_RETURN_POINTER(group);
	}
	data = gpuagg_numeric_in_place(value, &size);
	if (unlikely(data == NULL || sums->n_scale == 0 ||
				 gpuagg_numeric_read(data, size, &x) != GPUAGG_DECIMAL_FINITE ||
				 !gpuagg_decimal_int64(&x, sums->groups, &fast)))
	{
		deposit_slowly(group, value);
		PG_RETURN_POINTER(group);
	}
	place = gpuagg_group_reduction_place(fcinfo, &group->reduction,
										 sums->fast.n - (int64) group->acc.reported, GPUAGG_INT64,
										 op);
	if (place == NULL)
	{
		gpuagg_int_sum_add(&sums->fast, fast, op == GPUAGG_MOMENTS);
		gpuagg_group_reduction_report(&group->reduction, VALUE_BYTES);
	}
	else
		*place = fast;
	gpuagg_decimal_add_scale(sums, x.scale, 1);
	PG_RETURN_POINTER(group);
}

DEFINE_FUNCTION(gpuagg_numeric_accum, transition(fcinfo, GPUAGG_SUM))
DEFINE_FUNCTION(gpuagg_numeric_moments, transition(fcinfo, GPUAGG_MOMENTS))
DEFINE_FUNCTION(gpuagg_numeric_accum_inv, gpuagg_group_remove(fcinfo, SQL_FAMILY_NUMERIC,
															  GPUAGG_SUM, GPUAGG_INT64, SQL_OPAQUE))
DEFINE_FUNCTION(gpuagg_numeric_moments_inv,
				gpuagg_group_remove(fcinfo, SQL_FAMILY_NUMERIC, GPUAGG_MOMENTS, GPUAGG_INT64,
									SQL_OPAQUE))
