/*
 * staging.h
 *	  Segments of pinned memory, and who has them on lease.
 */
#ifndef GPUAGG_STAGING_H
#define GPUAGG_STAGING_H

#include "host/clients.h"
#include "host/pinned.h"

/* There are at most so many, as a region's number begins with its segment's. */
#define GPUD_REGION_INDEX_BITS 12
#define GPUD_SEGMENTS		   (1 << GPUD_REGION_INDEX_BITS)

typedef enum SegmentState
{
	SEGMENT_NONE,
	SEGMENT_CREATING, /* with the set-up thread */
	SEGMENT_CLEARING, /* the same */
	SEGMENT_FREE,
	SEGMENT_LEASED,
	SEGMENT_DRAINING,  /* released, but requests in flight use it */
	SEGMENT_DESTROYING /* with the set-up thread */
} SegmentState;

/* Whose data a segment holds. */
typedef struct GpudTenant
{
	uint32_t role;
	uint32_t database;
} GpudTenant;

typedef struct Segment
{
	Pinned memory; /* first: tasks are cast to segments */
	SegmentState state;
	uint32_t lease_number; /* counts up with every lease */
	uint32_t region;
	Client *owner;
	bool clean;		   /* nobody has had it since it was made or cleared */
	GpudTenant tenant; /* who had it last, unless it is clean */
	bool kept;		   /* its client went without releasing it: nobody else is to have it */
	int users;		   /* requests in flight */
	int64_t used_at;   /* leased: when a request last used it, ns */
	int64_t free_since;
	bool promised; /* in the making or being cleared, for a request that waits */
} Segment;

extern bool gpud_staging_start(void);

/*
 * Leases a segment of at least so many bytes to the client, without what another tenant left in it:
 * with GPUAGG_OK the request is answered, now or when there is one, or wait_ms later where others
 * have all that there may be, and the client nothing.
 */
extern GpuaggReason gpud_staging_lease(Client *client, const GpuaggHeader *request, uint64_t bytes,
									   GpudTenant tenant, uint32_t wait_ms);

/* When the first of those waits ends, ns; INT64_MAX: there are none. */
extern int64_t gpud_staging_deadline(void);

/* Answers requests that wait, if they can be given memory, or have waited for too long. */
extern void gpud_staging_serve(void);

/* The segment of a region leased to this client, or NULL. */
extern Segment *gpud_segment_of(const Client *client, uint32_t region);

extern void gpud_segment_release(Segment *segment);

/* A request in flight holds its segment: it is leased to nobody else before it is let go. */
extern void gpud_segment_hold(Segment *segment);
extern void gpud_segment_let_go(Segment *segment);

/* After gpud_client_close(). */
extern void gpud_staging_client_gone(Client *client);

/*
 * GPUAGG_NO_STAGING for a region that was this client's, until it was idle for too long;
 * else GPUAGG_REFUSED.
 */
extern GpuaggReason gpud_staging_reason(const Client *client, uint32_t region);

/* Gives back what has not been needed for long, and takes back leases that are idle; once a second. */
extern void gpud_staging_tick(int64_t now);

extern uint64_t gpud_staging_bytes(void);
extern int gpud_staging_leases(void); /* given, or waited for */

#endif /* GPUAGG_STAGING_H */
