/*
 * admission.h
 *	  Who may be connected: new clients, those greeted, and those that go.
 */
#ifndef GPUAGG_ADMISSION_H
#define GPUAGG_ADMISSION_H

#include "host/clients.h"

/* Takes a connection over, or closes it.  False: there are too many. */
extern bool gpud_admission_connect(int fd, void (*on_event)(Source *, uint32_t));

/* Counts a client as one that is served.  False: there are too many at work. */
extern bool gpud_admission_greet(Client *client);

/* Clients that are served. */
extern int gpud_admission_count(void);

/* Closes a client's connection, and drops what it has asked for and what it has on lease. */
extern void gpud_admission_close(Client *client);

/* Frees closed clients; no event may name them any more. */
extern void gpud_admission_free(void);

#endif /* GPUAGG_ADMISSION_H */
