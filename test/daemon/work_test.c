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
	CHECK(client_lease(other, 1, &b) == GPUAGG_OK);
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
	CHECK(client_lease(fd, 1, &a) == GPUAGG_OK);
	memset(a.base, 0, 4096);
	reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 512);
	device_hold(0);
	CHECK(client_send(fd, &request) && device_held());
	CHECK(client_release(fd, &a));
	CHECK(client_lease(other, 1, &b) == GPUAGG_NO_STAGING);
	device_release();
	CHECK(client_receive(fd, &reply, NULL, WAIT_MS) == 1);
	CHECK(reply.h.id == request.h.id && reply.h.reason == GPUAGG_OK);
	CHECK(client_lease(other, 1, &b) == GPUAGG_OK);
	CHECK(client_release(other, &b));

	/* after the client's end */
	CHECK(client_lease(fd, 1, &a) == GPUAGG_OK);
	reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 512);
	device_hold(0);
	CHECK(client_send(fd, &request) && device_held());
	close(fd);
	lease_forget(&a);
	CHECK(client_lease(other, 1, &b) == GPUAGG_NO_STAGING);
	device_release();
	for (int i = 0; i < 3000 && client_lease(other, 1, &b) == GPUAGG_NO_STAGING; i++)
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
	CHECK(client_lease(other, 1, &b) == GPUAGG_OK);
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
			if (client_lease(fd, 1, &a) != GPUAGG_OK)
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
	request.u.lease.bytes = 1;
	CHECK(client_send(fd, &request));
	close(fd);
	lease_forget(&a);
	kill(d.pid, SIGCONT);

	fd = client_greet(&d, NULL);
	CHECK(client_lease(fd, 1, &a) == GPUAGG_OK);
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
		test_fairness();
		test_device_memory();
	}
	else
		test_large();
	test_crowd();
	return test_end();
}
