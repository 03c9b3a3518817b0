/*
 * bench_test.c
 *	  BENCH requests: right checksums, one at a time, bounded, ended with their
 *	  client, and in nobody's way.
 *
 * Usage: bench_test PROGRAM
 */
#include "answers.h"
#include "common/bench_column.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEED 5 /* of bench_init() */

static const int kinds[] = {GPUAGG_INT32, GPUAGG_INT64, GPUAGG_FLOAT32, GPUAGG_FLOAT64};
static const int tasks[] = {GPUAGG_REDUCE, GPUAGG_SCAN, GPUAGG_SEGMENTED_SCAN};

static const char *program;
static bool simulated;

/* Every partial sum is a small integer: the bits of the result follow from it. */
static uint64_t
result_bits(int kind, int64_t sum)
{
	return gpuagg_kind_is_float(kind) ? gpuagg_bench_float_bits((double) sum)
									  : gpuagg_bench_integer_bits(kind, (uint64_t) sum);
}

static uint64_t
expected_checksum(int task, int kind, uint64_t nrows)
{
	uint64_t checksum = 0;
	int64_t sum = 0;

	for (uint64_t i = 0; i < nrows; i++)
	{
		if (task == GPUAGG_SEGMENTED_SCAN && gpuagg_bench_head(SEED, i))
			sum = 0;
		sum += gpuagg_bench_value(SEED, i);
		if (task != GPUAGG_REDUCE)
			checksum += gpuagg_bench_mix(i, result_bits(kind, sum));
	}
	return task == GPUAGG_REDUCE ? gpuagg_bench_mix(0, result_bits(kind, sum)) : checksum;
}

static uint64_t
copy_checksum(int kind, uint64_t nrows)
{
	uint64_t checksum = 0;

	for (uint64_t i = 0; i < nrows; i++)
		checksum += gpuagg_bench_mix(i, result_bits(kind, gpuagg_bench_value(SEED, i)));
	return checksum;
}

/* Device memory that gpuaggd says it holds. */
static uint64_t
device_bytes(int fd)
{
	GpuaggRequest request;
	GpuaggReply reply;

	request_init(&request, GPUAGG_MSG_PING);
	return client_call(fd, &request, &reply) == GPUAGG_OK ? reply.u.hello.device_bytes : UINT64_MAX;
}

/* Device memory that is free, which gpuaggd looks up once a second. */
static uint64_t
free_memory(int fd)
{
	GpuaggRequest request;
	GpuaggReply reply;

	sleep_ms(1100);
	for (int i = 0; i < 2; i++)
	{
		request_init(&request, GPUAGG_MSG_DEVICE);
		(void) client_call(fd, &request, &reply);
		sleep_ms(50);
	}
	return reply.u.device.memory_free;
}

static void
check_bench(int fd, int task, int algorithm, int kind, uint64_t nrows)
{
	GpuaggRequest request;
	GpuaggReply reply;
	uint64_t expected = algorithm == GPUAGG_ALG_READ   ? 0
						: algorithm == GPUAGG_ALG_COPY ? copy_checksum(kind, nrows)
													   : expected_checksum(task, kind, nrows);

	bench_init(&request, task, algorithm, kind, nrows);
	if (!CHECK(client_call(fd, &request, &reply) == GPUAGG_OK) ||
		!CHECK(reply.u.bench.checksum == expected) ||
		!CHECK(reply.u.bench.repetitions >= 1 && reply.u.bench.repetitions <= 3) ||
		!CHECK(reply.u.bench.bytes >= nrows * gpuagg_kind_size(kind) &&
			   reply.u.bench.bytes <= nrows * 21 + 2048))
		printf("task %d algorithm %d kind %d rows %llu\n", task, algorithm, kind,
			   (unsigned long long) nrows);
}

