/*
 * numeric_read.h
 *	  Reads a stored numeric where it lies.
 *
 * Behind the varlena header there is a word of 16 bits in host order.  Its two
 * top bits tell of
 *	11	a special value: the next two bits are 00 NaN, 01 infinity, 11 -infinity
 *	10	the short form: one bit for the sign, six for the scale, seven for the
 *		weight in two's complement
 *	0x	the long form: x is the sign, the other 14 bits are the scale; the weight
 *		is the next word, 16 bits in two's complement
 * Then there are groups of four digits, a word each, to the end of the value.
 * The form is the same in all versions, as pg_upgrade keeps data files.
 */
#ifndef GPUAGG_NUMERIC_READ_H
#define GPUAGG_NUMERIC_READ_H

#include "compat.h"

#include "common/decimal_sum.h"

/*
 * What the varlena header is followed by, and how many bytes; NULL when the value
 * is compressed or out of line.
 */
static inline const char *
gpuagg_numeric_in_place(Datum value, Size *size)
{
	const char *p = DatumGetPointer(value);

	if (VARATT_IS_1B(p) && !VARATT_IS_1B_E(p))
	{
		*size = VARSIZE_1B(p) - VARHDRSZ_SHORT;
		return VARDATA_1B(p);
	}
	if (VARATT_IS_4B_U(p))
	{
		*size = VARSIZE_4B(p) - VARHDRSZ;
		return VARDATA_4B(p);
	}
	*size = 0;
	return NULL;
}

static inline uint16
gpuagg_numeric_word(const char *p)
{
	uint16 word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* FINITE, and *x, whose digits stay where they are; or which special value it is. */
static inline GpuaggDecimalSpecial
gpuagg_numeric_read(const char *data, Size size, GpuaggDecimal *x)
{
	uint16 head = gpuagg_numeric_word(data);
	Size digits = sizeof(uint16);

	if ((head & 0x8000) == 0)
	{
		x->negative = (head & 0x4000) != 0;
		x->scale = head & 0x3fff;
		x->weight = (int16) gpuagg_numeric_word(data + sizeof(uint16));
		digits = 2 * sizeof(uint16);
	}
	else if ((head & 0x4000) == 0)
	{
		x->negative = (head & 0x2000) != 0;
		x->scale = head >> 7 & 0x3f;
		x->weight = (head & 0x7f) - ((head & 0x40) << 1);
	}
	else if ((head & 0x1000) == 0)
		return GPUAGG_DECIMAL_NAN;
	else
		return (head & 0x2000) == 0 ? GPUAGG_DECIMAL_PINF : GPUAGG_DECIMAL_NINF;
	x->digits = data + digits;
	x->ndigits = (int) ((size - digits) / sizeof(uint16));
	return GPUAGG_DECIMAL_FINITE;
}

#endif /* GPUAGG_NUMERIC_READ_H */
