/*
 * column_fill.c
 *	  Makes blocks of resident columns from pages that somebody reads anyway.
 *
 * Why a page may become part of a block and be confirmed under the LSN of its map page: its
 * bit was set in the image, which was read first; then the page itself was read, whose flag
 * PD_ALL_VISIBLE was set.  Had its rows changed between the two, either the flag would not be
 * set, or the map's LSN would be another since, under which nothing is confirmed here.
 *
 * There is a second reason, for which even the order does not matter: image and page are read, and
 * the block is published, under the query's snapshot, which is registered until the node has ended.
 * As long as it is, vacuum takes no row that it does not see for visible to all, nor removes one
 * that it sees; so whenever the bit is set in that time, the page has the rows that it sees.
 */
#include "compat.h"

#include "resident/column_fill.h"
#include "resident/device_place.h"
#include "resident/device_upload.h"
#include "resident/dictionary.h"

#include "common/hashfn.h"
#include "miscadmin.h"

#include "gpuagg.h"
#include "resident/fill_values.h"
#include "resident/purge.h"

#define FIRST_ROWS	8192 /* of which there is room at first; a multiple of 64 */
#define STRIPS		8	 /* attempts to make blocks bare for one */
#define STALE_PAGES 32	 /* of a bare block, that are read each time rather than all of it again */

typedef struct FillColumn
{
	const ColumnPin *pin;
	GpuaggVectorType type;
	FillValues values;
	Dictionary *dictionary; /* of strings: values are their codes; or NULL */
	int32 of_byte[256];		/* of strings of one byte, as far as they have come: codes + 1 */
	bool lost;				/* its values are not taken */
} FillColumn;

/* Pages that were read or will be. */
typedef struct Expectation
{
	uint32 chunk;
	XLogRecPtr map_lsn;
	ChunkPages visible;
} Expectation;

typedef struct EmptyPage
{
	BlockNumber block;
	XLogRecPtr lsn;
	Buffer buffer;
} EmptyPage;

struct ColumnFill
{
	MemoryContext context;
	uint64 before;
	uint64 npages; /* put into memory, as at least one column */
	bool purged;   /* what others have left is out of the directory */
	bool full;	   /* there was no memory for a block */
	bool patient;  /* waits until the device has room for blocks */
	bool sends;	   /* blocks go to the device, too, while there is one: */
	DeviceUpload *upload;
	List *expected;	  /* of Expectation *, in the order of reading */
	EmptyPage *empty; /* pages without rows, in the order of reading */
	int empty_first;  /* those before have been taken */
	int nempty;
	int empty_room;

	/* the chunk whose pages are coming */
	bool begun;
	bool left; /* its pages do not come */
	Expectation now;
	ChunkPages pages; /* whole ones */
	int open_page;	  /* some of its rows have come; -1: none */
	uint32 first_row[CHUNK_PAGES];
	uint32 nrows[CHUNK_PAGES];
	XLogRecPtr lsn[CHUNK_PAGES];
	Buffer buffer[CHUNK_PAGES];
	uint32 rows; /* that have come */
	uint32 room;
	uint32 taken;				 /* of the rows, by the columns; the others are in vectors: */
	const GpuaggVector *vectors; /* these ones, */
	int vectors_first;			 /* from that of their rows on */
	int last_page;				 /* that has rows; -1: none */
	bool disordered;			 /* rows lie in another order than that of pages */
	void *some;					 /* GPUAGG_VECTOR_ROWS of the widest type */
	void *coming;				 /* the same */

	/* what blocks of just these pages have in common, once it is known */
	bool described;
	uint64 records; /* as in ChunkState */
	ColumnBlock header;

	int ncolumns;
	FillColumn columns[FLEXIBLE_ARRAY_MEMBER];
};

/* ---- memory ---- */

static void *
allocate(ColumnFill *fill, Size size)
{
	return MemoryContextAllocExtended(fill->context, size,
									  MCXT_ALLOC_NO_OOM | MCXT_ALLOC_ZERO | MCXT_ALLOC_HUGE);
}

