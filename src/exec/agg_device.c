/*
 * agg_device.c
 *	  What the device does of a GpuAgg node's work.
 *
 * Of chunks whose columns are all on the device, it runs the program and gives the states' totals,
 * or those of groups: one request for all of them, or one for each part of very many groups.  The CPU takes the chunks that it did not do, before and after
 * that, and so all of them where there is no device.
 */
#include "compat.h"

#include "executor/executor.h"
#include "utils/memutils.h"

#include "common/int_words.h"
#include "device/client.h"
#include "exec/agg_device.h"
#include "exec/agg_device_between.h"
#include "exec/agg_device_collect.h"
#include "exec/agg_averages.h"
#include "exec/agg_device_held.h"
#include "exec/agg_device_passes.h"
#include "exec/agg_device_request.h"
#include "exec/compiled.h"
#include "exec/kept_memory.h"
#include "exec/window_source.h"
#include "gpuagg.h"
#include "operation/accumulators.h"

/*
 * In mode auto, rows for which the device is asked: a request takes 0.2 to 0.3 ms with its lease,
 * and a row of a column takes the CPU 0.6 to 2 ns.
 */
#define AUTO_ROWS AGG_DEVICE_ROWS

/* In mode auto, groups that are expected, up to which the device is known to be faster. */
#define AUTO_GROUPS (1 << 22)

/* Of one request's chunks, with their bitmaps; the rest is for groups. */
#define CHUNKS_BYTES (GPUAGG_SEGMENT_BYTES_MAX / 4)

/* Parts of a query's groups, at most; and how often it is asked again in more of them. */
#define MAX_PARTS 64
#define MAX_TRIES 4

/* Vectors that the CPU takes, at most, until constants that are known with a row are known. */
#define FIRST_VECTORS 64

void
gpuagg_agg_device_init(AggScanState *node)
{
	AggDevice *device = palloc0(sizeof(AggDevice));

	node->device_reason = device->refusal = gpuagg_agg_device_find(node, device);
	if (device->refusal == NULL || (node->spec->over_subquery && gpuagg_window_source_node(linitial(
																	 node->css.custom_ps)) != NULL))
		node->device = device;
	else
		pfree(device);
}

/* ---- whether it is asked ---- */

/* Whether mode auto leaves the groups of so many rows to the CPU. */
static bool
are_many(const AggScanState *node, uint64 rows)
{
	return gpuagg_device == DEVICE_AUTO && gpuagg_device_min_rows > 0 && node->spec->nkeys > 0 &&
		   gpuagg_agg_device_groups_expected(node, rows) > AUTO_GROUPS;
}

const char *
gpuagg_agg_device_reason(const AggScanState *node, uint64 rows, uint64 bare, uint64 least)
{
	const char *refusal = gpuagg_page_device_refusal(rows, bare, least);

	return refusal == NULL && are_many(node, rows) ? "so many groups are the CPU's" : refusal;
}

/*
 * Has constants set that are known when the first row is: the CPU takes rows until they are.
 * False: they are not.
 */
static bool
know_parameters(AggScanState *node)
{
	if (node->compiler->parameters == NIL)
		return true;
	for (int i = 0; i < FIRST_VECTORS && !node->value_parameters_set; i++)
	{
		if (!gpuagg_page_reader_next(node->reader))
			return false;
		gpuagg_agg_vector_take(node);
		(void) gpuagg_agg_output_make_room(node);
	}
	return node->value_parameters_set && !node->by_row;
}

/* ---- the answer ---- */

/* The totals without keys, by aggregate; false: the answer is none. */
static bool
read_totals(const AggDevicePass *pass, BlobQuery *query, GpuaggQueryTotal *totals)
{
	for (uint32 i = 0; i < query->query.naggregates; i++)
	{
		const GpuaggQueryAggregate *aggregate = &query->query.aggregates[i];

		if (!gpuagg_query_total_read(&query->totals, aggregate->op, pass->types[i], &totals[i]))
			return false;
	}
	return query->ngroups == 1;
}

/* An extreme that is no number of a kind: as a value. */
static void
deposit_extreme(AggScanState *node, int number, AggGroup *group, const GpuaggReduced *total)
{
	const AggInput *input = &node->inputs[number];
	GpuaggInt128 value = total->sum;
	GpuaggVector vector = {&value, NULL};
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	bool isnull;
	MemoryContext old;

	if (total->n == 0)
		return;
	/* a value's low bytes come first, whatever its type */
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	gpuagg_agg_deposit(node, number, group,
					   gpuagg_vector_datum(&vector, &input->value, input->type->oid, 0, &isnull));
	MemoryContextSwitchTo(old);
	ResetExprContext(econtext);
}

