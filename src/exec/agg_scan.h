/*
 * agg_scan.h
 *	  The executor's node GpuAgg.
 */
#ifndef GPUAGG_AGG_SCAN_H
#define GPUAGG_AGG_SCAN_H

/* Makes the node known to plans that are read from text; called once. */
extern void gpuagg_agg_scan_register(void);

#endif /* GPUAGG_AGG_SCAN_H */
