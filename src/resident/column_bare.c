/*
 * column_bare.c
 *	  Blocks of resident columns become bare: their values are on the device, and their place in
 *	  shared memory is wanted for others.
 *
 * A bare block is a new one, with all but values, in the place of the old; its blob stays.  Only
 * blobs that gpuaggd has confirmed count.
 */
#include "compat.h"

#include "resident/device_place.h"
#include "resident/resident_column.h"

#include "miscadmin.h"

#define STRIP_BYTES ((Size) 1024 * 1024) /* at a time, at least: finding them takes time */

/* A chunk whose block may become bare, the last one before `end`; false: there is none. */
static bool
find_chunk(ResidentColumn *column, uint32 end, uint32 *chunk, MemoryRef *block)
{
	bool found = false;

	LWLockAcquire(&column->lock, LW_SHARED);
	for (uint32 i = Min(end, column->ngroups * MAP_PAGE_CHUNKS); i-- > 0 && !found;)
	{
		const ChunkGroup *group = gpuagg_column_group(column, i);
		int number = i % MAP_PAGE_CHUNKS;

		if (group == NULL || !gpuagg_place_is_there(column, group, number, true))
			continue;
		*chunk = i;
		*block = group->marks[number].block;
		found = *block != 0 && !column_block_is_bare(*block);
	}
	LWLockRelease(&column->lock);
	return found;
}

/*
 * The block's place is free when those who hold it have gone; returns its bytes, 0: it stays.  Where
 * there is no memory for a bare one it goes, as the place of one has room for many.  *more: others may
 * follow at once.
 */
static Size
strip_block(ResidentColumn *column, uint32 chunk, MemoryRef old, bool *more)
{
	const ColumnBlock *block = gpuagg_column_block(old);
	void *address;
	MemoryRef bare = gpuagg_column_try_allocate(BARE_BLOCK_BYTES, false, &address);
	ChunkGroup *group;
	Size bytes = 0;

	*more = bare != 0;
	if (bare != 0 && block != NULL)
	{
		ColumnBlock *header = address;

		*header = *block;
		header->bytes = BARE_BLOCK_BYTES;
		header->nulls = header->values = 0;
	}
	LWLockAcquire(&column->lock, LW_EXCLUSIVE);
	group = gpuagg_column_group(column, chunk);
	if (block != NULL && !column->dead && group->marks[chunk % MAP_PAGE_CHUNKS].block == old &&
		gpuagg_place_is_there(column, group, chunk % MAP_PAGE_CHUNKS, true))
	{
		Size all = group->totals[chunk % MAP_PAGE_CHUNKS].bytes;

		if (bare == 0 ? gpuagg_column_retire(column, group, chunk)
					  : gpuagg_column_exchange(column, group, chunk, bare | MEMORY_REF_MARK,
											   BARE_BLOCK_BYTES))
		{
			bytes = all;
			bare = 0;
		}
	}
	LWLockRelease(&column->lock);
	if (bare != 0)
		gpuagg_column_memory_free(&gpuagg_columns_shared->memory, bare, BARE_BLOCK_BYTES);
	*more &= bytes > 0;
	return bytes;
}

void
gpuagg_column_fill_bare(ResidentColumn *column, uint32 chunk, MemoryRef bare, MemoryRef block,
						Size bytes)
{
	ChunkGroup *group;
	bool taken;

	LWLockAcquire(&column->lock, LW_EXCLUSIVE);
	group = gpuagg_column_group(column, chunk);
	taken = !column->dead && group->marks[chunk % MAP_PAGE_CHUNKS].block == bare &&
			gpuagg_column_exchange(column, group, chunk, block, bytes);
	LWLockRelease(&column->lock);
	if (!taken)
		gpuagg_column_memory_free(&gpuagg_columns_shared->memory, block, bytes);
}

/* Takes out bare blocks whose values are nowhere; returns their bytes. */
static Size
take_void(ResidentColumn *column, Size bytes)
{
	Size taken = 0;

	LWLockAcquire(&column->lock, LW_EXCLUSIVE);
	for (uint32 chunk = column->ngroups * MAP_PAGE_CHUNKS; chunk-- > 0 && taken < bytes;)
	{
		ChunkGroup *group = gpuagg_column_group(column, chunk);
		int number = chunk % MAP_PAGE_CHUNKS;

		if (group != NULL && column_block_is_bare(group->marks[number].block) &&
			!gpuagg_place_is_there(column, group, number, false) &&
			gpuagg_column_retire(column, group, chunk))
			taken += BARE_BLOCK_BYTES;
	}
	LWLockRelease(&column->lock);
	return taken;
}

/* Of a column that is pinned. */
static Size
strip(ResidentColumn *column, Size bytes)
{
	Size taken = take_void(column, bytes);
	uint32 chunk = PG_UINT32_MAX;
	MemoryRef block;
	bool more = true;

	while (taken < bytes && more && find_chunk(column, chunk, &chunk, &block))
	{
		CHECK_FOR_INTERRUPTS();
		taken += strip_block(column, chunk, block, &more);
	}
	return taken;
}

bool
gpuagg_columns_strip(Size bytes)
{
	ColumnInfo oldest;
	Size taken;
	ColumnPin pin;

	if (!gpuagg_column_oldest(PG_UINT64_MAX, COLUMN_HAS_TWICE, &oldest) ||
		!gpuagg_column_pin(&oldest.key, InvalidOid, false, &pin))
		return false;
	taken = strip(pin.column, Max(bytes, STRIP_BYTES));
	gpuagg_column_unpin(&pin);
	return taken > 0;
}
