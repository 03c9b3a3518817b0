/*
 * page_resident.c
 *	  Rows of a page reader that come from memory: which pages may be used, and the others.
 */
#include "compat.h"

#include "exec/page_resident.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "device/attempt.h"
#include "device/shared_state.h"
#include "engine/cpu.h"
#include "exec/page_scan.h"
#include "gpuagg.h"
#include "resident/column_fill.h"
#include "resident/dictionary.h"
#include "resident/purge.h"
#include "resident/rules.h"

#define STATES_AHEAD MAP_PAGE_CHUNKS /* chunks whose states are copied at a time */

/* Consecutive pages of the current chunk, whose rows lie together in all blocks. */
typedef struct ResidentRun
{
	int page;
	int begin; /* in the batch */
	int nrows;
} ResidentRun;

typedef struct PageResident
{
	int ncolumns;
	ColumnPin *pins;
	bool pinned; /* all columns are in the directory */
	MapImage image;

	/* states of chunks, by column: of nstates from first_state on */
	ChunkState *states;
	uint32 first_state;
	uint32 nstates;

	ChunkPages *decided; /* by chunk, without a share: pages that come from memory */
	uint32 nchunks;
	uint32 ndecided; /* of these */
	uint32 next;	 /* chunk to be taken, without a share */

	/* the current chunk, and the batch from it */
	bool open;
	uint32 chunk;
	ChunkPages left;
	ChunkPages given;			/* of the batch */
	const ColumnBlock **blocks; /* by column */
	int nruns;
	ResidentRun runs[PAGE_BATCH_PAGES];

	BlockNumber *returned; /* blocks whose rows were given back */
	int nreturned;
	int next_returned; /* of these, to be read */
	int room_returned;

	/* by column; of those of strings, else NULL */
	Dictionary **dictionaries;
	int32 **codes;			   /* of the batch */
	GpuaggVectorCodes *tables; /* as the reader has them */
	bool *looked_up;		   /* vectors have the strings */
	bool any_codes;
	MemoryContext plain; /* strings of the batch that were compressed; or NULL */

	ColumnFill *fill; /* or NULL */
} PageResident;

/* ---- opening ---- */

static void
open_fill(PageResident *resident, const PageColumn *columns, uint64 before)
{
	GpuaggVectorType *types = palloc(resident->ncolumns * sizeof(GpuaggVectorType));

	for (int i = 0; i < resident->ncolumns; i++)
		types[i] = columns[i].type;
	resident->fill = gpuagg_fill_open(resident->ncolumns, resident->pins, types, before);
	pfree(types);
}

