/*
 * page_known.h
 *	  What a query has found of a table's chunks on the device, kept in the process for the next one.
 *
 * Nothing about values is kept, and nothing is taken for true: what has been decided about chunks
 * follows from the map's pages, from the columns' blocks, their evidence and their blobs, and from
 * ranges of values that may exclude chunks.  All of this is compared, which takes a tenth of the time
 * of deciding again.
 */
#ifndef GPUAGG_PAGE_KNOWN_H
#define GPUAGG_PAGE_KNOWN_H

#include "exec/page_device.h"

#define KNOWN_COLUMNS 16
#define KNOWN_NUMBERS 24

/* What a decision depends on, but for the map. */
typedef struct PageKnown
{
	bool valid; /* else nothing is kept */
	int ncolumns;
	int nnumbers;
	BlockNumber nblocks;
	uint64 epoch;
	struct ResidentColumn *columns[KNOWN_COLUMNS];
	uint64 changes[KNOWN_COLUMNS];
	int64 numbers[KNOWN_NUMBERS]; /* of a PageChunkKey */
} PageKnown;

/*
 * Before anything is decided about the reader's chunks, whose blocks are kept: what has been found
 * before, as if it had been decided now, in the current memory context; or NULL.
 */
extern PageDevice *gpuagg_page_known_find(PageReader *reader, PageKnown *known);

/* After the latter, when all has been decided: keeps it if it was the same at the last query. */
extern void gpuagg_page_known_keep(PageReader *reader, const PageKnown *known,
								   const PageDevice *device);

#endif /* GPUAGG_PAGE_KNOWN_H */
