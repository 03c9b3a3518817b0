/*
 * query_test.c
 *	  Blobs in gpuaggd, and queries over them beside the CPU's interpreter.
 *
 * Usage: query_test PROGRAM [SEED].  On a real device the tests that need a slow or a small one
 * are left out.
 */
#include "groups.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNKS	  12
#define QUESTIONS 120

static const char *program;
static uint64_t first_seed = 1;
static bool simulated;

static const uint32_t sizes[] = {1, 63, 64, 65, 255, 256, 257, 511, 512, 700, 1024, 2049, 3000};

/* What gpuaggd says of itself. */
static GpuaggReply
health(int fd)
{
	GpuaggRequest request;
	GpuaggReply reply;

	request_init(&request, GPUAGG_MSG_PING);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	return reply;
}

static void
make_chunks(Chunk *chunks, int n, bool masked)
{
	for (int i = 0; i < n; i++)
		chunk_make(&chunks[i], sizes[(unsigned) i % (sizeof(sizes) / sizeof(sizes[0]))], masked);
}

static void
put_chunks(int fd, const Lease *lease, const Chunk *chunks, int n)
{
	for (int i = 0; i < n; i++)
		CHECK(chunk_put(fd, lease, &chunks[i]) == GPUAGG_OK);
}

static void
forget_chunks(Chunk *chunks, int n)
{
	for (int i = 0; i < n; i++)
		chunk_forget(&chunks[i]);
}

/* Random programs over random chunks: all types and widths, NULLs, bitmaps, flagged rows. */
static void
test_programs(void)
{
	Daemon d;
	Lease lease;
	Chunk chunks[CHUNKS];
	GpuaggReply reply;
	int fd = client_start(&d, program, NULL, &lease);
	int wrong = 0;

	queries_tame(true);
	make_chunks(chunks, CHUNKS / 2, true);
	queries_tame(false);
	make_chunks(chunks + CHUNKS / 2, CHUNKS - CHUNKS / 2, true);
	put_chunks(fd, &lease, chunks, CHUNKS);
	reply = health(fd);
	CHECK(reply.u.hello.blobs == CHUNKS * CHUNK_COLUMNS);
	CHECK(reply.u.hello.blob_bytes > 0 && reply.u.hello.blob_bytes < reply.u.hello.blob_budget);
	for (int i = 0; i < QUESTIONS; i++)
	{
		Question question;
		uint32_t first = (uint32_t) i % 4 * 2;

		queries_tame(i % 4 > 0);
		question_make(&question, 1 + i % 16);
		if (!query_is_right(fd, &lease, &question, chunks + first,
							1 + (uint32_t) i % (CHUNKS - first), NULL))
		{
			printf("question %d\n", i);
			wrong++;
		}
		question_forget(&question);
	}
	CHECK(wrong == 0);
	for (int i = 0; i < CHUNKS; i++)
		CHECK(chunk_drop(fd, &chunks[i]) == CHUNK_COLUMNS);
	reply = health(fd);
	CHECK(reply.u.hello.blobs == 0 && reply.u.hello.blob_bytes == 0);
	forget_chunks(chunks, CHUNKS);
	CHECK(client_end(&d, fd, &lease));
}

/*
 * Groups: in parts, in answers that have no room for them, and in tables that are full; what the
 * parts have together is what one answer has.
 */
static void
test_groups(void)
{
	static const uint32_t part_counts[] = {1, 2, 3, 7};
	static const uint16_t keys[] = {1, 0}; /* INT64 and INT32: all differ, or nearly */
	Daemon d;
	Lease lease;
	Chunk chunks[CHUNKS];
	Question question;
	GpuaggQueryPlaces places;
	GpuaggRequest request;
	GpuaggReply reply;
	GpuaggQueryHead *head;
	GpuaggQueryTotal whole[MAX_AGGREGATES];
	uint64_t ngroups[4] = {0};
	int fd = client_start(&d, program, NULL, &lease);

	queries_tame(true);
	for (int i = 0; i < CHUNKS; i++)
		chunk_make(&chunks[i], 2000 + (uint32_t) i, i % 2);
	put_chunks(fd, &lease, chunks, CHUNKS);
	question_sums(&question);
	question_group(&question, keys, 2);
	head = (GpuaggQueryHead *) (lease.base + QUERY_AT);
	for (int k = 0; k < 4; k++)
	{
		GpuaggQueryTotal merged[MAX_AGGREGATES];

		for (int a = 0; a < MAX_AGGREGATES; a++)
			gpuagg_query_total_init(&merged[a]);
		for (uint32_t part = 0; part < part_counts[k]; part++)
		{
			query_init(&request, &lease, &question, chunks, CHUNKS, &places);
			head->part = part;
			head->parts = part_counts[k];
			head->expected = 24000 / part_counts[k];
			CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
			CHECK(groups_merge(&lease, &question, CHUNKS, &reply, merged, &ngroups[k]));
		}
		if (k == 0)
			memcpy(whole, merged, sizeof(whole));
		CHECK(totals_are_equal(&question, whole, merged));
		CHECK(ngroups[k] == ngroups[0] && ngroups[k] > 10000);
	}

	/* no room: it says how many there are, and writes none */
	query_init(&request, &lease, &question, chunks, CHUNKS, &places);
	request.u.query.answer_bytes = 65536;
	head->expected = ngroups[0];
	memset(lease.base + ANSWER_AT + 65536, 0x5c, 4096);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	CHECK(reply.u.query.incomplete == 1 && reply.u.query.ngroups >= 500);
	CHECK(reply.u.query.bytes == gpuagg_query_groups_at(CHUNKS));
	CHECK(lease.base[ANSWER_AT + 65536] == 0x5c);

	/* a table for much fewer than there are is full */
	query_init(&request, &lease, &question, chunks, CHUNKS, &places);
	head->expected = 1;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	CHECK(reply.u.query.incomplete == 1 && reply.u.query.ngroups >= 4096);
	question_forget(&question);
	for (int i = 0; i < CHUNKS; i++)
		CHECK(chunk_drop(fd, &chunks[i]) == CHUNK_COLUMNS);
	forget_chunks(chunks, CHUNKS);
	CHECK(client_end(&d, fd, &lease));
}

