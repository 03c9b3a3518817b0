/*
 * call.h
 *	  What a call of one of our functions begins with.
 */
#ifndef GPUAGG_CALL_H
#define GPUAGG_CALL_H

#include "fmgr.h"

/*
 * To be called when a function's state is made: once per call site and query it
 * opens the statement's work report, and in mode gpu requires the device.
 */
extern void gpuagg_begin(FmgrInfo *flinfo);

/*
 * The two halves of it, for functions that need no device in every call: the
 * report, once per call site and query; and the device, in mode gpu.
 */
extern void gpuagg_begin_report(FmgrInfo *flinfo);
extern void gpuagg_begin_engine(void);

/*
 * The memory context of an aggregate's states; raises an error elsewhere.
 * *window says whether the aggregate runs as a window function, where final
 * functions are called for every row and batches make no sense.
 */
extern MemoryContext gpuagg_aggregate_context(FunctionCallInfo fcinfo, bool *window);

#endif /* GPUAGG_CALL_H */
