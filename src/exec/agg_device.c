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
#include "exec/agg_averages.h"
#include "exec/agg_device_held.h"
#include "exec/agg_device_passes.h"
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

/* Whether there is an answer: with a window, of all chunks. */
static bool
is_answered(const AggQuestion *question, const uint8 *status)
{
	return question->window == NULL || gpuagg_device_tables_whole(question->tables, status);
}

/*
 * Which chunks are in the answer; those that are not stay the CPU's.  Returns the rows of these, as
 * the aggregates' program has them.
 */
static int64
take_chunks(const AggQuestion *question, const uint8 *status)
{
	if (question->window == NULL)
		return gpuagg_page_device_taken(question->reader, question->device, question->columns,
										question->ncolumns, status);
	gpuagg_device_tables_taken(question->tables, status);
	return question->nrows;
}

/* ---- the request ---- */

static void
init_query(const AggDevicePass *pass, const AggQuestion *question, BlobQuery *query)
{
	const PageDevice *device = question->device;

	memset(query, 0, sizeof(BlobQuery));
	query->query.program = question->program->program;
	if (question->window != NULL)
	{
		query->query.window = question->window;
		query->shifts = question->tables->shifts;
		query->query.above = question->program->program;
		query->query.program = *question->below;
	}
	query->query.aggregates = pass->aggregates;
	query->query.naggregates = (uint32) pass->naggregates;
	query->query.parts = 1;
	query->query.nchunks = device->nchunks;
	query->chunks = device->chunks;
	query->numbers = device->blobs;
	query->epoch = device->epoch;
}

static GpuaggReason
send(AggScanState *node, AggQuestion *question, BlobQuery *query)
{
	GpuaggReason reason = gpuagg_blob_query(query);

	question->nrows = (int64) query->nrows;
	if (reason == GPUAGG_OK)
	{
		node->counts.requests++;
		node->counts.slices += query->nslices;
		node->counts.ns_program += query->ns;
		node->counts.ns_slices += query->ns_slices;
	}
	/* a program that no kernel has room for, or values that are in the table, are no trouble to count */
	else if (query->lease != NULL && reason != GPUAGG_CPU_ONLY)
		gpuagg_stat_fallback(reason);
	return reason;
}

/*
 * Asks for a pass's totals; removed: the rows that pass the filter, if they are counted.  The first
 * pass sets *status, and others have to be about the same chunks.
 */