/* Room for more rows; false: there is no memory. */
static bool
enlarge(ColumnFill *fill, uint32 rows)
{
	uint32 room = Max(fill->room, FIRST_ROWS);

	while (room < rows)
		room *= 2;
	if (room == fill->room)
		return true;
	for (int i = 0; i < fill->ncolumns; i++)
		if (!gpuagg_fill_values_enlarge(&fill->columns[i].values, fill->context, fill->room, room))
			return false;
	fill->room = room;
	return true;
}

ColumnFill *
gpuagg_fill_open(int n, const ColumnPin *pins, const GpuaggVectorType *types, uint64 before)
{
	ColumnFill *fill = palloc_extended(offsetof(ColumnFill, columns) + n * sizeof(FillColumn),
									   MCXT_ALLOC_NO_OOM | MCXT_ALLOC_ZERO);

	if (fill == NULL)
		return NULL;
	fill->context = CurrentMemoryContext;
	fill->before = before;
	fill->patient = gpuagg_resident == RESIDENT_PREFETCH;
	fill->sends = true;
	fill->open_page = -1;
	fill->last_page = -1;
	fill->ncolumns = n;
	for (int i = 0; i < n; i++)
	{
		FillColumn *column = &fill->columns[i];

		column->pin = &pins[i];
		column->type = types[i];
		if (types[i] == GPUAGG_VECTOR_BYTES)
		{
			column->type = GPUAGG_VECTOR_INT32;
			column->dictionary = gpuagg_dictionary_open(gpuagg_column_dictionary(&pins[i]));
			column->lost = column->dictionary == NULL;
		}
		gpuagg_fill_values_init(&column->values, column->type);
	}
	fill->some = allocate(fill, 2 * GPUAGG_VECTOR_ROWS * sizeof(GpuaggInt128));
	if (fill->some == NULL)
	{
		pfree(fill);
		return NULL;
	}
	fill->coming = (char *) fill->some + GPUAGG_VECTOR_ROWS * sizeof(GpuaggInt128);
	return fill;
}

/* ---- pages come ---- */

void
gpuagg_fill_expect(ColumnFill *fill, uint32 chunk, const MapImage *image)
{
	MemoryContext old = MemoryContextSwitchTo(fill->context);
	Expectation *expectation = palloc(sizeof(Expectation));

	*expectation = (Expectation){chunk, image->lsn, image->visible[chunk % MAP_PAGE_CHUNKS]};
	fill->expected = lappend(fill->expected, expectation);
	MemoryContextSwitchTo(old);
}

void
gpuagg_fill_refuse(ColumnFill *fill, int number, ColumnRefusal why)
{
	FillColumn *column = &fill->columns[number];
	bool all = true;

	if (column->lost)
		return;
	column->lost = true;
	gpuagg_column_refuse(column->pin, why);
	for (int i = 0; i < fill->ncolumns; i++)
		all &= fill->columns[i].lost;
	fill->full |= all;
}

/* Codes of n strings, into fill->coming. */
static void
take_strings(ColumnFill *fill, int number, const GpuaggVector *vector, int begin, int n)
{
	FillColumn *column = &fill->columns[number];
	const GpuaggVectorBytes *strings = (const GpuaggVectorBytes *) vector->values + begin;
	int32 *codes = fill->coming;

	for (int i = 0; i < n && !column->lost; i++)
	{
		int row = begin + i;
		int32 *of_byte = NULL;

		codes[i] = 0;
		if (vector->valid != NULL && (vector->valid[row / 64] >> row % 64 & 1) == 0)
			continue;
		if (strings[i].size == 1)
		{
			of_byte = &column->of_byte[strings[i].data[0]];
			if (*of_byte != 0)
			{
				codes[i] = *of_byte - 1;
				continue;
			}
		}
		switch (gpuagg_dictionary_code(column->dictionary, strings[i], fill->before, &codes[i]))
		{
			case DICTIONARY_HAS:
				if (of_byte != NULL)
					*of_byte = codes[i] + 1;
				break;
			case DICTIONARY_LONG_VALUE:
				gpuagg_fill_refuse(fill, number, COLUMN_LONG_VALUE);
				break;
			case DICTIONARY_MANY_VALUES:
				gpuagg_fill_refuse(fill, number, COLUMN_MANY_VALUES);
				break;
			case DICTIONARY_NO_MEMORY:
				column->lost = true;
				fill->full = true;
				break;
		}
	}
}

