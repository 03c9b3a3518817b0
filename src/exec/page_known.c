/*
 * page_known.c
 *	  What a query has found of a table's chunks on the device, kept in the process for the next one.
 */
#include "compat.h"

#include "exec/page_known.h"
#include "exec/page_resident_state.h"

#include "utils/memutils.h"

#include "resident/device_place.h"
#include "resident/rules.h"

#define TABLES		4
#define TABLE_BYTES (4 * 1024 * 1024) /* of each, at most */

/* Sets of columns, of which a process knows so many. */
typedef struct KnownTable
{
	PageKnown known;	   /* as it was at the last query */
	uint64 last;		   /* of its use */
	MemoryContext context; /* of what follows; NULL: there is nothing */
	MapImage *images;
	ChunkUse *decided;
	MemoryRef *refs; /* [ncolumns][nchunks] */
	bool any_bare;
	PageDevice device;
} KnownTable;

static KnownTable tables[TABLES];
static uint64 clock_of_uses;

static uint32
image_count(const PageResident *resident)
{
	return (resident->nchunks + MAP_PAGE_CHUNKS - 1) / MAP_PAGE_CHUNKS;
}

/* ---- tables ---- */

static bool
same_numbers(const PageKnown *a, const PageKnown *b)
{
	return a->ncolumns == b->ncolumns && a->nnumbers == b->nnumbers &&
		   memcmp(a->columns, b->columns, a->ncolumns * sizeof(a->columns[0])) == 0 &&
		   memcmp(a->numbers, b->numbers, a->nnumbers * sizeof(a->numbers[0])) == 0;
}

static bool
same_state(const PageKnown *a, const PageKnown *b)
{
	return a->nblocks == b->nblocks && a->epoch == b->epoch &&
		   memcmp(a->changes, b->changes, a->ncolumns * sizeof(a->changes[0])) == 0;
}

/* The table of the same columns and numbers, or the one that has not been used for longest. */
static KnownTable *
table_of(const PageKnown *known)
{
	KnownTable *oldest = &tables[0];

	for (int i = 0; i < TABLES; i++)
	{
		if (tables[i].known.valid && same_numbers(&tables[i].known, known))
			return &tables[i];
		if (tables[i].last < oldest->last)
			oldest = &tables[i];
	}
	return oldest;
}

static void
forget(KnownTable *table)
{
	if (table->context != NULL)
		MemoryContextDelete(table->context);
	memset(table, 0, sizeof(KnownTable));
}

/* ---- the present ---- */

static bool
find_numbers(const PageReader *reader, PageKnown *known)
{
	const int64 *numbers;

	known->nnumbers = 0;
	if (reader->chunk_done == NULL)
		return true;
	if (reader->chunk_key == NULL ||
		!reader->chunk_key(reader->owner, &numbers, &known->nnumbers) ||
		known->nnumbers > KNOWN_NUMBERS)
		return false;
	memcpy(known->numbers, numbers, known->nnumbers * sizeof(int64));
	return true;
}

static void
find_state(const PageResident *resident, PageKnown *known)
{
	known->epoch = gpuagg_device_epoch();
	for (int i = 0; i < resident->ncolumns; i++)
		known->changes[i] = gpuagg_column_changes(resident->pins[i].column);
}

static void
find_known(PageReader *reader, PageKnown *known)
{
	const PageResident *resident = reader->resident;

	known->valid = false;
	if (!RULES_HOLD() || resident->ncolumns > KNOWN_COLUMNS || resident->ndecided > 0 ||
		resident->next > 0 || !find_numbers(reader, known))
		return;
	known->valid = true;
	known->ncolumns = resident->ncolumns;
	known->nblocks = reader->scan->nblocks;
	for (int i = 0; i < resident->ncolumns; i++)
		known->columns[i] = resident->pins[i].column;
	find_state(resident, known);
}

/* Whether the map's pages are as they were; the snapshot has been there before. */
static bool
same_map(PageReader *reader, const KnownTable *table)
{
	MapImage *image = &reader->resident->image;

	for (uint32 i = 0; i < image_count(reader->resident); i++)
	{
		gpuagg_map_image_read(image, reader->scan->relation, i * MAP_PAGE_CHUNKS);
		if (image->lsn != table->images[i].lsn ||
			memcmp(image->visible, table->images[i].visible, sizeof(image->visible)) != 0)
			return false;
	}
	return true;
}

/* Codes of blocks have entries; false: these cannot be had. */
static bool
learn(const PageResident *resident)
{
	for (int i = 0; i < resident->ncolumns; i++)
		if (resident->dictionaries[i] != NULL &&
			!gpuagg_dictionary_learn(resident->dictionaries[i]))
			return false;
	return true;
}

/* ---- copies ---- */

