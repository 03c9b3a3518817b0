/*
 * device.c
 *	  The client of gpuaggd: connection, leases, requests, replies.
 *
 * A connection is current, or retired: it was lost, or something on it timed
 * out.  A retired connection takes no new requests, but stays, and its socket
 * with it where it still has one, until its last lease is released: while it
 * is open gpuaggd gives none of its regions to anybody else, and we may still
 * be reading them.
 *
 * A request counts as under way until its reply has come, even when nobody
 * wants the reply any more: there are never more than GPUAGG_MAX_INFLIGHT.
 * Replies that nobody has fetched yet keep slots of their own beyond those.
 *
 * The functions that run in abort paths (release, and all that it calls) only
 * close, unmap and free.
 */
#include "compat.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xact.h"
#include "engine/device.h"
#include "gpuagg.h"
#include "launcher.h"
#include "link.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "state.h"
#include "utils/memutils.h"

#define MAX_REGIONS			16	/* mapped at a time, for each connection */
#define MAX_SLOTS			32	/* requests under way and replies not yet fetched */
#define HANDSHAKE_MS		1000
#define LEASE_MS			500
#define WAIT_TICK_MS		100
#define RECONNECT_MS		100
#define DEMAND_MS			15000	/* how long mode gpu waits for a device */
#define REQUIRED_SEALS		(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

typedef struct Connection Connection;

typedef struct Region
{
	DeviceLease lease;			/* first: a lease is its region */
	Connection *connection;
	dev_t		dev;			/* which memory file is mapped */
	ino_t		ino;
	bool		leased;
	uint64		used;			/* tick of the last lease, for eviction */
} Region;

typedef enum SlotState
{
	SLOT_FREE,
	SLOT_WAITING,
	SLOT_ANSWERED,
	SLOT_FORGOTTEN				/* waiting, but nobody wants the reply */
} SlotState;

typedef struct Slot
{
	SlotState	state;
	uint32		id;
	Region	   *region;
	GpuaggReply reply;
} Slot;

struct Connection
{
	Connection *next;
	Link		link;
	WaitEventSet *wait_set;
	bool		retired;
	uint32		generation;		/* of gpuaggd, when connected */
	int			nleased;
	Region		region[MAX_REGIONS];
	int			inflight;		/* slots waiting or forgotten */
	Slot		slot[MAX_SLOTS];

	/* the one HELLO or LEASE under way */
	uint32		control_id;		/* 0: none */
	bool		control_done;
	GpuaggReply control;
	int			control_fd;		/* memory file that came with it, or -1 */
};

static Connection *connections = NULL;	/* the current one and retired ones */
static Connection *current = NULL;
static uint32 last_id = 0;		/* ids are unique in the process */
static uint64 lease_tick = 0;
static Size leased_bytes = 0;	/* of all connections */
static Size smallest_region = 0;	/* that gpuaggd has given so far */

static uint32
next_id(void)
{
	if (++last_id == 0)
		last_id = 1;
	return last_id;
}

/* ---- connections ---- */

static void
unmap_region(Region *region)
{
	if (region->lease.base != NULL)
		(void) munmap(region->lease.base, region->lease.size);
	region->lease.base = NULL;
}

static void
hang_up(Connection *c)
{
	if (c->wait_set != NULL)
		FreeWaitEventSet(c->wait_set);
	c->wait_set = NULL;
	gpuagg_link_close(&c->link);
	if (c->control_fd >= 0)
		close(c->control_fd);
	c->control_fd = -1;
}

static void
destroy(Connection *c)
{
	Connection **p = &connections;

	Assert(c != current && c->nleased == 0);
	hang_up(c);
	for (int i = 0; i < MAX_REGIONS; i++)
		unmap_region(&c->region[i]);
	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	pfree(c);
}

/* The connection stays as long as it has leases.  It is not freed here. */
static void
retire(Connection *c)
{
	c->retired = true;
	if (c == current)
		current = NULL;
}

static void
lost(Connection *c)
{
	hang_up(c);
	retire(c);
}

/* Frees what nobody holds any more.  No pointer to a retired connection may be in use. */
static void
sweep(void)
{
	Connection *next;

	for (Connection *c = connections; c != NULL; c = next)
	{
		next = c->next;
		if (c->retired && c->nleased == 0)
			destroy(c);
	}
}

