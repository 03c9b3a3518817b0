/*
 * column_store.c
 *	  Rows in memory, column by column, to be read again by number.
 *
 * A piece has the values of STORE_ROWS rows, one column behind the other, each with a bitmap of
 * NULLs.  Values by reference lie in blocks of their own, as they were stored.
 */
#include "compat.h"

#include "access/tupmacs.h"
#include "executor/executor.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "engine/cpu.h"
#include "exec/column_store.h"
#include "exec/large_memory.h"
#include "types/decimal.h"

#define FIRST_BLOCK	 (8 * 1024)
#define LAST_BLOCK	 (1024 * 1024)
#define PIECES_BLOCK (16 * 1024 * 1024) /* for pieces, at most */
#define PIECES_PART	 4					/* and so small a part of those that there are */

#define ROWS_AHEAD	 64 /* whose values are fetched ahead */
#define INTEGER_ROWS 128

/* An empty store whose columns are those of `below` that are their sources, or its own. */
static ColumnStore *
make_store(TupleDesc desc, const bool *kept, const int *scales, int piece_rows,
		   const ColumnStore *below, const StoreSource *sources, MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "gpuagg columns", ALLOCSET_DEFAULT_SIZES);
	ColumnStore *store = MemoryContextAllocZero(context, sizeof(ColumnStore));

	store->context = context;
	store->desc = desc;
	store->piece_rows = piece_rows;
	store->columns = MemoryContextAllocZero(context, Max(desc->natts, 1) * sizeof(StoreColumn));
	store->next_block = FIRST_BLOCK;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		StoreColumn *column = &store->columns[i];

		column->kept = kept[i];
		column->store = store;
		column->scale = -1;
		if (column->kept && below != NULL && sources[i].column >= 0)
		{
			Assert(below->columns[sources[i].column].kept);
			*column = below->columns[sources[i].column];
			continue;
		}
		if (below != NULL)
			column->scale = sources[i].scale;
		else if (scales != NULL)
			column->scale = scales[i];
		column->by_value = attribute->attbyval;
		column->length = attribute->attlen;
		column->width = attribute->attbyval ? attribute->attlen : sizeof(char *);
		if (column->scale >= 0)
			column->width = sizeof(GpuaggInt128);
		if (!column->kept)
			continue;
		column->values = store->piece_bytes;
		column->nulls = column->values + piece_rows * column->width;
		store->piece_bytes = column->nulls + piece_rows / 8;
	}
	return store;
}

ColumnStore *
gpuagg_column_store_make(TupleDesc desc, const bool *kept, const int *scales, int piece_rows,
						 MemoryContext parent)
{
	return make_store(desc, kept, scales, piece_rows, NULL, NULL, parent);
}

ColumnStore *
gpuagg_column_store_make_over(TupleDesc desc, const bool *kept, const ColumnStore *below,
							  const StoreSource *sources, MemoryContext parent)
{
	ColumnStore *store = make_store(desc, kept, NULL, STORE_ROWS, below, sources, parent);

	store->nrows = below->nrows;
	return store;
}

void
gpuagg_column_store_free(ColumnStore *store)
{
	MemoryContextDelete(store->context);
}

/* ---- memory ---- */

/* Memory for n pieces to come. */
static void
take_pieces(ColumnStore *store, int64 n)
{
	store->next_piece = gpuagg_large_memory(store->context, Max(n * store->piece_bytes, 1));
	store->more_pieces = n;
}

/* A piece of the store's own columns, without NULLs, of those that there is memory for. */
static char *
make_piece(ColumnStore *store, int64 piece)
{
	store->pieces[piece] = store->next_piece;
	store->next_piece += store->piece_bytes;
	store->more_pieces--;
	store->bytes += store->piece_bytes;
	for (int i = 0; i < store->desc->natts; i++)
		if (store->columns[i].kept && store->columns[i].store == store)
			memset(store->pieces[piece] + store->columns[i].nulls, 0, STORE_ROWS / 8);
	return store->pieces[piece];
}

