/*
 * device_upload.c
 *	  Brings blocks of resident columns to the device, as blobs of gpuaggd.
 *
 * Blocks are copied to slots of one lease; a slot is free again when the reply has come.  Where
 * there is no memory for all slots, a few smaller ones do, which almost all blocks fit in.
 */
#include "compat.h"

#include "miscadmin.h"

#include "common/stream_copy.h"
#include "device/client.h"
#include "device/shared_state.h"
#include "engine/flight.h"
#include "gpuagg.h"
#include "resident/device_place.h"
#include "resident/device_upload.h"

#define SLOTS	   GPUAGG_MAX_INFLIGHT
#define SLOT_BYTES (GPUAGG_SEGMENT_BYTES / SLOTS)
#define FEW_SLOTS  2  /* in SLOT_BYTES */
#define ATTEMPTS   50 /* of one block or lease, by who waits for gpuaggd to get memory for it */
#define PAUSE_MS   10 /* between them */

typedef struct UploadSlot
{
	uint32 request; /* 0: free */
	ResidentColumn *column;
	uint32 chunk;
	GpuaggRequest put;
} UploadSlot;

struct DeviceUpload
{
	FlightOwner owner;
	FlightLease *lease; /* NULL: nothing can be sent any more */
	uint64 before;
	int nslots;
	uint64 slot_bytes;
	int next; /* slot */
	UploadSlot slots[SLOTS];
};

/* Sends no more.  Where a reply has not come, a query finds out whether the blob is there. */
static void
leave(FlightOwner *owner)
{
	DeviceUpload *upload = (DeviceUpload *) owner;

	for (int i = 0; i < SLOTS; i++)
		upload->slots[i].request = 0;
	gpuagg_flight_unlist(owner);
	gpuagg_flight_leave(&upload->lease);
}

/* Blobs under way are not known to be there: they are given up, and no more are sent. */
static void
give_up(DeviceUpload *upload)
{
	for (int i = 0; i < SLOTS; i++)
	{
		UploadSlot *slot = &upload->slots[i];

		if (slot->request != 0)
			gpuagg_column_displace(slot->column, slot->chunk, slot->put.u.put.name.number, true);
	}
	leave(&upload->owner);
}

/* n == 0: all blobs of epochs before that one. */
static bool
send_drop(Oid database, const GpuaggBlobName *names, int n, uint64 before)
{
	GpuaggRequest request;
	GpuaggReply reply;

	memset(&request, 0, sizeof(request));
	request.h.type = GPUAGG_MSG_DROP;
	request.u.drop.database = database;
	request.u.drop.count = (uint32) n;
	if (n > 0)
		memcpy(request.u.drop.names, names, n * sizeof(GpuaggBlobName));
	else
		request.u.drop.names[0].epoch = before;
	return gpuagg_device_call(NULL, &request, &reply) == GPUAGG_OK;
}

/* Has some dropped; false: there are none, or they are not dropped. */
static bool
drop_some(void)
{
	GpuaggBlobName names[GPUAGG_DROPS];
	Oid database = InvalidOid;
	uint64 before;
	int n = gpuagg_device_dropped(&before, &database, names, GPUAGG_DROPS);
	volatile bool done = false;

	if (n == 0 && before == 0)
		return false;
	PG_TRY();
	{
		done = (n == 0 || send_drop(database, names, n, 0)) &&
			   (before == 0 || send_drop(InvalidOid, NULL, 0, before));
	}
	PG_FINALLY();
	{
		/* to drop it once more does no harm */
		if (!done)
			gpuagg_device_not_dropped(before, database, names, n);
	}
	PG_END_TRY();
	return done;
}

void
gpuagg_upload_sweep(void)
{
	while (gpuagg_device_ready() && drop_some())
		continue;
}

