/*
 * query_total_test.c
 *	  Totals of queries: merged in any order, written and read; bytes that are none.
 */
#include "common/query_total.h"

#include <string.h>

#include "check.h"
#include "common/vector.h"
#include "random.h"
#include "square_oracle.h"

#define VALUES 40

static const struct
{
	int op;
	int type;
} kinds[] = {
	{GPUAGG_COUNT, 0},
	{GPUAGG_SUM, GPUAGG_VECTOR_INT16},
	{GPUAGG_SUM, GPUAGG_VECTOR_INT64},
	{GPUAGG_SUM, GPUAGG_VECTOR_INT128},
	{GPUAGG_SUM, GPUAGG_VECTOR_FLOAT64},
	{GPUAGG_MIN, GPUAGG_VECTOR_INT128},
	{GPUAGG_MAX, GPUAGG_VECTOR_FLOAT32},
	{GPUAGG_MOMENTS, GPUAGG_VECTOR_INT32},
	{GPUAGG_MOMENTS, GPUAGG_VECTOR_INT64},
	{GPUAGG_MOMENTS, GPUAGG_VECTOR_INT128},
	{GPUAGG_MOMENTS, GPUAGG_VECTOR_FLOAT64},
};

static __int128
any_value(int type)
{
	int bits = 8 * (int) gpuagg_vector_type_size(type);
	unsigned __int128 v = (unsigned __int128) next() << 64 | next();

	if (next() % 4 == 0)
		v = next() % 2 ? (unsigned __int128) 1 << 127 : ~((unsigned __int128) 1 << 127);
	return (__int128) v >> (128 - bits) >> (next() % 2 ? 0 : next() % (uint64_t) bits);
}

/* The total of one value. */
static void
make_one(GpuaggQueryTotal *total, int op, int type)
{
	gpuagg_query_total_init(total);
	total->reduced.n = 1;
	if (op == GPUAGG_COUNT)
		return;
	if (type == GPUAGG_VECTOR_FLOAT64)
	{
		GpuaggFloatSquaresFull squares;

		gpuagg_float_sum_init(gpuagg_float_squares_of(&squares), 0, GPUAGG_SQUARE_CHUNKS);
		total->reduced.n = 0;
		for (int i = 0; i < 3; i++, total->reduced.n++)
		{
			double x = (double) (int64_t) next() * (i == 1 ? 1e-300 : 1);

			gpuagg_float_sum_deposit(gpuagg_float_sum_of(&total->reduced.f), x, 1);
			gpuagg_float_squares_deposit_array(&squares, &x, 1);
		}
		gpuagg_float_sum_propagate(gpuagg_float_squares_of(&squares));
		if (op == GPUAGG_MOMENTS)
			gpuagg_float_squares_merge_chunks(total->reduced.f_squares, squares.chunk);
		gpuagg_float_sum_propagate(gpuagg_float_sum_of(&total->reduced.f));
	}
	else
	{
		__int128 v = any_value(type);
		uint64_t square[GPUAGG_SQUARE_WORDS];

		total->reduced.sum = gpuagg_int128_narrow(v);
		if (op == GPUAGG_SUM || op == GPUAGG_MOMENTS)
			total->high = v < 0 ? -1 : 0;
		if (op == GPUAGG_MOMENTS)
		{
			square_words(v, square);
			memcpy(total->reduced.squares, square, sizeof(total->reduced.squares));
			memcpy(total->more_squares, square + 3, sizeof(total->more_squares));
		}
	}
}

static int
readable(const uint8_t *bytes, size_t n, int op, int type, GpuaggQueryTotal *total)
{
	GpuaggReader reader = {bytes, n, 0};

	return gpuagg_query_total_read(&reader, op, type, total) && reader.left == 0;
}

