/*
 * benchmark.c
 *	  gpuagg_kernel_benchmark(kind, type, rows): measures the ladder's algorithms.
 *
 * The columns are made from a seed, by gpuaggd on the device and again by this
 * process.  This process computes the right results row by row, without storing
 * the column, and compares checksums.
 */
#include "compat.h"

#include <math.h>

#include "catalog/pg_authid.h"
#include "common/algorithm.h"
#include "device/client.h"
#include "engine/plain.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "device/shared_state.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "types/sql_type.h"
#include "utils/memutils.h"
#include "common/bench_column.h"

PG_FUNCTION_INFO_V1(gpuagg_kernel_benchmark);

#define SEED			1
#define REPETITIONS		21
#define CPU_REPETITIONS 5
#define CPU_ROWS		(INT64CONST(1) << 24) /* most rows for algorithms of the CPU */
#define CPU_SECONDS		1.0					  /* after that no repetition begins */
#define CHECK_ROWS		65536				  /* rows between checks for interrupts */
#define BUSY_MS			15000				  /* how long to wait for benchmarks of others */
#define BUSY_TICK_MS	20
#define MAX_LENGTHS		8
#define NCOLUMNS		9

/* The right checksums of the column's first nrows rows. */
typedef struct Length
{
	int64 nrows;
	uint64 copied;	/* checksum of the values */
	uint64 results; /* checksum of the results */
} Length;

typedef struct Benchmark
{
	GpuaggTask task;
	GpuaggKind kind;
	int64 nrows;
	Length lengths[MAX_LENGTHS]; /* ascending */
	int nlengths;
	ReturnSetInfo *rsinfo;
	double bandwidth;	  /* of the read or copy, bytes a ns */
	double first_per_row; /* ns, of the first algorithm; 0: none yet */
	double previous_per_row;
} Benchmark;

/* One measurement. */
typedef struct Measured
{
	int64 nrows;
	double ns;	  /* median */
	double bytes; /* read and written */
	uint64 checksum;
} Measured;

/* ---- arguments ---- */

static GpuaggTask
task_argument(const char *name)
{
	if (strcmp(name, "reduce") == 0)
		return GPUAGG_REDUCE;
	if (strcmp(name, "scan") == 0)
		return GPUAGG_SCAN;
	if (strcmp(name, "segmented_scan") == 0)
		return GPUAGG_SEGMENTED_SCAN;
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("unknown kind of benchmark \"%s\"", name),
					errhint("Kinds are reduce, scan, segmented_scan.")));
}

static GpuaggKind
kind_argument(const char *name)
{
	GpuaggKind kind = gpuagg_sql_array_kind(
		DatumGetObjectId(DirectFunctionCall1(regtypein, CStringGetDatum(name))));

	if (kind != 0)
		return kind;
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("there is no benchmark over type \"%s\"", name),
					errhint("Types are integer, bigint, real, double precision.")));
}

/* Number of rows that an algorithm is measured with. */
static int64
rows_for(const Benchmark *bench, int algorithm)
{
	const GpuaggAlgorithmInfo *info = gpuagg_algorithm(algorithm);

	if (info != NULL && info->on_cpu)
		return Min(bench->nrows, CPU_ROWS);
	if (info != NULL && info->max_rows != 0)
		return Min(bench->nrows, (int64) info->max_rows);
	return bench->nrows;
}

/* ---- right results ---- */

static Length *
length_of(Benchmark *bench, int64 nrows)
{
	for (int i = 0; i < bench->nlengths; i++)
		if (bench->lengths[i].nrows == nrows)
			return &bench->lengths[i];
	return NULL;
}

static void
add_length(Benchmark *bench, int64 nrows)
{
	int i = bench->nlengths;

	if (length_of(bench, nrows) != NULL)
		return;
	if (bench->nlengths == MAX_LENGTHS)
		elog(ERROR, "too many lengths of columns");
	for (; i > 0 && bench->lengths[i - 1].nrows > nrows; i--)
		bench->lengths[i] = bench->lengths[i - 1];
	bench->lengths[i].nrows = nrows;
	bench->nlengths++;
}

/* The bits of an exact result; sums stay below 2^24, so float32 is exact too. */
static inline uint64
bits_of(GpuaggKind kind, int64 sum)
{
	return gpuagg_kind_is_float(kind) ? gpuagg_bench_float_bits((double) sum)
									  : gpuagg_bench_integer_bits(kind, (uint64) sum);
}

