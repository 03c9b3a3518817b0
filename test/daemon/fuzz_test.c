/*
 * fuzz_test.c
 *	  gpuaggd among hostile, careless and very many clients.
 *
 * A well-behaved client works beside them and must get right answers all the
 * time.  Usage: fuzz_test PROGRAM [SEED [REQUESTS [QUERIES]]]
 */
#include "queries.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define STORM		600
#define MAX_CLIENTS 512 /* that gpuaggd serves at the same time */
#define GOOD_ROWS	3000
#define CHUNKS		4
#define QUESTIONS	12

/* Clients of test_growth; fewer where memory is not compared, as each costs a segment. */
#ifdef __SANITIZE_ADDRESS__
#define COMERS 400
#else
#define COMERS 2000
#endif

static const char *program;
static uint64_t seed = 1;

/* What requests about blobs are made of. */
static Chunk chunks[CHUNKS];
static Question questions[QUESTIONS];

/* A client that sums and scans int64 rows, and asks about blobs, and knows the answers. */
typedef struct Good
{
	int fd;
	Lease lease;
	int64_t sum;
	Chunk chunk;
	Question question;
} Good;

static void
good_start(Good *good, const Daemon *d)
{
	good->fd = client_greet(d, NULL);
	CHECK(client_lease(good->fd, GPUAGG_SEGMENT_BYTES, &good->lease) == GPUAGG_OK);
	chunk_make(&good->chunk, 700, true);
	good->chunk.database = 9;
	good->chunk.number = random_bits(&seed) / 2;
	CHECK(chunk_put(good->fd, &good->lease, &good->chunk) == GPUAGG_OK);
	question_sums(&good->question);
	good->sum = 0;
	for (int i = 0; i < GOOD_ROWS; i++)
	{
		int64_t x = (int64_t) (random_bits(&seed) >> 20);

		((int64_t *) good->lease.base)[i] = x;
		good->sum += x;
	}
}

static bool
good_works(Good *good)
{
	GpuaggRequest request;
	GpuaggReply reply;
	const GpuaggInt128 *results;

	reduce_init(&request, &good->lease, GPUAGG_INT64, GPUAGG_SUM, 0, 0, GOOD_ROWS);
	if (client_call(good->fd, &request, &reply) != GPUAGG_OK || reply.u.reduce.n != GOOD_ROWS ||
		(int64_t) reply.u.reduce.sum.lo != good->sum)
		return false;
	scan_init(&request, &good->lease, GPUAGG_INT64, GPUAGG_SUM, GPUAGG_SCAN_STATUS, GOOD_ROWS);
	results = (const GpuaggInt128 *) (good->lease.base + request.u.work.column[GPUAGG_RESULTS].at);
	if (client_call(good->fd, &request, &reply) != GPUAGG_OK ||
		(int64_t) results[GOOD_ROWS - 1].lo != good->sum ||
		(int64_t) reply.u.scan.carry.sum.lo != good->sum)
		return false;
	return query_is_right(good->fd, &good->lease, &good->question, &good->chunk, 1, NULL);
}

static void
good_end(Good *good)
{
	close(good->fd);
	lease_forget(&good->lease);
	chunk_forget(&good->chunk);
	question_forget(&good->question);
}

static void
discard_replies(int fd)
{
	GpuaggReply reply;

	while (client_receive(fd, &reply, NULL, 0) == 1)
		continue;
}

static uint64_t
below(uint64_t n)
{
	return random_bits(&seed) % n;
}

/* A right SCAN request, but for its carry. */
static void
random_scan(GpuaggRequest *request, const Lease *lease, int kind, uint64_t nrows)
{
	GpuaggFloatSumFull *f = &request->u.work.u.scan.carry.f;

	scan_init(request, lease, kind, GPUAGG_SUM + (int) below(4), (unsigned) below(32), nrows);
	request->u.work.u.scan.window = (int32_t) below(GPUAGG_CHUNKS);
	request->u.work.u.scan.carry.sum.lo = random_bits(&seed);
	for (int i = 0; i < GPUAGG_CHUNKS && below(2); i++)
		f->chunk[below(GPUAGG_CHUNKS)] = (int64_t) random_bits(&seed) >> below(64);
	if (below(2))
		f->counts.n = (int64_t) below(3);
}

