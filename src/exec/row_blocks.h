/*
 * row_blocks.h
 *	  Rows as minimal tuples, one behind the other in blocks of memory.
 */
#ifndef GPUAGG_ROW_BLOCKS_H
#define GPUAGG_ROW_BLOCKS_H

#include "executor/tuptable.h"

typedef struct RowBlocks RowBlocks;

/* Blocks in `context` for rows of this descriptor, which must outlive them. */
extern RowBlocks *gpuagg_row_blocks_make(TupleDesc desc, MemoryContext context);

/*
 * Adds a copy of the slot's row.  Returns NULL, and adds nothing, if that would take
 * more than `limit` bytes in all.  The first row is always added.
 */
extern MinimalTuple gpuagg_row_blocks_append(RowBlocks *blocks, TupleTableSlot *slot, int64 limit);

/*
 * The next row in the order in which they were added, or NULL.  With release, the
 * memory of the rows before it is freed or used again.
 */
extern MinimalTuple gpuagg_row_blocks_next(RowBlocks *blocks, bool release);

/* Memory in use. */
extern int64 gpuagg_row_blocks_bytes(const RowBlocks *blocks);

/* Forgets all rows and frees all memory except one block. */
extern void gpuagg_row_blocks_clear(RowBlocks *blocks);

#endif /* GPUAGG_ROW_BLOCKS_H */