/* The piece of the next row. */
static char *
open_piece(ColumnStore *store)
{
	int64 piece = store->nrows / STORE_ROWS;

	if (store->nrows % STORE_ROWS != 0)
		return store->pieces[piece];
	if (piece == store->room)
	{
		int64 room = Max(2 * store->room, 64);
		Size bytes = room * sizeof(char *);

		store->pieces = store->pieces == NULL ? MemoryContextAllocHuge(store->context, bytes)
											  : repalloc_huge(store->pieces, bytes);
		store->bytes += (room - store->room) * sizeof(char *);
		store->room = room;
	}
	if (store->more_pieces == 0)
	{
		int64 most = PIECES_BLOCK / Max(store->piece_bytes, 1);

		take_pieces(store, Max(Min(piece / PIECES_PART, most), 1));
	}
	return make_piece(store, piece);
}

int64
gpuagg_column_store_open_bytes(const ColumnStore *store)
{
	return gpuagg_column_store_pieces(store) *
		   (int64) (store->piece_bytes + (store->piece_bytes > 0 ? sizeof(char *) : 0));
}

void
gpuagg_column_store_open(ColumnStore *store)
{
	int64 npieces = gpuagg_column_store_pieces(store);

	if (store->piece_bytes == 0)
		return;
	store->room = npieces;
	store->pieces = MemoryContextAllocHuge(store->context, Max(npieces, 1) * sizeof(char *));
	store->bytes += npieces * (int64) sizeof(char *);
	take_pieces(store, npieces);
	for (int64 piece = 0; piece < npieces; piece++)
		make_piece(store, piece);
}

/* Memory for a value by reference. */
static char *
take_memory(ColumnStore *store, Size bytes)
{
	char *at;

	bytes = MAXALIGN(bytes);
	if (bytes > store->left)
	{
		Size block = Max(store->next_block, bytes);

		store->at = MemoryContextAllocHuge(store->context, block);
		store->left = block;
		store->bytes += block;
		store->next_block = Min(2 * store->next_block, LAST_BLOCK);
	}
	at = store->at;
	store->at += bytes;
	store->left -= bytes;
	return at;
}

/* A copy of a value by reference: of an expanded object the flat one, others as they are. */
static Datum
copy_value(ColumnStore *store, const StoreColumn *column, Datum value)
{
	const char *from = DatumGetPointer(value);
	Size bytes;
	char *to;

	if (column->length == -1 && VARATT_IS_EXTERNAL_EXPANDED(from))
	{
		ExpandedObjectHeader *object = DatumGetEOHP(value);

		bytes = EOH_get_flat_size(object);
		to = take_memory(store, bytes);
		EOH_flatten_into(object, to, bytes);
		return PointerGetDatum(to);
	}
	bytes = datumGetSize(value, false, column->length);
	to = take_memory(store, bytes);
	memcpy(to, from, bytes);
	return PointerGetDatum(to);
}

/* ---- rows in ---- */

static void
put_value(char *values, const StoreColumn *column, int row, Datum value)
{
	store_att_byval(values + row * column->width, value, column->width);
}

static inline void
set_null(StoreColumn *column, char *piece, int row)
{
	uint64 *nulls = (uint64 *) (piece + column->nulls);

	nulls[row / 64] |= UINT64CONST(1) << row % 64;
	column->has_nulls = true;
}

void
gpuagg_column_store_put(ColumnStore *store, TupleTableSlot *slot)
{
	char *piece = open_piece(store);
	int row = (int) (store->nrows % STORE_ROWS);

	for (int i = 0; i < store->desc->natts; i++)
	{
		StoreColumn *column = &store->columns[i];

		if (!column->kept)
			continue;
		if (slot->tts_isnull[i])
		{
			set_null(column, piece, row);
			put_value(piece + column->values, column, row, (Datum) 0);
		}
		else
			put_value(piece + column->values, column, row,
					  column->by_value ? slot->tts_values[i]
									   : copy_value(store, column, slot->tts_values[i]));
	}
	store->nrows++;
}

#define COPY_ROWS(Type, ToDatum) \
	for (int k = 0; k < n; k++)  \
		((Type *) to)[k] = ((const Type *) from->values)[rows[k]];

