/*
 * attempt.c
 *	  Calls of which errors are not to end the query.
 */
#include "device/attempt.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

bool
gpuagg_attempt(void (*what)(void *arg), void *arg, char *message, Size size)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	uint32 holdoff = InterruptHoldoffCount;
	volatile bool done = false;

	CurrentResourceOwner = NULL;
	PG_TRY();
	{
		what(arg);
		done = true;
	}
	PG_CATCH();
	{
		ErrorData *error;

		/*
		 * Raising the error reset InterruptHoldoffCount, but releasing a lock lowers it;
		 * LWLockReleaseAll() raises it first for each lock held.  Callers hold no locks, so
		 * releasing all is safe.
		 */
		LWLockReleaseAll();
		InterruptHoldoffCount = holdoff;
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		if (message != NULL)
			strlcpy(message, error->message, size);
		FreeErrorData(error);
	}
	PG_END_TRY();
	CurrentResourceOwner = owner;
	return done;
}
