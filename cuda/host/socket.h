/*
 * socket.h
 *	  The lock file and the listening socket, and the end of the process.
 *
 * The lock file says who may own the socket: it is held by flock() as long as
 * the process lives, so a socket found under the lock is stale and replaced.
 */
#ifndef GPUAGG_SOCKET_H
#define GPUAGG_SOCKET_H

#include <signal.h>

#define GPUD_MAX_CONNECTIONS 1024

/* Takes the lock; waits some seconds for another gpuaggd to end, or for one of these signals. */
extern void gpud_lock_take(const sigset_t *ends);

/* Binds the socket and listens; its descriptor. */
extern int gpud_socket_open(void);

/* Opens it again when its file has gone: the new descriptor, or -1 when all is well or it cannot be. */
extern int gpud_socket_open_again(void);

/* Removes the socket, if it is still ours, and ends the process at once. */
extern void gpud_end(int status) __attribute__((noreturn));

/* Warns that this could not be done to `name`, by errno, and ends with status 1. */
extern void gpud_fail(const char *what, const char *name) __attribute__((noreturn));

#endif /* GPUAGG_SOCKET_H */
