/*
 * running_sum.c
 *	  gpu_running_sum(x, exclusive): running sums, partition by partition.
 *
 * A cursor walks the partition's rows in order and knows the sum up to the row
 * it has reached; each call asks it for the sum up to one row: the current one
 * (ROWS), the one before (exclusive), or the last peer (the default frame).
 * Rows are taken one at a time on the CPU, so that nothing is read ahead.  Past
 * gpuagg.device_min_rows rows of a partition, whole batches are read ahead and
 * scanned on the device.  Memory is bounded by one batch; an overflow is raised
 * by the row that shows it.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/memutils.h"

#include "engine/scan.h"
#include "engine/value.h"
#include "functions/float_state.h"
#include "functions/functions.h"
#include "functions/window_frame.h"
#include "gpuagg.h"
#include "stat.h"

PG_FUNCTION_INFO_V1(gpuagg_running_sum_int2);
PG_FUNCTION_INFO_V1(gpuagg_running_sum_int4);
PG_FUNCTION_INFO_V1(gpuagg_running_sum_int8);
PG_FUNCTION_INFO_V1(gpuagg_running_sum_float4);
PG_FUNCTION_INFO_V1(gpuagg_running_sum_float8);
PG_FUNCTION_INFO_V1(gpuagg_running_sum_numeric);

#define RETRY_ROWS 65536 /* rows on the CPU before asking for the device again */
#define RESET_ROWS 1024	 /* argument evaluations between resets of their memory */

typedef enum RunningType
{
	RUNNING_INT2,
	RUNNING_INT4,
	RUNNING_INT8,
	RUNNING_FLOAT4,
	RUNNING_FLOAT8,
	RUNNING_NUMERIC
} RunningType;

/* Of one call site in one query. */
typedef struct RunningQuery
{
	RunningType type;
	RunningFrame frame;
	bool exclusive;
	bool read_ahead;		 /* evaluating x early changes nothing */
	MemoryContext arguments; /* for their evaluation, reset often */
	ScanBatch *batch;		 /* made at first use */
} RunningQuery;

/* Of one partition, all zero at its start. */
typedef struct RunningPartition
{
	MemoryContext context; /* of the partition */
	int64 reached;		   /* rows taken so far */
	int64 retry_at;		   /* ask for the device when reached gets there */

	/* the sum of the rows taken; of floats, fsum below */
	int64 n; /* not NULL; integers and numeric */
	GpuaggInt128 isum;
	Numeric nsum;

	/* rows of the partition whose sums the batch holds: [first, reached) */
	int64 batch_first;
	bool in_batch;

	/* the current peer group, [.., peers_end) */
	int64 peers_end;
	Datum value;
	bool isnull;

	GrowingSum fsum; /* of variable size, hence last */
} RunningPartition;

static inline GpuaggKind
kind_of(RunningType type)
{
	switch (type)
	{
		case RUNNING_INT2:
		case RUNNING_INT4:
			return GPUAGG_INT32;
		case RUNNING_INT8:
			return GPUAGG_INT64;
		case RUNNING_FLOAT4:
			return GPUAGG_FLOAT32;
		default:
			return GPUAGG_FLOAT64;
	}
}

/* Bytes of a value, for the statistics; numerics vary and count as none. */
static inline int
width_of(RunningType type)
{
	return type == RUNNING_NUMERIC ? 0 : (int) gpuagg_kind_size(kind_of(type));
}

/*
 * Whether x may be evaluated for rows that the query perhaps never asks for: it
 * has no side effects, and only leakproof functions, which raise no error, see
 * the row.  Anything else could fail a LIMIT that core and the CPU let pass.
 */
static bool
can_read_ahead(FunctionCallInfo fcinfo)
{
	Node *expr = fcinfo->flinfo->fn_expr;
	Node *x;

	if (expr == NULL || !IsA(expr, WindowFunc))
		return false;
	x = linitial(((WindowFunc *) expr)->args);
	return !contain_leaked_vars(x) && !contain_volatile_functions(x);
}

