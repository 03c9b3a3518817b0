/*
 * row_store.h
 *	  A queue of rows: those that wait, in memory up to a limit, then in a file.
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

/* Adds the slot's row, copied; values that are out of line stay so. */
extern void gpuagg_row_store_append(RowStore *store, TupleTableSlot *slot);

/*
 * Takes the oldest row, one of which must wait, into a slot of TTSOpsMinimalTuple.
 * It stays where it is, whatever is appended, until the next fetch, clear or end;
 * the memory of those before it is used again.
 */
extern void gpuagg_row_store_fetch(RowStore *store, TupleTableSlot *slot);

/* Rows that went through files, since made. */
extern int64 gpuagg_row_store_spilled(const RowStore *store);

/* Forgets all rows, for a rescan. */
extern void gpuagg_row_store_clear(RowStore *store);
extern void gpuagg_row_store_end(RowStore *store);

#endif /* GPUAGG_ROW_STORE_H */
