/*
 * page_reader.c
 *	  Reads a heap table's pages into batches of visible rows.
 *
 * A page is looked at under its share lock once: which of its tuples are visible,
 * and where they lie.  Then its pin keeps the tuples in place.  Pins are those of
 * the current resource owner, which lets go of them after an error.
 *
 * Processes that share a table take units of blocks.  A unit does not cross a
 * border between chunks: CHUNK_PAGES blocks, counted within the blocks that one
 * page of the visibility map is about.
 */
#include "exec/page_scan.h"
#include "exec/page_resident.h"

#include "access/heapam.h"
#include "access/syncscan.h"
#include "access/visibilitymap.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufpage.h"
#include "storage/predicate.h"

#include "device/stat.h"
#include "resident/rules.h"

#define UNIT_BLOCKS_MIN 16
#define UNITS_LEFT		64 /* of what remains, a unit is at most one of so many parts */

#define WIDE_TUPLE		192 /* of more bytes than that, few lines are looked at */

bool
gpuagg_page_reader_can_read(Relation relation)
{
	return relation->rd_tableam == GetHeapamTableAmRoutine();
}

/* ---- blocks ---- */

void
gpuagg_page_counts_add(PageCounts *into, const PageCounts *from)
{
	into->pages += from->pages;
	into->all_visible += from->all_visible;
	into->strided += from->strided;
	into->rows += from->rows;
	into->given += from->given;
	into->level1 += from->level1;
	into->level2 += from->level2;
	into->filled += from->filled;
	into->later += from->later;
	into->skipped += from->skipped;
	into->device_chunks += from->device_chunks;
	into->device_rows += from->device_rows;
	into->ns_evidence += from->ns_evidence;
}

void
gpuagg_page_counts_tell(const PageCounts *now, const PageCounts *before, int64 vectors)
{
	int64 counts[NTABLE_COUNTS] = {0};

	counts[TABLE_PAGES] = (int64) (now->pages - before->pages);
	counts[TABLE_ROWS] = (int64) (now->rows - before->rows);
	counts[TABLE_VECTORS] = vectors;
	counts[RESIDENT_PAGES] = (int64) (now->level1 - before->level1);
	counts[RESIDENT_CONFIRMED] = (int64) (now->level2 - before->level2);
	counts[RESIDENT_FILLED] = (int64) (now->filled - before->filled);
	counts[RESIDENT_SKIPPED] = (int64) (now->skipped - before->skipped);
	gpuagg_stat_table(counts);
}

/* Whether a table is so large that its scans follow one another, as core's do. */
static bool
is_large(Relation relation, BlockNumber nblocks)
{
	return !RelationUsesLocalBuffers(relation) && nblocks > (BlockNumber) NBuffers / 4;
}

/* The block to begin with. */
static BlockNumber
first_block(Relation relation, BlockNumber nblocks)
{
	return synchronize_seqscans && is_large(relation, nblocks) ? ss_get_location(relation, nblocks)
															   : 0;
}

uint32
gpuagg_page_share_chunks(Relation relation, PageMemory memory)
{
	return memory == PAGE_MEMORY_NONE ? 0 : chunk_count(RelationGetNumberOfBlocks(relation));
}

Size
gpuagg_page_share_size(uint32 nchunks)
{
	return add_size(offsetof(PageShare, chunks), mul_size(nchunks, sizeof(PageChunk)));
}

void
gpuagg_page_share_init(PageShare *share, Relation relation, uint32 nchunks, PageMemory memory)
{
	share->nchunks = nchunks;
	share->fill = memory == PAGE_MEMORY_FILL;
	pg_atomic_init_u64(&share->next, 0);
	share->nblocks = RelationGetNumberOfBlocks(relation);
	share->first = first_block(relation, share->nblocks);
	pg_atomic_init_u32(&share->next_chunk, 0);
	for (uint32 i = 0; i < share->nchunks; i++)
		pg_atomic_init_u32(&share->chunks[i].decided, 0);
}

void
gpuagg_page_share_copy(PageShare *share, const PageShare *from)
{
	Assert(share->nchunks == from->nchunks || from->nchunks == 0);
	share->nchunks = from->nchunks;
	share->fill = from->fill;
	for (uint32 i = 0; i < from->nchunks; i++)
	{
		PageChunk *chunk = &share->chunks[i];

		chunk->used = from->chunks[i].used;
		pg_atomic_init_u32(&chunk->decided,
						   pg_atomic_read_u32(
							   unconstify(pg_atomic_uint32 *, &from->chunks[i].decided)));
	}
	pg_atomic_init_u32(&share->next_chunk,
					   pg_atomic_read_u32(unconstify(pg_atomic_uint32 *, &from->next_chunk)));
}

