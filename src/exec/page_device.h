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
	uint64 rows;  /* that count, of all */
	uint64 bare;  /* of these, those that are on the device alone */
	uint32 nhost; /* other chunks with rows from memory */

	/* the last chunks are of rows that have been read from pages; their numbers are no chunks' */
	bool taken; /* the others come from the reader no more */
	uint32 nread;
	struct ExtraBlobs *read; /* or NULL */
} PageDevice;

/*
 * Rows of the columns in memory, of a reader without a share; 0: none, or there are no columns.
 * *bare: of these, those that are on the device alone; *there: some of each column are there.
 */
extern uint64 gpuagg_page_device_rows(const PageReader *reader, uint64 *bare, bool *there);

/*
 * Why the device is not asked for so many rows in memory, `bare` of them on the device alone, in mode
 * auto from `least` on; NULL: it is.
 */
extern const char *gpuagg_page_device_refusal(uint64 rows, uint64 bare, uint64 least);

/* The same of nothing but the number of rows in mode auto. */
extern const char *gpuagg_page_device_few(uint64 rows, uint64 bare, uint64 least);

extern const char gpuagg_page_device_missing[]; /* columns are not there */

/* Blocks whose rows will come from memory go to the device, if they may be put into memory, too. */
extern void gpuagg_page_device_send(PageReader *reader);

/*
 * Decides about all chunks of such a reader, before it goes on; those that are done without
 * their rows are so at once.  In the current memory context.
 */
extern PageDevice *gpuagg_page_device_find(PageReader *reader);

/*
 * When all chunks have been decided about: whether pages that do not come from memory are so few that they
 * may be read for the device, or new.
 */
extern bool gpuagg_page_device_may_read(const PageReader *reader);

/*
 * Then, if all rows from memory are on the device: the rows of such pages are read, and go there, too, for
 * one request.  What there is with them, in the current memory context, to be closed; NULL: the device does
 * not take them, or they are not of the columns' form.
 */
extern const PageDevice *gpuagg_page_device_read_rest(PageReader *reader, const PageDevice *device,
													  const PageColumn *columns, int ncolumns);
extern void gpuagg_page_device_close(const PageDevice *device);

/* Afterwards, by a reader that fills memory: such pages are put there, and sent, as far as they may be. */
extern void gpuagg_page_device_fill_rest(PageReader *reader);

/* Counts a use of columns that the reader has only looked at. */
extern void gpuagg_page_device_use(PageReader *reader);

/* Whether all chunks are in an answer, whose status (GpuaggChunkStatus) this is. */
extern bool gpuagg_page_device_whole(PageReader *reader, const PageDevice *device,
									 const uint8 *status);

/*
 * The device has taken the rows of the chunks that are in an answer, the others come from memory.
 * Returns these rows, which count in the statistics.
 */
extern int64 gpuagg_page_device_taken(PageReader *reader, const PageDevice *device,
									  const PageColumn *columns, int ncolumns, const uint8 *status);

/* All strings that blobs' codes of a column stand for, and how many; NULL: they cannot be had. */
extern const GpuaggVectorBytes *gpuagg_page_device_strings(const PageReader *reader, int column,
														   uint32 *n);

#endif /* GPUAGG_PAGE_DEVICE_H */
