/*
 * group_reduction.c
 *	  The reduction of a group's rows.
 */
#include "postgres.h"

#include "operation/group_reduction.h"
#include "operation/call.h"

void
gpuagg_group_reduction_open(FunctionCallInfo fcinfo, GroupReduction *group, GpuaggKind kind,
							GpuaggOp op)
{
	bool window;

	group->reduction = gpuagg_reduction_open(kind, op, 0,
											 gpuagg_aggregate_context(fcinfo, &window));
	if (group->reduction == NULL)
		group->open_at += gpuagg_reduction_threshold() + 1; /* ask again later */
}

const GpuaggReduced *
gpuagg_group_reduction_gather(GroupReduction *group, GpuaggKind kind, int64 n, int bytes)
{
	const GpuaggReduced *total;

	if (group->open_at != NEVER_OPEN)
	{
		gpuagg_stat_direct(n, n * bytes);
		if (group->reduction == NULL && n > 0)
			gpuagg_reduction_missing(kind, n);
	}
	group->open_at = NEVER_OPEN;
	if (group->reduction == NULL)
		return NULL;
	total = gpuagg_reduction_close(group->reduction);
	group->reduction = NULL;
	return total;
}
