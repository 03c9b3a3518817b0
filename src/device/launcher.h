/*
 * launcher.h
 *	  The background worker that starts, watches and ends gpuaggd.
 */
#ifndef GPUAGG_LAUNCHER_H
#define GPUAGG_LAUNCHER_H

#include "compat.h"

#include "device/shared_state.h"

#define RETRY_NO_PROGRAM_MS 60000 /* after which a program that is missing is looked for again */

/* Makes the launcher start with the server.  Called while preloading. */
extern void gpuagg_launcher_preload(void);

/*
 * Whether the device can be used now: GPUAGG_OK, or why not.  Asks for the
 * launcher if there is none and a start is due; with `demand` also soon after a
 * failed start.  Does not wait.  state may be NULL.
 */
extern GpuaggReason gpuagg_launcher_check(SharedState *state, bool demand);

/*
 * The same, but waits at most timeout_ms while the device starts or the breaker
 * is open.  Can be cancelled.
 */
extern GpuaggReason gpuagg_launcher_await(SharedState *state, bool demand, int timeout_ms);

/* Details of a reason from gpuagg_launcher_check(), or "" if the user may see none. */
extern void gpuagg_launcher_detail(SharedState *state, GpuaggReason reason, char *words, Size size);

/* Text of the reason and the detail, which may be ""; palloc'd. */
extern char *gpuagg_reason_words(GpuaggReason reason, const char *detail);

/*
 * Asks the launcher to end and waits at most timeout_ms.  True if none is running
 * any more.
 */
extern bool gpuagg_launcher_end(SharedState *state, int timeout_ms);

/* Records, and logs, why there is no device and when to try again. */
extern void gpuagg_launcher_failed(SharedState *state, GpuaggReason reason, const char *detail,
								   int64 retry_ms);

extern PGDLLEXPORT void gpuagg_launcher_main(Datum arg);

#endif /* GPUAGG_LAUNCHER_H */
