/*
 * queries.h
 *	  Blobs and queries over them for tests: random chunks, the requests, and what the CPU finds.
 *
 * A region of the usual size is used so: blocks on their way at 0, a query at QUERY_AT, its answer
 * at ANSWER_AT.
 */
#ifndef GPUAGG_TEST_QUERIES_H
#define GPUAGG_TEST_QUERIES_H

#include "client.h"

#include "common/query_wire.h"
#include "common/vector_run.h"

#define QUERY_AT	   (UINT64_C(8) << 20)
#define ANSWER_AT	   (UINT64_C(24) << 20)
#define CHUNK_COLUMNS  14 /* two of each type, BOOL to FLOAT64 */
#define MAX_AGGREGATES 6

typedef struct ChunkColumn
{
	GpuaggNarrow form;
	uint64_t *valid; /* NULL: no row is NULL */
	void *stored;
	int32_t
		shift; /* what a shifted question adds to values of INT32, which stay such; of others any */
	bool zeros; /* a shifted question has zeros instead of the column */
} ChunkColumn;

typedef struct Chunk
{
	uint32_t nrows;
	uint32_t database;
	uint64_t number; /* of its first column's blob; the others' follow */
	uint64_t epoch;
	uint64_t *rows; /* that count; NULL: all */
	ChunkColumn columns[CHUNK_COLUMNS];
} Chunk;

/* A program over a chunk's columns, with aggregates. */
typedef struct Question
{
	GpuaggQuery query;
	GpuaggQueryAggregate aggregates[MAX_AGGREGATES];
	uint16_t keys[GPUAGG_QUERY_KEYS];
	uint8_t types[GPUAGG_VECTOR_REGISTERS];
	struct Trial *trial;
} Question;

/* Random numbers of this file; and whether values seldom flag rows. */
extern void queries_seed(uint64_t seed);
extern void queries_tame(bool tame);

/* A random chunk, some with a bitmap of rows if so wanted; its blobs have new numbers. */
extern void chunk_make(Chunk *chunk, uint32_t nrows, bool masked);

/* Other values of a column, as wide as its type; valid: a bitmap of whole blobs' size, or NULL. */
extern void chunk_set(Chunk *chunk, int column, const void *values, const uint64_t *valid);
extern void chunk_forget(Chunk *chunk);

/* A PUT request for a column, which is copied to the region's begin. */
extern void put_init(GpuaggRequest *request, const Lease *lease, const Chunk *chunk, int column);

/* Has gpuaggd keep all columns; the reason of the first that it does not keep. */
extern GpuaggReason chunk_put(int fd, const Lease *lease, const Chunk *chunk);

extern void drop_init(GpuaggRequest *request, const Chunk *chunk, int first, int n);

/* Has gpuaggd drop them; how many it had. */
extern int chunk_drop(int fd, const Chunk *chunk);

/* A random question of at most so many instructions, some with keys. */
extern void question_make(Question *question, int length);

/* Sums of columns, and the number of rows. */
extern void question_sums(Question *question);

/* The same by keys that are some of its registers, if there are such groups. */
extern void question_group(Question *question, const uint16_t *keys, uint32_t nkeys);

/* Adds chunks' shifts to their values, if such a question can. */
extern void question_shift(Question *question);

/* The sum of a + b, two columns of INT32; flags rows where that is none. */
extern void question_flags(Question *question);
extern void question_forget(Question *question);

/* A QUERY request, which it writes to the region, with places in it. */
extern void query_init(GpuaggRequest *request, const Lease *lease, const Question *question,
					   const Chunk *chunks, uint32_t nchunks, GpuaggQueryPlaces *places);

/*
 * Whether the answer to it is what the CPU finds: chunks marked in `stale` (NULL: none) are stale,
 * those with flagged rows are flagged, and the rest is in the totals, to the bit.
 */
extern bool answer_is_right(const Lease *lease, const Question *question, const Chunk *chunks,
							uint32_t nchunks, const bool *stale, const GpuaggReply *reply);

/* Asks, and checks the answer. */
extern bool query_is_right(int fd, const Lease *lease, const Question *question,
						   const Chunk *chunks, uint32_t nchunks, const bool *stale);

#endif /* GPUAGG_TEST_QUERIES_H */
