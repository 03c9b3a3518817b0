/*
 * client.c
 *	  A client of gpuaggd for tests.
 */
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_ARGS 16

static int passed;
static int failed;

bool
test_check(bool ok, const char *what, const char *file, int line)
{
	if (ok)
		passed++;
	else
	{
		failed++;
		printf("FAILED %s:%d: %s\n", file, line, what);
		fflush(stdout);
	}
	return ok;
}

int
test_end(void)
{
	printf("%d passed, %d failed\n", passed, failed);
	return failed > 0;
}

/* What a test cannot go on without. */
static void
need(bool ok, const char *what)
{
	if (ok)
		return;
	printf("FAILED %s: %s\n", what, strerror(errno));
	failed++;
	exit(test_end());
}

int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void
sleep_ms(int ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

	while (nanosleep(&t, &t) != 0 && errno == EINTR)
		continue;
}

static int holds;

/* The file whose name gpuaggd has from the environment, or that with this ending. */
static const char *
hold_file(const char *ending)
{
	static char name[64];

	snprintf(name, sizeof(name), "/tmp/gpuagg-hold.%d%s", (int) getpid(), ending);
	return name;
}

void
device_hold(int more)
{
	char whole[64];
	FILE *file;

	/* a hold that is there gets another limit */
	if (access(hold_file(""), F_OK) != 0 && holds++ == 0)
		atexit(device_release);
	unlink(hold_file(".reached"));
	file = fopen(hold_file(".new"), "w");
	need(file != NULL && fprintf(file, "%d %d", holds, more) > 0 && fclose(file) == 0, "hold");
	strcpy(whole, hold_file(""));
	need(rename(hold_file(".new"), whole) == 0, "hold");
}

void
device_release(void)
{
	unlink(hold_file(""));
	unlink(hold_file(".reached"));
}

bool
device_holds(int n)
{
	int64_t until = now_ms() + WAIT_MS;

	for (;;)
	{
		FILE *file = fopen(hold_file(".reached"), "r");
		int there = 0;

		if (file != NULL && fscanf(file, "%d\n", &there) != 1)
			there = 0; /* being written */
		if (file != NULL)
			fclose(file);
		if (there >= n)
			return true;
		if (now_ms() > until)
			return false;
		sleep_ms(1);
	}
}

static const char *
starve_file(void)
{
	static char name[64];

	snprintf(name, sizeof(name), "/tmp/gpuagg-starve.%d", (int) getpid());
	return name;
}

void
device_starve(bool starve)
{
	int fd;

	if (!starve)
	{
		unlink(starve_file());
		return;
	}
	fd = open(starve_file(), O_WRONLY | O_CREAT, 0600);
	need(fd >= 0, "starve");
	close(fd);
}

static const char *
pin_file(void)
{
	static char name[64];

	snprintf(name, sizeof(name), "/tmp/gpuagg-pin.%d", (int) getpid());
	return name;
}

static void
pin_say(const char *word)
{
	static bool cleans_up;
	char whole[80];
	FILE *file;

	if (!cleans_up)
		atexit(pin_release);
	cleans_up = true;
	snprintf(whole, sizeof(whole), "%s.new", pin_file());
	file = fopen(whole, "w");
	need(file != NULL && fputs(word, file) >= 0 && fclose(file) == 0, "hold");
	need(rename(whole, pin_file()) == 0, "hold");
}

void
pin_hold(void)
{
	pin_say("hold");
}

void
pin_fail(void)
{
	pin_say("fail");
}

void
pin_release(void)
{
	unlink(pin_file());
}

void
daemon_start_in(Daemon *daemon, const char *program, const char *const *args)
{
	const char *argv[MAX_ARGS + 6] = {program, "--socket", "gpuagg.sock", "--lock", "gpuagg.lock"};
	int n = 5;

	for (int i = 0; args != NULL && args[i] != NULL && i < MAX_ARGS; i++)
		argv[n++] = args[i];
	argv[n] = NULL;
	setenv("GPUAGG_SIM_HOLD", hold_file(""), 1);
	setenv("GPUAGG_SIM_PIN", pin_file(), 1);
	setenv("GPUAGG_SIM_STARVE", starve_file(), 1);

	daemon->pid = fork();
	need(daemon->pid >= 0, "fork");
	if (daemon->pid == 0)
	{
		int log;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chdir(daemon->dir) != 0)
			_exit(127);
		log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
		if (log < 0 || dup2(log, STDERR_FILENO) < 0)
			_exit(127);
		execv(program, (char *const *) argv);
		_exit(127);
	}
}

