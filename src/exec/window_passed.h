/*
 * window_passed.h
 *	  Rows of a GpuWindow node, all or those that pass conditions above, as the device finds them.
 *
 * The conditions that are bounds (window_bounds.c) become a program over the functions' values, by
 * which the device chooses rows; without any it gives all.  They come in order, in one answer or several,
 * before the first of them goes up, or the CPU computes all rows.  Conditions that are no bounds the device
 * knows nothing of: they stay above, as all of them do.
 */
#ifndef GPUAGG_WINDOW_PASSED_H
#define GPUAGG_WINDOW_PASSED_H

#include "exec/window_state.h"

/*
 * Before a run's first row: asks for its rows, or has them from the run before.  False: the CPU
 * computes them.
 */
extern bool gpuagg_window_passed_begin(WindowScanState *node);

/* The next of them, as the plan asks for it; NULL: there are no more. */
extern TupleTableSlot *gpuagg_window_passed_next(WindowScanState *node);

/* Before a rescan resets the node's parameters. */
extern void gpuagg_window_passed_rescan(WindowScanState *node);

extern void gpuagg_window_passed_end(WindowScanState *node);

/* Pages that were read for the device. */
extern int64 gpuagg_window_passed_pages(const WindowScanState *node);

extern void gpuagg_window_passed_explain(const WindowScanState *node, ExplainState *es);

#endif /* GPUAGG_WINDOW_PASSED_H */
