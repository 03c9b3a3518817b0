/*
 * window_vectors.h
 *	  The rows of a GpuWindow node as vectors, for a node above that computes with them.
 *
 * They are columns of the node's scan tuple: the child's, then the functions' values.  Rows are
 * not put together.  Only where engines compute all functions, and, under other frames than ROWS,
 * where all rows are in memory.
 */
#ifndef GPUAGG_WINDOW_VECTORS_H
#define GPUAGG_WINDOW_VECTORS_H

#include "nodes/execnodes.h"

#include "common/int128.h"

/*
 * Begins a run of a node GpuWindow, of which the columns that are `needed` will be asked for;
 * false: rows have to be asked for one by one.  Not after a row has been asked for, until a rescan.
 */
extern bool gpuagg_window_vectors_begin(PlanState *node, const bool *needed);

/* Goes to the next rows; returns how many, up to GPUAGG_VECTOR_ROWS, 0 at the end. */
extern int gpuagg_window_vectors_next(PlanState *node);

/* A column of these rows: their values and whether they are NULL, each so many places after the last one. */
typedef struct WindowVectorColumn
{
	const Datum *values;
	const bool *isnull;
	Size stride;
} WindowVectorColumn;

/* A column whose values lie ready; false: they are asked for one by one. */
extern bool gpuagg_window_vectors_column(PlanState *node, int column, WindowVectorColumn *ready);

/*
 * A value of one of these rows.  By reference it is the node's, until it goes on, or in the current
 * memory context.  Raises the function's error.
 */
extern Datum gpuagg_window_vectors_datum(PlanState *node, int column, int row, bool *isnull);

/*
 * Of sums whose values are numeric, of this node or of windows below: their integers, times 10^-scale,
 * and the bits of those that are not NULL, beside zeros; false: of others.
 */
extern bool gpuagg_window_vectors_integers(PlanState *node, int column, int scale,
										   GpuaggInt128 *values, uint64 *valid);

/*
 * The same of averages of this node that are numeric, and the bits of those that no such integer is,
 * as `valid`.
 */
extern bool gpuagg_window_vectors_averages(PlanState *node, int column, int scale,
										   GpuaggInt128 *values, uint64 *valid, uint64 *failed);

#endif /* GPUAGG_WINDOW_VECTORS_H */
