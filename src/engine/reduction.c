/*
 * reduction.c
 *	  Batches of aggregates: which engine takes them, and double buffering.
 *
 * On the CPU a batch is one local buffer that stays in the cache.  On the
 * device it is a lease of staging memory cut into slots: one is being filled
 * while the others are in flight.  A slot's rows stay in place until its reply
 * has come, so that the CPU can do what the device did not.
 */
#include "postgres.h"

#include "lib/ilist.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "common/reduced.h"
#include "engine/reduction.h"
#include "engine/cpu.h"
#include "device/client.h"
#include "gpuagg.h"
#include "device/stat.h"

#define LOCAL_ROWS 2048 /* of the CPU's buffer, and before a batch is opened */
#define MAX_OPEN   16	/* batches of one backend */
#define MAX_LEASES 4	/* of them on the device */
#define MAX_SLOTS  4

typedef struct Slot
{
	uint32 request; /* in flight, or 0 */
	int64 nrows;
	char *values;
} Slot;

typedef struct ReductionWork
{
	GpuaggReduction reduction;
	GpuaggKind kind;
	GpuaggOp op;
	MemoryContextCallback on_reset;
	bool open;
	dlist_node node;  /* in open_batches while open */
	char *start;	  /* of the values that the batch holds */
	int64 rows_done;  /* handed to an engine so far */
	int64 rows_known; /* that will come in all, at least */
	char *local;	  /* LOCAL_ROWS values, or NULL */
	DeviceLease *lease;
	Slot slots[MAX_SLOTS];
	int nslots;
	int current; /* slot being filled, when there is a lease */
	int64 slot_rows;
	GpuaggReduced total;
} ReductionWork;

static dlist_head open_batches = DLIST_STATIC_INIT(open_batches);
static int num_open = 0;
static int num_leases = 0;

int64
gpuagg_reduction_threshold(void)
{
	return Min((int64) gpuagg_device_min_rows, LOCAL_ROWS);
}

static void
release_lease(ReductionWork *work)
{
	if (work->lease == NULL)
		return;
	gpuagg_device_release(work->lease);
	work->lease = NULL;
	num_leases--;
	for (int i = 0; i < MAX_SLOTS; i++)
		work->slots[i].request = 0;
}

static void
unlink_batch(ReductionWork *work)
{
	if (!work->open)
		return;
	dlist_delete(&work->node);
	num_open--;
	work->open = false;
}

static void
free_local(ReductionWork *work)
{
	if (work->local != NULL)
		pfree(work->local);
	work->local = NULL;
}

/* The context of the group goes away, with or without a result: never throws. */
static void
drop_batch(void *arg)
{
	ReductionWork *work = arg;

	release_lease(work);
	unlink_batch(work);
	free_local(work);
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
	gpuagg_reduced_init(&work->total);
	work->on_reset.func = drop_batch;
	work->on_reset.arg = work;
	MemoryContextRegisterResetCallback(context, &work->on_reset);
	dlist_push_tail(&open_batches, &work->node);
	num_open++;
	work->open = true;
	return &work->reduction;
}

static void
reduce_on_cpu(ReductionWork *work, const void *values, int64 nrows)
{
	gpuagg_cpu_reduce(work->kind, work->op, values, NULL, nrows, &work->total);
	gpuagg_stat_batch(ENGINE_CPU, nrows, nrows * (int64) gpuagg_kind_size(work->kind));
}

/* Ends a slot's request, if it has one: by the reply, or on the CPU. */
static void
finish_slot(ReductionWork *work, Slot *slot)
{
	GpuaggReply reply;
	uint32 request = slot->request;

	if (request == 0)
		return;
	if (gpuagg_device_wait(request, &reply))
	{
		slot->request = 0;
		gpuagg_reduced_merge(&work->total, &reply.u.reduce, work->kind, work->op);
		gpuagg_stat_batch(ENGINE_DEVICE, slot->nrows,
						  slot->nrows * (int64) gpuagg_kind_size(work->kind));
	}
	else
	{
		slot->request = 0;
		reduce_on_cpu(work, slot->values, slot->nrows);
	}
}

