/*
 * agg_cost.h
 *	  What the node GpuAgg costs, in the planner's units.
 */
#ifndef GPUAGG_AGG_COST_H
#define GPUAGG_AGG_COST_H

#include "compat.h"

#include "nodes/pathnodes.h"

#include "plan/agg_match.h"

/* Processes that share a parallel plan's rows, with the leader's part as core counts it. */
extern double gpuagg_agg_processes(int workers);

/*
 * Reading the table `rel`, which is `input` or one that this is made of, and grouping its rows,
 * in each of so many processes, 1 for a plan without workers.
 */
extern Cost gpuagg_agg_table_cost(PlannerInfo *root, const RelOptInfo *input, const RelOptInfo *rel,
								  const AggMatch *match, double processes);

/*
 * Whether the device has all rows of the table `input`, and so many groups are given out as its
 * answer has them: they need no memory of the process's own.
 */
extern bool gpuagg_agg_device_holds(PlannerInfo *root, const RelOptInfo *input,
									const AggMatch *match, double groups);

/* Making so many groups; sorted: core's node can have rows in the order of groups almost for nothing. */
extern Cost gpuagg_agg_groups_cost(const AggMatch *match, double groups, bool sorted);

/* Finding which values with DISTINCT are new, of which there are so many. */
extern Cost gpuagg_agg_values_cost(double values);

/* Whether the number of groups is a guess, as some key has no statistics: no spilling is expected. */
extern bool gpuagg_agg_groups_guessed(PlannerInfo *root, const AggMatch *match);

/*
 * Groups that a process has to let go of because its memory is full, each time that it
 * has them; 0: all fit.  rows: that it puts into groups.
 */
extern double gpuagg_agg_overflow(const AggMatch *match, double rows, double groups);

/* Writing so many groups to temporary files and reading them. */
extern Cost gpuagg_agg_spill_cost(const AggMatch *match, double groups);

/* Merging so many groups that workers sent. */
extern Cost gpuagg_agg_merge_cost(const AggMatch *match, double groups);

#endif /* GPUAGG_AGG_COST_H */
