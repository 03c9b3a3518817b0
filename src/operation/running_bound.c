/*
 * running_bound.c
 *	  Which values of a running function a comparison with a constant lets pass.
 *
 * Sums of bigints and values of decimals are numerics that engines have as integers: a bound among
 * the numerics becomes one among the integers.
 *
 * An average is a quotient rounded at a scale.  That is not below the scale of these integers, which for
 * averages is at least AVERAGE_PLACES, but for quotients above 10^16, which are far from all bounds.  So
 * it is on no other side of one of them than the quotient, and a row is dropped by its sum and count:
 * where the quotient has reached the next integer that does not pass.
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "operation/running_bound.h"

#define AVERAGE_PLACES 4

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool
is_float(Oid type)
{
	return type == FLOAT4OID || type == FLOAT8OID;
}

static bool
is_time(Oid type)
{
	return type == DATEOID || type == TIMEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

bool
gpuagg_running_bound_exists(const RunningOperation *op, Oid type)
{
	if (op->kind == 0 || op->wide)
		return false;
	if (op->result == NUMERICOID)
		return type == NUMERICOID &&
			   (op->scale >= 0 || (op->op == GPUAGG_SUM && op->kind == GPUAGG_INT64));
	return (is_integer(op->result) && is_integer(type)) ||
		   (is_float(op->result) && is_float(type)) || (is_time(op->result) && op->result == type);
}

static __int128
integer_of(Oid type, Datum value)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
		case DATEOID:
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

/*
 * The integers on both sides of a numeric times 10^scale: equal if it is one itself.  False: it is
 * far out.
 */
static bool
integers_beside(Datum value, int scale, __int128 *below, __int128 *above)
{
	Datum limit = DirectFunctionCall1(int8_numeric, Int64GetDatum(INT64CONST(1) << 62));
	Datum magnitude;

	if (scale > 0)
		value = DirectFunctionCall2(numeric_mul, value,
									DirectFunctionCall3(numeric_in,
														CStringGetDatum(psprintf("1e%d", scale)),
														ObjectIdGetDatum(InvalidOid),
														Int32GetDatum(-1)));
	magnitude = DirectFunctionCall1(numeric_abs, value);
	/* NaN is above all numbers */
	if (!DatumGetBool(DirectFunctionCall2(numeric_lt, magnitude, limit)))
		return false;
	*below = DatumGetInt64(
		DirectFunctionCall1(numeric_int8, DirectFunctionCall1(numeric_floor, value)));
	*above = DatumGetInt64(
		DirectFunctionCall1(numeric_int8, DirectFunctionCall1(numeric_ceil, value)));
	return true;
}

bool
gpuagg_running_bound_make(const RunningOperation *op, int strategy, Oid type, Datum constant,
						  RunningBound *bound)
{
	__int128 greatest = (__int128) (~(unsigned __int128) 0 >> 1);
	__int128 least = -greatest - 1;
	__int128 below;
	__int128 above;
	int scale = Max(op->scale, 0);

	memset(bound, 0, sizeof(*bound));
	bound->strategy = strategy;
	bound->floats = is_float(op->result);
	if (bound->floats)
	{
		bound->value = type == FLOAT4OID ? DatumGetFloat4(constant) : DatumGetFloat8(constant);
		return !isnan(bound->value);
	}
	bound->factor = 1;
	if (gpuagg_running_needs_counts(op))
		for (; scale < AVERAGE_PLACES; scale++)
			bound->factor *= 10;
	if (type != NUMERICOID)
		below = above = integer_of(type, constant);
	else if (!integers_beside(constant, scale, &below, &above))
		return false;
	switch (strategy)
	{
		case BTLessStrategyNumber:
			greatest = above - 1;
			break;
		case BTLessEqualStrategyNumber:
			greatest = below;
			break;
		case BTEqualStrategyNumber:
			least = above;
			greatest = below;
			break;
		case BTGreaterEqualStrategyNumber:
			least = above;
			break;
		case BTGreaterStrategyNumber:
			least = below + 1;
			break;
		default:
			return false;
	}
	if (gpuagg_running_needs_counts(op))
	{
		/* no average of 64 bits is beyond, and products with counts below 2^50 fit */
		least = Max(least, -((__int128) bound->factor << 63));
		greatest = Min(greatest, (__int128) bound->factor << 63);
	}
	bound->least = gpuagg_int128_narrow(least);
	bound->greatest = gpuagg_int128_narrow(greatest);
	return true;
}

/* As core compares floats: NaN is above all numbers. */
static inline bool
passes(const RunningBound *bound, double value)
{
	switch (bound->strategy)
	{
		case BTLessStrategyNumber:
			return value < bound->value;
		case BTLessEqualStrategyNumber:
			return value <= bound->value;
		case BTEqualStrategyNumber:
			return value == bound->value;
		case BTGreaterEqualStrategyNumber:
			return value >= bound->value || isnan(value);
		default:
			return value > bound->value || isnan(value);
	}
}

/* Rows without a value do not pass, but those of which it is an error have to come. */
#define DROP(Passes)                                                                           \
	for (int64 i = 0; i < nrows; i++)                                                          \
	{                                                                                          \
		bool drops = is_count || status[i] == GPUAGG_ROW_VALUE ? !(Passes)                     \
															   : status[i] == GPUAGG_ROW_NULL; \
                                                                                               \
		dropped[i / 64] |= (uint64) drops << i % 64;                                           \
	}

void
gpuagg_running_bound_drop(const RunningOperation *op, const RunningBound *bound,
						  const void *results, const uint8 *status, const int64 *counts,
						  int64 nrows, uint64 *dropped)
{
	bool is_count = op->op == GPUAGG_COUNT;
	__int128 least = gpuagg_int128_wide(bound->least);
	__int128 greatest = gpuagg_int128_wide(bound->greatest);

	if (bound->floats && gpuagg_running_result_kind(op) == GPUAGG_FLOAT32)
		DROP(passes(bound, ((const float4 *) results)[i]))
	else if (bound->floats)
		DROP(passes(bound, ((const float8 *) results)[i]))
	else if (gpuagg_running_needs_counts(op))
		DROP(gpuagg_int128_wide(((const GpuaggInt128 *) results)[i]) * bound->factor >
				 (least - 1) * counts[i] &&
			 gpuagg_int128_wide(((const GpuaggInt128 *) results)[i]) * bound->factor <
				 (greatest + 1) * counts[i])
	else if (op->op == GPUAGG_SUM && op->kind == GPUAGG_INT64)
		DROP(gpuagg_int128_wide(((const GpuaggInt128 *) results)[i]) >= least &&
			 gpuagg_int128_wide(((const GpuaggInt128 *) results)[i]) <= greatest)
	else if (op->kind == GPUAGG_INT32 && op->op != GPUAGG_SUM && !is_count)
		DROP(((const int32 *) results)[i] >= least && ((const int32 *) results)[i] <= greatest)
	else
		DROP(((const int64 *) results)[i] >= least && ((const int64 *) results)[i] <= greatest)
}
