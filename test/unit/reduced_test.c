/*
 * reduced_test.c
 *	  Merging of partial results: empty ones, and carries at every place.
 */
#include "common/reduced.h"

#include "check.h"

static GpuaggReduced
extreme_of(int64_t key)
{
	GpuaggReduced r;

	gpuagg_reduced_init(&r);
	r.n = 1;
	r.sum = gpuagg_int128_from(key);
	return r;
}

static int64_t
merged_extreme(int op, const int64_t *keys, int nkeys, int empty_at)
{
	GpuaggReduced total;
	GpuaggReduced empty;

	gpuagg_reduced_init(&total);
	gpuagg_reduced_init(&empty);
	for (int i = 0; i < nkeys; i++)
	{
		GpuaggReduced r = extreme_of(keys[i]);

		if (i == empty_at)
			gpuagg_reduced_merge(&total, &empty, GPUAGG_INT64, op);
		gpuagg_reduced_merge(&total, &r, GPUAGG_INT64, op);
	}
	CHECK(total.n == (uint64_t) nkeys);
	return (int64_t) total.sum.lo;
}

/* An empty result has key 0, which must not count. */
static void
test_extremes(void)
{
	static const int64_t above[] = {7, 5, INT64_MAX};
	static const int64_t below[] = {-7, INT64_MIN, -5};
	static const int64_t both[] = {-1, 0, 1};

	for (int at = 0; at < 3; at++)
	{
		CHECK(merged_extreme(GPUAGG_MIN, above, 3, at) == 5);
		CHECK(merged_extreme(GPUAGG_MAX, above, 3, at) == INT64_MAX);
		CHECK(merged_extreme(GPUAGG_MIN, below, 3, at) == INT64_MIN);
		CHECK(merged_extreme(GPUAGG_MAX, below, 3, at) == -5);
		CHECK(merged_extreme(GPUAGG_MIN, both, 3, at) == -1);
		CHECK(merged_extreme(GPUAGG_MAX, both, 3, at) == 1);
	}
}

static void
test_integer_moments(void)
{
	GpuaggReduced a;
	GpuaggReduced b;

	gpuagg_reduced_init(&a);
	gpuagg_reduced_init(&b);
	a.n = 3;
	a.sum = gpuagg_int128_from(-4);
	a.squares[0] = UINT64_MAX;
	a.squares[1] = UINT64_MAX;
	a.squares[2] = 6;
	b.n = 1;
	b.sum = gpuagg_int128_from(1);
	b.squares[0] = 1;
	gpuagg_reduced_merge(&a, &b, GPUAGG_INT64, GPUAGG_MOMENTS);
	CHECK(a.n == 4 && a.sum.hi == -1 && a.sum.lo == (uint64_t) -3);
	CHECK(a.squares[0] == 0 && a.squares[1] == 0 && a.squares[2] == 7);

	/* a carry into a word whose bits are all set */
	a.squares[0] = UINT64_MAX;
	a.squares[1] = 0;
	b.squares[0] = UINT64_MAX;
	b.squares[1] = UINT64_MAX;
	gpuagg_reduced_merge(&a, &b, GPUAGG_INT64, GPUAGG_MOMENTS);
	CHECK(a.squares[0] == UINT64_MAX - 1 && a.squares[1] == 0 && a.squares[2] == 8);

	/* squares are no part of a sum */
	gpuagg_reduced_merge(&a, &b, GPUAGG_INT64, GPUAGG_SUM);
	CHECK(a.squares[2] == 8 && a.n == 6 && a.sum.lo == (uint64_t) -1);
	gpuagg_reduced_merge(&a, &b, GPUAGG_INT64, GPUAGG_COUNT);
	CHECK(a.n == 7 && a.sum.lo == (uint64_t) -1);
}

static void
test_float_moments(void)
{
	GpuaggReduced a;
	GpuaggReduced b;
	double sum = 0;
	int zero = 1;

	gpuagg_reduced_init(&a);
	gpuagg_reduced_init(&b);
	gpuagg_float_sum_deposit(gpuagg_float_sum_of(&a.f), 0.75, 1);
	gpuagg_float_sum_deposit(gpuagg_float_sum_of(&b.f), -0.5, 1);
	gpuagg_float_sum_propagate(gpuagg_float_sum_of(&b.f));
	a.n = b.n = 1;
	for (int i = 0; i < GPUAGG_SQUARE_CHUNKS - 1; i++)
		a.f_squares[i] = UINT32_MAX;
	b.f_squares[0] = 1;
	gpuagg_reduced_merge(&a, &b, GPUAGG_FLOAT64, GPUAGG_MOMENTS);
	CHECK(a.n == 2 && a.f.counts.n == 2);
	CHECK(gpuagg_float_sum_round64(gpuagg_float_sum_of(&a.f), &sum) == GPUAGG_ROUNDED_VALUE &&
		  sum == 0.25);
	for (int i = 0; i < GPUAGG_SQUARE_CHUNKS - 1; i++)
		zero &= a.f_squares[i] == 0;
	CHECK(zero && a.f_squares[GPUAGG_SQUARE_CHUNKS - 1] == 1);

	/* the two largest sums of squares that there can be */
	for (int i = 0; i < GPUAGG_SQUARE_CHUNKS - 1; i++)
		a.f_squares[i] = b.f_squares[i] = UINT32_MAX;
	a.f_squares[GPUAGG_SQUARE_CHUNKS - 1] = b.f_squares[GPUAGG_SQUARE_CHUNKS - 1] =
		(INT64_C(1) << 58) - 1;
	gpuagg_reduced_merge(&a, &b, GPUAGG_FLOAT64, GPUAGG_MOMENTS);
	CHECK(a.f_squares[0] == UINT32_MAX - 1 && a.f_squares[1] == UINT32_MAX);
	CHECK(a.f_squares[GPUAGG_SQUARE_CHUNKS - 1] == (INT64_C(1) << 59) - 1);
}

int
main(void)
{
	test_extremes();
	test_integer_moments();
	test_float_moments();
	return check_summary();
}
