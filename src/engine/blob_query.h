/*
 * blob_query.h
 *	  Asks the device for the totals of a vector program over blobs, in one request.
 */
#ifndef GPUAGG_BLOB_QUERY_H
#define GPUAGG_BLOB_QUERY_H

#include "common/query_wire.h"
#include "engine/flight.h"

/* Bytes of chunks and groups that a request is expected to have room for. */
#define GPUAGG_BLOB_QUERY_ROOM (GPUAGG_SEGMENT_BYTES_MAX / 16 * 15)

/* Rows of a chunk, of which each column is a blob. */
typedef struct BlobQueryChunk
{
	uint32 nrows;
	const uint64 *rows; /* bit set: the row counts; NULL: all do */
} BlobQueryChunk;

/* Bytes of its bitmap in the query; and of all that the query and the answer have of it. */
static inline uint64
gpuagg_blob_query_mask_bytes(const BlobQueryChunk *chunk)
{
	return chunk->rows != NULL ? gpuagg_blob_bitmap_bytes(chunk->nrows) : 0;
}

static inline uint64
gpuagg_blob_query_chunk_bytes(const BlobQueryChunk *chunk, int ncolumns)
{
	return sizeof(GpuaggQueryChunk) + (uint64) ncolumns * sizeof(uint64) + sizeof(uint8) +
		   gpuagg_blob_query_mask_bytes(chunk);
}

/*
 * A query, set by the caller from zeros, with the layout of records if it has keys.  What has been
 * found is in staging memory, which only this process writes, until gpuagg_blob_query_end(), and no
 * longer than the executor runs.
 */
typedef struct BlobQuery
{
	GpuaggQuery query;
	const GpuaggGroupLayout *layout;
	const BlobQueryChunk *chunks;
	const uint64 *numbers; /* of blobs: [query.nchunks][query.program.ncolumns] */
	const int32 *shifts;   /* the same of what is added to their values; NULL: nothing */
	uint64 epoch;		   /* of all of them */
	uint64 rows_bytes;	   /* that the answer has room for, of rows that are asked for */

	/* the answer */
	const uint8 *status;		/* GpuaggChunkStatus of each chunk; of this process */
	bool incomplete;			/* there are more groups than fit, estimated as ngroups; or rows */
	uint64 ngroups;				/* or rows that are given */
	uint64 nrows;				/* with a window: that passed the filter below it */
	GpuaggReader totals;		/* without keys; or the rows */
	GpuaggGroupPacking packing; /* with keys: of records, */
	const uint32 *records;		/* of ngroups of them */
	const GpuaggGroupFar *far;
	uint32 nfar;
	uint32 nslices;	  /* in which gpuaggd did it */
	uint64 ns;		  /* that it took, */
	uint64 ns_slices; /* and of these the slices */

	/* tells `reader` that the answer is about to go, as the executor returns; NULL: nobody */
	void (*leaving)(void *reader);
	void *reader;

	FlightOwner owner;
	FlightLease *lease;
} BlobQuery;

/*
 * Asks, and waits for the answer: GPUAGG_OK, or why there is none.  Can be cancelled.  The
 * current memory context is that of the lease, and lives until the end.
 */
extern GpuaggReason gpuagg_blob_query(BlobQuery *query);

/* How many groups an answer for these chunks of ncolumns columns is expected to have room for. */
extern uint64 gpuagg_blob_query_room(const GpuaggGroupLayout *layout, const BlobQueryChunk *chunks,
									 uint32 nchunks, uint32 ncolumns);
extern void gpuagg_blob_query_end(BlobQuery *query);

#endif /* GPUAGG_BLOB_QUERY_H */
