/*
 * work_test.c
 *	  Requests to gpuaggd: who may touch which memory when, whose turn it is, and
 *	  what is refused.
 *
 * Usage: work_test PROGRAM.  On a real device the tests that need a slow or a
 * small one are left out.
 */
#include "answers.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *program;
#define SLOW_ROWS 65536 /* the most that the quadratic algorithm takes */

static bool simulated;

/* Several pieces of full size, in the largest region there is. */
static void
test_large(void)
{
	Daemon d;
	Lease a;
	int fd;
	GpuaggScanState carry;

	daemon_start(&d, program, NULL);
	fd = client_greet(&d, NULL);
	CHECK(client_lease(fd, UINT64_C(64) << 20, &a) == GPUAGG_OK);
	column_fill(&a, GPUAGG_INT32, a.bytes / 4, false);
	CHECK(reduce_is_right(fd, &a, GPUAGG_INT32, GPUAGG_SUM, 0, a.bytes / 4));
	column_fill(&a, GPUAGG_FLOAT64, a.bytes / 8, false);
	CHECK(reduce_is_right(fd, &a, GPUAGG_FLOAT64, GPUAGG_SUM, 0, a.bytes / 8));
	state_init(&carry);
	column_fill(&a, GPUAGG_INT32, 5000000, false);
	CHECK(scan_is_right(fd, &a, GPUAGG_INT32, GPUAGG_SUM, GPUAGG_SCAN_VALIDITY, 5000000, &carry));
	CHECK(client_end(&d, fd, &a));
}

/* Values that the device's window cannot hold, and special ones. */
static void
test_float_extremes(void)
{
	Daemon d;
	Lease a;
	GpuaggRequest request;
	GpuaggReply reply;
	double *x;
	double sum;
	int fd;

	fd = client_start(&d, program, NULL, &a);
	x = (double *) a.base;

	x[0] = 1e300;
	x[1] = 1;
	x[2] = -1e300;
	x[3] = 4e-320;
	reduce_init(&request, &a, GPUAGG_FLOAT64, GPUAGG_SUM, 0, 0, 3);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	CHECK(gpuagg_float_sum_round64(gpuagg_float_sum_of(&reply.u.reduce.f), &sum) ==
			  GPUAGG_ROUNDED_VALUE &&
		  sum == 1);
	scan_init(&request, &a, GPUAGG_FLOAT64, GPUAGG_SUM, GPUAGG_SCAN_STATUS, 3);
	request.u.work.u.scan.window = ANSWERS_WINDOW;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_RANGE);

	x[1] = INFINITY;
	x[2] = -INFINITY;
	reduce_init(&request, &a, GPUAGG_FLOAT64, GPUAGG_SUM, 0, 0, 4);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	CHECK(reply.u.reduce.f.counts.n == 4 && reply.u.reduce.f.counts.n_pinf == 1 &&
		  reply.u.reduce.f.counts.n_ninf == 1 && reply.u.reduce.f.counts.n_nan == 0);
	CHECK(client_end(&d, fd, &a));
}