/* A query that the device does in several slices. */
static void
test_slices(void)
{
	Daemon d;
	Lease lease;
	Chunk chunks[CHUNKS];
	Question question;
	GpuaggQueryPlaces places;
	GpuaggRequest request;
	GpuaggReply reply;
	int fd = client_start(&d, program, NULL, &lease);
	int other = client_greet(&d, NULL);

	queries_tame(true);
	for (int i = 0; i < CHUNKS; i++)
		chunk_make(&chunks[i], 30000 + (uint32_t) i, i % 2);
	put_chunks(fd, &lease, chunks, CHUNKS);
	question_sums(&question);
	query_init(&request, &lease, &question, chunks, CHUNKS, &places);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	CHECK(reply.u.query.nslices > 1 || !simulated);
	CHECK(reply.u.query.ns_slices > 0 && reply.u.query.ns_slices <= reply.u.query.ns);
	CHECK(answer_is_right(&lease, &question, chunks, CHUNKS, NULL, &reply));

	/* blobs that are dropped before their slice's turn */
	if (simulated)
	{
		bool stale[CHUNKS] = {0};

		CHECK(reply.u.query.nslices > 2);
		query_init(&request, &lease, &question, chunks, CHUNKS, &places);
		device_hold(1);
		CHECK(client_send(fd, &request) && device_holds(1));
		CHECK(chunk_drop(other, &chunks[0]) == CHUNK_COLUMNS);
		CHECK(chunk_drop(other, &chunks[CHUNKS - 1]) == CHUNK_COLUMNS);
		device_release();
		CHECK(client_receive(fd, &reply, NULL, WAIT_MS) == 1 && reply.h.reason == GPUAGG_OK);
		stale[CHUNKS - 1] = true;
		CHECK(answer_is_right(&lease, &question, chunks, CHUNKS, stale, &reply));
	}
	close(other);
	question_forget(&question);
	forget_chunks(chunks, CHUNKS);
	CHECK(client_end(&d, fd, &lease));
}