/* Pins all columns; false: not all are there. */
static bool
pin_columns(PageResident *resident, Relation relation, const PageColumn *columns, bool make,
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
		if (!gpuagg_column_pin(&key, RelationGetRelid(relation), make, &resident->pins[i]))
		{
			while (i-- > 0)
				gpuagg_column_unpin(&resident->pins[i]);
			return false;
		}
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
	uint64 before = 0;

	/* a process that shares the table takes part, even if only to find that it has no columns */
	if (share != NULL ? share->nchunks == 0 : memory == PAGE_MEMORY_NONE)
		return;
	if (share != NULL && share->fill)
		memory = PAGE_MEMORY_FILL;
	resident = palloc0(sizeof(PageResident));
	if (ncolumns == 0)
	{
		ncolumns = 1;
		columns = NULL;
	}
	resident->ncolumns = ncolumns;
	resident->pins = palloc0(ncolumns * sizeof(ColumnPin));
	resident->pinned = gpuagg_directory_open() && pin_columns(resident, scan->relation, columns,
															  memory == PAGE_MEMORY_FILL, &before);
	if (!resident->pinned && share == NULL)
	{
		pfree(resident->pins);
		pfree(resident);
		return;
	}
	resident->dictionaries = palloc0(ncolumns * sizeof(Dictionary *));
	resident->codes = palloc0(ncolumns * sizeof(int32 *));
	resident->tables = palloc0(ncolumns * sizeof(GpuaggVectorCodes));
	resident->looked_up = palloc0(ncolumns * sizeof(bool));
	if (resident->pinned && columns != NULL && !open_dictionaries(resident, columns))
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	resident->nchunks = chunk_count(scan->nblocks);
	resident->states = palloc(ncolumns * STATES_AHEAD * sizeof(ChunkState));
	resident->blocks = palloc(ncolumns * sizeof(ColumnBlock *));
	if (share == NULL)
		resident->decided = palloc_extended(Max(resident->nchunks, 1) * sizeof(ChunkPages),
											MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
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
	pfree(resident->dictionaries);
	pfree(resident->codes);
	pfree(resident->tables);
	pfree(resident->looked_up);
	pfree(resident->pins);
	pfree(resident->states);
	pfree(resident->blocks);
	if (resident->decided != NULL)
		pfree(resident->decided);
	if (resident->returned != NULL)
		pfree(resident->returned);
	pfree(resident);
	reader->resident = NULL;
}

/* ---- evidence ---- */

/* The image of a chunk's page of the map; the snapshot has been there before (rule 2). */
static const MapImage *
image_of(PageReader *reader, uint32 chunk)
{
	MapImage *image = RULE_VALUE(snapshot_first, &reader->resident->image,
								 &gpuagg_rules_kept_image);

	if (!image->read || image->number != chunk / MAP_PAGE_CHUNKS)
		gpuagg_map_image_read(image, reader->scan->relation, chunk);
	return image;
}

/* The states of a chunk, by column, and of the chunks after it: `ahead`, at most STATES_AHEAD. */
static void
find_states(PageResident *resident, uint32 chunk, uint32 ahead)
{
	if (chunk >= resident->first_state && chunk < resident->first_state + resident->nstates)
		return;
	resident->first_state = chunk;
	resident->nstates = ahead;
	for (int i = 0; i < resident->ncolumns; i++)
		gpuagg_column_states(resident->pins[i].column, chunk, resident->nstates,
							 resident->states + (Size) i * STATES_AHEAD);
}

static const ChunkState *
state_of(const PageResident *resident, int column, uint32 chunk)
{
	return &resident->states[(Size) column * STATES_AHEAD + chunk - resident->first_state];
}

/* The chunk's blocks; false: one is not there. */
static bool
find_blocks(PageResident *resident, uint32 chunk)
{
	for (int i = 0; i < resident->ncolumns; i++)
	{
		resident->blocks[i] = gpuagg_column_block(state_of(resident, i, chunk)->block);
		if (resident->blocks[i] == NULL)
			return false;
		if (resident->dictionaries[i] != NULL &&
			gpuagg_dictionary_entries(resident->dictionaries[i],
									  (int64) resident->blocks[i]->form.maximum.lo) == NULL)
			return false;
	}
	return true;
}

/* Of these pages, those that all blocks have with the same LSN. */
static ChunkPages
agree(const PageResident *resident, ChunkPages pages)
{
	const ColumnBlock *first = resident->blocks[0];

	pages = chunk_both(pages, first->pages);
	for (int i = 1; i < resident->ncolumns; i++)
	{
		const ColumnBlock *block = resident->blocks[i];

		pages = chunk_both(pages, block->pages);
		for (int p = chunk_next(&pages, 0); p < CHUNK_PAGES; p = chunk_next(&pages, p + 1))
			if (!RULE(same_page, block->lsn[p] == first->lsn[p]))
				chunk_remove(&pages, p);
	}
	return pages;
}

/* Of these pages, those whose buffers have the LSN that the blocks' rows had. */
static ChunkPages
look_at_buffers(const PageReader *reader, uint32 chunk, ChunkPages pages)
{
	const ColumnBlock *block = reader->resident->blocks[0];
	BlockNumber first = chunk_first_block(chunk);

	for (int p = chunk_next(&pages, 0); p < CHUNK_PAGES; p = chunk_next(&pages, p + 1))
	{
		Buffer buffer = block->buffer[p];
		bool same = false;

		if (BufferIsValid(buffer) &&
			compat_read_recent_buffer(reader->scan->relation, first + p, buffer))
		{
			same = RULE(page_lsn, BufferGetLSNAtomic(buffer) == block->lsn[p]);
			ReleaseBuffer(buffer);
		}
		if (!same)
			chunk_remove(&pages, p);
	}
	return pages;
}

/* Of these pages, those that their buffers confirm; from now on the map's LSN does. */
static ChunkPages
confirm(PageReader *reader, uint32 chunk, const MapImage *image, ChunkPages pages)
{
	const PageResident *resident = reader->resident;

	pages = look_at_buffers(reader, chunk, agree(resident, pages));
	RULES_PAUSE(after_buffers);
	if (chunk_is_empty(&pages))
		return pages;
	for (int i = 0; i < resident->ncolumns; i++)
		gpuagg_column_confirm(resident->pins[i].column, chunk, state_of(resident, i, chunk)->block,
							  RULE_VALUE(confirm_lsn, image->lsn,
										 gpuagg_rules_map_lsn(reader->scan->relation, chunk)),
							  pages);
	reader->counts.level2 += chunk_size(&pages);
	return pages;
}

/* Pages of the chunk that may be used; the states of `ahead` chunks from it on may be looked at. */
static ChunkPages
decide(PageReader *reader, uint32 chunk, uint32 ahead)
{
	PageResident *resident = reader->resident;
	const MapImage *image = image_of(reader, chunk);
	ChunkPages visible = chunk_both(image->visible[chunk % MAP_PAGE_CHUNKS],
									chunk_range(chunk_npages(chunk, reader->scan->nblocks)));
	ChunkPages used = RULE_VALUE(map_bit, visible, chunk_range(CHUNK_PAGES));
	ChunkPages others;
	bool same = true;

	if (!resident->pinned)
		return (ChunkPages){0};
	find_states(resident, chunk, ahead);
	for (int i = 0; i < resident->ncolumns; i++)
	{
		const ChunkState *state = state_of(resident, i, chunk);

		if (state->block == 0)
			return (ChunkPages){0};
		used = RULE(map_lsn, state->map_lsn == image->lsn) ? chunk_both(used, state->confirmed)
														   : (ChunkPages){0};
		same &= state->records == state_of(resident, 0, chunk)->records;
	}
	if (chunk_is_empty(&visible) || !find_blocks(resident, chunk))
		return (ChunkPages){0};
	if (!same)
		used = agree(resident, used);
	reader->counts.level1 += chunk_size(&used);
	others = chunk_without(visible, used);
	if (!chunk_is_empty(&others))
		used = chunk_either(used, confirm(reader, chunk, image, others));
	return RULE_VALUE(by_page, used, chunk_size(&used) > 0 ? resident->blocks[0]->pages : used);
}

/* Whether the chunk's blocks tell all that is wanted of its rows. */
static bool
is_done(PageReader *reader, const ChunkPages *used)
{
	const PageResident *resident = reader->resident;
	bool whole = true;
	uint32 nrows = 0;

	if (reader->chunk_done == NULL)
		return false;
	for (int i = 0; i < resident->ncolumns; i++)
		whole &= memcmp(used, &resident->blocks[i]->pages, sizeof(ChunkPages)) == 0;
	if (whole)
		nrows = resident->blocks[0]->nrows;
	else
		for (int p = chunk_next(used, 0); p < CHUNK_PAGES; p = chunk_next(used, p + 1))
			nrows += column_block_page_rows(resident->blocks[0], p);
	if (!reader->chunk_done(reader->owner, resident->blocks, nrows, whole))
		return false;
	reader->counts.skipped++;
	reader->counts.rows += nrows;
	return true;
}

/* Decides about chunks first to first + n - 1, which are of one page of the map. */
static void
decide_all(PageReader *reader, uint32 first, uint32 n, ChunkPages *used)
{
	instr_time start;
	instr_time now;

	if (reader->timed)
		INSTR_TIME_SET_CURRENT(start);
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		used[i] = decide(reader, first + i, n - i);
	}
	if (reader->timed)
	{
		INSTR_TIME_SET_CURRENT(now);
		INSTR_TIME_SUBTRACT(now, start);
		reader->counts.ns_evidence += COMPAT_INSTR_TIME_GET_NANOSEC(now);
	}
}

