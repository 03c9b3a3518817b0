/*
 * window_below.h
 *	  The rows of a GpuWindow node below another one, where both sort.
 *
 * The node above sorts the rows where the node below has them: its columns stay there, and what its
 * functions yield becomes columns beside them.  No row is put together between the two.
 */
#ifndef GPUAGG_WINDOW_BELOW_H
#define GPUAGG_WINDOW_BELOW_H

#include "exec/window_input.h"

/*
 * Before a run of the node above has rows: has the child, if it is such a node, sort its own.
 * False: they are to be asked for one by one.
 */
extern bool gpuagg_window_below_begin(WindowInput *above);

/*
 * All of them for the sort of the node above, which has none.  False: they take more memory than
 * they may, and are to be asked for one by one.  The sort has some then.
 */
extern bool gpuagg_window_below_take(WindowInput *above);

#endif /* GPUAGG_WINDOW_BELOW_H */
