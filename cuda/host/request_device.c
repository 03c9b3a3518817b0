/*
 * request_device.c
 *	  DEVICE: describes a device.
 */
#include "host/device.h"
#include "host/request_table.h"

/*
 * Where there are no devices, device 0 still tells why.  An index beyond the
 * last is refused; the reply tells the count all the same.
 */
static void
serve(Client *client, const GpuaggRequest *request)
{
	uint32_t index = request->u.device.index;
	GpuaggReason reason = GPUAGG_OK;
	GpuaggReply reply;

	memset(&reply, 0, sizeof(reply));
	if (index < (uint32_t) gpud_device.count)
		reply.u.device = gpud_device.info[index];
	else
	{
		reply.u.device.reason = gpud_device.reason;
		memcpy(reply.u.device.detail, gpud_device.detail, sizeof(reply.u.device.detail));
		if (gpud_device.reason == GPUAGG_STARTING)
			reason = GPUAGG_STARTING;
		else if (index > 0)
			reason = GPUAGG_REFUSED;
	}
	reply.u.device.count = (uint32_t) gpud_device.count;
	reply.u.device.index = index;
	gpud_reply(client, &request->h, reason, &reply, -1);
	gpud_device_refresh();
}

const RequestType gpud_request_device = {.serve = serve};
