/*
 * lane.h
 *	  Streams with device memory of their own; each works on one piece at a time.
 *
 * A Lane is a stream, a block of device memory and a pinned slot for what is
 * small.  A piece that may take long has a stream that yields to the others'.  Blocks grow as pieces need it (in the set-up thread, since that may
 * stall) and are kept.  One more lane is for work in the background: its stream
 * yields to the others, and its block is there for one request only.
 *
 * A block of the other lanes begins with scratch for the kernels that keep
 * something there from one launch to the next.
 */
#ifndef GPUAGG_LANE_H
#define GPUAGG_LANE_H

#include "device/gpu.h"
#include "host/setup.h"

#define GPUD_LANES		8		  /* without the background lane */
#define GPUD_SLOT_BYTES (2 << 20) /* a query over 5,000 chunks of 7 columns is one piece */

/* Blocks of idle lanes that are to be freed before other memory is allocated. */
typedef struct GivenUp
{
	void *block[GPUD_LANES];
	int n;
} GivenUp;

typedef struct Lane
{
	Task resize_task; /* first: tasks are cast to lanes */
	void (*resized)(struct Lane *lane, GpuaggReason reason);
	GpuStreamRef stream; /* that of the piece under way: one of the next two */
	GpuStreamRef prompt;
	GpuStreamRef yielding; /* its work yields to that on prompt streams */
	GpuEventRef start;	   /* background lane: timed, as `event` is then; else NULL */
	GpuEventRef event;	   /* recorded behind each piece */
	char *block;
	uint64_t block_bytes;
	bool scratch_ready; /* false: to be cleared before it is used */
	void *slot;			/* GPUD_SLOT_BYTES of pinned host memory */
	struct Job *job;	/* NULL: idle */
	bool resizing;		/* with the set-up thread; the job waits for it */
	bool wakes;			/* the end of the piece under way wakes the loop */
	uint64_t units;		/* of work in the piece under way */
	int64_t looked;		/* when it was last looked at, ns */
	int64_t hindered;	/* how long others' work may have kept the piece waiting, ns */
	int64_t unhindered; /* since when the piece should be getting on, ns */
	uint64_t charged;	/* bytes that its client has been charged with for the piece */
	uint64_t share;		/* ns, of the clock of shares when the piece started; see job.c */

	GivenUp given_up;
	GpuaggReason reason; /* of the set-up thread's work */
} Lane;

/* The last one is the background lane. */
extern Lane gpud_lanes[GPUD_LANES + 1];
#define GPUD_BACKGROUND (&gpud_lanes[GPUD_LANES])

/* Set when the device is open: */

/* Rows that a piece may have, whatever it does: a lane's scratch is made for them. */
extern uint64_t gpud_piece_rows_max;

/* A lane's own scratch: gpu_reduce()'s at 0, then gpu_scan()'s, up to the end. */
extern size_t gpud_scan_scratch;
extern size_t gpud_scratch_end;

/* Bytes of device memory that gpuaggd may have. */
extern uint64_t gpud_device_budget;

/* A place for so many bytes behind *end, which moves on. */
static inline size_t
gpud_place(size_t *end, size_t bytes)
{
	size_t at = *end;

	*end += (bytes + GPUAGG_ALIGN - 1) / GPUAGG_ALIGN * GPUAGG_ALIGN;
	return at;
}

/* Makes the lanes, after gpu_open(); in the set-up thread, as gpud_lanes_close() after a failure. */
extern GpuaggReason gpud_lanes_open(bool simulated);
extern void gpud_lanes_close(void);

/* Device memory that the lanes have. */
extern uint64_t gpud_lanes_bytes(void);

/* What of the budget is for lanes, and the same without what the background lane has. */
extern uint64_t gpud_work_budget(void);
extern uint64_t gpud_lanes_budget(void);

/*
 * Takes so many bytes of the budget from the lanes: idle ones give up blocks.  False, with nothing
 * changed, when others have them now.
 */
extern bool gpud_budget_take(uint64_t bytes, GivenUp *given_up);
extern void gpud_budget_give_back(uint64_t bytes);

/* Frees them, in the set-up thread. */
extern GpuaggReason gpud_given_up_free(const GivenUp *given_up);

/*
 * Finds an idle lane for a block of this size.  NULL when all are at work, or
 * those at work hold too much of the budget: some will be free later.  A lane
 * whose block is too small has `resizing` set and is to be resized.
 */
extern Lane *gpud_lane_find(uint64_t need);

/*
 * Reserves so many bytes for the background lane, which is idle and is to be
 * resized.  False, with nothing changed, when other lanes at work have them.
 */
extern bool gpud_background_take(uint64_t need);

/*
 * Has the set-up thread allocate the lane's block, or free the background lane's.
 * Then calls resized() in the loop, with GPUAGG_OK or the reason of a failure.
 */
extern void gpud_lane_resize(Lane *lane, void (*resized)(Lane *, GpuaggReason));
extern void gpud_background_give_back(void (*resized)(Lane *, GpuaggReason));

#endif /* GPUAGG_LANE_H */
