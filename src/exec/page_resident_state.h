/*
 * page_resident_state.h
 *	  What the files about a page reader's rows from memory share.
 */
#ifndef GPUAGG_PAGE_RESIDENT_STATE_H
#define GPUAGG_PAGE_RESIDENT_STATE_H

#include "portability/instr_time.h"

#include "exec/page_resident.h"
#include "exec/page_scan.h"
#include "resident/column_fill.h"
#include "resident/device_upload.h"
#include "resident/dictionary.h"

#define STATES_AHEAD MAP_PAGE_CHUNKS /* chunks whose states are copied at a time */

/*
 * Chunks that are decided about at a time: rows that come between would drive what evidence needs
 * out of the processor's caches.
 */
#define CHUNKS_AHEAD (16 * MAP_PAGE_CHUNKS)

/* Consecutive pages of the current chunk, whose rows lie together in all blocks. */
typedef struct ResidentRun
{
	int page;
	int begin; /* in the batch */
	int nrows;
} ResidentRun;

/* What has been decided about a chunk. */
typedef struct ChunkUse
{
	ChunkPages used;  /* come from memory */
	uint32 confirmed; /* so many of them at level 2 */
	bool same;		  /* all columns' blocks have the same pages, as they were at the same LSNs */
	bool bare;		  /* some of the blocks: their rows are the device's, or are read */
	bool partly; /* some columns have no block: the rows are read, unless the others tell all */
} ChunkUse;

/* What page_resident_limit.c knows of the chunk whose pages are read, where not all are filled. */
typedef struct PageLimit
{
	bool known; /* whether it is so, */
	bool holds; /* and that it is */
	bool begun;
	bool takes; /* it is filled */
	bool tells; /* how long it takes is told */
	uint32 chunk;
	uint32 npages; /* of these, with rows, that have come */
	instr_time start;
} PageLimit;

typedef struct PageResident
{
	MemoryContext context; /* of this, and arrays by column and chunk */
	int ncolumns;
	ColumnPin *pins;
	bool pinned; /* all columns are in the directory */
	MapImage image;
	MapImage *images; /* all that have been read, by number; or NULL: they are not kept */

	/* states of chunks, by column: of nstates, at most STATES_AHEAD, from first_state on */
	ChunkState *states;
	uint32 first_state;
	uint32 nstates;

	/* blocks of the last refs_room chunks, by column: of chunk c, number c % refs_room */
	MemoryRef *refs;
	uint32 refs_room; /* at least CHUNKS_AHEAD */
	uint32 segments;  /* of memory: those in which this process has found a block, a bit each */
	bool any_bare;	  /* some of the blocks */

	/* summaries of their blocks, by column, each with MAP_PAGE_CHUNKS; of these chunks */
	BlockSummary *summaries;
	uint32 first_summary;
	uint32 nsummaries;
	const BlockSummary **summary; /* of one chunk, by column; NULL: nobody looks at it */
	int *looked_at;				  /* the columns of the others, nlooked_at */
	int nlooked_at;

	ChunkUse *decided; /* by chunk, without a share */
	uint32 nchunks;
	uint32 ndecided; /* of these */
	uint32 next;	 /* chunk to be taken, without a share */
	uint32 ngiven;	 /* chunks before it that were not taken otherwise */
	bool *taken;	 /* by chunk: otherwise, by the device; NULL: none */
	uint32 ntaken;

	/* the current chunk, and the batch from it */
	bool open;
	uint32 chunk;
	ChunkPages left;
	ChunkPages given;			/* of the batch */
	const ColumnBlock **blocks; /* by column */
	int nruns;
	ResidentRun runs[PAGE_BATCH_PAGES];

	BlockNumber *returned; /* blocks whose rows were given back */
	int nreturned;
	int next_returned; /* of these, to be read */
	int room_returned;

	/* by column; of those of strings, else NULL */
	Dictionary **dictionaries;
	int32 **codes;			   /* of the batch */
	GpuaggVectorCodes *tables; /* as the reader has them */
	bool *looked_up;		   /* vectors have the strings */
	bool any_codes;
	MemoryContext plain; /* strings of the batch that were compressed; or NULL */

	ColumnFill *fill;	  /* or NULL */
	PageLimit limit;	  /* of what goes there */
	uint64 before;		  /* columns used before it may be thrown out */
	DeviceUpload *upload; /* of blocks whose rows come from memory; or NULL */
} PageResident;

/* page_evidence.c: decides about chunks first to first + n - 1, at most CHUNKS_AHEAD. */
extern void gpuagg_page_evidence_decide(PageReader *reader, uint32 first, uint32 n,
										ChunkUse *decided);

/* Finds the blocks of one of the last refs_room chunks, which has any; false: one is not there. */
extern bool gpuagg_page_evidence_blocks(PageResident *resident, uint32 chunk);

/* Keeps the blocks of all chunks from now on; nothing after CHUNKS_AHEAD is decided yet. */
extern void gpuagg_page_evidence_keep(PageResident *resident);

/* The block of a column of such a chunk. */
static inline MemoryRef *
page_resident_ref(const PageResident *resident, int column, uint32 chunk)
{
	return &resident->refs[(Size) column * resident->refs_room + chunk % resident->refs_room];
}

/*
 * page_resident_chunks.c: whether summaries tell all that is wanted of the rows of a chunk that come
 * from memory, as has been decided.
 */
extern bool gpuagg_page_resident_is_done(PageReader *reader, uint32 chunk, const ChunkUse *use);

/* The same file: finds the columns whose blocks chunk_done() looks at, and the first one. */
extern void gpuagg_page_resident_find_looked_at(PageReader *reader);

/* The same file: a chunk that has been decided about, and not given out, is taken. */
extern void gpuagg_page_resident_take(PageReader *reader, uint32 chunk);

/* Pages that do not come from memory, when all chunks have been decided about. */
extern BlockNumber gpuagg_page_resident_unused(const PageReader *reader);

/*
 * page_resident_limit.c: before the first page is read, finds out whether only some chunks are filled.
 * Then a batch has pages of one chunk.
 */
extern void gpuagg_page_limit_find(PageReader *reader);

/* The same file: all pages have been read, and go into memory. */
extern void gpuagg_page_limit_finish(PageReader *reader);

/*
 * page_resident_chunks.c: takes the next chunk with pages that come from memory, and finds its
 * blocks.
 */
extern bool gpuagg_page_resident_next_chunk(PageReader *reader);

#endif /* GPUAGG_PAGE_RESIDENT_STATE_H */
