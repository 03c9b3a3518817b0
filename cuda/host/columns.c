/*
 * columns.c
 *	  Jobs over columns of rows in a leased region: REDUCE, SCAN, SORT, LADDER.
 */
#include "host/columns.h"

GpuaggReason
gpud_columns_check(Job *job)
{
	ColumnJob *columns = (ColumnJob *) job;
	const GpuaggWork *work = &job->request.u.work;
	Segment *segment = gpud_segment_of(job->pending.client, work->region);

	if (segment == NULL)
		return gpud_staging_reason(job->pending.client, work->region);
	if (gpuagg_request_check(&job->request, segment->memory.size) != GPUAGG_OK)
		return GPUAGG_REFUSED;
	gpud_segment_hold(segment);
	columns->segment = segment;
	job->units = work->nrows;
	job->unit_bytes = work->column[GPUAGG_VALUES].bits / 8;
	if (job->unit_bytes == 0) /* COUNT */
		job->unit_bytes = gpuagg_kind_size((int) work->kind);
	return GPUAGG_OK;
}

void
gpud_columns_plan(Job *job)
{
	ColumnJob *columns = (ColumnJob *) job;

	for (int c = 0; c < GPUAGG_NCOLUMNS; c++)
		columns->column[c] =
			gpud_place(&job->block_bytes,
					   gpuagg_column_bytes(&job->request.u.work.column[c], job->piece_units));
}

void
gpud_columns_forget(Job *job)
{
	ColumnJob *columns = (ColumnJob *) job;

	if (columns->segment != NULL)
		gpud_segment_let_go(columns->segment);
}

void *
gpud_column(const Lane *lane, GpuaggColumn column)
{
	const ColumnJob *columns = (const ColumnJob *) lane->job;

	return lane->job->request.u.work.column[column].bits > 0 ? lane->block + columns->column[column]
															 : NULL;
}

/* Pieces begin at whole words of bitmaps. */
static GpuaggReason
copy(Lane *lane, int first, int end)
{
	const ColumnJob *columns = (const ColumnJob *) lane->job;
	GpuaggReason reason = GPUAGG_OK;

	for (int c = first; c < end && reason == GPUAGG_OK; c++)
	{
		const GpuaggColumnRef *ref = &lane->job->request.u.work.column[c];
		size_t bytes = gpuagg_column_bytes(ref, lane->units);
		char *in_region;

		if (bytes == 0)
			continue;
		in_region = columns->segment->memory.base + ref->at + lane->job->units_done * ref->bits / 8;
		if (c < GPUAGG_NINPUTS)
			reason = gpu_copy_in(gpud_column(lane, c), in_region, bytes, lane->stream);
		else
			reason = gpu_copy_out(in_region, gpud_column(lane, c), bytes, lane->stream);
	}
	return reason;
}

GpuaggReason
gpud_columns_copy_in(Lane *lane)
{
	return copy(lane, 0, GPUAGG_NINPUTS);
}

GpuaggReason
gpud_columns_copy_out(Lane *lane)
{
	return copy(lane, GPUAGG_NINPUTS, GPUAGG_NCOLUMNS);
}
