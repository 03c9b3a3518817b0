/*
 * lane.c
 *	  Streams with device memory of their own; each works on one piece at a time.
 */
#include "host/lane.h"

#include <string.h>
#include <sys/mman.h>

#include "host/clients.h"
#include "host/log.h"
#include "host/options.h"
#include "kernels/kernels.h"

#define BLOCK_MIN	   (UINT64_C(1) << 20) /* bytes */
#define PIECE_ROWS	   (UINT64_C(1) << 22) /* 32 MB of int64: 0.6 ms over PCIe 5 */
#define PIECE_ROWS_SIM (UINT64_C(1) << 17) /* the simulator is that much slower */
#define PIECE_ROWS_MIN (UINT64_C(1) << 12)
#define SLOTS_BYTES	   ((GPUD_LANES + 1) * GPUD_SLOT_BYTES)

Lane gpud_lanes[GPUD_LANES + 1];
uint64_t gpud_device_budget;
uint64_t gpud_piece_rows_max;
size_t gpud_scan_scratch;
size_t gpud_scratch_end;

static char *slots;
static uint64_t taken; /* of the budget, by others than lanes */

uint64_t
gpud_lanes_bytes(void)
{
	uint64_t bytes = 0;

	for (int i = 0; i <= GPUD_LANES; i++)
		bytes += gpud_lanes[i].block_bytes;
	return bytes;
}

uint64_t
gpud_work_budget(void)
{
	return gpud_device_budget - taken;
}

uint64_t
gpud_lanes_budget(void)
{
	return gpud_work_budget() - GPUD_BACKGROUND->block_bytes;
}

GpuaggReason
gpud_given_up_free(const GivenUp *given_up)
{
	GpuaggReason reason = GPUAGG_OK;

	for (int i = 0; i < given_up->n && reason == GPUAGG_OK; i++)
		reason = gpu_free(given_up->block[i]);
	return reason;
}

/* Set-up thread. */
static void
resize_run(Task *task)
{
	Lane *lane = (Lane *) task;
	void *block = NULL;

	lane->reason = gpud_given_up_free(&lane->given_up);
	if (lane->reason == GPUAGG_OK && lane->block_bytes > 0)
		lane->reason = gpu_malloc(&block, lane->block_bytes);
	lane->block = block;
}

static void
resize_done(Task *task)
{
	Lane *lane = (Lane *) task;

	lane->resizing = false;
	lane->scratch_ready = false;
	lane->given_up.n = 0;
	if (lane->reason == GPUAGG_LOST)
		gpud_lost("device memory could not be allocated");
	if (lane->reason != GPUAGG_OK)
	{
		static int64_t told;

		/* other programs use the device's memory: this request fails, gpuaggd goes on */
		if (gpud_due(&told))
			gpud_warn("could not allocate %llu bytes of device memory",
					  (unsigned long long) lane->block_bytes);
		lane->block_bytes = 0;
	}
	lane->resized(lane, lane->reason);
}

void
gpud_lane_resize(Lane *lane, void (*resized)(Lane *, GpuaggReason))
{
	lane->resizing = true;
	lane->resized = resized;
	gpud_setup_submit(&lane->resize_task);
}

/* Takes a lane's block away; the taker will have it freed. */
static void
give_up_block(Lane *lane, GivenUp *given_up)
{
	if (lane->block != NULL)
		given_up->block[given_up->n++] = lane->block;
	lane->block = NULL;
	lane->block_bytes = 0;
}

void
gpud_background_give_back(void (*resized)(Lane *, GpuaggReason))
{
	give_up_block(GPUD_BACKGROUND, &GPUD_BACKGROUND->given_up);
	gpud_lane_resize(GPUD_BACKGROUND, resized);
}

/* Bytes of all lanes without the background lane, or of those of them at work. */
static uint64_t
held_bytes(bool at_work)
{
	uint64_t bytes = 0;

	for (int i = 0; i < GPUD_LANES; i++)
		if (!at_work || gpud_lanes[i].job != NULL)
			bytes += gpud_lanes[i].block_bytes;
	return bytes;
}

/* Has idle lanes give up blocks until these lanes together hold no more than `most` bytes. */
static void
shrink_lanes(uint64_t most, GivenUp *given_up)
{
	for (int i = 0; i < GPUD_LANES && held_bytes(false) > most; i++)
		if (gpud_lanes[i].job == NULL)
			give_up_block(&gpud_lanes[i], given_up);
}

