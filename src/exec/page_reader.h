/*
 * page_reader.h
 *	  Reads a heap table's pages into vectors of columns.
 *
 * A batch has the visible rows of whole pages, or of a part of a page, up to
 * GPUAGG_VECTOR_ROWS.  Its pages stay pinned until the next batch, so that values
 * by reference and whole tuples can be looked at in place.  Columns are loaded
 * apart from that, so that those which only rows past the filter need are loaded
 * for these rows alone.
 *
 * All in the caller's per-query memory context.  Errors: those of reading a table.
 */
#ifndef GPUAGG_PAGE_READER_H
#define GPUAGG_PAGE_READER_H

#include "compat.h"

#include "access/relscan.h"
#include "executor/tuptable.h"
#include "port/atomics.h"
#include "utils/rel.h"

#include "common/vector_run.h"
#include "resident/column_block.h"
#include "types/page_column.h"

typedef struct PageChunk
{
	pg_atomic_uint32 decided;
	ChunkPages used; /* that come from memory; valid when decided */
} PageChunk;

typedef struct PageShare
{
	pg_atomic_uint64 next; /* block, counted from the first */
	uint32 nblocks;		   /* of the table, as the leader saw it */
	uint32 first;		   /* block to be read */
	bool fill;			   /* pages that are read go into memory */
	pg_atomic_uint32 next_chunk;
	uint32 nchunks; /* of which pages may come from memory */
	PageChunk chunks[FLEXIBLE_ARRAY_MEMBER];
} PageShare;

/* Counts of what this process has done, for EXPLAIN and statistics. */
typedef struct PageCounts
{
	uint64 pages;		  /* read */
	uint64 all_visible;	  /* of these, without a look at each tuple's visibility */
	uint64 strided;		  /* of these, whose tuples lie at a constant stride */
	uint64 rows;		  /* visible, those from memory too */
	uint64 given;		  /* of these, as columns of a node below */
	uint64 level1;		  /* pages that came from memory, confirmed at level 1 */
	uint64 level2;		  /* at level 2 */
	uint64 filled;		  /* of those read: put into memory */
	uint64 later;		  /* left for later queries to put there */
	uint64 skipped;		  /* chunks of which no row had to be looked at */
	uint64 device_chunks; /* from memory, whose rows the device took */
	uint64 device_rows;	  /* of these */
	uint64 ns_evidence;	  /* deciding which pages come from memory, if the reader is timed */
} PageCounts;

/*
 * Whether a chunk from memory is done without its rows, `nrows` of them: of its blocks by column,
 * whole ones or with pages that are not used; of the columns that are `summed_up`.
 */
typedef bool (*PageChunkDone)(void *owner, const BlockSummary *const *blocks, uint32 nrows,
							  bool whole);

/*
 * Numbers that say, of given blocks, for which chunks chunk_done() is false; false: they do not, or it
 * may be true.  They stay until the constants change.
 */
typedef bool (*PageChunkKey)(void *owner, const int64 **numbers, int *n);

/*
 * Asked before a chunk comes from memory, between begin_memory() and end_memory(): whether none
 * shall any more.  done: the part of the table's chunks that has come.
 */
typedef bool (*PageChunkStop)(void *owner, double done);

typedef struct PageReader PageReader;

/*
 * Rows that come from elsewhere than a table's pages, in a reader all the same: what takes the place
 * of the functions below of these names.  There is no memory then, and there are no codes.
 */
typedef struct PageSource
{
	bool (*next)(PageReader *reader);
	void (*load)(PageReader *reader, int first, int n, const uint64 *wanted);
	void (*slot)(PageReader *reader, int row, int natts, TupleTableSlot *slot);
	void (*close)(PageReader *reader);
} PageSource;

struct PageReader
{
	const PageSource *source; /* NULL: pages */
	int nrows;				  /* of the current batch */
	GpuaggVector *columns;	  /* one for each PageColumn; set by load() */

	/*
	 * Rows with a value that its form cannot hold: compressed or out of line bytes;
	 * numerics that are not finite, have another display scale than the column's, or
	 * too many digits.  Of the columns loaded so far, for the rows they were loaded for.
	 */
	uint64 flagged[GPUAGG_VECTOR_WORDS];
	bool any_flagged;
	uint64 odd_numbers[GPUAGG_VECTOR_WORDS]; /* of these, for a number */

	/*
	 * By column, of a batch from memory: codes of those of strings, of which vectors have the
	 * strings when the caller has asked for them.  Else NULL.
	 */
	const GpuaggVectorCodes *codes;

	PageCounts counts;
	struct PageScan *scan;
	struct PageResident *resident; /* what may come from memory or go there; or NULL */
	bool from_memory;			   /* the current batch: there is no slot() */
	bool loaded;				   /* all its columns */
	bool timed;					   /* set by the caller */
	bool takes_codes;			   /* the same: else there are strings at once, and no codes */
	PageChunkDone chunk_done;	   /* set by the caller; or NULL */
	const bool *summed_up;	  /* the same, by column: whether chunk_done() looks at its blocks */
	PageChunkKey chunk_key;	  /* the same, with chunk_done() */
	PageChunkStop chunk_stop; /* the same */
	void *owner;			  /* of these three */
};