/* Whether decimals' sums, times a factor of up to 1,000, leave room in a state's fast part. */
static bool
is_fast(const GpuaggQueryTotal *total)
{
	const GpuaggReduced *reduced = &total->reduced;
	int64 most = INT64CONST(1) << 48;

	return total->high == (reduced->sum.hi < 0 ? -1 : 0) && reduced->sum.hi < most &&
		   reduced->sum.hi >= -most && total->more_squares[0] == 0 && total->more_squares[1] == 0 &&
		   reduced->squares[2] < UINT64CONST(1) << 38;
}

void
gpuagg_agg_device_total(AggScanState *node, int number, AggGroup *group, GpuaggQueryTotal *total)
{
	if (gpuagg_agg_sums_decimals(node, number) && !is_fast(total))
	{
		uint64 sum[GPUAGG_SUM_WORDS];
		uint64 squares[GPUAGG_SQUARE_WORDS];

		gpuagg_query_total_words(total, sum, squares);
		gpuagg_agg_sink_words(node, number, group, (int64) total->reduced.n,
							  node->inputs[number].value.scale, sum, squares);
	}
	else if ((node->states[number].op == GPUAGG_MIN || node->states[number].op == GPUAGG_MAX) &&
			 node->inputs[number].feed == FEED_DATUM)
		deposit_extreme(node, number, group, &total->reduced);
	else
		gpuagg_agg_sink_total(node, number, group, &total->reduced);
}

static void
take_totals(AggScanState *node, const AggDevicePass *pass, GpuaggQueryTotal *totals)
{
	AggGroup *group = gpuagg_groups_only(gpuagg_agg_main(node)->groups);

	for (int i = 0; i < pass->nstates; i++)
		gpuagg_agg_averages_take(node, pass->first + i, group, &totals[i],
								 pass->codes[i] >= 0 ? &totals[pass->codes[i]] : NULL);
}

/* ---- the request ---- */

/*
 * After a pass was asked for: whether no kernel has room for it, so that there are two passes instead
 * of it now.
 */
static bool
is_split(AggScanState *node, const AggQuestion *question, int number, GpuaggReason reason)
{
	return reason == GPUAGG_CPU_ONLY && question->window == NULL &&
		   gpuagg_agg_device_split(node, node->device, number);
}

/* Whether passes go on: there is nothing to take where no chunks are left. */
static bool
goes_on(const AggScanState *node, const AskedChunks *chunks, GpuaggReason reason)
{
	return reason == GPUAGG_OK && node->device_reason == NULL && chunks->n > 0;
}

/* Asks for a pass's totals; *npassed: the rows that pass the filter, if they are counted. */
static GpuaggReason
ask_pass(AggScanState *node, AggQuestion *question, AskedChunks *chunks, const AggDevicePass *pass,
		 GpuaggQueryTotal *totals, int64 *npassed)
{
	BlobQuery *query = palloc(sizeof(BlobQuery));
	/* for EXPLAIN */
	bool counts_passed = node->css.ss.ps.instrument != NULL && node->spec->nquals > 0 &&
						 pass->first == 0 && pass->naggregates < GPUAGG_QUERY_AGGREGATES;
	AggRequest request;
	GpuaggReason reason;

	if (!gpuagg_agg_request_init(&request, node, pass, chunks, query))
		return GPUAGG_CPU_ONLY;
	if (counts_passed)
		request.pass.aggregates[query->query.naggregates++] =
			(GpuaggQueryAggregate){GPUAGG_COUNT, {0}, GPUAGG_VECTOR_NONE, GPUAGG_VECTOR_NONE};
	reason = gpuagg_agg_request_send(&request, node, question);
	if (reason == GPUAGG_OK && gpuagg_asked_answered(chunks, node, query))
	{
		if (!read_totals(pass, query, totals))
			reason = GPUAGG_DEVICE_ERROR;
		else if (counts_passed)
			*npassed = (int64) totals[pass->naggregates].reduced.n;
	}
	gpuagg_blob_query_end(query);
	return reason;
}

