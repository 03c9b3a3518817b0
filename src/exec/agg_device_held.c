/*
 * agg_device_held.c
 *	  Groups that the device has found, given out as they are.
 *
 * As long as no other rows come, a record of an answer is all that there is of its group.  It stays
 * where it is, and becomes a group of the node only while that is given out.  Before other rows
 * come, all records become groups.  When the executor returns before all are given out, the others
 * go to a temporary file.
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "device/client.h"
#include "exec/agg_device_held.h"
#include "exec/spill_files.h"
#include "operation/accumulators.h"
#include "types/decimal.h"

/* How a call's result is made from a record. */
typedef enum HeldResult
{
	HELD_GROUP, /* only by a state of a group */
	HELD_COUNT,
	HELD_INTEGER,
	HELD_DECIMAL,
	HELD_FLOAT
} HeldResult;

typedef struct HeldAnswer
{
	const AggHeld *held;
	BlobQuery *query;
	Size record;	   /* bytes */
	uint64 next;	   /* number of a record */
	SpillFiles *files; /* where those from the next one on are; NULL: in the answer */
} HeldAnswer;

struct AggHeld
{
	const GpuaggGroupLayout *layout;
	AggDeviceRecords *records;
	bool has_results;
	HeldResult *results; /* of each call, if it has */
	List *answers;		 /* of HeldAnswer * */
	bool look;			 /* at records that stay: */
	int looked;			 /* of so many answers at all of them */
	uint32 *record;		 /* packed, of a file */
};

/* What is left of the answer, while it is still there. */
static void
leave(void *reader)
{
	HeldAnswer *answer = reader;
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(answer));

	answer->files = gpuagg_spill_files_make();
	/* what is looked at is left, too */
	if (answer->held->look)
		answer->next = 0;
	gpuagg_spill_files_write(answer->files, 0,
							 (const char *) answer->query->records + answer->next * answer->record,
							 (answer->query->ngroups - answer->next) * answer->record);
	(void) gpuagg_spill_files_open(answer->files);
	MemoryContextSwitchTo(old);
}

static void
end_first(AggHeld *held)
{
	HeldAnswer *answer = linitial(held->answers);
	MemoryContext context = GetMemoryChunkContext(answer);

	held->answers = list_delete_first(held->answers);
	if (answer->files != NULL)
		gpuagg_spill_files_empty(answer->files);
	gpuagg_blob_query_end(answer->query);
	MemoryContextDelete(context);
}

void
gpuagg_agg_held_end(AggScanState *node)
{
	AggHeld *held = node->held;

	if (held == NULL)
		return;
	node->held = NULL;
	while (held->answers != NIL)
		end_first(held);
	MemoryContextDelete(GetMemoryChunkContext(held));
}

/* ---- into it ---- */

static bool
may_hold(const AggScanState *node, const BlobQuery *query)
{
	const GroupLayout *layout = &gpuagg_agg_main(node)->layout;

	/* a worker gives out groups with their states; later requests need staging memory, too */
	if ((node->spec->mode == AGG_PARTIAL && !node->leader) || query->nfar > 0 ||
		!gpuagg_device_may_lease((Size) (query->query.parts - query->query.part) *
								 GPUAGG_SEGMENT_BYTES_MAX))
		return false;
	/* strings are kept as long as the reader is */
	for (int i = 0; i < layout->nkeys; i++)
		if (layout->keys[i].type == GPUAGG_VECTOR_BYTES)
			return false;
	return gpuagg_groups_count(gpuagg_agg_main(node)->groups) == 0;
}

static HeldResult
result_of(const AggScanState *node, const GpuaggGroupLayout *layout, int call)
{
	int state = node->call_state[call];
	const AggInput *input = &node->inputs[state];
	Aggregate aggregate = node->spec->calls[call].aggregate;
	bool is_sum = node->states[state].op == GPUAGG_SUM &&
				  layout->field[state].type != GPUAGG_VECTOR_INT128;

	switch (node->states[state].family)
	{
		case SQL_FAMILY_COUNT:
			return HELD_COUNT;
		case SQL_FAMILY_INT:
			return is_sum ? HELD_INTEGER : HELD_GROUP;
		case SQL_FAMILY_FLOAT:
			return is_sum ? HELD_FLOAT : HELD_GROUP;
		case SQL_FAMILY_NUMERIC:
			return is_sum && aggregate == AGGREGATE_SUM && input->feed == FEED_DECIMAL
					   ? HELD_DECIMAL
					   : HELD_GROUP;
		default:
			return HELD_GROUP;
	}
}

