/*
 * query_total.c
 *	  Totals of a query over blobs: merged, written and read.
 */
#include "common/query_total.h"

#include <stdbool.h>
#include <string.h>

#include "common/int192.h"
#include "common/vector.h"

static bool
is_float(int type)
{
	return type == GPUAGG_VECTOR_FLOAT32 || type == GPUAGG_VECTOR_FLOAT64;
}

static bool
is_extreme(int op)
{
	return op == GPUAGG_MIN || op == GPUAGG_MAX;
}

static bool
sums_integers(int op, int type)
{
	return (op == GPUAGG_SUM || op == GPUAGG_MOMENTS) && !is_float(type);
}

void
gpuagg_query_total_init(GpuaggQueryTotal *total)
{
	gpuagg_reduced_init(&total->reduced);
	total->high = 0;
}

void
gpuagg_query_total_merge(GpuaggQueryTotal *into, const GpuaggQueryTotal *from, int op, int type)
{
	if (sums_integers(op, type))
	{
		GpuaggInt128 a = into->reduced.sum;
		uint64_t words[GPUAGG_INT192_WORDS] = {a.lo, (uint64_t) a.hi, (uint64_t) into->high};
		GpuaggInt128 b = from->reduced.sum;
		uint64_t more[GPUAGG_INT192_WORDS] = {b.lo, (uint64_t) b.hi, (uint64_t) from->high};

		gpuagg_int192_add(words, more);
		into->high = (int64_t) words[2];
	}
	gpuagg_reduced_merge(&into->reduced, &from->reduced,
						 is_float(type) ? GPUAGG_FLOAT64 : GPUAGG_INT64, op);
}

size_t
gpuagg_query_total_write(const GpuaggQueryTotal *total, int op, int type, uint8_t *room)
{
	const GpuaggReduced *reduced = &total->reduced;
	GpuaggWriter w = {room};

	gpuagg_put(&w, reduced->n, 8);
	if (is_extreme(op) && reduced->n > 0)
		gpuagg_put_int128(&w, reduced->sum);
	else if (sums_integers(op, type))
	{
		gpuagg_put(&w, (uint64_t) total->high, 8);
		gpuagg_put_int128(&w, reduced->sum);
		for (int i = GPUAGG_INT192_WORDS - 1; i >= 0 && op == GPUAGG_MOMENTS; i--)
			gpuagg_put(&w, reduced->squares[i], 8);
	}
	else if (op == GPUAGG_SUM)
		w.next += gpuagg_float_encode((const GpuaggFloatSum *) &reduced->f, NULL, w.next);
	else if (op == GPUAGG_MOMENTS)
	{
		GpuaggFloatSquaresFull squares;

		gpuagg_float_sum_init(gpuagg_float_squares_of(&squares), 0, GPUAGG_SQUARE_CHUNKS);
		memcpy(squares.chunk, reduced->f_squares, sizeof(squares.chunk));
		w.next += gpuagg_float_encode((const GpuaggFloatSum *) &reduced->f,
									  gpuagg_float_squares_of(&squares), w.next);
	}
	return (size_t) (w.next - room);
}

/* Whether n integers of the type can have this sum. */
static bool
is_sum(const GpuaggQueryTotal *total, int64_t n, int type)
{
	GpuaggInt128 sum = total->reduced.sum;

	if (type == GPUAGG_VECTOR_INT128)
		return total->high >= -(n / 2) - 1 && total->high <= n / 2;
	return total->high == (sum.hi < 0 ? -1 : 0) &&
		   gpuagg_int128_is_sum(sum, n, 8 * (int) gpuagg_vector_type_size(type));
}

static bool
read_floats(GpuaggReader *reader, GpuaggReduced *reduced, bool squares)
{
	GpuaggFloatMoments moments;

	if (!gpuagg_float_decode(reader, &moments) || moments.moments != squares)
		return false;
	reduced->f = moments.sum;
	if (squares)
	{
		gpuagg_float_sum_propagate(gpuagg_float_squares_of(&moments.squares));
		memcpy(reduced->f_squares, moments.squares.chunk, sizeof(reduced->f_squares));
	}
	return (uint64_t) moments.sum.counts.n == reduced->n;
}

int
gpuagg_query_total_read(GpuaggReader *reader, int op, int type, GpuaggQueryTotal *total)
{
	GpuaggReduced *reduced = &total->reduced;
	int64_t n = gpuagg_get_count(reader);

	gpuagg_query_total_init(total);
	reduced->n = (uint64_t) n;
	if (is_extreme(op) && n > 0)
		reduced->sum = gpuagg_get_int128(reader);
	else if (sums_integers(op, type))
	{
		total->high = (int64_t) gpuagg_get(reader, 8);
		reduced->sum = gpuagg_get_int128(reader);
		for (int i = GPUAGG_INT192_WORDS - 1; i >= 0 && op == GPUAGG_MOMENTS; i--)
			reduced->squares[i] = gpuagg_get(reader, 8);
		if (!is_sum(total, n, type) || reduced->squares[2] > (uint64_t) n / 4)
			return 0;
	}
	else if ((op == GPUAGG_SUM || op == GPUAGG_MOMENTS) &&
			 !read_floats(reader, reduced, op == GPUAGG_MOMENTS))
		return 0;
	return !reader->bad;
}
