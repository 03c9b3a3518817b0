/*
 * support.c
 *	  The planner support function.
 */
#include "postgres.h"

#include "fmgr.h"

PG_FUNCTION_INFO_V1(gpuagg_support);

/*
 * The planner calls this while it plans a query that uses a gpuagg function.  It
 * does nothing, but the call loads the library before the planner hooks of this
 * query run.
 */
Datum
gpuagg_support(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(NULL);
}
