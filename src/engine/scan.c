/*
 * scan.c
 *	  Scans of a batch of rows.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "common/protocol.h"
#include "engine/scan.h"

/* Gives back the lease and forgets the rows; never throws. */
static void
leave_memory(ColumnScan *scan)
{
	gpuagg_flight_unlist(&scan->owner);
	gpuagg_flight_leave(&scan->flight.lease);
	scan->flight.values = NULL;
	scan->submitted = false;
}

/* Callback when the scan's context is reset or deleted; never throws. */
static void
drop_scan(void *arg)
{
	leave_memory(arg);
}

/* Finishes a scan, if it has begun. */
static void
complete(ColumnScan *scan)
{
	if (scan->flight.values == NULL)
		return;
	(void) gpuagg_flight_finish(&scan->flight);
	leave_memory(scan);
}

static ColumnScan *
scan_of(FlightOwner *owner)
{
	return (ColumnScan *) ((char *) owner - offsetof(ColumnScan, owner));
}

/* One that still takes rows keeps its memory. */
static void
land(FlightOwner *owner)
{
	if (scan_of(owner)->submitted)
		complete(scan_of(owner));
}

static void
drop_owner(FlightOwner *owner)
{
	leave_memory(scan_of(owner));
}

ColumnScan *
gpuagg_scan_make(GpuaggKind kind, GpuaggOp op, unsigned flags, MemoryContext context)
{
	ColumnScan *scan = MemoryContextAllocZero(context, sizeof(ColumnScan));

	scan->flight.type = GPUAGG_MSG_SCAN;
	scan->flight.work.kind = kind;
	scan->flight.work.op = op;
	scan->flight.work.flags = flags;
	scan->owner.land = land;
	scan->owner.drop = drop_owner;
	scan->on_reset.func = drop_scan;
	scan->on_reset.arg = scan;
	MemoryContextRegisterResetCallback(context, &scan->on_reset);
	return scan;
}

/* Replaces an array by a larger one; its content is lost. */
static void
replace_array(ColumnScan *scan, void **array, Size bytes)
{
	if (*array != NULL)
		pfree(*array);
	*array = NULL;
	*array = MemoryContextAlloc(GetMemoryChunkContext(scan), bytes);
}

/* Rows may differ from the last batch's: settings may change while a cursor is open. */
static void
make_room(ColumnScan *scan, int64 rows)
{
	Flight *flight = &scan->flight;

	if (rows <= scan->result_rows)
		return;
	scan->result_rows = 0;
	replace_array(scan, &flight->results, rows * (flight->work.column[GPUAGG_RESULTS].bits / 8));
	if (flight->work.flags & GPUAGG_SCAN_STATUS)
		replace_array(scan, (void **) &flight->status, rows);
	scan->result_rows = rows;
}

static Size
bytes_of(ColumnScan *const *scans, int nscans, int64 rows)
{
	Size end = 0;

	for (int i = 0; i < nscans; i++)
		end = gpuagg_work_lay_out(GPUAGG_MSG_SCAN, &scans[i]->flight.work, end, rows);
	return end;
}

/* Prepares a scan that is laid out for `rows` rows in memory that starts at `base`. */
static void
begin(ColumnScan *scan, char *base, int64 rows)
{
	Flight *flight = &scan->flight;
	const GpuaggColumnRef *column = flight->work.column;

	make_room(scan, rows);
	scan->capacity = rows;
	scan->nrows = 0;
	flight->values = base + column[GPUAGG_VALUES].at;
	if (flight->work.flags & GPUAGG_SCAN_VALIDITY)
		flight->validity = (uint64 *) (base + column[GPUAGG_VALIDITY].at);
	if (flight->work.flags & GPUAGG_SCAN_HEADS)
		flight->heads = (uint64 *) (base + column[GPUAGG_HEADS].at);
}

bool
gpuagg_scans_begin(ColumnScan *const *scans, int nscans, int64 rows)
{
	FlightLease *lease;
	Size bytes;

	rows = TYPEALIGN_DOWN(64, rows);
	while ((bytes = bytes_of(scans, nscans, rows)) > GPUAGG_SEGMENT_BYTES && rows > 64)
		rows = TYPEALIGN_DOWN(64, rows / 2);
	lease = gpuagg_flight_lease(bytes, nscans, 0, GetMemoryChunkContext(scans[0]));
	if (lease == NULL)
		return false;
	for (int i = 0; i < nscans; i++)
	{
		scans[i]->flight.lease = lease;
		gpuagg_flight_list(&scans[i]->owner);
	}
	for (int i = 0; i < nscans; i++)
		begin(scans[i], gpuagg_flight_lease_base(lease), rows);
	return true;
}

void
gpuagg_scan_begin_in_memory(ColumnScan *scan, int64 rows)
{
	Size bytes;

	(void) bytes_of(&scan, 1, rows);
	bytes = scan->flight.work.column[GPUAGG_RESULTS].at;
	if (bytes > scan->input_bytes)
	{
		scan->input_bytes = 0;
		replace_array(scan, (void **) &scan->inputs, bytes);
		scan->input_bytes = bytes;
	}
	begin(scan, scan->inputs, rows);
}

void
gpuagg_scan_submit(ColumnScan *scan, const GpuaggScanState *carry)
{
	scan->flight.work.nrows = (uint64) scan->nrows;
	scan->flight.work.u.scan.carry = *carry;
	scan->submitted = true;
	gpuagg_flight_submit(&scan->flight);
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