/* The number of an algorithm, or one beside those that exist. */
static int
random_algorithm(void)
{
	return below(8) ? (int) below(GPUAGG_NALGORITHMS + 1) : GPUAGG_ALG_CUB - 1 + (int) below(5);
}

/* Memory that a query lies in may have anything in any place. */
static void
scribble(char *memory, uint64_t bytes)
{
	for (uint64_t n = below(4); n > 0; n--)
	{
		char *at = memory + below(bytes);

		if (below(2))
			*at = (char) (*at ^ 1 << below(8));
		else
			*at = (char) random_bits(&seed);
	}
}

static void
random_query(GpuaggRequest *request, const Lease *lease)
{
	GpuaggQueryPlaces places;
	uint32_t first = (uint32_t) below(CHUNKS);

	if (lease->base == NULL)
	{
		request_init(request, GPUAGG_MSG_QUERY);
		request->u.query.region = lease->region;
		return;
	}
	query_init(request, lease, &questions[below(QUESTIONS)], &chunks[first],
			   1 + (uint32_t) below(CHUNKS - first), &places);
	if (below(3) == 0)
		scribble(lease->base + QUERY_AT, below(2) ? places.end : 64 + below(places.end - 64));
}

/* Mostly of a blob that is not there yet. */
static void
random_put(GpuaggRequest *request, const Lease *lease)
{
	Chunk *chunk = &chunks[below(CHUNKS)];

	chunk->epoch += below(20) == 0;
	put_init(request, lease, chunk, (int) below(CHUNK_COLUMNS));
	if (below(8) == 0)
		request->u.put.name.number = below(1000);
}

static void
random_request(GpuaggRequest *request, const Lease *lease)
{
	static const int types[] = {GPUAGG_MSG_HELLO,  GPUAGG_MSG_PING,	  GPUAGG_MSG_DEVICE,
								GPUAGG_MSG_LEASE,  GPUAGG_MSG_REDUCE, GPUAGG_MSG_SCAN,
								GPUAGG_MSG_LADDER, GPUAGG_MSG_BENCH,  GPUAGG_MSG_RELEASE,
								GPUAGG_MSG_REDUCE, GPUAGG_MSG_SCAN,	  GPUAGG_MSG_LADDER,
								GPUAGG_MSG_SORT,   GPUAGG_MSG_PUT,	  GPUAGG_MSG_PUT,
								GPUAGG_MSG_PUT,	   GPUAGG_MSG_PUT,	  GPUAGG_MSG_QUERY,
								GPUAGG_MSG_QUERY,  GPUAGG_MSG_QUERY,  GPUAGG_MSG_DROP};
	int type = types[below(sizeof(types) / sizeof(types[0]))];
	int kind = 1 + (int) below(4);
	int task = 1 << below(3);
	uint64_t nrows = 1 + below(5000);

	switch (type)
	{
		case GPUAGG_MSG_REDUCE:
			reduce_init(request, lease, kind, GPUAGG_SUM + (int) below(5),
						below(2) ? GPUAGG_SCAN_VALIDITY : 0, below(4096) * GPUAGG_ALIGN, nrows);
			break;
		case GPUAGG_MSG_SCAN:
			random_scan(request, lease, kind, nrows);
			break;
		case GPUAGG_MSG_SORT:
			sort_init(request, lease, (int) below(4), (int) below(140), nrows);
			break;
		case GPUAGG_MSG_LADDER:
			ladder_init(request, lease, task, random_algorithm(), kind, GPUAGG_SUM + (int) below(3),
						below(2) ? GPUAGG_SCAN_EXCLUSIVE : 0, nrows % 600 + 1);
			break;
		case GPUAGG_MSG_BENCH:
			bench_init(request, task, random_algorithm(), kind, nrows % 600 + 1);
			break;
		case GPUAGG_MSG_PUT:
			random_put(request, lease);
			break;
		case GPUAGG_MSG_DROP:
			drop_init(request, &chunks[below(CHUNKS)], (int) below(4), 1);
			break;
		case GPUAGG_MSG_QUERY:
			random_query(request, lease);
			break;
		default:
			request_init(request, type);
			break;
	}
	if (type == GPUAGG_MSG_LEASE)
		request->u.lease.bytes = below(2) ? 1 : random_bits(&seed);
}