void
gpuagg_page_share_finish(PageShare *share)
{
	for (uint32 i = 0; i < share->nchunks; i++)
	{
		share->chunks[i].used = chunk_range(CHUNK_PAGES);
		pg_atomic_init_u32(&share->chunks[i].decided, 1);
	}
	pg_atomic_init_u32(&share->next_chunk, share->nchunks);
}

/* The block that comes `number` blocks after the first. */
static BlockNumber
block_of(const PageScan *scan, uint64 number)
{
	return (BlockNumber) ((scan->first + number) % scan->nblocks);
}

/* Takes the next unit of blocks; false: there are no more. */
static bool
take_unit(PageScan *scan)
{
	PageShare *share = scan->share;
	uint64 begin = pg_atomic_read_u64(&share->next);
	uint64 length;

	do
	{
		uint64 block;
		uint64 within;
		uint64 chunk;

		if (begin >= share->nblocks)
			return false;
		block = block_of(scan, begin);
		within = block % MAP_PAGE_BLOCKS;
		chunk = Min(CHUNK_PAGES - within % CHUNK_PAGES, MAP_PAGE_BLOCKS - within);
		length = Max((share->nblocks - begin) / UNITS_LEFT, UNIT_BLOCKS_MIN);
		if (share->fill)
			length = chunk; /* whoever fills a chunk has all of it */
		length = Min(Min(length, chunk), share->nblocks - Max(begin, block));
	} while (!pg_atomic_compare_exchange_u64(&share->next, &begin, begin + length));
	scan->block = begin;
	scan->end = begin + length;
	return true;
}

/* The next block of the unit that has to be read, if there is one. */
static BlockNumber
next_wanted(PageScan *scan)
{
	/* where nothing is left, as of most tables in memory, chunks are not gone through one by one */
	if (!scan->chunk_known && scan->share == NULL && gpuagg_page_resident_left(scan->reader) == 0)
		scan->block = scan->end;
	while (scan->block < scan->end)
	{
		BlockNumber block = block_of(scan, scan->block);
		int page = chunk_page(block);
		int next;

		if (!scan->chunk_known || scan->chunk != chunk_of(block))
		{
			scan->chunk = chunk_of(block);
			scan->chunk_known = true;
			scan->wanted = gpuagg_page_resident_rest(scan->reader, scan->chunk);
		}
		next = Min(chunk_next(&scan->wanted, page), chunk_npages(scan->chunk, scan->nblocks));
		scan->block += next - page;
		if (scan->block < scan->end && next < chunk_npages(scan->chunk, scan->nblocks))
			return block_of(scan, scan->block++);
	}
	return InvalidBlockNumber;
}

static BlockNumber
next_block(void *owner)
{
	PageScan *scan = owner;

	for (;;)
	{
		if (scan->block < scan->end)
		{
			BlockNumber block;

			if (scan->reader->resident == NULL)
				return block_of(scan, scan->block++);
			block = next_wanted(scan);
			if (BlockNumberIsValid(block))
				return block;
		}
		scan->chunk_known = false;
		if (scan->share == NULL || !take_unit(scan))
			return scan->reader->resident == NULL ? InvalidBlockNumber
												  : gpuagg_page_resident_returned(scan->reader);
	}
}

/* The blocks from the first on. */
static void
start(PageScan *scan)
{
	PageShare *share = scan->share;

	scan->nblocks = share != NULL ? share->nblocks : RelationGetNumberOfBlocks(scan->relation);
	scan->first = share != NULL ? share->first : first_block(scan->relation, scan->nblocks);
	scan->synchronized = synchronize_seqscans && is_large(scan->relation, scan->nblocks);
	scan->block = 0;
	scan->end = scan->share != NULL ? 0 : scan->nblocks;
	scan->chunk_known = false;
	scan->resident_done = false;
	scan->by_chunk = false;
}

/* ---- a page ---- */

/*
 * The line pointers of a page if they are all normal, of tuples of the same length
 * that lie one before the other without gaps of another size: bytes from one to the
 * next.  Otherwise 0.
 *
 * A line pointer is a word of 32 bits, with the tuple's offset in its low bits, so
 * that such words differ by the stride.  That no offset is below 0 excludes borrows.
 */
