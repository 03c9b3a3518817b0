/*
 * agg_device_groups.h
 *	  Groups that the device has found, into those of a GpuAgg node.
 */
#ifndef GPUAGG_AGG_DEVICE_GROUPS_H
#define GPUAGG_AGG_DEVICE_GROUPS_H

#include "engine/blob_query.h"
#include "exec/agg_state.h"
#include "exec/device_codes.h"

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

/* Makes groups of packed records; the program has the strings of keys, NULL: there are none. */
typedef struct AggDeviceRecords AggDeviceRecords;
extern AggDeviceRecords *gpuagg_agg_device_records(AggScanState *node,
												   const AggDeviceGroups *groups,
												   const DeviceProgram *program);

/*
 * Adds the groups of an answer to the node's, which may be spilled meanwhile.  appends: all these
 * groups are new to it.
 */
extern void gpuagg_agg_device_groups_take(AggDeviceRecords *records, const BlobQuery *query,
										  bool appends);

/* The record of a packed one, or those of n up to GPUAGG_VECTOR_ROWS, until others are unpacked. */
extern const uint32 *gpuagg_agg_device_record(AggDeviceRecords *records,
											  const GpuaggGroupPacking *packing,
											  const uint32 *packed);
extern void gpuagg_agg_device_unpack(AggDeviceRecords *records, const GpuaggGroupPacking *packing,
									 const uint32 *packed, int n, const uint32 **unpacked);

/* Makes a packed record's group the node's only one. */
extern AggGroup *gpuagg_agg_device_groups_replace(AggDeviceRecords *records,
												  const GpuaggGroupPacking *packing,
												  const uint32 *packed);

#endif /* GPUAGG_AGG_DEVICE_GROUPS_H */
