/*
 * connection.h
 *	  A session's connections to gpuaggd, with the leases and requests on them.
 *
 * A connection is current or retired.  It is retired when it was lost, or when
 * something on it timed out.  A retired connection takes no new requests.  It
 * and its socket, if still open, stay until its last lease is released.  gpuaggd gives
 * a region to no other client before it is released, even when the socket has been
 * closed, so this session may still read it.
 *
 * A request is under way until its reply arrives, even when nobody wants the
 * reply any more; at most GPUAGG_MAX_INFLIGHT are under way.  Replies not yet
 * fetched keep slots in addition to those.
 */
#ifndef GPUAGG_CONNECTION_H
#define GPUAGG_CONNECTION_H

#include "compat.h"

#include "device/client.h"
#include "device/link.h"
#include "device/shared_state.h"

#define MAX_REGIONS 16 /* mapped at a time, for each connection */
#define MAX_SLOTS	32 /* requests under way and replies not yet fetched */

typedef struct Connection Connection;

typedef struct Region
{
	DeviceLease lease; /* must be first: a DeviceLease is cast to its Region */
	Connection *connection;
	bool leased;
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

	/* the one HELLO, LEASE or BENCH under way */
	uint32 control_id; /* 0: none */
	bool control_done;
	GpuaggReply control;
	int control_fd; /* memory file that came with it, or -1 */
};

typedef enum Awaited
{
	AWAITED,
	AWAIT_TIMEOUT,
	AWAIT_TRIPPED, /* the breaker is open, or the connection is retired */
	AWAIT_LOST
} Awaited;

typedef enum AwaitWhat
{
	AWAIT_CONTROL, /* the control reply */
	AWAIT_SLOT,	   /* one slot's reply */
	AWAIT_ROOM	   /* fewer than GPUAGG_MAX_INFLIGHT requests under way */
} AwaitWhat;

extern Connection *gpuagg_connections; /* all: the current one and retired ones */
extern Connection *gpuagg_connection;  /* the current one, or NULL */

/* Connects and exchanges HELLO; a device must be ready.  Can be cancelled. */
extern GpuaggReason gpuagg_connection_open(SharedState *state);

/* Stops new requests on the connection; does not free it. */
extern void gpuagg_connection_retire(Connection *c);

/* Closes and retires it; its regions stay mapped. */
extern void gpuagg_connection_lost(Connection *c);

/* Frees a retired connection without leases. */
extern void gpuagg_connection_destroy(Connection *c);

/* Frees all retired connections without leases; no pointer to one may be in use. */
extern void gpuagg_connection_sweep(void);

/* Reads all replies that have come.  Marks the connection lost if gpuaggd is gone. */
extern void gpuagg_connection_drain(Connection *c);

/* Waits for a reply, at most timeout_ms.  Can be cancelled. */
extern Awaited gpuagg_connection_await(Connection *c, AwaitWhat what, const Slot *slot,
									   int timeout_ms);

/*
 * Sends a HELLO, LEASE or BENCH and waits for its reply, which is then in
 * c->control.  Without one in time it retires the connection: a lease may come late.
 */
extern GpuaggReason gpuagg_connection_converse(Connection *c, GpuaggRequest *request,
											   int timeout_ms);

/* Tells gpuaggd that a region is not used any more.  Neither waits nor throws. */
extern void gpuagg_connection_release(Connection *c, uint32 region);

/*
 * Has gpuaggd look for requests from now on for a moment, as one will come: it may have to be woken,
 * and is while this process does something else.  Neither waits nor throws.
 */
extern void gpuagg_connection_announce(Connection *c);

/* An id for a request, unique in the process. */
extern uint32 gpuagg_connection_next_id(void);

extern void gpuagg_region_unmap(Region *region);

#endif /* GPUAGG_CONNECTION_H */