/* All totals, which are taken when all are there. */
static GpuaggReason
ask_totals(AggScanState *node, AggQuestion *question)
{
	const AggDevice *device = node->device;
	AskedChunks *chunks = gpuagg_asked_chunks(question);
	GpuaggQueryTotal *totals[GPUAGG_AGG_PASSES] = {NULL};
	int64 npassed = -1;
	GpuaggReason reason = GPUAGG_OK;

	chunks->again = true;
	for (int t = 0; t < MAX_TRIES && chunks->again && goes_on(node, chunks, reason); t++)
	{
		gpuagg_asked_begin(chunks);
		for (int i = 0; i < device->npasses && goes_on(node, chunks, reason); i++)
		{
			if (totals[i] == NULL)
				totals[i] = palloc(GPUAGG_QUERY_AGGREGATES * sizeof(GpuaggQueryTotal));
			reason = ask_pass(node, question, chunks, &device->passes[i], totals[i], &npassed);
			if (is_split(node, question, i, reason))
			{
				reason = GPUAGG_OK;
				i--;
			}
		}
	}
	if (reason == GPUAGG_OK && node->device_reason == NULL)
	{
		int64 rows;

		if (chunks->again && chunks->n > 0)
			return GPUAGG_BUSY;
		rows = gpuagg_asked_taken(chunks);
		for (int i = 0; i < device->npasses && chunks->n > 0; i++)
			take_totals(node, &device->passes[i], totals[i]);
		if (npassed >= 0 && chunks->n > 0)
			node->counts.removed += rows - npassed;
	}
	return reason;
}

/* ---- the same with groups ---- */

/* A question for the groups of some chunks, in so many parts. */
typedef struct AskedGroups
{
	AggQuestion *question;
	AskedChunks *chunks;
	AggDevicePass *pass;
	uint64 expected;
	uint32 parts;
	bool alone;			/* the node has no other groups, and can forget them */
	bool taken;			/* some groups are among the node's, or held */
	bool appends;		/* which had none before */
	AggCollected *kept; /* answers that are taken when all are there; NULL: there are none */
} AskedGroups;

static void
end_answer(BlobQuery *query)
{
	gpuagg_blob_query_end(query);
	MemoryContextDelete(GetMemoryChunkContext(query));
}

/* Groups of an answer, which is ended now or later. */
static void
take_groups(AggScanState *node, AskedGroups *asked, BlobQuery *query)
{
	AggDeviceRecords *records;

	if (!asked->alone && (node->device->npasses > 1 || asked->parts > 1))
	{
		if (!gpuagg_agg_collect(&asked->kept, asked->pass, query))
			node->device_reason = "there are too many groups beside others";
		end_answer(query);
		return;
	}
	asked->taken = true;
	/* what is held are all of a group's states */
	if (asked->appends && asked->pass->nstates == node->nstates &&
		asked->pass->naggregates == node->nstates &&
		gpuagg_agg_device_hold(node, asked->pass, query))
		return;
	gpuagg_agg_held_settle(node);
	records = gpuagg_agg_device_records(node, asked->pass, asked->question->program);
	gpuagg_agg_device_groups_take(records, query, asked->appends);
	pfree(records);
	end_answer(query);
}

/* Asks for a part; *incomplete: there are more groups than were expected. */
static GpuaggReason
ask_part(AggScanState *node, AskedGroups *asked, uint32 part, bool *incomplete)
{
	const GpuaggGroupLayout *layout = &asked->pass->groups.layout;
	MemoryContext context = AllocSetContextCreate(node->css.ss.ps.state->es_query_cxt,
												  "gpuagg answer", ALLOCSET_SMALL_SIZES);
	BlobQuery *query = MemoryContextAlloc(context, sizeof(BlobQuery));
	AggRequest request;
	MemoryContext old;
	GpuaggReason reason;

	if (!gpuagg_agg_request_init(&request, node, asked->pass, asked->chunks, query))
	{
		MemoryContextDelete(context);
		return GPUAGG_CPU_ONLY;
	}
	query->query.keys = request.pass.groups.keys;
	query->query.nkeys = layout->nkeys;
	query->query.part = part;
	query->query.parts = asked->parts;
	query->query.expected = asked->expected / asked->parts;
	query->layout = layout;
	old = MemoryContextSwitchTo(context);
	reason = gpuagg_agg_request_send(&request, node, asked->question);
	MemoryContextSwitchTo(old);
	*incomplete = reason == GPUAGG_OK && query->incomplete;
	if (*incomplete)
		asked->expected = Max(2 * asked->expected, query->ngroups / 4 * 5 * asked->parts);
	else if (reason == GPUAGG_OK && gpuagg_asked_answered(asked->chunks, node, query))
	{
		take_groups(node, asked, query);
		return GPUAGG_OK;
	}
	end_answer(query);
	return reason;
}

