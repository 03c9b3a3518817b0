/*
 * daemon_test.c
 *	  gpuaggd's life: start, greeting, leases, end.
 *
 * Usage: daemon_test PROGRAM, where PROGRAM runs on the simulated device.
 */
#include "client.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MB (UINT64_C(1) << 20)

static const char *program;

static bool
ended_with(int status, int code)
{
	return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == code;
}

static bool
socket_exists(const Daemon *d)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/gpuagg.sock", d->dir);
	return lstat(path, &st) == 0;
}

static void
test_greeting(void)
{
	Daemon d;
	GpuaggReply reply;
	GpuaggRequest request;
	char path[128];
	struct stat st;
	char longer[sizeof(GpuaggRequest) + 32];
	int fd;

	daemon_start(&d, program, NULL);
	fd = client_greet(&d, &reply);
	CHECK(reply.h.magic == GPUAGG_MAGIC && reply.h.type == GPUAGG_MSG_HELLO);
	CHECK(reply.h.reason == GPUAGG_OK && reply.u.hello.ready == 1);
	CHECK(strcmp(reply.u.hello.version, GPUAGG_VERSION_STRING) == 0);
	CHECK(reply.u.hello.pid == d.pid);
	CHECK(reply.u.hello.clients == 1 && reply.u.hello.inflight == 0);

	snprintf(path, sizeof(path), "%s/gpuagg.sock", d.dir);
	CHECK(lstat(path, &st) == 0 && (st.st_mode & 0777) == 0600);

	request_init(&request, GPUAGG_MSG_PING);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK && reply.h.type == GPUAGG_MSG_PING);

	request_init(&request, GPUAGG_MSG_DEVICE);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	CHECK(reply.u.device.count == 1 && reply.u.device.usable == 1 && reply.u.device.simulated);
	CHECK(reply.u.device.memory_total > 0 && reply.u.device.multiprocessors > 0);
	request_init(&request, GPUAGG_MSG_DEVICE);
	request.u.device.index = 1;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_REFUSED && reply.u.device.count == 1);

	/* a message that is not of the protocol ends the connection */
	request_init(&request, 99);
	CHECK(client_send(fd, &request) && client_is_closed(fd));
	close(fd);

	fd = client_greet(&d, NULL);
	CHECK(send(fd, &request, 100, MSG_NOSIGNAL) == 100 && client_is_closed(fd));
	close(fd);

	fd = client_greet(&d, NULL);
	memset(longer, 0, sizeof(longer));
	request_init(&request, GPUAGG_MSG_PING);
	memcpy(longer, &request, sizeof(request));
	CHECK(send(fd, longer, sizeof(longer), MSG_NOSIGNAL) == (ssize_t) sizeof(longer));
	CHECK(client_is_closed(fd));
	close(fd);

	fd = client_greet(&d, NULL);
	CHECK(send(fd, longer, 0, MSG_NOSIGNAL) == 0 && client_is_closed(fd));
	close(fd);

	fd = client_connect(&d);
	CHECK(client_send(fd, &request) && client_is_closed(fd)); /* no HELLO before */
	close(fd);

	fd = client_connect(&d);
	request_init(&request, GPUAGG_MSG_HELLO);
	request.h.magic++;
	CHECK(client_send(fd, &request) && client_is_closed(fd));
	close(fd);

	fd = client_connect(&d);
	request_init(&request, GPUAGG_MSG_HELLO);
	request.h.version++;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_VERSION);
	CHECK(reply.h.version == GPUAGG_PROTOCOL_VERSION);
	CHECK(strcmp(reply.u.hello.version, GPUAGG_VERSION_STRING) == 0);
	CHECK(client_is_closed(fd));
	close(fd);

	CHECK(daemon_end(&d, SIGTERM) == 0);
}

