/*
 * agg_groups.c
 *	  The groups of a GpuAgg node.
 *
 * Two tables by PostgreSQL's simplehash: over keys in two words, whose entries have the
 * key, and over keys as bytes, whose entries point to it.  Keys of a whole vector are made
 * first, column by column, and their entries prefetched.  Single integers that lie densely
 * are found by an index instead; as long as it has all of them, new ones are in no table.
 */
#include "compat.h"

#include "access/nbtree.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "exec/agg_groups.h"
#include "exec/agg_keys.h"
#include "exec/large_memory.h"
#include "operation/accumulators.h"

#define FIRST_GROUPS  256 /* that a table has room for */
#define BLOCK_GROUPS  64  /* allocated at a time, at most; of many groups as many as are */
#define BLOCK_PART	  8	  /* so small a part of those that there are, */
#define BLOCK_BYTES	  (8 * 1024 * 1024) /* and so many bytes at most */
#define CACHED_GROUPS 1024				/* beyond so many their states are prefetched */
#define REPLACEMENTS  1024				/* of a group, before what it has grown into is freed */

/*
 * An index by value has at most so many places, for rounding and room not counted: for each group
 * that there is, or, until rows have come for which an index is cheap, for each that is expected.
 */
#define DIRECT_LEAST 1024
#define DIRECT_GROUP 4
#define DIRECT_ROW	 16	 /* for each row */
#define DIRECT_BYTES 512 /* of memory for groups, for each that is expected */

typedef struct PackedEntry
{
	PackedKey key;
	AggGroup *group;
	uint32 hash;
	uint32 status;
} PackedEntry;

/* Groups by key, where keys are single integers: of first to first + n - 1. */
typedef struct DirectIndex
{
	int64 first;
	uint64 n; /* 0: none */
	AggGroup **groups;
	bool all;	 /* groups with a key that is not NULL are all here; the table lacks some of them */
	int64 least; /* of all keys */
	int64 greatest;
} DirectIndex;

typedef struct BytesKey
{
	const char *data;
	uint32 size;
} BytesKey;

typedef struct BytesEntry
{
	BytesKey key;
	AggGroup *group;
	uint32 hash;
	uint32 status;
} BytesEntry;

static inline uint32
hash_of_bytes(BytesKey key)
{
	return hash_bytes((const unsigned char *) key.data, (int) key.size);
}

#define SH_PREFIX		   packed
#define SH_ELEMENT_TYPE	   PackedEntry
#define SH_KEY_TYPE		   PackedKey
#define SH_KEY			   key
#define SH_HASH_KEY(tb, k) gpuagg_key_hash(k)
#define SH_EQUAL(tb, a, b) ((a).low == (b).low && (a).high == (b).high)
#define SH_SCOPE		   static inline
#define SH_STORE_HASH
#define SH_GET_HASH(tb, entry) ((entry)->hash)
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

#define SH_PREFIX		   bytes
#define SH_ELEMENT_TYPE	   BytesEntry
#define SH_KEY_TYPE		   BytesKey
#define SH_KEY			   key
#define SH_HASH_KEY(tb, k) hash_of_bytes(k)
#define SH_EQUAL(tb, a, b) ((a).size == (b).size && memcmp((a).data, (b).data, (a).size) == 0)
#define SH_SCOPE		   static inline
#define SH_STORE_HASH
#define SH_GET_HASH(tb, entry) ((entry)->hash)
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Groups lie in blocks, in the order in which they came. */
struct GroupBlock
{
	GroupBlock *next;
	int n;	  /* groups */
	int room; /* for so many */
	AggGroup groups[FLEXIBLE_ARRAY_MEMBER];
};

/* A group that is in no table yet. */
typedef struct PendingGroup
{
	PackedKey key;
	AggGroup *group;
} PendingGroup;

