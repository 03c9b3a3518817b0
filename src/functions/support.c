/*
 * support.c
 *	  The planner support function.
 *
 * The planner calls it while it plans a query that uses a gpuagg function.  The first call
 * of a session loads the library, before the planner hooks of this query run.
 */
#include "compat.h"

#include "fmgr.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"

#include "spec/window_function.h"

PG_FUNCTION_INFO_V1(gpuagg_support);

static bool
is_count(const WindowFunc *call)
{
	WindowFunction function;
	bool running;

	return gpuagg_window_function(call->winfnoid, &function, &running) &&
		   function.aggregate == AGGREGATE_COUNT;
}

static bool
has_constant_arguments(const WindowFunc *call)
{
	ListCell *cell;

	foreach (cell, call->args)
		if (!IsA(eval_const_expressions(NULL, lfirst(cell)), Const))
			return false;
	return true;
}

/*
 * How a count moves from row to row of a partition, as core answers for its own: it grows
 * where the frame begins with the partition, and shrinks where it ends with it.  EXCLUDE
 * takes rows away again, but for count(*) always one.
 */
static MonotonicFunction
count_moves(const WindowFunc *call, const WindowClause *clause)
{
	int options = clause->frameOptions;
	MonotonicFunction moves = MONOTONICFUNC_NONE;

	if ((options & FRAMEOPTION_EXCLUSION) && (!(options & FRAMEOPTION_EXCLUDE_CURRENT_ROW) ||
											  call->args != NIL || call->aggfilter != NULL))
		return MONOTONICFUNC_NONE;
	if (clause->orderClause == NIL && (options & FRAMEOPTION_RANGE))
		return MONOTONICFUNC_BOTH; /* all rows are peers */
	if (options & FRAMEOPTION_START_UNBOUNDED_PRECEDING)
		moves |= MONOTONICFUNC_INCREASING;
	if (options & FRAMEOPTION_END_UNBOUNDED_FOLLOWING)
		moves |= MONOTONICFUNC_DECREASING;
	return moves;
}

/*
 * Answers how counts move.  There is no frame that is cheaper and gives the same: the
 * results of all our functions depend on it.
 */
Datum
gpuagg_support(PG_FUNCTION_ARGS)
{
	SupportRequestWFuncMonotonic *request = (SupportRequestWFuncMonotonic *) PG_GETARG_POINTER(0);

	if (!IsA(request, SupportRequestWFuncMonotonic) || !is_count(request->window_func) ||
		(RUN_CONDITION_NEEDS_CONSTANTS && !has_constant_arguments(request->window_func)))
		PG_RETURN_POINTER(NULL);
	request->monotonic = count_moves(request->window_func, request->window_clause);
	PG_RETURN_POINTER(request);
}
