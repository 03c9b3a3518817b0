/*
 * device_extra.c
 *	  Rows that are not in memory go to the device all the same, for one request: as blobs that belong to
 *	  no resident column.
 */
#include "compat.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "utils/memutils.h"

#include "device/client.h"
#include "engine/flight.h"
#include "resident/device_extra.h"
#include "resident/device_place.h"
#include "resident/device_upload.h"
#include "resident/fill_values.h"

#define CHUNK_ROWS	(64 * 1024) /* at most; a multiple of GPUAGG_VECTOR_ROWS */
#define SOME_CHUNKS 16

StaticAssertDecl(CHUNK_ROWS <= GPUAGG_BLOB_ROWS, "a column of a chunk is a blob");

struct ExtraBlobs
{
	FlightOwner owner;
	dlist_node node; /* of those that are open */
	MemoryContext context;
	FlightLease *lease;
	uint64 epoch;
	int ncolumns;
	FillValues *values; /* of the chunk that is coming */
	uint32 nrows;		/* of it */
	void *some;			/* room for a vector */

	uint32 nchunks;
	uint32 most_chunks;
	ExtraChunk *chunks;
};

static dlist_head open_blobs = DLIST_STATIC_INIT(open_blobs);

/* Numbers of blobs that may be there, to be dropped by the next one who can.  Does not throw. */
static void
leave(FlightOwner *owner)
{
	ExtraBlobs *extra = (ExtraBlobs *) owner;

	if (!owner->listed)
		return;
	gpuagg_flight_unlist(owner);
	dlist_delete(&extra->node);
	gpuagg_flight_leave(&extra->lease);
	for (uint32 i = 0; i < extra->nchunks; i++)
		for (int c = 0; c < extra->ncolumns; c++)
			gpuagg_device_drop_number(extra->chunks[i].numbers[c], extra->epoch);
	extra->nchunks = 0;
}

/* The session ends in the middle of a statement. */
static void
process_ends(int code, Datum arg)
{
	LWLockReleaseAll();
	while (!dlist_is_empty(&open_blobs))
		leave(&dlist_head_element(ExtraBlobs, node, &open_blobs)->owner);
}

ExtraBlobs *
gpuagg_extra_open(const GpuaggVectorType *types, int ncolumns, uint64 epoch)
{
	static bool registered = false;
	ExtraBlobs *extra = palloc0(sizeof(ExtraBlobs));
	Size width = 1;

	if (!registered)
		before_shmem_exit(process_ends, (Datum) 0);
	registered = true;
	extra->context = CurrentMemoryContext;
	extra->epoch = epoch;
	extra->ncolumns = ncolumns;
	extra->values = palloc(ncolumns * sizeof(FillValues));
	extra->some = palloc(GPUAGG_VECTOR_ROWS * sizeof(GpuaggInt128));
	extra->most_chunks = SOME_CHUNKS;
	extra->chunks = palloc(SOME_CHUNKS * sizeof(ExtraChunk));
	for (int c = 0; c < ncolumns; c++)
	{
		gpuagg_fill_values_init(&extra->values[c], types[c]);
		if (!gpuagg_fill_values_enlarge(&extra->values[c], extra->context, 0, CHUNK_ROWS))
			return NULL;
		width = Max(width, gpuagg_vector_type_size(types[c]));
	}
	extra->lease = gpuagg_flight_lease(CHUNK_ROWS * width + gpuagg_blob_bitmap_bytes(CHUNK_ROWS), 1,
									   0, extra->context);
	if (extra->lease == NULL)
		return NULL;
	extra->owner.land = extra->owner.drop = leave;
	gpuagg_flight_list(&extra->owner);
	dlist_push_tail(&open_blobs, &extra->node);
	return extra;
}

/* Sends a column of the chunk as the blob of that number. */
static bool
put(const ExtraBlobs *extra, const FillValues *values, uint64 number)
{
	char *region = gpuagg_flight_lease_base(extra->lease);
	const uint64 *valid = values->any_null ? values->valid : NULL;
	GpuaggNarrow form = values->seen;
	GpuaggRequest request;
	GpuaggReply reply;

	gpuagg_narrow_finish(&form);
	memset(region, 0, gpuagg_narrow_bytes(&form, extra->nrows));
	gpuagg_narrow_move(&form, region, 0, &values->form, values->stored, 0, valid, extra->nrows);
	gpuagg_upload_put(&request, region, 0, (GpuaggBlobName){number, extra->epoch}, &form,
					  extra->nrows, valid);
	return gpuagg_device_call(gpuagg_flight_device_lease(extra->lease), &request, &reply) ==
		   GPUAGG_OK;
}

/* A chunk whose numbers are known before anything is sent. */
static ExtraChunk *
add_chunk(ExtraBlobs *extra)
{
	ExtraChunk *chunk;

	if (extra->nchunks == extra->most_chunks)
	{
		extra->most_chunks *= 2;
		extra->chunks = repalloc(extra->chunks, extra->most_chunks * sizeof(ExtraChunk));
	}
	chunk = &extra->chunks[extra->nchunks];
	chunk->nrows = extra->nrows;
	chunk->numbers = MemoryContextAlloc(extra->context, extra->ncolumns * sizeof(uint64));
	for (int c = 0; c < extra->ncolumns; c++)
		chunk->numbers[c] = gpuagg_device_number();
	extra->nchunks++;
	return chunk;
}

static bool
send_chunk(ExtraBlobs *extra)
{
	const ExtraChunk *chunk;

	if (extra->nrows == 0)
		return true;
	chunk = add_chunk(extra);
	for (int c = 0; c < extra->ncolumns; c++)
	{
		if (!put(extra, &extra->values[c], chunk->numbers[c]))
			return false;
		gpuagg_fill_values_next(&extra->values[c]);
	}
	extra->nrows = 0;
	return true;
}

bool
gpuagg_extra_add(ExtraBlobs *extra, const GpuaggVector *vectors, int n)
{
	if (extra->nrows + n > CHUNK_ROWS && !send_chunk(extra))
		return false;
	for (int c = 0; c < extra->ncolumns; c++)
		gpuagg_fill_values_add(&extra->values[c], extra->nrows, vectors[c].values, vectors[c].valid,
							   n, extra->some);
	extra->nrows += n;
	return true;
}

bool
gpuagg_extra_finish(ExtraBlobs *extra, const ExtraChunk **chunks, uint32 *nchunks)
{
	if (!send_chunk(extra))
		return false;
	gpuagg_flight_leave(&extra->lease);
	*chunks = extra->chunks;
	*nchunks = extra->nchunks;
	return true;
}

void
gpuagg_extra_close(ExtraBlobs *extra)
{
	leave(&extra->owner);
	gpuagg_upload_sweep();
}