struct AggGroups
{
	GroupLayout *layout;
	MemoryContext context;
	Size group_size;
	void *owner;
	bool pack;
	packed_hash *packed; /* of packed keys, or of short ones */
	bytes_hash *bytes;	 /* unless keys are packed: of those that are not short */
	DirectIndex direct;
	int64 expected;		   /* groups, at most as many as memory may have an index for */
	int64 nrows;		   /* that have been looked for by single integers */
	PendingGroup *pending; /* entered when a group is looked for */
	int64 npending;
	int64 pending_room;
	bool by_vector; /* some form compares keys of these types */
	PlanState *parent;
	TupleHashTable odd; /* keys without a form; made when there is one */
	MemoryContext odd_temporary;
	TupleTableSlot *odd_slot; /* keys */
	AggGroup *only;			  /* without keys */
	GroupBlock *first_block;
	GroupBlock *last_block;
	int64 ngroups;
	int replaced; /* so often has there been another group */
	uint64 generation;
	StringInfoData buffer; /* keys of a vector as bytes */
};

/* ---- groups ---- */

static Size
state_size(const AggGroupState *state)
{
	const StateFamily *family = gpuagg_families[state->family];

	return state->op == GPUAGG_MOMENTS ? family->size_of_moments : family->size;
}

static void
make_tables(AggGroups *groups)
{
	MemoryContext context = groups->context;

	groups->owner = MemoryContextAlloc(context, 1);
	groups->packed = NULL;
	groups->bytes = NULL;
	if (groups->layout->nkeys > 0)
	{
		groups->packed = packed_create(context, FIRST_GROUPS, NULL);
		if (!groups->pack)
			groups->bytes = bytes_create(context, FIRST_GROUPS, NULL);
	}
	groups->direct = (DirectIndex){.least = PG_INT64_MAX, .greatest = PG_INT64_MIN};
	groups->pending = NULL;
	groups->npending = 0;
	groups->pending_room = 0;
	groups->odd = NULL;
	groups->only = NULL;
	groups->first_block = NULL;
	groups->last_block = NULL;
	groups->nrows = 0;
	groups->ngroups = 0;
	groups->replaced = 0;
	groups->generation++;
}

AggGroups *
gpuagg_groups_make(GroupLayout *layout, PlanState *parent)
{
	AggGroups *groups = palloc0(sizeof(AggGroups));
	Size size = MAXALIGN(layout->nvalues * (sizeof(Datum) + sizeof(bool)) + sizeof(uint32));
	int bits = 0;

	layout->states_at = size;
	for (int i = 0; i < layout->nstates; i++)
	{
		layout->states[i].at = size;
		size += MAXALIGN(state_size(&layout->states[i]));
	}
	groups->layout = layout;
	groups->parent = parent;
	groups->expected = (int64) Min(parent->plan->plan_rows,
								   (double) (get_hash_memory_limit() / DIRECT_BYTES));
	groups->group_size = size;
	groups->pack = true;
	groups->by_vector = true;
	for (int i = 0; i < layout->nkeys; i++)
	{
		bits += gpuagg_key_bits(layout->keys[i].type);
		groups->pack &= layout->keys[i].type != GPUAGG_VECTOR_BYTES;
		groups->by_vector &= gpuagg_key_has_form(&layout->keys[i], layout->values[i].type,
												 layout->equality[i], layout->collations[i]);
	}
	groups->pack &= bits <= 128;
	groups->context = AllocSetContextCreate(CurrentMemoryContext, "gpuagg groups",
											ALLOCSET_DEFAULT_SIZES);
	groups->odd_temporary = AllocSetContextCreate(CurrentMemoryContext, "gpuagg keys",
												  ALLOCSET_SMALL_SIZES);
	make_tables(groups);
	return groups;
}

bool
gpuagg_groups_by_vector(const AggGroups *groups)
{
	return groups->by_vector;
}

/* The block for one more group. */
static GroupBlock *
open_block(AggGroups *groups)
{
	GroupBlock *block = groups->last_block;
	int room;

	if (block != NULL && block->n < block->room)
		return block;
	room = (int) Min(groups->ngroups / BLOCK_PART, BLOCK_BYTES / groups->group_size);
	room = Max(room, (int) Min(Max(groups->ngroups, 1), BLOCK_GROUPS));
	block = gpuagg_large_memory(groups->context,
								offsetof(GroupBlock, groups) + room * groups->group_size);
	block->next = NULL;
	block->n = 0;
	block->room = room;
	if (groups->last_block != NULL)
		groups->last_block->next = block;
	else
		groups->first_block = block;
	groups->last_block = block;
	return block;
}

