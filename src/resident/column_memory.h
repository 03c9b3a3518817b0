/*
 * column_memory.h
 *	  Memory for the values of resident columns: segments of dynamic shared memory, divided
 *	  into pages of MEMORY_PAGE bytes.
 *
 * A place is known by a reference, which all processes understand.  Nothing here raises an
 * error.  Callers hold no lock of the directory's.
 */
#ifndef GPUAGG_COLUMN_MEMORY_H
#define GPUAGG_COLUMN_MEMORY_H

#include "compat.h"

#include "datatype/timestamp.h"
#include "storage/dsm.h"
#include "storage/lwlock.h"
#include "utils/freepage.h"

#define MEMORY_PAGE		FPM_PAGE_SIZE
#define MEMORY_SEGMENTS 32

/* Segment and page; 0: none.  One bit is the owner's, and no part of the place. */
typedef uint64 MemoryRef;

#define MEMORY_REF_MARK (UINT64CONST(1) << 63)

static inline int
memory_ref_segment(MemoryRef ref)
{
	return (int) ((ref & ~MEMORY_REF_MARK) >> 32);
}

/* What processes share. */
typedef struct MemorySegment
{
	dsm_handle handle; /* DSM_HANDLE_INVALID: none */
	uint32 generation; /* of those that have been in this place */
	Size bytes;
	Size used; /* bytes of allocated pages */
} MemorySegment;

typedef struct ColumnMemory
{
	LWLock lock;
	MemorySegment segments[MEMORY_SEGMENTS];
	Size reserved;		/* bytes of segments that are being made */
	TimestampTz failed; /* when the last one could not be made; 0: it could */
	char reason[128];	/* why the last segment that was wanted was not made; or empty */
} ColumnMemory;

extern void gpuagg_column_memory_init(ColumnMemory *memory, int tranche);

/*
 * Room for so many bytes, in segments of at most `limit` bytes together, page-aligned, of which
 * `keep` bytes stay free; 0: there is none.  Its content is undefined.
 */
extern MemoryRef gpuagg_column_memory_allocate(ColumnMemory *memory, Size bytes, Size limit,
											   Size keep);

/* The same bytes; nobody uses them any more. */
extern void gpuagg_column_memory_free(ColumnMemory *memory, MemoryRef ref, Size bytes);

/* Where it is in this process; NULL: its segment cannot be mapped. */
extern void *gpuagg_column_memory_at(ColumnMemory *memory, MemoryRef ref);

/*
 * Maps pages in this process at once, which takes a third of the time of one by one.  A process
 * that may need all of a segment does that when it maps it, a parallel worker for each block.
 */
extern void gpuagg_column_memory_populate(const void *address, Size bytes);

/* Bytes of all segments. */
extern Size gpuagg_column_memory_bytes(ColumnMemory *memory);

/* Gives back segments of which nothing is allocated, while there are more than so many bytes. */
extern void gpuagg_column_memory_trim(ColumnMemory *memory, Size keep);

#endif /* GPUAGG_COLUMN_MEMORY_H */
