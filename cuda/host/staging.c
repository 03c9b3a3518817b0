/*
 * staging.c
 *	  Segments of pinned memory, and who has them on lease.
 *
 * A segment is leased whole, to one client at a time, and has one of a few sizes: what asks for
 * little gets a small one, of which there is room for many, and never one of another size, so that
 * these are there for what needs them.  Its region number is new
 * with every lease, so that an old number names nothing.  It is free again when
 * the client has released it, or is gone, and no request in flight uses it.
 *
 * A lease that no request has used for long ends, too.  Its memory is not used again, nor
 * is that of a client that went without a word: either may still have it mapped.
 * A segment is leased as it is to the tenant that had it last, and cleared before another
 * has it.
 *
 * The set-up thread takes tasks in order: memory that is to be freed for a new
 * segment is freed first.
 */
#include "host/staging.h"

#include <stdlib.h>
#include <string.h>

#include "host/log.h"
#include "host/options.h"

#define CLIENT_LEASED_MAX  (UINT64_C(256) << 20) /* bytes leased to one client */
#define CLIENT_WAITING_MAX 8					 /* LEASE requests not yet answered */
#define WAITING_MAX		   512					 /* the same, of all clients */
#define SMALL_PART		   16				   /* of the budget, in steps of the largest segment */
#define RETRY_NS		   GPUD_SECOND		   /* after a segment could not be made */
#define TRIM_NS			   (300 * GPUD_SECOND) /* free segments unused for so long go */
#define TRIM_KEEP		   2

/* A LEASE request that waits for a segment; its size counts as leased by its client. */
typedef struct Waiting
{
	Pending pending;
	uint64_t size;
	GpudTenant tenant;
	int64_t deadline; /* ns, of a wait for what others have on lease */
	bool queued;	  /* it waits for that: nothing is promised */
	struct Waiting *next;
} Waiting;

/* Of segments; the largest first. */
static const uint64_t sizes[] = {GPUAGG_SEGMENT_BYTES_MAX, GPUAGG_SEGMENT_BYTES, UINT64_C(4) << 20,
								 UINT64_C(1) << 20, GPUAGG_SEGMENT_BYTES_MIN};
#define NSIZES ((int) (sizeof(sizes) / sizeof(sizes[0])))

static Segment *segments;
static int nslots;			 /* that there may be */
static int nsegments;		 /* slots that have been used: those after them are empty */
static uint64_t total_bytes; /* of all segments but those being destroyed */
static Waiting *waiting;	 /* first come, first served */
static int64_t create_not_before;

bool
gpud_staging_start(void)
{
	uint64_t most = gpud_options.total_staging / GPUAGG_SEGMENT_BYTES_MIN;

	/* twice as many slots as segments: some may be being destroyed */
	nslots = most < GPUD_SEGMENTS / 2 ? (int) most * 2 : GPUD_SEGMENTS;
	segments = calloc((size_t) nslots + 1, sizeof(Segment));
	return segments != NULL;
}

uint64_t
gpud_staging_bytes(void)
{
	return total_bytes;
}

/* LEASE requests that wait: of one client, or of all. */
static int
nwaiting(const Client *client)
{
	int n = 0;

	for (const Waiting *w = waiting; w != NULL; w = w->next)
		n += client == NULL || w->pending.client == client;
	return n;
}

int
gpud_staging_leases(void)
{
	int n = nwaiting(NULL);

	for (int i = 0; i < nsegments; i++)
		n += segments[i].state == SEGMENT_LEASED || segments[i].state == SEGMENT_DRAINING;
	return n;
}

static void
destroy_done(Task *task)
{
	Segment *segment = (Segment *) task;

	if (segment->memory.reason == GPUAGG_LOST)
		gpud_lost("staging memory could not be unregistered");
	segment->state = SEGMENT_NONE;
}

static void
destroy(Segment *segment)
{
	total_bytes -= segment->memory.size;
	segment->state = SEGMENT_DESTROYING;
	gpud_pinned_unmake(&segment->memory, destroy_done);
}

