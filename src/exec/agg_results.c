/*
 * agg_results.c
 *	  The groups of a GpuAgg node as vectors, for a node above that computes with them.
 *
 * A vector has groups as they lie in memory, or records of an answer of the device.  Groups of
 * grouping sets, and those that have been in files, come as rows.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"

#include "exec/agg_results.h"
#include "exec/agg_state.h"
#include "operation/accumulators.h"

struct AggResults
{
	int n;
	bool held; /* they are records */
	bool look; /* and will be there again */
	union
	{
		AggGroup *groups[GPUAGG_VECTOR_ROWS];
		const uint32 *records[GPUAGG_VECTOR_ROWS];
	} of;
};

/* The node whose groups they are. */
static AggScanState *
owner_of(AggScanState *node)
{
	return node->spec->mode == AGG_FINAL ? node->partial : node;
}

bool
gpuagg_agg_results_begin(PlanState *ps)
{
	AggScanState *node = (AggScanState *) ps;
	AggScanState *owner = owner_of(node);
	MemoryContext old = MemoryContextSwitchTo(ps->state->es_query_cxt);

	if (ps->chgParam != NULL)
		ExecReScan(ps);
	node->fill(node);
	if (node->results == NULL)
		node->results = palloc(sizeof(AggResults));
	MemoryContextSwitchTo(old);
	if (owner->nsets > 1 || owner->spec->groupings != NIL ||
		gpuagg_agg_main(owner)->spill != NULL ||
		(owner->held != NULL && !gpuagg_agg_held_has_results(owner)))
		return false;
	node->results->held = owner->held != NULL;
	node->results->look = false;
	return true;
}

bool
gpuagg_agg_results_look(PlanState *ps, bool look)
{
	AggScanState *node = (AggScanState *) ps;
	AggScanState *owner = owner_of(node);
	AggSet *set = gpuagg_agg_main(owner);

	memset(&set->position, 0, sizeof(set->position));
	node->results->look = look;
	return !node->results->held || gpuagg_agg_held_look(owner, look);
}

/* ---- values ---- */

Datum
gpuagg_agg_results_datum(PlanState *ps, int column, int row, bool *isnull)
{
	AggScanState *node = (AggScanState *) ps;
	AggScanState *owner = owner_of(node);
	const AggResults *results = node->results;
	const GroupLayout *layout = &gpuagg_agg_main(owner)->layout;
	AggGroup *group = results->of.groups[row];

	*isnull = false;
	if (results->held)
		return column < owner->nvalues
				   ? gpuagg_agg_held_key(owner, results->of.records[row], column, isnull)
				   : gpuagg_agg_held_result(owner, results->of.records[row],
											column - owner->nvalues, isnull);
	if (column < owner->nvalues)
	{
		*isnull = gpuagg_group_nulls(layout, group)[column];
		return gpuagg_group_values(group)[column];
	}
	return gpuagg_agg_result(owner, &owner->sets[0], group, column - owner->nvalues, isnull);
}

void
gpuagg_agg_results_store(PlanState *ps, int row, TupleTableSlot *slot)
{
	int ncolumns = ((AggScanState *) ps)->ncolumns;

	gpuagg_agg_output_clear(slot);
	for (int c = 0; c < ncolumns; c++)
		slot->tts_values[c] = gpuagg_agg_results_datum(ps, c, row, &slot->tts_isnull[c]);
	ExecStoreVirtualTuple(slot);
}

/* Of n > 0 values with this sum. */
static bool
integer_of_group(const AggScanState *owner, AggGroup *group, int state, int scale, int64 *n,
				 GpuaggInt128 *sum)
{
	const Accumulator *acc = gpuagg_group_state(&gpuagg_agg_main(owner)->layout, group, state);

	if (acc->family == SQL_FAMILY_INT)
	{
		*n = ((const IntAccumulator *) acc)->sum.n;
		*sum = ((const IntAccumulator *) acc)->sum.sum;
		return scale == 0;
	}
	return acc->family == SQL_FAMILY_NUMERIC &&
		   gpuagg_decimal_integer(&((const NumericAccumulator *) acc)->sums, scale, n, sum);
}

bool
gpuagg_agg_results_integers(PlanState *ps, int column, int scale, GpuaggInt128 *values,
							uint64 *valid)
{
	AggScanState *node = (AggScanState *) ps;
	AggScanState *owner = owner_of(node);
	const AggResults *results = node->results;
	int call = column - owner->nvalues;

	if (call < 0 || owner->spec->calls[call].aggregate != AGGREGATE_SUM ||
		owner->spec->calls[call].result != NUMERICOID)
		return false;
	for (int i = 0; i < results->n; i++)
	{
		int64 n;

		if (!(results->held ? gpuagg_agg_held_integer(owner, results->of.records[i], call, scale,
													  &n, &values[i])
							: integer_of_group(owner, results->of.groups[i],
											   owner->call_state[call], scale, &n, &values[i])))
			return false;
		valid[i / 64] |= (uint64) (n > 0) << i % 64;
	}
	return true;
}

/* ---- the next ones ---- */

bool
gpuagg_agg_results_passes(PlanState *ps, int row)
{
	ExprContext *econtext = ps->ps_ExprContext;
	TupleTableSlot *slot = ((ScanState *) ps)->ss_ScanTupleSlot;
	MemoryContext old;
	bool passes;

	if (ps->qual == NULL)
		return true;
	ResetExprContext(econtext);
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	gpuagg_agg_results_store(ps, row, slot);
	econtext->ecxt_scantuple = slot;
	MemoryContextSwitchTo(old);
	passes = ExecQual(ps->qual, econtext);
	ExecClearTuple(slot);
	if (!passes)
		InstrCountFiltered1(ps, 1);
	return passes;
}

int
gpuagg_agg_results_next_any(PlanState *ps)
{
	AggScanState *node = (AggScanState *) ps;
	AggScanState *owner = owner_of(node);
	AggSet *set = gpuagg_agg_main(owner);
	AggResults *results = node->results;

	CHECK_FOR_INTERRUPTS();
	if (results->held)
		results->n = gpuagg_agg_held_next_records(owner, results->of.records);
	else
	{
		results->n = 0;
		while (results->n < GPUAGG_VECTOR_ROWS)
		{
			AggGroup *group = gpuagg_groups_next(set->groups, &set->position);

			if (group == NULL)
				break;
			results->of.groups[results->n++] = group;
		}
		gpuagg_groups_prefetch(set->groups, results->of.groups, results->n);
	}
	if (!results->look)
		node->given += results->n;
	return results->n;
}

int
gpuagg_agg_results_next(PlanState *ps)
{
	AggResults *results = ((AggScanState *) ps)->results;
	int n;

	while (n = gpuagg_agg_results_next_any(ps), n > 0)
	{
		if (ps->qual == NULL)
			return n;
		results->n = 0;
		for (int i = 0; i < n; i++)
			if (gpuagg_agg_results_passes(ps, i))
				results->of.groups[results->n++] = results->of.groups[i];
		if (results->n > 0)
			return results->n;
	}
	return 0;
}
