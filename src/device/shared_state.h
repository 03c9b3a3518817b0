/*
 * shared_state.h
 *	  What the sessions of a cluster share about the device.
 *
 * One struct of fixed size, created at first use and lost when the server
 * stops.  Fields under "atomic" may be read at any time; all else is protected
 * by the lock.  Times are of the monotonic clock, in ms, which all processes
 * of a host share.
 *
 * A library that was replaced while the server runs meets the struct of its
 * predecessor: the fields up to restart_request keep their places in every
 * layout, so that a newer session can ask an older launcher to go.
 */
#ifndef GPUAGG_SHARED_STATE_H
#define GPUAGG_SHARED_STATE_H

#include "compat.h"

#include "common/protocol.h"
#include "datatype/timestamp.h"
#include "port/atomics.h"
#include "device/stat.h"

#define SHARED_STATE_SIZE	8192
#define SHARED_STATE_LAYOUT 1
#define SHARED_DEVICES		8 /* devices described at most */

typedef enum LauncherPhase
{
	LAUNCHER_ABSENT,
	LAUNCHER_ASKED, /* registered, or waiting to be restarted */
	LAUNCHER_RUNNING
} LauncherPhase;

typedef enum RestartRequest
{
	RESTART_NONE,
	RESTART_WHEN_IDLE, /* go when no request is under way */
	RESTART_NOW
} RestartRequest;

/* What gpuagg_stat shows; atomic but for the time of the reset. */
typedef struct StatCounters
{
	TimestampTz reset;
	pg_atomic_uint64 calls;
	pg_atomic_uint64 batches[NENGINES];
	pg_atomic_uint64 rows[NENGINES];
	pg_atomic_uint64 bytes[NENGINES];
	pg_atomic_uint64 fallbacks[GPUAGG_NREASONS];
} StatCounters;

typedef struct SharedState
{
	uint32 layout;					  /* SHARED_STATE_LAYOUT */
	char version[16];				  /* of the launcher's library */
	pg_atomic_uint32 restart_request; /* atomic; RestartRequest */

	LWLock lock;

	/* atomic: read once a batch */
	pg_atomic_uint32 ready;		 /* 1: gpuaggd answers and has a device */
	pg_atomic_uint32 trips;		 /* odd: the breaker is open, keep away */
	pg_atomic_uint32 generation; /* counts starts of gpuaggd */

	LauncherPhase phase;
	pid_t launcher_pid;
	pid_t gpuaggd_pid;
	int64 asked_at;			/* when the phase became ASKED */
	int64 not_before;		/* no start on our own before this time */
	int64 breaker_until;	/* stays open at least so long */
	uint32 breaker_strikes; /* trips in a row: each holds twice as long */
	uint32 failures;		/* crashes in a row, each soon after the start */
	bool stopped;			/* by gpuagg_stop() */
	uint32 reason;			/* GpuaggReason why there is no device */
	char detail[128];		/* more words, or empty */
	TimestampTz last_ready; /* when the device was last seen to go */

	uint32 ndevices;
	GpuaggDeviceInfo device[SHARED_DEVICES];

	StatCounters counters;
} SharedState;

StaticAssertDecl(sizeof(SharedState) <= SHARED_STATE_SIZE, "the shared state must stay small");

/* The shared struct, attached at first use; NULL when it cannot be had. */
extern SharedState *gpuagg_state(void);

/* Opens the breaker: every session gives up its waits and keeps to the CPU. */
extern void gpuagg_breaker_trip(SharedState *state);

/* Closes it once its time is over.  Called after gpuaggd has answered. */
extern void gpuagg_breaker_close(SharedState *state);

static inline bool
gpuagg_breaker_open(SharedState *state)
{
	return (pg_atomic_read_u32(&state->trips) & 1) != 0;
}

extern int64 gpuagg_monotonic_ms(void);

/*
 * For who waits tick by tick for gpuaggd: how many ms later than after one tick it
 * comes here again, or 0 where that is less than another tick.  What kept it from
 * running, the machine's own rest, may have kept gpuaggd from it too, and is no
 * silence.  *last_ms: when it came before; 0 to begin with.
 */
extern int64 gpuagg_kept_ms(int64 *last_ms, int tick_ms);

/* Waits until the process's latch is set, at most so long.  Can be cancelled. */
extern void gpuagg_wait_tick(int ms);

/* The cluster's counters, or this session's own where there is no shared state (stat.c). */
extern StatCounters *gpuagg_stat_counters(void);
extern void gpuagg_stat_init(StatCounters *counters);
extern void gpuagg_stat_reset_counters(StatCounters *counters);

/* Adds what this process has counted and not yet added. */
extern void gpuagg_stat_flush(void);

#endif /* GPUAGG_SHARED_STATE_H */
