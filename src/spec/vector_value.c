/*
 * vector_value.c
 *	  SQL values in registers, and back.
 *
 * BYTES hold the content of strings; of char(n) without the blanks at the end, of
 * name up to the first zero byte.  "char" is a number from 0 to 255.
 */
#include "compat.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/cash.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/uuid.h"

#include "common/power_of_ten.h"
#include "operation/numeric_read.h"
#include "spec/vector_rule.h"
#include "types/decimal.h"

int
gpuagg_typmod_scale(int32 typmod)
{
	return (((typmod - (int32) VARHDRSZ) & 0x7ff) ^ 0x400) - 0x400;
}

/* The precision and the scale in numeric's typmod. */
static void
decimal_form(int32 typmod, VectorValue *value)
{
	int scale;
	int digits;

	if (typmod < (int32) VARHDRSZ)
		return;
	scale = gpuagg_typmod_scale(typmod);

	/* A negative scale is a number of zeros before the point. */
	digits = ((typmod - VARHDRSZ) >> 16 & 0xffff) - Min(scale, 0);
	if (digits > GPUAGG_INT128_DIGITS)
		return;
	value->type = digits <= GPUAGG_INT64_DIGITS ? GPUAGG_VECTOR_INT64 : GPUAGG_VECTOR_INT128;
	value->precision = digits;
	value->scale = Max(scale, 0);
	value->own_scales = ((typmod - (int32) VARHDRSZ) & GPUAGG_TYPMOD_OWN_SCALES) != 0;
}

void
gpuagg_vector_form(Oid type, int32 typmod, VectorValue *value)
{
	*value = (VectorValue){.reg = GPUAGG_VECTOR_NONE, .scale = -1, .width = -1};
	if (type >= FirstGenbkiObjectId)
		type = getBaseTypeAndTypmod(type, &typmod);
	switch (type)
	{
		case BOOLOID:
			value->type = GPUAGG_VECTOR_BOOL;
			break;
		case CHAROID:
		case INT2OID:
			value->type = GPUAGG_VECTOR_INT16;
			break;
		case INT4OID:
		case DATEOID:
			value->type = GPUAGG_VECTOR_INT32;
			break;
		case INT8OID:
		case OIDOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case MONEYOID:
			value->type = GPUAGG_VECTOR_INT64;
			break;
		case FLOAT4OID:
			value->type = GPUAGG_VECTOR_FLOAT32;
			break;
		case FLOAT8OID:
			value->type = GPUAGG_VECTOR_FLOAT64;
			break;
		case TEXTOID:
		case VARCHAROID:
		case BYTEAOID:
		case UUIDOID:
		case NAMEOID:
			value->type = GPUAGG_VECTOR_BYTES;
			break;
		case BPCHAROID:
			value->type = GPUAGG_VECTOR_BYTES;
			if (typmod >= (int32) VARHDRSZ)
				value->width = typmod - VARHDRSZ;
			break;
		default:
			value->type = GPUAGG_VECTOR_DATUM;
			if (type == NUMERICOID)
				decimal_form(typmod, value);
			break;
	}
}

/* A domain's values are those of the type that it is over. */
static inline Oid
base_type(Oid type)
{
	return unlikely(type >= FirstGenbkiObjectId) ? getBaseType(type) : type;
}

/* ---- from SQL values ---- */