static int
page_stride(const ItemIdData *lines, int n)
{
	typedef uint32 Words __attribute__((vector_size(16)));
	const uint32 *word = (const uint32 *) lines;
	Words expected;
	Words step;
	Words differs = {0};
	uint32 differ = 0;
	int stride = n > 1 ? (int) ItemIdGetOffset(&lines[0]) - (int) ItemIdGetOffset(&lines[1])
					   : ItemIdGetLength(&lines[0]);
	int i = 0;

	StaticAssertStmt(sizeof(ItemIdData) == sizeof(uint32), "line pointers are words");
	if (!ItemIdIsNormal(&lines[0]) || stride <= 0 ||
		(int) ItemIdGetOffset(&lines[0]) - (n - 1) * stride < (int) SizeOfPageHeaderData)
		return 0;
	for (int lane = 0; lane < 4; lane++)
	{
		expected[lane] = word[0] - (uint32) (lane * stride);
		step[lane] = (uint32) (4 * stride);
	}
	for (; i + 4 <= n; i += 4)
	{
		Words some;

		memcpy(&some, word + i, sizeof(some));
		differs |= some ^ expected;
		expected -= step;
	}
	for (; i < n; i++)
		differ |= word[i] ^ (word[0] - (uint32) (i * stride));
	return (differ | differs[0] | differs[1] | differs[2] | differs[3]) == 0 ? stride : 0;
}

/* Finds the visible tuples of the page whose lock is held. */
static void
collect(PageScan *scan, Page page, bool all_visible)
{
	int nlines = PageGetMaxOffsetNumber(page);
	const ItemIdData *lines = ((PageHeader) page)->pd_linp;
	bool look = !all_visible || scan->check_serializable;
	PageRows *known = &scan->pages[scan->npages % PAGES_KNOWN];
	bool all = !look;
	int n = nlines;

	scan->page_stride = nlines > 0 && !look ? page_stride(lines, nlines) : 0;
	if (scan->page_stride == 0 && !look)
		for (int i = 0; i < nlines; i++)
		{
			known->offsets[i] = ItemIdGetOffset(&lines[i]);
			all &= ItemIdIsNormal(&lines[i]);
		}
	if (!all)
	{
		n = 0;
		for (int i = 0; i < nlines; i++)
		{
			if (!ItemIdIsNormal(&lines[i]))
				continue;
			if (look)
			{
				HeapTupleData tuple;
				bool visible;

				tuple.t_data = (HeapTupleHeader) ((char *) page + ItemIdGetOffset(&lines[i]));
				tuple.t_len = ItemIdGetLength(&lines[i]);
				tuple.t_tableOid = RelationGetRelid(scan->relation);
				ItemPointerSet(&tuple.t_self, scan->page_block, i + FirstOffsetNumber);
				visible = all_visible ||
						  HeapTupleSatisfiesVisibility(&tuple, scan->snapshot, scan->buffer);
				if (scan->check_serializable)
					HeapCheckForSerializableConflictOut(visible, scan->relation, &tuple,
														scan->buffer, scan->snapshot);
				if (!visible)
					continue;
			}
			known->lines[n] = i + FirstOffsetNumber;
			known->offsets[n] = ItemIdGetOffset(&lines[i]);
			n++;
		}
		if (n == nlines && n > 0)
			scan->page_stride = page_stride(lines, n);
	}
	scan->page_lines = n < nlines;
	scan->known = known;
	scan->npages += n > 0;
	scan->page_first = (char *) page + (n == 0					 ? 0
										: scan->page_stride != 0 ? ItemIdGetOffset(&lines[0])
																 : known->offsets[0]);
	scan->page_rows = n;
	scan->page_next = 0;
}

/* Pins the page after the next one, of which the header and the line pointers will be looked at. */
static void
look_ahead(PageScan *scan)
{
	scan->ahead = compat_blocks_next(&scan->blocks);
	if (BufferIsValid(scan->ahead))
	{
		const char *page = BufferGetPage(scan->ahead);
		Size size = SizeOfPageHeaderData + scan->page_rows * sizeof(ItemIdData);

		for (Size at = 0; at < size; at += CACHE_LINE)
			__builtin_prefetch(page + at);
		pg_compiler_barrier();
	}
}

