/*
 * resident_column.h
 *	  A column in the directory, as the directory's own files see it.
 */
#ifndef GPUAGG_RESIDENT_COLUMN_H
#define GPUAGG_RESIDENT_COLUMN_H

#include "compat.h"

#include "port/atomics.h"
#include "utils/dsa.h"
#include "utils/resowner.h"

#include "resident/dictionary.h"
#include "resident/directory.h"

#define COLUMN_PINS	 1024 /* of all processes together */
#define RETIRED_ROOM 256
#define COLUMNS_SEEN 1024 /* that are remembered */

/* A block that is in use no more, but by those who hold the column in an earlier version. */
typedef struct RetiredBlock
{
	MemoryRef block;
	Size bytes;
	uint64 version; /* the first that does not have it */
} RetiredBlock;

/* What is looked at of all chunks of a table. */
typedef struct ChunkMark
{
	MemoryRef block;
	uint64 records;
} ChunkMark;

typedef struct ChunkEvidence
{
	XLogRecPtr map_lsn;
	ChunkPages confirmed;
} ChunkEvidence;

typedef struct ChunkTotals
{
	uint32 bytes;
	uint32 values;
	uint32 nrows;
	uint32 npages;
	uint32 nvalid;
} ChunkTotals;

typedef struct ChunkExtremes
{
	GpuaggInt128 minimum;
	GpuaggInt128 maximum;
} ChunkExtremes;

/*
 * States of the chunks of a page of the visibility map, by parts, as most queries need the first
 * only.  A chunk has its bit in `whole` just where all pages that a chunk may have are confirmed
 * under the group's LSN, the latest under which any has been.
 */
typedef struct ChunkGroup
{
	XLogRecPtr map_lsn;
	uint64 whole[(MAP_PAGE_CHUNKS + 63) / 64];
	ChunkMark marks[MAP_PAGE_CHUNKS];
	ChunkEvidence evidence[MAP_PAGE_CHUNKS];
	ChunkTotals totals[MAP_PAGE_CHUNKS]; /* as the next, of the blocks in `marks` */
	ChunkExtremes extremes[MAP_PAGE_CHUNKS];
	uint64 device_epoch;					  /* of these: */
	uint64 device[MAP_PAGE_CHUNKS];			  /* numbers of the blocks' blobs; 0: none */
	uint64 sure[(MAP_PAGE_CHUNKS + 63) / 64]; /* chunks whose blobs gpuaggd is known to have */
} ChunkGroup;

/* Blocks with blobs. */
typedef struct ColumnPlaced
{
	uint32 nchunks;
	uint64 nrows;
	uint64 npages;
	uint64 bytes;
} ColumnPlaced;

/*
 * In the directory's area.  `version` counts blocks that have been taken out.  Chunks are in
 * groups, those of a page of the visibility map each.
 */
struct ResidentColumn
{
	dsa_pointer self;
	ColumnKey key;
	Oid relation;
	ColumnRefusal refusal; /* does not change */
	pg_atomic_uint64 uses;
	pg_atomic_uint64 last;	   /* place of the last use in the order of uses */
	pg_atomic_uint64 last_use; /* TimestampTz */

	SharedDictionary dictionary; /* of strings */

	LWLock lock; /* of all below */
	bool dead;	 /* out of the directory: freed with its last pin */
	uint64 version;
	uint64 changes; /* see gpuagg_column_changes() */
	uint32 ngroups;
	dsa_pointer groups; /* dsa_pointer[ngroups]; each: a ChunkGroup, or invalid */
	uint32 nchunks;		/* with a block that is not bare */
	uint64 nrows;
	uint64 npages;
	uint64 bytes;
	uint64 bare_bytes;	 /* of these, of bare blocks */
	uint64 device_epoch; /* of what is on the device: */
	ColumnPlaced device; /* blocks with blobs */
	ColumnPlaced bare;	 /* of these, bare ones */
	uint32 sure_chunks;	 /* with blobs that gpuaggd is known to have */
	int nretired;
	RetiredBlock retired[RETIRED_ROOM];
};

typedef struct PinSlot
{
	dsa_pointer column; /* InvalidDsaPointer: free */
	uint64 version;
	int pid;
} PinSlot;

/* A column that was wanted. */
typedef struct SeenColumn
{
	uint64 hash; /* of its key */
	TimestampTz last;
} SeenColumn;

#define COLUMNS_SHARED_LAYOUT 6

