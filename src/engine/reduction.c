/*
 * reduction.c
 *	  Reductions of one column, whose rows are gathered into batches.
 *
 * On the CPU a batch is one local buffer that stays in the cache.  On the device
 * it is a slot of staging memory: one slot is filled while the others are under
 * way.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "common/protocol.h"
#include "engine/cpu.h"
#include "engine/flight.h"
#include "engine/reduction.h"
#include "gpuagg.h"

#define LOCAL_ROWS 2048 /* of the local buffer; at most so many before a reduction opens */
#define MAX_OPEN   16	/* reductions in one backend */
#define MAX_LEASES 4	/* reductions on the device in one backend */
#define MAX_SLOTS  4

typedef struct Slot
{
	Flight flight;
	bool under_way;
	char *values;
} Slot;

typedef struct ReductionWork
{
	GpuaggReduction reduction;
	GpuaggKind kind;
	GpuaggOp op;
	MemoryContextCallback on_reset;
	bool open;
	FlightOwner owner; /* listed while it has a lease */
	char *start;	   /* of the values stored and not yet handed over */
	int64 rows_done;   /* handed to an engine so far */
	int64 rows_known;  /* those of a column in memory; 0: rows come one by one */
	char *local;	   /* LOCAL_ROWS values, or NULL */
	GpuaggReason held; /* recorded, as it has not been on the device yet; or GPUAGG_OK */
	FlightLease *lease;
	Slot slots[MAX_SLOTS];
	int nslots;
	int current; /* with a lease: slot being filled */
	int64 slot_rows;
	GpuaggReduced total;
} ReductionWork;

static int num_open = 0;
static int num_leases = 0;

int64
gpuagg_reduction_threshold(void)
{
	return Min((int64) gpuagg_device_min_rows, LOCAL_ROWS);
}

static void
leave_lease(ReductionWork *work)
{
	if (work->lease == NULL)
		return;
	gpuagg_flight_leave(&work->lease);
	gpuagg_flight_unlist(&work->owner);
	num_leases--;
	for (int i = 0; i < MAX_SLOTS; i++)
		work->slots[i].under_way = false;
}

/* Releases what the reduction holds, if it is open or not; never throws. */
static void
release_all(ReductionWork *work)
{
	leave_lease(work);
	if (work->open)
		num_open--;
	work->open = false;
	if (work->local != NULL)
		pfree(work->local);
	work->local = NULL;
}

/* Callback when the group's context is reset or deleted; never throws. */
static void
drop_reduction(void *arg)
{
	release_all(arg);
}

/* ---- through an engine ---- */

/* Submits a flight that adds the values to the total. */
static void
begin_flight(ReductionWork *work, Flight *flight, char *values, int64 nrows)
{
	memset(flight, 0, offsetof(Flight, request));
	flight->type = GPUAGG_MSG_REDUCE;
	flight->work.kind = work->kind;
	flight->work.op = work->op;
	flight->work.nrows = (uint64) nrows;
	flight->values = values;
	flight->total = &work->total;
	flight->lease = work->lease;
	if (work->lease != NULL)
		(void) gpuagg_work_lay_out(flight->type, &flight->work,
								   values - gpuagg_flight_lease_base(work->lease), nrows);
	gpuagg_flight_submit(flight);
}

/* False: the device should have done it and did not. */
static bool
finish_slot(Slot *slot)
{
	if (!slot->under_way)
		return true;
	slot->under_way = false;
	return gpuagg_flight_finish(&slot->flight);
}

/* Finishes all slots under way and gives the lease back. */
static void
leave_device(ReductionWork *work)
{
	for (int i = 0; i < work->nslots && work->lease != NULL; i++)
		(void) finish_slot(&work->slots[i]);
	leave_lease(work);
}

/* Lets the owner store `rows` rows from `start` on. */
static void
make_room(ReductionWork *work, char *start, int64 rows)
{
	work->start = start;
	work->reduction.next = start;
	work->reduction.end = start + rows * (int64) gpuagg_kind_size(work->kind);
}

/* Hands the stored rows to an engine.  Leaves no room for more. */
static void
hand_over(ReductionWork *work)
{
	char *start = work->start;
	int64 nrows = (work->reduction.next - start) / (int64) gpuagg_kind_size(work->kind);
	Slot *slot = &work->slots[work->current];

	/* first, so that after an error the same rows are not handed over again */
	make_room(work, NULL, 0);
	work->rows_done += nrows;
	if (nrows == 0)
		return;
	begin_flight(work, &slot->flight, start, nrows);
	slot->under_way = true;
	if (slot->flight.engine == ENGINE_DEVICE)
		work->current = (work->current + 1) % work->nslots;
	else if (!finish_slot(slot))
		leave_device(work);
}

static void
land(FlightOwner *owner)
{
	ReductionWork *work = (ReductionWork *) ((char *) owner - offsetof(ReductionWork, owner));

	hand_over(work);
	leave_device(work);
}

static void
drop_owner(FlightOwner *owner)
{
	leave_lease((ReductionWork *) ((char *) owner - offsetof(ReductionWork, owner)));
}

/* ---- memory for rows ---- */

