/*
 * device_place.c
 *	  Blobs of gpuaggd that hold blocks of resident columns: the directory's side.
 */
#include "compat.h"

#include "miscadmin.h"

#include "device/shared_state.h"
#include "resident/device_place.h"
#include "resident/resident_column.h"

/* ---- epochs ---- */

/* All numbers are void: those of blobs that gpuaggd still has are dropped with their epoch. */
static void
advance(DevicePlaces *places)
{
	pg_atomic_write_u64(&places->epoch, pg_atomic_read_u64(&places->epoch) + 1);
	places->drop_before = pg_atomic_read_u64(&places->epoch);
	places->ndrops = 0;
}

uint64
gpuagg_device_epoch(void)
{
	DevicePlaces *places = &gpuagg_columns_shared->places;
	SharedState *state = gpuagg_state();
	uint32 generation = state != NULL ? pg_atomic_read_u32(&state->generation) : 0;

	if (pg_atomic_read_u32(&places->generation) != generation)
	{
		LWLockAcquire(&places->lock, LW_EXCLUSIVE);
		if (pg_atomic_read_u32(&places->generation) != generation)
		{
			advance(places);
			pg_atomic_write_u32(&places->generation, generation);
		}
		LWLockRelease(&places->lock);
	}
	return pg_atomic_read_u64(&places->epoch);
}

/* ---- blobs to be dropped ---- */

/* Keeps the number of a blob of the current epoch until somebody drops it. */
static void
keep_number(Oid database, uint64 number)
{
	DevicePlaces *places = &gpuagg_columns_shared->places;
	DroppedBlob *dropped = dsa_get_address(gpuagg_columns_area, places->dropped);

	LWLockAcquire(&places->lock, LW_EXCLUSIVE);
	if (places->ndrops == places->room)
		advance(places);
	else
		dropped[places->ndrops++] = (DroppedBlob){number, database};
	LWLockRelease(&places->lock);
}

uint64
gpuagg_device_number(void)
{
	/* where numbers are kept must be known before they are, in a process that ends */
	(void) dsa_get_address(gpuagg_columns_area, gpuagg_columns_shared->places.dropped);
	return pg_atomic_add_fetch_u64(&gpuagg_columns_shared->places.numbers, 1);
}

void
gpuagg_device_drop_number(uint64 number, uint64 epoch)
{
	if (epoch == pg_atomic_read_u64(&gpuagg_columns_shared->places.epoch))
		keep_number(MyDatabaseId, number);
}

void
gpuagg_device_not_dropped(uint64 before, Oid database, const GpuaggBlobName *names, int n)
{
	DevicePlaces *places = &gpuagg_columns_shared->places;

	for (int i = 0; i < n; i++)
		if (names[i].epoch == pg_atomic_read_u64(&places->epoch))
			keep_number(database, names[i].number);
	LWLockAcquire(&places->lock, LW_EXCLUSIVE);
	places->drop_before = Max(places->drop_before, before);
	LWLockRelease(&places->lock);
}

int
gpuagg_device_dropped(uint64 *before, Oid *database, GpuaggBlobName *names, int most)
{
	DevicePlaces *places = &gpuagg_columns_shared->places;
	DroppedBlob *dropped = dsa_get_address(gpuagg_columns_area, places->dropped);
	int n = 0;

	LWLockAcquire(&places->lock, LW_EXCLUSIVE);
	*before = places->drop_before;
	places->drop_before = 0;
	while (places->ndrops > 0 && n < most)
	{
		const DroppedBlob *last = &dropped[places->ndrops - 1];

		if (n > 0 && last->database != *database)
			break;
		*database = last->database;
		names[n++] = (GpuaggBlobName){last->number, pg_atomic_read_u64(&places->epoch)};
		places->ndrops--;
	}
	LWLockRelease(&places->lock);
	return n;
}

/* ---- a column's, under its lock ---- */