/* A request that is right but for what chance changes in it; returns its size. */
static size_t
mutated(GpuaggRequest *request, const Lease *lease)
{
	static const uint64_t odd[] = {0,		  1,		  255,
								   256,		  UINT32_MAX, INT64_MAX,
								   INT64_MIN, UINT64_MAX, UINT64_MAX - 255,
								   1ull << 31};
	unsigned char *bytes = (unsigned char *) request;
	int changes = (int) below(4);

	random_request(request, lease);
	for (int i = 0; i < changes; i++)
	{
		/* mostly behind the header: a bad header ends the connection at once */
		size_t from = below(8) ? sizeof(GpuaggHeader) : 0;
		size_t at = from + below(below(2) ? 96 : 752);

		if (below(2))
			bytes[at] ^= (unsigned char) (1u << below(8));
		else
		{
			at = at / 8 * 8;
			memcpy(bytes + at, &odd[below(10)], 8);
		}
	}
	return below(50) ? sizeof(*request) : (size_t) below(sizeof(*request));
}

/* Connections that send anything, over memory that holds anything and changes. */
static void
test_mutations(int nrequests)
{
	const char *const args[] = {"--total-staging", "268435456", "--device-memory", "33554432",
								NULL};
	Daemon d;
	Good good;
	Lease lease;
	int fd = -1;
	int sent = 0;
	int good_failures = 0;

	daemon_start(&d, program, args);
	good_start(&good, &d);
	memset(&lease, 0, sizeof(lease));
	lease.fd = -1;
	while (sent < nrequests)
	{
		GpuaggRequest request;
		size_t size;

		if (fd < 0)
		{
			fd = client_greet(&d, NULL);
			lease_forget(&lease);
			if (below(4) == 0)
				lease = (Lease){.region = (uint32_t) random_bits(&seed), .fd = -1};
			else if (client_lease(fd, GPUAGG_SEGMENT_BYTES, &lease) == GPUAGG_OK)
				for (int i = 0; i < 1 << 16; i++)
					((uint64_t *) lease.base)[i] = random_bits(&seed);
		}
		size = mutated(&request, &lease);
		/* a DROP of all epochs is right, and takes the good client's blobs */
		if (request.h.type == GPUAGG_MSG_DROP && request.u.drop.count == 0)
			request.u.drop.count = 1;
		if (lease.base != NULL)
			((uint64_t *) lease.base)[below(1 << 16)] = random_bits(&seed);
		if (below(8))
			discard_replies(fd);
		sent++;
		if (send(fd, &request, size, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t) size ||
			below(100) == 0)
		{
			close(fd);
			fd = -1;
		}
		if (sent % 50 == 0 && !good_works(&good))
			good_failures++;
	}
	CHECK(good_failures == 0);
	if (fd >= 0)
		close(fd);
	lease_forget(&lease);

	/* what the others had has been given back: the good client can have it */
	{
		Lease more[7];
		int got = 0;

		for (int tries = 0; tries < 3000 && got < 3; tries++)
			if (client_lease(good.fd, 64 << 20, &more[got]) == GPUAGG_OK)
				got++;
			else
				sleep_ms(10);
		CHECK(got == 3);
		for (int i = 0; i < got; i++)
			lease_forget(&more[i]);
	}
	good_end(&good);
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

/* Changes an aligned word of what a query's head, program, aggregates, chunks, numbers or shifts say. */
static void
change_word(char *query, const GpuaggQueryPlaces *places)
{
	static const uint32_t odd[] = {0, 1, 2, 8, 33, 255, 65535, 65536, INT32_MAX, UINT32_MAX};
	const uint64_t parts[] = {0,
							  places->instructions,
							  places->constants,
							  places->columns,
							  places->aggregates,
							  places->keys,
							  places->chunks,
							  places->numbers,
							  places->shifts,
							  places->end};
	int part = (int) below(sizeof(parts) / sizeof(parts[0]) - 1);
	uint64_t words = (parts[part + 1] - parts[part]) / 4;
	uint32_t *word = (uint32_t *) (query + parts[part]);

	if (words == 0)
		return;
	word += below(words);
	switch (below(4))
	{
		case 0:
			*word ^= UINT32_C(1) << below(32);
			break;
		case 1:
			*word += below(2) ? 1 : UINT32_MAX;
			break;
		case 2:
			*word = odd[below(sizeof(odd) / sizeof(odd[0]))];
			break;
		default:
			*word = (uint32_t) random_bits(&seed);
	}
}

/*
 * Queries with up to four words changed, over blobs that are there.  One is answered, or refused
 * with a reason that is its own; the next one, and other clients, notice nothing.
 */
static void
test_queries(int n)
{
	Daemon d;
	Good good;
	Lease lease;
	GpuaggRequest request;
	GpuaggReply reply;
	int answered = 0;
	int refused = 0;
	int others = 0;
	int wrong = 0;
	int fd;

	daemon_start(&d, program, NULL);
	good_start(&good, &d);
	fd = client_greet(&d, NULL);
	CHECK(client_lease(fd, GPUAGG_SEGMENT_BYTES, &lease) == GPUAGG_OK);
	for (int i = 0; i < CHUNKS; i++)
		CHECK(chunk_put(fd, &lease, &chunks[i]) == GPUAGG_OK);
	for (int i = 0; i < n; i++)
	{
		const Question *question = &questions[below(QUESTIONS)];
		uint32_t first = (uint32_t) below(CHUNKS);
		uint32_t nchunks = 1 + (uint32_t) below(CHUNKS - first);
		int changes = (int) below(5);
		GpuaggQueryPlaces places;
		GpuaggReason reason;

		query_init(&request, &lease, question, &chunks[first], nchunks, &places);
		for (int k = 0; k < changes; k++)
			change_word(lease.base + QUERY_AT, &places);
		reason = client_call(fd, &request, &reply);
		answered += reason == GPUAGG_OK;
		refused += reason == GPUAGG_REFUSED;
		others += reason != GPUAGG_OK && reason != GPUAGG_REFUSED && reason != GPUAGG_CPU_ONLY;
		if (changes == 0)
			wrong += reason != GPUAGG_OK ||
					 !answer_is_right(&lease, question, &chunks[first], nchunks, NULL, &reply);
		if (i % 50 == 0)
			wrong += !good_works(&good);
	}
	CHECK(wrong == 0 && others == 0);
	CHECK(answered > n / 10 && refused > n / 10);
	printf("queries: %d answered, %d refused, of %d\n", answered, refused, n);
	close(fd);
	lease_forget(&lease);
	good_end(&good);
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

/* Hundreds of connections at once: each is served or turned away, and no harm is done. */
static void
test_storm(void)
{
	Daemon d;
	Good good;
	int fds[STORM];
	int served = 0;
	int turned_away = 0;
	GpuaggRequest request;
	GpuaggReply reply;

	daemon_start(&d, program, NULL);
	good_start(&good, &d);
	for (int i = 0; i < STORM; i++)
	{
		fds[i] = client_connect(&d);
		if (fds[i] >= 0)
		{
			request_init(&request, GPUAGG_MSG_HELLO);
			(void) client_send(fds[i], &request);
		}
	}
	for (int i = 0; i < STORM; i++)
	{
		int got = fds[i] >= 0 ? client_receive(fds[i], &reply, NULL, WAIT_MS) : 0;

		served += got == 1 && reply.h.reason == GPUAGG_OK;
		turned_away += got == 1 && reply.h.reason == GPUAGG_BUSY;
	}
	CHECK(served == MAX_CLIENTS - 1 && turned_away == STORM - served); /* one is the good one */
	CHECK(good_works(&good));
	for (int i = 0; i < STORM; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	CHECK(good_works(&good));
	for (int i = 0; i < 3000; i++)
	{
		int fd = client_greet(&d, &reply);

		if (reply.u.hello.clients == 2)
			i = 3000;
		else
			sleep_ms(10);
		close(fd);
	}
	CHECK(reply.u.hello.clients == 2);
	good_end(&good);
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

static int
open_files(pid_t pid)
{
	char path[64];
	DIR *dir;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int) pid);
	dir = opendir(path);
	if (dir == NULL)
		return -1;
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

/* Private memory, kB: pinned segments are shared and do not count. */
static long
private_memory(pid_t pid)
{
	char path[64];
	char line[128];
	long kb = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int) pid);
	file = fopen(path, "r");
	if (file == NULL)
		return -1;
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "RssAnon: %ld kB", &kb) == 1)
			break;
	fclose(file);
	return kb;
}

