/*
 * query_slice.c
 *	  A slice of a query: as many of its chunks as the device does in about 2 ms.
 */
#include "host/query_slice.h"

#include "host/device.h"
#include "host/log.h"
#include "host/query_kept.h"

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
#define ZERO_BYTES	 (GPUAGG_BLOB_ROWS * sizeof(double))

/*
 * What slices of earlier queries might cost at last, without groups, with few, and where rows are
 * kept; and by what their kernels can do, as costs compare no further than that; 0: nothing yet.
 */
static uint64_t learned[3][3];

static_assert(GPUAGG_QUERY_COLUMNS == GPU_QUERY_COLUMNS &&
				  GPUAGG_QUERY_AGGREGATES == GPU_QUERY_AGGREGATES,
			  "limits of the protocol are those of the kernel");
static_assert(GPUAGG_BLOB_ALIGN == GPU_QUERY_ALIGN, "blobs are as the kernel wants them");

/* Chunks that a slot has room for. */
static uint64_t
slot_chunks(const GpuQueryPlan *plan)
{
	return (GPUD_SLOT_BYTES - sizeof(GpuQueryResults) - 2 * QUERY_PART_ALIGN) /
		   (sizeof(uint32_t) + sizeof(GpuQueryChunk) + plan->ncolumns * sizeof(GpuQueryBlock));
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
	query->chunks_at = query_part_end(query->flagged_at + n * sizeof(uint32_t));
	query->blocks_at = query_part_end(query->chunks_at + n * sizeof(GpuQueryChunk));
	query->results = gpud_place(&job->block_bytes, query->chunks_at);
	query->scratch = gpud_place(&job->block_bytes, gpu_query_scratch());
	query->chunks = gpud_place(&job->block_bytes,
							   query->blocks_at - query->chunks_at +
								   n * query->plan.ncolumns * sizeof(GpuQueryBlock));
	query->bitmaps = gpud_place(&job->block_bytes, query->bitmap_bytes);
	query->zeros = gpud_place(&job->block_bytes, query->head.shifted ? ZERO_BYTES : 0);
}

void
gpud_slice_plan(QueryJob *query)
{
	Job *job = &query->job;
	uint64_t bitmaps = job->request.u.query.bytes - query->places.end;
	uint64_t most = slot_chunks(&query->plan);

	query->bitmap_bytes = bitmaps < BITMAP_BYTES ? bitmaps : BITMAP_BYTES;
	job->unit_bytes = sizeof(GpuQueryChunk) + query->plan.ncolumns * sizeof(GpuQueryBlock);
	job->piece_units = job->units < most ? job->units : most;
	find_places(query, job->piece_units);
}

void
gpud_slice_learn(QueryJob *query)
{
	/* of many groups the first slice tells how many there are */
	query->learns =
		query->order == NULL && query->head.nkeys > 0 && query->head.expected > FEW_GROUPS
			? NULL
			: &learned[query->order != NULL ? 2 : query->head.nkeys > 0][query->plan.wide	 ? 2
																		 : query->plan.heavy ? 1
																							 : 0];
	query->most = query->learns != NULL && *query->learns > 0 ? *query->learns
															  : gpud_piece_rows_max * ROW_COST;
}

QuerySlot
gpud_slice_slot(const Lane *lane)
{
	const QueryJob *query = (const QueryJob *) lane->job;
	char *at = lane->slot;

	return (QuerySlot){(GpuQueryResults *) at, (uint32_t *) (at + query->flagged_at),
					   (GpuQueryChunk *) (at + query->chunks_at),
					   (GpuQueryBlock *) (at + query->blocks_at)};
}

/* ---- chunks ---- */

void
gpud_slice_let_go(QueryJob *query)
{
	for (uint32_t i = 0; i < query->nheld; i++)
		gpud_blob_let_go(query->held[i]);
	query->nheld = 0;
	if (query->kept != NULL)
		gpud_kept_let_go(query->kept);
	query->kept = NULL;
}

void
gpud_slice_ended(QueryJob *query)
{
	if (query->kept != NULL)
	{
		query->nkept += query->kept->ready; /* one that is new is not yet */
		gpud_kept_arrived(query->kept);
	}
	gpud_slice_let_go(query);
}

/* What rows cost that have so many bytes, as bytes read. */
static uint64_t
rows_cost(const GpuQueryPlan *plan, uint64_t nrows, uint64_t bytes)
{
	uint64_t step = plan->wide || plan->heavy ? HEAVY_COST : STEP_COST;

	return nrows * (1 + plan->nsteps * step + (plan->groups.nkeys > 0 ? GROUP_COST : 0)) + bytes;
}

