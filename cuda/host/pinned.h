/*
 * pinned.h
 *	  Memory that is shared with a client and pinned for the device.
 *
 * It is a memfd whose pages exist, are registered with the device and can never
 * go away under a client: it is sealed against shrinking.
 */
#ifndef GPUAGG_PINNED_H
#define GPUAGG_PINNED_H

#include "common/reason.h"
#include "host/setup.h"

typedef struct Pinned
{
	Task task;	   /* first: tasks are cast to this; done() is the owner's */
	uint64_t size; /* bytes */
	char *base;
	int fd;
	GpuaggReason reason; /* of the last task */
	int error;			 /* errno, when the system and not the driver refused; else 0 */
} Pinned;

/* Has the set-up thread make memory of size `size`, zero it, or unmake it, and then calls done(). */
extern void gpud_pinned_make(Pinned *pinned, void (*done)(Task *));
extern void gpud_pinned_clear(Pinned *pinned, void (*done)(Task *));
extern void gpud_pinned_unmake(Pinned *pinned, void (*done)(Task *));

#endif /* GPUAGG_PINNED_H */
