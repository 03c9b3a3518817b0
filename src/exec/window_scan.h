/*
 * window_scan.h
 *	  The node GpuWindow, which computes window functions over sorted rows.
 */
#ifndef GPUAGG_WINDOW_SCAN_H
#define GPUAGG_WINDOW_SCAN_H

#include "nodes/extensible.h"

/* Of a CustomScan as plan/window_spec.h describes it. */
extern const CustomScanMethods gpuagg_window_scan_methods;

/* Makes the node known by its name, for plans that come as text.  Called once, when loaded. */
extern void gpuagg_window_scan_register(void);

#endif /* GPUAGG_WINDOW_SCAN_H */
