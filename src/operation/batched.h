/*
 * batched.h
 *	  The batch of an aggregate's state: when it is opened, filled and gathered.
 *
 * A state starts without one and takes its rows itself.  Past
 * gpuagg_batch_threshold() rows it asks for a batch, into which its rows go from
 * then on; the batch's result is merged into the state when the group is
 * finished, combined or serialized.
 */
#ifndef GPUAGG_BATCHED_H
#define GPUAGG_BATCHED_H

#include "fmgr.h"

#include "engine/batch.h"
#include "device/stat.h"

#define NO_BATCH PG_INT64_MAX /* never, or no longer; all rows are reported */

typedef struct Batched
{
	GpuaggBatch *batch; /* or NULL */
	int64 batch_at;		/* ask for a batch when the state has so many rows; or NO_BATCH */
} Batched;

/*
 * Of a new state.  In a window function there is no batch, as final functions
 * are called for every row.
 */
static inline void
gpuagg_batched_init(Batched *batched, bool window)
{
	batched->batch = NULL;
	batched->batch_at = window ? NO_BATCH : gpuagg_batch_threshold();
}

/* Asks for a batch; apart, so that transition functions stay small enough for JIT to inline. */
extern void gpuagg_batched_open(FunctionCallInfo fcinfo, Batched *batched, GpuaggKind kind,
								GpuaggOp op);

/*
 * Where the next value goes while there is a batch with room for it; else NULL.
 * Calls nothing: a transition function that tries this first, and leaves the rest
 * to another function, has next to no prologue.
 */
static inline void *
gpuagg_batched_room(Batched *batched, GpuaggKind kind)
{
	GpuaggBatch *batch = batched->batch;
	void *place;

	if (batch == NULL || batch->next == batch->end)
		return NULL;
	place = batch->next;
	batch->next += gpuagg_kind_size(kind);
	return place;
}

/*
 * Where the next value goes, of a state that has taken n rows itself; NULL when
 * it has to take this one too.
 */
static inline void *
gpuagg_batched_place(FunctionCallInfo fcinfo, Batched *batched, int64 n, GpuaggKind kind,
					 GpuaggOp op)
{
	if (batched->batch == NULL)
	{
		if (likely(n < batched->batch_at))
			return NULL;
		gpuagg_batched_open(fcinfo, batched, kind, op);
		if (batched->batch == NULL)
			return NULL;
	}
	if (unlikely(batched->batch->next == batched->batch->end))
		gpuagg_batch_advance(batched->batch);
	return gpuagg_batched_room(batched, kind);
}

/* Reports a row that the state has taken itself, where there is no end to report at. */
static inline void
gpuagg_batched_report(const Batched *batched, int bytes)
{
	if (batched->batch_at == NO_BATCH)
		gpuagg_stat_direct(1, bytes);
}

/*
 * Ends the batch: what the caller has to merge into its state, or NULL.  Reports
 * the n rows that the state has taken itself, once.
 */
extern const GpuaggReduced *gpuagg_batched_gather(Batched *batched, int64 n, int bytes);

#endif /* GPUAGG_BATCHED_H */
