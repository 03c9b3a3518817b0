/*
 * server.c
 *	  gpuaggd's loop: connections, messages, time.
 *
 * A client is trusted no more than a stranger with the same user id.  What it
 * sends wrongly costs it a refusal, and its connection when the message is no
 * message of the protocol.  Replies that its socket does not take are kept,
 * and nothing more is read from it meanwhile; so what one client can make us
 * hold is bounded by its requests in flight.
 */
#include "host/gpud.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS_AT_ONCE	 64
#define MESSAGES_AT_ONCE 16 /* of one client before others have their turn */
#define ACCEPTS_AT_ONCE	 64
#define SECOND_NS		 INT64_C(1000000000)
#define STALL_NS		 (60 * SECOND_NS)	 /* of a call in the set-up thread */
#define RESTING_NS		 INT64_C(5000000000) /* a client silent for so long may have to make room */
#define SPIN_NS			 INT64_C(20000)		 /* a small request takes about that long */
#define RUNNING_TICK_MS	 10					 /* queries the device even if no wake-up comes */

/* Everything that epoll watches begins with its function. */
typedef struct Source
{
	void (*on_event)(void *source, uint32_t events);
	int fd;
} Source;

typedef struct Outgoing
{
	struct Outgoing *next;
	int fd; /* to pass along, or -1 */
	GpuaggReply reply;
} Outgoing;

static int epoll_fd = -1;
static Source listening_source;
static bool listening_paused; /* out of descriptors: not before the next tick */
static Client *clients;
static Client *closed_clients; /* to be freed when no event can name them */
static int nconnections;
static int nclients;	  /* that have been greeted */
static int64_t last_work; /* when a client last asked for something */

Client *
gpud_clients(void)
{
	return clients;
}

static void
watch(Source *source, int fd, void (*on_event)(void *, uint32_t))
{
	struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = source}};

	source->on_event = on_event;
	source->fd = fd;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
	{
		gpud_warn("could not watch a descriptor: %s", strerror(errno));
		gpud_end(1);
	}
}

/* Asks for input unless replies wait, and for room when they do. */
static void
arm(Client *client)
{
	uint32_t wanted = client->outbox != NULL ? EPOLLOUT : EPOLLIN;
	struct epoll_event event = {.events = wanted, .data = {.ptr = client}};

	if (client->fd < 0 || client->armed == wanted)
		return;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, client->fd, &event) == 0)
		client->armed = wanted;
	else
		shutdown(client->fd, SHUT_RDWR);
}

static void
close_client(Client *client)
{
	if (client->fd < 0)
		return;
	close(client->fd);
	client->fd = -1;
	gpud_work_client_gone(client);
	gpud_staging_client_gone(client);
	while (client->outbox != NULL)
	{
		Outgoing *out = client->outbox;

		client->outbox = out->next;
		free(out);
	}

	if (client->previous != NULL)
		client->previous->next = client->next;
	else
		clients = client->next;
	if (client->next != NULL)
		client->next->previous = client->previous;
	client->next = closed_clients;
	closed_clients = client;
	nconnections--;
	if (client->greeted)
		nclients--;
}