/* What is refused, and that nobody but its lessee can name a region. */
static void
test_refusals(void)
{
	Daemon d;
	Lease a;
	Lease b;
	GpuaggRequest request;
	GpuaggReply reply;
	int fd;
	int other;

	fd = client_start(&d, program, NULL, &a);
	other = client_greet(&d, NULL);
	CHECK(client_lease(other, GPUAGG_SEGMENT_BYTES, &b) == GPUAGG_OK);
	memset(a.base, 0, 4096);

	reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 512);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	request.u.work.region = b.region;
	CHECK(client_refused(fd, &request));
	for (uint32_t bit = 0; bit < 32; bit++)
	{
		request.u.work.region = a.region ^ 1u << bit;
		CHECK(client_refused(fd, &request));
	}

	reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, a.bytes / 8);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, a.bytes / 8 + 1);
	CHECK(client_refused(fd, &request));
	reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, a.bytes, 1);
	CHECK(client_refused(fd, &request));
	reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, UINT64_MAX - 255, 64);
	CHECK(client_refused(fd, &request));
	reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 8, 1);
	CHECK(client_refused(fd, &request));
	reduce_init(&request, &a, 9, GPUAGG_SUM, 0, 0, 1);
	CHECK(client_refused(fd, &request));
	reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 0);
	CHECK(client_refused(fd, &request));

	scan_init(&request, &a, GPUAGG_FLOAT64, GPUAGG_SUM, GPUAGG_SCAN_STATUS, 1000);
	request.u.work.column[GPUAGG_RESULTS].at = request.u.work.column[GPUAGG_VALUES].at;
	CHECK(client_refused(fd, &request));
	scan_init(&request, &a, GPUAGG_FLOAT64, GPUAGG_SUM, GPUAGG_SCAN_STATUS, 1000);
	request.u.work.u.scan.carry.f.counts.n = 1;
	request.u.work.u.scan.carry.f.counts.n_nan = -1;
	CHECK(client_refused(fd, &request));
	scan_init(&request, &a, GPUAGG_FLOAT64, GPUAGG_SUM, GPUAGG_SCAN_STATUS, 1000);
	request.u.work.u.scan.carry.f.chunk[66] = INT64_MIN;
	CHECK(client_refused(fd, &request));

	/* columns that are not those of such work */
	for (int c = 0; c < GPUAGG_NCOLUMNS; c++)
	{
		scan_init(&request, &a, GPUAGG_INT32, GPUAGG_SUM, GPUAGG_SCAN_STATUS, 64);
		request.u.work.column[c].bits ^= 8;
		CHECK(client_refused(fd, &request));
		request.u.work.column[c].bits ^= 8;
		request.u.work.column[c].place = 1;
		CHECK(client_refused(fd, &request));
	}
	sort_init(&request, &a, 1, 64, 64);
	request.u.work.column[GPUAGG_RESULTS].at += GPUAGG_ALIGN;
	CHECK(client_refused(fd, &request));
	sort_init(&request, &a, 1, 64, 64);
	request.u.work.kind = GPUAGG_INT64;
	CHECK(client_refused(fd, &request));
	ladder_init(&request, &a, GPUAGG_SCAN, GPUAGG_ALG_KOGGE_STONE, GPUAGG_INT32, GPUAGG_SUM,
				GPUAGG_SCAN_STATUS, 64);
	CHECK(client_refused(fd, &request));

	CHECK(client_release(fd, &a));
	reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 1);
	CHECK(client_refused(fd, &request));
	close(fd);
	close(other);
	lease_forget(&b);
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

/* A region with a request in flight is leased to nobody before that has ended. */
static void
test_in_flight(void)
{
	const char *const args[] = {"--total-staging", "33554432", NULL};
	Daemon d;
	Lease a;
	Lease b;
	GpuaggRequest request;
	GpuaggReply reply;
	int fd;
	int other;

	daemon_start(&d, program, args);
	fd = client_greet(&d, NULL);
	other = client_greet(&d, NULL);

	/* after RELEASE */
	CHECK(client_lease(fd, GPUAGG_SEGMENT_BYTES, &a) == GPUAGG_OK);
	memset(a.base, 0, 4096);
	reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 512);
	device_hold(0);
	CHECK(client_send(fd, &request) && device_holds(1));
	CHECK(client_release(fd, &a));
	CHECK(client_lease(other, GPUAGG_SEGMENT_BYTES, &b) == GPUAGG_NO_STAGING);
	device_release();
	CHECK(client_receive(fd, &reply, NULL, WAIT_MS) == 1);
	CHECK(reply.h.id == request.h.id && reply.h.reason == GPUAGG_OK);
	CHECK(client_lease(other, GPUAGG_SEGMENT_BYTES, &b) == GPUAGG_OK);
	CHECK(client_release(other, &b));

	/* after the client's end */
	CHECK(client_lease(fd, GPUAGG_SEGMENT_BYTES, &a) == GPUAGG_OK);
	reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 512);
	device_hold(0);
	CHECK(client_send(fd, &request) && device_holds(1));
	close(fd);
	lease_forget(&a);
	CHECK(client_lease(other, GPUAGG_SEGMENT_BYTES, &b) == GPUAGG_NO_STAGING);
	device_release();
	for (int i = 0; i < 3000 && client_lease(other, GPUAGG_SEGMENT_BYTES, &b) == GPUAGG_NO_STAGING;
		 i++)
		sleep_ms(5);
	CHECK(b.base != NULL);

	/* no more than GPUAGG_MAX_INFLIGHT */
	device_hold(0);
	for (int i = 0; i <= GPUAGG_MAX_INFLIGHT; i++)
	{
		reduce_init(&request, &b, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 512);
		CHECK(client_send(other, &request));
	}
	CHECK(client_receive(other, &reply, NULL, WAIT_MS) == 1);
	CHECK(reply.h.reason == GPUAGG_BUSY && reply.h.id == request.h.id);
	device_release();
	for (int i = 0; i < GPUAGG_MAX_INFLIGHT; i++)
		CHECK(client_receive(other, &reply, NULL, WAIT_MS) == 1 && reply.h.reason == GPUAGG_OK);
	close(other);
	lease_forget(&b);
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

