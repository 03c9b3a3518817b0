/*
 * staging.c
 *	  Segments of pinned memory, shared with clients under lease.
 *
 * A segment is a memfd whose pages exist, are registered with the device and
 * can never go away under a client: it is sealed against shrinking.  It is
 * leased whole, to one client at a time.  Its region number is new with every
 * lease, so that an old number names nothing.  A segment is free again when
 * the client has released it, or is gone, and no request in flight uses it.
 *
 * Making and unmaking segments is work for the set-up thread, which takes
 * tasks in order: memory that is to be freed for a new segment is freed first.
 */
#include "host/gpud.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define REGION_INDEX_BITS  12
#define MAX_SEGMENTS	   (1 << REGION_INDEX_BITS)
#define CLIENT_WAITING_MAX 8
#define RETRY_NS		   INT64_C(1000000000)	 /* after a segment could not be made */
#define TRIM_NS			   INT64_C(300000000000) /* free segments unused for so long go */
#define TRIM_KEEP		   2

typedef enum SegmentState
{
	SEGMENT_NONE,
	SEGMENT_CREATING, /* with the set-up thread */
	SEGMENT_FREE,
	SEGMENT_LEASED,
	SEGMENT_DRAINING,  /* released, but requests in flight use it */
	SEGMENT_DESTROYING /* with the set-up thread */
} SegmentState;

struct Segment
{
	Task task; /* first: tasks are cast to segments */
	SegmentState state;
	int fd;
	char *base;
	uint64_t size;		   /* bytes */
	uint32_t lease_number; /* counts up with every lease */
	uint32_t region;
	Client *owner;
	int users; /* requests in flight */
	int64_t free_since;
	GpuaggReason failure; /* of the set-up thread's work */
	int failure_errno;
};

/* A LEASE request that waits for a segment in the making. */
typedef struct Waiting
{
	Client *client;
	GpuaggHeader header;
	uint64_t size;
} Waiting;

static Segment *segments;
static int nsegments;		 /* slots */
static uint64_t total_bytes; /* of all segments but those being destroyed */
static Waiting waiting[GPUD_MAX_LEASES_WAITING];
static int nwaiting;
static int64_t create_not_before;

bool
gpud_staging_start(void)
{
	uint64_t most = gpud_options.total_staging / GPUAGG_SEGMENT_BYTES;

	/* twice as many slots as segments: some may be being destroyed */
	nsegments = most < MAX_SEGMENTS / 2 ? (int) most * 2 : MAX_SEGMENTS;
	segments = calloc((size_t) nsegments + 1, sizeof(Segment));
	return segments != NULL;
}

uint64_t
gpud_staging_bytes(void)
{
	return total_bytes;
}

char *
gpud_segment_base(const Segment *segment)
{
	return segment->base;
}

uint64_t
gpud_segment_size(const Segment *segment)
{
	return segment->size;
}

int
gpud_staging_leases(void)
{
	int n = nwaiting;

	for (int i = 0; i < nsegments; i++)
		n += segments[i].state == SEGMENT_LEASED || segments[i].state == SEGMENT_DRAINING;
	return n;
}

/* Set-up thread: closes what create_run() opened. */
static void
dispose(Segment *segment)
{
	if (segment->base != NULL)
		munmap(segment->base, segment->size);
	if (segment->fd >= 0)
		close(segment->fd);
	segment->base = NULL;
	segment->fd = -1;
}

