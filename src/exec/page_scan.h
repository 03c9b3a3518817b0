/*
 * page_scan.h
 *	  What the page reader's own files share: the rows of a batch, where they lie.
 *
 * A batch is made of segments, one for each of its pages.  Tuples are visible and
 * their pages pinned, so that their contents and the parts of their headers that
 * tell of columns stay as they are; hint bits and the like may change.
 *
 * There are two batches: while columns of the current one are loaded, the lines of the
 * following one come into the processor's cache, a few after each loop over a segment.
 */
#ifndef GPUAGG_PAGE_SCAN_H
#define GPUAGG_PAGE_SCAN_H

#include "compat_blocks.h"
#include "exec/page_reader.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"

/* Pages of a batch, at most; and those whose rows are known at a time. */
#define PAGE_BATCH_PAGES 12
#define PAGES_KNOWN		 (2 * PAGE_BATCH_PAGES + 1)

/* Lines of the cache that are asked for at a time; more would have to wait for one another. */
#define PREFETCH_LINES 20
#define CACHE_LINE	   64 /* bytes */

/* The visible tuples of one page. */
typedef struct PageRows
{
	uint16 offsets[MaxHeapTuplesPerPage];	  /* in the page */
	OffsetNumber lines[MaxHeapTuplesPerPage]; /* their line pointers */
} PageRows;

/* Rows of one page.  Row i of it is row begin + i of the batch. */
typedef struct PageSegment
{
	BlockNumber block;
	int begin;
	int nrows;
	const char *page;
	const char *first; /* tuple header of its first row */
	int stride;		   /* each tuple is so many bytes before the one of the row before it; or 0 */
	const uint16 *offsets;	   /* without a stride: the tuples' in the page */
	OffsetNumber line;		   /* the first row's line pointer */
	const OffsetNumber *lines; /* of all rows; NULL: they follow `line` */
	int unfetched;			   /* lines of the cache, or tuples, not yet asked for */
	bool by_tuple;			   /* that is: the line in which each tuple begins, from the first */

	/* set by the first load() */
	bool examined;
	bool uniform; /* no tuple has NULLs; natts and hoff are those of all */
	int natts;	  /* columns of the tuples */
	int hoff;	  /* where their columns begin */

	/* where rows go into memory */
	XLogRecPtr lsn; /* of the page; invalid: it is not all-visible */
	Buffer buffer;
	bool opens; /* its first row is that of the page */
	bool ends;	/* the same of its last */
} PageSegment;

typedef struct PageBatch
{
	int nrows;
	int nsegments;
	PageSegment segments[PAGE_BATCH_PAGES];
	int fetching; /* the first segment with lines not yet asked for */
	int npins;	  /* of pages whose last row it has */
	Buffer pins[PAGE_BATCH_PAGES];
} PageBatch;

/* A column of the table as tuples have it, whether or not it is wanted. */
typedef struct PageAttribute
{
	int16 length; /* as pg_attribute.attlen */
	bool byval;
	uint8 align;  /* bytes */
	int32 offset; /* behind hoff, if nothing before it is NULL; -1: it depends on the tuple */
} PageAttribute;

/* What the reader knows about one of its columns. */
typedef struct PageColumnState
{
	PageColumn column;
	Oid type;			 /* of values as they are stored, without the domain */
	int32 offset;		 /* of its attribute */
	int16 length;		 /* of its attribute */
	bool by_value;		 /* the same */
	const char *missing; /* the value where tuples are too short, as it were stored; or NULL */
	Datum missing_value; /* the same by value */
	void *values;		 /* memory for its vector */
	uint64 *valid;		 /* the same for its bitmap */
	const char **places; /* by row: of values that are not made yet; or NULL */
	bool pending;		 /* they are wanted */
} PageColumnState;

