/*
 * column_fill.h
 *	  Makes blocks of resident columns from pages that somebody reads anyway.
 *
 * Pages of a chunk come one after the other, chunk after chunk.  When the next chunk comes, or
 * at the end, the pages of the last one become blocks: new ones, or with what the old block had
 * of other pages.  Nothing here raises an error but for CHECK_FOR_INTERRUPTS; without memory
 * there is nothing filled.
 */
#ifndef GPUAGG_COLUMN_FILL_H
#define GPUAGG_COLUMN_FILL_H

#include "compat.h"

#include "common/vector_run.h"
#include "resident/directory.h"
#include "resident/map_image.h"

typedef struct ColumnFill ColumnFill;

/*
 * For n columns of a table, pinned by the caller, whose vectors have these types (not DATUM).  before: as of gpuagg_column_allocate().  In the current
 * memory context; NULL: there is no memory.
 */
extern ColumnFill *gpuagg_fill_open(int n, const ColumnPin *pins, const GpuaggVectorType *types,
									uint64 before);

/* Pages of the chunk will be read from now on; the image was read before. */
extern void gpuagg_fill_expect(ColumnFill *fill, uint32 chunk, const MapImage *image);

/*
 * Such a chunk's pages come next, before which it need not be said; false: none of them is all-visible,
 * or they were not expected.  leave(): they will not come, and stay as they are in memory.
 */
extern bool gpuagg_fill_begin(ColumnFill *fill, uint32 chunk);
extern void gpuagg_fill_leave(ColumnFill *fill);

/*
 * Rows of an all-visible page, which had that LSN when it was found to be: rows begin to
 * begin + n - 1 of the vectors.  first, last: of those of the page.  Each page's rows come
 * together, none is left out.  Before the vectors change, gpuagg_fill_vectors_end() is called.
 */
extern void gpuagg_fill_rows(ColumnFill *fill, BlockNumber block, XLogRecPtr lsn, Buffer buffer,
							 const GpuaggVector *vectors, int begin, int n, bool first, bool last);

extern void gpuagg_fill_vectors_end(ColumnFill *fill);

/* A page of which values cannot be kept: what has come of its rows is taken back. */
extern void gpuagg_fill_drop(ColumnFill *fill, BlockNumber block);

/* A column is refused, for a value that cannot be kept: none of its values is taken any more. */
extern void gpuagg_fill_refuse(ColumnFill *fill, int column, ColumnRefusal why);

/* An all-visible page without rows.  It may come before rows of pages before it. */
extern void gpuagg_fill_empty(ColumnFill *fill, BlockNumber block, XLogRecPtr lsn, Buffer buffer);

/* Whether there was no memory for a block: there will hardly be any for others. */
extern bool gpuagg_fill_is_full(const ColumnFill *fill);

/* What has come becomes blocks.  Returns the number of pages that were put into memory so far. */
extern uint64 gpuagg_fill_finish(ColumnFill *fill);

extern void gpuagg_fill_close(ColumnFill *fill);

#endif /* GPUAGG_COLUMN_FILL_H */
