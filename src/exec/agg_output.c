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
	gpuagg_family_of(into)->merge(into, gpuagg_groups_owner(node->groups), from);
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

/* The values of a new group, from the incoming tuple. */
static void
fill_from_tuple(void *owner, int row, Datum *values, bool *isnull)
{
	const TupleTableSlot *slot = ((const AggScanState *) owner)->incoming;
	int n = ((const AggScanState *) owner)->layout.nvalues;

	memcpy(values, slot->tts_values, n * sizeof(Datum));
	memcpy(isnull, slot->tts_isnull, n * sizeof(bool));
}

void
gpuagg_agg_output_merge(AggScanState *node, TupleTableSlot *slot)
{
	MemoryContext old = MemoryContextSwitchTo(
		node->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	const GroupLayout *layout = &node->layout;
	AggGroup *group;

	slot_getallattrs(slot);
	node->incoming = slot;
	group = gpuagg_groups_find_datums(node->groups, slot->tts_values, slot->tts_isnull,
									  fill_from_tuple, node);
	for (int i = 0; i < node->spec->ncalls; i++)
		if (is_first(node, i))
			merge_bytes(node, gpuagg_group_state(layout, group, node->call_state[i]),
						slot->tts_values[layout->nvalues + i]);
	MemoryContextSwitchTo(old);
	ResetExprContext(node->css.ss.ps.ps_ExprContext);
}

void
gpuagg_agg_output_take(AggScanState *node, TupleTableSlot *slot)
{
	MemoryContext old = MemoryContextSwitchTo(
		node->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);

	slot_getallattrs(slot);
	node->incoming = slot;
	gpuagg_agg_sink_values(node,
						   gpuagg_groups_find_datums(node->groups, slot->tts_values,
													 slot->tts_isnull, fill_from_tuple, node),
						   slot);
	MemoryContextSwitchTo(old);
	ResetExprContext(node->css.ss.ps.ps_ExprContext);
}

/* ---- tuples ---- */

static void
store_group(AggScanState *node, AggGroup *group, bool results, TupleTableSlot *slot)
{
	const GroupLayout *layout = &node->layout;
	int n = layout->nvalues;
	Datum *values = slot->tts_values;
	bool *isnull = slot->tts_isnull;

	ExecClearTuple(slot);
	memset(isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	if (n > 0)
	{
		memcpy(values, gpuagg_group_values(group), n * sizeof(Datum));
		memcpy(isnull, gpuagg_group_nulls(layout, group), n * sizeof(bool));
	}
	for (int i = 0; i < node->spec->ncalls; i++)
	{
		const AggCall *call = &node->spec->calls[i];
		Accumulator *acc = gpuagg_group_state(layout, group, node->call_state[i]);

		if (results)
		{
			isnull[n + i] = false;
			values[n + i] = gpuagg_family_of(acc)->finish(acc, call->aggregate, call->result,
														  &isnull[n + i]);
		}
		else if (is_first(node, i))
		{
			values[n + i] = state_bytes(acc);
			isnull[n + i] = false;
		}
	}
	ExecStoreVirtualTuple(slot);
}

bool
gpuagg_agg_output_make_room(AggScanState *node)
{
	if (node->layout.nkeys == 0 || gpuagg_groups_bytes(node->groups) <= node->memory_limit)
		return true;
	if (node->spec->mode == AGG_PARTIAL && !node->leader)
		return false;
	gpuagg_agg_spill(node);
	return true;
}

bool
gpuagg_agg_output_next(AggScanState *node, bool results, TupleTableSlot *slot)
{
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	MemoryContext old;
	AggGroup *group;

	ResetExprContext(econtext);
	for (;;)
	{
		group = gpuagg_groups_next(node->groups, &node->position);
		if (group != NULL)
			break;
		memset(&node->position, 0, sizeof(node->position));
		if (node->layout.nkeys > 0)
			gpuagg_groups_clear(node->groups);
		if (!gpuagg_agg_spill_load(node))
			return false;
	}
	CHECK_FOR_INTERRUPTS();
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	store_group(node, group, results, slot);
	MemoryContextSwitchTo(old);
	return true;
}