/* Blobs that are not there, or are others. */
static void
test_stale(void)
{
	Daemon d;
	Lease lease;
	Chunk chunks[CHUNKS];
	Chunk other;
	Question question;
	Question flags;
	GpuaggQueryPlaces places;
	GpuaggRequest request;
	GpuaggReply reply;
	bool stale[CHUNKS] = {0};
	int fd = client_start(&d, program, NULL, &lease);

	queries_tame(true);
	make_chunks(chunks, CHUNKS, true);
	question_sums(&question);
	memset(stale, 1, sizeof(stale));
	CHECK(query_is_right(fd, &lease, &question, chunks, CHUNKS, stale));
	memset(stale, 0, sizeof(stale));
	put_chunks(fd, &lease, chunks, CHUNKS);
	CHECK(query_is_right(fd, &lease, &question, chunks, CHUNKS, stale));

	/* one that is dropped */
	drop_init(&request, &chunks[2], 6, 1);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK && reply.u.drop.dropped == 1);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK && reply.u.drop.dropped == 0);
	stale[2] = true;
	CHECK(query_is_right(fd, &lease, &question, chunks, CHUNKS, stale));

	/* and one that the program does not ask for */
	drop_init(&request, &chunks[3], 0, 1);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK && reply.u.drop.dropped == 1);
	CHECK(query_is_right(fd, &lease, &question, chunks, CHUNKS, stale));

	/* another epoch: the same number is used again, and the old name is stale */
	other = chunks[4];
	other.epoch++;
	put_init(&request, &lease, &other, 4);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	CHECK(client_refused(fd, &request));
	request.u.put.name.epoch--;
	CHECK(client_refused(fd, &request));
	stale[4] = true;
	CHECK(query_is_right(fd, &lease, &question, chunks, CHUNKS, stale));
	CHECK(chunk_put(fd, &lease, &other) == GPUAGG_REFUSED);
	for (int k = 5; k < CHUNK_COLUMNS; k++)
	{
		put_init(&request, &lease, &other, k);
		CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	}
	chunks[4].epoch++;
	stale[4] = false;
	CHECK(query_is_right(fd, &lease, &question, chunks, CHUNKS, stale));

	/* beside chunks with flagged rows, whose turn comes twice */
	question_flags(&flags);
	for (int i = 0; i < 4; i++)
	{
		bool is_stale[CHUNKS] = {0};

		CHECK(chunk_drop(fd, &chunks[i]) > 0);
		for (int k = 0; k <= i; k++)
			is_stale[k] = true;
		CHECK(query_is_right(fd, &lease, &flags, chunks, CHUNKS, is_stale));
		stale[i] = true;
	}
	question_forget(&flags);

	/* another database */
	other = chunks[5];
	other.database++;
	CHECK(chunk_drop(fd, &other) == 0);
	query_init(&request, &lease, &question, chunks, CHUNKS, &places);
	request.u.query.database++;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK && reply.u.query.nstale == CHUNKS);

	/* other rows, and another type */
	query_init(&request, &lease, &question, chunks, CHUNKS, &places);
	((GpuaggQueryChunk *) (lease.base + QUERY_AT + places.chunks))[6].nrows++;
	((uint64_t *) (lease.base + QUERY_AT + places.numbers))[7 * 16 + 4] =
		((uint64_t *) (lease.base + QUERY_AT + places.numbers))[7 * 16 + 6];
	stale[6] = stale[7] = true;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	CHECK(answer_is_right(&lease, &question, chunks, CHUNKS, stale, &reply));
	question_forget(&question);
	forget_chunks(chunks, CHUNKS);
	CHECK(client_end(&d, fd, &lease));
}

/* A query of all chunks that is right, and whether its slices had been kept. */
static bool
is_right_kept(int fd, const Lease *lease, const Question *question, const Chunk *chunks,
			  const bool *stale, bool kept)
{
	GpuaggQueryPlaces places;
	GpuaggRequest request;
	GpuaggReply reply;

	query_init(&request, lease, question, chunks, CHUNKS, &places);
	return client_call(fd, &request, &reply) == GPUAGG_OK &&
		   answer_is_right(lease, question, chunks, CHUNKS, stale, &reply) &&
		   reply.u.query.nslices == 1 && reply.u.query.nkept == kept;
}

