/*
 * client.c
 *	  The client's side of gpuaggd: leases of staging memory, requests, replies.
 *
 * gpuagg_device_release() runs in abort paths, so it neither waits nor throws.
 */
#include "compat.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xact.h"
#include "device/connection.h"
#include "device/client.h"
#include "gpuagg.h"
#include "device/launcher.h"
#include "miscadmin.h"
#include "pgstat.h"

/* In ms.  Where gpuagg.device_timeout is long, those of leases and demands are longer, up to MOST. */
#define LEASE_MS	   500 /* in mode auto; gpuaggd may have to allocate memory first */
#define LEASE_MOST	   5000
#define LEASE_PART	   10 /* of gpuagg.device_timeout */
#define RETRY_TICK_MS  100
#define RECONNECT_MS   100
#define DEMAND_MS	   15000 /* wait for work that only a device can do */
#define DEMAND_MOST	   90000
#define BENCH_MS	   60000 /* for a benchmark; gpuaggd ends it much earlier */
#define MAP_ALIGN	   4096	 /* of the bytes that are mapped */
#define REQUIRED_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static Size leased_bytes = 0;	 /* of all connections */
static Size smallest_region = 0; /* that gpuaggd has given so far */

/* Whether there is a current connection that seems usable.  Retires an unusable one. */
static bool
connection_usable(SharedState *state)
{
	if (gpuagg_connection == NULL)
		return false;
	if (pg_atomic_read_u32(&state->ready) == 0 || gpuagg_breaker_open(state) ||
		gpuagg_connection->generation != pg_atomic_read_u32(&state->generation))
		gpuagg_connection_retire(gpuagg_connection);
	else
		gpuagg_connection_drain(gpuagg_connection);
	return gpuagg_connection != NULL;
}

/*
 * Connects if needed: GPUAGG_OK, or why there is no connection.  After a failure
 * it waits RECONNECT_MS before the next attempt, unless `now` is set.
 */
static GpuaggReason
reach_device(SharedState *state, bool now)
{
	static int64 retry_at = 0;
	static GpuaggReason failed_for = GPUAGG_OK;
	GpuaggReason reason = gpuagg_launcher_check(state, false);

	if (reason != GPUAGG_OK || connection_usable(state))
		return reason;
	gpuagg_connection_sweep();
	if (!now && gpuagg_monotonic_ms() < retry_at)
		return failed_for;
	reason = gpuagg_connection_open(state);
	if (reason != GPUAGG_OK)
	{
		gpuagg_connection_sweep();
		retry_at = gpuagg_monotonic_ms() + RECONNECT_MS;
		failed_for = reason;
	}
	return reason;
}

static void
no_device(const char *message, SharedState *state, GpuaggReason reason)
{
	char detail[sizeof(state->detail)];
	const char *hint = gpuagg_reason_hint(reason);
	char *words;

	gpuagg_launcher_detail(state, reason, detail, sizeof(detail));
	words = psprintf("%s.", gpuagg_reason_words(reason, detail));
	words[0] = pg_toupper((unsigned char) words[0]);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg_internal("%s", message),
			 errdetail_internal("%s", words), hint != NULL ? errhint("%s", hint) : 0));
}

/* Waits for a device to be ready; with `demand`, restarts one that failed. */
static GpuaggReason
await_device(SharedState *state, bool demand)
{
	int64 deadline = gpuagg_monotonic_ms() +
					 Min(Max(DEMAND_MS, gpuagg_device_timeout), DEMAND_MOST);

	for (;;)
	{
		int64 left = deadline - gpuagg_monotonic_ms();
		GpuaggReason reason = gpuagg_launcher_await(state, demand, (int) Max(left, 0));

		if (reason == GPUAGG_OK)
			reason = reach_device(state, true);
		demand = false;
		if (reason == GPUAGG_OK || left <= 0 ||
			(reason != GPUAGG_STARTING && reason != GPUAGG_TIMEOUT && reason != GPUAGG_BUSY &&
			 reason != GPUAGG_LOST))
			return reason;
		gpuagg_wait_tick(RETRY_TICK_MS);
	}
}

