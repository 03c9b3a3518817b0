/*
 * page_resident.c
 *	  Rows of a page reader that come from memory: which pages may be used, and the others.
 */
#include "compat.h"

#include "exec/page_resident.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"

#include "device/shared_state.h"
#include "exec/page_scan.h"
#include "gpuagg.h"
#include "resident/column_fill.h"
#include "resident/purge.h"
#include "resident/rules.h"

#define USE_BLOCKS	 1000 /* a smaller table's use does not count */
#define STATES_AHEAD 128  /* chunks whose states are copied at a time */

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
	uint32 next; /* chunk to be decided, without a share */

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

	ColumnFill *fill; /* or NULL */
} PageResident;

/* ---- opening ---- */

/* Rule 1. */
static bool
is_eligible(Relation relation, Snapshot snapshot)
{
	return relation->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT &&
		   RULE(catalog, !IsCatalogRelation(relation)) &&
		   RULE(logged, !compat_relation_file_is_new(relation) && XLogIsNeeded()) &&
		   IsMVCCSnapshot(snapshot) && !snapshot->takenDuringRecovery &&
		   !IsolationIsSerializable() && !RecoveryInProgress() &&
		   !compat_snapshots_can_be_too_old();
}

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

PageMemory
gpuagg_page_memory(Relation relation, Snapshot snapshot, const PageColumn *columns, int ncolumns)
{
	ColumnKey any;
	bool seen = true;

	if (gpuagg_resident == RESIDENT_OFF || !is_eligible(relation, snapshot))
		return PAGE_MEMORY_NONE;
	for (int i = 0; i < ncolumns; i++)
		if (!gpuagg_page_column_is_fixed(&columns[i]))
			return PAGE_MEMORY_NONE;
	if (!gpuagg_directory_open())
		return PAGE_MEMORY_NONE;
	if (ncolumns == 0)
		return gpuagg_column_any(relation, &any) ? PAGE_MEMORY_USE : PAGE_MEMORY_NONE;
	if (gpuagg_resident == RESIDENT_ON)
		return PAGE_MEMORY_FILL;
	if (RelationGetNumberOfBlocks(relation) < USE_BLOCKS)
		return PAGE_MEMORY_USE;
	for (int i = 0; i < ncolumns; i++)
	{
		ColumnKey key = gpuagg_column_key(relation, columns[i].attno);

		seen &= gpuagg_column_seen(&key);
	}
	return seen ? PAGE_MEMORY_FILL : PAGE_MEMORY_USE;
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
	resident->nchunks = chunk_count(scan->nblocks);
	resident->states = palloc(ncolumns * STATES_AHEAD * sizeof(ChunkState));
	resident->blocks = palloc(ncolumns * sizeof(ColumnBlock *));
	if (share == NULL)
		resident->decided = palloc_extended(Max(resident->nchunks, 1) * sizeof(ChunkPages),
											MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	gpuagg_purge_install();
	if (memory == PAGE_MEMORY_FILL && resident->pinned)
	{
		(void) gpuagg_directory_purge();
		open_fill(resident, columns, before);
	}
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
	for (int i = 0; i < resident->ncolumns && resident->pinned; i++)
		gpuagg_column_unpin(&resident->pins[i]);
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

/* The states of a chunk, by column. */
static void
find_states(PageResident *resident, uint32 chunk, uint32 ahead)
{
	if (chunk >= resident->first_state && chunk < resident->first_state + resident->nstates)
		return;
	resident->first_state = chunk;
	resident->nstates = Min(ahead, STATES_AHEAD);
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

/* Pages of the chunk that may be used; leaves their blocks in resident->blocks. */
static ChunkPages
decide(PageReader *reader, uint32 chunk, uint32 ahead)
{
	PageResident *resident = reader->resident;
	const MapImage *image = image_of(reader, chunk);
	ChunkPages visible = chunk_both(image->visible[chunk % MAP_PAGE_CHUNKS],
									chunk_range(chunk_npages(chunk, reader->scan->nblocks)));
	ChunkPages level1 = RULE_VALUE(map_bit, visible, chunk_range(CHUNK_PAGES));
	ChunkPages level2;
	ChunkPages used;
	bool same = true;

	if (!resident->pinned)
		return (ChunkPages){0};
	find_states(resident, chunk, ahead);
	for (int i = 0; i < resident->ncolumns; i++)
	{
		const ChunkState *state = state_of(resident, i, chunk);

		if (state->block == 0)
			return (ChunkPages){0};
		level1 = RULE(map_lsn, state->map_lsn == image->lsn) ? chunk_both(level1, state->confirmed)
															 : (ChunkPages){0};
		same &= state->records == state_of(resident, 0, chunk)->records;
	}
	if (chunk_is_empty(&visible) || !find_blocks(resident, chunk))
		return (ChunkPages){0};
	if (!same)
		level1 = agree(resident, level1);
	reader->counts.level1 += chunk_size(&level1);

	level2 = chunk_without(visible, level1);
	if (!chunk_is_empty(&level2))
		level2 = look_at_buffers(reader, chunk, agree(resident, level2));
	RULES_PAUSE(after_buffers);
	if (!chunk_is_empty(&level2))
		for (int i = 0; i < resident->ncolumns; i++)
			gpuagg_column_confirm(resident->pins[i].column, chunk,
								  state_of(resident, i, chunk)->block,
								  RULE_VALUE(confirm_lsn, image->lsn,
											 gpuagg_rules_map_lsn(reader->scan->relation, chunk)),
								  level2);
	reader->counts.level2 += chunk_size(&level2);
	used = chunk_either(level1, level2);
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

/* Takes the next chunk with pages that come from memory. */
static bool
next_chunk(PageReader *reader)
{
	PageResident *resident = reader->resident;
	PageShare *share = reader->scan->share;

	for (;;)
	{
		uint32 chunk = share != NULL ? pg_atomic_fetch_add_u32(&share->next_chunk, 1)
									 : resident->next++;
		ChunkPages used;
		instr_time start;
		instr_time now;

		CHECK_FOR_INTERRUPTS();
		if (chunk >= (share != NULL ? share->nchunks : resident->nchunks))
			return false;
		if (reader->timed)
			INSTR_TIME_SET_CURRENT(start);
		used = decide(reader, chunk, share != NULL ? 1 : resident->nchunks - chunk);
		if (reader->timed)
		{
			INSTR_TIME_SET_CURRENT(now);
			INSTR_TIME_SUBTRACT(now, start);
			reader->counts.ns_evidence += COMPAT_INSTR_TIME_GET_NANOSEC(now);
		}
		if (share != NULL)
		{
			share->chunks[chunk].used = used;
			pg_write_barrier();
			pg_atomic_write_u32(&share->chunks[chunk].decided, 1);
		}
		else
			resident->decided[chunk] = used;
		if (!chunk_is_empty(&used) && !is_done(reader, &used))
		{
			resident->open = true;
			resident->chunk = chunk;
			resident->left = used;
			return true;
		}
	}
}

uint64
gpuagg_page_resident_values(const PageReader *reader)
{
	const PageResident *resident = reader->resident;
	uint64 values = 0;

	for (int i = 0; i < resident->ncolumns && resident->pinned; i++)
		values += gpuagg_column_rows(resident->pins[i].column);
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
			reader->counts.rows += nrows;
			return true;
		}
	}
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

		state->pending = false;
		reader->columns[c].valid = valid != NULL ? state->valid : NULL;
		for (int i = 0; i < resident->nruns; i++)
		{
			const ResidentRun *run = &resident->runs[i];
			uint32 row = block->first_row[run->page];

			gpuagg_narrow_read(&block->form, column_block_values(block), row, run->nrows,
							   reader->columns[c].values, run->begin);
			if (valid != NULL)
				gpuagg_bits_copy(state->valid, run->begin, valid, row, run->nrows);
		}
	}
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

	if (resident->fill != NULL)
	{
		/* a new image, under which later queries will find the pages confirmed */
		gpuagg_map_image_read(&resident->image, reader->scan->relation, chunk);
		gpuagg_fill_expect(resident->fill, chunk, &resident->image);
		RULES_PAUSE(after_image);
	}
	return chunk_without(chunk_range(CHUNK_PAGES), used_of(reader, chunk));
}

/* ---- filling ---- */

void
gpuagg_page_resident_fill(PageReader *reader)
{
	const PageBatch *batch = reader->scan->batch;
	ColumnFill *fill = reader->resident->fill;

	RULES_PAUSE(after_page);
	for (int s = 0; s < batch->nsegments; s++)
	{
		const PageSegment *segment = &batch->segments[s];
		XLogRecPtr lsn = RULE_VALUE(fill_lsn, segment->lsn, BufferGetLSNAtomic(segment->buffer));

		if (XLogRecPtrIsInvalid(segment->lsn))
			continue;
		gpuagg_fill_rows(fill, segment->block, lsn, segment->buffer, reader->columns,
						 segment->begin, segment->nrows, segment->opens, segment->ends);
		if (reader->any_flagged &&
			gpuagg_bits_count(reader->flagged, segment->begin, segment->nrows) > 0)
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
