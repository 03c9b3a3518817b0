/*
 * agg_device_between.h
 *	  What a subquery computes between a window and aggregates above, in a program for the device.
 *
 * The expressions become a program over the columns of the window, which goes before the one of the
 * GpuAgg node: that one's columns are registers of the first.  Booleans, which the device gives as
 * integers, are made there, too, and averages of sums and counts (device_quotient.h).
 */
#ifndef GPUAGG_AGG_DEVICE_BETWEEN_H
#define GPUAGG_AGG_DEVICE_BETWEEN_H

#include "exec/agg_state.h"
#include "exec/window_device.h"

typedef struct AggBetween AggBetween;

/*
 * For a node over a window, when it first runs.  NULL: an
 * expression is one that core's executor evaluates, or there are too many.
 */
extern AggBetween *gpuagg_agg_between_make(const AggScanState *node, const PlanState *window);

/* The columns of the window that it needs; returns how many. */
extern int gpuagg_agg_between_sources(const AggBetween *between, WindowSource *sources);

/* Whether the device gives these as they are expected. */
extern bool gpuagg_agg_between_fits(const AggScanState *node, const AggBetween *between,
									const WindowDevice *window);

/* Gives averages their registers, which are those of the program below and behind both. */
extern void gpuagg_agg_between_place(AggScanState *node, const AggBetween *between);

/*
 * Both programs as one, in the current memory context, with the constants that the runner has; the
 * columns are those of node->window.
 */
extern GpuaggVectorProgram gpuagg_agg_between_program(const AggScanState *node,
													  const AggBetween *between);

#endif /* GPUAGG_AGG_DEVICE_BETWEEN_H */
