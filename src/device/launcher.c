/*
 * launcher.c
 *	  The background worker that starts, watches and ends gpuaggd.
 *
 * It does no work that can crash: it forks and executes, waits, pings gpuaggd
 * every second and records the answers in the shared state.  It is a client of
 * gpuaggd like any session.  Its exit code decides what comes next:
 *
 *	exit code 0	stopped, idle, or no usable device: it starts again only when a
 *				session asks, and not before the recorded time
 *	exit code 1	gpuaggd was lost: the postmaster starts it again after 3 s
 *
 * When gpuaggd is silent, the launcher first opens the breaker and later kills it.
 */
#include "compat.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpuagg.h"
#include "device/launcher.h"
#include "device/link.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "device/child.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

/* all in ms */
#define PING_EVERY		1000
#define DESCRIBE_EVERY	5000
#define SILENCE_KILLS	5000 /* at least; who waits longer for answers waits longer for these, too */
#define TICK_ASKED		250
#define CONNECT_WITHIN	15000 /* or gpuagg.device_timeout, but not more than READY_WITHIN */
#define READY_WITHIN	60000
#define TICK_STARTING	20
#define EARLY_CRASH		10000 /* a crash so soon after it was ready counts */
#define CHANGE_WITHIN	10000 /* wait for a pause to start again with changed settings */
#define RETRY_NO_DEVICE 300000

#define MAX_FAILURES	10

typedef enum Outcome
{
	GO_ON,
	END_ASKED,	  /* shutdown, gpuagg_stop(), gpuagg_restart() */
	END_IDLE,	  /* gpuaggd was idle and ended by itself */
	END_UNUSABLE, /* no device; reason and time of the next try are recorded */
	END_LOST,	  /* gpuaggd crashed, hung or lost its context */
	START_AGAIN	  /* the settings have changed */
} Outcome;

/* The settings in gpuaggd's command line. */
typedef struct Settings
{
	int total_staging_memory;
	int device_memory;
	int idle_timeout;
	char visible_devices[1024];
	char program[MAXPGPATH];
} Settings;

/* What the launcher knows of one run of gpuaggd.  Times in ms. */
typedef struct Watch
{
	int64 started_at;
	int64 ready_at; /* 0: not yet */
	int64 asked_at; /* when the request under way was sent, or 0 */
	int64 answered_at;
	int64 described_at;
	int64 checked_at;		  /* last check for silence */
	int64 disconnected_since; /* or 0 */
	uint32 id;
	bool busy;			   /* the last answer showed requests under way, or leases */
	uint32 device_index;   /* device to ask about */
	bool ask_device;	   /* the next request asks about that device */
	GpuaggReason unusable; /* why there is no device, once known */
	char detail[128];
	int64 changed_at; /* when settings were found changed, or 0 */
} Watch;

static SharedState *state;
static Program program = {.log_fd = -1, .exec_fd = -1};
static Settings settings;

static void
take_settings(Settings *s)
{
	memset(s, 0, sizeof(*s));
	s->total_staging_memory = gpuagg_total_staging_memory;
	s->device_memory = gpuagg_device_memory;
	s->idle_timeout = gpuagg_idle_timeout;
	strlcpy(s->visible_devices, gpuagg_visible_devices, sizeof(s->visible_devices));
	strlcpy(s->program, gpuagg_program_path(), sizeof(s->program));
}

static void
set_not_ready(void)
{
	if (pg_atomic_exchange_u32(&state->ready, 0) != 0)
		state->last_ready = GetCurrentTimestamp();
	state->gpuaggd_pid = 0;
}

/* Callback when the launcher exits, for any reason. */
static void
launcher_exit(int code, Datum arg)
{
	if (program.pid != 0)
		kill(program.pid, SIGKILL);

	LWLockAcquire(&state->lock, LW_EXCLUSIVE);
	if (state->launcher_pid == MyProcPid)
	{
		set_not_ready();
		state->launcher_pid = 0;
		state->phase = code == 0 ? LAUNCHER_ABSENT : LAUNCHER_ASKED;
		state->asked_at = gpuagg_monotonic_ms();
	}
	LWLockRelease(&state->lock);
}

