/*
 * page_scan.h
 *	  What the page reader's own files share: the rows of a batch, where they lie.
 *
 * A batch is made of segments, one for each of its pages.  Tuples are visible and
 * their pages pinned, so that their contents and the parts of their headers that
 * tell of columns stay as they are; hint bits and the like may change.
 */
#ifndef GPUAGG_PAGE_SCAN_H
#define GPUAGG_PAGE_SCAN_H

#include "compat_blocks.h"
#include "exec/page_reader.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"

/* Pages of a batch, at most. */
#define PAGE_BATCH_PAGES 16

/* Rows of one page.  Row i of it is row begin + i of the batch. */
typedef struct PageSegment
{
	BlockNumber block;
	int begin;
	int nrows;
	const char *first; /* tuple header of its first row */
	int stride;		   /* each tuple is so many bytes before the one of the row before it; or 0 */
	OffsetNumber line; /* with a stride: the first row's line pointer; the others follow it */

	/* set by the first load() */
	bool examined;
	bool uniform; /* no tuple has NULLs; natts and hoff are those of all */
	int natts;	  /* columns of the tuples */
	int hoff;	  /* where their columns begin */
} PageSegment;

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
	uint64 *valid;		 /* memory for its vector's bitmap */
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
	BlockNumber block; /* next of those that this process has taken, counted from the first */
	BlockNumber end;
	bool check_serializable;

	/* the page that rows are taken from */
	Buffer buffer; /* invalid: none */
	BlockNumber page_block;
	int page_rows;	 /* visible */
	int page_next;	 /* rows before this one have been in batches */
	int page_stride; /* 0: see page_offsets */
	const char *page_first;
	OffsetNumber page_lines[MaxHeapTuplesPerPage];
	uint16 page_offsets[MaxHeapTuplesPerPage]; /* of tuples */

	/* the batch */
	int max_pages;
	int nsegments;
	PageSegment segments[PAGE_BATCH_PAGES];
	int npins;
	Buffer pins[PAGE_BATCH_PAGES];
	const char *tuples[GPUAGG_VECTOR_ROWS]; /* rows of segments without a stride */
	OffsetNumber lines[GPUAGG_VECTOR_ROWS]; /* the same */

	PageAttribute *attributes; /* all of the table's */
	int nfixed;				   /* so many of them, the first, have a fixed offset */

	int ncolumns;
	PageColumnState *columns;
	void *vectors;		/* memory of all vectors */
	uint16 *all_rows;	/* 0, 1, 2 and so on */
	uint16 *rows;		/* those that load() is asked for */
	const char **found; /* GPUAGG_VECTOR_ROWS for each column: places of values */
	const char **at;	/* for each row: where the walk over its attributes is */
	uint64 *present;	/* for each row: which of 64 attributes are stored and not NULL */
	int *walked;		/* columns whose place depends on the tuple, by attribute number */
	bool *may_be_null;	/* of these: whether a place may be NULL */
	int *by_attno;		/* columns in the order of their attribute numbers */
} PageScan;

/* The tuple header of row i of a segment. */
static inline const char *
gpuagg_page_tuple(const PageScan *scan, const PageSegment *segment, int i)
{
	return segment->stride != 0 ? segment->first - (Size) i * segment->stride
								: scan->tuples[segment->begin + i];
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