/* Neither descriptors nor memory grow with the number of clients that have come and gone. */
static void
test_growth(void)
{
	Daemon d;
	int files = 0;
	long memory = 0;

	daemon_start(&d, program, NULL);
	for (int i = 0; i < COMERS; i++)
	{
		int fd = client_greet(&d, NULL);
		GpuaggRequest request;
		GpuaggReply reply;
		Lease lease;

		if (client_lease(fd, GPUAGG_SEGMENT_BYTES, &lease) != GPUAGG_OK)
		{
			CHECK(false);
			close(fd);
			break;
		}
		reduce_init(&request, &lease, GPUAGG_INT64, GPUAGG_SUM, 0, 0, 100);
		if (i % 3 == 0 && client_call(fd, &request, &reply) != GPUAGG_OK)
			CHECK(false);
		if (i % 3 == 1)
			(void) client_send(fd, &request);
		if (i % 2)
			(void) client_release(fd, &lease);
		lease_forget(&lease);
		close(fd);
		if (i == 200)
		{
			files = open_files(d.pid);
			memory = private_memory(d.pid);
		}
	}
	CHECK(open_files(d.pid) <= files + 2);
#ifdef __SANITIZE_ADDRESS__ /* which keeps freed memory for a while */
	(void) memory;
#else
	CHECK(private_memory(d.pid) <= memory + 1024);
#endif
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

/* A client that never reads replies can send no more than its socket holds. */
static void
test_deaf_client(void)
{
	Daemon d;
	Good good;
	GpuaggRequest request;
	GpuaggReply reply;
	int fd;
	int sent = 0;
	int answered = 0;
	uint32_t first;
	long memory;

	daemon_start(&d, program, NULL);
	good_start(&good, &d);
	fd = client_greet(&d, NULL);
	CHECK(good_works(&good));
	memory = private_memory(d.pid);
	request_init(&request, GPUAGG_MSG_PING);
	first = request.h.id;
	/* some are read, however late, before so many are not */
	for (int pauses = 0; sent < 100000 && (pauses < 20 || sent <= 100) && pauses < WAIT_MS / 10;)
	{
		if (send(fd, &request, sizeof(request), MSG_NOSIGNAL | MSG_DONTWAIT) ==
			(ssize_t) sizeof(request))
		{
			sent++;
			request.h.id++;
		}
		else
		{
			sleep_ms(10);
			pauses++;
		}
	}
	CHECK(sent > 100 && sent < 100000);
	CHECK(private_memory(d.pid) <= memory + 1024);
	CHECK(good_works(&good));
	while (answered < sent && client_receive(fd, &reply, NULL, WAIT_MS) == 1 &&
		   reply.h.id == first + (uint32_t) answered)
		answered++;
	CHECK(answered == sent);
	close(fd);
	good_end(&good);
	CHECK(daemon_end(&d, SIGTERM) == 0);
}

int
main(int argc, char **argv)
{
	struct rlimit limit = {4096, 4096};
	int nrequests = 10000;
	int nqueries = 4000;

	if (argc < 2 || argc > 5)
	{
		fprintf(stderr, "usage: %s PROGRAM [SEED [REQUESTS [QUERIES]]]\n", argv[0]);
		return 2;
	}
	program = argv[1];
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 10);
	if (argc > 3)
		nrequests = atoi(argv[3]);
	if (argc > 4)
		nqueries = atoi(argv[4]);
	printf("seed %llu\n", (unsigned long long) seed);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < STORM + 100)
	{
		limit.rlim_cur = limit.rlim_max < STORM + 100 ? limit.rlim_max : STORM + 100;
		(void) setrlimit(RLIMIT_NOFILE, &limit);
	}
	queries_seed(seed);
	queries_tame(true);
	for (int i = 0; i < CHUNKS; i++)
		chunk_make(&chunks[i], 1 + (uint32_t) below(900), true);
	for (int i = 0; i < QUESTIONS; i++)
		question_make(&questions[i], 2 + i);
	test_queries(nqueries);
	test_mutations(nrequests);
	test_storm();
	test_growth();
	test_deaf_client();
	return test_end();
}
