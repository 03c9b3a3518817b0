/*
 * large_memory.c
 *	  Memory of many megabytes that is read here and there.
 */
#include "exec/large_memory.h"

#include <sys/mman.h>

#include "utils/memutils.h"

#define HUGE_PAGE ((Size) 2 * 1024 * 1024)

void *
gpuagg_large_memory(MemoryContext context, Size bytes)
{
	char *memory = MemoryContextAllocHuge(context, bytes);

#ifdef MADV_HUGEPAGE
	if (bytes >= 2 * HUGE_PAGE)
	{
		char *from = (char *) TYPEALIGN(HUGE_PAGE, memory);

		/* where it has none, pages are as ever */
		(void) madvise(from, TYPEALIGN_DOWN(HUGE_PAGE, memory + bytes - from), MADV_HUGEPAGE);
	}
#endif
	return memory;
}
