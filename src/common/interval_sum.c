/*
 * interval_sum.c
 *	  Exact sums of intervals: merged, written and read.
 */
#include "common/interval_sum.h"

static int64_t
add_counts(int64_t a, int64_t b)
{
	return (int64_t) ((uint64_t) a + (uint64_t) b);
}

void
gpuagg_interval_sum_merge(GpuaggIntervalSum *into, const GpuaggIntervalSum *from)
{
	into->n = add_counts(into->n, from->n);
	into->n_pinf = add_counts(into->n_pinf, from->n_pinf);
	into->n_ninf = add_counts(into->n_ninf, from->n_ninf);
	into->months = gpuagg_int128_add(into->months, from->months);
	into->days = gpuagg_int128_add(into->days, from->days);
	into->micros = gpuagg_int128_add(into->micros, from->micros);
}

size_t
gpuagg_interval_encode(const GpuaggIntervalSum *acc, uint8_t *room)
{
	GpuaggWriter w = {room};

	gpuagg_put(&w, (uint64_t) acc->n, 8);
	gpuagg_put(&w, (uint64_t) acc->n_pinf, 8);
	gpuagg_put(&w, (uint64_t) acc->n_ninf, 8);
	gpuagg_put_int128(&w, acc->months);
	gpuagg_put_int128(&w, acc->days);
	gpuagg_put_int128(&w, acc->micros);
	return (size_t) (w.next - room);
}

int
gpuagg_interval_decode(GpuaggReader *reader, GpuaggIntervalSum *acc)
{
	int64_t finite;

	acc->n = gpuagg_get_count(reader);
	acc->n_pinf = gpuagg_get_count(reader);
	acc->n_ninf = gpuagg_get_count(reader);
	acc->months = gpuagg_get_int128(reader);
	acc->days = gpuagg_get_int128(reader);
	acc->micros = gpuagg_get_int128(reader);
	finite = acc->n - acc->n_pinf - acc->n_ninf; /* counts are at most 2^60 */
	return !reader->bad && finite >= 0 && gpuagg_int128_is_sum(acc->months, finite, 32) &&
		   gpuagg_int128_is_sum(acc->days, finite, 32) &&
		   gpuagg_int128_is_sum(acc->micros, finite, 64);
}
