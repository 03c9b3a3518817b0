/*
 * request_query.c
 *	  QUERY: aggregates of a vector program over blobs.
 *
 * The device does a query in slices of chunks, each sized by how long those before it took.  A
 * slice's chunks, names and bitmaps leave the region when it starts; the blobs that it finds it
 * holds until it has ended.  A slice in which rows are flagged is done again without their
 * chunks.  With groups it has left traces in their table: then all is done again, and each slice
 * finds out first which chunks have flagged rows.
 *
 * With a window slices keep their rows (query_order.h), and all that is added up is added up of
 * these when they are in order, by the second program.  Then nothing can be left out.
 */
#include <stdlib.h>

#include "common/query_wire.h"
#include "host/blobs.h"
#include "host/device.h"
#include "host/job.h"
#include "host/log.h"
#include "host/query_order.h"
#include "host/query_table.h"
#include "host/request_table.h"
#include "host/staging.h"
#include "kernels/query.h"

#define SLICE_NS	 UINT64_C(2000000) /* that a slice is meant to take */
#define STEP		 4				   /* times more or less than the last one, at most */
#define ROW_COST	 64				   /* the first slice: so much for each row of a piece, */
#define COST_LESS	 16				   /* and later ones at most that much less, */
#define COST_MORE	 1024			   /* or more */
#define STEP_COST	 4				   /* of a step of a plan and a row */
#define HEAVY_COST	 64				   /* of one that has 128 bits, quotients or squares */
#define GROUP_COST	 32				   /* of a row that goes into a group */
#define FEW_GROUPS	 4096			   /* a slice takes about as long whatever they are */
#define BITMAP_BYTES (UINT64_C(4) << 20)
#define FLOAT_ROWS	 (UINT64_C(1) << 26) /* of a multiprocessor: query.cu refuses more */
#define BATCH		 64					 /* chunks that are copied at a time */
#define PART_ALIGN	 64					 /* of parts of a slot, bytes */
#define ORDER_UNITS \
	3 /* of work behind the chunks: a window is measured, computed, and its rows given */

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
	int64_t asked; /* when the request came */
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

	/* the slice: its chunks by number, the blobs that it holds */
	uint32_t *numbers;
	Blob **held;
	uint32_t nchunks;
	uint32_t nheld;
	uint64_t first_bitmap; /* bytes from the query's begin; */
	uint64_t end_bitmaps;  /* 0: there are none */
	uint64_t nrows;
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

/*
 * What slices of earlier queries might cost at last, without groups, with few, and where rows are
 * kept; and by what their kernels can do, as costs compare no further than that; 0: nothing yet.
 */
static uint64_t learned[3][3];

static_assert(GPUAGG_QUERY_COLUMNS == GPU_QUERY_COLUMNS &&
				  GPUAGG_QUERY_AGGREGATES == GPU_QUERY_AGGREGATES,
			  "limits of the protocol are those of the kernel");
static_assert(GPUAGG_BLOB_ALIGN == GPU_QUERY_ALIGN, "blobs are as the kernel wants them");

/* Copies what its owner may change meanwhile. */
static void
copy_once(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	__asm__ volatile("" ::: "memory");
}

static const char *
query_in_region(const QueryJob *query)
{
	return query->segment->memory.base + query->job.request.u.query.at;
}

/* Chunks that a slot has room for. */
static uint64_t
slot_chunks(const GpuQueryPlan *plan)
{
	return (GPUD_SLOT_BYTES - sizeof(GpuQueryResults) - 2 * PART_ALIGN) /
		   (sizeof(uint32_t) + sizeof(GpuQueryChunk) + plan->ncolumns * sizeof(GpuQueryBlock));
}

