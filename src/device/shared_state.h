/*
 * shared_state.h
 *	  What the sessions of a cluster share about the device.
 *
 * One struct of fixed size, created at first use and gone when the server stops.
 * Fields marked "atomic" may be read at any time; the lock protects all others.
 * Times are in ms of the monotonic clock, which all processes of a host share.
 *
 * If the library is replaced while the server runs, the new library finds the
 * struct of the old one.  The fields up to restart_request keep their places in
 * every layout, so that a newer session can ask an older launcher to end.
 */
#ifndef GPUAGG_SHARED_STATE_H
#define GPUAGG_SHARED_STATE_H

#include "compat.h"

#include "common/protocol.h"
#include "datatype/timestamp.h"
#include "port/atomics.h"
#include "device/stat.h"

#define SHARED_STATE_SIZE	8192
#define SHARED_STATE_LAYOUT 3
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
	RESTART_WHEN_IDLE, /* end when no request is under way */
	RESTART_NOW
} RestartRequest;

/* What gpuagg_stat shows; all atomic except the time of the reset. */
typedef struct StatCounters
{
	TimestampTz reset;
	pg_atomic_uint64 calls;
	pg_atomic_uint64 batches[NENGINES];
	pg_atomic_uint64 rows[NENGINES];
	pg_atomic_uint64 bytes[NENGINES];
	pg_atomic_uint64 table[NTABLE_COUNTS];
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
	pg_atomic_uint32 trips;		 /* odd: the breaker is open, do not use the device */
	pg_atomic_uint32 generation; /* counts starts of gpuaggd */
	pg_atomic_uint32 watching;	 /* atomic; sessions that look for a reply without a pause */

	LauncherPhase phase;
	pid_t launcher_pid;
	pid_t gpuaggd_pid;
	int64 asked_at;			/* when the phase became ASKED */
	int64 not_before;		/* no start before this time unless demanded */
	int64 breaker_until;	/* stays open until then at least */
	uint32 breaker_strikes; /* trips in a row; each holds twice as long as the last */
	uint32 failures;		/* crashes in a row, each soon after the start */
	bool stopped;			/* by gpuagg_stop() */
	uint32 reason;			/* GpuaggReason why there is no device */
	char detail[128];		/* details of the reason, or empty */
	TimestampTz last_ready; /* when the device was last known to be ready */

	uint32 ndevices;
	GpuaggDeviceInfo device[SHARED_DEVICES];

	StatCounters counters;
} SharedState;

StaticAssertDecl(sizeof(SharedState) <= SHARED_STATE_SIZE, "the shared state must stay small");

/* The shared struct, attached at first use; NULL when there is none. */
extern SharedState *gpuagg_state(void);

/* Opens the breaker: all sessions stop waiting and use the CPU. */
extern void gpuagg_breaker_trip(SharedState *state);

/* Closes it if its time is over.  Called after gpuaggd has answered. */
extern void gpuagg_breaker_close(SharedState *state);

static inline bool
gpuagg_breaker_open(SharedState *state)
{
	return (pg_atomic_read_u32(&state->trips) & 1) != 0;
}

extern int64 gpuagg_monotonic_ms(void);

/*
 * For loops that wait for gpuaggd in ticks: how many ms later than expected this
 * call comes, or 0 if not more than one tick.  The machine was then suspended or
 * overloaded; gpuaggd may have been stopped too, so this time is not its silence.
 * *last_ms: time of the last call; 0 at first.
 */
extern int64 gpuagg_delay_ms(int64 *last_ms, int tick_ms);

/* Waits for the process's latch, at most `ms`.  Can be cancelled. */
extern void gpuagg_wait_tick(int ms);

/* The cluster's counters, or this session's own without shared state (stat.c). */
extern StatCounters *gpuagg_stat_counters(void);
extern void gpuagg_stat_init(StatCounters *counters);
extern void gpuagg_stat_reset_counters(StatCounters *counters);

/* Adds this process's pending counts to the counters. */
extern void gpuagg_stat_flush(void);

#endif /* GPUAGG_SHARED_STATE_H */