/*
 * A lease that no request uses ends: its client is told at the next request, and has its rows
 * still; the memory goes to nobody else.  One that is in use, or in flight, does not end.
 */
static void
test_idle_lease(void)
{
	const char *const args[] = {"--lease-timeout", "3", "--total-staging", "67108864", NULL};
	Daemon d;
	Lease a;
	Lease b;
	GpuaggRequest request;
	GpuaggReply reply;
	int64_t until = now_ms() + WAIT_MS;
	int fd;
	int other;

	fd = client_start(&d, program, args, &a);
	other = client_greet(&d, NULL);
	memset(a.base, 7, a.bytes);

	/* in flight */
	reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 512);
	device_hold(0);
	CHECK(client_send(fd, &request) && device_holds(1));
	sleep_ms(5000);
	CHECK(client_lease(other, GPUAGG_SEGMENT_BYTES_MAX, &b) == GPUAGG_NO_STAGING);
	device_release();
	CHECK(client_receive(fd, &reply, NULL, WAIT_MS) == 1 && reply.h.reason == GPUAGG_OK);

	/* idle: there is room for a large segment when the small one has been taken back */
	while (client_lease(other, GPUAGG_SEGMENT_BYTES_MAX, &b) == GPUAGG_NO_STAGING &&
		   now_ms() < until)
		sleep_ms(20);
	if (CHECK(b.base != NULL))
	{
		CHECK(client_call(fd, &request, &reply) == GPUAGG_NO_STAGING);
		CHECK(a.base[0] == 7 && a.base[a.bytes - 1] == 7);
		a.base[0] = 8;
		CHECK(b.base[0] == 0);
		request.u.work.region ^= 1u << 20;
		CHECK(client_refused(fd, &request));
		CHECK(client_release(fd, &a));
		CHECK(client_release(other, &b));
		CHECK(client_lease(fd, GPUAGG_SEGMENT_BYTES, &a) == GPUAGG_OK);
	}
	close(other);
	lease_forget(&b);
	CHECK(client_end(&d, fd, &a));
}

/* Two for each of gpuaggd's streams: no large request gets done by so many. */
#define ENOUGH_PIECES 16

