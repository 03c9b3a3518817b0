/*
 * window_frame.c
 *	  Frames of running functions.
 *
 * The window function interface hides the frame.  A WindowObject is opaque, but
 * its second field has been the WindowAggState in every release so far.
 */
#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/parsenodes.h"

#include "functions/window_frame.h"

typedef struct WindowObjectHead
{
	NodeTag type;
	WindowAggState *winstate;
} WindowObjectHead;

#define FRAME_NOISE		 (FRAMEOPTION_NONDEFAULT | FRAMEOPTION_BETWEEN)
#define FRAME_UP_TO_HERE (FRAMEOPTION_START_UNBOUNDED_PRECEDING | FRAMEOPTION_END_CURRENT_ROW)

RunningFrame
gpuagg_running_frame(WindowObject winobj, const char *function, const char *instead)
{
	const WindowObjectHead *head = (const WindowObjectHead *) winobj;
	int options;

	if (!IsA(head->winstate, WindowAggState))
		elog(ERROR, "window object has an unknown layout");
	options = head->winstate->frameOptions & ~FRAME_NOISE;

	if (options == (FRAMEOPTION_ROWS | FRAME_UP_TO_HERE))
		return FRAME_ROWS;
	if (options == (FRAMEOPTION_RANGE | FRAME_UP_TO_HERE))
		return FRAME_PEERS;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s supports only the default frame and ROWS UNBOUNDED PRECEDING", function),
			 errhint("Use %s(...) OVER (...) for other frames.", instead)));
}

bool
gpuagg_running_exclusive(FunctionCallInfo fcinfo, WindowObject winobj, int argno,
						 RunningFrame frame)
{
	bool isnull;
	bool exclusive;

	if (!get_fn_expr_arg_stable(fcinfo->flinfo, argno))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("argument \"exclusive\" must be the same for every row")));
	exclusive = DatumGetBool(WinGetFuncArgCurrent(winobj, argno, &isnull));
	if (isnull)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("argument \"exclusive\" must not be null")));
	if (exclusive && frame != FRAME_ROWS)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("an exclusive running function needs the frame ROWS UNBOUNDED PRECEDING"),
				 errhint("Add ROWS UNBOUNDED PRECEDING to the window definition.")));
	return exclusive;
}
