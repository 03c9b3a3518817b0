/*
 * decimal_quotient.c
 *	  Quotients of sums by counts, with the digits of core's division of numerics.
 *
 * Core estimates a quotient's weight from the first groups of four digits of both numbers, and
 * chooses the scale by that.  The dividend brought to the scale is then divided as an integer.
 */
#include "common/decimal_quotient.h"

#include "common/power_of_ten.h"

#define SUM_DIGITS 36 /* whole groups that can be compared in 128 bits */

typedef unsigned __int128 uint128_t;

/*
 * The weight of the quotient of sum * 10000^-places by n, as core estimates it: one less where the
 * sum's first group is not above that of n.  The sum has so many digits, up to SUM_DIGITS; 0 is of
 * weight 0.
 */
static inline int
quotient_weight(uint128_t sum, int digits, int places, uint64_t n)
{
	int n_weight;
	uint64_t n_first = gpuagg_first_group(n, &n_weight);
	int sum_weight;
	uint128_t above; /* the least number of the sum's weight with a greater first group */

	if (sum == 0)
		return -n_weight - 1;
	sum_weight = (digits - 1) / GPUAGG_GROUP_DIGITS;
	above = (n_first + 1) * (uint128_t) gpuagg_power_of_ten(sum_weight * GPUAGG_GROUP_DIGITS);
	return sum_weight - places - n_weight - (sum < above);
}

int
gpuagg_decimal_quotient(uint128_t sum, int places, int scale, uint64_t n, GpuaggQuotient *quotient)
{
	int groups = (places + GPUAGG_GROUP_DIGITS - 1) / GPUAGG_GROUP_DIGITS;
	int more = groups * GPUAGG_GROUP_DIGITS - places;
	int digits = gpuagg_decimal_digits(sum) + more;
	uint64_t rest;

	/* in whole groups */
	if (digits > SUM_DIGITS)
		return 0;
	sum *= (uint128_t) gpuagg_power_of_ten(more);
	quotient->scale = gpuagg_quotient_scale(quotient_weight(sum, digits, groups, n), scale);

	/* at the scale: what is cut off is 0 */
	more = quotient->scale - groups * GPUAGG_GROUP_DIGITS;
	if (sum != 0 && more > 0)
	{
		if (digits + more > GPUAGG_INT128_DIGITS)
			return 0;
		sum *= (uint128_t) gpuagg_power_of_ten(more);
	}
	else if (sum != 0 && more < 0)
		sum /= (uint128_t) gpuagg_power_of_ten(-more);

	quotient->value = sum >> 64 == 0 ? (uint64_t) sum / n : sum / n;
	rest = (uint64_t) sum - (uint64_t) quotient->value * n;
	quotient->value += rest >= n - rest;
	return 1;
}