/* Gives a free segment to the client that waits for one. */
static void
grant(Segment *segment, Waiting *w)
{
	Pending *pending = &w->pending;
	GpuaggReply reply;
	uint32_t index = (uint32_t) (segment - segments);

	segment->lease_number++;
	segment->region = segment->lease_number << GPUD_REGION_INDEX_BITS | index;
	if (segment->region >> GPUD_REGION_INDEX_BITS == 0) /* wrapped: 0 is no number */
	{
		segment->lease_number = 1;
		segment->region = 1u << GPUD_REGION_INDEX_BITS | index;
	}
	segment->state = SEGMENT_LEASED;
	segment->owner = pending->client;
	segment->owner->leased += segment->memory.size;
	segment->used_at = gpud_now();
	segment->clean = false;
	segment->kept = false;
	segment->tenant = w->tenant;

	memset(&reply, 0, sizeof(reply));
	reply.u.lease.region = segment->region;
	reply.u.lease.bytes = segment->memory.size;
	gpud_pending_answer(pending, GPUAGG_OK, &reply, segment->memory.fd);
}

/* Takes a request out of the list; its bytes no longer count as its client's. */
static Waiting *
take_out(Waiting **link)
{
	Waiting *w = *link;

	*link = w->next;
	if (w->pending.client != NULL)
		w->pending.client->leased -= w->size;
	return w;
}

/* Of the free segments the smallest that has so many bytes or, if none has, the largest. */
static Segment *
find_to_destroy(uint64_t bytes)
{
	Segment *best = NULL;

	for (int i = 0; i < nsegments; i++)
	{
		Segment *segment = &segments[i];
		bool enough = segment->memory.size >= bytes;

		if (segment->state != SEGMENT_FREE)
			continue;
		if (best == NULL ||
			(best->memory.size >= bytes ? enough && segment->memory.size < best->memory.size
										: segment->memory.size > best->memory.size))
			best = segment;
	}
	return best;
}

/* Whether large segments in use leave a part of the budget for small ones, with one more. */
static bool
leaves_reserve(uint64_t size)
{
	uint64_t most = gpud_options.total_staging;
	uint64_t reserve = most / SMALL_PART / GPUAGG_SEGMENT_BYTES_MAX * GPUAGG_SEGMENT_BYTES_MAX;
	uint64_t large = size;

	if (size < GPUAGG_SEGMENT_BYTES || reserve == 0)
		return true;
	for (int i = 0; i < nsegments; i++)
		if (segments[i].state != SEGMENT_NONE && segments[i].state != SEGMENT_FREE &&
			segments[i].state != SEGMENT_DESTROYING &&
			segments[i].memory.size >= GPUAGG_SEGMENT_BYTES)
			large += segments[i].memory.size;
	return large <= most - reserve;
}

/* Destroys free segments until this many bytes more are within the budget. */
static bool
make_room(uint64_t size)
{
	uint64_t most = gpud_options.total_staging;
	uint64_t free_bytes = 0;

	if (size > most)
		return false;
	for (int i = 0; i < nsegments; i++)
		if (segments[i].state == SEGMENT_FREE)
			free_bytes += segments[i].memory.size;
	if (total_bytes - free_bytes > most - size)
		return false;
	while (total_bytes > most - size)
		destroy(find_to_destroy(total_bytes - (most - size)));
	return true;
}

static void create_done(Task *task);
static void set_free(Segment *segment);

/* Has a segment made; NULL: it cannot be, now. */
static Segment *
start_segment(uint64_t size)
{
	Segment *segment = NULL;

	if (gpud_now() < create_not_before)
		return NULL;
	for (int i = 0; i < nslots && segment == NULL; i++)
		if (segments[i].state == SEGMENT_NONE)
			segment = &segments[i];
	if (segment == NULL || !leaves_reserve(size) || !make_room(size))
		return NULL;
	if (segment - segments >= nsegments)
		nsegments = (int) (segment - segments) + 1;

	segment->memory.size = size;
	segment->state = SEGMENT_CREATING;
	segment->users = 0;
	segment->owner = NULL;
	segment->kept = false;
	total_bytes += size;
	gpud_pinned_make(&segment->memory, create_done);
	return segment;
}

/* ---- requests that wait ---- */

/* Whether its client may have this segment for what it waits for: large ones stand in for each other. */
static bool
fits(const Segment *segment, const Waiting *w)
{
	return (segment->memory.size == w->size ||
			(segment->memory.size > w->size && w->size >= GPUAGG_SEGMENT_BYTES)) &&
		   w->pending.client->leased - w->size + segment->memory.size <= CLIENT_LEASED_MAX;
}

static bool
is_in_the_making(const Segment *segment)
{
	return (segment->state == SEGMENT_CREATING || segment->state == SEGMENT_CLEARING) &&
		   !segment->promised;
}