/* Values of a column's rows that lie as wide as they are kept. */
static void
copy_plain(char *to, const StoreColumn *column, const GpuaggVector *from, const uint16 *rows, int n)
{
	Assert(column->width > 1);
	if (rows[n - 1] - rows[0] == n - 1)
		memcpy(to, (const char *) from->values + rows[0] * column->width, n * column->width);
	else
		STORE_BY_WIDTH(column->width, COPY_ROWS)
}

static void
copy_datums(ColumnStore *store, char *to, const StoreColumn *column, const GpuaggVector *from,
			const uint16 *rows, int n)
{
	const Datum *values = from->values;

	for (int k = 0; k < n; k++)
	{
		int row = rows[k];
		bool isnull = from->valid != NULL && !gpuagg_bit(from->valid, row);
		Datum value = isnull ? (Datum) 0 : values[row];

		put_value(to, column, k,
				  isnull || column->by_value ? value : copy_value(store, column, value));
	}
}

/* n rows that the open piece has room for. */
static void
put_some(ColumnStore *store, const GpuaggVector *const *columns, const bool *is_datum,
		 const uint16 *rows, int n)
{
	char *piece = open_piece(store);
	int first = (int) (store->nrows % STORE_ROWS);

	for (int i = 0; i < store->desc->natts; i++)
	{
		StoreColumn *column = &store->columns[i];
		char *to = piece + column->values + first * column->width;

		if (!column->kept)
			continue;
		if (is_datum[i])
			copy_datums(store, to, column, columns[i], rows, n);
		else
			copy_plain(to, column, columns[i], rows, n);
		for (int k = 0; k < n && columns[i]->valid != NULL; k++)
			if (!gpuagg_bit(columns[i]->valid, rows[k]))
				set_null(column, piece, first + k);
	}
	store->nrows += n;
}

void
gpuagg_column_store_put_vectors(ColumnStore *store, const GpuaggVector *const *columns,
								const bool *is_datum, const uint16 *rows, int n)
{
	while (n > 0)
	{
		int some = Min(n, STORE_ROWS - (int) (store->nrows % STORE_ROWS));

		put_some(store, columns, is_datum, rows, some);
		rows += some;
		n -= some;
	}
}

/* The integers of n rows from number `first` of the input on; NULLs are set beside them. */
static void
put_integers(StoreColumn *column, char *piece, int row, const StoreInput *input, int64 first, int n)
{
	GpuaggInt128 *to = (GpuaggInt128 *) (piece + column->values) + row;

	for (int k = 0; k < n; k++)
	{
		int64 i = (first + k) * input->stride;

		to[k] = input->integers[i];
		if (input->status[i] != GPUAGG_ROW_VALUE)
			set_null(column, piece, row + k);
	}
}

/* The same of an input of pointers to integers. */
static void
put_pointed(StoreColumn *column, char *piece, int row, const StoreInput *input, int64 first, int n)
{
	GpuaggInt128 *to = (GpuaggInt128 *) (piece + column->values) + row;

	for (int k = 0; k < n; k++)
	{
		int64 i = (first + k) * input->stride;

		to[k] = (GpuaggInt128){0};
		if (input->isnull[i])
			set_null(column, piece, row + k);
		else
			to[k] = *(const GpuaggInt128 *) DatumGetPointer(input->values[i]);
	}
}

#define PUT(Type, ToDatum)      \
	for (int k = 0; k < n; k++) \
		((Type *) to)[k] = (Type) values[k * stride];

/* Values as wide as they are kept. */
static void
put_plain(char *to, const StoreColumn *column, const Datum *values, Size stride, int n)
{
	STORE_BY_WIDTH(column->width, PUT)
}

/* The same of others. */
static void
put_values(ColumnStore *store, StoreColumn *column, char *piece, int row, const StoreInput *input,
		   int64 first, int n)
{
	char *to = piece + column->values + row * column->width;
	const Datum *values = input->values + first * input->stride;
	const bool *isnull = input->isnull + first * input->stride;

	for (int k = 0; k < n; k++)
		if (isnull[k * input->stride])
			set_null(column, piece, row + k);
	if (column->by_value)
	{
		put_plain(to, column, values, input->stride, n);
		return;
	}
	for (int k = 0; k < n; k++)
		put_value(to, column, k,
				  isnull[k * input->stride] ? (Datum) 0
											: copy_value(store, column, values[k * input->stride]));
}

