/*
 * resident_column.c
 *	  The chunks of a resident column: blocks come, are confirmed, and go.
 */
#include "compat.h"

#include "resident/device_place.h"
#include "resident/resident_column.h"

#include "device/attempt.h"
#include "resident/rules.h"

#define CACHE_LINE 64 /* bytes */

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

/* The group of a chunk; NULL: there is no memory for it yet.  Under the column's lock. */
ChunkGroup *
gpuagg_column_group(ResidentColumn *column, uint32 chunk)
{
	uint32 group = chunk / MAP_PAGE_CHUNKS;
	dsa_pointer *groups = groups_of(column);

	if (group >= column->ngroups || !DsaPointerIsValid(groups[group]))
		return NULL;
	return dsa_get_address(gpuagg_columns_area, groups[group]);
}

static ChunkState
get_state(const ChunkGroup *group, uint32 chunk)
{
	int number = chunk % MAP_PAGE_CHUNKS;
	const ChunkTotals *totals = &group->totals[number];

	return (ChunkState){group->marks[number].block,
						group->marks[number].records,
						group->evidence[number].map_lsn,
						group->evidence[number].confirmed,
						totals->bytes,
						totals->values,
						totals->nrows,
						totals->npages};
}

static void
set_evidence(ResidentColumn *column, ChunkGroup *group, uint32 chunk, XLogRecPtr map_lsn,
			 ChunkPages confirmed)
{
	int number = chunk % MAP_PAGE_CHUNKS;
	uint64 bit = UINT64CONST(1) << number % 64;
	ChunkPages missing = chunk_without(chunk_range(chunk_npages(number, MAP_PAGE_BLOCKS)),
									   confirmed);

	column_changed(column);
	group->evidence[number] = (ChunkEvidence){map_lsn, confirmed};
	if (map_lsn > group->map_lsn)
	{
		group->map_lsn = map_lsn;
		memset(group->whole, 0, sizeof(group->whole));
	}
	group->whole[number / 64] &= ~bit;
	if (map_lsn == group->map_lsn && chunk_is_empty(&missing))
		group->whole[number / 64] |= bit;
}

static void
set_state(ResidentColumn *column, ChunkGroup *group, uint32 chunk, const ChunkState *state,
		  const BlockSummary *summary)
{
	int number = chunk % MAP_PAGE_CHUNKS;

	group->marks[number] = (ChunkMark){state->block, state->records};
	group->totals[number] = (ChunkTotals){state->bytes, state->values, state->nrows, state->npages,
										  summary->nvalid};
	group->extremes[number] = (ChunkExtremes){summary->minimum, summary->maximum};
	set_evidence(column, group, chunk, state->map_lsn, state->confirmed);
}

/* Memory for a chunk's group; false: there is no room. */
static bool
make_group(ResidentColumn *column, uint32 chunk)
{
	uint32 group = chunk / MAP_PAGE_CHUNKS;
	dsa_pointer new_group;
	dsa_pointer new_groups = InvalidDsaPointer;
	uint32 ngroups = 0;
	bool there;

	LWLockAcquire(&column->lock, LW_SHARED);
	there = gpuagg_column_group(column, chunk) != NULL;
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
	new_group = allocate(sizeof(ChunkGroup));
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
	there = gpuagg_column_group(column, chunk) != NULL;
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
	static const ColumnPlaced none = {0};
	uint64 dictionary = gpuagg_dictionary_bytes(&column->dictionary);
	ColumnInfo info;
	uint64 epoch = gpuagg_device_epoch();
	const ColumnPlaced *device;
	const ColumnPlaced *bare;

	LWLockAcquire(&column->lock, LW_SHARED);
	device = column->device_epoch == epoch ? &column->device : &none;
	bare = column->device_epoch == epoch ? &column->bare : &none;
	info = (ColumnInfo){
		.key = column->key,
		.relation = column->relation,
		.refusal = column->refusal,
		.nchunks = column->nchunks + bare->nchunks,
		.nrows = column->nrows + bare->nrows,
		.npages = column->npages + bare->npages,
		.bytes = column->bytes + dictionary,
		.device_bytes = device->bytes,
		.device_pages = device->npages,
		.device_chunks = device->nchunks,
		.sure_chunks = column->device_epoch == epoch ? column->sure_chunks : 0,
		.bare_chunks = bare->nchunks,
		.bare_rows = bare->nrows,
		.bare_pages = bare->npages,
		.void_bytes = column->bare_bytes - bare->nchunks * BARE_BLOCK_BYTES,
		.uses = pg_atomic_read_u64(&column->uses),
		.last = pg_atomic_read_u64(&column->last),
		.last_use = (TimestampTz) pg_atomic_read_u64(&column->last_use),
	};
	LWLockRelease(&column->lock);
	return info;
}