/* Goes on to the next page with visible rows; false at the end. */
static bool
next_page(PageReader *reader)
{
	PageScan *scan = reader->scan;

	for (;;)
	{
		Page page;
		bool all_visible;

		CHECK_FOR_INTERRUPTS();
		scan->buffer = scan->ahead;
		if (!BufferIsValid(scan->buffer))
			return false;
		look_ahead(scan);
		scan->page_block = BufferGetBlockNumber(scan->buffer);
		heap_page_prune_opt(scan->relation, scan->buffer);
		LockBuffer(scan->buffer, BUFFER_LOCK_SHARE);
		page = BufferGetPage(scan->buffer);
		compat_test_old_snapshot(scan->snapshot, scan->relation, page);
		all_visible = PageIsAllVisible(page) && !scan->snapshot->takenDuringRecovery;
		collect(scan, page, all_visible);
		scan->page_lsn = RULE(fill_flag, all_visible) ? BufferGetLSNAtomic(scan->buffer)
													  : InvalidXLogRecPtr;
		/* from 16 on tables grow by many pages at once, and have some that nothing has used yet */
		reader->counts.pages += !PageIsNew(page);
		LockBuffer(scan->buffer, BUFFER_LOCK_UNLOCK);

		if (scan->synchronized)
			ss_report_location(scan->relation, scan->page_block);
		reader->counts.all_visible += all_visible;
		reader->counts.strided += scan->page_stride != 0;
		reader->counts.rows += scan->page_rows;
		if (pgstat_should_count_relation(scan->relation))
			COMPAT_SCANNED_ROWS(scan->relation) += scan->page_rows;
		if (scan->page_rows > 0)
			return true;
		if (all_visible && gpuagg_page_resident_fills(reader))
			gpuagg_page_resident_fill_empty(reader, scan->page_block, scan->page_lsn, scan->buffer);
		ReleaseBuffer(scan->buffer);
		scan->buffer = InvalidBuffer;
	}
}

/* ---- batches ---- */

static void
clear(PageBatch *batch)
{
	for (int i = 0; i < batch->npins; i++)
		ReleaseBuffer(batch->pins[i]);
	batch->npins = 0;
	batch->nrows = 0;
	batch->nsegments = 0;
	batch->fetching = 0;
}

/* Adds rows of the current page to the batch, and its pin with the last of them. */
static void
add_segment(PageScan *scan, PageBatch *batch)
{
	PageSegment *segment = &batch->segments[batch->nsegments++];
	int from = scan->page_next;
	int n = Min(scan->page_rows - from, GPUAGG_VECTOR_ROWS - batch->nrows);
	Size used = BLCKSZ - ((PageHeader) BufferGetPage(scan->buffer))->pd_upper;

	segment->block = scan->page_block;
	segment->begin = batch->nrows;
	segment->nrows = n;
	segment->page = BufferGetPage(scan->buffer);
	segment->stride = scan->page_stride;
	segment->offsets = scan->known->offsets + from;
	segment->line = FirstOffsetNumber + from;
	segment->lines = scan->page_lines ? scan->known->lines + from : NULL;
	segment->first = segment->stride != 0 ? scan->page_first - (Size) from * segment->stride
										  : gpuagg_page_tuple(segment, 0);
	segment->by_tuple = used > (Size) scan->page_rows * WIDE_TUPLE;
	segment->unfetched = segment->by_tuple ? n : from == 0 ? used / CACHE_LINE : 0;
	segment->examined = false;
	segment->lsn = scan->page_lsn;
	segment->buffer = scan->buffer;
	segment->opens = from == 0;
	batch->nrows += n;
	scan->page_next += n;
	segment->ends = scan->page_next == scan->page_rows;
	if (scan->page_next == scan->page_rows)
	{
		batch->pins[batch->npins++] = scan->buffer;
		scan->buffer = InvalidBuffer;
	}
}

static void
fill(PageReader *reader, PageBatch *batch)
{
	PageScan *scan = reader->scan;

	while (batch->nrows < GPUAGG_VECTOR_ROWS && batch->nsegments < scan->max_pages &&
		   (BufferIsValid(scan->buffer) || next_page(reader)))
	{
		if (scan->by_chunk && batch->nsegments > 0 &&
			chunk_of(scan->page_block) != chunk_of(batch->segments[0].block))
			break;
		add_segment(scan, batch);
	}
}