/* A column's next n values, from vectors. */
static void
take_values(ColumnFill *fill, int number, uint32 n)
{
	FillColumn *column = &fill->columns[number];
	const GpuaggVector *vector = &fill->vectors[number];
	int first = fill->vectors_first;
	uint64 bits[GPUAGG_VECTOR_WORDS] = {0};
	const uint64 *valid = NULL;
	const void *values = fill->coming;

	if (vector->valid != NULL && gpuagg_bits_count(vector->valid, first, n) < n)
	{
		gpuagg_bits_copy(bits, 0, vector->valid, first, n);
		valid = bits;
	}
	if (column->dictionary != NULL)
		take_strings(fill, number, vector, first, n);
	else if (column->type == GPUAGG_VECTOR_BOOL)
		gpuagg_bits_copy(fill->coming, 0, vector->values, first, n);
	else
		values = (char *) vector->values + first * gpuagg_vector_type_size(column->type);
	if (!column->lost)
		gpuagg_fill_values_add(&column->values, fill->taken, values, valid, n, fill->some);
}

void
gpuagg_fill_vectors_end(ColumnFill *fill)
{
	for (int i = 0; i < fill->ncolumns && fill->taken < fill->rows; i++)
		if (!fill->columns[i].lost)
			take_values(fill, i, fill->rows - fill->taken);
	fill->taken = fill->rows;
}

/* Rows from that one on are taken back. */
static void
take_back(ColumnFill *fill, uint32 row)
{
	fill->rows = row;
	if (fill->taken <= row)
		return;
	fill->taken = row;
	for (int i = 0; i < fill->ncolumns; i++)
		gpuagg_fill_values_drop(&fill->columns[i].values);
}

static void publish(ColumnFill *fill);

/* Makes the next chunk that was expected current; false: there is none. */
static bool
turn(ColumnFill *fill)
{
	Expectation *expectation;

	publish(fill);
	if (fill->expected == NIL)
		return false;
	expectation = linitial(fill->expected);
	fill->expected = list_delete_first(fill->expected);
	fill->now = *expectation;
	fill->begun = true;
	pfree(expectation);
	return true;
}

/* Makes the chunk current whose pages come now; false: it was not expected. */
static bool
turn_to(ColumnFill *fill, uint32 chunk)
{
	if (fill->begun && fill->now.chunk == chunk)
		return true;
	while (turn(fill))
		if (fill->now.chunk == chunk)
			return true;
	return false;
}

bool
gpuagg_fill_begin(ColumnFill *fill, uint32 chunk)
{
	return turn_to(fill, chunk) && !chunk_is_empty(&fill->now.visible);
}

void
gpuagg_fill_leave(ColumnFill *fill)
{
	fill->left = fill->begun;
}

void
gpuagg_fill_rows(ColumnFill *fill, BlockNumber block, XLogRecPtr lsn, Buffer buffer,
				 const GpuaggVector *vectors, int begin, int n, bool first, bool last)
{
	int page = chunk_page(block);

	if (!turn_to(fill, chunk_of(block)) || !chunk_has(&fill->now.visible, page))
		return;
	if (first)
	{
		fill->disordered |= page <= fill->last_page;
		fill->last_page = page;
		fill->open_page = page;
		fill->first_row[page] = fill->rows;
		fill->nrows[page] = 0;
		fill->lsn[page] = lsn;
		fill->buffer[page] = buffer;
	}
	else if (fill->open_page != page)
		return;
	if (!enlarge(fill, fill->rows + n))
	{
		gpuagg_fill_drop(fill, block);
		return;
	}
	/* columns take what follows one another in vectors at once */
	if (fill->taken < fill->rows &&
		(fill->vectors != vectors ||
		 begin != fill->vectors_first + (int) (fill->rows - fill->taken)))
		gpuagg_fill_vectors_end(fill);
	if (fill->taken == fill->rows)
	{
		fill->vectors = vectors;
		fill->vectors_first = begin;
	}
	fill->rows += n;
	fill->nrows[page] += n;
	if (last)
	{
		chunk_add(&fill->pages, page);
		fill->open_page = -1;
	}
}

void
gpuagg_fill_drop(ColumnFill *fill, BlockNumber block)
{
	int page = chunk_page(block);

	if (!fill->begun || fill->now.chunk != chunk_of(block) ||
		(fill->open_page != page && !chunk_has(&fill->pages, page)))
		return;
	take_back(fill, fill->first_row[page]);
	fill->open_page = -1;
	chunk_remove(&fill->pages, page);
}

