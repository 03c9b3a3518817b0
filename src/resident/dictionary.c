/*
 * dictionary.c
 *	  The dictionary of a resident column of strings.
 *
 * Entries lie in parts, which are memory as blocks are, each as large as all before it up to
 * PART_BYTES.  A view has walked over those that it knows, once, and knows where they lie; who
 * asks for codes has a table of them by hash too.
 */
#include "compat.h"

#include "resident/resident_column.h"

#include "common/vector_text.h"
#include "resident/dictionary.h"

#define PART_BYTES	 (1024 * 1024) /* the largest */
#define SIZE_BYTES	 sizeof(uint16)
#define FIRST_PLACES 256 /* a power of 2 */

/* An entry's code, plus one; 0: none. */
typedef struct DictionaryPlace
{
	uint32 hash;
	uint32 code;
} DictionaryPlace;

struct Dictionary
{
	SharedDictionary *shared;
	MemoryContext context;
	uint32 nentries; /* that it knows */
	uint32 room;	 /* for so many; one at least, for codes of rows that are NULL */
	GpuaggVectorBytes *entries;
	uint32 nparts; /* that are mapped */
	char *parts[DICTIONARY_PARTS];
	uint32 part; /* where the next entry is looked for */
	uint32 offset;

	/* codes of the first nplaced entries by hash */
	uint32 nplaced;
	uint32 nplaces; /* a power of 2; 0: none yet */
	DictionaryPlace *places;
};

void
gpuagg_dictionary_init(SharedDictionary *shared, int tranche)
{
	memset(shared, 0, sizeof(SharedDictionary));
	LWLockInitialize(&shared->lock, tranche);
}

uint64
gpuagg_dictionary_bytes(SharedDictionary *shared)
{
	uint64 bytes;

	LWLockAcquire(&shared->lock, LW_SHARED);
	bytes = shared->bytes;
	LWLockRelease(&shared->lock);
	return bytes;
}

void
gpuagg_dictionary_discard(SharedDictionary *shared)
{
	for (uint32 i = 0; i < shared->nparts; i++)
		gpuagg_column_memory_free(&gpuagg_columns_shared->memory, shared->parts[i].memory,
								  shared->parts[i].bytes);
	shared->nparts = 0;
	shared->bytes = 0;
	shared->nentries = 0;
}

/* ---- a view ---- */

static void *
allocate(Dictionary *dictionary, Size size)
{
	return MemoryContextAllocExtended(dictionary->context, size,
									  MCXT_ALLOC_NO_OOM | MCXT_ALLOC_ZERO);
}

Dictionary *
gpuagg_dictionary_open(SharedDictionary *shared)
{
	Dictionary *dictionary = palloc_extended(sizeof(Dictionary),
											 MCXT_ALLOC_NO_OOM | MCXT_ALLOC_ZERO);

	if (dictionary == NULL)
		return NULL;
	dictionary->shared = shared;
	dictionary->context = CurrentMemoryContext;
	return dictionary;
}

void
gpuagg_dictionary_close(Dictionary *dictionary)
{
	if (dictionary->entries != NULL)
		pfree(dictionary->entries);
	if (dictionary->places != NULL)
		pfree(dictionary->places);
	pfree(dictionary);
}

static bool
make_room(Dictionary *dictionary, uint32 nentries)
{
	GpuaggVectorBytes *entries;
	uint32 room = Max(dictionary->room, FIRST_PLACES);

	if (nentries <= dictionary->room && dictionary->entries != NULL)
		return true;
	while (room < nentries)
		room *= 2;
	entries = allocate(dictionary, room * sizeof(GpuaggVectorBytes));
	if (entries == NULL)
		return false;
	if (dictionary->entries != NULL)
	{
		memcpy(entries, dictionary->entries, dictionary->nentries * sizeof(GpuaggVectorBytes));
		pfree(dictionary->entries);
	}
	dictionary->entries = entries;
	dictionary->room = room;
	return true;
}