void
gpuagg_device_require(void)
{
	static TimestampTz demanded_by = 0; /* start of the last statement that demanded a device */
	TimestampTz statement = GetCurrentStatementStartTimestamp();
	SharedState *state;
	GpuaggReason reason;
	bool demand;

	if (gpuagg_device != DEVICE_GPU)
		return;
	state = gpuagg_state();
	if (reach_device(state, false) == GPUAGG_OK)
		return;

	/* no error if a device was ready after the statement began: its loss is a fallback */
	if (state != NULL && state->last_ready >= statement)
		return;

	/* try once in each statement, even after an earlier failure */
	demand = statement != demanded_by;
	demanded_by = statement;
	reason = await_device(state, demand);

	/* while the device is busy the CPU does the work */
	if (reason != GPUAGG_OK && reason != GPUAGG_BUSY)
		no_device("no usable GPU device", state, reason);
}

void
gpuagg_device_demand(const char *message)
{
	SharedState *state = gpuagg_state();
	GpuaggReason reason = GPUAGG_DISABLED;

	if (gpuagg_device != DEVICE_CPU)
		reason = reach_device(state, false);
	if (reason != GPUAGG_OK && reason != GPUAGG_DISABLED)
		reason = await_device(state, gpuagg_device == DEVICE_GPU);
	if (reason != GPUAGG_OK)
		no_device(message, state, reason);
}

bool
gpuagg_device_await(void)
{
	SharedState *state = gpuagg_state();

	return gpuagg_device != DEVICE_CPU &&
		   (reach_device(state, false) == GPUAGG_OK || await_device(state, false) == GPUAGG_OK);
}

GpuaggReason
gpuagg_device_reach(void)
{
	GpuaggReason reason;

	if (gpuagg_device == DEVICE_CPU)
		return GPUAGG_DISABLED;
	reason = reach_device(gpuagg_state(), false);
	if (reason != GPUAGG_OK)
		gpuagg_stat_reason(reason);
	return reason;
}

bool
gpuagg_device_ready(void)
{
	return gpuagg_device_reach() == GPUAGG_OK;
}

/* ---- leases ---- */

static Region *
find_place(Connection *c)
{
	for (int i = 0; i < MAX_REGIONS; i++)
		if (!c->region[i].leased)
			return &c->region[i];
	return NULL;
}

/* Maps the pages of so many bytes at once, which takes less time than one by one. */
static void
populate(void *base, Size bytes)
{
#ifdef MADV_POPULATE_WRITE
	(void) madvise(base, bytes, MADV_POPULATE_WRITE);
#endif
}

/* How long a lease is waited for, ms. */
static int
lease_wait(void)
{
	if (gpuagg_device == DEVICE_GPU)
		return gpuagg_device_timeout;
	return Min(Max(LEASE_MS, Min(gpuagg_device_timeout / LEASE_PART, LEASE_MOST)),
			   gpuagg_device_timeout);
}

/*
 * Maps the memory file that came with a lease, of which so many bytes were asked for.  The file must be sealed against
 * changes of size, because reading a shrunk file would raise SIGBUS.
 */
static Region *
map_region(Connection *c, uint32 id, Size size, Size wanted, int fd)
{
	Region *region;
	struct stat st;
	void *base;

	if (fd < 0 || fstat(fd, &st) != 0 || size == 0 || (uint64) st.st_size < size ||
		(fcntl(fd, F_GET_SEALS) & REQUIRED_SEALS) != REQUIRED_SEALS)
		return NULL;
	region = find_place(c);
	if (region == NULL)
		return NULL;
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return NULL;
	/* of a small one most is used */
	if (size < GPUAGG_SEGMENT_BYTES)
		populate(base, wanted);
	region->lease.base = base;
	region->lease.size = size;
	region->connection = c;
	region->lease.region = id;
	return region;
}

