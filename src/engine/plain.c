/*
 * plain.c
 *	  The algorithms of the ladder that run on the CPU, and their arithmetic.
 *
 * The loops are written once and compiled for each kind and operation.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "engine/cpu.h"
#include "engine/plain.h"
#include "types/value.h"

#define PIECE_ROWS 65536 /* rows between checks for interrupts */

/* Calls an inlined function with constant kind and operation. */
#define CALL_OP(function, kind, op, ...)                               \
	switch (op)                                                        \
	{                                                                  \
		case GPUAGG_SUM:                                               \
			function(kind, GPUAGG_SUM, __VA_ARGS__);                   \
			break;                                                     \
		case GPUAGG_MIN:                                               \
			function(kind, GPUAGG_MIN, __VA_ARGS__);                   \
			break;                                                     \
		case GPUAGG_MAX:                                               \
			function(kind, GPUAGG_MAX, __VA_ARGS__);                   \
			break;                                                     \
		default:                                                       \
			elog(ERROR, "no operation of the ladder: %d", (int) (op)); \
	}

#define CALL(function, kind, op, ...)                           \
	switch (kind)                                               \
	{                                                           \
		case GPUAGG_INT32:                                      \
			CALL_OP(function, GPUAGG_INT32, op, __VA_ARGS__);   \
			break;                                              \
		case GPUAGG_INT64:                                      \
			CALL_OP(function, GPUAGG_INT64, op, __VA_ARGS__);   \
			break;                                              \
		case GPUAGG_FLOAT32:                                    \
			CALL_OP(function, GPUAGG_FLOAT32, op, __VA_ARGS__); \
			break;                                              \
		case GPUAGG_FLOAT64:                                    \
			CALL_OP(function, GPUAGG_FLOAT64, op, __VA_ARGS__); \
			break;                                              \
	}

static pg_attribute_always_inline PlainValue
value_of_key(int64 key)
{
	PlainValue value = {0};

	value.i = gpuagg_int128_from(key);
	return value;
}

static pg_attribute_always_inline PlainValue
identity_of(GpuaggKind kind, GpuaggOp op)
{
	switch (op)
	{
		case GPUAGG_MIN:
			return value_of_key(gpuagg_greatest_key(kind));
		case GPUAGG_MAX:
			return value_of_key(gpuagg_least_key(kind));
		default:
			return value_of_key(0);
	}
}

static pg_attribute_always_inline PlainValue
combine(GpuaggKind kind, GpuaggOp op, PlainValue a, PlainValue b)
{
	if (op == GPUAGG_MIN)
		return (int64) b.i.lo < (int64) a.i.lo ? b : a;
	if (op == GPUAGG_MAX)
		return (int64) b.i.lo > (int64) a.i.lo ? b : a;
	if (kind == GPUAGG_FLOAT32)
		a.f4 += b.f4;
	else if (kind == GPUAGG_FLOAT64)
		a.f8 += b.f8;
	else if (kind == GPUAGG_INT32) /* 2^32 values stay within int64 */
		a.i = gpuagg_int128_from((int64) (a.i.lo + b.i.lo));
	else
		a.i = gpuagg_int128_add(a.i, b.i);
	return a;
}

static pg_attribute_always_inline PlainValue
value_at(GpuaggKind kind, GpuaggOp op, const void *values, int64 i)
{
	PlainValue value = {0};

	if (op == GPUAGG_SUM && kind == GPUAGG_FLOAT32)
		value.f4 = ((const float *) values)[i];
	else if (op == GPUAGG_SUM && kind == GPUAGG_FLOAT64)
		value.f8 = ((const double *) values)[i];
	else
		value.i = gpuagg_int128_from(gpuagg_key_at(kind, values, i));
	return value;
}

static pg_attribute_always_inline PlainValue
result_at(GpuaggKind kind, GpuaggOp op, const void *results, int64 i)
{
	return value_at(gpuagg_kind_is_float(kind) ? kind : GPUAGG_INT64, op, results, i);
}

/* Stores a result; integers are stored modulo 2^64. */
static pg_attribute_always_inline void
store_modulo(GpuaggKind kind, GpuaggOp op, PlainValue value, void *results, int64 i)
{
	if (kind == GPUAGG_INT32 || kind == GPUAGG_INT64)
		((uint64 *) results)[i] = value.i.lo;
	else if (op == GPUAGG_SUM && kind == GPUAGG_FLOAT32)
		((float *) results)[i] = isnan(value.f4) ? NAN : value.f4;
	else if (op == GPUAGG_SUM)
		((double *) results)[i] = isnan(value.f8) ? NAN : value.f8;
	else if (kind == GPUAGG_FLOAT32)
		((uint32 *) results)[i] = gpuagg_order_bits32((int32) value.i.lo);
	else
		((uint64 *) results)[i] = gpuagg_order_bits64((int64) value.i.lo);
}

