/*
 * connection.c
 *	  A session's connections to gpuaggd, with the leases and requests on them.
 *
 * Functions called in abort paths (release, retire, lost, destroy) neither wait
 * nor throw.
 */
#include "compat.h"

#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpuagg.h"
#include "device/connection.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#define HANDSHAKE_MS  1000 /* at least; a fifth of what an answer may take */
#define WAIT_TICK_MS  100
#define WATCH_US	  2000
#define WATCHERS_PART 4 /* of the processors, at most, are for those who watch */

Connection *gpuagg_connections = NULL;
Connection *gpuagg_connection = NULL;

static uint32 last_id = 0;

uint32
gpuagg_connection_next_id(void)
{
	if (++last_id == 0)
		last_id = 1;
	return last_id;
}

void
gpuagg_region_unmap(Region *region)
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

void
gpuagg_connection_destroy(Connection *c)
{
	Connection **p = &gpuagg_connections;

	Assert(c != gpuagg_connection && c->nleased == 0);
	hang_up(c);
	for (int i = 0; i < MAX_REGIONS; i++)
		gpuagg_region_unmap(&c->region[i]);
	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	pfree(c);
}

void
gpuagg_connection_retire(Connection *c)
{
	c->retired = true;
	if (c == gpuagg_connection)
		gpuagg_connection = NULL;
}

void
gpuagg_connection_lost(Connection *c)
{
	hang_up(c);
	gpuagg_connection_retire(c);
}

void
gpuagg_connection_sweep(void)
{
	Connection *next;

	for (Connection *c = gpuagg_connections; c != NULL; c = next)
	{
		next = c->next;
		if (c->retired && c->nleased == 0)
			gpuagg_connection_destroy(c);
	}
}

void
gpuagg_connection_release(Connection *c, uint32 region)
{
	GpuaggRequest request;

	memset(&request, 0, sizeof(request));
	request.h.type = GPUAGG_MSG_RELEASE;
	request.h.id = gpuagg_connection_next_id();
	request.u.release.region = region;

	/* if it cannot be sent now, closing the connection releases the region */
	if (c->link.sock >= 0 && !gpuagg_link_send(&c->link, &request))
		gpuagg_connection_retire(c);
}

/* Processors for sessions that watch. */
static uint32
processors_to_spare(void)
{
	static long processors = 0;

	if (processors == 0)
		processors = sysconf(_SC_NPROCESSORS_ONLN);
	return (uint32) Max(processors, 0) / WATCHERS_PART;
}

void
gpuagg_connection_announce(Connection *c)
{
	GpuaggRequest request;

	if (processors_to_spare() == 0 || c->link.sock < 0)
		return;
	/* a region that is nobody's: it changes nothing and has no reply */
	memset(&request, 0, sizeof(request));
	request.h.type = GPUAGG_MSG_RELEASE;
	request.h.id = gpuagg_connection_next_id();
	(void) gpuagg_link_send(&c->link, &request);
}

/* Stores a reply for its request, or drops it if nobody waits for it. */
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
		/* the caller has stopped waiting for this lease */
		if (reply->h.reason == GPUAGG_OK)
			gpuagg_connection_release(c, reply->u.lease.region);
		return;
	}
	for (int i = 0; i < MAX_SLOTS; i++)
	{
		Slot *slot = &c->slot[i];

		if (slot->state == SLOT_FREE || slot->state == SLOT_ANSWERED || slot->id != reply->h.id)
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

void
gpuagg_connection_drain(Connection *c)
{
	GpuaggReply reply;
	int fd;

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
				gpuagg_connection_lost(c);
				return;
		}
	}
}

static bool
is_complete(const Connection *c, AwaitWhat what, const Slot *slot)
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

/* Whether one more session may watch; it is counted then. */
static bool
may_watch(SharedState *state)
{
	if (pg_atomic_fetch_add_u32(&state->watching, 1) < processors_to_spare())
		return true;
	pg_atomic_fetch_sub_u32(&state->watching, 1);
	return false;
}

/*
 * Looks for what is awaited without a pause, for WATCH_US at most: most answers come within that time, and
 * to be woken takes long in comparison.  A part of the processors is left to others.  Does not throw.
 */
static void
watch(Connection *c, AwaitWhat what, const Slot *slot, SharedState *state)
{
	instr_time start;
	instr_time now;

	if (!may_watch(state))
		return;
	INSTR_TIME_SET_CURRENT(start);
	do
	{
		gpuagg_connection_drain(c);
		INSTR_TIME_SET_CURRENT(now);
		INSTR_TIME_SUBTRACT(now, start);
	} while (!is_complete(c, what, slot) && c->link.sock >= 0 && !InterruptPending &&
			 INSTR_TIME_GET_MICROSEC(now) < WATCH_US);
	pg_atomic_fetch_sub_u32(&state->watching, 1);
}