/* The same chunks again: by other programs and clients, when some are dropped, or are others. */
static void
test_kept(void)
{
	Daemon d;
	Lease lease;
	Lease more;
	Chunk chunks[CHUNKS];
	Chunk other;
	Question sums;
	Question flags;
	GpuaggQueryPlaces places;
	GpuaggRequest request;
	GpuaggReply reply;
	uint64_t bytes;
	bool stale[CHUNKS] = {0};
	int fd = client_start(&d, program, NULL, &lease);
	int second = client_greet(&d, NULL);

	queries_tame(true);
	/* so small that they are one slice however slow the device is */
	for (int i = 0; i < CHUNKS; i++)
		chunk_make(&chunks[i], 1 + (uint32_t) i % 4, false);
	put_chunks(fd, &lease, chunks, CHUNKS);
	CHECK(client_lease(second, GPUAGG_SEGMENT_BYTES, &more) == GPUAGG_OK);
	question_sums(&sums);
	question_flags(&flags);
	bytes = health(fd).u.hello.blob_bytes;
	CHECK(is_right_kept(fd, &lease, &sums, chunks, NULL, false));
	CHECK(is_right_kept(fd, &lease, &sums, chunks, NULL, true));
	CHECK(is_right_kept(second, &more, &sums, chunks, NULL, true));
	CHECK(is_right_kept(fd, &lease, &flags, chunks, NULL, false)); /* of other columns */
	CHECK(is_right_kept(fd, &lease, &flags, chunks, NULL, true));
	CHECK(is_right_kept(fd, &lease, &sums, chunks, NULL, true));

	/* with shifts, which are the question's, nothing is kept, and nothing that was is used */
	question_shift(&sums);
	CHECK(is_right_kept(fd, &lease, &sums, chunks, NULL, false));
	CHECK(is_right_kept(fd, &lease, &sums, chunks, NULL, false));
	sums.query.shifted = 0;
	CHECK(is_right_kept(fd, &lease, &sums, chunks, NULL, true));
	CHECK(health(fd).u.hello.blob_bytes > bytes);

	/* other chunks, in another order, or with other rows */
	CHECK(query_is_right(fd, &lease, &sums, chunks + 1, CHUNKS - 1, NULL));
	other = chunks[2];
	chunks[2] = chunks[3];
	chunks[3] = other;
	CHECK(is_right_kept(fd, &lease, &sums, chunks, NULL, false));
	CHECK(is_right_kept(fd, &lease, &sums, chunks, NULL, true));
	query_init(&request, &lease, &sums, chunks, CHUNKS, &places);
	((GpuaggQueryChunk *) (lease.base + QUERY_AT + places.chunks))[6].nrows++;
	stale[6] = true;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK && reply.u.query.nkept == 0);
	CHECK(answer_is_right(&lease, &sums, chunks, CHUNKS, stale, &reply));
	stale[6] = false;

	/* what has no number is stale without shifts */
	query_init(&request, &lease, &sums, chunks, CHUNKS, &places);
	((uint64_t *) (lease.base + QUERY_AT + places.numbers))[4 * sums.query.program.ncolumns + 8] =
		0;
	stale[4] = true;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	CHECK(answer_is_right(&lease, &sums, chunks, CHUNKS, stale, &reply));
	stale[4] = false;

	/* another database has nothing of it */
	query_init(&request, &lease, &sums, chunks, CHUNKS, &places);
	request.u.query.database++;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK && reply.u.query.nstale == CHUNKS);
	CHECK(is_right_kept(fd, &lease, &sums, chunks, NULL, true));

	/* one is dropped, and comes again as another */
	CHECK(chunk_drop(second, &chunks[5]) == CHUNK_COLUMNS);
	stale[5] = true;
	CHECK(is_right_kept(fd, &lease, &sums, chunks, stale, false));
	CHECK(is_right_kept(fd, &lease, &sums, chunks, stale, false));
	chunk_forget(&chunks[5]);
	chunk_make(&chunks[5], 3, false);
	CHECK(chunk_put(fd, &lease, &chunks[5]) == GPUAGG_OK);
	CHECK(is_right_kept(fd, &lease, &sums, chunks, NULL, false));
	CHECK(is_right_kept(fd, &lease, &sums, chunks, NULL, true));

	/* of an epoch that replaces the one before */
	chunks[7].epoch++;
	put_chunks(fd, &lease, &chunks[7], 1);
	CHECK(is_right_kept(fd, &lease, &sums, chunks, NULL, false));

	/* all memory is given back */
	for (int i = 0; i < CHUNKS; i++)
		CHECK(chunk_drop(fd, &chunks[i]) == CHUNK_COLUMNS);
	reply = health(fd);
	CHECK(reply.u.hello.blobs == 0 && reply.u.hello.blob_bytes == 0);
	close(second);
	lease_forget(&more);
	question_forget(&sums);
	question_forget(&flags);
	forget_chunks(chunks, CHUNKS);
	CHECK(client_end(&d, fd, &lease));
}

/* Blobs that are dropped while a query or a PUT has them, and clients that go meanwhile. */
static void
test_in_use(void)
{
	Daemon d;
	Lease lease;
	Lease more;
	Chunk chunks[2];
	Question question;
	GpuaggQueryPlaces places;
	GpuaggRequest request;
	GpuaggRequest put;
	GpuaggReply reply;
	Question flags;
	uint64_t bytes;
	int fd = client_start(&d, program, NULL, &lease);
	int other = client_greet(&d, NULL);
	int third = client_greet(&d, NULL);

	queries_tame(true);
	make_chunks(chunks, 2, false);
	put_chunks(fd, &lease, chunks, 1);
	CHECK(client_lease(other, GPUAGG_SEGMENT_BYTES, &more) == GPUAGG_OK);
	bytes = health(fd).u.hello.blob_bytes;
	question_sums(&question);
	query_init(&request, &lease, &question, chunks, 1, &places);

	/* a query holds what it has found; nobody else finds it, and puts go on */
	device_hold(0);
	CHECK(client_send(fd, &request) && device_holds(1));
	CHECK(chunk_drop(other, &chunks[0]) == CHUNK_COLUMNS);
	CHECK(chunk_drop(other, &chunks[0]) == 0);
	CHECK(health(other).u.hello.blobs == 4);
	put_init(&put, &more, &chunks[1], 4);
	CHECK(client_send(other, &put));
	CHECK(health(fd).u.hello.inflight == 2);
	device_release();
	CHECK(client_receive(fd, &reply, NULL, WAIT_MS) == 1 && reply.h.reason == GPUAGG_OK);
	CHECK(answer_is_right(&lease, &question, chunks, 1, NULL, &reply));
	CHECK(client_receive(other, &reply, NULL, WAIT_MS) == 1 && reply.h.reason == GPUAGG_OK);
	CHECK(health(fd).u.hello.blobs == 1 && health(fd).u.hello.blob_bytes < bytes);

	/* one that is asked for, and dropped, before it is complete */
	for (int k = 6; k < CHUNK_COLUMNS; k++)
	{
		put_init(&put, &lease, &chunks[1], k);
		CHECK(client_call(fd, &put, &reply) == GPUAGG_OK);
	}
	question_flags(&flags);
	query_init(&request, &lease, &flags, &chunks[1], 1, &places);
	put_init(&put, &more, &chunks[1], 5);
	device_hold(0);
	CHECK(client_send(other, &put) && device_holds(1));
	CHECK(client_send(fd, &request) && client_is_read(other));
	CHECK(chunk_drop(third, &chunks[1]) == 10);
	CHECK(health(third).u.hello.blobs == 1);
	device_release();
	CHECK(client_receive(fd, &reply, NULL, WAIT_MS) == 1 && reply.h.reason == GPUAGG_OK);
	CHECK(reply.u.query.nstale == 1);
	CHECK(client_receive(other, &reply, NULL, WAIT_MS) == 1 && reply.h.reason == GPUAGG_OK);
	CHECK(health(fd).u.hello.blobs == 0);

	/* one whose client goes before it knows of it */
	put_init(&put, &more, &chunks[1], 5);
	device_hold(0);
	CHECK(client_send(other, &put) && device_holds(1));
	close(other);
	CHECK(health(fd).u.hello.blobs == 1);
	device_release();
	for (int i = 0; i < 1000 && health(fd).u.hello.blobs > 0; i++)
		sleep_ms(5);
	CHECK(health(fd).u.hello.blobs == 0);

	/* a query whose client goes */
	put_chunks(fd, &lease, chunks, 1);
	query_init(&request, &lease, &question, chunks, 1, &places);
	device_hold(0);
	CHECK(client_send(fd, &request) && device_holds(1));
	close(fd);
	fd = client_greet(&d, NULL);
	CHECK(chunk_drop(fd, &chunks[0]) == CHUNK_COLUMNS);
	CHECK(health(fd).u.hello.blobs == 4);
	device_release();
	for (int i = 0; i < 1000 && health(fd).u.hello.blobs > 0; i++)
		sleep_ms(5);
	CHECK(health(fd).u.hello.blobs == 0);
	close(third);
	lease_forget(&more);
	question_forget(&question);
	question_forget(&flags);
	forget_chunks(chunks, 2);
	CHECK(client_end(&d, fd, &lease));
}