/* Registers as the launcher.  False when there is one already or gpuagg is stopped. */
static bool
become_launcher(void)
{
	bool alone;

	LWLockAcquire(&state->lock, LW_EXCLUSIVE);
	alone = state->launcher_pid == 0;
	if (alone && state->stopped)
	{
		state->phase = LAUNCHER_ABSENT;
		alone = false;
	}
	if (alone)
	{
		state->phase = LAUNCHER_RUNNING;
		state->launcher_pid = MyProcPid;
		strlcpy(state->version, GPUAGG_VERSION_STRING, sizeof(state->version));
		pg_atomic_write_u32(&state->restart_request, RESTART_NONE);
	}
	LWLockRelease(&state->lock);
	return alone;
}

static void
record_ready(Watch *watch)
{
	watch->ready_at = gpuagg_monotonic_ms();

	LWLockAcquire(&state->lock, LW_EXCLUSIVE);
	state->reason = GPUAGG_OK;
	state->detail[0] = '\0';
	state->not_before = 0;
	state->last_ready = GetCurrentTimestamp();
	if (gpuagg_breaker_open(state))
		pg_atomic_fetch_add_u32(&state->trips, 1);
	state->gpuaggd_pid = program.pid;
	pg_atomic_fetch_add_u32(&state->generation, 1);
	pg_atomic_write_u32(&state->ready, 1);
	LWLockRelease(&state->lock);

	ereport(LOG, (errmsg("device program with process ID %d is ready on \"%s\"", (int) program.pid,
						 state->ndevices > 0 ? state->device[0].name : "")));
}

/* Handles a reply to HELLO or PING. */
static void
on_health(Watch *watch, GpuaggReply *reply)
{
	GpuaggReason reason = gpuagg_link_reason(reply);

	watch->busy = reply->u.hello.inflight > 0 || reply->u.hello.leases > 0;
	if (watch->ready_at != 0)
	{
		if (reason != GPUAGG_OK || !reply->u.hello.ready)
			return; /* it is about to end */
		gpuagg_breaker_close(state);
		return;
	}
	if (reason == GPUAGG_STARTING || watch->unusable != GPUAGG_OK)
		return;
	reply->u.hello.detail[sizeof(reply->u.hello.detail) - 1] = '\0';
	reply->u.hello.version[sizeof(reply->u.hello.version) - 1] = '\0';
	if (reason == GPUAGG_VERSION || strcmp(reply->u.hello.version, GPUAGG_VERSION_STRING) != 0)
	{
		watch->unusable = GPUAGG_VERSION;
		snprintf(watch->detail, sizeof(watch->detail),
				 "the library is version %s, the device program is version %s",
				 GPUAGG_VERSION_STRING, reply->u.hello.version);
		watch->ask_device = false;
		return;
	}
	if (!reply->u.hello.ready)
	{
		watch->unusable = reason != GPUAGG_OK ? reason : GPUAGG_DEVICE_ERROR;
		strlcpy(watch->detail, reply->u.hello.detail, sizeof(watch->detail));
	}
	/* ready or not, ask about the devices first */
	watch->device_index = 0;
	watch->ask_device = true;
}

/* Handles a reply to DEVICE: asks about the next device, or decides after the last. */
static Outcome
on_device(Watch *watch, GpuaggReply *reply)
{
	const GpuaggDeviceInfo *info = &reply->u.device;

	if (gpuagg_link_reason(reply) == GPUAGG_OK && watch->device_index < info->count &&
		watch->device_index < SHARED_DEVICES)
	{
		LWLockAcquire(&state->lock, LW_EXCLUSIVE);
		state->device[watch->device_index] = *info;
		state->device[watch->device_index].name[sizeof(info->name) - 1] = '\0';
		state->device[watch->device_index].detail[sizeof(info->detail) - 1] = '\0';
		state->ndevices = Max(state->ndevices, watch->device_index + 1);
		LWLockRelease(&state->lock);
		watch->device_index++;
		watch->ask_device = watch->device_index < info->count &&
							watch->device_index < SHARED_DEVICES;
	}
	else
		watch->ask_device = false;

	if (watch->ask_device)
		return GO_ON;
	watch->described_at = gpuagg_monotonic_ms();
	if (watch->unusable != GPUAGG_OK)
		return END_UNUSABLE;
	if (watch->ready_at == 0)
		record_ready(watch);
	return GO_ON;
}

