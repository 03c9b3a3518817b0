/*
 * page_resident_chunks.c
 *	  Chunks of a table are given out, to one process each: pages that come from memory, and the
 *	  others.
 */
#include "compat.h"

#include "exec/page_resident_state.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "device/shared_state.h"
#include "resident/column_memory.h"
#include "resident/rules.h"

/* We look at the first's, for numbers of rows. */
void
gpuagg_page_resident_find_looked_at(PageReader *reader)
{
	PageResident *resident = reader->resident;

	if (resident->looked_at != NULL || reader->chunk_done == NULL)
		return;
	resident->summaries = MemoryContextAlloc(resident->context, (Size) resident->ncolumns *
																	MAP_PAGE_CHUNKS *
																	sizeof(BlockSummary));
	resident->looked_at = MemoryContextAlloc(resident->context,
											 (Size) resident->ncolumns * sizeof(int));
	for (int i = 0; i < resident->ncolumns; i++)
		if (i == 0 || (i < reader->scan->ncolumns && reader->summed_up[i]))
			resident->looked_at[resident->nlooked_at++] = i;
}

/* The block is held, but the directory has another by now. */
static void
take_summary(const PageResident *resident, int column, uint32 chunk, BlockSummary *summary)
{
	const ColumnBlock *block = gpuagg_column_block(*page_resident_ref(resident, column, chunk));

	if (block == NULL)
		elog(ERROR, "block of chunk %u is not there any more", chunk);
	*summary = column_block_summary(block);
}

/* Finds the summaries of a chunk's blocks, and with them those of chunks that come next. */
static void
find_summaries(PageReader *reader, uint32 chunk)
{
	PageResident *resident = reader->resident;

	gpuagg_page_resident_find_looked_at(reader);
	if (chunk < resident->first_summary || chunk >= resident->first_summary + resident->nsummaries)
	{
		uint32 end = (chunk / MAP_PAGE_CHUNKS + 1) * MAP_PAGE_CHUNKS;

		resident->first_summary = chunk;
		resident->nsummaries = reader->scan->share != NULL ? 1
														   : Min(end, resident->ndecided) - chunk;
		for (int k = 0; k < resident->nlooked_at; k++)
		{
			int i = resident->looked_at[k];

			gpuagg_column_summaries(resident->pins[i].column, chunk, resident->nsummaries,
									page_resident_ref(resident, i, chunk),
									resident->summaries + i * MAP_PAGE_CHUNKS);
		}
	}
	for (int k = 0; k < resident->nlooked_at; k++)
	{
		int i = resident->looked_at[k];
		BlockSummary *summary =
			&resident->summaries[i * MAP_PAGE_CHUNKS + chunk - resident->first_summary];

		resident->summary[i] = summary;
		if (summary->npages == 0)
			take_summary(resident, i, chunk, summary);
	}
}

bool
gpuagg_page_resident_is_done(PageReader *reader, uint32 chunk, const ChunkUse *use)
{
	const PageResident *resident = reader->resident;
	uint32 nrows = 0;
	bool whole;

	if (reader->chunk_done == NULL)
		return false;
	find_summaries(reader, chunk);
	/* pages that are used are pages of all blocks */
	whole = use->same && (uint32) chunk_size(&use->used) == resident->summary[0]->npages;
	if (whole)
		nrows = resident->summary[0]->nrows;
	else
	{
		const ColumnBlock *block = gpuagg_column_block(*page_resident_ref(resident, 0, chunk));

		for (int p = chunk_next(&use->used, 0); p < CHUNK_PAGES; p = chunk_next(&use->used, p + 1))
			nrows += column_block_page_rows(block, p);
	}
	if (!reader->chunk_done(reader->owner, resident->summary, nrows, whole))
		return false;
	reader->counts.skipped++;
	reader->counts.rows += nrows;
	return true;
}

static void
count(PageReader *reader, const ChunkUse *use)
{
	reader->counts.level1 += chunk_size(&use->used) - use->confirmed;
	reader->counts.level2 += use->confirmed;
}

/* Takes a chunk of which nobody has had rows, and decides about it; false: there are no more. */
static bool
take_chunk(PageReader *reader, uint32 *chunk, ChunkUse *use)
{
	PageResident *resident = reader->resident;
	PageShare *share = reader->scan->share;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (share != NULL)
		{
			*chunk = pg_atomic_fetch_add_u32(&share->next_chunk, 1);
			if (*chunk >= share->nchunks)
				return false;
			/* else by the leader, before there were others */
			if (pg_atomic_read_u32(&share->chunks[*chunk].decided) != 0)
				continue;
			gpuagg_page_evidence_decide(reader, *chunk, 1, use);
			return true;
		}
		if (resident->next == resident->nchunks)
			return false;
		*chunk = resident->next++;
		if (*chunk == resident->ndecided)
		{
			uint32 n = Min(CHUNKS_AHEAD, resident->nchunks - *chunk);

			gpuagg_page_evidence_decide(reader, *chunk, n, resident->decided + *chunk);
			resident->ndecided += n;
		}
		if (resident->taken != NULL && resident->taken[*chunk])
			continue;
		resident->ngiven++;
		*use = resident->decided[*chunk];
		return true;
	}
}

/* Which pages of a chunk come from memory: those who read the others wait for it. */
static void
tell(PageReader *reader, uint32 chunk, const ChunkUse *use)
{
	PageShare *share = reader->scan->share;

	count(reader, use);
	if (share == NULL)
	{
		reader->resident->decided[chunk] = *use;
		return;
	}
	share->chunks[chunk].used = use->used;
	pg_write_barrier();
	pg_atomic_write_u32(&share->chunks[chunk].decided, 1);
}