bool
gpud_budget_take(uint64_t bytes, GivenUp *given_up)
{
	uint64_t budget = gpud_lanes_budget();

	if (bytes > budget || held_bytes(true) > budget - bytes)
		return false;
	taken += bytes;
	shrink_lanes(gpud_lanes_budget(), given_up);
	return true;
}

void
gpud_budget_give_back(uint64_t bytes)
{
	taken -= bytes;
}

bool
gpud_background_take(uint64_t need)
{
	Lane *lane = GPUD_BACKGROUND;

	if (need > gpud_lanes_budget() || held_bytes(true) > gpud_lanes_budget() - need)
		return false;
	lane->block_bytes = need;
	lane->resizing = true;
	shrink_lanes(gpud_lanes_budget(), &lane->given_up);
	return true;
}

Lane *
gpud_lane_find(uint64_t need)
{
	Lane *fitting = NULL;
	Lane *smallest = NULL;
	uint64_t budget = gpud_lanes_budget();
	uint64_t wanted = BLOCK_MIN;

	for (int i = 0; i < GPUD_LANES; i++)
	{
		Lane *lane = &gpud_lanes[i];

		if (lane->job != NULL)
			continue;
		if (lane->block_bytes >= need &&
			(fitting == NULL || lane->block_bytes < fitting->block_bytes))
			fitting = lane;
		if (smallest == NULL || lane->block_bytes < smallest->block_bytes)
			smallest = lane;
	}
	if (fitting != NULL || smallest == NULL)
		return fitting;
	if (need > budget || held_bytes(true) > budget - need)
		return NULL;

	while (wanted < need)
		wanted *= 2;
	give_up_block(smallest, &smallest->given_up);
	shrink_lanes(budget - need, &smallest->given_up);
	smallest->block_bytes = wanted <= budget - held_bytes(false) ? wanted : need;
	smallest->resizing = true;
	return smallest;
}

/* Failures are not looked at: what cannot be undone is lost anyway. */
void
gpud_lanes_close(void)
{
	for (int i = 0; i <= GPUD_LANES; i++)
	{
		if (gpud_lanes[i].start != NULL)
			(void) gpu_event_destroy(gpud_lanes[i].start);
		if (gpud_lanes[i].event != NULL)
			(void) gpu_event_destroy(gpud_lanes[i].event);
		if (gpud_lanes[i].prompt != NULL)
			(void) gpu_stream_destroy(gpud_lanes[i].prompt);
		if (gpud_lanes[i].yielding != NULL)
			(void) gpu_stream_destroy(gpud_lanes[i].yielding);
	}
	memset(gpud_lanes, 0, sizeof(gpud_lanes));
	if (slots != NULL)
	{
		(void) gpu_host_unregister(slots);
		munmap(slots, SLOTS_BYTES);
		slots = NULL;
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
open_lane(Lane *lane, bool background)
{
	GpuaggReason reason = gpu_stream_create_background(&lane->yielding);

	if (reason == GPUAGG_OK && !background)
		reason = gpu_stream_create(&lane->prompt);
	lane->stream = background ? lane->yielding : lane->prompt;
	lane->resize_task.run = resize_run;
	lane->resize_task.done = resize_done;
	if (reason == GPUAGG_OK && background)
		reason = gpu_event_create_timed(&lane->start);
	if (reason == GPUAGG_OK)
		reason = background ? gpu_event_create_timed(&lane->event) : gpu_event_create(&lane->event);
	return reason;
}

GpuaggReason
gpud_lanes_open(bool simulated)
{
	GpuaggReason reason = set_budget(simulated);
	void *p;

	if (reason != GPUAGG_OK)
		return reason;
	p = mmap(NULL, SLOTS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
			 -1, 0);
	if (p == MAP_FAILED)
		return GPUAGG_DEVICE_ERROR;
	reason = gpu_host_register(p, SLOTS_BYTES);
	if (reason != GPUAGG_OK)
	{
		munmap(p, SLOTS_BYTES);
		return reason;
	}
	slots = p;

	for (int i = 0; i <= GPUD_LANES && reason == GPUAGG_OK; i++)
	{
		gpud_lanes[i].slot = slots + i * GPUD_SLOT_BYTES;
		reason = open_lane(&gpud_lanes[i], i == GPUD_LANES);
	}
	return reason;
}
