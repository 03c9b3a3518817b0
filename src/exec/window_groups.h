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

/* As in window_vectors.h. */
extern int gpuagg_window_groups_next(WindowScanState *node);

/* A row's value of one of the child's columns, as sets have them. */
extern Datum gpuagg_window_groups_column(const WindowScanState *node, int column, int row,
										 bool *isnull);

/* The row of the current set that has a row's values of functions; -1: the last one before it. */
extern int64 gpuagg_window_groups_place(const WindowScanState *node, int row);

/* A row's value of a function; of all rows its integers, as in window_vectors.h. */
extern Datum gpuagg_window_groups_result(const WindowScanState *node, int f, int row, bool *isnull);
extern void gpuagg_window_groups_integers(const WindowScanState *node, int f, GpuaggInt128 *values,
										  uint64 *valid);

#endif /* GPUAGG_WINDOW_GROUPS_H */
