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
 * For a child of `node`; NULL: it is no such scan, and its rows are to be asked for.  In the
 * per-query memory context.  arguments: n expressions over the node's scan tuple, or NULL; of
 * those that are computed[] the values come as columns behind the child's.  scales: of decimals,
 * which come as bigints, times 10^-scale; -1 of others.
 */
extern WindowTable *gpuagg_window_table_make(PlanState *child, PlanState *node,
											 Expr *const *arguments, int n, bool *computed,
											 int *scales);

/* Of its columns these are to be read, computed arguments among them; false: it cannot. */
extern bool gpuagg_window_table_keep(WindowTable *table, const bool *kept);

/* From now on no argument is computed; columns to be read are to be set again. */
extern void gpuagg_window_table_compute_none(WindowTable *table);

/*
 * All its rows that pass the filter, into the sort.  Again for each rescan.  False: an argument
 * that is computed may raise an error for some row, and the sort has some rows only.
 */
extern bool gpuagg_window_table_take(WindowTable *table, RowSort *sort);

/* What has been read, of all times together. */
extern const PageCounts *gpuagg_window_table_counts(const WindowTable *table);

#endif /* GPUAGG_WINDOW_TABLE_H */
