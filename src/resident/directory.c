/*
 * directory.c
 *	  The directory of resident columns: finding, making and throwing out columns.
 */
#include "compat.h"

#include "resident/resident_column.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "common/hashfn.h"
#include "lib/dshash.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "device/attempt.h"
#include "gpuagg.h"
#include "resident/rules.h"

/* What of the memory columns' records may take: this part, and at least so many bytes. */
#define AREA_PART  16
#define AREA_BYTES ((Size) 2 * 1024 * 1024)

/* What of the values' memory is left to bare blocks, where there is a device. */
#define BARE_PART 32

#define SEEN_MS	  (60 * 60 * 1000)

typedef struct ColumnEntry
{
	ColumnKey key;
	dsa_pointer column;
} ColumnEntry;

ColumnsShared *gpuagg_columns_shared = NULL;
dsa_area *gpuagg_columns_area = NULL;
static dshash_table *table = NULL;
static dsa_area *unfinished = NULL; /* that is being made */

/* ---- the directory itself ---- */

static Size
memory_setting(void)
{
	return (Size) gpuagg_column_memory * 1024;
}

static Size
area_bytes(void)
{
	return Max(memory_setting() / AREA_PART, AREA_BYTES);
}

Size
gpuagg_columns_limit(void)
{
	Size all = memory_setting();
	Size area = area_bytes();

	return all > area ? all - area : 0;
}

static void
init_shared(void *p)
{
	ColumnsShared *shared = p;

	memset(shared, 0, COLUMNS_SHARED_SIZE);
	shared->layout = COLUMNS_SHARED_LAYOUT;
	shared->tranche = LWLockNewTrancheId();
	pg_atomic_init_u64(&shared->clock, 0);
	pg_atomic_init_u64(&shared->changes, 0);
	LWLockInitialize(&shared->lock, shared->tranche);
	gpuagg_column_memory_init(&shared->memory, shared->tranche);
	/* greater than those of servers before, so that their blobs are not taken for this one's */
	pg_atomic_init_u64(&shared->places.epoch, (uint64) GetCurrentTimestamp());
	pg_atomic_init_u64(&shared->places.numbers, 0);
	pg_atomic_init_u32(&shared->places.generation, 0);
	LWLockInitialize(&shared->places.lock, shared->tranche);
	shared->area = DSM_HANDLE_INVALID;
}

static dshash_parameters
parameters(void)
{
	dshash_parameters p = {0};

	p.key_size = sizeof(ColumnKey);
	p.entry_size = sizeof(ColumnEntry);
	p.compare_function = dshash_memcmp;
	p.hash_function = dshash_memhash;
	COMPAT_DSHASH_COPY(p);
	p.tranche_id = gpuagg_columns_shared->tranche;
	return p;
}

/* Makes what is in dynamic shared memory; others wait for it. */
static void
make_area(void)
{
	ColumnsShared *shared = gpuagg_columns_shared;
	dshash_parameters p = parameters();
	dsa_area *area = dsa_create(shared->tranche);

	/* under an error later it is gone when this process lets go of it: it is pinned last */
	dsa_pin_mapping(area);
	unfinished = area;
	dsa_set_size_limit(area, area_bytes());
	table = dshash_create(area, &p, NULL);
	shared->slots = dsa_allocate_extended(area, COLUMN_PINS * sizeof(PinSlot), DSA_ALLOC_ZERO);
	shared->seen = dsa_allocate_extended(area, COLUMNS_SEEN * sizeof(SeenColumn), DSA_ALLOC_ZERO);
	shared->places.room = (int) Min(area_bytes() / DROPPED_PART / sizeof(DroppedBlob),
									DROPPED_MOST);
	shared->places.room = Max(shared->places.room, DROPPED_LEAST);
	shared->places.dropped = dsa_allocate(area, shared->places.room * sizeof(DroppedBlob));
	shared->table = dshash_get_hash_table_handle(table);
	dsa_pin(area);
	shared->area = dsa_get_handle(area);
	unfinished = NULL;
	gpuagg_columns_area = area;
}