uint32
gpuagg_column_chunks(ResidentColumn *column)
{
	uint32 n;

	LWLockAcquire(&column->lock, LW_SHARED);
	n = column->ngroups * MAP_PAGE_CHUNKS;
	LWLockRelease(&column->lock);
	return n;
}

void
gpuagg_column_states(ResidentColumn *column, uint32 first, uint32 n, ChunkState *states)
{
	LWLockAcquire(&column->lock, LW_SHARED);
	for (uint32 i = 0; i < n;)
	{
		uint32 within = (first + i) % MAP_PAGE_CHUNKS;
		uint32 some = Min(n - i, MAP_PAGE_CHUNKS - within);
		const ChunkGroup *group = gpuagg_column_group(column, first + i);

		for (uint32 k = i; k < i + some; k++)
			states[k] = group != NULL ? get_state(group, first + k) : (ChunkState){0};
		i += some;
	}
	LWLockRelease(&column->lock);
}

void
gpuagg_column_summaries(ResidentColumn *column, uint32 first, uint32 n, const MemoryRef *blocks,
						BlockSummary *summaries)
{
	LWLockAcquire(&column->lock, LW_SHARED);
	for (uint32 i = 0; i < n;)
	{
		uint32 within = (first + i) % MAP_PAGE_CHUNKS;
		uint32 end = Min(n, i + MAP_PAGE_CHUNKS - within);
		const ChunkGroup *group = gpuagg_column_group(column, first + i);

		for (; i < end; i++, within++)
		{
			const ChunkTotals *totals;
			const ChunkExtremes *extremes;

			summaries[i].npages = 0;
			if (group == NULL || group->marks[within].block != blocks[i])
				continue;
			totals = &group->totals[within];
			extremes = &group->extremes[within];
			summaries[i] = (BlockSummary){extremes->minimum, extremes->maximum, totals->nrows,
										  totals->nvalid, totals->npages};
		}
	}
	LWLockRelease(&column->lock);
}

/* Which chunks have visible pages that are not confirmed: odd[i] gets bits. */
static void
find_unconfirmed(const ChunkGroup *group, int begin, int n, XLogRecPtr map_lsn,
				 const ChunkPages *visible, uint64 *odd)
{
	/* what is confirmed wholly, as most chunks are, has any page that is visible */
	bool latest = RULE_VALUE(map_lsn, group->map_lsn == map_lsn, false);

	for (int i = 0; i < n; i++)
	{
		int number = begin + i;
		uint64 others = ~(latest ? group->whole[number / 64] : 0) >> number % 64;
		const ChunkEvidence *evidence;

		i += others != 0 ? __builtin_ctzll(others) : 63 - number % 64;
		if (others == 0 || i >= n)
			continue;
		evidence = &group->evidence[begin + i];
		odd[i] |= RULE_VALUE(map_lsn, evidence->map_lsn ^ map_lsn, 0);
#pragma GCC unroll 4
		for (int w = 0; w < CHUNK_WORDS; w++)
			odd[i] |= visible[i].words[w] & ~evidence->confirmed.words[w];
	}
}

void
gpuagg_column_glance(ResidentColumn *column, uint32 first, uint32 n, XLogRecPtr map_lsn,
					 const ChunkPages *visible, bool set, MemoryRef *blocks, uint64 *records,
					 uint64 *odd)
{
	const ChunkGroup *group;

	LWLockAcquire(&column->lock, LW_SHARED);
	group = gpuagg_column_group(column, first);
	if (group != NULL)
	{
		int begin = first % MAP_PAGE_CHUNKS;
		const ChunkMark *marks = &group->marks[begin];

		/* all at once: they are in no near cache, and would come one after the other */
		for (uint32 i = 0; i < n; i += CACHE_LINE / sizeof(ChunkMark))
			__builtin_prefetch(&marks[i]);
		find_unconfirmed(group, begin, n, map_lsn, visible, odd);
		for (uint32 i = 0; i < n && set; i++)
			records[i] = marks[i].records;
		for (uint32 i = 0; i < n; i++)
		{
			odd[i] |= marks[i].records ^ records[i];
			blocks[i] = marks[i].block;
		}
	}
	LWLockRelease(&column->lock);
	if (group != NULL)
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
	ChunkGroup *group;

	LWLockAcquire(&column->lock, LW_EXCLUSIVE);
	group = gpuagg_column_group(column, chunk);
	if (group != NULL)
	{
		ChunkState state = get_state(group, chunk);

		if (state.block == block && state.map_lsn == map_lsn)
			set_evidence(column, group, chunk, map_lsn, chunk_either(state.confirmed, pages));
		else if (state.block == block && state.map_lsn < map_lsn)
			set_evidence(column, group, chunk, map_lsn, pages);
	}
	LWLockRelease(&column->lock);
}

