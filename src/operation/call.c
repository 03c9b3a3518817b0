/*
 * call.c
 *	  What a call of one of our functions begins with.
 */
#include "postgres.h"

#include "device/client.h"
#include "device/leader.h"
#include "operation/call.h"
#include "gpuagg.h"
#include "device/stat.h"

void
gpuagg_begin_report(FmgrInfo *flinfo)
{
	static char begun;

	if (flinfo->fn_extra != NULL)
		return;
	gpuagg_leader_check();
	gpuagg_stat_begin();
	flinfo->fn_extra = &begun;
}

void
gpuagg_begin_engine(void)
{
	if (gpuagg_device == DEVICE_CPU)
		gpuagg_stat_reason(GPUAGG_DISABLED);
	gpuagg_device_require();
}

void
gpuagg_begin(FmgrInfo *flinfo)
{
	if (flinfo->fn_extra != NULL)
		return;
	gpuagg_begin_report(flinfo);
	gpuagg_begin_engine();
}

MemoryContext
gpuagg_aggregate_context(FunctionCallInfo fcinfo, bool *window)
{
	MemoryContext context;
	int kind = AggCheckCallContext(fcinfo, &context);

	if (kind == 0)
		elog(ERROR, "aggregate function called in non-aggregate context");
	*window = kind == AGG_CONTEXT_WINDOW;
	return context;
}
