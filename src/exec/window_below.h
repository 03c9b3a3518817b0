/*
 * window_below.h
 *	  The rows of a GpuWindow node below another one, where both sort.
 *
 * The node above sorts the rows where the node below has them: its columns stay there, and what its
 * functions yield becomes columns beside them.  No row is put together between the two.
 */
#ifndef GPUAGG_WINDOW_BELOW_H
#define GPUAGG_WINDOW_BELOW_H

#include "exec/row_sort.h"

/*
 * All rows of the child, if it is such a node, for the sort of the node above, which has none;
 * false: the child is to be asked for them one by one.  The child is then at its start.
 */
extern bool gpuagg_window_below_take(PlanState *child, RowSort *sort);

#endif /* GPUAGG_WINDOW_BELOW_H */