/* A number for the slot's blob, which is sent; false: it was not. */
static bool
send(DeviceUpload *upload, UploadSlot *slot)
{
	GpuaggReason reason = GPUAGG_LOST;

	if (upload->lease != NULL)
		reason = gpuagg_device_submit(gpuagg_flight_device_lease(upload->lease), &slot->put,
									  &slot->request);
	if (reason == GPUAGG_OK)
		return true;
	slot->request = 0;
	gpuagg_column_displace(slot->column, slot->chunk, slot->put.u.put.name.number, false);
	gpuagg_stat_fallback(reason);
	if (reason != GPUAGG_BUSY)
		give_up(upload);
	return false;
}

/* Whether a blob that gpuaggd refused for this reason may find place now. */
static bool
make_place(DeviceUpload *upload, const UploadSlot *slot, GpuaggReason reason)
{
	if (reason == GPUAGG_STARTING || reason == GPUAGG_BUSY)
	{
		gpuagg_wait_tick(PAUSE_MS);
		return true;
	}
	if (reason != GPUAGG_NO_DEVICE_MEMORY)
		return false;
	if (!gpuagg_device_make_room(gpuagg_blob_bytes(&slot->put.u.put.form, slot->put.u.put.nrows,
												   (int) slot->put.u.put.nullable),
								 upload->before))
	{
		/* there will be none for others either */
		give_up(upload);
		return false;
	}
	gpuagg_upload_sweep();
	return true;
}

/* Waits for the reply about the blob in a slot, which is free then. */
static void
finish(DeviceUpload *upload, UploadSlot *slot, bool patient)
{
	for (int i = 0; slot->request != 0; i++)
	{
		uint32 request = slot->request;
		GpuaggReply reply;
		GpuaggReason reason;

		slot->request = 0;
		reason = gpuagg_device_wait(request, &reply);
		if (reason == GPUAGG_OK)
		{
			const GpuaggBlobName *name = &slot->put.u.put.name;

			gpuagg_column_settle(slot->column, name->epoch, 1, &slot->chunk, NULL, &name->number,
								 1);
			return;
		}
		if (i < (patient ? ATTEMPTS : 1) && upload->lease != NULL &&
			(patient || reason == GPUAGG_NO_DEVICE_MEMORY) && make_place(upload, slot, reason) &&
			send(upload, slot))
			continue;
		gpuagg_column_displace(slot->column, slot->chunk, slot->put.u.put.name.number, false);
		if (reason == GPUAGG_LOST || reason == GPUAGG_TIMEOUT)
			give_up(upload);
	}
}

/* Takes the replies that have come, or, with `wait`, all. */
static void
take_replies(DeviceUpload *upload, bool wait)
{
	for (int i = 0; i < SLOTS; i++)
	{
		UploadSlot *slot = &upload->slots[i];

		if (slot->request != 0 && (wait || gpuagg_device_answered(slot->request)))
			finish(upload, slot, wait);
	}
}

static void
land(FlightOwner *owner)
{
	DeviceUpload *upload = (DeviceUpload *) owner;

	take_replies(upload, false);
	give_up(upload);
}

/* False: there is no memory for slots now. */
static bool
lease_slots(DeviceUpload *upload)
{
	upload->nslots = SLOTS;
	upload->slot_bytes = SLOT_BYTES;
	upload->lease = gpuagg_flight_lease(GPUAGG_SEGMENT_BYTES, 1, 0, CurrentMemoryContext);
	if (upload->lease != NULL)
		return true;
	upload->nslots = FEW_SLOTS;
	upload->slot_bytes = SLOT_BYTES / FEW_SLOTS;
	upload->lease = gpuagg_flight_lease(SLOT_BYTES, 1, 0, CurrentMemoryContext);
	return upload->lease != NULL;
}

DeviceUpload *
gpuagg_upload_open(uint64 before, bool patient)
{
	DeviceUpload *upload;

	if (!gpuagg_device_ready())
		return NULL;
	gpuagg_upload_sweep();
	upload = palloc0(sizeof(DeviceUpload));
	upload->before = before;
	for (int i = 0; !lease_slots(upload) && patient && i < ATTEMPTS && gpuagg_device_ready(); i++)
		gpuagg_wait_tick(PAUSE_MS);
	if (upload->lease == NULL)
	{
		pfree(upload);
		return NULL;
	}
	upload->owner.land = land;
	upload->owner.drop = leave;
	gpuagg_flight_list(&upload->owner);
	return upload;
}