void
daemon_start(Daemon *daemon, const char *program, const char *const *args)
{
	strcpy(daemon->dir, "/tmp/gpuagg-daemon.XXXXXX");
	need(mkdtemp(daemon->dir) != NULL, "mkdtemp");
	daemon_start_in(daemon, program, args);
}

int
daemon_wait(Daemon *daemon, int ms)
{
	int64_t until = now_ms() + ms;
	int status;

	for (;;)
	{
		pid_t pid = waitpid(daemon->pid, &status, WNOHANG);

		if (pid == daemon->pid)
		{
			daemon->pid = -1;
			return status;
		}
		if (pid < 0 || now_ms() > until)
			return -1;
		sleep_ms(5);
	}
}

int
daemon_end(Daemon *daemon, int signal)
{
	static const char *const files[] = {"log", "gpuagg.lock", "gpuagg.sock"};
	int status = 0;

	if (daemon->pid > 0)
	{
		kill(daemon->pid, signal);
		status = daemon_wait(daemon, WAIT_MS);
		if (status == -1)
		{
			kill(daemon->pid, SIGKILL);
			daemon_wait(daemon, WAIT_MS);
		}
	}
	for (int i = 0; i < 3; i++)
	{
		char path[128];

		snprintf(path, sizeof(path), "%s/%s", daemon->dir, files[i]);
		unlink(path);
	}
	rmdir(daemon->dir);
	return status;
}

int
client_connect(const Daemon *daemon)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	need(fd >= 0, "socket");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/gpuagg.sock", daemon->dir);
	if (connect(fd, (struct sockaddr *) &address, sizeof(address)) != 0)
	{
		close(fd);
		return -1;
	}
	return fd;
}

int
client_greet(const Daemon *daemon, GpuaggReply *reply)
{
	int64_t until = now_ms() + WAIT_MS;
	int64_t connected = now_ms();
	int fd = client_connect(daemon);
	GpuaggReply own;

	if (reply == NULL)
		reply = &own;
	while (now_ms() < until)
	{
		GpuaggRequest request;
		GpuaggReason reason;

		if (fd < 0)
		{
			sleep_ms(5);
			connected = now_ms();
			fd = client_connect(daemon);
			continue;
		}
		request_init(&request, GPUAGG_MSG_HELLO);
		reason = client_call(fd, &request, reply);
		/* who says nothing for 2 s is turned away */
		if (reason == GPUAGG_LOST && now_ms() - connected > 1900)
		{
			close(fd);
			fd = -1;
			continue;
		}
		if (reason != GPUAGG_STARTING)
			return fd;
		sleep_ms(5);
	}
	need(false, "gpuaggd becomes ready");
	return -1;
}

bool
device_simulated(const char *program)
{
	Daemon d;
	GpuaggRequest request;
	GpuaggReply reply;
	bool simulated;
	int fd;

	daemon_start(&d, program, NULL);
	fd = client_greet(&d, NULL);
	request_init(&request, GPUAGG_MSG_DEVICE);
	simulated = client_call(fd, &request, &reply) == GPUAGG_OK && reply.u.device.simulated;
	close(fd);
	CHECK(daemon_end(&d, SIGTERM) == 0);
	return simulated;
}

void
request_init(GpuaggRequest *request, int type)
{
	static uint32_t id;

	memset(request, 0, sizeof(*request));
	request->h.magic = GPUAGG_MAGIC;
	request->h.version = GPUAGG_PROTOCOL_VERSION;
	request->h.type = (uint16_t) type;
	request->h.id = ++id;
	if (type == GPUAGG_MSG_HELLO)
	{
		strcpy(request->u.hello.version, GPUAGG_VERSION_STRING);
		request->u.hello.pid = getpid();
	}
}

