/*
 * connection.h
 *	  A session's connections to gpuaggd, with the leases and requests on them.
 *
 * A connection is current, or retired: it was lost, or something on it timed
 * out.  A retired connection takes no new requests, but stays, and its socket
 * with it where it still has one, until its last lease is released: while it
 * is open gpuaggd gives none of its regions to anybody else, and we may still
 * be reading them.
 *
 * A request counts as under way until its reply has come, even when nobody
 * wants the reply any more: there are never more than GPUAGG_MAX_INFLIGHT.
 * Replies that nobody has fetched yet keep slots of their own beyond those.
 */
#ifndef GPUAGG_CONNECTION_H
#define GPUAGG_CONNECTION_H

#include "compat.h"

#include <sys/types.h>

#include "device/client.h"
#include "device/link.h"
#include "device/shared_state.h"

#define MAX_REGIONS 16 /* mapped at a time, for each connection */
#define MAX_SLOTS	32 /* requests under way and replies not yet fetched */

typedef struct Connection Connection;

typedef struct Region
{
	DeviceLease lease; /* first: a lease is its region */
	Connection *connection;
	dev_t dev; /* which memory file is mapped */
	ino_t ino;
	bool leased;
	uint64 used; /* tick of the last lease, for eviction */
} Region;

typedef enum SlotState
{
	SLOT_FREE,
	SLOT_WAITING,
	SLOT_ANSWERED,
	SLOT_FORGOTTEN /* waiting, but nobody wants the reply */
} SlotState;

typedef struct Slot
{
	SlotState state;
	uint32 id;
	Region *region;
	GpuaggReply reply;
} Slot;

struct Connection
{
	Connection *next;
	Link link;
	WaitEventSet *wait_set;
	bool retired;
	uint32 generation; /* of gpuaggd, when connected */
	int nleased;
	Region region[MAX_REGIONS];
	int inflight; /* slots waiting or forgotten */
	Slot slot[MAX_SLOTS];

	/* the one HELLO or LEASE under way */
	uint32 control_id; /* 0: none */
	bool control_done;
	GpuaggReply control;
	int control_fd; /* memory file that came with it, or -1 */
};

typedef enum Awaited
{
	AWAITED,
	AWAIT_TIMEOUT,
	AWAIT_TRIPPED, /* somebody has found it silent before */
	AWAIT_LOST
} Awaited;

typedef enum AwaitWhat
{
	AWAIT_CONTROL, /* the control reply */
	AWAIT_SLOT,	   /* one slot's reply */
	AWAIT_ROOM	   /* any reply, so that another request may be sent */
} AwaitWhat;


extern Connection *gpuagg_connections; /* all: the current one and retired ones */
extern Connection *gpuagg_connection;  /* the current one, or NULL */

/* Connects and shakes hands, a device having been announced.  Can be cancelled. */
extern GpuaggReason gpuagg_connection_open(SharedState *state);

/* Takes no new requests from now on; is not freed here. */
extern void gpuagg_connection_retire(Connection *c);

/* Closes and retires; what is mapped stays mapped. */
extern void gpuagg_connection_lost(Connection *c);

/* Frees a retired connection without leases. */
extern void gpuagg_connection_destroy(Connection *c);

/* Frees all such.  No pointer to a retired connection may be in use. */
extern void gpuagg_connection_sweep(void);

/* Reads all replies that are there.  Finds out when gpuaggd is gone. */
extern void gpuagg_connection_drain(Connection *c);

/* Waits for a reply, at most timeout_ms.  Can be cancelled. */
extern Awaited gpuagg_connection_await(Connection *c, AwaitWhat what, const Slot *slot,
									   int timeout_ms);

/*
 * Sends a HELLO or LEASE and waits for its reply, which is then in c->control.
 * When none comes in time the connection is retired: a lease may be on its way.
 */
extern GpuaggReason gpuagg_connection_converse(Connection *c, GpuaggRequest *request,
											   int timeout_ms);

/* Tells gpuaggd that a region is not used any more.  Neither waits nor throws. */
extern void gpuagg_connection_release(Connection *c, uint32 region);

/* An id for a request, unique in the process. */
extern uint32 gpuagg_connection_next_id(void);

extern void gpuagg_region_unmap(Region *region);

#endif /* GPUAGG_CONNECTION_H */
