/*
 * piece.c
 *	  A piece of a request: what it needs, how it runs, what it leaves.
 *
 * A request is done in pieces of rows, so that none holds the device for long.
 * Each piece is complete in itself: a scan's running state and the reduction so
 * far are kept in the Job between pieces, and merging is exact, so pieces
 * cannot change a bit of the result.  A sort and the ladder's requests are one piece.
 */
#include "host/job.h"

#include <string.h>

#include "ladder/ladder.h"

#define PIECE_ROWS_MIN (UINT64_C(1) << 12)

static bool
is_type(const Job *job, int type)
{
	return job->request.h.type == type;
}

static GpuSort
sort_run(const Job *job)
{
	GpuSort run = {0};

	run.words = (int) job->request.u.work.u.sort.words;
	run.bits = (int) job->request.u.work.u.sort.bits;
	run.nrows = job->nrows;
	return run;
}

static GpuLadder
ladder_run(const Job *job)
{
	const GpuaggWork *work = &job->request.u.work;
	GpuLadder run = {0};

	run.task = (int) work->u.ladder.task;
	run.algorithm = (int) work->u.ladder.algorithm;
	run.kind = job->kind;
	run.op = job->op;
	run.exclusive = (work->flags & GPUAGG_SCAN_EXCLUSIVE) != 0;
	run.nrows = job->nrows;
	return run;
}

/* Decides how many rows a piece has, and where in a block its parts go. */
static void
set_piece_rows(Job *job, uint64_t rows)
{
	size_t end = gpud_scratch_end;

	job->result = gpud_place(&end, sizeof(GpuaggReduced) > sizeof(GpuScanState)
									   ? sizeof(GpuaggReduced)
									   : sizeof(GpuScanState));
	job->state_in = gpud_place(&end, sizeof(GpuScanState));
	for (int c = 0; c < GPUAGG_NCOLUMNS; c++)
		job->column[c] = gpud_place(&end,
									gpuagg_column_bytes(&job->request.u.work.column[c], rows));
	if (is_type(job, GPUAGG_MSG_LADDER))
	{
		GpuLadder run = ladder_run(job);

		job->scratch = gpud_place(&end, gpu_ladder_scratch(&run));
	}
	if (is_type(job, GPUAGG_MSG_SORT))
		job->scratch = gpud_place(&end, job->sort_scratch);
	job->piece_rows = rows;
	job->block_bytes = end;
}

GpuaggReason
gpud_piece_plan(Job *job)
{
	uint64_t rows = (job->nrows + 63) / 64 * 64;
	bool sort = is_type(job, GPUAGG_MSG_SORT);
	bool whole = sort || is_type(job, GPUAGG_MSG_LADDER);

	if (sort)
	{
		GpuSort run = sort_run(job);
		GpuaggReason reason = gpu_sort(&run, &job->sort_scratch, NULL);

		if (reason != GPUAGG_OK)
			return reason;
	}
	set_piece_rows(job, whole || rows < gpud_piece_rows_max ? rows : gpud_piece_rows_max);

	/* two lanes at least should be able to work at the same time, and a benchmark beside them */
	while (!whole && job->block_bytes > gpud_device_budget / 4 && job->piece_rows > PIECE_ROWS_MIN)
		set_piece_rows(job, (job->piece_rows / 2 + 63) / 64 * 64);
	return job->block_bytes <= gpud_device_budget ? GPUAGG_OK : GPUAGG_NO_DEVICE_MEMORY;
}

static const GpuaggColumnRef *
column_of(const Lane *lane, GpuaggColumn column)
{
	return &lane->job->request.u.work.column[column];
}

/* Where a piece's part of a column lies on the device; NULL: there is no such column. */
static void *
on_device(const Lane *lane, GpuaggColumn column)
{
	return column_of(lane, column)->bits > 0 ? lane->block + lane->job->column[column] : NULL;
}

/* And in the region: pieces begin at whole words of bitmaps. */
static char *
in_region(const Lane *lane, GpuaggColumn column)
{
	const GpuaggColumnRef *ref = column_of(lane, column);

	return gpud_segment_base(lane->job->segment) + ref->at + lane->job->rows_done * ref->bits / 8;
}

static GpuaggReason
copy_columns(Lane *lane, int first, int end)
{
	GpuaggReason reason = GPUAGG_OK;

	for (int c = first; c < end && reason == GPUAGG_OK; c++)
	{
		size_t bytes = gpuagg_column_bytes(column_of(lane, c), lane->rows);

		if (bytes == 0)
			continue;
		if (c < GPUAGG_NINPUTS)
			reason = gpu_copy_in(on_device(lane, c), in_region(lane, c), bytes, lane->stream);
		else
			reason = gpu_copy_out(in_region(lane, c), on_device(lane, c), bytes, lane->stream);
	}
	return reason;
}

