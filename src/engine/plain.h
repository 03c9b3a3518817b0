/*
 * plain.h
 *	  The algorithms of the ladder that run on the CPU, and their arithmetic.
 *
 * Sums of floats are plain: each addition rounds, and an overflow is an
 * infinity.  Integers, minima and maxima are exact.  Results are stored as
 * cuda/ladder.h says: int64 for integers, floats as their own type, NaN
 * canonical.
 */
#ifndef GPUAGG_PLAIN_H
#define GPUAGG_PLAIN_H

#include "common/protocol.h"

/* A running result; which member counts depends on kind and operation. */
typedef struct PlainValue
{
	GpuaggInt128 i; /* sums of integers; MIN, MAX: the order key */
	double f8;		/* sums of double precision */
	float f4;		/* sums of real */
} PlainValue;

/* What no rows give: 0; for MIN the greatest, for MAX the least value of the type. */
extern PlainValue gpuagg_plain_identity(GpuaggKind kind, GpuaggOp op);

extern PlainValue gpuagg_plain_combine(GpuaggKind kind, GpuaggOp op, PlainValue a, PlainValue b);

/* Value i of a column; result i of an array of results. */
extern PlainValue gpuagg_plain_at(GpuaggKind kind, GpuaggOp op, const void *values, int64 i);
extern PlainValue gpuagg_plain_result(GpuaggKind kind, GpuaggOp op, const void *results, int64 i);

/* Stores a result; raises an error when a sum is no bigint. */
extern void gpuagg_plain_store(GpuaggKind kind, GpuaggOp op, PlainValue value, void *results,
							   int64 i);

/* `sequential`: combines the rows with *total, one after the other.  Can be cancelled. */
extern void gpuagg_plain_reduce(GpuaggKind kind, GpuaggOp op, const void *values, int64 nrows,
								PlainValue *total);

/*
 * `sequential`: a scan from *carry on, which is left as it is after the last
 * row.  heads: bit i is 1 where row i starts anew, or NULL.  results may be
 * NULL: then all that happens is the error for a sum that is no bigint.  Can be
 * cancelled.
 */
extern void gpuagg_plain_scan(GpuaggKind kind, GpuaggOp op, bool exclusive, const void *values,
							  const uint64 *heads, int64 nrows, PlainValue *carry, void *results);

/*
 * `recursive_halving`: adds the upper half of the rows onto the lower one until
 * one is left; with an odd number the middle one stays as it is.  nrows > 0;
 * workspace takes gpuagg_ladder_result_size(kind) bytes for each of
 * (nrows + 1) / 2 rows.  Sums of integers are modulo 2^64.  Can be cancelled.
 */
extern PlainValue gpuagg_plain_halve(GpuaggKind kind, GpuaggOp op, const void *values, int64 nrows,
									 void *workspace);

#endif /* GPUAGG_PLAIN_H */
