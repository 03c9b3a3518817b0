/*
 * resident_column.c
 *	  The chunks of a resident column: blocks come, are confirmed, and go.
 */
#include "compat.h"

#include "resident/resident_column.h"

#include "device/attempt.h"
#include "resident/rules.h"

/* ---- memory of the area ---- */

typedef struct AreaWish
{
	Size bytes;
	dsa_pointer pointer;
} AreaWish;

static void
get_area(void *arg)
{
	AreaWish *wish = arg;

	wish->pointer = dsa_allocate_extended(gpuagg_columns_area, wish->bytes,
										  DSA_ALLOC_NO_OOM | DSA_ALLOC_ZERO);
}

/* Zeros; invalid: there is no room. */
static dsa_pointer
allocate(Size bytes)
{
	AreaWish wish = {bytes, InvalidDsaPointer};

	return gpuagg_attempt(get_area, &wish, NULL, 0) ? wish.pointer : InvalidDsaPointer;
}

/* ---- chunks ---- */

static dsa_pointer *
groups_of(const ResidentColumn *column)
{
	return DsaPointerIsValid(column->groups) ? dsa_get_address(gpuagg_columns_area, column->groups)
											 : NULL;
}

/* A chunk's state; NULL: there is no memory for it yet.  Under the column's lock. */
static ChunkState *
state_of(ResidentColumn *column, uint32 chunk)
{
	uint32 group = chunk / MAP_PAGE_CHUNKS;
	dsa_pointer *groups = groups_of(column);

	if (group >= column->ngroups || !DsaPointerIsValid(groups[group]))
		return NULL;
	return (ChunkState *) dsa_get_address(gpuagg_columns_area, groups[group]) +
		   chunk % MAP_PAGE_CHUNKS;
}

/* Memory for a chunk's state; false: there is no room. */
static bool
make_state(ResidentColumn *column, uint32 chunk)
{
	uint32 group = chunk / MAP_PAGE_CHUNKS;
	dsa_pointer new_group;
	dsa_pointer new_groups = InvalidDsaPointer;
	uint32 ngroups = 0;
	bool there;

	LWLockAcquire(&column->lock, LW_SHARED);
	there = state_of(column, chunk) != NULL;
	if (group >= column->ngroups)
		ngroups = Max(group + 1, 2 * column->ngroups);
	LWLockRelease(&column->lock);
	if (there)
		return true;

	/* without the lock, as it may fail */
	if (ngroups > 0)
	{
		new_groups = allocate(ngroups * sizeof(dsa_pointer));
		if (!DsaPointerIsValid(new_groups))
			return false;
	}
	new_group = allocate(MAP_PAGE_CHUNKS * sizeof(ChunkState));
	LWLockAcquire(&column->lock, LW_EXCLUSIVE);
	if (DsaPointerIsValid(new_groups) && ngroups > column->ngroups)
	{
		dsa_pointer old = column->groups;
		dsa_pointer *to = dsa_get_address(gpuagg_columns_area, new_groups);

		if (column->ngroups > 0)
			memcpy(to, groups_of(column), column->ngroups * sizeof(dsa_pointer));
		column->groups = new_groups;
		column->ngroups = ngroups;
		new_groups = old;
	}
	if (DsaPointerIsValid(new_group) && group < column->ngroups &&
		!DsaPointerIsValid(groups_of(column)[group]))
	{
		groups_of(column)[group] = new_group;
		new_group = InvalidDsaPointer;
	}
	there = state_of(column, chunk) != NULL;
	LWLockRelease(&column->lock);
	if (DsaPointerIsValid(new_groups))
		dsa_free(gpuagg_columns_area, new_groups);
	if (DsaPointerIsValid(new_group))
		dsa_free(gpuagg_columns_area, new_group);
	return there;
}

ColumnInfo
gpuagg_column_info(ResidentColumn *column)
{
	uint64 dictionary = gpuagg_dictionary_bytes(&column->dictionary);
	ColumnInfo info;

	LWLockAcquire(&column->lock, LW_SHARED);
	info = (ColumnInfo){column->key,
						column->relation,
						column->refusal,
						column->nchunks,
						column->nrows,
						column->npages,
						column->bytes + dictionary,
						pg_atomic_read_u64(&column->uses),
						pg_atomic_read_u64(&column->last),
						(TimestampTz) pg_atomic_read_u64(&column->last_use)};
	LWLockRelease(&column->lock);
	return info;
}

void
gpuagg_column_states(ResidentColumn *column, uint32 first, uint32 n, ChunkState *states)
{
	LWLockAcquire(&column->lock, LW_SHARED);
	for (uint32 i = 0; i < n;)
	{
		uint32 within = (first + i) % MAP_PAGE_CHUNKS;
		uint32 some = Min(n - i, MAP_PAGE_CHUNKS - within);
		const ChunkState *from = state_of(column, first + i);

		if (from != NULL)
			memcpy(states + i, from, some * sizeof(ChunkState));
		else
			memset(states + i, 0, some * sizeof(ChunkState));
		i += some;
	}
	LWLockRelease(&column->lock);
}

