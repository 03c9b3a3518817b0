/*
 * interval_state.h
 *	  Sums and averages of intervals, exact, as SQL values.
 *
 * Core adds field by field and refuses every intermediate sum that is out of
 * range; here only the result is judged.
 */
#ifndef GPUAGG_INTERVAL_STATE_H
#define GPUAGG_INTERVAL_STATE_H

#include "fmgr.h"

#include "common/interval_sum.h"

typedef GpuaggIntervalSum IntervalState;

/* An empty state, allocated in that context. */
extern IntervalState *gpuagg_interval_state_make(MemoryContext context);

/* Adds an interval; takes away one that was added. */
extern void gpuagg_interval_state_add(IntervalState *state, Datum value);
extern void gpuagg_interval_state_remove(IntervalState *state, Datum value);

/*
 * The sum and the average as interval in the current context; *isnull when there
 * was no value.  Raise "interval out of range" when the sum is, and when there
 * were infinities of both signs.
 */
extern Datum gpuagg_interval_state_sum(const IntervalState *state, bool *isnull);
extern Datum gpuagg_interval_state_avg(const IntervalState *state, bool *isnull);

#endif /* GPUAGG_INTERVAL_STATE_H */