/* Asks for all parts; *incomplete as before, with nothing taken. */
static GpuaggReason
ask_parts(AggScanState *node, AskedGroups *asked, bool *incomplete)
{
	GpuaggReason reason = GPUAGG_OK;

	*incomplete = false;
	for (uint32 part = 0; part < asked->parts && goes_on(node, asked->chunks, reason); part++)
	{
		reason = ask_part(node, asked, part, incomplete);
		if ((*incomplete || reason == GPUAGG_CPU_ONLY) && part > 0)
			reason = GPUAGG_BUSY;
		if (*incomplete)
			break;
	}
	return reason;
}

/* The groups of some chunks with the states of a pass. */
static GpuaggReason
ask_group_pass(AggScanState *node, AskedGroups *asked)
{
	const AggQuestion *question = asked->question;
	uint64 room = gpuagg_blob_query_room(&asked->pass->groups.layout, question->device->chunks,
										 question->device->nchunks, (uint32) question->ncolumns);
	GpuaggReason reason = GPUAGG_OK;
	bool incomplete = true;

	for (int i = 0; incomplete && reason == GPUAGG_OK; i++)
	{
		uint64 parts = room > 0 ? asked->expected / room + 1 : UINT64_MAX;

		if (i == MAX_TRIES || parts > MAX_PARTS)
		{
			node->device_reason = "there are too many groups";
			return GPUAGG_OK;
		}
		asked->parts = (uint32) parts;
		reason = ask_parts(node, asked, &incomplete);
	}
	return reason;
}

/* Forgets what answers have given so far. */
static void
forget_groups(AggScanState *node, AskedGroups *asked, int64 removed)
{
	if (asked->taken)
	{
		gpuagg_agg_sets_clear(node);
		node->counts.removed = removed;
	}
	asked->taken = false;
	gpuagg_agg_collected_end(&asked->kept);
}

static GpuaggReason
ask_group_passes(AggScanState *node, AskedGroups *asked)
{
	const AggDevice *device = node->device;
	GpuaggReason reason = GPUAGG_OK;

	asked->appends = asked->alone && gpuagg_groups_may_append(gpuagg_agg_main(node)->groups);
	for (int i = 0; i < device->npasses && goes_on(node, asked->chunks, reason); i++)
	{
		asked->pass = &device->passes[i];
		reason = ask_group_pass(node, asked);
		if (is_split(node, asked->question, i, reason))
		{
			reason = GPUAGG_OK;
			i--;
		}
		else
			asked->appends = false;
	}
	return reason;
}

/* All passes; alone: the node has no other groups. */
static GpuaggReason
ask_groups(AggScanState *node, AggQuestion *question, bool alone)
{
	AskedGroups asked = {.question = question,
						 .chunks = gpuagg_asked_chunks(question),
						 .alone = alone};
	AskedChunks *chunks = asked.chunks;
	int64 removed = node->counts.removed;
	GpuaggReason reason = GPUAGG_OK;

	asked.expected = gpuagg_agg_device_groups_expected(node, question->device->rows);
	chunks->again = true;
	for (int t = 0; t < MAX_TRIES && chunks->again && goes_on(node, chunks, reason); t++)
	{
		forget_groups(node, &asked, removed);
		gpuagg_asked_begin(chunks);
		reason = ask_group_passes(node, &asked);
	}
	if (reason == GPUAGG_OK && chunks->again && chunks->n > 0)
		reason = GPUAGG_BUSY;
	if (reason != GPUAGG_OK || node->device_reason != NULL || chunks->again)
		forget_groups(node, &asked, removed);
	if (reason == GPUAGG_OK && node->device_reason == NULL)
	{
		gpuagg_agg_collected_take(node, asked.kept, question->program);
		/* those in groups are subtracted with these */
		node->counts.removed += gpuagg_asked_taken(chunks);
	}
	gpuagg_agg_collected_end(&asked.kept);
	return reason;
}

/* Whether one request may have so many rows, and bytes of chunks. */
static bool
has_room(const AggScanState *node, uint64 rows, uint64 bytes)
{
	return bytes <= CHUNKS_BYTES && (node->spec->nkeys == 0 || rows <= GPUAGG_GROUP_ROWS);
}

