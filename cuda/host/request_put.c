/*
 * request_put.c
 *	  PUT: copies a block of a column to the device, to stay.
 */
#include "host/blobs.h"
#include "host/device.h"
#include "host/job.h"
#include "host/query_kept.h"
#include "host/request_table.h"
#include "host/staging.h"

typedef struct PutJob
{
	Job job;
	Segment *segment;
	Blob *blob;
} PutJob;

static GpuaggReason
check(Job *job)
{
	const GpuaggPut *request = &job->request.u.put;
	PutJob *put = (PutJob *) job;
	Segment *segment = gpud_segment_of(job->pending.client, request->region);
	GpuaggReason reason;

	if (segment == NULL)
		return gpud_staging_reason(job->pending.client, request->region);
	if (gpuagg_request_check(&job->request, segment->memory.size) != GPUAGG_OK ||
		(request->device != GPUAGG_ANY_DEVICE && request->device != (uint32_t) gpud_device.used))
		return GPUAGG_REFUSED;
	reason = gpud_blob_make(request, &put->blob);
	gpud_kept_check();
	if (reason != GPUAGG_OK)
		return reason;
	gpud_segment_hold(segment);
	put->segment = segment;
	job->units = 1;
	job->unit_bytes = put->blob->bytes;
	reason = gpud_blob_place(put->blob);
	if (reason == GPUAGG_NO_DEVICE_MEMORY && gpud_kept_forget())
		reason = gpud_blob_place(put->blob);
	return reason == GPUAGG_STARTING ? GPUAGG_OK : reason;
}

static GpuaggReason
plan(Job *job)
{
	(void) job;
	return GPUAGG_OK;
}

static bool
ready(Job *job)
{
	return gpud_blob_place(((PutJob *) job)->blob) != GPUAGG_STARTING;
}

/* Writes all of the blob's extent. */
static GpuaggReason
launch(Lane *lane)
{
	const GpuaggPut *request = &lane->job->request.u.put;
	const PutJob *put = (const PutJob *) lane->job;
	const Blob *blob = put->blob;
	const char *region = put->segment->memory.base;
	GpuaggReason reason = gpud_blob_place(put->blob);

	if (reason == GPUAGG_OK)
		reason = gpu_copy_in(blob->extent->at, region + request->values,
							 gpuagg_narrow_bytes(&blob->form, blob->nrows), lane->stream);
	if (reason == GPUAGG_OK && blob->nullable)
		reason = gpu_copy_in(blob->extent->at + gpud_blob_valid(blob), region + request->valid,
							 gpuagg_blob_bitmap_bytes(blob->nrows), lane->stream);
	if (reason == GPUAGG_OK && blob->extent->bytes > blob->bytes)
		reason = gpu_memset(blob->extent->at + blob->bytes, 0, blob->extent->bytes - blob->bytes,
							lane->stream);
	return reason;
}

static void
collect(Lane *lane)
{
	((PutJob *) lane->job)->blob->complete = true;
}

static void
answer(Job *job, GpuaggReply *reply)
{
	reply->u.put.device = (uint32_t) gpud_device.used;
	reply->u.put.bytes = ((PutJob *) job)->blob->extent->bytes;
}

/* Without somebody who knows of it a blob would stay for ever. */
static void
forget(Job *job)
{
	const PutJob *put = (const PutJob *) job;

	if (put->blob != NULL && (!put->blob->complete || job->pending.client == NULL))
		gpud_blob_drop(put->blob);
	if (put->blob != NULL)
		gpud_blob_let_go(put->blob);
	if (put->segment != NULL)
		gpud_segment_let_go(put->segment);
}

const RequestType gpud_request_put = {
	.works = true,
	.job_bytes = sizeof(PutJob),
	.whole = true,
	.check = check,
	.plan = plan,
	.ready = ready,
	.launch = launch,
	.collect = collect,
	.answer = answer,
	.forget = forget,
};
