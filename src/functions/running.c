/*
 * running.c
 *	  gpu_running_sum, _avg, _min, _max, _count(x, exclusive): running values,
 *	  partition by partition.
 *
 * A cursor takes the partition's rows in order and keeps the value up to the last
 * row taken.  Each call asks for the value up to one row: the current one (ROWS),
 * the one before (exclusive), or the last peer (the default frame).  On the CPU
 * rows are taken one at a time, without reading ahead.  Where the device is wanted,
 * after gpuagg.device_min_rows rows of a partition, whole batches are read ahead and
 * scanned there.  Memory is bounded by one batch.  The row whose result
 * overflows raises the error.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "engine/scan.h"
#include "operation/call.h"
#include "operation/running_operation.h"
#include "operation/running_frame.h"
#include "gpuagg.h"
#include "device/stat.h"

#define RETRY_ROWS 65536 /* rows on the CPU before asking for the device again */
#define RESET_ROWS 1024	 /* argument evaluations between resets of their memory */

/* State of one call site in one query. */
typedef struct RunningQuery
{
	const RunningOperation *op;
	RunningFrame frame;
	bool exclusive;
	bool read_ahead;		 /* evaluating x early has no visible effect */
	MemoryContext arguments; /* for their evaluation, reset often */
	ColumnScan *scan;		 /* of a batch of rows; made at first use */
	int64 *counts;			 /* of averages: values not NULL up to each row of the batch */
	int64 counts_room;
} RunningQuery;

/* State of one partition, all zero at its start. */
typedef struct RunningPartition
{
	RunningState *state; /* of the rows taken */
	int64 reached;		 /* rows taken so far */
	int64 retry_at;		 /* ask for the device when reached gets there */
	GpuaggReason held;	 /* recorded, until there are enough rows; or GPUAGG_OK */

	/* if in_batch, the scan holds the results of rows [batch_first, reached) */
	int64 batch_first;
	bool in_batch;

	/* the current peer group, [.., peers_end) */
	int64 peers_end;
	Datum value;
	bool isnull;
} RunningPartition;

static bool
can_read_ahead(FunctionCallInfo fcinfo)
{
	Node *expr = fcinfo->flinfo->fn_expr;

	return expr != NULL && IsA(expr, WindowFunc) &&
		   gpuagg_running_can_read_ahead(linitial(((WindowFunc *) expr)->args));
}

