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
	LINK_CLOSED	  /* the peer is gone, or sent an invalid message */
} LinkStatus;

/*
 * Connects, if gpuaggd runs as the same user and, when peer is not 0, has that
 * process ID.  GPUAGG_OK, GPUAGG_BUSY or GPUAGG_LOST.
 */
extern GpuaggReason gpuagg_link_open(Link *link, pid_t peer);

/* Safe in abort paths and on a closed link. */
extern void gpuagg_link_close(Link *link);

/* Fills in a HELLO request. */
extern void gpuagg_link_hello(GpuaggRequest *request, uint32 id);

/* Fills in the header, except type and id, and sends.  False: not sent; sets errno. */
extern bool gpuagg_link_send(const Link *link, GpuaggRequest *request);

/*
 * Reads the next reply.  Sets *fd to a descriptor that came with it, or -1; the
 * caller closes it.  With fd NULL the function closes it.
 */
extern LinkStatus gpuagg_link_receive(const Link *link, GpuaggReply *reply, int *fd);

/* The reply's reason; GPUAGG_REFUSED if it is no valid one. */
extern GpuaggReason gpuagg_link_reason(const GpuaggReply *reply);

#endif /* GPUAGG_LINK_H */