/* Takes a chunk, and the pages of it that come from memory; false: there are no more. */
static bool
take_chunk(PageReader *reader, uint32 *chunk, ChunkPages *used)
{
	PageResident *resident = reader->resident;
	PageShare *share = reader->scan->share;

	CHECK_FOR_INTERRUPTS();
	if (share == NULL)
	{
		if (resident->next == resident->nchunks)
			return false;
		*chunk = resident->next++;
		if (*chunk == resident->ndecided)
		{
			uint32 n = Min(MAP_PAGE_CHUNKS, resident->nchunks - *chunk);

			decide_all(reader, *chunk, n, resident->decided + *chunk);
			resident->ndecided += n;
		}
		*used = resident->decided[*chunk];
		return true;
	}
	*chunk = pg_atomic_fetch_add_u32(&share->next_chunk, 1);
	if (*chunk >= share->nchunks)
		return false;
	decide_all(reader, *chunk, 1, used);
	share->chunks[*chunk].used = *used;
	pg_write_barrier();
	pg_atomic_write_u32(&share->chunks[*chunk].decided, 1);
	return true;
}

/* Takes the next chunk with pages that come from memory, and finds its blocks. */
static bool
next_chunk(PageReader *reader)
{
	PageResident *resident = reader->resident;
	uint32 chunk;
	ChunkPages used;

	while (take_chunk(reader, &chunk, &used))
	{
		if (chunk_is_empty(&used))
			continue;
		if (!find_blocks(resident, chunk))
			elog(ERROR, "block of chunk %u is not there any more", chunk);
		if (is_done(reader, &used))
			continue;
		resident->open = true;
		resident->chunk = chunk;
		resident->left = used;
		return true;
	}
	return false;
}

