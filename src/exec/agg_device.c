/*
 * agg_device.c
 *	  What the device does of a GpuAgg node's work.
 *
 * Of chunks whose columns are all on the device, it runs the program and gives the states' totals:
 * one request for all of them.  The CPU takes the chunks that it did not do, before and after
 * that, and so all of them where there is no device.
 */
#include "compat.h"

#include "executor/executor.h"
#include "utils/memutils.h"

#include "device/client.h"
#include "exec/agg_state.h"
#include "exec/page_device.h"
#include "gpuagg.h"
#include "operation/accumulators.h"

/*
 * In mode auto, rows for which the device is asked: a request takes 0.2 to 0.3 ms with its lease,
 * and a row of a column takes the CPU 0.6 to 2 ns.
 */
#define AUTO_ROWS AGG_DEVICE_ROWS
#define READ_PART 8 /* of these, what a row counts beside that is read from its page */

/* Vectors that the CPU takes, at most, until constants that are known with a row are known. */
#define FIRST_VECTORS 64

struct AggDevice
{
	int naggregates; /* one for each state */
	GpuaggQueryAggregate aggregates[GPUAGG_QUERY_AGGREGATES];
};

/* ---- what it can do ---- */

static bool
is_number(int type)
{
	return type >= GPUAGG_VECTOR_INT16 && type <= GPUAGG_VECTOR_FLOAT64;
}

static bool
is_device_type(int type)
{
	return type == GPUAGG_VECTOR_BOOL || is_number(type);
}

/* Why there is no kernel for the program; NULL: there is. */
static const char *
program_refusal(const GpuaggVectorProgram *program)
{
	if (program->ncolumns == 0)
		return "no column is needed";
	if (program->ncolumns > GPUAGG_QUERY_COLUMNS)
		return "too many columns are needed";
	for (uint32 i = 0; i < program->ncolumns; i++)
		if (!is_device_type(program->columns[i]))
			return "strings are the CPU's";
	for (uint32 i = 0; i < program->ninstructions; i++)
	{
		const GpuaggVectorInstruction *in = &program->instructions[i];

		if (in->op >= GPUAGG_VECTOR_TIME_TRUNC)
			return "parts of times are the CPU's";
		if (!is_device_type(in->type) || in->op == GPUAGG_VECTOR_ROW)
			return "an expression is the CPU's";
	}
	return NULL;
}

