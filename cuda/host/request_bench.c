/*
 * request_bench.c
 *	  BENCH: times an algorithm over a column made on the device.
 *
 * A job of the background lane, whose units are steps: fill the column, warm up,
 * repeat, add up the results.  Between two steps all other requests have their
 * turn, and a benchmark whose client has gone ends.
 */
#include <stdlib.h>

#include "common/bench_column.h"
#include "host/job.h"
#include "host/lane.h"
#include "host/log.h"
#include "host/request_table.h"
#include "kernels/bench_kernels.h"
#include "kernels/cub.h"
#include "kernels/kernels.h"
#include "ladder/ladder.h"

#define DEVICE_NS GPUD_SECOND		/* of repetitions, then no more are begun */
#define WALL_NS	  (5 * GPUD_SECOND) /* the same, others' work included */

/* The chunk that holds 2^-18: sums of the column's values lie in the window from there on. */
#define BENCH_WINDOW (-GPUAGG_MIN_EXPONENT / 32)

/* Steps; the last one adds up the results. */
#define STEP_FILL	 0
#define STEP_WARM_UP 1
#define OTHER_STEPS	 3 /* than repetitions */

typedef struct BenchJob
{
	Job job;
	int task;
	int algorithm;
	int kind;
	uint64_t nrows;

	/* parts of the block, as offsets */
	size_t values;
	size_t heads;
	size_t keys;
	size_t results;
	size_t scratch;
	size_t sum;
	size_t scratch_bytes;
	uint64_t nresults;
	size_t result_size; /* of each; PRODUCTION's reduction delivers an accumulator */

	int64_t repeating_since;
	uint64_t total_ns;
	int nrepetitions; /* made */
	uint64_t ns[GPUAGG_BENCH_REPETITIONS];
	uint64_t checksum;
} BenchJob;

static_assert(sizeof(GpuaggReduced) <= GPUD_SLOT_BYTES, "a slot holds a reduction's result");

static GpuaggReason
check(Job *job)
{
	BenchJob *bench = (BenchJob *) job;

	if (gpuagg_request_check(&job->request, 0) != GPUAGG_OK)
		return GPUAGG_REFUSED;
	bench->task = (int) job->request.u.bench.task;
	bench->algorithm = (int) job->request.u.bench.algorithm;
	bench->kind = (int) job->request.u.bench.kind;
	bench->nrows = job->request.u.bench.nrows;
	job->units = job->request.u.bench.repetitions + OTHER_STEPS;
	return GPUAGG_OK;
}

/* ---- what is timed ---- */

static GpuLadder
ladder_run(const BenchJob *bench, char *block)
{
	GpuLadder run = {0};

	run.task = bench->task;
	run.algorithm = bench->algorithm;
	run.kind = bench->kind;
	run.op = GPUAGG_SUM;
	run.nrows = bench->nrows;
	if (block != NULL)
	{
		run.values = block + bench->values;
		if (run.task == GPUAGG_SEGMENTED_SCAN)
			run.heads = (const uint64_t *) (block + bench->heads);
		run.results = block + bench->results;
		run.scratch = block + bench->scratch;
	}
	return run;
}

static GpuaggReason
run_production(const BenchJob *bench, char *block, GpuStreamRef stream)
{
	if (bench->task == GPUAGG_REDUCE)
	{
		GpuReduce reduce = {0};

		reduce.kind = bench->kind;
		reduce.op = GPUAGG_SUM;
		reduce.nrows = bench->nrows;
		reduce.values = block + bench->values;
		reduce.result = (GpuaggReduced *) (block + bench->results);
		reduce.scratch = block + bench->scratch;
		return gpu_reduce(&reduce, stream);
	}
	else
	{
		GpuScan scan = {0};

		scan.kind = bench->kind;
		scan.op = GPUAGG_SUM;
		scan.flags = GPUAGG_SCAN_NARROW;
		scan.window = BENCH_WINDOW;
		scan.nrows = bench->nrows;
		scan.values = block + bench->values;
		if (bench->task == GPUAGG_SEGMENTED_SCAN)
			scan.heads = (const uint64_t *) (block + bench->heads);
		scan.results = block + bench->results;
		scan.scratch = block + bench->scratch;
		return gpu_scan(&scan, stream);
	}
}

