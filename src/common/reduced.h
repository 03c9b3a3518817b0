/*
 * reduced.h
 *	  Partial results of reductions and their merging.
 *
 * Merging is exact, associative and commutative for every operation.
 */
#ifndef GPUAGG_REDUCED_H
#define GPUAGG_REDUCED_H

#include "common/column.h"
#include "common/float_squares.h"
#include "common/float_sum.h"
#include "common/int128.h"

/*
 * What each operation sets:
 *	COUNT	n, the number of rows that are not NULL; all others set it too.
 *	SUM		integer kinds: sum.  Floats: f, carries propagated (chunks below the
 *			top one in [0, 2^32)), deposits 0, all chunks.
 *	MIN,MAX	sum: the order key of the value (column.h), when n > 0.
 *	MOMENTS	as SUM, plus the sum of squares.  Integer kinds: squares, 192 bits in
 *			two's complement, least significant word first.  Floats: f_squares
 *			of the finite inputs, carries propagated.
 * Width table, for the 2^40 rows that a kernel takes: int32 squares stay below
 * 2^102, int64 sums below 2^103 and squares below 2^166.  Carries of chunks of
 * floats are propagated before a chunk can reach 2^63; the top one stays below 2^58.
 */
typedef struct GpuaggReduced
{
	uint64_t n;
	GpuaggInt128 sum;
	uint64_t squares[3];
	GpuaggFloatSumFull f;
	int64_t f_squares[GPUAGG_SQUARE_CHUNKS];
} GpuaggReduced;

/* The result of no rows, whatever the operation. */
extern void gpuagg_reduced_init(GpuaggReduced *reduced);

/* Adds a float to a SUM or MOMENTS of floats, but for n. */
extern void gpuagg_reduced_add_float(GpuaggReduced *reduced, double x, int op);

/*
 * Adds the rows of `from` to `into`.  Both must be of this kind and operation, with
 * carries propagated; the result has its carries propagated too.
 */
extern void gpuagg_reduced_merge(GpuaggReduced *into, const GpuaggReduced *from, int kind, int op);

#endif /* GPUAGG_REDUCED_H */
