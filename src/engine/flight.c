/*
 * flight.c
 *	  Runs work on an engine: leases, falling back, counting.
 */
#include "postgres.h"

#include "device/client.h"
#include "device/shared_state.h"
#include "engine/flight.h"
#include "gpuagg.h"

#define LEASE_AGAIN_MS 20 /* after a lease was refused */

struct FlightLease
{
	DeviceLease *lease;
	int users;
};

static dlist_head owners = DLIST_STATIC_INIT(owners);
static uint64 last_number = 0;

/*
 * The least rows for which mode auto asks for a device.  Figures are those of an
 * H200 in a host with 16 cores (test/gpu/RECORD.md).
 */
static const int64 auto_rows[] = {
	/*
	 * 20 M rows, with 0, 8 and 15 parallel workers: sums and standard deviations of
	 * int4, int8, float8 and numeric, and sums of 10 groups, took 0.89 to 1.13 times the
	 * CPU's time, 1.03 in the mean.  A row costs the executor 50 ns, adding it 1 to 3 ns.
	 */
	[FLIGHT_AGGREGATE] = FLIGHT_NEVER,
	/* running sums of 60 M rows: 24.7 s, 22.6 s on the CPU */
	[FLIGHT_WINDOW] = FLIGHT_NEVER,
	/* 2^20 items of 27 bits: 20 to 21 ms, 22 to 28 ms on the CPU */
	[FLIGHT_SORT] = INT64CONST(1) << 20,
	/* not measured; gpuagg.device_min_rows decides */
	[FLIGHT_ARRAY] = 0,
};

GpuaggReason
gpuagg_flight_wanted(FlightSource source, int64 rows)
{
	Assert((unsigned int) source < lengthof(auto_rows));
	if (gpuagg_device == DEVICE_CPU)
		return GPUAGG_DISABLED;
	if (gpuagg_device == DEVICE_AUTO && auto_rows[source] == FLIGHT_NEVER)
		return GPUAGG_NO_GAIN;
	if (rows < gpuagg_device_min_rows || (gpuagg_device == DEVICE_AUTO && rows < auto_rows[source]))
		return GPUAGG_SMALL;
	return GPUAGG_OK;
}

/* ---- staging memory ---- */

static GpuaggReason refusal = GPUAGG_OK; /* of the last lease; OK: it was not refused */

/* After a refusal, nothing that does not wait asks for as much again for LEASE_AGAIN_MS. */
static GpuaggReason
lease_memory(Size bytes, int wait_ms, DeviceLease **lease)
{
	static int64 refused_at = -LEASE_AGAIN_MS;
	static GpuaggReason refused_for = GPUAGG_OK;
	static Size refused_bytes = 0;
	GpuaggReason reason = gpuagg_device_reach();

	if (reason != GPUAGG_OK)
		return reason;
	if (wait_ms == 0 && bytes >= refused_bytes &&
		gpuagg_monotonic_ms() - refused_at < LEASE_AGAIN_MS)
	{
		gpuagg_stat_reason(refused_for);
		return refused_for;
	}
	reason = gpuagg_device_lease(bytes, wait_ms, lease);
	if (reason == GPUAGG_OK)
		return reason;
	if (reason != GPUAGG_LOST)
	{
		refused_at = gpuagg_monotonic_ms();
		refused_for = reason;
		refused_bytes = bytes;
	}
	gpuagg_stat_fallback(reason);
	return reason;
}

GpuaggReason
gpuagg_flight_refusal(void)
{
	return refusal;
}

FlightLease *
gpuagg_flight_lease(Size bytes, int users, int wait_ms, MemoryContext context)
{
	FlightLease *lease = MemoryContextAlloc(context, sizeof(FlightLease));

	lease->users = users;
	refusal = lease_memory(bytes, wait_ms, &lease->lease);
	if (refusal == GPUAGG_OK)
		return lease;
	pfree(lease);
	return NULL;
}

char *
gpuagg_flight_lease_base(const FlightLease *lease)
{
	return lease->lease->base;
}

Size
gpuagg_flight_lease_bytes(const FlightLease *lease)
{
	return lease->lease->size;
}

DeviceLease *
gpuagg_flight_device_lease(const FlightLease *lease)
{
	return lease->lease;
}

void
gpuagg_flight_leave(FlightLease **lease)
{
	FlightLease *left = *lease;

	*lease = NULL;
	if (left == NULL || --left->users > 0)
		return;
	gpuagg_device_release(left->lease);
	pfree(left);
}

/* ---- flights ---- */

static int64
bytes_of(const Flight *flight)
{
	const GpuaggWork *work = &flight->work;
	Size width = flight->type == GPUAGG_MSG_SORT ? gpuagg_sort_item_size((int) work->u.sort.words)
												 : gpuagg_kind_size((int) work->kind);

	return (int64) (work->nrows * width);
}

void
gpuagg_flight_submit(Flight *flight)
{
	flight->engine = ENGINE_CPU;
	if (flight->lease != NULL)
	{
		GpuaggReason reason = gpuagg_device_engine.submit(flight);

		if (reason == GPUAGG_OK)
			flight->engine = ENGINE_DEVICE;
		else
			gpuagg_stat_fallback(reason);
	}
}

bool
gpuagg_flight_finish(Flight *flight)
{
	bool fell_back = flight->lease != NULL && flight->engine == ENGINE_CPU;

	if (flight->engine == ENGINE_DEVICE)
	{
		GpuaggReason reason;

		/* whoever finishes it again, after this wait was cancelled, does so in this process */
		flight->engine = ENGINE_CPU;
		reason = gpuagg_device_engine.finish(flight);
		if (reason == GPUAGG_OK)
			flight->engine = ENGINE_DEVICE;
		else
		{
			gpuagg_stat_fallback(reason);
			fell_back = true;
		}
	}
	if (flight->engine == ENGINE_CPU)
		(void) gpuagg_cpu_engine.finish(flight);
	/* rows that are sorted count where functions take them; the CPU sorts in no batches */
	if (flight->type != GPUAGG_MSG_SORT)
		gpuagg_stat_batch(flight->engine, (int64) flight->work.nrows, bytes_of(flight));
	else if (flight->engine == ENGINE_DEVICE)
		gpuagg_stat_batch(ENGINE_DEVICE, 0, bytes_of(flight));
	return !fell_back;
}

/* ---- owners ---- */

void
gpuagg_flight_list(FlightOwner *owner)
{
	if (owner->listed)
		return;
	dlist_push_tail(&owners, &owner->node);
	owner->listed = true;
	owner->number = ++last_number;
}

void
gpuagg_flight_unlist(FlightOwner *owner)
{
	if (!owner->listed)
		return;
	dlist_delete(&owner->node);
	owner->listed = false;
}

void
gpuagg_flights_land(uint64 mark)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &owners)
	{
		FlightOwner *owner = dlist_container(FlightOwner, node, iter.cur);

		if (owner->number > mark)
			owner->land(owner);
	}
	gpuagg_device_rest();
}

uint64
gpuagg_flights_mark(void)
{
	return last_number;
}

void
gpuagg_flights_drop(uint64 mark)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &owners)
	{
		FlightOwner *owner = dlist_container(FlightOwner, node, iter.cur);

		if (owner->number > mark)
			owner->drop(owner);
	}
}

void
gpuagg_flights_guard(void (*work)(void *argument), void *argument)
{
	uint64 mark = gpuagg_flights_mark();

	PG_TRY();
	{
		work(argument);
	}
	PG_CATCH();
	{
		gpuagg_flights_drop(mark);
		PG_RE_THROW();
	}
	PG_END_TRY();
}
