/*
 * plain.h
 *	  The algorithms of the ladder that run on the CPU, and their arithmetic.
 *
 * Sums of floats are plain: each addition rounds, and an overflow gives an
 * infinity.  Integers, minima and maxima are exact.  Results are stored as
 * described in cuda/ladder/ladder.h: int64 for integers, floats as their own
 * type, NaN canonical.
 */
#ifndef GPUAGG_PLAIN_H
#define GPUAGG_PLAIN_H

#include "common/protocol.h"

/* A running result; kind and operation decide which member is used. */
typedef struct PlainValue
{
	GpuaggInt128 i; /* sums of integers; MIN, MAX: the order key */
	double f8;		/* sums of double precision */
	float f4;		/* sums of real */
} PlainValue;

/* The result of no rows: 0; for MIN the greatest, for MAX the least value of the type. */
extern PlainValue gpuagg_plain_identity(GpuaggKind kind, GpuaggOp op);

extern PlainValue gpuagg_plain_combine(GpuaggKind kind, GpuaggOp op, PlainValue a, PlainValue b);

/* Value i of a column; result i of an array of results. */
extern PlainValue gpuagg_plain_at(GpuaggKind kind, GpuaggOp op, const void *values, int64 i);
extern PlainValue gpuagg_plain_result(GpuaggKind kind, GpuaggOp op, const void *results, int64 i);

/* Stores a result; raises an error when an integer sum is out of range of bigint. */
extern void gpuagg_plain_store(GpuaggKind kind, GpuaggOp op, PlainValue value, void *results,
							   int64 i);

/* `sequential`: combines the rows with *total, one after the other.  Can be cancelled. */
extern void gpuagg_plain_reduce(GpuaggKind kind, GpuaggOp op, const void *values, int64 nrows,
								PlainValue *total);

/*
 * `sequential`: a scan that starts from *carry and sets it to the state after the
 * last row.  heads: bit i is 1 where row i starts a segment, or NULL.  With results
 * NULL the scan only checks that each sum is a bigint.  Can be cancelled.
 */
extern void gpuagg_plain_scan(GpuaggKind kind, GpuaggOp op, bool exclusive, const void *values,
							  const uint64 *heads, int64 nrows, PlainValue *carry, void *results);

/*
 * `recursive_halving`: combines the upper half of the rows with the lower half
 * until one row is left; of an odd number the middle row is kept.  nrows > 0;
 * workspace has gpuagg_ladder_result_size(kind) bytes for each of
 * (nrows + 1) / 2 rows.  Sums of integers are modulo 2^64.  Can be cancelled.
 */
extern PlainValue gpuagg_plain_halve(GpuaggKind kind, GpuaggOp op, const void *values, int64 nrows,
									 void *workspace);

#endif /* GPUAGG_PLAIN_H */
