/*
 * server.c
 *	  gpuaggd's loop: connections, messages, time.
 *
 * A client is trusted no more than a stranger with the same user id.  What it
 * sends wrongly costs it a refusal, and its connection when the message is no
 * message of the protocol.
 */
#include "host/server.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/blobs.h"
#include "host/device.h"
#include "host/job.h"
#include "host/log.h"
#include "host/options.h"
#include "host/request_table.h"
#include "host/setup.h"
#include "host/socket.h"
#include "host/staging.h"

#define MESSAGES_AT_ONCE 16 /* of one client before others have their turn */
#define ACCEPTS_AT_ONCE	 64
#define STALL_NS		 (60 * GPUD_SECOND) /* of a call in the set-up thread */
#define SPIN_IDLE_NS	 INT64_C(200000)	/* what a client does between two requests takes less */
#define SPIN_WORK_NS	 INT64_C(2000000)	/* the same of a query: of most */
#define SPIN_FEW_NS \
	INT64_C(20000) /* of a small request; more where there are few processors is theirs */
#define FEW_PROCESSORS	4
#define RUNNING_TICK_MS 10 /* queries the device even if no wake-up comes */

static Source listening_source;
static int64_t last_work;	 /* when a client last asked for something */
static int64_t last_message; /* when one came, of any kind */

/* ---- messages ---- */

/* False when the client must be closed. */
static bool
handle_message(Client *client, const GpuaggRequest *request)
{
	const GpuaggHeader *h = &request->h;
	const RequestType *type = gpud_request_type(h->type);

	if (h->magic != GPUAGG_MAGIC || type == NULL)
		return false;
	if (client->greeted ? h->version != GPUAGG_PROTOCOL_VERSION : !type->greets)
		return false;
	client->heard_at = last_message = gpud_now();
	if (type->works)
		last_work = client->heard_at;
	if (type->serve != NULL)
		type->serve(client, request);
	else
		gpud_job_submit(client, type, request);
	return !client->closing || client->outbox != NULL;
}

/* Drops the jobs and leases of clients whose connections have been closed. */
static void
clean_up(void)
{
	for (Client *client = gpud_closed_clients; client != NULL; client = client->next)
	{
		/* first, as jobs that end let go of segments, which go to those who wait for one */
		gpud_staging_client_gone(client);
		gpud_job_client_gone(client);
	}
}

/* False when the client must be closed. */
static bool
serve_client(Client *client, uint32_t events)
{
	if (!gpud_client_flush(client) || (client->outbox != NULL && (events & (EPOLLHUP | EPOLLERR))))
		return false;
	for (int i = 0; i < MESSAGES_AT_ONCE && client->outbox == NULL; i++)
	{
		GpuaggRequest request;
		ssize_t got;

		/* MSG_TRUNC: the packet's whole length, so that longer ones are seen */
		got = recv(client->source.fd, &request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);
		if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
			break;
		if (got != (ssize_t) sizeof(request) || !handle_message(client, &request))
			return false;
	}
	return true;
}

static void
on_client(Source *source, uint32_t events)
{
	if (source->fd < 0 || serve_client((Client *) source, events))
		return;
	gpud_client_close((Client *) source);
	clean_up();
}

/* ---- connections ---- */

static void
turned_away(const char *why)
{
	static int64_t told;

	if (gpud_due(&told))
		gpud_warn("connection turned away: %s", why);
}

static void
on_connection(Source *source, uint32_t events)
{
	(void) events;
	for (int i = 0; i < ACCEPTS_AT_ONCE; i++)
	{
		struct ucred peer;
		socklen_t length = sizeof(peer);
		int fd = accept4(source->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
		{
			if (errno == EINTR || errno == ECONNABORTED)
				continue;
			if (errno == EAGAIN || errno == EWOULDBLOCK)
				return;
			/* out of descriptors: not before the next tick */
			turned_away(strerror(errno));
			(void) gpud_watch(source, 0);
			return;
		}
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.uid != geteuid())
		{
			turned_away("it comes from another user");
			close(fd);
		}
		else if (!gpud_client_add(fd, on_client))
			turned_away("too many connections");
	}
}

