/*
 * device_extra.h
 *	  Rows that are not in memory go to the device all the same, for one request: as blobs that belong to
 *	  no resident column.
 *
 * In gpuaggd they are blobs as any.  When they are closed, or an error or the session's end has ended the
 * statement, their numbers are kept until somebody has them dropped (device_place.h).
 */
#ifndef GPUAGG_DEVICE_EXTRA_H
#define GPUAGG_DEVICE_EXTRA_H

#include "compat.h"

#include "common/vector_run.h"

typedef struct ExtraBlobs ExtraBlobs;

/* A chunk of them: each column is a blob. */
typedef struct ExtraChunk
{
	uint32 nrows;
	uint64 *numbers; /* of the columns' */
} ExtraChunk;

/*
 * For columns of these types, not BYTES or DATUM, under that epoch; NULL: there is no device for them
 * now.  In the current memory context.
 */
extern ExtraBlobs *gpuagg_extra_open(const GpuaggVectorType *types, int ncolumns, uint64 epoch);

/* The n rows of vectors are more; false: the device does not take them. */
extern bool gpuagg_extra_add(ExtraBlobs *extra, const GpuaggVector *vectors, int n);

/* The last rows have come; false as above.  *chunks: all of them, the caller's, but for numbers. */
extern bool gpuagg_extra_finish(ExtraBlobs *extra, const ExtraChunk **chunks, uint32 *nchunks);

/* Has gpuaggd drop them. */
extern void gpuagg_extra_close(ExtraBlobs *extra);

#endif /* GPUAGG_DEVICE_EXTRA_H */