bool
client_send(int fd, const GpuaggRequest *request)
{
	return send(fd, request, sizeof(*request), MSG_NOSIGNAL) == (ssize_t) sizeof(*request);
}

int
client_receive(int fd, GpuaggReply *reply, int *passed_fd, int ms)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	struct iovec part = {.iov_base = reply, .iov_len = sizeof(*reply)};
	union
	{
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = {.msg_iov = &part,
							 .msg_iovlen = 1,
							 .msg_control = control.space,
							 .msg_controllen = sizeof(control.space)};
	struct cmsghdr *header;
	ssize_t got;
	int fd_got = -1;

	if (poll(&wait, 1, ms) != 1)
		return -1;
	got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	if (got != (ssize_t) sizeof(*reply) || (message.msg_flags & MSG_TRUNC))
		return 0;
	header = CMSG_FIRSTHDR(&message);
	if (header != NULL && header->cmsg_type == SCM_RIGHTS)
		memcpy(&fd_got, CMSG_DATA(header), sizeof(int));
	if (passed_fd != NULL)
		*passed_fd = fd_got;
	else if (fd_got >= 0)
		close(fd_got);
	return 1;
}

GpuaggReason
client_call(int fd, const GpuaggRequest *request, GpuaggReply *reply)
{
	int64_t until = now_ms() + WAIT_MS;

	if (!client_send(fd, request))
		return GPUAGG_LOST;
	while (client_receive(fd, reply, NULL, (int) (until - now_ms())) == 1)
		if (reply->h.id == request->h.id)
			return (GpuaggReason) reply->h.reason;
	return GPUAGG_LOST;
}

bool
client_is_read(int fd)
{
	GpuaggRequest request;
	GpuaggReply reply;

	request_init(&request, GPUAGG_MSG_PING);
	return client_call(fd, &request, &reply) == GPUAGG_OK;
}

bool
client_refused(int fd, const GpuaggRequest *request)
{
	GpuaggReply reply;

	return client_call(fd, request, &reply) == GPUAGG_REFUSED;
}

bool
client_is_closed(int fd)
{
	GpuaggReply reply;
	int got;

	do
		got = client_receive(fd, &reply, NULL, WAIT_MS);
	while (got == 1);
	return got == 0;
}

GpuaggReason
client_lease(int fd, uint64_t bytes, Lease *lease)
{
	return client_lease_for(fd, bytes, 0, 0, lease);
}

GpuaggReason
client_lease_for(int fd, uint64_t bytes, uint32_t role, uint32_t database, Lease *lease)
{
	GpuaggRequest request;
	GpuaggReply reply;
	void *p;

	memset(lease, 0, sizeof(*lease));
	lease->fd = -1;
	request_init(&request, GPUAGG_MSG_LEASE);
	request.u.lease.bytes = bytes;
	request.u.lease.role = role;
	request.u.lease.database = database;
	if (!client_send(fd, &request) || client_receive(fd, &reply, &lease->fd, WAIT_MS) != 1)
		return GPUAGG_LOST;
	if (reply.h.reason != GPUAGG_OK)
		return (GpuaggReason) reply.h.reason;
	lease->region = reply.u.lease.region;
	lease->bytes = reply.u.lease.bytes;
	p = mmap(NULL, lease->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, lease->fd, 0);
	need(p != MAP_FAILED, "mmap");
	lease->base = p;
	return GPUAGG_OK;
}

void
lease_forget(Lease *lease)
{
	if (lease->base != NULL)
		munmap(lease->base, lease->bytes);
	if (lease->fd >= 0)
		close(lease->fd);
	lease->base = NULL;
	lease->fd = -1;
}

bool
client_release(int fd, Lease *lease)
{
	GpuaggRequest request;
	GpuaggReply reply;

	lease_forget(lease);
	request_init(&request, GPUAGG_MSG_RELEASE);
	request.u.release.region = lease->region;
	if (!client_send(fd, &request))
		return false;
	request_init(&request, GPUAGG_MSG_PING);
	return client_call(fd, &request, &reply) == GPUAGG_OK;
}