/* Returns 1 when sent, 0 when the socket is full, -1 when the client is gone. */
static int
send_reply(int fd, const GpuaggReply *reply, int passed_fd)
{
	struct iovec part = {.iov_base = (void *) reply, .iov_len = sizeof(*reply)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	union
	{
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	ssize_t sent;

	if (passed_fd >= 0)
	{
		struct cmsghdr *header = &control.align;

		memset(&control, 0, sizeof(control));
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &passed_fd, sizeof(int));
		message.msg_control = control.space;
		message.msg_controllen = sizeof(control.space);
	}
	do
		sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	if (sent == (ssize_t) sizeof(*reply))
		return 1;
	return sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : -1;
}

void
gpud_reply(Client *client, const GpuaggHeader *request, GpuaggReason reason, GpuaggReply *reply,
		   int fd)
{
	int sent = 0;

	reply->h = *request;
	reply->h.magic = GPUAGG_MAGIC;
	reply->h.version = GPUAGG_PROTOCOL_VERSION;
	reply->h.reason = reason;

	if (client->fd < 0)
		return;
	if (client->outbox == NULL)
		sent = send_reply(client->fd, reply, fd);
	if (sent == 0)
	{
		Outgoing *out = malloc(sizeof(Outgoing));

		if (out != NULL)
		{
			out->next = NULL;
			out->fd = fd;
			out->reply = *reply;
			*client->outbox_end = out;
			client->outbox_end = &out->next;
			arm(client);
			return;
		}
		sent = -1;
	}
	/* our callers may be walking lists that closing would change: the loop closes it */
	if (sent < 0)
		shutdown(client->fd, SHUT_RDWR);
}

void
gpud_reply_reason(Client *client, const GpuaggHeader *request, GpuaggReason reason)
{
	GpuaggReply reply;

	memset(&reply, 0, sizeof(reply));
	gpud_reply(client, request, reason, &reply, -1);
}

void
gpud_lost(const char *what)
{
	gpud_warn("the device is lost: %s", what);
	gpud_work_lost();
	gpud_staging_lost();
	gpud_end(2);
}

/* HELLO and PING */
static void
answer_state(Client *client, const GpuaggHeader *request, GpuaggReason reason)
{
	GpuaggReply reply;

	memset(&reply, 0, sizeof(reply));
	strncpy(reply.u.hello.version, GPUAGG_VERSION_STRING, sizeof(reply.u.hello.version) - 1);
	reply.u.hello.pid = getpid();
	reply.u.hello.ready = gpud_device.ready;
	reply.u.hello.inflight = (uint32_t) gpud_work_inflight();
	reply.u.hello.leases = (uint32_t) gpud_staging_leases();
	reply.u.hello.clients = (uint32_t) nclients;
	reply.u.hello.staging_bytes = gpud_staging_bytes();
	reply.u.hello.device_bytes = gpud_work_bytes();
	memcpy(reply.u.hello.detail, gpud_device.detail, sizeof(reply.u.hello.detail));
	gpud_reply(client, request, reason, &reply, -1);
}

/*
 * Where there are no devices, device 0 still tells why.  An index beyond the
 * last is refused; the reply tells the count all the same.
 */
static void
answer_device(Client *client, const GpuaggRequest *request)
{
	uint32_t index = request->u.device.index;
	GpuaggReason reason = GPUAGG_OK;
	GpuaggReply reply;

	memset(&reply, 0, sizeof(reply));
	if (index < (uint32_t) gpud_device.count)
		reply.u.device = gpud_device.info[index];
	else
	{
		reply.u.device.reason = gpud_device.reason;
		memcpy(reply.u.device.detail, gpud_device.detail, sizeof(reply.u.device.detail));
		if (gpud_device.reason == GPUAGG_STARTING)
			reason = GPUAGG_STARTING;
		else if (index > 0)
			reason = GPUAGG_REFUSED;
	}
	reply.u.device.count = (uint32_t) gpud_device.count;
	reply.u.device.index = index;
	gpud_reply(client, &request->h, reason, &reply, -1);
	gpud_device_refresh();
}

/*
 * Closes the connection of the client that has been at rest for longest: it
 * connects again when it next has work.  False when all are at work.
 */
static bool
make_room(void)
{
	Client *longest = NULL;

	for (Client *client = clients; client != NULL; client = client->next)
		if (client->greeted && client->leased == 0 && client->inflight == 0 &&
			client->outbox == NULL && (longest == NULL || client->heard_at < longest->heard_at))
			longest = client;
	if (longest == NULL || gpud_now() - longest->heard_at < RESTING_NS)
		return false;
	close_client(longest);
	return true;
}

/* False when the client must be closed. */
static bool
handle_message(Client *client, const GpuaggRequest *request)
{
	const GpuaggHeader *h = &request->h;

	if (h->magic != GPUAGG_MAGIC)
		return false;
	client->heard_at = gpud_now();
	if (!client->greeted)
	{
		if (h->type != GPUAGG_MSG_HELLO)
			return false;
		if (h->version != GPUAGG_PROTOCOL_VERSION || (nclients >= GPUD_MAX_CLIENTS && !make_room()))
		{
			answer_state(client, h,
						 h->version != GPUAGG_PROTOCOL_VERSION ? GPUAGG_VERSION : GPUAGG_BUSY);
			client->closing = true;
			return client->outbox != NULL;
		}
		client->greeted = true;
		nclients++;
	}
	if (h->version != GPUAGG_PROTOCOL_VERSION)
		return false;

	switch (h->type)
	{
		case GPUAGG_MSG_HELLO:
		case GPUAGG_MSG_PING:
			answer_state(client, h, gpud_device.reason);
			return true;
		case GPUAGG_MSG_DEVICE:
			answer_device(client, request);
			return true;
		case GPUAGG_MSG_LEASE:
			last_work = gpud_now();
			gpud_staging_lease(client, request);
			return true;
		case GPUAGG_MSG_RELEASE:
			last_work = gpud_now();
			gpud_staging_release(client, request->u.release.region);
			return true;
		case GPUAGG_MSG_REDUCE:
		case GPUAGG_MSG_SCAN:
		case GPUAGG_MSG_SORT:
		case GPUAGG_MSG_LADDER:
		case GPUAGG_MSG_BENCH:
			last_work = gpud_now();
			gpud_work_submit(client, request);
			return true;
		default:
			return false;
	}
}

/* False when the client is gone. */
static bool
flush_outbox(Client *client)
{
	while (client->outbox != NULL)
	{
		Outgoing *out = client->outbox;
		int sent = send_reply(client->fd, &out->reply, out->fd);

		if (sent == 0)
			return true;
		if (sent < 0)
			return false;
		client->outbox = out->next;
		if (client->outbox == NULL)
			client->outbox_end = &client->outbox;
		free(out);
	}
	return !client->closing;
}

static void
on_client(void *source, uint32_t events)
{
	Client *client = source;

	if (client->fd < 0)
		return;
	if (!flush_outbox(client) || (client->outbox != NULL && (events & (EPOLLHUP | EPOLLERR))))
	{
		close_client(client);
		return;
	}
	for (int i = 0; i < MESSAGES_AT_ONCE && client->outbox == NULL; i++)
	{
		GpuaggRequest request;
		ssize_t got;

		/* MSG_TRUNC: the packet's whole length, so that longer ones are seen */
		got = recv(client->fd, &request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);
		if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
			break;
		if (got != (ssize_t) sizeof(request) || !handle_message(client, &request))
		{
			close_client(client);
			return;
		}
	}
	arm(client);
}

static void
add_client(int fd)
{
	Client *client = calloc(1, sizeof(Client));
	struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = client}};

	if (client == NULL || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
	{
		free(client);
		close(fd);
		return;
	}
	client->on_event = on_client;
	client->fd = fd;
	client->armed = EPOLLIN;
	client->outbox_end = &client->outbox;
	client->queue_end = &client->queue;
	client->next = clients;
	if (clients != NULL)
		clients->previous = client;
	clients = client;
	nconnections++;
}