/* PUT requests that wait until there is device memory for them: the set-up thread is busy. */
static void
test_waiting(void)
{
	Daemon d;
	Lease lease;
	Lease more;
	Lease slow;
	Chunk chunk;
	GpuaggRequest request;
	GpuaggRequest put;
	GpuaggReply reply;
	int fd = client_start(&d, program, NULL, &lease);
	int other = client_greet(&d, NULL);
	int third = client_greet(&d, NULL);

	queries_tame(true);
	chunk_make(&chunk, 1000, false);
	CHECK(client_lease(other, GPUAGG_SEGMENT_BYTES, &more) == GPUAGG_OK);
	reduce_init(&request, &lease, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 512);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);

	pin_hold();
	request_init(&request, GPUAGG_MSG_LEASE);
	request.u.lease.bytes = GPUAGG_SEGMENT_BYTES;
	CHECK(client_send(third, &request) && client_is_read(fd));
	put_init(&put, &lease, &chunk, 4);
	CHECK(client_send(fd, &put));
	put_init(&request, &more, &chunk, 6);
	CHECK(client_send(other, &request));
	CHECK(health(other).u.hello.inflight == 2 && health(other).u.hello.blobs == 2);
	close(other);
	lease_forget(&more);
	other = client_greet(&d, NULL);
	for (int i = 0; i < 1000 && health(other).u.hello.blobs > 1; i++)
		sleep_ms(5);
	CHECK(health(other).u.hello.inflight == 1 && health(other).u.hello.blobs == 1);
	pin_release();
	CHECK(client_receive(fd, &reply, NULL, WAIT_MS) == 1);
	CHECK(reply.h.id == put.h.id && reply.h.reason == GPUAGG_OK);
	CHECK(client_receive(third, &reply, &slow.fd, WAIT_MS) == 1 && slow.fd >= 0);
	close(slow.fd);
	CHECK(chunk_drop(other, &chunk) == 1);
	CHECK(health(other).u.hello.blobs == 0);
	close(other);
	close(third);
	chunk_forget(&chunk);
	CHECK(client_end(&d, fd, &lease));
}

/* Other programs have the device's memory. */
static void
test_no_memory(void)
{
	const char *const args[] = {"--device-memory", "1073741824", NULL};
	Daemon d;
	Lease lease;
	Chunk chunk;
	GpuaggRequest request;
	GpuaggReply reply;
	uint64_t device_bytes;
	int fd;

	setenv("GPUAGG_SIM_MEMORY", "33554432", 1);
	fd = client_start(&d, program, args, &lease);
	unsetenv("GPUAGG_SIM_MEMORY");
	queries_tame(true);
	chunk_make(&chunk, 1000, false);
	reduce_init(&request, &lease, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 512);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	device_bytes = health(fd).u.hello.device_bytes;
	for (int i = 0; i < 3; i++)
		CHECK(chunk_put(fd, &lease, &chunk) == GPUAGG_NO_DEVICE_MEMORY);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	for (int i = 0; i < 1000 && health(fd).u.hello.device_bytes > device_bytes; i++)
		sleep_ms(5);
	CHECK(health(fd).u.hello.device_bytes == device_bytes && health(fd).u.hello.blobs == 0);
	chunk_forget(&chunk);
	CHECK(client_end(&d, fd, &lease));
}

