/*
 * bench.c
 *	  BENCH requests: times an algorithm over a column made on the device.
 *
 * One at a time, on a stream to which those of the lanes are preferred, with
 * memory of its own that the lanes do without meanwhile.  It goes on by steps,
 * one at a time: fill the column, warm up, repeat, add up the results; in
 * between everybody else has his turn, and who has gone is not worked for any
 * longer.  Memory is allocated and freed in the set-up thread.
 */
#include "host/job.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/bench_kernels.h"
#include "kernels/cub.h"
#include "ladder/ladder.h"
#include "common/bench_column.h"

#define DEVICE_NS	INT64_C(1000000000)	 /* of repetitions, then no more are begun */
#define WALL_NS		INT64_C(5000000000)	 /* the same, others' work included */
#define DEADLINE_NS INT64_C(30000000000) /* a step that takes longer hangs */
#define TURN_NS		INT64_C(500000000)	 /* a turn is kept so long for who asks again */

/* The chunk that holds 2^-18: sums of the column's values lie in the window from there on. */
#define BENCH_WINDOW (-GPUAGG_MIN_EXPONENT / 32)

typedef enum Step
{
	STEP_NONE, /* no benchmark */
	STEP_SETTING_UP,
	STEP_FILL,
	STEP_WARM_UP,
	STEP_REPEAT,
	STEP_CHECK,
	STEP_ENDING
} Step;

typedef struct Bench
{
	Task task; /* first: tasks are cast to benchmarks */
	Step step;
	Client *client; /* NULL: it has gone */
	GpuaggRequest request;
	GpuaggReason reason;

	/* parts of the block, as offsets */
	size_t values;
	size_t heads;
	size_t keys;
	size_t results;
	size_t scratch;
	size_t sum;
	size_t scratch_bytes;
	size_t block_bytes;
	size_t result_size; /* of each; PRODUCTION's reduction delivers an accumulator */
	char *block;
	GpuStreamRef stream;
	GpuEventRef start;
	GpuEventRef stop;
	void *given_up[GPUD_MAX_STREAMS]; /* lanes' blocks to free first */
	int ngiven_up;

	int64_t step_started;
	int64_t repeating_since;
	uint64_t total_ns;
	int nrepetitions; /* made */
	uint64_t ns[GPUAGG_BENCH_REPETITIONS];
} Bench;

static Bench bench;

/* Who was refused because of another's benchmark: his turn is next, if he asks again soon. */
static const Client *next_client;
static int64_t next_asked;

int
gpud_bench_inflight(void)
{
	return bench.step != STEP_NONE;
}

uint64_t
gpud_bench_bytes(void)
{
	return bench.step != STEP_NONE ? bench.block_bytes : 0;
}

static bool
is_algorithm(int algorithm)
{
	return (int) bench.request.u.bench.algorithm == algorithm;
}

static bool
is_task(int task)
{
	return (int) bench.request.u.bench.task == task;
}

/* Whether results are what a reduction in production delivers. */
static bool
is_accumulator(void)
{
	return is_algorithm(GPUAGG_ALG_PRODUCTION) && is_task(GPUAGG_REDUCE);
}

static uint64_t
nresults(void)
{
	if (is_algorithm(GPUAGG_ALG_READ))
		return 0;
	return is_task(GPUAGG_REDUCE) && !is_algorithm(GPUAGG_ALG_COPY) ? 1
																	: bench.request.u.bench.nrows;
}

/* ---- what is timed ---- */

static GpuLadder
ladder_run(void)
{
	GpuLadder run = {0};

	run.task = (int) bench.request.u.bench.task;
	run.algorithm = (int) bench.request.u.bench.algorithm;
	run.kind = (int) bench.request.u.bench.kind;
	run.op = GPUAGG_SUM;
	run.nrows = bench.request.u.bench.nrows;
	run.values = bench.block + bench.values;
	run.heads = is_task(GPUAGG_SEGMENTED_SCAN) ? (const uint64_t *) (bench.block + bench.heads)
											   : NULL;
	run.results = bench.block + bench.results;
	run.scratch = bench.block + bench.scratch;
	return run;
}

static GpuaggReason
run_cub(void *scratch, size_t *scratch_bytes)
{
	return gpu_cub((int) bench.request.u.bench.task, (int) bench.request.u.bench.kind,
				   bench.request.u.bench.nrows, bench.block + bench.values,
				   (const int32_t *) (bench.block + bench.keys), bench.block + bench.results,
				   scratch, scratch_bytes, bench.stream);
}

