/*
 * row_store.h
 *	  A queue of rows, in memory up to a limit, then in a file.
 */
#ifndef GPUAGG_ROW_STORE_H
#define GPUAGG_ROW_STORE_H

#include "executor/tuptable.h"

typedef struct RowStore RowStore;

/*
 * A store of rows of this descriptor, which must outlive it, in a child of
 * `parent`.  `limit` is in bytes.  Its file, if there is one, belongs to the
 * resource owner that is current when the first row is written to it.
 */
extern RowStore *gpuagg_row_store_make(TupleDesc desc, int64 limit, MemoryContext parent);

/* Adds a copy of the slot's row; values that are stored out of line stay so. */
extern void gpuagg_row_store_append(RowStore *store, TupleTableSlot *slot);

/*
 * Takes the oldest row, of which there must be one, into a slot of TTSOpsMinimalTuple.
 * It stays where it is until the next fetch, clear or end, whatever is appended.  The
 * memory of the rows before it is used again.
 */
extern void gpuagg_row_store_fetch(RowStore *store, TupleTableSlot *slot);

/* Rows that went through the file, since the store was made. */
extern int64 gpuagg_row_store_spilled(const RowStore *store);

/* Forgets all rows, for a rescan. */
extern void gpuagg_row_store_clear(RowStore *store);
extern void gpuagg_row_store_end(RowStore *store);

#endif /* GPUAGG_ROW_STORE_H */