/* A group, whose values are a row's.  It does not count before all of it is there. */
static AggGroup *
new_group(AggGroups *groups, uint32 hash, GroupFill fill, void *owner, int row)
{
	GroupLayout *layout = groups->layout;
	GroupBlock *block = open_block(groups);
	AggGroup *group = block->groups + block->n * groups->group_size;

	*gpuagg_group_hash(layout, group) = hash;
	for (int i = 0; i < layout->nstates; i++)
	{
		const AggGroupState *state = &layout->states[i];
		Accumulator *acc = gpuagg_group_state(layout, group, i);

		gpuagg_accumulator_init(acc, groups->context, state->family, state->op, state->kind);
		if (state->family == SQL_FAMILY_NUMERIC)
			((NumericAccumulator *) acc)->sums.groups = state->groups;
	}
	if (layout->nvalues > 0)
	{
		Datum *values = gpuagg_group_values(group);
		bool *nulls = gpuagg_group_nulls(layout, group);
		MemoryContext old;

		fill(owner, row, values, nulls);
		old = MemoryContextSwitchTo(groups->context);
		for (int i = 0; i < layout->nvalues; i++)
			if (!layout->values[i].by_value && !nulls[i])
				values[i] = datumCopy(values[i], false, layout->values[i].length);
		MemoryContextSwitchTo(old);
	}
	block->n++;
	groups->ngroups++;
	return group;
}

/* ---- finding ---- */

static void
find_packed(AggGroups *groups, const PackedKey *keys, const uint16 *rows, int n, GroupFill fill,
			void *owner, AggGroup **found)
{
	packed_hash *table = groups->packed;
	uint32 hashes[GPUAGG_VECTOR_ROWS];

	for (int i = 0; i < n; i++)
	{
		hashes[i] = gpuagg_key_hash(keys[i]);
		__builtin_prefetch(&table->data[hashes[i] & table->sizemask]);
	}
	for (int i = 0; i < n; i++)
	{
		bool there;
		PackedEntry *entry = packed_insert_hash(table, keys[i], hashes[i], &there);

		if (unlikely(!there))
		{
			entry->group = NULL;
			entry->group = new_group(groups, hashes[i], fill, owner, rows[i]);
		}
		found[i] = entry->group;
	}
}

static AggGroup *
find_bytes(AggGroups *groups, const GpuaggVector *vectors, int row, GroupFill fill, void *owner)
{
	StringInfo buf = &groups->buffer;
	BytesKey key;
	BytesEntry *entry;
	bool there;

	if (buf->data == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(groups));

		initStringInfo(buf);
		MemoryContextSwitchTo(old);
	}
	resetStringInfo(buf);
	gpuagg_keys_append(buf, groups->layout->keys, groups->layout->nkeys, vectors, row);
	key = (BytesKey){buf->data, (uint32) buf->len};
	entry = bytes_insert(groups->bytes, key, &there);
	if (!there)
	{
		char *copy = MemoryContextAlloc(groups->context, key.size);

		memcpy(copy, key.data, key.size);
		entry->key.data = copy;
		entry->group = NULL;
		entry->group = new_group(groups, entry->hash, fill, owner, row);
	}
	return entry->group;
}

/* Short keys of all rows, or of those whose keys are short, by words; the others by bytes. */
static void
find_short(AggGroups *groups, const GpuaggVector *vectors, const uint16 *rows, int n,
		   GroupFill fill, void *owner, AggGroup **found)
{
	PackedKey keys[GPUAGG_VECTOR_ROWS];
	uint8 used[GPUAGG_VECTOR_ROWS];

	if (gpuagg_keys_shorten(groups->layout->keys, groups->layout->nkeys, vectors, rows, n, keys,
							used))
		find_packed(groups, keys, rows, n, fill, owner, found);
	else
		for (int i = 0; i < n; i++)
			if (used[i] <= GPUAGG_SHORT_KEY)
				find_packed(groups, &keys[i], &rows[i], 1, fill, owner, &found[i]);
			else
				found[i] = find_bytes(groups, vectors, rows[i], fill, owner);
}

