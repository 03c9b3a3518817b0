/*
 * page_device.h
 *	  Chunks of a page reader's table that the device can take: all columns have blobs there.
 */
#ifndef GPUAGG_PAGE_DEVICE_H
#define GPUAGG_PAGE_DEVICE_H

#include "engine/blob_query.h"
#include "exec/page_reader.h"

typedef struct PageDevice
{
	uint32 nchunks;
	uint32 *numbers;		/* of the chunks, in the table */
	uint32 *nrows;			/* of each, that count */
	BlobQueryChunk *chunks; /* the same as the query has them */
	uint64 *blobs;			/* [nchunks][ncolumns] */
	uint64 epoch;
	uint64 rows;	   /* that count, of all */
	uint64 bare;	   /* of these, those that are on the device alone */
	uint32 nhost;	   /* other chunks with rows from memory */
	BlockNumber nread; /* pages that do not come from memory */
} PageDevice;

/*
 * Rows of the columns in memory, of a reader without a share; 0: none, or there are no columns.
 * *bare: of these, those that are on the device alone; *there: some of each column are there.
 */
extern uint64 gpuagg_page_device_rows(const PageReader *reader, uint64 *bare, bool *there);

/* Blocks whose rows will come from memory go to the device, if they may be put into memory, too. */
extern void gpuagg_page_device_send(PageReader *reader);

/*
 * Decides about all chunks of such a reader, before it goes on; those that are done without
 * their rows are so at once.  In the current memory context.
 */
extern PageDevice *gpuagg_page_device_find(PageReader *reader);

/* Counts a use of columns that the reader has only looked at. */
extern void gpuagg_page_device_use(PageReader *reader);

/* The device has taken the rows of the chunks with in[i], the others come from memory. */
extern void gpuagg_page_device_taken(PageReader *reader, const PageDevice *device, const bool *in);

/* All strings that blobs' codes of a column stand for, and how many; NULL: they cannot be had. */
extern const GpuaggVectorBytes *gpuagg_page_device_strings(const PageReader *reader, int column,
														   uint32 *n);

/* A blob of such a chunk was not there. */
extern void gpuagg_page_device_displaced(PageReader *reader, const PageDevice *device, uint32 i);

#endif /* GPUAGG_PAGE_DEVICE_H */
