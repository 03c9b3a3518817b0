/*
 * page_decimal.c
 *	  Stored numerics as integers at their column's scale: the ones that are not short.
 */
#include "exec/page_decimal.h"

/* Digits of the largest result, and how many more the groups may seem to have. */
#define WIDE_DIGITS	 38
#define GROUP_MARGIN 3

#define WIDE_MAX	 ((unsigned __int128) -1 >> 1)

const int64 gpuagg_page_powers[] = {INT64CONST(1),
									INT64CONST(10),
									INT64CONST(100),
									INT64CONST(1000),
									INT64CONST(10000),
									INT64CONST(100000),
									INT64CONST(1000000),
									INT64CONST(10000000),
									INT64CONST(100000000),
									INT64CONST(1000000000),
									INT64CONST(10000000000),
									INT64CONST(100000000000),
									INT64CONST(1000000000000),
									INT64CONST(10000000000000),
									INT64CONST(100000000000000),
									INT64CONST(1000000000000000),
									INT64CONST(10000000000000000),
									INT64CONST(100000000000000000),
									INT64CONST(1000000000000000000)};

/* *value * factor + summand; false if it is above WIDE_MAX. */
static bool
push(unsigned __int128 *value, unsigned factor, unsigned summand)
{
	if (*value > (WIDE_MAX - summand) / factor)
		return false;
	*value = *value * factor + summand;
	return true;
}

bool
gpuagg_page_decimal_wide(const char *stored, int scale, __int128 *result)
{
	unsigned __int128 value = 0;
	GpuaggDecimal x;
	Size size;
	const char *data = gpuagg_numeric_in_place(PointerGetDatum(stored), &size);
	int exponent;

	if (data == NULL || gpuagg_numeric_read(data, size, &x) != GPUAGG_DECIMAL_FINITE ||
		x.scale != scale)
		return false;
	*result = 0;
	if (x.ndigits == 0)
		return true;
	exponent = 4 * (x.weight - (x.ndigits - 1)) + scale;
	if (exponent < -3 || 4 * x.ndigits + exponent > WIDE_DIGITS + GROUP_MARGIN)
		return false;
	for (int i = 0; i < x.ndigits; i++)
	{
		unsigned group = gpuagg_numeric_word(x.digits + i * sizeof(uint16));
		unsigned factor = 10000;

		if (i == x.ndigits - 1 && exponent < 0)
		{
			unsigned power = (unsigned) gpuagg_page_powers[-exponent];

			if (group % power != 0)
				return false;
			group /= power;
			factor /= power;
		}
		if (!push(&value, factor, group))
			return false;
	}
	for (; exponent > 0; exponent--)
		if (!push(&value, 10, 0))
			return false;
	*result = x.negative ? -(__int128) value : (__int128) value;
	return true;
}