static void
test_checksums(void)
{
	Daemon d;
	Lease a;
	GpuaggRequest request;
	GpuaggReply reply;
	uint64_t before;
	int fd = client_start(&d, program, NULL, &a);

	before = free_memory(fd);
	for (int t = 0; t < 3; t++)
		for (int k = 0; k < 4; k++)
		{
			int algorithm = GPUAGG_ALG_NONE;

			check_bench(fd, tasks[t], GPUAGG_ALG_READ, kinds[k], 4003);
			check_bench(fd, tasks[t], GPUAGG_ALG_COPY, kinds[k], 4003);
			check_bench(fd, tasks[t], GPUAGG_ALG_PRODUCTION, kinds[k], 1);
			check_bench(fd, tasks[t], GPUAGG_ALG_PRODUCTION, kinds[k], 30011);
			bench_init(&request, tasks[t], GPUAGG_ALG_CUB, kinds[k], 3000);
			if (simulated)
				CHECK(client_call(fd, &request, &reply) == GPUAGG_NO_KERNEL);
			else
				check_bench(fd, tasks[t], GPUAGG_ALG_CUB, kinds[k], 3000);
			while ((algorithm = gpuagg_algorithm_next(algorithm, tasks[t])) != GPUAGG_ALG_NONE)
			{
				const GpuaggAlgorithmInfo *info = gpuagg_algorithm(algorithm);

				bench_init(&request, tasks[t], algorithm, kinds[k], 100);
				if (algorithm == GPUAGG_ALG_SEQUENTIAL ||
					algorithm == GPUAGG_ALG_RECURSIVE_HALVING ||
					(info->integers_only && gpuagg_kind_is_float(kinds[k])))
					CHECK(client_refused(fd, &request));
				else
					check_bench(fd, tasks[t], algorithm, kinds[k], 700);
			}
		}
	CHECK(free_memory(fd) == before);
	CHECK(device_bytes(fd) == 0); /* no lane has had anything to do */
	CHECK(client_end(&d, fd, &a));
}

static void
test_refusals(void)
{
	static const char *const args[] = {"--device-memory", "4194304", NULL};
	Daemon d;
	Lease a;
	GpuaggRequest request;
	GpuaggReply reply;
	int fd = client_start(&d, program, args, &a);

	bench_init(&request, 3, GPUAGG_ALG_PRODUCTION, GPUAGG_INT32, 100);
	CHECK(client_refused(fd, &request));
	bench_init(&request, GPUAGG_SCAN, 999, GPUAGG_INT32, 100);
	CHECK(client_refused(fd, &request));
	bench_init(&request, GPUAGG_SCAN, GPUAGG_ALG_NONE, GPUAGG_INT32, 100);
	CHECK(client_refused(fd, &request));
	bench_init(&request, GPUAGG_SCAN, GPUAGG_ALG_NEIGHBORED, GPUAGG_INT32, 100);
	CHECK(client_refused(fd, &request));
	bench_init(&request, GPUAGG_SCAN, GPUAGG_ALG_PRODUCTION, 5, 100);
	CHECK(client_refused(fd, &request));
	bench_init(&request, GPUAGG_SCAN, GPUAGG_ALG_PRODUCTION, GPUAGG_INT32, 0);
	CHECK(client_refused(fd, &request));
	bench_init(&request, GPUAGG_SCAN, GPUAGG_ALG_PRODUCTION, GPUAGG_INT32, UINT64_MAX);
	CHECK(client_refused(fd, &request));
	bench_init(&request, GPUAGG_SCAN, GPUAGG_ALG_PRODUCTION, GPUAGG_INT32, 100);
	request.u.bench.repetitions = 0;
	CHECK(client_refused(fd, &request));
	request.u.bench.repetitions = GPUAGG_BENCH_REPETITIONS + 1;
	CHECK(client_refused(fd, &request));

	/* three quarters of the budget are 3 MiB */
	bench_init(&request, GPUAGG_SCAN, GPUAGG_ALG_COPY, GPUAGG_INT64, 200000);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_NO_DEVICE_MEMORY);
	bench_init(&request, GPUAGG_SCAN, GPUAGG_ALG_COPY, GPUAGG_INT64, GPUAGG_MAX_ROWS);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_NO_DEVICE_MEMORY);
	check_bench(fd, GPUAGG_SCAN, GPUAGG_ALG_COPY, GPUAGG_INT64, 190000);

	/* the lanes have given up what they held, and have it back afterwards */
	for (int i = 0; i < 3; i++)
	{
		column_fill(&a, GPUAGG_INT64, 100000, false);
		CHECK(reduce_is_right(fd, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 100000));
		CHECK(device_bytes(fd) <= 4194304);
		check_bench(fd, GPUAGG_SCAN, GPUAGG_ALG_COPY, GPUAGG_INT64, 190000);
		CHECK(device_bytes(fd) <= 1048576);
	}
	CHECK(client_end(&d, fd, &a));
}

