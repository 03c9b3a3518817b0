/*
 * agg_device_collect.h
 *	  Answers of several requests, copied until all are there: for groups that other rows are in, too,
 *	  and so cannot be forgotten if one of the requests fails.
 */
#ifndef GPUAGG_AGG_DEVICE_COLLECT_H
#define GPUAGG_AGG_DEVICE_COLLECT_H

#include "exec/agg_device_groups.h"

typedef struct AggCollected AggCollected;

/* Adds an answer of a pass, to none at first; false: there is no memory for it. */
extern bool gpuagg_agg_collect(AggCollected **collected, const AggDevicePass *pass,
							   const BlobQuery *query);

/* Adds all groups to the node's; NULL: there are none. */
extern void gpuagg_agg_collected_take(AggScanState *node, const AggCollected *collected,
									  const DeviceProgram *program);
extern void gpuagg_agg_collected_end(AggCollected **collected);

#endif /* GPUAGG_AGG_DEVICE_COLLECT_H */