static void
find_results(const AggScanState *node, AggHeld *held)
{
	int ncalls = node->spec->ncalls;

	held->has_results = node->nsets == 1 && node->spec->groupings == NIL;
	held->results = palloc(Max(ncalls, 1) * sizeof(HeldResult));
	for (int i = 0; i < ncalls; i++)
	{
		held->results[i] = result_of(node, held->layout, i);
		held->has_results &= held->results[i] != HELD_GROUP;
	}
}

static AggHeld *
held_of(AggScanState *node, const AggDevicePass *pass)
{
	MemoryContext context;
	MemoryContext old;

	if (node->held != NULL)
		return node->held;
	context = AllocSetContextCreate(node->css.ss.ps.state->es_query_cxt, "gpuagg held groups",
									ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	node->held = palloc(sizeof(AggHeld));
	node->held->layout = &pass->groups.layout;
	find_results(node, node->held);
	node->held->records = gpuagg_agg_device_records(node, pass, NULL);
	node->held->answers = NIL;
	node->held->look = false;
	node->held->looked = 0;
	node->held->record = palloc(pass->groups.layout.words * sizeof(uint32));
	MemoryContextSwitchTo(old);
	return node->held;
}

bool
gpuagg_agg_device_hold(AggScanState *node, const AggDevicePass *pass, BlobQuery *query)
{
	AggHeld *held;
	HeldAnswer *answer;
	MemoryContext old;

	if (!may_hold(node, query))
		return false;
	held = held_of(node, pass);
	answer = MemoryContextAlloc(GetMemoryChunkContext(query), sizeof(HeldAnswer));
	*answer =
		(HeldAnswer){.held = held, .query = query, .record = query->packing.words * sizeof(uint32)};
	query->reader = answer;
	query->leaving = leave;
	old = MemoryContextSwitchTo(GetMemoryChunkContext(held));
	held->answers = lappend(held->answers, answer);
	MemoryContextSwitchTo(old);
	return true;
}

/* ---- out of it ---- */

void
gpuagg_agg_held_settle(AggScanState *node)
{
	AggHeld *held = node->held;

	if (likely(held == NULL))
		return;
	/* as nothing has been given out yet, all answers are still there */
	for (; held->answers != NIL; end_first(held))
		gpuagg_agg_device_groups_take(held->records,
									  ((HeldAnswer *) linitial(held->answers))->query, true);
	gpuagg_agg_held_end(node);
}

/* An answer's next record; NULL: there is none. */
static const uint32 *
next_record(AggHeld *held, HeldAnswer *answer)
{
	const BlobQuery *query = answer->query;

	if (answer->files != NULL)
		return gpuagg_spill_files_read(answer->files, held->record, answer->record) ? held->record
																					: NULL;
	return answer->next < query->ngroups ? query->records + answer->next++ * query->packing.words
										 : NULL;
}

/* The next record of all answers, of *answer; NULL, with nothing held, at the end. */
static const uint32 *
next_held(AggScanState *node, const HeldAnswer **answer)
{
	AggHeld *held = node->held;

	for (; held->answers != NIL; end_first(held))
	{
		const uint32 *record = next_record(held, linitial(held->answers));

		*answer = linitial(held->answers);
		if (record != NULL)
			return record;
	}
	gpuagg_agg_held_end(node);
	return NULL;
}

AggGroup *
gpuagg_agg_held_next(AggScanState *node)
{
	const HeldAnswer *answer;
	const uint32 *packed = next_held(node, &answer);

	return packed != NULL ? gpuagg_agg_device_groups_replace(node->held->records,
															 &answer->query->packing, packed)
						  : NULL;
}

bool
gpuagg_agg_held_look(AggScanState *node, bool look)
{
	AggHeld *held = node->held;
	bool all = true;
	ListCell *cell;

	foreach (cell, held->answers)
	{
		HeldAnswer *answer = lfirst(cell);

		/* what has gone to a file has not been read there */
		all &= answer->files == NULL;
		answer->next = 0;
	}
	held->look = look;
	held->looked = 0;
	return all;
}

/* An answer has been looked at, or given out. */
static void
leave_answer(AggHeld *held)
{
	if (held->look)
		held->looked++;
	else
		end_first(held);
}

int
gpuagg_agg_held_next_records(AggScanState *node, const uint32 **records)
{
	AggHeld *held = node->held;

	for (; held != NULL && list_length(held->answers) > held->looked; leave_answer(held))
	{
		HeldAnswer *answer = list_nth(held->answers, held->looked);
		const GpuaggGroupPacking *packing = &answer->query->packing;
		const uint32 *packed;
		int n = 1;

		if (held->look && answer->files != NULL)
			return 0;
		packed = next_record(held, answer);
		if (packed == NULL)
			continue;
		if (answer->files == NULL)
		{
			n = (int) Min(answer->query->ngroups - (answer->next - 1), GPUAGG_VECTOR_ROWS);
			answer->next += n - 1;
		}
		gpuagg_agg_device_unpack(held->records, packing, packed, n, records);
		for (int i = 0; i < n && !held->look; i++)
			node->counts.removed -= records[i][held->layout->rows];
		return n;
	}
	if (held != NULL && !held->look)
		gpuagg_agg_held_end(node);
	return 0;
}

/* ---- results ---- */

bool
gpuagg_agg_held_has_results(const AggScanState *node)
{
	return node->held != NULL && node->held->has_results;
}

/* The sum of a call's n values. */
static GpuaggInt128
sum_of(const AggScanState *node, const uint32 *record, int call, int64 *n)
{
	const GpuaggGroupLayout *layout = node->held->layout;
	const GpuaggGroupField *field = &layout->field[node->call_state[call]];
	uint64 values;
	__int128 sum = gpuagg_group_integer(field, record, record[layout->rows], &values);

	if (values > record[layout->rows])
		elog(ERROR, "unexpected number of a group's rows on the device");
	*n = (int64) values;
	return gpuagg_int128_narrow(sum);
}

bool
gpuagg_agg_held_integer(const AggScanState *node, const uint32 *record, int call, int scale,
						int64 *n, GpuaggInt128 *sum)
{
	HeldResult result = node->held->results[call];

	if (scale != (result == HELD_DECIMAL ? node->inputs[node->call_state[call]].value.scale : 0) ||
		(result != HELD_DECIMAL && result != HELD_INTEGER))
		return false;
	*sum = sum_of(node, record, call, n);
	return true;
}

Datum
gpuagg_agg_held_result(const AggScanState *node, const uint32 *record, int call, bool *isnull)
{
	const AggHeld *held = node->held;
	const GpuaggGroupLayout *layout = held->layout;
	int state = node->call_state[call];
	const GpuaggGroupField *field = &layout->field[state];
	const AggCall *of = &node->spec->calls[call];
	GpuaggInt128 sum;
	int64 n;

	if (held->results[call] == HELD_FLOAT)
	{
		GpuaggFloatSumFull exact;

		if (!gpuagg_group_float(layout, record, (uint32) state, &exact))
			elog(ERROR, "unexpected total of a group on the device");
		return gpuagg_float_result(of->aggregate, of->result, gpuagg_float_sum_of(&exact), isnull);
	}
	if (held->results[call] == HELD_COUNT)
		return Int64GetDatum(
			(int64) record[layout->rows] -
			(int64) (field->missing != GPUAGG_GROUP_NONE ? record[field->missing] : 0));
	sum = sum_of(node, record, call, &n);
	*isnull = n == 0;
	if (*isnull)
		return (Datum) 0;
	if (held->results[call] == HELD_DECIMAL)
		return NumericGetDatum(gpuagg_decimal_to_numeric(sum, node->inputs[state].value.scale));
	return gpuagg_int_value(of->aggregate, of->result, n, sum);
}

Datum
gpuagg_agg_held_key(const AggScanState *node, const uint32 *record, int number, bool *isnull)
{
	const GroupLayout *layout = &gpuagg_agg_main(node)->layout;
	int is_null;
	uint64 value = gpuagg_group_key(node->held->layout, (const uint64 *) record, (uint32) number,
									&is_null);
	GpuaggVector vector = {&value, NULL}; /* the low bytes come first */

	*isnull = is_null != 0;
	return *isnull ? (Datum) 0
				   : gpuagg_vector_datum(&vector, &layout->keys[number],
										 layout->values[number].type, 0, isnull);
}

bool
gpuagg_agg_held_next_result(AggScanState *node, Datum *values, bool *isnull)
{
	const HeldAnswer *answer;
	const uint32 *packed = next_held(node, &answer);
	const uint32 *record;

	if (packed == NULL)
		return false;
	record = gpuagg_agg_device_record(node->held->records, &answer->query->packing, packed);
	node->counts.removed -= record[node->held->layout->rows];
	for (int i = 0; i < node->spec->nkeys; i++)
		values[i] = gpuagg_agg_held_key(node, record, i, &isnull[i]);
	values += node->nvalues;
	isnull += node->nvalues;
	for (int i = 0; i < node->spec->ncalls; i++)
	{
		isnull[i] = false;
		values[i] = gpuagg_agg_held_result(node, record, i, &isnull[i]);
	}
	return true;
}