static GpuaggReason
run_production(void)
{
	if (is_task(GPUAGG_REDUCE))
	{
		GpuReduce reduce = {0};

		reduce.kind = (int) bench.request.u.bench.kind;
		reduce.op = GPUAGG_SUM;
		reduce.nrows = bench.request.u.bench.nrows;
		reduce.values = bench.block + bench.values;
		reduce.result = (GpuaggReduced *) (bench.block + bench.results);
		reduce.scratch = bench.block + bench.scratch;
		return gpu_reduce(&reduce, bench.stream);
	}
	else
	{
		GpuScan scan = {0};

		scan.kind = (int) bench.request.u.bench.kind;
		scan.op = GPUAGG_SUM;
		scan.flags = GPUAGG_SCAN_NARROW;
		scan.window = BENCH_WINDOW;
		scan.nrows = bench.request.u.bench.nrows;
		scan.values = bench.block + bench.values;
		if (is_task(GPUAGG_SEGMENTED_SCAN))
			scan.heads = (const uint64_t *) (bench.block + bench.heads);
		scan.results = bench.block + bench.results;
		scan.scratch = bench.block + bench.scratch;
		return gpu_scan(&scan, bench.stream);
	}
}

static GpuaggReason
run_algorithm(void)
{
	uint64_t bytes = bench.request.u.bench.nrows *
					 gpuagg_kind_size((int) bench.request.u.bench.kind);
	size_t scratch_bytes = bench.scratch_bytes;
	GpuLadder run;

	switch (bench.request.u.bench.algorithm)
	{
		case GPUAGG_ALG_PRODUCTION:
			return run_production();
		case GPUAGG_ALG_CUB:
			return run_cub(bench.block + bench.scratch, &scratch_bytes);
		case GPUAGG_ALG_READ:
			return gpu_bench_read(bytes, bench.block + bench.values,
								  (uint64_t *) (bench.block + bench.results), bench.stream);
		case GPUAGG_ALG_COPY:
			return gpu_copy_within(bench.block + bench.results, bench.block + bench.values, bytes,
								   bench.stream);
		default:
			run = ladder_run();
			return gpu_ladder(&run, bench.stream);
	}
}

/* ---- steps ---- */

static GpuaggReason
fill(void)
{
	uint64_t nrows = bench.request.u.bench.nrows;
	uint64_t seed = bench.request.u.bench.seed;
	uint64_t *heads = (uint64_t *) (bench.block + bench.heads);
	GpuaggReason reason;

	reason = gpu_bench_values((int) bench.request.u.bench.kind, nrows, seed,
							  bench.block + bench.values, bench.stream);
	if (reason == GPUAGG_OK && is_task(GPUAGG_SEGMENTED_SCAN))
		reason = gpu_bench_heads(nrows, seed, heads, bench.stream);
	if (reason == GPUAGG_OK && is_task(GPUAGG_SEGMENTED_SCAN) && is_algorithm(GPUAGG_ALG_CUB))
		reason = gpu_bench_keys(nrows, heads, (int32_t *) (bench.block + bench.keys), bench.stream);
	if (reason == GPUAGG_OK && is_algorithm(GPUAGG_ALG_PRODUCTION))
		reason = gpu_memset(bench.block + bench.scratch, 0, bench.scratch_bytes, bench.stream);
	return reason;
}

static GpuaggReason
check_results(void)
{
	uint64_t *sum = (uint64_t *) (bench.block + bench.sum);
	GpuaggReason reason;

	if (is_accumulator())
		return gpu_copy_out(&gpud_spare_slot->reduced, bench.block + bench.results,
							sizeof(GpuaggReduced), bench.stream);
	reason = gpu_memset(sum, 0, sizeof(*sum), bench.stream);
	if (reason == GPUAGG_OK && nresults() > 0)
		reason = gpu_bench_checksum((int) bench.request.u.bench.kind, bench.result_size, nresults(),
									bench.block + bench.results, sum, bench.stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(&gpud_spare_slot->checksum, sum, sizeof(*sum), bench.stream);
	return reason;
}

/* Also when something could not be enqueued, what was must end before memory is freed. */
static void
start_step(Step step)
{
	GpuaggReason reason = gpu_event_record(bench.start, bench.stream);

	bench.step = step;
	bench.step_started = gpud_now();
	if (reason == GPUAGG_OK)
		switch (step)
		{
			case STEP_FILL:
				reason = fill();
				break;
			case STEP_CHECK:
				reason = check_results();
				break;
			default:
				reason = run_algorithm();
				break;
		}
	bench.reason = reason;
	if (reason == GPUAGG_LOST || gpu_event_record(bench.stop, bench.stream) != GPUAGG_OK ||
		gpu_host_call(bench.stream, gpud_wake_loop, NULL) != GPUAGG_OK)
		gpud_lost(gpu_last_error());
}

static bool
repeated_enough(void)
{
	return bench.nrepetitions >= (int) bench.request.u.bench.repetitions ||
		   bench.total_ns >= (uint64_t) DEVICE_NS || gpud_now() - bench.repeating_since >= WALL_NS;
}

static void
note_time(void)
{
	uint64_t ns = 0;

	if (gpu_event_elapsed(bench.start, bench.stop, &ns) != GPUAGG_OK)
		gpud_lost(gpu_last_error());
	bench.ns[bench.nrepetitions++] = ns;
	bench.total_ns += ns;
}

static Step
next_step(void)
{
	if (bench.step == STEP_FILL)
		return STEP_WARM_UP;
	if (bench.step == STEP_REPEAT && repeated_enough())
		return STEP_CHECK;
	return STEP_REPEAT;
}

/* ---- beginning and end ---- */

/* Set-up thread. */
static void
end_run(Task *task)
{
	(void) task;
	if (bench.start != NULL && gpu_event_destroy(bench.start) == GPUAGG_LOST)
		bench.reason = GPUAGG_LOST;
	if (bench.stop != NULL && gpu_event_destroy(bench.stop) == GPUAGG_LOST)
		bench.reason = GPUAGG_LOST;
	if (bench.stream != NULL && gpu_stream_destroy(bench.stream) == GPUAGG_LOST)
		bench.reason = GPUAGG_LOST;
	if (bench.block != NULL && gpu_free(bench.block) == GPUAGG_LOST)
		bench.reason = GPUAGG_LOST;
}

static int
compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *) a;
	uint64_t y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
}