uint64
gpuagg_page_resident_values(const PageReader *reader)
{
	const PageResident *resident = reader->resident;
	uint64 values = 0;

	for (int i = 0; i < resident->ncolumns && resident->pinned; i++)
		values += gpuagg_column_info(resident->pins[i].column).nrows;
	return values;
}

bool
gpuagg_page_resident_is_complete(const PageReader *reader)
{
	const PageResident *resident = reader->resident;

	if (resident->nreturned > 0 || resident->next < resident->nchunks)
		return false;
	for (uint32 i = 0; i < resident->nchunks; i++)
		if (chunk_size(&resident->decided[i]) < chunk_npages(i, reader->scan->nblocks))
			return false;
	return true;
}

void
gpuagg_page_resident_share(PageReader *reader, PageShare *share)
{
	PageResident *resident = reader->resident;

	while (resident->nreturned > 0)
	{
		BlockNumber block = resident->returned[--resident->nreturned];

		chunk_remove(&resident->decided[chunk_of(block)], chunk_page(block));
	}
	/* what the table has got since has no rows that the snapshot sees */
	for (uint32 i = share->nchunks; i < resident->nchunks; i++)
		if (!chunk_is_empty(&resident->decided[i]))
			elog(ERROR, "chunk %u from memory is beyond those of the share", i);
	for (uint32 i = 0; i < share->nchunks; i++)
	{
		share->chunks[i].used = i < resident->nchunks ? resident->decided[i] : (ChunkPages){0};
		pg_atomic_write_u32(&share->chunks[i].decided, 1);
	}
	pg_atomic_write_u32(&share->next_chunk, share->nchunks);
}

/* ---- rows from memory ---- */

/* Whether a page's rows follow those of a run in all blocks. */
static bool
follows(const PageResident *resident, const ResidentRun *run, int page)
{
	for (int i = 0; i < resident->ncolumns; i++)
	{
		const uint32 *first_row = resident->blocks[i]->first_row;

		if (first_row[page] != first_row[run->page] + run->nrows)
			return false;
	}
	return true;
}

bool
gpuagg_page_resident_next(PageReader *reader)
{
	PageResident *resident = reader->resident;

	for (;;)
	{
		int nrows = 0;
		int page;

		if (!resident->open && !next_chunk(reader))
			return false;
		resident->nruns = 0;
		memset(&resident->given, 0, sizeof(ChunkPages));
		for (page = chunk_next(&resident->left, 0); page < CHUNK_PAGES;
			 page = chunk_next(&resident->left, page + 1))
		{
			int n = (int) column_block_page_rows(resident->blocks[0], page);
			ResidentRun *last = &resident->runs[Max(resident->nruns, 1) - 1];

			if (nrows + n > GPUAGG_VECTOR_ROWS)
				break;
			if (resident->nruns > 0 && follows(resident, last, page))
				last->nrows += n;
			else if (resident->nruns == PAGE_BATCH_PAGES)
				break;
			else
				resident->runs[resident->nruns++] = (ResidentRun){page, nrows, n};
			nrows += n;
			chunk_remove(&resident->left, page);
			chunk_add(&resident->given, page);
		}
		resident->open = page < CHUNK_PAGES;
		if (nrows > 0)
		{
			reader->nrows = nrows;
			reader->codes = resident->any_codes && reader->takes_codes ? resident->tables : NULL;
			reader->counts.rows += nrows;
			return true;
		}
	}
}

