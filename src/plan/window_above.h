/*
 * window_above.h
 *	  Conditions above a subquery whose rows come from the node GpuWindow.
 */
#ifndef GPUAGG_WINDOW_ABOVE_H
#define GPUAGG_WINDOW_ABOVE_H

/* Makes the planner look for them; called once, when the library is loaded. */
extern void gpuagg_window_above_install(void);

#endif /* GPUAGG_WINDOW_ABOVE_H */