int
client_start(Daemon *daemon, const char *program, const char *const *args, Lease *lease)
{
	int fd;

	daemon_start(daemon, program, args);
	fd = client_greet(daemon, NULL);
	need(client_lease(fd, GPUAGG_SEGMENT_BYTES, lease) == GPUAGG_OK, "a lease");
	return fd;
}

bool
client_end(Daemon *daemon, int fd, Lease *lease)
{
	close(fd);
	lease_forget(lease);
	return daemon_end(daemon, SIGTERM) == 0;
}

/* Where columns start.  COUNT has none of values, and must not write where the others' are. */
static uint64_t
columns_at(uint64_t offset, int kind, int op, uint64_t nrows)
{
	uint64_t values = nrows * gpuagg_kind_size(kind);

	return op == GPUAGG_COUNT ? offset + (values + GPUAGG_ALIGN - 1) / GPUAGG_ALIGN * GPUAGG_ALIGN
							  : offset;
}

static GpuaggWork *
work_init(GpuaggRequest *request, int type, const Lease *lease, uint64_t nrows)
{
	request_init(request, type);
	request->u.work.region = lease->region;
	request->u.work.nrows = nrows;
	return &request->u.work;
}

void
reduce_init(GpuaggRequest *request, const Lease *lease, int kind, int op, unsigned flags,
			uint64_t offset, uint64_t nrows)
{
	GpuaggWork *work = work_init(request, GPUAGG_MSG_REDUCE, lease, nrows);

	work->kind = (uint32_t) kind;
	work->op = (uint32_t) op;
	work->flags = flags;
	gpuagg_work_lay_out(GPUAGG_MSG_REDUCE, work, columns_at(offset, kind, op, nrows), nrows);
}

void
scan_init(GpuaggRequest *request, const Lease *lease, int kind, int op, unsigned flags,
		  uint64_t nrows)
{
	GpuaggWork *work = work_init(request, GPUAGG_MSG_SCAN, lease, nrows);

	work->kind = (uint32_t) kind;
	work->op = (uint32_t) op;
	work->flags = flags;
	gpuagg_work_lay_out(GPUAGG_MSG_SCAN, work, columns_at(0, kind, op, nrows), nrows);
	gpuagg_float_sum_init(gpuagg_float_sum_of(&work->u.scan.carry.f), 0, GPUAGG_CHUNKS);
}

void
sort_init(GpuaggRequest *request, const Lease *lease, int words, int bits, uint64_t nrows)
{
	GpuaggWork *work = work_init(request, GPUAGG_MSG_SORT, lease, nrows);

	work->u.sort.words = (uint32_t) words;
	work->u.sort.bits = (uint32_t) bits;
	gpuagg_work_lay_out(GPUAGG_MSG_SORT, work, GPUAGG_ALIGN, nrows);
}

void
ladder_init(GpuaggRequest *request, const Lease *lease, int task, int algorithm, int kind, int op,
			unsigned flags, uint64_t nrows)
{
	GpuaggWork *work = work_init(request, GPUAGG_MSG_LADDER, lease, nrows);

	work->kind = (uint32_t) kind;
	work->op = (uint32_t) op;
	work->flags = flags;
	work->u.ladder.task = (uint32_t) task;
	work->u.ladder.algorithm = (uint32_t) algorithm;
	gpuagg_work_lay_out(GPUAGG_MSG_LADDER, work, 0, nrows);
}

void
bench_init(GpuaggRequest *request, int task, int algorithm, int kind, uint64_t nrows)
{
	request_init(request, GPUAGG_MSG_BENCH);
	request->u.bench.task = (uint32_t) task;
	request->u.bench.algorithm = (uint32_t) algorithm;
	request->u.bench.kind = (uint32_t) kind;
	request->u.bench.nrows = nrows;
	request->u.bench.repetitions = 3;
	request->u.bench.seed = 5;
}

uint64_t
random_bits(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}