static RunningQuery *
begin_query(FunctionCallInfo fcinfo, WindowObject winobj, Aggregate aggregate)
{
	RunningFrame frame = gpuagg_running_frame(winobj, aggregate);
	bool exclusive = gpuagg_running_exclusive(fcinfo, winobj, 1, frame);
	MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	const RunningOperation *op = gpuagg_running_operation(aggregate,
														  get_fn_expr_argtype(fcinfo->flinfo, 0));
	RunningQuery *query = palloc0(sizeof(RunningQuery));

	gpuagg_begin_report(fcinfo->flinfo);
	if (gpuagg_running_on_device(op)) /* else the device cannot do it */
		gpuagg_begin_engine();
	query->op = op;
	query->frame = frame;
	query->exclusive = exclusive;
	query->read_ahead = can_read_ahead(fcinfo);
	query->arguments = AllocSetContextCreate(CurrentMemoryContext, "running function arguments",
											 ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(old);
	fcinfo->flinfo->fn_extra = query;
	return query;
}

/*
 * Evaluates the argument at a row, in query->arguments, which must be the current
 * context and is reset every RESET_ROWS rows.  False when there is no such row.
 */
static bool
fetch(RunningQuery *query, WindowObject winobj, int64 row, Datum *value, bool *isnull)
{
	bool isout;

	if (row % RESET_ROWS == 0)
	{
		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(query->arguments);
	}
	*value = WinGetFuncArgInPartition(winobj, 0, (int) (row - WinGetCurrentPosition(winobj)),
									  WINDOW_SEEK_CURRENT, false, isnull, &isout);
	return !isout;
}

/* ---- batches on the device ---- */

/* For averages, makes room for the counts of a batch. */
static void
make_counts(RunningQuery *query)
{
	if (!gpuagg_running_needs_counts(query->op) || query->counts_room >= query->scan->capacity)
		return;
	if (query->counts != NULL)
		pfree(query->counts);
	query->counts = NULL;
	query->counts_room = 0;
	query->counts = MemoryContextAlloc(GetMemoryChunkContext(query),
									   query->scan->capacity * sizeof(int64));
	query->counts_room = query->scan->capacity;
}

/*
 * Reads rows into the scan until it is full or the partition ends.  Returns how
 * many values of the partition up to there are not NULL.
 */
static int64
fill_batch(RunningQuery *query, RunningPartition *part, WindowObject winobj)
{
	MemoryContext old = MemoryContextSwitchTo(query->arguments);
	ColumnScan *scan = query->scan;
	Size width = gpuagg_kind_size(scan->flight.work.kind);
	int64 n = part->state->n;
	Datum value;
	bool isnull;

	while (scan->nrows < scan->capacity &&
		   fetch(query, winobj, part->reached + scan->nrows, &value, &isnull))
	{
		int64 i = scan->nrows++;

		gpuagg_scan_set_bit(scan->flight.validity, i, !isnull);
		gpuagg_running_store_column(query->op, (char *) scan->flight.values + i * width, &value,
									&isnull, 1, 1);
		n += !isnull;
		if (query->counts != NULL)
			query->counts[i] = n;
	}
	MemoryContextSwitchTo(old);
	return n;
}

/* Takes a batch of rows on the device; false when it is not to be used now. */
static bool
take_batch(RunningQuery *query, RunningPartition *part, WindowObject winobj)
{
	const RunningOperation *op = query->op;
	GpuaggReason reason = gpuagg_flight_wanted(FLIGHT_WINDOW, part->reached);
	GpuaggScanState carry;
	int64 n;

	if (reason == GPUAGG_DISABLED || part->reached < part->retry_at)
		return false;
	if (!gpuagg_running_on_device(op))
	{
		gpuagg_stat_reason(GPUAGG_CPU_ONLY);
		part->retry_at = PG_INT64_MAX;
		return false;
	}
	if (!query->read_ahead)
	{
		gpuagg_stat_reason(GPUAGG_NO_READ_AHEAD);
		part->retry_at = PG_INT64_MAX;
		return false;
	}
	if (reason != GPUAGG_OK)
	{
		gpuagg_stat_reason(reason);
		part->held = reason;
		part->retry_at = reason == GPUAGG_SMALL ? gpuagg_device_min_rows : PG_INT64_MAX;
		return false;
	}
	if (part->held != GPUAGG_OK)
		gpuagg_stat_withdraw(part->held);
	part->held = GPUAGG_OK;
	if (query->scan == NULL)
		query->scan = gpuagg_scan_make(op->kind, op->op, GPUAGG_SCAN_VALIDITY | GPUAGG_SCAN_STATUS,
									   GetMemoryChunkContext(query));
	if (!gpuagg_scans_begin(&query->scan, 1, gpuagg_batch_rows))
	{
		part->retry_at = part->reached + RETRY_ROWS;
		return false;
	}
	make_counts(query);
	n = fill_batch(query, part, winobj);
	gpuagg_running_to_carry(op, part->state, &carry);
	gpuagg_scan_run(query->scan, &carry);
	gpuagg_running_from_carry(op, part->state, &carry, n);
	part->in_batch = true;
	part->batch_first = part->reached;
	part->reached += query->scan->nrows;
	return true;
}

/* ---- the cursor ---- */

/* Takes one row. */
static void
take_row(RunningQuery *query, RunningPartition *part, WindowObject winobj)
{
	MemoryContext old = MemoryContextSwitchTo(query->arguments);
	Datum value;
	bool isnull;

	if (!fetch(query, winobj, part->reached, &value, &isnull))
		elog(ERROR, "row " INT64_FORMAT " is not in the partition", part->reached);
	if (!isnull)
		gpuagg_running_take(query->op, part->state, value);
	MemoryContextSwitchTo(old);
	gpuagg_stat_direct(1, query->op->width);
	part->reached++;
}

/* The value up to and including a row; rows must be asked for in order. */
static Datum
value_at(RunningQuery *query, RunningPartition *part, WindowObject winobj, int64 row, bool *isnull)
{
	const ColumnScan *scan;
	int64 i;

	while (part->reached <= row)
		if (!take_batch(query, part, winobj))
		{
			part->in_batch = false;
			take_row(query, part, winobj);
		}
	if (!part->in_batch)
		return gpuagg_running_value(query->op, part->state, isnull);

	scan = query->scan;
	i = row - part->batch_first;
	return gpuagg_running_result(query->op, scan->flight.results, scan->flight.status, i,
								 query->counts != NULL ? query->counts[i] : 0, isnull);
}

/* The value of the current row's peer group, computed at its first row. */
static Datum
peers_value(RunningQuery *query, RunningPartition *part, WindowObject winobj, int64 row,
			bool *isnull)
{
	if (row >= part->peers_end)
	{
		int length = query->op->result_length;

		if (length != 0 && part->peers_end > 0 && !part->isnull)
			pfree(DatumGetPointer(part->value));
		part->isnull = true; /* in case of an error below */
		part->peers_end = gpuagg_peers_end(winobj, 1);
		part->value = value_at(query, part, winobj, part->peers_end - 1, &part->isnull);
		if (length != 0 && !part->isnull)
		{
			MemoryContext old = MemoryContextSwitchTo(part->state->context);

			part->value = datumCopy(part->value, false, length);
			MemoryContextSwitchTo(old);
		}
		WinSetMarkPosition(winobj, row);
	}
	*isnull = part->isnull;
	return part->value;
}

static Datum
running(FunctionCallInfo fcinfo, Aggregate aggregate)
{
	WindowObject winobj = PG_WINDOW_OBJECT();
	RunningQuery *query = fcinfo->flinfo->fn_extra;
	RunningPartition *part;
	int64 row = WinGetCurrentPosition(winobj);

	if (query == NULL)
		query = begin_query(fcinfo, winobj, aggregate);
	part = WinGetPartitionLocalMemory(winobj, sizeof(RunningPartition));
	if (part->state == NULL)
		part->state = gpuagg_running_state_make(query->op, GetMemoryChunkContext(part));

	if (query->frame == FRAME_PEERS)
		return peers_value(query, part, winobj, row, &fcinfo->isnull);

	if (query->exclusive)
	{
		if (row == 0)
			return gpuagg_running_value(query->op, part->state, &fcinfo->isnull);
		row--;
	}
	WinSetMarkPosition(winobj, row);
	return value_at(query, part, winobj, row, &fcinfo->isnull);
}

#define DEFINE_RUNNING(name, aggregate)           \
	PG_FUNCTION_INFO_V1(gpuagg_running_##name);   \
                                                  \
	Datum gpuagg_running_##name(PG_FUNCTION_ARGS) \
	{                                             \
		return running(fcinfo, aggregate);        \
	}

DEFINE_RUNNING(sum, AGGREGATE_SUM)
DEFINE_RUNNING(avg, AGGREGATE_AVG)
DEFINE_RUNNING(min, AGGREGATE_MIN)
DEFINE_RUNNING(max, AGGREGATE_MAX)
DEFINE_RUNNING(count, AGGREGATE_COUNT)
