/*
 * decimal_variance.c
 *	  Variances of decimal numbers from their exact sums, with core's display scales.
 *
 * The variance is d / (n * m), where d is n * squares - sum * sum and m is n or
 * n - 1.  As both divisors are integers, cutting off digits far enough after the point
 * after each division gives the digits of the exact quotient.
 */
#include "common/decimal_variance.h"

#include "common/decimal_quotient.h"

#define LIMB_DIGITS 16

/* n * squares - sum * sum. */
static void
numerator(GpuaggDecimalSum *acc, const GpuaggMemory *memory, GpuaggLimbs *d)
{
	GpuaggLimbs sum;
	GpuaggLimbs squares;
	uint64_t *limb;
	int borrow = 0;

	gpuagg_decimal_limbs(acc, 0, memory, &sum);
	gpuagg_decimal_limbs(acc, 1, memory, &squares);

	/* each is below 2^54 * 2^63; the square that is subtracted is below 2^121 */
	*d = squares;
	for (int i = 0; i < d->width; i++)
		d->limb[i] = gpuagg_int128_narrow(gpuagg_int128_wide(d->limb[i]) * acc->fast.n);
	if (sum.width > 0)
	{
		limb = memory->resize(memory->owner, NULL, sum.width * sizeof(uint64_t));
		for (int i = 0; i < sum.width; i++)
			limb[i] = gpuagg_limb_magnitude(&sum, i, gpuagg_limbs_negative(&sum), &borrow);
		gpuagg_limbs_add_square(memory, d, limb, sum.first, sum.width, -1);
		memory->resize(memory->owner, limb, 0);
	}
	gpuagg_limbs_propagate(memory, d);
	gpuagg_limbs_free(memory, &sum);
}

/* The scale of d / divisor, where d has `scale`. */
static int
quotient_scale(const GpuaggLimbs *d, unsigned __int128 divisor, int scale)
{
	int top = d->width - 1;
	int weight;
	int divisor_weight;
	uint64_t first;
	uint64_t divisor_first;

	while (gpuagg_int128_wide(d->limb[top]) == 0)
		top--;
	first = gpuagg_first_group((unsigned __int128) gpuagg_int128_wide(d->limb[top]), &weight);
	divisor_first = gpuagg_first_group(divisor, &divisor_weight);
	weight += (d->first + top) * GPUAGG_LIMB_GROUPS - divisor_weight;
	if (first <= divisor_first)
		weight--;
	return gpuagg_quotient_scale(weight, scale);
}

/* Divides positive limbs down to limb number `lowest`; those below become 0. */
static void
divide(GpuaggLimbs *limbs, uint64_t by, int lowest)
{
	uint64_t rest = 0;

	for (int i = limbs->width - 1; i >= 0; i--)
	{
		unsigned __int128 v = (unsigned __int128) rest * GPUAGG_LIMB + limbs->limb[i].lo;
		int kept = limbs->first + i >= lowest;

		limbs->limb[i] = gpuagg_int128_narrow(kept ? (__int128) (v / by) : 0);
		rest = (uint64_t) (v % by);
	}
}

/* Rounds positive limbs half up by the digit after the scale, which is in limb `lowest`. */
static void
round_half_up(const GpuaggMemory *memory, GpuaggLimbs *limbs, int scale, int lowest)
{
	GpuaggInt128 *limb = &limbs->limb[lowest - limbs->first];
	uint64_t digit = 1; /* the weight of that digit in the limb */
	uint64_t rest;

	for (int i = scale + 1; i < -lowest * LIMB_DIGITS; i++)
		digit *= 10;
	rest = limb->lo % (digit * 10);
	*limb = gpuagg_int128_from((int64_t) (limb->lo - rest + (rest >= digit * 5 ? digit * 10 : 0)));
	gpuagg_limbs_propagate(memory, limbs);
}

int
gpuagg_decimal_variance(GpuaggDecimalSum *acc, int sample, const GpuaggMemory *memory,
						GpuaggLimbs *variance)
{
	uint64_t n = (uint64_t) acc->fast.n;
	uint64_t m = sample ? n - 1 : n;
	int zero = 1;
	int scale;
	int lowest;

	numerator(acc, memory, variance);
	for (int i = 0; i < variance->width; i++)
		zero = zero && gpuagg_int128_wide(variance->limb[i]) == 0;
	if (zero || gpuagg_limbs_negative(variance))
	{
		gpuagg_limbs_free(memory, variance);
		return 0;
	}
	scale = quotient_scale(variance, (unsigned __int128) n * m, 2 * acc->scale);
	lowest = -(scale / LIMB_DIGITS + 1);
	gpuagg_limbs_reserve(memory, variance, lowest, lowest);
	divide(variance, n, lowest);
	divide(variance, m, lowest);
	round_half_up(memory, variance, scale, lowest);
	return scale;
}