static GpuaggReason
run_algorithm(BenchJob *bench, char *block, GpuStreamRef stream)
{
	uint64_t bytes = bench->nrows * gpuagg_kind_size(bench->kind);
	char *values = block + bench->values;
	char *results = block + bench->results;
	GpuLadder run;

	switch (bench->algorithm)
	{
		case GPUAGG_ALG_PRODUCTION:
			return run_production(bench, block, stream);
		case GPUAGG_ALG_CUB:
			return gpu_cub(bench->task, bench->kind, bench->nrows, values,
						   (const int32_t *) (block + bench->keys), results, block + bench->scratch,
						   &bench->scratch_bytes, stream);
		case GPUAGG_ALG_READ:
			return gpu_bench_read(bytes, values, (uint64_t *) results, stream);
		case GPUAGG_ALG_COPY:
			return gpu_copy_within(results, values, bytes, stream);
		default:
			run = ladder_run(bench, block);
			return gpu_ladder(&run, stream);
	}
}

/* ---- memory ---- */

static bool
is_segmented(const BenchJob *bench)
{
	return bench->task == GPUAGG_SEGMENTED_SCAN;
}

static bool
needs_keys(const BenchJob *bench)
{
	return is_segmented(bench) && bench->algorithm == GPUAGG_ALG_CUB;
}

static GpuaggReason
plan(Job *job)
{
	BenchJob *bench = (BenchJob *) job;
	size_t *end = &job->block_bytes;
	size_t value_size = gpuagg_kind_size(bench->kind);
	size_t results_bytes;
	GpuaggReason reason = GPUAGG_OK;
	GpuLadder run;

	job->piece_units = 1;
	bench->result_size = value_size;
	bench->nresults = bench->task == GPUAGG_REDUCE ? 1 : bench->nrows;
	switch (bench->algorithm)
	{
		case GPUAGG_ALG_PRODUCTION:
			bench->scratch_bytes = bench->task == GPUAGG_REDUCE ? gpu_reduce_scratch()
																: gpu_scan_scratch(bench->nrows);
			break;
		case GPUAGG_ALG_CUB:
			reason = gpu_cub(bench->task, bench->kind, bench->nrows, NULL, NULL, NULL, NULL,
							 &bench->scratch_bytes, NULL);
			break;
		case GPUAGG_ALG_READ:
			bench->nresults = 0;
			break;
		case GPUAGG_ALG_COPY:
			bench->nresults = bench->nrows;
			break;
		default:
			run = ladder_run(bench, NULL);
			bench->scratch_bytes = gpu_ladder_scratch(&run);
			bench->result_size = gpuagg_ladder_result_size(bench->kind);
			break;
	}
	results_bytes = bench->nresults * bench->result_size;
	bench->values = gpud_place(end, bench->nrows * value_size);
	bench->heads = gpud_place(end, is_segmented(bench) ? (bench->nrows + 63) / 64 * 8 : 0);
	bench->keys = gpud_place(end, needs_keys(bench) ? bench->nrows * sizeof(int32_t) : 0);
	bench->results = gpud_place(end, results_bytes > sizeof(GpuaggReduced) ? results_bytes
																		   : sizeof(GpuaggReduced));
	bench->scratch = gpud_place(end, bench->scratch_bytes);
	bench->sum = gpud_place(end, sizeof(uint64_t));
	return reason;
}

/* ---- steps ---- */

static GpuaggReason
fill(const BenchJob *bench, char *block, GpuStreamRef stream)
{
	uint64_t seed = bench->job.request.u.bench.seed;
	uint64_t *heads = (uint64_t *) (block + bench->heads);
	GpuaggReason reason;

	reason = gpu_bench_values(bench->kind, bench->nrows, seed, block + bench->values, stream);
	if (reason == GPUAGG_OK && is_segmented(bench))
		reason = gpu_bench_heads(bench->nrows, seed, heads, stream);
	if (reason == GPUAGG_OK && needs_keys(bench))
		reason = gpu_bench_keys(bench->nrows, heads, (int32_t *) (block + bench->keys), stream);
	if (reason == GPUAGG_OK && bench->algorithm == GPUAGG_ALG_PRODUCTION)
		reason = gpu_memset(block + bench->scratch, 0, bench->scratch_bytes, stream);
	return reason;
}

/* Whether results are what a reduction in production delivers. */
static bool
is_accumulator(const BenchJob *bench)
{
	return bench->algorithm == GPUAGG_ALG_PRODUCTION && bench->task == GPUAGG_REDUCE;
}