static GpuaggReason
run_reduce(Lane *lane)
{
	const Job *job = lane->job;
	GpuReduce reduce = {0};
	GpuaggReason reason;

	reduce.kind = job->kind;
	reduce.op = job->op;
	reduce.nrows = lane->rows;
	reduce.values = on_device(lane, GPUAGG_VALUES);
	reduce.validity = on_device(lane, GPUAGG_VALIDITY);
	reduce.result = (GpuaggReduced *) (lane->block + job->result);
	reduce.scratch = lane->block;
	reason = gpu_reduce(&reduce, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(&lane->slot->reduced, reduce.result, sizeof(lane->slot->reduced),
							  lane->stream);
	return reason;
}

static GpuaggReason
run_scan(Lane *lane)
{
	const Job *job = lane->job;
	const GpuaggRequest *request = &job->request;
	GpuScanState *state_in = (GpuScanState *) (lane->block + job->state_in);
	GpuScan scan = {0};
	GpuaggReason reason;

	memset(&lane->slot->state_in, 0, sizeof(lane->slot->state_in));
	lane->slot->state_in.state = request->u.work.u.scan.carry;
	reason = gpu_copy_in(state_in, &lane->slot->state_in, sizeof(*state_in), lane->stream);
	if (reason != GPUAGG_OK)
		return reason;

	scan.kind = job->kind;
	scan.op = job->op;
	scan.flags = request->u.work.flags & (GPUAGG_SCAN_EXCLUSIVE | GPUAGG_SCAN_NARROW);
	scan.window = request->u.work.u.scan.window;
	scan.nrows = lane->rows;
	scan.values = on_device(lane, GPUAGG_VALUES);
	scan.validity = on_device(lane, GPUAGG_VALIDITY);
	scan.heads = on_device(lane, GPUAGG_HEADS);
	scan.state_in = state_in;
	scan.results = on_device(lane, GPUAGG_RESULTS);
	scan.status = on_device(lane, GPUAGG_STATUS);
	scan.state_out = (GpuScanState *) (lane->block + job->result);
	scan.scratch = lane->block + gpud_scan_scratch;
	reason = gpu_scan(&scan, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(&lane->slot->state_out, scan.state_out, sizeof(*scan.state_out),
							  lane->stream);
	return reason;
}

static GpuaggReason
run_sort(Lane *lane)
{
	Job *job = lane->job;
	GpuSort run = sort_run(job);

	run.items = on_device(lane, GPUAGG_VALUES);
	run.results = on_device(lane, GPUAGG_RESULTS);
	run.scratch = lane->block + job->scratch;
	return gpu_sort(&run, &job->sort_scratch, lane->stream);
}

static GpuaggReason
run_ladder(Lane *lane)
{
	const Job *job = lane->job;
	GpuLadder run = ladder_run(job);
	bool reduces = run.task == GPUAGG_REDUCE;
	GpuaggReason reason;

	run.values = on_device(lane, GPUAGG_VALUES);
	run.heads = on_device(lane, GPUAGG_HEADS);
	run.results = reduces ? lane->block + job->result : on_device(lane, GPUAGG_RESULTS);
	run.scratch = lane->block + job->scratch;
	reason = gpu_ladder(&run, lane->stream);
	if (reason == GPUAGG_OK && reduces)
		reason = gpu_copy_out(&lane->slot->ladder_result, run.results,
							  gpuagg_ladder_result_size(job->kind), lane->stream);
	return reason;
}

GpuaggReason
gpud_piece_launch(Lane *lane)
{
	GpuaggReason reason = GPUAGG_OK;

	if (!lane->scratch_ready)
		reason = gpu_memset(lane->block, 0, gpud_scratch_end, lane->stream);
	lane->scratch_ready = reason == GPUAGG_OK;
	if (reason == GPUAGG_OK)
		reason = copy_columns(lane, 0, GPUAGG_NINPUTS);
	if (reason == GPUAGG_OK)
	{
		if (is_type(lane->job, GPUAGG_MSG_REDUCE))
			reason = run_reduce(lane);
		else if (is_type(lane->job, GPUAGG_MSG_SCAN))
			reason = run_scan(lane);
		else if (is_type(lane->job, GPUAGG_MSG_SORT))
			reason = run_sort(lane);
		else
			reason = run_ladder(lane);
		if (reason != GPUAGG_OK)
			lane->scratch_ready = false;
	}
	if (reason == GPUAGG_OK)
		reason = copy_columns(lane, GPUAGG_NINPUTS, GPUAGG_NCOLUMNS);
	return reason;
}

void
gpud_piece_collect(Lane *lane)
{
	Job *job = lane->job;
	const Slot *slot = lane->slot;

	if (is_type(job, GPUAGG_MSG_REDUCE))
		gpuagg_reduced_merge(&job->total, &slot->reduced, job->kind, job->op);
	else if (is_type(job, GPUAGG_MSG_SCAN))
	{
		if (slot->state_out.out_of_window)
			job->failure = GPUAGG_RANGE;
		job->request.u.work.u.scan.carry = slot->state_out.state;
		job->overflows |= slot->state_out.overflows;
	}
	else if (is_type(job, GPUAGG_MSG_LADDER))
		memcpy(&job->ladder_result, &slot->ladder_result, gpuagg_ladder_result_size(job->kind));
}