/* ---- the loop ---- */

static void
on_signal(Source *source, uint32_t events)
{
	struct signalfd_siginfo info;

	(void) events;
	if (read(source->fd, &info, sizeof(info)) != (ssize_t) sizeof(info))
		return;
	gpud_log("ending on request");
	gpud_end(0);
}

static void
watch(Source *source, int fd, void (*on_event)(Source *, uint32_t))
{
	source->on_event = on_event;
	source->fd = fd;
	if (!gpud_watch(source, EPOLLIN))
	{
		gpud_warn("could not watch a descriptor: %s", strerror(errno));
		gpud_end(1);
	}
}

/* Listens to a socket that is new, where somebody has removed the file of the old one. */
static void
renew_socket(void)
{
	int fd = gpud_socket_open_again();

	if (fd < 0)
		return;
	on_connection(&listening_source, EPOLLIN); /* those who still came the old way */
	close(listening_source.fd);
	listening_source.watched = 0;
	listening_source.fd = fd;
}

/* Once a second. */
static void
tick(int64_t now)
{
	int64_t stalled_since = gpud_setup_running_since();

	if (gpud_options.parent != 0 && getppid() != gpud_options.parent)
		gpud_end(0);
	if (stalled_since != 0 && now - stalled_since > STALL_NS)
		gpud_lost("a driver call that does not return");

	/* a device that takes long to open is not idle yet */
	if (gpud_jobs_inflight() > 0 || gpud_staging_leases() > 0 ||
		gpud_device.reason == GPUAGG_STARTING)
		last_work = now;
	if (gpud_options.idle_timeout > 0 && now - last_work >= gpud_options.idle_timeout * GPUD_SECOND)
	{
		gpud_log("ending after %d s without a request", gpud_options.idle_timeout);
		gpud_end(0);
	}
	gpud_clients_tick(now);
	gpud_staging_tick(now);
	gpud_blobs_tick(now);
	renew_socket();
	watch(&listening_source, listening_source.fd, on_connection);
}

/*
 * How long the loop may sleep, ms.  After a message it looks for a while whether that is done, or
 * another has come: to be woken takes longer than a small request.
 */
static int
patience(WorkState work, int64_t now, int64_t until)
{
	static long processors = 0;
	int64_t spin = work == WORK_RUNNING ? SPIN_WORK_NS : SPIN_IDLE_NS;

	if (processors == 0)
		processors = sysconf(_SC_NPROCESSORS_ONLN);
	if (processors < FEW_PROCESSORS)
		spin = work == WORK_RUNNING ? SPIN_FEW_NS : 0;
	if (work == WORK_TO_START || now - last_message < spin)
		return 0;
	return work == WORK_RUNNING ? RUNNING_TICK_MS : (int) ((until - now) / 1000000) + 1;
}

void
gpud_server_run(int listening, int signals)
{
	static Source signal_source;
	int64_t next_tick = gpud_now() + GPUD_SECOND;

	watch(&signal_source, signals, on_signal);
	watch(&listening_source, listening, on_connection);
	last_work = gpud_now();

	for (;;)
	{
		WorkState work = gpud_job_advance();
		int64_t now = gpud_now();
		int64_t deadline;
		int sleep_ms;

		if (now >= next_tick)
		{
			tick(now);
			next_tick = now + GPUD_SECOND;
		}
		if (now >= gpud_staging_deadline())
			gpud_staging_serve();
		deadline = gpud_staging_deadline();
		sleep_ms = patience(work, now, deadline < next_tick ? deadline : next_tick);
		if (sleep_ms > 0)
			gpud_job_before_sleep();
		gpud_watch_wait(sleep_ms);
		gpud_setup_collect();
		clean_up();
		gpud_clients_free();
	}
}
