/*
 * page_evidence.c
 *	  Which pages of resident columns may be used: rules 2 to 5 of page_resident.h.
 */
#include "compat.h"

#include "exec/page_resident_state.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "resident/rules.h"

/* The image of a chunk's page of the map; the snapshot has been there before (rule 2). */
static const MapImage *
image_of(PageReader *reader, uint32 chunk)
{
	MapImage *image = RULE_VALUE(snapshot_first, &reader->resident->image,
								 &gpuagg_rules_kept_image);

	if (!image->read || image->number != chunk / MAP_PAGE_CHUNKS)
	{
		gpuagg_map_image_read(image, reader->scan->relation, chunk);
		if (reader->resident->images != NULL)
			reader->resident->images[image->number] = *image;
	}
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

bool
gpuagg_page_evidence_blocks(PageResident *resident, uint32 chunk)
{
	for (int i = 0; i < resident->ncolumns; i++)
	{
		resident->blocks[i] = gpuagg_column_block(*page_resident_ref(resident, i, chunk));
		if (resident->blocks[i] == NULL)
			return false;
		if (resident->dictionaries[i] != NULL &&
			gpuagg_dictionary_entries(resident->dictionaries[i],
									  (int64) resident->blocks[i]->form.maximum.lo) == NULL)
			return false;
	}
	return true;
}

/* Which blocks are in segments that are not mapped, and cannot be: odd[i] gets bits. */
static void
find_unmapped(PageResident *resident, const MemoryRef *refs, uint32 n, uint64 *odd)
{
	uint32 segments = 0;
	MemoryRef any = 0;

	for (uint32 i = 0; i < n; i++)
	{
		segments |= (uint32) 1 << memory_ref_segment(refs[i]);
		any |= refs[i];
	}
	resident->any_bare |= column_block_is_bare(any);
	if ((segments & ~resident->segments) == 0)
		return;
	for (uint32 i = 0; i < n; i++)
	{
		uint32 segment = (uint32) 1 << memory_ref_segment(refs[i]);

		if ((resident->segments & segment) == 0 && refs[i] != 0 &&
			gpuagg_column_block(refs[i]) != NULL)
			resident->segments |= segment;
		odd[i] |= segment & ~resident->segments;
	}
}

/*
 * Looks at chunks of one page of the map: sets odd[i] to 0 where all of a chunk's visible pages
 * are confirmed at level 1, by states of the same records, and its blocks are in segments that are
 * mapped, which stays so as long as columns are pinned whose blocks lie there.  So it is with most
 * chunks, of which nothing else need be looked at.
 */
static void
find_odd(PageResident *resident, uint32 first, uint32 n, const MapImage *image, uint64 *odd)
{
	const ChunkPages *visible = &image->visible[first % MAP_PAGE_CHUNKS];
	uint64 records[MAP_PAGE_CHUNKS];
	bool known = RULE_VALUE(map_bit, true, false) && RULE_VALUE(by_page, true, false);

	memset(odd, 0, n * sizeof(uint64));
	for (int c = 0; c < resident->ncolumns; c++)
	{
		MemoryRef *refs = page_resident_ref(resident, c, first);

		gpuagg_column_glance(resident->pins[c].column, first, n, image->lsn, visible, c == 0, refs,
							 records, odd);
		find_unmapped(resident, refs, n, odd);
		/* blocks come after the entries whose codes they have */
		if (resident->dictionaries[c] != NULL)
			known &= gpuagg_dictionary_learn(resident->dictionaries[c]);
	}
	/* a clause that is left out shows in the long way only */
	if (!known)
		memset(odd, -1, n * sizeof(uint64));
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
	return pages;
}

static const ChunkUse none;

/* Of these pages, those that are confirmed at level 1. */
static ChunkPages
confirmed(const ChunkState *state, const MapImage *image, ChunkPages pages)
{
	return RULE(map_lsn, state->map_lsn == image->lsn) ? chunk_both(pages, state->confirmed)
													   : (ChunkPages){0};
}

/*
 * Of a chunk of which some columns have no block: pages that may be used by those whose blocks
 * chunk_done() looks at, if all these blocks are of the same pages' rows.
 */
static ChunkUse
decide_partly(PageReader *reader, uint32 chunk, const MapImage *image, ChunkPages pages)
{
	const PageResident *resident = reader->resident;

	gpuagg_page_resident_find_looked_at(reader);
	for (int k = 0; k < resident->nlooked_at; k++)
	{
		int i = resident->looked_at[k];
		const ChunkState *state = state_of(resident, i, chunk);

		if (state->block == 0 || resident->dictionaries[i] != NULL ||
			state->records != state_of(resident, 0, chunk)->records ||
			gpuagg_column_block(state->block) == NULL)
			return none;
		pages = confirmed(state, image, pages);
	}
	return resident->nlooked_at > 0 ? (ChunkUse){pages, 0, true, false, true} : none;
}

/* Of a chunk's visible pages, those that may be used; `ahead` as of find_states(). */
static ChunkUse
decide(PageReader *reader, uint32 chunk, uint32 ahead, const MapImage *image, ChunkPages visible)
{
	PageResident *resident = reader->resident;
	ChunkPages used = RULE_VALUE(map_bit, visible, chunk_range(CHUNK_PAGES));
	ChunkPages all = used;
	ChunkPages others;
	bool same = true;
	bool bare = false;
	bool missing = false;

	find_states(resident, chunk, ahead);
	for (int i = 0; i < resident->ncolumns; i++)
	{
		const ChunkState *state = state_of(resident, i, chunk);

		*page_resident_ref(resident, i, chunk) = state->block;
		bare |= column_block_is_bare(state->block);
		missing |= state->block == 0;
		used = confirmed(state, image, used);
		same &= state->records == state_of(resident, 0, chunk)->records;
	}
	if (missing)
		return decide_partly(reader, chunk, image, all);
	if (chunk_is_empty(&visible) || !gpuagg_page_evidence_blocks(resident, chunk))
		return none;
	if (!same)
		used = agree(resident, used);
	others = chunk_without(visible, used);
	if (!chunk_is_empty(&others))
	{
		others = confirm(reader, chunk, image, others);
		used = chunk_either(used, others);
	}
	return (ChunkUse){RULE_VALUE(by_page, used,
								 chunk_size(&used) > 0 ? resident->blocks[0]->pages : used),
					  chunk_size(&others), same, bare, false};
}

/* Whether a chunk whose blocks have been found has a bare one. */
static bool
has_bare(const PageResident *resident, uint32 chunk)
{
	bool bare = false;

	for (int c = 0; c < resident->ncolumns && resident->any_bare; c++)
		bare |= column_block_is_bare(*page_resident_ref(resident, c, chunk));
	return bare;
}

/* Decides about chunks of one page of the map. */
static void
decide_together(PageReader *reader, uint32 first, uint32 n, ChunkUse *decided)
{
	PageResident *resident = reader->resident;
	const MapImage *image = image_of(reader, first);
	const ChunkPages *visible = &image->visible[first % MAP_PAGE_CHUNKS];
	uint64 odd[MAP_PAGE_CHUNKS];

	resident->nstates = 0;
	find_odd(resident, first, n, image, odd);
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		/* the table may have got more pages, in its last chunk, since it was opened */
		if (odd[i] == 0 && first + i + 1 < resident->nchunks)
			decided[i] = (ChunkUse){visible[i], 0, true, has_bare(resident, first + i), false};
		else
			decided[i] =
				decide(reader, first + i, n - i, image,
					   chunk_both(visible[i],
								  chunk_range(chunk_npages(first + i, reader->scan->nblocks))));
	}
}

