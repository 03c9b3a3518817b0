/*
 * kept_memory.c
 *	  Memory for what lives about as long as a query, which the process keeps for the next.
 *
 * A context that is not left, after an error, goes with its parent, and another is made.
 */
#include "compat.h"

#include "utils/memutils.h"

#include "exec/kept_memory.h"

#define CONTEXTS	2			  /* a reader's, and what the device is asked with */
#define KEPT_BYTES	(1024 * 1024) /* of each; those never used are only addresses */
#define BLOCK_BYTES (1024 * 1024) /* beyond that */
#define BLOCK_MAX	(64 * 1024 * 1024)

static MemoryContext kept[CONTEXTS];

MemoryContext
gpuagg_kept_memory_take(void)
{
	for (int i = 0; i < CONTEXTS; i++)
	{
		MemoryContext context = kept[i];

		if (context == NULL)
			continue;
		kept[i] = NULL;
		MemoryContextSetParent(context, CurrentMemoryContext);
		return context;
	}
	/* unlike others such contexts have no blocks of their own for what is large */
	return GenerationContextCreate(CurrentMemoryContext, "gpuagg kept memory", KEPT_BYTES,
								   BLOCK_BYTES, BLOCK_MAX);
}

void
gpuagg_kept_memory_leave(MemoryContext context)
{
	for (int i = 0; i < CONTEXTS; i++)
	{
		if (kept[i] != NULL)
			continue;
		/* all but the first block goes */
		MemoryContextReset(context);
		MemoryContextSetParent(context, TopMemoryContext);
		kept[i] = context;
		return;
	}
	MemoryContextDelete(context);
}