/* ---- one integer as key: by its value ---- */

static bool
is_integer(GpuaggVectorType type)
{
	return type == GPUAGG_VECTOR_INT16 || type == GPUAGG_VECTOR_INT32 ||
		   type == GPUAGG_VECTOR_INT64;
}

static void
enter_all(AggGroups *groups)
{
	DirectIndex *index = &groups->direct;
	GpuaggVectorType type = groups->layout->keys[0].type;
	packed_iterator position;
	PackedEntry *entry;

	packed_start_iterate(groups->packed, &position);
	while ((entry = packed_iterate(groups->packed, &position)) != NULL)
	{
		int64 key = gpuagg_key_unpack(entry->key, type);
		uint64 at = (uint64) key - (uint64) index->first;

		if (!gpuagg_key_packs_null(entry->key) && at < index->n)
			index->groups[at] = entry->group;
	}
}

/* All that the index has into the table, which finds them from now on. */
static void
enter_indexed(AggGroups *groups)
{
	DirectIndex *index = &groups->direct;
	PackedKey key;

	for (uint64 at = 0; at < index->n; at++)
	{
		bool there;

		if (index->groups[at] == NULL)
			continue;
		key = gpuagg_key_of_integer(index->first + (int64) at, groups->layout->keys[0].type);
		packed_insert_hash(groups->packed, key,
						   *gpuagg_group_hash(groups->layout, index->groups[at]), &there)
			->group = index->groups[at];
	}
	index->all = false;
}

/* Makes a new index, if keys lie so densely that it is small; false: it stays as it is. */
static bool
widen_index(AggGroups *groups)
{
	DirectIndex *index = &groups->direct;
	DirectIndex old = *index;
	int64 expected = Min(DIRECT_GROUP * groups->expected, DIRECT_ROW * groups->nrows);
	int64 range;
	uint64 n;

	if (__builtin_sub_overflow(index->greatest, index->least, &range) ||
		range >= Max(Max(DIRECT_LEAST, DIRECT_GROUP * groups->ngroups), expected))
		return false;
	n = pg_nextpower2_64(range + range / 2 + 1);
	index->groups = gpuagg_large_memory(groups->context, n * sizeof(AggGroup *));
	memset(index->groups, 0, n * sizeof(AggGroup *));
	index->n = n;
	index->first = index->least;
	if (index->least > PG_INT64_MIN + range / 4)
		index->first -= range / 4; /* room for smaller ones */
	if (!old.all)
		enter_all(groups);
	for (uint64 at = 0; at < old.n && old.all; at++)
		if (old.groups[at] != NULL)
			index->groups[(uint64) old.first + at - (uint64) index->first] = old.groups[at];
	index->all = true;
	if (old.n > 0)
		pfree(old.groups);
	return true;
}

/* Keeps an index over all keys, if it can, of a group that is in the table. */
static void
index_group(AggGroups *groups, PackedKey packed, AggGroup *group)
{
	DirectIndex *index = &groups->direct;
	int64 key = gpuagg_key_unpack(packed, groups->layout->keys[0].type);

	if (gpuagg_key_packs_null(packed))
		return;
	index->least = Min(index->least, key);
	index->greatest = Max(index->greatest, key);
	if ((uint64) key - (uint64) index->first < index->n || widen_index(groups))
		index->groups[(uint64) key - (uint64) index->first] = group;
	else
		index->all = false;
}

/* Groups of rows whose keys are in the index; the places of the others in `missing`. */
static pg_attribute_always_inline int
look_up(const DirectIndex *index, const GpuaggVector *vector, GpuaggVectorType type,
		const uint16 *rows, int n, AggGroup **found, uint16 *missing)
{
	int nmissing = 0;

	for (int i = 0; i < n; i++)
	{
		uint64 at = (uint64) gpuagg_key_integer(vector, type, rows[i]) - (uint64) index->first;
		bool within = at < index->n && !gpuagg_key_is_null(vector, rows[i]);

		found[i] = within ? index->groups[at] : NULL;
		missing[nmissing] = (uint16) i;
		nmissing += found[i] == NULL;
	}
	return nmissing;
}