/* A finite number times 10^scale; false: it is no such integer, or has a display scale for none. */
static bool
read_decimal(Datum datum, const VectorValue *value, __int128 *integer)
{
	int scale = value->scale;
	GpuaggDecimal x;
	Size size;
	const char *data = gpuagg_numeric_in_place(datum, &size);
	unsigned __int128 v = 0;
	int power;

	if (data == NULL)
		data = gpuagg_numeric_in_place(NumericGetDatum(DatumGetNumeric(datum)), &size);
	if (gpuagg_numeric_read(data, size, &x) != GPUAGG_DECIMAL_FINITE || x.scale > scale ||
		(x.scale < scale && !value->own_scales))
		return false;
	/* Groups of digits as one integer, times 10^power. */
	if (x.ndigits > 0 && x.weight >= (GPUAGG_INT128_DIGITS + 3) / 4)
		return false;
	power = 4 * (x.weight + 1 - x.ndigits) + scale;
	for (int i = 0; i < x.ndigits; i++)
	{
		unsigned group = gpuagg_numeric_word(x.digits + 2 * i);

		if (i == x.ndigits - 1 && power < 0)
		{
			/* The last group has digits beyond the scale, which are zeros. */
			int zeros = 1;

			if (power <= -4)
				return false;
			for (; power < 0; power++)
				zeros *= 10;
			for (int left = 10000 / zeros; left > 1; left /= 10)
			{
				if (v > (~(unsigned __int128) 0 >> 1) / 10)
					return false;
				v *= 10;
			}
			v += group / zeros;
			break;
		}
		if (v > ((~(unsigned __int128) 0 >> 1) - 9999) / 10000)
			return false;
		v = v * 10000 + group;
	}
	for (; power > 0 && v > 0; power--)
	{
		if (v > (~(unsigned __int128) 0 >> 1) / 10)
			return false;
		v *= 10;
	}
	*integer = x.negative ? -(__int128) v : (__int128) v;
	return true;
}

static bool
read_integer(const VectorValue *value, Oid type, Datum datum, __int128 *integer)
{
	switch (type)
	{
		case CHAROID:
			*integer = (uint8) DatumGetChar(datum);
			return true;
		case OIDOID:
			*integer = DatumGetObjectId(datum);
			return true;
		case NUMERICOID:
			if (!read_decimal(datum, value, integer))
				return false;
			return value->type == GPUAGG_VECTOR_INT128 ||
				   (*integer >= PG_INT64_MIN && *integer <= PG_INT64_MAX);
	}
	switch (value->type)
	{
		case GPUAGG_VECTOR_INT16:
			*integer = DatumGetInt16(datum);
			return true;
		case GPUAGG_VECTOR_INT32:
			*integer = DatumGetInt32(datum);
			return true;
		default:
			*integer = DatumGetInt64(datum);
			return true;
	}
}

static GpuaggVectorBytes
read_bytes(Oid type, Datum datum)
{
	GpuaggVectorBytes bytes;
	struct varlena *string;

	if (type == NAMEOID)
	{
		bytes.data = (const uint8 *) NameStr(*DatumGetName(datum));
		bytes.size = strnlen((const char *) bytes.data, NAMEDATALEN);
		return bytes;
	}
	if (type == UUIDOID)
	{
		bytes.data = DatumGetUUIDP(datum)->data;
		bytes.size = UUID_LEN;
		return bytes;
	}
	string = PG_DETOAST_DATUM_PACKED(datum);
	bytes.data = (const uint8 *) VARDATA_ANY(string);
	bytes.size = VARSIZE_ANY_EXHDR(string);
	if (type == BPCHAROID)
		bytes.size = bpchartruelen((char *) bytes.data, (int) bytes.size);
	return bytes;
}

bool
gpuagg_vector_set_constant(GpuaggVectorConstant *constant, const VectorValue *value, Oid type,
						   Datum datum, bool isnull)
{
	__int128 integer;

	memset(constant, 0, sizeof(*constant));
	constant->type = value->type;
	constant->isnull = isnull;
	if (isnull)
		return true;
	type = base_type(type);
	switch (value->type)
	{
		case GPUAGG_VECTOR_BOOL:
			constant->u.integer = gpuagg_int128_from(DatumGetBool(datum));
			return true;
		case GPUAGG_VECTOR_FLOAT32:
			constant->u.float32 = DatumGetFloat4(datum);
			return true;
		case GPUAGG_VECTOR_FLOAT64:
			constant->u.float64 = DatumGetFloat8(datum);
			return true;
		case GPUAGG_VECTOR_BYTES:
			constant->u.bytes = read_bytes(type, datum);
			return true;
		case GPUAGG_VECTOR_DATUM:
			return false;
		default:
			if (!read_integer(value, type, datum, &integer))
				return false;
			constant->u.integer = gpuagg_int128_narrow(integer);
			return true;
	}
}