void
gpuagg_fill_empty(ColumnFill *fill, BlockNumber block, XLogRecPtr lsn, Buffer buffer)
{
	if (fill->nempty == fill->empty_room)
	{
		int room = Max(2 * fill->empty_room, CHUNK_PAGES);
		EmptyPage *empty = allocate(fill, room * sizeof(EmptyPage));

		if (empty == NULL)
			return;
		if (fill->empty != NULL)
		{
			memcpy(empty, fill->empty, fill->nempty * sizeof(EmptyPage));
			pfree(fill->empty);
		}
		fill->empty = empty;
		fill->empty_room = room;
	}
	fill->empty[fill->nempty++] = (EmptyPage){block, lsn, buffer};
}

/* ---- blocks ---- */

/* Pages without rows of the current chunk, among the others. */
static void
add_empty(ColumnFill *fill)
{
	for (; fill->empty_first < fill->nempty; fill->empty_first++)
	{
		const EmptyPage *empty = &fill->empty[fill->empty_first];
		int page = chunk_page(empty->block);

		if (chunk_of(empty->block) != fill->now.chunk)
			return;
		if (!chunk_has(&fill->now.visible, page))
			continue;
		chunk_add(&fill->pages, page);
		fill->nrows[page] = 0;
		fill->lsn[page] = empty->lsn;
		fill->buffer[page] = empty->buffer;
	}
	fill->empty_first = fill->nempty = 0;
}

/* Pages that an old block has as they are now. */
static ChunkPages
same_pages(const ColumnFill *fill, const ColumnBlock *old)
{
	ChunkPages same = chunk_both(fill->pages, old->pages);

	for (int p = chunk_next(&same, 0); p < CHUNK_PAGES; p = chunk_next(&same, p + 1))
		if (old->lsn[p] != fill->lsn[p])
			chunk_remove(&same, p);
	return same;
}

/* The rows of a page come from the old block, or have come now. */
typedef struct PageSource
{
	const ColumnBlock *old; /* or NULL */
	uint32 first;
	uint32 n;
} PageSource;

static PageSource
source_of(const ColumnFill *fill, const ColumnBlock *old, int page)
{
	if (chunk_has(&fill->pages, page))
		return (PageSource){NULL, fill->first_row[page], fill->nrows[page]};
	return (PageSource){old, old->first_row[page], column_block_page_rows(old, page)};
}

/* The rows from `page`, one of the pages, on that lie together; the next page becomes current. */
static PageSource
take_source(const ColumnFill *fill, const ColumnBlock *old, const ChunkPages *pages, int *page)
{
	PageSource all;

	/* what has come has no gaps */
	if (old == NULL && !fill->disordered)
	{
		*page = CHUNK_PAGES;
		return (PageSource){NULL, 0, fill->rows};
	}
	all = source_of(fill, old, *page);
	while ((*page = chunk_next(pages, *page + 1)) < CHUNK_PAGES)
	{
		PageSource more = source_of(fill, old, *page);

		if (more.old != all.old || more.first != all.first + all.n)
			break;
		all.n += more.n;
	}
	return all;
}

/* Calls take() for the rows of the pages, as many at a time as lie together. */
typedef void (*TakeRows)(void *arg, const GpuaggNarrow *form, const void *stored, uint64 first,
						 const uint64 *valid, uint32 n);

static void
for_rows(const ColumnFill *fill, const FillColumn *column, const ColumnBlock *old,
		 const ChunkPages *pages, TakeRows take, void *arg)
{
	int page = chunk_next(pages, 0);

	while (page < CHUNK_PAGES)
	{
		PageSource all = take_source(fill, old, pages, &page);
		const FillValues *values = &column->values;
		const uint64 *bits = all.old != NULL	? column_block_valid(all.old)
							 : values->any_null ? values->valid
												: NULL;

		for (uint32 done = 0; done < all.n;)
		{
			uint64 valid[GPUAGG_VECTOR_WORDS] = {0};
			uint32 first = all.first + done;
			uint32 n = Min(all.n - done, GPUAGG_VECTOR_ROWS);

			if (bits != NULL)
				gpuagg_bits_copy(valid, 0, bits, first, n);
			take(arg, all.old != NULL ? &all.old->form : &values->form,
				 all.old != NULL ? column_block_values(all.old) : values->stored, first,
				 bits != NULL ? valid : NULL, n);
			done += n;
		}
	}
}

