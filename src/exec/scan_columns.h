/*
 * scan_columns.h
 *	  The rows of a sequential scan of a table as columns.
 *
 * The scan's node is not run: the table's pages, or its columns in memory, are read as vectors, its
 * filter is a vector program or, where that cannot be, core's executor over each row.
 */
#ifndef GPUAGG_SCAN_COLUMNS_H
#define GPUAGG_SCAN_COLUMNS_H

#include "nodes/execnodes.h"

#include "exec/page_reader.h"
#include "exec/row_sort.h"

typedef struct ScanColumns ScanColumns;

/*
 * For a node `scan` below `node`; NULL: it is no such scan, and its rows are to be asked for.  In
 * the per-query memory context.  targets: TargetEntrys over its table, the scan's own, or others that
 * a node between computes of these: the columns of its rows.  arguments: n expressions over these, as
 * of node's scan tuple, or NULL; of those that are computed[] the values come as columns behind them.
 * scales: of decimals, which come as bigints, times 10^-scale; -1 of others.  wide:
 * these have two words, of which the upper one comes as a bigint behind all arguments.
 */
extern ScanColumns *gpuagg_scan_columns_make(PlanState *scan, List *targets, PlanState *node,
											 Expr *const *arguments, int n, bool *computed,
											 int *scales, bool *wide);

/* Of its columns these are to be read, computed arguments among them; false: it cannot. */
extern bool gpuagg_scan_columns_keep(ScanColumns *table, const bool *kept);

/* From now on nothing is computed but the filter; columns to be read are to be set again. */
extern void gpuagg_scan_columns_compute_none(ScanColumns *table);

/*
 * All its rows that pass the filter, into the sort.  Again for each rescan.  sends: what comes
 * from memory goes to the device, too.  False: what is computed may raise an error for some row,
 * and the sort has some rows only.
 */
extern bool gpuagg_scan_columns_take(ScanColumns *table, RowSort *sort, bool sends);

/* Rows that the last take has put there; and that its node, for EXPLAIN, has not given them. */
extern int64 gpuagg_scan_columns_rows(const ScanColumns *table);
extern void gpuagg_scan_columns_undo(ScanColumns *table);

/* What has been read, of all times together. */
extern const PageCounts *gpuagg_scan_columns_counts(const ScanColumns *table);

#endif /* GPUAGG_SCAN_COLUMNS_H */
