/*
 * column_memory.c
 *	  Memory for the values of resident columns.
 *
 * A segment is pinned, so that it outlives who made it, and begins with its table of free
 * pages.  A process keeps its mapping as long as it lives, or until it finds that another
 * segment has taken the place.
 */
#include "compat.h"

#include "resident/column_memory.h"

#include <sys/mman.h>

#include "access/parallel.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "device/attempt.h"

#define SEGMENT_BYTES ((Size) 16 * 1024 * 1024) /* the smallest */
#define GROWTH_PART	  4							/* a segment is at least that part of all so far */
#define FIRST_PAGE	  1							/* after the table of free pages */
#define RETRY_MS	  10000						/* after a segment could not be made */

#define USED_UP		  "\"gpuagg.column_memory\" is used up"

typedef struct MappedSegment
{
	dsm_segment *segment; /* NULL: not mapped */
	dsm_handle handle;
	uint32 generation;
	Size pages; /* so many from the first on have been taken for writing, or are others' */
} MappedSegment;

static MappedSegment mapped[MEMORY_SEGMENTS];

void
gpuagg_column_memory_init(ColumnMemory *memory, int tranche)
{
	memset(memory, 0, sizeof(ColumnMemory));
	LWLockInitialize(&memory->lock, tranche);
	for (int i = 0; i < MEMORY_SEGMENTS; i++)
		memory->segments[i].handle = DSM_HANDLE_INVALID;
}

static MemoryRef
make_ref(int number, Size page)
{
	return (uint64) number << 32 | page;
}

/* ---- mapping ---- */

/* What try_segment() asks for, and gets. */
typedef struct SegmentWish
{
	dsm_handle handle; /* DSM_HANDLE_INVALID: a new one */
	Size bytes;
	ResourceOwner owner; /* of what is left behind by an error */
	dsm_segment *segment;
} SegmentWish;

static void
get_segment(void *arg)
{
	SegmentWish *wish = arg;

	CurrentResourceOwner = wish->owner;
	wish->segment = wish->handle == DSM_HANDLE_INVALID
						? dsm_create(wish->bytes, DSM_CREATE_NULL_IF_MAXSEGMENTS)
						: dsm_attach(wish->handle);
	/* it does not end with the query */
	if (wish->segment != NULL)
		dsm_pin_mapping(wish->segment);
}

/* A new segment, or the mapping of one; NULL and a message if that fails. */
static dsm_segment *
try_segment(dsm_handle handle, Size bytes, char *message, Size size)
{
	SegmentWish wish = {handle, bytes, ResourceOwnerCreate(NULL, "gpuagg segment"), NULL};

	if (!gpuagg_attempt(get_segment, &wish, message, size))
		wish.segment = NULL;
	else if (wish.segment == NULL && message != NULL)
		strlcpy(message, "too many dynamic shared memory segments", size);
	ResourceOwnerRelease(wish.owner, RESOURCE_RELEASE_BEFORE_LOCKS, false, true);
	ResourceOwnerRelease(wish.owner, RESOURCE_RELEASE_LOCKS, false, true);
	ResourceOwnerRelease(wish.owner, RESOURCE_RELEASE_AFTER_LOCKS, false, true);
	ResourceOwnerDelete(wish.owner);
	return wish.segment;
}

void
gpuagg_column_memory_populate(const void *address, Size bytes)
{
#ifdef MADV_POPULATE_READ
	(void) madvise(unconstify(void *, address), bytes, MADV_POPULATE_READ);
#endif
}

/*
 * Whether a segment is there, and this process has mapped it.  Under the lock, or of one that is in
 * use.
 */
static bool
is_mapped(const ColumnMemory *memory, int number)
{
	const MemorySegment *shared = &memory->segments[number];

	return mapped[number].segment != NULL && mapped[number].handle == shared->handle &&
		   mapped[number].generation == shared->generation;
}