bool
gpuagg_dictionary_learn(Dictionary *dictionary)
{
	SharedDictionary *shared = dictionary->shared;
	DictionaryPart parts[DICTIONARY_PARTS];
	uint32 nentries;
	uint32 nparts;

	LWLockAcquire(&shared->lock, LW_SHARED);
	nentries = shared->nentries;
	nparts = shared->nparts;
	memcpy(parts, shared->parts, nparts * sizeof(DictionaryPart));
	LWLockRelease(&shared->lock);

	for (; dictionary->nparts < nparts; dictionary->nparts++)
	{
		void *part = gpuagg_column_memory_at(&gpuagg_columns_shared->memory,
											 parts[dictionary->nparts].memory);

		if (part == NULL)
			return false;
		dictionary->parts[dictionary->nparts] = part;
	}
	if (!make_room(dictionary, nentries))
		return false;
	while (dictionary->nentries < nentries)
	{
		const char *entry = dictionary->parts[dictionary->part] + dictionary->offset;
		uint16 size;

		if (dictionary->offset == parts[dictionary->part].used)
		{
			dictionary->part++;
			dictionary->offset = 0;
			continue;
		}
		memcpy(&size, entry, SIZE_BYTES);
		dictionary->entries[dictionary->nentries++] =
			(GpuaggVectorBytes){(const uint8_t *) entry + SIZE_BYTES, size};
		dictionary->offset += SIZE_BYTES + size;
	}
	return true;
}

const GpuaggVectorBytes *
gpuagg_dictionary_entries(Dictionary *dictionary, int64 code)
{
	if ((dictionary->entries == NULL || code >= (int64) dictionary->nentries) &&
		(!gpuagg_dictionary_learn(dictionary) || code >= (int64) Max(dictionary->nentries, 1)))
		return NULL;
	return dictionary->entries;
}

uint32
gpuagg_dictionary_size(const Dictionary *dictionary)
{
	return Max(dictionary->nentries, 1);
}

/* ---- codes ---- */

/* Multiplications by odd constants, of eight bytes at a time; the last may be some again. */
static uint32
hash_of(GpuaggVectorBytes bytes)
{
	uint64 h = bytes.size * UINT64CONST(0x9E3779B97F4A7C15);

	if (bytes.size >= 8)
	{
		for (uint64 i = 0; i + 8 < bytes.size; i += 8)
		{
			h = (h ^ gpuagg_bytes_load(bytes.data + i)) * UINT64CONST(0xC2B2AE3D27D4EB4F);
			h ^= h >> 32;
		}
		h ^= gpuagg_bytes_load(bytes.data + bytes.size - 8);
	}
	else if (bytes.size >= 4)
	{
		uint32 first;
		uint32 last;

		memcpy(&first, bytes.data, sizeof(first));
		memcpy(&last, bytes.data + bytes.size - 4, sizeof(last));
		h ^= first | (uint64) last << 32;
	}
	else if (bytes.size > 0)
		h ^= bytes.data[0] | (uint64) bytes.data[bytes.size / 2] << 8 |
			 (uint64) bytes.data[bytes.size - 1] << 16;
	h *= UINT64CONST(0xD6E8FEB86659FD93);
	return (uint32) (h >> 32);
}

static void
place(Dictionary *dictionary, uint32 hash, uint32 code)
{
	uint32 at = hash & (dictionary->nplaces - 1);

	while (dictionary->places[at].code != 0)
		at = (at + 1) & (dictionary->nplaces - 1);
	dictionary->places[at] = (DictionaryPlace){hash, code + 1};
}

/* All entries that are known get places; false: there is no memory. */
static bool
place_all(Dictionary *dictionary)
{
	uint32 nplaces = Max(dictionary->nplaces, FIRST_PLACES);

	while (nplaces < 2 * dictionary->nentries)
		nplaces *= 2;
	if (nplaces > dictionary->nplaces)
	{
		DictionaryPlace *places = allocate(dictionary, nplaces * sizeof(DictionaryPlace));

		if (places == NULL)
			return false;
		if (dictionary->places != NULL)
			pfree(dictionary->places);
		dictionary->places = places;
		dictionary->nplaces = nplaces;
		dictionary->nplaced = 0;
	}
	for (; dictionary->nplaced < dictionary->nentries; dictionary->nplaced++)
		place(dictionary, hash_of(dictionary->entries[dictionary->nplaced]), dictionary->nplaced);
	return true;
}