static GpuaggReason
ask_pass(AggScanState *node, AggQuestion *question, AggDevicePass *pass, GpuaggQueryTotal *totals,
		 uint8 **status, int64 *npassed)
{
	BlobQuery *query = palloc(sizeof(BlobQuery));
	Size bytes = question->device->nchunks;
	/* for EXPLAIN */
	bool counts_passed = node->css.ss.ps.instrument != NULL && node->spec->nquals > 0 &&
						 *status == NULL && pass->naggregates < GPUAGG_QUERY_AGGREGATES;
	GpuaggReason reason;

	init_query(pass, question, query);
	if (counts_passed)
		pass->aggregates[query->query.naggregates++] =
			(GpuaggQueryAggregate){GPUAGG_COUNT, {0}, GPUAGG_VECTOR_NONE, GPUAGG_VECTOR_NONE};
	reason = send(node, question, query);
	if (reason == GPUAGG_OK && !is_answered(question, query->status))
		node->device_reason = gpuagg_page_device_missing;
	else if (reason == GPUAGG_OK)
	{
		if (*status == NULL)
			*status = memcpy(palloc_extended(bytes, MCXT_ALLOC_HUGE), query->status, bytes);
		if (memcmp(*status, query->status, bytes) != 0)
			reason = GPUAGG_BUSY;
		else if (!read_totals(pass, query, totals))
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
	Size size = GPUAGG_QUERY_AGGREGATES * sizeof(GpuaggQueryTotal);
	GpuaggQueryTotal **totals = palloc(device->npasses * sizeof(GpuaggQueryTotal *));
	uint8 *status = NULL;
	int64 npassed = -1;
	GpuaggReason reason = GPUAGG_OK;

	for (int i = 0; i < device->npasses && reason == GPUAGG_OK && node->device_reason == NULL; i++)
	{
		totals[i] = palloc(size);
		reason = ask_pass(node, question, &device->passes[i], totals[i], &status, &npassed);
	}
	if (reason == GPUAGG_OK && node->device_reason == NULL)
	{
		int64 rows = take_chunks(question, status);

		for (int i = 0; i < device->npasses; i++)
			take_totals(node, &device->passes[i], totals[i]);
		if (npassed >= 0)
			node->counts.removed += rows - npassed;
	}
	return reason;
}

/* ---- the same with groups ---- */

/* A question for the groups of some chunks, in so many parts. */
typedef struct AskedGroups
{
	AggQuestion *question;
	AggDevicePass *pass;
	uint64 expected;
	uint32 parts;
	uint8 *status; /* of the chunks, as the first part's answer had it; NULL: there is none yet */
	bool taken;	   /* some groups are among the node's, or held */
	bool appends;  /* which had none before */
} AskedGroups;

static void
end_answer(BlobQuery *query)
{
	gpuagg_blob_query_end(query);
	MemoryContextDelete(GetMemoryChunkContext(query));
}

/* Groups of an answer, which is ended now or later. */
static void
take_groups(AggScanState *node, const AskedGroups *asked, BlobQuery *query)
{
	AggDeviceRecords *records;

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
	const AggDeviceGroups *groups = &asked->pass->groups;
	Size bytes = asked->question->device->nchunks;
	MemoryContext context = AllocSetContextCreate(node->css.ss.ps.state->es_query_cxt,
												  "gpuagg answer", ALLOCSET_SMALL_SIZES);
	BlobQuery *query = MemoryContextAlloc(context, sizeof(BlobQuery));
	MemoryContext old;
	GpuaggReason reason;

	init_query(asked->pass, asked->question, query);
	query->query.keys = groups->keys;
	query->query.nkeys = groups->layout.nkeys;
	query->query.part = part;
	query->query.parts = asked->parts;
	query->query.expected = asked->expected / asked->parts;
	query->layout = &groups->layout;
	old = MemoryContextSwitchTo(context);
	reason = send(node, asked->question, query);
	MemoryContextSwitchTo(old);
	*incomplete = reason == GPUAGG_OK && query->incomplete;
	if (*incomplete)
		asked->expected = Max(2 * asked->expected, query->ngroups / 4 * 5 * asked->parts);
	else if (reason == GPUAGG_OK)
	{
		if (asked->status == NULL)
			asked->status = memcpy(palloc_extended(bytes, MCXT_ALLOC_HUGE), query->status, bytes);
		/* a part of a chunk's groups is nothing that the CPU could complete */
		if (memcmp(asked->status, query->status, bytes) != 0)
			reason = GPUAGG_BUSY;
		else if (!is_answered(asked->question, query->status))
			node->device_reason = gpuagg_page_device_missing;
		else
		{
			asked->taken = true;
			take_groups(node, asked, query);
			return GPUAGG_OK;
		}
	}
	end_answer(query);
	return reason;
}

/* Asks for all parts; *incomplete as before, with nothing taken. */
static GpuaggReason
ask_parts(AggScanState *node, AskedGroups *asked, bool *incomplete)
{
	GpuaggReason reason = GPUAGG_OK;

	for (uint32 part = 0; part < asked->parts && reason == GPUAGG_OK && node->device_reason == NULL;
		 part++)
	{
		reason = ask_part(node, asked, part, incomplete);
		if (*incomplete && part > 0)
			reason = GPUAGG_BUSY;
		if (*incomplete)
			break;
	}
	return reason;
}

/* The groups of some chunks with the states of a pass; alone: nothing but passes before it has added to them. */
static GpuaggReason
ask_group_pass(AggScanState *node, AskedGroups *asked, bool alone)
{
	const PageDevice *device = asked->question->device;
	uint64 room = gpuagg_blob_query_room(&asked->pass->groups.layout, device->nchunks,
										 (uint32) asked->question->ncolumns);
	GpuaggReason reason = GPUAGG_OK;
	bool incomplete = true;

	for (int i = 0; incomplete && reason == GPUAGG_OK; i++)
	{
		uint64 parts = room > 0 ? asked->expected / room + 1 : UINT64_MAX;

		/* what parts have added before one fails is taken out by forgetting all groups */
		if (i == MAX_TRIES || parts > (alone ? MAX_PARTS : 1))
		{
			node->device_reason = "there are too many groups";
			return GPUAGG_OK;
		}
		asked->parts = (uint32) parts;
		reason = ask_parts(node, asked, &incomplete);
	}
	return reason;
}

/* All passes; alone: the node has no other groups. */
static GpuaggReason
ask_groups(AggScanState *node, AggQuestion *question, bool alone)
{
	AggDevice *device = node->device;
	AskedGroups asked = {.question = question};
	int64 removed = node->counts.removed;
	GpuaggReason reason = GPUAGG_OK;

	if (device->npasses > 1 && !alone)
	{
		node->device_reason = "there are too many aggregates beside other groups";
		return GPUAGG_OK;
	}
	asked.expected = gpuagg_agg_device_groups_expected(node, question->device->rows);
	asked.appends = alone && gpuagg_groups_may_append(gpuagg_agg_main(node)->groups);
	for (int i = 0; i < device->npasses && reason == GPUAGG_OK && node->device_reason == NULL; i++)
	{
		asked.pass = &device->passes[i];
		reason = ask_group_pass(node, &asked, alone);
		asked.appends = false;
	}
	if (reason == GPUAGG_OK && node->device_reason == NULL)
		/* those in groups are subtracted with these */
		node->counts.removed += take_chunks(question, asked.status);
	else if (asked.taken)
	{
		gpuagg_agg_sets_clear(node);
		node->counts.removed = removed;
	}
	return reason;
}

/* The groups of all chunks; those of one request have no more rows than it may count. */
static GpuaggReason
ask_all_groups(AggScanState *node, const AggQuestion *question, bool alone)
{
	const PageDevice *device = question->device;
	GpuaggReason reason = GPUAGG_OK;

	for (uint32 first = 0; first < device->nchunks && reason == GPUAGG_OK;)
	{
		PageDevice some = *device;
		AggQuestion part = *question;

		part.device = &some;
		some.numbers += first;
		some.nrows += first;
		some.chunks += first;
		some.blobs += (Size) first * question->ncolumns;
		some.nchunks = 0;
		some.rows = 0;
		while (first < device->nchunks && some.rows + device->nrows[first] <= GPUAGG_GROUP_ROWS)
		{
			some.rows += device->nrows[first++];
			some.nchunks++;
		}
		gpuagg_agg_held_settle(node);
		reason = ask_groups(node, &part, alone);
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
	reason = node->spec->nkeys == 0		? ask_totals(node, question)
			 : question->window != NULL ? ask_groups(node, question, alone)
										: ask_all_groups(node, question, alone);
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
