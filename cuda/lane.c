/*
 * lane.c
 *	  Streams with device memory of their own, and the pieces of work on them.
 *
 * A Lane is a stream with a block of device memory of its own and a pinned slot
 * for small results; it works on one piece at a time.  Blocks grow as pieces
 * need it (in the set-up thread, since that may stall) and are kept.
 */
#include "work.h"

#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>

#define BLOCK_MIN  (UINT64_C(1) << 20) /* bytes */
#define PROBE_ROWS 5
#define PROBE_NS   INT64_C(30000000000) /* a device that takes longer hangs */

Lane gpud_lanes[GPUD_MAX_STREAMS];
uint64_t gpud_lane_budget;

static Slot *slots;
static int wakeup_fd = -1;

int
gpud_lanes_fd(void)
{
	if (wakeup_fd < 0)
		wakeup_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return wakeup_fd;
}

uint64_t
gpud_lanes_bytes(void)
{
	uint64_t bytes = 0;

	for (int i = 0; i < GPUD_MAX_STREAMS; i++)
		bytes += gpud_lanes[i].block_bytes;
	return bytes;
}

/* Called by a thread of the driver. */
static void
wake_loop(void *arg)
{
	(void) arg;
	(void) eventfd_write(wakeup_fd, 1);
}

static GpuaggReason
launch_reduce(Lane *lane, const Layout *l)
{
	Job *job = lane->job;
	size_t size = gpuagg_kind_size(job->kind);
	const char *values = gpud_segment_base(job->segment) + job->request.u.reduce.offset +
						 job->rows_done * size;
	GpuaggReduced *result = (GpuaggReduced *) (lane->block + l->result);
	GpuaggReason reason;

	reason = gpu_copy_in(lane->block + l->values, values, lane->rows * size, lane->stream);
	if (reason == GPUAGG_OK)
	{
		GpuReduce reduce = {0};

		reduce.kind = job->kind;
		reduce.op = GPUAGG_SUM;
		reduce.nrows = lane->rows;
		reduce.values = lane->block + l->values;
		reduce.result = result;
		reduce.scratch = lane->block + l->scratch;
		reason = gpu_reduce(&reduce, lane->stream);
	}
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(&lane->slot->reduced, result, sizeof(*result), lane->stream);
	return reason;
}

