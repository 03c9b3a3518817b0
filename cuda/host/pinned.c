/*
 * pinned.c
 *	  Memory that is shared with a client and pinned for the device.
 *
 * All but the last few functions run in the set-up thread.
 */
#include "host/pinned.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/gpu.h"

static void
dispose(Pinned *pinned)
{
	if (pinned->base != NULL)
		munmap(pinned->base, pinned->size);
	if (pinned->fd >= 0)
		close(pinned->fd);
	pinned->base = NULL;
	pinned->fd = -1;
}

static bool
make_memory(Pinned *pinned)
{
	off_t size = (off_t) pinned->size;
	void *p;

	pinned->base = NULL;
	pinned->fd = memfd_create("gpuagg-staging", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (pinned->fd < 0 || ftruncate(pinned->fd, size) != 0)
		return false;
	/* the pages must exist: a client that touched a missing one would be killed */
	while (fallocate(pinned->fd, 0, 0, size) != 0)
		if (errno != EINTR)
			return false;
	p = mmap(NULL, pinned->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, pinned->fd, 0);
	if (p == MAP_FAILED)
		return false;
	pinned->base = p;
	return fcntl(pinned->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
}

static void
make_run(Task *task)
{
	Pinned *pinned = (Pinned *) task;

	pinned->error = 0;
	if (!make_memory(pinned))
	{
		pinned->reason = GPUAGG_NO_STAGING;
		pinned->error = errno;
	}
	else
		pinned->reason = gpu_host_register(pinned->base, pinned->size);
	if (pinned->reason != GPUAGG_OK)
		dispose(pinned);
}

static void
unmake_run(Task *task)
{
	Pinned *pinned = (Pinned *) task;

	pinned->reason = gpu_host_unregister(pinned->base);
	dispose(pinned);
}

static void
clear_run(Task *task)
{
	Pinned *pinned = (Pinned *) task;

	memset(pinned->base, 0, pinned->size);
	pinned->reason = GPUAGG_OK;
}

static void
submit(Pinned *pinned, void (*run)(Task *), void (*done)(Task *))
{
	pinned->task.run = run;
	pinned->task.done = done;
	gpud_setup_submit(&pinned->task);
}

void
gpud_pinned_make(Pinned *pinned, void (*done)(Task *))
{
	submit(pinned, make_run, done);
}

void
gpud_pinned_clear(Pinned *pinned, void (*done)(Task *))
{
	submit(pinned, clear_run, done);
}

void
gpud_pinned_unmake(Pinned *pinned, void (*done)(Task *))
{
	submit(pinned, unmake_run, done);
}
