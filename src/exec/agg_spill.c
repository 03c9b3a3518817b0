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

/* A group as read: values, then states. */
typedef struct SpilledGroup
{
	Datum *values;
	bool *isnull;
	int nvalues;
} SpilledGroup;

static AggSpill *
spill_of(AggScanState *node)
{
	if (node->spill == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(node->css.ss.ps.state->es_query_cxt);

		node->spill = palloc0(sizeof(AggSpill));
		initStringInfo(&node->spill->buffer);
		MemoryContextSwitchTo(old);
	}
	return node->spill;
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
write_group(AggScanState *node, AggGroup *group, uint32 hash)
{
	AggSpill *spill = node->spill;
	StringInfo buf = &spill->buffer;
	int number = hash << (spill->level * SPILL_BITS) >> (32 - SPILL_BITS);
	uint32 size;

	resetStringInfo(buf);
	write_values(&node->layout, group, buf);
	for (int i = 0; i < node->layout.nstates; i++)
		gpuagg_accumulator_write(gpuagg_group_state(&node->layout, group, i), buf);
	if (spill->files[number] == NULL)
		spill->files[number] = BufFileCreateTemp(false);
	size = (uint32) buf->len;
	BufFileWrite(spill->files[number], &size, sizeof(size));
	BufFileWrite(spill->files[number], buf->data, size);
	node->spilled_bytes += sizeof(size) + size;
}

void
gpuagg_agg_spill(AggScanState *node)
{
	AggSpill *spill = spill_of(node);
	GroupPosition position = {0};
	MemoryContext old;
	AggGroup *group;

	if (spill->level >= SPILL_LEVELS)
		return;
	old = MemoryContextSwitchTo(node->css.ss.ps.state->es_query_cxt);
	PrepareTempTablespaces();
	while ((group = gpuagg_groups_next(node->groups, &position)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		write_group(node, group, position.hash);
	}
	MemoryContextSwitchTo(old);
	gpuagg_groups_clear(node->groups);
	node->spills++;
}

/* ---- in ---- */

/* What has been written becomes files to be read, of the next level. */
static void
close_files(AggScanState *node)
{
	AggSpill *spill = node->spill;
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
fill_from_file(void *owner, int row, Datum *values, bool *isnull)
{
	const SpilledGroup *read = owner;

	memcpy(values, read->values, read->nvalues * sizeof(Datum));
	memcpy(isnull, read->isnull, read->nvalues * sizeof(bool));
}

static void
read_group(AggScanState *node, char *data, int size)
{
	const GroupLayout *layout = &node->layout;
	char *place = data;
	SpilledGroup read = {.nvalues = layout->nvalues};
	StringInfoData buf = {.data = data, .len = size, .maxlen = size};
	AggGroup *group;

	read.values = palloc(layout->nvalues * sizeof(Datum));
	read.isnull = palloc(layout->nvalues * sizeof(bool));
	for (int i = 0; i < layout->nvalues; i++)
		read.values[i] = datumRestore(&place, &read.isnull[i]);
	group = gpuagg_groups_find_datums(node->groups, read.values, read.isnull, fill_from_file,
									  &read);
	buf.cursor = (int) (place - data);
	for (int i = 0; i < layout->nstates; i++)
	{
		Accumulator *into = gpuagg_group_state(layout, group, i);
		Accumulator *from = gpuagg_accumulator_read(&buf, 0);

		gpuagg_family_of(into)->merge(into, gpuagg_groups_owner(node->groups), from);
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
gpuagg_agg_spill_rest(AggScanState *node)
{
	if (has_files(node->spill))
		gpuagg_agg_spill(node);
}

bool
gpuagg_agg_spill_load(AggScanState *node)
{
	AggSpill *spill = node->spill;
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	SpilledFile *file;
	uint32 size;

	if (spill == NULL)
		return false;
	close_files(node);
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
		read_group(node, data, (int) size);
		MemoryContextSwitchTo(old);
		ResetExprContext(econtext);
		(void) gpuagg_agg_output_make_room(node);
	}
	BufFileClose(file->file);
	pfree(file);
	gpuagg_agg_spill_rest(node);
	return true;
}

void
gpuagg_agg_spill_end(AggScanState *node)
{
	AggSpill *spill = node->spill;
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
	node->spill = NULL;
}