static bool
find(const Dictionary *dictionary, GpuaggVectorBytes bytes, uint32 hash, int32 *code)
{
	uint32 at = hash & (dictionary->nplaces - 1);

	for (; dictionary->places[at].code != 0; at = (at + 1) & (dictionary->nplaces - 1))
		if (dictionary->places[at].hash == hash &&
			gpuagg_bytes_equal(dictionary->entries[dictionary->places[at].code - 1], bytes))
		{
			*code = (int32) dictionary->places[at].code - 1;
			return true;
		}
	return false;
}

/* One part more, after the first `nparts`, unless another process has made it; false: no memory. */
static bool
add_part(Dictionary *dictionary, uint32 nparts, uint64 before)
{
	SharedDictionary *shared = dictionary->shared;
	Size bytes = Min((Size) MEMORY_PAGE << nparts, PART_BYTES);
	void *address;
	MemoryRef memory = gpuagg_column_allocate(bytes, before, false, &address);
	bool taken = false;

	if (memory == 0)
		return false;
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	if (shared->nparts == nparts)
	{
		shared->parts[shared->nparts++] = (DictionaryPart){memory, (uint32) bytes, 0};
		shared->bytes += bytes;
		taken = true;
	}
	LWLockRelease(&shared->lock);
	if (!taken)
		gpuagg_column_memory_free(&gpuagg_columns_shared->memory, memory, bytes);
	return true;
}

typedef enum AddResult
{
	ADD_DONE,
	ADD_LEARN, /* others have added entries or parts */
	ADD_PART,  /* it does not fit into the last part */
	ADD_FULL
} AddResult;

/* Adds an entry that none of those which the view knows is. */
static AddResult
add(Dictionary *dictionary, GpuaggVectorBytes bytes)
{
	SharedDictionary *shared = dictionary->shared;
	DictionaryPart *part;
	uint16 size = (uint16) bytes.size;
	AddResult result = ADD_DONE;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	part = &shared->parts[Max(shared->nparts, 1) - 1];
	if (shared->nentries > dictionary->nentries || shared->nparts > dictionary->nparts)
		result = ADD_LEARN;
	else if (shared->nentries == DICTIONARY_ENTRIES)
		result = ADD_FULL;
	else if (shared->nparts == 0 || part->bytes - part->used < SIZE_BYTES + size)
		result = shared->nparts == DICTIONARY_PARTS ? ADD_FULL : ADD_PART;
	else
	{
		char *entry = dictionary->parts[shared->nparts - 1] + part->used;

		memcpy(entry, &size, SIZE_BYTES);
		if (size > 0)
			memcpy(entry + SIZE_BYTES, bytes.data, size);
		part->used += SIZE_BYTES + size;
		shared->nentries++;
	}
	LWLockRelease(&shared->lock);
	return result;
}

DictionaryAnswer
gpuagg_dictionary_code(Dictionary *dictionary, GpuaggVectorBytes bytes, uint64 before, int32 *code)
{
	uint32 hash = hash_of(bytes);

	if (dictionary->nplaces > 0 && find(dictionary, bytes, hash, code))
		return DICTIONARY_HAS;
	if (bytes.size > DICTIONARY_BYTES)
		return DICTIONARY_LONG_VALUE;
	for (;;)
	{
		if (!gpuagg_dictionary_learn(dictionary) || !place_all(dictionary))
			return DICTIONARY_NO_MEMORY;
		if (find(dictionary, bytes, hash, code))
			return DICTIONARY_HAS;
		switch (add(dictionary, bytes))
		{
			case ADD_DONE:
			case ADD_LEARN:
				break;
			case ADD_PART:
				if (!add_part(dictionary, dictionary->nparts, before))
					return DICTIONARY_NO_MEMORY;
				break;
			case ADD_FULL:
				return DICTIONARY_MANY_VALUES;
		}
	}
}
