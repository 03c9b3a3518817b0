/*
 * shared_state.c
 *	  Attaching to the shared state, and the breaker in it.
 *
 * Without preloading no memory is reserved, so attaching may fail.  A session
 * then works on the CPU with its own counters.
 */
#include "compat.h"

#include <time.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "device/attempt.h"
#include "device/shared_state.h"

#define BREAKER_HOLD_MS		1000
#define BREAKER_MAX_STRIKES 4	  /* 1 s << 4 = 16 s */
#define BREAKER_CALM_MS		60000 /* strikes are reset once closed for so long */

int64
gpuagg_monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64
gpuagg_delay_ms(int64 *last_ms, int tick_ms)
{
	int64 now = gpuagg_monotonic_ms();
	int64 late = *last_ms != 0 ? now - *last_ms - tick_ms : 0;

	*last_ms = now;
	return late > tick_ms ? late : 0;
}

void
gpuagg_wait_tick(int ms)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ms,
					 PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

static void
init_state(void *p)
{
	SharedState *state = p;

	memset(state, 0, SHARED_STATE_SIZE);
	state->layout = SHARED_STATE_LAYOUT;
	strlcpy(state->version, GPUAGG_VERSION_STRING, sizeof(state->version));
	pg_atomic_init_u32(&state->restart_request, RESTART_NONE);
	LWLockInitialize(&state->lock, LWLockNewTrancheId());
	pg_atomic_init_u32(&state->ready, 0);
	pg_atomic_init_u32(&state->trips, 0);
	pg_atomic_init_u32(&state->generation, 0);
	pg_atomic_init_u32(&state->watching, 0);
	gpuagg_stat_init(&state->counters);
}

static void
attach_struct(void *state)
{
	*(SharedState **) state = compat_shared_struct("gpuagg", SHARED_STATE_SIZE, init_state);
}

SharedState *
gpuagg_state(void)
{
	static SharedState *attached = NULL;
	static bool tried = false;
	SharedState *state = NULL;

	if (tried)
		return attached;
	if (!gpuagg_attempt(attach_struct, &state, NULL, 0))
		state = NULL;

	tried = true;
	if (state != NULL)
	{
		if (state->layout == SHARED_STATE_LAYOUT)
		{
			LWLockRegisterTranche(state->lock.tranche, "gpuagg");
			attached = state;
		}
		else
			pg_atomic_write_u32(&state->restart_request, RESTART_WHEN_IDLE);
	}
	return attached;
}

void
gpuagg_breaker_trip(SharedState *state)
{
	LWLockAcquire(&state->lock, LW_EXCLUSIVE);
	if (!gpuagg_breaker_open(state))
	{
		state->breaker_until = gpuagg_monotonic_ms() +
							   ((int64) BREAKER_HOLD_MS << state->breaker_strikes);
		if (state->breaker_strikes < BREAKER_MAX_STRIKES)
			state->breaker_strikes++;
		pg_atomic_fetch_add_u32(&state->trips, 1);
	}
	LWLockRelease(&state->lock);
}

void
gpuagg_breaker_close(SharedState *state)
{
	int64 now = gpuagg_monotonic_ms();

	LWLockAcquire(&state->lock, LW_EXCLUSIVE);
	if (gpuagg_breaker_open(state) && now >= state->breaker_until)
		pg_atomic_fetch_add_u32(&state->trips, 1);
	else if (now >= state->breaker_until + BREAKER_CALM_MS)
		state->breaker_strikes = 0;
	LWLockRelease(&state->lock);
}