/* Numbers of an earlier epoch are none any more. */
static void
renew(ResidentColumn *column, ChunkGroup *group, uint64 epoch)
{
	if (column->device_epoch != epoch)
	{
		column->device_epoch = epoch;
		memset(&column->device, 0, sizeof(column->device));
		memset(&column->bare, 0, sizeof(column->bare));
		column->sure_chunks = 0;
	}
	if (group->device_epoch != epoch)
	{
		group->device_epoch = epoch;
		memset(group->device, 0, sizeof(group->device));
		memset(group->sure, 0, sizeof(group->sure));
	}
}

static void
count_placed(ColumnPlaced *placed, const ChunkTotals *totals, bool comes)
{
	int64 sign = comes ? 1 : -1;

	placed->nchunks += sign;
	placed->nrows += sign * totals->nrows;
	placed->npages += sign * totals->npages;
	placed->bytes += sign * totals->values;
}

static bool
is_sure(const ChunkGroup *group, int number)
{
	return (group->sure[number / 64] >> number % 64 & 1) != 0;
}

bool
gpuagg_place_is_there(const ResidentColumn *column, const ChunkGroup *group, int number, bool sure)
{
	return group->device[number] != 0 && group->device_epoch == column->device_epoch &&
		   group->device_epoch == gpuagg_device_epoch() && (!sure || is_sure(group, number));
}

void
gpuagg_place_count_bare(ResidentColumn *column, const ChunkGroup *group, int number, bool comes)
{
	count_placed(&column->bare, &group->totals[number], comes);
}

void
gpuagg_place_leave(ResidentColumn *column, ChunkGroup *group, int number, bool there)
{
	uint64 blob = group->device[number];

	if (blob == 0 || group->device_epoch != column->device_epoch ||
		group->device_epoch != pg_atomic_read_u64(&gpuagg_columns_shared->places.epoch))
		return;
	column_changed(column);
	group->device[number] = 0;
	count_placed(&column->device, &group->totals[number], false);
	if (column_block_is_bare(group->marks[number].block))
		gpuagg_place_count_bare(column, group, number, false);
	if (is_sure(group, number))
		column->sure_chunks--;
	group->sure[number / 64] &= ~(UINT64CONST(1) << number % 64);
	if (there)
		keep_number(column->key.database, blob);
}

/* The same; a bare block, whose values are nowhere then, goes. */
static void
leave(ResidentColumn *column, ChunkGroup *group, uint32 chunk, bool there)
{
	int number = chunk % MAP_PAGE_CHUNKS;

	gpuagg_place_leave(column, group, number, there);
	if (column_block_is_bare(group->marks[number].block))
		(void) gpuagg_column_retire(column, group, chunk);
}

void
gpuagg_column_places(ResidentColumn *column, uint64 epoch, uint32 first, uint32 n,
					 const MemoryRef *blocks, uint64 *numbers, int stride, PlacedRows *rows)
{
	LWLockAcquire(&column->lock, LW_SHARED);
	for (uint32 i = 0; i < n;)
	{
		uint32 within = (first + i) % MAP_PAGE_CHUNKS;
		uint32 end = Min(n, i + MAP_PAGE_CHUNKS - within);
		const ChunkGroup *group = gpuagg_column_group(column, first + i);
		bool current = group != NULL && group->device_epoch == epoch;

		for (; i < end; i++, within++)
		{
			numbers[(Size) i * stride] = current && group->marks[within].block == blocks[i]
											 ? group->device[within]
											 : 0;
			if (rows != NULL && current)
				rows[i] = (PlacedRows){group->totals[within].nrows, group->totals[within].npages};
		}
	}
	LWLockRelease(&column->lock);
}

