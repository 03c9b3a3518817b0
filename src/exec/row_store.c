/*
 * row_store.c
 *	  A queue of rows, in memory up to a limit, then in a file.
 *
 * Rows in memory are older than those in the tuplestore: while that has rows, all
 * new ones go there.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "exec/row_blocks.h"
#include "exec/row_store.h"

#define LEAST_LIMIT	   (64 * 1024)
#define FILE_BUFFER_KB 64 /* what the tuplestore may keep before it writes */

struct RowStore
{
	MemoryContext context;
	RowBlocks *blocks;
	Tuplestorestate *file; /* or NULL */
	int64 limit;
	int64 in_memory; /* rows */
	int64 in_file;
	int64 spilled; /* rows that were ever written to the file */
};

RowStore *
gpuagg_row_store_make(TupleDesc desc, int64 limit, MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "gpuagg row store",
												  ALLOCSET_DEFAULT_SIZES);
	RowStore *store = MemoryContextAllocZero(context, sizeof(*store));

	store->context = context;
	store->blocks = gpuagg_row_blocks_make(desc, context);
	store->limit = Max(limit, LEAST_LIMIT);
	return store;
}

static void
append_to_file(RowStore *store, TupleTableSlot *slot)
{
	if (store->file == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(store->context);

		store->file = tuplestore_begin_heap(false, false, FILE_BUFFER_KB);
		MemoryContextSwitchTo(caller);
	}
	tuplestore_puttupleslot(store->file, slot);
	store->in_file++;
	store->spilled++;
}

void
gpuagg_row_store_append(RowStore *store, TupleTableSlot *slot)
{
	if (unlikely(store->in_file > 0) ||
		unlikely(gpuagg_row_blocks_append(store->blocks, slot, store->limit) == NULL))
		append_to_file(store, slot);
	else
		store->in_memory++;
}

void
gpuagg_row_store_fetch(RowStore *store, TupleTableSlot *slot)
{
	if (likely(store->in_memory > 0))
	{
		store->in_memory--;
		ExecStoreMinimalTuple(gpuagg_row_blocks_next(store->blocks, true), slot, false);
		return;
	}
	/* a copy, as appending rows may move those in the tuplestore's memory to its file */
	if (store->in_file == 0 || !tuplestore_gettupleslot(store->file, true, true, slot))
		elog(ERROR, "a row of the store is missing");
	if (--store->in_file == 0)
		tuplestore_clear(store->file);
}

int64
gpuagg_row_store_spilled(const RowStore *store)
{
	return store->spilled;
}

void
gpuagg_row_store_clear(RowStore *store)
{
	gpuagg_row_blocks_clear(store->blocks);
	store->in_memory = 0;
	if (store->in_file > 0)
		tuplestore_clear(store->file);
	store->in_file = 0;
}

void
gpuagg_row_store_end(RowStore *store)
{
	if (store->file != NULL)
		tuplestore_end(store->file);
	MemoryContextDelete(store->context);
}