void
gpuagg_column_glance(ResidentColumn *column, uint32 first, uint32 n, XLogRecPtr map_lsn,
					 const ChunkPages *visible, bool set, MemoryRef *blocks, uint64 *records,
					 uint64 *odd)
{
	const ChunkState *states;

	LWLockAcquire(&column->lock, LW_SHARED);
	states = state_of(column, first);
	for (uint32 i = 0; i < n && states != NULL; i++)
	{
		const ChunkState *state = &states[i];
		uint64 differs = RULE_VALUE(map_lsn, state->map_lsn ^ map_lsn, 0);

		if (set)
			records[i] = state->records;
		differs |= state->records ^ records[i];
#pragma GCC unroll 4
		for (int w = 0; w < CHUNK_WORDS; w++)
			differs |= visible[i].words[w] & ~state->confirmed.words[w];
		odd[i] |= differs;
		blocks[i] = state->block;
	}
	LWLockRelease(&column->lock);
	if (states != NULL)
		return;
	memset(blocks, 0, n * sizeof(MemoryRef));
	memset(records, 0, n * sizeof(uint64));
	memset(odd, -1, n * sizeof(uint64));
}

const ColumnBlock *
gpuagg_column_block(MemoryRef ref)
{
	return gpuagg_column_memory_at(&gpuagg_columns_shared->memory, ref);
}

void
gpuagg_column_confirm(ResidentColumn *column, uint32 chunk, MemoryRef block, XLogRecPtr map_lsn,
					  ChunkPages pages)
{
	ChunkState *state;

	LWLockAcquire(&column->lock, LW_EXCLUSIVE);
	state = state_of(column, chunk);
	if (state != NULL && state->block == block)
	{
		if (state->map_lsn == map_lsn)
			state->confirmed = chunk_either(state->confirmed, pages);
		else if (state->map_lsn < map_lsn)
		{
			state->map_lsn = map_lsn;
			state->confirmed = pages;
		}
	}
	LWLockRelease(&column->lock);
}

/* ---- in and out ---- */

static void
count(ResidentColumn *column, const ChunkState *state, bool comes)
{
	if (state->block == 0)
		return;
	if (comes)
	{
		column->nchunks++;
		column->nrows += state->nrows;
		column->npages += state->npages;
		column->bytes += state->bytes;
	}
	else
	{
		column->nchunks--;
		column->nrows -= state->nrows;
		column->npages -= state->npages;
		column->bytes -= state->bytes;
	}
}

/* Takes the block out of a chunk, under the lock; false: there is no room for one more. */
static bool
retire(ResidentColumn *column, ChunkState *state)
{
	if (state->block == 0)
		return true;
	if (column->nretired == RETIRED_ROOM)
		return false;
	column->version++;
	column->retired[column->nretired++] = (RetiredBlock){state->block, state->bytes,
														 column->version};
	count(column, state, false);
	memset(state, 0, sizeof(ChunkState));
	return true;
}

bool
gpuagg_column_publish(ResidentColumn *column, uint32 chunk, MemoryRef old, const ChunkState *state)
{
	bool taken = false;

	if (make_state(column, chunk))
	{
		ChunkState *place;

		LWLockAcquire(&column->lock, LW_EXCLUSIVE);
		place = state_of(column, chunk);
		if (!column->dead && place->block == old && retire(column, place))
		{
			*place = *state;
			count(column, state, true);
			taken = true;
		}
		LWLockRelease(&column->lock);
	}
	if (!taken)
		gpuagg_column_memory_free(&gpuagg_columns_shared->memory, state->block, state->bytes);
	return taken;
}

Size
gpuagg_column_take_out(ResidentColumn *column, Size bytes)
{
	Size taken = 0;

	LWLockAcquire(&column->lock, LW_EXCLUSIVE);
	for (uint32 group = column->ngroups; group-- > 0 && taken < bytes;)
		for (int i = MAP_PAGE_CHUNKS; i-- > 0 && taken < bytes;)
		{
			ChunkState *state = state_of(column, group * MAP_PAGE_CHUNKS + i);
			Size size;

			if (state == NULL)
				break;
			size = state->bytes;
			if (state->block != 0 && retire(column, state))
				taken += size;
		}
	LWLockRelease(&column->lock);
	return taken;
}

/* ---- the end ---- */

uint64
gpuagg_column_version(ResidentColumn *column)
{
	uint64 version;

	LWLockAcquire(&column->lock, LW_SHARED);
	version = column->version;
	LWLockRelease(&column->lock);
	return version;
}

int
gpuagg_column_collect(ResidentColumn *column, uint64 least, RetiredBlock *gone, bool *dead)
{
	int n = 0;

	LWLockAcquire(&column->lock, LW_EXCLUSIVE);
	for (int i = column->nretired; i-- > 0;)
		if (column->retired[i].version <= least)
		{
			gone[n++] = column->retired[i];
			column->retired[i] = column->retired[--column->nretired];
		}
	*dead = column->dead;
	LWLockRelease(&column->lock);
	return n;
}

void
gpuagg_column_discard(ResidentColumn *column)
{
	dsa_pointer *groups = groups_of(column);

	do
	{
		for (int i = 0; i < column->nretired; i++)
			gpuagg_column_memory_free(&gpuagg_columns_shared->memory, column->retired[i].block,
									  column->retired[i].bytes);
		column->nretired = 0;
	} while (gpuagg_column_take_out(column, SIZE_MAX) > 0);
	gpuagg_dictionary_discard(&column->dictionary);
	for (uint32 i = 0; i < column->ngroups; i++)
		if (DsaPointerIsValid(groups[i]))
			dsa_free(gpuagg_columns_area, groups[i]);
	if (groups != NULL)
		dsa_free(gpuagg_columns_area, column->groups);
	dsa_free(gpuagg_columns_area, column->self);
}
