/*
 * families.cc
 *	  Columns whose sums are hard.
 */
#include "harness.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double
uniform(Random &random, uint64_t, uint64_t)
{
	return (double) (random.next() >> 11) * 0x1p-53;
}

static double
signed_normalish(Random &random, uint64_t, uint64_t)
{
	double sum = 0;

	for (int i = 0; i < 4; i++)
		sum += uniform(random, 0, 0) - 0.5;
	return sum * 100;
}

static double
any_finite(Random &random, uint64_t, uint64_t)
{
	for (;;)
	{
		uint64_t bits = random.next();
		double x;

		memcpy(&x, &bits, sizeof(x));
		if (isfinite(x))
			return x;
	}
}

static double
anything(Random &random, uint64_t row, uint64_t nrows)
{
	switch (random.below(200))
	{
		case 0:
			return INFINITY;
		case 1:
			return -0.0;
		case 2:
			return 0.0;
		case 3:
			return -NAN;
		default:
			return any_finite(random, row, nrows);
	}
}

static double
powers(Random &random, uint64_t, uint64_t)
{
	double x = ldexp(1.0, random.between(0, 120));

	return random.below(2) ? x : -x;
}

/* Small integers and halves of an ulp around 2^53: ties everywhere. */
static double
ties(Random &random, uint64_t row, uint64_t)
{
	if (row == 0)
		return 0x1p53;
	switch (random.below(6))
	{
		case 0:
			return 1;
		case 1:
			return -1;
		case 2:
			return 0.5;
		case 3:
			return -0.5;
		case 4:
			return 0x1p-80;
		default:
			return -0x1p-80;
	}
}

static double
subnormal(Random &random, uint64_t, uint64_t)
{
	double x = (double) (random.next() >> 12) * DBL_TRUE_MIN;

	return random.below(2) ? x : -x;
}

static double
smallest(Random &random, uint64_t, uint64_t)
{
	return random.below(3) ? DBL_TRUE_MIN : -DBL_MIN;
}

/* Partial sums exceed the largest double and come back. */
static double
near_overflow(Random &random, uint64_t, uint64_t)
{
	switch (random.below(6))
	{
		case 0:
		case 1:
			return DBL_MAX;
		case 2:
		case 3:
			return -DBL_MAX;
		case 4:
			return 0x1p970;
		default:
			return -0x1p969;
	}
}

static double
half_ulp_of_max(Random &, uint64_t row, uint64_t)
{
	return row == 0 ? DBL_MAX : row == 1 ? nextafter(0x1p970, 0) : row == 2 ? 0x1p917 : 0;
}

static double
negative_zero(Random &, uint64_t, uint64_t)
{
	return -0.0;
}

static double
mostly_negative_zero(Random &, uint64_t row, uint64_t nrows)
{
	return row == nrows / 2 ? 0.0 : -0.0;
}

static double
zero(Random &, uint64_t, uint64_t)
{
	return 0.0;
}

static double
all_nan(Random &random, uint64_t, uint64_t)
{
	return random.below(2) ? NAN : -NAN;
}

static double
infinities(Random &random, uint64_t row, uint64_t nrows)
{
	if (row == nrows / 3)
		return INFINITY;
	if (row == nrows - nrows / 4)
		return -INFINITY;
	return uniform(random, row, nrows);
}

static double
negative_infinity(Random &random, uint64_t row, uint64_t nrows)
{
	return row == nrows / 2 ? -INFINITY : uniform(random, row, nrows);
}

static double
one_nan(Random &random, uint64_t row, uint64_t nrows)
{
	return row == nrows * 2 / 3 ? NAN : uniform(random, row, nrows);
}

static double
sentinel_first(Random &random, uint64_t row, uint64_t nrows)
{
	return row == 0 ? 1e300 : uniform(random, row, nrows);
}

static double
sentinel_last(Random &random, uint64_t row, uint64_t nrows)
{
	return row == nrows - 1 ? -1e300 : uniform(random, row, nrows);
}

static double
sentinel_within(Random &random, uint64_t row, uint64_t nrows)
{
	return row == nrows / 2 ? 1e30 : uniform(random, row, nrows);
}

static double
growing(Random &random, uint64_t row, uint64_t nrows)
{
	return ldexp(uniform(random, row, nrows), (int) ((double) row / (double) nrows * 2000) - 1000);
}

static double
shrinking(Random &random, uint64_t row, uint64_t nrows)
{
	return ldexp(uniform(random, row, nrows) - 0.5,
				 1000 - (int) ((double) row / (double) nrows * 2000));
}

static double
cancelling(Random &random, uint64_t row, uint64_t)
{
	Random pair(row / 2 * 0x9e3779b97f4a7c15u + 7);
	double x = ldexp((double) (pair.next() >> 11), (int) pair.below(100) - 50);

	(void) random;
	return row % 2 ? -x : x;
}

static double
prices(Random &random, uint64_t, uint64_t)
{
	return (double) random.below(1000000) / 100;
}

const std::vector<FloatFamily> float_families = {
	{"uniform", uniform, true},
	{"normal", signed_normalish, true},
	{"prices", prices, true},
	{"powers", powers, true},
	{"ties", ties, true},
	{"cancelling", cancelling, true},
	{"subnormal", subnormal, true},
	{"smallest", smallest, true},
	{"near overflow", near_overflow, true},
	{"half ulp of the largest", half_ulp_of_max, true},
	{"-0", negative_zero, true},
	{"-0 but one", mostly_negative_zero, true},
	{"0", zero, true},
	{"NaN", all_nan, true},
	{"one NaN", one_nan, true},
	{"infinities", infinities, true},
	{"-infinity", negative_infinity, true},
	{"sentinel within", sentinel_within, true},
	{"sentinel first", sentinel_first, false},
	{"sentinel last", sentinel_last, false},
	{"growing", growing, false},
	{"shrinking", shrinking, false},
	{"any finite", any_finite, false},
	{"anything", anything, false},
};

static int64_t
any_integer(Random &random, uint64_t, int64_t min, int64_t)
{
	return min == INT64_MIN ? (int64_t) random.next() : (int64_t) (int32_t) random.next();
}

static int64_t
small_integer(Random &random, uint64_t, int64_t, int64_t)
{
	return random.between(-100, 100);
}

static int64_t
smallest_integer(Random &, uint64_t, int64_t min, int64_t)
{
	return min;
}

static int64_t
largest_integer(Random &, uint64_t, int64_t, int64_t max)
{
	return max;
}

static int64_t
extreme_integers(Random &random, uint64_t row, int64_t min, int64_t max)
{
	return random.below(3) == 0 ? (int64_t) row - 5 : random.below(2) ? min : max;
}

static int64_t
minus_one(Random &, uint64_t, int64_t, int64_t)
{
	return -1;
}

const std::vector<IntegerFamily> integer_families = {
	{"any", any_integer},		  {"small", small_integer},		  {"smallest", smallest_integer},
	{"largest", largest_integer}, {"extremes", extreme_integers}, {"-1", minus_one},
};
