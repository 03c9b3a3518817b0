/*
 * scan.c
 *	  Batches of scans.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "engine/cpu.h"
#include "device/client.h"
#include "engine/scan.h"
#include "gpuagg.h"
#include "device/stat.h"

/* Bits that the device's window of 256 has, less the head room for 2^31 rows. */
#define WINDOW_CHUNKS 8
#define WINDOW_BITS	  (32 * WINDOW_CHUNKS - 33)

static dlist_head submitted = DLIST_STATIC_INIT(submitted);

/* Staging memory of scans that began together, until the last of them gives it back. */
typedef struct ScanLease
{
	DeviceLease *lease;
	int users;
} ScanLease;

static void
release_memory(ColumnScan *batch)
{
	ScanLease *shared = batch->lease;

	if (shared != NULL && --shared->users == 0)
	{
		gpuagg_device_release(shared->lease);
		pfree(shared);
	}
	batch->lease = NULL;
	batch->request = 0;
	batch->values = NULL;
	batch->validity = NULL;
	batch->heads = NULL;
}

/* The context goes away, and with it the rows: never throws. */
static void
drop_batch(void *arg)
{
	ColumnScan *batch = arg;

	release_memory(batch);
	if (batch->submitted)
		dlist_delete(&batch->node);
	batch->submitted = false;
}

ColumnScan *
gpuagg_scan_make(GpuaggKind kind, GpuaggOp op, unsigned flags, MemoryContext context)
{
	ColumnScan *batch = MemoryContextAllocZero(context, sizeof(ColumnScan));

	batch->kind = kind;
	batch->op = op;
	batch->flags = flags;
	batch->on_reset.func = drop_batch;
	batch->on_reset.arg = batch;
	MemoryContextRegisterResetCallback(context, &batch->on_reset);
	return batch;
}

/* The settings may change while a cursor is open, and with them the rows of a batch. */
static void
make_room(ColumnScan *batch, int64 rows)
{
	MemoryContext context = GetMemoryChunkContext(batch);

	if (rows <= batch->room)
		return;
	if (batch->results != NULL)
		pfree(batch->results);
	if (batch->status != NULL)
		pfree(batch->status);
	batch->results = NULL;
	batch->status = NULL;
	batch->room = 0;
	batch->results = MemoryContextAlloc(context,
										rows * gpuagg_scan_result_size(batch->kind, batch->op, 0));
	if (batch->flags & GPUAGG_SCAN_STATUS)
		batch->status = MemoryContextAlloc(context, rows);
	batch->room = rows;
}

/* Makes a batch ready for so many rows, whose memory starts at `base`; where its part ends. */
static Size
start(ColumnScan *batch, char *base, Size origin, int64 rows)
{
	GpuaggWork *work = &batch->work;
	Size end;

	work->kind = batch->kind;
	work->op = batch->op;
	work->flags = batch->flags;
	end = gpuagg_work_lay_out(GPUAGG_MSG_SCAN, work, origin, rows);
	make_room(batch, rows);
	batch->capacity = rows;
	batch->nrows = 0;
	batch->values = base + work->column[GPUAGG_VALUES].at;
	batch->validity = batch->flags & GPUAGG_SCAN_VALIDITY
						  ? (uint64 *) (base + work->column[GPUAGG_VALIDITY].at)
						  : NULL;
	batch->heads = batch->flags & GPUAGG_SCAN_HEADS
					   ? (uint64 *) (base + work->column[GPUAGG_HEADS].at)
					   : NULL;
	return end;
}

/* Bytes of so many rows of each. */
static Size
staging_bytes(ColumnScan *const *batches, int nbatches, int64 rows)
{
	Size end = 0;

	for (int i = 0; i < nbatches; i++)
	{
		GpuaggWork work = {0};

		work.kind = batches[i]->kind;
		work.op = batches[i]->op;
		work.flags = batches[i]->flags;
		end = gpuagg_work_lay_out(GPUAGG_MSG_SCAN, &work, end, rows);
	}
	return end;
}

bool
gpuagg_scans_begin(ColumnScan *const *batches, int nbatches, int64 rows)
{
	ScanLease *shared;
	DeviceLease *lease;
	Size origin = 0;

	rows = TYPEALIGN_DOWN(64, rows);
	while (rows > 64 && staging_bytes(batches, nbatches, rows) > GPUAGG_SEGMENT_BYTES)
		rows = TYPEALIGN_DOWN(64, rows / 2);
	if (!gpuagg_device_ready())
		return false;
	shared = MemoryContextAlloc(GetMemoryChunkContext(batches[0]), sizeof(*shared));
	lease = gpuagg_device_lease(staging_bytes(batches, nbatches, rows));
	if (lease == NULL)
	{
		pfree(shared);
		return false;
	}
	shared->lease = lease;
	shared->users = nbatches;
	for (int i = 0; i < nbatches; i++)
		batches[i]->lease = shared;
	for (int i = 0; i < nbatches; i++)
		origin = start(batches[i], lease->base, origin, rows);
	return true;
}

void
gpuagg_scan_begin_here(ColumnScan *batch, int64 rows)
{
	Size bytes = staging_bytes(&batch, 1, rows);

	if (bytes > batch->here_bytes)
	{
		if (batch->here != NULL)
			pfree(batch->here);
		batch->here = NULL;
		batch->here_bytes = 0;
		batch->here = MemoryContextAlloc(GetMemoryChunkContext(batch), bytes);
		batch->here_bytes = bytes;
	}
	(void) start(batch, batch->here, 0, rows);
}