/* ---- in and out ---- */

/* Of a bare block's rows it depends on the device whether they are anywhere. */
static void
count(ResidentColumn *column, const ChunkState *state, bool comes)
{
	int64 sign = comes ? 1 : -1;

	if (state->block == 0)
		return;
	column->bytes += sign * state->bytes;
	if (column_block_is_bare(state->block))
	{
		column->bare_bytes += sign * state->bytes;
		return;
	}
	column->nchunks += sign;
	column->nrows += sign * state->nrows;
	column->npages += sign * state->npages;
}

/* A block is out for those who come from now on; false: there is no room for one more. */
static bool
put_out(ResidentColumn *column, const ChunkState *state)
{
	if (column->nretired == RETIRED_ROOM)
		return false;
	column->version++;
	column->retired[column->nretired++] = (RetiredBlock){state->block, state->bytes,
														 column->version};
	count(column, state, false);
	return true;
}

bool
gpuagg_column_retire(ResidentColumn *column, ChunkGroup *group, uint32 chunk)
{
	ChunkState state = get_state(group, chunk);

	if (state.block == 0)
		return true;
	if (!put_out(column, &state))
		return false;
	gpuagg_place_leave(column, group, chunk % MAP_PAGE_CHUNKS, true);
	set_state(column, group, chunk, &(ChunkState){0}, &(BlockSummary){{0}});
	return true;
}

bool
gpuagg_column_exchange(ResidentColumn *column, ChunkGroup *group, uint32 chunk, MemoryRef block,
					   Size bytes)
{
	int number = chunk % MAP_PAGE_CHUNKS;
	ChunkState state = get_state(group, chunk);
	bool bare = column_block_is_bare(block);

	Assert(bare != column_block_is_bare(state.block));
	if (!put_out(column, &state))
		return false;
	if (!bare && gpuagg_place_is_there(column, group, number, false))
		gpuagg_place_count_bare(column, group, number, false);
	state.block = block;
	state.bytes = (uint32) bytes;
	column_changed(column);
	group->marks[number].block = state.block;
	group->totals[number].bytes = state.bytes;
	count(column, &state, true);
	if (bare)
		gpuagg_place_count_bare(column, group, number, true);
	return true;
}

bool
gpuagg_column_publish(ResidentColumn *column, uint32 chunk, MemoryRef old, const ChunkState *state,
					  const BlockSummary *summary)
{
	bool taken = false;

	if (make_group(column, chunk))
	{
		ChunkGroup *group;

		LWLockAcquire(&column->lock, LW_EXCLUSIVE);
		group = gpuagg_column_group(column, chunk);
		if (!column->dead && group->marks[chunk % MAP_PAGE_CHUNKS].block == old &&
			gpuagg_column_retire(column, group, chunk))
		{
			set_state(column, group, chunk, state, summary);
			count(column, state, true);
			taken = true;
		}
		LWLockRelease(&column->lock);
	}
	if (!taken)
		gpuagg_column_memory_free(&gpuagg_columns_shared->memory, state->block, state->bytes);
	return taken;
}

/* The same of bare blocks, or of others. */
static Size
take_out(ResidentColumn *column, Size bytes, bool bare)
{
	Size taken = 0;

	for (uint32 chunk = column->ngroups * MAP_PAGE_CHUNKS; chunk-- > 0 && taken < bytes;)
	{
		ChunkGroup *group = gpuagg_column_group(column, chunk);
		ChunkState state;

		if (group == NULL)
			continue;
		state = get_state(group, chunk);
		if (state.block != 0 && column_block_is_bare(state.block) == bare &&
			gpuagg_column_retire(column, group, chunk))
			taken += state.bytes;
	}
	return taken;
}

Size
gpuagg_column_take_out(ResidentColumn *column, Size bytes)
{
	Size taken;

	LWLockAcquire(&column->lock, LW_EXCLUSIVE);
	taken = take_out(column, bytes, false);
	if (taken == 0)
		taken = take_out(column, bytes, true);
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

uint64
gpuagg_column_changes(ResidentColumn *column)
{
	uint64 changes;

	LWLockAcquire(&column->lock, LW_SHARED);
	changes = column->changes;
	LWLockRelease(&column->lock);
	return changes;
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