/* The same of a state, whose aggregate it is. */
static const char *
state_refusal(const AggScanState *node, int number, GpuaggQueryAggregate *aggregate)
{
	const AggInput *input = &node->inputs[number];
	int op = node->states[number].op;
	int type = input->argument != NULL ? (int) input->value.type : 0;

	*aggregate = (GpuaggQueryAggregate){.op = (uint8) op,
										.value = input->argument != NULL ? input->value.reg
																		 : GPUAGG_VECTOR_NONE,
										.filter = input->where != NULL ? input->filter.reg
																	   : GPUAGG_VECTOR_NONE};
	switch (input->feed)
	{
		case FEED_ROWS:
		case FEED_COUNT:
			aggregate->op = GPUAGG_COUNT;
			return NULL;
		case FEED_NUMBERS:
		case FEED_DECIMAL:
			if (op == GPUAGG_MOMENTS && type >= GPUAGG_VECTOR_INT128)
				return "a variance is the CPU's";
			break;
		case FEED_DATUM:
			if ((op != GPUAGG_MIN && op != GPUAGG_MAX) || type >= GPUAGG_VECTOR_FLOAT32)
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
	if (node->spec->nkeys > 0)
		return "groups are the CPU's";
	if (node->nstates > GPUAGG_QUERY_AGGREGATES)
		return "there are too many aggregates";
	refusal = program_refusal(&node->compiler->program);
	for (int i = 0; i < node->nstates && refusal == NULL; i++)
		refusal = state_refusal(node, i, &device->aggregates[i]);
	device->naggregates = node->nstates;
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

static const char few_rows[] = "so few rows take the CPU no longer";

/* Whether mode auto leaves so many rows to the CPU, which would have to read `bare` of them from pages. */
static bool
are_few(uint64 rows, uint64 bare)
{
	return gpuagg_device == DEVICE_AUTO && gpuagg_device_min_rows > 0 &&
		   rows + bare * READ_PART < AUTO_ROWS;
}

/* Why it is not, for so many rows in memory; NULL: it is. */
static const char *
find_reason(uint64 rows, uint64 bare)
{
	if (gpuagg_device == DEVICE_CPU)
		return gpuagg_reason_text(GPUAGG_DISABLED);
	if (rows == 0)
		return "columns are not in memory";
	if (rows < (uint64) gpuagg_device_min_rows || are_few(rows, bare))
		return few_rows;
	return gpuagg_device_ready() ? NULL : "there is no device now";
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

/* Whether a sum stays within 128 bits, by a decimal's factor too. */
static bool
fits(const GpuaggQueryTotal *total)
{
	int64 most = PG_INT64_MAX / 1024;

	return total->high == (total->reduced.sum.hi < 0 ? -1 : 0) && total->reduced.sum.hi <= most &&
		   total->reduced.sum.hi >= -most;
}

/* The totals of a group, by state; false: the answer is none. */
static bool
read_totals(const AggScanState *node, BlobQuery *query, GpuaggQueryTotal *totals)
{
	for (int i = 0; i < (int) query->query.naggregates; i++)
	{
		const GpuaggQueryAggregate *aggregate = &query->query.aggregates[i];
		int type = i < node->nstates && aggregate->value != GPUAGG_VECTOR_NONE
					   ? (int) node->inputs[i].value.type
					   : 0;
		bool sums = aggregate->op == GPUAGG_SUM || aggregate->op == GPUAGG_MOMENTS;

		if (!gpuagg_query_total_read(&query->groups, aggregate->op, type, &totals[i]) ||
			(sums && type <= GPUAGG_VECTOR_INT128 && !fits(&totals[i])))
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

static void
take_totals(AggScanState *node, AggGroup *group, GpuaggQueryTotal *totals)
{
	for (int i = 0; i < node->nstates; i++)
	{
		if (node->inputs[i].feed == FEED_DATUM)
			deposit_extreme(node, i, group, &totals[i].reduced);
		else
			gpuagg_agg_sink_total(node, i, group, &totals[i].reduced);
	}
}

static bool
take_answer(AggScanState *node, BlobQuery *query)
{
	GpuaggQueryTotal *totals = palloc(GPUAGG_QUERY_AGGREGATES * sizeof(GpuaggQueryTotal));

	if (query->ngroups != 1 || !read_totals(node, query, totals))
		return false;
	take_totals(node, gpuagg_groups_only(gpuagg_agg_main(node)->groups), totals);
	if ((int) query->query.naggregates > node->nstates)
		node->counts.removed -= (int64) totals[node->nstates].reduced.n;
	return true;
}

/* Which chunks are in the answer; those that are not stay the CPU's. */
static void
take_chunks(AggScanState *node, const PageDevice *device, const BlobQuery *query)
{
	bool *in = palloc_extended(Max(device->nchunks, 1) * sizeof(bool), MCXT_ALLOC_HUGE);
	int64 rows = 0;
	Size bytes = 0;

	for (uint32 i = 0; i < device->nchunks; i++)
	{
		in[i] = query->status[i] == GPUAGG_CHUNK_IN;
		if (in[i])
			rows += device->nrows[i];
		else if (query->status[i] == GPUAGG_CHUNK_STALE)
			gpuagg_page_device_displaced(node->reader, device, i);
	}
	gpuagg_page_device_taken(node->reader, device, in);
	for (uint32 i = 0; i < node->compiler->program.ncolumns; i++)
		bytes += gpuagg_vector_type_size(node->columns[i].type);
	gpuagg_stat_batch(ENGINE_DEVICE, rows, (int64) bytes * rows);
	if ((int) query->query.naggregates > node->nstates)
		node->counts.removed += rows;
}

/* ---- the request ---- */

static void
ask(AggScanState *node, const PageDevice *device)
{
	AggDevice *wants = node->device;
	BlobQuery *query = palloc0(sizeof(BlobQuery));
	instr_time start = gpuagg_agg_timing_start(node);
	GpuaggReason reason;

	query->query.program = node->compiler->program;
	query->query.program.constants = node->runner->constants;
	query->query.aggregates = wants->aggregates;
	query->query.naggregates = (uint32) wants->naggregates;
	query->query.max_groups = 1;
	query->query.nchunks = device->nchunks;
	query->chunks = device->chunks;
	query->numbers = device->blobs;
	query->epoch = device->epoch;

	/* how many rows the filter leaves, for EXPLAIN */
	if (node->css.ss.ps.instrument != NULL && node->spec->nquals > 0 &&
		wants->naggregates < GPUAGG_QUERY_AGGREGATES)
		wants->aggregates[query->query.naggregates++] =
			(GpuaggQueryAggregate){GPUAGG_COUNT, {0}, GPUAGG_VECTOR_NONE, GPUAGG_VECTOR_NONE};
	reason = gpuagg_blob_query(query);
	if (reason == GPUAGG_OK)
	{
		node->counts.requests++;
		if (take_answer(node, query))
			take_chunks(node, device, query);
		else
			reason = GPUAGG_DEVICE_ERROR;
	}
	if (reason == GPUAGG_CPU_ONLY)
		node->device = NULL; /* whatever rows there will be */
	if (reason != GPUAGG_OK)
		node->device_reason = gpuagg_reason_text(reason);
	if (reason != GPUAGG_OK && query->lease != NULL)
		gpuagg_stat_fallback(reason);
	gpuagg_blob_query_end(query);
	gpuagg_agg_timing_stop(start, &node->counts.ns_device);
}

void
gpuagg_agg_device_take(AggScanState *node)
{
	MemoryContext context;
	MemoryContext old;
	bool there;
	uint64 bare;
	uint64 rows;

	if (node->device == NULL)
		return;
	rows = gpuagg_page_device_rows(node->reader, &bare, &there);
	node->device_reason = find_reason(rows, bare);
	if (node->device_reason != NULL)
		return;
	if (!there)
	{
		node->device_reason = "columns are not on the device";
		gpuagg_page_device_send(node->reader);
		return;
	}
	if (!know_parameters(node))
	{
		node->device_reason = "constants are not known before the rows";
		return;
	}
	context = AllocSetContextCreate(CurrentMemoryContext, "gpuagg device", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	{
		const PageDevice *device = gpuagg_page_device_find(node->reader);

		/* smallest and largest values may have excluded the others */
		if (device->nchunks > 0 && are_few(device->rows, device->bare))
			node->device_reason = few_rows;
		else if (device->nchunks > 0)
			ask(node, device);
		if (device->nhost > 0 && node->device != NULL)
			gpuagg_page_device_send(node->reader);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}