static void
open_directory(void *arg)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	ColumnsShared *shared = compat_shared_struct("gpuagg columns", COLUMNS_SHARED_SIZE,
												 init_shared);

	if (shared->layout != COLUMNS_SHARED_LAYOUT)
		elog(ERROR, "another version of gpuagg has resident columns");
	gpuagg_columns_shared = shared;
	LWLockRegisterTranche(shared->tranche, "gpuagg columns");
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	if (shared->area == DSM_HANDLE_INVALID)
		make_area();
	else
	{
		dshash_parameters p = parameters();
		dsa_area *area = dsa_attach(shared->area);

		unfinished = area;
		dsa_pin_mapping(area);
		table = dshash_attach(area, &p, shared->table, NULL);
		unfinished = NULL;
		gpuagg_columns_area = area;
	}
	LWLockRelease(&shared->lock);
	MemoryContextSwitchTo(old);
}

bool
gpuagg_directory_open(void)
{
	static TimestampTz failed = 0;
	static char reason[sizeof(gpuagg_columns_shared->memory.reason)];

	if (gpuagg_columns_area == NULL)
	{
		if (gpuagg_column_memory == 0)
			return false;
		/* not at every query: it takes time */
		if (failed != 0 && !TimestampDifferenceExceeds(failed, GetCurrentTimestamp(), 10000))
			return false;
		if (!gpuagg_attempt(open_directory, NULL, reason, sizeof(reason)))
		{
			failed = GetCurrentTimestamp();
			if (gpuagg_columns_shared != NULL)
				strlcpy(gpuagg_columns_shared->memory.reason, reason, sizeof(reason));
			if (unfinished != NULL)
				dsa_detach(unfinished);
			unfinished = NULL;
			gpuagg_columns_area = NULL;
			return false;
		}
	}
	if (gpuagg_column_memory == 0)
	{
		if (gpuagg_directory_bytes() > 0)
		{
			(void) gpuagg_directory_evict(InvalidOid, InvalidOid);
			gpuagg_directory_trim(0);
		}
		return false;
	}
	return true;
}

const char *
gpuagg_directory_reason(void)
{
	if (gpuagg_column_memory == 0)
		return "\"gpuagg.column_memory\" is 0";
	if (gpuagg_columns_shared == NULL ||
		(gpuagg_columns_area == NULL && gpuagg_columns_shared->memory.reason[0] == '\0'))
		return "there is no directory of columns";
	return gpuagg_columns_shared->memory.reason;
}

Size
gpuagg_directory_bytes(void)
{
	return gpuagg_columns_area == NULL ? 0
									   : gpuagg_column_memory_bytes(&gpuagg_columns_shared->memory);
}

/* ---- columns ---- */

/*
 * The value of rows that are older than the column.  A hash alone would not do: it is easy to find
 * two values that share one of 32 bits.
 */
static void
set_missing(ColumnKey *key, TupleDesc desc)
{
	Form_pg_attribute form = TupleDescAttr(desc, key->attno - 1);
	bool isnull;
	Datum value = getmissingattr(desc, key->attno, &isnull);
	const unsigned char *bytes;
	Size n;

	if (isnull)
		return;
	if (form->attbyval)
	{
		bytes = (unsigned char *) &value;
		n = sizeof(value);
	}
	else if (form->attlen > 0)
	{
		bytes = (unsigned char *) DatumGetPointer(value);
		n = form->attlen;
	}
	else
	{
		struct varlena *datum = PG_DETOAST_DATUM_PACKED(value);

		bytes = (unsigned char *) VARDATA_ANY(datum);
		n = VARSIZE_ANY_EXHDR(datum);
	}
	if (n < sizeof(key->missing))
	{
		key->missing[0] = n + 1;
		memcpy(key->missing + 1, bytes, n);
		return;
	}
	key->missing[0] = 255;
	for (Size at = sizeof(uint64); at < sizeof(key->missing); at += sizeof(uint64))
	{
		uint64 hash = hash_bytes_extended(bytes, n, at);

		memcpy(key->missing + at, &hash, sizeof(hash));
	}
}

ColumnKey
gpuagg_column_key(Relation relation, AttrNumber attno)
{
	Form_pg_attribute form = TupleDescAttr(RelationGetDescr(relation), attno - 1);
	ColumnKey key;

	memset(&key, 0, sizeof(key));
	compat_relation_file(relation, &key.tablespace, &key.database, &key.file);
	key.type = form->atttypid;
	key.collation = form->attcollation;
	key.typmod = form->atttypmod;
	key.attno = attno;
	if (form->atthasmissing)
		set_missing(&key, RelationGetDescr(relation));
	return key;
}

typedef struct PinWish
{
	const ColumnKey *key;
	Oid relation;
	bool make;
	ResourceOwner owner; /* the caller's: an attempt has none */
	ColumnPin *pin;
	dsa_pointer made; /* not in the table */
	bool found;
} PinWish;