/* A benchmark of many repetitions, each of which takes DELAY_MS. */
#define DELAY_MS "50"

static void
test_beside_others(void)
{
	static const char *const args[] = {"--device-memory", "16777216", NULL};
	Daemon d;
	Lease a;
	GpuaggRequest request;
	GpuaggRequest second;
	GpuaggReply reply;
	int64_t begin;
	int64_t whole;
	int served = 0;
	int other;
	int fd;

	setenv("GPUAGG_SIM_DELAY_MS", DELAY_MS, 1);
	fd = client_start(&d, program, args, &a);
	other = client_greet(&d, NULL);
	bench_init(&request, GPUAGG_SCAN, GPUAGG_ALG_COPY, GPUAGG_INT64, 700000);
	request.u.bench.repetitions = 31;
	begin = now_ms();
	CHECK(client_send(other, &request));

	/* others are served beside it, out of the memory that is left to them */
	while (client_receive(other, &reply, NULL, 0) != 1 && now_ms() - begin < WAIT_MS)
	{
		column_fill(&a, GPUAGG_INT64, 50000, false);
		if (!CHECK(reduce_is_right(fd, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 50000)))
			break;
		CHECK(device_bytes(fd) <= 16777216);
		served++;
	}
	CHECK(reply.h.id == request.h.id && reply.h.reason == GPUAGG_OK);
	whole = now_ms() - begin;
	CHECK(reply.u.bench.repetitions == 31 ||
		  (reply.u.bench.repetitions > 0 && whole > 4500)); /* its time may be over before */
	CHECK(reply.u.bench.checksum == copy_checksum(GPUAGG_INT64, 700000));
	CHECK(whole >= 33 * 50 && served >= 5);

	/* one benchmark at a time, for all clients together */
	for (int i = 0;; i++)
	{
		int64_t took;

		device_hold(0);
		CHECK(client_send(other, &request) && device_holds(1));
		bench_init(&second, GPUAGG_REDUCE, GPUAGG_ALG_READ, GPUAGG_INT32, 100);
		CHECK(client_call(fd, &second, &reply) == GPUAGG_BUSY);
		CHECK(client_send(other, &second) && client_receive(other, &reply, NULL, WAIT_MS) == 1);
		CHECK(reply.h.id == second.h.id && reply.h.reason == GPUAGG_BUSY);
		device_release();

		/* and it ends when its client goes */
		begin = now_ms();
		close(other);
		while (client_call(fd, &second, &reply) == GPUAGG_BUSY && now_ms() - begin < WAIT_MS)
			sleep_ms(5);
		took = now_ms() - begin;
		CHECK(reply.h.reason == GPUAGG_OK);
		if (took < whole / 2 || i == 2)
		{
			CHECK(took < whole / 2);
			break;
		}
		other = client_greet(&d, NULL); /* a process that was held up */
	}
	CHECK(device_bytes(fd) <= 2 * 1048576);

	/* the same at any moment; no memory is left behind */
	for (int ms = 0; ms < 160; ms += 20)
	{
		other = client_greet(&d, NULL);
		bench_init(&request, GPUAGG_SEGMENTED_SCAN, GPUAGG_ALG_PRODUCTION, GPUAGG_FLOAT32, 20000);
		request.u.bench.repetitions = GPUAGG_BENCH_REPETITIONS;
		begin = now_ms();
		CHECK(client_send(other, &request));
		sleep_ms(ms);
		close(other);
		while (client_call(fd, &second, &reply) == GPUAGG_BUSY && now_ms() - begin < WAIT_MS)
			sleep_ms(5);
		CHECK(reply.h.reason == GPUAGG_OK);
	}
	CHECK(client_end(&d, fd, &a));
	unsetenv("GPUAGG_SIM_DELAY_MS");
}

