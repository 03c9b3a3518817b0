/*
 * agg_spill.c
 *	  Groups of a GpuAgg node in temporary files.
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/datum.h"

#include "exec/agg_dense.h"
#include "exec/agg_spill.h"
#include "exec/spill_files.h"

struct AggSpill
{
	SpillFiles *files;
	StringInfoData buffer; /* of one group */
};

static AggSpill *
spill_of(AggScanState *node, AggSet *set)
{
	if (set->spill == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(node->css.ss.ps.state->es_query_cxt);

		set->spill = palloc(sizeof(AggSpill));
		set->spill->files = gpuagg_spill_files_make();
		initStringInfo(&set->spill->buffer);
		MemoryContextSwitchTo(old);
	}
	return set->spill;
}

/* ---- out ---- */

static void
write_values(const GroupLayout *layout, AggGroup *group, StringInfo buf)
{
	const Datum *values = gpuagg_group_values(group);
	const bool *isnull = gpuagg_group_nulls(layout, group);

	for (int i = 0; i < layout->nvalues; i++)
	{
		const GroupValue *type = &layout->values[i];
		Size size = datumEstimateSpace(values[i], isnull[i], type->by_value, type->length);
		char *place;

		enlargeStringInfo(buf, (int) size);
		place = buf->data + buf->len;
		datumSerialize(values[i], isnull[i], type->by_value, type->length, &place);
		buf->len += (int) size;
	}
}

/*
 * A group with its states; or, where `key` is given, with one value of the argument with DISTINCT
 * of that number.
 */
static void
write_group(AggScanState *node, AggSet *set, AggGroup *group, int distinct, const PackedKey *key)
{
	AggSpill *spill = set->spill;
	StringInfo buf = &spill->buffer;
	uint32 hash = *gpuagg_group_hash(&set->layout, group);
	uint32 size;

	resetStringInfo(buf);
	appendBinaryStringInfo(buf, (const char *) &distinct, sizeof(distinct));
	if (key != NULL)
		appendBinaryStringInfo(buf, (const char *) key, sizeof(*key));
	write_values(&set->layout, group, buf);
	for (int i = 0; i < set->layout.nstates && key == NULL; i++)
		gpuagg_accumulator_write(gpuagg_group_state(&set->layout, group, i), buf);
	size = (uint32) buf->len;
	gpuagg_spill_files_write(spill->files, hash, &size, sizeof(size));
	gpuagg_spill_files_write(spill->files, hash, buf->data, size);
	node->spilled_bytes += sizeof(size) + size;
}

static void
write_distinct(AggScanState *node, AggSet *set, int number)
{
	AggDistinct *distinct = node->sets[1 + number].distinct;
	AggGroup *group;
	PackedKey key;

	while (distinct != NULL && gpuagg_distinct_take(distinct, node->set_limit, &group, &key))
	{
		CHECK_FOR_INTERRUPTS();
		write_group(node, set, group, number, &key);
	}
}

void
gpuagg_agg_spill(AggScanState *node, AggSet *set)
{
	GroupPosition position = {0};
	AggGroup *group;

	if (!gpuagg_spill_files_can_write(spill_of(node, set)->files))
		return;
	if (set == gpuagg_agg_main(node))
		gpuagg_dense_fold(node);
	for (int i = 0; i < node->ndistinct && set == gpuagg_agg_main(node); i++)
		write_distinct(node, set, i);
	while ((group = gpuagg_groups_next(set->groups, &position)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		write_group(node, set, group, -1, NULL);
	}
	gpuagg_groups_clear(set->groups);
	node->spills++;
}

/* ---- in ---- */

static void
read_group(AggScanState *node, AggSet *set, char *data, int size)
{
	const GroupLayout *layout = &set->layout;
	char *place = data + sizeof(int);
	Datum *values = palloc(Max(node->nvalues, 1) * sizeof(Datum));
	bool *isnull = palloc(Max(node->nvalues, 1) * sizeof(bool));
	StringInfoData buf = {.data = data, .len = size, .maxlen = size};
	AggGroup *group;
	PackedKey key;
	int distinct;

	memcpy(&distinct, data, sizeof(distinct));
	if (distinct >= 0)
	{
		memcpy(&key, place, sizeof(key));
		place += sizeof(key);
	}
	for (int i = 0; i < layout->nvalues; i++)
		values[set->values[i]] = datumRestore(&place, &isnull[set->values[i]]);
	group = gpuagg_agg_set_find(node, set, values, isnull);
	if (distinct >= 0)
	{
		gpuagg_distinct_add_key(node->sets[1 + distinct].distinct, group, key);
		gpuagg_agg_set_make_room(node, &node->sets[1 + distinct]);
		return;
	}
	buf.cursor = (int) (place - data);
	for (int i = 0; i < layout->nstates; i++)
	{
		Accumulator *into = gpuagg_group_state(layout, group, i);
		Accumulator *from = gpuagg_accumulator_read(&buf, 0);

		gpuagg_family_of(into)->merge(into, gpuagg_groups_owner(set->groups), from);
	}
}

void
gpuagg_agg_spill_rest(AggScanState *node, AggSet *set)
{
	if (set->spill != NULL && gpuagg_spill_files_written(set->spill->files))
		gpuagg_agg_spill(node, set);
}

bool
gpuagg_agg_spill_load(AggScanState *node, AggSet *set)
{
	AggSpill *spill = set->spill;
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	uint32 size;

	if (spill == NULL || !gpuagg_spill_files_open(spill->files))
		return false;
	while (gpuagg_spill_files_read(spill->files, &size, sizeof(size)))
	{
		MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		char *data = palloc(size);

		CHECK_FOR_INTERRUPTS();
		if (!gpuagg_spill_files_read(spill->files, data, size))
			elog(ERROR, "temporary file of groups ends within a group");
		read_group(node, set, data, (int) size);
		MemoryContextSwitchTo(old);
		ResetExprContext(econtext);
		gpuagg_agg_set_make_room(node, set);
	}
	gpuagg_agg_spill_rest(node, set);
	return true;
}

void
gpuagg_agg_spill_end(AggSet *set)
{
	AggSpill *spill = set->spill;

	if (spill == NULL)
		return;
	gpuagg_spill_files_empty(spill->files);
	pfree(spill->files);
	pfree(spill->buffer.data);
	pfree(spill);
	set->spill = NULL;
}