typedef struct BlockMeasurer
{
	GpuaggNarrow *form;
	void *some;
} BlockMeasurer;

static void
measure(void *arg, const GpuaggNarrow *form, const void *stored, uint64 first, const uint64 *valid,
		uint32 n)
{
	BlockMeasurer *measurer = arg;

	gpuagg_narrow_read(form, stored, first, n, measurer->some, 0);
	gpuagg_narrow_add(measurer->form, measurer->some, valid, n);
}

typedef struct BlockWriter
{
	ColumnBlock *block;
	uint32 row;
} BlockWriter;

static void
write_rows(void *arg, const GpuaggNarrow *form, const void *stored, uint64 first,
		   const uint64 *valid, uint32 n)
{
	BlockWriter *writer = arg;
	ColumnBlock *block = writer->block;

	gpuagg_narrow_move(&block->form, (char *) block + block->values, writer->row, form, stored,
					   first, valid, n);
	if (block->nulls != 0)
	{
		uint64 *bits = (uint64 *) ((char *) block + block->nulls);

		if (valid != NULL)
			gpuagg_bits_copy(bits, writer->row, valid, 0, n);
		else
			gpuagg_bits_set(bits, writer->row, n);
	}
	writer->row += n;
}

static uint64
hash_records(const ColumnBlock *block)
{
	uint64 hash = hash_bytes_extended((const unsigned char *) &block->pages, sizeof(ChunkPages), 0);

	return hash_bytes_extended((const unsigned char *) block->lsn, sizeof(block->lsn), hash);
}

/* The header, but for the form and the places of its parts. */
static void
describe(const ColumnFill *fill, const ColumnBlock *old, const ChunkPages *pages,
		 ColumnBlock *block)
{
	uint32 row = 0;

	block->pages = *pages;
	for (int p = 0; p < CHUNK_PAGES; p++)
	{
		block->first_row[p] = row;
		block->lsn[p] = InvalidXLogRecPtr;
		block->buffer[p] = InvalidBuffer;
		if (!chunk_has(pages, p))
			continue;
		row += source_of(fill, old, p).n;
		block->lsn[p] = chunk_has(&fill->pages, p) ? fill->lsn[p] : old->lsn[p];
		block->buffer[p] = chunk_has(&fill->pages, p) ? fill->buffer[p] : old->buffer[p];
	}
	block->first_row[CHUNK_PAGES] = row;
	block->nrows = row;
}

/* What making room for a block may do. */
typedef enum BlockRoom
{
	ROOM_AS_IT_IS,
	ROOM_BESIDE_OLD, /* the column is held in this version, for the old block's values */
	ROOM_BY_ANY
} BlockRoom;

/*
 * Memory for a block of a column.  First of all, blocks become bare that the device has; they are
 * free when nobody holds their columns as they were.  Here no block that was seen before is used any
 * more, but for the column's old one.
 */
static MemoryRef
allocate_block(ColumnFill *fill, const FillColumn *column, Size size, BlockRoom room,
			   void **address)
{
	bool sends = fill->upload != NULL;
	MemoryRef ref = gpuagg_column_try_allocate(size, sends || room == ROOM_AS_IT_IS, address);

	if (ref != 0 || room == ROOM_AS_IT_IS)
		return ref;
	if (sends)
		gpuagg_upload_settle(fill->upload, fill->patient);
	/* free places may not lie together */
	for (int attempts = 0; attempts < STRIPS && ref == 0 && gpuagg_columns_strip(size); attempts++)
	{
		for (int i = 0; i < fill->ncolumns; i++)
			if (room == ROOM_BY_ANY || &fill->columns[i] != column)
				gpuagg_column_renew(fill->columns[i].pin);
		ref = gpuagg_column_try_allocate(size, sends, address);
		if (room == ROOM_BESIDE_OLD)
			return ref;
	}
	return ref != 0 ? ref : gpuagg_column_allocate(size, fill->before, sends, address);
}