void
gpuagg_upload_put(GpuaggRequest *request, char *region, uint64 at, GpuaggBlobName name,
				  const GpuaggNarrow *form, uint32 nrows, const uint64 *valid)
{
	GpuaggPut *put = &request->u.put;

	memset(request, 0, sizeof(*request));
	request->h.type = GPUAGG_MSG_PUT;
	put->device = GPUAGG_ANY_DEVICE;
	put->database = MyDatabaseId;
	put->nrows = nrows;
	put->name = name;
	put->form = *form;
	put->values = at;
	if (valid == NULL)
		return;
	put->nullable = 1;
	put->valid = at + gpuagg_narrow_bytes(form, nrows);
	memcpy(region + put->valid, valid, (nrows + 63) / 64 * sizeof(uint64));
}

void
gpuagg_upload_offer(DeviceUpload *upload, ResidentColumn *column, uint32 chunk, MemoryRef ref,
					const ColumnBlock *block, bool wait)
{
	UploadSlot *slot = &upload->slots[upload->next];
	const uint64 *valid = column_block_valid(block);
	uint64 values_bytes = gpuagg_narrow_bytes(&block->form, block->nrows);
	uint64 epoch = gpuagg_device_epoch();
	uint64 number;
	uint64 at;
	char *region;

	if (upload->lease == NULL || column_block_is_bare(ref) || block->nrows == 0 ||
		block->nrows > GPUAGG_BLOB_ROWS ||
		gpuagg_blob_bytes(&block->form, block->nrows, valid != NULL) > upload->slot_bytes)
		return;
	gpuagg_column_places(column, epoch, chunk, 1, &ref, &number, 1, NULL);
	if (number != 0 || (slot->request != 0 && !wait && !gpuagg_device_answered(slot->request)))
		return;
	finish(upload, slot, wait);
	/* requests of earlier leases may be under way, too */
	if (upload->lease == NULL ||
		(!wait && !gpuagg_device_has_room(gpuagg_flight_device_lease(upload->lease))))
		return;
	epoch = gpuagg_device_epoch();
	number = gpuagg_column_place(column, epoch, chunk, ref);
	if (number == 0)
		return;
	at = (uint64) (slot - upload->slots) * upload->slot_bytes;
	region = gpuagg_flight_lease_base(upload->lease);
	gpuagg_stream_copy(region + at, column_block_values(block), values_bytes);
	gpuagg_upload_put(&slot->put, region, at, (GpuaggBlobName){number, epoch}, &block->form,
					  block->nrows, valid);
	slot->column = column;
	slot->chunk = chunk;
	if (send(upload, slot))
		upload->next = (upload->next + 1) % upload->nslots;
}

void
gpuagg_upload_column(DeviceUpload *upload, ResidentColumn *column)
{
	ChunkState states[MAP_PAGE_CHUNKS];
	uint32 nchunks = gpuagg_column_chunks(column);

	for (uint32 first = 0; first < nchunks && upload->lease != NULL; first += MAP_PAGE_CHUNKS)
	{
		gpuagg_column_states(column, first, MAP_PAGE_CHUNKS, states);
		for (uint32 i = 0; i < MAP_PAGE_CHUNKS; i++)
		{
			const ColumnBlock *block = states[i].block != 0 ? gpuagg_column_block(states[i].block)
															: NULL;

			CHECK_FOR_INTERRUPTS();
			if (block != NULL)
				gpuagg_upload_offer(upload, column, first + i, states[i].block, block, true);
		}
	}
}

void
gpuagg_upload_settle(DeviceUpload *upload, bool wait)
{
	take_replies(upload, wait);
}

void
gpuagg_upload_close(DeviceUpload *upload, bool wait)
{
	take_replies(upload, wait);
	leave(&upload->owner);
	pfree(upload);
}