static char *
address_of(ColumnMemory *memory, int number)
{
	MappedSegment *mapping = &mapped[number];
	MemorySegment shared;

	/* without the lock: the segment of a place that is in use does not change */
	if (is_mapped(memory, number))
		return dsm_segment_address(mapping->segment);
	LWLockAcquire(&memory->lock, LW_SHARED);
	shared = memory->segments[number];
	LWLockRelease(&memory->lock);
	if (mapping->segment != NULL &&
		(mapping->handle != shared.handle || mapping->generation != shared.generation))
	{
		dsm_detach(mapping->segment);
		mapping->segment = NULL;
	}
	if (shared.handle == DSM_HANDLE_INVALID)
		return NULL;
	if (mapping->segment == NULL)
	{
		dsm_segment *segment = dsm_find_mapping(shared.handle);

		if (segment == NULL)
			segment = try_segment(shared.handle, 0, NULL, 0);
		if (segment == NULL)
			return NULL;
		/* places are given from the first on; a worker will need a part */
		if (!IsParallelWorker())
			gpuagg_column_memory_populate(dsm_segment_address(segment),
										  Min(shared.used, dsm_segment_map_length(segment)));
		*mapping = (MappedSegment){segment, shared.handle, shared.generation, 0};
	}
	return dsm_segment_address(mapping->segment);
}

void *
gpuagg_column_memory_at(ColumnMemory *memory, MemoryRef ref)
{
	char *address = address_of(memory, memory_ref_segment(ref));

	return address == NULL ? NULL : address + (ref & PG_UINT32_MAX) * MEMORY_PAGE;
}

/* ---- allocation ---- */

static Size
pages_of(Size bytes)
{
	return (bytes + MEMORY_PAGE - 1) / MEMORY_PAGE;
}

/* Lets go of segments that are gone, so that their memory goes, too. */
static void
unmap_gone(const ColumnMemory *memory)
{
	for (int i = 0; i < MEMORY_SEGMENTS; i++)
		if (mapped[i].segment != NULL && !is_mapped(memory, i))
		{
			dsm_detach(mapped[i].segment);
			mapped[i].segment = NULL;
		}
}

/*
 * Where a process looks first.  Workers begin at different segments, of which each then needs a few,
 * the others at the first one.
 */
static int
first_segment(void)
{
	return IsParallelWorker() ? (ParallelWorkerNumber + 1) % MEMORY_SEGMENTS : 0;
}

/*
 * In the segments that this process has mapped.  *other: one more that may have room; -1:
 * there is none.  tried: those that are none of these, a bit each.
 */
static MemoryRef
allocate_mapped(ColumnMemory *memory, Size bytes, uint32 tried, int *other)
{
	MemoryRef ref = 0;

	*other = -1;
	LWLockAcquire(&memory->lock, LW_EXCLUSIVE);
	for (int k = 0; k < MEMORY_SEGMENTS && ref == 0; k++)
	{
		int i = (first_segment() + k) % MEMORY_SEGMENTS;
		MemorySegment *shared = &memory->segments[i];
		Size page;
		char *address;

		if (shared->handle == DSM_HANDLE_INVALID || shared->bytes - shared->used < bytes)
			continue;
		if (!is_mapped(memory, i))
		{
			if (*other < 0 && (tried >> i & 1) == 0)
				*other = i;
			continue;
		}
		address = dsm_segment_address(mapped[i].segment);
		if (FreePageManagerGet((FreePageManager *) address, pages_of(bytes), &page))
		{
			shared->used += pages_of(bytes) * MEMORY_PAGE;
			ref = make_ref(i, page);
		}
	}
	LWLockRelease(&memory->lock);
	return ref;
}

