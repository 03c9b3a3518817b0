/*
 * running_frame.c
 *	  Frames of running functions.
 *
 * The window function interface hides the frame.  A WindowObject is opaque, but
 * its second field has been the WindowAggState in every release so far.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/parsenodes.h"

#include "operation/running_frame.h"

typedef struct WindowObjectHead
{
	NodeTag type;
	WindowAggState *winstate;
} WindowObjectHead;

#define FRAME_SYNTAX	 (FRAMEOPTION_NONDEFAULT | FRAMEOPTION_BETWEEN) /* not its meaning */
#define FRAME_TO_CURRENT (FRAMEOPTION_START_UNBOUNDED_PRECEDING | FRAMEOPTION_END_CURRENT_ROW)
#define CHECK_ROWS		 1024 /* rows between checks for interrupts */

static WindowAggState *
window_state(WindowObject winobj)
{
	const WindowObjectHead *head = (const WindowObjectHead *) winobj;

	if (!IsA(head->winstate, WindowAggState))
		elog(ERROR, "window object has an unknown layout");
	return head->winstate;
}

int64
gpuagg_peers_end(WindowObject winobj, int argno)
{
	WindowAggState *winstate = window_state(winobj);
	ExprContext *econtext = winstate->tmpcontext;

	if (winstate->ordEqfunction == NULL) /* no ORDER BY */
		return WinGetPartitionRowCount(winobj);

	for (int64 ahead = 1;; ahead++)
	{
		bool isnull;
		bool isout;

		if (ahead % CHECK_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		/* leaves the row in temp_slot_1 */
		(void) WinGetFuncArgInPartition(winobj, argno, (int) ahead, WINDOW_SEEK_CURRENT, false,
										&isnull, &isout);
		if (!isout)
		{
			econtext->ecxt_outertuple = winstate->ss.ss_ScanTupleSlot;
			econtext->ecxt_innertuple = winstate->temp_slot_1;
		}
		if (isout || !ExecQualAndReset(winstate->ordEqfunction, econtext))
			return WinGetCurrentPosition(winobj) + ahead;
	}
}

RunningFrame
gpuagg_running_frame(WindowObject winobj, Aggregate aggregate)
{
	const char *name = gpuagg_aggregates[aggregate].name;
	int options = window_state(winobj)->frameOptions & ~FRAME_SYNTAX;

	if (options == (FRAMEOPTION_ROWS | FRAME_TO_CURRENT))
		return FRAME_ROWS;
	if (options == (FRAMEOPTION_RANGE | FRAME_TO_CURRENT))
		return FRAME_PEERS;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("gpu_running_%s supports only the default frame and ROWS UNBOUNDED PRECEDING",
					name),
			 errhint("Use gpu_%s(...) OVER (...) for other frames.", name)));
}

bool
gpuagg_running_exclusive_value(Datum value, bool isnull, RunningFrame frame)
{
	if (isnull)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("argument \"exclusive\" must not be null")));
	if (DatumGetBool(value) && frame != FRAME_ROWS)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("an exclusive running function needs the frame ROWS UNBOUNDED PRECEDING"),
				 errhint("Add ROWS UNBOUNDED PRECEDING to the window definition.")));
	return DatumGetBool(value);
}

bool
gpuagg_running_exclusive(FunctionCallInfo fcinfo, WindowObject winobj, int argno,
						 RunningFrame frame)
{
	Datum value;
	bool isnull;

	if (!get_fn_expr_arg_stable(fcinfo->flinfo, argno))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("argument \"exclusive\" must be the same for every row")));
	value = WinGetFuncArgCurrent(winobj, argno, &isnull);
	return gpuagg_running_exclusive_value(value, isnull, frame);
}
