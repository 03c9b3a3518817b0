/*
 * lane.c
 *	  Streams with device memory of their own, and the pieces of work on them.
 *
 * A Lane is a stream with a block of device memory of its own and a pinned slot
 * for small results; it works on one piece at a time.  Blocks grow as pieces
 * need it (in the set-up thread, since that may stall) and are kept.
 *
 * A block begins with scratch for the kernels that keep something there from
 * one launch to the next: since a lane is one stream, it is theirs for good.
 */
#include "host/job.h"

#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>

#define BLOCK_MIN	   (UINT64_C(1) << 20) /* bytes */
#define PIECE_ROWS	   (UINT64_C(1) << 22) /* 32 MB of int64: 0.6 ms over PCIe 5 */
#define PIECE_ROWS_SIM (UINT64_C(1) << 17) /* the simulator is that much slower */
#define PIECE_ROWS_MIN (UINT64_C(1) << 12)
#define PROBE_ROWS	   5
#define PROBE_WINDOW   28					/* chunks around 1 */
#define PROBE_NS	   INT64_C(30000000000) /* a device that takes longer hangs */

#define NSLOTS		   (GPUD_MAX_STREAMS + 1)

Lane gpud_lanes[GPUD_MAX_STREAMS];
Slot *gpud_spare_slot;
uint64_t gpud_device_budget;
uint64_t gpud_piece_rows_max;
size_t gpud_scan_scratch;
size_t gpud_scratch_end;

static Slot *slots;
static uint64_t set_aside; /* bytes of the budget */
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

uint64_t
gpud_lanes_budget(void)
{
	return gpud_device_budget - set_aside;
}

/* Called by a thread of the driver. */
void
gpud_wake_loop(void *unused)
{
	(void) unused;
	(void) eventfd_write(wakeup_fd, 1);
}

/*
 * Starts the next piece of the lane's job.  Also when something could not be
 * enqueued, what was must end before the segment may be let go.
 */
static void
launch(Lane *lane)
{
	Job *job = lane->job;
	uint64_t left = job->nrows - job->rows_done;
	GpuaggReason reason;

	lane->rows = left < job->piece_rows ? left : job->piece_rows;
	lane->started = gpud_now();
	reason = gpud_piece_launch(lane);
	if (reason == GPUAGG_LOST)
		gpud_lost(gpu_last_error());
	if (reason != GPUAGG_OK)
	{
		static int64_t told;

		if (reason != GPUAGG_REFUSED && gpud_due(&told))
			gpud_warn("a request could not be started: %s: %s", gpuagg_reason_text(reason),
					  gpu_last_error());
		job->failure = reason;
	}
	if (gpu_event_record(lane->event, lane->stream) != GPUAGG_OK ||
		gpu_host_call(lane->stream, gpud_wake_loop, NULL) != GPUAGG_OK)
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
	lane->scratch_ready = false;
	if (lane->grow_reason == GPUAGG_OK && lane->job->client != NULL)
		launch(lane);
	else
	{
		gpud_job_finish(lane->job, GPUAGG_NO_DEVICE_MEMORY);
		lane->job = NULL;
	}
}

static void
give_up_block(Lane *lane, void **blocks, int *nblocks)
{
	if (lane->block != NULL)
		blocks[(*nblocks)++] = lane->block;
	lane->block = NULL;
	lane->block_bytes = 0;
}

/* Has idle lanes give up blocks until all lanes together hold no more than `most` bytes. */
static void
shrink_lanes(uint64_t most, void **blocks, int *nblocks)
{
	uint64_t bytes = gpud_lanes_bytes();

	for (int i = 0; i < GPUD_MAX_STREAMS && bytes > most; i++)
		if (gpud_lanes[i].job == NULL)
		{
			bytes -= gpud_lanes[i].block_bytes;
			give_up_block(&gpud_lanes[i], blocks, nblocks);
		}
}

bool
gpud_lanes_set_aside(uint64_t bytes, void **blocks, int *nblocks)
{
	uint64_t busy_bytes = 0;

	*nblocks = 0;
	for (int i = 0; i < GPUD_MAX_STREAMS; i++)
		if (gpud_lanes[i].job != NULL)
			busy_bytes += gpud_lanes[i].block_bytes;
	if (bytes > gpud_device_budget || busy_bytes > gpud_device_budget - bytes)
		return false;
	set_aside = bytes;
	shrink_lanes(gpud_lanes_budget(), blocks, nblocks);
	return true;
}

void
gpud_lanes_give_back(void)
{
	set_aside = 0;
}

