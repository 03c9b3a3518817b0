/*
 * work_test.c
 *	  Requests to gpuaggd: right answers, in pieces and out of order, and who
 *	  may touch which memory when.
 *
 * Usage: work_test PROGRAM.  On a real device the tests that need a slow or a
 * small one are left out.
 */
#include "client.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WINDOW 28 /* chunks for values around 1 */

static const char *program;
static bool simulated;
static uint64_t seed = 20;

static void
fill(Lease *lease, int kind, uint64_t nrows)
{
	for (uint64_t i = 0; i < nrows; i++)
	{
		uint64_t bits = random_bits(&seed);

		if (kind == GPUAGG_INT32)
			((int32_t *) lease->base)[i] = (int32_t) bits;
		else if (kind == GPUAGG_INT64)
			((int64_t *) lease->base)[i] = (int64_t) bits;
		else
			((double *) lease->base)[i] = ldexp((double) (int64_t) bits, (int) (bits % 20) - 60);
	}
}

static __int128
integer_at(const Lease *lease, int kind, uint64_t i)
{
	return kind == GPUAGG_INT32 ? ((const int32_t *) lease->base)[i]
								: ((const int64_t *) lease->base)[i];
}

static __int128
wide(GpuaggInt128 a)
{
	return (__int128) (((unsigned __int128) (uint64_t) a.hi << 64) | a.lo);
}