/* Rows that have been read go into memory, at the end all that has come. */
static void
fill_memory(PageReader *reader)
{
	if (reader->nrows == 0)
	{
		gpuagg_page_resident_finish(reader);
		return;
	}
	if (!gpuagg_page_resident_takes(reader))
		return;
	for (int s = 0; s < reader->scan->batch->nsegments && !reader->loaded; s++)
		if (!XLogRecPtrIsInvalid(reader->scan->batch->segments[s].lsn))
		{
			gpuagg_page_reader_load(reader, 0, reader->scan->ncolumns, NULL);
			reader->loaded = true;
		}
	if (reader->loaded)
		gpuagg_page_resident_fill(reader);
}

bool
gpuagg_page_reader_next(PageReader *reader)
{
	PageScan *scan = reader->scan;
	PageBatch *batch;

	if (reader->source != NULL)
		return reader->source->next(reader);
	batch = scan->following;
	reader->loaded = false;
	if (reader->resident != NULL && !scan->resident_done)
	{
		reader->from_memory = gpuagg_page_resident_next(reader);
		if (reader->from_memory)
			return true;
		scan->resident_done = gpuagg_page_resident_is_taken(reader);
	}
	reader->codes = NULL;
	if (scan->only_memory)
		return false;
	if (!scan->begun)
	{
		scan->begun = true;
		look_ahead(scan);
		fill(reader, batch);
	}
	clear(scan->batch);
	scan->following = scan->batch;
	scan->batch = batch;
	if (scan->ncolumns > 0)
		gpuagg_page_prefetch(batch, INT_MAX);
	reader->nrows = batch->nrows;
	if (reader->any_flagged)
	{
		memset(reader->flagged, 0, sizeof(reader->flagged));
		memset(reader->odd_numbers, 0, sizeof(reader->odd_numbers));
	}
	reader->any_flagged = false;
	if (batch->nrows > 0)
		fill(reader, scan->following);
	if (gpuagg_page_resident_fills(reader))
		fill_memory(reader);
	return batch->nrows > 0;
}

bool
gpuagg_page_reader_begin_memory(PageReader *reader)
{
	PageScan *scan = reader->scan;

	Assert(scan->share == NULL && !scan->begun);
	scan->only_memory = reader->resident != NULL;
	return scan->only_memory;
}

double
gpuagg_page_reader_memory_bytes(const PageReader *reader)
{
	return gpuagg_page_resident_bytes(reader);
}

void
gpuagg_page_reader_end_memory(PageReader *reader)
{
	reader->scan->only_memory = false;
}

BlockNumber
gpuagg_page_reader_left(const PageReader *reader)
{
	return reader->scan->nblocks == 0 || reader->resident == NULL
			   ? reader->scan->nblocks
			   : gpuagg_page_resident_left(reader);
}

bool
gpuagg_page_reader_has_taken(const PageReader *reader)
{
	return reader->resident != NULL && gpuagg_page_resident_has_taken(reader);
}

void
gpuagg_page_reader_share(PageReader *reader, PageShare *share)
{
	PageScan *scan = reader->scan;
	bool done = scan->resident_done;

	Assert(scan->share == NULL && !scan->begun);
	/* without columns here nothing is decided, and no process may find any */
	if (reader->resident == NULL)
	{
		share->nchunks = 0;
		share->fill = false;
	}
	else
		gpuagg_page_resident_share(reader, share);
	scan->share = share;
	start(scan);
	scan->resident_done = done;
}

void
gpuagg_page_reader_only_returned(PageReader *reader)
{
	PageScan *scan = reader->scan;

	Assert(!scan->begun);
	gpuagg_page_resident_stop_filling(reader);
	reader->from_memory = false;
	scan->only_memory = false;
	scan->resident_done = true;
	scan->share = NULL;
	scan->end = scan->block;
}

/* ---- rows ---- */

static const PageSegment *
segment_of(const PageScan *scan, int row)
{
	const PageSegment *segment = scan->batch->segments;

	while (row >= segment->begin + segment->nrows)
		segment++;
	return segment;
}

