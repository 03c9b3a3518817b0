/*
 * decimal_quotient.h
 *	  Quotients of sums by counts, with the digits of core's division of numerics.
 */
#ifndef GPUAGG_DECIMAL_QUOTIENT_H
#define GPUAGG_DECIMAL_QUOTIENT_H

#include <stdint.h>

typedef struct GpuaggQuotient
{
	unsigned __int128 value; /* times 10^-scale */
	int scale;
} GpuaggQuotient;

/*
 * The display scale of a quotient whose first group of four digits has this weight, by estimate:
 * at least the dividend's, with 16 significant digits if that gives more, and at most 1000.
 */
extern int gpuagg_quotient_scale(int weight, int scale);

/*
 * A sum, times 10^-places, divided by n > 0 and rounded half up.  The sum is of display scale `scale`
 * and has no digits behind that.  0: 128 bits are too few.
 */
extern int gpuagg_decimal_quotient(unsigned __int128 sum, int places, int scale, uint64_t n,
								   GpuaggQuotient *quotient);

#endif /* GPUAGG_DECIMAL_QUOTIENT_H */
