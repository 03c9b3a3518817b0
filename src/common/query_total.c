/*
 * query_total.c
 *	  Totals of a query over blobs: merged, written and read.
 */
#include "common/query_total.h"

#include <stdbool.h>
#include <string.h>

#include "common/int_words.h"
#include "common/vector.h"

static bool
is_extreme(int op)
{
	return op == GPUAGG_MIN || op == GPUAGG_MAX;
}

static bool
sums_integers(int op, int type)
{
	return (op == GPUAGG_SUM || op == GPUAGG_MOMENTS) && !gpuagg_vector_type_is_float(type);
}

/* Words of squares that values of the type can have. */
static int
square_words(int type)
{
	return type == GPUAGG_VECTOR_INT128 ? GPUAGG_SQUARE_WORDS : 3;
}

void
gpuagg_query_total_init(GpuaggQueryTotal *total)
{
	gpuagg_reduced_init(&total->reduced);
	total->high = 0;
	memset(total->more_squares, 0, sizeof(total->more_squares));
}

void
gpuagg_query_total_words(const GpuaggQueryTotal *total, uint64_t *sum, uint64_t *squares)
{
	sum[0] = total->reduced.sum.lo;
	sum[1] = (uint64_t) total->reduced.sum.hi;
	sum[2] = (uint64_t) total->high;
	memcpy(squares, total->reduced.squares, sizeof(total->reduced.squares));
	memcpy(squares + 3, total->more_squares, sizeof(total->more_squares));
}

void
gpuagg_query_total_set_words(GpuaggQueryTotal *total, const uint64_t *sum, const uint64_t *squares)
{
	total->reduced.sum.lo = sum[0];
	total->reduced.sum.hi = (int64_t) sum[1];
	total->high = (int64_t) sum[2];
	memcpy(total->reduced.squares, squares, sizeof(total->reduced.squares));
	memcpy(total->more_squares, squares + 3, sizeof(total->more_squares));
}

void
gpuagg_query_total_merge(GpuaggQueryTotal *into, const GpuaggQueryTotal *from, int op, int type)
{
	if (sums_integers(op, type))
	{
		uint64_t sum[GPUAGG_SUM_WORDS];
		uint64_t squares[GPUAGG_SQUARE_WORDS];
		uint64_t more[GPUAGG_SUM_WORDS];
		uint64_t more_squares[GPUAGG_SQUARE_WORDS];

		gpuagg_query_total_words(into, sum, squares);
		gpuagg_query_total_words(from, more, more_squares);
		gpuagg_words_add(sum, more, GPUAGG_SUM_WORDS);
		gpuagg_words_add(squares, more_squares, GPUAGG_SQUARE_WORDS);
		gpuagg_query_total_set_words(into, sum, squares);
		into->reduced.n += from->reduced.n;
		return;
	}
	gpuagg_reduced_merge(&into->reduced, &from->reduced,
						 gpuagg_vector_type_is_float(type) ? GPUAGG_FLOAT64 : GPUAGG_INT64, op);
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
		uint64_t sum[GPUAGG_SUM_WORDS];
		uint64_t squares[GPUAGG_SQUARE_WORDS];

		gpuagg_query_total_words(total, sum, squares);
		for (int i = GPUAGG_SUM_WORDS - 1; i >= 0; i--)
			gpuagg_put(&w, sum[i], 8);
		for (int i = square_words(type) - 1; i >= 0 && op == GPUAGG_MOMENTS; i--)
			gpuagg_put(&w, squares[i], 8);
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

/* Whether n integers of the type can have these sums; squares are at most 2^254 or 2^126. */
static bool
are_sums(const GpuaggQueryTotal *total, int64_t n, int type)
{
	GpuaggInt128 sum = total->reduced.sum;

	if (type == GPUAGG_VECTOR_INT128)
		return total->more_squares[1] <= (uint64_t) n / 4 && total->high >= -(n / 2) - 1 &&
			   total->high <= n / 2;
	return total->high == (sum.hi < 0 ? -1 : 0) && total->reduced.squares[2] <= (uint64_t) n / 4 &&
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
		uint64_t sum[GPUAGG_SUM_WORDS];
		uint64_t squares[GPUAGG_SQUARE_WORDS] = {0};

		for (int i = GPUAGG_SUM_WORDS - 1; i >= 0; i--)
			sum[i] = gpuagg_get(reader, 8);
		for (int i = square_words(type) - 1; i >= 0 && op == GPUAGG_MOMENTS; i--)
			squares[i] = gpuagg_get(reader, 8);
		gpuagg_query_total_set_words(total, sum, squares);
		if (!are_sums(total, n, type))
			return 0;
	}
	else if ((op == GPUAGG_SUM || op == GPUAGG_MOMENTS) &&
			 !read_floats(reader, reduced, op == GPUAGG_MOMENTS))
		return 0;
	return !reader->bad;
}
