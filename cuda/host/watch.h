/*
 * watch.h
 *	  What the loop waits for: descriptors, and calls from other threads.
 */
#ifndef GPUAGG_WATCH_H
#define GPUAGG_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

typedef struct Source
{
	void (*on_event)(struct Source *source, uint32_t events);
	int fd;
	uint32_t watched; /* EPOLLIN, EPOLLOUT; 0: not watched */
} Source;

/* Comes first of all; false with errno. */
extern bool gpud_watch_start(void);

/* Watches a source for these events from now on, 0: for none.  False with errno. */
extern bool gpud_watch(Source *source, uint32_t events);

/*
 * Waits so long at most, and calls on_event() of every source that has events.
 * That may be called for a source that another source's on_event() has just
 * closed: no source may be freed before this returns.
 */
extern void gpud_watch_wait(int ms);

/* Ends the wait.  Any thread may call it; the argument is for gpu_host_call(). */
extern void gpud_wake(void *unused);

#endif /* GPUAGG_WATCH_H */
