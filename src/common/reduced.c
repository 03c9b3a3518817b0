/*
 * reduced.c
 *	  Partial results of reductions and their merging.
 */
#include <string.h>

#include "common/float_squares.h"
#include "common/int192.h"
#include "common/reduced.h"

void
gpuagg_reduced_init(GpuaggReduced *reduced)
{
	memset(reduced, 0, sizeof(*reduced));
	gpuagg_float_sum_init(gpuagg_float_sum_of(&reduced->f), 0, GPUAGG_CHUNKS);
}

void
gpuagg_reduced_add_float(GpuaggReduced *reduced, double x, int op)
{
	GpuaggFloatSum *sum = gpuagg_float_sum_of(&reduced->f);
	GpuaggFloatSquaresFull squares;

	(void) gpuagg_float_sum_deposit(sum, x, 1);
	gpuagg_float_sum_propagate(sum);
	if (op != GPUAGG_MOMENTS)
		return;
	gpuagg_float_sum_init(gpuagg_float_squares_of(&squares), 0, GPUAGG_SQUARE_CHUNKS);
	(void) gpuagg_float_squares_deposit(gpuagg_float_squares_of(&squares), x, 1);
	gpuagg_float_squares_merge_chunks(reduced->f_squares, squares.chunk);
}

void
gpuagg_reduced_merge(GpuaggReduced *into, const GpuaggReduced *from, int kind, int op)
{
	if (op == GPUAGG_MIN || op == GPUAGG_MAX)
	{
		const GpuaggReduced *less = gpuagg_int128_compare(from->sum, into->sum) < 0 ? from : into;
		const GpuaggReduced *more = less == from ? into : from;

		if (from->n > 0)
			into->sum = into->n == 0 ? from->sum : op == GPUAGG_MIN ? less->sum : more->sum;
	}
	else if (op != GPUAGG_COUNT && gpuagg_kind_is_float(kind))
	{
		gpuagg_float_sum_merge(gpuagg_float_sum_of(&into->f), (const GpuaggFloatSum *) &from->f);
		if (op == GPUAGG_MOMENTS)
			gpuagg_float_squares_merge_chunks(into->f_squares, from->f_squares);
	}
	else if (op != GPUAGG_COUNT)
	{
		into->sum = gpuagg_int128_add(into->sum, from->sum);
		if (op == GPUAGG_MOMENTS)
			gpuagg_int192_add(into->squares, from->squares);
	}
	into->n += from->n;
}
