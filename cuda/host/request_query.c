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

#include "host/device.h"
#include "host/log.h"
#include "host/query_order_rows.h"
#include "host/query_slice.h"
#include "host/request_table.h"

/* Units of work behind the chunks: a window is measured, computed, and its rows given. */
#define ORDER_UNITS 3

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
	uint8_t types[GPUAGG_VECTOR_DEVICE_REGISTERS] = {0};

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
	uint8_t types[GPUAGG_VECTOR_DEVICE_REGISTERS] = {0};
	uint64_t answer = query->job.request.u.query.answer_bytes -
					  gpuagg_query_groups_at(query->head.nchunks);

	if (gpuagg_vector_check(program, types) != -1)
		return GPUAGG_REFUSED;
	if (query->order != NULL && read->window->nout > 0)
	{
		if (!gpuagg_window_check_out(read->window, types) || read->naggregates + read->nkeys > 0)
			return GPUAGG_REFUSED;
		gpud_order_init_rows(query->order, types, answer, query->head.part, query->head.parts);
		return gpu_query_plan_window(plan, program, read->window->out, (int) read->window->nout) ==
					   GPUAGG_OK
				   ? GPUAGG_OK
				   : GPUAGG_CPU_ONLY;
	}
	if (read->nkeys == 0 && query->head.parts > 1)
		return GPUAGG_REFUSED;
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
	query_copy_once(&query->head, query_in_region(query), sizeof(GpuaggQueryHead));
	if (!gpuagg_query_places(&query->head, &query->places) || query->places.end > bytes ||
		gpuagg_query_answer_bytes(&query->head) > query->job.request.u.query.answer_bytes)
		return GPUAGG_REFUSED;
	copy = malloc(query->places.chunks);
	if (copy == NULL)
		return GPUAGG_BUSY;
	query_copy_once(copy, query_in_region(query), query->places.chunks);
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
	return query_part_end(sizeof(GpuQueryChunk)) + query->above->ncolumns * sizeof(GpuQueryBlock);
}

static GpuaggReason
plan(Job *job)
{
	QueryJob *query = (QueryJob *) job;
	uint32_t ncolumns = query->plan.ncolumns;

	gpud_slice_plan(query);
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

	gpud_slice_learn(query);
	query->status = calloc(job->units, sizeof(query->status[0]));
	query->numbers = malloc(job->piece_units * sizeof(query->numbers[0]));
	query->held = malloc((job->piece_units * ncolumns + 1) * sizeof(query->held[0]));
	return query->status != NULL && query->numbers != NULL && query->held != NULL ? GPUAGG_OK
																				  : GPUAGG_BUSY;
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
		reason = gpud_slice_choose(lane);
	if (query->head.nkeys > 0 && query->total_rows > GPUAGG_GROUP_ROWS)
		return GPUAGG_CPU_ONLY;
	query->started = gpud_now();
	if (reason == GPUAGG_OK && query->nchunks > 0)
		reason = gpud_slice_run(lane);
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

	return (char *) lane->slot + query->chunks_at + query_part_end(above_bytes(query));
}

/* The same of what rows that are asked for are like. */
static void *
rows_measure_of(const Lane *lane)
{
	return (char *) outcome_of(lane) + query_part_end(sizeof(OrderedOutcome));
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
	GpuQueryBlock *blocks = (GpuQueryBlock *) (slot + query_part_end(sizeof(GpuQueryChunk)));
	GpuQuery query;
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
	query = gpud_slice_query(lane, job->above, 1, job->above_at,
							 job->above_at + query_part_end(sizeof(GpuQueryChunk)), &table);
	reason = gpu_query_number(job->above, chunk, blocks, 1, &query.shape);
	if (reason == GPUAGG_OK)
		reason = gpu_copy_in(lane->block + job->above_at, slot, above_bytes(job), lane->stream);
	if (reason == GPUAGG_OK)
		reason = gpud_slice_clear(lane, job->above);
	if (reason == GPUAGG_OK && gpud_order_gives_rows(job->order))
		reason = gpud_order_keep_rows(job->order, lane, &query, rows_measure_of(lane));
	else if (reason == GPUAGG_OK)
		reason = gpud_slice_enqueue(&query, lane);
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
	QuerySlot slot = gpud_slice_slot(lane);
	int64_t ns = gpud_now() - query->started;

	gpud_slice_ended(query);
	if (query->nchunks == 0)
		return;
	query->nslices++;
	query->ns_slices += ns;
	gpud_slice_adapt(query, ns);
	if (query->checked)
		(void) gpud_slice_take_flags(query, &slot);
	if (slot.results->nflagged > 0)
	{
		lane->units = 0;
		if (query->order != NULL)
			lane->job->failure = GPUAGG_CPU_ONLY;
		else if (query->wide != NULL)
			widen(lane);
		else if (query->checked || !gpud_slice_take_flags(query, &slot))
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
	reply->u.query.nkept = query->nkept;
	reply->u.query.ns = (uint64_t) (gpud_now() - query->asked);
	reply->u.query.ns_slices = (uint64_t) query->ns_slices;
}

static void
forget(Job *job)
{
	QueryJob *query = (QueryJob *) job;

	gpud_slice_let_go(query);
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
