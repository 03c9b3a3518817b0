/*
 * directory.h
 *	  Which columns are resident, in which blocks, under which evidence.
 *
 * The directory lies in dynamic shared memory and ends with the server's shared memory.  It
 * is about truth only; where values are is a matter of their references.  Nothing here
 * raises an error but for CHECK_FOR_INTERRUPTS: without memory there are fewer columns.
 */
#ifndef GPUAGG_DIRECTORY_H
#define GPUAGG_DIRECTORY_H

#include "compat.h"

#include "access/xlogdefs.h"
#include "datatype/timestamp.h"
#include "utils/rel.h"

#include "resident/chunk.h"
#include "resident/column_block.h"
#include "resident/column_memory.h"

#define COLUMN_KEY_MISSING 32

/*
 * What a column is.  Its number alone does not say it: a rolled-back ADD COLUMN and a later one
 * share it, and some changes of a type write no new file.  Filled with zeros before it is set.
 *
 * `missing` begins with a length, plus one; then come the value's bytes or, where they are more
 * than there is room for and the length is 255, hashes of them.
 */
typedef struct ColumnKey
{
	Oid database;
	Oid tablespace;
	Oid file; /* relation's file number */
	Oid type;
	Oid collation;
	int32 typmod;
	int16 attno;
	int16 spare;
	uint8 missing[COLUMN_KEY_MISSING]; /* the value of rows older than the column; 0: NULL */
} ColumnKey;

/*
 * The state of one chunk of a column: its block, and when it was confirmed last.  Pages in
 * `confirmed`, which the block has, were found right under this LSN of the map's page, with
 * their bits in it set.
 */
typedef struct ChunkState
{
	MemoryRef block; /* 0: none */
	uint64 records;	 /* hash of the block's pages and their LSNs */
	XLogRecPtr map_lsn;
	ChunkPages confirmed;
	uint32 bytes;  /* of the block; as are the next three */
	uint32 values; /* of these, of its values and their bitmap; those of a bare one are elsewhere */
	uint32 nrows;
	uint32 npages;
} ChunkState;

/* Bytes of the main shared memory that the directory takes. */
#define COLUMNS_SHARED_SIZE 4096

/* A column in the directory. */
typedef struct ResidentColumn ResidentColumn;

/* Why there are no values of a column in memory, nor will be before it is thrown out. */
typedef enum ColumnRefusal
{
	COLUMN_ACCEPTED,
	COLUMN_LONG_VALUE, /* a string is longer than DICTIONARY_BYTES */
	COLUMN_MANY_VALUES /* there are more than DICTIONARY_ENTRIES strings */
} ColumnRefusal;

/* A process's hold on a column: blocks that it has seen since stay where they are. */
typedef struct ColumnPin
{
	ResidentColumn *column; /* NULL: none */
	int slot;
} ColumnPin;

/* The key of a column of an open relation. */
extern ColumnKey gpuagg_column_key(Relation relation, AttrNumber attno);

/* Whether there may be resident columns at all: memory is allowed, and the directory is there. */
extern bool gpuagg_directory_open(void);

/*
 * Pins a column; make: if there is none, makes it.  False: there is none, or it is refused.  It
 * is let go by unpin(), by the end of the current resource owner, or of the process.
 */
extern bool gpuagg_column_pin(const ColumnKey *key, Oid relation, bool make, ColumnPin *pin);
extern void gpuagg_column_unpin(ColumnPin *pin);

/* The dictionary of a pinned column, whose values are strings. */
extern struct SharedDictionary *gpuagg_column_dictionary(const ColumnPin *pin);

/* Throws out a pinned column for good: none of its values comes into memory any more. */
extern void gpuagg_column_refuse(const ColumnPin *pin, ColumnRefusal why);
extern ColumnRefusal gpuagg_column_refusal(const ColumnKey *key);

/* What such a column has; an empty string: it is accepted. */
extern const char *gpuagg_refusal_text(ColumnRefusal refusal);

/* Lets go of blocks that were taken out since: of those that have been seen before, none is used any more. */
extern void gpuagg_column_renew(const ColumnPin *pin);

/* The key of the column of a relation that has most pages; false: none is there. */
extern bool gpuagg_column_any(Relation relation, ColumnKey *key);

/*
 * Counts a use of a column: its place in the order in which columns are thrown out.  Returns the
 * place of the use before it; 0: none.
 */
extern uint64 gpuagg_column_use(ResidentColumn *column);

/*
 * Whether a column has been wanted within the last hour, as far as it is remembered; now it has
 * been.  It need not be in the directory.
 */
extern bool gpuagg_column_seen(const ColumnKey *key);

/* What the directory knows of a column. */
typedef struct ColumnInfo
{
	ColumnKey key;
	Oid relation;
	ColumnRefusal refusal;
	uint32 nchunks; /* with a block whose values are somewhere */
	uint64 nrows;
	uint64 npages;
	uint64 bytes;		 /* in shared memory, with those of its dictionary */
	uint64 device_bytes; /* of values that are on the device */
	uint64 device_pages;
	uint32 device_chunks;
	uint32 sure_chunks; /* of these, those of which gpuaggd has said that they are there */
	uint32 bare_chunks; /* of these, those whose values are nowhere else; as are the next two */
	uint64 bare_rows;
	uint64 bare_pages;
	uint64 void_bytes; /* of bare blocks whose values are nowhere */
	uint64 uses;
	uint64 last; /* place of the last use in the order of uses */
	TimestampTz last_use;
} ColumnInfo;