/* The same of the missing by the table. */
static void
find_in_table(AggGroups *groups, const GpuaggVector *vector, const uint16 *rows,
			  const uint16 *missing, int n, GroupFill fill, void *owner, AggGroup **found)
{
	const VectorValue *form = groups->layout->keys;
	PackedKey keys[GPUAGG_VECTOR_ROWS];
	AggGroup *some[GPUAGG_VECTOR_ROWS];
	uint16 their_rows[GPUAGG_VECTOR_ROWS];
	int64 before = groups->ngroups;

	for (int i = 0; i < n; i++)
		their_rows[i] = rows[missing[i]];
	gpuagg_keys_pack(form, 1, vector, their_rows, n, keys);
	find_packed(groups, keys, their_rows, n, fill, owner, some);
	for (int i = 0; i < n; i++)
		found[missing[i]] = some[i];
	for (int i = 0; i < n && groups->ngroups > before; i++)
		index_group(groups, keys[i], some[i]);
}

/*
 * Of the missing, where the index has all groups, makes those that it has room for; returns how
 * many of the others, whose places go first, there are.
 */
static int
make_in_index(AggGroups *groups, const GpuaggVector *vector, const uint16 *rows, uint16 *missing,
			  int n, GroupFill fill, void *owner, AggGroup **found)
{
	DirectIndex *index = &groups->direct;
	GpuaggVectorType type = groups->layout->keys[0].type;
	int left = 0;

	for (int i = 0; i < n; i++)
	{
		int row = rows[missing[i]];
		int64 key = gpuagg_key_integer(vector, type, row);
		uint64 at = (uint64) key - (uint64) index->first;

		if (gpuagg_key_is_null(vector, row) || !index->all)
		{
			missing[left++] = missing[i];
			continue;
		}
		index->least = Min(index->least, key);
		index->greatest = Max(index->greatest, key);
		if (at >= index->n)
		{
			if (!widen_index(groups))
			{
				enter_indexed(groups);
				missing[left++] = missing[i];
				continue;
			}
			at = (uint64) key - (uint64) index->first;
		}
		if (index->groups[at] == NULL)
			index->groups[at] = new_group(groups, gpuagg_key_hash(gpuagg_key_of_integer(key, type)),
										  fill, owner, row);
		found[missing[i]] = index->groups[at];
	}
	return left;
}

static void
find_integer(AggGroups *groups, const GpuaggVector *vector, const uint16 *rows, int n,
			 GroupFill fill, void *owner, AggGroup **found)
{
	const DirectIndex *index = &groups->direct;
	uint16 missing[GPUAGG_VECTOR_ROWS];
	int nmissing;

	switch (groups->layout->keys[0].type)
	{
		case GPUAGG_VECTOR_INT16:
			nmissing = look_up(index, vector, GPUAGG_VECTOR_INT16, rows, n, found, missing);
			break;
		case GPUAGG_VECTOR_INT32:
			nmissing = look_up(index, vector, GPUAGG_VECTOR_INT32, rows, n, found, missing);
			break;
		default:
			nmissing = look_up(index, vector, GPUAGG_VECTOR_INT64, rows, n, found, missing);
			break;
	}
	groups->nrows += n;
	if (nmissing > 0 && index->all)
		nmissing = make_in_index(groups, vector, rows, missing, nmissing, fill, owner, found);
	if (nmissing > 0)
		find_in_table(groups, vector, rows, missing, nmissing, fill, owner, found);
}

/* ---- groups that are known to be new ---- */

static bool
is_one_integer(const GroupLayout *layout)
{
	return layout->nkeys == 1 && is_integer(layout->keys[0].type);
}

