/*
 * agg_device.h
 *	  What the device does of a GpuAgg node's work: what its files share.
 */
#ifndef GPUAGG_AGG_DEVICE_H
#define GPUAGG_AGG_DEVICE_H

#include "exec/agg_state.h"
#include "exec/device_codes.h"
#include "exec/device_tables.h"

/* What the device is asked for. */
typedef struct AggQuestion
{
	const PageDevice *device; /* the chunks */
	int ncolumns;

	/* of the one table whose chunks they are */
	PageReader *reader;
	const PageColumn *columns;

	const DeviceProgram *program; /* whose registers aggregates and keys are */

	/* where rows go through a window first, there may be several tables; or NULL */
	const DeviceTables *tables;
	const GpuaggVectorProgram *below; /* over a table, each of them */
	const GpuaggWindow *window;
	int64 nrows; /* set by the answer: of these, that passed the filter below it */
} AggQuestion;

/* Why the device is not asked for so many rows in memory, in mode auto from `least` on; NULL: it is. */
extern const char *gpuagg_agg_device_reason(const AggScanState *node, uint64 rows, uint64 bare,
											uint64 least);

/*
 * Asks, and takes the answer.  alone: no rows are in the node's groups.  Sets node->device_reason
 * if not all of it has come, and else leaves it as it is.
 */
extern void gpuagg_agg_device_ask(AggScanState *node, AggQuestion *question, bool alone);

#endif /* GPUAGG_AGG_DEVICE_H */
