/*
 * window_device.h
 *	  What the device can do of a GpuWindow node, for what is above it.
 *
 * The rows that pass the filter of a table's scan, the sort keys, the functions' arguments and other
 * columns become values of a query with a window (query_window.h), whose second program is that of
 * aggregates above, or of conditions.  So do those of windows right below, whose rows are this one's, each
 * with its order.  Where an Append has several tables, it is one program for all of
 * them (table_mix.h), if theirs are not the same but for the numbers of attributes.
 */
#ifndef GPUAGG_WINDOW_DEVICE_H
#define GPUAGG_WINDOW_DEVICE_H

#include "nodes/execnodes.h"

#include "common/query_window.h"
#include "exec/chunk_filter.h"
#include "exec/device_codes.h"
#include "exec/page_reader.h"
#include "exec/window_source.h"
#include "exec/window_stack.h"
#include "operation/running_operation.h"
#include "spec/vector_compile.h"
#include "types/page_column.h"

typedef struct WindowDevice WindowDevice;

typedef struct WindowDeviceTable
{
	WindowDevice *device;
	PlanState *plan; /* that has the scan */
	SeqScanState *scan;
	Relation relation;
	PageColumn *columns; /* of its own program */
	int ncolumns;
	const int
		*places; /* of these, by column of the program of all; and its number there (table_mix.h) */
	int32 number;
	FilterConditions conditions;
	ChunkFilter *chunks; /* those that it excludes are not asked for; NULL: none */
	const GpuaggVectorConstant
		*constants; /* of the conditions; NULL: those of the program of all */

	/* in this run */
	int64 nexcluded; /* rows of chunks that are not asked for */
	int64 nrows;	 /* that are asked for, and of these */
	int64 npassed;	 /* those that pass the filter; both set by who asks */
} WindowDeviceTable;

struct WindowDevice
{
	struct WindowScanState *node;
	WindowStack stack; /* it is the top of */
	int ntables;
	WindowDeviceTable *tables;
	bool *chosen;			  /* by table: it is read in this run */
	VectorCompiler *compiler; /* filter and values, over the first table or columns of all */
	int number;				  /* its column of tables' numbers; -1: there is none */
	List *parameter_states;
	GpuaggVectorProgram program;
	DeviceProgram asked; /* the same with codes of strings, when it is asked */
	GpuaggWindow window; /* but for places, and rows asked for */
	/* of functions, those of the lowest window first, as values come there */
	const RunningOperation *ops[GPUAGG_WINDOW_FUNCTIONS];
	/* of its columns, as `program` has them: strings are codes there; booleans are integers */
	VectorValue forms[GPUAGG_WINDOW_COLUMNS];

	/*
	 * Averages that are numeric are sums there, with numbers of values beside them: by column the
	 * column that has these, behind those that are wanted; -1: it is no such average.
	 */
	int ncolumns;
	int counts[GPUAGG_WINDOW_COLUMNS];
	uint16
		counters[GPUAGG_WINDOW_FUNCTIONS]; /* by function: that which counts its values; or NONE */
};

/*
 * For a node GpuWindow that runs, of which the n columns `sources` are needed; in the per-query
 * memory context.  NULL: the CPU has to do it, for *refusal.
 */
extern WindowDevice *gpuagg_window_device_make(PlanState *window, const WindowSource *sources,
											   int n, const char **refusal);

/* Why columns of its tables cannot be in memory at all, in the current context; NULL: they can. */
extern const char *gpuagg_window_device_refusal(const WindowDevice *device);

/*
 * Begins a run: constants are set and tables chosen, in the current memory context, where that
 * stays.  False: they cannot be known before there are rows.
 */
extern bool gpuagg_window_device_begin(WindowDevice *device);

/* A reader of a table leaves out chunks that have no row which passes the filter. */
extern void gpuagg_window_device_read(WindowDeviceTable *table, PageReader *reader);

/* Whether someone wants to know how many rows of each table, of more than one, pass the filter. */
extern bool gpuagg_window_device_counts(const WindowDevice *device);

/* The run is done, without the scans. */
extern void gpuagg_window_device_end(WindowDevice *device);

/* So is what is above, of so many rows, without the node and the plan that chooses its columns. */
extern void gpuagg_window_device_above(WindowDevice *device, PlanState *plan, int64 nrows);

/* The CPU does it, and sends columns to the device, in this run. */
extern void gpuagg_window_device_send(WindowDevice *device);

#endif /* GPUAGG_WINDOW_DEVICE_H */
