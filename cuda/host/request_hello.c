/*
 * request_hello.c
 *	  HELLO and PING: the version, and the state of gpuaggd and its device.
 *
 * HELLO is the first message of a connection.  A client of another version, or
 * one too many, is told so, and then its connection is closed.
 */
#include <unistd.h>

#include "host/blobs.h"
#include "host/device.h"
#include "host/job.h"
#include "host/lane.h"
#include "host/request_table.h"
#include "host/staging.h"

static void
answer_state(Client *client, const GpuaggHeader *request, GpuaggReason reason)
{
	GpuaggReply reply;

	memset(&reply, 0, sizeof(reply));
	strncpy(reply.u.hello.version, GPUAGG_VERSION_STRING, sizeof(reply.u.hello.version) - 1);
	reply.u.hello.pid = getpid();
	reply.u.hello.ready = gpud_device.ready;
	reply.u.hello.inflight = (uint32_t) gpud_jobs_inflight();
	reply.u.hello.leases = (uint32_t) gpud_staging_leases();
	reply.u.hello.clients = (uint32_t) gpud_nclients;
	reply.u.hello.staging_bytes = gpud_staging_bytes();
	reply.u.hello.device_bytes = gpud_lanes_bytes() + gpud_slabs_bytes();
	reply.u.hello.blob_bytes = gpud_blobs_bytes();
	reply.u.hello.blob_budget = gpud_device.ready ? gpud_blobs_budget() : 0;
	reply.u.hello.blobs = gpud_blobs_count();
	memcpy(reply.u.hello.detail, gpud_device.detail, sizeof(reply.u.hello.detail));
	gpud_reply(client, request, reason, &reply, -1);
}

static void
serve_ping(Client *client, const GpuaggRequest *request)
{
	answer_state(client, &request->h, gpud_device.reason);
}

static void
serve_hello(Client *client, const GpuaggRequest *request)
{
	GpuaggReason reason = gpud_device.reason;

	if (request->h.version != GPUAGG_PROTOCOL_VERSION)
		reason = GPUAGG_VERSION;
	else if (!client->greeted && !gpud_client_greet(client))
		reason = GPUAGG_BUSY;
	client->closing = !client->greeted;
	answer_state(client, &request->h, reason);
}

const RequestType gpud_request_hello = {.greets = true, .serve = serve_hello};
const RequestType gpud_request_ping = {.serve = serve_ping};
