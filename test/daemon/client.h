/*
 * client.h
 *	  A client of gpuaggd for tests, and the starting and ending of gpuaggd.
 *
 * Every wait is bounded by WAIT_MS.
 */
#ifndef GPUAGG_TEST_CLIENT_H
#define GPUAGG_TEST_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/protocol.h"

#define WAIT_MS 60000

/* Counts a test; prints those that fail. */
#define CHECK(condition) test_check((condition), #condition, __FILE__, __LINE__)

extern bool test_check(bool passed, const char *what, const char *file, int line);

/* Prints 'N passed, N failed'; the exit status. */
extern int test_end(void);

extern int64_t now_ms(void);
extern void sleep_ms(int ms);

/*
 * The simulated device of every gpuaggd completes so many pieces of requests more, since the first
 * call, and no others before device_release().  Not while one starts, as that tries the device.
 */
extern void device_hold(int more);
extern void device_release(void);

/* Waits until so many requests are held. */
extern bool device_holds(int n);

/* Whether the simulated device does nothing of what yields to other work: benchmarks. */
extern void device_starve(bool starve);

/*
 * While it is held, the simulated device pins no memory; pin_fail() has it fail, until
 * pin_release().  Not while a gpuaggd starts, which pins memory too.
 */
extern void pin_hold(void);
extern void pin_fail(void);
extern void pin_release(void);

/* A gpuaggd in a directory of its own. */
typedef struct Daemon
{
	pid_t pid;
	char dir[64];
} Daemon;

/* Starts it with these arguments (NULL ends them), besides socket and lock. */
extern void daemon_start(Daemon *daemon, const char *program, const char *const *args);

/* The same in a directory that is there already. */
extern void daemon_start_in(Daemon *daemon, const char *program, const char *const *args);

/* Its wait status, or -1 when it does not end in time. */
extern int daemon_wait(Daemon *daemon, int ms);

/* Sends a signal, waits, and removes the directory; the wait status. */
extern int daemon_end(Daemon *daemon, int signal);

/* A new connection, or -1. */
extern int client_connect(const Daemon *daemon);

/* A new connection after HELLO and when the device is ready or found unusable. */
extern int client_greet(const Daemon *daemon, GpuaggReply *reply);

/* Whether this gpuaggd's device is the simulated one. */
extern bool device_simulated(const char *program);

/* Fills in the header; ids count up. */
extern void request_init(GpuaggRequest *request, int type);

extern bool client_send(int fd, const GpuaggRequest *request);

/* 1: a reply; 0: the connection was closed; -1: none in time.  *passed (may be NULL): -1 or a
 * descriptor. */
extern int client_receive(int fd, GpuaggReply *reply, int *passed, int ms);

/* Asks after gpuaggd's health: it has then read all that this client sent before. */
extern bool client_is_read(int fd);

/* Sends and waits for the reply to this request; its reason, or GPUAGG_LOST without a reply. */
extern GpuaggReason client_call(int fd, const GpuaggRequest *request, GpuaggReply *reply);

/* Whether the request is refused. */
extern bool client_refused(int fd, const GpuaggRequest *request);

/* Whether the other end closes the connection, whatever it says before. */
extern bool client_is_closed(int fd);

typedef struct Lease
{
	uint32_t region;
	uint64_t bytes;
	char *base;
	int fd;
} Lease;

extern GpuaggReason client_lease(int fd, uint64_t bytes, Lease *lease);

/* The same for data of this role and database; client_lease() says 0 and 0. */
extern GpuaggReason client_lease_for(int fd, uint64_t bytes, uint32_t role, uint32_t database,
									 Lease *lease);
extern void lease_forget(Lease *lease); /* on this side only */

/* Returns when gpuaggd has taken note of it; drops replies that come meanwhile. */
extern bool client_release(int fd, Lease *lease);

/* Starts a gpuaggd, connects and leases a region of the usual size; the connection. */
extern int client_start(Daemon *daemon, const char *program, const char *const *args, Lease *lease);

/* Ends what client_start() began; whether gpuaggd ends cleanly. */
extern bool client_end(Daemon *daemon, int fd, Lease *lease);

/* Requests over a region; the other columns lie behind the values, which are at `offset` (bytes). */
extern void reduce_init(GpuaggRequest *request, const Lease *lease, int kind, int op,
						unsigned flags, uint64_t offset, uint64_t nrows);

/* Values at 0; carry: that of no rows. */
extern void scan_init(GpuaggRequest *request, const Lease *lease, int kind, int op, unsigned flags,
					  uint64_t nrows);

/* Items at GPUAGG_ALIGN. */
extern void sort_init(GpuaggRequest *request, const Lease *lease, int words, int bits,
					  uint64_t nrows);

/* Values at 0. */
extern void ladder_init(GpuaggRequest *request, const Lease *lease, int task, int algorithm,
						int kind, int op, unsigned flags, uint64_t nrows);

/* Three repetitions. */
extern void bench_init(GpuaggRequest *request, int task, int algorithm, int kind, uint64_t nrows);

/* Seeded random numbers (splitmix64). */
extern uint64_t random_bits(uint64_t *state);

#endif /* GPUAGG_TEST_CLIENT_H */
