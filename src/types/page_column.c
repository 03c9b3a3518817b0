/*
 * page_column.c
 *	  How a table's column becomes a vector's.
 */
#include "types/page_column.h"

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

static bool
decimal_form(int32 typmod, PageColumn *column)
{
	int precision;
	int scale;
	int digits;

	if (typmod < (int32) VARHDRSZ)
		return false;
	precision = (typmod - VARHDRSZ) >> 16 & 0xffff;
	scale = (((typmod - VARHDRSZ) & 0x7ff) ^ 0x400) - 0x400;

	/* A negative scale is a number of zeros before the point. */
	digits = precision - Min(scale, 0);
	if (digits > 38)
		return false;
	column->form = PAGE_COLUMN_DECIMAL;
	column->type = digits <= PAGE_DECIMAL_DIGITS ? GPUAGG_VECTOR_INT64 : GPUAGG_VECTOR_INT128;
	column->scale = Max(scale, 0);
	return true;
}

bool
gpuagg_page_column(Form_pg_attribute attribute, PageColumn *column)
{
	int32 typmod = attribute->atttypmod;

	if (attribute->attisdropped || attribute->attlen == -2 ||
		(attribute->attgenerated != '\0' && attribute->attgenerated != ATTRIBUTE_GENERATED_STORED))
		return false;
	column->attno = attribute->attnum;
	column->form = PAGE_COLUMN_COPY;
	column->scale = 0;
	column->resident = true;
	switch (getBaseTypeAndTypmod(attribute->atttypid, &typmod))
	{
		case BOOLOID:
			column->form = PAGE_COLUMN_BITS;
			column->type = GPUAGG_VECTOR_BOOL;
			return true;
		case CHAROID:
		case INT2OID:
			column->type = GPUAGG_VECTOR_INT16;
			return true;
		case INT4OID:
		case DATEOID:
			column->type = GPUAGG_VECTOR_INT32;
			return true;
		case INT8OID:
		case OIDOID:
		case CASHOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			column->type = GPUAGG_VECTOR_INT64;
			return true;
		case FLOAT4OID:
			column->type = GPUAGG_VECTOR_FLOAT32;
			return true;
		case FLOAT8OID:
			column->type = GPUAGG_VECTOR_FLOAT64;
			return true;
		case NUMERICOID:
			return decimal_form(typmod, column);
		case BPCHAROID:
			/* without a length values have blanks at their ends that are not known from it */
			column->form = PAGE_COLUMN_TRIMMED;
			column->type = GPUAGG_VECTOR_BYTES;
			column->resident = typmod >= (int32) VARHDRSZ;
			return true;
		case TEXTOID:
		case VARCHAROID:
		case BYTEAOID:
		case NAMEOID:
		case UUIDOID:
			column->form = PAGE_COLUMN_BYTES;
			column->type = GPUAGG_VECTOR_BYTES;
			return true;
		default:
			column->form = PAGE_COLUMN_BYTES;
			column->type = GPUAGG_VECTOR_BYTES;
			column->resident = false;
			return !attribute->attbyval;
	}
}
