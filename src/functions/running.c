/*
 * running.c
 *	  gpu_running_sum, _avg, _min, _max, _count(x, exclusive): running values,
 *	  partition by partition.
 *
 * A cursor walks the partition's rows in order and knows the value up to the row
 * it has reached; each call asks it for the value up to one row: the current one
 * (ROWS), the one before (exclusive), or the last peer (the default frame).
 * Rows are taken one at a time on the CPU, so that nothing is read ahead.  Past
 * gpuagg.device_min_rows rows of a partition, whole batches are read ahead and
 * scanned on the device.  Memory is bounded by one batch; an overflow is raised
 * by the row that shows it.
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

/* Of one call site in one query. */
typedef struct RunningQuery
{
	const RunningOperation *op;
	RunningFrame frame;
	bool exclusive;
	bool read_ahead;		 /* evaluating x early changes nothing */
	MemoryContext arguments; /* for their evaluation, reset often */
	ColumnScan *batch;		 /* made at first use */
	int64 *counts;			 /* of averages: values not NULL up to each row of the batch */
	int64 counts_room;
} RunningQuery;

/* Of one partition, all zero at its start. */
typedef struct RunningPartition
{
	RunningState *state; /* of the rows taken */
	int64 reached;		 /* rows taken so far */
	int64 retry_at;		 /* ask for the device when reached gets there */

	/* rows of the partition whose values the batch holds: [first, reached) */
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
	if (op->kind != 0) /* else never on the device */
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
 * The argument at a row, evaluated in memory that is reset every RESET_ROWS
 * rows, which stays the current one.  False when the partition has no such row.
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

/* Room for the counts of a batch, where they are wanted. */
static void
make_counts(RunningQuery *query)
{
	if (query->op->aggregate != AGGREGATE_AVG || query->counts_room >= query->batch->capacity)
		return;
	if (query->counts != NULL)
		pfree(query->counts);
	query->counts = NULL;
	query->counts_room = 0;
	query->counts = MemoryContextAlloc(GetMemoryChunkContext(query),
									   query->batch->capacity * sizeof(int64));
	query->counts_room = query->batch->capacity;
}

/*
 * Reads rows into the batch, as many as there are and it holds.  Returns how many
 * values are not NULL up to the last of them.
 */
static int64
fill_batch(RunningQuery *query, RunningPartition *part, WindowObject winobj)
{
	MemoryContext old = MemoryContextSwitchTo(query->arguments);
	ColumnScan *batch = query->batch;
	Size width = gpuagg_kind_size(batch->flight.work.kind);
	int64 n = part->state->n;
	Datum value;
	bool isnull;

	while (batch->nrows < batch->capacity &&
		   fetch(query, winobj, part->reached + batch->nrows, &value, &isnull))
	{
		int64 i = batch->nrows++;

		gpuagg_scan_set_bit(batch->flight.validity, i, !isnull);
		gpuagg_running_store_column(query->op, (char *) batch->flight.values + i * width, &value,
									&isnull, 1, 1);
		n += !isnull;
		if (query->counts != NULL)
			query->counts[i] = n;
	}
	MemoryContextSwitchTo(old);
	return n;
}

/* Takes a batch of rows at once; false when there is no device for it. */
static bool
take_batch(RunningQuery *query, RunningPartition *part, WindowObject winobj)
{
	const RunningOperation *op = query->op;
	GpuaggReason reason = gpuagg_flight_wanted(part->reached, 0);
	GpuaggScanState carry;
	int64 n;

	if (reason == GPUAGG_DISABLED || part->reached < part->retry_at)
		return false;
	if (op->kind == 0)
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
		part->retry_at = gpuagg_device_min_rows;
		return false;
	}
	if (query->batch == NULL)
		query->batch = gpuagg_scan_make(op->kind, op->op, GPUAGG_SCAN_VALIDITY | GPUAGG_SCAN_STATUS,
										GetMemoryChunkContext(query));
	if (!gpuagg_scans_begin(&query->batch, 1, gpuagg_batch_rows))
	{
		part->retry_at = part->reached + RETRY_ROWS;
		return false;
	}
	make_counts(query);
	n = fill_batch(query, part, winobj);
	gpuagg_running_to_carry(op, part->state, &carry);
	gpuagg_scan_run(query->batch, &carry);
	gpuagg_running_from_carry(op, part->state, &carry, n);
	part->in_batch = true;
	part->batch_first = part->reached;
	part->reached += query->batch->nrows;
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

/* The value up to and with a row; rows must be asked for in order. */
static Datum
value_at(RunningQuery *query, RunningPartition *part, WindowObject winobj, int64 row, bool *isnull)
{
	const ColumnScan *batch;
	int64 i;

	while (part->reached <= row)
		if (!take_batch(query, part, winobj))
		{
			part->in_batch = false;
			take_row(query, part, winobj);
		}
	if (!part->in_batch)
		return gpuagg_running_value(query->op, part->state, isnull);

	batch = query->batch;
	i = row - part->batch_first;
	return gpuagg_running_result(query->op, batch->flight.results, batch->flight.status, i,
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
		part->isnull = true; /* in case of an error on the way */
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
