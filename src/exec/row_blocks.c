/*
 * row_blocks.c
 *	  Rows as minimal tuples, one behind the other in blocks of memory.
 *
 * A row takes its bytes, rounded up to MAXALIGN, and no call of an allocator.  A
 * slot's row is copied if the slot has it as a tuple, else formed in place.  A new
 * block has up to a quarter of what all blocks have.  One of the blocks that have
 * been read is kept, to be used again.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "utils/memutils.h"

#include "exec/row_blocks.h"

#define LEAST_BLOCK	  ((Size) 16 * 1024)
#define LARGEST_BLOCK ((Size) 1024 * 1024)
#define ROW_HEADER	  MAXALIGN(SizeofMinimalTupleHeader)

typedef struct RowBlock
{
	struct RowBlock *next;
	Size size; /* of the data */
	char *end; /* of its rows, once it is no longer the last */
	char data[FLEXIBLE_ARRAY_MEMBER];
} RowBlock;

StaticAssertDecl(offsetof(RowBlock, data) == MAXALIGN(offsetof(RowBlock, data)),
				 "rows are aligned");

struct RowBlocks
{
	MemoryContext context;
	TupleDesc desc;
	int64 bytes; /* of all blocks */

	RowBlock *first;
	RowBlock *last;
	RowBlock *spare;
	char *free; /* in the last block */
	char *limit;

	RowBlock *reading;
	char *next; /* in the block that is read */

	/* rows without NULLs have a fixed layout, if all columns are passed by value */
	bool fixed;
	Size fixed_length;
	Size *offsets; /* of the columns in the row */
};

static void
lay_out(RowBlocks *blocks)
{
	Size offset = ROW_HEADER;

	blocks->offsets = MemoryContextAlloc(blocks->context, (blocks->desc->natts + 1) * sizeof(Size));
	blocks->fixed = blocks->desc->natts > 0;
	for (int i = 0; i < blocks->desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(blocks->desc, i);

		if (!att->attbyval || att->attisdropped)
		{
			blocks->fixed = false;
			return;
		}
		offset = att_align_nominal(offset, att->attalign);
		blocks->offsets[i] = offset;
		offset += att->attlen;
	}
	blocks->fixed_length = offset;
}

RowBlocks *
gpuagg_row_blocks_make(TupleDesc desc, MemoryContext context)
{
	RowBlocks *blocks = MemoryContextAllocZero(context, sizeof(*blocks));

	blocks->context = context;
	blocks->desc = desc;
	lay_out(blocks);
	return blocks;
}

/* The size of the next block for a row of so many bytes. */
static Size
block_size(const RowBlocks *blocks, Size length)
{
	Size size = LEAST_BLOCK;

	while (size < LARGEST_BLOCK && size * 8 <= (Size) blocks->bytes)
		size *= 2;
	return Max(size, length);
}

/* Makes room for a row in another block; false if that would pass the limit. */
static bool
add_block(RowBlocks *blocks, Size length, int64 limit)
{
	RowBlock *block = blocks->spare;
	Size size = block_size(blocks, length);

	if (block != NULL && block->size < size)
	{
		blocks->bytes -= block->size;
		pfree(block);
		block = NULL;
	}
	blocks->spare = NULL;
	if (block == NULL)
	{
		if (blocks->first != NULL && blocks->bytes + (int64) size > limit)
			return false;
		/* raises core's own error for rows that are too large */
		block = MemoryContextAlloc(blocks->context, offsetof(RowBlock, data) + size);
		block->size = size;
		blocks->bytes += size;
	}
	block->next = NULL;
	if (blocks->last != NULL)
	{
		blocks->last->end = blocks->free;
		blocks->last->next = block;
	}
	else
		blocks->first = block;
	blocks->last = block;
	blocks->free = block->data;
	blocks->limit = block->data + block->size;
	return true;
}

/* Room for a row; NULL if it would pass the limit. */
static inline MinimalTuple
take_room(RowBlocks *blocks, Size length, int64 limit)
{
	MinimalTuple row;

	length = MAXALIGN(length);
	if (unlikely((Size) (blocks->limit - blocks->free) < length) &&
		!add_block(blocks, length, limit))
		return NULL;
	row = (MinimalTuple) blocks->free;
	blocks->free += length;
	return row;
}

/* Writes the header of a row and zeroes the rest of it. */
static inline void
start_row(RowBlocks *blocks, MinimalTuple row, Size length, Size header)
{
	memset(row, 0, length);
	row->t_len = length;
	HeapTupleHeaderSetNatts(row, blocks->desc->natts);
	row->t_hoff = header + MINIMAL_TUPLE_OFFSET;
}

