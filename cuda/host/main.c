/*
 * main.c
 *	  gpuaggd, the program that owns the device: start.
 *
 * Signals are taken through a descriptor; nothing runs in a signal handler.
 * Exit status: 0 clean end, 1 could not start, 2 the device's context was lost.
 *
 * The files of this folder in their order; each includes those before it only:
 *	log, options, socket	lines for the log, the clock; arguments; lock, socket, end
 *	watch, setup			what the loop waits for; the thread for calls that stall
 *	clients					who is connected, pending requests, replies
 *	lane, probe, device		streams and memory; whether they work; which device is used
 *	pinned, staging			memory shared with clients, and who has it on lease
 *	extents, blobs			places in device memory; blocks of columns that stay there
 *	request, job, columns	what a type of request is; whose turn it is; jobs over columns
 *	query_table				groups of a query
 *	query_order				windows of a query
 *	query_job, query_kept, query_slice	a query, slices of earlier ones, and its own
 *	request_table, request_*	the types of request, and a file for each
 *	server, main			the loop; start
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/protocol.h"
#include "host/device.h"
#include "host/log.h"
#include "host/options.h"
#include "host/server.h"
#include "host/setup.h"
#include "host/socket.h"
#include "host/staging.h"
#include "host/watch.h"

/*
 * From here on SIGTERM and SIGQUIT are read from the descriptor.  SIGINT ends the
 * program only where a terminal sends it: the launcher's process group, to which
 * we belong, is sent one when somebody cancels the launcher.
 */
static int
take_signals(sigset_t *ends)
{
	int fd;

	sigemptyset(ends);
	sigaddset(ends, SIGTERM);
	sigaddset(ends, SIGQUIT);
	if (gpud_options.parent == 0)
		sigaddset(ends, SIGINT);
	else if (signal(SIGINT, SIG_IGN) == SIG_ERR)
		gpud_fail("set up", "signals");
	if (sigprocmask(SIG_BLOCK, ends, NULL) != 0 || signal(SIGPIPE, SIG_IGN) == SIG_ERR ||
		signal(SIGHUP, SIG_IGN) == SIG_ERR)
		gpud_fail("set up", "signals");
	fd = signalfd(-1, ends, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		gpud_fail("set up", "signals");
	return fd;
}

/* A descriptor for each client and segment, and some for the driver. */
static void
raise_descriptor_limit(void)
{
	struct rlimit limit;
	rlim_t wanted = GPUD_MAX_CONNECTIONS + 256 + GPUD_SEGMENTS;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		gpud_warn("could not raise the limit of open files: %s", strerror(errno));
}

/* Settings that the driver reads from the environment at its first call. */
static void
set_environment(void)
{
	if (setenv("CUDA_MODULE_LOADING", "EAGER", 1) != 0)
		gpud_fail("set", "CUDA_MODULE_LOADING");
	if (gpud_options.visible_devices[0] != '\0' &&
		(setenv("CUDA_VISIBLE_DEVICES", gpud_options.visible_devices, 1) != 0 ||
		 setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0) != 0))
		gpud_fail("set", "CUDA_VISIBLE_DEVICES");
}

int
main(int argc, char **argv)
{
	sigset_t ends;
	int signals;
	int listening;

	gpud_options_parse(argc, argv);
	if (gpud_options.parent != 0 && getppid() != gpud_options.parent)
		gpud_end(0);

	gpud_log_open();
	signals = take_signals(&ends);
	raise_descriptor_limit();
	set_environment();
	gpud_lock_take(&ends);
	listening = gpud_socket_open();
	if (!gpud_watch_start())
	{
		gpud_warn("could not create an epoll descriptor: %s", strerror(errno));
		gpud_end(1);
	}
	if (!gpud_setup_start() || !gpud_staging_start())
	{
		gpud_warn("could not start the set-up thread");
		gpud_end(1);
	}
	gpud_device_open();
	gpud_server_run(listening, signals);
}