/* A small request need not wait for all the large ones of others. */
static void
test_fairness(void)
{
	Daemon d;
	Lease a;
	Lease b;
	GpuaggRequest request;
	GpuaggReply reply;
	int fd;
	int other;
	int before = 0;

	fd = client_start(&d, program, NULL, &a);
	other = client_greet(&d, NULL);
	CHECK(client_lease(other, GPUAGG_SEGMENT_BYTES, &b) == GPUAGG_OK);
	column_fill(&a, GPUAGG_INT32, 1 << 20, false);
	column_fill(&b, GPUAGG_INT64, 100, false);
	device_hold(0);
	for (int i = 0; i < GPUAGG_MAX_INFLIGHT; i++)
	{
		reduce_init(&request, &a, GPUAGG_INT32, GPUAGG_SUM, 0, 0, 1 << 20);
		CHECK(client_send(fd, &request));
	}
	reduce_init(&request, &b, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 100);
	CHECK(client_is_read(fd) && client_send(other, &request) && client_is_read(other));
	device_hold(ENOUGH_PIECES);
	CHECK(client_receive(other, &reply, NULL, WAIT_MS) == 1 && reply.h.id == request.h.id &&
		  reply.h.reason == GPUAGG_OK);
	while (client_receive(fd, &reply, NULL, 0) == 1)
		before++;
	CHECK(before <= 2);
	device_release();
	for (int i = before; i < GPUAGG_MAX_INFLIGHT; i++)
		CHECK(client_receive(fd, &reply, NULL, WAIT_MS) == 1 && reply.h.reason == GPUAGG_OK);
	close(fd);
	close(other);
	lease_forget(&a);
	lease_forget(&b);
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

/* A LADDER request that takes long on a device. */
static void
slow_init(GpuaggRequest *request, const Lease *lease, uint64_t nrows)
{
	ladder_init(request, lease, GPUAGG_SCAN, GPUAGG_ALG_QUADRATIC, GPUAGG_INT32, GPUAGG_SUM, 0,
				nrows);
}

/* Replies, until there is none; of requests that go well. */
static int
replies_there(int fd)
{
	GpuaggReply reply;
	int n = 0;

	for (; client_receive(fd, &reply, NULL, 0) == 1; n++)
		if (!CHECK(reply.h.reason == GPUAGG_OK))
			fprintf(stderr, "reason: %s\n", gpuagg_reason_text(reply.h.reason));
	return n;
}

/*
 * Two clients with a region each; all lanes have worked for them, so that from now on a
 * request for which a lane is free starts as soon as it has been read.
 */
static void
start_two(Daemon *d, int fd[2], Lease lease[2])
{
	GpuaggRequest request;
	GpuaggReply reply;

	fd[0] = client_start(d, program, NULL, &lease[0]);
	fd[1] = client_greet(d, NULL);
	CHECK(client_lease(fd[1], GPUAGG_SEGMENT_BYTES, &lease[1]) == GPUAGG_OK);
	device_hold(0);
	for (int c = 0; c < 2; c++)
	{
		memset(lease[c].base, 0, 65536);
		for (int i = 0; i < GPUAGG_MAX_INFLIGHT; i++)
		{
			reduce_init(&request, &lease[c], GPUAGG_INT64, GPUAGG_SUM, 0, 0, 100);
			CHECK(client_send(fd[c], &request));
		}
		CHECK(client_is_read(fd[c]));
	}
	device_release();
	for (int i = 0; i < 2 * GPUAGG_MAX_INFLIGHT; i++)
		CHECK(client_receive(fd[i % 2], &reply, NULL, WAIT_MS) == 1);
}

static void
end_two(Daemon *d, int fd[2], Lease lease[2])
{
	close(fd[1]);
	lease_forget(&lease[1]);
	CHECK(client_end(d, fd[0], &lease[0]));
}

/* One slow request of a client is under way: those of others are done beside it. */
static void
test_slow_requests(void)
{
	Daemon d;
	Lease lease[2];
	GpuaggRequest request;
	GpuaggReply reply;
	int fd[2];

	start_two(&d, fd, lease);
	device_hold(0);
	for (int i = 0; i < GPUAGG_MAX_INFLIGHT; i++)
	{
		slow_init(&request, &lease[0], 100);
		CHECK(client_send(fd[0], &request));
	}
	CHECK(client_is_read(fd[0]) && device_holds(1));
	reduce_init(&request, &lease[1], GPUAGG_INT64, GPUAGG_SUM, 0, 0, 100);
	CHECK(client_send(fd[1], &request) && client_is_read(fd[1]) && device_holds(2));

	/* the first of the slow ones, and what came after all of them */
	device_hold(2);
	CHECK(client_receive(fd[1], &reply, NULL, WAIT_MS) == 1 && reply.h.reason == GPUAGG_OK);
	CHECK(replies_there(fd[0]) <= 1);
	device_release();
	end_two(&d, fd, lease);
}

/* Who has had the device for long comes after who has had it for short, whatever their bytes. */
static void
test_time_is_charged(void)
{
	Daemon d;
	Lease lease[2];
	GpuaggRequest request;
	GpuaggReply reply;
	int fd[2];

	start_two(&d, fd, lease);
	device_hold(0);
	for (int i = 0; i < 3; i++)
	{
		slow_init(&request, &lease[0], 100);
		CHECK(client_send(fd[0], &request));
	}
	CHECK(client_is_read(fd[0]) && device_holds(1));
	for (int i = 0; i < 2; i++)
	{
		slow_init(&request, &lease[1], 1000);
		CHECK(client_send(fd[1], &request));
	}
	CHECK(client_is_read(fd[1]));
	sleep_ms(2000); /* the simulated device takes some milliseconds for the others */

	/* the first, then both of the other client */
	device_hold(3);
	for (int i = 0; i < 2; i++)
		CHECK(client_receive(fd[1], &reply, NULL, WAIT_MS) == 1 && reply.h.reason == GPUAGG_OK);
	device_release();
	end_two(&d, fd, lease);
}

/*
 * A slow request that had to wait for another one earns its client nothing, nor those who
 * come after it: they share the device with who worked meanwhile.
 */
static void
test_waiting_earns_nothing(void)
{
	enum
	{
		SLOW = 0, /* and the next */
		WORKING = 2,
		NEW = 3, /* and the next */
		ALL = 5
	};
	Daemon d;
	Lease lease[ALL];
	GpuaggRequest request;
	GpuaggReply reply;
	int fd[ALL];

	fd[SLOW] = client_start(&d, program, NULL, &lease[SLOW]);
	memset(lease[SLOW].base, 0, 1 << 20);
	for (int i = SLOW + 1; i < ALL; i++)
	{
		fd[i] = client_greet(&d, NULL);
		CHECK(client_lease(fd[i], GPUAGG_SEGMENT_BYTES, &lease[i]) == GPUAGG_OK);
		memset(lease[i].base, 0, 1 << 20);
	}

	/* one client works while a slow request waits for another */
	device_starve(true);
	for (int i = SLOW; i < SLOW + 2; i++)
	{
		slow_init(&request, &lease[i], 100);
		CHECK(client_send(fd[i], &request) && client_is_read(fd[i]));
	}
	for (int64_t until = now_ms() + 3000; now_ms() < until;)
	{
		reduce_init(&request, &lease[WORKING], GPUAGG_INT64, GPUAGG_SUM, 0, 0, 1 << 17);
		if (client_call(fd[WORKING], &request, &reply) != GPUAGG_OK)
			break;
	}
	reduce_init(&request, &lease[WORKING], GPUAGG_INT64, GPUAGG_SUM, 0, 0, 100);
	CHECK(client_call(fd[WORKING], &request, &reply) == GPUAGG_OK);
	device_starve(false);
	for (int i = SLOW; i < SLOW + 2; i++)
		CHECK(client_receive(fd[i], &reply, NULL, WAIT_MS) == 1 && reply.h.reason == GPUAGG_OK);

	/* all lanes, and as much again, are asked for by two others */
	device_hold(0);
	for (int i = NEW; i < NEW + 2; i++)
	{
		for (int k = 0; k < GPUAGG_MAX_INFLIGHT; k++)
		{
			reduce_init(&request, &lease[i], GPUAGG_INT64, GPUAGG_SUM, 0, 0, 100);
			CHECK(client_send(fd[i], &request));
		}
		CHECK(client_is_read(fd[i]));
	}
	reduce_init(&request, &lease[WORKING], GPUAGG_INT64, GPUAGG_SUM, 0, 0, 100);
	CHECK(client_send(fd[WORKING], &request) && client_is_read(fd[WORKING]) && device_holds(8));

	/* the first eight, and half of those that come next */
	sleep_ms(500); /* more than the others have had by chance */
	device_hold(12);
	CHECK(client_receive(fd[WORKING], &reply, NULL, WAIT_MS) == 1 && reply.h.reason == GPUAGG_OK);
	device_release();
	for (int i = SLOW + 1; i < ALL; i++)
	{
		close(fd[i]);
		lease_forget(&lease[i]);
	}
	CHECK(client_end(&d, fd[SLOW], &lease[SLOW]));
}

/* However many requests a client has, it leaves lanes to others. */
static void
test_lanes_left(void)
{
	Daemon d;
	Lease lease[2];
	GpuaggRequest request;
	GpuaggReply reply;
	int fd[2];

	start_two(&d, fd, lease);
	device_hold(0);
	for (int i = 0; i < GPUAGG_MAX_INFLIGHT; i++)
	{
		reduce_init(&request, &lease[0], GPUAGG_INT64, GPUAGG_SUM, 0, 0, 100);
		CHECK(client_send(fd[0], &request));
	}
	CHECK(client_is_read(fd[0]) && device_holds(1));
	reduce_init(&request, &lease[1], GPUAGG_INT64, GPUAGG_SUM, 0, 0, 100);
	CHECK(client_send(fd[1], &request) && client_is_read(fd[1]) && device_holds(5));

	/* four of the first client, and what came after all of its */
	device_hold(5);
	CHECK(client_receive(fd[1], &reply, NULL, WAIT_MS) == 1 && reply.h.reason == GPUAGG_OK);
	CHECK(replies_there(fd[0]) <= 4);
	device_release();
	end_two(&d, fd, lease);
}

/* On a real device: a reduction beside eight algorithms that take long; prints its time. */
static void
test_slow_neighbour(void)
{
	Daemon d;
	Lease a;
	Lease b;
	GpuaggRequest request;
	GpuaggReply reply;
	int64_t begin;
	int before;
	int fd;
	int other;

	fd = client_start(&d, program, NULL, &a);
	other = client_greet(&d, NULL);
	CHECK(client_lease(other, GPUAGG_SEGMENT_BYTES, &b) == GPUAGG_OK);
	memset(a.base, 0, SLOW_ROWS * sizeof(int32_t));
	column_fill(&b, GPUAGG_INT64, 1 << 20, false);
	reduce_init(&request, &b, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 1 << 20);
	CHECK(client_call(other, &request, &reply) == GPUAGG_OK);
	for (int i = 0; i < GPUAGG_MAX_INFLIGHT; i++)
	{
		slow_init(&request, &a, SLOW_ROWS);
		CHECK(client_send(fd, &request));
	}
	begin = now_ms();
	reduce_init(&request, &b, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 1 << 20);
	CHECK(client_call(other, &request, &reply) == GPUAGG_OK);
	printf("a reduction beside slow requests: %lld ms", (long long) (now_ms() - begin));
	before = replies_there(fd);
	CHECK(before <= 1);
	for (int i = before; i < GPUAGG_MAX_INFLIGHT; i++)
		CHECK(client_receive(fd, &reply, NULL, WAIT_MS) == 1 && reply.h.reason == GPUAGG_OK);
	printf("; all of those: %lld ms\n", (long long) (now_ms() - begin));
	CHECK(client_end(&d, fd, &a));
	close(other);
	lease_forget(&b);
}

/* Many ask for memory while one segment is in the making: all are answered, none gets too much. */
static void
test_staging_asked_at_once(void)
{
	const char *const args[] = {"--total-staging", "671088640", NULL};
	Daemon d;
	GpuaggRequest request;
	GpuaggReply reply;
	uint64_t all = 0;
	int gone;
	int small;
	int large;

	daemon_start(&d, program, args);
	gone = client_greet(&d, NULL);
	small = client_greet(&d, NULL);
	large = client_greet(&d, NULL);
	request_init(&request, GPUAGG_MSG_LEASE);
	request.u.lease.bytes = GPUAGG_SEGMENT_BYTES_MAX;
	CHECK(client_send(gone, &request));
	close(gone);
	for (int i = 0; i < 8; i++)
	{
		request_init(&request, GPUAGG_MSG_LEASE);
		request.u.lease.bytes = GPUAGG_SEGMENT_BYTES;
		CHECK(client_send(small, &request));
	}
	request_init(&request, GPUAGG_MSG_LEASE);
	request.u.lease.bytes = GPUAGG_SEGMENT_BYTES_MAX;
	CHECK(client_call(large, &request, &reply) == GPUAGG_OK);
	for (int i = 0; i < 8; i++)
	{
		if (!CHECK(client_receive(small, &reply, NULL, WAIT_MS) == 1))
			break;
		all += reply.h.reason == GPUAGG_OK ? reply.u.lease.bytes : 0;
	}
	CHECK(all > 0 && all <= 8 * GPUAGG_SEGMENT_BYTES);
	close(small);
	close(large);
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

static void
test_device_memory(void)
{
	const char *const tiny[] = {"--device-memory", "65536", NULL};
	const char *const plenty[] = {"--device-memory", "1073741824", NULL};
	Daemon d;
	Lease a;
	GpuaggRequest request;
	GpuaggReply reply;
	int fd;

	/* not enough for anything, whatever the pieces */
	fd = client_start(&d, program, tiny, &a);
	column_fill(&a, GPUAGG_INT64, 100000, false);
	scan_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, GPUAGG_SCAN_STATUS, 100000);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_NO_DEVICE_MEMORY);
	CHECK(client_end(&d, fd, &a));

	/* a device that has less memory than the command line says */
	setenv("GPUAGG_SIM_MEMORY", "1048576", 1);
	fd = client_start(&d, program, plenty, &a);
	column_fill(&a, GPUAGG_INT64, 1 << 17, false);
	reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 1 << 17);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_NO_DEVICE_MEMORY);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_NO_DEVICE_MEMORY);
	CHECK(reduce_is_right(fd, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 10000));
	CHECK(client_end(&d, fd, &a));
	unsetenv("GPUAGG_SIM_MEMORY");
}

