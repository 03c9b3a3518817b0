/*
 * int_sum.c
 *	  Exact sums of integers: merged, written and read.
 */
#include <string.h>

#include "common/int_sum.h"

void
gpuagg_int_sum_merge(GpuaggIntSum *into, const GpuaggIntSum *from)
{
	into->n = (int64_t) ((uint64_t) into->n + (uint64_t) from->n);
	into->sum = gpuagg_int128_add(into->sum, from->sum);
	if (into->moments)
		gpuagg_int192_add(into->squares, from->squares);
}

size_t
gpuagg_int_encode(const GpuaggIntSum *acc, uint8_t *room)
{
	GpuaggWriter w = {room};

	gpuagg_put(&w, (uint64_t) acc->moments, 1);
	gpuagg_put(&w, (uint64_t) acc->n, 8);
	gpuagg_put_int128(&w, acc->sum);
	if (acc->moments)
		for (int i = GPUAGG_INT192_WORDS - 1; i >= 0; i--)
			gpuagg_put(&w, acc->squares[i], 8);
	return (size_t) (w.next - room);
}

/* Whether n values can have this sum of squares; each square is in [0, 2^126]. */
static int
squares_are_possible(int64_t n, const uint64_t *squares)
{
	uint64_t above = (uint64_t) n >> 2; /* the top word of n * 2^126; 2 bits are below */
	uint64_t middle = (uint64_t) n << 62;

	if (squares[2] != above)
		return squares[2] < above;
	return squares[1] < middle || (squares[1] == middle && squares[0] == 0);
}

int
gpuagg_int_decode(GpuaggReader *reader, GpuaggIntSum *acc)
{
	memset(acc, 0, sizeof(*acc));
	acc->moments = (int64_t) gpuagg_get(reader, 1);
	if (acc->moments > 1)
		reader->bad = 1;
	acc->n = gpuagg_get_count(reader);
	acc->sum = gpuagg_get_int128(reader);
	if (acc->moments == 1)
		for (int i = GPUAGG_INT192_WORDS - 1; i >= 0; i--)
			acc->squares[i] = gpuagg_get(reader, 8);
	return !reader->bad && gpuagg_int128_is_sum(acc->sum, acc->n, 64) &&
		   squares_are_possible(acc->n, acc->squares);
}