/*
 * Where the batch's values lie in a block, if a vector can point there: they are one after the
 * other and as wide as their type, and what is behind them, up to whole words of a bitmap, is
 * the block's too.
 */
static void *
values_in_place(const PageReader *reader, int c)
{
	const PageResident *resident = reader->resident;
	const ColumnBlock *block = resident->blocks[c];
	int type = reader->scan->columns[c].column.type;
	Size size = gpuagg_vector_type_size(type);
	uint32 row = block->first_row[resident->runs[0].page];

	if (type == GPUAGG_VECTOR_BOOL || block->form.width != size || resident->nruns > 1 ||
		row + TYPEALIGN(64, reader->nrows) > block->nrows)
		return NULL;
	return (char *) column_block_values(block) + row * size;
}

void
gpuagg_page_reader_strings(PageReader *reader, int column)
{
	PageResident *resident = reader->resident;
	const int32 *codes;
	const GpuaggVectorBytes *entries;
	GpuaggVectorBytes *strings = reader->columns[column].values;

	if (!reader->from_memory || resident->codes[column] == NULL || resident->looked_up[column])
		return;
	codes = resident->codes[column];
	entries = resident->tables[column].entries;
	for (int i = 0; i < reader->nrows; i++)
		strings[i] = entries[codes[i]];
	resident->looked_up[column] = true;
}

/* A column of strings has its codes; and its strings, if they are wanted instead. */
static void
take_codes(PageReader *reader, int c)
{
	PageResident *resident = reader->resident;
	GpuaggVectorCodes *table = &resident->tables[c];
	const GpuaggNarrow *form = &resident->blocks[c]->form;

	table->codes = resident->codes[c];
	table->entries = gpuagg_dictionary_entries(resident->dictionaries[c], (int64) form->maximum.lo);
	table->nentries = gpuagg_dictionary_size(resident->dictionaries[c]);
	resident->looked_up[c] = false;
	if (!reader->takes_codes)
		gpuagg_page_reader_strings(reader, c);
}

void
gpuagg_page_resident_load(PageReader *reader, int first, int n)
{
	const PageResident *resident = reader->resident;

	for (int c = first; c < first + n; c++)
	{
		const ColumnBlock *block = resident->blocks[c];
		const uint64 *valid = column_block_valid(block);
		PageColumnState *state = &reader->scan->columns[c];
		void *in_place = values_in_place(reader, c);
		void *values;

		state->pending = false;
		reader->columns[c].values = in_place != NULL ? in_place : state->values;
		reader->columns[c].valid = valid != NULL ? state->valid : NULL;
		values = resident->codes[c] != NULL ? (void *) resident->codes[c] : state->values;
		for (int i = 0; i < resident->nruns; i++)
		{
			const ResidentRun *run = &resident->runs[i];
			uint32 row = block->first_row[run->page];

			if (in_place == NULL)
				gpuagg_narrow_read(&block->form, column_block_values(block), row, run->nrows,
								   values, run->begin);
			if (valid != NULL)
				gpuagg_bits_copy(state->valid, run->begin, valid, row, run->nrows);
		}
		if (resident->codes[c] != NULL)
			take_codes(reader, c);
	}
}

void
gpuagg_page_resident_select(const PageReader *reader, int c, const GpuaggRange *range, uint64 *live)
{
	const PageResident *resident = reader->resident;
	const ColumnBlock *block = resident->blocks[c];
	const uint64 *valid = column_block_valid(block);
	GpuaggRangeRows rows = gpuagg_narrow_range_rows(&block->form, range);
	uint64 selected[GPUAGG_VECTOR_WORDS] = {0};

	if (rows == GPUAGG_RANGE_ALL_ROWS && valid == NULL)
		return;
	for (int i = 0; i < resident->nruns && rows != GPUAGG_RANGE_NO_ROW; i++)
	{
		const ResidentRun *run = &resident->runs[i];
		uint32 row = block->first_row[run->page];
		uint64 some[GPUAGG_VECTOR_WORDS];

		if (rows == GPUAGG_RANGE_ALL_ROWS)
			gpuagg_bits_copy(some, 0, valid, row, run->nrows);
		else
			gpuagg_narrow_range_select(&block->form, column_block_values(block), row, run->nrows,
									   range, some);
		if (rows == GPUAGG_RANGE_SOME_ROWS && valid != NULL)
		{
			uint64 known[GPUAGG_VECTOR_WORDS];

			gpuagg_bits_copy(known, 0, valid, row, run->nrows);
			for (int w = 0; w * 64 < run->nrows; w++)
				some[w] &= known[w];
		}
		gpuagg_bits_copy(selected, run->begin, some, 0, run->nrows);
	}
	for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
		live[w] &= selected[w];
}