GpuaggReason
gpuagg_device_lease(Size bytes, int wait_ms, DeviceLease **lease)
{
	Connection *c = gpuagg_connection;
	Size budget = (Size) gpuagg_staging_memory * 1024;
	GpuaggRequest request;
	GpuaggReason reason;
	Region *region = NULL;

	if (c == NULL)
		return GPUAGG_LOST;
	if (leased_bytes + Max(bytes, smallest_region) > budget)
		return GPUAGG_NO_STAGING;

	/* others might wait for what this process has */
	wait_ms = leased_bytes > 0 ? 0 : Min(wait_ms, gpuagg_device_timeout);
	memset(&request, 0, sizeof(request));
	request.h.type = GPUAGG_MSG_LEASE;
	request.u.lease.bytes = bytes;
	request.u.lease.role = GetUserId();
	request.u.lease.database = MyDatabaseId;
	request.u.lease.wait_ms = (uint32) wait_ms;
	reason = gpuagg_connection_converse(c, &request, lease_wait() + wait_ms);
	if (reason == GPUAGG_TIMEOUT)
		reason = GPUAGG_BUSY; /* allocating memory may take long; gpuaggd is not silent */
	if (reason == GPUAGG_OK)
	{
		Size size = c->control.u.lease.bytes;
		uint32 id = c->control.u.lease.region;

		if (size >= bytes && leased_bytes + size <= budget)
			region = map_region(c, id, size, bytes, c->control_fd);
		if (size >= bytes && (smallest_region == 0 || size < smallest_region))
			smallest_region = size;
		if (region == NULL)
		{
			gpuagg_connection_release(c, id);
			reason = GPUAGG_NO_STAGING;
		}
	}
	if (c->control_fd >= 0)
		close(c->control_fd);
	c->control_fd = -1;
	if (reason != GPUAGG_OK)
		return reason;

	region->leased = true;
	c->nleased++;
	leased_bytes += region->lease.size;
	*lease = &region->lease;
	return GPUAGG_OK;
}

bool
gpuagg_device_may_lease(Size bytes)
{
	return leased_bytes + bytes <= (Size) gpuagg_staging_memory * 1024;
}

void
gpuagg_device_announce(void)
{
	if (gpuagg_connection != NULL)
		gpuagg_connection_announce(gpuagg_connection);
}

void
gpuagg_device_release(DeviceLease *lease)
{
	Region *region = (Region *) lease;
	Connection *c = region->connection;

	if (!region->leased)
		return;
	region->leased = false;
	c->nleased--;
	leased_bytes -= region->lease.size;
	for (int i = 0; i < MAX_SLOTS; i++)
	{
		Slot *slot = &c->slot[i];

		if (slot->state == SLOT_FREE || slot->region != region)
			continue;
		if (slot->state == SLOT_WAITING)
			slot->state = SLOT_FORGOTTEN;
		else if (slot->state == SLOT_ANSWERED)
			slot->state = SLOT_FREE;
	}
	gpuagg_region_unmap(region);
	gpuagg_connection_release(c, region->lease.region);
	if (c->retired && c->nleased == 0)
		gpuagg_connection_destroy(c);
}

void
gpuagg_device_rest(void)
{
	gpuagg_connection_sweep();
}

/* ---- requests ---- */

/* Handles a missing answer: trips the breaker or retires the connection as needed. */
static GpuaggReason
give_up(Connection *c, Awaited awaited)
{
	if (awaited == AWAIT_TIMEOUT)
		gpuagg_breaker_trip(gpuagg_state());
	if (awaited != AWAIT_LOST)
		gpuagg_connection_retire(c);
	return awaited == AWAIT_LOST ? GPUAGG_LOST : GPUAGG_TIMEOUT;
}

static Slot *
free_slot(Connection *c)
{
	for (int i = 0; i < MAX_SLOTS; i++)
		if (c->slot[i].state == SLOT_FREE)
			return &c->slot[i];
	return NULL;
}

