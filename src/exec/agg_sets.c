/*
 * agg_sets.c
 *	  The sets of groups of a GpuAgg node.
 *
 * States are exact and merge in any order, so that groups by fewer keys are made from those
 * by more, and values with DISTINCT come into their groups when all of them are known.
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/agg_keys.h"
#include "exec/agg_spill.h"
#include "exec/agg_state.h"

/* ---- which sets there are ---- */

/* n numbers of values, of which the first nkeys are keys. */
static void
make_set(AggScanState *node, AggSet *set, int nkeys, const int *values, int n, bool states)
{
	GroupLayout *layout = &set->layout;
	VectorValue *keys = palloc(Max(nkeys, 1) * sizeof(VectorValue));
	Oid *equality = palloc(Max(nkeys, 1) * sizeof(Oid));
	Oid *collations = palloc(Max(nkeys, 1) * sizeof(Oid));

	set->from = -1;
	set->values = palloc(Max(n, 1) * sizeof(int));
	memcpy(set->values, values, n * sizeof(int));
	layout->nkeys = nkeys;
	layout->keys = keys;
	layout->equality = equality;
	layout->collations = collations;
	layout->nvalues = n;
	layout->values = palloc(Max(n, 1) * sizeof(GroupValue));
	for (int i = 0; i < n; i++)
	{
		const AggValue *value = &node->values[values[i]];

		layout->values[i] = value->type;
		if (i >= nkeys)
			continue;
		keys[i] = value->form;
		equality[i] = value->equality;
		collations[i] = value->collation;
	}
	layout->nstates = states ? node->nstates : 0;
	layout->states = palloc(Max(layout->nstates, 1) * sizeof(AggGroupState));
	memcpy(layout->states, node->states, layout->nstates * sizeof(AggGroupState));
	set->groups = gpuagg_groups_make(layout, &node->css.ss.ps);
}

static uint64
keys_of(const List *numbers)
{
	uint64 keys = 0;
	ListCell *cell;

	foreach (cell, numbers)
		keys |= UINT64CONST(1) << lfirst_int(cell);
	return keys;
}

static int
compare_by_size(const void *a, const void *b)
{
	return pg_popcount64(*(const uint64 *) b) - pg_popcount64(*(const uint64 *) a);
}

/* Each grouping set is made from the smallest of those before it that have its keys. */
static void
make_grouping_sets(AggScanState *node)
{
	const AggSpec *spec = node->spec;
	int n = list_length(spec->sets);
	int *values = palloc(Max(node->nvalues, 1) * sizeof(int));
	uint64 *sets = palloc(Max(n, 1) * sizeof(uint64));
	AggSet *first = gpuagg_agg_main(node);
	ListCell *cell;

	foreach (cell, spec->sets)
		sets[foreach_current_index(cell)] = keys_of(lfirst(cell));
	qsort(sets, n, sizeof(uint64), compare_by_size);
	first->given = n == 0 || sets[0] == first->keys;
	for (int i = first->given ? 1 : 0; i < n; i++)
	{
		AggSet *set = &node->sets[node->nsets];
		int nkeys = 0;

		for (int k = 0; k < spec->nkeys; k++)
			if (sets[i] >> k & 1)
				values[nkeys++] = k;
		make_set(node, set, nkeys, values, nkeys, true);
		set->keys = sets[i];
		set->given = true;
		for (int from = 0; from < node->nsets; from++)
			if ((node->sets[from].keys & sets[i]) == sets[i])
				set->from = from;
		node->nsets++;
	}
}

static void
make_distinct(AggScanState *node, int number)
{
	const AggValue *value = gpuagg_agg_distinct_value(node, number);

	if (value->whole && gpuagg_distinct_fits(&value->form) &&
		gpuagg_key_has_form(&value->form, value->type.type, value->equality, value->collation))
		node->sets[1 + number].distinct = gpuagg_distinct_make(&value->form, value->type.type);
}