static void
test_kind(int op, int type)
{
	GpuaggQueryTotal ones[VALUES];
	GpuaggQueryTotal forward;
	GpuaggQueryTotal halves[2];
	GpuaggQueryTotal back;
	uint8_t room[GPUAGG_QUERY_TOTAL_MAX_BYTES];
	uint8_t other[GPUAGG_QUERY_TOTAL_MAX_BYTES];
	size_t n;
	int ok = 1;

	gpuagg_query_total_init(&forward);
	gpuagg_query_total_init(&halves[0]);
	gpuagg_query_total_init(&halves[1]);
	n = gpuagg_query_total_write(&forward, op, type, room);
	CHECK(readable(room, n, op, type, &back) && back.reduced.n == 0);
	for (int i = 0; i < VALUES; i++)
	{
		make_one(&ones[i], op, type);
		gpuagg_query_total_merge(&forward, &ones[i], op, type);
	}
	for (int i = 0; i < VALUES; i++)
		gpuagg_query_total_merge(&halves[next() % 2], &ones[i * 7 % VALUES], op, type);
	gpuagg_query_total_merge(&halves[0], &halves[1], op, type);
	n = gpuagg_query_total_write(&forward, op, type, room);
	CHECK(n <= sizeof(room));
	CHECK(gpuagg_query_total_write(&halves[0], op, type, other) == n &&
		  memcmp(room, other, n) == 0);
	CHECK(readable(room, n, op, type, &back) &&
		  gpuagg_query_total_write(&back, op, type, other) == n && memcmp(room, other, n) == 0);
	for (size_t i = 0; i < n; i++)
		ok &= !readable(room, i, op, type, &back);
	CHECK(ok);

	/* anything else is refused, or is a total */
	for (int i = 0; i < 2000 && ok; i++)
	{
		memcpy(other, room, n);
		for (uint64_t k = next() % 3; k < 3; k++)
			other[next() % n] ^= (uint8_t) (1u << next() % 8);
		if (readable(other, n, op, type, &back))
			ok &= gpuagg_query_total_write(&back, op, type, room) == n &&
				  memcmp(room, other, n) == 0;
	}
	CHECK(ok);
}

/* Sums that need more than 128 bits, and none that so many rows cannot have. */
static void
test_wide(void)
{
	GpuaggQueryTotal total;
	GpuaggQueryTotal back;
	uint8_t room[GPUAGG_QUERY_TOTAL_MAX_BYTES];
	size_t n;

	gpuagg_query_total_init(&total);
	for (int i = 0; i < 5; i++)
	{
		GpuaggQueryTotal one;

		gpuagg_query_total_init(&one);
		one.reduced.n = 1;
		one.reduced.sum.hi = INT64_MIN;
		one.high = -1;
		gpuagg_query_total_merge(&total, &one, GPUAGG_SUM, GPUAGG_VECTOR_INT128);
	}
	/* -5 * 2^127 is -3 * 2^128 + 2^127 */
	CHECK(total.high == -3 && total.reduced.sum.hi == INT64_MIN && total.reduced.sum.lo == 0);
	n = gpuagg_query_total_write(&total, GPUAGG_SUM, GPUAGG_VECTOR_INT128, room);
	CHECK(readable(room, n, GPUAGG_SUM, GPUAGG_VECTOR_INT128, &back) && back.high == -3);
	total.high = -4;
	n = gpuagg_query_total_write(&total, GPUAGG_SUM, GPUAGG_VECTOR_INT128, room);
	CHECK(!readable(room, n, GPUAGG_SUM, GPUAGG_VECTOR_INT128, &back));

	/* squares: 5 * 2^254 is 1 * 2^256 + 2^254 */
	gpuagg_query_total_init(&total);
	for (int i = 0; i < 5; i++)
	{
		GpuaggQueryTotal one;

		gpuagg_query_total_init(&one);
		one.reduced.n = 1;
		one.reduced.sum.hi = INT64_MIN;
		one.high = -1;
		one.more_squares[0] = UINT64_C(1) << 62;
		gpuagg_query_total_merge(&total, &one, GPUAGG_MOMENTS, GPUAGG_VECTOR_INT128);
	}
	CHECK(total.more_squares[1] == 1 && total.more_squares[0] == UINT64_C(1) << 62);
	n = gpuagg_query_total_write(&total, GPUAGG_MOMENTS, GPUAGG_VECTOR_INT128, room);
	CHECK(n == 8 + 24 + 40 && readable(room, n, GPUAGG_MOMENTS, GPUAGG_VECTOR_INT128, &back) &&
		  back.more_squares[1] == 1 && back.more_squares[0] == UINT64_C(1) << 62);
	total.more_squares[1] = 2;
	n = gpuagg_query_total_write(&total, GPUAGG_MOMENTS, GPUAGG_VECTOR_INT128, room);
	CHECK(!readable(room, n, GPUAGG_MOMENTS, GPUAGG_VECTOR_INT128, &back));

	gpuagg_query_total_init(&total);
	total.reduced.n = 2;
	total.reduced.sum.lo = 65535;
	n = gpuagg_query_total_write(&total, GPUAGG_SUM, GPUAGG_VECTOR_INT16, room);
	CHECK(!readable(room, n, GPUAGG_SUM, GPUAGG_VECTOR_INT16, &back));
}

int
main(void)
{
	for (int i = 0; i < 20; i++)
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			test_kind(kinds[k].op, kinds[k].type);
	test_wide();
	return check_summary();
}
