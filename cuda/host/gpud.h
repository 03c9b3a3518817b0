/*
 * gpud.h
 *	  What the parts of gpuaggd's host program share.
 *
 * One thread, the loop (server.c), owns every structure declared here and is
 * the only one that answers clients and launches kernels.  A second one, the
 * set-up thread (setup.c), makes the calls that may stall; a Task travels to
 * it and back, and belongs to the thread that has it.
 */
#ifndef GPUAGG_GPUD_H
#define GPUAGG_GPUD_H

#ifdef POSTGRES_H
#error "gpuaggd is no part of PostgreSQL: postgres.h must not be included here"
#endif
#ifndef GPUAGG_HOST_PROGRAM
#error "the host program's files are compiled with -DGPUAGG_HOST_PROGRAM"
#endif

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/protocol.h"
#include "device/gpu.h"
#include "kernels/kernels.h"

#define GPUD_CLIENT_LEASED_MAX	(UINT64_C(256) << 20) /* bytes leased to one client */
#define GPUD_MAX_CLIENTS		512
#define GPUD_MAX_CONNECTIONS	1024 /* those beyond GPUD_MAX_CLIENTS are told so */
#define GPUD_MAX_QUEUED			1024 /* REDUCE, SCAN, SORT and LADDER requests, all clients */
#define GPUD_MAX_LEASES_WAITING 64	 /* LEASE requests not yet answered, all clients */
#define GPUD_MAX_STREAMS		8

/* Command line. */
typedef struct GpudOptions
{
	const char *socket_path;
	const char *lock_path;
	pid_t parent;			/* end when this is no longer the parent; 0: do not look */
	uint64_t total_staging; /* bytes */
	uint64_t device_memory; /* bytes; 0: three quarters of what is free */
	const char *visible_devices;
	int idle_timeout; /* s; 0: never */
} GpudOptions;

extern GpudOptions gpud_options;

/* main.c */
extern void gpud_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern void gpud_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern int64_t gpud_now(void); /* ns, monotonic */

/* True at most every ten seconds: for warnings that clients could bring about in masses. */
extern bool gpud_due(int64_t *last);

/* Removes the socket, if it is still ours, and ends the process at once. */
extern void gpud_end(int status) __attribute__((noreturn));

/* setup.c: the set-up thread */
typedef struct Task
{
	void (*run)(struct Task *task);	 /* in the set-up thread */
	void (*done)(struct Task *task); /* then, in the loop */
	struct Task *next;
} Task;

extern bool gpud_setup_start(void);
extern int gpud_setup_fd(void); /* readable when tasks have come back */
extern void gpud_setup_submit(Task *task);
extern void gpud_setup_collect(void);		   /* calls done() of those */
extern int64_t gpud_setup_running_since(void); /* ns, of the task under way; 0: none */

/* device.c: which device is used, or why none is */
typedef struct DeviceStatus
{
	bool ready;
	GpuaggReason reason; /* GPUAGG_OK when ready */
	char detail[128];
	int count;
	int used; /* index of the open device */
	GpuaggDeviceInfo info[GPUAGG_MAX_DEVICES];
} DeviceStatus;

extern DeviceStatus gpud_device;
extern void gpud_device_open(void);
extern void gpud_device_refresh(void); /* brings memory_free up to date, some time later */

/* server.c: clients and the loop */
typedef struct Client Client;
typedef struct Job Job;

struct Client
{
	void (*on_event)(void *source, uint32_t events); /* first: see server.c */
	int fd;											 /* -1: closed, to be freed */
	bool greeted;									 /* HELLO was accepted */
	bool closing;									 /* close when the outbox is empty */
	int64_t heard_at;								 /* when its last message came */
	uint32_t armed;									 /* epoll events asked for */
	struct Outgoing *outbox;						 /* replies that the socket did not take */
	struct Outgoing **outbox_end;
	Client *next;
	Client *previous;

	/* staging.c */
	uint64_t leased; /* bytes */

	/* work.c */
	int inflight;
	Job *queue; /* waiting for a stream */
	Job **queue_end;
	uint64_t served; /* bytes; see pick_client() */
};

extern void gpud_server_run(int listening, int signals) __attribute__((noreturn));
extern Client *gpud_clients(void); /* head of the list */

/*
 * Answers a request: fills the reply's header and sends it, now or when the
 * socket takes it.  fd: a descriptor that goes along, or -1; it must stay
 * open as long as the client is there.
 */
extern void gpud_reply(Client *client, const GpuaggHeader *request, GpuaggReason reason,
					   GpuaggReply *reply, int fd);
extern void gpud_reply_reason(Client *client, const GpuaggHeader *request, GpuaggReason reason);

/* The device's context is gone: answers GPUAGG_LOST to everybody and ends the process. */
extern void gpud_lost(const char *what) __attribute__((noreturn));

/* staging.c: segments of pinned memory, and who has them on lease */
typedef struct Segment Segment;

extern bool gpud_staging_start(void);
extern void gpud_staging_lease(Client *client, const GpuaggRequest *request);
extern void gpud_staging_release(Client *client, uint32_t region);
extern void gpud_staging_client_gone(Client *client);
extern void gpud_staging_tick(int64_t now);
extern void gpud_staging_lost(void);
extern uint64_t gpud_staging_bytes(void);
extern int gpud_staging_leases(void); /* given, or waited for */

/* The segment of a region leased to this client, or NULL. */
extern Segment *gpud_segment_of(const Client *client, uint32_t region);
extern char *gpud_segment_base(const Segment *segment);
extern uint64_t gpud_segment_size(const Segment *segment);

/* A request in flight holds its segment: it is leased to nobody else before it is let go. */
extern void gpud_segment_hold(Segment *segment);
extern void gpud_segment_let_go(Segment *segment);

/* work.c: REDUCE, SCAN and LADDER; BENCH goes on to bench.c */
typedef enum WorkState
{
	WORK_NONE,	  /* nothing to do before a message or a task comes */
	WORK_RUNNING, /* the device is at work */
	WORK_TO_START /* more could be started at once */
} WorkState;

extern void gpud_work_submit(Client *client, const GpuaggRequest *request);
extern void gpud_work_client_gone(Client *client);
extern WorkState gpud_work_advance(void); /* completes and starts what can be */
extern void gpud_work_lost(void);
extern int gpud_work_inflight(void);
extern uint64_t gpud_work_bytes(void); /* of device memory */

/* lane.c: the device's streams and memory */
extern GpuaggReason gpud_lanes_open(bool simulated); /* in the set-up thread, after gpu_open() */
extern int gpud_lanes_fd(void);						 /* readable when a request may have finished */
extern uint64_t gpud_lanes_bytes(void);				 /* of device memory */

#endif /* GPUAGG_GPUD_H */