static size_t
part_end(size_t bytes)
{
	return (bytes + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN;
}

/*
 * What comes from the device in one copy lies side by side, here and there, and so does what goes
 * there, and what is to be zero: each copy takes longer to ask for than to do.
 */
static void
find_places(QueryJob *query, uint64_t n)
{
	Job *job = &query->job;

	query->flagged_at = sizeof(GpuQueryResults);
	query->chunks_at = part_end(query->flagged_at + n * sizeof(uint32_t));
	query->blocks_at = part_end(query->chunks_at + n * sizeof(GpuQueryChunk));
	query->results = gpud_place(&job->block_bytes, query->chunks_at);
	query->scratch = gpud_place(&job->block_bytes, gpu_query_scratch());
	query->chunks = gpud_place(&job->block_bytes,
							   query->blocks_at - query->chunks_at +
								   n * query->plan.ncolumns * sizeof(GpuQueryBlock));
	query->bitmaps = gpud_place(&job->block_bytes, query->bitmap_bytes);
}

static QuerySlot
slot_of(const Lane *lane)
{
	const QueryJob *query = (const QueryJob *) lane->job;
	char *at = lane->slot;

	return (QuerySlot){(GpuQueryResults *) at, (uint32_t *) (at + query->flagged_at),
					   (GpuQueryChunk *) (at + query->chunks_at),
					   (GpuQueryBlock *) (at + query->blocks_at)};
}

/* ---- a new query ---- */

/* What is added up is planned so. */
static const GpuQueryPlan *
totals_plan(const QueryJob *query)
{
	return query->order != NULL ? query->above : &query->plan;
}

/* Takes the window, and plans what it keeps. */
static GpuaggReason
make_order(QueryJob *query, const GpuaggQuery *read)
{
	uint8_t types[GPUAGG_VECTOR_REGISTERS] = {0};

	if (gpuagg_vector_check(&read->program, types) != -1 ||
		!gpuagg_window_check(read->window, types, read->above.columns, read->above.ncolumns))
		return GPUAGG_REFUSED;
	query->order = calloc(1, sizeof(QueryOrder));
	query->above = calloc(1, sizeof(GpuQueryPlan));
	if (query->order == NULL || query->above == NULL)
		return GPUAGG_BUSY;
	gpud_order_init(query->order, read->window, types, read->above.columns, read->above.ncolumns);
	query->job.units += ORDER_UNITS;
	query->job.stays = true;
	return gpu_query_plan_window(&query->plan, &read->program, read->window->values,
								 (int) read->window->nvalues) == GPUAGG_OK
			   ? GPUAGG_OK
			   : GPUAGG_CPU_ONLY;
}

/* Tries with 64 bits first, if that can be planned; false: no memory. */
static bool
narrow(QueryJob *query, const GpuaggQuery *read)
{
	GpuQueryPlan *wide = malloc(sizeof(GpuQueryPlan));

	if (wide == NULL)
		return false;
	*wide = query->plan;
	if (gpu_query_plan_narrow(&query->plan, &read->program, read->aggregates,
							  (int) read->naggregates, read->keys, (int) read->nkeys,
							  wide) == GPUAGG_OK)
		query->wide = wide;
	else
	{
		query->plan = *wide;
		free(wide);
	}
	return true;
}

/* Plans what is added up, or of a window which rows are asked for. */
static GpuaggReason
plan_totals(QueryJob *query, const GpuaggQuery *read, const GpuaggVectorProgram *program,
			GpuQueryPlan *plan)
{
	uint8_t types[GPUAGG_VECTOR_REGISTERS] = {0};
	uint64_t answer = query->job.request.u.query.answer_bytes -
					  gpuagg_query_groups_at(query->head.nchunks);

	if (gpuagg_vector_check(program, types) != -1)
		return GPUAGG_REFUSED;
	if (query->order != NULL && read->window->nout > 0)
	{
		if (!gpuagg_window_check_out(read->window, types) || read->naggregates + read->nkeys > 0)
			return GPUAGG_REFUSED;
		gpud_order_init_rows(query->order, types, answer);
		return gpu_query_plan_window(plan, program, read->window->out, (int) read->window->nout) ==
					   GPUAGG_OK
				   ? GPUAGG_OK
				   : GPUAGG_CPU_ONLY;
	}
	/* there are no kernels for all of what a program may do */
	if (gpu_query_plan_groups(plan, program, read->aggregates, (int) read->naggregates, read->keys,
							  (int) read->nkeys) != GPUAGG_OK)
		return GPUAGG_CPU_ONLY;
	if (query->order == NULL && plan->wide && !narrow(query, read))
		return GPUAGG_BUSY;
	for (uint32_t i = 0; i < read->naggregates; i++)
	{
		uint16_t value = read->aggregates[i].value;

		query->op[i] = read->aggregates[i].op;
		query->type[i] = value == GPUAGG_VECTOR_NONE ? 0 : types[value];
		gpuagg_query_total_init(&query->totals[i]);
	}
	return GPUAGG_OK;
}

/* Makes plans of the programs in a copy of what lies before the chunks. */
static GpuaggReason
make_plan(QueryJob *query, const void *copy)
{
	GpuaggReason reason = GPUAGG_OK;
	GpuaggQuery read;

	gpuagg_query_read(&query->head, &query->places, copy, &read);
	if (read.window == NULL)
		return plan_totals(query, &read, &read.program, &query->plan);
	reason = make_order(query, &read);
	return reason == GPUAGG_OK ? plan_totals(query, &read, &read.above, query->above) : reason;
}

static GpuaggReason
read_program(QueryJob *query)
{
	uint64_t bytes = query->job.request.u.query.bytes;
	GpuaggReason reason;
	void *copy;

	if (bytes < sizeof(GpuaggQueryHead))
		return GPUAGG_REFUSED;
	copy_once(&query->head, query_in_region(query), sizeof(GpuaggQueryHead));
	if (!gpuagg_query_places(&query->head, &query->places) || query->places.end > bytes ||
		gpuagg_query_answer_bytes(&query->head) > query->job.request.u.query.answer_bytes)
		return GPUAGG_REFUSED;
	copy = malloc(query->places.chunks);
	if (copy == NULL)
		return GPUAGG_BUSY;
	copy_once(copy, query_in_region(query), query->places.chunks);
	query->job.units = query->head.nchunks + (query->head.nkeys > 0);
	reason = make_plan(query, copy);
	free(copy);
	return reason;
}

static GpuaggReason
check(Job *job)
{
	QueryJob *query = (QueryJob *) job;
	uint32_t region = job->request.u.query.region;
	Segment *segment = gpud_segment_of(job->pending.client, region);

	query->asked = gpud_now();
	if (segment == NULL)
		return gpud_staging_reason(job->pending.client, region);
	if (gpuagg_request_check(&job->request, segment->memory.size) != GPUAGG_OK ||
		(job->request.u.query.device != GPUAGG_ANY_DEVICE &&
		 job->request.u.query.device != (uint32_t) gpud_device.used))
		return GPUAGG_REFUSED;
	gpud_segment_hold(segment);
	query->segment = segment;
	return read_program(query);
}

/* The chunk of rows in order, and its blocks. */
static size_t
above_bytes(const QueryJob *query)
{
	return part_end(sizeof(GpuQueryChunk)) + query->above->ncolumns * sizeof(GpuQueryBlock);
}

static GpuaggReason
plan(Job *job)
{
	QueryJob *query = (QueryJob *) job;
	uint64_t bitmaps = job->request.u.query.bytes - query->places.end;
	uint64_t most = slot_chunks(&query->plan);
	uint32_t ncolumns = query->plan.ncolumns;

	job->unit_bytes = sizeof(GpuQueryChunk) + ncolumns * sizeof(GpuQueryBlock);
	job->piece_units = job->units < most ? job->units : most;
	query->bitmap_bytes = bitmaps < BITMAP_BYTES ? bitmaps : BITMAP_BYTES;
	find_places(query, job->piece_units);
	if (query->order != NULL)
	{
		GpuaggReason reason = gpud_order_plan(query->order, &job->block_bytes);

		if (reason != GPUAGG_OK)
			return reason;
		query->above_at = gpud_place(&job->block_bytes, above_bytes(query));
	}
	if (query->head.nkeys > 0)
	{
		gpud_table_plan(&query->table, totals_plan(query), &query->head,
						job->request.u.query.answer_bytes -
							gpuagg_query_groups_at(query->head.nchunks),
						&job->block_bytes);
		job->stays = true;
	}

	/* of many groups the first slice tells how many there are */
	query->learns =
		query->order == NULL && query->head.nkeys > 0 && query->head.expected > FEW_GROUPS
			? NULL
			: &learned[query->order != NULL ? 2 : query->head.nkeys > 0][query->plan.wide	 ? 2
																		 : query->plan.heavy ? 1
																							 : 0];
	query->most = query->learns != NULL && *query->learns > 0 ? *query->learns
															  : gpud_piece_rows_max * ROW_COST;
	query->status = calloc(job->units, sizeof(query->status[0]));
	query->numbers = malloc(job->piece_units * sizeof(query->numbers[0]));
	query->held = malloc((job->piece_units * ncolumns + 1) * sizeof(query->held[0]));
	return query->status != NULL && query->numbers != NULL && query->held != NULL ? GPUAGG_OK
																				  : GPUAGG_BUSY;
}

/* ---- a slice ---- */

static void
let_go_of_blobs(QueryJob *query)
{
	for (uint32_t i = 0; i < query->nheld; i++)
		gpud_blob_let_go(query->held[i]);
	query->nheld = 0;
}

/* What a row of these blocks costs, as bytes read. */
static uint64_t
row_cost(const GpuQueryPlan *plan, const GpuQueryBlock *blocks)
{
	uint64_t step = plan->wide || plan->heavy ? HEAVY_COST : STEP_COST;
	uint64_t cost = 1 + plan->nsteps * step + (plan->groups.nkeys > 0 ? GROUP_COST : 0);

	for (uint32_t k = 0; k < plan->ncolumns; k++)
		cost += blocks[k].width + 1;
	return cost;
}

/* Finds the blobs of a chunk; false: one is stale. */
static bool
find_blobs(const QueryJob *query, const GpuaggQueryChunk *chunk, const GpuaggBlobName *names,
		   Blob **found)
{
	for (uint32_t k = 0; k < query->plan.ncolumns; k++)
	{
		Blob *blob = gpud_blob_find(&names[query->plan.column[k]],
									query->job.request.u.query.database);

		if (blob == NULL || !blob->complete || blob->nrows != chunk->nrows ||
			blob->form.type != query->plan.type[k])
			return false;
		found[k] = blob;
	}
	return true;
}

static GpuQueryBlock
block_of(const Blob *blob)
{
	GpuQueryBlock block = {0};

	block.values = blob->at;
	if (blob->nullable)
		block.valid = (const uint64_t *) (blob->at + gpud_blob_valid(blob));
	block.base = blob->form.base;
	block.width = blob->form.width;
	return block;
}

typedef enum Added
{
	ADDED,	   /* or left out */
	FULL,	   /* it is for the next slice */
	IMPOSSIBLE /* it is no chunk */
} Added;

/* Widens the bitmaps of the slice by a chunk's; they leave the region in one copy. */
static Added
add_bitmap(QueryJob *query, const GpuaggQueryChunk *chunk)
{
	uint64_t bytes = gpuagg_blob_bitmap_bytes(chunk->nrows);
	uint64_t size = query->job.request.u.query.bytes;
	uint64_t first = chunk->rows;
	uint64_t end = first + bytes;

	if (first % GPUAGG_BLOB_ALIGN != 0 || first < query->places.end || bytes > size ||
		first > size - bytes)
		return IMPOSSIBLE;
	if (query->end_bitmaps > 0 && query->first_bitmap < first)
		first = query->first_bitmap;
	if (query->end_bitmaps > end)
		end = query->end_bitmaps;
	if (end - first > query->bitmap_bytes)
		return query->nchunks == 0 ? IMPOSSIBLE : FULL;
	query->first_bitmap = first;
	query->end_bitmaps = end;
	return ADDED;
}

static Added
add_chunk(QueryJob *query, const QuerySlot *slot, uint32_t number, const GpuaggQueryChunk *chunk,
		  const GpuaggBlobName *names)
{
	uint32_t ncolumns = query->plan.ncolumns;
	GpuQueryChunk *to = &slot->chunks[query->nchunks];
	GpuQueryBlock *blocks = &slot->blocks[(uint64_t) query->nchunks * ncolumns];
	Blob **found = &query->held[query->nheld];
	uint64_t multiprocessors = (uint64_t) gpud_device.info[gpud_device.used].multiprocessors;
	Added added = ADDED;
	uint64_t cost;

	if (chunk->nrows > GPUAGG_BLOB_ROWS || chunk->masked > 1)
		return IMPOSSIBLE;
	if (query->status[number] == GPUAGG_CHUNK_FLAGGED)
		return ADDED;
	if (!find_blobs(query, chunk, names, found))
	{
		query->status[number] = GPUAGG_CHUNK_STALE;
		return ADDED;
	}
	for (uint32_t k = 0; k < ncolumns; k++)
		blocks[k] = block_of(found[k]);
	cost = chunk->nrows * row_cost(&query->plan, blocks);
	if (query->nchunks > 0 &&
		(query->cost + cost > query->most ||
		 (query->plan.nfloats > 0 && query->nrows + chunk->nrows > FLOAT_ROWS * multiprocessors)))
		return FULL;
	memset(to, 0, sizeof(*to));
	to->nrows = chunk->nrows;
	if (chunk->masked)
	{
		added = add_bitmap(query, chunk);
		to->rows = (const uint64_t *) (uintptr_t) chunk->rows; /* until all are known */
	}
	if (added != ADDED)
		return added;
	for (uint32_t k = 0; k < ncolumns; k++)
		gpud_blob_hold(found[k]);
	if (query->head.nkeys > 0 && query->order == NULL)
		gpud_table_widen(&query->table, &query->plan, (const Blob *const *) found);
	query->nheld += ncolumns;
	query->numbers[query->nchunks++] = number;
	query->nrows += chunk->nrows;
	query->total_rows += chunk->nrows;
	query->cost += cost;
	query->status[number] = GPUAGG_CHUNK_IN;
	return ADDED;
}

/*
 * Chooses the chunks of a slice, among the next lane->units ones; that becomes the number of those
 * looked at.
 */
static GpuaggReason
choose_chunks(Lane *lane, const QuerySlot *slot)
{
	static GpuaggQueryChunk chunks[BATCH]; /* large; there is one loop */
	static GpuaggBlobName names[BATCH * GPUAGG_QUERY_COLUMNS];
	QueryJob *query = (QueryJob *) lane->job;
	const char *region = query_in_region(query);
	uint32_t ncolumns = query->head.ncolumns;

	query->nchunks = 0;
	query->first_bitmap = query->end_bitmaps = 0;
	query->nrows = query->cost = 0;
	for (uint64_t i = 0; i < lane->units; i++)
	{
		uint64_t number = lane->job->units_done + i;
		uint64_t n = lane->units - i < BATCH ? lane->units - i : BATCH;
		Added added;

		if (i % BATCH == 0)
		{
			copy_once(chunks, region + query->places.chunks + number * sizeof(chunks[0]),
					  n * sizeof(chunks[0]));
			copy_once(names, region + query->places.names + number * ncolumns * sizeof(names[0]),
					  n * ncolumns * sizeof(names[0]));
			for (uint64_t k = 0; k < n * ncolumns; k++)
				gpud_blob_prefetch_way(&names[k]);
			for (uint64_t k = 0; k < n * ncolumns; k++)
				gpud_blob_prefetch(&names[k]);
		}
		added = add_chunk(query, slot, (uint32_t) number, &chunks[i % BATCH],
						  &names[i % BATCH * ncolumns]);
		if (added == IMPOSSIBLE)
			return GPUAGG_REFUSED;
		if (added == FULL)
			lane->units = i;
	}
	return GPUAGG_OK;
}

/* Enqueues the copies of what the slice's kernel reads. */
static GpuaggReason
copy_in(const Lane *lane, const QuerySlot *slot)
{
	const QueryJob *query = (const QueryJob *) lane->job;
	const char *bitmaps = lane->block + query->bitmaps;
	size_t zeros = query->results + query->flagged_at;
	uint64_t n = query->nchunks;
	GpuaggReason reason = GPUAGG_OK;

	for (uint64_t i = 0; i < n; i++)
		if (slot->chunks[i].rows != NULL)
			slot->chunks[i].rows = (const uint64_t *) (bitmaps + ((uintptr_t) slot->chunks[i].rows -
																  query->first_bitmap));
	if (query->end_bitmaps > 0)
		reason = gpu_copy_in(lane->block + query->bitmaps,
							 query_in_region(query) + query->first_bitmap,
							 query->end_bitmaps - query->first_bitmap, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_in(lane->block + query->chunks, slot->chunks,
							 query->blocks_at - query->chunks_at +
								 n * query->plan.ncolumns * sizeof(GpuQueryBlock),
							 lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_memset(lane->block + zeros, 0,
							query->scratch + gpu_query_scratch_zeros(&query->plan) - zeros,
							lane->stream);
	return reason;
}

static GpuaggReason
run_query(const GpuQuery *query, const Lane *lane)
{
	GpuaggReason reason = gpu_query(query, NULL, lane->stream);

	/* it does not fit into a block's memory */
	return reason == GPUAGG_REFUSED ? GPUAGG_CPU_ONLY : reason;
}

static GpuaggReason
run_slice(const Lane *lane, const QuerySlot *slot)
{
	const QueryJob *job = (const QueryJob *) lane->job;
	GpuQueryTable table = job->table.table;
	GpuQuery query = {0};
	GpuaggReason reason;

	query.plan = &job->plan;
	query.nchunks = job->nchunks;
	query.chunks = (const GpuQueryChunk *) (lane->block + job->chunks);
	query.blocks = (const GpuQueryBlock *) (lane->block + job->chunks + job->blocks_at -
											job->chunks_at);
	query.flagged = (uint32_t *) (lane->block + job->results + job->flagged_at);
	query.results = (GpuQueryResults *) (lane->block + job->results);
	query.scratch = lane->block + job->scratch;
	query.table = &table;
	reason = gpu_query_number(&job->plan, slot->chunks, slot->blocks, job->nchunks, &query.shape);
	if (reason == GPUAGG_OK)
		reason = copy_in(lane, slot);
	if (reason == GPUAGG_OK && job->order != NULL)
		reason = gpud_order_keep(job->order, lane, &query);
	else if (reason == GPUAGG_OK && job->checked)
	{
		table.check = 1;
		reason = gpu_query(&query, NULL, lane->stream);
		table.check = 0;
	}
	if (reason == GPUAGG_OK && job->order == NULL)
		reason = run_query(&query, lane);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(slot->results, query.results,
							  job->flagged_at + job->nchunks * sizeof(uint32_t), lane->stream);
	return reason;
}

/* Whether all else has been done: what is left is to give out the groups. */
static bool
gives_out(const QueryJob *query)
{
	return query->job.units_done == query->head.nchunks + (query->order != NULL ? ORDER_UNITS : 0);
}

static GpuaggReason
give_out(Lane *lane)
{
	QueryJob *query = (QueryJob *) lane->job;

	return gpud_table_send(&query->table, totals_plan(query), lane,
						   query->segment->memory.base + query->job.request.u.query.answer_at +
							   gpuagg_query_groups_at(query->head.nchunks));
}

static GpuaggReason
launch_slice(Lane *lane)
{
	QueryJob *query = (QueryJob *) lane->job;
	QuerySlot slot = slot_of(lane);
	uint64_t left = query->head.nchunks - query->job.units_done;
	GpuaggReason reason = GPUAGG_OK;

	if (lane->units > left)
		lane->units = left;
	if (query->head.nkeys > 0 && !query->begun)
		reason = gpud_table_begin(&query->table, totals_plan(query), lane);
	if (reason == GPUAGG_OK && query->order != NULL && !query->begun)
		reason = gpud_order_begin(query->order, lane);
	query->begun = true;
	if (reason == GPUAGG_OK)
		reason = choose_chunks(lane, &slot);
	if (query->head.nkeys > 0 && query->total_rows > GPUAGG_GROUP_ROWS)
		return GPUAGG_CPU_ONLY;
	query->started = gpud_now();
	if (reason == GPUAGG_OK && query->nchunks > 0)
		reason = run_slice(lane, &slot);
	/* with the last one the groups, as it will be found right if nothing is flagged */
	query->sends = query->head.nkeys > 0 && query->order == NULL && lane->units == left;
	if (reason == GPUAGG_OK && query->sends)
		reason = give_out(lane);
	return reason;
}

/* ---- a window ---- */

/* Where the outcome of a window's pieces is in a slot. */
static void *
outcome_of(const Lane *lane)
{
	const QueryJob *query = (const QueryJob *) lane->job;

	return (char *) lane->slot + query->chunks_at + part_end(above_bytes(query));
}

/* The same of what rows that are asked for are like. */
static void *
rows_measure_of(const Lane *lane)
{
	return (char *) outcome_of(lane) + part_end(sizeof(OrderedOutcome));
}

/* Whether some chunk is not in: then nothing is computed. */
static bool
is_incomplete(const QueryJob *query)
{
	for (uint64_t i = 0; i < query->head.nchunks; i++)
		if (query->status[i] != GPUAGG_CHUNK_IN)
			return true;
	return false;
}

/* The second program over the rows in order. */
static GpuaggReason
run_above(Lane *lane, const GpuQueryBlock *columns)
{
	QueryJob *job = (QueryJob *) lane->job;
	GpuQueryTable table = job->table.table;
	char *slot = (char *) lane->slot + job->chunks_at;
	GpuQueryChunk *chunk = (GpuQueryChunk *) slot;
	GpuQueryBlock *blocks = (GpuQueryBlock *) (slot + part_end(sizeof(GpuQueryChunk)));
	size_t zeros = job->results + job->flagged_at;
	GpuQuery query = {0};
	GpuaggReason reason;

	memset(chunk, 0, sizeof(*chunk));
	chunk->nrows = (uint32_t) job->order->measure.nrows;
	for (uint32_t k = 0; k < job->above->ncolumns; k++)
		blocks[k] = columns[job->above->column[k]];
	for (uint32_t k = 0; k < job->above->groups.nkeys; k++)
		if (QUERY_SOURCE_KIND(job->above->key[k]) == QUERY_COLUMN)
			table.range[k] =
				gpud_order_range(job->order,
								 job->above->column[QUERY_SOURCE_NUMBER(job->above->key[k])]);
	query.plan = job->above;
	query.nchunks = 1;
	query.chunks = (const GpuQueryChunk *) (lane->block + job->above_at);
	query.blocks = (const GpuQueryBlock *) (lane->block + job->above_at +
											part_end(sizeof(GpuQueryChunk)));
	query.flagged = (uint32_t *) (lane->block + job->results + job->flagged_at);
	query.results = (GpuQueryResults *) (lane->block + job->results);
	query.scratch = lane->block + job->scratch;
	query.table = &table;
	reason = gpu_query_number(job->above, chunk, blocks, 1, &query.shape);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_in(lane->block + job->above_at, slot, above_bytes(job), lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_memset(lane->block + zeros, 0,
							job->scratch + gpu_query_scratch_zeros(job->above) - zeros,
							lane->stream);
	if (reason == GPUAGG_OK && gpud_order_gives_rows(job->order))
		reason = gpud_order_keep_rows(job->order, lane, &query, rows_measure_of(lane));
	else if (reason == GPUAGG_OK)
		reason = run_query(&query, lane);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(lane->slot, query.results, sizeof(GpuQueryResults), lane->stream);
	return reason;
}

/* The piece behind the chunks: measures, or computes and adds up. */
static GpuaggReason
launch_order(Lane *lane)
{
	QueryJob *query = (QueryJob *) lane->job;
	GpuQueryBlock columns[GPUAGG_WINDOW_COLUMNS];
	GpuaggReason reason;

	lane->units = 1;
	query->started = gpud_now();
	query->order->stale = is_incomplete(query);
	if (query->order->stale)
		return GPUAGG_OK;
	if (query->job.units_done == query->head.nchunks)
		return gpud_order_measure(query->order, lane, outcome_of(lane));
	if (query->job.units_done == query->head.nchunks + 2)
		return gpud_order_send_rows(query->order, lane,
									query->segment->memory.base +
										query->job.request.u.query.answer_at +
										gpuagg_query_groups_at(query->head.nchunks));
	reason = gpud_order_compute(query->order, lane, columns, outcome_of(lane));
	if (reason == GPUAGG_OK)
		reason = run_above(lane, columns);
	if (reason == GPUAGG_OK && query->head.nkeys > 0)
		reason = give_out(lane);
	return reason;
}

static GpuaggReason
launch(Lane *lane)
{
	const QueryJob *query = (const QueryJob *) lane->job;

	if (query->job.units_done < query->head.nchunks)
		return launch_slice(lane);
	return gives_out(query) ? give_out(lane) : launch_order(lane);
}

/* The next slice takes as long as is meant, if it is like the last one. */
static void
adapt(QueryJob *query, int64_t ns)
{
	uint64_t usual = gpud_piece_rows_max * ROW_COST;
	uint64_t took = (uint64_t) ns + 1;
	uint64_t less = took / SLICE_NS + 1;
	uint64_t more = SLICE_NS / took;

	if (less > 1)
		query->most /= less < STEP ? less : STEP;
	else if (query->cost > query->most / 2)
		query->most *= more < STEP ? more : STEP;
	if (query->most < usual / COST_LESS)
		query->most = usual / COST_LESS;
	if (query->most > usual * COST_MORE)
		query->most = usual * COST_MORE;
	if (query->learns != NULL)
		*query->learns = query->most;
}

/* False: nothing was flagged. */
static bool
take_flags(QueryJob *query, const QuerySlot *slot)
{
	bool any = false;

	for (uint32_t i = 0; i < query->nchunks; i++)
		if (slot->flagged[i] != 0)
		{
			query->status[query->numbers[i]] = GPUAGG_CHUNK_FLAGGED;
			any = true;
		}
	return any;
}

/* Flagged rows have left traces among the groups. */
static void
begin_again(Lane *lane, bool checked)
{
	QueryJob *query = (QueryJob *) lane->job;

	query->begun = false;
	query->checked = checked;
	query->total_rows = 0;
	query->job.units_done = 0;
	lane->units = 0;
}

static void
merge_totals(QueryJob *query, const GpuQueryResults *results)
{
	for (uint32_t i = 0; i < query->head.naggregates && query->head.nkeys == 0; i++)
		gpuagg_query_total_merge(&query->totals[i], &results->of[i], query->op[i], query->type[i]);
}

/* Rows may have been flagged because 64 bits did not do: the slice, or all groups, once more. */
static void
widen(Lane *lane)
{
	QueryJob *query = (QueryJob *) lane->job;

	query->plan = *query->wide;
	free(query->wide);
	query->wide = NULL;
	if (query->head.nkeys > 0)
		begin_again(lane, false);
}

static void
collect_slice(Lane *lane)
{
	QueryJob *query = (QueryJob *) lane->job;
	QuerySlot slot = slot_of(lane);
	int64_t ns = gpud_now() - query->started;

	let_go_of_blobs(query);
	if (query->nchunks == 0)
		return;
	query->nslices++;
	query->ns_slices += ns;
	adapt(query, ns);
	if (query->checked)
		(void) take_flags(query, &slot);
	if (slot.results->nflagged > 0)
	{
		lane->units = 0;
		if (query->order != NULL)
			lane->job->failure = GPUAGG_CPU_ONLY;
		else if (query->wide != NULL)
			widen(lane);
		else if (query->checked || !take_flags(query, &slot))
			lane->job->failure = GPUAGG_DEVICE_ERROR;
		else if (query->head.nkeys > 0)
			begin_again(lane, true);
		return;
	}
	if (query->order != NULL)
		return;
	if (query->head.nkeys > 0)
	{
		/* the next slice knows how many groups there are; there is none if that is too many */
		gpud_table_learn(&query->table, slot.results->nfound);
		if (slot.results->full != 0)
		{
			lane->units = query->head.nchunks - query->job.units_done;
			query->sends = false;
		}
	}
	merge_totals(query, slot.results);
}

/* The groups have been sent, or some of them: then the rest is yet to be given out. */
static bool
collect_groups(Lane *lane)
{
	QueryJob *query = (QueryJob *) lane->job;

	if (!gpud_table_collected(&query->table, lane))
		return false;
	if (query->table.counts.nfar > query->table.table.far_room)
		lane->job->failure = GPUAGG_CPU_ONLY;
	return true;
}

static void
collect_order(Lane *lane)
{
	QueryJob *query = (QueryJob *) lane->job;
	const GpuQueryResults *results = lane->slot;

	query->ns_slices += gpud_now() - query->started;
	if (query->order->stale)
		lane->units = query->job.units - query->job.units_done;
	else if (query->job.units_done == query->head.nchunks)
		lane->job->failure = gpud_order_measured(query->order, outcome_of(lane));
	else if (query->job.units_done == query->head.nchunks + 1)
	{
		lane->job->failure = gpud_order_computed(query->order, outcome_of(lane));
		if (results->nflagged > 0)
			lane->job->failure = GPUAGG_CPU_ONLY;
		merge_totals(query, results);
		/* behind this are the rows, or the rest of the groups */
		if (gpud_order_gives_rows(query->order))
			gpud_order_kept_rows(query->order, rows_measure_of(lane));
		else
			lane->units++;
		if (query->head.nkeys > 0 && lane->job->failure == GPUAGG_OK && collect_groups(lane))
			lane->units++;
	}
}

static void
collect(Lane *lane)
{
	QueryJob *query = (QueryJob *) lane->job;

	if (gives_out(query))
	{
		if (!collect_groups(lane))
			lane->units = 0;
		return;
	}
	if (query->job.units_done >= query->head.nchunks)
	{
		collect_order(lane);
		return;
	}
	collect_slice(lane);
	if (query->sends && lane->units > 0 && collect_groups(lane))
		lane->units++;
}

/* ---- the end ---- */

/* Writes the totals of all rows; returns their bytes. */
static uint64_t
write_totals(const QueryJob *query, char *to)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < query->head.naggregates; i++)
	{
		uint8_t total[GPUAGG_QUERY_TOTAL_MAX_BYTES];
		size_t bytes = gpuagg_query_total_write(&query->totals[i], query->op[i], query->type[i],
												total);

		memcpy(to + at, total, bytes);
		at += bytes;
	}
	return at;
}

static void
answer(Job *job, GpuaggReply *reply)
{
	const QueryJob *query = (const QueryJob *) job;
	char *region = query->segment->memory.base + job->request.u.query.answer_at;
	uint64_t at = gpuagg_query_groups_at(query->head.nchunks);

	for (uint64_t i = 0; i < query->head.nchunks; i++)
	{
		reply->u.query.nstale += query->status[i] == GPUAGG_CHUNK_STALE;
		reply->u.query.nflagged += query->status[i] == GPUAGG_CHUNK_FLAGGED;
	}
	memcpy(region, query->status, query->head.nchunks);
	if (query->order != NULL)
		reply->u.query.nrows = query->order->measure.nrows;
	if (query->order != NULL && query->order->stale)
		reply->u.query.ngroups = 0;
	else if (query->order != NULL && gpud_order_gives_rows(query->order))
	{
		reply->u.query.ngroups = query->order->out.nrows;
		reply->u.query.incomplete = query->order->out.nrows > query->order->out.room;
		if (!reply->u.query.incomplete)
			at += gpud_order_rows_bytes(query->order);
	}
	else if (query->head.nkeys > 0)
		at += gpud_table_answer(&query->table, region + at, reply);
	else
	{
		reply->u.query.ngroups = 1;
		at += write_totals(query, region + at);
	}
	reply->u.query.bytes = at;
	reply->u.query.nslices = query->nslices;
	reply->u.query.ns = (uint64_t) (gpud_now() - query->asked);
	reply->u.query.ns_slices = (uint64_t) query->ns_slices;
}

static void
forget(Job *job)
{
	QueryJob *query = (QueryJob *) job;

	let_go_of_blobs(query);
	if (query->segment != NULL)
		gpud_segment_let_go(query->segment);
	free(query->wide);
	free(query->order);
	free(query->above);
	free(query->status);
	free(query->numbers);
	free(query->held);
}

const RequestType gpud_request_query = {
	.works = true,
	.job_bytes = sizeof(QueryJob),
	.whole = true,
	.check = check,
	.plan = plan,
	.launch = launch,
	.collect = collect,
	.answer = answer,
	.forget = forget,
};