static RunningQuery *
begin_query(FunctionCallInfo fcinfo, WindowObject winobj, RunningType type)
{
	RunningFrame frame = gpuagg_running_frame(winobj, "gpu_running_sum", "gpu_sum");
	bool exclusive = gpuagg_running_exclusive(fcinfo, winobj, 1, frame);
	RunningQuery *query;

	if (type != RUNNING_NUMERIC) /* never on the device */
		gpuagg_begin(fcinfo->flinfo);
	query = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(RunningQuery));
	query->type = type;
	query->frame = frame;
	query->exclusive = exclusive;
	query->read_ahead = can_read_ahead(fcinfo);
	query->arguments = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "running sum arguments",
											 ALLOCSET_DEFAULT_SIZES);
	fcinfo->flinfo->fn_extra = query;
	return query;
}

/*
 * The argument at a row, evaluated in memory that is reset every RESET_ROWS
 * rows.  False when the partition has no such row.
 */
static bool
fetch(RunningQuery *query, WindowObject winobj, int64 row, Datum *value, bool *isnull)
{
	MemoryContext old;
	bool isout;

	if (row % RESET_ROWS == 0)
	{
		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(query->arguments);
	}
	old = MemoryContextSwitchTo(query->arguments);
	*value = WinGetFuncArgInPartition(winobj, 0, (int) (row - WinGetCurrentPosition(winobj)),
									  WINDOW_SEEK_CURRENT, false, isnull, &isout);
	MemoryContextSwitchTo(old);
	return !isout;
}