GpuaggReason
gpuagg_device_submit(DeviceLease *lease, GpuaggRequest *request, uint32 *id)
{
	Region *region = (Region *) lease;
	Connection *c = region->connection;
	Slot *slot;
	Awaited awaited;

	request->u.work.region = lease->region;
	if (gpuagg_request_check(request, lease->size) != GPUAGG_OK)
		return GPUAGG_REFUSED;

	awaited = gpuagg_connection_await(c, AWAIT_ROOM, NULL, gpuagg_device_timeout);
	if (awaited != AWAITED)
		return give_up(c, awaited);
	if (c->retired)
		return c->link.sock < 0 ? GPUAGG_LOST : GPUAGG_TIMEOUT;
	slot = free_slot(c);
	if (slot == NULL)
		return GPUAGG_BUSY;

	request->h.id = gpuagg_connection_next_id();
	if (!gpuagg_link_send(&c->link, request))
	{
		if (errno == EAGAIN)
			return GPUAGG_BUSY;
		gpuagg_connection_lost(c);
		return GPUAGG_LOST;
	}
	slot->state = SLOT_WAITING;
	slot->id = request->h.id;
	slot->region = region;
	c->inflight++;
	*id = slot->id;
	return GPUAGG_OK;
}

static Slot *
find_slot(uint32 id, Connection **connection)
{
	for (Connection *c = gpuagg_connections; c != NULL; c = c->next)
		for (int i = 0; i < MAX_SLOTS; i++)
			if (c->slot[i].id == id &&
				(c->slot[i].state == SLOT_WAITING || c->slot[i].state == SLOT_ANSWERED))
			{
				*connection = c;
				return &c->slot[i];
			}
	return NULL;
}

bool
gpuagg_device_has_room(DeviceLease *lease)
{
	Connection *c = ((Region *) lease)->connection;

	if (!c->retired && c->inflight >= GPUAGG_MAX_INFLIGHT)
		gpuagg_connection_drain(c);
	return c->retired || c->inflight < GPUAGG_MAX_INFLIGHT;
}

bool
gpuagg_device_answered(uint32 id)
{
	Connection *c;
	Slot *slot = find_slot(id, &c);

	if (slot == NULL || slot->state != SLOT_WAITING)
		return true;
	gpuagg_connection_drain(c);
	return slot->state != SLOT_WAITING || c->retired;
}

GpuaggReason
gpuagg_device_wait(uint32 id, GpuaggReply *reply)
{
	Connection *c;
	Slot *slot = find_slot(id, &c);
	Awaited awaited;

	if (slot == NULL)
		elog(ERROR, "request %u is not under way", id);

	awaited = gpuagg_connection_await(c, AWAIT_SLOT, slot, gpuagg_device_timeout);
	if (awaited != AWAITED)
	{
		slot->state = SLOT_FORGOTTEN;
		return give_up(c, awaited);
	}
	slot->state = SLOT_FREE;
	*reply = slot->reply;
	return gpuagg_reply_check(reply) ? gpuagg_link_reason(reply) : GPUAGG_LOST;
}

GpuaggReason
gpuagg_device_call(DeviceLease *lease, GpuaggRequest *request, GpuaggReply *reply)
{
	Connection *c = gpuagg_connection;
	GpuaggReason reason;

	if (lease != NULL)
	{
		uint32 id;

		reason = gpuagg_device_submit(lease, request, &id);
		return reason == GPUAGG_OK ? gpuagg_device_wait(id, reply) : reason;
	}
	if (c == NULL)
		return GPUAGG_LOST;
	if (gpuagg_request_check(request, 0) != GPUAGG_OK)
		return GPUAGG_REFUSED;
	reason = gpuagg_connection_converse(c, request,
										request->h.type == GPUAGG_MSG_BENCH
											? BENCH_MS
											: gpuagg_device_timeout);
	if (reason == GPUAGG_OK)
		*reply = c->control;
	return reason;
}
