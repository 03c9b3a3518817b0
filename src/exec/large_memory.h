/*
 * large_memory.h
 *	  Memory of many megabytes that is read here and there.
 */
#ifndef GPUAGG_LARGE_MEMORY_H
#define GPUAGG_LARGE_MEMORY_H

#include "compat.h"

/*
 * As MemoryContextAllocHuge().  Of what is large the system is asked for huge pages: they take a
 * tenth of the time to come, and processors find more of them without a look at the page table.
 */
extern void *gpuagg_large_memory(MemoryContext context, Size bytes);

#endif /* GPUAGG_LARGE_MEMORY_H */
