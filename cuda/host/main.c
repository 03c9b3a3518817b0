/*
 * main.c
 *	  gpuaggd: start, lock, socket and end.
 *
 * The lock file says who may own the socket: it is held by flock() as long as
 * the process lives, so a socket found under the lock is stale and replaced.
 * Signals are taken through a descriptor; nothing runs in a signal handler.
 *
 * Exit status: 0 clean end, 1 could not start, 2 the device's context was lost.
 */
#include "host/gpud.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define LOCK_WAIT_MS  5000 /* for another gpuaggd to end */
#define LOCK_RETRY_MS 50

GpudOptions gpud_options;

static bool socket_bound;
static dev_t socket_dev;
static ino_t socket_ino;

/*
 * One write() a line: the launcher reads lines from a pipe that others may
 * share.  A line is dropped when the pipe is full: its reader may be stopped.
 */
static void
log_line(const char *level, const char *format, va_list args)
{
	char line[512];
	int length = snprintf(line, sizeof(line), "%s: ", level);
	int rest = vsnprintf(line + length, sizeof(line) - (size_t) length, format, args);

	if (rest > 0)
		length += rest;
	if (length > (int) sizeof(line) - 2)
		length = (int) sizeof(line) - 2;
	line[length++] = '\n';

	if (write(STDERR_FILENO, line, (size_t) length) < 0)
		return;
}

void
gpud_log(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line("LOG", format, args);
	va_end(args);
}

void
gpud_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line("WARNING", format, args);
	va_end(args);
}

int64_t
gpud_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t) t.tv_sec * 1000000000 + t.tv_nsec;
}

bool
gpud_due(int64_t *last)
{
	int64_t now = gpud_now();

	if (*last != 0 && now - *last < INT64_C(10000000000))
		return false;
	*last = now;
	return true;
}

/*
 * _exit(): the driver's exit handlers may wait for a device that hangs, and the
 * kernel takes back everything anyway.
 */
void
gpud_end(int status)
{
	struct stat st;

	if (socket_bound && lstat(gpud_options.socket_path, &st) == 0 && st.st_dev == socket_dev &&
		st.st_ino == socket_ino)
		unlink(gpud_options.socket_path);
	_exit(status);
}

static void
fail(const char *what, const char *path)
{
	gpud_warn("could not %s \"%s\": %s", what, path, strerror(errno));
	gpud_end(1);
}

static uint64_t
parse_number(const char *name, const char *text, uint64_t max)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno != 0 || *text < '0' || *text > '9' || *end != '\0' || value > max)
	{
		gpud_warn("invalid value for --%s: \"%s\"", name, text);
		gpud_end(1);
	}
	return (uint64_t) value;
}

static void
parse_options(int argc, char **argv)
{
	static const struct option known[] = {{"socket", required_argument, NULL, 's'},
										  {"lock", required_argument, NULL, 'l'},
										  {"parent", required_argument, NULL, 'p'},
										  {"total-staging", required_argument, NULL, 't'},
										  {"device-memory", required_argument, NULL, 'm'},
										  {"visible-devices", required_argument, NULL, 'v'},
										  {"idle-timeout", required_argument, NULL, 'i'},
										  {"version", no_argument, NULL, 'V'},
										  {NULL, 0, NULL, 0}};
	int c;

	gpud_options.socket_path = GPUAGG_SOCKET_PATH;
	gpud_options.lock_path = GPUAGG_LOCK_PATH;
	gpud_options.total_staging = UINT64_C(1) << 30;
	gpud_options.visible_devices = "";

	opterr = 0;
	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1)
	{
		switch (c)
		{
			case 's':
				gpud_options.socket_path = optarg;
				break;
			case 'l':
				gpud_options.lock_path = optarg;
				break;
			case 'p':
				gpud_options.parent = (pid_t) parse_number("parent", optarg, INT32_MAX);
				break;
			case 't':
				gpud_options.total_staging = parse_number("total-staging", optarg, INT64_MAX);
				break;
			case 'm':
				gpud_options.device_memory = parse_number("device-memory", optarg, INT64_MAX);
				break;
			case 'v':
				gpud_options.visible_devices = optarg;
				break;
			case 'i':
				gpud_options.idle_timeout = (int) parse_number("idle-timeout", optarg, INT32_MAX);
				break;
			case 'V':
				printf("gpuaggd %s\n", GPUAGG_VERSION_STRING);
				exit(0);
			default:
				gpud_warn("unknown or incomplete option \"%s\"", argv[optind - 1]);
				gpud_end(1);
		}
	}
	if (optind != argc)
	{
		gpud_warn("unexpected argument \"%s\"", argv[optind]);
		gpud_end(1);
	}
}

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
		fail("set up", "signals");
	if (sigprocmask(SIG_BLOCK, ends, NULL) != 0 || signal(SIGPIPE, SIG_IGN) == SIG_ERR ||
		signal(SIGHUP, SIG_IGN) == SIG_ERR)
		fail("set up", "signals");
	fd = signalfd(-1, ends, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		fail("set up", "signals");
	return fd;
}

