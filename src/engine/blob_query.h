/*
 * blob_query.h
 *	  Asks the device for the totals of a vector program over blobs, in one request.
 */
#ifndef GPUAGG_BLOB_QUERY_H
#define GPUAGG_BLOB_QUERY_H

#include "common/query_wire.h"
#include "engine/flight.h"

/* Rows of a chunk, of which each column is a blob. */
typedef struct BlobQueryChunk
{
	uint32 nrows;
	const uint64 *rows; /* bit set: the row counts; NULL: all do */
} BlobQueryChunk;

/*
 * A query, set by the caller from zeros.  The answer's groups are in staging memory, which only
 * this process writes, until gpuagg_blob_query_end().
 */
typedef struct BlobQuery
{
	GpuaggQuery query;
	const BlobQueryChunk *chunks;
	const uint64 *numbers; /* of blobs: [query.nchunks][query.program.ncolumns] */
	uint64 epoch;		   /* of all of them */

	/* the answer */
	const uint8 *status; /* GpuaggChunkStatus of each chunk; of this process */
	GpuaggReader groups; /* what comes behind them */
	uint64 ngroups;

	FlightOwner owner;
	FlightLease *lease;
} BlobQuery;

/*
 * Asks, and waits for the answer: GPUAGG_OK, or why there is none.  Can be cancelled.  The
 * current memory context is that of the lease, and lives until the end.
 */
extern GpuaggReason gpuagg_blob_query(BlobQuery *query);
extern void gpuagg_blob_query_end(BlobQuery *query);

#endif /* GPUAGG_BLOB_QUERY_H */
