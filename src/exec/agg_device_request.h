/*
 * agg_device_request.h
 *	  Requests of a GpuAgg node's passes, which are all about the same chunks.
 *
 * A pass computes what its states need, so that a row of a chunk may be flagged in one pass only.  What
 * an answer has of a chunk counts if all answers have the chunk.  One that is not in an answer is asked
 * for no more; answers before that have it are of no use, and all passes begin again.
 */
#ifndef GPUAGG_AGG_DEVICE_REQUEST_H
#define GPUAGG_AGG_DEVICE_REQUEST_H

#include "exec/agg_device.h"
#include "exec/agg_device_passes.h"

typedef struct AskedChunks
{
	const AggQuestion *question;
	uint32 n;		 /* that are asked for now: */
	uint32 *numbers; /* among those of the question */
	BlobQueryChunk *chunks;
	uint8 *status; /* of all of the question, as answers had them */
	int nanswers;  /* since the passes began */
	bool again;	   /* they have to begin again */
} AskedChunks;

/* All of a question's chunks, in the current memory context. */
extern AskedChunks *gpuagg_asked_chunks(const AggQuestion *question);

/* The passes begin, with the chunks that are left. */
extern void gpuagg_asked_begin(AskedChunks *asked);

/* A request's program, blobs and aggregates; but for keys it is complete. */
typedef struct AggRequest
{
	AggDevicePass pass; /* with the registers of its part of the program */
	BlobQuery *query;
	uint64 *blobs; /* NULL: those of the question */
} AggRequest;

/* Makes it of a pass, with a query that the caller has memory for; false: it is too large. */
extern bool gpuagg_agg_request_init(AggRequest *request, const AggScanState *node,
									const AggDevicePass *pass, const AskedChunks *asked,
									BlobQuery *query);

/* Sends it, and waits; the current memory context is that of the query. */
extern GpuaggReason gpuagg_agg_request_send(const AggRequest *request, AggScanState *node,
											AggQuestion *question);

/*
 * Whether the answer's chunks are such that it counts, and passes need not begin again.  With a window
 * these are all, or node->device_reason is set.
 */
extern bool gpuagg_asked_answered(AskedChunks *asked, AggScanState *node, const BlobQuery *query);

/*
 * The chunks that are left are in what has been taken, others stay the CPU's.  Returns the rows of
 * these, as the aggregates' program has them.
 */
extern int64 gpuagg_asked_taken(const AskedChunks *asked);

#endif /* GPUAGG_AGG_DEVICE_REQUEST_H */
