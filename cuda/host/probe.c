/*
 * probe.c
 *	  Whether a device computes what it should.
 */
#include "host/probe.h"

#include <time.h>

#include "host/log.h"
#include "kernels/kernels.h"

#define ROWS	 5
#define WINDOW	 28					/* chunks around 1 */
#define PROBE_NS (30 * GPUD_SECOND) /* a device that takes longer hangs */

/* Places in the probe's memory; values are at 0. */
#define REDUCED_AT 4096
#define STATE_AT   8192
#define RESULTS_AT 12288
#define SCRATCH_AT 16384

typedef struct ProbeSlot
{
	GpuaggReduced reduced;
	GpuScanState scanned;
} ProbeSlot;

static_assert(sizeof(ProbeSlot) <= GPUD_SLOT_BYTES, "a slot holds it");

/* Waits for everything on a lane's stream. */
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

/* Enqueues a reduction and a scan of the values. */
static GpuaggReason
start(Lane *lane, char *at, int kind)
{
	ProbeSlot *slot = lane->slot;
	GpuReduce reduce = {.kind = kind, .op = GPUAGG_SUM, .nrows = ROWS, .values = at};
	GpuScan scan = {.kind = kind, .op = GPUAGG_SUM, .nrows = ROWS, .values = at, .window = WINDOW};
	GpuaggReason reason;

	reduce.result = (GpuaggReduced *) (at + REDUCED_AT);
	reduce.scratch = at + SCRATCH_AT;
	scan.results = at + RESULTS_AT;
	scan.state_out = (GpuScanState *) (at + STATE_AT);
	scan.scratch = at + SCRATCH_AT + gpud_scan_scratch;
	reason = gpu_reduce(&reduce, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_scan(&scan, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(&slot->reduced, reduce.result, sizeof(slot->reduced), lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(&slot->scanned, scan.state_out, sizeof(slot->scanned), lane->stream);
	return reason;
}

/* Whether both kernels have found the sum of the probe's values. */
static bool
is_right(ProbeSlot *slot, int kind)
{
	GpuaggScanState *state = &slot->scanned.state;
	double reduced = 0;
	double scanned = 0;

	if (kind == GPUAGG_INT64)
		return slot->reduced.n == ROWS && state->f.counts.n > 0 && slot->reduced.sum.hi == 0 &&
			   state->sum.hi == 0 && (int64_t) slot->reduced.sum.lo == -3 &&
			   (int64_t) state->sum.lo == -3;
	gpuagg_float_sum_propagate(gpuagg_float_sum_of(&state->f));
	(void) gpuagg_float_sum_round64(gpuagg_float_sum_of(&slot->reduced.f), &reduced);
	(void) gpuagg_float_sum_round64(gpuagg_float_sum_of(&state->f), &scanned);
	return reduced == -2.25 && scanned == -2.25;
}

GpuaggReason
gpud_probe(Lane *lane)
{
	static const double values[ROWS] = {0.5, -3.0, 1048576.0, 0.25, -1048576.0};
	static const int64_t integers[ROWS] = {INT64_MAX, INT64_MAX, -7, 5, 1};
	size_t bytes = SCRATCH_AT + gpud_scratch_end;
	void *block;
	GpuaggReason reason;

	reason = gpu_malloc(&block, bytes);
	if (reason == GPUAGG_OK)
		reason = gpu_memset(block, 0, bytes, lane->stream);
	for (int kind = GPUAGG_INT64; kind <= GPUAGG_FLOAT64 && reason == GPUAGG_OK; kind++)
	{
		const void *input = kind == GPUAGG_INT64 ? (const void *) integers : (const void *) values;

		reason = gpu_copy_in(block, input, ROWS * sizeof(double), lane->stream);
		if (reason == GPUAGG_OK)
			reason = start(lane, block, kind);
		if (reason == GPUAGG_OK)
			reason = wait_for(lane);
		if (reason == GPUAGG_OK && !is_right(lane->slot, kind))
		{
			gpud_warn("the device's kernels gave a wrong answer");
			reason = GPUAGG_DEVICE_ERROR;
		}
	}
	if (reason == GPUAGG_OK)
		reason = gpu_free(block);
	return reason;
}