/* A block of the pages that have come and of the old block's others; state: of the chunk with it. */
static bool
make_block(ColumnFill *fill, const FillColumn *column, const ColumnBlock *old, BlockRoom room,
		   ChunkState *state, BlockSummary *summary)
{
	ChunkPages pages = old != NULL ? chunk_either(fill->pages, old->pages) : fill->pages;
	ColumnBlock header;
	ColumnBlock *block;
	void *address;
	bool nulls = column->values.any_null || (old != NULL && old->nulls != 0);
	Size size = BARE_BLOCK_BYTES;

	if (old != NULL)
	{
		describe(fill, old, &pages, &header);
		state->records = hash_records(&header);
	}
	else
	{
		if (!fill->described)
		{
			describe(fill, NULL, &pages, &fill->header);
			fill->records = hash_records(&fill->header);
			fill->described = true;
		}
		header = fill->header;
		state->records = fill->records;
	}
	header.form = column->values.seen;
	if (old != NULL || !column->values.exact)
	{
		gpuagg_narrow_init(&header.form, column->type);
		for_rows(fill, column, old, &pages, measure, &(BlockMeasurer){&header.form, fill->some});
	}
	gpuagg_narrow_finish(&header.form);
	header.nulls = nulls ? size : 0;
	if (nulls)
		size += TYPEALIGN(BLOCK_ALIGN, (header.nrows + 63) / 64 * sizeof(uint64));
	header.values = size;
	size += gpuagg_narrow_bytes(&header.form, header.nrows);
	header.bytes = size;

	state->block = allocate_block(fill, column, size, room, &address);
	if (state->block == 0)
		return false;
	block = address;
	*block = header;
	for_rows(fill, column, old, &pages, write_rows, &(BlockWriter){block, 0});
	block->nvalid = nulls ? (uint32) gpuagg_bits_count(column_block_valid(block), 0, block->nrows)
						  : block->nrows;
	state->bytes = (uint32) size;
	state->values = (uint32) (size - BARE_BLOCK_BYTES);
	state->nrows = header.nrows;
	state->npages = chunk_size(&pages);
	*summary = column_block_summary(block);
	return true;
}

/* A block that has been published, and is held by the pin. */
static void
send_block(ColumnFill *fill, ResidentColumn *column, uint32 chunk, MemoryRef ref)
{
	const ColumnBlock *block = gpuagg_column_block(ref);

	if (fill->sends)
	{
		MemoryContext old = MemoryContextSwitchTo(fill->context);

		fill->upload = gpuagg_upload_open(fill->before, fill->patient);
		MemoryContextSwitchTo(old);
	}
	fill->sends = false;
	if (fill->upload != NULL && block != NULL)
		gpuagg_upload_offer(fill->upload, column, chunk, ref, block, fill->patient);
}

/*
 * The old block of a chunk, to be put together with the pages that have come; NULL: there is none.
 * Of a bare one there are no values.  *stays: there need be no new one; *whole: of a bare one that
 * stays, all has come.
 */
static const ColumnBlock *
find_old(ColumnFill *fill, ResidentColumn *column, MemoryRef ref, bool *stays, bool *whole)
{
	bool bare = column_block_is_bare(ref);
	const ColumnBlock *block = ref != 0 ? gpuagg_column_block(ref) : NULL;
	ChunkPages same;
	ChunkPages unread;
	int other;

	*whole = false;
	*stays = ref != 0 && block == NULL;
	if (block == NULL || (bare && !gpuagg_column_is_placed(column, fill->now.chunk, ref)))
		return NULL;
	same = same_pages(fill, block);
	unread = chunk_without(block->pages, fill->pages);
	other = chunk_size(&fill->pages) - chunk_size(&same);
	*stays = other == 0 || (bare && other <= STALE_PAGES && !chunk_is_empty(&unread));
	*whole = bare && other == 0 && chunk_is_empty(&unread);
	if (*stays)
		gpuagg_column_confirm(column, fill->now.chunk, ref, fill->now.map_lsn, same);
	return bare ? NULL : block;
}

/*
 * The chunk's new block, and the state with it; false: there is none, or there need be none.  *old,
 * *merged: the chunk's state before, and whether the old block's other pages are in the new one.
 */