/* Whether the relation's pages are those of a heap, which alone the reader knows. */
extern bool gpuagg_page_reader_can_read(Relation relation);

/* What a reader does with columns in memory; with a share, the same in all processes. */
typedef enum PageMemory
{
	PAGE_MEMORY_NONE,
	PAGE_MEMORY_LOOK, /* what is there, which counts as no use, and pages without filling; without a share */
	PAGE_MEMORY_USE, /* what is there */
	PAGE_MEMORY_FILL /* and what is read goes there */
} PageMemory;

/* Why no such columns of the table can be in memory, in the current context; NULL: they can. */
extern const char *gpuagg_page_memory_refusal(Relation relation, Snapshot snapshot,
											  const PageColumn *columns, int ncolumns);

/*
 * What can be done under the settings for one execution, which counts as a use of the columns.
 * The caller wants rows' columns only, not slots.  *reason: why it is not all, in the current
 * memory context; or NULL.
 */
extern PageMemory gpuagg_page_memory(Relation relation, Snapshot snapshot,
									 const PageColumn *columns, int ncolumns, const char **reason);

/*
 * Opens a reader of the relation, which the caller has locked, under an MVCC
 * snapshot that it has registered.  share: NULL, or the same in all processes that
 * divide the pages among themselves.  columns stays the caller's.
 */
extern PageReader *gpuagg_page_reader_open(Relation relation, Snapshot snapshot,
										   const PageColumn *columns, int ncolumns,
										   PageMemory memory, PageShare *share);

/* Adds counts to others. */
extern void gpuagg_page_counts_add(PageCounts *into, const PageCounts *from);

/* The statistics (stat.h) of what `now` has more than `before`, and of so many vectors. */
extern void gpuagg_page_counts_tell(const PageCounts *now, const PageCounts *before, int64 vectors);

/*
 * Bytes of a PageShare for tables of so many chunks; before the first reader, and again at each
 * rescan of the whole plan.
 */
extern uint32 gpuagg_page_share_chunks(Relation relation, PageMemory memory);
extern Size gpuagg_page_share_size(uint32 nchunks);
extern void gpuagg_page_share_init(PageShare *share, Relation relation, uint32 nchunks,
								   PageMemory memory);

/* Before there are readers: what is decided in another one, of the same chunks; or that all is done. */
extern void gpuagg_page_share_copy(PageShare *share, const PageShare *from);
extern void gpuagg_page_share_finish(PageShare *share);

/* The next batch, of at least one row; false at the end, with nothing pinned. */
extern bool gpuagg_page_reader_next(PageReader *reader);

/*
 * Loads columns first to first + n - 1 of the batch for the rows in `wanted`, or for
 * all if that is NULL.  Values of other rows may be anything.
 */
extern void gpuagg_page_reader_load(PageReader *reader, int first, int n, const uint64 *wanted);

/*
 * Loads columns for all rows, as far as this is cheap: numerics' values are not made
 * before values() makes them for those of its rows that are wanted, once.
 */
extern void gpuagg_page_reader_find(PageReader *reader, int first, int n);
extern void gpuagg_page_reader_values(PageReader *reader, int c, const uint64 *wanted);

/* The strings of a column that has codes, which is loaded. */
extern void gpuagg_page_reader_strings(PageReader *reader, int column);

/*
 * The reader without a share that has not given a batch yet: gives the rows from memory, up to
 * their end or where chunk_stop() says, if there may be any.  Then it goes on where it is.
 */
extern bool gpuagg_page_reader_begin_memory(PageReader *reader);
extern double gpuagg_page_reader_memory_bytes(const PageReader *reader); /* of its columns */
extern void gpuagg_page_reader_end_memory(PageReader *reader);

/* Pages that have not come from memory; as long as others may, the largest number. */
extern BlockNumber gpuagg_page_reader_left(const PageReader *reader);

/* Whether any have, of a reader that goes on in this way. */
extern bool gpuagg_page_reader_has_taken(const PageReader *reader);

/* What this reader has decided about chunks becomes the share's, with which it goes on. */
extern void gpuagg_page_reader_share(PageReader *reader, PageShare *share);

/* The rows of a batch from memory come again, read from their pages. */
extern void gpuagg_page_reader_return(PageReader *reader);

/* Only such rows come from now on. */
extern void gpuagg_page_reader_only_returned(PageReader *reader);

/*
 * Stores the first natts columns of a row of the batch in a virtual slot of the
 * relation's row type, with tts_tableOid and tts_tid; valid until the next batch.
 * The other columns must not be read.
 */
extern void gpuagg_page_reader_slot(PageReader *reader, int row, int natts, TupleTableSlot *slot);

/*
 * Starts again from the first page, without memory; with a share, after
 * gpuagg_page_share_init().
 */
extern void gpuagg_page_reader_rescan(PageReader *reader);

/* Unpins and frees all. */
extern void gpuagg_page_reader_close(PageReader *reader);

#endif /* GPUAGG_PAGE_READER_H */