static bool
same_bits(double a, double b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

/* Checks one reduction of rows that are in the region from its start. */
static bool
reduce_is_right(int fd, const Lease *lease, int kind, uint64_t nrows)
{
	GpuaggRequest request;
	GpuaggReply reply;
	GpuaggFloatSumFull expected;
	GpuaggFloatSum *acc = gpuagg_float_sum_of(&expected);
	double x = 0;
	double y = 1;

	reduce_init(&request, lease, kind, 0, nrows);
	if (client_call(fd, &request, &reply) != GPUAGG_OK || reply.u.reduce.n != nrows)
		return false;
	if (kind != GPUAGG_FLOAT64)
	{
		__int128 sum = 0;

		for (uint64_t i = 0; i < nrows; i++)
			sum += integer_at(lease, kind, i);
		return sum == wide(reply.u.reduce.sum);
	}
	gpuagg_float_sum_init(acc, 0, GPUAGG_CHUNKS);
	for (uint64_t i = 0; i < nrows; i++)
		gpuagg_float_sum_deposit(acc, ((const double *) lease->base)[i], 1);
	return gpuagg_float_sum_round64(acc, &x) == GPUAGG_ROUNDED_VALUE &&
		   gpuagg_float_sum_round64(gpuagg_float_sum_of(&reply.u.reduce.f), &y) ==
			   GPUAGG_ROUNDED_VALUE &&
		   same_bits(x, y) && reply.u.reduce.f.counts.n == (int64_t) nrows;
}

/*
 * Checks a scan of rows that are in the region from its start, and gives its
 * carry to the caller.  `before` is the state before the first row.
 */
static bool
scan_is_right(int fd, const Lease *lease, int kind, uint64_t nrows, unsigned flags,
			  GpuaggScanState *before)
{
	GpuaggRequest request;
	GpuaggReply reply;
	const uint64_t *validity;
	const char *results;
	const uint8_t *status;
	GpuaggFloatSum *acc = gpuagg_float_sum_of(&before->f);
	__int128 sum = wide(before->sum);

	scan_init(&request, lease, kind, nrows);
	request.u.scan.flags = flags;
	request.u.scan.window = WINDOW;
	request.u.scan.carry = *before;
	validity = (const uint64_t *) (lease->base + request.u.scan.validity_offset);
	results = lease->base + request.u.scan.result_offset;
	status = (const uint8_t *) lease->base + request.u.scan.status_offset;
	for (uint64_t i = 0; i < (nrows + 63) / 64; i++)
		((uint64_t *) (lease->base + request.u.scan.validity_offset))[i] = random_bits(&seed);
	if (client_call(fd, &request, &reply) != GPUAGG_OK)
		return false;

	for (uint64_t i = 0; i < nrows; i++)
	{
		bool valid = !(flags & GPUAGG_SCAN_VALIDITY) || (validity[i / 64] >> (i % 64) & 1);

		for (int after = 0; after < 2; after++)
		{
			double expected = 0;
			bool right = true;

			if (after && valid && kind == GPUAGG_FLOAT64)
				gpuagg_float_sum_deposit(acc, ((const double *) lease->base)[i], 1);
			else if (after && valid)
			{
				sum += integer_at(lease, kind, i);
				before->f.counts.n++;
			}
			if (after == ((flags & GPUAGG_SCAN_EXCLUSIVE) != 0))
				continue;

			if (before->f.counts.n == 0)
				right = status[i] == GPUAGG_ROW_NULL;
			else if (kind == GPUAGG_FLOAT64)
				right = gpuagg_float_sum_round64(acc, &expected) == GPUAGG_ROUNDED_VALUE &&
						status[i] == GPUAGG_ROW_VALUE &&
						same_bits(((const double *) results)[i], expected);
			else if (kind == GPUAGG_INT32)
				right = status[i] == GPUAGG_ROW_VALUE && ((const int64_t *) results)[i] == sum;
			else
				right = status[i] == GPUAGG_ROW_VALUE &&
						wide(((const GpuaggInt128 *) results)[i]) == sum;
			if (!right)
			{
				printf("kind %d row %llu flags %u\n", kind, (unsigned long long) i, flags);
				return false;
			}
		}
	}

	if (kind == GPUAGG_FLOAT64)
	{
		double x = 0;
		double y = 1;

		if (before->f.counts.n > 0 &&
			(gpuagg_float_sum_round64(acc, &x) != GPUAGG_ROUNDED_VALUE ||
			 gpuagg_float_sum_round64(gpuagg_float_sum_of(&reply.u.scan.carry.f), &y) !=
				 GPUAGG_ROUNDED_VALUE ||
			 !same_bits(x, y)))
			return false;
	}
	else if (wide(reply.u.scan.carry.sum) != sum)
		return false;
	if (reply.u.scan.carry.f.counts.n != before->f.counts.n)
		return false;
	*before = reply.u.scan.carry;
	return true;
}

static void
test_answers(const char *const *args, uint64_t most)
{
	const uint64_t sizes[] = {1, 2, 33, 1000, 4097, 131072, 131073, 300001, 1000000};
	Daemon d;
	Lease a;
	int fd;

	daemon_start(&d, program, args);
	fd = client_greet(&d, NULL);
	simulated = client_simulated(fd);
	CHECK(client_lease(fd, 1, &a) == GPUAGG_OK);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && sizes[i] <= most; i++)
		for (int kind = GPUAGG_INT32; kind <= GPUAGG_FLOAT64; kind++)
		{
			fill(&a, kind, sizes[i]);
			CHECK(reduce_is_right(fd, &a, kind, sizes[i]));
			for (unsigned flags = 0; flags < 4; flags++)
			{
				GpuaggScanState carry;

				/* the second batch goes on where the first ended */
				memset(&carry, 0, sizeof(carry));
				gpuagg_float_sum_init(gpuagg_float_sum_of(&carry.f), 0, GPUAGG_CHUNKS);
				CHECK(scan_is_right(fd, &a, kind, sizes[i], flags, &carry));
				if (flags == 3 || sizes[i] < 100000)
					CHECK(scan_is_right(fd, &a, kind, sizes[i], flags, &carry));
			}
		}
	close(fd);
	lease_forget(&a);
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

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
	fill(&a, GPUAGG_INT32, a.bytes / 4);
	CHECK(reduce_is_right(fd, &a, GPUAGG_INT32, a.bytes / 4));
	fill(&a, GPUAGG_FLOAT64, a.bytes / 8);
	CHECK(reduce_is_right(fd, &a, GPUAGG_FLOAT64, a.bytes / 8));
	memset(&carry, 0, sizeof(carry));
	gpuagg_float_sum_init(gpuagg_float_sum_of(&carry.f), 0, GPUAGG_CHUNKS);
	fill(&a, GPUAGG_INT32, 5000000);
	CHECK(scan_is_right(fd, &a, GPUAGG_INT32, 5000000, GPUAGG_SCAN_VALIDITY, &carry));
	close(fd);
	lease_forget(&a);
	CHECK(daemon_end(&d, SIGTERM) == 0);
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

	daemon_start(&d, program, NULL);
	fd = client_greet(&d, NULL);
	CHECK(client_lease(fd, 1, &a) == GPUAGG_OK);
	x = (double *) a.base;

	x[0] = 1e300;
	x[1] = 1;
	x[2] = -1e300;
	x[3] = 4e-320;
	reduce_init(&request, &a, GPUAGG_FLOAT64, 0, 3);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	CHECK(gpuagg_float_sum_round64(gpuagg_float_sum_of(&reply.u.reduce.f), &sum) ==
			  GPUAGG_ROUNDED_VALUE &&
		  sum == 1);
	scan_init(&request, &a, GPUAGG_FLOAT64, 3);
	request.u.scan.window = WINDOW;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_RANGE);

	x[1] = INFINITY;
	x[2] = -INFINITY;
	reduce_init(&request, &a, GPUAGG_FLOAT64, 0, 4);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	CHECK(reply.u.reduce.f.counts.n == 4 && reply.u.reduce.f.counts.n_pinf == 1 &&
		  reply.u.reduce.f.counts.n_ninf == 1 && reply.u.reduce.f.counts.n_nan == 0);
	close(fd);
	lease_forget(&a);
	CHECK(daemon_end(&d, SIGTERM) == 0);
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

	daemon_start(&d, program, NULL);
	fd = client_greet(&d, NULL);
	other = client_greet(&d, NULL);
	CHECK(client_lease(fd, 1, &a) == GPUAGG_OK && client_lease(other, 1, &b) == GPUAGG_OK);
	memset(a.base, 0, 4096);

	reduce_init(&request, &a, GPUAGG_INT64, 0, 512);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	request.u.reduce.region = b.region;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_REFUSED);
	for (uint32_t bit = 0; bit < 32; bit++)
	{
		request.u.reduce.region = a.region ^ 1u << bit;
		CHECK(client_call(fd, &request, &reply) == GPUAGG_REFUSED);
	}

	reduce_init(&request, &a, GPUAGG_INT64, 0, a.bytes / 8);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	reduce_init(&request, &a, GPUAGG_INT64, 0, a.bytes / 8 + 1);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_REFUSED);
	reduce_init(&request, &a, GPUAGG_INT64, a.bytes, 1);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_REFUSED);
	reduce_init(&request, &a, GPUAGG_INT64, UINT64_MAX - 255, 64);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_REFUSED);
	reduce_init(&request, &a, GPUAGG_INT64, 8, 1);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_REFUSED);
	reduce_init(&request, &a, 9, 0, 1);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_REFUSED);
	reduce_init(&request, &a, GPUAGG_INT64, 0, 0);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_REFUSED);

	scan_init(&request, &a, GPUAGG_FLOAT64, 1000);
	request.u.scan.result_offset = request.u.scan.values_offset;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_REFUSED);
	scan_init(&request, &a, GPUAGG_FLOAT64, 1000);
	request.u.scan.carry.f.counts.n = 1;
	request.u.scan.carry.f.counts.n_nan = 2;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_REFUSED);
	scan_init(&request, &a, GPUAGG_FLOAT64, 1000);
	request.u.scan.carry.f.chunk[66] = INT64_MIN;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_REFUSED);

	CHECK(client_release(fd, &a));
	reduce_init(&request, &a, GPUAGG_INT64, 0, 1);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_REFUSED);
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
	int64_t begin;
	int fd;
	int other;

	setenv("GPUAGG_SIM_DELAY_MS", "300", 1);
	daemon_start(&d, program, args);
	fd = client_greet(&d, NULL);
	other = client_greet(&d, NULL);

	/* after RELEASE */
	CHECK(client_lease(fd, 1, &a) == GPUAGG_OK);
	memset(a.base, 0, 4096);
	reduce_init(&request, &a, GPUAGG_INT64, 0, 512);
	begin = now_ms();
	CHECK(client_send(fd, &request) && client_release(fd, &a));
	CHECK(client_lease(other, 1, &b) == GPUAGG_NO_STAGING);
	CHECK(client_receive(fd, &reply, NULL, WAIT_MS) == 1);
	CHECK(reply.h.id == request.h.id && reply.h.reason == GPUAGG_OK);
	CHECK(now_ms() - begin >= 295);
	CHECK(client_lease(other, 1, &b) == GPUAGG_OK);
	CHECK(client_release(other, &b));

	/* after the client's end */
	CHECK(client_lease(fd, 1, &a) == GPUAGG_OK);
	reduce_init(&request, &a, GPUAGG_INT64, 0, 512);
	begin = now_ms();
	CHECK(client_send(fd, &request));
	sleep_ms(50);
	close(fd);
	lease_forget(&a);
	CHECK(client_lease(other, 1, &b) == GPUAGG_NO_STAGING);
	while (client_lease(other, 1, &b) == GPUAGG_NO_STAGING && now_ms() - begin < 3000)
		sleep_ms(5);
	CHECK(b.base != NULL && now_ms() - begin >= 295 && now_ms() - begin < 1000);

	/* no more than GPUAGG_MAX_INFLIGHT */
	for (int i = 0; i <= GPUAGG_MAX_INFLIGHT; i++)
	{
		reduce_init(&request, &b, GPUAGG_INT64, 0, 512);
		CHECK(client_send(other, &request));
	}
	CHECK(client_receive(other, &reply, NULL, 200) == 1);
	CHECK(reply.h.reason == GPUAGG_BUSY && reply.h.id == request.h.id);
	for (int i = 0; i < GPUAGG_MAX_INFLIGHT; i++)
		CHECK(client_receive(other, &reply, NULL, WAIT_MS) == 1 && reply.h.reason == GPUAGG_OK);
	close(other);
	lease_forget(&b);
	CHECK(daemon_end(&d, SIGTERM) == 0);
	unsetenv("GPUAGG_SIM_DELAY_MS");
}

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

	daemon_start(&d, program, NULL);
	fd = client_greet(&d, NULL);
	other = client_greet(&d, NULL);
	CHECK(client_lease(fd, 1, &a) == GPUAGG_OK && client_lease(other, 1, &b) == GPUAGG_OK);
	fill(&a, GPUAGG_INT32, 1 << 20);
	fill(&b, GPUAGG_INT64, 100);
	for (int i = 0; i < GPUAGG_MAX_INFLIGHT; i++)
	{
		reduce_init(&request, &a, GPUAGG_INT32, 0, 1 << 20);
		CHECK(client_send(fd, &request));
	}
	CHECK(reduce_is_right(other, &b, GPUAGG_INT64, 100));
	while (client_receive(fd, &reply, NULL, 0) == 1)
		before++;
	CHECK(before <= 2);
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
	daemon_start(&d, program, tiny);
	fd = client_greet(&d, NULL);
	CHECK(client_lease(fd, 1, &a) == GPUAGG_OK);
	fill(&a, GPUAGG_INT64, 100000);
	scan_init(&request, &a, GPUAGG_INT64, 100000);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_NO_DEVICE_MEMORY);
	close(fd);
	lease_forget(&a);
	CHECK(daemon_end(&d, SIGTERM) == 0);

	/* a device that has less than it was said to have */
	setenv("GPUAGG_SIM_MEMORY", "1048576", 1);
	daemon_start(&d, program, plenty);
	fd = client_greet(&d, NULL);
	CHECK(client_lease(fd, 1, &a) == GPUAGG_OK);
	fill(&a, GPUAGG_INT64, 1 << 17);
	reduce_init(&request, &a, GPUAGG_INT64, 0, 1 << 17);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_NO_DEVICE_MEMORY);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_NO_DEVICE_MEMORY);
	CHECK(reduce_is_right(fd, &a, GPUAGG_INT64, 10000));
	close(fd);
	lease_forget(&a);
	CHECK(daemon_end(&d, SIGTERM) == 0);
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

			seed = (uint64_t) i;
			if (client_lease(fd, 1, &a) != GPUAGG_OK)
				_exit(100);
			for (int k = 0; k < 12; k++)
			{
				int kind = GPUAGG_INT32 + k % 3;
				uint64_t nrows = 1 + random_bits(&seed) % 70000;
				GpuaggScanState carry;

				memset(&carry, 0, sizeof(carry));
				gpuagg_float_sum_init(gpuagg_float_sum_of(&carry.f), 0, GPUAGG_CHUNKS);
				fill(&a, kind, nrows);
				wrong += !reduce_is_right(fd, &a, kind, nrows);
				wrong += !scan_is_right(fd, &a, kind, nrows, (unsigned) k % 4, &carry);
			}
			_exit(wrong);
		}
	for (int i = 0; i < 6; i++)
	{
		int status = -1;

		CHECK(waitpid(-1, &status, 0) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

int
main(int argc, char **argv)
{
	const char *const short_memory[] = {"--device-memory", "1048576", NULL};

	if (argc != 2)
	{
		fprintf(stderr, "usage: %s PROGRAM\n", argv[0]);
		return 2;
	}
	program = argv[1];
	test_answers(NULL, 300001);
	test_answers(short_memory, simulated ? 131073 : UINT64_MAX);
	test_float_extremes();
	test_refusals();
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
