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
#include "exec/agg_device_held.h"
#include "exec/compiled.h"
#include "exec/kept_memory.h"
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

struct AggDevice
{
	int naggregates; /* one for each state */
	GpuaggQueryAggregate aggregates[GPUAGG_QUERY_AGGREGATES];
	uint8 types[GPUAGG_QUERY_AGGREGATES]; /* of values; 0: none */
	AggDeviceGroups groups;				  /* where there are keys */
};

/* ---- what it can do ---- */

static bool
is_number(int type)
{
	return type >= GPUAGG_VECTOR_INT16 && type <= GPUAGG_VECTOR_FLOAT64;
}

static bool
is_extreme(int op)
{
	return op == GPUAGG_MIN || op == GPUAGG_MAX;
}

/* Whether a state is of sums of decimals, with or without squares. */
static bool
sums_decimals(const AggScanState *node, int number)
{
	const AggGroupState *state = &node->states[number];

	return state->family == SQL_FAMILY_NUMERIC && node->inputs[number].value.scale >= 0 &&
		   (state->op == GPUAGG_SUM || state->op == GPUAGG_MOMENTS);
}

/* Why there is no kernel for the program; NULL: there is. */
static const char *
program_refusal(const AggScanState *node)
{
	const GpuaggVectorProgram *program = &node->compiler->program;
	bool over_subquery = node->spec->over_subquery;

	/* below a window are others */
	if (program->ncolumns == 0 && !over_subquery)
		return "no column is needed";
	if (program->ncolumns > (over_subquery ? GPUAGG_WINDOW_COLUMNS : GPUAGG_QUERY_COLUMNS))
		return "too many columns are needed";
	if (!gpuagg_compiled_for_device(program, !over_subquery))
		return "an expression is the CPU's";
	return gpuagg_device_codes_refusal(program);
}

/* The same of a state, whose aggregate it is, over values of that type. */
static const char *
state_refusal(const AggScanState *node, int number, GpuaggQueryAggregate *aggregate, uint8 *of)
{
	const AggInput *input = &node->inputs[number];
	int op = node->states[number].op;
	int type = input->argument != NULL ? (int) gpuagg_device_type(input->value.type) : 0;

	*aggregate = (GpuaggQueryAggregate){.op = (uint8) op,
										.value = input->argument != NULL ? input->value.reg
																		 : GPUAGG_VECTOR_NONE,
										.filter = input->where != NULL ? input->filter.reg
																	   : GPUAGG_VECTOR_NONE};
	*of = (uint8) type;
	switch (input->feed)
	{
		case FEED_ROWS:
		case FEED_COUNT:
			aggregate->op = GPUAGG_COUNT;
			return NULL;
		case FEED_NUMBERS:
		case FEED_DECIMAL:
			break;
		case FEED_DATUM:
			if (input->value.type == GPUAGG_VECTOR_BYTES)
				return "strings are the CPU's";
			if (type >= GPUAGG_VECTOR_FLOAT32 || (!is_extreme(op) && !sums_decimals(node, number)))
				return "an aggregate is the CPU's";
			break;
		case FEED_DISTINCT:
			return "DISTINCT is the CPU's";
	}
	return is_number(type) ? NULL : "an aggregate is the CPU's";
}

static const char *
find_refusal(const AggScanState *node, AggDevice *device)
{
	const char *refusal;

	if (!node->columns_only)
		return "whole rows are needed";
	if (node->ndistinct > 0)
		return "DISTINCT is the CPU's";
	if (node->nstates > GPUAGG_QUERY_AGGREGATES)
		return "there are too many aggregates";
	refusal = program_refusal(node);
	for (int i = 0; i < node->nstates && refusal == NULL; i++)
		refusal = state_refusal(node, i, &device->aggregates[i], &device->types[i]);
	device->naggregates = node->nstates;
	if (refusal == NULL && node->spec->nkeys > 0)
		refusal = gpuagg_agg_device_groups_init(node, &device->groups, device->aggregates,
												device->types);
	return refusal;
}