/* Computes the checksums at all lengths in one pass over the column. */
static void
find_checksums(Benchmark *bench)
{
	uint64 copied = 0;
	uint64 results = 0;
	int64 sum = 0;
	int64 row = 0;

	for (int k = 0; k < bench->nlengths; k++)
	{
		Length *length = &bench->lengths[k];

		for (; row < length->nrows; row++)
		{
			int64 value = gpuagg_bench_value(SEED, (uint64) row);

			if (row % CHECK_ROWS == 0)
				CHECK_FOR_INTERRUPTS();
			if (bench->task == GPUAGG_SEGMENTED_SCAN && gpuagg_bench_head(SEED, (uint64) row))
				sum = 0;
			sum += value;
			if (bench->task == GPUAGG_REDUCE)
				continue;
			copied += gpuagg_bench_mix((uint64) row, bits_of(bench->kind, value));
			results += gpuagg_bench_mix((uint64) row, bits_of(bench->kind, sum));
		}
		length->copied = copied;
		length->results = bench->task == GPUAGG_REDUCE
							  ? gpuagg_bench_mix(0, bits_of(bench->kind, sum))
							  : results;
	}
}

/* ---- rows of the table ---- */

static void
put_row(Benchmark *bench, const char *name, const Measured *measured, bool rung, double additions,
		const bool *correct)
{
	double bandwidth = measured->bytes / measured->ns;
	double per_row = measured->ns / measured->nrows;
	Datum values[NCOLUMNS] = {0};
	bool nulls[NCOLUMNS] = {false};

	values[0] = CStringGetTextDatum(name);
	values[1] = Int64GetDatum(measured->nrows);
	values[2] = Float8GetDatum(measured->ns / 1e3);
	values[3] = Float8GetDatum(bandwidth);
	values[4] = Float8GetDatum(bandwidth / bench->bandwidth);
	nulls[5] = !rung || bench->first_per_row == 0;
	if (!nulls[5])
		values[5] = Float8GetDatum(bench->previous_per_row / per_row);
	if (rung && bench->first_per_row == 0)
		bench->first_per_row = per_row;
	nulls[6] = !rung;
	if (rung)
		values[6] = Float8GetDatum(bench->first_per_row / per_row);
	nulls[7] = additions < 0;
	values[7] = Float8GetDatum(additions);
	nulls[8] = correct == NULL;
	if (correct != NULL)
		values[8] = BoolGetDatum(*correct);
	bench->previous_per_row = per_row;
	tuplestore_putvalues(bench->rsinfo->setResult, bench->rsinfo->setDesc, values, nulls);
}

/* ---- measuring on the device ---- */

static void
raise_failure(const Benchmark *bench, const char *name, GpuaggReason reason)
{
	if (reason == GPUAGG_NO_DEVICE_MEMORY)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("a benchmark of " INT64_FORMAT " rows does not fit the device memory",
						bench->nrows),
				 errhint("Take fewer rows, or raise \"gpuagg.device_memory\".")));
	if (reason == GPUAGG_BUSY)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE),
						errmsg("the device has no room for a benchmark now"),
						errdetail("Another benchmark is running, or others use the device memory."),
						errhint("Try again in a moment.")));
	ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("benchmark of \"%s\" has failed", name),
					errdetail("The reason: %s.", gpuagg_reason_text(reason))));
}

/* False when this build of the device program has no such algorithm. */
static bool
measure(const Benchmark *bench, int algorithm, const char *name, Measured *measured)
{
	GpuaggRequest request;
	GpuaggReply reply;
	GpuaggReason reason;
	int64 deadline = gpuagg_monotonic_ms() + BUSY_MS;

	memset(&request, 0, sizeof(request));
	request.h.type = GPUAGG_MSG_BENCH;
	request.u.bench.task = bench->task;
	request.u.bench.algorithm = algorithm;
	request.u.bench.kind = bench->kind;
	request.u.bench.repetitions = REPETITIONS;
	request.u.bench.nrows = (uint64) rows_for(bench, algorithm);
	request.u.bench.seed = SEED;
	while ((reason = gpuagg_device_call(NULL, &request, &reply)) == GPUAGG_BUSY &&
		   gpuagg_monotonic_ms() < deadline)
		gpuagg_wait_tick(BUSY_TICK_MS); /* benchmarks take turns, algorithm by algorithm */
	if (reason == GPUAGG_NO_KERNEL)
		return false;
	if (reason != GPUAGG_OK)
		raise_failure(bench, name, reason);
	measured->nrows = rows_for(bench, algorithm);
	measured->ns = (double) Max(reply.u.bench.median_ns, 1);
	measured->bytes = (double) reply.u.bench.bytes;
	measured->checksum = reply.u.bench.checksum;
	return true;
}