bool
gpuagg_vector_same_constant(const GpuaggVectorConstant *x, const GpuaggVectorConstant *y)
{
	if (x->type != y->type || x->isnull != y->isnull)
		return false;
	if (x->isnull)
		return true;
	switch (x->type)
	{
		case GPUAGG_VECTOR_FLOAT32:
			return memcmp(&x->u.float32, &y->u.float32, sizeof(x->u.float32)) == 0;
		case GPUAGG_VECTOR_FLOAT64:
			return memcmp(&x->u.float64, &y->u.float64, sizeof(x->u.float64)) == 0;
		case GPUAGG_VECTOR_BYTES:
			return x->u.bytes.size == y->u.bytes.size &&
				   memcmp(x->u.bytes.data, y->u.bytes.data, x->u.bytes.size) == 0;
		default:
			return x->u.integer.lo == y->u.integer.lo && x->u.integer.hi == y->u.integer.hi;
	}
}

/* Whether a decimal has no more digits than its form says. */
static bool
has_digits(const GpuaggVectorConstant *constant, const VectorValue *value)
{
	__int128 integer = gpuagg_int128_wide(constant->u.integer);
	__int128 most;

	if (value->scale < 0 || constant->isnull ||
		value->precision > gpuagg_vector_digits(value->type))
		return true;
	most = gpuagg_power_of_ten(value->precision);
	return integer < most && integer > -most;
}

bool
gpuagg_vector_set_parameter(GpuaggVectorConstant *constants, const VectorParameter *parameter,
							Datum datum, bool isnull)
{
	const VectorConversion *conversion = parameter->conversion;

	if (conversion == NULL)
		return gpuagg_vector_set_constant(constants, &parameter->value,
										  exprType((Node *) parameter->expr), datum, isnull) &&
			   has_digits(constants, &parameter->value);
	for (int i = 0; i < conversion->n; i++)
		constants[i] = (GpuaggVectorConstant){.type = conversion->type, .isnull = isnull};
	return isnull || conversion->convert(datum, constants);
}

static void
set_bit(uint64 *bitmap, int row, bool bit)
{
	if (bit)
		bitmap[row / 64] |= UINT64CONST(1) << (row % 64);
	else
		bitmap[row / 64] &= ~(UINT64CONST(1) << (row % 64));
}

bool
gpuagg_vector_store(GpuaggVector *vector, const VectorValue *value, Oid type, int row, Datum datum,
					bool isnull)
{
	GpuaggVectorConstant read;

	set_bit(vector->valid, row, !isnull);
	if (isnull)
		return true;
	if (value->type == GPUAGG_VECTOR_DATUM)
	{
		((uint64 *) vector->values)[row] = (uint64) datum;
		return true;
	}
	if (!gpuagg_vector_set_constant(&read, value, type, datum, false))
		return false;
	switch (value->type)
	{
		case GPUAGG_VECTOR_BOOL:
			set_bit(vector->values, row, read.u.integer.lo != 0);
			break;
		case GPUAGG_VECTOR_INT16:
			((int16 *) vector->values)[row] = (int16) read.u.integer.lo;
			break;
		case GPUAGG_VECTOR_INT32:
			((int32 *) vector->values)[row] = (int32) read.u.integer.lo;
			break;
		case GPUAGG_VECTOR_INT64:
			((int64 *) vector->values)[row] = (int64) read.u.integer.lo;
			break;
		case GPUAGG_VECTOR_INT128:
			((GpuaggInt128 *) vector->values)[row] = read.u.integer;
			break;
		case GPUAGG_VECTOR_FLOAT32:
			((float *) vector->values)[row] = read.u.float32;
			break;
		case GPUAGG_VECTOR_FLOAT64:
			((double *) vector->values)[row] = read.u.float64;
			break;
		case GPUAGG_VECTOR_BYTES:
			((GpuaggVectorBytes *) vector->values)[row] = read.u.bytes;
			break;
		default:
			return false;
	}
	return true;
}