static bool
make_memory(Segment *segment)
{
	off_t size = (off_t) segment->size;
	void *p;

	segment->base = NULL;
	segment->fd = memfd_create("gpuagg-staging", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (segment->fd < 0 || ftruncate(segment->fd, size) != 0)
		return false;
	/* the pages must exist: a client that touched a missing one would be killed */
	while (fallocate(segment->fd, 0, 0, size) != 0)
		if (errno != EINTR)
			return false;
	p = mmap(NULL, segment->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, segment->fd,
			 0);
	if (p == MAP_FAILED)
		return false;
	segment->base = p;
	return fcntl(segment->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
}

static void
create_run(Task *task)
{
	Segment *segment = (Segment *) task;

	segment->failure_errno = 0;
	if (!make_memory(segment))
	{
		segment->failure = GPUAGG_NO_STAGING;
		segment->failure_errno = errno;
	}
	else
		segment->failure = gpu_host_register(segment->base, segment->size);
	if (segment->failure != GPUAGG_OK)
		dispose(segment);
}

static void
destroy_run(Task *task)
{
	Segment *segment = (Segment *) task;

	segment->failure = gpu_host_unregister(segment->base);
	dispose(segment);
}

static void
destroy_done(Task *task)
{
	Segment *segment = (Segment *) task;

	if (segment->failure == GPUAGG_LOST)
		gpud_lost("staging memory could not be unregistered");
	segment->state = SEGMENT_NONE;
}

static void
destroy(Segment *segment)
{
	total_bytes -= segment->size;
	segment->state = SEGMENT_DESTROYING;
	segment->task.run = destroy_run;
	segment->task.done = destroy_done;
	gpud_setup_submit(&segment->task);
}

/* Gives a free segment to a client.  Its bytes are already counted as leased. */
static void
grant(Segment *segment, Client *client, const GpuaggHeader *header)
{
	GpuaggReply reply;
	uint32_t index = (uint32_t) (segment - segments);

	segment->lease_number++;
	segment->region = segment->lease_number << REGION_INDEX_BITS | index;
	if (segment->region >> REGION_INDEX_BITS == 0) /* wrapped: 0 is no number */
	{
		segment->lease_number = 1;
		segment->region = 1u << REGION_INDEX_BITS | index;
	}
	segment->state = SEGMENT_LEASED;
	segment->owner = client;

	memset(&reply, 0, sizeof(reply));
	reply.u.lease.region = segment->region;
	reply.u.lease.bytes = segment->size;
	gpud_reply(client, header, GPUAGG_OK, &reply, segment->fd);
}

static void
drop_waiting(int i)
{
	nwaiting--;
	memmove(&waiting[i], &waiting[i + 1], (size_t) (nwaiting - i) * sizeof(Waiting));
}

/* A segment has become free: to the first who waits for one like it. */
static void
set_free(Segment *segment)
{
	segment->state = SEGMENT_FREE;
	segment->owner = NULL;
	segment->free_since = gpud_now();

	for (int i = 0; i < nwaiting; i++)
		if (waiting[i].size <= segment->size)
		{
			Waiting first = waiting[i];

			drop_waiting(i);
			first.client->leased += segment->size - first.size;
			grant(segment, first.client, &first.header);
			return;
		}
}

static void
create_done(Task *task)
{
	static int64_t told;
	Segment *segment = (Segment *) task;

	if (segment->failure == GPUAGG_OK)
	{
		set_free(segment);
		return;
	}

	if (segment->failure == GPUAGG_LOST)
		gpud_lost("staging memory could not be registered");
	if (gpud_due(&told))
		gpud_warn("could not make a staging segment of %llu bytes: %s",
				  (unsigned long long) segment->size,
				  segment->failure_errno != 0 ? strerror(segment->failure_errno)
											  : gpuagg_reason_text(segment->failure));
	total_bytes -= segment->size;
	segment->state = SEGMENT_NONE;
	create_not_before = gpud_now() + RETRY_NS;

	for (int i = 0; i < nwaiting; i++)
		if (waiting[i].size == segment->size)
		{
			Waiting first = waiting[i];

			drop_waiting(i);
			first.client->leased -= first.size;
			gpud_reply_reason(first.client, &first.header, GPUAGG_NO_STAGING);
			return;
		}
}

/* The smallest free segment of at least this size, or NULL. */
static Segment *
find_free(uint64_t size)
{
	Segment *best = NULL;

	for (int i = 0; i < nsegments; i++)
		if (segments[i].state == SEGMENT_FREE && segments[i].size >= size &&
			(best == NULL || segments[i].size < best->size))
			best = &segments[i];
	return best;
}

/* Destroys free segments until this many bytes more are within the budget. */
static bool
make_room(uint64_t size)
{
	uint64_t free_bytes = 0;

	if (size > gpud_options.total_staging)
		return false;
	for (int i = 0; i < nsegments; i++)
		if (segments[i].state == SEGMENT_FREE)
			free_bytes += segments[i].size;
	if (total_bytes - free_bytes > gpud_options.total_staging - size)
		return false;
	for (int i = 0; i < nsegments && total_bytes > gpud_options.total_staging - size; i++)
		if (segments[i].state == SEGMENT_FREE)
			destroy(&segments[i]);
	return true;
}

/* Whether a segment in the making is promised to nobody. */
static bool
spare_in_the_making(uint64_t size)
{
	int spare = 0;

	for (int i = 0; i < nsegments; i++)
		if (segments[i].state == SEGMENT_CREATING && segments[i].size >= size)
			spare++;
	for (int i = 0; i < nwaiting; i++)
		if (waiting[i].size >= size)
			spare--;
	return spare > 0;
}

static GpuaggReason
start_segment(uint64_t size)
{
	Segment *segment = NULL;

	if (gpud_now() < create_not_before)
		return GPUAGG_NO_STAGING;
	for (int i = 0; i < nsegments && segment == NULL; i++)
		if (segments[i].state == SEGMENT_NONE)
			segment = &segments[i];
	if (segment == NULL || !make_room(size))
		return GPUAGG_NO_STAGING;

	segment->size = size;
	segment->state = SEGMENT_CREATING;
	segment->users = 0;
	segment->owner = NULL;
	segment->task.run = create_run;
	segment->task.done = create_done;
	total_bytes += size;
	gpud_setup_submit(&segment->task);
	return GPUAGG_OK;
}

static GpuaggReason
try_lease(Client *client, const GpuaggRequest *request)
{
	uint64_t bytes = request->u.lease.bytes;
	uint64_t size = bytes <= GPUAGG_SEGMENT_BYTES ? GPUAGG_SEGMENT_BYTES : GPUAGG_SEGMENT_BYTES_MAX;
	Segment *segment;
	int mine = 0;

	if (!gpud_device.ready)
		return gpud_device.reason;
	if (bytes == 0)
		return GPUAGG_REFUSED;
	if (bytes > GPUAGG_SEGMENT_BYTES_MAX)
		return GPUAGG_NO_STAGING;

	segment = find_free(size);
	if (segment != NULL)
		size = segment->size;
	if (client->leased + size > GPUD_CLIENT_LEASED_MAX)
		return GPUAGG_BUSY;
	if (segment != NULL)
	{
		client->leased += size;
		grant(segment, client, &request->h);
		return GPUAGG_OK;
	}

	for (int i = 0; i < nwaiting; i++)
		mine += waiting[i].client == client;
	if (nwaiting >= GPUD_MAX_LEASES_WAITING || mine >= CLIENT_WAITING_MAX)
		return GPUAGG_BUSY;
	if (!spare_in_the_making(size))
	{
		GpuaggReason reason = start_segment(size);

		if (reason != GPUAGG_OK)
			return reason;
	}
	client->leased += size;
	waiting[nwaiting].client = client;
	waiting[nwaiting].header = request->h;
	waiting[nwaiting].size = size;
	nwaiting++;
	return GPUAGG_OK;
}

void
gpud_staging_lease(Client *client, const GpuaggRequest *request)
{
	GpuaggReason reason = try_lease(client, request);

	if (reason != GPUAGG_OK)
		gpud_reply_reason(client, &request->h, reason);
}

Segment *
gpud_segment_of(const Client *client, uint32_t region)
{
	uint32_t index = region & (MAX_SEGMENTS - 1);
	Segment *segment;

	if (index >= (uint32_t) nsegments)
		return NULL;
	segment = &segments[index];
	return segment->state == SEGMENT_LEASED && segment->region == region && segment->owner == client
			   ? segment
			   : NULL;
}

static void
end_lease(Segment *segment)
{
	segment->owner = NULL;
	segment->state = SEGMENT_DRAINING;
	if (segment->users == 0)
		set_free(segment);
}

void
gpud_staging_release(Client *client, uint32_t region)
{
	Segment *segment = gpud_segment_of(client, region);

	/* RELEASE has no reply: a wrong number is nobody's region and changes nothing */
	if (segment == NULL)
		return;
	client->leased -= segment->size;
	end_lease(segment);
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
	if (segment->users == 0 && segment->state == SEGMENT_DRAINING)
		set_free(segment);
}

void
gpud_staging_client_gone(Client *client)
{
	for (int i = nwaiting - 1; i >= 0; i--)
		if (waiting[i].client == client)
			drop_waiting(i);
	for (int i = 0; i < nsegments; i++)
		if (segments[i].state == SEGMENT_LEASED && segments[i].owner == client)
			end_lease(&segments[i]);
	client->leased = 0;
}

/* Gives back what has not been needed for long. */
void
gpud_staging_tick(int64_t now)
{
	Segment *oldest = NULL;
	int nfree = 0;

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

void
gpud_staging_lost(void)
{
	for (int i = 0; i < nwaiting; i++)
		gpud_reply_reason(waiting[i].client, &waiting[i].header, GPUAGG_LOST);
}
