/*
 * client.h
 *	  The client's side of gpuaggd: leases of staging memory, requests, replies.
 *
 * Each backend has one connection, kept across queries.  gpuagg_device_require(),
 * gpuagg_device_demand() and gpuagg_device_await() wait for a device, gpuagg_device_lease() and
 * gpuagg_device_submit() briefly for a reply they need first, gpuagg_device_wait()
 * and gpuagg_device_call() for a result.  These waits are bounded and can be
 * cancelled; no other function waits.  A failure leaves the caller's rows in the
 * region intact, except the items of a SORT, which are sorted in place.  These
 * functions count no work.
 */
#ifndef GPUAGG_CLIENT_H
#define GPUAGG_CLIENT_H

#include "common/protocol.h"

/*
 * Staging memory on lease.  The mapping stays valid until
 * gpuagg_device_release(), even if gpuaggd ends before that.
 */
typedef struct DeviceLease
{
	char *base;
	Size size;
	uint32 region;
} DeviceLease;

/*
 * In mode gpu, waits for a device and raises 55000 with the reason when there
 * is none; in the other modes does nothing.  Called when a query begins to use
 * gpuagg: if the device is lost after that, the query falls back to the CPU.
 */
extern void gpuagg_device_require(void);

/*
 * For work that only a device can do: waits for one in mode auto too, and raises
 * 55000 with this message and the reason when there is none.
 */
extern void gpuagg_device_demand(const char *message);

/* Waits for a device that is starting, if one may be used: whether there is one then. */
extern bool gpuagg_device_await(void);

/*
 * Whether a device can be used now.  Never waits and never raises.  False in mode
 * cpu.  In the other modes asks for the launcher when a start is due, and records
 * the reason (gpuagg_stat_reason) when it returns false.  Cheap enough to call
 * for every batch.
 */
extern bool gpuagg_device_ready(void);

/* The same, saying why not. */
extern GpuaggReason gpuagg_device_reach(void);

/*
 * Leases at least `bytes` of staging memory, within gpuagg.staging_memory for
 * each backend.  For what others have of gpuagg.total_staging_memory it waits so long, but no longer
 * than gpuagg.device_timeout, and not at all if the process has some.  Can be cancelled.  Returns
 * GPUAGG_OK, or why there is none now.
 */
extern GpuaggReason gpuagg_device_lease(Size bytes, int wait_ms, DeviceLease **lease);

/* Whether so many more bytes are within gpuagg.staging_memory now. */
extern bool gpuagg_device_may_lease(Size bytes);

/* To be said before something else is done, if a lease will be wanted after that.  Neither waits nor throws. */
extern void gpuagg_device_announce(void);

/*
 * Gives a lease back and unmaps its memory.  Replies to requests still in flight on it are dropped.
 * Neither waits nor throws; safe in abort paths.
 */
extern void gpuagg_device_release(DeviceLease *lease);

/* Frees lost connections.  Called when the executor is about to return to the client. */
extern void gpuagg_device_rest(void);

/*
 * Sends a request that has a region; fills that in, and the
 * header except the type.  GPUAGG_OK with its id, or why it was not sent.  With
 * GPUAGG_MAX_INFLIGHT requests under way it first waits for one reply.
 */
extern GpuaggReason gpuagg_device_submit(DeviceLease *lease, GpuaggRequest *request, uint32 *id);

/*
 * Waits at most gpuagg.device_timeout ms for the reply to a request: GPUAGG_OK, why
 * no reply came, or why the device failed.  The id is invalid after this call.
 */
extern GpuaggReason gpuagg_device_wait(uint32 id, GpuaggReply *reply);

/* Whether gpuagg_device_submit() would not wait. */
extern bool gpuagg_device_has_room(DeviceLease *lease);

/* Whether gpuagg_device_wait() for the request would not wait. */
extern bool gpuagg_device_answered(uint32 id);

/*
 * Sends a request and waits for its reply: GPUAGG_OK, or why it failed.  A request
 * without a lease is a DROP, or a BENCH request, which takes about 10 s at most; cancelling
 * it closes the connection, which ends it in gpuaggd too.
 */
extern GpuaggReason gpuagg_device_call(DeviceLease *lease, GpuaggRequest *request,
									   GpuaggReply *reply);

#endif /* GPUAGG_CLIENT_H */
