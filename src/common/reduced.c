/*
 * reduced.c
 *	  Partial results of reductions, and how two become one.
 */
#include <string.h>

#include "reduced.h"

void
gpuagg_reduced_init(GpuaggReduced *reduced)
{
	memset(reduced, 0, sizeof(*reduced));
	gpuagg_float_sum_init(gpuagg_float_sum_of(&reduced->f), 0, GPUAGG_CHUNKS);
}

/* Whether the order key a comes before b. */
static int
key_less(GpuaggInt128 a, GpuaggInt128 b)
{
	return a.hi != b.hi ? a.hi < b.hi : a.lo < b.lo;
}

static void
add_squares(uint64_t *into, const uint64_t *from)
{
	uint64_t carry = 0;

	for (int i = 0; i < 3; i++)
	{
		uint64_t sum = into[i] + from[i];
		uint64_t carried = sum + carry;

		carry = (uint64_t) (sum < from[i]) + (uint64_t) (carried < sum);
		into[i] = carried;
	}
}

/* Chunks below the top one are in [0, 2^32): a sum of two and a carry is far from 2^63. */
static void
add_f_squares(int64_t *into, const int64_t *from)
{
	int64_t carry = 0;

	for (int i = 0; i < GPUAGG_SQUARE_CHUNKS; i++)
	{
		int64_t sum = into[i] + from[i] + carry;

		if (i == GPUAGG_SQUARE_CHUNKS - 1)
			into[i] = sum;
		else
		{
			into[i] = sum & UINT32_MAX;
			carry = sum >> 32;
		}
	}
}

void
gpuagg_reduced_merge(GpuaggReduced *into, const GpuaggReduced *from, int kind, int op)
{
	if (op == GPUAGG_MIN || op == GPUAGG_MAX)
	{
		const GpuaggReduced *less = key_less(from->sum, into->sum) ? from : into;
		const GpuaggReduced *more = less == from ? into : from;

		if (from->n > 0)
			into->sum = into->n == 0 ? from->sum : op == GPUAGG_MIN ? less->sum : more->sum;
	}
	else if (op != GPUAGG_COUNT && gpuagg_kind_is_float(kind))
	{
		gpuagg_float_sum_merge(gpuagg_float_sum_of(&into->f), (const GpuaggFloatSum *) &from->f);
		if (op == GPUAGG_MOMENTS)
			add_f_squares(into->f_squares, from->f_squares);
	}
	else if (op != GPUAGG_COUNT)
	{
		into->sum = gpuagg_int128_add(into->sum, from->sum);
		if (op == GPUAGG_MOMENTS)
			add_squares(into->squares, from->squares);
	}
	into->n += from->n;
}