/* A row from the slot's values. */
static MinimalTuple
form_row(RowBlocks *blocks, TupleTableSlot *slot, int64 limit)
{
	int natts = blocks->desc->natts;
	bool has_nulls = false;
	Size header = SizeofMinimalTupleHeader;
	Size length;
	MinimalTuple row;

	for (int i = 0; i < natts; i++)
		has_nulls |= slot->tts_isnull[i];

	if (blocks->fixed && !has_nulls)
	{
		row = take_room(blocks, blocks->fixed_length, limit);
		if (row == NULL)
			return NULL;
		start_row(blocks, row, blocks->fixed_length, ROW_HEADER);
		for (int i = 0; i < natts; i++)
			store_att_byval((char *) row + blocks->offsets[i], slot->tts_values[i],
							TupleDescAttr(blocks->desc, i)->attlen);
		return row;
	}

	if (has_nulls)
		header += BITMAPLEN(natts);
	header = MAXALIGN(header);
	length = heap_compute_data_size(blocks->desc, slot->tts_values, slot->tts_isnull);
	row = take_room(blocks, header + length, limit);
	if (row == NULL)
		return NULL;
	start_row(blocks, row, header + length, header);
	heap_fill_tuple(blocks->desc, slot->tts_values, slot->tts_isnull, (char *) row + header, length,
					&row->t_infomask, has_nulls ? row->t_bits : NULL);
	return row;
}

/* A copy of a row's minimal tuple, or of what a heap tuple has of one. */
static inline MinimalTuple
copy_row(RowBlocks *blocks, const void *tuple, Size length, int64 limit)
{
	MinimalTuple row = take_room(blocks, length, limit);

	if (row != NULL)
	{
		memcpy(row, tuple, length);
		row->t_len = length;
	}
	return row;
}

MinimalTuple
gpuagg_row_blocks_append(RowBlocks *blocks, TupleTableSlot *slot, int64 limit)
{
	if (TTS_IS_MINIMALTUPLE(slot) && ((MinimalTupleTableSlot *) slot)->mintuple != NULL)
	{
		MinimalTuple tuple = ((MinimalTupleTableSlot *) slot)->mintuple;

		return copy_row(blocks, tuple, tuple->t_len, limit);
	}
	if ((TTS_IS_HEAPTUPLE(slot) || TTS_IS_BUFFERTUPLE(slot)) &&
		((HeapTupleTableSlot *) slot)->tuple != NULL)
	{
		HeapTuple tuple = ((HeapTupleTableSlot *) slot)->tuple;

		/* not if columns were added to the table after the row: those are in the slot only */
		if (HeapTupleHeaderGetNatts(tuple->t_data) == blocks->desc->natts)
			return copy_row(blocks, (char *) tuple->t_data + MINIMAL_TUPLE_OFFSET,
							tuple->t_len - MINIMAL_TUPLE_OFFSET, limit);
	}
	slot_getallattrs(slot);
	return form_row(blocks, slot, limit);
}

static void
release_block(RowBlocks *blocks, RowBlock *block)
{
	if (blocks->spare == NULL && block->size <= LARGEST_BLOCK)
		blocks->spare = block;
	else
	{
		blocks->bytes -= block->size;
		pfree(block);
	}
}

MinimalTuple
gpuagg_row_blocks_next(RowBlocks *blocks, bool release)
{
	MinimalTuple row;

	if (blocks->reading == NULL)
	{
		if (blocks->first == NULL)
			return NULL;
		blocks->reading = blocks->first;
		blocks->next = blocks->first->data;
	}
	while (blocks->next == (blocks->reading == blocks->last ? blocks->free : blocks->reading->end))
	{
		RowBlock *passed = blocks->reading;

		if (passed == blocks->last)
			return NULL;
		blocks->reading = passed->next;
		blocks->next = passed->next->data;
		if (release)
		{
			blocks->first = passed->next;
			release_block(blocks, passed);
		}
	}
	row = (MinimalTuple) blocks->next;
	blocks->next += MAXALIGN(row->t_len);
	return row;
}

int64
gpuagg_row_blocks_bytes(const RowBlocks *blocks)
{
	return blocks->bytes;
}

void
gpuagg_row_blocks_clear(RowBlocks *blocks)
{
	while (blocks->first != NULL)
	{
		RowBlock *block = blocks->first;

		blocks->first = block->next;
		release_block(blocks, block);
	}
	blocks->last = NULL;
	blocks->free = NULL;
	blocks->limit = NULL;
	blocks->reading = NULL;
	blocks->next = NULL;
}