/* Many clients at work at the same time, in a device memory that is short. */
static void
test_crowd(void)
{
	const char *const args[] = {"--device-memory", "4194304", "--total-staging", "402653184", NULL};
	Daemon d;

	daemon_start(&d, program, args);
	close(client_greet(&d, NULL));
	fflush(stdout);
	for (int i = 0; i < 6; i++)
		if (fork() == 0)
		{
			int fd = client_greet(&d, NULL);
			int wrong = 0;
			Lease a;

			answers_seed = (uint64_t) i;
			if (client_lease(fd, GPUAGG_SEGMENT_BYTES, &a) != GPUAGG_OK)
				_exit(100);
			for (int k = 0; k < 12; k++)
			{
				int kind = GPUAGG_INT32 + k % 4;
				uint64_t nrows = 1 + random_bits(&answers_seed) % 70000;
				GpuaggScanState carry;

				state_init(&carry);
				column_fill(&a, kind, nrows, false);
				wrong += !reduce_is_right(fd, &a, kind, GPUAGG_SUM, 0, nrows);
				wrong += !scan_is_right(fd, &a, kind, GPUAGG_SUM,
										(unsigned) k % 4 | GPUAGG_SCAN_STATUS, nrows, &carry);
			}
			fflush(stdout);
			_exit(wrong);
		}
	for (int i = 0; i < 6; i++)
	{
		int status = -1;

		CHECK(waitpid(-1, &status, 0) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

/*
 * A client that goes while a request of its is queued, whose region it has released,
 * and while it waits for a lease: the region must not go to it.
 */
static void
test_gone_while_waiting(void)
{
	Daemon d;
	Lease a;
	GpuaggRequest request;
	GpuaggReply reply;
	int status;
	int fd;

	fd = client_start(&d, program, NULL, &a);
	memset(a.base, 0, 4096);
	kill(d.pid, SIGSTOP);
	CHECK(waitpid(d.pid, &status, WUNTRACED) == d.pid && WIFSTOPPED(status));
	reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 512);
	CHECK(client_send(fd, &request));
	request_init(&request, GPUAGG_MSG_RELEASE);
	request.u.release.region = a.region;
	CHECK(client_send(fd, &request));
	request_init(&request, GPUAGG_MSG_LEASE);
	request.u.lease.bytes = GPUAGG_SEGMENT_BYTES;
	CHECK(client_send(fd, &request));
	close(fd);
	lease_forget(&a);
	kill(d.pid, SIGCONT);

	fd = client_greet(&d, NULL);
	CHECK(client_lease(fd, GPUAGG_SEGMENT_BYTES, &a) == GPUAGG_OK);
	reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 512);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	close(fd);
	lease_forget(&a);
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
	printf("seed %llu\n", (unsigned long long) answers_seed);
	simulated = device_simulated(program);
	test_float_extremes();
	test_refusals();
	test_gone_while_waiting();
	if (simulated)
	{
		test_in_flight();
		test_idle_lease();
		test_fairness();
		test_slow_requests();
		test_time_is_charged();
		test_waiting_earns_nothing();
		test_lanes_left();
		test_device_memory();
	}
	else
	{
		test_large();
		test_slow_neighbour();
	}
	test_staging_asked_at_once();
	test_crowd();
	return test_end();
}
