/*
 * array.c
 *	  Runs the production engines over whole columns in memory, in chunks.
 *
 * Chunks of scans begin at multiples of 64 rows, so that heads are copied in
 * whole words.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/float.h"
#include "utils/memutils.h"

#include "common/reduced.h"
#include "engine/array.h"
#include "engine/reduction.h"
#include "engine/cpu.h"
#include "device/client.h"
#include "engine/scan.h"
#include "types/value.h"
#include "gpuagg.h"
#include "device/stat.h"

#define CPU_ROWS   4096	 /* of a chunk on the CPU, so that its results stay in the cache */
#define RETRY_ROWS 65536 /* rows on the CPU before asking for the device again */

StaticAssertDecl(RETRY_ROWS % CPU_ROWS == 0 && CPU_ROWS % 64 == 0, "chunks end at whole words");

/* Whether the column should go to a device; records why not. */
static bool
wants_device(const ArrayColumn *column)
{
	GpuaggReason reason = gpuagg_flight_wanted(FLIGHT_ARRAY, column->nrows);

	if (reason != GPUAGG_OK && reason != GPUAGG_DISABLED)
		gpuagg_stat_reason(reason);
	return reason == GPUAGG_OK;
}

/* ---- reductions ---- */

static bool
reduce_in_batches(const ArrayColumn *column, GpuaggReduced *total)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpuagg array",
												  ALLOCSET_SMALL_SIZES);
	GpuaggReduction *reduction = gpuagg_reduction_open(column->kind, column->op, column->nrows,
													   context);

	if (reduction != NULL)
	{
		gpuagg_reduction_append(reduction, column->values, column->nrows);
		*total = *gpuagg_reduction_close(reduction);
	}
	MemoryContextDelete(context);
	return reduction != NULL;
}

/* An array and where its results go. */
typedef struct ArrayWork
{
	const ArrayColumn *column;
	void *to;
} ArrayWork;

static void
reduce(void *argument)
{
	const ArrayColumn *column = ((ArrayWork *) argument)->column;
	GpuaggReduced *total = ((ArrayWork *) argument)->to;

	if (wants_device(column) && gpuagg_device_ready() && reduce_in_batches(column, total))
		return;
	gpuagg_reduced_init(total);
	gpuagg_cpu_reduce(column->kind, column->op, column->values, NULL, column->nrows, total);
	gpuagg_float_sum_propagate(gpuagg_float_sum_of(&total->f));
	gpuagg_stat_direct(column->nrows, column->nrows * (int64) gpuagg_kind_size(column->kind));
}

void
gpuagg_array_reduce(const ArrayColumn *column, GpuaggReduced *total)
{
	gpuagg_flights_guard(reduce, &(ArrayWork){column, total});
}

/* ---- scans ---- */

static bool
sums_floats(const ArrayColumn *column)
{
	return column->op == GPUAGG_SUM && gpuagg_kind_is_float(column->kind);
}

static const void *
values_from(const ArrayColumn *column, int64 first)
{
	return (const char *) column->values + first * gpuagg_kind_size(column->kind);
}

/*
 * Converts n rows of a scan to results.  Sums of int32 cannot leave int64, as 2^31
 * rows sum to at most 2^62.
 */
static void
put_results(const ArrayColumn *column, const void *from, const uint8 *status, int64 n, void *to)
{
	if (column->op == GPUAGG_SUM && column->kind == GPUAGG_INT64)
		for (int64 i = 0; i < n; i++)
			((int64 *) to)[i] = gpuagg_int64_value(((const GpuaggInt128 *) from)[i]);
	else if (column->op != GPUAGG_SUM && column->kind == GPUAGG_INT32)
		for (int64 i = 0; i < n; i++)
			((int64 *) to)[i] = ((const int32 *) from)[i];
	else
		memcpy(to, from, n * gpuagg_ladder_result_size(column->kind));

	if (sums_floats(column) && memchr(status, GPUAGG_ROW_OVERFLOW, n) != NULL)
		float_overflow_error();
}

