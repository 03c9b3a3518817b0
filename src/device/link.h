/*
 * link.h
 *	  A connection to gpuaggd: open, send, receive, close; nothing waits.
 */
#ifndef GPUAGG_LINK_H
#define GPUAGG_LINK_H

#include "compat.h"

#include "common/protocol.h"

typedef struct Link
{
	int sock; /* -1: closed */
} Link;

typedef enum LinkStatus
{
	LINK_MESSAGE, /* a reply was read */
	LINK_NOTHING, /* there is none now */
	LINK_CLOSED	  /* the peer is gone, or talks nonsense */
} LinkStatus;

/*
 * Connects, if gpuaggd runs under our own user and, when peer is not 0, has
 * that process ID.  GPUAGG_OK, GPUAGG_BUSY or GPUAGG_LOST.
 */
extern GpuaggReason gpuagg_link_open(Link *link, pid_t peer);

/* Safe in abort paths and on a closed link. */
extern void gpuagg_link_close(Link *link);

/* Fills in a HELLO request. */
extern void gpuagg_link_hello(GpuaggRequest *request, uint32 id);

/* Completes the header (all but type and id) and sends.  False: not sent, errno says why. */
extern bool gpuagg_link_send(const Link *link, GpuaggRequest *request);

/*
 * Reads the next reply.  A descriptor that came with it goes to *fd (else -1)
 * and is the caller's to close; with fd NULL it is closed here.
 */
extern LinkStatus gpuagg_link_receive(const Link *link, GpuaggReply *reply, int *fd);

/* The reply's reason, made safe to index with. */
extern GpuaggReason gpuagg_link_reason(const GpuaggReply *reply);

#endif /* GPUAGG_LINK_H */
