/*
 * query_job.h
 *	  A QUERY request under way.
 */
#ifndef GPUAGG_QUERY_JOB_H
#define GPUAGG_QUERY_JOB_H

#include "common/query_wire.h"
#include "host/blobs.h"
#include "host/job.h"
#include "host/query_order.h"
#include "host/query_table.h"
#include "host/staging.h"
#include "kernels/query.h"

typedef struct QueryJob
{
	Job job;
	Segment *segment;
	GpuaggQueryHead head;
	GpuaggQueryPlaces places;
	GpuQueryPlan plan; /* of the program over chunks */
	GpuQueryPlan
		*wide; /* the same if 64 bits do not do; NULL: it is that, or there is none other */
	int op[GPUAGG_QUERY_AGGREGATES];
	int type[GPUAGG_QUERY_AGGREGATES]; /* of values; 0: none */
	GpuaggQueryTotal totals[GPUAGG_QUERY_AGGREGATES];
	uint8_t *status; /* of each chunk */
	uint32_t nslices;
	uint32_t nkept; /* of these, chosen for an earlier query */
	int64_t asked;	/* when the request came */
	int64_t ns_slices;

	/* with groups: the last unit of work is to give them out */
	QueryTable table;
	bool begun;	  /* it is that of this lane, and has what earlier slices found */
	bool checked; /* slices find flagged rows first */
	uint64_t total_rows;

	/* with a window: what is added up is the second program's */
	QueryOrder *order; /* NULL: there is none */
	GpuQueryPlan *above;
	size_t above_at; /* in a lane's block: the one chunk of ordered rows, and its blocks */

	/* places in a slot */
	size_t flagged_at;
	size_t chunks_at;
	size_t blocks_at;

	/* places in a lane's block: results and what is flagged, scratch behind that; chunks and blocks */
	size_t results;
	size_t scratch;
	size_t chunks;
	size_t bitmaps;
	uint64_t bitmap_bytes; /* that there are at most */
	size_t zeros; /* where there are shifts: as many as the values of any column of a chunk */

	/* the slice: its chunks by number, the blobs that it holds, or that hold the slice that is kept */
	uint32_t *numbers;
	Blob **held;
	struct KeptSlice *kept; /* NULL: it is none */
	bool flagged;			/* some chunks are left out by now */
	uint32_t nchunks;
	uint32_t nheld;
	uint64_t first_bitmap; /* bytes from the query's begin; */
	uint64_t end_bitmaps;  /* 0: there are none */
	bool has_zeros;		   /* some column is that */
	uint64_t nrows;
	uint64_t bytes;	  /* of values and flags of these */
	uint64_t cost;	  /* bytes that are read in the time it may take */
	uint64_t most;	  /* of that */
	uint64_t *learns; /* where that is kept for other queries; NULL: nowhere */
	bool sends;		  /* the groups are given out behind the slice */
	int64_t started;
} QueryJob;

/* What a slice has in a slot; chunks and blocks are on the device, too. */
typedef struct QuerySlot
{
	GpuQueryResults *results;
	uint32_t *flagged;
	GpuQueryChunk *chunks;
	GpuQueryBlock *blocks;
} QuerySlot;

/* Copies what its owner may change meanwhile. */
static inline void
query_copy_once(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	__asm__ volatile("" ::: "memory");
}

static inline const char *
query_in_region(const QueryJob *query)
{
	return query->segment->memory.base + query->job.request.u.query.at;
}

#define QUERY_PART_ALIGN 64 /* of parts of a slot, bytes */

/* Where a part of a slot ends, and another one begins. */
static inline size_t
query_part_end(size_t bytes)
{
	return (bytes + QUERY_PART_ALIGN - 1) / QUERY_PART_ALIGN * QUERY_PART_ALIGN;
}

#endif /* GPUAGG_QUERY_JOB_H */