/* In the segments that there are; others' are mapped one by one, as that takes time. */
static MemoryRef
allocate(ColumnMemory *memory, Size bytes)
{
	uint32 tried = 0;

	StaticAssertStmt(MEMORY_SEGMENTS <= 32, "each has its bit");
	for (;;)
	{
		int other;
		MemoryRef ref = allocate_mapped(memory, bytes, tried, &other);

		if (ref != 0 || other < 0)
			return ref;
		/* without the lock, as it may fail */
		tried |= (uint32) 1 << other;
		(void) address_of(memory, other);
	}
}

/* Of the segments.  Under the lock. */
static Size
all_bytes(const ColumnMemory *memory)
{
	Size total = 0;

	for (int i = 0; i < MEMORY_SEGMENTS; i++)
		if (memory->segments[i].handle != DSM_HANDLE_INVALID)
			total += memory->segments[i].bytes;
	return total;
}

/* Bytes for one more segment, reserved under the lock; 0: it may not be made. */
static Size
reserve(ColumnMemory *memory, Size bytes, Size limit)
{
	Size total;
	Size size = SEGMENT_BYTES;

	LWLockAcquire(&memory->lock, LW_EXCLUSIVE);
	total = all_bytes(memory) + memory->reserved;
	/* they grow, as there are few, and all of one is made at once */
	size = Max(size, total / GROWTH_PART);
	if (total > limit / GROWTH_PART)
		size = Max(size, limit / MEMORY_SEGMENTS);
	size = Min(size, limit > total ? limit - total : 0) / MEMORY_PAGE * MEMORY_PAGE;
	if (size < bytes + (FIRST_PAGE + 1) * MEMORY_PAGE)
	{
		strlcpy(memory->reason, USED_UP, sizeof(memory->reason));
		size = 0;
	}
	else if (memory->failed != 0 &&
			 !TimestampDifferenceExceeds(memory->failed, GetCurrentTimestamp(), RETRY_MS))
		size = 0;
	memory->reserved += size;
	LWLockRelease(&memory->lock);
	return size;
}

/* One more segment; false: there is no room for it. */
static bool
add_segment(ColumnMemory *memory, Size bytes, Size limit)
{
	Size size = reserve(memory, bytes, limit);
	char message[sizeof(memory->reason)] = "";
	dsm_segment *segment;
	int number = 0;

	if (size == 0)
		return false;
	segment = try_segment(DSM_HANDLE_INVALID, size, message, sizeof(message));
	if (segment != NULL)
	{
		FreePageManager *free_pages = dsm_segment_address(segment);

		StaticAssertStmt(sizeof(FreePageManager) <= FIRST_PAGE * MEMORY_PAGE, "it has room");
		FreePageManagerInitialize(free_pages, (char *) free_pages);
		FreePageManagerPut(free_pages, FIRST_PAGE, size / MEMORY_PAGE - FIRST_PAGE);
	}

	LWLockAcquire(&memory->lock, LW_EXCLUSIVE);
	memory->reserved -= size;
	memory->failed = segment != NULL ? 0 : GetCurrentTimestamp();
	strlcpy(memory->reason, message, sizeof(memory->reason));
	while (number < MEMORY_SEGMENTS && memory->segments[number].handle != DSM_HANDLE_INVALID)
		number++;
	if (segment != NULL && number < MEMORY_SEGMENTS)
	{
		MemorySegment *shared = &memory->segments[number];

		shared->handle = dsm_segment_handle(segment);
		shared->generation++;
		shared->bytes = size;
		shared->used = FIRST_PAGE * MEMORY_PAGE;
		if (mapped[number].segment != NULL)
			dsm_detach(mapped[number].segment);
		mapped[number] = (MappedSegment){segment, shared->handle, shared->generation, 0};
		dsm_pin_segment(segment);
	}
	LWLockRelease(&memory->lock);
	if (segment != NULL && number == MEMORY_SEGMENTS)
		dsm_detach(segment);
	return segment != NULL && number < MEMORY_SEGMENTS;
}

