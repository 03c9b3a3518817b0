/*
 * clients.h
 *	  Who is connected, what each has asked for, and replies.
 */
#ifndef GPUAGG_CLIENTS_H
#define GPUAGG_CLIENTS_H

#include "common/protocol.h"
#include "host/watch.h"

#define GPUD_ENDED_LEASES 16 /* remembered for each client */

/*
 * A request that will be answered later.  It is part of the struct that knows the
 * rest, and is answered before that struct is freed.
 */
typedef struct Pending
{
	struct Client *client; /* NULL: it has gone, nobody wants the answer */
	GpuaggHeader header;
	struct Pending *next; /* of the client's */
} Pending;

typedef struct Client
{
	Source source;			 /* first: sources are cast to clients; fd -1: closed, to be freed */
	bool greeted;			 /* HELLO was accepted */
	bool closing;			 /* close when the outbox is empty */
	int64_t heard_at;		 /* when its last message came, or it connected, ns */
	struct Outgoing *outbox; /* replies that the socket did not take */
	struct Outgoing **outbox_end;
	Pending *pending;
	struct Client *next;
	struct Client *previous;

	/* staging.c */
	uint64_t leased;				   /* bytes */
	uint32_t ended[GPUD_ENDED_LEASES]; /* regions of its last leases that were taken back */
	unsigned nended;

	/* job.c */
	int inflight;
	struct Job *queue; /* waiting for a lane */
	struct Job **queue_end;
	int lanes;		 /* that work for it */
	uint64_t served; /* bytes, or time on the device as bytes; see job.c */
} Client;

extern Client *gpud_clients; /* all that are connected */
extern int gpud_nclients;	 /* of them, those greeted */

/* Closes connections that have said nothing for long; once a second. */
extern void gpud_clients_tick(int64_t now);

/* Takes a connection over, or closes it.  False: there are too many. */
extern bool gpud_client_add(int fd, void (*on_event)(Source *, uint32_t));

/* Counts a client as one that is served.  False: there are too many at work. */
extern bool gpud_client_greet(Client *client);

/*
 * Closes the connection; pending requests have no client any more.  The client
 * stays in a list of closed ones until these are freed, when no event can name
 * them any more.
 */
extern void gpud_client_close(Client *client);
extern Client *gpud_closed_clients;
extern void gpud_clients_free(void);

/*
 * Answers a request: fills the reply's header and sends it, now or when the
 * socket takes it.  fd: a descriptor that goes along, or -1; it must stay
 * open as long as the client is there.
 */
extern void gpud_reply(Client *client, const GpuaggHeader *request, GpuaggReason reason,
					   GpuaggReply *reply, int fd);
extern void gpud_reply_reason(Client *client, const GpuaggHeader *request, GpuaggReason reason);

/* Sends replies that wait.  False when the client is to be closed. */
extern bool gpud_client_flush(Client *client);

/* Notes that a request will be answered later. */
extern void gpud_pending_take(Pending *pending, Client *client, const GpuaggHeader *request);

/* Answers it, as gpud_reply() does; reply NULL: with the reason alone. */
extern void gpud_pending_answer(Pending *pending, GpuaggReason reason, GpuaggReply *reply, int fd);

/* The device's context is gone: answers GPUAGG_LOST to all that wait and ends the process. */
extern void gpud_lost(const char *what) __attribute__((noreturn));

#endif /* GPUAGG_CLIENTS_H */