/* Blobs beyond the budget are refused, and find place when others have been dropped. */
static void
test_budget(void)
{
	const char *const args[] = {"--device-memory", "33554432", NULL};
	Daemon d;
	Lease lease;
	Chunk chunks[64];
	Question question;
	GpuaggReply reply;
	GpuaggReason reason = GPUAGG_OK;
	uint64_t budget;
	uint64_t device_bytes;
	uint64_t used;
	int n = 0;
	int fd = client_start(&d, program, args, &lease);

	queries_tame(true);
	budget = health(fd).u.hello.blob_budget;
	CHECK(budget == 33554432 / 4 * 3);
	while (n < 64 && reason == GPUAGG_OK)
	{
		chunk_make(&chunks[n], 20000, n % 2);
		reason = chunk_put(fd, &lease, &chunks[n++]);
	}
	CHECK(reason == GPUAGG_NO_DEVICE_MEMORY);
	if (!CHECK(n > 5))
		return;
	reply = health(fd);
	used = reply.u.hello.blob_bytes;
	CHECK(used <= budget && used > budget / 8 * 7);
	CHECK(reply.u.hello.device_bytes <= 33554432);
	question_sums(&question);
	CHECK(query_is_right(fd, &lease, &question, chunks, (uint32_t) n - 1, NULL));

	/* the same place again and again, by other sizes too, and for another database */
	for (int i = 0; i < 30; i++)
	{
		Chunk *chunk = &chunks[i % (n - 1)];

		CHECK(chunk_drop(fd, chunk) == CHUNK_COLUMNS);
		chunk_forget(chunk);
		chunk_make(chunk, 10000 + (uint32_t) i * 200, false);
		CHECK(chunk_put(fd, &lease, chunk) == GPUAGG_OK);
	}
	CHECK(query_is_right(fd, &lease, &question, chunks, (uint32_t) n - 1, NULL));
	CHECK(health(fd).u.hello.blob_bytes <= budget);

	/* other work goes on beside a full budget */
	{
		GpuaggRequest request;

		memset(lease.base, 0, 8 << 20);
		reduce_init(&request, &lease, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 1000000);
		CHECK(client_call(fd, &request, &reply) == GPUAGG_OK && reply.u.reduce.n == 1000000);
	}

	/* and memory goes back when nothing is in it */
	reply = health(fd);
	device_bytes = reply.u.hello.device_bytes;
	used = reply.u.hello.blob_bytes; /* what was empty for a while may have gone already */
	for (int i = 0; i < n; i++)
		(void) chunk_drop(fd, &chunks[i]);
	reply = health(fd);
	CHECK(reply.u.hello.blobs == 0 && reply.u.hello.blob_bytes == 0);
	for (int i = 0; i < 1000 && reply.u.hello.device_bytes + used > device_bytes; i++)
	{
		sleep_ms(20);
		reply = health(fd);
	}
	CHECK(reply.u.hello.device_bytes + used <= device_bytes);
	for (int i = 0; i < n - 1; i++)
		CHECK(chunk_put(fd, &lease, &chunks[i]) == GPUAGG_OK);
	question_forget(&question);
	forget_chunks(chunks, n);
	CHECK(client_end(&d, fd, &lease));
}