/* A blob that gpuaggd is to drop. */
typedef struct DroppedBlob
{
	uint64 number;
	Oid database;
} DroppedBlob;

/* Of these there is room for so many, and for more where the area is large: in that part of it. */
#define DROPPED_LEAST 8192
#define DROPPED_MOST  (1024 * 1024)
#define DROPPED_PART  16

/* What device_place.c knows of blobs. */
typedef struct DevicePlaces
{
	pg_atomic_uint64 epoch;
	pg_atomic_uint64 numbers;	 /* the last that was given */
	pg_atomic_uint32 generation; /* of gpuaggd, in this epoch */

	LWLock lock;		/* of what follows; taken under locks of columns */
	uint64 drop_before; /* blobs of earlier epochs are to be dropped; 0: none */
	int ndrops;
	int room;
	dsa_pointer dropped; /* DroppedBlob[room] */
} DevicePlaces;

/* One struct in the main shared memory. */
typedef struct ColumnsShared
{
	uint32 layout;
	int tranche;
	pg_atomic_uint64 clock;	  /* counts uses of columns */
	pg_atomic_uint64 changes; /* of all columns */
	ColumnMemory memory;
	DevicePlaces places;

	LWLock lock;	   /* of what follows, and of the slots */
	dsa_handle area;   /* DSA_HANDLE_INVALID: not made yet */
	uint64 table;	   /* dshash_table_handle */
	dsa_pointer slots; /* PinSlot[COLUMN_PINS] */
	dsa_pointer seen;  /* SeenColumn[COLUMNS_SEEN] */
} ColumnsShared;

StaticAssertDecl(sizeof(ColumnsShared) <= COLUMNS_SHARED_SIZE, "the struct must stay small");

/* directory.c: both NULL where gpuagg_directory_open() has been false */
extern ColumnsShared *gpuagg_columns_shared;
extern dsa_area *gpuagg_columns_area;

/* column_pin.c: the owner's hold on a column that cannot go at this moment; false: there is no slot */
extern bool gpuagg_pin_take(ResidentColumn *column, ResourceOwner owner, ColumnPin *pin);

/* Under the column's lock, or before it is in the directory: something about its chunks is new. */
static inline void
column_changed(ResidentColumn *column)
{
	column->changes = pg_atomic_add_fetch_u64(&gpuagg_columns_shared->changes, 1);
}

/* resident_column.c: under the column's lock, the group of a chunk; NULL: there is none */
extern ChunkGroup *gpuagg_column_group(ResidentColumn *column, uint32 chunk);

/*
 * The same file, under the lock: takes the block out of a chunk, if it has one; false: there is no
 * room for one more that is out.  A bare block, whose blob is there, comes into the place of one that
 * is the same but for that, or the other way.
 */
extern bool gpuagg_column_retire(ResidentColumn *column, ChunkGroup *group, uint32 chunk);
extern bool gpuagg_column_exchange(ResidentColumn *column, ChunkGroup *group, uint32 chunk,
								   MemoryRef block, Size bytes);

/*
 * device_place.c: under the same lock, the chunk of that number in the group has no blob any more;
 * there: gpuaggd may have it.  Whether it has one, and gpuaggd is known to have that, too.
 */
extern void gpuagg_place_leave(ResidentColumn *column, ChunkGroup *group, int number, bool there);
extern bool gpuagg_place_is_there(const ResidentColumn *column, const ChunkGroup *group, int number,
								  bool sure);

/* The same file, under the lock: counts a bare block that has come, with a blob, or that goes. */
extern void gpuagg_place_count_bare(ResidentColumn *column, const ChunkGroup *group, int number,
									bool comes);

/* resident_column.c: how often blocks have been taken out so far */
extern uint64 gpuagg_column_version(ResidentColumn *column);

/*
 * The same.  collect() takes out the retired blocks that nobody holds, where `least` is
 * the earliest version that is held, and returns their number; *dead: the column is out of the
 * directory.  While nobody else can let go of the column.  discard() frees a dead one.
 */
extern int gpuagg_column_collect(ResidentColumn *column, uint64 least, RetiredBlock *gone,
								 bool *dead);
extern void gpuagg_column_discard(ResidentColumn *column);

/*
 * Takes out blocks, of the last chunks first, until so many bytes are out; returns the bytes.  Bare
 * ones only where there are no others.
 */
extern Size gpuagg_column_take_out(ResidentColumn *column, Size bytes);

#endif /* GPUAGG_RESIDENT_COLUMN_H */