/* Records why the reduction is not on the device; GPUAGG_OK: it is. */
static void
hold(ReductionWork *work, GpuaggReason reason)
{
	if (reason == work->held)
		return;
	if (work->held != GPUAGG_OK)
		gpuagg_stat_withdraw(work->held);
	work->held = reason;
	if (reason != GPUAGG_OK)
		gpuagg_stat_reason(reason);
}

/* Leases staging memory and divides it into slots; false if there is none. */
static bool
take_lease(ReductionWork *work)
{
	Size width = gpuagg_kind_size(work->kind);
	Size most = (Size) gpuagg_staging_memory * 1024;
	Size slot_bytes = Min(TYPEALIGN(GPUAGG_ALIGN, (Size) gpuagg_batch_rows * width), most);
	Size lease_bytes;

	hold(work, GPUAGG_OK); /* a failure has a reason of its own */
	if (num_leases >= MAX_LEASES)
	{
		gpuagg_stat_reason(GPUAGG_NO_STAGING);
		return false;
	}
	work->lease =
		gpuagg_flight_lease(Max(slot_bytes, Min(slot_bytes * MAX_SLOTS, GPUAGG_SEGMENT_BYTES)), 1,
							0, GetMemoryChunkContext(work));
	if (work->lease == NULL)
		return false;
	num_leases++;
	gpuagg_flight_list(&work->owner);

	lease_bytes = gpuagg_flight_lease_bytes(work->lease);
	slot_bytes = Min(slot_bytes, TYPEALIGN_DOWN(GPUAGG_ALIGN, lease_bytes));
	work->slot_rows = Min((int64) gpuagg_batch_rows, (int64) (slot_bytes / width));
	work->nslots = Min(MAX_SLOTS, lease_bytes / slot_bytes);
	for (int i = 0; i < work->nslots; i++)
		work->slots[i].values = gpuagg_flight_lease_base(work->lease) + i * slot_bytes;
	work->current = 0;
	return true;
}

static void
use_local(ReductionWork *work)
{
	/* not in the group's context: there it would count as the group's memory and cause spills */
	if (work->local == NULL)
		work->local = MemoryContextAlloc(TopMemoryContext,
										 LOCAL_ROWS * gpuagg_kind_size(work->kind));
	make_room(work, work->local, LOCAL_ROWS);
}

void
gpuagg_reduction_missing(GpuaggKind kind, int64 nrows)
{
	GpuaggReason reason = gpuagg_flight_wanted(FLIGHT_AGGREGATE, nrows);

	if (reason != GPUAGG_DISABLED && kind == 0)
		reason = GPUAGG_CPU_ONLY;
	else if (reason == GPUAGG_OK)
		reason = GPUAGG_NO_STAGING; /* too many reductions are open */
	gpuagg_stat_reason(reason);
}

GpuaggReduction *
gpuagg_reduction_open(GpuaggKind kind, GpuaggOp op, int64 nrows, MemoryContext context)
{
	ReductionWork *work;

	if (num_open >= MAX_OPEN)
		return NULL;

	work = MemoryContextAllocZero(context, sizeof(ReductionWork));
	work->reduction.work = work;
	work->kind = kind;
	work->op = op;
	work->rows_known = nrows;
	work->owner.land = land;
	work->owner.drop = drop_owner;
	gpuagg_reduced_init(&work->total);
	work->on_reset.func = drop_reduction;
	work->on_reset.arg = work;
	MemoryContextRegisterResetCallback(context, &work->on_reset);
	num_open++;
	work->open = true;
	return &work->reduction;
}

void
gpuagg_reduction_advance(GpuaggReduction *reduction)
{
	ReductionWork *work = reduction->work;

	CHECK_FOR_INTERRUPTS();
	hand_over(work);

	/* what one slot was refused the others may be too: the next rows have a lease of their own */
	if (work->lease != NULL && !finish_slot(&work->slots[work->current]))
		leave_device(work);
	if (work->lease == NULL)
	{
		GpuaggReason reason = work->rows_known > 0
								  ? gpuagg_flight_wanted(FLIGHT_ARRAY, work->rows_known)
								  : gpuagg_flight_wanted(FLIGHT_AGGREGATE, work->rows_done);

		if (reason == GPUAGG_OK)
			(void) take_lease(work);
		else if (reason != GPUAGG_DISABLED)
			hold(work, reason);
	}
	if (work->lease != NULL)
		make_room(work, work->slots[work->current].values, work->slot_rows);
	else
		use_local(work);
}

void
gpuagg_reduction_append(GpuaggReduction *reduction, const void *values, int64 nrows)
{
	Size width = gpuagg_kind_size(reduction->work->kind);
	const char *from = values;

	while (nrows > 0)
	{
		int64 n;

		if (reduction->next == reduction->end)
			gpuagg_reduction_advance(reduction);
		n = Min(nrows, (reduction->end - reduction->next) / (int64) width);
		memcpy(reduction->next, from, n * width);
		reduction->next += n * width;
		from += n * width;
		nrows -= n;
	}
}

const GpuaggReduced *
gpuagg_reduction_close(GpuaggReduction *reduction)
{
	ReductionWork *work = reduction->work;

	if (work->open)
	{
		hand_over(work);
		leave_device(work);
		if (gpuagg_kind_is_float(work->kind))
			gpuagg_float_sum_propagate(gpuagg_float_sum_of(&work->total.f));
		release_all(work);
	}
	return &work->total;
}
