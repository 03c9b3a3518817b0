/*
 * blobs.c
 *	  Blobs: blocks of columns that stay in device memory.
 */
#include "host/blobs.h"

#include <stdlib.h>
#include <string.h>

#include "host/clients.h"
#include "host/log.h"

#define SLAB_BYTES	   (UINT64_C(256) << 20)
#define SLAB_BYTES_MIN (UINT64_C(1) << 20)
#define LANES_ENOUGH   (UINT64_C(8) << 30)
#define MAX_BLOBS	   (1 << 20)
#define BUCKETS		   (1 << 18)
#define CACHE_LINE	   64 /* bytes */
#define BLOB_BYTES	   ((sizeof(Blob) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE)
#define RETRY_NS	   GPUD_SECOND		 /* after a slab could not be made */
#define TRIM_NS		   (5 * GPUD_SECOND) /* a slab that is empty for so long goes */

typedef struct Slab
{
	Task task; /* first: tasks are cast to slabs */
	struct Slab *next;
	GivenUp given_up;
	uint64_t bytes;
	void *base;
	Extent *lowest; /* NULL: with the set-up thread */
	int64_t empty_since;
	GpuaggReason reason;
} Slab;

static_assert(offsetof(Blob, form) + offsetof(GpuaggNarrow, minimum) <= CACHE_LINE,
			  "what a query looks at is in one line");

static Blob *buckets[BUCKETS];
static uint64_t nblobs; /* that exist, dropped or not */
static uint64_t blob_bytes;
static uint64_t ndrops;
static Extents extents;
static Slab *slabs; /* but for those that are being freed */
static uint64_t slab_bytes;
static int nmaking;
static int64_t make_not_before;

uint64_t
gpud_blobs_bytes(void)
{
	return blob_bytes;
}

uint64_t
gpud_slabs_bytes(void)
{
	return slab_bytes;
}

uint64_t
gpud_blobs_count(void)
{
	return nblobs;
}

uint64_t
gpud_blobs_drops(void)
{
	return ndrops;
}

/* The rest is for lanes, whose pieces are made for a quarter of the budget. */
uint64_t
gpud_blobs_budget(void)
{
	uint64_t rest = gpud_device_budget / 4;

	return gpud_device_budget - (rest < LANES_ENOUGH ? rest : LANES_ENOUGH);
}

/* ---- slabs ---- */

/* Set-up thread. */
static void
make_run(Task *task)
{
	Slab *slab = (Slab *) task;

	slab->reason = gpud_given_up_free(&slab->given_up);
	if (slab->reason == GPUAGG_OK)
		slab->reason = gpu_malloc(&slab->base, slab->bytes);
}

static void
free_run(Task *task)
{
	Slab *slab = (Slab *) task;

	slab->reason = gpu_free(slab->base);
}

static void
free_done(Task *task)
{
	Slab *slab = (Slab *) task;

	if (slab->reason == GPUAGG_LOST)
		gpud_lost("device memory could not be freed");
	slab_bytes -= slab->bytes;
	gpud_budget_give_back(slab->bytes);
	free(slab);
}

/* Has a slab freed that is in no list. */
static void
free_slab(Slab *slab)
{
	slab->task.run = free_run;
	slab->task.done = free_done;
	gpud_setup_submit(&slab->task);
}

static void
take_out_slab(const Slab *slab)
{
	Slab **link = &slabs;

	while (*link != slab)
		link = &(*link)->next;
	*link = slab->next;
}

static void
make_done(Task *task)
{
	static int64_t told;
	Slab *slab = (Slab *) task;

	nmaking--;
	if (slab->reason == GPUAGG_LOST)
		gpud_lost("device memory could not be allocated");
	if (slab->reason == GPUAGG_OK)
	{
		slab->lowest = gpud_extents_add(&extents, slab, slab->base, slab->bytes);
		slab->empty_since = gpud_now();
		if (slab->lowest != NULL)
			return;
	}
	else if (gpud_due(&told)) /* other programs use the device's memory */
		gpud_warn("could not allocate %llu bytes of device memory",
				  (unsigned long long) slab->bytes);
	make_not_before = gpud_now() + RETRY_NS;
	take_out_slab(slab);
	free_slab(slab);
}

/* Has a slab made for at least so many bytes; false: not now. */
static bool
make_slab(uint64_t need)
{
	uint64_t left = gpud_blobs_budget() > slab_bytes ? gpud_blobs_budget() - slab_bytes : 0;
	uint64_t size = gpud_blobs_budget() / 16 / SLAB_BYTES_MIN * SLAB_BYTES_MIN;
	Slab *slab;

	if (size < SLAB_BYTES_MIN)
		size = SLAB_BYTES_MIN;
	if (size > SLAB_BYTES)
		size = SLAB_BYTES;
	if (size > left)
		size = left / GPUD_EXTENT_UNIT * GPUD_EXTENT_UNIT;
	if (size < need)
		size = (need + GPUD_EXTENT_UNIT - 1) / GPUD_EXTENT_UNIT * GPUD_EXTENT_UNIT;
	if (size > left || gpud_now() < make_not_before)
		return false;
	slab = calloc(1, sizeof(Slab));
	if (slab == NULL || !gpud_budget_take(size, &slab->given_up))
	{
		free(slab);
		return false;
	}
	slab->bytes = size;
	slab->next = slabs;
	slabs = slab;
	slab_bytes += size;
	nmaking++;
	slab->task.run = make_run;
	slab->task.done = make_done;
	gpud_setup_submit(&slab->task);
	return true;
}