/* PUT requests that are none. */
static void
test_wrong_puts(int fd, const Lease *lease, const Chunk *chunk)
{
	static const uint8_t types[] = {0, GPUAGG_VECTOR_BYTES, GPUAGG_VECTOR_DATUM, 255};
	static const uint8_t widths[] = {0, 3, 8, 16, 255};
	GpuaggRequest request;
	GpuaggReply reply;

	for (int i = 0; i < 4; i++)
	{
		put_init(&request, lease, chunk, 4);
		request.u.put.form.type = types[i];
		CHECK(client_refused(fd, &request));
	}
	for (int i = 0; i < 5; i++)
	{
		put_init(&request, lease, chunk, 4); /* INT32 */
		request.u.put.form.width = widths[i];
		CHECK(client_refused(fd, &request));
	}
	put_init(&request, lease, chunk, 0); /* BOOL */
	request.u.put.form.width = 1;
	CHECK(client_refused(fd, &request));
	put_init(&request, lease, chunk, 12); /* FLOAT64 */
	request.u.put.form.width = 4;
	CHECK(client_refused(fd, &request));
	put_init(&request, lease, chunk, 4);
	request.u.put.name.number = 0;
	CHECK(client_refused(fd, &request));
	for (int i = 0; i < 2; i++)
	{
		put_init(&request, lease, chunk, 4);
		request.u.put.nrows = i == 0 ? 0 : GPUAGG_BLOB_ROWS + 1;
		CHECK(client_refused(fd, &request));
		put_init(&request, lease, chunk, 4);
		request.u.put.values = i == 0 ? 32 : lease->bytes;
		CHECK(client_refused(fd, &request));
		put_init(&request, lease, chunk, 4);
		request.u.put.values = UINT64_MAX - 63;
		request.u.put.nullable = (uint32_t) i;
		CHECK(client_refused(fd, &request));
		put_init(&request, lease, chunk, 4);
		request.u.put.nullable = 1;
		request.u.put.valid = i == 0 ? 32 : lease->bytes;
		CHECK(client_refused(fd, &request));
		put_init(&request, lease, chunk, 4);
		request.u.put.device = (uint32_t) i + 1;
		CHECK(client_refused(fd, &request));
	}
	put_init(&request, lease, chunk, 4);
	request.u.put.nullable = 2;
	CHECK(client_refused(fd, &request));
	put_init(&request, lease, chunk, 4);
	request.u.put.region ^= 1u << 20;
	CHECK(client_refused(fd, &request));
	drop_init(&request, chunk, 0, 1);
	request.u.drop.count = GPUAGG_DROPS + 1;
	CHECK(client_refused(fd, &request));

	/* all of epochs before one */
	put_init(&request, lease, chunk, 0);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	drop_init(&request, chunk, 0, 1);
	request.u.drop.count = 0;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK && reply.u.drop.dropped == 0);
	request.u.drop.names[0].epoch++;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK && reply.u.drop.dropped == 1);
	CHECK(health(fd).u.hello.blobs == 0);

	/* the last rows of a region */
	put_init(&request, lease, chunk, 0);
	request.u.put.nullable = 0;
	request.u.put.values = lease->bytes - 64;
	request.u.put.nrows = 512;
	request.u.put.device = 0;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK && reply.u.put.bytes == 256);
	drop_init(&request, chunk, 0, 1);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK && reply.u.drop.dropped == 1);
	CHECK(health(fd).u.hello.blobs == 0);
}