/* Reads replies and sends the next request.  Does not wait. */
static Outcome
converse(Link *link, Watch *watch)
{
	int64 now = gpuagg_monotonic_ms();
	GpuaggReply reply;
	GpuaggRequest request;

	if (link->sock < 0)
	{
		/* a program that exits closes its sockets before it can be reaped */
		if (watch->disconnected_since == 0)
			watch->disconnected_since = now;
		if (gpuagg_link_open(link, program.pid) != GPUAGG_OK)
			return now - watch->disconnected_since >
						   Min(Max(CONNECT_WITHIN, gpuagg_device_timeout), READY_WITHIN)
					   ? END_LOST
					   : GO_ON;
		watch->disconnected_since = 0;
		gpuagg_link_hello(&request, ++watch->id);
		if (!gpuagg_link_send(link, &request))
			return GO_ON;
		watch->asked_at = now;
		return GO_ON;
	}

	for (;;)
	{
		LinkStatus status = gpuagg_link_receive(link, &reply, NULL);
		Outcome outcome = GO_ON;

		if (status == LINK_CLOSED)
		{
			/* another version, or the program has ended; the caller finds out */
			gpuagg_link_close(link);
			return watch->unusable != GPUAGG_OK ? END_UNUSABLE : GO_ON;
		}
		if (status == LINK_NOTHING)
			break;
		if (reply.h.id != watch->id)
			continue;
		watch->asked_at = 0;
		watch->answered_at = now;
		if (reply.h.type == GPUAGG_MSG_DEVICE)
			outcome = on_device(watch, &reply);
		else
			on_health(watch, &reply);
		if (watch->unusable == GPUAGG_VERSION)
			return END_UNUSABLE;
		if (outcome != GO_ON)
			return outcome;
	}

	if (watch->asked_at != 0)
		return GO_ON;
	memset(&request, 0, sizeof(request));
	if (watch->ask_device)
	{
		request.h.type = GPUAGG_MSG_DEVICE;
		request.u.device.index = watch->device_index;
	}
	else if (now - watch->answered_at >= (watch->ready_at != 0 ? PING_EVERY : TICK_STARTING))
		request.h.type = GPUAGG_MSG_PING;
	else
		return GO_ON;
	request.h.id = ++watch->id;
	if (gpuagg_link_send(link, &request))
		watch->asked_at = now;
	if (watch->ready_at != 0 && !watch->ask_device && now - watch->described_at >= DESCRIBE_EVERY)
	{
		watch->device_index = 0;
		watch->ask_device = true;
	}
	return GO_ON;
}

/* Finds out why gpuaggd ended. */
static Outcome
judge_end(Watch *watch)
{
	if (program.exec_errno != 0)
	{
		watch->unusable = GPUAGG_NO_PROGRAM;
		gpuagg_program_fault(program.exec_errno, watch->detail, sizeof(watch->detail));
		return END_UNUSABLE;
	}
	if (watch->ready_at == 0)
	{
		watch->unusable = GPUAGG_START_FAILED;
		if (program.last_line[0] != '\0')
			strlcpy(watch->detail, program.last_line, sizeof(watch->detail));
		else if (WIFSIGNALED(program.status))
			snprintf(watch->detail, sizeof(watch->detail), "it was terminated by signal %d",
					 WTERMSIG(program.status));
		else
			snprintf(watch->detail, sizeof(watch->detail), "it exited with code %d",
					 WEXITSTATUS(program.status));
		return END_UNUSABLE;
	}
	if (WIFEXITED(program.status) && WEXITSTATUS(program.status) == 0)
		return END_IDLE;
	if (WIFSIGNALED(program.status))
		ereport(LOG,
				(errmsg("device program was terminated by signal %d", WTERMSIG(program.status))));
	else
		ereport(LOG, (errmsg("device program exited with code %d", WEXITSTATUS(program.status))));
	return END_LOST;
}