static void
turned_away(const char *why)
{
	static int64_t told;

	if (gpud_due(&told))
		gpud_warn("connection turned away: %s", why);
}

static void
on_connection(void *source, uint32_t events)
{
	int listening = ((Source *) source)->fd;

	(void) events;
	for (int i = 0; i < ACCEPTS_AT_ONCE; i++)
	{
		struct ucred peer;
		socklen_t length = sizeof(peer);
		int fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
		{
			if (errno == EINTR || errno == ECONNABORTED)
				continue;
			if (errno == EAGAIN || errno == EWOULDBLOCK)
				return;
			turned_away(strerror(errno));
			if (epoll_ctl(epoll_fd, EPOLL_CTL_DEL, listening, NULL) == 0)
				listening_paused = true;
			return;
		}
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.uid != geteuid())
		{
			turned_away("it comes from another user");
			close(fd);
		}
		else if (nconnections >= GPUD_MAX_CONNECTIONS)
		{
			turned_away("too many connections");
			close(fd);
		}
		else
			add_client(fd);
	}
}

static void
on_signal(void *source, uint32_t events)
{
	struct signalfd_siginfo info;

	(void) events;
	if (read(((Source *) source)->fd, &info, sizeof(info)) != (ssize_t) sizeof(info))
		return;
	gpud_log("ending on request");
	gpud_end(0);
}

