/*
 * window_arguments.h
 *	  Arguments of a GpuWindow node's functions that a node below computes.
 *
 * A node that sorts the rows where the node below has them (window_below.h) asks that one for its
 * arguments that may be columns, and for those of nodes above that ask it.  The lowest node's scan
 * computes them.  It need not have columns of the table that only these arguments want.
 */
#ifndef GPUAGG_WINDOW_ARGUMENTS_H
#define GPUAGG_WINDOW_ARGUMENTS_H

#include "exec/window_state.h"

/*
 * Asks, before either has a sort.  Argument i of `above` is argument nfunctions + i of `below` then,
 * and NULL there if it cannot be had.
 */
extern void gpuagg_window_arguments_ask(const WindowInput *above, WindowInput *below);

/* Makes a node that was asked, and those below, give rows with all columns; to be rescanned. */
extern void gpuagg_window_arguments_refuse(WindowScanState *below);

#endif /* GPUAGG_WINDOW_ARGUMENTS_H */
