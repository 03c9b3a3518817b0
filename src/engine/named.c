/*
 * named.c
 *	  The algorithms of common/algorithm.h by name, over columns in memory.
 *
 * A column goes to the device in chunks, one request each.  This file joins their
 * results: the rows of a chunk before its first head are combined with the carry
 * of the chunks before.  Sums of integers are modulo 2^64, before and after joining;
 * a check before the run raises an error if one leaves int64.
 */
#include "compat.h"

#include "common/reduced.h"
#include "engine/flight.h"
#include "engine/cpu.h"
#include "device/client.h"
#include "engine/named.h"
#include "types/value.h"
#include "gpuagg.h"
#include "device/stat.h"
#include "device/shared_state.h"

#define RETRY_TICK_MS 20 /* between tries while the device is busy */

/* The run of an algorithm over a column on the device. */
typedef struct LadderRun
{
	const ArrayColumn *column;
	GpuaggTask task;
	GpuaggAlgorithm algorithm;
	DeviceLease *lease;
	int64 chunk_rows; /* a multiple of 64 if there is more than one chunk */
	GpuaggWork work;  /* of a chunk */
	uint64 reduced;	  /* result of a chunk */
	int64 deadline;	  /* for what the device is doing now, ms */
} LadderRun;

/* ---- what can go wrong ---- */

/* Raises an error when a sum among the results is out of the range of bigint. */
static void
check_sums(const ArrayColumn *column, GpuaggTask task)
{
	if (column->op != GPUAGG_SUM || column->kind != GPUAGG_INT64)
		return; /* sums of int32 stay in range: 2^31 rows sum to at most 2^62 */
	if (task == GPUAGG_REDUCE)
	{
		GpuaggReduced total;

		gpuagg_reduced_init(&total);
		gpuagg_cpu_reduce(column->kind, column->op, column->values, NULL, column->nrows, &total);
		(void) gpuagg_int64_value(total.sum);
	}
	else
	{
		PlainValue carry = gpuagg_plain_identity(column->kind, column->op);

		gpuagg_plain_scan(column->kind, column->op, column->exclusive, column->values,
						  column->heads, column->nrows, &carry, NULL);
	}
}

/* Waits a tick if the device is busy and the deadline not over; else raises an error. */
static void
wait_or_fail(const LadderRun *run, GpuaggReason reason)
{
	const char *hint = gpuagg_reason_hint(reason);

	if ((reason == GPUAGG_BUSY || reason == GPUAGG_NO_STAGING ||
		 reason == GPUAGG_NO_DEVICE_MEMORY) &&
		gpuagg_monotonic_ms() < run->deadline)
	{
		gpuagg_wait_tick(RETRY_TICK_MS);
		return;
	}
	ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("algorithm \"%s\" has failed on the device",
						   gpuagg_algorithm(run->algorithm)->name),
					errdetail("The reason: %s.", gpuagg_reason_text(reason)),
					hint != NULL ? errhint("%s", hint) : 0));
}

/* ---- a chunk ---- */

static void
begin_run(LadderRun *run)
{
	const ArrayColumn *column = run->column;
	const GpuaggAlgorithmInfo *info = gpuagg_algorithm(run->algorithm);
	uint64 most = Min(GPUAGG_LADDER_ROWS, (uint64) gpuagg_batch_rows);
	const char *refusal;
	GpuaggReason reason;
	Size end;

	if (info->max_rows != 0)
		most = Min(most, info->max_rows);
	run->chunk_rows = column->nrows <= (int64) most ? column->nrows : (int64) most / 64 * 64;
	run->work.kind = column->kind;
	run->work.op = column->op;
	run->work.flags = column->exclusive ? GPUAGG_SCAN_EXCLUSIVE : 0;
	run->work.u.ladder.task = run->task;
	run->work.u.ladder.algorithm = run->algorithm;
	end = gpuagg_work_lay_out(GPUAGG_MSG_LADDER, &run->work, 0, run->chunk_rows);

	refusal = psprintf("algorithm \"%s\" runs on a device only", info->name);
	gpuagg_device_demand(refusal);
	run->deadline = gpuagg_monotonic_ms() + gpuagg_device_timeout;
	while ((reason = gpuagg_device_lease(end, 0, &run->lease)) != GPUAGG_OK)
	{
		if (reason == GPUAGG_NO_STAGING)
			gpuagg_flights_land(0); /* this backend may hold all of it */
		wait_or_fail(run, reason);
		/* after a lease that came too late there is no connection */
		gpuagg_device_demand(refusal);
	}
}

