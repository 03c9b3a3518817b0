/*
 * window_batch.h
 *	  Batches of rows of a GpuWindow node.
 *
 * A batch has its rows as values: the child's columns, then one column a function,
 * which first has its argument, where that is an expression, and then its value:
 * an argument is read by a scan, or taken, before its group has a value.  A row is
 * not read again once it has been emitted.
 */
#ifndef GPUAGG_WINDOW_BATCH_H
#define GPUAGG_WINDOW_BATCH_H

#include "engine/scan.h"
#include "exec/row_blocks.h"
#include "exec/window_state.h"

typedef struct WindowColumnBatch
{
	ColumnScan *scan; /* NULL: the function's state takes the arguments */
	bool has_results; /* the values of all rows are in their place */
	int64 *counts;	  /* of averages: values not NULL up to each row */
	int64 n;		  /* values not NULL in the partition that is open at the end */
} WindowColumnBatch;

typedef struct WindowBatch
{
	Datum *values; /* row by row */
	bool *isnull;
	uint64 *heads;			 /* bit i: row i starts a partition */
	uint64 *groups;			 /* bit i: row i starts a group */
	RowBlocks *blocks;		 /* copies of rows that values by reference lie in, or NULL */
	MemoryContext arguments; /* what arguments by reference lie in, of expressions */
	Size argument_bytes;
	WindowColumnBatch *columns; /* one a function */
	ColumnScan **scans;			/* of those that have one */
	int64 room;					/* rows that all this takes */
	int64 nrows;
	bool on_device;
} WindowBatch;

/* The result at one row. */
typedef struct LastResult
{
	uint64 result[2];
	uint8 status;
	int64 n;
} LastResult;

typedef struct WindowBatches
{
	MemoryContext context;
	int stride; /* columns of a row */
	int nscans;
	WindowBatch batch[2];
	WindowBatch *current;  /* whose rows are being made ready, or NULL */
	WindowBatch *flying;   /* handed over, or NULL */
	int64 at;			   /* row of current to go on with */
	int64 emit_at;		   /* its first row that has not been emitted */
	int64 outside;		   /* rows that wait before that one, in no batch any more */
	LastResult *last;	   /* of the row before current, when it belongs to the open group */
	int64 cpu_rows;		   /* of the next batch there */
	bool two_at_a_time;	   /* there is staging memory for it */
	GpuaggScanState carry; /* in passing */
} WindowBatches;

/* ---- window_batch.c ---- */

/* Makes node->batches. */
extern void gpuagg_window_make_batches(WindowScanState *node);

/*
 * Makes the next batch the current one; false when there is none.  Rows of the
 * one before that have not been emitted move outside.
 */
extern bool gpuagg_window_advance(WindowScanState *node);

/* A place in a batch's rows. */
static inline Size
gpuagg_window_place(const WindowScanState *node, int64 row, int column)
{
	return row * node->batches->stride + column;
}

/* The column that has a function's arguments. */
static inline int
gpuagg_window_argument_column(const WindowScanState *node, int f)
{
	return node->functions[f].attno > 0 ? node->functions[f].attno - 1 : node->spec->nchild + f;
}

#endif /* GPUAGG_WINDOW_BATCH_H */
