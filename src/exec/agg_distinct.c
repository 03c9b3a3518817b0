/*
 * agg_distinct.c
 *	  The distinct values of an argument in each group of a GpuAgg node.
 */
#include "compat.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "exec/agg_distinct.h"
#include "exec/spill_files.h"

#define FIRST_VALUES 256  /* that a table has room for */
#define LEAST_ROOM	 4096 /* entries of a table that is full */
#define FILL		 0.7  /* of a table's entries; from there on it may grow, for collisions */

/* A value as a key: packed, or short. */
typedef struct DistinctKey
{
	PackedKey value;
	AggGroup *group;
} DistinctKey;

typedef struct DistinctEntry
{
	DistinctKey key;
	uint32 hash;
	uint32 status;
} DistinctEntry;

static inline uint32
hash_distinct(DistinctKey key)
{
	uint64 group = (uint64) (uintptr_t) key.group * UINT64CONST(0x9FB21C651E98DF25);

	return gpuagg_key_hash((PackedKey){key.value.low, key.value.high ^ group});
}

#define SH_PREFIX		   distinct
#define SH_ELEMENT_TYPE	   DistinctEntry
#define SH_KEY_TYPE		   DistinctKey
#define SH_KEY			   key
#define SH_HASH_KEY(tb, k) hash_distinct(k)
#define SH_EQUAL(tb, a, b) \
	((a).value.low == (b).value.low && (a).group == (b).group && (a).value.high == (b).value.high)
#define SH_SCOPE static inline
#define SH_STORE_HASH
#define SH_GET_HASH(tb, entry) ((entry)->hash)
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct AggDistinct
{
	VectorValue form;
	Oid type;
	MemoryContext context;
	distinct_hash *table;
	SpillFiles *files;
	bool taking;
	distinct_iterator position;
};

bool
gpuagg_distinct_fits(const VectorValue *form)
{
	return form->type != GPUAGG_VECTOR_INT128 && form->type != GPUAGG_VECTOR_DATUM;
}

AggDistinct *
gpuagg_distinct_make(const VectorValue *form, Oid type)
{
	AggDistinct *distinct = palloc0(sizeof(AggDistinct));

	distinct->form = *form;
	distinct->type = type;
	distinct->files = gpuagg_spill_files_make();
	distinct->context = AllocSetContextCreate(CurrentMemoryContext, "gpuagg distinct values",
											  ALLOCSET_DEFAULT_SIZES);
	distinct->table = distinct_create(distinct->context, FIRST_VALUES, NULL);
	return distinct;
}

/* ---- in ---- */

/* Brings the keys of rows whose values are short to the front; the rows of the others to rest. */
static int
keep_short(DistinctKey *keys, const uint8 *used, const uint16 *rows, int n, uint16 *rest)
{
	int nshort = 0;

	for (int i = 0; i < n; i++)
		if (used[i] <= GPUAGG_SHORT_KEY)
			keys[nshort++] = keys[i];
		else
			rest[i - nshort] = rows[i];
	return nshort;
}

static void
insert(AggDistinct *distinct, const DistinctKey *keys, int n)
{
	distinct_hash *table = distinct->table;
	uint32 hashes[GPUAGG_VECTOR_ROWS];

	for (int i = 0; i < n; i++)
	{
		hashes[i] = hash_distinct(keys[i]);
		__builtin_prefetch(&table->data[hashes[i] & table->sizemask]);
	}
	for (int i = 0; i < n; i++)
	{
		bool there;

		(void) distinct_insert_hash(table, keys[i], hashes[i], &there);
	}
}

int
gpuagg_distinct_add(AggDistinct *distinct, const GpuaggVector *vector, AggGroup *const *groups,
					const uint16 *rows, int n, uint16 *rest)
{
	PackedKey values[GPUAGG_VECTOR_ROWS];
	DistinctKey keys[GPUAGG_VECTOR_ROWS];
	uint8 used[GPUAGG_VECTOR_ROWS];
	bool all = true;
	int nshort = n;

	if (distinct->form.type == GPUAGG_VECTOR_BYTES)
		all = gpuagg_keys_shorten(&distinct->form, 1, vector, rows, n, values, used);
	else
		gpuagg_keys_pack(&distinct->form, 1, vector, rows, n, values);
	for (int i = 0; i < n; i++)
		keys[i] = (DistinctKey){values[i], groups[i]};
	if (!all)
		nshort = keep_short(keys, used, rows, n, rest);
	insert(distinct, keys, nshort);
	return n - nshort;
}

