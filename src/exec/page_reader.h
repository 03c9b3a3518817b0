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

/* How a column's values become a vector's. */
typedef enum PageColumnForm
{
	PAGE_COLUMN_BITS,	 /* bool to BOOL */
	PAGE_COLUMN_COPY,	 /* fixed width, the vector's own; "char" and oid are widened */
	PAGE_COLUMN_DECIMAL, /* numeric(p,s) to INT64 or INT128 at scale s */
	PAGE_COLUMN_BYTES,	 /* content of text and the like, of uuid, of anything by reference */
	PAGE_COLUMN_TRIMMED, /* the same, without trailing blanks: char(n) */
	PAGE_COLUMN_DATUM	 /* of any type, to DATUM: as the executor has it, in place */
} PageColumnForm;

typedef struct PageColumn
{
	AttrNumber attno;
	PageColumnForm form;
	GpuaggVectorType type;
	int scale;
} PageColumn;

/* The form of a table's column; false: none but DATUM, which every column has. */
extern bool gpuagg_page_column(Form_pg_attribute attribute, PageColumn *column);

/* What processes that read one table together share; in dynamic shared memory. */
typedef struct PageShare
{
	pg_atomic_uint64 next; /* block, counted from the first */
	uint32 nblocks;		   /* of the table, as the leader saw it */
	uint32 first;		   /* block to be read */
} PageShare;

/* Counts of what this process has done, for EXPLAIN and statistics. */
typedef struct PageCounts
{
	uint64 pages;		/* read */
	uint64 all_visible; /* of these, without a look at each tuple's visibility */
	uint64 strided;		/* of these, whose tuples lie at a constant stride */
	uint64 rows;		/* visible */
} PageCounts;

typedef struct PageReader
{
	int nrows;			   /* of the current batch */
	GpuaggVector *columns; /* one for each PageColumn; set by load() */

	/*
	 * Rows with a value that its form cannot hold: compressed or out of line bytes;
	 * numerics that are not finite, have another display scale than the column's, or
	 * too many digits.  Of the columns loaded so far, for the rows they were loaded for.
	 */
	uint64 flagged[GPUAGG_VECTOR_WORDS];
	bool any_flagged;

	PageCounts counts;
	struct PageScan *scan;
} PageReader;

/* Whether the relation's pages are those of a heap, which alone the reader knows. */
extern bool gpuagg_page_reader_can_read(Relation relation);

/*
 * Opens a reader of the relation, which the caller has locked, under an MVCC
 * snapshot that it has registered.  share: NULL, or the same in all processes that
 * divide the pages among themselves.  columns stays the caller's.
 */
extern PageReader *gpuagg_page_reader_open(Relation relation, Snapshot snapshot,
										   const PageColumn *columns, int ncolumns,
										   PageShare *share);

/* Adds counts to others. */
extern void gpuagg_page_counts_add(PageCounts *into, const PageCounts *from);

/* For a PageShare, before the first reader and at a rescan of the whole plan. */
extern void gpuagg_page_share_init(PageShare *share, Relation relation);

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

/*
 * Stores the first natts columns of a row of the batch in a virtual slot of the
 * relation's row type, with tts_tableOid and tts_tid; valid until the next batch.
 * The other columns must not be read.
 */
extern void gpuagg_page_reader_slot(PageReader *reader, int row, int natts, TupleTableSlot *slot);

/* Starts again from the first page; with a share, after gpuagg_page_share_init(). */
extern void gpuagg_page_reader_rescan(PageReader *reader);

/* Unpins and frees all. */
extern void gpuagg_page_reader_close(PageReader *reader);

#endif /* GPUAGG_PAGE_READER_H */
