/*
 * agg_output.c
 *	  Groups of a GpuAgg node as tuples, and memory for them.
 *
 * A worker gives out what groups it has whenever their memory is full.  Whoever
 * makes results spills them (agg_spill.h).
 */
#include "compat.h"

#include "miscadmin.h"

#include "exec/agg_spill.h"
#include "exec/agg_state.h"

/* ---- states on their way from a worker ---- */

static Datum
state_bytes(const Accumulator *acc)
{
	StringInfoData buf;

	initStringInfo(&buf);
	buf.len = VARHDRSZ;
	gpuagg_accumulator_write(acc, &buf);
	SET_VARSIZE(buf.data, buf.len);
	return PointerGetDatum(buf.data);
}

static void
merge_bytes(AggScanState *node, Accumulator *into, Datum value)
{
	bytea *bytes = DatumGetByteaPP(value);
	StringInfoData buf = {.data = VARDATA_ANY(bytes), .len = (int) VARSIZE_ANY_EXHDR(bytes)};
	Accumulator *from;

	buf.maxlen = buf.len;
	from = gpuagg_accumulator_read(&buf, 0);
	gpuagg_family_of(into)->merge(into, gpuagg_agg_owner(node), from);
}

/* A state is in the first of the calls that share it. */
static bool
is_first(const AggScanState *node, int call)
{
	for (int i = 0; i < call; i++)
		if (node->call_state[i] == node->call_state[call])
			return false;
	return true;
}

/* The argument with DISTINCT whose value the tuple has: its first call has empty bytes; else -1. */
static int
distinct_of_tuple(const AggScanState *node, const TupleTableSlot *slot)
{
	for (int i = 0; i < node->spec->ncalls; i++)
	{
		int distinct = node->spec->calls[i].distinct;

		if (distinct >= 0 && !slot->tts_isnull[node->nvalues + i])
			return distinct;
	}
	return -1;
}

