/*
 * agg_device_groups.h
 *	  Groups that the device has found, into those of a GpuAgg node.
 */
#ifndef GPUAGG_AGG_DEVICE_GROUPS_H
#define GPUAGG_AGG_DEVICE_GROUPS_H

#include "engine/blob_query.h"
#include "exec/agg_device_codes.h"

/* The keys of a node's groups, as a query has them. */
typedef struct AggDeviceGroups
{
	uint16 keys[GPUAGG_GROUP_KEYS];
	GpuaggGroupLayout layout;
} AggDeviceGroups;

/*
 * Sets keys and layout; types: of the aggregates' values, 0: none.  Why the device cannot have
 * such groups; NULL: it can.
 */
extern const char *gpuagg_agg_device_groups_init(const AggScanState *node, AggDeviceGroups *groups,
												 const GpuaggQueryAggregate *aggregates,
												 const uint8 *types);

/* How many groups the plan expects, of so many rows. */
extern uint64 gpuagg_agg_device_groups_expected(const AggScanState *node, uint64 rows);

/*
 * Adds the groups of an answer to the node's, which may be spilled meanwhile; *rows grows by
 * those that are in them.  appends: all these groups are new to it.  False: a sum is more than
 * states can take, and nothing has been added.
 */
extern bool gpuagg_agg_device_groups_take(AggScanState *node, const AggDeviceGroups *groups,
										  const AggDeviceProgram *program, const BlobQuery *query,
										  bool appends, int64 *rows);

#endif /* GPUAGG_AGG_DEVICE_GROUPS_H */
