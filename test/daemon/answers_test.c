/*
 * answers_test.c
 *	  Right answers to REDUCE, SCAN, SORT and LADDER requests: every kind, operation
 *	  and flag, in one piece and in many, with states carried on.
 *
 * Usage: answers_test PROGRAM [SEED]
 */
#include "answers.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ALL_SCAN_FLAGS                                                                       \
	(GPUAGG_SCAN_EXCLUSIVE | GPUAGG_SCAN_VALIDITY | GPUAGG_SCAN_HEADS | GPUAGG_SCAN_NARROW | \
	 GPUAGG_SCAN_STATUS)

static const int kinds[] = {GPUAGG_INT32, GPUAGG_INT64, GPUAGG_FLOAT32, GPUAGG_FLOAT64};

static const char *program;

/* After an infinity all sums of a segment are alike. */
static bool
specials_wanted(int op, unsigned flags)
{
	return op != GPUAGG_SUM || (flags & GPUAGG_SCAN_HEADS);
}

static void
check_reduce(int fd, Lease *lease, uint64_t nrows)
{
	for (int k = 0; k < 4; k++)
		for (int op = GPUAGG_SUM; op <= GPUAGG_MOMENTS; op++)
			for (unsigned flags = 0; flags <= GPUAGG_SCAN_VALIDITY; flags += GPUAGG_SCAN_VALIDITY)
			{
				column_fill(lease, kinds[k], nrows, true);
				if (!CHECK(reduce_is_right(fd, lease, kinds[k], op, flags, nrows)))
					printf("reduce: kind %d op %d flags %u rows %llu\n", kinds[k], op, flags,
						   (unsigned long long) nrows);
			}
}

/* Two requests; the second goes on where the first has ended. */
static void
check_scan(int fd, Lease *lease, int kind, int op, unsigned flags, uint64_t nrows)
{
	GpuaggScanState state;

	state_init(&state);
	for (int part = 0; part < 2; part++)
	{
		column_fill(lease, kind, nrows, specials_wanted(op, flags));
		if (!CHECK(scan_is_right(fd, lease, kind, op, flags, nrows, &state)))
			printf("scan: kind %d op %d flags %u rows %llu part %d\n", kind, op, flags,
				   (unsigned long long) nrows, part);
	}
}

static void
test_small(const char *const *args)
{
	static const uint64_t sizes[] = {1, 2, 33, 64, 1000, 4097};
	Daemon d;
	Lease a;
	int fd = client_start(&d, program, args, &a);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
	{
		check_reduce(fd, &a, sizes[i]);
		for (int k = 0; k < 4; k++)
			for (int op = GPUAGG_SUM; op <= GPUAGG_COUNT; op++)
				for (unsigned flags = 0; flags <= ALL_SCAN_FLAGS; flags++)
					check_scan(fd, &a, kinds[k], op, flags, sizes[i]);
	}
	CHECK(client_end(&d, fd, &a));
}

/* Many pieces, since there is so little device memory, and all kinds after each other. */
static void
test_pieces(void)
{
	static const char *const args[] = {"--device-memory", "1048576", NULL};
	Daemon d;
	Lease a;
	int fd = client_start(&d, program, args, &a);

	check_reduce(fd, &a, 30011);
	for (int k = 0; k < 4; k++)
		for (int op = GPUAGG_SUM; op <= GPUAGG_COUNT; op++)
			for (int i = 0; i < 3; i++)
				check_scan(fd, &a, kinds[k], op, random_bits(&answers_seed) & ALL_SCAN_FLAGS,
						   20011);
	CHECK(client_end(&d, fd, &a));
}

/* Around the most rows that a piece has. */
static void
test_large(void)
{
	static const uint64_t sizes[] = {131072, 131073, 300001};
	Daemon d;
	Lease a;
	int fd = client_start(&d, program, NULL, &a);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int k = 0; k < 4; k++)
		{
			unsigned flags = random_bits(&answers_seed) & ALL_SCAN_FLAGS & ~GPUAGG_SCAN_HEADS;

			column_fill(&a, kinds[k], sizes[i], false);
			CHECK(reduce_is_right(fd, &a, kinds[k], GPUAGG_SUM, 0, sizes[i]));
			check_scan(fd, &a, kinds[k], GPUAGG_SUM, flags, sizes[i]);
		}
	CHECK(client_end(&d, fd, &a));
}

