/*
 * window_device.h
 *	  What the device can do of a GpuWindow node, for what is above it.
 *
 * The table's rows that pass the scan's filter, its sort keys, its functions' arguments and other
 * columns become values of a query with a window (query_window.h), whose second program is that of
 * aggregates above, or of conditions.
 */
#ifndef GPUAGG_WINDOW_DEVICE_H
#define GPUAGG_WINDOW_DEVICE_H

#include "nodes/execnodes.h"

#include "common/query_window.h"
#include "exec/chunk_filter.h"
#include "exec/page_reader.h"
#include "exec/window_source.h"
#include "operation/running_operation.h"
#include "spec/vector_compile.h"
#include "types/page_column.h"

typedef struct WindowDevice
{
	struct WindowScanState *node;
	SeqScanState *scan;
	Relation relation;
	VectorCompiler *compiler; /* filter and values, over the table */
	List *parameter_states;
	PageColumn *columns; /* of the table, by number of the program's columns */
	GpuaggVectorProgram program;
	FilterConditions conditions;
	ChunkFilter *chunks; /* those that it excludes are not asked for; NULL: none */
	int64 nexcluded;	 /* rows of these, in this run */
	GpuaggWindow window; /* but for places, and rows asked for */
	const RunningOperation *ops[GPUAGG_WINDOW_FUNCTIONS]; /* of functions, as values come there */
	VectorValue forms[GPUAGG_WINDOW_COLUMNS];			  /* of its columns; reg is not set */
} WindowDevice;

/*
 * For a node GpuWindow that runs, of which the n columns `sources` are needed; in the per-query
 * memory context.  NULL: the CPU has to do it, for *refusal.
 */
extern WindowDevice *gpuagg_window_device_make(PlanState *window, const WindowSource *sources,
											   int n, const char **refusal);

/*
 * Begins a run: constants are set, in the current memory context, where they stay.  False: they
 * cannot be known before there are rows.
 */
extern bool gpuagg_window_device_begin(WindowDevice *device);

/* Leaves out chunks that have no row which passes the filter. */
extern void gpuagg_window_device_read(WindowDevice *device, PageReader *reader);

/* The run is done, without the scan: of so many rows of other chunks so many passed the filter. */
extern void gpuagg_window_device_end(WindowDevice *device, int64 nrows, int64 npassed);

/* So is what is above, of so many rows, without the node and the plan that chooses its columns. */
extern void gpuagg_window_device_above(WindowDevice *device, PlanState *plan, int64 nrows);

/* The CPU does it, and sends columns to the device, in this run. */
extern void gpuagg_window_device_send(WindowDevice *device);

#endif /* GPUAGG_WINDOW_DEVICE_H */
