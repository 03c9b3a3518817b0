/*
 * query_kept.h
 *	  Slices of earlier queries, to be used again.
 *
 * Finding the blobs of some ten thousand chunks takes longer than adding them up.  A slice of whole
 * chunks is kept as it was asked for, with the blobs that were found, which it holds, and with what
 * the kernel reads of it, on the device.  A query that asks for the same chunks of the same columns
 * has it as it is, whatever its program.  As soon as one of its blobs is dropped, all kept
 * slices are forgotten.
 */
#ifndef GPUAGG_QUERY_KEPT_H
#define GPUAGG_QUERY_KEPT_H

#include "host/query_job.h"

typedef struct KeptSlice
{
	struct KeptSlice *next;
	uint32_t database;
	uint32_t nasked;   /* columns of the query, */
	uint32_t ncolumns; /* and those of its plan, which are: */
	uint16_t column[GPUAGG_QUERY_COLUMNS];
	uint8_t type[GPUAGG_QUERY_COLUMNS];
	uint32_t nchunks;
	GpuaggQueryChunk *chunks; /* as they were asked for */
	uint64_t *numbers;		  /* the same, [nchunks][nasked] */
	Blob **blobs;			  /* [nchunks][ncolumns], held */
	GpuQueryShape shape;
	uint64_t nrows;
	uint64_t bytes;							  /* of values and flags, as a query's */
	GpuaggNarrow forms[GPUAGG_QUERY_COLUMNS]; /* of each column: the extremes of all its blobs */
	Extent *room; /* has the chunks and, `blocks` bytes behind, the blocks */
	uint64_t blocks;
	int users;
	bool ready; /* that has been copied there */
	bool gone;	/* from the list */
} KeptSlice;

/*
 * A slice that was kept of the next chunks of a query, at most `most`, held until let_go(); NULL: there
 * is none.
 */
extern KeptSlice *gpud_kept_find(const QueryJob *query, uint64_t most);

/*
 * Keeps a slice of a query's next chunks that has just been chosen and described in a slot, and takes
 * over the blobs that it holds; NULL: it cannot be.  Whoever made it copies what is in the slot to its
 * room, calls arrived() when that is there, and lets it go.
 */
extern KeptSlice *gpud_kept_make(QueryJob *query, const QuerySlot *slot,
								 const GpuQueryShape *shape);
extern void gpud_kept_arrived(KeptSlice *kept);
extern void gpud_kept_let_go(KeptSlice *kept);

/* Forgets all if a blob of theirs has been dropped. */
extern void gpud_kept_check(void);

/* Forgets all; false: there was none. */
extern bool gpud_kept_forget(void);

#endif /* GPUAGG_QUERY_KEPT_H */
