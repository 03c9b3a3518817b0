/*
 * agg_codes.c
 *	  What a GpuAgg node does with the codes of strings that come from memory.
 *
 * Verdicts of the program's conditions are kept for each entry of a table of strings, and so are
 * the groups of a set all of whose keys are such columns, by the codes of all: a group is looked
 * for by its strings once.  Different codes may have one group, as pages and other tables of
 * strings may.
 */
#include "compat.h"

#include "utils/memutils.h"

#include "engine/cpu.h"
#include "exec/agg_state.h"
#include "exec/compiled.h"

#define PLACES (128 * 1024) /* of an index, at most */

/* Verdicts of one instruction. */
typedef struct Verdicts
{
	uint8 *bytes;
	uint32 room; /* entries */
	uint32 table;
} Verdicts;

/* Groups by the codes of their keys. */
typedef struct CodeIndex
{
	bool usable;  /* all keys are columns of strings */
	int *columns; /* of the keys */
	uint32 *tables;
	uint32 *rooms; /* codes of each, and one for NULL */
	uint64 generation;
	uint32 nplaces; /* 0: none */
	AggGroup **groups;
} CodeIndex;

struct AggCodes
{
	MemoryContext context;
	Verdicts *verdicts; /* by instruction */
	CodeIndex *indexes; /* by set */
};

void
gpuagg_agg_codes_init(AggScanState *node)
{
	AggCodes *codes = palloc0(sizeof(AggCodes));
	const GpuaggVectorProgram *program = &node->compiler->program;

	codes->context = CurrentMemoryContext;
	codes->verdicts = palloc0(Max(program->ninstructions, 1) * sizeof(Verdicts));
	codes->indexes = palloc0(node->nsets * sizeof(CodeIndex));
	for (int s = 0; s < node->nsets; s++)
	{
		const GroupLayout *layout = &node->sets[s].layout;
		CodeIndex *index = &codes->indexes[s];

		index->columns = palloc(Max(layout->nkeys, 1) * sizeof(int));
		index->tables = palloc0(Max(layout->nkeys, 1) * sizeof(uint32));
		index->rooms = palloc0(Max(layout->nkeys, 1) * sizeof(uint32));
		index->usable = layout->nkeys > 0 && node->sets[s].from < 0;
		for (int i = 0; i < layout->nkeys; i++)
		{
			index->columns[i] = gpuagg_compiled_strings(&node->compiler->program,
														layout->keys[i].reg);
			index->usable &= index->columns[i] >= 0;
		}
	}
	node->codes = codes;
}

void
gpuagg_agg_codes_strings(void *owner, int column)
{
	AggScanState *node = owner;

	gpuagg_page_reader_strings(node->reader, column);
}

void
gpuagg_agg_codes_follow(AggScanState *node, int reg)
{
	int column;

	if (node->reader->codes == NULL)
		return;
	column = gpuagg_compiled_strings(&node->compiler->program, reg);
	if (column >= 0)
		gpuagg_page_reader_strings(node->reader, column);
}

/* ---- verdicts ---- */

uint8 *
gpuagg_agg_codes_verdicts(void *owner, int instruction, const GpuaggVectorCodes *codes)
{
	AggScanState *node = owner;
	Verdicts *verdicts = &node->codes->verdicts[instruction];

	if (verdicts->room < codes->nentries)
	{
		uint32 room = pg_nextpower2_32(codes->nentries);

		if (verdicts->bytes != NULL)
			pfree(verdicts->bytes);
		verdicts->bytes = NULL;
		verdicts->room = 0;
		verdicts->bytes = MemoryContextAllocZero(node->codes->context, room);
		verdicts->room = room;
	}
	else if (verdicts->table != codes->table)
		memset(verdicts->bytes, 0, verdicts->room);
	verdicts->table = codes->table;
	return verdicts->bytes;
}

void
gpuagg_agg_codes_forget(AggScanState *node)
{
	for (uint32 i = 0; i < node->compiler->program.ninstructions; i++)
		if (node->codes->verdicts[i].room > 0)
			memset(node->codes->verdicts[i].bytes, 0, node->codes->verdicts[i].room);
}

/* ---- groups ---- */

/* Makes the index one for these tables, if it is not; false: it would be too large. */
static bool
prepare(AggScanState *node, const AggSet *set, CodeIndex *index)
{
	const GpuaggVectorCodes *codes = node->reader->codes;
	uint64 generation = gpuagg_groups_generation(set->groups);
	bool same = index->nplaces > 0 && index->generation == generation;
	uint64 nplaces = 1;

	for (int i = 0; i < set->layout.nkeys; i++)
	{
		const GpuaggVectorCodes *table = &codes[index->columns[i]];

		same &= index->tables[i] == table->table && index->rooms[i] == table->nentries + 1;
		nplaces *= table->nentries + 1;
		if (nplaces > PLACES)
			return false;
	}
	if (same)
		return true;
	if (index->groups != NULL)
		pfree(index->groups);
	index->groups = NULL;
	index->nplaces = 0;
	index->groups = MemoryContextAllocZero(node->codes->context, nplaces * sizeof(AggGroup *));
	index->nplaces = (uint32) nplaces;
	index->generation = generation;
	for (int i = 0; i < set->layout.nkeys; i++)
	{
		index->tables[i] = codes[index->columns[i]].table;
		index->rooms[i] = codes[index->columns[i]].nentries + 1;
	}
	return true;
}

/* Adds a key to the places of rows. */
static void
add_key(const int32 *codes, const uint64 *valid, uint32 room, const uint16 *rows, int n,
		uint32 *places)
{
	if (valid == NULL)
		for (int i = 0; i < n; i++)
			places[i] = places[i] * room + (uint32) codes[rows[i]];
	else
		for (int i = 0; i < n; i++)
		{
			uint32 code = gpuagg_bit(valid, rows[i]) ? (uint32) codes[rows[i]] : room - 1;

			places[i] = places[i] * room + code;
		}
}

bool
gpuagg_agg_codes_find(AggScanState *node, const AggSet *set, const uint16 *rows, int n,
					  AggGroup **found, uint16 *missing, int *nmissing)
{
	CodeIndex *index = &node->codes->indexes[set - node->sets];
	uint32 *places;

	if (!index->usable || node->reader->codes == NULL || !prepare(node, set, index))
		return false;
	places = palloc0(n * sizeof(uint32));
	for (int i = 0; i < set->layout.nkeys; i++)
		add_key(node->reader->codes[index->columns[i]].codes,
				node->reader->columns[index->columns[i]].valid, index->rooms[i], rows, n, places);
	*nmissing = 0;
	for (int i = 0; i < n; i++)
	{
		found[i] = index->groups[places[i]];
		missing[*nmissing] = (uint16) i;
		*nmissing += found[i] == NULL;
	}
	if (*nmissing == 0)
		gpuagg_groups_prefetch(set->groups, found, n);
	pfree(places);
	return true;
}

void
gpuagg_agg_codes_enter(AggScanState *node, const AggSet *set, const uint16 *rows, int n,
					   AggGroup *const *groups)
{
	CodeIndex *index = &node->codes->indexes[set - node->sets];
	uint32 *places = palloc0(n * sizeof(uint32));

	for (int i = 0; i < set->layout.nkeys; i++)
		add_key(node->reader->codes[index->columns[i]].codes,
				node->reader->columns[index->columns[i]].valid, index->rooms[i], rows, n, places);
	for (int i = 0; i < n; i++)
		index->groups[places[i]] = groups[i];
	pfree(places);
}