/* The totals or groups of all chunks, in as few requests as they fit. */
static GpuaggReason
ask_all(AggScanState *node, const AggQuestion *question, bool alone)
{
	const PageDevice *device = question->device;
	GpuaggReason reason = GPUAGG_OK;

	for (uint32 first = 0; first < device->nchunks && reason == GPUAGG_OK;)
	{
		PageDevice some = *device;
		AggQuestion part = *question;
		uint64 bytes = 0;

		part.device = &some;
		some.numbers += first;
		some.nrows += first;
		some.chunks += first;
		some.blobs += (Size) first * question->ncolumns;
		some.nchunks = 0;
		some.rows = 0;
		while (first < device->nchunks)
		{
			bytes += gpuagg_blob_query_chunk_bytes(&device->chunks[first], question->ncolumns);
			if (some.nchunks > 0 && !has_room(node, some.rows + device->nrows[first], bytes))
				break;
			some.rows += device->nrows[first++];
			some.nchunks++;
		}
		gpuagg_agg_held_settle(node);
		reason = node->spec->nkeys == 0 ? ask_totals(node, &part) : ask_groups(node, &part, alone);
		if (node->device_reason != NULL)
			break;
		alone = false;
	}
	return reason;
}

void
gpuagg_agg_device_ask(AggScanState *node, AggQuestion *question, bool alone)
{
	instr_time start = gpuagg_agg_timing_start(node);
	GpuaggVectorProgram from = gpuagg_agg_device_compiler(node)->program;
	const PageReader *reader = node->reader;
	const int *places = NULL;
	DeviceProgram program;
	GpuaggReason reason;

	from.constants = gpuagg_agg_device_runner(node)->constants;
	if (question->window != NULL && node->between != NULL)
		from = gpuagg_agg_between_program(node, node->between);
	if (!gpuagg_device_codes_program(&from, &reader, &places, 1, &program))
	{
		node->device_reason = "conditions hold for too many strings";
		return;
	}
	question->program = &program;
	reason = question->window == NULL ? ask_all(node, question, alone)
			 : node->spec->nkeys == 0 ? ask_totals(node, question)
									  : ask_groups(node, question, alone);
	if (reason == GPUAGG_CPU_ONLY)
		node->device = NULL; /* whatever rows there will be */
	if (reason == GPUAGG_CPU_ONLY && question->window != NULL)
		node->device_reason = "a row, the keys or a result are the CPU's";
	else if (reason != GPUAGG_OK)
		node->device_reason = gpuagg_reason_text(reason);
	gpuagg_agg_timing_stop(start, &node->counts.ns_device);
}

void
gpuagg_agg_device_take(AggScanState *node)
{
	MemoryContext context;
	MemoryContext old;
	bool there;
	bool alone;
	uint64 bare;
	uint64 rows;

	if (node->device == NULL)
		return;
	gpuagg_agg_held_settle(node);
	rows = gpuagg_page_device_rows(node->reader, &bare, &there);
	node->device_reason = gpuagg_agg_device_reason(node, rows, bare, AUTO_ROWS);
	if (node->device_reason != NULL)
		return;
	if (!there)
	{
		node->device_reason = gpuagg_page_device_missing;
		gpuagg_page_device_send(node->reader);
		return;
	}
	gpuagg_device_announce();
	alone = gpuagg_groups_count(gpuagg_agg_main(node)->groups) == 0 && node->spills == 0 &&
			(node->compiler->parameters == NIL || node->value_parameters_set);
	if (!know_parameters(node))
	{
		node->device_reason = "constants are not known before the rows";
		return;
	}
	context = gpuagg_kept_memory_take();
	old = MemoryContextSwitchTo(context);
	{
		const PageDevice *device = gpuagg_page_device_find(node->reader);

		/* smallest and largest values may have excluded the others */
		if (device->nchunks > 0)
			node->device_reason = gpuagg_page_device_few(device->rows, device->bare, AUTO_ROWS);
		if (device->nchunks > 0 && node->device_reason == NULL)
		{
			AggQuestion question = {.device = device,
									.ncolumns = (int) node->compiler->program.ncolumns,
									.reader = node->reader,
									.columns = node->columns};

			gpuagg_agg_device_ask(node, &question, alone);
		}
		if (device->nhost > 0 && node->device != NULL)
			gpuagg_page_device_send(node->reader);
	}
	MemoryContextSwitchTo(old);
	gpuagg_kept_memory_leave(context);
}