/* ---- pages that are read ---- */

void
gpuagg_page_reader_return(PageReader *reader)
{
	PageResident *resident = reader->resident;
	BlockNumber first = chunk_first_block(resident->chunk);
	int n = chunk_size(&resident->given);

	Assert(reader->from_memory);
	if (resident->nreturned + n > resident->room_returned)
	{
		resident->room_returned = Max(2 * resident->room_returned, CHUNK_PAGES) + n;
		resident->returned =
			resident->returned == NULL
				? palloc_extended(resident->room_returned * sizeof(BlockNumber), MCXT_ALLOC_HUGE)
				: repalloc_huge(resident->returned, resident->room_returned * sizeof(BlockNumber));
	}
	for (int p = chunk_next(&resident->given, 0); p < CHUNK_PAGES;
		 p = chunk_next(&resident->given, p + 1))
		resident->returned[resident->nreturned++] = first + p;
	reader->counts.rows -= reader->nrows;
}

BlockNumber
gpuagg_page_resident_returned(PageReader *reader)
{
	PageResident *resident = reader->resident;

	return resident->next_returned < resident->nreturned
			   ? resident->returned[resident->next_returned++]
			   : InvalidBlockNumber;
}

/* What has been decided about a chunk, by whichever process. */
static ChunkPages
used_of(PageReader *reader, uint32 chunk)
{
	PageResident *resident = reader->resident;
	PageShare *share = reader->scan->share;

	if (share == NULL)
		return chunk < resident->nchunks ? resident->decided[chunk] : (ChunkPages){0};
	if (chunk >= share->nchunks)
		return (ChunkPages){0};
	/* all have been taken, but the last ones may not be decided yet */
	while (pg_atomic_read_u32(&share->chunks[chunk].decided) == 0)
		gpuagg_wait_tick(1);
	pg_read_barrier();
	return share->chunks[chunk].used;
}

ChunkPages
gpuagg_page_resident_rest(PageReader *reader, uint32 chunk)
{
	PageResident *resident = reader->resident;
	ChunkPages rest = chunk_without(chunk_range(chunk_npages(chunk, reader->scan->nblocks)),
									used_of(reader, chunk));

	if (resident->fill != NULL && !chunk_is_empty(&rest))
	{
		/* a new image, under which later queries will find the pages confirmed */
		gpuagg_map_image_read(&resident->image, reader->scan->relation, chunk);
		gpuagg_fill_expect(resident->fill, chunk, &resident->image);
		RULES_PAUSE(after_image);
	}
	return rest;
}

/* ---- filling ---- */

typedef struct PlainWish
{
	struct varlena *value;
	MemoryContext context;
	struct varlena *plain;
} PlainWish;

static void
decompress(void *arg)
{
	PlainWish *wish = arg;
	MemoryContext old = MemoryContextSwitchTo(wish->context);

	wish->plain = detoast_attr(wish->value);
	MemoryContextSwitchTo(old);
}

/*
 * A string that was flagged, as it is without compression; false: it cannot be kept.  What lies
 * out of line is not fetched.
 */
static bool
make_string_plain(PageReader *reader, int c, Datum value, GpuaggVectorBytes *string)
{
	const PageColumn *column = &reader->scan->columns[c].column;
	bool trimmed = column->form == PAGE_COLUMN_TRIMMED;
	PlainWish wish = {(struct varlena *) DatumGetPointer(value), reader->resident->plain, NULL};

	if (!trimmed && toast_raw_datum_size(value) - VARHDRSZ > DICTIONARY_BYTES)
	{
		gpuagg_fill_refuse(reader->resident->fill, c, COLUMN_LONG_VALUE);
		return true;
	}
	if (VARATT_IS_EXTERNAL(wish.value) || !gpuagg_attempt(decompress, &wish, NULL, 0))
		return false;
	string->data = (const uint8_t *) VARDATA_ANY(wish.plain);
	string->size = VARSIZE_ANY_EXHDR(wish.plain);
	while (trimmed && string->size > 0 && string->data[string->size - 1] == ' ')
		string->size--;
	return true;
}

