/*
 * query_slice.h
 *	  A slice of a query: as many of its chunks as the device does in about 2 ms.
 */
#ifndef GPUAGG_QUERY_SLICE_H
#define GPUAGG_QUERY_SLICE_H

#include "host/query_job.h"

/* Finds places for slices of up to the job's piece_units, which it sets, behind its block_bytes. */
extern void gpud_slice_plan(QueryJob *query);

/* Says what the first one may cost. */
extern void gpud_slice_learn(QueryJob *query);

extern QuerySlot gpud_slice_slot(const Lane *lane);

/*
 * Chooses the chunks of a slice, among the next lane->units ones; that becomes the number of those
 * looked at.  Their blobs are held until let_go().
 */
extern GpuaggReason gpud_slice_choose(Lane *lane);
extern void gpud_slice_let_go(QueryJob *query);

/* Enqueues it, and keeps it if it can. */
extern GpuaggReason gpud_slice_run(const Lane *lane);

/* It has ended: counts whether it had been kept. */
extern void gpud_slice_ended(QueryJob *query);

/*
 * What a launch of a plan is given whose chunks and their blocks are described at these places in the
 * lane's block; its results and flags are where those of slices are.  clear() enqueues the clearing of these.
 */
extern GpuQuery gpud_slice_query(const Lane *lane, const GpuQueryPlan *plan, uint32_t nchunks,
								 size_t chunks, size_t blocks, const GpuQueryTable *table);
extern GpuaggReason gpud_slice_clear(const Lane *lane, const GpuQueryPlan *plan);

/* Enqueues a query; CPU_ONLY: it does not fit into a block's memory. */
extern GpuaggReason gpud_slice_enqueue(const GpuQuery *query, const Lane *lane);

/* The next slice takes as long as is meant, if it is like this one, which took so long. */
extern void gpud_slice_adapt(QueryJob *query, int64_t ns);

/* Takes over which of its chunks have flagged rows; false: none. */
extern bool gpud_slice_take_flags(QueryJob *query, const QuerySlot *slot);

#endif /* GPUAGG_QUERY_SLICE_H */
