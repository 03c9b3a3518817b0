/*
 * column_store.h
 *	  Rows in memory, column by column, to be read again by number.
 */
#ifndef GPUAGG_COLUMN_STORE_H
#define GPUAGG_COLUMN_STORE_H

#include "compat.h"

#include "executor/tuptable.h"

#include "common/vector_run.h"

/* Rows of a piece, in which memory comes: those of a vector. */
#define STORE_ROWS GPUAGG_VECTOR_ROWS

struct ColumnStore;

typedef struct StoreColumn
{
	bool kept;						 /* others are NULL */
	const struct ColumnStore *store; /* whose pieces have it: this one's or that below */
	int scale;						 /* of numerics that are kept as integers; -1: as they are */
	bool by_value;
	int16 length;	/* as pg_attribute.attlen */
	uint8 width;	/* bytes of a value, or of a pointer to it */
	uint32 values;	/* where they are in a piece */
	uint32 nulls;	/* its bitmap there: bit set: NULL */
	bool has_nulls; /* in any row */
} StoreColumn;

typedef struct ColumnStore
{
	MemoryContext context; /* its own */
	TupleDesc desc;
	StoreColumn *columns; /* one for each attribute */
	int piece_rows;		  /* of which a piece has room; numbers of rows go by STORE_ROWS */
	uint32 piece_bytes;
	int64 nrows;
	char **pieces;
	int64 room;		  /* pieces that there are pointers for */
	char *next_piece; /* memory for pieces that are to come */
	int64 more_pieces;
	char *at;		 /* where the next value by reference goes */
	Size left;		 /* bytes behind that */
	Size next_block; /* bytes of the block after this one */
	int64 bytes;	 /* of all memory */
} ColumnStore;

/*
 * An empty store of rows of this descriptor, which must outlive it, in a child of `context`.  scales:
 * of numerics that are kept as integers, as below; or NULL.  A store whose pieces have room for less
 * than STORE_ROWS rows, a multiple of 64, gets them as blocks (store_image.h).
 */
extern ColumnStore *gpuagg_column_store_make(TupleDesc desc, const bool *kept, const int *scales,
											 int piece_rows, MemoryContext context);

/* Of a column of a store over another one. */
typedef struct StoreSource
{
	int column; /* of the store below; -1: it is its own, to be set once that is opened */
	int scale;	/* of its own: as below */
} StoreSource;

/*
 * A store of the rows that `below` has, which must outlive it and get no more.  Numerics of one
 * display scale, 0 or more, are kept as 128-bit integers, times 10^scale.
 */
extern ColumnStore *gpuagg_column_store_make_over(TupleDesc desc, const bool *kept,
												  const ColumnStore *below,
												  const StoreSource *sources,
												  MemoryContext context);

/* Bytes that opening its own columns takes; and does so. */
extern int64 gpuagg_column_store_open_bytes(const ColumnStore *store);
extern void gpuagg_column_store_open(ColumnStore *store);

/*
 * Sets a column of its own of n rows whose numbers are `step` words apart, each once; values are
 * `stride` places apart, 0: all rows have the same one.
 */
extern void gpuagg_column_store_set(ColumnStore *store, int column, const uint64 *numbers,
									Size step, int64 n, const Datum *values, const bool *isnull,
									Size stride);

/* The same of one that is kept as integers; NULL where status, as far apart, is not GPUAGG_ROW_VALUE. */
extern void gpuagg_column_store_set_integers(ColumnStore *store, int column, const uint64 *numbers,
											 Size step, int64 n, const GpuaggInt128 *values,
											 const uint8 *status, Size stride);

/* Adds a copy of the slot's row, whose kept columns are there. */
extern void gpuagg_column_store_put(ColumnStore *store, TupleTableSlot *slot);

/*
 * Adds n rows of a vector, by number.  columns: of each attribute that is kept its values, as wide
 * as the attribute, or Datums where is_datum says so.
 */
extern void gpuagg_column_store_put_vectors(ColumnStore *store, const GpuaggVector *const *columns,
											const bool *is_datum, const uint16 *rows, int n);

/* A column of rows to add, of which each is `stride` places after the one before; 0: all have the same. */
typedef struct StoreInput
{
	const Datum *values; /* of one that is kept as integers, pointers to these */
	const bool *isnull;
	/* or of such a one the integers; NULL where the status is not GPUAGG_ROW_VALUE */
	const GpuaggInt128 *integers;
	const uint8 *status;
	Size stride;
} StoreInput;

/* Adds copies of n rows from number `first` of the inputs on, of which there is one for each attribute. */
extern void gpuagg_column_store_put_columns(ColumnStore *store, const StoreInput *inputs,
											int64 first, int64 n);

/*
 * The columns that are `wanted`, which are kept, of n rows whose numbers are `step` words apart;
 * each row `stride` places after the one before.  Values by reference are the store's, but numerics
 * that it keeps as integers are made in the current memory context; or, where `integers` says so,
 * they are pointers to these integers in the store.
 */
extern void gpuagg_column_store_gather(const ColumnStore *store, const bool *wanted,
									   const uint64 *numbers, Size step, int64 n, bool integers,
									   Datum *values, bool *isnull, Size stride);

/* Frees it, and whatever was gathered from it. */
extern void gpuagg_column_store_free(ColumnStore *store);

/*
 * Runs LOOP(type, to_datum), a loop over values of a column so wide: their type, and what makes a Datum
 * of one.
 */
#define STORE_BY_WIDTH(width, LOOP)    \
	switch (width)                     \
	{                                  \
		case 1:                        \
			LOOP(char, CharGetDatum)   \
			break;                     \
		case 2:                        \
			LOOP(int16, Int16GetDatum) \
			break;                     \
		case 4:                        \
			LOOP(int32, Int32GetDatum) \
			break;                     \
		default:                       \
			LOOP(Datum, )              \
			break;                     \
	}

/* Whether its values are pointers. */
static inline bool
gpuagg_store_column_points(const StoreColumn *column)
{
	return column->kept && !column->by_value && column->scale < 0;
}

static inline int64
gpuagg_column_store_pieces(const ColumnStore *store)
{
	return (store->nrows + STORE_ROWS - 1) / STORE_ROWS;
}

/* Rows of a piece. */
static inline int
gpuagg_column_store_piece_rows(const ColumnStore *store, int64 piece)
{
	return (int) Min(store->nrows - piece * STORE_ROWS, STORE_ROWS);
}

static inline const uint64 *
gpuagg_column_store_nulls(const ColumnStore *store, int column, int64 piece)
{
	const StoreColumn *of = &store->columns[column];

	return (const uint64 *) (of->store->pieces[piece] + of->nulls);
}

static inline const void *
gpuagg_column_store_values(const ColumnStore *store, int column, int64 piece)
{
	const StoreColumn *of = &store->columns[column];

	return of->store->pieces[piece] + of->values;
}

#endif /* GPUAGG_COLUMN_STORE_H */