/* Runs the algorithm over n rows from `first` on; returns its results, one if a reduction. */
static const void *
run_chunk(LadderRun *run, int64 first, int64 n)
{
	const ArrayColumn *column = run->column;
	Size width = gpuagg_kind_size(column->kind);
	GpuaggRequest request;
	GpuaggReply reply;
	GpuaggReason reason;

	memcpy(run->lease->base, (const char *) column->values + first * width, n * width);
	if (run->task == GPUAGG_SEGMENTED_SCAN)
		memcpy(run->lease->base + run->work.column[GPUAGG_HEADS].at, column->heads + first / 64,
			   (n + 63) / 64 * sizeof(uint64));

	memset(&request, 0, sizeof(request));
	request.h.type = GPUAGG_MSG_LADDER;
	request.u.work = run->work;
	request.u.work.nrows = (uint64) n;
	run->deadline = gpuagg_monotonic_ms() + gpuagg_device_timeout;
	while ((reason = gpuagg_device_call(run->lease, &request, &reply)) != GPUAGG_OK)
		wait_or_fail(run, reason);
	gpuagg_stat_batch(ENGINE_DEVICE, n, n * (int64) width);
	if (run->task != GPUAGG_REDUCE)
		return run->lease->base + run->work.column[GPUAGG_RESULTS].at;
	run->reduced = reply.u.ladder.result;
	return &run->reduced;
}

/* ---- chunks joined ---- */

static PlainValue
reduce_on_device(LadderRun *run)
{
	const ArrayColumn *column = run->column;
	PlainValue total = gpuagg_plain_identity(column->kind, column->op);

	for (int64 first = 0; first < column->nrows; first += run->chunk_rows)
	{
		int64 n = Min(run->chunk_rows, column->nrows - first);
		PlainValue part = gpuagg_plain_result(column->kind, column->op, run_chunk(run, first, n),
											  0);

		total = first == 0 ? part : gpuagg_plain_combine(column->kind, column->op, total, part);
	}
	return total;
}

static void
scan_on_device(LadderRun *run, void *results)
{
	const ArrayColumn *column = run->column;
	GpuaggKind kind = column->kind;
	GpuaggOp op = column->op;
	PlainValue carry = gpuagg_plain_identity(kind, op);

	for (int64 first = 0; first < column->nrows; first += run->chunk_rows)
	{
		int64 n = Min(run->chunk_rows, column->nrows - first);
		const void *results_modulo = run_chunk(run, first, n);
		bool continued = first > 0; /* row i is in a segment that began in an earlier chunk */
		PlainValue value = carry;

		for (int64 i = 0; i < n; i++)
		{
			if (continued && column->heads != NULL && gpuagg_bit(column->heads, first + i))
				continued = false;
			value = gpuagg_plain_result(kind, op, results_modulo, i);
			if (continued)
				value = gpuagg_plain_combine(kind, op, carry, value);
			gpuagg_plain_store(kind, op, value, results, first + i);
		}
		if (column->exclusive)
			value = gpuagg_plain_combine(kind, op, value,
										 gpuagg_plain_at(kind, op, column->values, first + n - 1));
		carry = value;
	}
}

/* ---- by name ---- */

static void
count_rows(const ArrayColumn *column)
{
	gpuagg_stat_direct(column->nrows, column->nrows * (int64) gpuagg_kind_size(column->kind));
}

static PlainValue
reduce_sequentially(const ArrayColumn *column)
{
	PlainValue total = gpuagg_plain_identity(column->kind, column->op);

	gpuagg_plain_reduce(column->kind, column->op, column->values, column->nrows, &total);
	if (!gpuagg_kind_is_float(column->kind))
		(void) gpuagg_int64_value(total.i);
	count_rows(column);
	return total;
}

static PlainValue
reduce_by_halves(const ArrayColumn *column)
{
	int64 left = column->nrows - column->nrows / 2;
	void *workspace = MemoryContextAllocHuge(CurrentMemoryContext,
											 left * gpuagg_ladder_result_size(column->kind));
	PlainValue total;

	total = gpuagg_plain_halve(column->kind, column->op, column->values, column->nrows, workspace);
	pfree(workspace);
	count_rows(column);
	return total;
}

PlainValue
gpuagg_ladder_reduce(const ArrayColumn *column, GpuaggAlgorithm algorithm)
{
	LadderRun run = {0};
	PlainValue total;

	if (algorithm == GPUAGG_ALG_SEQUENTIAL)
		return reduce_sequentially(column);
	check_sums(column, GPUAGG_REDUCE);
	if (algorithm == GPUAGG_ALG_RECURSIVE_HALVING)
		return reduce_by_halves(column);

	run.column = column;
	run.task = GPUAGG_REDUCE;
	run.algorithm = algorithm;
	begin_run(&run);
	PG_TRY();
	{
		total = reduce_on_device(&run);
	}
	PG_FINALLY();
	{
		gpuagg_device_release(run.lease);
	}
	PG_END_TRY();
	return total;
}

void
gpuagg_ladder_scan(const ArrayColumn *column, GpuaggAlgorithm algorithm, void *results)
{
	LadderRun run = {0};

	if (algorithm == GPUAGG_ALG_SEQUENTIAL)
	{
		PlainValue carry = gpuagg_plain_identity(column->kind, column->op);

		gpuagg_plain_scan(column->kind, column->op, column->exclusive, column->values,
						  column->heads, column->nrows, &carry, results);
		count_rows(column);
		return;
	}

	run.column = column;
	run.task = column->heads != NULL ? GPUAGG_SEGMENTED_SCAN : GPUAGG_SCAN;
	run.algorithm = algorithm;
	check_sums(column, run.task);
	begin_run(&run);
	PG_TRY();
	{
		scan_on_device(&run, results);
	}
	PG_FINALLY();
	{
		gpuagg_device_release(run.lease);
	}
	PG_END_TRY();
}