static GpuaggReason
launch_scan(Lane *lane, const Layout *l)
{
	Job *job = lane->job;
	const GpuaggRequest *request = &job->request;
	uint64_t first = job->rows_done; /* a multiple of 64 */
	size_t size = gpuagg_kind_size(job->kind);
	size_t result_size = gpuagg_scan_result_size(job->kind, GPUAGG_SUM, 0);
	bool nulls = (request->u.scan.flags & GPUAGG_SCAN_VALIDITY) != 0;
	char *base = gpud_segment_base(job->segment);
	char *block = lane->block;
	GpuScanState *state_in = (GpuScanState *) (block + l->state_in);
	GpuScanState *state_out = (GpuScanState *) (block + l->result);
	GpuaggReason reason;

	memset(&lane->slot->state_in, 0, sizeof(lane->slot->state_in));
	lane->slot->state_in.state = request->u.scan.carry;

	reason = gpu_copy_in(state_in, &lane->slot->state_in, sizeof(*state_in), lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_in(block + l->values, base + request->u.scan.values_offset + first * size,
							 lane->rows * size, lane->stream);
	if (reason == GPUAGG_OK && nulls)
		reason = gpu_copy_in(block + l->validity,
							 base + request->u.scan.validity_offset + first / 8,
							 (lane->rows + 63) / 64 * 8, lane->stream);
	if (reason == GPUAGG_OK)
	{
		GpuScan scan = {0};

		scan.kind = job->kind;
		scan.op = GPUAGG_SUM;
		scan.flags = request->u.scan.flags;
		scan.window = request->u.scan.window;
		scan.nrows = lane->rows;
		scan.values = block + l->values;
		scan.validity = nulls ? (const uint64_t *) (block + l->validity) : NULL;
		scan.state_in = state_in;
		scan.results = block + l->results;
		scan.status = (uint8_t *) (block + l->status);
		scan.state_out = state_out;
		scan.scratch = block + l->scratch;
		reason = gpu_scan(&scan, lane->stream);
	}
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(base + request->u.scan.result_offset + first * result_size,
							  block + l->results, lane->rows * result_size, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(base + request->u.scan.status_offset + first, block + l->status,
							  lane->rows, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(&lane->slot->state_out, state_out, sizeof(*state_out), lane->stream);
	return reason;
}

/*
 * Starts the next piece of the lane's job.  Also when something could not be
 * enqueued, what was must end before the segment may be let go.
 */
static void
launch(Lane *lane)
{
	Job *job = lane->job;
	const Layout *layout = &job->layout;
	uint64_t left = job->nrows - job->rows_done;
	GpuaggReason reason;

	lane->rows = left < job->piece_rows ? left : job->piece_rows;
	lane->started = gpud_now();
	reason = gpud_job_is_scan(job) ? launch_scan(lane, layout) : launch_reduce(lane, layout);
	if (reason == GPUAGG_LOST)
		gpud_lost(gpu_last_error());
	if (reason != GPUAGG_OK)
	{
		static int64_t told;

		if (gpud_due(&told))
			gpud_warn("a request could not be started: %s: %s", gpuagg_reason_text(reason),
					  gpu_last_error());
		job->failure = reason;
	}
	if (gpu_event_record(lane->event, lane->stream) != GPUAGG_OK ||
		gpu_host_call(lane->stream, wake_loop, NULL) != GPUAGG_OK)
		gpud_lost(gpu_last_error());
}

static void
grow_run(Task *task)
{
	Lane *lane = (Lane *) task;
	void *block = NULL;

	lane->grow_reason = GPUAGG_OK;
	for (int i = 0; i < lane->ngiven_up && lane->grow_reason == GPUAGG_OK; i++)
		lane->grow_reason = gpu_free(lane->given_up[i]);
	if (lane->grow_reason == GPUAGG_OK)
		lane->grow_reason = gpu_malloc(&block, lane->block_bytes);
	lane->block = block;
}

static void
grow_done(Task *task)
{
	Lane *lane = (Lane *) task;

	lane->growing = false;
	if (lane->grow_reason == GPUAGG_LOST)
		gpud_lost("device memory could not be allocated");
	if (lane->grow_reason != GPUAGG_OK)
	{
		static int64_t told;

		/* others use the device's memory: this request must do without */
		if (gpud_due(&told))
			gpud_warn("could not allocate %llu bytes of device memory",
					  (unsigned long long) lane->block_bytes);
		lane->block_bytes = 0;
	}
	if (lane->grow_reason == GPUAGG_OK && lane->job->client != NULL)
		launch(lane);
	else
	{
		gpud_job_finish(lane->job, GPUAGG_NO_DEVICE_MEMORY);
		lane->job = NULL;
	}
}

static void
give_up_block(Lane *for_lane, Lane *lane)
{
	if (lane->block != NULL)
		for_lane->given_up[for_lane->ngiven_up++] = lane->block;
	lane->block = NULL;
	lane->block_bytes = 0;
}

/* A lane whose block is too small is returned with `growing` set. */
Lane *
gpud_lane_find(uint64_t need)
{
	Lane *fitting = NULL;
	Lane *smallest = NULL;
	uint64_t busy_bytes = 0;
	uint64_t other_bytes;
	uint64_t wanted = BLOCK_MIN;

	for (int i = 0; i < GPUD_MAX_STREAMS; i++)
	{
		Lane *lane = &gpud_lanes[i];

		if (lane->job != NULL)
			busy_bytes += lane->block_bytes;
		else
		{
			if (lane->block_bytes >= need &&
				(fitting == NULL || lane->block_bytes < fitting->block_bytes))
				fitting = lane;
			if (smallest == NULL || lane->block_bytes < smallest->block_bytes)
				smallest = lane;
		}
	}
	if (fitting != NULL || smallest == NULL)
		return fitting;
	if (need > gpud_lane_budget || busy_bytes > gpud_lane_budget - need)
		return NULL;

	while (wanted < need)
		wanted *= 2;
	smallest->ngiven_up = 0;
	give_up_block(smallest, smallest);
	other_bytes = gpud_lanes_bytes();
	for (int i = 0; i < GPUD_MAX_STREAMS && other_bytes > gpud_lane_budget - need; i++)
		if (gpud_lanes[i].job == NULL && gpud_lanes[i].block_bytes > 0)
		{
			other_bytes -= gpud_lanes[i].block_bytes;
			give_up_block(smallest, &gpud_lanes[i]);
		}
	smallest->block_bytes = wanted <= gpud_lane_budget - other_bytes ? wanted : need;
	smallest->growing = true;
	return smallest;
}

void
gpud_lane_start(Lane *lane)
{
	if (lane->growing)
		gpud_setup_submit(&lane->grow_task);
	else
		launch(lane);
}

/* Set-up thread: waits for everything on a lane's stream. */
static GpuaggReason
wait_for(Lane *lane)
{
	int64_t until = gpud_now() + PROBE_NS;
	GpuaggReason reason = gpu_event_record(lane->event, lane->stream);
	int done = 0;

	while (reason == GPUAGG_OK)
	{
		struct timespec pause = {0, 50000};

		reason = gpu_event_query(lane->event, &done);
		if (reason != GPUAGG_OK || done)
			break;
		if (gpud_now() > until)
			return GPUAGG_DEVICE_ERROR;
		nanosleep(&pause, NULL);
	}
	return reason;
}

/*
 * Runs the kernels on a few rows and looks at the answers: what a device can
 * really do shows only so.
 */
static GpuaggReason
probe(Lane *lane)
{
	static const double values[PROBE_ROWS] = {0.5, -3.0, 1048576.0, 0.25, -1048576.0};
	static const int64_t integers[PROBE_ROWS] = {INT64_MAX, INT64_MAX, -7, 5, 1};
	Slot *slot = lane->slot;
	int64_t low;
	double sum = 0;
	void *block;
	char *at;
	size_t scratch = gpu_reduce_scratch();
	GpuaggReason reason;

	reason = gpu_malloc(&block, 2 * 4096 + scratch);
	if (reason != GPUAGG_OK)
		return reason;
	at = block;

	for (int kind = GPUAGG_INT64; kind <= GPUAGG_FLOAT64 && reason == GPUAGG_OK; kind++)
	{
		GpuaggReduced *result = (GpuaggReduced *) (at + 4096);
		const void *input = kind == GPUAGG_INT64 ? (const void *) integers : (const void *) values;

		reason = gpu_copy_in(at, input, PROBE_ROWS * sizeof(double), lane->stream);
		if (reason == GPUAGG_OK)
		{
			GpuReduce reduce = {0};

			reduce.kind = kind;
			reduce.op = GPUAGG_SUM;
			reduce.nrows = PROBE_ROWS;
			reduce.values = at;
			reduce.result = result;
			reduce.scratch = at + 2 * 4096;
			reason = gpu_reduce(&reduce, lane->stream);
		}
		if (reason == GPUAGG_OK)
			reason = gpu_copy_out(&slot->reduced, result, sizeof(*result), lane->stream);
		if (reason == GPUAGG_OK)
			reason = wait_for(lane);
		if (reason != GPUAGG_OK)
			break;

		low = (int64_t) slot->reduced.sum.lo;
		if (kind == GPUAGG_INT64 &&
			(slot->reduced.n != PROBE_ROWS || slot->reduced.sum.hi != 0 || low != -3))
			reason = GPUAGG_DEVICE_ERROR;
		if (kind == GPUAGG_FLOAT64 && (gpuagg_float_sum_round64((GpuaggFloatSum *) &slot->reduced.f,
																&sum) != GPUAGG_ROUNDED_VALUE ||
									   sum != -2.25))
			reason = GPUAGG_DEVICE_ERROR;
		if (reason != GPUAGG_OK)
			gpud_warn("the device's kernels gave a wrong answer");
	}
	if (reason == GPUAGG_OK)
		reason = gpu_free(block);
	return reason;
}

/* After a failure; what cannot be undone either is of no use to anybody. */
static void
close_lanes(void)
{
	for (int i = 0; i < GPUD_MAX_STREAMS; i++)
	{
		if (gpud_lanes[i].event != NULL)
			(void) gpu_event_destroy(gpud_lanes[i].event);
		if (gpud_lanes[i].stream != NULL)
			(void) gpu_stream_destroy(gpud_lanes[i].stream);
	}
	memset(gpud_lanes, 0, sizeof(gpud_lanes));
	if (slots != NULL)
	{
		(void) gpu_host_unregister(slots);
		munmap(slots, GPUD_MAX_STREAMS * sizeof(Slot));
		slots = NULL;
	}
}

static GpuaggReason
open_lanes(void)
{
	GpuaggReason reason;
	uint64_t free_bytes;
	uint64_t total_bytes;
	void *p;

	reason = gpu_memory_info(&free_bytes, &total_bytes);
	if (reason != GPUAGG_OK)
		return reason;
	gpud_lane_budget = gpud_options.device_memory > 0 ? gpud_options.device_memory
													  : free_bytes / 4 * 3;

	p = mmap(NULL, GPUD_MAX_STREAMS * sizeof(Slot), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (p == MAP_FAILED)
		return GPUAGG_DEVICE_ERROR;
	reason = gpu_host_register(p, GPUD_MAX_STREAMS * sizeof(Slot));
	if (reason != GPUAGG_OK)
	{
		munmap(p, GPUD_MAX_STREAMS * sizeof(Slot));
		return reason;
	}
	slots = p;

	for (int i = 0; i < GPUD_MAX_STREAMS && reason == GPUAGG_OK; i++)
	{
		gpud_lanes[i].slot = &slots[i];
		gpud_lanes[i].grow_task.run = grow_run;
		gpud_lanes[i].grow_task.done = grow_done;
		reason = gpu_stream_create(&gpud_lanes[i].stream);
		if (reason == GPUAGG_OK)
			reason = gpu_event_create(&gpud_lanes[i].event);
	}
	return reason;
}

GpuaggReason
gpud_lanes_open(void)
{
	GpuaggReason reason = open_lanes();

	if (reason == GPUAGG_OK)
		reason = probe(&gpud_lanes[0]);
	if (reason != GPUAGG_OK)
		close_lanes();
	return reason;
}