static bool
is_on_lease(const Segment *segment)
{
	return segment->state == SEGMENT_LEASED || segment->state == SEGMENT_DRAINING;
}

static bool
is_free(const Segment *segment)
{
	return segment->state == SEGMENT_FREE && leaves_reserve(segment->memory.size);
}

/* Whether a segment holds data of another than this tenant. */
static bool
is_foreign(const Segment *segment, const GpudTenant *tenant)
{
	return !segment->clean &&
		   (segment->tenant.role != tenant->role || segment->tenant.database != tenant->database);
}

/* The best segment of a sort for a request: the smallest, of these one that needs no clearing. */
static Segment *
find_segment(bool (*is_such)(const Segment *), const Waiting *w)
{
	Segment *best = NULL;

	for (int i = 0; i < nsegments; i++)
	{
		Segment *segment = &segments[i];

		if (fits(segment, w) && is_such(segment) &&
			(best == NULL || segment->memory.size < best->memory.size ||
			 (segment->memory.size == best->memory.size && is_foreign(best, &w->tenant) &&
			  !is_foreign(segment, &w->tenant))))
			best = segment;
	}
	return best;
}

/*
 * Whether there will be memory for a request once others release theirs, which it waits for.  Who
 * has some does not wait: others might wait for that.
 */
static bool
may_queue(const Waiting *w)
{
	int64_t now = gpud_now();

	return now < w->deadline && w->pending.client->leased == w->size &&
		   w->size <= gpud_options.total_staging &&
		   (now >= create_not_before || find_segment(is_on_lease, w) != NULL);
}

static void
clear_done(Task *task)
{
	Segment *segment = (Segment *) task;

	segment->clean = true;
	set_free(segment);
}

/*
 * Gives a request a segment, promises it one in the making, or answers that there
 * is none.  True: it has been answered.
 */
static bool
provide(Waiting **link)
{
	Waiting *w = *link;
	Segment *segment = find_segment(is_free, w);

	if (segment != NULL && !is_foreign(segment, &w->tenant))
	{
		w = take_out(link);
		grant(segment, w);
		free(w);
		return true;
	}
	if (segment != NULL)
	{
		segment->state = SEGMENT_CLEARING;
		gpud_pinned_clear(&segment->memory, clear_done);
	}
	else
		segment = find_segment(is_in_the_making, w);
	if (segment == NULL)
		segment = start_segment(w->size);
	w->queued = segment == NULL && may_queue(w);
	if (segment != NULL)
		segment->promised = true;
	if (segment != NULL || w->queued)
		return false;
	w = take_out(link);
	gpud_pending_answer(&w->pending, GPUAGG_NO_STAGING, NULL, -1);
	free(w);
	return true;
}

/*
 * Compares what waits with what is free and in the making, anew after every change
 * of either, so that each request is given a segment, has one promised to it alone,
 * or is answered.  Requests for larger segments come first: others may have
 * use for either size.
 */
void
gpud_staging_serve(void)
{
	if (waiting == NULL)
		return;
	for (int i = 0; i < nsegments; i++)
		segments[i].promised = false;
	for (int i = 0; i < NSIZES; i++)
		for (Waiting **link = &waiting; *link != NULL;)
			if ((*link)->size != sizes[i] || !provide(link))
				link = &(*link)->next;
}

static void
set_free(Segment *segment)
{
	segment->owner = NULL;
	if (segment->kept)
		destroy(segment);
	else
	{
		segment->state = SEGMENT_FREE;
		segment->free_since = gpud_now();
	}
	gpud_staging_serve();
}

static void
create_done(Task *task)
{
	static int64_t told;
	Segment *segment = (Segment *) task;
	const Pinned *memory = &segment->memory;

	if (memory->reason == GPUAGG_OK)
	{
		segment->clean = true;
		set_free(segment);
		return;
	}

	if (memory->reason == GPUAGG_LOST)
		gpud_lost("staging memory could not be registered");
	if (gpud_due(&told))
		gpud_warn("could not make a staging segment of %llu bytes: %s",
				  (unsigned long long) memory->size,
				  memory->error != 0 ? strerror(memory->error)
									 : gpuagg_reason_text(memory->reason));
	total_bytes -= memory->size;
	segment->state = SEGMENT_NONE;
	create_not_before = gpud_now() + RETRY_NS;
	gpud_staging_serve();
}

