/*
 * decimal_quotient_test.c
 *	  Quotients beside long division, digit by digit, and the scale beside core's rule, by groups.
 */
#include "common/decimal_quotient.h"
#include "common/power_of_ten.h"

#include <string.h>

#include "check.h"
#include "random.h"

typedef unsigned __int128 uint128_t;

/* The first group of four digits of a number that is not 0, and its weight; else 0. */
typedef struct Groups
{
	int weight;
	unsigned first;
} Groups;

static Groups
groups_of(uint128_t sum, int places)
{
	char digit[128] = {0};
	int behind = (places + 3) / 4 * 4;
	int n = behind - places;
	Groups groups = {0};

	for (uint128_t v = sum; v > 0; v /= 10)
		digit[n++] = (char) (v % 10);
	for (int g = 30; g >= 0 && sum > 0; g--)
	{
		unsigned value = digit[4 * g] + 10u * digit[4 * g + 1] + 100u * digit[4 * g + 2] +
						 1000u * digit[4 * g + 3];

		if (value == 0)
			continue;
		groups.weight = g - behind / 4;
		groups.first = value;
		break;
	}
	return groups;
}

/* As core's select_div_scale(). */
static int
scale_of(uint128_t sum, int places, int scale, uint64_t n)
{
	Groups a = groups_of(sum, places);
	Groups b = groups_of(n, 0);
	int weight = a.weight - b.weight;
	int digits;

	if (a.first <= b.first)
		weight--;
	digits = 16 - weight * 4;
	digits = digits < scale ? scale : digits;
	return digits < 0 ? 0 : digits > 1000 ? 1000 : digits;
}

/* The same as the quotient, which is told to be there. */
static int
same(uint128_t sum, int places, int scale, uint64_t n, const GpuaggQuotient *quotient)
{
	char digit[128];
	int ndigits = 0;
	uint128_t rest = 0;
	uint128_t value = 0;
	int wanted = scale_of(sum, places, scale, n);

	if (quotient->scale != wanted)
		return 0;
	for (uint128_t v = sum; v > 0; v /= 10)
		digit[ndigits++] = (char) (v % 10);
	for (int i = ndigits - 1; i >= places - wanted - 1; i--)
	{
		int last = i == places - wanted - 1;

		rest = rest * 10 + (i >= 0 && i < ndigits ? digit[i] : 0);
		if (last)
			value += rest / n >= 5;
		else
			value = value * 10 + rest / n;
		rest %= n;
	}
	return value == quotient->value;
}

static int fits;
static int misses;

static int
agrees(uint128_t sum, int places, int scale, uint64_t n)
{
	GpuaggQuotient quotient;

	if (!gpuagg_decimal_quotient(sum, places, scale, n, &quotient))
	{
		misses++;
		return 1;
	}
	fits++;
	return same(sum, places, scale, n, &quotient);
}

/* Numbers beside powers of ten and of two, and any of random length. */
static uint128_t
any_number(int bits)
{
	uint128_t v = (uint128_t) next() << 64 | next();
	int shift = 128 - 1 - (int) (next() % (unsigned) bits);

	switch (next() % 4)
	{
		case 0:
			return (uint128_t) gpuagg_power_of_ten((int) (next() % 39)) + next() % 3 - 1;
		case 1:
			return ((uint128_t) 1 << next() % 127) + next() % 3 - 1;
		case 2:
			return (uint128_t) (next() % 10000) *
				   (uint128_t) gpuagg_power_of_ten((int) (next() % 34));
		default:
			return v >> shift;
	}
}

static uint64_t
any_count(void)
{
	uint64_t n = next() % 2 == 0
					 ? (uint64_t) gpuagg_power_of_ten((int) (next() % 19)) + next() % 3 - 1
					 : next() >> (1 + next() % 63);

	return n == 0 ? 1 : n;
}

static void
test_random(void)
{
	int ok = 1;

	for (int i = 0; i < 300000 && ok; i++)
	{
		int places = (int) (next() % 20);
		int scale = places + (next() % 4 == 0 ? (int) (next() % 30) : 0);

		ok = agrees(any_number(127), places, scale, any_count());
	}
	CHECK(ok);
	CHECK(misses > 0 && fits > misses);
}