static void
store_tuple(PageReader *reader, int row, int natts, TupleTableSlot *slot)
{
	PageScan *scan = reader->scan;
	TupleDesc desc = RelationGetDescr(scan->relation);
	const PageSegment *segment = segment_of(scan, row);
	const char *tuple = gpuagg_page_tuple(segment, row - segment->begin);
	HeapTupleHeader header = (HeapTupleHeader) tuple;
	const char *data = tuple + header->t_hoff;
	bool hasnull = (header->t_infomask & HEAP_HASNULL) != 0;
	int stored = Min(natts, HeapTupleHeaderGetNatts(header));

	Assert(row >= 0 && row < reader->nrows && natts <= desc->natts);
	ExecClearTuple(slot);
	for (int i = 0; i < stored; i++)
	{
		const PageAttribute *attribute = &scan->attributes[i];

		slot->tts_isnull[i] = hasnull && att_isnull(i, header->t_bits);
		if (slot->tts_isnull[i])
		{
			slot->tts_values[i] = (Datum) 0;
			continue;
		}
		data = gpuagg_page_align(attribute, data);
		slot->tts_values[i] = fetch_att(data, attribute->byval, attribute->length);
		data += gpuagg_page_length(attribute, data);
	}
	for (int i = stored; i < natts; i++)
		slot->tts_values[i] = getmissingattr(desc, i + 1, &slot->tts_isnull[i]);
	for (int i = natts; i < desc->natts; i++)
	{
		slot->tts_values[i] = (Datum) 0;
		slot->tts_isnull[i] = true;
	}
	ExecStoreVirtualTuple(slot);
	slot->tts_nvalid = natts;
	slot->tts_tableOid = RelationGetRelid(scan->relation);
	ItemPointerSet(&slot->tts_tid, segment->block,
				   segment->lines != NULL ? segment->lines[row - segment->begin]
										  : segment->line + (row - segment->begin));
}

void
gpuagg_page_reader_slot(PageReader *reader, int row, int natts, TupleTableSlot *slot)
{
	if (reader->source != NULL)
		reader->source->slot(reader, row, natts, slot);
	else
		store_tuple(reader, row, natts, slot);
}

/* ---- the reader ---- */

PageReader *
gpuagg_page_reader_open(Relation relation, Snapshot snapshot, const PageColumn *columns,
						int ncolumns, PageMemory memory, PageShare *share)
{
	PageReader *reader = palloc0(sizeof(PageReader));
	PageScan *scan = palloc0(sizeof(PageScan));
	bool local = RelationUsesLocalBuffers(relation);

	Assert(IsMVCCSnapshot(snapshot));
	reader->scan = scan;
	scan->reader = reader;
	scan->relation = relation;
	scan->snapshot = snapshot;
	scan->share = share;
	scan->check_serializable = CheckForSerializableConflictOutNeeded(relation, snapshot);
	PredicateLockRelation(relation, snapshot);

	/* Few buffers are shared by many processes, and by readers within readers; there are two batches. */
	scan->max_pages = local ? num_temp_buffers / 32 : NBuffers / Max(MaxBackends, 1) / 4;
	scan->max_pages = Max(1, Min(scan->max_pages, PAGE_BATCH_PAGES));
	scan->batch = &scan->batches[0];
	scan->following = &scan->batches[1];

	gpuagg_page_columns_open(reader, columns, ncolumns);
	start(scan);
	pgstat_count_heap_scan(scan->relation);
	gpuagg_page_resident_open(reader, columns, ncolumns, memory);

	scan->blocks.relation = relation;
	scan->blocks.waits = reader->resident != NULL;
	if (is_large(relation, scan->nblocks))
		scan->blocks.strategy = GetAccessStrategy(BAS_BULKREAD);
	scan->blocks.next = next_block;
	scan->blocks.owner = scan;
	compat_blocks_begin(&scan->blocks);
	return reader;
}

static void
unpin_all(PageScan *scan)
{
	clear(scan->batch);
	clear(scan->following);
	if (BufferIsValid(scan->buffer))
		ReleaseBuffer(scan->buffer);
	if (BufferIsValid(scan->ahead))
		ReleaseBuffer(scan->ahead);
	scan->buffer = scan->ahead = InvalidBuffer;
	scan->begun = false;
}

void
gpuagg_page_reader_rescan(PageReader *reader)
{
	PageScan *scan = reader->scan;

	unpin_all(scan);
	gpuagg_page_resident_close(reader);
	reader->nrows = 0;
	compat_blocks_reset(&scan->blocks);
	start(scan);
	pgstat_count_heap_scan(scan->relation);
}

void
gpuagg_page_reader_close(PageReader *reader)
{
	PageScan *scan = reader->scan;

	if (reader->source != NULL)
	{
		reader->source->close(reader);
		return;
	}
	unpin_all(scan);
	compat_blocks_end(&scan->blocks);
	if (scan->blocks.strategy != NULL)
		FreeAccessStrategy(scan->blocks.strategy);
	gpuagg_page_resident_close(reader);
	gpuagg_page_columns_close(reader);
	pfree(scan);
	pfree(reader);
}
