/*
 * window_scan.h
 *	  The node GpuWindow, which computes window functions over sorted rows.
 */
#ifndef GPUAGG_WINDOW_SCAN_H
#define GPUAGG_WINDOW_SCAN_H

/* Registers the node's methods (its plan: spec/window_spec.h).  Called once, when loaded. */
extern void gpuagg_window_scan_register(void);

#endif /* GPUAGG_WINDOW_SCAN_H */
