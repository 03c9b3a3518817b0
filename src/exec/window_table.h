/*
 * window_table.h
 *	  The columns of a table as the input of a GpuWindow node's sort.
 *
 * Stands for a sequential scan of a heap table below the node, which is then not run: the
 * table's pages, or its columns in memory, are read as vectors, its filter is a vector program
 * or, where that cannot be, core's executor over each row.
 */
#ifndef GPUAGG_WINDOW_TABLE_H
#define GPUAGG_WINDOW_TABLE_H

#include "nodes/execnodes.h"

#include "exec/page_reader.h"
#include "exec/row_sort.h"

typedef struct WindowTable WindowTable;

/*
 * For a child of `node` and these of its columns; NULL: it is no such scan, and its rows are to be
 * asked for.  In the per-query memory context.
 */
extern WindowTable *gpuagg_window_table_make(PlanState *child, PlanState *node, const bool *kept);

/* All its rows that pass the filter, into the sort.  Again for each rescan. */
extern void gpuagg_window_table_take(WindowTable *table, RowSort *sort);

/* What has been read, of all times together. */
extern const PageCounts *gpuagg_window_table_counts(const WindowTable *table);

#endif /* GPUAGG_WINDOW_TABLE_H */
