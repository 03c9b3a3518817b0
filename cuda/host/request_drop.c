/*
 * request_drop.c
 *	  DROP: blobs that nobody needs any more.
 */
#include "host/blobs.h"
#include "host/query_kept.h"
#include "host/request_table.h"

static void
serve(Client *client, const GpuaggRequest *request)
{
	GpuaggReason reason = gpuagg_request_check(request, 0);
	GpuaggReply reply;

	memset(&reply, 0, sizeof(reply));
	if (reason == GPUAGG_OK && request->u.drop.count == 0)
		reply.u.drop.dropped = gpud_blobs_drop_before(request->u.drop.names[0].epoch);
	for (uint32_t i = 0; reason == GPUAGG_OK && i < request->u.drop.count; i++)
	{
		const GpuaggBlobName *name = &request->u.drop.names[i];
		Blob *blob = gpud_blob_find(name->number, name->epoch, request->u.drop.database);

		if (blob == NULL)
			continue;
		gpud_blob_drop(blob);
		reply.u.drop.dropped++;
	}
	gpud_kept_check();
	gpud_reply(client, &request->h, reason, &reply, -1);
}

const RequestType gpud_request_drop = {.works = true, .serve = serve};
