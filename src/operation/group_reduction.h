/*
 * group_reduction.h
 *	  The reduction of a group's rows: when it is opened, filled and gathered.
 *
 * A group starts without one and takes its rows itself.  Past
 * gpuagg_reduction_threshold() rows it asks for a reduction, into which its rows go
 * from then on; its result is merged into the group's accumulator when the group
 * is finished, combined or serialized.
 */
#ifndef GPUAGG_GROUP_REDUCTION_H
#define GPUAGG_GROUP_REDUCTION_H

#include "fmgr.h"

#include "engine/reduction.h"
#include "device/stat.h"

#define NEVER_OPEN PG_INT64_MAX /* never, or no longer; all rows are reported */

typedef struct GroupReduction
{
	GpuaggReduction *reduction; /* or NULL */
	int64 open_at;				/* ask for one when the group has so many rows; or NEVER_OPEN */
} GroupReduction;

/*
 * Of a new group.  In a window function there is no reduction, as final functions
 * are called for every row.
 */
static inline void
gpuagg_group_reduction_init(GroupReduction *group, bool window)
{
	group->reduction = NULL;
	group->open_at = window ? NEVER_OPEN : gpuagg_reduction_threshold();
}

/* Asks for a reduction; apart, so that transition functions stay small enough for JIT to inline. */
extern void gpuagg_group_reduction_open(FunctionCallInfo fcinfo, GroupReduction *group,
										GpuaggKind kind, GpuaggOp op);

/*
 * Where the next value goes while there is a reduction with room for it; else NULL.
 * Calls nothing: a transition function that tries this first, and leaves the rest
 * to another function, has next to no prologue.
 */
static inline void *
gpuagg_group_reduction_room(GroupReduction *group, GpuaggKind kind)
{
	GpuaggReduction *reduction = group->reduction;
	void *place;

	if (reduction == NULL || reduction->next == reduction->end)
		return NULL;
	place = reduction->next;
	reduction->next += gpuagg_kind_size(kind);
	return place;
}

/*
 * Where the next value goes, of a group that has taken n rows itself; NULL when
 * it has to take this one too.
 */
static inline void *
gpuagg_group_reduction_place(FunctionCallInfo fcinfo, GroupReduction *group, int64 n,
							 GpuaggKind kind, GpuaggOp op)
{
	if (group->reduction == NULL)
	{
		if (likely(n < group->open_at))
			return NULL;
		gpuagg_group_reduction_open(fcinfo, group, kind, op);
		if (group->reduction == NULL)
			return NULL;
	}
	if (unlikely(group->reduction->next == group->reduction->end))
		gpuagg_reduction_advance(group->reduction);
	return gpuagg_group_reduction_room(group, kind);
}

/* Reports a row that the group has taken itself, where there is no end to report at. */
static inline void
gpuagg_group_reduction_report(const GroupReduction *group, int bytes)
{
	if (group->open_at == NEVER_OPEN)
		gpuagg_stat_direct(1, bytes);
}

/*
 * Ends the reduction: what the caller has to merge into its accumulator, or NULL.
 * Reports the n rows that the group has taken itself, once, and why it had no
 * reduction.  kind: 0 without a kernel.
 */
extern const GpuaggReduced *gpuagg_group_reduction_gather(GroupReduction *group, GpuaggKind kind,
														  int64 n, int bytes);

#endif /* GPUAGG_GROUP_REDUCTION_H */
