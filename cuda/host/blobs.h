/*
 * blobs.h
 *	  Blobs: blocks of columns that stay in device memory.
 *
 * A blob is found by its name (common/blob.h) until it is dropped; its memory goes when its last
 * user lets go.  What it holds is nobody's business here.
 *
 * Memory comes from slabs, which the set-up thread allocates, within a share of the budget of
 * device memory.  Whoever fills a blob writes all of its extent: what another database left there
 * is not seen again.
 */
#ifndef GPUAGG_BLOBS_H
#define GPUAGG_BLOBS_H

#include "common/blob.h"
#include "host/extents.h"
#include "host/lane.h"

/* What a query looks at comes first, in the one line of the cache with which a blob begins. */
typedef struct Blob
{
	GpuaggBlobName name;
	char *at; /* where it is on the device; NULL: nowhere yet */
	uint32_t database;
	uint32_t nrows;
	int users;
	bool complete;	   /* filled */
	bool dropped;	   /* nobody can find it any more */
	bool nullable;	   /* there is a bitmap behind the values */
	bool kept;		   /* slices that are kept have had it (query_kept.h) */
	GpuaggNarrow form; /* in that line up to its base */
	struct Blob *next; /* of the same bucket */
	uint64_t bytes;
	Extent *extent; /* NULL: not yet */
} Blob;

/* Bytes from a blob's place to its bitmap. */
static inline uint64_t
gpud_blob_valid(const Blob *blob)
{
	return gpuagg_narrow_bytes(&blob->form, blob->nrows);
}

/*
 * A new blob, held by the caller, who fills it; it is of no use to others before it is complete.
 * One of the same number and an earlier epoch is dropped.  REFUSED: there is one, and it is not earlier.
 * NO_DEVICE_MEMORY: there are too many.
 */
extern GpuaggReason gpud_blob_make(const GpuaggPut *put, Blob **blob);

/*
 * Finds memory for it.  STARTING: the set-up thread is about to make some; NO_DEVICE_MEMORY: the
 * budget is spent, or too much of it is in use elsewhere just now.
 */
extern GpuaggReason gpud_blob_place(Blob *blob);

/* The blob of this name and database, complete or not; NULL: there is none. */
extern Blob *gpud_blob_find(uint64_t number, uint64_t epoch, uint32_t database);

/* Brings what find() will look at into the cache: the way to the blob, and then that itself. */
extern void gpud_blob_prefetch_way(uint64_t number);
extern void gpud_blob_prefetch(uint64_t number);
extern void gpud_blob_hold(Blob *blob);
extern void gpud_blob_let_go(Blob *blob);
extern void gpud_blob_drop(Blob *blob);

/* How often a blob was dropped that kept slices have had. */
extern uint64_t gpud_blobs_drops(void);

/* Memory of so many bytes among the blobs' that is none of theirs; NULL: there is none now. */
extern Extent *gpud_blobs_room(uint64_t bytes);
extern void gpud_blobs_give_back(Extent *room);

/* Drops all blobs of epochs before that one; returns how many. */
extern uint32_t gpud_blobs_drop_before(uint64_t epoch);

/* Gives back slabs that have been empty for a while; once a second. */
extern void gpud_blobs_tick(int64_t now);

extern uint64_t gpud_blobs_bytes(void);	 /* of blobs, dropped ones in use too */
extern uint64_t gpud_slabs_bytes(void);	 /* of device memory taken for them */
extern uint64_t gpud_blobs_budget(void); /* that slabs may have */
extern uint64_t gpud_blobs_count(void);

#endif /* GPUAGG_BLOBS_H */