/* Invalid where the area is full; where the system has no memory for it, DSA raises an error. */
static dsa_pointer
make_column(const ColumnKey *key, Oid relation, ColumnRefusal refusal)
{
	dsa_pointer pointer;
	ResidentColumn *column;

	if (RULE_VALUE(area_memory, false, true))
		elog(ERROR, "out of memory of the directory");
	pointer = dsa_allocate_extended(gpuagg_columns_area, sizeof(ResidentColumn),
									DSA_ALLOC_NO_OOM | DSA_ALLOC_ZERO);
	if (!DsaPointerIsValid(pointer))
		return pointer;
	column = dsa_get_address(gpuagg_columns_area, pointer);
	column->self = pointer;
	column->key = *key;
	column->relation = relation;
	column->refusal = refusal;
	pg_atomic_init_u64(&column->uses, 0);
	pg_atomic_init_u64(&column->last, 0);
	pg_atomic_init_u64(&column->last_use, 0);
	gpuagg_dictionary_init(&column->dictionary, gpuagg_columns_shared->tranche);
	LWLockInitialize(&column->lock, gpuagg_columns_shared->tranche);
	column->groups = InvalidDsaPointer;
	column_changed(column);
	return pointer;
}

static void
find_and_pin(void *arg)
{
	PinWish *wish = arg;
	ColumnEntry *entry = dshash_find(table, wish->key, false);

	if (entry == NULL && wish->make)
	{
		bool there;

		/* first, as it may raise an error: no entry is ever without a column */
		wish->made = make_column(wish->key, wish->relation, COLUMN_ACCEPTED);
		if (!DsaPointerIsValid(wish->made))
			return;
		entry = dshash_find_or_insert(table, wish->key, &there);
		if (!there)
		{
			entry->column = wish->made;
			wish->made = InvalidDsaPointer;
		}
	}
	if (entry == NULL)
		return;
	/* under the entry's lock: it cannot be thrown out meanwhile */
	wish->found = gpuagg_pin_take(dsa_get_address(gpuagg_columns_area, entry->column), wish->owner,
								  wish->pin);
	dshash_release_lock(table, entry);
}

/* The same, whether or not it is refused. */
static bool
pin_column(const ColumnKey *key, Oid relation, bool make, ColumnPin *pin)
{
	PinWish wish = {key, relation, make, CurrentResourceOwner, pin, InvalidDsaPointer, false};
	bool done;

	pin->column = NULL;
	done = gpuagg_attempt(find_and_pin, &wish, NULL, 0);
	if (DsaPointerIsValid(wish.made))
		dsa_free(gpuagg_columns_area, wish.made);
	return done && wish.found;
}

bool
gpuagg_column_pin(const ColumnKey *key, Oid relation, bool make, ColumnPin *pin)
{
	if (!pin_column(key, relation, make, pin))
		return false;
	if (pin->column->refusal == COLUMN_ACCEPTED)
		return true;
	gpuagg_column_unpin(pin);
	return false;
}

struct SharedDictionary *
gpuagg_column_dictionary(const ColumnPin *pin)
{
	return &pin->column->dictionary;
}

bool
gpuagg_column_seen(const ColumnKey *key)
{
	uint64 hash = hash_bytes_extended((const unsigned char *) key, sizeof(ColumnKey), 0);
	SeenColumn *slot = (SeenColumn *) dsa_get_address(gpuagg_columns_area,
													  gpuagg_columns_shared->seen) +
					   hash % COLUMNS_SEEN;
	TimestampTz now = GetCurrentTimestamp();
	bool seen;

	LWLockAcquire(&gpuagg_columns_shared->lock, LW_EXCLUSIVE);
	seen = slot->hash == hash && !TimestampDifferenceExceeds(slot->last, now, SEEN_MS);
	*slot = (SeenColumn){hash, now};
	LWLockRelease(&gpuagg_columns_shared->lock);
	return seen;
}

uint64
gpuagg_column_use(ResidentColumn *column)
{
	uint64 now = pg_atomic_add_fetch_u64(&gpuagg_columns_shared->clock, 1);

	pg_atomic_fetch_add_u64(&column->uses, 1);
	pg_atomic_write_u64(&column->last_use, (uint64) GetCurrentTimestamp());
	return pg_atomic_exchange_u64(&column->last, now);
}