/* Hands the slot being filled to the device; false when the CPU did it. */
static bool
submit_slot(ReductionWork *work, Slot *slot, int64 nrows)
{
	GpuaggRequest request;

	memset(&request, 0, sizeof(request));
	request.h.type = GPUAGG_MSG_REDUCE;
	request.u.work.kind = work->kind;
	request.u.work.op = work->op;
	request.u.work.nrows = (uint64) nrows;
	(void) gpuagg_work_lay_out(GPUAGG_MSG_REDUCE, &request.u.work,
							   (uint64) (slot->values - work->lease->base), nrows);
	slot->nrows = nrows;
	slot->request = gpuagg_device_submit(work->lease, &request);
	if (slot->request != 0)
		return true;
	reduce_on_cpu(work, slot->values, slot->nrows);
	return false;
}

/* Leases staging memory and cuts it into slots; false when it cannot be had. */
static bool
take_lease(ReductionWork *work)
{
	Size width = gpuagg_kind_size(work->kind);
	Size most = (Size) gpuagg_staging_memory * 1024;
	Size slot_bytes = Min(TYPEALIGN(GPUAGG_ALIGN, (Size) gpuagg_batch_rows * width), most);

	if (num_leases >= MAX_LEASES || !gpuagg_device_ready())
		return false;
	work->lease = gpuagg_device_lease(
		Max(slot_bytes, Min(slot_bytes * MAX_SLOTS, GPUAGG_SEGMENT_BYTES)));
	if (work->lease == NULL)
		return false;
	num_leases++;

	slot_bytes = Min(slot_bytes, work->lease->size / GPUAGG_ALIGN * GPUAGG_ALIGN);
	work->slot_rows = Min((int64) gpuagg_batch_rows, (int64) (slot_bytes / width));
	work->nslots = Min(MAX_SLOTS, work->lease->size / slot_bytes);
	for (int i = 0; i < work->nslots; i++)
	{
		work->slots[i].request = 0;
		work->slots[i].values = work->lease->base + i * slot_bytes;
	}
	work->current = 0;
	return true;
}

/* Lets the owner store so many rows from `start` on. */
static void
make_room(ReductionWork *work, char *start, int64 rows)
{
	work->start = start;
	work->reduction.next = start;
	work->reduction.end = start + rows * (int64) gpuagg_kind_size(work->kind);
}

static void
use_local(ReductionWork *work)
{
	/* not in the group's context, where it would count as the group's memory and spill others */
	if (work->local == NULL)
		work->local = MemoryContextAlloc(TopMemoryContext,
										 LOCAL_ROWS * gpuagg_kind_size(work->kind));
	make_room(work, work->local, LOCAL_ROWS);
}

/* Ends all requests in flight and gives the lease back. */
static void
leave_device(ReductionWork *work)
{
	for (int i = 0; i < work->nslots && work->lease != NULL; i++)
		finish_slot(work, &work->slots[i]);
	release_lease(work);
}

/* Hands over the rows that the batch holds.  After it there is no room for any. */
static void
hand_over(ReductionWork *work)
{
	char *start = work->start;
	int64 nrows = (work->reduction.next - start) / (int64) gpuagg_kind_size(work->kind);

	/* now, so that an error does not bring us back here with the same rows */
	make_room(work, NULL, 0);
	work->rows_done += nrows;
	if (nrows == 0)
		return;
	if (work->lease == NULL)
		reduce_on_cpu(work, start, nrows);
	else if (submit_slot(work, &work->slots[work->current], nrows))
		work->current = (work->current + 1) % work->nslots;
	else
		leave_device(work);
}

void
gpuagg_reduction_advance(GpuaggReduction *reduction)
{
	ReductionWork *work = reduction->work;

	CHECK_FOR_INTERRUPTS();
	hand_over(work);

	if (work->lease == NULL && gpuagg_device != DEVICE_CPU)
	{
		if (Max(work->rows_done, work->rows_known) >= gpuagg_device_min_rows)
			(void) take_lease(work);
		else
			gpuagg_stat_reason(GPUAGG_SMALL);
	}
	if (work->lease != NULL)
	{
		finish_slot(work, &work->slots[work->current]);
		make_room(work, work->slots[work->current].values, work->slot_rows);
	}
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
		unlink_batch(work);
		if (gpuagg_kind_is_float(work->kind))
			gpuagg_float_sum_propagate(gpuagg_float_sum_of(&work->total.f));
		free_local(work);
	}
	return &work->total;
}

void
gpuagg_reductions_quiesce(void)
{
	dlist_iter iter;

	dlist_foreach(iter, &open_batches)
	{
		ReductionWork *work = dlist_container(ReductionWork, node, iter.cur);

		if (work->lease != NULL)
		{
			hand_over(work);
			leave_device(work);
		}
	}
}