typedef struct PageScan
{
	Relation relation;
	Snapshot snapshot;
	PageShare *share;
	CompatBlocks blocks;
	BlockNumber nblocks;
	BlockNumber first; /* block; after the last one comes block 0 */
	bool synchronized; /* others are told how far it is */
	PageReader *reader;
	BlockNumber block; /* next of those that this process has taken, counted from the first */
	BlockNumber end;
	bool check_serializable;
	bool begun; /* the first page is asked for */

	/* the page after that one, pinned; or invalid */
	Buffer ahead;

	/* the page that rows are taken from */
	Buffer buffer; /* invalid: none */
	BlockNumber page_block;
	int page_rows;	 /* visible */
	int page_next;	 /* rows before this one have been in batches */
	int page_stride; /* 0: see known */
	bool page_lines; /* visible tuples are not those of all line pointers: see known */
	const char *page_first;
	XLogRecPtr page_lsn; /* invalid: not all-visible */
	PageRows *known;	 /* of this page */
	PageRows pages[PAGES_KNOWN];
	uint64 npages; /* that had any; each takes the place after the last one's */

	int max_pages; /* of a batch */
	PageBatch batches[2];
	PageBatch *batch;	  /* the current one */
	PageBatch *following; /* the other */

	/* with columns in memory: of the chunk that is being read, the pages that have to be */
	bool chunk_known;
	uint32 chunk;
	ChunkPages wanted;
	bool resident_done; /* nothing more comes from memory */
	bool only_memory;	/* it ends there */
	bool by_chunk;		/* a batch has pages of one chunk */

	PageAttribute *attributes; /* all of the table's */
	int nfixed;				   /* so many of them, the first, have a fixed offset */

	int ncolumns;
	PageColumnState *columns;
	void *vectors;		 /* memory of all vectors */
	uint16 *all_rows;	 /* 0, 1, 2 and so on */
	uint16 *rows;		 /* those that load() is asked for */
	const char **found;	 /* GPUAGG_VECTOR_ROWS for each column: places of values */
	const char **tuples; /* of rows that are walked over */
	const char **at;	 /* for each row: where the walk over its attributes is */
	uint64 *present;	 /* for each row: which of 64 attributes are stored and not NULL */
	int *walked;		 /* columns whose place depends on the tuple, by attribute number */
	int nwalked;
	int *to_walk;		  /* the same for the segment that comes */
	int *fixed;			  /* the others of that segment */
	int nwaiting;		  /* rows to be walked over */
	const char ***places; /* of each walked column: where its values' places go */
	bool *may_be_null;	  /* of these: whether a place may be NULL */
	int *by_attno;		  /* columns in the order of their attribute numbers */
} PageScan;

/* The tuple header of row i of a segment. */
static inline const char *
gpuagg_page_tuple(const PageSegment *segment, int i)
{
	return segment->stride != 0 ? segment->first - (Size) i * segment->stride
								: segment->page + segment->offsets[i];
}

/* Asks for so many lines of a batch, if there are as many. */
static inline void
gpuagg_page_prefetch(PageBatch *batch, int lines)
{
	while (lines > 0 && batch->fetching < batch->nsegments)
	{
		PageSegment *segment = &batch->segments[batch->fetching];
		int n = Min(lines, segment->unfetched);

		int first = segment->nrows - segment->unfetched;
		const char *line = segment->page + BLCKSZ - segment->unfetched * CACHE_LINE;

		lines -= n;
		segment->unfetched -= n;
		for (int i = 0; i < n; i++)
			__builtin_prefetch(segment->by_tuple ? gpuagg_page_tuple(segment, first + i)
												 : line + i * CACHE_LINE,
							   0, 2);
		if (segment->unfetched == 0)
			batch->fetching++;
	}
	pg_compiler_barrier(); /* without it gcc drops calls of a function that only prefetches */
}

/* Where a value lies, if the one before it ends at `end`; tuples' columns begin aligned. */
static inline const char *
gpuagg_page_align(const PageAttribute *attribute, const char *end)
{
	/* Values with a short header are not aligned; padding is zeros. */
	if (attribute->length == -1 && VARATT_NOT_PAD_BYTE(end))
		return end;
	return (const char *) TYPEALIGN(attribute->align, end);
}

/* Bytes of a stored value, with its header. */
static inline Size
gpuagg_page_length(const PageAttribute *attribute, const char *value)
{
	if (attribute->length > 0)
		return attribute->length;
	return attribute->length == -1 ? VARSIZE_ANY(value) : strlen(value) + 1;
}

/* Room for the columns' vectors, and what load() needs, in the current context. */
extern void gpuagg_page_columns_open(PageReader *reader, const PageColumn *columns, int ncolumns);
extern void gpuagg_page_columns_close(PageReader *reader);

/* Sets natts and hoff of a segment, and whether its tuples have their columns at the same places. */
extern void gpuagg_page_examine(PageSegment *segment);

/* The tuples of rows of a segment; room for three more. */
extern void gpuagg_page_list_tuples(const PageSegment *segment, const uint16 *rows, int n,
									const char **tuples);

/*
 * Finds the values of columns scan->walked[0 to scan->nwalked - 1], by attribute number, of
 * scan->tuples[0 to n - 1]: into scan->places[i][0 to n - 1], room for three more.
 */
extern void gpuagg_page_walk(PageScan *scan, int n);

/* Clears the bits of rows whose place is NULL; returns whether there are any. */
extern bool gpuagg_page_mark_nulls(uint64 *valid, const char *const *found, const uint16 *rows,
								   int n);

/*
 * Values of column c from their places found[0 to n - 1] into the rows of these numbers;
 * flags rows whose value does not fit the form.  A NULL pointer makes any value.
 */
extern void gpuagg_page_values(PageReader *reader, int c, const char *const *found,
							   const uint16 *rows, int n);

/*
 * The same for forms BITS and COPY, for n rows from `begin` on; the first place is p, each
 * other one `stride` bytes before the last.
 */
extern void gpuagg_page_copy_stride(const PageColumnState *state, void *values, const char *p,
									Size stride, int begin, int n);

#endif /* GPUAGG_PAGE_SCAN_H */