/* Enters those pending, before any is looked for; an error leaves the others pending. */
static void
enter_pending(AggGroups *groups)
{
	const GroupLayout *layout = groups->layout;
	packed_hash *table = groups->packed;
	uint64 size = (uint64) table->members + (uint64) groups->npending;

	/* one that is full to nine tenths grows */
	size += size / 8;
	if (size > table->size && size < PG_UINT32_MAX / 2)
		packed_grow(table, size);
	while (groups->npending > 0)
	{
		PendingGroup *pending = &groups->pending[groups->npending - 1];
		bool there;

		packed_insert(table, pending->key, &there)->group = pending->group;
		groups->npending--;
		if (is_one_integer(layout))
			index_group(groups, pending->key, pending->group);
	}
	pfree(groups->pending);
	groups->pending = NULL;
	groups->pending_room = 0;
}

bool
gpuagg_groups_may_append(const AggGroups *groups)
{
	return groups->ngroups == 0 && groups->layout->nkeys > 0 && groups->pack;
}

void
gpuagg_groups_append(AggGroups *groups, const GpuaggVector *keys, const uint16 *rows, int n,
					 GroupFill fill, void *owner, AggGroup **made)
{
	const GroupLayout *layout = groups->layout;
	PackedKey packed[GPUAGG_VECTOR_ROWS];

	if (groups->npending + n > groups->pending_room)
	{
		int64 room = Max(2 * groups->pending_room, FIRST_GROUPS + n);
		Size bytes = room * sizeof(PendingGroup);

		groups->pending = groups->pending == NULL ? MemoryContextAllocHuge(groups->context, bytes)
												  : repalloc_huge(groups->pending, bytes);
		groups->pending_room = room;
	}
	gpuagg_keys_pack(layout->keys, layout->nkeys, keys, rows, n, packed);
	for (int i = 0; i < n; i++)
	{
		made[i] = new_group(groups, gpuagg_key_hash(packed[i]), fill, owner, rows[i]);
		groups->pending[groups->npending++] = (PendingGroup){packed[i], made[i]};
	}
}

void
gpuagg_groups_find(AggGroups *groups, const GpuaggVector *keys, const uint16 *rows, int n,
				   GroupFill fill, void *owner, AggGroup **found)
{
	const GroupLayout *layout = groups->layout;

	if (groups->npending > 0)
		enter_pending(groups);
	if (is_one_integer(layout))
		find_integer(groups, keys, rows, n, fill, owner, found);
	else if (groups->pack)
	{
		PackedKey packed[GPUAGG_VECTOR_ROWS];

		gpuagg_keys_pack(layout->keys, layout->nkeys, keys, rows, n, packed);
		find_packed(groups, packed, rows, n, fill, owner, found);
	}
	else
		find_short(groups, keys, rows, n, fill, owner, found);
	gpuagg_groups_prefetch(groups, found, n);
}

void
gpuagg_groups_prefetch(const AggGroups *groups, AggGroup *const *found, int n)
{
	if (groups->ngroups <= CACHED_GROUPS)
		return;
	for (int i = 0; i < n; i++)
		for (Size at = groups->layout->states_at; at < groups->group_size; at += 64)
			__builtin_prefetch(found[i] + at);
}

AggGroup *
gpuagg_groups_replace(AggGroups *groups, GroupFill fill, void *owner, int row)
{
	if (groups->replaced == REPLACEMENTS)
		gpuagg_groups_clear(groups);
	if (groups->ngroups > 0)
	{
		groups->replaced++;
		groups->first_block->n = 0;
		groups->ngroups = 0;
	}
	return new_group(groups, 0, fill, owner, row);
}

/* ---- keys without a form ---- */