static pg_attribute_always_inline void
check_range(GpuaggKind kind, PlainValue value)
{
	if (kind == GPUAGG_INT32 || kind == GPUAGG_INT64)
		(void) gpuagg_int64_value(value.i);
}

/* ---- sequential ---- */

static pg_attribute_always_inline void
reduce_rows(GpuaggKind kind, GpuaggOp op, const void *values, int64 nrows, PlainValue *total)
{
	PlainValue value = *total;

	for (int64 done = 0; done < nrows; done += PIECE_ROWS)
	{
		int64 end = Min(done + PIECE_ROWS, nrows);

		CHECK_FOR_INTERRUPTS();
		for (int64 i = done; i < end; i++)
			value = combine(kind, op, value, value_at(kind, op, values, i));
	}
	*total = value;
}

static pg_attribute_always_inline void
scan_rows(GpuaggKind kind, GpuaggOp op, bool exclusive, const void *values, const uint64 *heads,
		  int64 nrows, PlainValue *carry, void *results)
{
	PlainValue value = *carry;

	for (int64 done = 0; done < nrows; done += PIECE_ROWS)
	{
		int64 end = Min(done + PIECE_ROWS, nrows);

		CHECK_FOR_INTERRUPTS();
		for (int64 i = done; i < end; i++)
		{
			PlainValue before;

			if (heads != NULL && gpuagg_bit(heads, i))
				value = identity_of(kind, op);
			before = value;
			value = combine(kind, op, value, value_at(kind, op, values, i));
			check_range(kind, exclusive ? before : value);
			if (results != NULL)
				store_modulo(kind, op, exclusive ? before : value, results, i);
		}
	}
	*carry = value;
}

/* ---- recursive halving ---- */

static pg_attribute_always_inline void
halve_rows(GpuaggKind kind, GpuaggOp op, const void *values, int64 nrows, void *workspace,
		   PlainValue *total)
{
	int64 left = nrows - nrows / 2; /* row i and row left + i become row i */

	for (int64 i = 0; i < left; i++)
	{
		PlainValue value = value_at(kind, op, values, i);

		if (i % PIECE_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		if (left + i < nrows)
			value = combine(kind, op, value, value_at(kind, op, values, left + i));
		store_modulo(kind, op, value, workspace, i);
	}
	while (left > 1)
	{
		int64 half = left / 2;

		left -= half;
		for (int64 i = 0; i < half; i++)
		{
			if (i % PIECE_ROWS == 0)
				CHECK_FOR_INTERRUPTS();
			store_modulo(kind, op,
						 combine(kind, op, result_at(kind, op, workspace, i),
								 result_at(kind, op, workspace, left + i)),
						 workspace, i);
		}
	}
	*total = result_at(kind, op, workspace, 0);
}

/* ---- exported functions ---- */

PlainValue
gpuagg_plain_identity(GpuaggKind kind, GpuaggOp op)
{
	return identity_of(kind, op);
}

PlainValue
gpuagg_plain_combine(GpuaggKind kind, GpuaggOp op, PlainValue a, PlainValue b)
{
	return combine(kind, op, a, b);
}

PlainValue
gpuagg_plain_at(GpuaggKind kind, GpuaggOp op, const void *values, int64 i)
{
	return value_at(kind, op, values, i);
}

PlainValue
gpuagg_plain_result(GpuaggKind kind, GpuaggOp op, const void *results, int64 i)
{
	return result_at(kind, op, results, i);
}

void
gpuagg_plain_store(GpuaggKind kind, GpuaggOp op, PlainValue value, void *results, int64 i)
{
	check_range(kind, value);
	store_modulo(kind, op, value, results, i);
}

void
gpuagg_plain_reduce(GpuaggKind kind, GpuaggOp op, const void *values, int64 nrows,
					PlainValue *total)
{
	CALL(reduce_rows, kind, op, values, nrows, total);
}

void
gpuagg_plain_scan(GpuaggKind kind, GpuaggOp op, bool exclusive, const void *values,
				  const uint64 *heads, int64 nrows, PlainValue *carry, void *results)
{
	CALL(scan_rows, kind, op, exclusive, values, heads, nrows, carry, results);
}

PlainValue
gpuagg_plain_halve(GpuaggKind kind, GpuaggOp op, const void *values, int64 nrows, void *workspace)
{
	PlainValue total = {0};

	CALL(halve_rows, kind, op, values, nrows, workspace, &total);
	return total;
}