void
gpud_blobs_tick(int64_t now)
{
	for (Slab **link = &slabs; *link != NULL;)
	{
		Slab *slab = *link;

		if (slab->lowest != NULL && gpud_slab_is_free(slab->lowest) &&
			now - slab->empty_since > TRIM_NS)
		{
			*link = slab->next;
			gpud_extents_remove(&extents, slab->lowest);
			free_slab(slab);
		}
		else
			link = &slab->next;
	}
}

/* ---- blobs ---- */

/* A column's numbers follow each other mostly: so do their buckets, which come into the cache in order. */
static Blob **
bucket_of(uint64_t number)
{
	return &buckets[(number ^ (number / BUCKETS * UINT64_C(0x9e3779b97f4a7c15) >> 32)) &
					(BUCKETS - 1)];
}

/* Where a blob that is not dropped is linked from; it is NULL there if there is none. */
static Blob **
link_of(uint64_t number)
{
	Blob **link = bucket_of(number);

	while (*link != NULL && (*link)->name.number != number)
		link = &(*link)->next;
	return link;
}

GpuaggReason
gpud_blob_make(const GpuaggPut *put, Blob **made)
{
	Blob *old = *link_of(put->name.number);
	Blob **bucket = bucket_of(put->name.number);
	Blob *blob;

	if (old != NULL && old->name.epoch >= put->name.epoch)
		return GPUAGG_REFUSED;
	if (old != NULL)
		gpud_blob_drop(old);
	blob = nblobs < MAX_BLOBS ? aligned_alloc(CACHE_LINE, BLOB_BYTES) : NULL;
	if (blob == NULL)
		return GPUAGG_NO_DEVICE_MEMORY;
	memset(blob, 0, sizeof(Blob));
	blob->name = put->name;
	blob->form = put->form;
	blob->database = put->database;
	blob->nrows = put->nrows;
	blob->bytes = gpuagg_blob_bytes(&put->form, put->nrows, (int) put->nullable);
	blob->nullable = put->nullable != 0;
	blob->users = 1;
	blob->next = *bucket;
	*bucket = blob;
	nblobs++;
	*made = blob;
	return GPUAGG_OK;
}

GpuaggReason
gpud_blob_place(Blob *blob)
{
	if (blob->extent != NULL)
		return GPUAGG_OK;
	blob->extent = gpud_blobs_room(blob->bytes);
	if (blob->extent != NULL)
	{
		blob->at = blob->extent->at;
		return GPUAGG_OK;
	}
	return nmaking > 0 || make_slab(blob->bytes) ? GPUAGG_STARTING : GPUAGG_NO_DEVICE_MEMORY;
}

Blob *
gpud_blob_find(uint64_t number, uint64_t epoch, uint32_t database)
{
	Blob *blob = *link_of(number);

	return blob != NULL && blob->name.epoch == epoch && blob->database == database ? blob : NULL;
}

void
gpud_blob_prefetch_way(uint64_t number)
{
	__builtin_prefetch(bucket_of(number));
}

void
gpud_blob_prefetch(uint64_t number)
{
	/* it is the first of a bucket's blobs mostly */
	__builtin_prefetch(*bucket_of(number));
}

void
gpud_blob_hold(Blob *blob)
{
	blob->users++;
}

Extent *
gpud_blobs_room(uint64_t bytes)
{
	Extent *room = gpud_extent_take(&extents, bytes);

	if (room != NULL)
		blob_bytes += room->bytes;
	return room;
}

void
gpud_blobs_give_back(Extent *room)
{
	Slab *slab = room->slab;

	blob_bytes -= room->bytes;
	gpud_extent_give_back(&extents, room);
	if (gpud_slab_is_free(slab->lowest))
		slab->empty_since = gpud_now();
}

static void
free_blob(Blob *blob)
{
	if (blob->extent != NULL)
		gpud_blobs_give_back(blob->extent);
	nblobs--;
	free(blob);
}

void
gpud_blob_let_go(Blob *blob)
{
	if (--blob->users == 0 && blob->dropped)
		free_blob(blob);
}

void
gpud_blob_drop(Blob *blob)
{
	if (blob->dropped)
		return;
	*link_of(blob->name.number) = blob->next;
	blob->dropped = true;
	ndrops += blob->kept;
	if (blob->users == 0)
		free_blob(blob);
}

uint32_t
gpud_blobs_drop_before(uint64_t epoch)
{
	uint32_t n = 0;

	for (size_t i = 0; i < BUCKETS; i++)
		for (Blob *blob = buckets[i], *next; blob != NULL; blob = next)
		{
			next = blob->next;
			if (blob->name.epoch >= epoch)
				continue;
			gpud_blob_drop(blob);
			n++;
		}
	return n;
}
