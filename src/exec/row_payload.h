/*
 * row_payload.h
 *	  Values of rows in their items, in place of the rows' numbers.
 *
 * Where a word has room for all values of a row that are read again behind a sort, they are sorted
 * with the keys, and need not be fetched from all over the store.
 */
#ifndef GPUAGG_ROW_PAYLOAD_H
#define GPUAGG_ROW_PAYLOAD_H

#include "exec/column_store.h"

typedef struct RowPayload
{
	bool active;	/* items have the values of all columns; otherwise the rows' numbers */
	uint8 *offsets; /* by column: bytes of the word before its value */
} RowPayload;

/* Of rows of so many columns; not active.  In the current memory context. */
extern RowPayload *gpuagg_row_payload_make(int ncolumns);

/*
 * Chooses whether items have the values of these columns of the store: in one word, by value, as others
 * are fetched from elsewhere anyway, and without NULLs.
 */
extern void gpuagg_row_payload_choose(RowPayload *payload, const ColumnStore *store,
									  const bool *columns);

/* Sets the words of a piece's first n rows, `step` words apart. */
extern void gpuagg_row_payload_put(const RowPayload *payload, const ColumnStore *store,
								   const bool *columns, int64 piece, int n, uint64 *words,
								   Size step);

/* The columns that are wanted, of the chosen ones, of n rows; as gpuagg_column_store_gather(). */
extern void gpuagg_row_payload_get(const RowPayload *payload, const ColumnStore *store,
								   const bool *wanted, const uint64 *words, Size step, int64 n,
								   Datum *values, bool *isnull, Size stride);

#endif /* GPUAGG_ROW_PAYLOAD_H */
