/*
 * page_decimal.h
 *	  Stored numerics as integers at their column's scale.
 *
 * What a stored numeric looks like says operation/numeric_read.h.  A value of n
 * groups of four digits is
 *	the sum over i of group[i] * 10^(4 * (weight - i) + scale)
 * at the scale.  In the last group the exponent may be -1 to -3; that many of its
 * digits are zeros then, as they are beyond the display scale.
 */
#ifndef GPUAGG_PAGE_DECIMAL_H
#define GPUAGG_PAGE_DECIMAL_H

#include "operation/numeric_read.h"
#include "types/page_column.h"

extern const int64 gpuagg_page_powers[PAGE_DECIMAL_DIGITS + 1]; /* of ten */

/* Any value; false if it is not finite, has another display scale or too many digits. */
extern bool gpuagg_page_decimal_wide(const char *stored, int scale, __int128 *result);

/*
 * Up to four groups of digits at p, as one number but for the last: the others to the
 * power that they have above it.  Reads eight bytes that end where the groups do.
 */
static inline int64
gpuagg_page_groups(const char *p, int n, int64 *last)
{
	static const uint16 kept[5][4] = {{0, 0, 0, 0},
									  {0, 0, 0, 0xffff},
									  {0, 0, 0xffff, 0xffff},
									  {0, 0xffff, 0xffff, 0xffff},
									  {0xffff, 0xffff, 0xffff, 0xffff}};

	p += ((ptrdiff_t) n - 4) * (ptrdiff_t) sizeof(uint16);
	*last = gpuagg_numeric_word(p + 6) & kept[n][3];
	return (int64) (gpuagg_numeric_word(p) & kept[n][0]) * 100000000 +
		   (gpuagg_numeric_word(p + 2) & kept[n][1]) * 10000 +
		   (gpuagg_numeric_word(p + 4) & kept[n][2]);
}

/*
 * The same for values of up to PAGE_DECIMAL_DIGITS digits in the short form, with a
 * short varlena header; false: ask gpuagg_page_decimal_wide().  Eight bytes before the
 * value can be read, whatever they are: it is in a tuple.
 */
static inline bool
gpuagg_page_decimal_short(const char *stored, int scale, int64 *result)
{
	const char *p = stored + VARHDRSZ_SHORT + sizeof(uint16);
	uint16 head;
	int weight;
	int n;
	int exponent; /* of the last group */
	int64 value = 0;
	int64 last;
	int64 negative;

	if (!VARATT_IS_1B(stored) || VARATT_IS_1B_E(stored))
		return false;
	head = gpuagg_numeric_word(stored + VARHDRSZ_SHORT);
	if ((head & 0xdf80) != (0x8000 | scale << 7))
		return false;
	weight = (head & 0x7f) - ((head & 0x40) << 1);
	n = (VARSIZE_1B(stored) - VARHDRSZ_SHORT - (int) sizeof(uint16)) / (int) sizeof(uint16);
	exponent = 4 * (weight - (n - 1)) + scale;
	if (exponent < -3 || 4 * n + exponent > PAGE_DECIMAL_DIGITS)
		return false;
	if (likely(n <= 4))
		value = gpuagg_page_groups(p, n, &last);
	else
	{
		for (int i = 0; i < n - 1; i++, p += sizeof(uint16))
			value = value * 10000 + gpuagg_numeric_word(p);
		last = gpuagg_numeric_word(p);
	}
	if (exponent >= 0)
		value = (value * 10000 + last) * gpuagg_page_powers[exponent];
	else
	{
		/* Exact quotients of numbers below 10,000. */
		static const uint32 reciprocals[] = {0, 52429, 5243, 8389};
		static const uint8 shifts[] = {0, 19, 19, 23};
		int64 quotient = last * reciprocals[-exponent] >> shifts[-exponent];

		if (quotient * gpuagg_page_powers[-exponent] != last)
			return false;
		value = value * gpuagg_page_powers[4 + exponent] + quotient;
	}
	negative = head >> 13 & 1;
	*result = (value ^ -negative) + negative;
	return true;
}

/*
 * The values of n <= 64 places; NULL pointers make 0.  Returns those, a bit each, that are not
 * made: ask gpuagg_page_decimal_wide() for them.
 */
extern uint64 gpuagg_page_decimals(const char *const *found, int n, int scale, int64 *values);

#endif /* GPUAGG_PAGE_DECIMAL_H */
