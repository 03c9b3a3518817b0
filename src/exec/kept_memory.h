/*
 * kept_memory.h
 *	  Memory for what lives about as long as a query, which the process keeps for the next.
 *
 * What is known of a table's chunks takes tens or hundreds of kilobytes.  Memory that came from the
 * system anew for each query would cost more than what is done there.
 */
#ifndef GPUAGG_KEPT_MEMORY_H
#define GPUAGG_KEPT_MEMORY_H

#include "compat.h"

/* An empty memory context, a child of the current one until it is left. */
extern MemoryContext gpuagg_kept_memory_take(void);
extern void gpuagg_kept_memory_leave(MemoryContext context);

#endif /* GPUAGG_KEPT_MEMORY_H */