/* The bits of a value as a double; 0 for a row that adds none to a sum's chunks. */
static inline uint64
finite_bits(const ColumnScan *batch, int64 i)
{
	double value = 0;
	uint64 bits;

	if (batch->validity == NULL || gpuagg_bit(batch->validity, i))
		value = batch->kind == GPUAGG_FLOAT32 ? (double) ((const float *) batch->values)[i]
											  : ((const double *) batch->values)[i];
	memcpy(&bits, &value, sizeof(bits));
	return (bits >> 52 & 0x7ff) == 0x7ff || bits << 1 == 0 ? 0 : bits;
}

/*
 * Where the device's window must start so that it holds all values and the
 * carry; false when no window does.
 */
static bool
choose_window(const ColumnScan *batch, const GpuaggFloatSum *carry, int *window)
{
	int unused = batch->kind == GPUAGG_FLOAT32 ? 29 : 0; /* low bits that are always 0 */
	int low = 0x7ff;									 /* bits from 2^-1074 up: lowest in use, */
	int high = 0;										 /* and first not in use */
	int first;
	int last;

	for (int64 i = 0; i < batch->nrows; i++)
	{
		uint64 bits = finite_bits(batch, i);
		int exponent = Max((int) (bits >> 52) & 0x7ff, 1) - 1;

		if (bits == 0)
			continue;
		low = Min(low, exponent + unused);
		high = Max(high, exponent + 53);
	}

	gpuagg_float_sum_extent(carry, &first, &last);
	if (first <= last)
	{
		low = Min(low, first * 32);
		high = Max(high, (last + 1) * 32);
	}
	*window = Min(low / 32, GPUAGG_CHUNKS - WINDOW_CHUNKS);
	return high <= *window * 32 + WINDOW_BITS;
}

/* Hands the batch to the device; false when that cannot take it. */
static bool
submit_to_device(ColumnScan *batch)
{
	GpuaggRequest request;
	int window = 0;

	gpuagg_float_sum_propagate(gpuagg_float_sum_of(&batch->carry.f));
	if (batch->op == GPUAGG_SUM && gpuagg_kind_is_float(batch->kind) &&
		!choose_window(batch, gpuagg_float_sum_of(&batch->carry.f), &window))
	{
		gpuagg_stat_fallback(GPUAGG_RANGE);
		return false;
	}

	memset(&request, 0, sizeof(request));
	request.h.type = GPUAGG_MSG_SCAN;
	batch->work.nrows = (uint64) batch->nrows;
	batch->work.u.scan.window = window;
	batch->work.u.scan.carry = batch->carry;
	request.u.work = batch->work;
	batch->request = gpuagg_device_submit(batch->lease->lease, &request);
	return batch->request != 0;
}

/* Takes the device's results; false, with nothing changed, when it has none. */
static bool
take_results(ColumnScan *batch)
{
	uint32 request = batch->request;
	GpuaggReply reply;

	batch->request = 0;
	if (request == 0 || !gpuagg_device_wait(request, &reply))
		return false;
	memcpy(batch->results, batch->lease->lease->base + batch->work.column[GPUAGG_RESULTS].at,
		   batch->nrows * gpuagg_scan_result_size(batch->kind, batch->op, 0));
	if (batch->flags & GPUAGG_SCAN_STATUS)
		memcpy(batch->status, batch->lease->lease->base + batch->work.column[GPUAGG_STATUS].at,
			   batch->nrows);
	batch->carry = reply.u.scan.carry;
	gpuagg_float_sum_propagate(gpuagg_float_sum_of(&batch->carry.f));
	return true;
}

static void
run_on_cpu(ColumnScan *batch)
{
	GpuaggScan scan = {0};

	scan.kind = batch->kind;
	scan.op = batch->op;
	scan.exclusive = (batch->flags & GPUAGG_SCAN_EXCLUSIVE) != 0;
	scan.nrows = batch->nrows;
	scan.values = batch->values;
	scan.validity = batch->validity;
	scan.heads = batch->heads;
	scan.results = batch->results;
	scan.status = batch->status;
	gpuagg_cpu_scan(&scan, &batch->carry);
}

/* Brings a batch to its results. */
static void
complete(ColumnScan *batch)
{
	batch->engine = ENGINE_DEVICE;
	if (!take_results(batch))
	{
		run_on_cpu(batch);
		batch->engine = ENGINE_CPU;
	}
	gpuagg_stat_batch(batch->engine, batch->nrows,
					  batch->nrows * (int64) gpuagg_kind_size(batch->kind));
	release_memory(batch);
}

void
gpuagg_scan_submit(ColumnScan *batch, const GpuaggScanState *carry)
{
	batch->carry = *carry;
	dlist_push_tail(&submitted, &batch->node);
	batch->submitted = true;
	if (batch->lease != NULL)
		(void) submit_to_device(batch);
}

void
gpuagg_scan_finish(ColumnScan *batch, GpuaggScanState *carry)
{
	if (batch->values != NULL)
		complete(batch);
	dlist_delete(&batch->node);
	batch->submitted = false;
	*carry = batch->carry;
}

void
gpuagg_scan_run(ColumnScan *batch, GpuaggScanState *carry)
{
	gpuagg_scan_submit(batch, carry);
	gpuagg_scan_finish(batch, carry);
}

void
gpuagg_scans_quiesce(void)
{
	dlist_iter iter;

	dlist_foreach(iter, &submitted)
	{
		ColumnScan *batch = dlist_container(ColumnScan, node, iter.cur);

		if (batch->lease != NULL)
			complete(batch);
	}
}