/* A lane whose block is too small is returned with `growing` set. */
Lane *
gpud_lane_find(uint64_t need)
{
	Lane *fitting = NULL;
	Lane *smallest = NULL;
	uint64_t budget = gpud_lanes_budget();
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
	if (need > budget || busy_bytes > budget - need)
		return NULL;

	while (wanted < need)
		wanted *= 2;
	smallest->ngiven_up = 0;
	give_up_block(smallest, smallest->given_up, &smallest->ngiven_up);
	shrink_lanes(budget - need, smallest->given_up, &smallest->ngiven_up);
	other_bytes = gpud_lanes_bytes();
	smallest->block_bytes = wanted <= budget - other_bytes ? wanted : need;
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

/* Places in the probe's memory. */
#define PROBE_RESULT  4096
#define PROBE_ROWS_AT 8192
#define PROBE_SCRATCH 12288

static GpuaggReason
probe_reduce(Lane *lane, char *at, int kind)
{
	GpuReduce reduce = {0};
	GpuaggReason reason;

	reduce.kind = kind;
	reduce.op = GPUAGG_SUM;
	reduce.nrows = PROBE_ROWS;
	reduce.values = at;
	reduce.result = (GpuaggReduced *) (at + PROBE_RESULT);
	reduce.scratch = at + PROBE_SCRATCH;
	reason = gpu_reduce(&reduce, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(&lane->slot->reduced, reduce.result, sizeof(*reduce.result),
							  lane->stream);
	return reason;
}

static GpuaggReason
probe_scan(Lane *lane, char *at, int kind)
{
	GpuScan scan = {0};
	GpuaggReason reason;

	scan.kind = kind;
	scan.op = GPUAGG_SUM;
	scan.window = PROBE_WINDOW;
	scan.nrows = PROBE_ROWS;
	scan.values = at;
	scan.results = at + PROBE_ROWS_AT;
	scan.state_out = (GpuScanState *) (at + PROBE_RESULT);
	scan.scratch = at + PROBE_SCRATCH + gpud_scan_scratch;
	reason = gpu_scan(&scan, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(&lane->slot->state_out, scan.state_out, sizeof(*scan.state_out),
							  lane->stream);
	return reason;
}

/* Whether both kernels have found the sum of the probe's values. */
static bool
probe_right(Slot *slot, int kind)
{
	GpuaggScanState *state = &slot->state_out.state;
	double reduced = 0;
	double scanned = 0;

	if (kind == GPUAGG_INT64)
		return slot->reduced.n == PROBE_ROWS && state->f.counts.n > 0 &&
			   slot->reduced.sum.hi == 0 && state->sum.hi == 0 &&
			   (int64_t) slot->reduced.sum.lo == -3 && (int64_t) state->sum.lo == -3;
	gpuagg_float_sum_propagate(gpuagg_float_sum_of(&state->f));
	(void) gpuagg_float_sum_round64(gpuagg_float_sum_of(&slot->reduced.f), &reduced);
	(void) gpuagg_float_sum_round64(gpuagg_float_sum_of(&state->f), &scanned);
	return reduced == -2.25 && scanned == -2.25;
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
	size_t bytes = PROBE_SCRATCH + gpud_scratch_end;
	void *block;
	GpuaggReason reason;

	reason = gpu_malloc(&block, bytes);
	if (reason == GPUAGG_OK)
		reason = gpu_memset(block, 0, bytes, lane->stream);
	for (int kind = GPUAGG_INT64; kind <= GPUAGG_FLOAT64 && reason == GPUAGG_OK; kind++)
	{
		const void *input = kind == GPUAGG_INT64 ? (const void *) integers : (const void *) values;

		reason = gpu_copy_in(block, input, PROBE_ROWS * sizeof(double), lane->stream);
		if (reason == GPUAGG_OK)
			reason = probe_reduce(lane, block, kind);
		if (reason == GPUAGG_OK)
			reason = probe_scan(lane, block, kind);
		if (reason == GPUAGG_OK)
			reason = wait_for(lane);
		if (reason == GPUAGG_OK && !probe_right(lane->slot, kind))
		{
			gpud_warn("the device's kernels gave a wrong answer");
			reason = GPUAGG_DEVICE_ERROR;
		}
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
		munmap(slots, NSLOTS * sizeof(Slot));
		slots = gpud_spare_slot = NULL;
	}
}

/* How much device memory there is to use, and how much of it scratch takes. */
static GpuaggReason
set_budget(bool simulated)
{
	uint64_t free_bytes;
	uint64_t total_bytes;
	GpuaggReason reason = gpu_memory_info(&free_bytes, &total_bytes);

	gpud_device_budget = gpud_options.device_memory > 0 ? gpud_options.device_memory
														: free_bytes / 4 * 3;
	gpud_piece_rows_max = simulated ? PIECE_ROWS_SIM : PIECE_ROWS;
	for (;;)
	{
		size_t end = 0;

		(void) gpud_place(&end, gpu_reduce_scratch());
		gpud_scan_scratch = gpud_place(&end, gpu_scan_scratch(gpud_piece_rows_max));
		gpud_scratch_end = end;
		if (end <= gpud_device_budget / 8 || gpud_piece_rows_max <= PIECE_ROWS_MIN)
			return reason;
		gpud_piece_rows_max /= 2;
	}
}

static GpuaggReason
open_lanes(bool simulated)
{
	GpuaggReason reason = set_budget(simulated);
	void *p;

	if (reason != GPUAGG_OK)
		return reason;
	p = mmap(NULL, NSLOTS * sizeof(Slot), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (p == MAP_FAILED)
		return GPUAGG_DEVICE_ERROR;
	reason = gpu_host_register(p, NSLOTS * sizeof(Slot));
	if (reason != GPUAGG_OK)
	{
		munmap(p, NSLOTS * sizeof(Slot));
		return reason;
	}
	slots = p;
	gpud_spare_slot = &slots[GPUD_MAX_STREAMS];

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
gpud_lanes_open(bool simulated)
{
	GpuaggReason reason = open_lanes(simulated);

	if (reason == GPUAGG_OK)
		reason = probe(&gpud_lanes[0]);
	if (reason != GPUAGG_OK)
		close_lanes();
	return reason;
}
