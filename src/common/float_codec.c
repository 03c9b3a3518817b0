/*
 * float_codec.c
 *	  Bytes of exact float sums, and of sums and squares.
 */
#include "common/float_codec.h"

#define OVER 2 /* digits above the chunks, for the top chunk's high bits */

static void
put_chunks(GpuaggWriter *w, const GpuaggFloatSum *acc)
{
	int32_t digit[GPUAGG_SQUARE_CHUNKS + OVER];
	int64_t carry = 0;
	int first = 0;
	int end = acc->width + OVER;

	for (int i = 0; i < end; i++)
	{
		int64_t sum = carry + (i < acc->width ? acc->chunk[i] : 0);

		digit[i] = (int32_t) (uint32_t) sum;
		carry = (sum - digit[i]) >> 32;
	}
	while (end > 0 && digit[end - 1] == 0)
		end--;
	while (first < end && digit[first] == 0)
		first++;

	gpuagg_put(w, end == 0 ? 0 : (uint64_t) (acc->base + first), 1);
	gpuagg_put(w, (uint64_t) (end - first), 1);
	for (int i = first; i < end; i++)
		gpuagg_put(w, (uint32_t) digit[i], 4);
}

/*
 * Reads digits into `chunks` chunks; one digit more is added to the top chunk.  Returns
 * the last digit, which has the sign of the sum.
 */
static int32_t
get_chunks(GpuaggReader *r, int64_t *chunk, int chunks)
{
	int first = (int) gpuagg_get(r, 1);
	int count = (int) gpuagg_get(r, 1);
	int32_t digit = 0;

	if (first + count > chunks + 1 || (count == 0 && first != 0))
		r->bad = 1;
	for (int i = 0; i < count && !r->bad; i++)
	{
		digit = (int32_t) (uint32_t) gpuagg_get(r, 4);
		if (digit == 0 && (i == 0 || i == count - 1))
			r->bad = 1;
		if (first + i < chunks)
			chunk[first + i] = digit;
		else if (digit >= -(1 << 20) && digit <= 1 << 20)
			chunk[chunks - 1] += digit * (INT64_C(1) << 32);
		else
			r->bad = 1;
	}
	return digit;
}

size_t
gpuagg_float_encode(const GpuaggFloatSum *sum, const GpuaggFloatSum *squares, uint8_t *room)
{
	GpuaggWriter w = {room};
	const GpuaggFloatCounts *c = &sum->counts;

	gpuagg_put(&w, squares != NULL, 1);
	gpuagg_put(&w, (uint64_t) c->n, 8);
	gpuagg_put(&w, (uint64_t) c->n_nan, 8);
	gpuagg_put(&w, (uint64_t) c->n_pinf, 8);
	gpuagg_put(&w, (uint64_t) c->n_ninf, 8);
	gpuagg_put(&w, (uint64_t) c->n_negzero, 8);
	put_chunks(&w, sum);
	if (squares != NULL)
		put_chunks(&w, squares);
	return (size_t) (w.next - room);
}

int
gpuagg_float_decode(GpuaggReader *r, GpuaggFloatMoments *result)
{
	GpuaggFloatCounts *c = &result->sum.counts;
	int64_t finite;
	int64_t top;
	int32_t squares_sign = 0;

	gpuagg_float_sum_init(gpuagg_float_sum_of(&result->sum), 0, GPUAGG_CHUNKS);
	gpuagg_float_sum_init(gpuagg_float_squares_of(&result->squares), 0, GPUAGG_SQUARE_CHUNKS);

	result->moments = (int) gpuagg_get(r, 1);
	c->n = gpuagg_get_count(r);
	c->n_nan = gpuagg_get_count(r);
	c->n_pinf = gpuagg_get_count(r);
	c->n_ninf = gpuagg_get_count(r);
	c->n_negzero = gpuagg_get_count(r);
	(void) get_chunks(r, result->sum.chunk, GPUAGG_CHUNKS);
	if (result->moments == 1)
		squares_sign = get_chunks(r, result->squares.chunk, GPUAGG_SQUARE_CHUNKS);
	if (r->bad || result->moments > 1)
		return 0;

	/* n values have a sum below n * 2^1024, which is n * 2^-14 in the top chunk */
	finite = c->n - c->n_nan - c->n_pinf - c->n_ninf - c->n_negzero;
	top = result->sum.chunk[GPUAGG_CHUNKS - 1];
	if (finite < 0 || top > (finite >> 14) + 1 || top < -(finite >> 14) - 1)
		return 0;
	/* n squares have a sum below n * 2^2048, which is n * 2^-60 in their top chunk */
	if (squares_sign < 0 || result->squares.chunk[GPUAGG_SQUARE_CHUNKS - 1] > 1)
		return 0;
	if (finite == 0)
		for (int i = 0; i < GPUAGG_CHUNKS; i++)
			if (result->sum.chunk[i] != 0)
				return 0;
	if (finite == 0)
		return squares_sign == 0;
	return 1;
}
