/*
 * agg_spill.c
 *	  Groups of a GpuAgg node in temporary files.
 */
#include "compat.h"

#include "commands/tablespace.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/datum.h"

#include "exec/agg_spill.h"

#define SPILL_BITS	 5
#define SPILL_FILES	 (1 << SPILL_BITS)
#define SPILL_LEVELS (32 / SPILL_BITS) /* of a hash; groups of the last one stay in memory */

struct AggSpill
{
	BufFile *files[SPILL_FILES]; /* being written; NULL: nothing in it yet */
	int level;					 /* of these: bits of the hash already used, by SPILL_BITS */
	List *waiting;				 /* of SpilledFile *, to be read */
	StringInfoData buffer;
};

typedef struct SpilledFile
{
	BufFile *file;
	int level;
} SpilledFile;

static AggSpill *
spill_of(AggScanState *node, AggSet *set)
{
	if (set->spill == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(node->css.ss.ps.state->es_query_cxt);

		set->spill = palloc0(sizeof(AggSpill));
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

static void
write_group(AggScanState *node, AggSet *set, AggGroup *group, uint32 hash)
{
	AggSpill *spill = set->spill;
	StringInfo buf = &spill->buffer;
	int number = hash << (spill->level * SPILL_BITS) >> (32 - SPILL_BITS);
	uint32 size;

	resetStringInfo(buf);
	write_values(&set->layout, group, buf);
	for (int i = 0; i < set->layout.nstates; i++)
		gpuagg_accumulator_write(gpuagg_group_state(&set->layout, group, i), buf);
	if (spill->files[number] == NULL)
		spill->files[number] = BufFileCreateTemp(false);
	size = (uint32) buf->len;
	BufFileWrite(spill->files[number], &size, sizeof(size));
	BufFileWrite(spill->files[number], buf->data, size);
	node->spilled_bytes += sizeof(size) + size;
}

void
gpuagg_agg_spill(AggScanState *node, AggSet *set)
{
	AggSpill *spill = spill_of(node, set);
	GroupPosition position = {0};
	MemoryContext old;
	AggGroup *group;

	if (spill->level >= SPILL_LEVELS)
		return;
	old = MemoryContextSwitchTo(node->css.ss.ps.state->es_query_cxt);
	PrepareTempTablespaces();
	while ((group = gpuagg_groups_next(set->groups, &position)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		write_group(node, set, group, position.hash);
	}
	MemoryContextSwitchTo(old);
	gpuagg_groups_clear(set->groups);
	node->spills++;
}

/* ---- in ---- */

/* What has been written becomes files to be read, of the next level. */
static void
close_files(AggScanState *node, AggSet *set)
{
	AggSpill *spill = set->spill;
	MemoryContext old = MemoryContextSwitchTo(node->css.ss.ps.state->es_query_cxt);

	for (int i = 0; i < SPILL_FILES; i++)
	{
		SpilledFile *file;

		if (spill->files[i] == NULL)
			continue;
		if (BufFileSeek(spill->files[i], 0, 0, SEEK_SET) != 0)
			ereport(ERROR, (errcode_for_file_access(),
							errmsg("could not rewind temporary file of groups")));
		file = palloc(sizeof(SpilledFile));
		file->file = spill->files[i];
		file->level = spill->level + 1;
		spill->waiting = lappend(spill->waiting, file);
		spill->files[i] = NULL;
	}
	MemoryContextSwitchTo(old);
}

static void
read_group(AggScanState *node, AggSet *set, char *data, int size)
{
	const GroupLayout *layout = &set->layout;
	char *place = data;
	Datum *values = palloc(Max(node->nvalues, 1) * sizeof(Datum));
	bool *isnull = palloc(Max(node->nvalues, 1) * sizeof(bool));
	StringInfoData buf = {.data = data, .len = size, .maxlen = size};
	AggGroup *group;

	for (int i = 0; i < layout->nvalues; i++)
		values[set->values[i]] = datumRestore(&place, &isnull[set->values[i]]);
	group = gpuagg_agg_set_find(node, set, values, isnull);
	buf.cursor = (int) (place - data);
	for (int i = 0; i < layout->nstates; i++)
	{
		Accumulator *into = gpuagg_group_state(layout, group, i);
		Accumulator *from = gpuagg_accumulator_read(&buf, 0);

		gpuagg_family_of(into)->merge(into, gpuagg_groups_owner(set->groups), from);
	}
}

/* False at the end of the file. */
static bool
read_exactly(BufFile *file, void *place, size_t size)
{
	size_t n = BufFileRead(file, place, size);

	if (n != 0 && n != size)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						errmsg("unexpected end of temporary file of groups")));
	return n == size;
}

static bool
has_files(const AggSpill *spill)
{
	for (int i = 0; spill != NULL && i < SPILL_FILES; i++)
		if (spill->files[i] != NULL)
			return true;
	return false;
}

void
gpuagg_agg_spill_rest(AggScanState *node, AggSet *set)
{
	if (has_files(set->spill))
		gpuagg_agg_spill(node, set);
}

bool
gpuagg_agg_spill_load(AggScanState *node, AggSet *set)
{
	AggSpill *spill = set->spill;
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	SpilledFile *file;
	uint32 size;

	if (spill == NULL)
		return false;
	close_files(node, set);
	if (spill->waiting == NIL)
		return false;
	file = linitial(spill->waiting);
	spill->waiting = list_delete_first(spill->waiting);
	spill->level = file->level;
	while (read_exactly(file->file, &size, sizeof(size)))
	{
		MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		char *data = palloc(size);

		CHECK_FOR_INTERRUPTS();
		if (!read_exactly(file->file, data, size))
			elog(ERROR, "temporary file of groups ends within a group");
		read_group(node, set, data, (int) size);
		MemoryContextSwitchTo(old);
		ResetExprContext(econtext);
		if (gpuagg_groups_bytes(set->groups) > node->memory_limit)
			gpuagg_agg_spill(node, set);
	}
	BufFileClose(file->file);
	pfree(file);
	gpuagg_agg_spill_rest(node, set);
	return true;
}

void
gpuagg_agg_spill_end(AggSet *set)
{
	AggSpill *spill = set->spill;
	ListCell *cell;

	if (spill == NULL)
		return;
	for (int i = 0; i < SPILL_FILES; i++)
		if (spill->files[i] != NULL)
			BufFileClose(spill->files[i]);
	foreach (cell, spill->waiting)
		BufFileClose(((SpilledFile *) lfirst(cell))->file);
	list_free_deep(spill->waiting);
	pfree(spill->buffer.data);
	pfree(spill);
	set->spill = NULL;
}