/* Measures the read or copy that all are compared with; first, as it may not fit. */
static const char *
measure_bandwidth(Benchmark *bench, Measured *measured)
{
	bool reads = bench->task == GPUAGG_REDUCE;
	const char *name = reads ? "read" : "copy";

	if (!measure(bench, reads ? GPUAGG_ALG_READ : GPUAGG_ALG_COPY, name, measured))
		raise_failure(bench, name, GPUAGG_NO_KERNEL);
	bench->bandwidth = measured->bytes / measured->ns;
	return name;
}

/* ---- measuring on the CPU ---- */

/* The column in memory, and room for an algorithm's results. */
typedef struct CpuColumn
{
	int64 nrows;
	void *values;
	uint64 *heads; /* NULL: one segment */
	void *results; /* of scans; workspace of reductions */
} CpuColumn;

static void
make_column(const Benchmark *bench, int64 nrows, CpuColumn *column)
{
	column->nrows = nrows;
	column->values = MemoryContextAllocHuge(CurrentMemoryContext,
											nrows * gpuagg_kind_size(bench->kind));
	column->results = MemoryContextAllocHuge(CurrentMemoryContext,
											 nrows * gpuagg_ladder_result_size(bench->kind));
	column->heads = NULL;
	if (bench->task == GPUAGG_SEGMENTED_SCAN)
		column->heads = palloc0((nrows + 63) / 64 * sizeof(uint64));
	for (int64 i = 0; i < nrows; i++)
	{
		int32 value = gpuagg_bench_value(SEED, (uint64) i);

		if (i % CHECK_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		switch (bench->kind)
		{
			case GPUAGG_INT32:
				((int32 *) column->values)[i] = value;
				break;
			case GPUAGG_INT64:
				((int64 *) column->values)[i] = value;
				break;
			case GPUAGG_FLOAT32:
				((float *) column->values)[i] = (float) value;
				break;
			case GPUAGG_FLOAT64:
				((double *) column->values)[i] = value;
				break;
		}
		if (column->heads != NULL)
			column->heads[i / 64] |= (uint64) gpuagg_bench_head(SEED, (uint64) i) << (i % 64);
	}
}

/* Runs once; the result of a reduction becomes results[0]. */
static void
run_on_cpu(const Benchmark *bench, int algorithm, const CpuColumn *column)
{
	GpuaggKind kind = bench->kind;
	PlainValue value = gpuagg_plain_identity(kind, GPUAGG_SUM);

	if (bench->task != GPUAGG_REDUCE)
	{
		gpuagg_plain_scan(kind, GPUAGG_SUM, false, column->values, column->heads, column->nrows,
						  &value, column->results);
		return;
	}
	if (algorithm == GPUAGG_ALG_RECURSIVE_HALVING)
		value = gpuagg_plain_halve(kind, GPUAGG_SUM, column->values, column->nrows,
								   column->results);
	else
		gpuagg_plain_reduce(kind, GPUAGG_SUM, column->values, column->nrows, &value);
	gpuagg_plain_store(kind, GPUAGG_SUM, value, column->results, 0);
}

static uint64
checksum_of(const Benchmark *bench, const CpuColumn *column)
{
	int64 n = bench->task == GPUAGG_REDUCE ? 1 : column->nrows;
	uint64 checksum = 0;

	for (int64 i = 0; i < n; i++)
	{
		uint64 bits;

		if (i % CHECK_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		if (bench->kind == GPUAGG_FLOAT32)
			bits = gpuagg_bench_float_bits(((float *) column->results)[i]);
		else if (bench->kind == GPUAGG_FLOAT64)
			bits = gpuagg_bench_float_bits(((double *) column->results)[i]);
		else
			bits = gpuagg_bench_integer_bits(bench->kind, ((uint64 *) column->results)[i]);
		checksum += gpuagg_bench_mix((uint64) i, bits);
	}
	return checksum;
}

static int
compare_seconds(const void *a, const void *b)
{
	double x = *(const double *) a;
	double y = *(const double *) b;

	return x < y ? -1 : x > y;
}

static void
measure_on_cpu(const Benchmark *bench, int algorithm, const CpuColumn *column, Measured *measured)
{
	double seconds[CPU_REPETITIONS];
	double spent = 0;
	int n = 0;

	run_on_cpu(bench, algorithm, column); /* touches the memory */
	measured->checksum = checksum_of(bench, column);
	while (n == 0 || (n < CPU_REPETITIONS && spent < CPU_SECONDS))
	{
		instr_time begin;
		instr_time end;

		INSTR_TIME_SET_CURRENT(begin);
		run_on_cpu(bench, algorithm, column);
		INSTR_TIME_SET_CURRENT(end);
		INSTR_TIME_SUBTRACT(end, begin);
		seconds[n] = INSTR_TIME_GET_DOUBLE(end);
		spent += seconds[n++];
	}
	qsort(seconds, n, sizeof(double), compare_seconds);
	measured->nrows = column->nrows;
	measured->ns = Max(rint(seconds[n / 2] * 1e9), 1.0);
	measured->bytes = (double) column->nrows * gpuagg_kind_size(bench->kind);
	if (bench->task != GPUAGG_REDUCE)
		measured->bytes += (double) column->nrows * gpuagg_ladder_result_size(bench->kind);
	if (column->heads != NULL)
		measured->bytes += column->nrows / 8.0;
}

static void
free_column(CpuColumn *column)
{
	pfree(column->values);
	pfree(column->results);
	if (column->heads != NULL)
		pfree(column->heads);
	column->values = NULL;
}

/* ---- all of it ---- */

static bool
is_for_kind(const Benchmark *bench, int algorithm)
{
	return !(gpuagg_algorithm(algorithm)->integers_only && gpuagg_kind_is_float(bench->kind));
}

static void
put_ladder(Benchmark *bench)
{
	CpuColumn column = {0};
	int algorithm = GPUAGG_ALG_NONE;

	while ((algorithm = gpuagg_algorithm_next(algorithm, bench->task)) != GPUAGG_ALG_NONE)
	{
		const GpuaggAlgorithmInfo *info = gpuagg_algorithm(algorithm);
		Measured measured;
		bool correct;

		if (!is_for_kind(bench, algorithm))
			continue;
		if (info->on_cpu)
		{
			if (column.values == NULL)
				make_column(bench, rows_for(bench, algorithm), &column);
			measure_on_cpu(bench, algorithm, &column, &measured);
		}
		else
		{
			if (column.values != NULL)
				free_column(&column);
			if (!measure(bench, algorithm, info->name, &measured))
				continue;
		}
		correct = measured.checksum == length_of(bench, measured.nrows)->results;
		put_row(bench, info->name, &measured, true,
				gpuagg_algorithm_additions(info, bench->task, (double) measured.nrows), &correct);
	}
}

static void
put_cub(Benchmark *bench)
{
	Measured measured;
	bool correct;

	if (!measure(bench, GPUAGG_ALG_CUB, "cub", &measured))
		return;
	correct = measured.checksum == length_of(bench, measured.nrows)->results;
	put_row(bench, "cub", &measured, true, -1, &correct);
}

Datum
gpuagg_kernel_benchmark(PG_FUNCTION_ARGS)
{
	Benchmark bench = {0};
	int algorithm = GPUAGG_ALG_NONE;
	const char *name;
	Measured measured;
	bool correct;

	/* checked although EXECUTE can be granted: it takes the device from the cluster */
	if (!superuser() && !has_privs_of_role(GetUserId(), ROLE_PG_MONITOR))
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
						errmsg("must be superuser or a member of pg_monitor to run benchmarks")));

	bench.task = task_argument(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	bench.kind = kind_argument(text_to_cstring(PG_GETARG_TEXT_PP(1)));
	bench.nrows = PG_GETARG_INT64(2);
	if (bench.nrows < 1 || bench.nrows > GPUAGG_MAX_ROWS)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("rows must be between 1 and " INT64_FORMAT, GPUAGG_MAX_ROWS)));

	gpuagg_device_demand("benchmarks run on a device only");
	InitMaterializedSRF(fcinfo, 0);
	bench.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	name = measure_bandwidth(&bench, &measured);
	add_length(&bench, bench.nrows);
	while ((algorithm = gpuagg_algorithm_next(algorithm, bench.task)) != GPUAGG_ALG_NONE)
		add_length(&bench, rows_for(&bench, algorithm));
	find_checksums(&bench);

	correct = measured.checksum == length_of(&bench, bench.nrows)->copied;
	put_row(&bench, name, &measured, false, -1, bench.task == GPUAGG_REDUCE ? NULL : &correct);
	put_ladder(&bench);
	put_cub(&bench);
	return (Datum) 0;
}
