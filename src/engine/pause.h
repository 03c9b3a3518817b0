/*
 * pause.h
 *	  What long work on the CPU does from time to time: raises an error if the query is cancelled.
 */
#ifndef GPUAGG_PAUSE_H
#define GPUAGG_PAUSE_H

#include "miscadmin.h"

static inline void
gpuagg_pause(void)
{
	CHECK_FOR_INTERRUPTS();
}

#endif /* GPUAGG_PAUSE_H */