Awaited
gpuagg_connection_await(Connection *c, AwaitWhat what, const Slot *slot, int timeout_ms)
{
	SharedState *state = gpuagg_state();
	bool watched = false;
	int64 last = 0;
	int64 deadline = 0;

	for (;;)
	{
		WaitEvent event;
		int64 now;

		gpuagg_connection_drain(c);
		if (is_complete(c, what, slot))
			return AWAITED;
		if (c->link.sock < 0)
			return AWAIT_LOST;
		if (gpuagg_breaker_open(state) || (c->retired && what != AWAIT_CONTROL))
			return AWAIT_TRIPPED;
		now = gpuagg_monotonic_ms();
		if (!watched)
		{
			watched = true;
			watch(c, what, slot, state);
			continue;
		}
		if (deadline == 0)
			deadline = now + timeout_ms;
		deadline += gpuagg_delay_ms(&last, WAIT_TICK_MS);
		if (now >= deadline)
			return AWAIT_TIMEOUT;
		if (WaitEventSetWait(c->wait_set, Min(WAIT_TICK_MS, deadline - now), &event, 1,
							 PG_WAIT_EXTENSION) > 0 &&
			(event.events & WL_LATCH_SET))
			ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Retires and, if possible, closes: an idle session could keep a lease that comes late. */
static void
abandon(Connection *c)
{
	gpuagg_connection_retire(c);
	if (c->nleased == 0)
		hang_up(c);
}

GpuaggReason
gpuagg_connection_converse(Connection *c, GpuaggRequest *request, int timeout_ms)
{
	Awaited awaited = AWAIT_LOST;

	c->control_id = request->h.id = gpuagg_connection_next_id();
	c->control_done = false;
	if (!gpuagg_link_send(&c->link, request))
	{
		c->control_id = 0;
		if (errno == EAGAIN)
			return GPUAGG_BUSY;
		gpuagg_connection_lost(c);
		return GPUAGG_LOST;
	}

	PG_TRY();
	{
		awaited = gpuagg_connection_await(c, AWAIT_CONTROL, NULL, timeout_ms);
	}
	PG_CATCH();
	{
		c->control_id = 0;
		abandon(c);
		PG_RE_THROW();
	}
	PG_END_TRY();

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
	abandon(c);
	return GPUAGG_TIMEOUT;
}

/* Creating a wait set needs a descriptor and raises an error when none is free. */
static bool
descriptor_to_spare(void)
{
	int fd;

	if (!AcquireExternalFD())
		return false;
	fd = epoll_create1(EPOLL_CLOEXEC);
	if (fd >= 0)
		close(fd);
	ReleaseExternalFD();
	return fd >= 0;
}

GpuaggReason
gpuagg_connection_open(SharedState *state)
{
	Connection *c;
	GpuaggRequest request;
	GpuaggReason reason;

	c = MemoryContextAllocZero(TopMemoryContext, sizeof(Connection));
	c->link.sock = -1;
	c->control_fd = -1;
	c->retired = true; /* until the handshake is done */
	c->generation = pg_atomic_read_u32(&state->generation);
	c->next = gpuagg_connections;
	gpuagg_connections = c;

	reason = gpuagg_link_open(&c->link, 0);
	if (reason != GPUAGG_OK)
		return reason;
	if (!descriptor_to_spare())
	{
		hang_up(c);
		return GPUAGG_BUSY;
	}
	c->wait_set = compat_create_wait_event_set(3);
	AddWaitEventToSet(c->wait_set, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
	AddWaitEventToSet(c->wait_set, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL, NULL);
	AddWaitEventToSet(c->wait_set, WL_SOCKET_READABLE, c->link.sock, NULL, NULL);

	gpuagg_link_hello(&request, 0);
	reason = gpuagg_connection_converse(c, &request, Max(HANDSHAKE_MS, gpuagg_device_timeout / 5));
	if (reason == GPUAGG_TIMEOUT)
		gpuagg_breaker_trip(state);
	if (reason == GPUAGG_OK && !c->control.u.hello.ready)
		reason = GPUAGG_STARTING;
	if (reason != GPUAGG_OK)
	{
		hang_up(c);
		return reason;
	}
	c->retired = false;
	gpuagg_connection = c;
	return GPUAGG_OK;
}