bool
gpuagg_distinct_add_datum(AggDistinct *distinct, AggGroup *group, Datum value)
{
	GpuaggInt128 place;
	uint64 valid;
	GpuaggVector vector = {.values = &place, .valid = &valid};
	uint16 row = 0;

	return gpuagg_key_store(&distinct->form, distinct->type, &vector, value, false) &&
		   gpuagg_distinct_add(distinct, &vector, &group, &row, 1, &row) == 0;
}

void
gpuagg_distinct_add_key(AggDistinct *distinct, AggGroup *group, PackedKey key)
{
	DistinctKey both = {key, group};

	insert(distinct, &both, 1);
}

bool
gpuagg_distinct_is_full(const AggDistinct *distinct, Size limit)
{
	Size room = pg_prevpower2_64(Max(limit / sizeof(DistinctEntry), LEAST_ROOM));

	return distinct->table->members + GPUAGG_VECTOR_ROWS > FILL * room;
}

Size
gpuagg_distinct_bytes(const AggDistinct *distinct)
{
	return MemoryContextMemAllocated(distinct->context, true);
}

int64
gpuagg_distinct_spill(AggDistinct *distinct)
{
	int64 bytes = (int64) (distinct->table->members * sizeof(DistinctKey));
	distinct_iterator position;
	const DistinctEntry *entry;

	if (!gpuagg_spill_files_can_write(distinct->files))
		return 0;
	distinct_start_iterate(distinct->table, &position);
	while ((entry = distinct_iterate(distinct->table, &position)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		gpuagg_spill_files_write(distinct->files, entry->hash, &entry->key, sizeof(entry->key));
	}
	distinct_reset(distinct->table);
	return bytes;
}

/* ---- out ---- */

Datum
gpuagg_distinct_value(const AggDistinct *distinct, PackedKey key)
{
	int64 number = gpuagg_key_unpack(key, GPUAGG_VECTOR_INT64);
	GpuaggVectorBytes bytes = {(const uint8 *) &key + 1, key.low & 0xff};
	GpuaggVector vector = {.values = &number};
	bool isnull;

	if (distinct->form.type == GPUAGG_VECTOR_BYTES)
		vector.values = &bytes;
	return gpuagg_vector_datum(&vector, &distinct->form, distinct->type, 0, &isnull);
}

/* The values of the next file, as far as they fit; the others are in files again. */
static bool
load(AggDistinct *distinct, Size limit)
{
	DistinctKey keys[GPUAGG_VECTOR_ROWS];
	int n = 0;

	if (!gpuagg_spill_files_open(distinct->files))
		return false;
	while (gpuagg_spill_files_read(distinct->files, &keys[n], sizeof(DistinctKey)))
	{
		if (++n < GPUAGG_VECTOR_ROWS)
			continue;
		CHECK_FOR_INTERRUPTS();
		if (gpuagg_distinct_is_full(distinct, limit))
			(void) gpuagg_distinct_spill(distinct);
		insert(distinct, keys, n);
		n = 0;
	}
	insert(distinct, keys, n);
	return true;
}

bool
gpuagg_distinct_take(AggDistinct *distinct, Size limit, AggGroup **group, PackedKey *key)
{
	for (;;)
	{
		const DistinctEntry *entry;

		if (!distinct->taking)
		{
			/* others of the files that are being written may be the same values */
			if (gpuagg_spill_files_written(distinct->files))
				(void) gpuagg_distinct_spill(distinct);
			distinct_start_iterate(distinct->table, &distinct->position);
			distinct->taking = true;
		}
		entry = distinct_iterate(distinct->table, &distinct->position);
		if (entry != NULL)
		{
			*group = entry->key.group;
			*key = entry->key.value;
			return true;
		}
		distinct->taking = false;
		distinct_reset(distinct->table);
		if (!load(distinct, limit))
			return false;
	}
}

void
gpuagg_distinct_clear(AggDistinct *distinct)
{
	gpuagg_spill_files_empty(distinct->files);
	distinct->taking = false;
	MemoryContextReset(distinct->context);
	distinct->table = distinct_create(distinct->context, FIRST_VALUES, NULL);
}
