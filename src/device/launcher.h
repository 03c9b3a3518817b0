/*
 * launcher.h
 *	  The background worker that starts, watches and ends gpuaggd.
 */
#ifndef GPUAGG_LAUNCHER_H
#define GPUAGG_LAUNCHER_H

#include "compat.h"

#include "device/shared_state.h"

/* Has the launcher start with the server.  Called while preloading. */
extern void gpuagg_launcher_preload(void);

/*
 * Whether the device can be used now: GPUAGG_OK, or why not.  Asks for the
 * launcher where there is none and a start is due; with `demand` also when an
 * earlier start failed a short while ago.  Does not wait.  state may be NULL.
 */
extern GpuaggReason gpuagg_launcher_check(SharedState *state, bool demand);

/*
 * The same, waiting at most timeout_ms for a start, or for an open breaker, to
 * come to an end.  Can be cancelled.
 */
extern GpuaggReason gpuagg_launcher_await(SharedState *state, bool demand, int timeout_ms);

/* More words about a reason that the check gave, as far as the user may see them; or "". */
extern void gpuagg_launcher_detail(SharedState *state, GpuaggReason reason, char *words, Size size);

/* Reason and detail, which may be "", in one: palloc'd. */
extern char *gpuagg_reason_words(GpuaggReason reason, const char *detail);

/*
 * Asks the launcher to end and waits at most timeout_ms for it.  True when none
 * is running any more.
 */
extern bool gpuagg_launcher_end(SharedState *state, int timeout_ms);

extern PGDLLEXPORT void gpuagg_launcher_main(Datum arg);

#endif /* GPUAGG_LAUNCHER_H */
