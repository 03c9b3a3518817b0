/*
 * link.c
 *	  A connection to gpuaggd: open, send, receive, close; nothing waits.
 *
 * The socket is non-blocking from its creation: a blocking connect on a full
 * backlog could not be cancelled and would not answer a ProcSignalBarrier.
 */
#include "compat.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "device/link.h"
#include "miscadmin.h"
#include "storage/fd.h"

GpuaggReason
gpuagg_link_open(Link *link, pid_t peer)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ucred cred;
	socklen_t length = sizeof(cred);
	int sock;
	GpuaggReason reason = GPUAGG_LOST;

	if (!AcquireExternalFD())
		return GPUAGG_BUSY;
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (sock < 0)
	{
		ReleaseExternalFD();
		return GPUAGG_BUSY;
	}
	/* relative to the data directory, the working directory, so always short enough */
	strlcpy(address.sun_path, GPUAGG_SOCKET_PATH, sizeof(address.sun_path));
	if (connect(sock, (struct sockaddr *) &address, sizeof(address)) != 0)
	{
		if (errno == EAGAIN)
			reason = GPUAGG_BUSY;
	}
	else if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &length) == 0 &&
			 cred.uid == geteuid() && (peer == 0 || cred.pid == peer))
	{
		link->sock = sock;
		return GPUAGG_OK;
	}
	close(sock);
	ReleaseExternalFD();
	return reason;
}

void
gpuagg_link_close(Link *link)
{
	if (link->sock < 0)
		return;
	close(link->sock);
	link->sock = -1;
	ReleaseExternalFD();
}

void
gpuagg_link_hello(GpuaggRequest *request, uint32 id)
{
	memset(request, 0, sizeof(*request));
	request->h.type = GPUAGG_MSG_HELLO;
	request->h.id = id;
	strlcpy(request->u.hello.version, GPUAGG_VERSION_STRING, sizeof(request->u.hello.version));
	request->u.hello.pid = MyProcPid;
}

bool
gpuagg_link_send(const Link *link, GpuaggRequest *request)
{
	ssize_t n;

	request->h.magic = GPUAGG_MAGIC;
	request->h.version = GPUAGG_PROTOCOL_VERSION;
	request->h.reason = 0;
	do
		n = send(link->sock, request, sizeof(*request), MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == sizeof(*request);
}

LinkStatus
gpuagg_link_receive(const Link *link, GpuaggReply *reply, int *fd)
{
	union
	{
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = {reply, sizeof(*reply)};
	struct msghdr message = {.msg_iov = &iov,
							 .msg_iovlen = 1,
							 .msg_control = control.space,
							 .msg_controllen = sizeof(control.space)};
	int received = -1;
	ssize_t n;

	do
		n = recvmsg(link->sock, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);

	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return LINK_NOTHING;
	if (n > 0)
	{
		struct cmsghdr *c = CMSG_FIRSTHDR(&message);

		if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
			c->cmsg_len == CMSG_LEN(sizeof(int)))
			memcpy(&received, CMSG_DATA(c), sizeof(int));
	}

	/* Header and version of a HELLO reply never change; its length may. */
	if (n >= (ssize_t) (offsetof(GpuaggReply, u.hello.version) + sizeof(reply->u.hello.version)) &&
		reply->h.magic == GPUAGG_MAGIC && reply->h.version != GPUAGG_PROTOCOL_VERSION)
	{
		if (n < (ssize_t) sizeof(*reply))
			memset((char *) reply + n, 0, sizeof(*reply) - n);
		reply->h.reason = GPUAGG_VERSION;
	}
	else if (n != sizeof(*reply) || (message.msg_flags & MSG_TRUNC) ||
			 reply->h.magic != GPUAGG_MAGIC)
	{
		if (received >= 0)
			close(received);
		return LINK_CLOSED;
	}
	if (fd != NULL)
		*fd = received;
	else if (received >= 0)
		close(received);
	return LINK_MESSAGE;
}

GpuaggReason
gpuagg_link_reason(const GpuaggReply *reply)
{
	return reply->h.reason < GPUAGG_NREASONS ? (GpuaggReason) reply->h.reason : GPUAGG_REFUSED;
}
