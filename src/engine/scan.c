/*
 * scan.c
 *	  Scans of a batch of rows.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "common/protocol.h"
#include "engine/scan.h"

/* Forgets the rows; never throws. */
static void
leave_memory(ColumnScan *scan)
{
	gpuagg_flight_unlist(&scan->owner);
	gpuagg_flight_leave(&scan->flight.lease);
	scan->values = NULL;
	scan->validity = NULL;
	scan->heads = NULL;
}

/* The context goes away, and with it the rows: never throws. */
static void
drop_scan(void *arg)
{
	leave_memory(arg);
}

/* Brings a scan to its results. */
static void
complete(ColumnScan *scan)
{
	if (scan->values == NULL)
		return;
	(void) gpuagg_flight_finish(&scan->flight);
	scan->engine = scan->flight.engine;
	leave_memory(scan);
}

static void
land(FlightOwner *owner)
{
	complete((ColumnScan *) ((char *) owner - offsetof(ColumnScan, owner)));
}

ColumnScan *
gpuagg_scan_make(GpuaggKind kind, GpuaggOp op, unsigned flags, MemoryContext context)
{
	ColumnScan *scan = MemoryContextAllocZero(context, sizeof(ColumnScan));

	scan->kind = kind;
	scan->op = op;
	scan->flags = flags;
	scan->owner.land = land;
	scan->on_reset.func = drop_scan;
	scan->on_reset.arg = scan;
	MemoryContextRegisterResetCallback(context, &scan->on_reset);
	return scan;
}

/* A larger array in place of one whose content is not kept. */
static void *
replace_array(const ColumnScan *scan, void *array, Size bytes)
{
	if (array != NULL)
		pfree(array);
	return MemoryContextAlloc(GetMemoryChunkContext((void *) scan), bytes);
}

/* The settings may change while a cursor is open, and with them the rows of a batch. */
static void
make_room(ColumnScan *scan, int64 rows)
{
	if (rows <= scan->result_rows)
		return;
	scan->result_rows = 0;
	scan->results = replace_array(scan, scan->results,
								  rows * gpuagg_scan_result_size(scan->kind, scan->op, 0));
	if (scan->flags & GPUAGG_SCAN_STATUS)
		scan->status = replace_array(scan, scan->status, rows);
	scan->result_rows = rows;
}

/* Lays out the columns of so many rows from `origin` on; returns where they end. */
static Size
lay_out(const ColumnScan *scan, GpuaggWork *work, Size origin, int64 rows)
{
	work->kind = scan->kind;
	work->op = scan->op;
	work->flags = scan->flags;
	return gpuagg_work_lay_out(GPUAGG_MSG_SCAN, work, origin, rows);
}

static Size
bytes_of(ColumnScan *const *scans, int nscans, int64 rows)
{
	GpuaggWork work;
	Size end = 0;

	for (int i = 0; i < nscans; i++)
		end = lay_out(scans[i], &work, end, rows);
	return end;
}

/* Makes a scan ready for so many rows in memory that starts at `base`; returns where its part ends. */
static Size
begin(ColumnScan *scan, char *base, Size origin, int64 rows)
{
	GpuaggWork *work = &scan->flight.work;
	Size end = lay_out(scan, work, origin, rows);

	make_room(scan, rows);
	scan->flight.type = GPUAGG_MSG_SCAN;
	scan->capacity = rows;
	scan->nrows = 0;
	scan->values = base + work->column[GPUAGG_VALUES].at;
	if (scan->flags & GPUAGG_SCAN_VALIDITY)
		scan->validity = (uint64 *) (base + work->column[GPUAGG_VALIDITY].at);
	if (scan->flags & GPUAGG_SCAN_HEADS)
		scan->heads = (uint64 *) (base + work->column[GPUAGG_HEADS].at);
	return end;
}

bool
gpuagg_scans_begin(ColumnScan *const *scans, int nscans, int64 rows)
{
	FlightLease *lease;
	Size origin = 0;

	rows = TYPEALIGN_DOWN(64, rows);
	while (rows > 64 && bytes_of(scans, nscans, rows) > GPUAGG_SEGMENT_BYTES)
		rows = TYPEALIGN_DOWN(64, rows / 2);
	lease = gpuagg_flight_lease(bytes_of(scans, nscans, rows), nscans,
								GetMemoryChunkContext(scans[0]));
	if (lease == NULL)
		return false;
	for (int i = 0; i < nscans; i++)
		scans[i]->flight.lease = lease;
	for (int i = 0; i < nscans; i++)
		origin = begin(scans[i], gpuagg_flight_lease_base(lease), origin, rows);
	return true;
}

void
gpuagg_scan_begin_in_memory(ColumnScan *scan, int64 rows)
{
	GpuaggWork work;
	Size bytes;

	(void) lay_out(scan, &work, 0, rows);
	bytes = work.column[GPUAGG_RESULTS].at;
	if (bytes > scan->input_bytes)
	{
		scan->input_bytes = 0;
		scan->inputs = replace_array(scan, scan->inputs, bytes);
		scan->input_bytes = bytes;
	}
	(void) begin(scan, scan->inputs, 0, rows);
}

void
gpuagg_scan_submit(ColumnScan *scan, const GpuaggScanState *carry)
{
	Flight *flight = &scan->flight;

	flight->work.nrows = (uint64) scan->nrows;
	flight->work.u.scan.carry = *carry;
	flight->values = scan->values;
	flight->validity = scan->validity;
	flight->heads = scan->heads;
	flight->results = scan->results;
	flight->status = scan->status;
	if (flight->lease != NULL)
		gpuagg_flight_list(&scan->owner);
	gpuagg_flight_submit(flight);
}

void
gpuagg_scan_finish(ColumnScan *scan, GpuaggScanState *carry)
{
	complete(scan);
	*carry = scan->flight.work.u.scan.carry;
}

void
gpuagg_scan_run(ColumnScan *scan, GpuaggScanState *carry)
{
	gpuagg_scan_submit(scan, carry);
	gpuagg_scan_finish(scan, carry);
}