/* Scans rows from `first` on; returns how many, 0 when there is no device now. */
static int64
scan_on_device(const ArrayColumn *column, ColumnScan *scan, int64 first, GpuaggScanState *carry,
			   char *results)
{
	int64 n;

	if (!gpuagg_scans_begin(&scan, 1, gpuagg_batch_rows))
		return 0;
	n = Min(scan->capacity, column->nrows - first);
	memcpy(scan->flight.values, values_from(column, first), n * gpuagg_kind_size(column->kind));
	if (column->heads != NULL)
		memcpy(scan->flight.heads, column->heads + first / 64, (n + 63) / 64 * sizeof(uint64));
	scan->nrows = n;
	gpuagg_scan_run(scan, carry);
	put_results(column, scan->flight.results, scan->flight.status, n, results);
	return n;
}

static int64
scan_on_cpu(const ArrayColumn *column, int64 first, GpuaggScanState *carry, char *results)
{
	GpuaggInt128 scanned[CPU_ROWS]; /* results of any kind */
	uint8 status[CPU_ROWS];
	int64 nrows = Min(CPU_ROWS, column->nrows - first);
	Flight flight = {0};

	flight.work.kind = column->kind;
	flight.work.op = column->op;
	flight.work.flags = column->exclusive ? GPUAGG_SCAN_EXCLUSIVE : 0;
	flight.work.nrows = (uint64) nrows;
	flight.values = unconstify(void *, values_from(column, first));
	if (column->heads != NULL)
		flight.heads = unconstify(uint64 *, column->heads) + first / 64;
	flight.results = scanned;
	flight.status = status;
	gpuagg_cpu_scan(&flight, carry);
	gpuagg_stat_direct(nrows, nrows * (int64) gpuagg_kind_size(column->kind));
	put_results(column, scanned, status, nrows, results);
	return nrows;
}

static ColumnScan *
make_scan(const ArrayColumn *column, MemoryContext context)
{
	unsigned flags = (column->exclusive ? GPUAGG_SCAN_EXCLUSIVE : 0) |
					 (column->heads != NULL ? GPUAGG_SCAN_HEADS : 0) |
					 (sums_floats(column) ? GPUAGG_SCAN_STATUS : 0);

	return gpuagg_scan_make(column->kind, column->op, flags, context);
}

static void
scan(void *argument)
{
	const ArrayColumn *column = ((ArrayWork *) argument)->column;
	char *results = ((ArrayWork *) argument)->to;
	Size width = gpuagg_ladder_result_size(column->kind);
	MemoryContext context = NULL;
	ColumnScan *scan = NULL;
	GpuaggScanState carry;
	int64 retry_at = 0;

	if (wants_device(column))
	{
		context = AllocSetContextCreate(CurrentMemoryContext, "gpuagg array", ALLOCSET_SMALL_SIZES);
		scan = make_scan(column, context);
	}
	memset(&carry, 0, sizeof(carry));
	gpuagg_float_sum_init(gpuagg_float_sum_of(&carry.f), 0, GPUAGG_CHUNKS);
	for (int64 done = 0; done < column->nrows;)
	{
		char *to = (char *) results + done * width;
		int64 n = 0;

		CHECK_FOR_INTERRUPTS();
		if (scan != NULL && done >= retry_at)
		{
			n = scan_on_device(column, scan, done, &carry, to);
			if (n == 0)
				retry_at = done + RETRY_ROWS;
		}
		if (n == 0)
			n = scan_on_cpu(column, done, &carry, to);
		done += n;
	}
	if (context != NULL)
		MemoryContextDelete(context);
}

void
gpuagg_array_scan(const ArrayColumn *column, void *results)
{
	gpuagg_flights_guard(scan, &(ArrayWork){column, results});
}
