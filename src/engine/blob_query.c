/*
 * blob_query.c
 *	  Asks the device for the totals of a vector program over blobs, in one request.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "device/client.h"
#include "engine/blob_query.h"
#include "gpuagg.h"

#define GROUPS_LEAST 1024 /* that an answer has room for */

/* Of a row on the CPU, ns, at least: of a sum by many workers; with many groups, or a window. */
#define CPU_ROW_NS		1
#define CPU_SLOW_ROW_NS 20
#define MANY_GROUPS		(1 << 16)

StaticAssertDecl(offsetof(GpuaggRequest, u.query.region) == offsetof(GpuaggRequest, u.work.region),
				 "a request's region is at one place");

static BlobQuery *
query_of(FlightOwner *owner)
{
	return (BlobQuery *) ((char *) owner - offsetof(BlobQuery, owner));
}

static void
land(FlightOwner *owner)
{
	BlobQuery *query = query_of(owner);

	gpuagg_flight_unlist(owner);
	if (query->leaving != NULL)
		query->leaving(query->reader);
	gpuagg_flight_leave(&query->lease);
}

static void
drop(FlightOwner *owner)
{
	gpuagg_flight_unlist(owner);
	gpuagg_flight_leave(&query_of(owner)->lease);
}

/* Bytes of the query, with its bitmaps. */
static Size
query_bytes(const BlobQuery *query, const GpuaggQueryPlaces *places)
{
	Size bytes = places->end;

	for (uint32 i = 0; i < query->query.nchunks; i++)
		bytes += gpuagg_blob_query_mask_bytes(&query->chunks[i]);
	return TYPEALIGN(GPUAGG_ALIGN, bytes);
}

/* Chunks and numbers, and the bitmaps behind all. */
static void
write_chunks(const BlobQuery *query, const GpuaggQueryPlaces *places, char *room)
{
	Size nblobs = (Size) query->query.nchunks * query->query.program.ncolumns;
	GpuaggQueryChunk *chunks = (GpuaggQueryChunk *) (room + places->chunks);
	uint64 end = places->end;

	for (uint32 i = 0; i < query->query.nchunks; i++)
	{
		const BlobQueryChunk *chunk = &query->chunks[i];

		chunks[i] = (GpuaggQueryChunk){chunk->nrows, chunk->rows != NULL, 0, query->epoch};
		if (chunk->rows == NULL)
			continue;
		chunks[i].rows = end;
		memcpy(room + end, chunk->rows, (chunk->nrows + 63) / 64 * sizeof(uint64));
		end += gpuagg_blob_bitmap_bytes(chunk->nrows);
	}
	memcpy(room + places->numbers, query->numbers, nblobs * sizeof(uint64));
	if (query->shifts != NULL)
		memcpy(room + places->shifts, query->shifts, nblobs * sizeof(int32));
}

/* Copies the chunks' status, and finds the groups. */
static GpuaggReason
read_answer(BlobQuery *query, const GpuaggReply *reply, const char *answer, Size room)
{
	uint64 bytes = reply->u.query.bytes;
	uint64 groups_at = gpuagg_query_groups_at(query->query.nchunks);
	uint8 *status;

	if (bytes > room || bytes < groups_at)
		return GPUAGG_DEVICE_ERROR;
	status = palloc_extended(query->query.nchunks, MCXT_ALLOC_HUGE);
	memcpy(status, answer, query->query.nchunks);
	query->status = status;
	query->nslices = reply->u.query.nslices;
	query->ns = reply->u.query.ns;
	query->ns_slices = reply->u.query.ns_slices;
	query->ngroups = reply->u.query.ngroups;
	query->nrows = reply->u.query.nrows;
	query->incomplete = reply->u.query.incomplete != 0;
	/* of a window there is nothing unless all chunks are in */
	if (query->query.window != NULL && reply->u.query.nstale > 0)
		return bytes == groups_at ? GPUAGG_OK : GPUAGG_DEVICE_ERROR;
	if (query->query.nkeys == 0)
		query->totals = (GpuaggReader){(const uint8 *) answer + groups_at, bytes - groups_at, 0};
	else if (!query->incomplete)
	{
		uint64 far_bytes = reply->u.query.nfar * sizeof(GpuaggGroupFar);
		uint64 records_at = groups_at + GPUAGG_QUERY_MASK_BYTES;
		uint64 far_at;

		if (query->ngroups > bytes || records_at > bytes)
			return GPUAGG_DEVICE_ERROR;
		gpuagg_group_packing(query->layout, &query->packing);
		gpuagg_group_packing_keep(&query->packing, (const uint32 *) (answer + groups_at));
		far_at = records_at + gpuagg_query_records_bytes(query->ngroups, query->packing.words);
		if (far_at > bytes || bytes - far_at != far_bytes)
			return GPUAGG_DEVICE_ERROR;
		query->records = (const uint32 *) (answer + records_at);
		query->far = (const GpuaggGroupFar *) (answer + far_at);
		query->nfar = reply->u.query.nfar;
	}
	return GPUAGG_OK;
}