/* Opens the breaker, or gives up gpuaggd, when it has been silent too long. */
static Outcome
judge_silence(Watch *watch)
{
	int64 now = gpuagg_monotonic_ms();
	int64 delay = gpuagg_delay_ms(&watch->checked_at, TICK_ASKED);
	int64 kills = Max(SILENCE_KILLS, gpuagg_device_timeout);
	int64 trips = kills * 2 / 5;

	if (watch->asked_at != 0)
		watch->asked_at += delay;
	if (watch->asked_at != 0 && now - watch->asked_at > trips)
	{
		if (watch->ready_at != 0)
			gpuagg_breaker_trip(state);
		if (now - watch->asked_at > kills)
		{
			ereport(LOG, (errmsg("device program does not answer")));
			return END_LOST;
		}
	}
	/* nobody has to wait for answers of one that never was ready */
	if (watch->ready_at == 0 && now - watch->started_at > READY_WITHIN)
	{
		ereport(LOG, (errmsg("device program does not get ready")));
		return END_LOST;
	}
	return GO_ON;
}

static Outcome
check_requests(Watch *watch)
{
	uint32 request = pg_atomic_read_u32(&state->restart_request);

	if (ConfigReloadPending)
	{
		Settings fresh;

		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
		take_settings(&fresh);
		if (memcmp(&fresh, &settings, sizeof(settings)) == 0)
			watch->changed_at = 0;
		else if (watch->changed_at == 0)
			watch->changed_at = gpuagg_monotonic_ms();
	}
	if (ShutdownRequestPending || request == RESTART_NOW)
		return END_ASKED;
	if (watch->asked_at == 0 && !watch->busy)
	{
		if (request == RESTART_WHEN_IDLE)
			return END_ASKED;
		if (watch->changed_at != 0)
			return START_AGAIN;
	}
	/* sessions that take turns never leave it idle; what they have under way the CPU does again */
	if (watch->changed_at != 0 && gpuagg_monotonic_ms() - watch->changed_at > CHANGE_WITHIN)
		return START_AGAIN;
	return GO_ON;
}