static void
test_sort(void)
{
	static const uint64_t sizes[] = {1, 2, 31, 32, 33, 1000, 4097, 131073, 1000003};
	static const int widths[] = {1, 7, 8, 31, 33, 64, 65, 100, 128};
	Daemon d;
	Lease a;
	GpuaggRequest request;
	GpuaggReply reply;
	int fd = client_start(&d, program, NULL, &a);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (size_t j = 0; j < sizeof(widths) / sizeof(widths[0]); j++)
			for (int words = 1; words <= GPUAGG_SORT_WORDS; words++)
			{
				int bits = widths[j];

				/* of the largest two shapes are enough */
				if (bits > 64 * words || (sizes[i] > 131073 && bits != 33 && bits != 100))
					continue;
				if (!CHECK(sort_is_right(fd, &a, words, bits, bits, sizes[i])) ||
					!CHECK(sort_is_right(fd, &a, words, bits, 64 * words, sizes[i])))
					printf("sort: words %d bits %d rows %llu\n", words, bits,
						   (unsigned long long) sizes[i]);
			}

	sort_init(&request, &a, 0, 8, 10);
	CHECK(client_refused(fd, &request));
	sort_init(&request, &a, GPUAGG_SORT_WORDS + 1, 8, 10);
	CHECK(client_refused(fd, &request));
	sort_init(&request, &a, 1, 0, 10);
	CHECK(client_refused(fd, &request));
	sort_init(&request, &a, 1, 65, 10);
	CHECK(client_refused(fd, &request));
	sort_init(&request, &a, 1, 8, 0);
	CHECK(client_refused(fd, &request));
	sort_init(&request, &a, 1, 8, GPUAGG_SEGMENT_BYTES / 16);
	CHECK(client_refused(fd, &request));
	sort_init(&request, &a, 1, 8, GPUAGG_SEGMENT_BYTES / 16 - GPUAGG_ALIGN / 16);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	CHECK(client_end(&d, fd, &a));
}

static void
check_ladder(int fd, Lease *lease, int task, int algorithm, uint64_t nrows)
{
	const GpuaggAlgorithmInfo *info = gpuagg_algorithm(algorithm);

	for (int k = 0; k < 4; k++)
		for (int op = GPUAGG_SUM; op <= GPUAGG_MAX; op++)
			for (int exclusive = 0; exclusive < 2; exclusive++)
			{
				if (info->integers_only && gpuagg_kind_is_float(kinds[k]))
					continue;
				column_fill(lease, kinds[k], nrows, op != GPUAGG_SUM);
				if (!CHECK(ladder_is_right(fd, lease, task, algorithm, kinds[k], op, exclusive,
										   nrows)))
					printf("ladder: %s task %d kind %d op %d exclusive %d rows %llu\n", info->name,
						   task, kinds[k], op, exclusive, (unsigned long long) nrows);
			}
}

static void
test_ladder(void)
{
	static const int tasks[] = {GPUAGG_REDUCE, GPUAGG_SCAN, GPUAGG_SEGMENTED_SCAN};
	Daemon d;
	Lease a;
	GpuaggRequest request;
	int fd = client_start(&d, program, NULL, &a);
	int n = 0;

	for (int t = 0; t < 3; t++)
	{
		int algorithm = GPUAGG_ALG_NONE;

		while ((algorithm = gpuagg_algorithm_next(algorithm, tasks[t])) != GPUAGG_ALG_NONE)
		{
			const GpuaggAlgorithmInfo *info = gpuagg_algorithm(algorithm);

			if (algorithm == GPUAGG_ALG_PRODUCTION || info->on_cpu)
			{
				ladder_init(&request, &a, tasks[t], algorithm, GPUAGG_INT32, GPUAGG_SUM, 0, 10);
				CHECK(client_refused(fd, &request));
				continue;
			}
			check_ladder(fd, &a, tasks[t], algorithm, 1);
			check_ladder(fd, &a, tasks[t], algorithm, 1500);
			if (info->integers_only)
			{
				ladder_init(&request, &a, tasks[t], algorithm, GPUAGG_FLOAT64, GPUAGG_SUM, 0, 10);
				CHECK(client_refused(fd, &request));
			}
			if (info->max_rows > 0 && info->max_rows < GPUAGG_LADDER_ROWS)
			{
				ladder_init(&request, &a, tasks[t], algorithm, GPUAGG_INT32, GPUAGG_SUM, 0,
							info->max_rows + 1);
				CHECK(client_refused(fd, &request));
			}
			n++;
		}
	}
	CHECK(n > 30);

	/* a scan is no reduction, and the other way round */
	ladder_init(&request, &a, GPUAGG_REDUCE, GPUAGG_ALG_KOGGE_STONE, GPUAGG_INT32, GPUAGG_SUM, 0,
				10);
	CHECK(client_refused(fd, &request));
	ladder_init(&request, &a, GPUAGG_SCAN, GPUAGG_ALG_NEIGHBORED, GPUAGG_INT32, GPUAGG_SUM, 0, 10);
	CHECK(client_refused(fd, &request));
	CHECK(client_end(&d, fd, &a));
}

int
main(int argc, char **argv)
{
	if (argc != 2 && argc != 3)
	{
		fprintf(stderr, "usage: %s PROGRAM [SEED]\n", argv[0]);
		return 2;
	}
	program = argv[1];
	if (argc > 2)
		answers_seed = strtoull(argv[2], NULL, 10);
	printf("seed %llu\n", (unsigned long long) answers_seed);
	test_small(NULL);
	test_pieces();
	test_large();
	test_sort();
	test_ladder();
	return test_end();
}
