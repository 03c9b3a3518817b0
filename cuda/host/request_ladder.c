/*
 * request_ladder.c
 *	  LADDER: an algorithm by name over a short column.
 */
#include "host/columns.h"
#include "host/request_table.h"
#include "ladder/ladder.h"

typedef struct LadderJob
{
	ColumnJob columns;
	size_t scratch; /* places */
	size_t result;
	uint64_t value; /* of a reduction, and zeros */
} LadderJob;

static GpuLadder
ladder_run(const Job *job)
{
	const GpuaggWork *work = &job->request.u.work;
	GpuLadder run = {0};

	run.task = (int) work->u.ladder.task;
	run.algorithm = (int) work->u.ladder.algorithm;
	run.kind = (int) work->kind;
	run.op = (int) work->op;
	run.exclusive = (work->flags & GPUAGG_SCAN_EXCLUSIVE) != 0;
	run.nrows = job->units;
	return run;
}

static GpuaggReason
plan(Job *job)
{
	LadderJob *ladder = (LadderJob *) job;
	GpuLadder run = ladder_run(job);

	gpud_columns_plan(job);
	ladder->scratch = gpud_place(&job->block_bytes, gpu_ladder_scratch(&run));
	ladder->result = gpud_place(&job->block_bytes, sizeof(ladder->value));
	return GPUAGG_OK;
}

static GpuaggReason
launch(Lane *lane)
{
	const LadderJob *job = (const LadderJob *) lane->job;
	GpuLadder run = ladder_run(lane->job);
	bool reduces = run.task == GPUAGG_REDUCE;
	GpuaggReason reason = gpud_columns_copy_in(lane);

	run.values = gpud_column(lane, GPUAGG_VALUES);
	run.heads = gpud_column(lane, GPUAGG_HEADS);
	run.results = reduces ? lane->block + job->result : gpud_column(lane, GPUAGG_RESULTS);
	run.scratch = lane->block + job->scratch;
	if (reason == GPUAGG_OK)
		reason = gpu_ladder(&run, lane->stream);
	if (reason == GPUAGG_OK && reduces)
		reason = gpu_copy_out(lane->slot, run.results, gpuagg_ladder_result_size(run.kind),
							  lane->stream);
	return reason == GPUAGG_OK ? gpud_columns_copy_out(lane) : reason;
}

static void
collect(Lane *lane)
{
	LadderJob *job = (LadderJob *) lane->job;

	if (lane->job->request.u.work.u.ladder.task == GPUAGG_REDUCE)
		memcpy(&job->value, lane->slot,
			   gpuagg_ladder_result_size((int) lane->job->request.u.work.kind));
}

static void
answer(Job *job, GpuaggReply *reply)
{
	reply->u.ladder.result = ((LadderJob *) job)->value;
}

const RequestType gpud_request_ladder = {
	.works = true,
	.job_bytes = sizeof(LadderJob),
	.whole = true,
	.slow = true,
	.check = gpud_columns_check,
	.plan = plan,
	.launch = launch,
	.collect = collect,
	.answer = answer,
	.forget = gpud_columns_forget,
};