static WaitEventSet *
build_wait_set(const Link *link)
{
	WaitEventSet *set = compat_create_wait_event_set(4);

	AddWaitEventToSet(set, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
	AddWaitEventToSet(set, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL, NULL);
	if (program.log_fd >= 0)
		AddWaitEventToSet(set, WL_SOCKET_READABLE, program.log_fd, NULL, NULL);
	if (link->sock >= 0)
		AddWaitEventToSet(set, WL_SOCKET_READABLE, link->sock, NULL, NULL);
	return set;
}

/* Watches gpuaggd until it ends or is to be ended. */
static Outcome
watch_program(Watch *watch, Link *link)
{
	WaitEventSet *set = NULL;
	int set_log_fd = -1;
	int set_sock = -1;
	Outcome outcome;

	for (;;)
	{
		WaitEvent event;
		int64 tick = TICK_STARTING;

		gpuagg_program_log(&program);
		if (gpuagg_program_ended(&program))
		{
			/* its last reply may say why */
			if (ShutdownRequestPending)
				outcome = END_ASKED; /* the signal goes to the whole process group */
			else if (link->sock < 0 || converse(link, watch) != END_UNUSABLE)
				outcome = judge_end(watch);
			else
				outcome = END_UNUSABLE;
			break;
		}
		if ((outcome = check_requests(watch)) != GO_ON ||
			(outcome = judge_silence(watch)) != GO_ON || (outcome = converse(link, watch)) != GO_ON)
			break;

		if (set == NULL || set_log_fd != program.log_fd || set_sock != link->sock)
		{
			if (set != NULL)
				FreeWaitEventSet(set);
			set = build_wait_set(link);
			set_log_fd = program.log_fd;
			set_sock = link->sock;
		}
		if (watch->ready_at != 0 && watch->asked_at == 0 && !watch->ask_device)
			tick = Max(watch->answered_at + PING_EVERY - gpuagg_monotonic_ms(), 1);
		else if (watch->asked_at != 0)
			tick = TICK_ASKED;
		if (WaitEventSetWait(set, tick, &event, 1, PG_WAIT_EXTENSION) > 0 &&
			(event.events & WL_LATCH_SET))
			ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	if (set != NULL)
		FreeWaitEventSet(set);
	return outcome;
}

/* Records the outcome's reason and the time of the next try for the sessions. */
static Outcome
conclude(const Watch *watch, Outcome outcome)
{
	if (outcome == END_UNUSABLE && watch->unusable != GPUAGG_OK)
		gpuagg_launcher_failed(state, watch->unusable, watch->detail,
							   watch->unusable == GPUAGG_VERSION ||
									   watch->unusable == GPUAGG_NO_PROGRAM ||
									   watch->unusable == GPUAGG_START_FAILED
								   ? RETRY_NO_PROGRAM_MS
								   : RETRY_NO_DEVICE);
	else if (outcome == END_LOST && watch->ready_at == 0)
	{
		gpuagg_launcher_failed(state, GPUAGG_START_FAILED, "it did not get ready in time",
							   RETRY_NO_PROGRAM_MS);
		outcome = END_UNUSABLE;
	}
	return outcome;
}

/* Runs gpuaggd once, from start to end. */
static Outcome
run_program(Watch *watch)
{
	Link link = {.sock = -1};
	Outcome outcome;

	memset(watch, 0, sizeof(*watch));
	watch->started_at = gpuagg_monotonic_ms();
	take_settings(&settings);
	LWLockAcquire(&state->lock, LW_EXCLUSIVE);
	state->ndevices = 0;
	LWLockRelease(&state->lock);

	if (!gpuagg_program_start(&program))
	{
		gpuagg_launcher_failed(state, GPUAGG_START_FAILED, strerror(errno), RETRY_NO_PROGRAM_MS);
		return END_UNUSABLE;
	}
	outcome = watch_program(watch, &link);

	LWLockAcquire(&state->lock, LW_EXCLUSIVE);
	set_not_ready();
	LWLockRelease(&state->lock);
	gpuagg_link_close(&link);
	if (outcome == END_LOST && program.pid != 0)
		kill(program.pid, SIGKILL);
	gpuagg_program_stop(&program);
	return conclude(watch, outcome);
}

/* Whether to restart after a loss: not after MAX_FAILURES early ones in a row. */
static bool
should_restart(const Watch *watch)
{
	bool soon = watch->ready_at == 0 || gpuagg_monotonic_ms() - watch->ready_at < EARLY_CRASH;
	uint32 failures;

	LWLockAcquire(&state->lock, LW_EXCLUSIVE);
	failures = state->failures = soon ? state->failures + 1 : 0;
	LWLockRelease(&state->lock);
	return failures < MAX_FAILURES;
}

void
gpuagg_launcher_main(Datum arg)
{
	Watch watch;
	Outcome outcome;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	pqsignal(SIGINT, SIG_IGN);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);

	state = gpuagg_state();
	if (state == NULL)
	{
		ereport(LOG, (errmsg("no room for the shared state of gpuagg")));
		proc_exit(0);
	}
	if (!become_launcher())
		proc_exit(0);
	before_shmem_exit(launcher_exit, (Datum) 0);
	pgstat_report_activity(STATE_IDLE, NULL);

	do
		outcome = run_program(&watch);
	while (outcome == START_AGAIN);

	if (outcome == END_LOST)
	{
		if (should_restart(&watch))
			proc_exit(1);
		gpuagg_launcher_failed(state, GPUAGG_START_FAILED,
							   "it ended soon after its start several times", RETRY_NO_DEVICE);
	}
	proc_exit(0);
}
