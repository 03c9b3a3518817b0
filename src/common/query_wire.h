/*
 * query_wire.h
 *	  A query over blobs and its answer, as they lie in a region.
 *
 * A query is a head and, each aligned to GPUAGG_BLOB_ALIGN, in this order:
 *
 *		instructions	\
 *		constants		 > of the vector program
 *		columns			/
 *		aggregates
 *		keys			registers by whose values rows are grouped
 *		window			\
 *		instructions	 \ only where rows go through a window (query_window.h): it, and the
 *		constants		 / program whose registers the aggregates and keys are
 *		columns			/
 *		chunks
 *		numbers			of blobs: [nchunks][ncolumns]
 *		shifts			only where the head says so: [nchunks][ncolumns], what is added to all values of a blob;
 *						then a number of 0 is that of a column of zeros, which are values, too
 *
 * and behind that, anywhere, the bitmaps of chunks' rows.  A column of the program is one blob
 * in each chunk; all blobs of a chunk have the same rows.
 *
 * The answer is a byte for each chunk, GpuaggChunkStatus, and, aligned, what has been found.
 * Without keys these are the aggregates' totals in compact form (query_total.h).  With keys they
 * are the mask of packed records' words, in GPUAGG_QUERY_MASK_BYTES, the groups' packed records,
 * in any order, and behind them, aligned to 16 bytes, the floats that are listed apart
 * (query_group.h).  Chunks that are not in have added nothing to any total.  With a window there
 * are no totals or groups unless all chunks are in.
 *
 * A query with keys may be asked in parts, by which its groups are divided; which chunks are in
 * a part's answer may differ from part to part.  Where there are more groups than the answer has room for, the
 * answer is incomplete: it has nothing but an estimate of how many there are.  Rows of a window may be asked
 * in parts, too: of n rows, part p of P has those from n * p / P on, up to where the next part begins.
 */
#ifndef GPUAGG_QUERY_WIRE_H
#define GPUAGG_QUERY_WIRE_H

#include "common/blob.h"
#include "common/query_group.h"
#include "common/query_window.h"
#include "common/vector.h"

#define GPUAGG_QUERY_COLUMNS	32
#define GPUAGG_QUERY_AGGREGATES GPUAGG_GROUP_AGGREGATES
#define GPUAGG_QUERY_KEYS		GPUAGG_GROUP_KEYS
#define GPUAGG_QUERY_PARTS		1024
#define GPUAGG_QUERY_CHUNKS		(UINT32_C(1) << 20)
#define GPUAGG_QUERY_MASK_BYTES (4 * 16) /* aligned as records are */

typedef struct GpuaggQueryHead
{
	uint32_t nchunks; /* at least 1 */
	uint32_t naggregates;
	uint32_t nkeys;
	uint32_t ninstructions; /* these seven as the program has them */
	uint32_t nfilter;
	uint32_t filter;
	uint32_t nregisters;
	uint32_t nconstants;
	uint32_t ncolumns;
	uint32_t part; /* of so many: 0 of 1 but for groups, and rows of a window */
	uint32_t parts;
	uint32_t window;   /* 1: there is one */
	uint64_t expected; /* groups in this part; decides how the device does it, not what it finds */
	uint32_t above_ninstructions; /* these six as the second program has them; 0 without it */
	uint32_t above_nfilter;
	uint32_t above_filter;
	uint32_t above_nregisters;
	uint32_t above_nconstants;
	uint32_t above_ncolumns;
	uint32_t
		shifted; /* 1: there are shifts, which are of INT32 alone; not with keys but above a window */
	uint32_t spare; /* 0 */
} GpuaggQueryHead;

typedef struct GpuaggQueryChunk
{
	uint32_t nrows;	 /* 0 to GPUAGG_BLOB_ROWS */
	uint32_t masked; /* 0: all rows count */
	uint64_t rows;	 /* bytes from the query's begin to a bitmap, aligned: the rows that count */
	uint64_t epoch;	 /* of its blobs' names */
} GpuaggQueryChunk;

/* Why a chunk is in the totals or not. */
typedef enum GpuaggChunkStatus
{
	GPUAGG_CHUNK_IN,
	GPUAGG_CHUNK_STALE,	 /* there is no such blob, or it has other rows or another type */
	GPUAGG_CHUNK_FLAGGED /* the program flags a row of it */
} GpuaggChunkStatus;

/* What a query consists of but for its chunks. */
typedef struct GpuaggQuery
{
	GpuaggVectorProgram program;
	const GpuaggQueryAggregate *aggregates;
	const uint16_t *keys;
	const GpuaggWindow *window; /* NULL: there is none, and no second program */
	GpuaggVectorProgram above;
	uint32_t naggregates;
	uint32_t nkeys;
	uint32_t nchunks;
	uint32_t part;
	uint32_t parts;
	uint32_t shifted;
	uint64_t expected;
} GpuaggQuery;

/* Where its parts are, bytes from its begin. */
typedef struct GpuaggQueryPlaces
{
	uint64_t instructions;
	uint64_t constants;
	uint64_t columns;
	uint64_t aggregates;
	uint64_t keys;
	uint64_t window;
	uint64_t above_instructions;
	uint64_t above_constants;
	uint64_t above_columns;
	uint64_t chunks;
	uint64_t numbers;
	uint64_t shifts;
	uint64_t end; /* of all but bitmaps; aligned */
} GpuaggQueryPlaces;

/* The head of a query. */
extern GpuaggQueryHead gpuagg_query_head(const GpuaggQuery *query);

/* 0 if the head says what no query can have. */
extern int gpuagg_query_places(const GpuaggQueryHead *head, GpuaggQueryPlaces *places);

/*
 * Writes a query into memory of so many bytes, but for chunks, numbers and shifts, whose places are for
 * the caller to fill.  0 if it cannot be one, or does not fit.
 */
extern int gpuagg_query_write(const GpuaggQuery *query, void *room, uint64_t bytes,
							  GpuaggQueryPlaces *places);

/* The query whose head this is; `copy` has all that lies before the chunks. */
extern void gpuagg_query_read(const GpuaggQueryHead *head, const GpuaggQueryPlaces *places,
							  const void *copy, GpuaggQuery *query);

/*
 * Where groups begin in an answer; and the bytes that an answer without keys may need, and one
 * with keys must have.
 */
extern uint64_t gpuagg_query_groups_at(uint64_t nchunks);
extern uint64_t gpuagg_query_answer_bytes(const GpuaggQueryHead *head);

/* Bytes of so many packed records of so many words, up to what is listed apart. */
static inline uint64_t
gpuagg_query_records_bytes(uint64_t ngroups, uint32_t words)
{
	return (ngroups * words * 4 + 15) / 16 * 16;
}

#endif /* GPUAGG_QUERY_WIRE_H */