void
gpuagg_agg_device_init(AggScanState *node)
{
	AggDevice *device = palloc0(sizeof(AggDevice));

	node->device_reason = find_refusal(node, device);
	if (node->device_reason == NULL)
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

/* The totals without keys, by state; false: the answer is none. */
static bool
read_totals(const AggDevice *device, BlobQuery *query, GpuaggQueryTotal *totals)
{
	for (uint32 i = 0; i < query->query.naggregates; i++)
	{
		const GpuaggQueryAggregate *aggregate = &query->query.aggregates[i];

		if (!gpuagg_query_total_read(&query->totals, aggregate->op, device->types[i], &totals[i]))
			return false;
	}
	return true;
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
	if (sums_decimals(node, number) && !is_fast(total))
	{
		uint64 sum[GPUAGG_SUM_WORDS];
		uint64 squares[GPUAGG_SQUARE_WORDS];

		gpuagg_query_total_words(total, sum, squares);
		gpuagg_agg_sink_words(node, number, group, (int64) total->reduced.n, sum, squares);
	}
	else if (is_extreme(node->states[number].op) && node->inputs[number].feed == FEED_DATUM)
		deposit_extreme(node, number, group, &total->reduced);
	else
		gpuagg_agg_sink_total(node, number, group, &total->reduced);
}

static bool
take_totals(AggScanState *node, BlobQuery *query)
{
	GpuaggQueryTotal *totals = palloc(GPUAGG_QUERY_AGGREGATES * sizeof(GpuaggQueryTotal));
	AggGroup *group = gpuagg_groups_only(gpuagg_agg_main(node)->groups);

	if (query->ngroups != 1 || !read_totals(node->device, query, totals))
		return false;
	for (int i = 0; i < node->nstates; i++)
		gpuagg_agg_device_total(node, i, group, &totals[i]);
	if ((int) query->query.naggregates > node->nstates)
		node->counts.removed -= (int64) totals[node->nstates].reduced.n;
	return true;
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
init_query(const AggScanState *node, const AggQuestion *question, BlobQuery *query)
{
	const PageDevice *device = question->device;

	memset(query, 0, sizeof(BlobQuery));
	query->query.program = question->program->program;
	if (question->window != NULL)
	{
		query->query.window = question->window;
		query->query.above = question->program->program;
		query->query.program = *question->below;
	}
	query->query.aggregates = node->device->aggregates;
	query->query.naggregates = (uint32) node->device->naggregates;
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
	/* over a window, values that are in the table are no trouble to count */
	else if (query->lease != NULL && (question->window == NULL || reason != GPUAGG_CPU_ONLY))
		gpuagg_stat_fallback(reason);
	return reason;
}

static GpuaggReason
ask_totals(AggScanState *node, AggQuestion *question)
{
	BlobQuery *query = palloc(sizeof(BlobQuery));
	bool counts_passed = node->css.ss.ps.instrument != NULL && node->spec->nquals > 0 &&
						 node->device->naggregates < GPUAGG_QUERY_AGGREGATES;
	GpuaggReason reason;

	init_query(node, question, query);
	/* how many rows the filter leaves, for EXPLAIN */
	if (counts_passed)
		node->device->aggregates[query->query.naggregates++] =
			(GpuaggQueryAggregate){GPUAGG_COUNT, {0}, GPUAGG_VECTOR_NONE, GPUAGG_VECTOR_NONE};
	reason = send(node, question, query);
	if (reason == GPUAGG_OK && !is_answered(question, query->status))
		node->device_reason = gpuagg_page_device_missing;
	else if (reason == GPUAGG_OK)
	{
		if (!take_totals(node, query))
			reason = GPUAGG_DEVICE_ERROR;
		else
		{
			int64 rows = take_chunks(question, query->status);

			if (counts_passed)
				node->counts.removed += rows;
		}
	}
	gpuagg_blob_query_end(query);
	return reason;
}

/* ---- the same with groups ---- */

/* A question for the groups of some chunks, in so many parts. */
typedef struct AskedGroups
{
	AggQuestion *question;
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
	const AggDeviceGroups *groups = &node->device->groups;
	AggDeviceRecords *records;

	if (asked->appends && gpuagg_agg_device_hold(node, groups, query))
		return;
	gpuagg_agg_held_settle(node);
	records = gpuagg_agg_device_records(node, groups, asked->question->program);
	gpuagg_agg_device_groups_take(records, query, asked->appends);
	pfree(records);
	end_answer(query);
}

/* Asks for a part; *incomplete: there are more groups than were expected. */
static GpuaggReason
ask_part(AggScanState *node, AskedGroups *asked, uint32 part, bool *incomplete)
{
	AggDevice *wants = node->device;
	Size bytes = asked->question->device->nchunks;
	MemoryContext context = AllocSetContextCreate(node->css.ss.ps.state->es_query_cxt,
												  "gpuagg answer", ALLOCSET_SMALL_SIZES);
	BlobQuery *query = MemoryContextAlloc(context, sizeof(BlobQuery));
	MemoryContext old;
	GpuaggReason reason;

	init_query(node, asked->question, query);
	query->query.keys = wants->groups.keys;
	query->query.nkeys = wants->groups.layout.nkeys;
	query->query.part = part;
	query->query.parts = asked->parts;
	query->query.expected = asked->expected / asked->parts;
	query->layout = &wants->groups.layout;
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

/* The groups of some chunks; alone: the node has no others. */
static GpuaggReason
ask_groups(AggScanState *node, AggQuestion *question, bool alone)
{
	const PageDevice *device = question->device;
	uint64 room = gpuagg_blob_query_room(&node->device->groups.layout, device->nchunks,
										 (uint32) question->ncolumns);
	AskedGroups asked = {.question = question};
	int64 removed = node->counts.removed;
	GpuaggReason reason = GPUAGG_OK;
	bool incomplete = true;

	asked.expected = gpuagg_agg_device_groups_expected(node, device->rows);
	asked.appends = alone && gpuagg_groups_may_append(gpuagg_agg_main(node)->groups);
	for (int i = 0; incomplete && reason == GPUAGG_OK; i++)
	{
		uint64 parts = room > 0 ? asked.expected / room + 1 : UINT64_MAX;

		/* what parts have added before one fails is taken out by forgetting all groups */
		if (i == MAX_TRIES || parts > (alone ? MAX_PARTS : 1))
		{
			node->device_reason = "there are too many groups";
			return GPUAGG_OK;
		}
		asked.parts = (uint32) parts;
		reason = ask_parts(node, &asked, &incomplete);
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
	GpuaggVectorProgram from = node->compiler->program;
	DeviceProgram program;
	GpuaggReason reason;

	from.constants = node->runner->constants;
	if (question->window != NULL && node->between != NULL)
		from = gpuagg_agg_between_program(node, node->between);
	if (!gpuagg_device_codes_program(&from, node->reader, &program))
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
