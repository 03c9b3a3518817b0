/*
 * watch.c
 *	  What the loop waits for: descriptors, and calls from other threads.
 */
#include "host/watch.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

#include "host/log.h"
#include "host/socket.h"

#define EVENTS_AT_ONCE 64

static int epoll_fd = -1;
static Source wakeup;

static void
on_wakeup(Source *source, uint32_t events)
{
	eventfd_t count;

	(void) events;
	(void) eventfd_read(source->fd, &count);
}

bool
gpud_watch_start(void)
{
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	wakeup.on_event = on_wakeup;
	wakeup.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return epoll_fd >= 0 && wakeup.fd >= 0 && gpud_watch(&wakeup, EPOLLIN);
}

bool
gpud_watch(Source *source, uint32_t events)
{
	struct epoll_event event = {.events = events, .data = {.ptr = source}};
	int change = source->watched == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;

	if (source->watched == events)
		return true;
	if (epoll_ctl(epoll_fd, change, source->fd, &event) != 0)
		return false;
	source->watched = events;
	return true;
}

void
gpud_watch_wait(int ms)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n = epoll_wait(epoll_fd, events, EVENTS_AT_ONCE, ms);

	if (n < 0 && errno != EINTR)
	{
		gpud_warn("could not wait for events: %s", strerror(errno));
		gpud_end(1);
	}
	for (int i = 0; i < n; i++)
	{
		Source *source = events[i].data.ptr;

		source->on_event(source, events[i].events);
	}
}

/* A write that fails has found the counter full: it is readable then too. */
void
gpud_wake(void *unused)
{
	(void) unused;
	(void) eventfd_write(wakeup.fd, 1);
}