static inline int64
int_value(RunningType type, Datum value)
{
	switch (type)
	{
		case RUNNING_INT2:
			return DatumGetInt16(value);
		case RUNNING_INT4:
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

static inline double
float_value(RunningType type, Datum value)
{
	return type == RUNNING_FLOAT4 ? (double) DatumGetFloat4(value) : DatumGetFloat8(value);
}

/* numeric_add() leaves an unpacked copy of its argument behind: not in the partition's memory. */
static void
deposit_numeric(RunningQuery *query, RunningPartition *part, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(query->arguments);
	Datum sum = value;

	if (part->n > 0)
		sum = DirectFunctionCall2(numeric_add, NumericGetDatum(part->nsum), value);
	MemoryContextSwitchTo(part->context);
	if (part->n > 0)
		pfree(part->nsum);
	part->nsum = DatumGetNumericCopy(sum);
	part->n++;
	MemoryContextSwitchTo(old);
}

static void
deposit(RunningQuery *query, RunningPartition *part, Datum value)
{
	switch (query->type)
	{
		case RUNNING_INT2:
		case RUNNING_INT4:
		case RUNNING_INT8:
			part->isum = gpuagg_int128_add(part->isum,
										   gpuagg_int128_from(int_value(query->type, value)));
			part->n++;
			break;
		case RUNNING_FLOAT4:
		case RUNNING_FLOAT8:
			gpuagg_growing_sum_deposit(&part->fsum, part, float_value(query->type, value), 1);
			break;
		case RUNNING_NUMERIC:
			deposit_numeric(query, part, value);
			break;
	}
}

/* Reads rows into the batch, as many as there are and it holds. */
static void
fill_batch(RunningQuery *query, RunningPartition *part, WindowObject winobj)
{
	ScanBatch *batch = query->batch;
	Datum value;
	bool isnull;

	while (batch->nrows < batch->capacity &&
		   fetch(query, winobj, part->reached + batch->nrows, &value, &isnull))
	{
		int64 i = batch->nrows++;

		gpuagg_scan_set_valid(batch, i, !isnull);
		switch (batch->kind)
		{
			case GPUAGG_INT32:
				((int32 *) batch->values)[i] = isnull ? 0 : (int32) int_value(query->type, value);
				break;
			case GPUAGG_INT64:
				((int64 *) batch->values)[i] = isnull ? 0 : int_value(query->type, value);
				break;
			case GPUAGG_FLOAT32:
				((float *) batch->values)[i] = isnull ? 0 : DatumGetFloat4(value);
				break;
			case GPUAGG_FLOAT64:
				((double *) batch->values)[i] = isnull ? 0 : DatumGetFloat8(value);
				break;
		}
	}
}

/* Hands the partition's state to a scan, and takes it back. */
static void
scan_batch(RunningQuery *query, RunningPartition *part)
{
	GpuaggScanState carry;
	GpuaggFloatSum *full = gpuagg_float_sum_of(&carry.f);

	gpuagg_float_sum_init(full, 0, GPUAGG_CHUNKS);
	carry.sum = part->isum;
	gpuagg_float_sum_merge(full, part->fsum.acc);
	if (!gpuagg_kind_is_float(query->batch->kind))
		carry.f.counts.n = part->n;

	gpuagg_scan_run(query->batch, &carry);

	part->isum = carry.sum;
	part->n = carry.f.counts.n;
	if (gpuagg_kind_is_float(query->batch->kind))
	{
		gpuagg_growing_sum_free(&part->fsum);
		gpuagg_growing_sum_init(&part->fsum);
		gpuagg_growing_sum_merge(&part->fsum, part, full);
	}
}

/* Takes a batch of rows at once; false when there is no device for it. */
static bool
take_batch(RunningQuery *query, RunningPartition *part, WindowObject winobj)
{
	if (query->type == RUNNING_NUMERIC || gpuagg_device == DEVICE_CPU)
		return false;
	if (part->reached < part->retry_at)
		return false;
	if (!query->read_ahead)
	{
		gpuagg_stat_reason(GPUAGG_NO_READ_AHEAD);
		part->retry_at = PG_INT64_MAX;
		return false;
	}
	if (part->reached < gpuagg_device_min_rows)
	{
		gpuagg_stat_reason(GPUAGG_SMALL);
		part->retry_at = gpuagg_device_min_rows;
		return false;
	}
	if (query->batch == NULL)
		query->batch = gpuagg_scan_make(kind_of(query->type), GPUAGG_SUM,
										GPUAGG_SCAN_VALIDITY | GPUAGG_SCAN_STATUS,
										GetMemoryChunkContext(query));
	if (!gpuagg_scan_begin(query->batch))
	{
		part->retry_at = part->reached + RETRY_ROWS;
		return false;
	}
	fill_batch(query, part, winobj);
	scan_batch(query, part);
	part->in_batch = true;
	part->batch_first = part->reached;
	part->reached += query->batch->nrows;
	return true;
}

/* Takes rows until the sums up to `row` are known. */
static void
advance_to(RunningQuery *query, RunningPartition *part, WindowObject winobj, int64 row)
{
	while (part->reached <= row)
	{
		Datum value;
		bool isnull;

		if (take_batch(query, part, winobj))
			continue;
		part->in_batch = false;
		if (!fetch(query, winobj, part->reached, &value, &isnull))
			elog(ERROR, "row " INT64_FORMAT " is not in the partition", part->reached);
		if (!isnull)
			deposit(query, part, value);
		gpuagg_stat_direct(1, width_of(query->type));
		part->reached++;
	}
}

/* The sum up to a row that the batch holds. */
static Datum
batch_value(RunningQuery *query, int64 i, bool *isnull)
{
	const ScanBatch *batch = query->batch;

	*isnull = batch->status[i] == GPUAGG_ROW_NULL;
	if (*isnull)
		return (Datum) 0;
	switch (batch->kind)
	{
		case GPUAGG_INT32:
			if (batch->status[i] == GPUAGG_ROW_OVERFLOW)
				gpuagg_bigint_overflow();
			return Int64GetDatum(((int64 *) batch->results)[i]);
		case GPUAGG_INT64:
			return NumericGetDatum(gpuagg_int128_to_numeric(((GpuaggInt128 *) batch->results)[i]));
		case GPUAGG_FLOAT32:
			if (batch->status[i] == GPUAGG_ROW_OVERFLOW)
				float_overflow_error();
			return Float4GetDatum(((float *) batch->results)[i]);
		case GPUAGG_FLOAT64:
			if (batch->status[i] == GPUAGG_ROW_OVERFLOW)
				float_overflow_error();
			return Float8GetDatum(((double *) batch->results)[i]);
	}
	pg_unreachable();
}

/* The sum of all rows taken. */
static Datum
sum_value(RunningQuery *query, RunningPartition *part, bool *isnull)
{
	if (query->type == RUNNING_FLOAT4 || query->type == RUNNING_FLOAT8)
		return gpuagg_float_value(kind_of(query->type), part->fsum.acc, isnull);

	*isnull = part->n == 0;
	if (*isnull)
		return (Datum) 0;
	switch (query->type)
	{
		case RUNNING_INT2:
		case RUNNING_INT4:
			return Int64GetDatum(gpuagg_int64_value(part->isum));
		case RUNNING_INT8:
			return NumericGetDatum(gpuagg_int128_to_numeric(part->isum));
		default:
			return NumericGetDatum(part->nsum);
	}
}

/* The sum up to and with a row; rows must be asked for in order. */
static Datum
value_at(RunningQuery *query, RunningPartition *part, WindowObject winobj, int64 row, bool *isnull)
{
	advance_to(query, part, winobj, row);
	if (part->in_batch)
		return batch_value(query, row - part->batch_first, isnull);
	return sum_value(query, part, isnull);
}

/* The value of the current row's peer group, computed at its first row. */
static Datum
peers_value(RunningQuery *query, RunningPartition *part, WindowObject winobj, int64 row,
			bool *isnull)
{
	if (row >= part->peers_end)
	{
		bool on_its_own = query->type == RUNNING_INT8; /* not part of the state */

		if (on_its_own && part->peers_end > 0 && !part->isnull)
			pfree(DatumGetPointer(part->value));
		part->peers_end = gpuagg_peers_end(winobj, 1);
		part->value = value_at(query, part, winobj, part->peers_end - 1, &part->isnull);
		if (on_its_own && !part->isnull)
		{
			MemoryContext old = MemoryContextSwitchTo(part->context);

			part->value = datumCopy(part->value, false, -1);
			MemoryContextSwitchTo(old);
		}
		WinSetMarkPosition(winobj, row);
	}
	*isnull = part->isnull;
	return part->value;
}

static Datum
running_sum(FunctionCallInfo fcinfo, RunningType type)
{
	WindowObject winobj = PG_WINDOW_OBJECT();
	RunningQuery *query = fcinfo->flinfo->fn_extra;
	RunningPartition *part;
	int64 row = WinGetCurrentPosition(winobj);

	if (query == NULL)
		query = begin_query(fcinfo, winobj, type);
	part = WinGetPartitionLocalMemory(winobj, sizeof(RunningPartition));
	if (part->context == NULL)
	{
		part->context = GetMemoryChunkContext(part);
		gpuagg_growing_sum_init(&part->fsum);
	}

	if (query->frame == FRAME_PEERS)
		return peers_value(query, part, winobj, row, &fcinfo->isnull);

	if (query->exclusive)
	{
		if (row == 0)
			PG_RETURN_NULL();
		row--;
	}
	WinSetMarkPosition(winobj, row);
	return value_at(query, part, winobj, row, &fcinfo->isnull);
}

Datum
gpuagg_running_sum_int2(PG_FUNCTION_ARGS)
{
	return running_sum(fcinfo, RUNNING_INT2);
}

Datum
gpuagg_running_sum_int4(PG_FUNCTION_ARGS)
{
	return running_sum(fcinfo, RUNNING_INT4);
}

Datum
gpuagg_running_sum_int8(PG_FUNCTION_ARGS)
{
	return running_sum(fcinfo, RUNNING_INT8);
}

Datum
gpuagg_running_sum_float4(PG_FUNCTION_ARGS)
{
	return running_sum(fcinfo, RUNNING_FLOAT4);
}

Datum
gpuagg_running_sum_float8(PG_FUNCTION_ARGS)
{
	return running_sum(fcinfo, RUNNING_FLOAT8);
}

Datum
gpuagg_running_sum_numeric(PG_FUNCTION_ARGS)
{
	return running_sum(fcinfo, RUNNING_NUMERIC);
}
