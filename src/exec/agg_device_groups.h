/*
 * agg_device_groups.h
 *	  Groups that the device has found, into those of a GpuAgg node.
 */
#ifndef GPUAGG_AGG_DEVICE_GROUPS_H
#define GPUAGG_AGG_DEVICE_GROUPS_H

#include "engine/blob_query.h"
#include "exec/agg_device_passes.h"
#include "exec/device_codes.h"

/* How many groups the plan expects, of so many rows. */
extern uint64 gpuagg_agg_device_groups_expected(const AggScanState *node, uint64 rows);

/* Makes groups of a pass's packed records; the program has the strings of keys, NULL: there are none. */
typedef struct AggDeviceRecords AggDeviceRecords;
extern AggDeviceRecords *gpuagg_agg_device_records(AggScanState *node, const AggDevicePass *pass,
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
