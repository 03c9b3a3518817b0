/*
 * page_values.c
 *	  Vectors' values from stored ones.
 */
#include "exec/page_scan.h"

#include "access/tupmacs.h"
#include "catalog/pg_type.h"

#include "exec/page_decimal.h"

static void
flag(PageReader *reader, int row)
{
	reader->flagged[row / 64] |= UINT64CONST(1) << row % 64;
	reader->any_flagged = true;
}

/* A numeric that is not short. */
static void
make_decimal(PageReader *reader, int c, const char *stored, int row)
{
	const PageColumn *column = &reader->scan->columns[c].column;
	bool is_wide = column->type == GPUAGG_VECTOR_INT128;
	__int128 result;

	if (!gpuagg_page_decimal_wide(stored, column->scale, &result) ||
		(!is_wide && result != (int64) result))
	{
		flag(reader, row);
		reader->odd_numbers[row / 64] |= UINT64CONST(1) << row % 64;
	}
	else if (is_wide)
		((GpuaggInt128 *) reader->columns[c].values)[row] = gpuagg_int128_narrow(result);
	else
		((int64 *) reader->columns[c].values)[row] = (int64) result;
}

static void
make_decimals(PageReader *reader, int c, const char *const *found, const uint16 *rows, int n)
{
	const PageColumn *column = &reader->scan->columns[c].column;
	int64 *narrow = reader->columns[c].values;
	GpuaggInt128 *wide = reader->columns[c].values;
	bool is_wide = column->type == GPUAGG_VECTOR_INT128;

	for (int k = 0; k < n; k += 64)
	{
		int some = Min(n - k, 64);
		bool in_place = !is_wide && rows[k + some - 1] - rows[k] == some - 1;
		int64 block[64];
		int64 *values = in_place ? narrow + rows[k] : block;
		uint64 left = gpuagg_page_decimals(found + k, some, column->scale, values);

		if (is_wide)
			for (int i = 0; i < some; i++)
				wide[rows[k + i]] = gpuagg_int128_from(values[i]);
		else if (!in_place)
			for (int i = 0; i < some; i++)
				narrow[rows[k + i]] = values[i];
		for (; left != 0; left &= left - 1)
		{
			int i = k + __builtin_ctzll(left);

			make_decimal(reader, c, found[i], rows[i]);
		}
	}
}

static void
make_bytes(PageReader *reader, int c, const char *const *found, const uint16 *rows, int n)
{
	const PageColumnState *state = &reader->scan->columns[c];
	GpuaggVectorBytes *values = reader->columns[c].values;
	bool trimmed = state->column.form == PAGE_COLUMN_TRIMMED;

	for (int k = 0; k < n; k++)
	{
		const char *p = found[k];
		GpuaggVectorBytes *bytes = &values[rows[k]];

		bytes->data = (const uint8_t *) p;
		bytes->size = 0;
		if (p == NULL)
			continue;
		if (state->length > 0)
			bytes->size = state->type == NAMEOID ? strnlen(p, NAMEDATALEN) : state->length;
		else if (VARATT_IS_EXTERNAL(p) || VARATT_IS_COMPRESSED(p))
			flag(reader, rows[k]);
		else
		{
			bytes->data = (const uint8_t *) VARDATA_ANY(p);
			bytes->size = VARSIZE_ANY_EXHDR(p);
		}
		if (trimmed)
			while (bytes->size > 0 && bytes->data[bytes->size - 1] == ' ')
				bytes->size--;
	}
}

static void
make_bits(uint64 *values, const char *const *found, const uint16 *rows, int n)
{
	for (int k = 0; k < n; k++)
		values[rows[k] / 64] |= (uint64) (found[k] != NULL && *found[k] != 0) << rows[k] % 64;
}

static void
make_datums(const PageColumnState *state, Datum *values, const char *const *found,
			const uint16 *rows, int n)
{
	for (int k = 0; k < n; k++)
		if (found[k] != NULL)
			values[rows[k]] = fetch_att(found[k], state->by_value, state->length);
}

/* Values of fixed width from their places; what has none becomes zero. */
#define COPY_FOUND(To, From)                                                    \
	if (rows[n - 1] - rows[0] == n - 1)                                         \
		for (int k = 0; k < n; k++)                                             \
		{                                                                       \
			const char *p = found[k] != NULL ? found[k] : (const char *) &zero; \
			((To *) values)[rows[0] + k] = *(const From *) p;                   \
		}                                                                       \
	else                                                                        \
		for (int k = 0; k < n; k++)                                             \
		{                                                                       \
			const char *p = found[k] != NULL ? found[k] : (const char *) &zero; \
			((To *) values)[rows[k]] = *(const From *) p;                       \
		}

static void
copy_found(const PageColumnState *state, void *values, const char *const *found, const uint16 *rows,
		   int n)
{
	static const int64 zero = 0;

	if (state->type == CHAROID)
		COPY_FOUND(int16, uint8)
	else if (state->type == OIDOID)
		COPY_FOUND(int64, uint32)
	else if (state->length == 2)
		COPY_FOUND(int16, int16)
	else if (state->length == 4)
		COPY_FOUND(int32, int32)
	else
		COPY_FOUND(int64, int64)
}

/* The same for n rows from `begin` on, from places at a stride. */
#define COPY_STRIDE(To, From)                            \
	for (int i = begin; i < begin + n; i++, p -= stride) \
		((To *) values)[i] = *(const From *) p;

void
gpuagg_page_copy_stride(const PageColumnState *state, void *values, const char *p, Size stride,
						int begin, int n)
{
	if (state->column.form == PAGE_COLUMN_BITS)
		for (int i = begin; i < begin + n; i++, p -= stride)
			((uint64 *) values)[i / 64] |= (uint64) (*p != 0) << i % 64;
	else if (state->type == CHAROID)
		COPY_STRIDE(int16, uint8)
	else if (state->type == OIDOID)
		COPY_STRIDE(int64, uint32)
	else if (state->length == 2)
		COPY_STRIDE(int16, int16)
	else if (state->length == 4)
		COPY_STRIDE(int32, int32)
	else
		COPY_STRIDE(int64, int64)
}

void
gpuagg_page_values(PageReader *reader, int c, const char *const *found, const uint16 *rows, int n)
{
	PageColumnState *state = &reader->scan->columns[c];

	switch (state->column.form)
	{
		case PAGE_COLUMN_BITS:
			make_bits(reader->columns[c].values, found, rows, n);
			break;
		case PAGE_COLUMN_COPY:
			copy_found(state, reader->columns[c].values, found, rows, n);
			break;
		case PAGE_COLUMN_DECIMAL:
			make_decimals(reader, c, found, rows, n);
			break;
		case PAGE_COLUMN_BYTES:
		case PAGE_COLUMN_TRIMMED:
			make_bytes(reader, c, found, rows, n);
			break;
		case PAGE_COLUMN_DATUM:
			make_datums(state, reader->columns[c].values, found, rows, n);
			break;
	}
}
