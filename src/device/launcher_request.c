/*
 * launcher_request.c
 *	  What sessions do with the launcher: ask for it, wait for it, end it.
 *
 * The launcher is registered under the lock of the shared state, so that many
 * sessions cannot take all worker slots.  A failed start is not repeated before
 * state->not_before; otherwise each query on a host without a device would start
 * a process.
 */
#include "compat.h"

#include "catalog/pg_authid.h"
#include "gpuagg.h"
#include "device/launcher.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/acl.h"

#define RESTART_INTERVAL_S 3	 /* back-off after gpuaggd was lost */
#define ASKED_TIMEOUT_MS   30000 /* after that a registration counts as lost */
#define NO_SLOT_RETRY_MS   60000
#define AWAIT_TICK_MS	   50

static void
describe_worker(BackgroundWorker *worker)
{
	memset(worker, 0, sizeof(*worker));
	strlcpy(worker->bgw_name, "gpuagg launcher", BGW_MAXLEN);
	strlcpy(worker->bgw_type, "gpuagg launcher", BGW_MAXLEN);
	worker->bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker->bgw_start_time = BgWorkerStart_ConsistentState;
	worker->bgw_restart_time = RESTART_INTERVAL_S;
	strlcpy(worker->bgw_library_name, "gpuagg", BGW_MAXLEN);
	strlcpy(worker->bgw_function_name, "gpuagg_launcher_main", BGW_MAXLEN);
}

void
gpuagg_launcher_preload(void)
{
	BackgroundWorker worker;

	if (IsBinaryUpgrade || gpuagg_device == DEVICE_CPU)
		return;
	describe_worker(&worker);
	RegisterBackgroundWorker(&worker);
}

/* With the lock held: whether a launcher runs or is about to start. */
static bool
launcher_expected(const SharedState *state)
{
	return state->phase == LAUNCHER_RUNNING ||
		   (state->phase == LAUNCHER_ASKED &&
			gpuagg_monotonic_ms() < state->asked_at + ASKED_TIMEOUT_MS);
}

/* With the lock held exclusively. */
static GpuaggReason
register_launcher(SharedState *state)
{
	BackgroundWorker worker;
	BackgroundWorkerHandle *handle;

	describe_worker(&worker);
	if (!RegisterDynamicBackgroundWorker(&worker, &handle))
	{
		state->reason = GPUAGG_NO_SLOT;
		state->detail[0] = '\0';
		state->not_before = gpuagg_monotonic_ms() + NO_SLOT_RETRY_MS;
		return GPUAGG_NO_SLOT;
	}
	pfree(handle);
	state->phase = LAUNCHER_ASKED;
	state->asked_at = gpuagg_monotonic_ms();
	return GPUAGG_STARTING;
}

/* With the lock held: why no start is due, or GPUAGG_OK if one is. */
static GpuaggReason
reason_not_to_start(const SharedState *state, bool demand)
{
	if (state->stopped)
		return GPUAGG_STOPPED;
	if (launcher_expected(state))
		return GPUAGG_STARTING;
	if (!demand && gpuagg_monotonic_ms() < state->not_before)
		return (GpuaggReason) state->reason;
	return GPUAGG_OK;
}

static int
version_number(const char *version)
{
	int major = 0;
	int minor = 0;
	int patch = 0;

	(void) sscanf(version, "%d.%d.%d", &major, &minor, &patch);
	return (major * 1000 + minor) * 1000 + patch;
}

GpuaggReason
gpuagg_launcher_check(SharedState *state, bool demand)
{
	GpuaggReason reason;

	if (!IsUnderPostmaster || IsBinaryUpgrade)
		return GPUAGG_NO_SLOT;
	if (state == NULL)
		return GPUAGG_NO_SHARED_MEMORY;

	if (pg_atomic_read_u32(&state->ready) != 0)
	{
		if (strncmp(state->version, GPUAGG_VERSION_STRING, sizeof(state->version)) != 0)
		{
			/* library replaced: an older launcher must end, an older session must not connect */
			if (version_number(state->version) > version_number(GPUAGG_VERSION_STRING))
				return GPUAGG_VERSION;
			pg_atomic_write_u32(&state->restart_request, RESTART_WHEN_IDLE);
			return GPUAGG_STARTING;
		}
		return gpuagg_breaker_open(state) ? GPUAGG_TIMEOUT : GPUAGG_OK;
	}

	LWLockAcquire(&state->lock, LW_SHARED);
	reason = reason_not_to_start(state, demand);
	LWLockRelease(&state->lock);
	if (reason != GPUAGG_OK)
		return reason;

	LWLockAcquire(&state->lock, LW_EXCLUSIVE);
	reason = reason_not_to_start(state, demand);
	if (reason == GPUAGG_OK)
		reason = register_launcher(state);
	LWLockRelease(&state->lock);
	return reason;
}

GpuaggReason
gpuagg_launcher_await(SharedState *state, bool demand, int timeout_ms)
{
	int64 deadline = gpuagg_monotonic_ms() + timeout_ms;

	for (;;)
	{
		GpuaggReason reason = gpuagg_launcher_check(state, demand);

		if ((reason != GPUAGG_STARTING && reason != GPUAGG_TIMEOUT) ||
			gpuagg_monotonic_ms() >= deadline)
			return reason;
		demand = false;
		gpuagg_wait_tick(AWAIT_TICK_MS);
	}
}

void
gpuagg_launcher_failed(SharedState *state, GpuaggReason reason, const char *detail, int64 retry_ms)
{
	LWLockAcquire(&state->lock, LW_EXCLUSIVE);
	state->reason = reason;
	strlcpy(state->detail, detail, sizeof(state->detail));
	state->not_before = gpuagg_monotonic_ms() + retry_ms;
	LWLockRelease(&state->lock);

	ereport(LOG, (errmsg("no usable GPU device: %s", gpuagg_reason_text(reason)),
				  detail[0] != '\0' ? errdetail_internal("%s", detail) : 0));
}

void
gpuagg_launcher_detail(SharedState *state, GpuaggReason reason, char *words, Size size)
{
	words[0] = '\0';
	if (state == NULL)
		return;
	/* these may hold the path of the program, a superuser-only setting */
	if ((reason == GPUAGG_NO_PROGRAM || reason == GPUAGG_START_FAILED) &&
		!has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_SETTINGS))
		return;
	LWLockAcquire(&state->lock, LW_SHARED);
	if (state->reason == (uint32) reason)
		strlcpy(words, state->detail, size);
	LWLockRelease(&state->lock);
}

char *
gpuagg_reason_words(GpuaggReason reason, const char *detail)
{
	return psprintf("%s%s%s", gpuagg_reason_text(reason), detail[0] != '\0' ? ": " : "", detail);
}

bool
gpuagg_launcher_end(SharedState *state, int timeout_ms)
{
	int64 deadline = gpuagg_monotonic_ms() + timeout_ms;

	for (;;)
	{
		pid_t pid;
		PGPROC *proc;

		LWLockAcquire(&state->lock, LW_SHARED);
		pid = state->launcher_pid;
		if (pid != 0)
			pg_atomic_write_u32(&state->restart_request, RESTART_NOW);
		LWLockRelease(&state->lock);

		if (pid == 0)
			return true;
		if (gpuagg_monotonic_ms() >= deadline)
			return false;
		proc = BackendPidGetProc(pid);
		if (proc != NULL)
			SetLatch(&proc->procLatch);
		gpuagg_wait_tick(AWAIT_TICK_MS);
	}
}