/* ---- to SQL values ---- */

static Datum
integer_datum(__int128 integer, const VectorValue *value, Oid type)
{
	if (type == NUMERICOID)
		return NumericGetDatum(
			gpuagg_decimal_to_numeric(gpuagg_int128_narrow(integer), value->scale));
	if (type == CHAROID)
		return CharGetDatum((char) integer);
	if (type == OIDOID)
		return ObjectIdGetDatum((Oid) integer);
	switch (value->type)
	{
		case GPUAGG_VECTOR_INT16:
			return Int16GetDatum((int16) integer);
		case GPUAGG_VECTOR_INT32:
			return Int32GetDatum((int32) integer);
		default:
			return Int64GetDatum((int64) integer);
	}
}

static Datum
bytes_datum(GpuaggVectorBytes bytes, const VectorValue *value, Oid type)
{
	int blanks = 0;
	struct varlena *string;

	if (type == NAMEOID)
	{
		Name name = palloc0(NAMEDATALEN);

		memcpy(NameStr(*name), bytes.data, Min(bytes.size, NAMEDATALEN - 1));
		return NameGetDatum(name);
	}
	if (type == UUIDOID)
	{
		pg_uuid_t *uuid = palloc(sizeof(pg_uuid_t));

		memcpy(uuid->data, bytes.data, UUID_LEN);
		return UUIDPGetDatum(uuid);
	}
	if (type == BPCHAROID && value->width >= 0)
		blanks = Max(value->width -
						 pg_mbstrlen_with_len((const char *) bytes.data, (int) bytes.size),
					 0);
	string = palloc(VARHDRSZ + bytes.size + blanks);
	SET_VARSIZE(string, VARHDRSZ + bytes.size + blanks);
	if (bytes.size > 0)
		memcpy(VARDATA(string), bytes.data, bytes.size);
	memset(VARDATA(string) + bytes.size, ' ', blanks);
	return PointerGetDatum(string);
}

static bool
get_bit(const uint64 *bitmap, int row)
{
	return (bitmap[row / 64] >> (row % 64) & 1) != 0;
}

Datum
gpuagg_vector_datum(const GpuaggVector *vector, const VectorValue *value, Oid type, int row,
					bool *isnull)
{
	*isnull = vector->valid != NULL && !get_bit(vector->valid, row);
	if (*isnull)
		return (Datum) 0;
	type = base_type(type);
	switch (value->type)
	{
		case GPUAGG_VECTOR_BOOL:
			return BoolGetDatum(get_bit(vector->values, row));
		case GPUAGG_VECTOR_INT16:
			return integer_datum(((const int16 *) vector->values)[row], value, type);
		case GPUAGG_VECTOR_INT32:
			return integer_datum(((const int32 *) vector->values)[row], value, type);
		case GPUAGG_VECTOR_INT64:
			return integer_datum(((const int64 *) vector->values)[row], value, type);
		case GPUAGG_VECTOR_INT128:
			return integer_datum(gpuagg_int128_wide(((const GpuaggInt128 *) vector->values)[row]),
								 value, type);
		case GPUAGG_VECTOR_FLOAT32:
			return Float4GetDatum(((const float *) vector->values)[row]);
		case GPUAGG_VECTOR_FLOAT64:
			return Float8GetDatum(((const double *) vector->values)[row]);
		case GPUAGG_VECTOR_BYTES:
			return bytes_datum(((const GpuaggVectorBytes *) vector->values)[row], value, type);
		case GPUAGG_VECTOR_DATUM:
			return (Datum) ((const uint64 *) vector->values)[row];
		default:
			elog(ERROR, "unexpected type of a vector register: %d", (int) value->type);
	}
}