#define TURN_MS 500 /* for so long */

/* A client that was refused comes before the one whose benchmark it was, unless it gives up. */
static void
test_turns(void)
{
	Daemon d;
	Lease a;
	GpuaggRequest first;
	GpuaggRequest request;
	GpuaggReply reply;
	int other;
	int fd;

	setenv("GPUAGG_SIM_DELAY_MS", "50", 1);
	fd = client_start(&d, program, NULL, &a);
	other = client_greet(&d, NULL);
	for (int round = 0, late = 0; round < 3; round++)
	{
		int64_t refused;

		bench_init(&first, GPUAGG_REDUCE, GPUAGG_ALG_READ, GPUAGG_INT64, 100);
		first.u.bench.repetitions = 1;
		device_hold(0);
		CHECK(client_send(fd, &first) && device_holds(1));
		bench_init(&request, GPUAGG_REDUCE, GPUAGG_ALG_READ, GPUAGG_INT64, 100);
		refused = now_ms();
		CHECK(client_call(other, &request, &reply) == GPUAGG_BUSY);
		device_release();
		CHECK(client_receive(fd, &reply, NULL, WAIT_MS) == 1 && reply.h.reason == GPUAGG_OK &&
			  reply.h.id == first.h.id);
		bench_init(&request, GPUAGG_REDUCE, GPUAGG_ALG_READ, GPUAGG_INT64, 100);
		if (client_call(fd, &request, &reply) == GPUAGG_OK && now_ms() - refused > TURN_MS &&
			late < 10)
		{
			/* the turn was over */
			late++;
			round--;
			continue;
		}
		CHECK(reply.h.reason == GPUAGG_BUSY);
		if (round == 0)
			CHECK(client_call(other, &request, &reply) == GPUAGG_OK);
		else if (round == 1)
			sleep_ms(600);
		else
		{
			close(other);
			sleep_ms(20);
		}
		CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	}
	CHECK(client_end(&d, fd, &a));
	unsetenv("GPUAGG_SIM_DELAY_MS");
}

/* A benchmark that others leave no time fails; gpuaggd serves on, and later the next one. */
static void
test_starving(void)
{
	Daemon d;
	Lease a;
	GpuaggRequest bench;
	GpuaggRequest request;
	GpuaggReply reply;
	int64_t until = now_ms() + WAIT_MS;
	bool answered = false;
	int other;
	int fd;

	fd = client_start(&d, program, NULL, &a);
	other = client_greet(&d, NULL);
	memset(a.base, 0, 1 << 20);
	device_starve(true);
	bench_init(&bench, GPUAGG_REDUCE, GPUAGG_ALG_READ, GPUAGG_INT64, 100);
	CHECK(client_send(other, &bench));
	while (!answered && now_ms() < until)
	{
		reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 1 << 17);
		if (!CHECK(client_call(fd, &request, &reply) == GPUAGG_OK))
			break;
		answered = client_receive(other, &reply, NULL, 0) == 1;
	}
	CHECK(answered && reply.h.id == bench.h.id && reply.h.reason == GPUAGG_BUSY);
	CHECK(client_is_read(other));
	bench_init(&bench, GPUAGG_REDUCE, GPUAGG_ALG_READ, GPUAGG_INT64, 100);
	CHECK(client_call(other, &bench, &reply) == GPUAGG_BUSY); /* the lane still has the first */
	device_starve(false);
	while (client_call(other, &bench, &reply) == GPUAGG_BUSY && now_ms() < until)
		sleep_ms(5);
	CHECK(reply.h.reason == GPUAGG_OK);
	CHECK(client_end(&d, fd, &a));
	close(other);
}

