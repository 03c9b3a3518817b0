/*
 * window_groups.h
 *	  The rows of a GpuWindow node as vectors, where functions have one value for each group of rows:
 *	  peers, or a partition.
 */
#ifndef GPUAGG_WINDOW_GROUPS_H
#define GPUAGG_WINDOW_GROUPS_H

#include "exec/window_pipeline.h"

/* Begins a run, of which the child's columns that are `needed` will be asked for. */
extern void gpuagg_window_groups_begin(WindowScanState *node, const bool *needed);

/* The rest as in window_vectors.h. */
extern int gpuagg_window_groups_next(WindowScanState *node);
extern Datum gpuagg_window_groups_datum(WindowScanState *node, int column, int row, bool *isnull);
extern const GpuaggInt128 *gpuagg_window_groups_sums(WindowScanState *node, int f,
													 const uint8 **status);

#endif /* GPUAGG_WINDOW_GROUPS_H */
