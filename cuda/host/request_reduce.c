/*
 * request_reduce.c
 *	  REDUCE: the reduction of a column, by the production kernels.
 */
#include "host/columns.h"
#include "host/request_table.h"
#include "kernels/kernels.h"

typedef struct ReduceJob
{
	ColumnJob columns;
	size_t result;		 /* its place */
	GpuaggReduced total; /* of the pieces so far */
} ReduceJob;

static_assert(sizeof(GpuaggReduced) <= GPUD_SLOT_BYTES, "a slot holds a piece's result");

static GpuaggReason
check(Job *job)
{
	gpuagg_reduced_init(&((ReduceJob *) job)->total);
	return gpud_columns_check(job);
}

static GpuaggReason
plan(Job *job)
{
	gpud_columns_plan(job);
	((ReduceJob *) job)->result = gpud_place(&job->block_bytes, sizeof(GpuaggReduced));
	return GPUAGG_OK;
}

static GpuaggReason
launch(Lane *lane)
{
	const GpuaggWork *work = &lane->job->request.u.work;
	GpuReduce reduce = {0};
	GpuaggReason reason = gpud_columns_copy_in(lane);

	reduce.kind = (int) work->kind;
	reduce.op = (int) work->op;
	reduce.nrows = lane->units;
	reduce.values = gpud_column(lane, GPUAGG_VALUES);
	reduce.validity = gpud_column(lane, GPUAGG_VALIDITY);
	reduce.result = (GpuaggReduced *) (lane->block + ((ReduceJob *) lane->job)->result);
	reduce.scratch = lane->block;
	if (reason == GPUAGG_OK)
		reason = gpu_reduce(&reduce, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(lane->slot, reduce.result, sizeof(GpuaggReduced), lane->stream);
	return reason;
}

static void
collect(Lane *lane)
{
	const GpuaggWork *work = &lane->job->request.u.work;

	gpuagg_reduced_merge(&((ReduceJob *) lane->job)->total, lane->slot, (int) work->kind,
						 (int) work->op);
}

static void
answer(Job *job, GpuaggReply *reply)
{
	reply->u.reduce = ((ReduceJob *) job)->total;
}

const RequestType gpud_request_reduce = {
	.works = true,
	.job_bytes = sizeof(ReduceJob),
	.check = check,
	.plan = plan,
	.launch = launch,
	.collect = collect,
	.answer = answer,
	.forget = gpud_columns_forget,
};