extern ColumnInfo gpuagg_column_info(ResidentColumn *column);

/*
 * Another number, which no column has had before, after each change of its chunks' blocks, of their
 * evidence, and of their blobs in an epoch.
 */
extern uint64 gpuagg_column_changes(ResidentColumn *column);

/* Chunks that it may have blocks of. */
extern uint32 gpuagg_column_chunks(ResidentColumn *column);

/* Copies the states of chunks first to first + n - 1; those that do not exist have no block. */
extern void gpuagg_column_states(ResidentColumn *column, uint32 first, uint32 n,
								 ChunkState *states);

/*
 * Copies the summaries of blocks[i], of chunk first + i.  Where another block is by now, npages is
 * 0, which no block has.
 */
extern void gpuagg_column_summaries(ResidentColumn *column, uint32 first, uint32 n,
									const MemoryRef *blocks, BlockSummary *summaries);

/*
 * Looks at the states of chunks first to first + n - 1, of one page of the map that has this LSN:
 * blocks[i] is the chunk's block, and odd[i] stays what it is only where all pages visible[i] are
 * confirmed under the LSN, and the records are records[i], which is set first if `set`.
 */
extern void gpuagg_column_glance(ResidentColumn *column, uint32 first, uint32 n, XLogRecPtr map_lsn,
								 const ChunkPages *visible, bool set, MemoryRef *blocks,
								 uint64 *records, uint64 *odd);

/* A block of the column, in this process; NULL: it cannot be mapped. */
extern const ColumnBlock *gpuagg_column_block(MemoryRef ref);

/* Pages of the chunk's block are right under that LSN, if the block is still the same. */
extern void gpuagg_column_confirm(ResidentColumn *column, uint32 chunk, MemoryRef block,
								  XLogRecPtr map_lsn, ChunkPages pages);

/*
 * Memory for a block, or for a dictionary; columns that were used before `before` may be thrown
 * out for it.  0: there is none.  for_bare: some stays free, for bare blocks.
 */
extern MemoryRef gpuagg_column_allocate(Size bytes, uint64 before, bool for_bare, void **address);

/* The same, but nothing is thrown out. */
extern MemoryRef gpuagg_column_try_allocate(Size bytes, bool for_bare, void **address);

/*
 * Makes blocks bare whose values are on the device, too, of the column used least recently that has
 * any, until so many bytes of shared memory are out; before them go bare blocks of which nothing is
 * there.  False: there are none.  Memory is free when nobody holds the column in an earlier version.
 */
extern bool gpuagg_columns_strip(Size bytes);

/* Puts a block in the place of a bare one that is the same but for that; or frees it. */
extern void gpuagg_column_fill_bare(ResidentColumn *column, uint32 chunk, MemoryRef bare,
									MemoryRef block, Size bytes);

/*
 * Puts a block in the place of `old`; `state` has what becomes of the chunk.  If another has come
 * into the place, or there is no room in the directory, the block is freed: false.
 */
extern bool gpuagg_column_publish(ResidentColumn *column, uint32 chunk, MemoryRef old,
								  const ChunkState *state, const BlockSummary *summary);

/* Throws out a column; false: it is not there. */
extern bool gpuagg_column_evict(const ColumnKey *key);

/* Throws out columns of a relation's file, or all of the database's; returns how many. */
extern int gpuagg_directory_evict(Oid database, Oid file);

/* Gives memory back to the system of which no column has anything, while it is more than `keep`. */
extern void gpuagg_directory_trim(Size keep);

/* Bytes that values may take. */
extern Size gpuagg_columns_limit(void);

/* All columns, in the current memory context. */
extern ColumnInfo *gpuagg_directory_list(int *n);

/* What a column may have in memory. */
typedef enum ColumnHas
{
	COLUMN_HAS_VALUES, /* blocks that are not bare */
	COLUMN_HAS_BYTES,  /* anything in shared memory */
	COLUMN_HAS_BLOBS,  /* anything on the device */
	COLUMN_HAS_TWICE   /* values in both, or bare blocks of which neither has any */
} ColumnHas;

/* The column that was used least recently, before that place, of those that have that; false: none. */
extern bool gpuagg_column_oldest(uint64 before, ColumnHas what, ColumnInfo *oldest);

/* Pages of a column that are in shared memory and on the device; false: it is not there. */
extern bool gpuagg_column_resident_pages(const ColumnKey *key, uint64 *host, uint64 *device);

/* Why there is less than is wanted; an empty string: there is no reason. */
extern const char *gpuagg_directory_reason(void);

/* Bytes of all segments. */
extern Size gpuagg_directory_bytes(void);

#endif /* GPUAGG_DIRECTORY_H */
