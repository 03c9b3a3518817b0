/*
 * running_frame.h
 *	  What frame our window functions were called with.
 */
#ifndef GPUAGG_RUNNING_FRAME_H
#define GPUAGG_RUNNING_FRAME_H

#include "windowapi.h"

#include "operation/family.h"

typedef enum RunningFrame
{
	FRAME_ROWS, /* ROWS UNBOUNDED PRECEDING */
	FRAME_PEERS /* the default: up to the last peer */
} RunningFrame;

/*
 * The frame of a running function of this aggregate; raises 0A000 when it is
 * neither of the two, naming the aggregate as the way.
 */
extern RunningFrame gpuagg_running_frame(WindowObject winobj, Aggregate aggregate);

/*
 * The row after the last peer of the current row.  Whether a row exists is asked
 * through the argument `argno`, a constant, so that no other is evaluated ahead
 * of time.  Rows are read forwards only and compared with the current one, as
 * going back in a spilled partition is slow.
 */
extern int64 gpuagg_peers_end(WindowObject winobj, int argno);

/*
 * The value of the argument `exclusive`; raises 22023 when it is NULL or not
 * stable, 0A000 when it is true and the frame is not a ROWS frame.
 */
extern bool gpuagg_running_exclusive(FunctionCallInfo fcinfo, WindowObject winobj, int argno,
									 RunningFrame frame);

/* The same of its value, which has been evaluated. */
extern bool gpuagg_running_exclusive_value(Datum value, bool isnull, RunningFrame frame);

#endif /* GPUAGG_RUNNING_FRAME_H */
