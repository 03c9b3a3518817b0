/*
 * agg_finish.c
 *	  Values with DISTINCT of a GpuAgg node's groups, and the room for both.
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/agg_spill.h"
#include "exec/agg_state.h"

/* A set has room for so many groups, or its tables alone might take all memory, for each group again. */
#define LEAST_GROUPS 256

/* ---- values ---- */

void
gpuagg_agg_distinct_add(AggScanState *node, int distinct, AggGroup *group, const Datum *values,
						const bool *isnull)
{
	AggSet *set = &node->sets[1 + distinct];

	if (set->distinct == NULL ||
		!gpuagg_distinct_add_datum(set->distinct, group,
								   values[gpuagg_agg_distinct_number(node, distinct)]))
		(void) gpuagg_agg_set_find(node, set, values, isnull);
}

bool
gpuagg_agg_distinct_take(AggScanState *node, int distinct, Datum *values, bool *isnull)
{
	AggSet *set = &node->sets[1 + distinct];
	int number = gpuagg_agg_distinct_number(node, distinct);
	AggGroup *group;
	PackedKey key;

	if (set->distinct != NULL && gpuagg_distinct_take(set->distinct, node->set_limit, &group, &key))
	{
		gpuagg_agg_set_values(gpuagg_agg_main(node), group, values, isnull);
		values[number] = gpuagg_distinct_value(set->distinct, key);
		isnull[number] = false;
		return true;
	}
	group = gpuagg_agg_set_next(node, set);
	if (group != NULL)
		gpuagg_agg_set_values(set, group, values, isnull);
	return group != NULL;
}

/* ---- room ---- */

/* A set's groups may have what the others leave of the memory, and always their part of it. */
static bool
groups_are_full(const AggScanState *node, const AggSet *set)
{
	Size bytes = gpuagg_groups_bytes(set->groups);

	if (set->layout.nkeys == 0 || bytes <= node->set_limit ||
		gpuagg_groups_count(set->groups) < LEAST_GROUPS)
		return false;
	for (int i = 0; i < node->nsets; i++)
	{
		const AggSet *other = &node->sets[i];

		if (other != set)
			bytes += gpuagg_groups_bytes(other->groups);
		if (other->distinct != NULL)
			bytes += gpuagg_distinct_bytes(other->distinct);
	}
	return bytes > node->memory_limit;
}

bool
gpuagg_agg_set_is_full(const AggScanState *node, const AggSet *set)
{
	return groups_are_full(node, set) ||
		   (set->distinct != NULL && gpuagg_distinct_is_full(set->distinct, node->set_limit));
}

void
gpuagg_agg_set_make_room(AggScanState *node, AggSet *set)
{
	if (set->distinct != NULL && gpuagg_distinct_is_full(set->distinct, node->set_limit))
	{
		int64 bytes = gpuagg_distinct_spill(set->distinct);

		node->spills += bytes > 0;
		node->spilled_bytes += bytes;
	}
	if (groups_are_full(node, set))
		gpuagg_agg_spill(node, set);
}

/* ---- the end of the rows ---- */

static void
deposit(AggScanState *node, int distinct, AggGroup *group, Datum value)
{
	for (int i = 0; i < node->nstates; i++)
		if (node->inputs[i].distinct == distinct)
			gpuagg_agg_deposit(node, i, group, value);
}

/* Whether only the number of the values counts. */
static bool
only_counts(const AggScanState *node, int distinct)
{
	for (int i = 0; i < node->nstates; i++)
		if (node->inputs[i].distinct == distinct && node->states[i].family != SQL_FAMILY_COUNT)
			return false;
	return true;
}

void
gpuagg_agg_finish_groups(AggScanState *node)
{
	MemoryContext temporary = AllocSetContextCreate(CurrentMemoryContext, "gpuagg values",
													ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(temporary);

	for (int i = 0; i < node->ndistinct; i++)
	{
		AggDistinct *distinct = node->sets[1 + i].distinct;
		bool wanted = !only_counts(node, i);
		Datum value = (Datum) 0;
		AggGroup *group;
		PackedKey key;

		while (distinct != NULL && gpuagg_distinct_take(distinct, node->set_limit, &group, &key))
		{
			CHECK_FOR_INTERRUPTS();
			if (wanted)
				value = gpuagg_distinct_value(distinct, key);
			deposit(node, i, group, value);
			if (wanted)
				MemoryContextReset(temporary);
		}
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(temporary);
}

/* Values in groups of their own. */
static void
finish_set(AggScanState *node, int distinct)
{
	AggSet *main = gpuagg_agg_main(node);
	AggSet *set = &node->sets[1 + distinct];
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	Datum *values = palloc(node->nvalues * sizeof(Datum));
	bool *isnull = palloc(node->nvalues * sizeof(bool));
	AggGroup *of_set;

	gpuagg_agg_spill_rest(node, set);
	while ((of_set = gpuagg_agg_set_next(node, set)) != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);

		CHECK_FOR_INTERRUPTS();
		gpuagg_agg_set_values(set, of_set, values, isnull);
		deposit(node, distinct, gpuagg_agg_set_find(node, main, values, isnull),
				values[gpuagg_agg_distinct_number(node, distinct)]);
		MemoryContextSwitchTo(old);
		ResetExprContext(econtext);
		gpuagg_agg_set_make_room(node, main);
	}
	pfree(values);
	pfree(isnull);
}

void
gpuagg_agg_finish(AggScanState *node)
{
	AggSet *main = gpuagg_agg_main(node);

	for (int i = 0; i < node->ndistinct; i++)
		finish_set(node, i);
	gpuagg_agg_spill_rest(node, main);
	if (main->spill == NULL)
		gpuagg_agg_finish_groups(node);

	/* a set without keys has its group also if there are no rows */
	for (int i = 0; i < node->nsets; i++)
		if (node->sets[i].layout.nkeys == 0 && node->sets[i].given)
			(void) gpuagg_groups_only(node->sets[i].groups);
}