static void
make_odd(AggGroups *groups)
{
	const GroupLayout *layout = groups->layout;
	int n = layout->nkeys;
	MemoryContext old = MemoryContextSwitchTo(groups->context);
	AttrNumber *columns = palloc(n * sizeof(AttrNumber));
	Oid *operators = palloc(n * sizeof(Oid));
	Oid *collations = palloc(n * sizeof(Oid));
	Oid *functions;
	FmgrInfo *hash;
	TupleDesc desc = CreateTemplateTupleDesc(n);

	for (int i = 0; i < n; i++)
	{
		columns[i] = (AttrNumber) (i + 1);
		operators[i] = layout->equality[i];
		collations[i] = layout->collations[i];
		TupleDescInitEntry(desc, (AttrNumber) (i + 1), NULL, layout->values[i].type, -1, 0);
	}
	execTuplesHashPrepare(n, operators, &functions, &hash);
	groups->odd = compat_tuple_hash_table(groups->parent, desc, columns, functions, hash,
										  collations, groups->context, groups->odd_temporary);
	groups->odd_slot = MakeTupleTableSlot(desc, &TTSOpsVirtual);
	MemoryContextSwitchTo(old);
}

static AggGroup *
find_odd(AggGroups *groups, const Datum *keys, const bool *isnull, GroupFill fill, void *owner)
{
	TupleTableSlot *slot;
	TupleHashEntry entry;
	void **pointer;
	bool isnew;

	if (groups->odd == NULL)
		make_odd(groups);
	slot = groups->odd_slot;
	ExecClearTuple(slot);
	memcpy(slot->tts_values, keys, groups->layout->nkeys * sizeof(Datum));
	memcpy(slot->tts_isnull, isnull, groups->layout->nkeys * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	entry = LookupTupleHashEntry(groups->odd, slot, &isnew, NULL);
	MemoryContextReset(groups->odd_temporary);
	pointer = compat_tuple_hash_pointer(groups->odd, entry);
	if (isnew)
	{
		*pointer = NULL;
		*pointer = new_group(groups, entry->hash, fill, owner, 0);
	}
	return *pointer;
}

AggGroup *
gpuagg_groups_find_datums(AggGroups *groups, const Datum *keys, const bool *isnull, GroupFill fill,
						  void *owner)
{
	int n = groups->layout->nkeys;
	bool fits = groups->by_vector;
	uint16 row = 0;
	AggGroup *found;
	GpuaggVector *vectors;
	GpuaggInt128 *values;
	uint64 *valid;

	if (n == 0)
		return gpuagg_groups_only(groups);
	vectors = palloc(n * sizeof(GpuaggVector));
	values = palloc(n * sizeof(GpuaggInt128));
	valid = palloc(n * sizeof(uint64));
	for (int i = 0; i < n && fits; i++)
	{
		vectors[i].values = &values[i];
		vectors[i].valid = &valid[i];
		fits = gpuagg_key_store(&groups->layout->keys[i], groups->layout->values[i].type,
								&vectors[i], keys[i], isnull[i]);
	}
	if (!fits)
		return find_odd(groups, keys, isnull, fill, owner);
	gpuagg_groups_find(groups, vectors, &row, 1, fill, owner, &found);
	return found;
}

/* ---- all of them ---- */

AggGroup *
gpuagg_groups_only(AggGroups *groups)
{
	if (groups->only == NULL)
		groups->only = new_group(groups, 0, NULL, NULL, 0);
	return groups->only;
}

uint64
gpuagg_groups_generation(const AggGroups *groups)
{
	return groups->generation;
}

int64
gpuagg_groups_count(const AggGroups *groups)
{
	return groups->ngroups;
}

Size
gpuagg_groups_bytes(const AggGroups *groups)
{
	return MemoryContextMemAllocated(groups->context, true);
}

void *
gpuagg_groups_owner(const AggGroups *groups)
{
	return groups->owner;
}

AggGroup *
gpuagg_groups_next(AggGroups *groups, GroupPosition *position)
{
	if (position->begun && position->block == NULL)
		return NULL;
	if (!position->begun)
		position->block = groups->first_block;
	position->begun = true;
	while (position->block != NULL && position->next == position->block->n)
	{
		position->block = position->block->next;
		position->next = 0;
	}
	if (position->block == NULL)
		return NULL;
	return position->block->groups + position->next++ * groups->group_size;
}

void
gpuagg_groups_clear(AggGroups *groups)
{
	MemoryContextReset(groups->context);
	make_tables(groups);
}
