/*
 * int_sum_test.c
 *	  Sums of integers and of intervals: subtracted, merged, written and read.
 */
#include "common/int_sum.h"
#include "common/interval_sum.h"

#include <string.h>

#include "check.h"
#include "random.h"


static int64_t
any_value(void)
{
	static const int64_t few[] = {INT64_MIN, INT64_MAX, -1, 0, 1, INT64_C(1) << 32};

	return next() % 2 ? few[next() % 6] : (int64_t) next() >> next() % 64;
}

static int
same(const GpuaggIntSum *a, const GpuaggIntSum *b)
{
	return a->n == b->n && a->sum.lo == b->sum.lo && a->sum.hi == b->sum.hi &&
		   a->moments == b->moments && memcmp(a->squares, b->squares, sizeof(a->squares)) == 0;
}

static int
decoded(const uint8_t *bytes, size_t n, GpuaggIntSum *acc)
{
	GpuaggReader reader = {bytes, n, 0};

	return gpuagg_int_decode(&reader, acc) && reader.left == 0;
}

static int
survives(const GpuaggIntSum *acc)
{
	uint8_t room[GPUAGG_INT_MAX_BYTES];
	size_t n = gpuagg_int_encode(acc, room);
	GpuaggIntSum back;

	return n == (acc->moments ? sizeof(room) : 25) && decoded(room, n, &back) && same(acc, &back) &&
		   !decoded(room, n - 1, &back);
}

/* Values that are added and subtracted again leave nothing; merged parts are the whole. */
static void
test_arithmetic(int moments)
{
	GpuaggIntSum whole = {.moments = moments};
	GpuaggIntSum part = {.moments = moments};
	GpuaggIntSum empty = {.moments = moments};
	int64_t values[100];
	int ok = 1;

	for (int i = 0; i < 100; i++)
	{
		values[i] = any_value();
		gpuagg_int_sum_add(&whole, values[i], moments);
		gpuagg_int_sum_add(&part, values[i], moments);
		if (next() % 10 == 0)
		{
			gpuagg_int_sum_merge(&empty, &part);
			memset(&part, 0, sizeof(part));
			part.moments = moments;
		}
		ok &= survives(&whole);
	}
	gpuagg_int_sum_merge(&part, &empty);
	CHECK(same(&part, &whole));
	memset(&empty, 0, sizeof(empty));
	empty.moments = moments;
	for (int i = 99; i >= 0; i--)
		gpuagg_int_sum_remove(&whole, values[i * 37 % 100], moments);
	CHECK(same(&whole, &empty));
	CHECK(ok && survives(&empty));
}

/* The largest sums that n values can have are accepted, and refused if one larger. */
static void
test_bounds(void)
{
	static const int64_t counts[] = {0, 1, 2, 3, 4, 5, 1000, INT64_C(1) << 40, GPUAGG_MAX_COUNT};
	uint8_t room[GPUAGG_INT_MAX_BYTES];
	GpuaggIntSum back;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
	{
		uint64_t n = (uint64_t) counts[i];
		GpuaggIntSum acc = {.n = counts[i], .moments = 1};

		acc.sum.hi = (int64_t) - (n >> 1) - (int64_t) (n & 1); /* -n * 2^63 */
		acc.sum.lo = n << 63;
		acc.squares[1] = n << 62;
		acc.squares[2] = n >> 2;
		CHECK(survives(&acc));
		acc.squares[0] = 1;
		CHECK(!decoded(room, gpuagg_int_encode(&acc, room), &back));
		acc.squares[0] = 0;
		acc.sum = gpuagg_int128_add(acc.sum, gpuagg_int128_from(-1));
		CHECK(!decoded(room, gpuagg_int_encode(&acc, room), &back));
	}
	{
		GpuaggIntSum acc = {.n = 1, .sum = {UINT64_C(1) << 63, 0}};

		CHECK(!decoded(room, gpuagg_int_encode(&acc, room), &back));
		acc.sum.lo--;
		CHECK(survives(&acc));
		acc.moments = 2;
		CHECK(!decoded(room, gpuagg_int_encode(&acc, room), &back));
		acc.moments = 0;
		acc.n = -1;
		CHECK(!decoded(room, gpuagg_int_encode(&acc, room), &back));
		acc.n = GPUAGG_MAX_COUNT + 1;
		CHECK(!decoded(room, gpuagg_int_encode(&acc, room), &back));
	}
}

static int
interval_decoded(const GpuaggIntervalSum *acc, GpuaggIntervalSum *back)
{
	uint8_t room[GPUAGG_INTERVAL_MAX_BYTES];
	size_t n = gpuagg_interval_encode(acc, room);
	GpuaggReader reader = {room, n, 0};

	return n == sizeof(room) && gpuagg_interval_decode(&reader, back) && reader.left == 0;
}

static void
test_intervals(void)
{
	GpuaggIntervalSum acc = {.n = 3, .n_pinf = 1, .n_ninf = 1};
	GpuaggIntervalSum back;

	acc.months = gpuagg_int128_from(INT32_MIN);
	acc.days = gpuagg_int128_from(INT32_MAX);
	acc.micros = gpuagg_int128_from(INT64_MIN);
	CHECK(interval_decoded(&acc, &back) && back.n == 3 && back.n_pinf == 1 && back.n_ninf == 1 &&
		  (int64_t) back.months.lo == INT32_MIN && (int64_t) back.days.lo == INT32_MAX &&
		  (int64_t) back.micros.lo == INT64_MIN && back.micros.hi == -1);
	acc.days = gpuagg_int128_add(acc.days, gpuagg_int128_from(1));
	CHECK(!interval_decoded(&acc, &back));
	acc.days = acc.months;
	CHECK(interval_decoded(&acc, &back));
	acc.n_pinf = 3; /* more infinities than values */
	CHECK(!interval_decoded(&acc, &back));
	acc.n_pinf = 2; /* sums without a finite value */
	CHECK(!interval_decoded(&acc, &back));
	memset(&acc, 0, sizeof(acc));
	CHECK(interval_decoded(&acc, &back));
}

int
main(void)
{
	seed = 7;
	for (int i = 0; i < 200; i++)
	{
		test_arithmetic(0);
		test_arithmetic(1);
	}
	test_bounds();
	test_intervals();
	return check_summary();
}
