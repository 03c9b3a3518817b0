/*
 * client.h
 *	  The device as a client sees it: staging memory on lease, requests, replies.
 *
 * One connection a backend, kept across queries.  gpuagg_device_require() and
 * gpuagg_device_demand() wait for a device, gpuagg_device_lease() and
 * gpuagg_device_submit() shortly for an answer where one is due first,
 * gpuagg_device_wait() and gpuagg_device_call() for a result; all are bounded
 * and can be cancelled.  Nothing else waits.  Every failure leaves the caller's
 * rows intact in the region (but not the items of a SORT, which are sorted in
 * place).  Nothing is counted by these functions.
 */
#ifndef GPUAGG_CLIENT_H
#define GPUAGG_CLIENT_H

#include "common/protocol.h"

/*
 * Staging memory on lease.  The mapping stays valid until
 * gpuagg_device_release(), whatever happens to gpuaggd in between.
 */
typedef struct DeviceLease
{
	char *base;
	Size size;
	uint32 region;
} DeviceLease;

/*
 * In mode gpu, waits for a device to come up and raises 55000 with the reason
 * when there is none; in the other modes does nothing.  Called when a query
 * begins to use gpuagg: what happens to the device after that is a fallback.
 */
extern void gpuagg_device_require(void);

/*
 * For work that nothing but a device can do: waits for one in mode auto too,
 * and raises 55000 with this message and the reason when there is none.
 */
extern void gpuagg_device_demand(const char *message);

/*
 * Whether a device can be used now.  Never waits and never raises.  Mode cpu:
 * false.  Otherwise asks for the launcher where that makes sense, and records
 * the reason (gpuagg_stat_reason) when the answer is no.  Cheap enough to be
 * called once a batch.
 */
extern bool gpuagg_device_ready(void);

/*
 * Leases at least `bytes` of staging memory, at most gpuagg.staging_memory a
 * backend: GPUAGG_OK, or why it cannot be had now.
 */
extern GpuaggReason gpuagg_device_lease(Size bytes, DeviceLease **lease);

/*
 * Gives a lease back.  Requests still in flight on it are forgotten, their
 * replies dropped.  Neither waits nor throws; safe in abort paths.
 */
extern void gpuagg_device_release(DeviceLease *lease);

/*
 * Forgets where memory without a lease was mapped, so that a session that idles
 * does not keep it from being freed.  Called when a query has come to rest.
 */
extern void gpuagg_device_rest(void);

/*
 * Sends a REDUCE, SCAN, SORT or LADDER request (region and header but for the type
 * are filled in): GPUAGG_OK with its id, or why not.  With GPUAGG_MAX_INFLIGHT
 * requests under way it waits for one of them to be answered.
 */
extern GpuaggReason gpuagg_device_submit(DeviceLease *lease, GpuaggRequest *request, uint32 *id);

/*
 * Waits for the reply to a request, at most gpuagg.device_timeout ms: GPUAGG_OK, or
 * why there is none, or why the device could not do it.  The id is forgotten either
 * way.
 */
extern GpuaggReason gpuagg_device_wait(uint32 id, GpuaggReply *reply);

/*
 * Sends a request and waits for its reply: GPUAGG_OK, or why there is none.
 * Without a lease, a BENCH request, waited for as long as it takes (about 10 s
 * at most); cancelling that ends it in gpuaggd too, by hanging up.
 */
extern GpuaggReason gpuagg_device_call(DeviceLease *lease, GpuaggRequest *request,
									   GpuaggReply *reply);

#endif /* GPUAGG_CLIENT_H */