static void
send_release(Connection *c, uint32 region)
{
	GpuaggRequest request;

	memset(&request, 0, sizeof(request));
	request.h.type = GPUAGG_MSG_RELEASE;
	request.h.id = next_id();
	request.u.release.region = region;

	/* if it cannot be said now, hanging up will say it */
	if (c->link.sock >= 0 && !gpuagg_link_send(&c->link, &request))
		retire(c);
}

/* Files a reply where it belongs, or drops it. */
static void
deliver(Connection *c, const GpuaggReply *reply, int fd)
{
	if (c->control_id != 0 && reply->h.id == c->control_id)
	{
		c->control = *reply;
		c->control_fd = fd;
		c->control_done = true;
		return;
	}
	if (fd >= 0)
		close(fd);
	if (reply->h.type == GPUAGG_MSG_LEASE)
	{
		/* came too late for whoever asked */
		if (reply->h.reason == GPUAGG_OK)
			send_release(c, reply->u.lease.region);
		return;
	}
	for (int i = 0; i < MAX_SLOTS; i++)
	{
		Slot	   *slot = &c->slot[i];

		if (slot->state == SLOT_FREE || slot->state == SLOT_ANSWERED ||
			slot->id != reply->h.id)
			continue;
		c->inflight--;
		if (slot->state == SLOT_WAITING)
		{
			slot->reply = *reply;
			slot->state = SLOT_ANSWERED;
		}
		else
			slot->state = SLOT_FREE;
		return;
	}
}

/* Reads all replies that are there.  Finds out when gpuaggd is gone. */
static void
drain(Connection *c)
{
	GpuaggReply reply;
	int			fd;

	while (c->link.sock >= 0)
	{
		switch (gpuagg_link_receive(&c->link, &reply, &fd))
		{
			case LINK_MESSAGE:
				deliver(c, &reply, fd);
				break;
			case LINK_NOTHING:
				return;
			case LINK_CLOSED:
				lost(c);
				return;
		}
	}
}

typedef enum Awaited
{
	AWAITED,
	AWAIT_TIMEOUT,
	AWAIT_TRIPPED,				/* somebody has found it silent before */
	AWAIT_LOST
} Awaited;

typedef enum AwaitWhat
{
	AWAIT_CONTROL,				/* the control reply */
	AWAIT_SLOT,					/* one slot's reply */
	AWAIT_ROOM					/* any reply, so that another request may be sent */
} AwaitWhat;

static bool
has_come(const Connection *c, AwaitWhat what, const Slot *slot)
{
	switch (what)
	{
		case AWAIT_CONTROL:
			return c->control_done;
		case AWAIT_SLOT:
			return slot->state == SLOT_ANSWERED;
		case AWAIT_ROOM:
			return c->inflight < GPUAGG_MAX_INFLIGHT;
	}
	return false;
}

