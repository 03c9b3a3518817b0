/*
 * float_moments.c
 *	  Averages, variances and standard deviations from exact sums.
 */
#include "common/float_moments.h"

#include <math.h>

#include "common/float_squares.h"
#include "common/natural.h"

GpuaggRounded
gpuagg_float_average(const GpuaggFloatSum *sum, double *result)
{
	const GpuaggFloatCounts *c = &sum->counts;
	GpuaggNatural magnitude;
	int negative;

	if (c->n <= 0 || c->n_nan > 0 || c->n_pinf > 0 || c->n_ninf > 0)
		return gpuagg_float_sum_round64(sum, result);

	if (gpuagg_float_sum_quotient(sum, (uint64_t) c->n, result))
		return GPUAGG_ROUNDED_VALUE;
	negative = gpuagg_natural_from_chunks(&magnitude, sum->chunk, sum->base, sum->width);
	if (magnitude.width == 0)
		negative = c->n_negzero == c->n;
	*result = gpuagg_natural_quotient(&magnitude, GPUAGG_MIN_EXPONENT, (uint64_t) c->n, 1);
	if (isinf(*result))
		return GPUAGG_ROUNDED_OVERFLOW; /* not possible for a sum of n doubles */
	if (negative)
		*result = -*result;
	return GPUAGG_ROUNDED_VALUE;
}

GpuaggRounded
gpuagg_float_variance(const GpuaggFloatSum *sum, const GpuaggFloatSum *squares, int sample,
					  int root, double *result)
{
	const GpuaggFloatCounts *c = &sum->counts;
	GpuaggNatural deviations; /* n Q - S^2, in units of 2^-2148 */
	GpuaggNatural square;
	GpuaggNatural magnitude;
	uint64_t divisor;

	if (c->n <= (sample ? 1 : 0))
		return GPUAGG_ROUNDED_NULL;
	if (c->n_nan > 0 || c->n_pinf > 0 || c->n_ninf > 0)
	{
		*result = NAN;
		return GPUAGG_ROUNDED_VALUE;
	}

	(void) gpuagg_natural_from_chunks(&magnitude, sum->chunk, sum->base, sum->width);
	gpuagg_natural_square(&square, &magnitude);
	(void) gpuagg_natural_from_chunks(&deviations, squares->chunk, squares->base, squares->width);
	gpuagg_natural_multiply(&deviations, (uint64_t) c->n);
	if (!gpuagg_natural_subtract(&deviations, &square))
		deviations.width = 0; /* not possible for real values: (sum of x)^2 <= n * (sum of x^2) */

	divisor = (uint64_t) c->n - (sample ? 1 : 0);
	*result = root ? gpuagg_natural_quotient_root(&deviations, GPUAGG_SQUARES_MIN_EXPONENT,
												  (uint64_t) c->n, divisor)
				   : gpuagg_natural_quotient(&deviations, GPUAGG_SQUARES_MIN_EXPONENT,
											 (uint64_t) c->n, divisor);
	return isinf(*result) ? GPUAGG_ROUNDED_OVERFLOW : GPUAGG_ROUNDED_VALUE;
}
