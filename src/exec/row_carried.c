/*
 * row_carried.c
 *	  Values of rows in their items, in place of the rows' numbers.
 */
#include "compat.h"

#include "exec/row_carried.h"

RowCarried *
gpuagg_row_carried_make(int ncolumns)
{
	RowCarried *carried = palloc0(sizeof(RowCarried));

	carried->offsets = palloc0(Max(ncolumns, 1) * sizeof(uint8));
	return carried;
}

void
gpuagg_row_carried_choose(RowCarried *carried, const ColumnStore *store, const bool *columns)
{
	Size bytes = 0;

	carried->all = false;
	for (int c = 0; c < store->desc->natts; c++)
	{
		const StoreColumn *column = &store->columns[c];

		if (!columns[c])
			continue;
		if (column->has_nulls || bytes + column->width > sizeof(uint64))
			return;
		carried->offsets[c] = bytes;
		bytes += column->width;
	}
	carried->all = bytes > 0;
}

/* The first column's bits are the lowest: they clear the word. */
#define PUT(Type)                                                                       \
	for (int i = 0; i < n; i++)                                                         \
	{                                                                                   \
		uint64 *word = words + i * step;                                                \
                                                                                        \
		*word = (shift > 0 ? *word : 0) | (uint64) ((const Type *) values)[i] << shift; \
	}

void
gpuagg_row_carried_put(const RowCarried *carried, const ColumnStore *store, const bool *columns,
					   int64 piece, int n, uint64 *words, Size step)
{
	for (int c = 0; c < store->desc->natts; c++)
	{
		const void *values;
		int shift = 8 * carried->offsets[c];

		if (!columns[c])
			continue;
		values = gpuagg_column_store_values(store, c, piece);
		switch (store->columns[c].width)
		{
			case 1:
				PUT(uint8)
				break;
			case 2:
				PUT(uint16)
				break;
			case 4:
				PUT(uint32)
				break;
			default:
				PUT(uint64)
				break;
		}
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
	switch (column->width)
	{
		case 1:
			GET(char, CharGetDatum)
			break;
		case 2:
			GET(int16, Int16GetDatum)
			break;
		case 4:
			GET(int32, Int32GetDatum)
			break;
		default:
			GET(Datum, )
			break;
	}
	for (int64 i = 0; i < n && !column->by_value; i++)
		__builtin_prefetch(DatumGetPointer(values[i * stride]));
}

void
gpuagg_row_carried_get(const RowCarried *carried, const ColumnStore *store, const bool *wanted,
					   const uint64 *words, Size step, int64 n, Datum *values, bool *isnull,
					   Size stride)
{
	for (int c = 0; c < store->desc->natts; c++)
		if (wanted[c])
			get_column(&store->columns[c], 8 * carried->offsets[c], words, step, n, values + c,
					   isnull + c, stride);
}