/* QUERY requests that are none, or that no kernel can do. */
static void
test_wrong_queries(int fd, const Lease *lease, const Question *question, const Chunk *chunks)
{
	GpuaggQueryPlaces places;
	GpuaggRequest request;
	GpuaggReply reply;
	GpuaggQueryHead *head = (GpuaggQueryHead *) (lease->base + QUERY_AT);
	GpuaggVectorInstruction *instruction;
	GpuaggQueryChunk *chunk;
	GpuaggQueryAggregate *aggregate;
	Question grouped = *question;
	const uint16_t key = 0;

#define AGAIN() query_init(&request, lease, question, chunks, 3, &places)
#define REFUSED_WITH(change)                 \
	do                                       \
	{                                        \
		AGAIN();                             \
		change;                              \
		CHECK(client_refused(fd, &request)); \
	} while (0)

	AGAIN();
	instruction = (GpuaggVectorInstruction *) (lease->base + QUERY_AT + places.instructions);
	chunk = (GpuaggQueryChunk *) (lease->base + QUERY_AT + places.chunks);
	aggregate = (GpuaggQueryAggregate *) (lease->base + QUERY_AT + places.aggregates);
	REFUSED_WITH(request.u.query.region ^= 1u << 20);
	REFUSED_WITH(request.u.query.device = 1);
	REFUSED_WITH(request.u.query.spare = 1);
	REFUSED_WITH(request.u.query.at += 64);
	REFUSED_WITH(request.u.query.at = lease->bytes);
	REFUSED_WITH(request.u.query.bytes = sizeof(GpuaggQueryHead) - 1);
	REFUSED_WITH(request.u.query.bytes = places.end - 1);
	REFUSED_WITH(request.u.query.bytes = UINT64_MAX);
	REFUSED_WITH(request.u.query.answer_at = QUERY_AT);
	REFUSED_WITH(request.u.query.answer_at += 8);
	REFUSED_WITH(request.u.query.answer_bytes = lease->bytes);
	REFUSED_WITH(request.u.query.answer_bytes = gpuagg_query_answer_bytes(head) - 1);
	REFUSED_WITH(head->nchunks = 0);
	REFUSED_WITH(head->nchunks = UINT32_MAX);
	REFUSED_WITH(head->ncolumns = GPUAGG_QUERY_COLUMNS + 1);
	REFUSED_WITH(head->naggregates = GPUAGG_QUERY_AGGREGATES + 1);
	REFUSED_WITH(head->ninstructions = UINT32_MAX);
	REFUSED_WITH(head->nfilter = head->ninstructions + 1);
	REFUSED_WITH(head->nregisters = 1);
	REFUSED_WITH(head->nregisters = GPUAGG_VECTOR_DEVICE_REGISTERS + 1);
	REFUSED_WITH(head->nconstants = GPUAGG_VECTOR_DEVICE_CONSTANTS + 1);
	REFUSED_WITH(head->parts = 0);
	REFUSED_WITH(head->parts = 2);
	REFUSED_WITH(head->part = 1);
	REFUSED_WITH(head->window = 2);
	REFUSED_WITH(head->shifted = 2);
	REFUSED_WITH(head->spare = 1);
	REFUSED_WITH((head->shifted = 1, request.u.query.bytes = places.end));
	REFUSED_WITH(instruction->out = 300);
	REFUSED_WITH(instruction->arg = GPUAGG_QUERY_COLUMNS);
	REFUSED_WITH(chunk[1].nrows = GPUAGG_BLOB_ROWS + 1);
	REFUSED_WITH(chunk[1].masked = 2);
	REFUSED_WITH((chunk[1].masked = 1, chunk[1].rows = 0));
	REFUSED_WITH((chunk[1].masked = 1, chunk[1].rows = places.end + 8));
	REFUSED_WITH((chunk[1].masked = 1, chunk[1].rows = request.u.query.bytes));
	REFUSED_WITH((chunk[1].masked = 1, chunk[1].rows = UINT64_MAX - 63));

	AGAIN();
	aggregate->op = 77;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_CPU_ONLY);
	AGAIN();
	aggregate->value = 999;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_CPU_ONLY);

	/* groups: no such register, and keys that are too long */
	question_group(&grouped, &key, 1);
	CHECK(grouped.query.nkeys == 1);
	query_init(&request, lease, &grouped, chunks, 3, &places);
	*(uint16_t *) (lease->base + QUERY_AT + places.keys) = 200;
	CHECK(client_call(fd, &request, &reply) == GPUAGG_CPU_ONLY);
	query_init(&request, lease, &grouped, chunks, 3, &places);
	*(uint16_t *) (lease->base + QUERY_AT + places.keys) = 2; /* INT128 */
	CHECK(client_call(fd, &request, &reply) == GPUAGG_CPU_ONLY);
	query_init(&request, lease, &grouped, chunks, 3, &places);
	request.u.query.answer_bytes = gpuagg_query_groups_at(3) - 64;
	CHECK(client_refused(fd, &request));
	query_init(&request, lease, &grouped, chunks, 3, &places);
	head->parts = GPUAGG_QUERY_PARTS + 1;
	CHECK(client_refused(fd, &request));
	grouped.query.shifted = 1;
	CHECK(!gpuagg_query_write(&grouped.query, lease->base + QUERY_AT, lease->bytes, &places));
	grouped.query.shifted = 0;
	query_init(&request, lease, &grouped, chunks, 3, &places);
	head->shifted = 1;
	CHECK(client_refused(fd, &request));

	/* in all of this nothing has been held */
	AGAIN();
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	CHECK(answer_is_right(lease, question, chunks, 3, NULL, &reply));

	/* no more than that is written */
	AGAIN();
	memset(lease->base + ANSWER_AT, 0x5c, 65536);
	request.u.query.answer_bytes = gpuagg_query_answer_bytes(head);
	CHECK(client_call(fd, &request, &reply) == GPUAGG_OK);
	CHECK(reply.u.query.bytes <= request.u.query.answer_bytes);
	CHECK(lease->base[ANSWER_AT + reply.u.query.bytes] == 0x5c &&
		  lease->base[ANSWER_AT + request.u.query.answer_bytes] == 0x5c);
}

static void
test_refusals(void)
{
	Daemon d;
	Lease lease;
	Chunk chunks[3];
	Question question;
	int fd = client_start(&d, program, NULL, &lease);

	queries_tame(true);
	make_chunks(chunks, 3, false);
	test_wrong_puts(fd, &lease, &chunks[0]);
	put_chunks(fd, &lease, chunks, 3);
	question_sums(&question);
	test_wrong_queries(fd, &lease, &question, chunks);
	question_forget(&question);
	for (int i = 0; i < 3; i++)
		CHECK(chunk_drop(fd, &chunks[i]) == CHUNK_COLUMNS);
	CHECK(health(fd).u.hello.blobs == 0);
	forget_chunks(chunks, 3);
	CHECK(client_end(&d, fd, &lease));
}

int
main(int argc, char **argv)
{
	if (argc < 2 || argc > 3)
	{
		fprintf(stderr, "usage: %s PROGRAM [SEED]\n", argv[0]);
		return 2;
	}
	program = argv[1];
	if (argc > 2)
		first_seed = strtoull(argv[2], NULL, 10);
	printf("seed %llu\n", (unsigned long long) first_seed);
	queries_seed(first_seed);
	simulated = device_simulated(program);
	test_programs();
	test_groups();
	test_slices();
	test_stale();
	test_budget();
	test_refusals();
	test_kept();
	if (simulated)
	{
		test_in_use();
		test_waiting();
		test_no_memory();
	}
	return test_end();
}