/* ---- all columns ---- */

typedef struct ListWish
{
	ColumnInfo *list;
	int n;
	int room;
} ListWish;

static void
list_columns(void *arg)
{
	ListWish *wish = arg;
	dshash_seq_status status;
	ColumnEntry *entry;

	dshash_seq_init(&status, table, false);
	while ((entry = dshash_seq_next(&status)) != NULL)
	{
		ResidentColumn *column = dsa_get_address(gpuagg_columns_area, entry->column);

		if (wish->n == wish->room)
		{
			wish->room *= 2;
			wish->list = repalloc(wish->list, wish->room * sizeof(ColumnInfo));
		}
		wish->list[wish->n++] = gpuagg_column_info(column);
	}
	dshash_seq_term(&status);
}

ColumnInfo *
gpuagg_directory_list(int *n)
{
	ListWish wish = {palloc(64 * sizeof(ColumnInfo)), 0, 64};

	if (gpuagg_columns_area != NULL)
		(void) gpuagg_attempt(list_columns, &wish, NULL, 0);
	*n = wish.n;
	return wish.list;
}

bool
gpuagg_column_any(Relation relation, ColumnKey *key)
{
	TupleDesc desc = RelationGetDescr(relation);
	uint64 npages = 0;
	int n;
	ColumnInfo *list = gpuagg_directory_list(&n);

	for (int i = 0; i < n; i++)
	{
		int attno = list[i].key.attno;
		ColumnKey current;

		if (list[i].relation != RelationGetRelid(relation) || list[i].npages <= npages ||
			attno > desc->natts || TupleDescAttr(desc, attno - 1)->attisdropped)
			continue;
		current = gpuagg_column_key(relation, attno);
		if (memcmp(&current, &list[i].key, sizeof(ColumnKey)) != 0)
			continue;
		npages = list[i].npages;
		*key = current;
	}
	pfree(list);
	return npages > 0;
}

bool
gpuagg_column_resident_pages(const ColumnKey *key, uint64 *host, uint64 *device)
{
	ColumnPin pin;
	ColumnInfo info;

	*host = *device = 0;
	if (!gpuagg_column_pin(key, InvalidOid, false, &pin))
		return false;
	info = gpuagg_column_info(pin.column);
	gpuagg_column_unpin(&pin);
	*host = info.npages - info.bare_pages;
	*device = info.device_pages;
	return true;
}

/* ---- out ---- */

static void
delete_entry(void *arg)
{
	const ResidentColumn *held = arg;
	ColumnEntry *entry = dshash_find(table, &held->key, true);
	ResidentColumn *column;

	if (entry == NULL)
		return;
	/* it may have been thrown out, and another made, since it is held */
	if (entry->column != held->self)
	{
		dshash_release_lock(table, entry);
		return;
	}
	column = dsa_get_address(gpuagg_columns_area, entry->column);
	LWLockAcquire(&column->lock, LW_EXCLUSIVE);
	column->dead = true;
	LWLockRelease(&column->lock);
	dshash_delete_entry(table, entry);
}

bool
gpuagg_column_evict(const ColumnKey *key)
{
	ColumnPin pin;

	/* the last who holds it frees it */
	if (!pin_column(key, InvalidOid, false, &pin))
		return false;
	(void) gpuagg_attempt(delete_entry, pin.column, NULL, 0);
	gpuagg_column_unpin(&pin);
	return true;
}

typedef struct RefuseWish
{
	const ResidentColumn *held;
	ColumnRefusal why;
} RefuseWish;

/* The entry gets a column without values. */
static void
replace_entry(void *arg)
{
	const RefuseWish *wish = arg;
	const ResidentColumn *held = wish->held;
	dsa_pointer refused = make_column(&held->key, held->relation, wish->why);
	ColumnEntry *entry;

	if (!DsaPointerIsValid(refused))
		return;
	entry = dshash_find(table, &held->key, true);
	if (entry != NULL && entry->column == held->self)
	{
		ResidentColumn *column = dsa_get_address(gpuagg_columns_area, entry->column);

		LWLockAcquire(&column->lock, LW_EXCLUSIVE);
		column->dead = true;
		LWLockRelease(&column->lock);
		entry->column = refused;
		refused = InvalidDsaPointer;
	}
	if (entry != NULL)
		dshash_release_lock(table, entry);
	if (DsaPointerIsValid(refused))
		dsa_free(gpuagg_columns_area, refused);
}

