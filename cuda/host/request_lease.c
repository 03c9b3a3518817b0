/*
 * request_lease.c
 *	  LEASE and RELEASE: memory that a client shares with the device.
 */
#include "host/device.h"
#include "host/request_table.h"
#include "host/staging.h"

static GpuaggReason
lease(Client *client, const GpuaggRequest *request)
{
	uint64_t bytes = request->u.lease.bytes;
	GpudTenant tenant = {request->u.lease.role, request->u.lease.database};

	if (!gpud_device.ready)
		return gpud_device.reason;
	if (bytes == 0 || request->u.lease.spare != 0)
		return GPUAGG_REFUSED;
	return gpud_staging_lease(client, &request->h, bytes, tenant, request->u.lease.wait_ms);
}

static void
serve_lease(Client *client, const GpuaggRequest *request)
{
	GpuaggReason reason = lease(client, request);

	if (reason != GPUAGG_OK)
		gpud_reply_reason(client, &request->h, reason);
}

/* There is no reply: a wrong number is nobody's region and changes nothing. */
static void
serve_release(Client *client, const GpuaggRequest *request)
{
	Segment *segment = gpud_segment_of(client, request->u.release.region);

	if (segment != NULL)
		gpud_segment_release(segment);
}

const RequestType gpud_request_lease = {.works = true, .serve = serve_lease};
const RequestType gpud_request_release = {.works = true, .serve = serve_release};
