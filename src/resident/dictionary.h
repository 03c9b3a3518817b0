/*
 * dictionary.h
 *	  The dictionary of a resident column of strings.
 *
 * Blocks of such a column have codes, numbers of entries of the column's dictionary.  Entries
 * are only added, one process at a time, each different from all others, and never move: they
 * go with the column.  A block is published after the entries that it uses.  Entries are strings
 * as vectors have them: those of char(n) have no blanks at their ends.
 *
 * A process sees a dictionary through a view of its own, which holds for as long as the column
 * is pinned.  Nothing here raises an error but for CHECK_FOR_INTERRUPTS.
 */
#ifndef GPUAGG_DICTIONARY_H
#define GPUAGG_DICTIONARY_H

#include "compat.h"

#include "storage/lwlock.h"

#include "common/vector.h"
#include "resident/column_memory.h"

#define DICTIONARY_ENTRIES 65536
#define DICTIONARY_BYTES   256 /* of an entry, at most */
#define DICTIONARY_PARTS   32

/* Entries one behind the other: two bytes with the size, then so many. */
typedef struct DictionaryPart
{
	MemoryRef memory;
	uint32 bytes;
	uint32 used;
} DictionaryPart;

/* What processes share, in the column. */
typedef struct SharedDictionary
{
	LWLock lock; /* of all below */
	uint32 nentries;
	uint32 nparts;
	uint64 bytes; /* of all parts */
	DictionaryPart parts[DICTIONARY_PARTS];
} SharedDictionary;

typedef struct Dictionary Dictionary;

/* A view of a dictionary, in the current memory context; NULL: there is no memory. */
extern Dictionary *gpuagg_dictionary_open(SharedDictionary *shared);
extern void gpuagg_dictionary_close(Dictionary *dictionary);

/* Takes notice of the entries that there are by now; false: some cannot be had. */
extern bool gpuagg_dictionary_learn(Dictionary *dictionary);

/* The entries of codes up to this one; NULL: they cannot be had. */
extern const GpuaggVectorBytes *gpuagg_dictionary_entries(Dictionary *dictionary, int64 code);

/* How many of them there are, with room for one at least. */
extern uint32 gpuagg_dictionary_size(const Dictionary *dictionary);

typedef enum DictionaryAnswer
{
	DICTIONARY_HAS,
	DICTIONARY_LONG_VALUE,
	DICTIONARY_MANY_VALUES,
	DICTIONARY_NO_MEMORY
} DictionaryAnswer;

/* The code of a string, which is added if it is not there; before: as of gpuagg_column_allocate(). */
extern DictionaryAnswer gpuagg_dictionary_code(Dictionary *dictionary, GpuaggVectorBytes bytes,
											   uint64 before, int32 *code);

extern void gpuagg_dictionary_init(SharedDictionary *shared, int tranche);

/* Bytes of its memory. */
extern uint64 gpuagg_dictionary_bytes(SharedDictionary *shared);

/* Frees the memory; nobody has a view any more. */
extern void gpuagg_dictionary_discard(SharedDictionary *shared);

#endif /* GPUAGG_DICTIONARY_H */