GpuaggReason
gpud_staging_lease(Client *client, const GpuaggHeader *request, uint64_t bytes, GpudTenant tenant,
				   uint32_t wait_ms)
{
	Waiting **end = &waiting;
	uint64_t size = sizes[0];
	Waiting *w;

	if (bytes > size)
		return GPUAGG_NO_STAGING;
	for (int i = 1; i < NSIZES && sizes[i] >= bytes; i++)
		size = sizes[i];
	if (client->leased + size > CLIENT_LEASED_MAX || nwaiting(NULL) >= WAITING_MAX ||
		nwaiting(client) >= CLIENT_WAITING_MAX)
		return GPUAGG_BUSY;
	w = calloc(1, sizeof(Waiting));
	if (w == NULL)
		return GPUAGG_BUSY;
	gpud_pending_take(&w->pending, client, request);
	w->size = size;
	w->tenant = tenant;
	w->deadline = gpud_now() + wait_ms * INT64_C(1000000);
	client->leased += size;
	while (*end != NULL)
		end = &(*end)->next;
	*end = w;
	gpud_staging_serve();
	return GPUAGG_OK;
}

int64_t
gpud_staging_deadline(void)
{
	int64_t first = INT64_MAX;

	for (const Waiting *w = waiting; w != NULL; w = w->next)
		if (w->queued && w->deadline < first)
			first = w->deadline;
	return first;
}

Segment *
gpud_segment_of(const Client *client, uint32_t region)
{
	uint32_t index = region & (GPUD_SEGMENTS - 1);
	Segment *segment;

	if (index >= (uint32_t) nsegments)
		return NULL;
	segment = &segments[index];
	return segment->state == SEGMENT_LEASED && segment->region == region && segment->owner == client
			   ? segment
			   : NULL;
}

void
gpud_segment_release(Segment *segment)
{
	segment->owner->leased -= segment->memory.size;
	segment->owner = NULL;
	segment->state = SEGMENT_DRAINING;
	if (segment->users == 0)
		set_free(segment);
}

void
gpud_segment_hold(Segment *segment)
{
	segment->users++;
}

void
gpud_segment_let_go(Segment *segment)
{
	segment->users--;
	segment->used_at = gpud_now();
	if (segment->users == 0 && segment->state == SEGMENT_DRAINING)
		set_free(segment);
}

void
gpud_staging_client_gone(Client *client)
{
	for (Waiting **link = &waiting; *link != NULL;)
		if ((*link)->pending.client == NULL)
			free(take_out(link));
		else
			link = &(*link)->next;
	for (int i = 0; i < nsegments; i++)
		if (segments[i].state == SEGMENT_LEASED && segments[i].owner == client)
		{
			segments[i].kept = true;
			gpud_segment_release(&segments[i]);
		}
	gpud_staging_serve();
}

/*
 * Ends a lease.  The client may still write to the memory, which nobody else must have
 * then: it is unmade.  The client's mapping of it stays valid.
 */
static void
take_back(Segment *segment)
{
	Client *client = segment->owner;

	client->leased -= segment->memory.size;
	client->ended[client->nended++ % GPUD_ENDED_LEASES] = segment->region;
	segment->owner = NULL;
	destroy(segment);
}

GpuaggReason
gpud_staging_reason(const Client *client, uint32_t region)
{
	for (unsigned i = 0; i < GPUD_ENDED_LEASES; i++)
		if (region != 0 && client->ended[i] == region)
			return GPUAGG_NO_STAGING;
	return GPUAGG_REFUSED;
}

void
gpud_staging_tick(int64_t now)
{
	int64_t patience = gpud_options.lease_timeout * GPUD_SECOND;
	Segment *oldest = NULL;
	int nfree = 0;

	for (int i = 0; i < nsegments; i++)
		if (patience > 0 && segments[i].state == SEGMENT_LEASED && segments[i].users == 0 &&
			now - segments[i].used_at > patience)
			take_back(&segments[i]);
	gpud_staging_serve();
	for (int i = 0; i < nsegments; i++)
		if (segments[i].state == SEGMENT_FREE)
		{
			nfree++;
			if (oldest == NULL || segments[i].free_since < oldest->free_since)
				oldest = &segments[i];
		}
	if (nfree > TRIM_KEEP && now - oldest->free_since > TRIM_NS)
		destroy(oldest);
}
