/*
 * row_payload.c
 *	  Values of rows in their items, in place of the rows' numbers.
 */
#include "compat.h"

#include "exec/row_payload.h"

RowPayload *
gpuagg_row_payload_make(int ncolumns)
{
	RowPayload *payload = palloc0(sizeof(RowPayload));

	payload->offsets = palloc0(Max(ncolumns, 1) * sizeof(uint8));
	return payload;
}

void
gpuagg_row_payload_choose(RowPayload *payload, const ColumnStore *store, const bool *columns)
{
	Size bytes = 0;

	payload->active = false;
	for (int c = 0; c < store->desc->natts; c++)
	{
		const StoreColumn *column = &store->columns[c];

		if (!columns[c])
			continue;
		if (column->has_nulls || !column->by_value || bytes + column->width > sizeof(uint64))
			return;
		payload->offsets[c] = bytes;
		bytes += column->width;
	}
	payload->active = bytes > 0;
}

/* Columns come by their offsets: what is above the lower ones' bytes gives way, as bits of their signs. */
#define PUT(Type, ToDatum)      \
	for (int i = 0; i < n; i++) \
		words[i * step] = (words[i * step] & lower) | (uint64) ((const Type *) values)[i] << shift;

void
gpuagg_row_payload_put(const RowPayload *payload, const ColumnStore *store, const bool *columns,
					   int64 piece, int n, uint64 *words, Size step)
{
	for (int c = 0; c < store->desc->natts; c++)
	{
		const void *values;
		int shift = 8 * payload->offsets[c];
		uint64 lower = (UINT64CONST(1) << shift) - 1;

		if (!columns[c])
			continue;
		values = gpuagg_column_store_values(store, c, piece);
		STORE_BY_WIDTH(store->columns[c].width, PUT)
	}
}

#define GET(Type, ToDatum)                                               \
	for (int64 i = 0; i < n; i++)                                        \
	{                                                                    \
		values[i * stride] = ToDatum((Type) (words[i * step] >> shift)); \
		isnull[i * stride] = false;                                      \
	}

static void
get_column(const StoreColumn *column, int shift, const uint64 *words, Size step, int64 n,
		   Datum *values, bool *isnull, Size stride)
{
	STORE_BY_WIDTH(column->width, GET)
}

void
gpuagg_row_payload_get(const RowPayload *payload, const ColumnStore *store, const bool *wanted,
					   const uint64 *words, Size step, int64 n, Datum *values, bool *isnull,
					   Size stride)
{
	for (int c = 0; c < store->desc->natts; c++)
		if (wanted[c])
			get_column(&store->columns[c], 8 * payload->offsets[c], words, step, n, values + c,
					   isnull + c, stride);
}
