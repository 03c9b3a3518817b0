/*
 * server.h
 *	  gpuaggd's loop: connections, messages, time.
 */
#ifndef GPUAGG_SERVER_H
#define GPUAGG_SERVER_H

/* Serves connections to this socket until one of the signals of the other descriptor comes. */
extern void gpud_server_run(int listening, int signals) __attribute__((noreturn));

#endif /* GPUAGG_SERVER_H */
