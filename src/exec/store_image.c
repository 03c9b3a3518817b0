/*
 * store_image.c
 *	  Pieces of column stores without pointers.
 */
#include "compat.h"

#include "access/tupmacs.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "engine/cpu.h"
#include "exec/store_image.h"

/* Of each row its piece, and where it is in that. */
#define PIECE_OF(Number) pieces[(Number) / STORE_ROWS]
#define ROW_OF(Number)	 ((Number) % STORE_ROWS)

StoreImage *
gpuagg_store_image_make(ColumnStore *store)
{
	StoreImage *image = palloc0(sizeof(StoreImage));

	image->context = CurrentMemoryContext;
	image->store = store;
	image->piece = palloc0(Max(store->piece_bytes, 1));
	return image;
}

/* Appends a value by reference; returns where it is. */
static Size
append_value(StoreImage *image, const StoreColumn *column, Datum value)
{
	Size size = datumGetSize(value, false, column->length);
	Size at = image->bytes;

	image->bytes += MAXALIGN(size);
	if (image->bytes > image->room)
	{
		image->room = Max(image->bytes, 2 * image->room);
		image->data = image->data == NULL ? MemoryContextAllocHuge(image->context, image->room)
										  : repalloc_huge(image->data, image->room);
	}
	memcpy(image->data + at, DatumGetPointer(value), size);
	memset(image->data + at + size, 0, image->bytes - at - size);
	return at;
}

/* Copies values by reference of the n rows behind the image's own, until it is full; how many rows. */
static int
take_values(StoreImage *image, int n)
{
	const ColumnStore *store = image->store;

	for (int row = image->nrows; row < image->nrows + n; row++)
	{
		if (image->bytes >= STORE_IMAGE_BYTES)
			return row - image->nrows;
		for (int c = 0; c < store->desc->natts; c++)
		{
			const StoreColumn *column = &store->columns[c];
			Datum *values = (Datum *) (image->piece + column->values);

			if (gpuagg_store_column_points(column) &&
				!gpuagg_bit((const uint64 *) (image->piece + column->nulls), row))
				values[row] = append_value(image, column, values[row]);
		}
	}
	return n;
}

#define COPY(Type)                                                                               \
	for (int i = 0; i < n; i++)                                                                  \
	{                                                                                            \
		uint64 number = numbers[i * step];                                                       \
                                                                                                 \
		((Type *) to)[i] = ((const Type *) (PIECE_OF(number) + column->values))[ROW_OF(number)]; \
	}

static void
copy_column(StoreImage *image, int c, const StoreColumn *column, const uint64 *numbers, Size step,
			int n)
{
	char *const *pieces = column->store->pieces;
	uint64 *nulls = (uint64 *) (image->piece + image->store->columns[c].nulls);
	char *to = image->piece + image->store->columns[c].values + image->nrows * column->width;

	if (column->width == 1)
		COPY(uint8)
	else if (column->width == 2)
		COPY(uint16)
	else if (column->width == 4)
		COPY(uint32)
	else if (column->width == 8)
		COPY(uint64)
	else
		COPY(GpuaggInt128)
	if (image->nrows == 0)
		memset(nulls, 0, image->store->piece_rows / 8);
	for (int i = 0; i < n && column->has_nulls; i++)
	{
		uint64 number = numbers[i * step];
		int row = image->nrows + i;
		uint64 bit = UINT64CONST(1) << row % 64;

		/* rows that did not fit before may have left theirs */
		nulls[row / 64] &= ~bit;
		if (gpuagg_bit((const uint64 *) (PIECE_OF(number) + column->nulls), ROW_OF(number)))
			nulls[row / 64] |= bit;
	}
}

int
gpuagg_store_image_copy(StoreImage *image, const ColumnStore *store, const uint64 *numbers,
						Size step, int64 n)
{
	int some = (int) Min(n, image->store->piece_rows - image->nrows);

	for (int c = 0; c < store->desc->natts && some > 0; c++)
		if (store->columns[c].kept)
			copy_column(image, c, &store->columns[c], numbers, step, some);
	some = take_values(image, some);
	image->nrows += some;
	return some;
}

/* n rows of Datums behind those of the image. */
static void
put_column(StoreColumn *column, StoreImage *image, const Datum *values, const bool *isnull,
		   Size stride, int n)
{
	uint64 *nulls = (uint64 *) (image->piece + column->nulls);
	char *to = image->piece + column->values;

	if (image->nrows == 0)
		memset(nulls, 0, image->store->piece_rows / 8);
	for (int i = 0; i < n; i++)
	{
		int row = image->nrows + i;
		uint64 bit = UINT64CONST(1) << row % 64;
		bool is_value = !isnull[i * stride];

		if (column->scale < 0)
			store_att_byval(to + row * column->width, is_value ? values[i * stride] : (Datum) 0,
							column->width);
		else
			((GpuaggInt128 *) to)[row] = is_value ? *(const GpuaggInt128 *) DatumGetPointer(
														values[i * stride])
												  : (GpuaggInt128){0};
		if (is_value)
			nulls[row / 64] &= ~bit;
		else
			nulls[row / 64] |= bit;
		column->has_nulls |= !is_value;
	}
}

int
gpuagg_store_image_put(StoreImage *image, const Datum *values, const bool *isnull, Size stride,
					   int64 n)
{
	ColumnStore *store = image->store;
	int some = (int) Min(n, image->store->piece_rows - image->nrows);

	for (int c = 0; c < store->desc->natts && some > 0; c++)
		if (store->columns[c].kept)
			put_column(&store->columns[c], image, values + c, isnull + c, stride, some);
	some = take_values(image, some);
	image->nrows += some;
	return some;
}

void
gpuagg_store_image_point(const ColumnStore *store, char *piece, int n, char *data)
{
	for (int c = 0; c < store->desc->natts; c++)
	{
		const StoreColumn *column = &store->columns[c];
		Datum *values = (Datum *) (piece + column->values);

		for (int i = 0; i < n && gpuagg_store_column_points(column); i++)
			values[i] = PointerGetDatum(data + values[i]);
	}
}
