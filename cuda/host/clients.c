/*
 * clients.c
 *	  Who is connected, what each has asked for, and replies.
 *
 * Replies that a client's socket does not take are kept, and nothing more is
 * read from that client until they are sent.  So the memory that one client can
 * make gpuaggd use is bounded by its requests in flight.
 */
#include "host/clients.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/log.h"
#include "host/socket.h"

#define MAX_CLIENTS 512				  /* connections beyond that are told so */
#define GREETING_NS (2 * GPUD_SECOND) /* a connection without HELLO is closed after so long */
#define RESTING_NS	(5 * GPUD_SECOND) /* a client silent for so long may have to make room */

typedef struct Outgoing
{
	struct Outgoing *next;
	int fd; /* to pass along, or -1 */
	GpuaggReply reply;
} Outgoing;

Client *gpud_clients;
Client *gpud_closed_clients;
int gpud_nclients;

static int nconnections;

bool
gpud_client_add(int fd, void (*on_event)(Source *, uint32_t))
{
	Client *client;

	if (nconnections >= GPUD_MAX_CONNECTIONS)
	{
		close(fd);
		return false;
	}
	client = calloc(1, sizeof(Client));
	if (client == NULL)
	{
		close(fd);
		return true;
	}
	client->source.on_event = on_event;
	client->source.fd = fd;
	client->heard_at = gpud_now();
	client->outbox_end = &client->outbox;
	client->queue_end = &client->queue;
	client->next = gpud_clients;
	if (gpud_clients != NULL)
		gpud_clients->previous = client;
	gpud_clients = client;
	nconnections++;
	if (!gpud_watch(&client->source, EPOLLIN))
		gpud_client_close(client);
	return true;
}

void
gpud_client_close(Client *client)
{
	if (client->source.fd < 0)
		return;
	close(client->source.fd);
	client->source.fd = -1;
	for (Pending *pending = client->pending; pending != NULL; pending = pending->next)
		pending->client = NULL;
	while (client->outbox != NULL)
	{
		Outgoing *out = client->outbox;

		client->outbox = out->next;
		free(out);
	}

	if (client->previous != NULL)
		client->previous->next = client->next;
	else
		gpud_clients = client->next;
	if (client->next != NULL)
		client->next->previous = client->previous;
	nconnections--;
	gpud_nclients -= client->greeted;
	client->next = gpud_closed_clients;
	gpud_closed_clients = client;
}

/* Whether a message is there that has not been read. */
static bool
has_sent(const Client *client)
{
	char byte;

	return recv(client->source.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

void
gpud_clients_tick(int64_t now)
{
	Client *next;

	for (Client *client = gpud_clients; client != NULL; client = next)
	{
		next = client->next;
		if (!client->greeted && now - client->heard_at > GREETING_NS &&
			(client->closing || !has_sent(client)))
			gpud_client_close(client);
	}
}

void
gpud_clients_free(void)
{
	while (gpud_closed_clients != NULL)
	{
		Client *client = gpud_closed_clients;

		gpud_closed_clients = client->next;
		free(client);
	}
}

/*
 * Closes the connection of the client that has been idle for longest: it
 * connects again when it next has work.  False when none is idle.
 */
static bool
make_room(void)
{
	Client *longest = NULL;

	for (Client *client = gpud_clients; client != NULL; client = client->next)
		if (client->greeted && client->leased == 0 && client->inflight == 0 &&
			client->outbox == NULL && (longest == NULL || client->heard_at < longest->heard_at))
			longest = client;
	if (longest == NULL || gpud_now() - longest->heard_at < RESTING_NS)
		return false;
	gpud_client_close(longest);
	return true;
}

bool
gpud_client_greet(Client *client)
{
	if (gpud_nclients >= MAX_CLIENTS && !make_room())
		return false;
	client->greeted = true;
	gpud_nclients++;
	return true;
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

	if (client->source.fd < 0)
		return;
	if (client->outbox == NULL)
		sent = send_reply(client->source.fd, reply, fd);
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
			/* nothing is read before it is sent */
			if (gpud_watch(&client->source, EPOLLOUT))
				return;
		}
		sent = -1;
	}
	/* the loop closes it: our callers may be walking lists that closing would change */
	if (sent < 0)
		shutdown(client->source.fd, SHUT_RDWR);
}

void
gpud_reply_reason(Client *client, const GpuaggHeader *request, GpuaggReason reason)
{
	GpuaggReply reply;

	memset(&reply, 0, sizeof(reply));
	gpud_reply(client, request, reason, &reply, -1);
}

bool
gpud_client_flush(Client *client)
{
	while (client->outbox != NULL)
	{
		Outgoing *out = client->outbox;
		int sent = send_reply(client->source.fd, &out->reply, out->fd);

		if (sent == 0)
			return true;
		if (sent < 0)
			return false;
		client->outbox = out->next;
		if (client->outbox == NULL)
			client->outbox_end = &client->outbox;
		free(out);
	}
	return !client->closing && gpud_watch(&client->source, EPOLLIN);
}

void
gpud_pending_take(Pending *pending, Client *client, const GpuaggHeader *request)
{
	Pending **end = &client->pending;

	while (*end != NULL)
		end = &(*end)->next;
	*end = pending;
	pending->client = client;
	pending->header = *request;
	pending->next = NULL;
}

void
gpud_pending_answer(Pending *pending, GpuaggReason reason, GpuaggReply *reply, int fd)
{
	Pending **link;

	if (pending->client == NULL)
		return;
	for (link = &pending->client->pending; *link != pending; link = &(*link)->next)
		continue;
	*link = pending->next;
	if (reply != NULL)
		gpud_reply(pending->client, &pending->header, reason, reply, fd);
	else
		gpud_reply_reason(pending->client, &pending->header, reason);
}

void
gpud_lost(const char *what)
{
	gpud_warn("the device is lost: %s", what);
	for (Client *client = gpud_clients; client != NULL; client = client->next)
		for (Pending *pending = client->pending; pending != NULL; pending = pending->next)
			gpud_reply_reason(client, &pending->header, GPUAGG_LOST);
	gpud_end(2);
}