/* What sums of columns have is always in 128 bits: 10^32 by up to 10^12. */
static void
test_always(void)
{
	int ok = 1;

	misses = 0;
	for (int i = 0; i < 100000 && ok; i++)
	{
		uint128_t sum = any_number(100);
		uint64_t n = any_count();

		if (sum < (uint128_t) gpuagg_power_of_ten(32) && n < UINT64_C(1000000000000))
			ok = agrees(sum, 0, 0, n) && agrees(sum, 2, 2, n) && misses == 0;
	}
	CHECK(ok);
}

/* First groups of sums that are less than, equal to and greater than those of counts. */
static void
test_first_groups(void)
{
	static const unsigned first[] = {1, 2, 9, 10, 99, 4999, 5000, 9998, 9999};
	int ok = 1;

	for (unsigned a = 0; a < sizeof(first) / sizeof(first[0]); a++)
		for (int weight = 0; weight < 4; weight++)
			for (int groups = 0; groups < 7; groups++)
				for (int more = -1; more <= 1; more++)
				{
					uint64_t unit = (uint64_t) gpuagg_power_of_ten(4 * weight);
					uint64_t n = first[a] * unit + next() % unit;
					uint128_t sum = (uint128_t) (first[a] + more) *
									(uint128_t) gpuagg_power_of_ten(4 * groups);

					for (int places = 0; places < 12; places++)
						ok = ok && agrees(sum, places, places, n) &&
							 agrees(sum + 1, places, places, n) &&
							 (sum == 0 || agrees(sum - 1, places, places, n));
				}
	CHECK(ok);
}

/* The greatest scale of quotients by counts of so many groups is no less than any, and is reached. */
static void
test_most_scale(void)
{
	int ok = 1;

	for (int places = 0; places < 20; places++)
		for (int groups = 0; groups < 4; groups++)
		{
			uint64_t unit = (uint64_t) gpuagg_power_of_ten(4 * groups);
			int most = gpuagg_quotient_most_scale(places, groups);

			ok = ok && scale_of(1, (places + 3) / 4 * 4, places, unit) == most;
			for (int i = 0; i < 1000 && ok; i++)
				ok = scale_of(any_number(100), places, places, 1 + next() % (10000 * unit - 1)) <=
					 most;
		}
	CHECK(ok);
}

/* Quotients whose digits end behind the scale's last: ties go up, and just below them not. */
static void
test_ties(void)
{
	int ok = 1;

	for (int i = 0; i < 100000 && ok; i++)
	{
		uint64_t n = 2 * (1 + next() % 1000000) *
					 (uint64_t) gpuagg_power_of_ten((int) (next() % 3));
		uint128_t odd = (uint128_t) (next() >> next() % 40) * 2 + 1;
		uint128_t sum = odd * (n / 2);
		int scale = 20 + (int) (next() % 10);

		/* the quotient is odd / 2 units of the last place, and more or less */
		for (int more = -1; more <= 1; more++)
			ok = ok && agrees(sum + more, scale, scale, n) &&
				 agrees(sum + more, scale - 8, scale - 8, n);
	}
	CHECK(ok);
}

static void
test_digits(void)
{
	uint128_t v = 0;
	int ok = gpuagg_decimal_digits(0) == 0;

	for (int n = 0; n <= 38; n++)
	{
		uint128_t power = (uint128_t) gpuagg_power_of_ten(n);

		ok = ok && power == (n == 0 ? 1 : v * 10) && gpuagg_decimal_digits(power) == n + 1 &&
			 gpuagg_decimal_digits(power - 1) == n;
		v = power;
	}
	CHECK(ok);
	CHECK(gpuagg_decimal_digits((uint128_t) 1 << 127) == 39 &&
		  gpuagg_decimal_digits(~(uint128_t) 0) == 39);
}

static void
test_known(void)
{
	GpuaggQuotient q;

	CHECK(gpuagg_decimal_quotient(0, 0, 0, 3, &q) && q.value == 0 && q.scale == 20);
	CHECK(gpuagg_decimal_quotient(10, 0, 0, 3, &q) && q.value == UINT64_C(33333333333333333) &&
		  q.scale == 16);
	CHECK(gpuagg_decimal_quotient(1, 0, 0, 6, &q) && q.value == UINT64_C(16666666666666666667) &&
		  q.scale == 20);
	CHECK(gpuagg_decimal_quotient(1, 0, 30, 8, &q) && q.scale == 30);
	CHECK(gpuagg_decimal_quotient(0, 16, 2000, 8, &q) && q.scale == 1000);
}

int
main(void)
{
	test_digits();
	test_known();
	test_random();
	test_always();
	test_first_groups();
	test_most_scale();
	test_ties();
	return check_summary();
}