/* A step that has taken long by itself is not one that others keep waiting. */
static void
test_long_step(void)
{
	Daemon d;
	Lease a;
	GpuaggRequest bench;
	GpuaggRequest request;
	GpuaggReply reply;
	int other;
	int fd;

	fd = client_start(&d, program, NULL, &a);
	other = client_greet(&d, NULL);
	reduce_init(&request, &a, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 100);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK); /* a lane has memory for the next */
	bench_init(&bench, GPUAGG_REDUCE, GPUAGG_ALG_READ, GPUAGG_INT64, 100);
	device_hold(0);
	CHECK(client_send(other, &bench) && device_holds(1));
	sleep_ms(5200);
	CHECK(client_send(fd, &request));
	for (int i = 0; i < 3; i++)
		CHECK(client_is_read(fd)); /* the reduction is under way */
	device_release();
	CHECK(client_receive(other, &reply, NULL, WAIT_MS) == 1);
	CHECK(reply.h.id == bench.h.id && reply.h.reason == GPUAGG_OK);
	CHECK(client_receive(fd, &reply, NULL, WAIT_MS) == 1 && reply.h.reason == GPUAGG_OK);
	close(other);
	CHECK(client_end(&d, fd, &a));
}

/* A benchmark ends in time however long a repetition takes. */
static void
test_bounded(void)
{
	Daemon d;
	Lease a;
	GpuaggRequest request;
	GpuaggReply reply;
	int64_t begin;
	int fd;

	setenv("GPUAGG_SIM_DELAY_MS", "400", 1);
	fd = client_start(&d, program, NULL, &a);
	bench_init(&request, GPUAGG_REDUCE, GPUAGG_ALG_PRODUCTION, GPUAGG_FLOAT64, 1000);
	request.u.bench.repetitions = GPUAGG_BENCH_REPETITIONS;
	begin = now_ms();
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	CHECK(reply.u.bench.repetitions >= 1 && reply.u.bench.repetitions <= 13);
	CHECK(now_ms() - begin < WAIT_MS / 2);
	CHECK(reply.u.bench.checksum == expected_checksum(GPUAGG_REDUCE, GPUAGG_FLOAT64, 1000));
	CHECK(client_end(&d, fd, &a));
	unsetenv("GPUAGG_SIM_DELAY_MS");
}

/* A benchmark that finds too little free memory says so. */
static void
test_short_device(void)
{
	static const char *const plenty[] = {"--device-memory", "1073741824", NULL};
	Daemon d;
	Lease a;
	GpuaggRequest request;
	GpuaggReply reply;
	int fd;

	setenv("GPUAGG_SIM_MEMORY", "4194304", 1);
	fd = client_start(&d, program, plenty, &a);
	bench_init(&request, GPUAGG_SCAN, GPUAGG_ALG_COPY, GPUAGG_INT64, 400000);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_NO_DEVICE_MEMORY);
	CHECK(device_bytes(fd) == 0);
	check_bench(fd, GPUAGG_SCAN, GPUAGG_ALG_COPY, GPUAGG_INT64, 40000);
	CHECK(device_bytes(fd) == 0);
	CHECK(client_end(&d, fd, &a));
	unsetenv("GPUAGG_SIM_MEMORY");
}

/* A context that is lost during a benchmark is told. */
static void
test_lost(void)
{
	Daemon d;
	Lease a;
	GpuaggRequest request;
	GpuaggReply reply;
	int fd;

	setenv("GPUAGG_SIM_LOST_AFTER", "20", 1);
	fd = client_start(&d, program, NULL, &a);
	bench_init(&request, GPUAGG_REDUCE, GPUAGG_ALG_READ, GPUAGG_FLOAT64, 1000);
	request.u.bench.repetitions = GPUAGG_BENCH_REPETITIONS;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_LOST && reply.h.id == request.h.id);
	CHECK(client_is_closed(fd));
	close(fd);
	lease_forget(&a);
	daemon_end(&d, SIGKILL);
	unsetenv("GPUAGG_SIM_LOST_AFTER");
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
	simulated = device_simulated(program);

	test_checksums();
	test_refusals();
	if (simulated)
	{
		test_beside_others();
		test_turns();
		test_starving();
		test_long_step();
		test_bounded();
		test_short_device();
		test_lost();
	}
	return test_end();
}
