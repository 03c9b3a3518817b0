/*
 * work.h
 *	  Requests being worked on (Job), and what works on them (Lane).
 *
 * work.c decides whose rows come next and puts results together; lane.c deals
 * with the device.
 */
#ifndef GPUAGG_WORK_H
#define GPUAGG_WORK_H

#include "gpud.h"

/* Pinned host memory of a lane: what goes to the device and comes back by itself. */
typedef struct Slot
{
	GpuaggReduced reduced;
	GpuScanState state_in;
	GpuScanState state_out;
} Slot;

/* Where the parts of a piece lie in a lane's block; offsets in bytes. */
typedef struct Layout
{
	size_t result; /* GpuaggReduced, or the GpuScanState that comes out */
	size_t state_in;
	size_t values;
	size_t validity;
	size_t results;
	size_t status;
	size_t scratch;
	size_t total;
} Layout;

struct Job
{
	Job *next;		/* in the client's queue */
	Client *client; /* NULL: it has gone, nobody wants the answer */
	Segment *segment;
	GpuaggRequest request; /* as checked; a scan's carry moves on with it */
	int kind;
	uint64_t nrows;
	uint64_t rows_done;
	uint64_t piece_rows; /* at most */
	Layout layout;		 /* of a piece of so many rows */
	GpuaggReason failure;
	GpuaggReduced total; /* REDUCE: the pieces so far */
};

typedef struct Lane
{
	Task grow_task; /* first: tasks are cast to lanes */
	GpuStreamRef stream;
	GpuEventRef event;
	char *block;
	uint64_t block_bytes;
	Slot *slot;
	Job *job;	   /* NULL: idle */
	bool growing;  /* with the set-up thread; job waits for it */
	uint64_t rows; /* of the piece under way */
	int64_t started;

	void *given_up[GPUD_MAX_STREAMS]; /* blocks to free before growing */
	int ngiven_up;
	GpuaggReason grow_reason;
} Lane;

/* work.c */
extern bool gpud_job_is_scan(const Job *job);

/* Answers a job, or drops it when its client has gone. */
extern void gpud_job_finish(Job *job, GpuaggReason reason);

/* lane.c */
extern Lane gpud_lanes[GPUD_MAX_STREAMS];

/* Bytes of device memory that all lanes together may have; set when the device is open. */
extern uint64_t gpud_lane_budget;

/*
 * Finds a lane for a block of this size.  NULL when all lanes are at work, or
 * those at work hold too much of the budget: some will be free later.
 */
extern Lane *gpud_lane_find(uint64_t need);

/* Starts the next piece of the job that the lane has been given. */
extern void gpud_lane_start(Lane *lane);

#endif /* GPUAGG_WORK_H */