/* Takes the pages of a new place at once, those that this process has not had before. */
static void
populate_place(MemoryRef ref, Size npages)
{
#ifdef MADV_POPULATE_READ
	MappedSegment *mapping = &mapped[memory_ref_segment(ref)];
	Size end = (ref & PG_UINT32_MAX) + npages;
	Size begin = Max(end - npages, mapping->pages);

	if (begin >= end)
		return;
	(void) madvise((char *) dsm_segment_address(mapping->segment) + begin * MEMORY_PAGE,
				   (end - begin) * MEMORY_PAGE, MADV_POPULATE_READ);
	mapping->pages = end;
#endif
}

/* Whether so many bytes may be taken, so that the others stay free. */
static bool
keeps(ColumnMemory *memory, Size bytes, Size limit, Size keep)
{
	Size used = 0;

	LWLockAcquire(&memory->lock, LW_EXCLUSIVE);
	for (int i = 0; i < MEMORY_SEGMENTS; i++)
		if (memory->segments[i].handle != DSM_HANDLE_INVALID)
			used += memory->segments[i].used;
	if (used + bytes + keep > limit)
		strlcpy(memory->reason, USED_UP, sizeof(memory->reason));
	LWLockRelease(&memory->lock);
	return used + bytes + keep <= limit;
}

MemoryRef
gpuagg_column_memory_allocate(ColumnMemory *memory, Size bytes, Size limit, Size keep)
{
	MemoryRef ref;

	unmap_gone(memory);
	if (keep > 0 && !keeps(memory, bytes, limit, keep))
		return 0;
	ref = allocate(memory, bytes);
	if (ref == 0 && add_segment(memory, bytes, limit))
		ref = allocate(memory, bytes);
	if (ref != 0)
		populate_place(ref, pages_of(bytes));
	return ref;
}

void
gpuagg_column_memory_free(ColumnMemory *memory, MemoryRef ref, Size bytes)
{
	int number = memory_ref_segment(ref);
	char *address = address_of(memory, number);

	if (address == NULL)
		return;
	LWLockAcquire(&memory->lock, LW_EXCLUSIVE);
	FreePageManagerPut((FreePageManager *) address, ref & PG_UINT32_MAX, pages_of(bytes));
	memory->segments[number].used -= pages_of(bytes) * MEMORY_PAGE;
	LWLockRelease(&memory->lock);
}

Size
gpuagg_column_memory_bytes(ColumnMemory *memory)
{
	Size total;

	LWLockAcquire(&memory->lock, LW_SHARED);
	total = all_bytes(memory);
	LWLockRelease(&memory->lock);
	return total;
}

void
gpuagg_column_memory_trim(ColumnMemory *memory, Size keep)
{
	for (int i = 0; i < MEMORY_SEGMENTS; i++)
	{
		MemorySegment *shared = &memory->segments[i];
		dsm_handle handle = DSM_HANDLE_INVALID;

		LWLockAcquire(&memory->lock, LW_EXCLUSIVE);
		if (shared->handle != DSM_HANDLE_INVALID && shared->used == FIRST_PAGE * MEMORY_PAGE &&
			all_bytes(memory) > keep)
		{
			handle = shared->handle;
			shared->handle = DSM_HANDLE_INVALID;
			memory->reason[0] = '\0';
		}
		LWLockRelease(&memory->lock);
		if (handle == DSM_HANDLE_INVALID)
			continue;
			/* others that have it mapped keep it, so its memory goes first, if this kind can */
#ifdef MADV_REMOVE
		if (mapped[i].segment != NULL && mapped[i].handle == handle)
			(void) madvise(dsm_segment_address(mapped[i].segment),
						   dsm_segment_map_length(mapped[i].segment), MADV_REMOVE);
#endif
		dsm_unpin_segment(handle);
		if (mapped[i].segment != NULL && mapped[i].handle == handle)
		{
			dsm_detach(mapped[i].segment);
			mapped[i].segment = NULL;
		}
	}
}