void
gpuagg_column_store_put_columns(ColumnStore *store, const StoreInput *inputs, int64 first, int64 n)
{
	while (n > 0)
	{
		char *piece = open_piece(store);
		int row = (int) (store->nrows % STORE_ROWS);
		int some = (int) Min(n, STORE_ROWS - row);

		for (int c = 0; c < store->desc->natts; c++)
		{
			StoreColumn *column = &store->columns[c];

			if (!column->kept)
				continue;
			if (column->scale >= 0 && inputs[c].integers != NULL)
				put_integers(column, piece, row, &inputs[c], first, some);
			else if (column->scale >= 0)
				put_pointed(column, piece, row, &inputs[c], first, some);
			else
				put_values(store, column, piece, row, &inputs[c], first, some);
		}
		store->nrows += some;
		first += some;
		n -= some;
	}
}

/* Of each row its piece, and where it is in that. */
#define PIECE_OF(Number) pieces[(Number) / STORE_ROWS]
#define ROW_OF(Number)	 ((Number) % STORE_ROWS)

/* Numbers rows of a column that are NULL. */
static void
set_nulls(StoreColumn *column, char *const *pieces, const uint64 *numbers, Size step, int64 n,
		  const bool *isnull, Size stride)
{
	for (int64 i = 0; i < n; i++)
	{
		uint64 number = numbers[i * step];

		if (isnull[i * stride])
			set_null(column, PIECE_OF(number), (int) ROW_OF(number));
	}
}

#define SET(Type, ToDatum)                                                              \
	for (int64 i = 0; i < n; i++)                                                       \
	{                                                                                   \
		uint64 number = numbers[i * step];                                              \
		uint64 later = numbers[Min(i + ROWS_AHEAD, n - 1) * step];                      \
                                                                                        \
		__builtin_prefetch((Type *) (PIECE_OF(later) + at) + ROW_OF(later), 1);         \
		((Type *) (PIECE_OF(number) + at))[ROW_OF(number)] = (Type) values[i * stride]; \
	}

/* Values as wide as they are kept. */
static void
set_values(const StoreColumn *column, char *const *pieces, const uint64 *numbers, Size step,
		   int64 n, const Datum *values, Size stride)
{
	uint32 at = column->values;

	STORE_BY_WIDTH(column->width, SET)
}

void
gpuagg_column_store_set(ColumnStore *store, int c, const uint64 *numbers, Size step, int64 n,
						const Datum *values, const bool *isnull, Size stride)
{
	StoreColumn *column = &store->columns[c];
	int64 some = stride == 0 ? n : 1;

	Assert(column->kept && column->store == store && column->scale < 0);
	set_nulls(column, store->pieces, numbers, step, n, isnull, stride);
	if (column->by_value)
	{
		set_values(column, store->pieces, numbers, step, n, values, stride);
		return;
	}
	for (int64 i = 0; i < n; i += some)
	{
		Datum value = (Datum) 0;

		if (!isnull[i * stride])
			value = copy_value(store, column, values[i * stride]);
		set_values(column, store->pieces, numbers + i * step, step, some, &value, 0);
	}
}

void
gpuagg_column_store_set_integers(ColumnStore *store, int c, const uint64 *numbers, Size step,
								 int64 n, const GpuaggInt128 *values, const uint8 *status,
								 Size stride)
{
	StoreColumn *column = &store->columns[c];
	char *const *pieces = store->pieces;

	Assert(column->kept && column->store == store && column->scale >= 0);
	for (int64 i = 0; i < n; i++)
	{
		uint64 number = numbers[i * step];
		uint64 later = numbers[Min(i + ROWS_AHEAD, n - 1) * step];
		char *piece = PIECE_OF(number);
		int row = (int) ROW_OF(number);

		__builtin_prefetch((GpuaggInt128 *) (PIECE_OF(later) + column->values) + ROW_OF(later), 1);
		((GpuaggInt128 *) (piece + column->values))[row] = values[i * stride];
		if (status[i * stride] != GPUAGG_ROW_VALUE)
			set_null(column, piece, row);
	}
}

/* ---- rows out ---- */