static void
take_lock(const sigset_t *ends)
{
	int64_t until = gpud_now() + LOCK_WAIT_MS * INT64_C(1000000);
	int fd = open(gpud_options.lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		fail("open lock file", gpud_options.lock_path);
	while (flock(fd, LOCK_EX | LOCK_NB) != 0)
	{
		struct timespec pause = {0, LOCK_RETRY_MS * 1000000L};

		if (errno != EWOULDBLOCK && errno != EINTR)
			fail("lock", gpud_options.lock_path);
		if (gpud_now() >= until)
		{
			gpud_warn("another gpuaggd holds lock file \"%s\"", gpud_options.lock_path);
			gpud_end(1);
		}
		if (sigtimedwait(ends, NULL, &pause) > 0)
			gpud_end(0);
	}
}

static int
open_socket(void)
{
	struct sockaddr_un address;
	struct stat st;
	mode_t old_mask;
	int fd;

	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	if (strlen(gpud_options.socket_path) >= sizeof(address.sun_path))
	{
		errno = ENAMETOOLONG;
		fail("use socket", gpud_options.socket_path);
	}
	strcpy(address.sun_path, gpud_options.socket_path);

	if (lstat(gpud_options.socket_path, &st) == 0)
	{
		if (!S_ISSOCK(st.st_mode))
		{
			errno = EEXIST;
			fail("replace, because it is no socket,", gpud_options.socket_path);
		}
		if (unlink(gpud_options.socket_path) != 0)
			fail("remove stale socket", gpud_options.socket_path);
	}

	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		fail("create socket", gpud_options.socket_path);
	old_mask = umask(0177);
	if (bind(fd, (struct sockaddr *) &address, sizeof(address)) != 0)
		fail("bind socket", gpud_options.socket_path);
	umask(old_mask);
	if (lstat(gpud_options.socket_path, &st) != 0)
		fail("examine socket", gpud_options.socket_path);
	socket_dev = st.st_dev;
	socket_ino = st.st_ino;
	socket_bound = true;
	if (listen(fd, GPUD_MAX_CONNECTIONS) != 0)
		fail("listen on socket", gpud_options.socket_path);
	return fd;
}

/* A launcher that does not read must not make us wait. */
static void
open_log(void)
{
	struct stat st;
	int flags = fcntl(STDERR_FILENO, F_GETFL);

	if (flags >= 0 && fstat(STDERR_FILENO, &st) == 0 && S_ISFIFO(st.st_mode))
		(void) fcntl(STDERR_FILENO, F_SETFL, flags | O_NONBLOCK);
}

/* A descriptor for each client and segment, and some for the driver. */
static void
raise_descriptor_limit(void)
{
	struct rlimit limit;
	rlim_t wanted = GPUD_MAX_CONNECTIONS + 256 +
					(rlim_t) (gpud_options.total_staging / GPUAGG_SEGMENT_BYTES);

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
		fail("set", "CUDA_MODULE_LOADING");
	if (gpud_options.visible_devices[0] != '\0' &&
		(setenv("CUDA_VISIBLE_DEVICES", gpud_options.visible_devices, 1) != 0 ||
		 setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0) != 0))
		fail("set", "CUDA_VISIBLE_DEVICES");
}

int
main(int argc, char **argv)
{
	sigset_t ends;
	int signals;
	int listening;

	parse_options(argc, argv);
	if (gpud_options.parent != 0 && getppid() != gpud_options.parent)
		gpud_end(0);

	open_log();
	signals = take_signals(&ends);
	raise_descriptor_limit();
	set_environment();
	take_lock(&ends);
	listening = open_socket();
	if (!gpud_setup_start() || !gpud_staging_start())
	{
		gpud_warn("could not start the set-up thread");
		gpud_end(1);
	}
	gpud_device_open();
	gpud_server_run(listening, signals);
}
