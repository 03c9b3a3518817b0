/*
 * numeric_state.h
 *	  Exact sums of numerics, in a memory context, and the values they give.
 */
#ifndef GPUAGG_NUMERIC_STATE_H
#define GPUAGG_NUMERIC_STATE_H

#include "fmgr.h"

#include "common/decimal_sum.h"

typedef GpuaggDecimalSum NumericState;

/* An empty state; with squares (moments) it has variances too. */
extern NumericState *gpuagg_numeric_state_make(MemoryContext context, bool moments);

/* The same in memory of the caller, of GPUAGG_DECIMAL_SUM_SIZE(moments) bytes in `context`. */
extern void gpuagg_numeric_state_init(NumericState *state, MemoryContext context, bool moments);

/* Adds a numeric, in whatever form it is stored.  It is not NULL. */
extern void gpuagg_numeric_state_add(NumericState *state, Datum value);

/*
 * Takes away a value that was added; false, with nothing changed, when that
 * would leave the largest display scale unknown: the caller starts anew.
 */
extern bool gpuagg_numeric_state_remove(NumericState *state, Datum value);

/*
 * Results as core gives them, to the display scale; *isnull when there are too
 * few values.  They are made in the current context, where the work on the way
 * stays too.  What the state stands for stays the same.
 */
extern Datum gpuagg_numeric_state_sum(NumericState *state, bool *isnull);
extern Datum gpuagg_numeric_state_avg(NumericState *state, bool *isnull);
extern Datum gpuagg_numeric_state_variance(NumericState *state, bool sample, bool root,
										   bool *isnull);

#endif /* GPUAGG_NUMERIC_STATE_H */
