/*
 * agg_device_held.h
 *	  Groups that the device has found, given out as they are.
 */
#ifndef GPUAGG_AGG_DEVICE_HELD_H
#define GPUAGG_AGG_DEVICE_HELD_H

#include "exec/agg_device_groups.h"

/*
 * Takes an answer over, of a pass with all states, whose groups are new to the node; it lies in a memory context of its own.
 * False: its groups cannot be held.
 */
extern bool gpuagg_agg_device_hold(AggScanState *node, const AggDevicePass *pass, BlobQuery *query);

#endif /* GPUAGG_AGG_DEVICE_HELD_H */