uint64
gpuagg_column_place(ResidentColumn *column, uint64 epoch, uint32 chunk, MemoryRef block)
{
	int number = chunk % MAP_PAGE_CHUNKS;
	uint64 blob = 0;
	ChunkGroup *group;

	LWLockAcquire(&column->lock, LW_EXCLUSIVE);
	group = gpuagg_column_group(column, chunk);
	/* the caller's epoch may be over by now */
	if (group != NULL && !column->dead && group->marks[number].block == block &&
		epoch >= column->device_epoch && epoch >= group->device_epoch)
	{
		renew(column, group, epoch);
		if (group->device[number] == 0)
		{
			blob = gpuagg_device_number();
			column_changed(column);
			group->device[number] = blob;
			count_placed(&column->device, &group->totals[number], true);
		}
	}
	LWLockRelease(&column->lock);
	return blob;
}

void
gpuagg_column_settle(ResidentColumn *column, uint64 epoch, uint32 n, const uint32 *chunks,
					 const bool *in, const uint64 *numbers, int stride)
{
	bool all;

	LWLockAcquire(&column->lock, LW_SHARED);
	all = column->device_epoch != epoch || column->sure_chunks == column->device.nchunks;
	LWLockRelease(&column->lock);
	if (all)
		return;
	LWLockAcquire(&column->lock, LW_EXCLUSIVE);
	for (uint32 i = 0; i < n; i++)
	{
		int number = chunks[i] % MAP_PAGE_CHUNKS;
		ChunkGroup *group = gpuagg_column_group(column, chunks[i]);

		if ((in != NULL && !in[i]) || group == NULL || group->device_epoch != epoch ||
			column->device_epoch != epoch || group->device[number] != numbers[(Size) i * stride] ||
			is_sure(group, number))
			continue;
		group->sure[number / 64] |= UINT64CONST(1) << number % 64;
		column->sure_chunks++;
	}
	LWLockRelease(&column->lock);
}

bool
gpuagg_column_is_placed(ResidentColumn *column, uint32 chunk, MemoryRef block)
{
	const ChunkGroup *group;
	bool placed;

	LWLockAcquire(&column->lock, LW_SHARED);
	group = gpuagg_column_group(column, chunk);
	placed = group != NULL && group->marks[chunk % MAP_PAGE_CHUNKS].block == block &&
			 gpuagg_place_is_there(column, group, chunk % MAP_PAGE_CHUNKS, false);
	LWLockRelease(&column->lock);
	return placed;
}

void
gpuagg_column_displace(ResidentColumn *column, uint32 chunk, uint64 number, bool there)
{
	ChunkGroup *group;

	LWLockAcquire(&column->lock, LW_EXCLUSIVE);
	group = gpuagg_column_group(column, chunk);
	if (group != NULL && group->device[chunk % MAP_PAGE_CHUNKS] == number)
		leave(column, group, chunk, there);
	LWLockRelease(&column->lock);
}

/* ---- room ---- */

/* Takes blobs of so many bytes from a column, the last chunks' first. */
static Size
take_blobs(ResidentColumn *column, Size bytes)
{
	Size taken = 0;

	LWLockAcquire(&column->lock, LW_EXCLUSIVE);
	for (uint32 chunk = column->ngroups * MAP_PAGE_CHUNKS; chunk-- > 0 && taken < bytes;)
	{
		ChunkGroup *group = gpuagg_column_group(column, chunk);
		uint64 before = column->device.bytes;

		if (group == NULL)
			continue;
		leave(column, group, chunk, true);
		taken += before - column->device.bytes;
	}
	LWLockRelease(&column->lock);
	return taken;
}

bool
gpuagg_device_make_room(Size bytes, uint64 before)
{
	ColumnInfo oldest;
	Size taken = 0;
	ColumnPin pin;

	if (gpuagg_column_oldest(before, COLUMN_HAS_BLOBS, &oldest) &&
		gpuagg_column_pin(&oldest.key, InvalidOid, false, &pin))
	{
		taken = take_blobs(pin.column, bytes);
		gpuagg_column_unpin(&pin);
	}
	return taken > 0;
}
