/*
 * job.h
 *	  Requests being worked on (Job), and what works on them (Lane).
 *
 * work.c decides whose rows come next; piece.c knows what a piece of each type
 * of request needs, starts it and takes its result; lane.c has the device's
 * streams and memory; bench.c works beside them.
 */
#ifndef GPUAGG_JOB_H
#define GPUAGG_JOB_H

#include "common/reduced.h"
#include "host/gpud.h"

/* Pinned host memory of a lane: what goes to the device and comes back by itself. */
typedef struct Slot
{
	GpuaggReduced reduced;
	GpuScanState state_in;
	GpuScanState state_out;
	uint64_t checksum;
	uint64_t ladder_result;
} Slot;

struct Job
{
	Job *next;		/* in the client's queue */
	Client *client; /* NULL: it has gone, nobody wants the answer */
	Segment *segment;
	GpuaggRequest request; /* as checked; a scan's carry moves on with it */
	int kind;
	int op;
	size_t row_bytes; /* of a value, or an item */
	uint64_t nrows;
	uint64_t rows_done; /* a multiple of 64 before the last piece */
	GpuaggReason failure;
	GpuaggReduced total;	/* REDUCE: the pieces so far */
	uint32_t overflows;		/* SCAN: whether a row had that status so far */
	uint64_t ladder_result; /* LADDER: of a reduction */

	/* the plan: rows of a piece at most, and its parts in a lane's block */
	uint64_t piece_rows;
	size_t column[GPUAGG_NCOLUMNS]; /* a piece's part of each */
	size_t result; /* GpuaggReduced, the GpuScanState that comes out, or the ladder's one result */
	size_t state_in;
	size_t scratch;		 /* SORT, LADDER; REDUCE and SCAN use the lane's own */
	size_t sort_scratch; /* bytes */
	size_t block_bytes;	 /* of the block, all in all */
};

typedef struct Lane
{
	Task grow_task; /* first: tasks are cast to lanes */
	GpuStreamRef stream;
	GpuEventRef event;
	char *block; /* begins with the lane's own scratch */
	uint64_t block_bytes;
	bool scratch_ready; /* false: to be cleared before it is used */
	Slot *slot;
	Job *job;	   /* NULL: idle */
	bool growing;  /* with the set-up thread; job waits for it */
	uint64_t rows; /* of the piece under way */
	int64_t started;

	void *given_up[GPUD_MAX_STREAMS]; /* blocks to free before growing */
	int ngiven_up;
	GpuaggReason grow_reason;
} Lane;

/* A place for so many bytes behind *end, which moves on. */
static inline size_t
gpud_place(size_t *end, size_t bytes)
{
	size_t at = *end;

	*end += (bytes + GPUAGG_ALIGN - 1) / GPUAGG_ALIGN * GPUAGG_ALIGN;
	return at;
}

/* work.c */

/* Answers a job, or drops it when its client has gone. */
extern void gpud_job_finish(Job *job, GpuaggReason reason);

/* piece.c */

/* Plans the pieces of a job whose request has been checked.  Not OK: it cannot be done. */
extern GpuaggReason gpud_piece_plan(Job *job);

/* Enqueues a piece of lane->rows rows of the lane's job. */
extern GpuaggReason gpud_piece_launch(Lane *lane);

/* Takes over the result of a piece that has ended. */
extern void gpud_piece_collect(Lane *lane);

/* lane.c */
extern Lane gpud_lanes[GPUD_MAX_STREAMS];

/* One more, which no lane uses; there when the device is open. */
extern Slot *gpud_spare_slot;

/* Rows that a piece may have, whatever it does: a lane's scratch is made for them. */
extern uint64_t gpud_piece_rows_max;

/* A lane's own scratch: gpu_reduce()'s at 0, then gpu_scan()'s, up to the end. */
extern size_t gpud_scan_scratch;
extern size_t gpud_scratch_end;

/* Bytes of device memory that all work together may have; set when the device is open. */
extern uint64_t gpud_device_budget;

/* What of it the lanes may have now. */
extern uint64_t gpud_lanes_budget(void);

/*
 * Sets so many bytes aside for other work than that of lanes.  False, with
 * nothing changed, when lanes at work have them.  The blocks that idle lanes
 * give up go to blocks[GPUD_MAX_STREAMS], for the caller to free first of all.
 */
extern bool gpud_lanes_set_aside(uint64_t bytes, void **blocks, int *nblocks);
extern void gpud_lanes_give_back(void);

/*
 * Finds a lane for a block of this size.  NULL when all lanes are at work, or
 * those at work hold too much of the budget: some will be free later.
 */
extern Lane *gpud_lane_find(uint64_t need);

/* Starts the next piece of the job that the lane has been given. */
extern void gpud_lane_start(Lane *lane);

/* For gpu_host_call(): has the loop look at what may have ended. */
extern void gpud_wake_loop(void *unused);

/* bench.c: one benchmark at a time */
extern void gpud_bench_submit(Client *client, const GpuaggRequest *request);
extern void gpud_bench_client_gone(const Client *client);
extern int gpud_bench_inflight(void);	/* 0 or 1 */
extern uint64_t gpud_bench_bytes(void); /* of device memory */
extern bool gpud_bench_advance(void);	/* whether the device is at work for it */
extern void gpud_bench_lost(void);

#endif /* GPUAGG_JOB_H */