void
gpuagg_page_resident_take(PageReader *reader, uint32 chunk)
{
	PageResident *resident = reader->resident;

	if (resident->taken == NULL)
		resident->taken = MemoryContextAllocExtended(resident->context,
													 resident->nchunks * sizeof(bool),
													 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	resident->taken[chunk] = true;
	resident->ntaken++;
	count(reader, &resident->decided[chunk]);
}

/* Whether the caller, who has begun alone, wants no more. */
static bool
stops(PageReader *reader)
{
	const PageResident *resident = reader->resident;
	uint32 n = resident->nchunks - resident->ntaken;

	return reader->scan->only_memory && reader->chunk_stop != NULL && resident->ngiven < n &&
		   reader->chunk_stop(reader->owner, (double) resident->ngiven / n);
}

/* Blocks of a chunk that the device has not go there, if there is time. */
static void
offer(const PageResident *resident, uint32 chunk)
{
	for (int i = 0; i < resident->ncolumns && resident->upload != NULL; i++)
		gpuagg_upload_offer(resident->upload, resident->pins[i].column, chunk,
							*page_resident_ref(resident, i, chunk), resident->blocks[i], false);
}

bool
gpuagg_page_resident_next_chunk(PageReader *reader)
{
	PageResident *resident = reader->resident;
	uint32 chunk;
	ChunkUse use;

	if (stops(reader))
		return false;
	while (take_chunk(reader, &chunk, &use))
	{
		bool any = !chunk_is_empty(&use.used);
		bool done = any && gpuagg_page_resident_is_done(reader, chunk, &use);

		if (any && !done && !use.partly)
		{
			if (!gpuagg_page_evidence_blocks(resident, chunk))
				elog(ERROR, "block of chunk %u is not there any more", chunk);
			offer(resident, chunk);
		}
		/* the device has not taken it, and there are no values here: all its pages are read */
		if ((use.partly || (use.bare && reader->scan->ncolumns > 0)) && !done)
			use = (ChunkUse){{{0}}, 0, false, true, false};
		tell(reader, chunk, &use);
		if (done || chunk_is_empty(&use.used))
			continue;
		for (int i = 0; i < resident->ncolumns && IsParallelWorker(); i++)
			gpuagg_column_memory_populate(resident->blocks[i], resident->blocks[i]->bytes);
		resident->open = true;
		resident->chunk = chunk;
		resident->left = use.used;
		return true;
	}
	return false;
}

double
gpuagg_page_resident_bytes(const PageReader *reader)
{
	const PageResident *resident = reader->resident;
	double bytes = 0;

	for (int i = 0; i < resident->ncolumns && resident->pinned; i++)
		bytes += (double) gpuagg_column_info(resident->pins[i].column).bytes;
	return bytes * (resident->nchunks - resident->ntaken) / Max(resident->nchunks, 1);
}

bool
gpuagg_page_resident_is_taken(const PageReader *reader)
{
	return reader->scan->share != NULL || reader->resident->next == reader->resident->nchunks;
}

BlockNumber
gpuagg_page_resident_unused(const PageReader *reader)
{
	const PageResident *resident = reader->resident;
	BlockNumber left = 0;

	for (uint32 i = 0; i < resident->nchunks; i++)
	{
		const ChunkPages *used = &resident->decided[i].used;

		/* so it is with most of them, and there are no pages beyond a chunk's */
		if (!chunk_is_full(used))
			left += chunk_npages(i, reader->scan->nblocks) - chunk_size(used);
	}
	return left;
}

BlockNumber
gpuagg_page_resident_left(const PageReader *reader)
{
	const PageResident *resident = reader->resident;

	if (resident->next < resident->nchunks)
		return MaxBlockNumber;
	return (BlockNumber) resident->nreturned + gpuagg_page_resident_unused(reader);
}

bool
gpuagg_page_resident_has_taken(const PageReader *reader)
{
	return reader->resident->ntaken > 0 || reader->resident->ngiven > 0;
}

void
gpuagg_page_resident_share(PageReader *reader, PageShare *share)
{
	PageResident *resident = reader->resident;

	while (resident->nreturned > 0)
	{
		BlockNumber block = resident->returned[--resident->nreturned];

		chunk_remove(&resident->decided[chunk_of(block)].used, chunk_page(block));
	}
	/* what the table has got since the share was made has no rows that the snapshot sees */
	/* chunks not given out are decided about again, as blocks may have changed since, and their summaries */
	resident->nsummaries = 0;
	resident->image.read = false;
	for (uint32 i = 0; i < Min(resident->nchunks, share->nchunks); i++)
	{
		if (i >= resident->next && (resident->taken == NULL || !resident->taken[i]))
			continue;
		share->chunks[i].used = resident->decided[i].used;
		pg_atomic_write_u32(&share->chunks[i].decided, 1);
	}
	pg_atomic_write_u32(&share->next_chunk, resident->next);
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
		return chunk < resident->nchunks ? resident->decided[chunk].used : (ChunkPages){0};
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
		gpuagg_page_limit_find(reader);
		/* a new image, under which later queries will find the pages confirmed */
		gpuagg_map_image_read(&resident->image, reader->scan->relation, chunk);
		gpuagg_fill_expect(resident->fill, chunk, &resident->image);
		RULES_PAUSE(after_image);
	}
	return rest;
}
