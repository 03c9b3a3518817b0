/*
 * batched.c
 *	  The batch of an aggregate's state.
 */
#include "postgres.h"

#include "operation/batched.h"
#include "operation/call.h"

void
gpuagg_batched_open(FunctionCallInfo fcinfo, Batched *batched, GpuaggKind kind, GpuaggOp op)
{
	bool window;

	batched->batch = gpuagg_batch_open(kind, op, 0, gpuagg_aggregate_context(fcinfo, &window));
	if (batched->batch == NULL)
		batched->batch_at += gpuagg_batch_threshold() + 1; /* ask again later */
}

const GpuaggReduced *
gpuagg_batched_gather(Batched *batched, int64 n, int bytes)
{
	const GpuaggReduced *total;

	if (batched->batch_at != NO_BATCH)
		gpuagg_stat_direct(n, n * bytes);
	batched->batch_at = NO_BATCH;
	if (batched->batch == NULL)
		return NULL;
	total = gpuagg_batch_close(batched->batch);
	batched->batch = NULL;
	return total;
}