/* Connections that say nothing keep nobody out for long. */
static void
test_silent_connections(void)
{
	enum
	{
		MANY = 1100 /* more than gpuaggd takes */
	};

	static int silent[MANY];
	struct rlimit limit;
	Daemon d;
	int64_t until = now_ms() + WAIT_MS;
	GpuaggRequest request;
	GpuaggReply reply;
	bool served = false;
	int fd;

	CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	daemon_start(&d, program, NULL);
	fd = client_greet(&d, NULL);
	for (int i = 0; i < MANY; i++)
		silent[i] = client_connect(&d);
	while (!served && now_ms() < until)
	{
		int other = client_connect(&d);

		request_init(&request, GPUAGG_MSG_HELLO);
		served = other >= 0 && client_call(other, &request, &reply) == GPUAGG_OK;
		if (other >= 0)
			close(other);
		if (!served)
			sleep_ms(20);
	}
	CHECK(served);
	CHECK(client_is_read(fd)); /* one that has said HELLO may rest */
	for (int i = 0; i < MANY; i++)
		if (silent[i] >= 0)
			close(silent[i]);
	close(fd);
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

/* Connections whose HELLO has come while gpuaggd had no time are greeted, however many. */
static void
test_late_greeting(void)
{
	enum
	{
		MANY = 200
	};
	static int fds[MANY];
	Daemon d;
	GpuaggRequest request;
	GpuaggReply reply;
	int64_t begin;
	bool in_time; /* else they may have been silent for too long before */
	int greeted = 0;
	int fd;

	daemon_start(&d, program, NULL);
	fd = client_greet(&d, NULL);
	begin = now_ms();
	for (int i = 0; i < MANY; i++)
		fds[i] = client_connect(&d);
	for (int i = 0; i < 8; i++)
		CHECK(client_is_read(fd)); /* they have been accepted */
	kill(d.pid, SIGSTOP);
	in_time = now_ms() - begin < 1500;
	for (int i = 0; i < MANY; i++)
	{
		request_init(&request, GPUAGG_MSG_HELLO);
		(void) client_send(fds[i], &request);
	}
	sleep_ms(2200);
	kill(d.pid, SIGCONT);
	for (int i = 0; i < MANY; i++)
	{
		greeted += client_receive(fds[i], &reply, NULL, WAIT_MS) == 1 &&
				   reply.h.reason == GPUAGG_OK;
		close(fds[i]);
	}
	CHECK(greeted == MANY || !in_time);
	close(fd);
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

static void
test_leases(void)
{
	const char *const args[] = {"--total-staging", "67108864", NULL};
	Daemon d;
	Lease a;
	Lease b;
	Lease c;
	uint32_t old;
	int fd;
	int other;
	int seals;

	daemon_start(&d, program, args);
	fd = client_greet(&d, NULL);
	other = client_greet(&d, NULL);

	CHECK(client_lease(fd, 0, &a) == GPUAGG_REFUSED);
	CHECK(client_lease(fd, 64 * MB + 1, &a) == GPUAGG_NO_STAGING);
	CHECK(client_lease(fd, UINT64_MAX, &a) == GPUAGG_NO_STAGING);

	CHECK(client_lease(fd, 20 * MB, &a) == GPUAGG_OK && a.bytes == 32 * MB);
	CHECK(client_lease(other, 32 * MB, &b) == GPUAGG_OK && b.bytes == 32 * MB);
	CHECK(a.region != b.region);
	CHECK(client_lease(fd, GPUAGG_SEGMENT_BYTES, &c) == GPUAGG_NO_STAGING);
	CHECK(client_lease(other, GPUAGG_SEGMENT_BYTES, &c) == GPUAGG_NO_STAGING);

	/* the client can neither shrink nor grow it, so touching it is safe for others */
	seals = fcntl(a.fd, F_GET_SEALS);
	CHECK(seals == (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
	CHECK(ftruncate(a.fd, 4096) != 0);
	a.base[a.bytes - 1] = 7;

	/* a released segment is leased again under another number */
	old = a.region;
	CHECK(client_release(fd, &a) && client_lease(fd, 32 * MB, &a) == GPUAGG_OK);
	CHECK(a.region != old);

	/* a region that is another client's is not released */
	c = b;
	c.base = NULL;
	c.fd = -1;
	CHECK(client_release(fd, &c));
	CHECK(client_lease(fd, GPUAGG_SEGMENT_BYTES, &c) == GPUAGG_NO_STAGING);

	/* two small free segments make room for a large one, and the other way round */
	CHECK(client_release(fd, &a) && client_release(other, &b));
	CHECK(client_lease(fd, GPUAGG_SEGMENT_BYTES, &a) == GPUAGG_OK);
	CHECK(client_release(fd, &a));
	CHECK(client_lease(fd, 40 * MB, &a) == GPUAGG_OK && a.bytes == 64 * MB);
	CHECK(client_lease(other, GPUAGG_SEGMENT_BYTES, &b) == GPUAGG_NO_STAGING);
	CHECK(client_release(fd, &a));
	CHECK(client_lease(other, GPUAGG_SEGMENT_BYTES, &b) == GPUAGG_OK);

	/* a client that closes its connection gives its segment back */
	close(other);
	lease_forget(&b);
	for (int i = 0; i < 3000 && client_lease(fd, 64 * MB, &a) == GPUAGG_NO_STAGING; i++)
		sleep_ms(10);
	CHECK(a.bytes == 64 * MB);
	CHECK(client_end(&d, fd, &a));
}

/* No client may have more than 256 MiB. */
static void
test_lease_quota(void)
{
	const char *const args[] = {"--total-staging", "402653184", NULL};
	Daemon d;
	Lease a[4];
	Lease b;
	int fd;
	int other;

	daemon_start(&d, program, args);
	fd = client_greet(&d, NULL);
	other = client_greet(&d, NULL);
	for (int i = 0; i < 4; i++)
		CHECK(client_lease(fd, 64 * MB, &a[i]) == GPUAGG_OK);
	CHECK(client_lease(fd, GPUAGG_SEGMENT_BYTES, &b) == GPUAGG_BUSY);
	CHECK(client_lease(other, GPUAGG_SEGMENT_BYTES, &b) == GPUAGG_OK);
	CHECK(client_release(fd, &a[0]));
	CHECK(client_lease(fd, 64 * MB, &a[0]) == GPUAGG_OK);
	for (int i = 0; i < 4; i++)
		lease_forget(&a[i]);
	lease_forget(&b);
	close(fd);
	close(other);
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

/* Many ask while segments are in the making: each gets one, or a reason. */
static void
test_lease_crowd(void)
{
	const char *const args[] = {"--total-staging", "134217728", NULL};
	Daemon d;
	int fd[12];
	GpuaggRequest request;
	GpuaggReply reply;
	int granted = 0;
	int declined = 0;

	daemon_start(&d, program, args);
	for (int i = 0; i < 12; i++)
		fd[i] = client_greet(&d, NULL);
	for (int i = 0; i < 12; i++)
	{
		request_init(&request, GPUAGG_MSG_LEASE);
		request.u.lease.bytes = GPUAGG_SEGMENT_BYTES;
		CHECK(client_send(fd[i], &request));
	}
	close(fd[0]); /* one does not wait for the answer */
	for (int i = 1; i < 12; i++)
	{
		CHECK(client_receive(fd[i], &reply, NULL, WAIT_MS) == 1);
		granted += reply.h.reason == GPUAGG_OK;
		declined += reply.h.reason == GPUAGG_NO_STAGING;
	}
	CHECK(granted >= 3 && granted <= 4 && granted + declined == 11);
	for (int i = 1; i < 12; i++)
		close(fd[i]);
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

static void
lease_request(GpuaggRequest *request, uint64_t bytes, uint32_t wait_ms)
{
	request_init(request, GPUAGG_MSG_LEASE);
	request->u.lease.bytes = bytes;
	request->u.lease.wait_ms = wait_ms;
}

/* Asks for a lease and does not wait for the answer; gpuaggd has read it. */
static void
ask_lease_waiting(int fd, uint64_t bytes, uint32_t wait_ms)
{
	GpuaggRequest request;

	lease_request(&request, bytes, wait_ms);
	CHECK(client_send(fd, &request) && client_is_read(fd));
}

static void
ask_lease(int fd, uint64_t bytes)
{
	ask_lease_waiting(fd, bytes, 0);
}

static bool
lease_is_refused(int fd, uint64_t bytes, uint32_t wait_ms)
{
	GpuaggRequest request;
	GpuaggReply reply;

	lease_request(&request, bytes, wait_ms);
	return client_call(fd, &request, &reply) == GPUAGG_NO_STAGING;
}

/* The reason in the next reply, and the leased bytes. */
static GpuaggReason
lease_answer(int fd, uint64_t *bytes)
{
	GpuaggReply reply;

	memset(&reply, 0, sizeof(reply));
	if (!CHECK(client_receive(fd, &reply, NULL, WAIT_MS) == 1))
		return GPUAGG_LOST;
	*bytes = reply.u.lease.bytes;
	return (GpuaggReason) reply.h.reason;
}

/*
 * A large segment in the making, whose client has gone, serves one that waits and not
 * two; all are answered, with a segment or, where pinning fails, a reason.
 */
static void
test_lease_made_for_one(void)
{
	const char *const args[] = {"--total-staging", "268435456", NULL};
	uint64_t bytes;

	for (int fails = 0; fails < 2; fails++)
	{
		Daemon d;
		int gone;
		int small;
		int large;

		daemon_start(&d, program, args);
		gone = client_greet(&d, NULL);
		small = client_greet(&d, NULL);
		large = client_greet(&d, NULL);
		pin_hold();
		ask_lease(gone, 64 * MB);
		close(gone);
		ask_lease(small, GPUAGG_SEGMENT_BYTES);
		ask_lease(large, 64 * MB);
		if (fails)
			pin_fail();
		else
			pin_release();
		CHECK(lease_answer(small, &bytes) == (fails ? GPUAGG_NO_STAGING : GPUAGG_OK));
		CHECK(lease_answer(large, &bytes) == (fails ? GPUAGG_NO_STAGING : GPUAGG_OK));
		pin_release();
		close(small);
		close(large);
		CHECK(daemon_end(&d, SIGTERM) == 0);
	}
}

/* Nor may a client that asked for small segments get more in large ones. */
static void
test_lease_quota_waiting(void)
{
	const char *const args[] = {"--total-staging", "671088640", NULL};
	Daemon d;
	uint64_t bytes;
	uint64_t all = 0;
	int gone;
	int fd;

	daemon_start(&d, program, args);
	gone = client_greet(&d, NULL);
	fd = client_greet(&d, NULL);
	pin_hold();
	for (int i = 0; i < 4; i++)
		ask_lease(gone, 64 * MB);
	close(gone);
	for (int i = 0; i < 8; i++)
		ask_lease(fd, 32 * MB);
	pin_release();
	for (int i = 0; i < 8; i++)
		if (CHECK(lease_answer(fd, &bytes) == GPUAGG_OK))
			all += bytes;
	CHECK(all <= 256 * MB);
	close(fd);
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

/* Leases of all clients, and requests for one that wait. */
static uint32_t
count_leases(int fd)
{
	GpuaggRequest request;
	GpuaggReply reply;

	request_init(&request, GPUAGG_MSG_PING);
	return CHECK(client_call(fd, &request, &reply) == GPUAGG_OK) ? reply.u.hello.leases : 0;
}

/* What others have on lease is waited for, in turn and for so long, but not by who has some. */
static void
test_lease_waits(void)
{
	const char *const args[] = {"--total-staging", "67108864", NULL};
	Daemon d;
	Lease lease;
	Lease other;
	uint64_t bytes;
	int fd;
	int waits[3];

	daemon_start(&d, program, args);
	fd = client_greet(&d, NULL);
	for (int i = 0; i < 3; i++)
		waits[i] = client_greet(&d, NULL);
	/* not even where others have enough for it */
	CHECK(client_lease(fd, 32 * MB, &lease) == GPUAGG_OK);
	CHECK(client_lease(waits[0], 32 * MB, &other) == GPUAGG_OK);
	CHECK(lease_is_refused(fd, 32 * MB, UINT32_MAX));
	CHECK(client_release(waits[0], &other) && client_release(fd, &lease));

	CHECK(client_lease(fd, 64 * MB, &lease) == GPUAGG_OK);
	CHECK(lease_is_refused(waits[0], GPUAGG_SEGMENT_BYTES, 1));
	CHECK(lease_is_refused(fd, GPUAGG_SEGMENT_BYTES, UINT32_MAX));
	CHECK(lease_is_refused(waits[0], 64 * MB + 1, UINT32_MAX));

	for (int i = 0; i < 3; i++)
		ask_lease_waiting(waits[i], 64 * MB, UINT32_MAX);
	CHECK(count_leases(fd) == 4);
	CHECK(lease_is_refused(fd, GPUAGG_SEGMENT_BYTES_MIN, 0));
	CHECK(client_release(fd, &lease));
	CHECK(lease_answer(waits[0], &bytes) == GPUAGG_OK && bytes == 64 * MB);
	CHECK(count_leases(fd) == 3);
	close(waits[1]);
	while (count_leases(fd) > 2)
		sleep_ms(1);
	ask_lease_waiting(fd, GPUAGG_SEGMENT_BYTES, UINT32_MAX);
	/* the memory of one that goes is unmade, and the next one's made anew */
	close(waits[0]);
	CHECK(lease_answer(waits[2], &bytes) == GPUAGG_OK && bytes == 64 * MB);
	CHECK(count_leases(waits[2]) == 2);
	close(waits[2]);
	CHECK(lease_answer(fd, &bytes) == GPUAGG_OK && bytes == GPUAGG_SEGMENT_BYTES);
	close(fd);
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

/* Of a large budget large segments leave a part for small ones, made anew or not. */
static void
test_lease_reserve(void)
{
	const char *const args[] = {"--total-staging", "1073741824", NULL};
	Daemon d;
	Lease lease[16];
	int fd[4];

	daemon_start(&d, program, args);
	for (int i = 0; i < 4; i++)
		fd[i] = client_greet(&d, NULL);
	for (int turn = 0; turn < 2; turn++)
	{
		for (int i = 0; i < 15; i++)
			CHECK(client_lease(fd[i / 4], 64 * MB, &lease[i]) == GPUAGG_OK);
		CHECK(lease_is_refused(fd[3], 64 * MB, 0));
		CHECK(lease_is_refused(fd[3], 32 * MB, 0));
		CHECK(client_lease(fd[3], GPUAGG_SEGMENT_BYTES_MIN, &lease[15]) == GPUAGG_OK);
		for (int i = 0; i < 16; i++)
			CHECK(client_release(fd[i < 15 ? i / 4 : 3], &lease[i]));
	}
	for (int i = 0; i < 4; i++)
		close(fd[i]);
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

/* Leases a region, looks for a byte other than 0, leaves one there, and releases it. */
static bool
finds_data(int fd, uint64_t bytes, uint32_t role, uint32_t database)
{
	Lease lease;
	bool found = false;

	if (!CHECK(client_lease_for(fd, bytes, role, database, &lease) == GPUAGG_OK))
		return false;
	for (uint64_t i = 0; i < lease.bytes; i++)
		found |= lease.base[i] != 0;
	lease.base[random_bits(&(uint64_t){bytes + role}) % lease.bytes] = 1;
	CHECK(client_release(fd, &lease));
	return found;
}

/* What a role left in a segment is not shown to others, nor to itself in another database. */
static void
test_clearing(uint64_t bytes)
{
	char staging[32];
	const char *const args[] = {"--total-staging", staging, NULL};
	Daemon d;
	Lease a;
	Lease b;
	int fd;
	int other;

	snprintf(staging, sizeof(staging), "%llu", (unsigned long long) (2 * bytes));
	daemon_start(&d, program, args);
	fd = client_greet(&d, NULL);
	other = client_greet(&d, NULL);
	CHECK(!finds_data(fd, bytes, 10, 1));
	CHECK(finds_data(fd, bytes, 10, 1)); /* its own data need not be cleared */
	CHECK(!finds_data(other, bytes, 11, 1));
	CHECK(!finds_data(other, bytes, 11, 2));
	CHECK(!finds_data(fd, bytes, 12, 2));
	CHECK(finds_data(other, bytes, 12, 2));

	/* while one is in use the other is cleared; both, and no third */
	CHECK(client_lease_for(fd, bytes, 12, 2, &a) == GPUAGG_OK);
	CHECK(!finds_data(other, bytes, 13, 2));
	CHECK(!finds_data(other, bytes, 14, 2));
	CHECK(client_lease_for(other, bytes, 15, 2, &b) == GPUAGG_OK);
	CHECK(client_release(fd, &a) && client_lease_for(fd, bytes, 15, 2, &a) == GPUAGG_OK);
	CHECK(client_lease_for(fd, bytes, 15, 2, &(Lease){0}) == GPUAGG_NO_STAGING);
	lease_forget(&b);
	close(other);
	CHECK(client_end(&d, fd, &a));
}

/* What asks for little gets a segment of that size: many have room where there is none for one more large one. */
static void
test_small_leases(void)
{
	static const uint64_t sizes[][2] = {{1, 256 << 10},
										{256 << 10, 256 << 10},
										{(256 << 10) + 1, MB},
										{MB + 1, 4 * MB},
										{4 * MB + 1, 32 * MB}};
	enum
	{
		CROWD = 200
	};
	const char *const args[] = {"--total-staging", "134217728", NULL};
	Daemon d;
	Lease lease[CROWD];
	Lease large;
	int fd[CROWD];
	int granted = 0;

	daemon_start(&d, program, args);
	for (int i = 0; i < CROWD; i++)
		fd[i] = client_greet(&d, NULL);
	for (int i = 0; i < 5; i++)
	{
		CHECK(client_lease(fd[0], sizes[i][0], &large) == GPUAGG_OK && large.bytes == sizes[i][1]);
		CHECK(fcntl(large.fd, F_GET_SEALS) == (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
		CHECK(client_release(fd[0], &large));
	}

	/* all at once; free ones of other sizes go for them */
	for (int i = 0; i < CROWD; i++)
	{
		GpuaggRequest request;

		request_init(&request, GPUAGG_MSG_LEASE);
		request.u.lease.bytes = 100000;
		CHECK(client_send(fd[i], &request));
	}
	for (int i = 0; i < CROWD; i++)
	{
		GpuaggReply reply;
		int passed = -1;

		CHECK(client_receive(fd[i], &reply, &passed, WAIT_MS) == 1);
		granted += reply.h.reason == GPUAGG_OK && reply.u.lease.bytes == 256 << 10;
		lease[i] = (Lease){reply.u.lease.region, reply.u.lease.bytes, NULL, passed};
	}
	CHECK(granted == CROWD);
	/* 50 MB are on lease */
	CHECK(client_lease(fd[0], 64 * MB, &large) == GPUAGG_OK);
	CHECK(client_lease(fd[1], 32 * MB, &(Lease){0}) == GPUAGG_NO_STAGING);
	CHECK(client_release(fd[0], &large));

	/* free small ones give way to large ones, and these to small ones */
	for (int i = 0; i < CROWD; i++)
		CHECK(client_release(fd[i], &lease[i]));
	CHECK(client_lease(fd[0], 64 * MB, &large) == GPUAGG_OK);
	CHECK(client_lease(fd[1], 64 * MB, &lease[1]) == GPUAGG_OK);
	CHECK(client_lease(fd[2], 1, &lease[2]) == GPUAGG_NO_STAGING);
	CHECK(client_release(fd[1], &lease[1]));
	CHECK(client_lease(fd[2], 1, &lease[2]) == GPUAGG_OK && lease[2].bytes == 256 << 10);
	lease_forget(&lease[2]);
	lease_forget(&large);
	for (int i = 0; i < CROWD; i++)
		close(fd[i]);
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

/* Waits until nobody has a lease. */
static bool
unleased(int fd)
{
	GpuaggRequest request;
	GpuaggReply reply;

	for (int64_t until = now_ms() + WAIT_MS; now_ms() < until; sleep_ms(5))
	{
		request_init(&request, GPUAGG_MSG_PING);
		if (client_call(fd, &request, &reply) != GPUAGG_OK)
			return false;
		if (reply.u.hello.leases == 0)
			return true;
	}
	return false;
}

/* A client whose connection has closed may still have its region mapped: nobody else gets it. */
static void
test_still_mapped(void)
{
	const char *const args[] = {"--total-staging", "33554432", NULL};
	Daemon d;
	Lease a;
	Lease b;
	GpuaggRequest request;
	int fd;
	int other;

	daemon_start(&d, program, args);
	other = client_greet(&d, NULL);
	for (int busy = 0; busy < 2; busy++)
	{
		fd = client_greet(&d, NULL);
		CHECK(client_lease(fd, GPUAGG_SEGMENT_BYTES, &a) == GPUAGG_OK);
		memset(a.base, 1, 4096);
		if (busy)
		{
			reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 512);
			device_hold(0);
			CHECK(client_send(fd, &request) && device_holds(1));
		}
		close(fd);
		if (busy)
			device_release();
		CHECK(unleased(other));
		CHECK(client_lease(other, GPUAGG_SEGMENT_BYTES, &b) == GPUAGG_OK);
		memset(b.base, 2, 4096);
		CHECK(a.base[0] == 1 && a.base[4095] == 1);
		memset(a.base, 3, 4096);
		CHECK(b.base[0] == 2 && b.base[4095] == 2);
		CHECK(client_release(other, &b));
		lease_forget(&a);
	}
	close(other);
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

static void
test_signals(void)
{
	const int signals[] = {SIGTERM, SIGQUIT, SIGINT};
	Daemon d;
	Lease a;
	GpuaggRequest request;
	int64_t until;

	/* with a request in flight that does not end */
	for (int i = 0; i < 3; i++)
	{
		int fd;

		fd = client_start(&d, program, NULL, &a);
		reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 1000);
		device_hold(0);
		CHECK(client_send(fd, &request) && device_holds(1));
		kill(d.pid, signals[i]);
		CHECK(daemon_wait(&d, WAIT_MS) == 0);
		device_release();
		CHECK(!socket_exists(&d));
		CHECK(client_is_closed(fd));
		close(fd);
		lease_forget(&a);
		daemon_end(&d, SIGKILL);
	}

	/* while the device is being opened */
	setenv("GPUAGG_SIM_DELAY_MS", "700", 1);
	daemon_start(&d, program, NULL);
	until = now_ms() + WAIT_MS;
	while (!socket_exists(&d) && now_ms() < until)
		sleep_ms(5);
	kill(d.pid, SIGTERM);
	CHECK(daemon_wait(&d, WAIT_MS) == 0);
	daemon_end(&d, SIGKILL);
	unsetenv("GPUAGG_SIM_DELAY_MS");
}

static void
test_lock_and_socket(void)
{
	Daemon first;
	Daemon second;
	GpuaggReply reply;
	int64_t begin;
	int fd;

	/* a socket that a dead one left is replaced */
	daemon_start(&first, program, NULL);
	close(client_greet(&first, NULL));
	kill(first.pid, SIGKILL);
	daemon_wait(&first, WAIT_MS);
	CHECK(socket_exists(&first));
	daemon_start_in(&first, program, NULL);
	fd = client_greet(&first, &reply);
	CHECK(reply.u.hello.pid == first.pid);

	/* another one beside it gives up, and does no harm */
	second = first;
	begin = now_ms();
	daemon_start_in(&second, program, NULL);
	CHECK(ended_with(daemon_wait(&second, WAIT_MS), 1));
	CHECK(now_ms() - begin >= 4900);
	CHECK(socket_exists(&first));
	close(client_greet(&first, &reply));
	CHECK(reply.u.hello.pid == first.pid);

	/* or takes over when the first ends in time */
	daemon_start_in(&second, program, NULL);
	sleep_ms(200);
	kill(first.pid, SIGTERM);
	CHECK(daemon_wait(&first, WAIT_MS) == 0);
	close(client_greet(&second, &reply));
	CHECK(reply.u.hello.pid == second.pid);
	close(fd);
	CHECK(daemon_end(&second, SIGTERM) == 0);
}

/* A socket file that is removed by hand comes back; who is connected notices nothing. */
static void
test_socket_removed(void)
{
	Daemon d;
	char path[128];
	int64_t until = now_ms() + WAIT_MS;
	int fd;

	daemon_start(&d, program, NULL);
	fd = client_greet(&d, NULL);
	snprintf(path, sizeof(path), "%s/gpuagg.sock", d.dir);
	for (int i = 0; i < 2; i++)
	{
		CHECK(unlink(path) == 0);
		while (!socket_exists(&d) && now_ms() < until)
			sleep_ms(20);
		if (!CHECK(socket_exists(&d)))
			break;
		close(client_greet(&d, NULL));
		CHECK(client_is_read(fd));
	}
	close(fd);
	CHECK(daemon_end(&d, SIGTERM) == 0);
	CHECK(!socket_exists(&d));
}

static void
test_bad_start(void)
{
	static const struct
	{
		const char *args[3];
		int status;
	} cases[] = {{{"--total-staging", "12x", NULL}, 1},
				 {{"--colour", "blue", NULL}, 1},
				 {{"--idle-timeout", NULL}, 1},
				 {{"extra", NULL}, 1},
				 {{"--parent", "1", NULL}, 0}};
	Daemon d;
	char path[128];
	int fd;

	/* a file that is no socket is not ours to remove */
	strcpy(d.dir, "/tmp/gpuagg-daemon.XXXXXX");
	CHECK(mkdtemp(d.dir) != NULL);
	snprintf(path, sizeof(path), "%s/gpuagg.sock", d.dir);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	CHECK(fd >= 0);
	close(fd);
	daemon_start_in(&d, program, NULL);
	CHECK(ended_with(daemon_wait(&d, WAIT_MS), 1));
	CHECK(socket_exists(&d));
	daemon_end(&d, SIGKILL);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		daemon_start(&d, program, cases[i].args);
		CHECK(ended_with(daemon_wait(&d, WAIT_MS), cases[i].status));
		daemon_end(&d, SIGKILL);
	}
}

/* Ends within seconds when its parent is gone. */
static void
test_parent(void)
{
	Daemon d;
	int link[2];
	pid_t middle;
	int fd;

	strcpy(d.dir, "/tmp/gpuagg-daemon.XXXXXX");
	CHECK(mkdtemp(d.dir) != NULL && pipe(link) == 0);
	middle = fork();
	if (middle == 0)
	{
		char pid[16];
		char byte;

		close(link[1]);
		snprintf(pid, sizeof(pid), "%d", (int) getpid());
		/* no death signal: gpuaggd must notice by itself */
		if (fork() == 0)
		{
			int null = open("/dev/null", O_WRONLY);

			close(link[0]);
			if (null >= 0 && dup2(null, STDERR_FILENO) >= 0 && chdir(d.dir) == 0)
				execl(program, program, "--socket", "gpuagg.sock", "--lock", "gpuagg.lock",
					  "--parent", pid, NULL);
			_exit(127);
		}
		_exit(read(link[0], &byte, 1) < 0);
	}
	close(link[0]);
	fd = client_greet(&d, NULL);
	close(link[1]);
	waitpid(middle, NULL, 0);
	CHECK(client_is_closed(fd));
	close(fd);
	d.pid = -1;
	daemon_end(&d, SIGKILL);
}

static void
test_idle_timeout(void)
{
	const char *const args[] = {"--idle-timeout", "3", NULL};
	Daemon d;
	Lease a;
	GpuaggRequest request;
	GpuaggReply reply;
	int64_t begin;
	int fd;

	fd = client_start(&d, program, args, &a);
	sleep_ms(6000);
	request_init(&request, GPUAGG_MSG_PING);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK); /* not while memory is on lease */
	CHECK(client_release(fd, &a));

	/* PING is no work */
	begin = now_ms();
	while (now_ms() - begin < WAIT_MS)
	{
		request_init(&request, GPUAGG_MSG_PING);
		if (client_call(fd, &request, &reply) != GPUAGG_OK)
			break;
		sleep_ms(100);
	}
	CHECK(now_ms() - begin < WAIT_MS / 2);
	CHECK(daemon_wait(&d, WAIT_MS) == 0);
	CHECK(!socket_exists(&d));
	close(fd);
	daemon_end(&d, SIGKILL);
}

static void
test_unusable(void)
{
	static const struct
	{
		const char *name;
		GpuaggReason reason;
	} cases[] = {{"no_driver", GPUAGG_NO_DRIVER},
				 {"driver_too_old", GPUAGG_DRIVER_TOO_OLD},
				 {"no_device", GPUAGG_NO_DEVICE},
				 {"device_exclusive", GPUAGG_DEVICE_EXCLUSIVE},
				 {"mps", GPUAGG_MPS},
				 {"no_permission", GPUAGG_NO_PERMISSION},
				 {"no_kernel", GPUAGG_NO_KERNEL},
				 {"device_error", GPUAGG_DEVICE_ERROR}};
	Daemon d;
	GpuaggRequest request;
	GpuaggReply reply;
	Lease a;
	int fd;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		setenv("GPUAGG_SIM_FAIL", cases[i].name, 1);
		daemon_start(&d, program, NULL);
		fd = client_greet(&d, &reply);
		CHECK(reply.h.reason == cases[i].reason && reply.u.hello.ready == 0);
		CHECK(client_lease(fd, GPUAGG_SEGMENT_BYTES, &a) == cases[i].reason);
		request_init(&request, GPUAGG_MSG_DEVICE);
		CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
		CHECK(reply.u.device.usable == 0 && reply.u.device.reason == cases[i].reason);
		memset(&a, 0, sizeof(a));
		reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 10);
		CHECK(client_call(fd, &request, &reply) == cases[i].reason);
		close(fd);
		CHECK(daemon_end(&d, SIGTERM) == 0);
	}
	unsetenv("GPUAGG_SIM_FAIL");

	setenv("GPUAGG_SIM_DEVICES", "0", 1);
	daemon_start(&d, program, NULL);
	fd = client_greet(&d, &reply);
	CHECK(reply.h.reason == GPUAGG_NO_DEVICE);
	request_init(&request, GPUAGG_MSG_DEVICE);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	CHECK(reply.u.device.count == 0 && reply.u.device.reason == GPUAGG_NO_DEVICE);
	close(fd);
	CHECK(daemon_end(&d, SIGTERM) == 0);

	setenv("GPUAGG_SIM_DEVICES", "3", 1);
	daemon_start(&d, program, NULL);
	fd = client_greet(&d, &reply);
	for (uint32_t i = 0; i < 4; i++)
	{
		request_init(&request, GPUAGG_MSG_DEVICE);
		request.u.device.index = i;
		CHECK(client_call(fd, &request, &reply) == (i < 3 ? GPUAGG_OK : GPUAGG_REFUSED));
		CHECK(reply.u.device.count == 3 && reply.u.device.index == i);
	}
	close(fd);
	CHECK(daemon_end(&d, SIGTERM) == 0);
	unsetenv("GPUAGG_SIM_DEVICES");
}

/* A context that is lost is told to those who wait, and ends the program with status 2. */
static void
test_lost(void)
{
	Daemon d;
	Lease a;
	GpuaggRequest request;
	GpuaggReply reply;
	GpuaggReason reason = GPUAGG_OK;
	int fd;

	setenv("GPUAGG_SIM_LOST_AFTER", "20", 1);
	fd = client_start(&d, program, NULL, &a);
	memset(a.base, 1, 4096);
	for (int i = 0; i < 30 && reason == GPUAGG_OK; i++)
	{
		reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 512);
		memset(&reply, 0, sizeof(reply));
		reason = client_call(fd, &request, &reply);
	}
	CHECK(reply.h.reason == GPUAGG_LOST && reply.h.id == request.h.id);
	CHECK(client_is_closed(fd));
	CHECK(ended_with(daemon_wait(&d, WAIT_MS), 2));
	CHECK(!socket_exists(&d));
	CHECK(a.base[4095] == 1); /* the rows are still there */
	close(fd);
	lease_forget(&a);
	daemon_end(&d, SIGKILL);
	unsetenv("GPUAGG_SIM_LOST_AFTER");

	/* so does one that hangs: a piece of work that does not end in time */
	setenv("GPUAGG_SIM_PATIENCE_MS", "1000", 1);
	fd = client_start(&d, program, NULL, &a);
	unsetenv("GPUAGG_SIM_PATIENCE_MS");
	reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 512);
	device_hold(0);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_LOST);
	CHECK(ended_with(daemon_wait(&d, WAIT_MS), 2));
	device_release();
	close(fd);
	lease_forget(&a);
	daemon_end(&d, SIGKILL);
}

/* Only processes of the same user are served; needs root to try. */
static void
test_other_user(void)
{
	Daemon d;
	char path[128];
	pid_t child;
	int status = -1;

	if (geteuid() != 0)
		return;
	daemon_start(&d, program, NULL);
	close(client_greet(&d, NULL));
	snprintf(path, sizeof(path), "%s/gpuagg.sock", d.dir);
	CHECK(chmod(d.dir, 0755) == 0 && chmod(path, 0666) == 0);
	child = fork();
	if (child == 0)
	{
		GpuaggRequest request;
		GpuaggReply reply;
		int fd;

		if (setgid(65534) != 0 || setuid(65534) != 0)
			_exit(2);
		fd = client_connect(&d);
		if (fd < 0)
			_exit(3);
		request_init(&request, GPUAGG_MSG_HELLO);
		if (client_send(fd, &request) && client_receive(fd, &reply, NULL, WAIT_MS) == 1)
			_exit(4);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(client_greet(&d, NULL));
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

int
main(int argc, char **argv)
{
	if (argc != 2)
	{
		fprintf(stderr, "usage: %s PROGRAM\n", argv[0]);
		return 2;
	}
	program = argv[1];
	test_greeting();
	test_silent_connections();
	test_late_greeting();
	test_leases();
	test_lease_quota();
	test_lease_crowd();
	test_lease_made_for_one();
	test_lease_waits();
	test_lease_reserve();
	test_lease_quota_waiting();
	test_clearing(GPUAGG_SEGMENT_BYTES);
	test_clearing(GPUAGG_SEGMENT_BYTES_MIN);
	test_small_leases();
	test_still_mapped();
	test_signals();
	test_lock_and_socket();
	test_socket_removed();
	test_bad_start();
	test_parent();
	test_idle_timeout();
	test_unusable();
	test_lost();
	test_other_user();
	return test_end();
}
