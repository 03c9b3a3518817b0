/*
 * request_sort.c
 *	  SORT: sorts items by their keys, at their place.
 */
#include "host/columns.h"
#include "host/request_table.h"
#include "kernels/kernels.h"

typedef struct SortJob
{
	ColumnJob columns;
	size_t scratch; /* its place */
	size_t scratch_bytes;
} SortJob;

static GpuSort
sort_run(const Job *job)
{
	GpuSort run = {0};

	run.words = (int) job->request.u.work.u.sort.words;
	run.bits = (int) job->request.u.work.u.sort.bits;
	run.nrows = job->units;
	return run;
}

static GpuaggReason
plan(Job *job)
{
	SortJob *sort = (SortJob *) job;
	GpuSort run = sort_run(job);
	GpuaggReason reason = gpu_sort(&run, &sort->scratch_bytes, NULL);

	gpud_columns_plan(job);
	sort->scratch = gpud_place(&job->block_bytes, sort->scratch_bytes);
	return reason;
}

static GpuaggReason
launch(Lane *lane)
{
	SortJob *job = (SortJob *) lane->job;
	GpuSort run = sort_run(lane->job);
	GpuaggReason reason = gpud_columns_copy_in(lane);

	run.items = gpud_column(lane, GPUAGG_VALUES);
	run.results = gpud_column(lane, GPUAGG_RESULTS);
	run.scratch = lane->block + job->scratch;
	if (reason == GPUAGG_OK)
		reason = gpu_sort(&run, &job->scratch_bytes, lane->stream);
	return reason == GPUAGG_OK ? gpud_columns_copy_out(lane) : reason;
}

const RequestType gpud_request_sort = {
	.works = true,
	.job_bytes = sizeof(SortJob),
	.whole = true,
	.check = gpud_columns_check,
	.plan = plan,
	.launch = launch,
	.forget = gpud_columns_forget,
};