void
gpuagg_agg_sets_make(AggScanState *node)
{
	const AggSpec *spec = node->spec;
	int nkeys = spec->nkeys;
	int *values = palloc(Max(node->nvalues, 1) * sizeof(int));

	node->sets = palloc0((1 + spec->ndistinct + list_length(spec->sets)) * sizeof(AggSet));
	for (int i = 0; i < nkeys + spec->ncarried; i++)
		values[i] = i;
	make_set(node, gpuagg_agg_main(node), nkeys, values, nkeys + spec->ncarried, true);
	gpuagg_agg_main(node)->keys = nkeys >= 64 ? PG_UINT64_MAX : (UINT64CONST(1) << nkeys) - 1;
	node->nsets = 1;
	node->ndistinct = spec->ndistinct;
	for (int i = 0; i < spec->ndistinct; i++)
	{
		values[nkeys] = nkeys + spec->ncarried + i;
		for (int c = 0; c < spec->ncarried; c++)
			values[nkeys + 1 + c] = nkeys + c;
		make_set(node, &node->sets[node->nsets++], nkeys + 1, values, nkeys + 1 + spec->ncarried,
				 false);
		make_distinct(node, i);
	}
	make_grouping_sets(node);
}

void
gpuagg_agg_sets_clear(AggScanState *node)
{
	gpuagg_agg_held_end(node);
	for (int i = 0; i < node->nsets; i++)
	{
		AggSet *set = &node->sets[i];

		gpuagg_agg_spill_end(set);
		if (set->distinct != NULL)
			gpuagg_distinct_clear(set->distinct);
		gpuagg_groups_clear(set->groups);
		memset(&set->position, 0, sizeof(set->position));
	}
	node->giving = 0;
}

/* ---- groups ---- */

typedef struct FromValues
{
	const AggSet *set;
	const Datum *values;
	const bool *isnull;
} FromValues;

static void
fill_from_values(void *owner, int row, Datum *values, bool *isnull)
{
	const FromValues *from = owner;

	for (int i = 0; i < from->set->layout.nvalues; i++)
	{
		values[i] = from->values[from->set->values[i]];
		isnull[i] = from->isnull[from->set->values[i]];
	}
}

AggGroup *
gpuagg_agg_set_find(AggScanState *node, AggSet *set, const Datum *values, const bool *isnull)
{
	FromValues from = {set, values, isnull};
	int nkeys = set->layout.nkeys;
	Datum *keys = palloc(Max(nkeys, 1) * sizeof(Datum));
	bool *nulls = palloc(Max(nkeys, 1) * sizeof(bool));

	for (int i = 0; i < nkeys; i++)
	{
		keys[i] = values[set->values[i]];
		nulls[i] = isnull[set->values[i]];
	}
	return gpuagg_groups_find_datums(set->groups, keys, nulls, fill_from_values, &from);
}

void
gpuagg_agg_set_values(const AggSet *set, AggGroup *group, Datum *values, bool *isnull)
{
	const Datum *own = gpuagg_group_values(group);
	const bool *nulls = gpuagg_group_nulls(&set->layout, group);

	for (int i = 0; i < set->layout.nvalues; i++)
	{
		values[set->values[i]] = own[i];
		isnull[set->values[i]] = nulls[i];
	}
}

AggGroup *
gpuagg_agg_set_next(AggScanState *node, AggSet *set)
{
	for (;;)
	{
		AggGroup *group = set == gpuagg_agg_main(node) && node->held != NULL
							  ? gpuagg_agg_held_next(node)
							  : gpuagg_groups_next(set->groups, &set->position);

		if (group != NULL)
			return group;
		memset(&set->position, 0, sizeof(set->position));
		gpuagg_groups_clear(set->groups);
		if (!gpuagg_agg_spill_load(node, set))
			return NULL;
		if (set == gpuagg_agg_main(node))
			gpuagg_agg_finish_groups(node);
	}
}

/* ---- grouping sets ---- */

void
gpuagg_agg_sets_derive(AggScanState *node, AggSet *set, AggGroup *group)
{
	Datum *values = NULL;
	bool *isnull = NULL;

	for (int i = 1; i < node->nsets; i++)
	{
		AggSet *other = &node->sets[i];
		AggGroup *into;

		if (other->from != set - node->sets)
			continue;
		if (values == NULL)
		{
			values = palloc(Max(node->nvalues, 1) * sizeof(Datum));
			isnull = palloc(Max(node->nvalues, 1) * sizeof(bool));
			gpuagg_agg_set_values(set, group, values, isnull);
		}
		into = gpuagg_agg_set_find(node, other, values, isnull);
		for (int s = 0; s < node->nstates; s++)
		{
			Accumulator *acc = gpuagg_group_state(&other->layout, into, s);

			gpuagg_family_of(acc)->merge(acc, gpuagg_groups_owner(other->groups),
										 gpuagg_group_state(&set->layout, group, s));
		}
		gpuagg_agg_set_make_room(node, other);
	}
}
