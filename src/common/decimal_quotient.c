/*
 * decimal_quotient.c
 *	  Quotients of sums by counts, with the digits of core's division of numerics.
 *
 * Core estimates a quotient's weight from the first groups of four digits of both numbers, and
 * chooses the scale by that.  The dividend brought to the scale is then divided as an integer.
 */
#include "common/decimal_quotient.h"

#include "common/decimal_limbs.h"
#include "common/power_of_ten.h"

#define GROUP_DIGITS 4
#define MIN_DIGITS	 16 /* significant, of a quotient */
#define MAX_SCALE	 1000
#define SUM_DIGITS	 36 /* whole groups that can be compared in 128 bits */

typedef unsigned __int128 uint128_t;

int
gpuagg_quotient_scale(int weight, int scale)
{
	int digits = MIN_DIGITS - weight * GROUP_DIGITS;

	if (digits < scale)
		digits = scale;
	return digits > MAX_SCALE ? MAX_SCALE : digits;
}

/*
 * The weight of the quotient of sum * 10000^-places by n, as core estimates it: one less where the
 * sum's first group is not above that of n.  The sum has up to SUM_DIGITS; 0 is of weight 0.
 */
static int
quotient_weight(uint128_t sum, int places, uint64_t n)
{
	int n_weight = (gpuagg_decimal_digits(n) - 1) / GROUP_DIGITS;
	uint64_t n_first = n_weight == 0 ? n : n / gpuagg_decimal_power(n_weight);
	int sum_weight;
	uint128_t above; /* the least number of the sum's weight with a greater first group */

	if (sum == 0)
		return -n_weight - 1;
	sum_weight = (gpuagg_decimal_digits(sum) - 1) / GROUP_DIGITS;
	above = (n_first + 1) * (uint128_t) gpuagg_power_of_ten(sum_weight * GROUP_DIGITS);
	return sum_weight - places - n_weight - (sum < above);
}

/* *value * 10^exponent; 0: not in 128 bits.  What is cut off is 0. */
static int
scale_by(uint128_t *value, int exponent)
{
	if (*value == 0 || exponent == 0)
		return 1;
	if (exponent > 0 && gpuagg_decimal_digits(*value) + exponent > GPUAGG_INT128_DIGITS)
		return 0;
	if (exponent > 0)
		*value *= (uint128_t) gpuagg_power_of_ten(exponent);
	else
		*value /= (uint128_t) gpuagg_power_of_ten(-exponent);
	return 1;
}

int
gpuagg_decimal_quotient(uint128_t sum, int places, int scale, uint64_t n, GpuaggQuotient *quotient)
{
	int groups = (places + GROUP_DIGITS - 1) / GROUP_DIGITS;
	uint64_t rest;

	/* whole groups */
	if (gpuagg_decimal_digits(sum) > SUM_DIGITS - GROUP_DIGITS ||
		!scale_by(&sum, groups * GROUP_DIGITS - places))
		return 0;
	quotient->scale = gpuagg_quotient_scale(quotient_weight(sum, groups, n), scale);
	if (!scale_by(&sum, quotient->scale - groups * GROUP_DIGITS))
		return 0;
	quotient->value = sum >> 64 == 0 ? (uint64_t) sum / n : sum / n;
	rest = (uint64_t) sum - (uint64_t) quotient->value * n;
	quotient->value += rest >= n - rest;
	return 1;
}