/*
 * Of flagged rows makes strings what they are without compression, for as long as the batch is
 * current; the rows stay flagged.  False: there is a value that cannot be kept.
 */
static bool
make_plain(PageReader *reader, const PageSegment *segment)
{
	const PageScan *scan = reader->scan;

	if (gpuagg_bits_count(reader->odd_numbers, segment->begin, segment->nrows) > 0)
		return false;
	for (int i = segment->begin; i < segment->begin + segment->nrows; i++)
		for (int c = 0; c < scan->ncolumns && gpuagg_bit(reader->flagged, i); c++)
		{
			const PageColumnState *state = &scan->columns[c];
			HeapTupleData tuple = {0};
			bool isnull;
			Datum value;

			if (!gpuagg_page_column_has_strings(&state->column) || state->length != -1)
				continue;
			tuple.t_data = (HeapTupleHeader) gpuagg_page_tuple(segment, i - segment->begin);
			value = heap_getattr(&tuple, state->column.attno, RelationGetDescr(scan->relation),
								 &isnull);
			if (!isnull &&
				(VARATT_IS_EXTERNAL(DatumGetPointer(value)) ||
				 VARATT_IS_COMPRESSED(DatumGetPointer(value))) &&
				!make_string_plain(reader, c, value,
								   (GpuaggVectorBytes *) reader->columns[c].values + i))
				return false;
		}
	return true;
}

void
gpuagg_page_resident_fill(PageReader *reader)
{
	const PageBatch *batch = reader->scan->batch;
	ColumnFill *fill = reader->resident->fill;

	if (reader->any_flagged && reader->resident->plain == NULL)
		reader->resident->plain = AllocSetContextCreate(CurrentMemoryContext, "gpuagg strings",
														ALLOCSET_SMALL_SIZES);
	if (reader->resident->plain != NULL)
		MemoryContextReset(reader->resident->plain);
	RULES_PAUSE(after_page);
	for (int s = 0; s < batch->nsegments; s++)
	{
		const PageSegment *segment = &batch->segments[s];
		bool flagged;
		bool lost;
		XLogRecPtr lsn = RULE_VALUE(fill_lsn, segment->lsn, BufferGetLSNAtomic(segment->buffer));

		if (XLogRecPtrIsInvalid(segment->lsn))
			continue;
		flagged = reader->any_flagged &&
				  gpuagg_bits_count(reader->flagged, segment->begin, segment->nrows) > 0;
		lost = flagged && !make_plain(reader, segment);
		gpuagg_fill_rows(fill, segment->block, lsn, segment->buffer, reader->columns,
						 segment->begin, segment->nrows, segment->opens, segment->ends);
		if (lost)
			gpuagg_fill_drop(fill, segment->block);
	}
	/* a table larger than the memory has a part of itself there, and costs no more than its pages */
	if (gpuagg_fill_is_full(fill))
	{
		gpuagg_page_resident_finish(reader);
		gpuagg_page_resident_stop_filling(reader);
	}
}

void
gpuagg_page_resident_fill_empty(PageReader *reader, BlockNumber block, XLogRecPtr lsn,
								Buffer buffer)
{
	gpuagg_fill_empty(reader->resident->fill, block, lsn, buffer);
}

void
gpuagg_page_resident_finish(PageReader *reader)
{
	if (reader->resident->fill != NULL)
		reader->counts.filled = gpuagg_fill_finish(reader->resident->fill);
}

void
gpuagg_page_resident_stop_filling(PageReader *reader)
{
	if (!gpuagg_page_resident_fills(reader))
		return;
	gpuagg_fill_close(reader->resident->fill);
	reader->resident->fill = NULL;
}

bool
gpuagg_page_resident_fills(const PageReader *reader)
{
	return reader->resident != NULL && reader->resident->fill != NULL;
}