/* Bytes of a row of these blocks. */
static uint64_t
row_bytes(const GpuQueryPlan *plan, const GpuQueryBlock *blocks)
{
	uint64_t bytes = 0;

	for (uint32_t k = 0; k < plan->ncolumns; k++)
		bytes += blocks[k].width + 1;
	return bytes;
}

/* Whether the sums of floats of so many rows are exact. */
static bool
may_have(const GpuQueryPlan *plan, uint64_t nrows)
{
	uint64_t multiprocessors = (uint64_t) gpud_device.info[gpud_device.used].multiprocessors;

	return plan->nfloats == 0 || nrows <= FLOAT_ROWS * multiprocessors;
}

/* A chunk's shifts, by column of the program; NULL: there are none. */
static const int32_t *
shifts_of(const QueryJob *query, uint32_t number, int32_t *room)
{
	uint32_t ncolumns = query->head.ncolumns;

	if (!query->head.shifted)
		return NULL;
	query_copy_once(room,
					query_in_region(query) + query->places.shifts +
						(uint64_t) number * ncolumns * sizeof(room[0]),
					ncolumns * sizeof(room[0]));
	return room;
}

/* Finds the blobs of a chunk, NULL: the column is one of zeros; false: one is stale. */
static bool
find_blobs(const QueryJob *query, const GpuaggQueryChunk *chunk, const uint64_t *numbers,
		   Blob **found)
{
	for (uint32_t k = 0; k < query->plan.ncolumns; k++)
	{
		uint64_t number = numbers[query->plan.column[k]];
		Blob *blob;

		found[k] = NULL;
		if (number == 0 && query->head.shifted)
			continue;
		blob = gpud_blob_find(number, chunk->epoch, query->job.request.u.query.database);
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

/* A column of zeros. */
static GpuQueryBlock
zeros_of(const Lane *lane, int type)
{
	const QueryJob *query = (const QueryJob *) lane->job;
	bool is_float = gpuagg_vector_type_is_float(type);
	GpuQueryBlock block = {0};

	block.values = lane->block + query->zeros;
	block.width = type == GPUAGG_VECTOR_BOOL ? 0
				  : is_float				 ? (uint32_t) gpuagg_vector_type_size(type)
											 : 1;
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

static void
widen(QueryJob *query, Blob *const *blobs)
{
	const GpuaggNarrow *forms[GPUAGG_QUERY_COLUMNS];

	for (uint32_t k = 0; k < query->plan.ncolumns; k++)
		forms[k] = &blobs[k]->form;
	gpud_table_widen(&query->table, &query->plan, forms);
}

static Added
add_chunk(const Lane *lane, const QuerySlot *slot, uint32_t number, const GpuaggQueryChunk *chunk,
		  const uint64_t *numbers)
{
	QueryJob *query = (QueryJob *) lane->job;
	uint32_t ncolumns = query->plan.ncolumns;
	GpuQueryChunk *to = &slot->chunks[query->nchunks];
	GpuQueryBlock *blocks = &slot->blocks[(uint64_t) query->nchunks * ncolumns];
	Blob *found[GPUAGG_QUERY_COLUMNS];
	int32_t room[GPUAGG_QUERY_COLUMNS];
	const int32_t *shifts = shifts_of(query, number, room);
	Added added = ADDED;
	uint64_t bytes;
	uint64_t cost;

	if (chunk->nrows > GPUAGG_BLOB_ROWS || chunk->masked > 1)
		return IMPOSSIBLE;
	if (query->status[number] == GPUAGG_CHUNK_FLAGGED)
		return ADDED;
	if (!find_blobs(query, chunk, numbers, found))
	{
		query->status[number] = GPUAGG_CHUNK_STALE;
		return ADDED;
	}
	for (uint32_t k = 0; k < ncolumns; k++)
	{
		blocks[k] = found[k] != NULL ? block_of(found[k]) : zeros_of(lane, query->plan.type[k]);
		if (shifts != NULL && query->plan.type[k] == GPUAGG_VECTOR_INT32)
			blocks[k].base = gpuagg_int128_add(blocks[k].base,
											   gpuagg_int128_from(shifts[query->plan.column[k]]));
	}
	bytes = chunk->nrows * row_bytes(&query->plan, blocks);
	cost = rows_cost(&query->plan, chunk->nrows, bytes);
	if (query->nchunks > 0 &&
		(query->cost + cost > query->most || !may_have(&query->plan, query->nrows + chunk->nrows)))
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
	{
		if (found[k] == NULL)
			query->has_zeros = true;
		else
			gpud_blob_hold(query->held[query->nheld++] = found[k]);
	}
	if (query->head.nkeys > 0 && query->order == NULL)
		widen(query, found);
	query->numbers[query->nchunks++] = number;
	query->nrows += chunk->nrows;
	query->total_rows += chunk->nrows;
	query->bytes += bytes;
	query->cost += cost;
	query->status[number] = GPUAGG_CHUNK_IN;
	return ADDED;
}

/* Whether a slice that was kept is of a size that this query's are to have. */
static bool
suits(const QueryJob *query, const KeptSlice *kept, uint64_t most)
{
	uint64_t cost = rows_cost(&query->plan, kept->nrows, kept->bytes);

	return may_have(&query->plan, kept->nrows) && cost <= query->most + query->most / 2 &&
		   (cost >= query->most / 2 || kept->nchunks == most);
}

/* Takes a slice that was kept; false: there is none. */
static bool
choose_kept(Lane *lane)
{
	QueryJob *query = (QueryJob *) lane->job;
	KeptSlice *kept = query->flagged || query->head.shifted ? NULL
															: gpud_kept_find(query, lane->units);
	const GpuaggNarrow *forms[GPUAGG_QUERY_COLUMNS];

	if (kept == NULL)
		return false;
	if (!suits(query, kept, lane->units))
	{
		gpud_kept_let_go(kept);
		return false;
	}
	query->kept = kept;
	query->nchunks = kept->nchunks;
	for (uint32_t i = 0; i < kept->nchunks; i++)
	{
		query->numbers[i] = (uint32_t) lane->job->units_done + i;
		query->status[query->numbers[i]] = GPUAGG_CHUNK_IN;
	}
	for (uint32_t k = 0; k < kept->ncolumns; k++)
		forms[k] = &kept->forms[k];
	if (query->head.nkeys > 0 && query->order == NULL)
		gpud_table_widen(&query->table, &query->plan, forms);
	query->nrows = kept->nrows;
	query->total_rows += kept->nrows;
	query->bytes = kept->bytes;
	query->cost = rows_cost(&query->plan, kept->nrows, kept->bytes);
	lane->units = kept->nchunks;
	return true;
}

GpuaggReason
gpud_slice_choose(Lane *lane)
{
	static GpuaggQueryChunk chunks[BATCH]; /* large; there is one loop */
	static uint64_t numbers[BATCH * GPUAGG_QUERY_COLUMNS];
	QueryJob *query = (QueryJob *) lane->job;
	QuerySlot slot = gpud_slice_slot(lane);
	const char *region = query_in_region(query);
	uint32_t ncolumns = query->head.ncolumns;

	query->nchunks = 0;
	query->first_bitmap = query->end_bitmaps = 0;
	query->has_zeros = false;
	query->nrows = query->bytes = query->cost = 0;
	if (choose_kept(lane))
		return GPUAGG_OK;
	for (uint64_t i = 0; i < lane->units; i++)
	{
		uint64_t number = lane->job->units_done + i;
		uint64_t n = lane->units - i < BATCH ? lane->units - i : BATCH;
		Added added;

		if (i % BATCH == 0)
		{
			query_copy_once(chunks, region + query->places.chunks + number * sizeof(chunks[0]),
							n * sizeof(chunks[0]));
			query_copy_once(numbers,
							region + query->places.numbers + number * ncolumns * sizeof(numbers[0]),
							n * ncolumns * sizeof(numbers[0]));
			for (uint64_t k = 0; k < n * ncolumns; k++)
				gpud_blob_prefetch_way(numbers[k]);
			for (uint64_t k = 0; k < n * ncolumns; k++)
				gpud_blob_prefetch(numbers[k]);
		}
		added = add_chunk(lane, &slot, (uint32_t) number, &chunks[i % BATCH],
						  &numbers[i % BATCH * ncolumns]);
		if (added == IMPOSSIBLE)
			return GPUAGG_REFUSED;
		if (added == FULL)
			lane->units = i;
	}
	return GPUAGG_OK;
}

GpuQuery
gpud_slice_query(const Lane *lane, const GpuQueryPlan *plan, uint32_t nchunks, size_t chunks,
				 size_t blocks, const GpuQueryTable *table)
{
	const QueryJob *job = (const QueryJob *) lane->job;
	GpuQuery query = {0};

	query.plan = plan;
	query.nchunks = nchunks;
	query.chunks = (const GpuQueryChunk *) (lane->block + chunks);
	query.blocks = (const GpuQueryBlock *) (lane->block + blocks);
	query.flagged = (uint32_t *) (lane->block + job->results + job->flagged_at);
	query.results = (GpuQueryResults *) (lane->block + job->results);
	query.scratch = lane->block + job->scratch;
	query.table = table;
	return query;
}

GpuaggReason
gpud_slice_clear(const Lane *lane, const GpuQueryPlan *plan)
{
	const QueryJob *job = (const QueryJob *) lane->job;
	size_t zeros = job->results + job->flagged_at;

	return gpu_memset(lane->block + zeros, 0, job->scratch + gpu_query_scratch_zeros(plan) - zeros,
					  lane->stream);
}

/* Enqueues the copies of what the slice's kernel reads. */
static GpuaggReason
copy_in(const Lane *lane, const QuerySlot *slot, char *to)
{
	const QueryJob *query = (const QueryJob *) lane->job;
	const char *bitmaps = lane->block + query->bitmaps;
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
	if (reason == GPUAGG_OK && query->has_zeros)
		reason = gpu_memset(lane->block + query->zeros, 0, ZERO_BYTES, lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_in(to, slot->chunks,
							 query->blocks_at - query->chunks_at +
								 n * query->plan.ncolumns * sizeof(GpuQueryBlock),
							 lane->stream);
	return reason;
}

/* Has what the kernel reads copied to where it is kept, or to the lane's block. */
static GpuaggReason
describe(const Lane *lane, GpuQuery *query)
{
	QueryJob *job = (QueryJob *) lane->job;
	QuerySlot slot = gpud_slice_slot(lane);
	GpuaggReason reason;

	if (job->kept != NULL)
		query->shape = job->kept->shape;
	else
	{
		reason = gpu_query_number(&job->plan, slot.chunks, slot.blocks, job->nchunks,
								  &query->shape);
		/* whole chunks, none of which was left out */
		if (reason == GPUAGG_OK && job->nchunks == lane->units && job->end_bitmaps == 0 &&
			!job->head.shifted)
			job->kept = gpud_kept_make(job, &slot, &query->shape);
		if (reason == GPUAGG_OK)
			reason = copy_in(lane, &slot,
							 job->kept != NULL ? job->kept->room->at : lane->block + job->chunks);
		if (reason != GPUAGG_OK)
			return reason;
	}
	if (job->kept != NULL)
	{
		query->chunks = (const GpuQueryChunk *) job->kept->room->at;
		query->blocks = (const GpuQueryBlock *) (job->kept->room->at + job->kept->blocks);
	}
	return gpud_slice_clear(lane, &job->plan);
}

GpuaggReason
gpud_slice_enqueue(const GpuQuery *query, const Lane *lane)
{
	GpuaggReason reason = gpu_query(query, NULL, lane->stream);

	return reason == GPUAGG_REFUSED ? GPUAGG_CPU_ONLY : reason;
}

GpuaggReason
gpud_slice_run(const Lane *lane)
{
	const QueryJob *job = (const QueryJob *) lane->job;
	QuerySlot slot = gpud_slice_slot(lane);
	GpuQueryTable table = job->table.table;
	GpuQuery query = gpud_slice_query(lane, &job->plan, job->nchunks, job->chunks,
									  job->chunks + job->blocks_at - job->chunks_at, &table);
	GpuaggReason reason;

	reason = describe(lane, &query);
	if (reason == GPUAGG_OK && job->order != NULL)
		reason = gpud_order_keep(job->order, lane, &query);
	else if (reason == GPUAGG_OK && job->checked)
	{
		table.check = 1;
		reason = gpu_query(&query, NULL, lane->stream);
		table.check = 0;
	}
	if (reason == GPUAGG_OK && job->order == NULL)
		reason = gpud_slice_enqueue(&query, lane);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_out(slot.results, query.results,
							  job->flagged_at + job->nchunks * sizeof(uint32_t), lane->stream);
	return reason;
}

/* ---- its end ---- */

void
gpud_slice_adapt(QueryJob *query, int64_t ns)
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

bool
gpud_slice_take_flags(QueryJob *query, const QuerySlot *slot)
{
	bool any = false;

	for (uint32_t i = 0; i < query->nchunks; i++)
		if (slot->flagged[i] != 0)
		{
			query->status[query->numbers[i]] = GPUAGG_CHUNK_FLAGGED;
			query->flagged = any = true;
		}
	return any;
}