static bool
renew_block(ColumnFill *fill, const FillColumn *column, ChunkState *old, bool *merged,
			ChunkState *state, BlockSummary *summary)
{
	ResidentColumn *resident = column->pin->column;
	uint32 chunk = fill->now.chunk;

	/* the old block may become bare when room is made */
	for (int attempts = 0; attempts < STRIPS; attempts++)
	{
		const ColumnBlock *block;
		bool last = attempts == STRIPS - 1;
		bool stays;
		bool whole;

		gpuagg_column_renew(column->pin);
		gpuagg_column_states(resident, chunk, 1, old);
		block = find_old(fill, resident, old->block, &stays, &whole);
		*merged = block != NULL;
		/* where there is room, values come into shared memory again */
		if (whole && make_block(fill, column, NULL, ROOM_AS_IT_IS, state, summary))
			gpuagg_column_fill_bare(resident, chunk, old->block, state->block, state->bytes);
		if (stays)
			return false;
		if (make_block(fill, column, block, block == NULL ? ROOM_BY_ANY : ROOM_BESIDE_OLD, state,
					   summary))
			return true;
		if (block == NULL || last)
			break;
	}
	fill->full = true;
	return false;
}

/* True: its pages were put into memory. */
static bool
publish_column(ColumnFill *fill, const FillColumn *column)
{
	ResidentColumn *resident = column->pin->column;
	const Expectation *now = &fill->now;
	ChunkState old;
	ChunkState state;
	BlockSummary summary;
	bool merged;

	if (!renew_block(fill, column, &old, &merged, &state, &summary))
		return false;
	state.map_lsn = now->map_lsn;
	state.confirmed = fill->pages;
	/* of pages of which the new block has none, nothing is confirmed */
	if (!merged)
		memset(&old.confirmed, 0, sizeof(old.confirmed));
	if (old.map_lsn == now->map_lsn)
		state.confirmed = chunk_either(fill->pages, old.confirmed);
	else if (old.map_lsn > now->map_lsn)
	{
		/* others have seen a later map, under which these pages are not known to be right */
		state.map_lsn = old.map_lsn;
		state.confirmed = chunk_without(old.confirmed, fill->pages);
	}
	if (!gpuagg_column_publish(resident, now->chunk, old.block, &state, &summary))
		return false;
	send_block(fill, resident, now->chunk, state.block);
	return true;
}

/* The current chunk's pages become blocks. */
static void
publish(ColumnFill *fill)
{
	bool any = false;

	if (!fill->begun)
		return;
	if (fill->open_page >= 0)
		take_back(fill, fill->first_row[fill->open_page]);
	gpuagg_fill_vectors_end(fill);
	add_empty(fill);
	if (fill->left)
		memset(&fill->pages, 0, sizeof(ChunkPages));
	if (!chunk_is_empty(&fill->pages) && !fill->purged)
	{
		fill->purged = true;
		(void) gpuagg_directory_purge();
	}
	for (int i = 0; i < fill->ncolumns && !chunk_is_empty(&fill->pages) && !fill->full; i++)
		any |= !fill->columns[i].lost && publish_column(fill, &fill->columns[i]);
	if (any)
		fill->npages += chunk_size(&fill->pages);
	fill->begun = false;
	fill->left = false;
	fill->open_page = -1;
	fill->rows = 0;
	fill->taken = 0;
	fill->last_page = -1;
	fill->disordered = false;
	fill->described = false;
	memset(&fill->pages, 0, sizeof(ChunkPages));
	for (int i = 0; i < fill->ncolumns; i++)
		gpuagg_fill_values_next(&fill->columns[i].values);
}

bool
gpuagg_fill_is_full(const ColumnFill *fill)
{
	return fill->full;
}

uint64
gpuagg_fill_finish(ColumnFill *fill)
{
	while (turn(fill))
		continue;
	return fill->npages;
}

void
gpuagg_fill_close(ColumnFill *fill)
{
	if (fill->upload != NULL)
		gpuagg_upload_close(fill->upload, false);
	for (int i = 0; i < fill->ncolumns; i++)
	{
		gpuagg_fill_values_free(&fill->columns[i].values);
		if (fill->columns[i].dictionary != NULL)
			gpuagg_dictionary_close(fill->columns[i].dictionary);
	}
	list_free_deep(fill->expected);
	if (fill->empty != NULL)
		pfree(fill->empty);
	pfree(fill->some);
	pfree(fill);
}
