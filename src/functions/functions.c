/*
 * functions.c
 *	  What the SQL-callable functions share, and the planner support function.
 */
#include "postgres.h"

#include "engine/device.h"
#include "functions/functions.h"
#include "gpuagg.h"
#include "stat.h"

PG_FUNCTION_INFO_V1(gpuagg_support);

/*
 * The planner calls this while it plans a query that uses one of our functions.
 * It has nothing to say; being called loads the library before the planner
 * hooks of this very query fire.
 */
Datum
gpuagg_support(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(NULL);
}

void
gpuagg_begin_report(FmgrInfo *flinfo)
{
	static char begun;

	if (flinfo->fn_extra != NULL)
		return;
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