/* Waits for a reply, at most timeout_ms.  Can be cancelled. */
static Awaited
await(Connection *c, AwaitWhat what, const Slot *slot, int timeout_ms)
{
	SharedState *state = gpuagg_state();
	int64		deadline = 0;

	for (;;)
	{
		WaitEvent	event;
		int64		now;

		drain(c);
		if (has_come(c, what, slot))
			return AWAITED;
		if (c->link.sock < 0)
			return AWAIT_LOST;
		if (gpuagg_breaker_open(state) || (c->retired && what != AWAIT_CONTROL))
			return AWAIT_TRIPPED;
		now = gpuagg_monotonic_ms();
		if (deadline == 0)
			deadline = now + timeout_ms;
		if (now >= deadline)
			return AWAIT_TIMEOUT;
		if (WaitEventSetWait(c->wait_set, Min(WAIT_TICK_MS, deadline - now), &event, 1,
							 PG_WAIT_EXTENSION) > 0 &&
			(event.events & WL_LATCH_SET))
			ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Sends a control request and waits for its reply, which is then in c->control. */
static GpuaggReason
converse(Connection *c, GpuaggRequest *request, int timeout_ms)
{
	Awaited		awaited;

	c->control_id = request->h.id = next_id();
	c->control_done = false;
	if (!gpuagg_link_send(&c->link, request))
	{
		c->control_id = 0;
		if (errno == EAGAIN)
			return GPUAGG_BUSY;
		lost(c);
		return GPUAGG_LOST;
	}
	awaited = await(c, AWAIT_CONTROL, NULL, timeout_ms);
	c->control_id = 0;
	switch (awaited)
	{
		case AWAITED:
			return gpuagg_link_reason(&c->control);
		case AWAIT_LOST:
			return GPUAGG_LOST;
		case AWAIT_TRIPPED:
		case AWAIT_TIMEOUT:
			break;
	}
	return GPUAGG_TIMEOUT;
}

/* Connects and shakes hands, a device having been announced. */
static GpuaggReason
connect_device(SharedState *state)
{
	MemoryContext context = TopMemoryContext;
	Connection *c;
	GpuaggRequest request;
	GpuaggReason reason;

	c = MemoryContextAllocZero(context, sizeof(Connection));
	c->link.sock = -1;
	c->control_fd = -1;
	c->retired = true;			/* until hands are shaken */
	c->generation = pg_atomic_read_u32(&state->generation);
	c->next = connections;
	connections = c;

	reason = gpuagg_link_open(&c->link, 0);
	if (reason != GPUAGG_OK)
		return reason;
	c->wait_set = compat_create_wait_event_set(3);
	AddWaitEventToSet(c->wait_set, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
	AddWaitEventToSet(c->wait_set, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL, NULL);
	AddWaitEventToSet(c->wait_set, WL_SOCKET_READABLE, c->link.sock, NULL, NULL);

	gpuagg_link_hello(&request, 0);
	reason = converse(c, &request, HANDSHAKE_MS);
	if (reason == GPUAGG_TIMEOUT)
		gpuagg_breaker_trip(state);
	if (reason == GPUAGG_VERSION)
		pg_atomic_write_u32(&state->restart_request, RESTART_WHEN_IDLE);
	if (reason == GPUAGG_OK && !c->control.u.hello.ready)
		reason = GPUAGG_STARTING;
	if (reason != GPUAGG_OK)
	{
		hang_up(c);
		return reason;
	}
	c->retired = false;
	current = c;
	return GPUAGG_OK;
}

/* Whether the connection that there is will do, as far as can be seen. */
static bool
current_usable(SharedState *state)
{
	if (current == NULL)
		return false;
	if (pg_atomic_read_u32(&state->ready) == 0 || gpuagg_breaker_open(state) ||
		current->generation != pg_atomic_read_u32(&state->generation))
		retire(current);
	else
		drain(current);
	return current != NULL;
}

/*
 * GPUAGG_OK with a connection, or why there is none.  After a connection that
 * failed the next is tried a little later, unless it is wanted now.
 */
static GpuaggReason
reach_device(SharedState *state, bool now)
{
	static int64 retry_at = 0;
	GpuaggReason reason = gpuagg_launcher_check(state, false);

	if (reason != GPUAGG_OK || current_usable(state))
		return reason;
	sweep();
	if (!now && gpuagg_monotonic_ms() < retry_at)
		return GPUAGG_STARTING;
	reason = connect_device(state);
	if (reason != GPUAGG_OK)
	{
		sweep();
		retry_at = gpuagg_monotonic_ms() + RECONNECT_MS;
	}
	return reason;
}

static void pg_attribute_noreturn()
no_device(SharedState *state, GpuaggReason reason)
{
	char		detail[sizeof(state->detail)];
	const char *hint = gpuagg_reason_hint(reason);
	char	   *words;

	gpuagg_launcher_detail(state, reason, detail, sizeof(detail));
	words = psprintf("%s%s%s.", gpuagg_reason_text(reason), detail[0] != '\0' ? ": " : "", detail);
	words[0] = pg_toupper((unsigned char) words[0]);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("no usable GPU device"),
			 errdetail_internal("%s", words),
			 hint != NULL ? errhint("%s", hint) : 0));
}

void
gpuagg_device_require(void)
{
	static TimestampTz demanded_by = 0; /* statement that has demanded a device */
	TimestampTz statement = GetCurrentStatementStartTimestamp();
	SharedState *state;
	GpuaggReason reason;
	int64		deadline;
	bool		demand;

	if (gpuagg_device != DEVICE_GPU)
		return;
	state = gpuagg_state();
	if (reach_device(state, false) == GPUAGG_OK)
		return;

	/* a device that was there when the statement began, and died, is no error */
	if (state != NULL && state->last_ready >= statement)
		return;

	/* once a statement, an earlier failure does not keep us from trying */
	demand = statement != demanded_by;
	demanded_by = statement;
	deadline = gpuagg_monotonic_ms() + DEMAND_MS;
	for (;;)
	{
		int64		left = deadline - gpuagg_monotonic_ms();

		reason = gpuagg_launcher_await(state, demand, (int) Max(left, 0));
		if (reason == GPUAGG_OK)
			reason = reach_device(state, true);
		demand = false;
		if (reason == GPUAGG_OK)
			return;
		if (left <= 0 ||
			(reason != GPUAGG_STARTING && reason != GPUAGG_TIMEOUT && reason != GPUAGG_BUSY &&
			 reason != GPUAGG_LOST && reason != GPUAGG_VERSION))
			break;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 WAIT_TICK_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	/* a device that is there and busy leaves the work to the CPU */
	if (reason != GPUAGG_BUSY)
		no_device(state, reason);
}

bool
gpuagg_device_ready(void)
{
	GpuaggReason reason;

	if (gpuagg_device == DEVICE_CPU)
		return false;
	reason = reach_device(gpuagg_state(), false);
	if (reason != GPUAGG_OK)
		gpuagg_stat_reason(reason);
	return reason == GPUAGG_OK;
}

/* ---- leases ---- */

/* A place for a region: one that is mapped already, a free one, or the one longest unused. */
static Region *
find_place(Connection *c, uint32 id)
{
	Region	   *place = NULL;

	for (int i = 0; i < MAX_REGIONS; i++)
	{
		Region	   *region = &c->region[i];

		if (region->lease.base != NULL && region->lease.region == id)
			return region->leased ? NULL : region;
		if (!region->leased && (place == NULL || (place->lease.base != NULL &&
												  (region->lease.base == NULL ||
												   region->used < place->used))))
			place = region;
	}
	return place;
}

/*
 * Maps the memory file that came with a lease.  It must be sealed against
 * changes of its size, or reading it could end in SIGBUS.
 */
static Region *
map_region(Connection *c, uint32 id, Size size, int fd)
{
	Region	   *region = find_place(c, id);
	struct stat st;
	void	   *base;

	if (region == NULL || fd < 0 || fstat(fd, &st) != 0 || size == 0 ||
		(uint64) st.st_size < size ||
		(fcntl(fd, F_GET_SEALS) & REQUIRED_SEALS) != REQUIRED_SEALS)
		return NULL;
	if (region->lease.base != NULL && region->lease.region == id &&
		region->lease.size == size && region->dev == st.st_dev && region->ino == st.st_ino)
		return region;

	unmap_region(region);
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return NULL;
	region->lease.base = base;
	region->lease.size = size;
	region->lease.region = id;
	region->connection = c;
	region->dev = st.st_dev;
	region->ino = st.st_ino;
	return region;
}

DeviceLease *
gpuagg_device_lease(Size bytes)
{
	Connection *c = current;
	Size		budget = (Size) gpuagg_staging_memory * 1024;
	GpuaggRequest request;
	GpuaggReason reason;
	Region	   *region = NULL;

	if (c == NULL)
	{
		gpuagg_stat_fallback(GPUAGG_LOST);
		return NULL;
	}
	if (leased_bytes + Max(bytes, smallest_region) > budget)
	{
		gpuagg_stat_fallback(GPUAGG_NO_STAGING);
		return NULL;
	}

	memset(&request, 0, sizeof(request));
	request.h.type = GPUAGG_MSG_LEASE;
	request.u.lease.bytes = bytes;
	reason = converse(c, &request, LEASE_MS);
	if (reason == GPUAGG_OK)
	{
		Size		size = c->control.u.lease.bytes;
		uint32		id = c->control.u.lease.region;

		if (size >= bytes && leased_bytes + size <= budget)
			region = map_region(c, id, size, c->control_fd);
		if (size >= bytes && (smallest_region == 0 || size < smallest_region))
			smallest_region = size;
		if (region == NULL)
		{
			send_release(c, id);
			reason = GPUAGG_NO_STAGING;
		}
	}
	if (c->control_fd >= 0)
		close(c->control_fd);
	c->control_fd = -1;

	if (region == NULL)
	{
		gpuagg_stat_fallback(reason);
		return NULL;
	}
	region->leased = true;
	region->used = ++lease_tick;
	c->nleased++;
	leased_bytes += region->lease.size;
	return &region->lease;
}

void
gpuagg_device_release(DeviceLease *lease)
{
	Region	   *region = (Region *) lease;
	Connection *c = region->connection;

	if (!region->leased)
		return;
	region->leased = false;
	c->nleased--;
	leased_bytes -= region->lease.size;
	for (int i = 0; i < MAX_SLOTS; i++)
	{
		Slot	   *slot = &c->slot[i];

		if (slot->state == SLOT_FREE || slot->region != region)
			continue;
		if (slot->state == SLOT_WAITING)
			slot->state = SLOT_FORGOTTEN;
		else if (slot->state == SLOT_ANSWERED)
			slot->state = SLOT_FREE;
	}
	send_release(c, region->lease.region);
	if (c->retired && c->nleased == 0)
		destroy(c);
}

/* ---- requests ---- */

/* What an answer that did not come means for its connection; counts it. */
static void
give_up(Connection *c, Awaited awaited)
{
	if (awaited == AWAIT_TIMEOUT)
		gpuagg_breaker_trip(gpuagg_state());
	if (awaited != AWAIT_LOST)
		retire(c);
	gpuagg_stat_fallback(awaited == AWAIT_LOST ? GPUAGG_LOST : GPUAGG_TIMEOUT);
}

static Slot *
free_slot(Connection *c)
{
	for (int i = 0; i < MAX_SLOTS; i++)
		if (c->slot[i].state == SLOT_FREE)
			return &c->slot[i];
	return NULL;
}

uint32
gpuagg_device_submit(DeviceLease *lease, GpuaggRequest *request)
{
	Region	   *region = (Region *) lease;
	Connection *c = region->connection;
	Slot	   *slot;
	Awaited		awaited;

	if (request->h.type == GPUAGG_MSG_REDUCE)
		request->u.reduce.region = lease->region;
	else
		request->u.scan.region = lease->region;
	if (gpuagg_request_check(request, lease->size) != GPUAGG_OK)
	{
		gpuagg_stat_fallback(GPUAGG_REFUSED);
		return 0;
	}

	awaited = await(c, AWAIT_ROOM, NULL, gpuagg_device_timeout);
	if (awaited != AWAITED)
	{
		give_up(c, awaited);
		return 0;
	}
	if (c->retired)
	{
		gpuagg_stat_fallback(c->link.sock < 0 ? GPUAGG_LOST : GPUAGG_TIMEOUT);
		return 0;
	}
	slot = free_slot(c);
	if (slot == NULL)
	{
		gpuagg_stat_fallback(GPUAGG_BUSY);
		return 0;
	}

	request->h.id = next_id();
	if (!gpuagg_link_send(&c->link, request))
	{
		bool		busy = errno == EAGAIN;

		if (!busy)
			lost(c);
		gpuagg_stat_fallback(busy ? GPUAGG_BUSY : GPUAGG_LOST);
		return 0;
	}
	slot->state = SLOT_WAITING;
	slot->id = request->h.id;
	slot->region = region;
	c->inflight++;
	return slot->id;
}

static Slot *
find_slot(uint32 id, Connection **of)
{
	for (Connection *c = connections; c != NULL; c = c->next)
		for (int i = 0; i < MAX_SLOTS; i++)
			if (c->slot[i].id == id &&
				(c->slot[i].state == SLOT_WAITING || c->slot[i].state == SLOT_ANSWERED))
			{
				*of = c;
				return &c->slot[i];
			}
	return NULL;
}

bool
gpuagg_device_wait(uint32 id, GpuaggReply *reply)
{
	Connection *c;
	Slot	   *slot = find_slot(id, &c);
	GpuaggReason reason;
	Awaited		awaited;

	if (slot == NULL)
		elog(ERROR, "request %u is not under way", id);

	awaited = await(c, AWAIT_SLOT, slot, gpuagg_device_timeout);
	if (awaited == AWAITED)
	{
		slot->state = SLOT_FREE;
		reason = gpuagg_link_reason(&slot->reply);
		if (reason == GPUAGG_OK)
		{
			*reply = slot->reply;
			return true;
		}
		gpuagg_stat_fallback(reason);
		return false;
	}

	slot->state = SLOT_FORGOTTEN;
	give_up(c, awaited);
	return false;
}