void
gpuagg_page_evidence_keep(PageResident *resident)
{
	uint32 room = Max(resident->nchunks, CHUNKS_AHEAD);
	MemoryRef *refs;

	Assert(resident->ndecided <= CHUNKS_AHEAD);
	if (room == resident->refs_room)
		return;
	refs = MemoryContextAllocHuge(resident->context,
								  (Size) resident->ncolumns * room * sizeof(MemoryRef));
	for (int i = 0; i < resident->ncolumns; i++)
		memcpy(refs + (Size) i * room, resident->refs + (Size) i * resident->refs_room,
			   resident->refs_room * sizeof(MemoryRef));
	pfree(resident->refs);
	resident->refs = refs;
	resident->refs_room = room;
}

void
gpuagg_page_evidence_decide(PageReader *reader, uint32 first, uint32 n, ChunkUse *decided)
{
	instr_time start;
	instr_time now;

	if (reader->timed)
		INSTR_TIME_SET_CURRENT(start);
	for (uint32 done = 0; done < n;)
	{
		uint32 some = Min(n - done, MAP_PAGE_CHUNKS - (first + done) % MAP_PAGE_CHUNKS);

		if (reader->resident->pinned)
			decide_together(reader, first + done, some, decided + done);
		else
			memset(decided + done, 0, some * sizeof(ChunkUse));
		done += some;
	}
	if (reader->timed)
	{
		INSTR_TIME_SET_CURRENT(now);
		INSTR_TIME_SUBTRACT(now, start);
		reader->counts.ns_evidence += COMPAT_INSTR_TIME_GET_NANOSEC(now);
	}
}