void
gpuagg_agg_output_merge(AggScanState *node, TupleTableSlot *slot)
{
	MemoryContext old = MemoryContextSwitchTo(
		node->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	AggSet *main = gpuagg_agg_main(node);
	AggGroup *group;
	int distinct;

	gpuagg_agg_held_settle(node);
	slot_getallattrs(slot);
	distinct = distinct_of_tuple(node, slot);
	group = gpuagg_agg_set_find(node, main, slot->tts_values, slot->tts_isnull);
	if (distinct >= 0)
		gpuagg_agg_distinct_add(node, distinct, group, slot->tts_values, slot->tts_isnull);
	for (int i = 0; i < node->spec->ncalls && distinct < 0; i++)
		if (is_first(node, i) && node->spec->calls[i].distinct < 0)
			merge_bytes(node, gpuagg_group_state(&main->layout, group, node->call_state[i]),
						slot->tts_values[node->nvalues + i]);
	MemoryContextSwitchTo(old);
	ResetExprContext(node->css.ss.ps.ps_ExprContext);
}

/* Values with DISTINCT, of a row that a node below has computed. */
static void
take_distinct(AggScanState *node, AggGroup *group, TupleTableSlot *slot)
{
	Datum *values;
	bool *isnull;
	int first = gpuagg_agg_distinct_number(node, 0);

	if (node->ndistinct == 0)
		return;
	values = palloc(node->nvalues * sizeof(Datum));
	isnull = palloc(node->nvalues * sizeof(bool));
	memcpy(values, slot->tts_values, first * sizeof(Datum));
	memcpy(isnull, slot->tts_isnull, first * sizeof(bool));
	for (int i = 0; i < node->ndistinct; i++)
	{
		const AggInput *input = &node->inputs[gpuagg_agg_distinct_value(node, i)->input];

		if (!gpuagg_agg_input_of_slot(input, slot, &values[first + i]))
			continue;
		isnull[first + i] = false;
		gpuagg_agg_distinct_add(node, i, group, values, isnull);
	}
}

void
gpuagg_agg_output_take(AggScanState *node, TupleTableSlot *slot)
{
	MemoryContext old = MemoryContextSwitchTo(
		node->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	AggGroup *group;

	gpuagg_agg_held_settle(node);
	slot_getallattrs(slot);
	group = gpuagg_agg_set_find(node, gpuagg_agg_main(node), slot->tts_values, slot->tts_isnull);
	gpuagg_agg_sink_values(node, group, slot);
	take_distinct(node, group, slot);
	MemoryContextSwitchTo(old);
	ResetExprContext(node->css.ss.ps.ps_ExprContext);
}

/* ---- tuples ---- */

/* A bit for each argument of grouping(), 1 where the set does not have it. */
static int32
grouping_of(const AggSet *set, const List *keys)
{
	int32 bits = 0;
	ListCell *cell;

	foreach (cell, keys)
		bits = bits << 1 | !(set->keys >> lfirst_int(cell) & 1);
	return bits;
}

Datum
gpuagg_agg_result(const AggScanState *node, const AggSet *set, AggGroup *group, int call,
				  bool *isnull)
{
	const AggCall *of = &node->spec->calls[call];
	Accumulator *acc = gpuagg_group_state(&set->layout, group, node->call_state[call]);

	*isnull = false;
	return gpuagg_family_of(acc)->finish(acc, of->aggregate, of->result, isnull);
}

static void
store_results(AggScanState *node, const AggSet *set, AggGroup *group, Datum *values, bool *isnull)
{
	const AggSpec *spec = node->spec;
	ListCell *cell;

	for (int i = 0; i < spec->ncalls; i++)
		values[i] = gpuagg_agg_result(node, set, group, i, &isnull[i]);
	foreach (cell, spec->groupings)
	{
		int i = spec->ncalls + foreach_current_index(cell);

		isnull[i] = false;
		values[i] = Int32GetDatum(grouping_of(set, lfirst(cell)));
	}
}

/* Of arguments that are the same expression, a plan's list of results reads the first for all. */
static void
repeat_argument(const AggScanState *node, int distinct, Datum *values, bool *isnull)
{
	int first = gpuagg_agg_distinct_number(node, 0);
	int argument = gpuagg_agg_distinct_number(node, distinct);

	for (int i = first; i < node->nvalues; i++)
		if (node->values[i].same == node->values[argument].same)
		{
			values[i] = values[argument];
			isnull[i] = isnull[argument];
		}
}

static void
store_states(AggScanState *node, AggGroup *group, Datum *values, bool *isnull)
{
	const AggSpec *spec = node->spec;

	for (int i = 0; i < spec->ncalls; i++)
		if (spec->calls[i].distinct < 0 && is_first(node, i))
		{
			values[i] = state_bytes(
				gpuagg_group_state(&gpuagg_agg_main(node)->layout, group, node->call_state[i]));
			isnull[i] = false;
		}
}

/* Marks the tuple as one of a value with DISTINCT, and repeats the value. */
static void
store_distinct(AggScanState *node, int distinct, Datum *values, bool *isnull)
{
	int call = 0;

	while (node->spec->calls[call].distinct != distinct)
		call++;
	call += node->nvalues;
	values[call] = PointerGetDatum(palloc0(VARHDRSZ));
	SET_VARSIZE(DatumGetPointer(values[call]), VARHDRSZ);
	isnull[call] = false;
	repeat_argument(node, distinct, values, isnull);
}

bool
gpuagg_agg_output_make_room(AggScanState *node)
{
	bool gives = node->spec->mode == AGG_PARTIAL && !node->leader;

	for (int i = node->ndistinct; i >= 0; i--)
	{
		if (!gpuagg_agg_set_is_full(node, &node->sets[i]))
			continue;
		if (gives)
			return false;
		gpuagg_agg_set_make_room(node, &node->sets[i]);
	}
	return true;
}

void
gpuagg_agg_output_clear(TupleTableSlot *slot)
{
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
}

/* The next result, in the slot. */
static bool
next_result(AggScanState *node, TupleTableSlot *slot)
{
	while (node->giving < node->nsets)
	{
		AggSet *set = &node->sets[node->giving];
		AggGroup *group;

		CHECK_FOR_INTERRUPTS();
		if (gpuagg_agg_held_has_results(node))
		{
			gpuagg_agg_output_clear(slot);
			if (gpuagg_agg_held_next_result(node, slot->tts_values, slot->tts_isnull))
				return true;
		}
		group = gpuagg_agg_set_next(node, set);
		if (group == NULL)
		{
			node->giving++;
			if (node->giving < node->nsets)
				gpuagg_agg_spill_rest(node, &node->sets[node->giving]);
			continue;
		}
		gpuagg_agg_sets_derive(node, set, group);
		if (!set->given)
			continue;
		gpuagg_agg_output_clear(slot);
		gpuagg_agg_set_values(set, group, slot->tts_values, slot->tts_isnull);
		store_results(node, set, group, slot->tts_values + node->nvalues,
					  slot->tts_isnull + node->nvalues);
		return true;
	}
	return false;
}

/* The next group with its states, or value with DISTINCT: these first, as they need the groups. */
static bool
next_state(AggScanState *node, TupleTableSlot *slot)
{
	Datum *values = slot->tts_values;
	bool *isnull = slot->tts_isnull;
	AggGroup *group;

	gpuagg_agg_output_clear(slot);
	for (; node->giving < node->ndistinct; node->giving++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!gpuagg_agg_distinct_take(node, node->giving, values, isnull))
			continue;
		store_distinct(node, node->giving, values, isnull);
		return true;
	}
	group = gpuagg_agg_set_next(node, gpuagg_agg_main(node));
	if (group == NULL)
	{
		node->giving = 0; /* a worker may give out groups several times */
		return false;
	}
	gpuagg_agg_set_values(gpuagg_agg_main(node), group, values, isnull);
	store_states(node, group, values + node->nvalues, isnull + node->nvalues);
	return true;
}

bool
gpuagg_agg_output_next(AggScanState *node, bool results, TupleTableSlot *slot)
{
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	MemoryContext old;
	bool found;

	ResetExprContext(econtext);
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	found = results ? next_result(node, slot) : next_state(node, slot);
	MemoryContextSwitchTo(old);
	if (found)
		ExecStoreVirtualTuple(slot);
	return found;
}