void
gpuagg_column_refuse(const ColumnPin *pin, ColumnRefusal why)
{
	RefuseWish wish = {pin->column, why};

	(void) gpuagg_attempt(replace_entry, &wish, NULL, 0);
}

ColumnRefusal
gpuagg_column_refusal(const ColumnKey *key)
{
	ColumnPin pin;
	ColumnRefusal refusal;

	if (!pin_column(key, InvalidOid, false, &pin))
		return COLUMN_ACCEPTED;
	refusal = pin.column->refusal;
	gpuagg_column_unpin(&pin);
	return refusal;
}

const char *
gpuagg_refusal_text(ColumnRefusal refusal)
{
	switch (refusal)
	{
		case COLUMN_LONG_VALUE:
			return "a value of more than 256 bytes";
		case COLUMN_MANY_VALUES:
			return "more than 65,536 different values";
		case COLUMN_ACCEPTED:
			break;
	}
	return "";
}

int
gpuagg_directory_evict(Oid database, Oid file)
{
	int n;
	int evicted = 0;
	ColumnInfo *list = gpuagg_directory_list(&n);

	for (int i = 0; i < n; i++)
		if ((!OidIsValid(database) || list[i].key.database == database) &&
			(!OidIsValid(file) || list[i].key.file == file))
			evicted += gpuagg_column_evict(&list[i].key);
	pfree(list);
	return evicted;
}

void
gpuagg_directory_trim(Size keep)
{
	if (gpuagg_columns_area != NULL)
		gpuagg_column_memory_trim(&gpuagg_columns_shared->memory, keep);
}

static bool
has(const ColumnInfo *info, ColumnHas what)
{
	switch (what)
	{
		case COLUMN_HAS_VALUES:
			return info->nchunks > info->bare_chunks;
		case COLUMN_HAS_BYTES:
			return info->bytes > 0;
		case COLUMN_HAS_BLOBS:
			return info->device_bytes > 0;
		case COLUMN_HAS_TWICE:
			return info->sure_chunks > info->bare_chunks || info->void_bytes > 0;
	}
	return false;
}

bool
gpuagg_column_oldest(uint64 before, ColumnHas what, ColumnInfo *oldest)
{
	int n;
	ColumnInfo *list = gpuagg_directory_list(&n);
	bool found = false;

	for (int i = 0; i < n; i++)
	{
		if (!has(&list[i], what) || list[i].last >= before ||
			(found && list[i].last >= oldest->last))
			continue;
		*oldest = list[i];
		found = true;
	}
	pfree(list);
	return found;
}

/* Takes blocks out of the column that was used least recently, before that place; false: none. */
static bool
make_room(Size bytes, uint64 before)
{
	ColumnInfo oldest;
	Size taken = 0;
	ColumnPin pin;

	if (!gpuagg_column_oldest(before, COLUMN_HAS_VALUES, &oldest) &&
		!gpuagg_column_oldest(before, COLUMN_HAS_BYTES, &oldest))
		return false;
	/* when its blocks are out, its dictionary goes with the column */
	if (oldest.nchunks == 0 && oldest.void_bytes == 0)
		taken = gpuagg_column_evict(&oldest.key) ? oldest.bytes : 0;
	else if (gpuagg_column_pin(&oldest.key, InvalidOid, false, &pin))
	{
		taken = gpuagg_column_take_out(pin.column, bytes);
		gpuagg_column_unpin(&pin);
	}
	return taken > 0;
}

MemoryRef
gpuagg_column_try_allocate(Size bytes, bool for_bare, void **address)
{
	ColumnMemory *memory = &gpuagg_columns_shared->memory;
	Size limit = gpuagg_columns_limit();
	MemoryRef ref = gpuagg_column_memory_allocate(memory, bytes, limit,
												  for_bare ? limit / BARE_PART : 0);

	if (ref != 0)
		*address = gpuagg_column_memory_at(memory, ref);
	return ref;
}

MemoryRef
gpuagg_column_allocate(Size bytes, uint64 before, bool for_bare, void **address)
{
	/* what is taken out may be held by others, and free places not lie together */
	for (int attempts = 0; attempts < 4; attempts++)
	{
		MemoryRef ref;

		CHECK_FOR_INTERRUPTS();
		ref = gpuagg_column_try_allocate(bytes, for_bare, address);
		if (ref != 0)
			return ref;
		if (!make_room(bytes, before))
			break;
	}
	return 0;
}