static void
on_setup(void *source, uint32_t events)
{
	(void) source;
	(void) events;
	gpud_setup_collect();
}

static void
on_wakeup(void *source, uint32_t events)
{
	eventfd_t count;

	(void) events;
	(void) eventfd_read(((Source *) source)->fd, &count);
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
	if (gpud_work_inflight() > 0 || gpud_staging_leases() > 0 ||
		gpud_device.reason == GPUAGG_STARTING)
		last_work = now;
	if (gpud_options.idle_timeout > 0 && now - last_work >= gpud_options.idle_timeout * SECOND_NS)
	{
		gpud_log("ending after %d s without a request", gpud_options.idle_timeout);
		gpud_end(0);
	}
	gpud_staging_tick(now);
	if (listening_paused)
	{
		listening_paused = false;
		watch(&listening_source, listening_source.fd, on_connection);
	}
}

/* Completes and starts requests; spins a little for those that are nearly done. */
static WorkState
advance_work(void)
{
	int64_t until = gpud_now() + SPIN_NS;
	WorkState state;

	do
		state = gpud_work_advance();
	while (state == WORK_RUNNING && gpud_now() < until);
	return state;
}

static void
free_closed_clients(void)
{
	while (closed_clients != NULL)
	{
		Client *client = closed_clients;

		closed_clients = client->next;
		free(client);
	}
}

void
gpud_server_run(int listening, int signals)
{
	static Source signal_source;
	static Source setup_source;
	static Source wakeup_source;
	int64_t next_tick = gpud_now() + SECOND_NS;

	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0)
	{
		gpud_warn("could not create an epoll descriptor: %s", strerror(errno));
		gpud_end(1);
	}
	watch(&signal_source, signals, on_signal);
	watch(&listening_source, listening, on_connection);
	watch(&setup_source, gpud_setup_fd(), on_setup);
	watch(&wakeup_source, gpud_lanes_fd(), on_wakeup);
	last_work = gpud_now();

	for (;;)
	{
		struct epoll_event events[EVENTS_AT_ONCE];
		WorkState work = advance_work();
		int64_t now = gpud_now();
		int wait_ms;
		int n;

		if (now >= next_tick)
		{
			tick(now);
			next_tick = now + SECOND_NS;
		}
		if (work == WORK_TO_START)
			wait_ms = 0;
		else if (work == WORK_RUNNING)
			wait_ms = RUNNING_TICK_MS;
		else
			wait_ms = (int) ((next_tick - now) / 1000000) + 1;
		n = epoll_wait(epoll_fd, events, EVENTS_AT_ONCE, wait_ms);
		if (n < 0 && errno != EINTR)
		{
			gpud_warn("could not wait for events: %s", strerror(errno));
			gpud_end(1);
		}
		for (int i = 0; i < n; i++)
		{
			Source *source = events[i].data.ptr;

			source->on_event(source, events[i].events);
		}
		free_closed_clients();
	}
}