static uint64_t
accumulator_bits(void)
{
	int kind = (int) bench.request.u.bench.kind;
	const GpuaggReduced *reduced = &gpud_spare_slot->reduced;
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
fill_reply(GpuaggReply *reply)
{
	uint64_t nrows = bench.request.u.bench.nrows;
	uint64_t bytes = nrows * gpuagg_kind_size((int) bench.request.u.bench.kind);

	qsort(bench.ns, (size_t) bench.nrepetitions, sizeof(bench.ns[0]), compare_ns);
	bytes += nresults() * bench.result_size;
	if (is_task(GPUAGG_SEGMENTED_SCAN) && is_algorithm(GPUAGG_ALG_CUB))
		bytes += nrows * sizeof(int32_t);
	else if (is_task(GPUAGG_SEGMENTED_SCAN) && !is_algorithm(GPUAGG_ALG_READ) &&
			 !is_algorithm(GPUAGG_ALG_COPY))
		bytes += (nrows + 63) / 64 * 8;

	reply->u.bench.median_ns = bench.ns[bench.nrepetitions / 2];
	reply->u.bench.bytes = bytes;
	reply->u.bench.repetitions = (uint64_t) bench.nrepetitions;
	reply->u.bench.checksum = is_accumulator() ? gpuagg_bench_mix(0, accumulator_bits())
											   : gpud_spare_slot->checksum;
}

static void
end_done(Task *task)
{
	Client *client = bench.client;
	GpuaggReply reply;

	(void) task;
	if (bench.reason == GPUAGG_LOST)
		gpud_lost("a benchmark's memory could not be freed");
	gpud_lanes_give_back();
	bench.step = STEP_NONE;
	if (client == NULL)
		return;
	client->inflight--;
	memset(&reply, 0, sizeof(reply));
	if (bench.reason == GPUAGG_OK)
		fill_reply(&reply);
	gpud_reply(client, &bench.request.h, bench.reason, &reply, -1);
}

static void
end_bench(void)
{
	bench.step = STEP_ENDING;
	bench.task.run = end_run;
	bench.task.done = end_done;
	gpud_setup_submit(&bench.task);
}

/* Set-up thread. */
static void
set_up_run(Task *task)
{
	void *block = NULL;
	GpuaggReason reason = GPUAGG_OK;

	(void) task;
	for (int i = 0; i < bench.ngiven_up && reason == GPUAGG_OK; i++)
		reason = gpu_free(bench.given_up[i]);
	if (reason == GPUAGG_OK)
		reason = gpu_malloc(&block, bench.block_bytes);
	if (reason == GPUAGG_OK)
		reason = gpu_stream_create_background(&bench.stream);
	if (reason == GPUAGG_OK)
		reason = gpu_event_create_timed(&bench.start);
	if (reason == GPUAGG_OK)
		reason = gpu_event_create_timed(&bench.stop);
	bench.block = block;
	bench.reason = reason;
}

static void
set_up_done(Task *task)
{
	(void) task;
	if (bench.reason == GPUAGG_LOST)
		gpud_lost("a benchmark's memory could not be allocated");
	if (bench.reason != GPUAGG_OK || bench.client == NULL)
		end_bench();
	else
		start_step(STEP_FILL);
}

/* Decides where everything goes. */
static GpuaggReason
plan(void)
{
	uint64_t nrows = bench.request.u.bench.nrows;
	int kind = (int) bench.request.u.bench.kind;
	size_t value_size = gpuagg_kind_size(kind);
	size_t end = 0;
	GpuaggReason reason = GPUAGG_OK;
	GpuLadder run;

	bench.result_size = value_size;
	switch (bench.request.u.bench.algorithm)
	{
		case GPUAGG_ALG_PRODUCTION:
			bench.scratch_bytes = is_task(GPUAGG_REDUCE) ? gpu_reduce_scratch()
														 : gpu_scan_scratch(nrows);
			break;
		case GPUAGG_ALG_CUB:
			reason = run_cub(NULL, &bench.scratch_bytes);
			break;
		case GPUAGG_ALG_READ:
		case GPUAGG_ALG_COPY:
			break;
		default:
			run = ladder_run();
			bench.scratch_bytes = gpu_ladder_scratch(&run);
			bench.result_size = gpuagg_ladder_result_size(kind);
			break;
	}
	bench.values = gpud_place(&end, nrows * value_size);
	if (is_task(GPUAGG_SEGMENTED_SCAN))
		bench.heads = gpud_place(&end, (nrows + 63) / 64 * 8);
	if (is_task(GPUAGG_SEGMENTED_SCAN) && is_algorithm(GPUAGG_ALG_CUB))
		bench.keys = gpud_place(&end, nrows * sizeof(int32_t));
	bench.results = gpud_place(&end, nresults() * bench.result_size > sizeof(GpuaggReduced)
										 ? nresults() * bench.result_size
										 : sizeof(GpuaggReduced));
	bench.scratch = gpud_place(&end, bench.scratch_bytes);
	bench.sum = gpud_place(&end, sizeof(uint64_t));
	bench.block_bytes = end;
	return reason;
}

/* Whether it is the client's turn: one who asks again at once would leave others no gap. */
static bool
has_turn(const Client *client)
{
	if (next_client != NULL && gpud_now() - next_asked > TURN_NS)
		next_client = NULL;
	if (bench.step == STEP_NONE && (next_client == NULL || next_client == client))
	{
		next_client = NULL;
		return true;
	}
	if (next_client == NULL && bench.client != client)
		next_client = client;
	if (next_client == client)
		next_asked = gpud_now();
	return false;
}

static GpuaggReason
accept_bench(Client *client, const GpuaggRequest *request)
{
	GpuaggReason reason;

	if (!gpud_device.ready)
		return gpud_device.reason;
	if (gpuagg_request_check(request, 0) != GPUAGG_OK)
		return GPUAGG_REFUSED;
	if (client->inflight >= GPUAGG_MAX_INFLIGHT || !has_turn(client))
		return GPUAGG_BUSY;

	memset(&bench, 0, sizeof(bench));
	bench.request = *request;
	bench.client = client;
	reason = plan();
	if (reason != GPUAGG_OK)
		return reason;

	/* the lanes keep as much as the pieces of their requests are cut for */
	if (bench.block_bytes > gpud_device_budget / 4 * 3)
		return GPUAGG_NO_DEVICE_MEMORY;
	if (!gpud_lanes_set_aside(bench.block_bytes, bench.given_up, &bench.ngiven_up))
		return GPUAGG_BUSY;
	return GPUAGG_OK;
}

void
gpud_bench_submit(Client *client, const GpuaggRequest *request)
{
	GpuaggReason reason = accept_bench(client, request);

	if (reason != GPUAGG_OK)
	{
		gpud_reply_reason(client, &request->h, reason);
		return;
	}
	client->inflight++;
	bench.step = STEP_SETTING_UP;
	bench.task.run = set_up_run;
	bench.task.done = set_up_done;
	gpud_setup_submit(&bench.task);
}

void
gpud_bench_client_gone(const Client *client)
{
	if (next_client == client)
		next_client = NULL;
	if (bench.step != STEP_NONE && bench.client == client)
		bench.client = NULL;
}

bool
gpud_bench_advance(void)
{
	int done = 0;

	if (bench.step == STEP_NONE || bench.step == STEP_SETTING_UP || bench.step == STEP_ENDING)
		return false;
	if (gpu_event_query(bench.stop, &done) != GPUAGG_OK)
		gpud_lost(gpu_last_error());
	if (!done)
	{
		if (gpud_now() - bench.step_started > DEADLINE_NS)
			gpud_lost("a benchmark did not end in time");
		return true;
	}

	if (bench.step == STEP_REPEAT && bench.reason == GPUAGG_OK)
		note_time();
	if (bench.reason != GPUAGG_OK || bench.client == NULL || bench.step == STEP_CHECK)
	{
		end_bench();
		return false;
	}
	if (bench.step == STEP_WARM_UP)
		bench.repeating_since = gpud_now();
	start_step(next_step());
	return true;
}

void
gpud_bench_lost(void)
{
	if (bench.step != STEP_NONE && bench.client != NULL)
		gpud_reply_reason(bench.client, &bench.request.h, GPUAGG_LOST);
}