/* Values lie apart: those of rows to come are fetched ahead. */
#define GATHER(Type, ToDatum)                                                                   \
	for (int64 i = 0; i < n; i++)                                                               \
	{                                                                                           \
		uint64 number = numbers[i * step];                                                      \
		uint64 later = numbers[Min(i + ROWS_AHEAD, n - 1) * step];                              \
                                                                                                \
		__builtin_prefetch((const Type *) (PIECE_OF(later) + at) + ROW_OF(later));              \
		values[i * stride] = ToDatum(((const Type *) (PIECE_OF(number) + at))[ROW_OF(number)]); \
	}

static void
gather_values(const StoreColumn *column, const uint64 *numbers, Size step, int64 n, Datum *values,
			  Size stride)
{
	char *const *pieces = column->store->pieces;
	uint32 at = column->values;

	STORE_BY_WIDTH(column->width, GATHER)
	if (!column->by_value)
		for (int64 i = 0; i < n; i++)
			__builtin_prefetch(DatumGetPointer(values[i * stride]));
}

static void
gather_nulls(const StoreColumn *column, const uint64 *numbers, Size step, int64 n, bool *isnull,
			 Size stride)
{
	char *const *pieces = column->store->pieces;

	for (int64 i = 0; i < n; i++)
	{
		uint64 number = numbers[i * step];
		const uint64 *nulls;

		if (!column->has_nulls)
		{
			isnull[i * stride] = false;
			continue;
		}
		nulls = (const uint64 *) (PIECE_OF(number) + column->nulls);
		isnull[i * stride] = gpuagg_bit(nulls, ROW_OF(number));
	}
}

/*
 * Numerics from integers, where they are not NULL.  Integers of some rows are read one right after the
 * other, as they lie apart, and making a numeric takes as long as several such reads.
 */
static void
gather_integers(const StoreColumn *column, const uint64 *numbers, Size step, int64 n, Datum *values,
				const bool *isnull, Size stride)
{
	char *const *pieces = column->store->pieces;
	uint32 at = column->values;
	GpuaggInt128 integers[INTEGER_ROWS];

	for (int64 first = 0; first < n; first += INTEGER_ROWS)
	{
		int64 end = Min(first + INTEGER_ROWS, n);

		for (int64 i = first; i < end; i++)
		{
			uint64 number = numbers[i * step];

			integers[i - first] = ((const GpuaggInt128 *) (PIECE_OF(number) + at))[ROW_OF(number)];
		}
		for (int64 i = first; i < end; i++)
		{
			uint64 later = numbers[Min(i + INTEGER_ROWS, n - 1) * step];

			__builtin_prefetch((const GpuaggInt128 *) (PIECE_OF(later) + at) + ROW_OF(later));
			values[i * stride] =
				isnull[i * stride] ? (Datum) 0
								   : NumericGetDatum(gpuagg_decimal_to_numeric(integers[i - first],
																			   column->scale));
		}
	}
}

/* Where the integers are, which are about to be read. */
static void
gather_pointers(const StoreColumn *column, const uint64 *numbers, Size step, int64 n, Datum *values,
				Size stride)
{
	char *const *pieces = column->store->pieces;

	for (int64 i = 0; i < n; i++)
	{
		uint64 number = numbers[i * step];
		GpuaggInt128 *integer = (GpuaggInt128 *) (PIECE_OF(number) + column->values) +
								ROW_OF(number);

		__builtin_prefetch(integer);
		values[i * stride] = PointerGetDatum(integer);
	}
}

void
gpuagg_column_store_gather(const ColumnStore *store, const bool *wanted, const uint64 *numbers,
						   Size step, int64 n, bool integers, Datum *values, bool *isnull,
						   Size stride)
{
	for (int c = 0; c < store->desc->natts; c++)
	{
		if (!wanted[c])
			continue;
		gather_nulls(&store->columns[c], numbers, step, n, isnull + c, stride);
		if (store->columns[c].scale >= 0 && integers)
			gather_pointers(&store->columns[c], numbers, step, n, values + c, stride);
		else if (store->columns[c].scale >= 0)
			gather_integers(&store->columns[c], numbers, step, n, values + c, isnull + c, stride);
		else
			gather_values(&store->columns[c], numbers, step, n, values + c, stride);
	}
}
