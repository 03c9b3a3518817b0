/*
 * decimal.h
 *	  Integers with decimal places as numeric.
 */
#ifndef GPUAGG_DECIMAL_H
#define GPUAGG_DECIMAL_H

#include "compat.h"

#include "utils/numeric.h"

#include "common/int128.h"

/* value / 10^scale as numeric of that display scale, 0 to 1000. */
extern Numeric gpuagg_decimal_to_numeric(GpuaggInt128 value, int scale);

/* The same of the 192 bits of three words, least significant first. */
extern Numeric gpuagg_decimal_total_to_numeric(const uint64 *total, int scale);

/* value / 10^places, of any display scale behind which it has no digits. */
extern Numeric gpuagg_decimal_display(GpuaggInt128 value, int places, int scale);

/* The same divided by n > 0, as core's numeric_div() divides that by a bigint. */
extern Numeric gpuagg_decimal_divide(GpuaggInt128 value, int places, int scale, int64 n);

/* Such a quotient of a value with just its places, times 10^scale.  False: it is no integer of 38 digits. */
extern bool gpuagg_decimal_divide_integer(GpuaggInt128 value, int places, int64 n, int scale,
										  GpuaggInt128 *result);

/*
 * The number that n <= 4 words hold, least significant first, which are spoilt, as numeric
 * (numeric_read.h), without the groups of zeros at its end.  Its last `places` groups of four
 * digits are behind the point.
 */
extern Numeric gpuagg_decimal_words(uint64 *words, int n, bool negative, int scale, int places);

#endif /* GPUAGG_DECIMAL_H */