/* Bytes of an answer, with room for what is expected and as much again. */
static Size
answer_bytes(const BlobQuery *query, const GpuaggQueryHead *head)
{
	uint64 bytes = gpuagg_query_answer_bytes(head) + query->rows_bytes;

	if (head->nkeys > 0)
	{
		Size record = gpuagg_group_packed_words(query->layout) * sizeof(uint32);

		bytes += 2 * record *
				 (Min(head->expected, GPUAGG_SEGMENT_BYTES_MAX / record) + GROUPS_LEAST);
	}
	return TYPEALIGN(GPUAGG_ALIGN, bytes);
}

uint64
gpuagg_blob_query_room(const GpuaggGroupLayout *layout, const BlobQueryChunk *chunks,
					   uint32 nchunks, uint32 ncolumns)
{
	uint64 most = GPUAGG_BLOB_QUERY_ROOM;
	uint64 bytes = 0;

	for (uint32 i = 0; i < nchunks; i++)
		bytes += gpuagg_blob_query_chunk_bytes(&chunks[i], (int) ncolumns);
	return most > bytes ? (most - bytes) / (gpuagg_group_packed_words(layout) * sizeof(uint32)) : 0;
}

/* How long memory is waited for, ms: in mode auto less than the CPU would take for the query. */
static int
lease_wait(const BlobQuery *query)
{
	bool is_slow = query->query.expected > MANY_GROUPS || query->query.window != NULL;
	double rows = 0;

	if (gpuagg_device == DEVICE_GPU)
		return gpuagg_device_timeout;
	for (uint32 i = 0; i < query->query.nchunks; i++)
		rows += query->chunks[i].nrows;
	return (int) Min(rows * (is_slow ? CPU_SLOW_ROW_NS : CPU_ROW_NS) / 1e6, PG_INT32_MAX);
}

/* A statement waits in vain only once. */
static FlightLease *
lease(const BlobQuery *query, Size bytes)
{
	static TimestampTz refused = DT_NOBEGIN;
	TimestampTz statement = GetCurrentStatementStartTimestamp();
	int wait_ms = refused == statement ? 0 : lease_wait(query);
	FlightLease *lease = gpuagg_flight_lease(Min(bytes, GPUAGG_SEGMENT_BYTES_MAX), 1, wait_ms,
											 CurrentMemoryContext);

	if (lease == NULL && wait_ms > 0 && gpuagg_flight_refusal() == GPUAGG_NO_STAGING)
		refused = statement;
	return lease;
}

GpuaggReason
gpuagg_blob_query(BlobQuery *query)
{
	GpuaggQueryHead head;
	GpuaggQueryPlaces places;
	GpuaggRequest request;
	GpuaggReply reply;
	GpuaggReason reason;
	Size bytes;
	Size answer;
	char *room;

	query->query.shifted = query->shifts != NULL;
	head = gpuagg_query_head(&query->query);
	if (!gpuagg_query_places(&head, &places))
		return GPUAGG_CPU_ONLY;
	bytes = query_bytes(query, &places);
	answer = answer_bytes(query, &head);
	query->lease = lease(query, bytes + answer);
	if (query->lease == NULL)
		return gpuagg_flight_refusal();
	query->owner.land = land;
	query->owner.drop = drop;
	gpuagg_flight_list(&query->owner);
	room = gpuagg_flight_lease_base(query->lease);
	if (bytes + gpuagg_query_groups_at(query->query.nchunks) >
		gpuagg_flight_lease_bytes(query->lease))
		return GPUAGG_NO_STAGING;
	answer = TYPEALIGN_DOWN(GPUAGG_ALIGN, gpuagg_flight_lease_bytes(query->lease) - bytes);
	if (!gpuagg_query_write(&query->query, room, bytes, &places))
		return GPUAGG_CPU_ONLY;
	write_chunks(query, &places, room);

	memset(&request, 0, sizeof(request));
	request.h.type = GPUAGG_MSG_QUERY;
	request.u.query.device = GPUAGG_ANY_DEVICE;
	request.u.query.database = MyDatabaseId;
	request.u.query.bytes = bytes;
	request.u.query.answer_at = bytes;
	request.u.query.answer_bytes = answer;
	reason = gpuagg_device_call(gpuagg_flight_device_lease(query->lease), &request, &reply);
	return reason == GPUAGG_OK ? read_answer(query, &reply, room + bytes, answer) : reason;
}

void
gpuagg_blob_query_end(BlobQuery *query)
{
	gpuagg_flight_unlist(&query->owner);
	gpuagg_flight_leave(&query->lease);
}
