/*
 * column_block.h
 *	  A block: one column of one chunk, in memory.
 *
 * Once published a block never changes, and says all about itself.  Of each page that it
 * has, it knows the LSN that the heap page had when its rows were read, all of them, in the
 * order of their line pointers.  Rows lie in the order of pages.
 *
 * A bare block is a block without its values: these are on the device alone, or nowhere since they
 * have gone from there.  It says all else, and its reference is marked.
 */
#ifndef GPUAGG_COLUMN_BLOCK_H
#define GPUAGG_COLUMN_BLOCK_H

#include "compat.h"

#include "access/xlogdefs.h"
#include "storage/buf.h"

#include "common/narrow.h"
#include "common/vector.h"
#include "resident/chunk.h"
#include "resident/column_memory.h"

#define BLOCK_ALIGN 64 /* bytes, of its parts */

typedef struct ColumnBlock
{
	uint64 bytes; /* all of it, in shared memory */
	GpuaggNarrow form;
	uint32 nrows;
	uint32 nvalid;					   /* of these, not NULL */
	ChunkPages pages;				   /* that it has */
	uint32 first_row[CHUNK_PAGES + 1]; /* of each page; pages that it has not have no rows */
	XLogRecPtr lsn[CHUNK_PAGES];
	Buffer buffer[CHUNK_PAGES]; /* in which the page was; it may be elsewhere now */
	uint64 nulls;				/* bytes from the block's begin to the bitmap of NULLs; 0: none */
	uint64 values;				/* the same of the values; 0: it is bare */
} ColumnBlock;

#define BARE_BLOCK_BYTES TYPEALIGN(BLOCK_ALIGN, sizeof(ColumnBlock))

static inline bool
column_block_is_bare(MemoryRef ref)
{
	return (ref & MEMORY_REF_MARK) != 0;
}

/*
 * What of a block decides about a chunk without its values.  The directory has it, too, where it is
 * looked at for all chunks of a table: their blocks' headers lie far from each other.
 */
typedef struct BlockSummary
{
	GpuaggInt128 minimum; /* as narrow.h has them; of nothing where nvalid is 0 */
	GpuaggInt128 maximum;
	uint32 nrows;
	uint32 nvalid;
	uint32 npages;
} BlockSummary;

static inline BlockSummary
column_block_summary(const ColumnBlock *block)
{
	return (BlockSummary){block->form.minimum, block->form.maximum, block->nrows, block->nvalid,
						  (uint32) chunk_size(&block->pages)};
}

/* A value of a column of floats, as summaries have it. */
static inline double
column_block_float(int type, GpuaggInt128 bits)
{
	uint32 word = (uint32) bits.lo;
	double value;
	float narrow;

	if (type == GPUAGG_VECTOR_FLOAT32)
	{
		memcpy(&narrow, &word, sizeof(narrow));
		return narrow;
	}
	memcpy(&value, &bits.lo, sizeof(value));
	return value;
}

static inline const void *
column_block_values(const ColumnBlock *block)
{
	return (const char *) block + block->values;
}

/* A bit a row, set: not NULL; NULL pointer: no row is NULL. */
static inline const uint64 *
column_block_valid(const ColumnBlock *block)
{
	return block->nulls == 0 ? NULL : (const uint64 *) ((const char *) block + block->nulls);
}

static inline uint32
column_block_page_rows(const ColumnBlock *block, int page)
{
	return block->first_row[page + 1] - block->first_row[page];
}

#endif /* GPUAGG_COLUMN_BLOCK_H */
