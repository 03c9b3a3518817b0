/*
 * support.c
 *	  The planner support function.
 */
#include "postgres.h"

#include "fmgr.h"

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
