/*
 * page_resident.h
 *	  Rows of a page reader that come from memory: which pages may be used, and the others.
 *
 * A reader first gives the rows of pages that are resident and confirmed, in batches of whole
 * pages, and then reads the other pages.  Of several processes that share a table one decides
 * about each chunk.
 *
 * What may be used follows these rules; test/rules shows what goes wrong without each clause:
 * 1. The table is a heap, permanent, no catalog, its file older than this transaction, and all
 *	  changes to it are logged: else pages change without a new LSN.  The snapshot is an MVCC
 *	  snapshot that was not taken during recovery, where all-visible says less, and can not
 *	  become too old.  The transaction is not SERIALIZABLE: who changes a row looks for readers'
 *	  predicate locks under the lock of the heap page, and clears the page's bit under the same
 *	  lock.  A reader that takes no lock of the page may take its predicate lock and read the map
 *	  between the two; then neither finds the other.
 * 2. The snapshot is taken before the map's image is read: what is all-visible while a snapshot
 *	  is registered is visible to it.  An image from before it may be about rows that were
 *	  deleted before the snapshot.
 * 3. Level 1: the LSN of the map's page is the one under which the page was confirmed, and the
 *	  page's bit is set.  Setting a bit gives the map a new LSN, so the bit has been set ever
 *	  since, and no row of the page has changed.  (From 17.11 and 18.5 on clearing a bit does so,
 *	  too: then the other pages have to be confirmed again.)
 * 4. Level 2: the bit is set, and the heap page's LSN, in its buffer, is the one that its rows
 *	  had: no row has changed.  It is confirmed under the image's LSN, which was read before; under
 *	  a later one its bit need not be set.
 * 5. All other pages are read.  By rule 3 alone pages of a chunk are used that only some columns have,
 *	  if these tell that no row of it has to be looked at.
 * 6. For what is filled see column_fill.c.
 */
#ifndef GPUAGG_PAGE_RESIDENT_H
#define GPUAGG_PAGE_RESIDENT_H

#include "common/narrow_range.h"
#include "exec/page_reader.h"
#include "resident/chunk.h"

/* Opens what a reader needs; leaves reader->resident NULL where that is nothing. */
extern void gpuagg_page_resident_open(PageReader *reader, const PageColumn *columns, int ncolumns,
									  PageMemory memory);
extern void gpuagg_page_resident_close(PageReader *reader);

/* Makes the next rows from memory the current batch; false: there are no more. */
extern bool gpuagg_page_resident_next(PageReader *reader);

/* Of all columns, without chunks that the device has taken. */
extern double gpuagg_page_resident_bytes(const PageReader *reader);

/* Whether all chunks have been given out. */
extern bool gpuagg_page_resident_is_taken(const PageReader *reader);

/* Pages that do not come from memory, or were returned; before all is decided, the largest number. */
extern BlockNumber gpuagg_page_resident_left(const PageReader *reader);

/* Whether a chunk has been given out, to the device too. */
extern bool gpuagg_page_resident_has_taken(const PageReader *reader);

/* What was decided without a share, about the chunks given out, becomes a new share's. */
extern void gpuagg_page_resident_share(PageReader *reader, PageShare *share);

/* Columns first to first + n - 1 of the batch. */
extern void gpuagg_page_resident_load(PageReader *reader, int first, int n);

/* Clears those rows of the batch whose values of a column of integers are NULL or not in the range. */
extern void gpuagg_page_resident_select(const PageReader *reader, int c, const GpuaggRange *range,
										uint64 *live);

/* Pages of a chunk that have to be read, now. */
extern ChunkPages gpuagg_page_resident_rest(PageReader *reader, uint32 chunk);

/* The next block of those whose rows were given back; InvalidBlockNumber: there is none. */
extern BlockNumber gpuagg_page_resident_returned(PageReader *reader);

/* Whether a batch of rows that were read goes into memory: that it is not left for another query. */
extern bool gpuagg_page_resident_takes(PageReader *reader);

/* A batch of rows that were read, of which all columns are loaded; and a page without rows. */
extern void gpuagg_page_resident_fill(PageReader *reader);
extern void gpuagg_page_resident_fill_empty(PageReader *reader, BlockNumber block, XLogRecPtr lsn,
											Buffer buffer);

/* Whether pages that are read go into memory. */
extern bool gpuagg_page_resident_fills(const PageReader *reader);

/* From now on nothing does. */
extern void gpuagg_page_resident_stop_filling(PageReader *reader);

/* All pages have been read: what has come goes into memory. */
extern void gpuagg_page_resident_finish(PageReader *reader);

#endif /* GPUAGG_PAGE_RESIDENT_H */