static void *
copy(const void *from, Size bytes)
{
	void *to = palloc_extended(Max(bytes, 1), MCXT_ALLOC_HUGE);

	memcpy(to, from, bytes);
	return to;
}

/* In the current memory context; no chunk has a bitmap of rows: such are never kept. */
static PageDevice
copy_device(const PageDevice *device, int ncolumns)
{
	PageDevice to = *device;
	uint32 n = device->nchunks;

	to.numbers = copy(device->numbers, n * sizeof(uint32));
	to.nrows = copy(device->nrows, n * sizeof(uint32));
	to.chunks = copy(device->chunks, n * sizeof(BlobQueryChunk));
	to.blobs = copy(device->blobs, (Size) n * ncolumns * sizeof(uint64));
	return to;
}

/* What has been found of the table becomes the reader's. */
static PageDevice *
use(PageReader *reader, const KnownTable *table)
{
	PageResident *resident = reader->resident;
	PageDevice *device = palloc(sizeof(PageDevice));
	uint32 n = resident->nchunks;

	memcpy(resident->decided, table->decided, n * sizeof(ChunkUse));
	for (int i = 0; i < resident->ncolumns; i++)
		memcpy(page_resident_ref(resident, i, 0), table->refs + (Size) i * n,
			   n * sizeof(MemoryRef));
	resident->ndecided = n;
	resident->any_bare = table->any_bare;
	*device = copy_device(&table->device, resident->ncolumns);
	return device;
}

static Size
bytes_of(const PageResident *resident)
{
	Size of_chunk = sizeof(ChunkUse) + sizeof(BlobQueryChunk) + 2 * sizeof(uint32) +
					resident->ncolumns * (sizeof(MemoryRef) + sizeof(uint64));

	return resident->nchunks * of_chunk + image_count(resident) * sizeof(MapImage);
}

static void
keep(KnownTable *table, const PageResident *resident, const PageDevice *device)
{
	uint32 n = resident->nchunks;
	MemoryContext old;

	/* tables are whole or not there, whatever happens here */
	table->context = AllocSetContextCreate(TopMemoryContext, "gpuagg known chunks",
										   ALLOCSET_SMALL_SIZES);
	table->known.valid = false;
	old = MemoryContextSwitchTo(table->context);
	table->images = copy(resident->images, image_count(resident) * sizeof(MapImage));
	table->decided = copy(resident->decided, n * sizeof(ChunkUse));
	table->refs = palloc_extended((Size) resident->ncolumns * n * sizeof(MemoryRef),
								  MCXT_ALLOC_HUGE);
	for (int i = 0; i < resident->ncolumns; i++)
		memcpy(table->refs + (Size) i * n, page_resident_ref(resident, i, 0),
			   n * sizeof(MemoryRef));
	table->any_bare = resident->any_bare;
	table->device = copy_device(device, resident->ncolumns);
	table->known.valid = true;
	MemoryContextSwitchTo(old);
}

/* ---- a query ---- */

PageDevice *
gpuagg_page_known_find(PageReader *reader, PageKnown *known)
{
	PageResident *resident = reader->resident;
	KnownTable *table;

	find_known(reader, known);
	if (!known->valid)
		return NULL;
	table = table_of(known);
	if (!table->known.valid || !same_numbers(&table->known, known) ||
		!same_state(&table->known, known))
		return NULL;
	if (table->context != NULL && same_map(reader, table) && learn(resident))
	{
		table->last = ++clock_of_uses;
		return use(reader, table);
	}
	/* it is the same as at the last query: it may be kept, with images of all the map's pages */
	if (bytes_of(resident) <= TABLE_BYTES)
	{
		resident->images = MemoryContextAllocZero(resident->context,
												  image_count(resident) * sizeof(MapImage));
		resident->image.read = false;
	}
	return NULL;
}

/* Whether a later query finds the same if columns and map are the same. */
static bool
is_lasting(const PageResident *resident, const PageKnown *known, const PageDevice *device)
{
	PageKnown now = *known;

	/* chunks that were done without their rows have given what they tell */
	if (resident->images == NULL || resident->ntaken > 0 || device->nchunks == 0)
		return false;
	for (uint32 i = 0; i < device->nchunks; i++)
		if (device->chunks[i].rows != NULL)
			return false;
	for (uint32 i = 0; i < image_count(resident); i++)
		if (!resident->images[i].read)
			return false;
	find_state(resident, &now);
	return device->epoch == known->epoch && same_state(&now, known);
}

void
gpuagg_page_known_keep(PageReader *reader, const PageKnown *known, const PageDevice *device)
{
	const PageResident *resident = reader->resident;
	KnownTable *table;

	if (!known->valid)
		return;
	table = table_of(known);
	forget(table);
	table->known = *known;
	table->last = ++clock_of_uses;
	if (is_lasting(resident, known, device))
		keep(table, resident, device);
}
