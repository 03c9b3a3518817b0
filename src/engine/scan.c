/*
 * scan.c
 *	  Batches of scans.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "engine/cpu.h"
#include "engine/device.h"
#include "engine/scan.h"
#include "gpuagg.h"
#include "stat.h"


/* Bits that the device's window of 256 has, less the head room for 2^31 rows. */
#define WINDOW_CHUNKS 8
#define WINDOW_BITS	  (32 * WINDOW_CHUNKS - 33)

/* Places of the parts of a batch of `capacity` rows in its lease. */
typedef struct Layout
{
	Size validity;
	Size results;
	Size status;
	Size end;
} Layout;

static Layout
layout_of(GpuaggKind kind, int64 capacity)
{
	Layout l;

	l.validity = TYPEALIGN(GPUAGG_ALIGN, capacity * gpuagg_kind_size(kind));
	l.results = TYPEALIGN(GPUAGG_ALIGN, l.validity + (capacity + 63) / 64 * sizeof(uint64));
	l.status = TYPEALIGN(GPUAGG_ALIGN, l.results + capacity * gpuagg_scan_result_size(kind, GPUAGG_SUM, 0));
	l.end = TYPEALIGN(GPUAGG_ALIGN, l.status + capacity);
	return l;
}

static void
release_lease(void *arg)
{
	ScanBatch *batch = arg;

	if (batch->lease != NULL)
		gpuagg_device_release(batch->lease);
	batch->lease = NULL;
}

ScanBatch *
gpuagg_scan_make(GpuaggKind kind, MemoryContext context)
{
	ScanBatch *batch = MemoryContextAllocZero(context, sizeof(ScanBatch));

	batch->kind = kind;
	batch->on_reset.func = release_lease;
	batch->on_reset.arg = batch;
	MemoryContextRegisterResetCallback(context, &batch->on_reset);
	return batch;
}

/* Rows per batch: what is asked for, as far as one lease holds them. */
static int64
rows_per_batch(GpuaggKind kind)
{
	int64 rows = gpuagg_batch_rows;

	while (layout_of(kind, rows).end > GPUAGG_SEGMENT_BYTES)
		rows = rows / 2;
	return rows;
}

/* The settings may change while a cursor is open, and with them the rows of a batch. */
static void
make_room(ScanBatch *batch, int64 rows)
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
	batch->results = MemoryContextAlloc(context, rows * gpuagg_scan_result_size(batch->kind, GPUAGG_SUM, 0));
	batch->status = MemoryContextAlloc(context, rows);
	batch->room = rows;
}

bool
gpuagg_scan_begin(ScanBatch *batch)
{
	int64 rows = rows_per_batch(batch->kind);

	if (!gpuagg_device_ready())
		return false;
	batch->lease = gpuagg_device_lease(layout_of(batch->kind, rows).end);
	if (batch->lease == NULL)
		return false;
	make_room(batch, rows);
	batch->capacity = rows;
	batch->nrows = 0;
	batch->values = batch->lease->base;
	batch->validity = (uint64 *) (batch->lease->base + layout_of(batch->kind, rows).validity);
	return true;
}

/*
 * Where the device's window must start so that it holds all values and the
 * carry; false when no window does.
 */
static bool
choose_window(const ScanBatch *batch, const GpuaggFloatSum *carry, int *window)
{
	const double *values = batch->values;
	int low = 0x7ff; /* bits from 2^-1074 up: lowest in use, */
	int high = 0;	 /* and first not in use */
	int first;
	int last;

	for (int64 i = 0; i < batch->nrows; i++)
	{
		uint64 bits;
		int exponent;

		if ((batch->validity[i / 64] >> (i % 64) & 1) == 0)
			continue;
		memcpy(&bits, &values[i], sizeof(bits));
		exponent = (int) (bits >> 52) & 0x7ff;
		if (exponent == 0x7ff || bits << 1 == 0)
			continue;
		exponent = Max(exponent, 1) - 1;
		low = Min(low, exponent);
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

/* Runs the batch on the device; false, with nothing changed, when it did not. */
static bool
run_on_device(ScanBatch *batch, GpuaggScanState *carry)
{
	Layout l = layout_of(batch->kind, batch->capacity);
	GpuaggRequest request;
	GpuaggReply reply;
	uint32 id;
	int window = 0;

	gpuagg_float_sum_propagate(gpuagg_float_sum_of(&carry->f));
	if (batch->kind == GPUAGG_FLOAT64 &&
		!choose_window(batch, gpuagg_float_sum_of(&carry->f), &window))
	{
		gpuagg_stat_fallback(GPUAGG_RANGE);
		return false;
	}

	memset(&request, 0, sizeof(request));
	request.h.type = GPUAGG_MSG_SCAN;
	request.u.scan.kind = batch->kind;
	request.u.scan.flags = GPUAGG_SCAN_VALIDITY;
	request.u.scan.window = window;
	request.u.scan.nrows = (uint64) batch->nrows;
	request.u.scan.values_offset = 0;
	request.u.scan.validity_offset = l.validity;
	request.u.scan.result_offset = l.results;
	request.u.scan.status_offset = l.status;
	request.u.scan.carry = *carry;
	id = gpuagg_device_submit(batch->lease, &request);
	if (id == 0 || !gpuagg_device_wait(id, &reply))
		return false;

	memcpy(batch->results, batch->lease->base + l.results,
		   batch->nrows * gpuagg_scan_result_size(batch->kind, GPUAGG_SUM, 0));
	memcpy(batch->status, batch->lease->base + l.status, batch->nrows);
	*carry = reply.u.scan.carry;
	gpuagg_float_sum_propagate(gpuagg_float_sum_of(&carry->f));
	return true;
}

void
gpuagg_scan_run(ScanBatch *batch, GpuaggScanState *carry)
{
	int64 bytes = batch->nrows * (int64) gpuagg_kind_size(batch->kind);

	if (run_on_device(batch, carry))
		gpuagg_stat_batch(ENGINE_DEVICE, batch->nrows, bytes);
	else
	{
		gpuagg_cpu_scan(batch->kind, batch->values, batch->validity, batch->nrows, carry,
						batch->results, batch->status);
		gpuagg_stat_batch(ENGINE_CPU, batch->nrows, bytes);
	}
	release_lease(batch);
	batch->values = NULL;
	batch->validity = NULL;
}
