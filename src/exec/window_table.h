/*
 * window_table.h
 *	  The columns of a table, or of several, as the input of a GpuWindow node's sort.
 *
 * Stands for a scan of a table below the node (scan_columns.h), for an Append of such scans, or for a
 * Result that computes columns of that one's.  A scan may be a subquery's, which does no more than
 * compute its columns.
 */
#ifndef GPUAGG_WINDOW_TABLE_H
#define GPUAGG_WINDOW_TABLE_H

#include "nodes/execnodes.h"

#include "exec/scan_columns.h"

typedef struct WindowTable WindowTable;

/*
 * The plans below a node, whose child this is, that have a scan each: it, or those of an Append, n of
 * them.  NULL: it is something else.
 */
extern PlanState **gpuagg_window_table_plans(PlanState **child, int *n);

/* The scan that such a plan is, or has below it. */
extern PlanState *gpuagg_window_table_scan(PlanState *plan);

/* The columns of the child's rows, TargetEntrys over the table of one of its plans' scans. */
extern List *gpuagg_window_table_targets(const PlanState *child, PlanState *plan);

/* Sets chosen[] for those of n scans that are read in this run, as parameters choose partitions. */
extern void gpuagg_window_table_choose(PlanState *child, bool *chosen, int n);

/*
 * In a run without these nodes: those above the scans begin it, and end it as if they had given so
 * many rows.  So does a plan with a scan between the two; rows of the scan itself are not counted here.
 */
extern void gpuagg_window_table_begin(PlanState *child);
extern void gpuagg_window_table_begin_plan(PlanState *plan);
extern void gpuagg_window_table_end_plan(PlanState *plan, int64 nrows);
extern void gpuagg_window_table_end(PlanState *child, int64 nrows);

/* For a child of `node`, which is no other; NULL: its rows are to be asked for. */
extern WindowTable *gpuagg_window_table_make(PlanState *child, PlanState *node,
											 Expr *const *arguments, int n, bool *computed,
											 int *scales, bool *wide);

/* These are as of scans. */
extern bool gpuagg_window_table_keep(WindowTable *table, const bool *kept);
extern void gpuagg_window_table_compute_none(WindowTable *table);
extern bool gpuagg_window_table_take(WindowTable *table, RowSort *sort, bool sends);

/* What has been read, of all times and scans together. */
extern PageCounts gpuagg_window_table_counts(const WindowTable *table);

#endif /* GPUAGG_WINDOW_TABLE_H */
