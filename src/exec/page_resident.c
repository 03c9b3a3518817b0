/*
 * page_resident.c
 *	  Opens and closes what a page reader needs for rows that come from memory.
 */
#include "compat.h"

#include "exec/kept_memory.h"
#include "exec/page_resident_state.h"

#include "utils/memutils.h"

#include "resident/purge.h"

static void
open_fill(PageResident *resident, const PageColumn *columns, uint64 before)
{
	GpuaggVectorType *types = palloc(resident->ncolumns * sizeof(GpuaggVectorType));

	for (int i = 0; i < resident->ncolumns; i++)
		types[i] = columns[i].type;
	resident->fill = gpuagg_fill_open(resident->ncolumns, resident->pins, types, before);
	pfree(types);
}

/* Pins all columns; false: not all are there.  *before: their last uses; not set if this is none. */
static bool
pin_columns(PageResident *resident, Relation relation, const PageColumn *columns, PageMemory memory,
			uint64 *before)
{
	for (int i = 0; i < resident->ncolumns; i++)
	{
		ColumnKey key;
		uint64 last;

		/* for rows alone any column will do */
		if (columns != NULL)
			key = gpuagg_column_key(relation, columns[i].attno);
		else if (!gpuagg_column_any(relation, &key))
			return false;
		if (!gpuagg_column_pin(&key, RelationGetRelid(relation), memory == PAGE_MEMORY_FILL,
							   &resident->pins[i]))
		{
			while (i-- > 0)
				gpuagg_column_unpin(&resident->pins[i]);
			return false;
		}
		if (memory == PAGE_MEMORY_LOOK)
			continue;
		last = gpuagg_column_use(resident->pins[i].column);
		*before = i == 0 ? last : Min(*before, last);
	}
	return true;
}

/* Dictionaries of the columns of strings; false: there is no memory. */
static bool
open_dictionaries(PageResident *resident, const PageColumn *columns)
{
	static uint32 ntables = 0;

	for (int i = 0; i < resident->ncolumns; i++)
	{
		if (!gpuagg_page_column_has_strings(&columns[i]))
			continue;
		resident->codes[i] = palloc(GPUAGG_VECTOR_ROWS * sizeof(int32));
		resident->dictionaries[i] = gpuagg_dictionary_open(
			gpuagg_column_dictionary(&resident->pins[i]));
		if (resident->dictionaries[i] == NULL)
			return false;
		resident->tables[i].table = ++ntables;
		resident->any_codes = true;
	}
	return true;
}

void
gpuagg_page_resident_open(PageReader *reader, const PageColumn *columns, int ncolumns,
						  PageMemory memory)
{
	PageScan *scan = reader->scan;
	PageShare *share = scan->share;
	PageResident *resident;
	MemoryContext context;
	MemoryContext old;
	uint64 before = 0;

	/* a process that shares the table takes part, even if only to find that it has no columns */
	if (share != NULL ? share->nchunks == 0 : memory == PAGE_MEMORY_NONE)
		return;
	if (share != NULL && share->fill)
		memory = PAGE_MEMORY_FILL;
	context = gpuagg_kept_memory_take();
	old = MemoryContextSwitchTo(context);
	resident = palloc0(sizeof(PageResident));
	resident->context = context;
	if (ncolumns == 0)
	{
		ncolumns = 1;
		columns = NULL;
	}
	resident->ncolumns = ncolumns;
	resident->pins = palloc0(ncolumns * sizeof(ColumnPin));
	resident->pinned = gpuagg_directory_open() &&
					   pin_columns(resident, scan->relation, columns, memory, &before);
	if (!resident->pinned && share == NULL)
	{
		MemoryContextSwitchTo(old);
		gpuagg_kept_memory_leave(context);
		return;
	}
	resident->dictionaries = palloc0(ncolumns * sizeof(Dictionary *));
	resident->codes = palloc0(ncolumns * sizeof(int32 *));
	resident->tables = palloc0(ncolumns * sizeof(GpuaggVectorCodes));
	resident->looked_up = palloc0(ncolumns * sizeof(bool));
	resident->nchunks = chunk_count(scan->nblocks);
	resident->refs_room = CHUNKS_AHEAD;
	resident->refs = palloc(ncolumns * CHUNKS_AHEAD * sizeof(MemoryRef));
	resident->states = palloc(ncolumns * STATES_AHEAD * sizeof(ChunkState));
	resident->blocks = palloc(ncolumns * sizeof(ColumnBlock *));
	resident->summary = palloc0(ncolumns * sizeof(BlockSummary *));
	if (share == NULL)
		resident->decided = palloc_extended(Max(resident->nchunks, 1) * sizeof(ChunkUse),
											MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	MemoryContextSwitchTo(old);
	if (resident->pinned && columns != NULL && !open_dictionaries(resident, columns))
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	resident->before = before;
	gpuagg_purge_install();
	if (memory == PAGE_MEMORY_FILL && resident->pinned)
		open_fill(resident, columns, before);
	reader->resident = resident;
}

void
gpuagg_page_resident_close(PageReader *reader)
{
	PageResident *resident = reader->resident;

	if (resident == NULL)
		return;
	if (resident->upload != NULL)
		gpuagg_upload_close(resident->upload, false);
	if (resident->fill != NULL)
		gpuagg_fill_close(resident->fill);
	for (int i = 0; i < resident->ncolumns; i++)
	{
		if (resident->dictionaries[i] != NULL)
			gpuagg_dictionary_close(resident->dictionaries[i]);
		if (resident->codes[i] != NULL)
			pfree(resident->codes[i]);
		if (resident->pinned)
			gpuagg_column_unpin(&resident->pins[i]);
	}
	if (resident->plain != NULL)
		MemoryContextDelete(resident->plain);
	if (resident->returned != NULL)
		pfree(resident->returned);
	reader->resident = NULL;
	gpuagg_kept_memory_leave(resident->context);
}