static GpuaggReason
add_up(const BenchJob *bench, Lane *lane)
{
	char *results = lane->block + bench->results;
	uint64_t *sum = (uint64_t *) (lane->block + bench->sum);
	GpuaggReason reason;

	if (is_accumulator(bench))
		return gpu_copy_out(lane->slot, results, sizeof(GpuaggReduced), lane->stream);
	reason = gpu_memset(sum, 0, sizeof(*sum), lane->stream);
	if (reason == GPUAGG_OK && bench->nresults > 0)
		reason = gpu_bench_checksum(bench->kind, bench->result_size, bench->nresults, results, sum,
									lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(lane->slot, sum, sizeof(*sum), lane->stream);
	return reason;
}

static GpuaggReason
launch(Lane *lane)
{
	BenchJob *bench = (BenchJob *) lane->job;
	GpuaggReason reason;

	if (bench->job.units_done == STEP_FILL)
		return fill(bench, lane->block, lane->stream);
	if (bench->job.units_done == bench->job.units - 1)
		return add_up(bench, lane);
	reason = gpu_event_record(lane->start, lane->stream);
	return reason == GPUAGG_OK ? run_algorithm(bench, lane->block, lane->stream) : reason;
}

static uint64_t
accumulator_bits(int kind, const GpuaggReduced *reduced)
{
	const GpuaggFloatSum *f = (const GpuaggFloatSum *) &reduced->f;
	double wide = 0;
	float narrow = 0;

	if (kind == GPUAGG_FLOAT64 && gpuagg_float_sum_round64(f, &wide) == GPUAGG_ROUNDED_VALUE)
		return gpuagg_bench_float_bits(wide);
	if (kind == GPUAGG_FLOAT32 && gpuagg_float_sum_round32(f, &narrow) == GPUAGG_ROUNDED_VALUE)
		return gpuagg_bench_float_bits(narrow);
	return gpuagg_bench_integer_bits(kind, reduced->sum.lo);
}

static void
note_time(BenchJob *bench, const Lane *lane)
{
	uint64_t ns = 0;

	if (gpu_event_elapsed(lane->start, lane->event, &ns) != GPUAGG_OK)
		gpud_lost(gpu_last_error());
	bench->ns[bench->nrepetitions++] = ns;
	bench->total_ns += ns;
	if (bench->total_ns >= (uint64_t) DEVICE_NS || gpud_now() - bench->repeating_since >= WALL_NS)
		bench->job.units_done = bench->job.units - 2; /* no more repetitions */
}

static void
collect(Lane *lane)
{
	BenchJob *bench = (BenchJob *) lane->job;

	if (bench->job.units_done == bench->job.units - 1)
		bench->checksum = is_accumulator(bench)
							  ? gpuagg_bench_mix(0, accumulator_bits(bench->kind, lane->slot))
							  : *(const uint64_t *) lane->slot;
	else if (bench->job.units_done == STEP_WARM_UP)
		bench->repeating_since = gpud_now();
	else if (bench->job.units_done > STEP_WARM_UP)
		note_time(bench, lane);
}

static int
compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *) a;
	uint64_t y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
}

static void
answer(Job *job, GpuaggReply *reply)
{
	BenchJob *bench = (BenchJob *) job;
	uint64_t bytes = bench->nrows * gpuagg_kind_size(bench->kind) +
					 bench->nresults * bench->result_size;

	if (needs_keys(bench))
		bytes += bench->nrows * sizeof(int32_t);
	else if (is_segmented(bench) && bench->algorithm != GPUAGG_ALG_READ &&
			 bench->algorithm != GPUAGG_ALG_COPY)
		bytes += (bench->nrows + 63) / 64 * 8;

	qsort(bench->ns, (size_t) bench->nrepetitions, sizeof(bench->ns[0]), compare_ns);
	reply->u.bench.median_ns = bench->ns[bench->nrepetitions / 2];
	reply->u.bench.bytes = bytes;
	reply->u.bench.repetitions = (uint64_t) bench->nrepetitions;
	reply->u.bench.checksum = bench->checksum;
}

const RequestType gpud_request_bench = {
	.works = true,
	.job_bytes = sizeof(BenchJob),
	.whole = true,
	.background = true,
	.check = check,
	.plan = plan,
	.launch = launch,
	.collect = collect,
	.answer = answer,
};
