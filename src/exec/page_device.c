/*
 * page_device.c
 *	  Chunks of a page reader's table that the device can take.
 */
#include "compat.h"

#include "exec/page_device.h"
#include "exec/page_known.h"
#include "exec/page_resident_state.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "device/client.h"
#include "gpuagg.h"
#include "resident/device_extra.h"
#include "resident/device_place.h"
#include "resident/new_page.h"

#define READ_PART 8 /* of mode auto's rows, what a row counts beside that is read from its page */

/* Pages that are read for the device: so many, and a part of the table's; beside those that may be new. */
#define REST_LEAST 32
#define REST_PART  8
#define REST_NEW   1024

static const char few_rows[] = "so few rows take the CPU no longer";
const char gpuagg_page_device_missing[] = "columns are not on the device";

uint64
gpuagg_page_device_rows(const PageReader *reader, uint64 *bare, bool *there)
{
	const PageResident *resident = reader->resident;
	uint64 rows = UINT64_MAX;

	*there = true;
	*bare = 0;
	if (resident == NULL || !resident->pinned || reader->scan->share != NULL ||
		reader->scan->ncolumns == 0)
		return 0;
	for (int i = 0; i < resident->ncolumns; i++)
	{
		ColumnInfo info = gpuagg_column_info(resident->pins[i].column);

		rows = Min(rows, info.nrows);
		*bare = Max(*bare, info.bare_rows);
		*there &= info.device_chunks > 0;
	}
	return rows;
}

const char *
gpuagg_page_device_few(uint64 rows, uint64 bare, uint64 least)
{
	return gpuagg_device == DEVICE_AUTO && gpuagg_device_min_rows > 0 &&
				   rows + bare * READ_PART < least
			   ? few_rows
			   : NULL;
}

const char *
gpuagg_page_device_refusal(uint64 rows, uint64 bare, uint64 least)
{
	if (gpuagg_device == DEVICE_CPU)
		return gpuagg_reason_text(GPUAGG_DISABLED);
	if (rows == 0)
		return "columns are not in memory";
	if (rows < (uint64) gpuagg_device_min_rows || gpuagg_page_device_few(rows, bare, least) != NULL)
		return few_rows;
	return gpuagg_device_ready() ? NULL : "there is no device now";
}

void
gpuagg_page_device_send(PageReader *reader)
{
	PageResident *resident = reader->resident;
	MemoryContext old;

	if (resident == NULL || resident->fill == NULL || resident->upload != NULL)
		return;
	old = MemoryContextSwitchTo(resident->context);
	resident->upload = gpuagg_upload_open(resident->before, false);
	MemoryContextSwitchTo(old);
}

/* A bitmap of the chunk's rows that are on these pages. */
static const uint64 *
rows_of(const ColumnBlock *block, const ChunkPages *used)
{
	uint64 *rows = palloc0((block->nrows + 63) / 64 * sizeof(uint64));

	for (int p = chunk_next(used, 0); p < CHUNK_PAGES; p = chunk_next(used, p + 1))
		gpuagg_bits_set(rows, block->first_row[p], column_block_page_rows(block, p));
	return rows;
}

/* blobs: of the chunk's columns; placed: of the first column. */
static void
add_chunk(PageReader *reader, PageDevice *device, uint32 chunk, const uint64 *blobs,
		  const PlacedRows *placed)
{
	PageResident *resident = reader->resident;
	ChunkUse *use = &resident->decided[chunk];
	int ncolumns = resident->ncolumns;
	uint32 n = device->nchunks;
	uint32 nrows = placed->nrows;
	bool there = use->same;
	const uint64 *rows = NULL;

	if (gpuagg_page_resident_is_done(reader, chunk, use))
	{
		gpuagg_page_resident_take(reader, chunk);
		return;
	}
	if (use->partly)
	{
		/* its pages are read */
		*use = (ChunkUse){{{0}}, 0, false, false, false};
		return;
	}
	for (int i = 0; i < ncolumns; i++)
		there &= blobs[i] != 0;
	if (!there)
	{
		device->nhost++;
		return;
	}
	if ((uint32) chunk_size(&use->used) < placed->npages)
	{
		const ColumnBlock *block = gpuagg_column_block(*page_resident_ref(resident, 0, chunk));

		rows = rows_of(block, &use->used);
		nrows = (uint32) gpuagg_bits_count(rows, 0, block->nrows);
	}
	if (nrows == 0)
	{
		gpuagg_page_resident_take(reader, chunk);
		return;
	}
	device->numbers[n] = chunk;
	device->nrows[n] = nrows;
	device->chunks[n] = (BlobQueryChunk){placed->nrows, rows};
	/* those of chunks before it, or its own */
	for (int i = 0; i < ncolumns; i++)
		device->blobs[(Size) n * ncolumns + i] = blobs[i];
	device->rows += nrows;
	device->bare += use->bare ? nrows : 0;
	device->nchunks++;
}

/* Decides about all chunks that have not been decided about. */
static PageDevice *
find(PageReader *reader)
{
	PageResident *resident = reader->resident;
	PageDevice *device = palloc0(sizeof(PageDevice));
	uint32 n = resident->nchunks;
	uint32 first;
	PlacedRows *placed;

	while (resident->ndecided < n)
	{
		uint32 some = Min(CHUNKS_AHEAD, n - resident->ndecided);

		gpuagg_page_evidence_decide(reader, resident->ndecided, some,
									resident->decided + resident->ndecided);
		resident->ndecided += some;
	}
	device->numbers = palloc_extended(n * sizeof(uint32), MCXT_ALLOC_HUGE);
	device->nrows = palloc_extended(n * sizeof(uint32), MCXT_ALLOC_HUGE);
	device->chunks = palloc_extended(n * sizeof(BlobQueryChunk), MCXT_ALLOC_HUGE);
	device->blobs = palloc_extended((Size) n * resident->ncolumns * sizeof(uint64),
									MCXT_ALLOC_HUGE);
	device->epoch = gpuagg_device_epoch();
	placed = palloc_extended(n * sizeof(PlacedRows), MCXT_ALLOC_HUGE);
	first = resident->next;
	for (int i = 0; i < resident->ncolumns; i++)
		gpuagg_column_places(resident->pins[i].column, device->epoch, first, n - first,
							 page_resident_ref(resident, i, first), device->blobs + i,
							 resident->ncolumns, i == 0 ? placed : NULL);
	for (uint32 chunk = first; chunk < n; chunk++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!chunk_is_empty(&resident->decided[chunk].used))
			add_chunk(reader, device, chunk,
					  device->blobs + (Size) (chunk - first) * resident->ncolumns,
					  &placed[chunk - first]);
	}
	pfree(placed);
	return device;
}

PageDevice *
gpuagg_page_device_find(PageReader *reader)
{
	PageResident *resident = reader->resident;
	PageKnown known;
	PageDevice *device;

	gpuagg_page_evidence_keep(resident);
	device = gpuagg_page_known_find(reader, &known);
	if (device != NULL)
		return device;
	device = find(reader);
	gpuagg_page_known_keep(reader, &known, device);
	/* the chunk that is being given out goes on */
	if (resident->open && !gpuagg_page_evidence_blocks(resident, resident->chunk))
		elog(ERROR, "block of chunk %u is not there any more", resident->chunk);
	return device;
}

/* ---- rows that are not in memory ---- */

/* Whether pages that do not come from memory, and are not new, are at most so many. */
static bool
is_rest_small(const PageReader *reader, uint32 most)
{
	const PageScan *scan = reader->scan;
	const PageResident *resident = reader->resident;
	uint32 npages = 0;

	/* pages are looked at only if few of them are to be new */
	if (gpuagg_page_resident_unused(reader) > (BlockNumber) most + REST_NEW)
		return false;
	for (uint32 i = 0; i < resident->nchunks; i++)
	{
		const ChunkPages *used = &resident->decided[i].used;
		int n = chunk_npages(i, scan->nblocks);

		CHECK_FOR_INTERRUPTS();
		for (int p = 0; p < n && npages <= most && !chunk_is_full(used); p++)
			npages += !chunk_has(used, p) &&
					  !gpuagg_page_is_new(scan->relation, chunk_first_block(i) + p);
	}
	return npages <= most;
}

bool
gpuagg_page_device_may_read(const PageReader *reader)
{
	/* codes are those of a dictionary, which may not have what is on such a page */
	return is_rest_small(reader, reader->resident->any_codes
									 ? 0
									 : REST_LEAST + reader->scan->nblocks / REST_PART);
}

/* Reads the rest, *extra, or NULL: there are no rows; false: the device or the columns' form does not take one. */
static bool
read_rest(PageReader *reader, const PageColumn *columns, int ncolumns, uint64 epoch,
		  ExtraBlobs **extra)
{
	GpuaggVectorType *types = palloc((ncolumns + 1) * sizeof(GpuaggVectorType));

	for (int i = 0; i < ncolumns; i++)
		types[i] = columns[i].type;
	*extra = NULL;
	while (gpuagg_page_reader_next(reader))
	{
		if (*extra == NULL)
			*extra = gpuagg_extra_open(types, ncolumns, epoch);
		if (*extra == NULL)
			return false;
		gpuagg_page_reader_load(reader, 0, ncolumns, NULL);
		if (reader->any_flagged || !gpuagg_extra_add(*extra, reader->columns, reader->nrows))
			return false;
	}
	return true;
}

/* Chunks that the device has do not come. */
static void
take_all(PageReader *reader, const PageDevice *device)
{
	for (uint32 i = 0; i < device->nchunks; i++)
		gpuagg_page_resident_take(reader, device->numbers[i]);
}

/* The device's chunks, and behind them those that have been read. */
static PageDevice *
join(const PageDevice *device, const ExtraChunk *chunks, uint32 nchunks, int ncolumns)
{
	PageDevice *all = palloc(sizeof(PageDevice));
	uint32 n = device->nchunks;
	uint32 total = n + nchunks;

	*all = *device;
	all->taken = true;
	all->nread = nchunks;
	all->numbers = palloc_extended(total * sizeof(uint32), MCXT_ALLOC_HUGE);
	all->nrows = palloc_extended(total * sizeof(uint32), MCXT_ALLOC_HUGE);
	all->chunks = palloc_extended(total * sizeof(BlobQueryChunk), MCXT_ALLOC_HUGE);
	all->blobs = palloc_extended((Size) total * ncolumns * sizeof(uint64), MCXT_ALLOC_HUGE);
	memcpy(all->numbers, device->numbers, n * sizeof(uint32));
	memcpy(all->nrows, device->nrows, n * sizeof(uint32));
	memcpy(all->chunks, device->chunks, n * sizeof(BlobQueryChunk));
	memcpy(all->blobs, device->blobs, (Size) n * ncolumns * sizeof(uint64));
	for (uint32 i = 0; i < nchunks; i++)
	{
		all->numbers[n + i] = UINT32_MAX;
		all->nrows[n + i] = chunks[i].nrows;
		all->chunks[n + i] = (BlobQueryChunk){chunks[i].nrows, NULL};
		memcpy(all->blobs + (Size) (n + i) * ncolumns, chunks[i].numbers,
			   ncolumns * sizeof(uint64));
		all->rows += chunks[i].nrows;
	}
	all->nchunks = total;
	return all;
}

const PageDevice *
gpuagg_page_device_read_rest(PageReader *reader, const PageDevice *device,
							 const PageColumn *columns, int ncolumns)
{
	const ExtraChunk *chunks = NULL;
	uint32 nchunks = 0;
	ExtraBlobs *extra;
	PageDevice *all;

	if (gpuagg_page_resident_unused(reader) == 0 || reader->resident->any_codes)
		return device;
	take_all(reader, device);
	if (!read_rest(reader, columns, ncolumns, device->epoch, &extra) ||
		(extra != NULL && !gpuagg_extra_finish(extra, &chunks, &nchunks)))
	{
		if (extra != NULL)
			gpuagg_extra_close(extra);
		return NULL;
	}
	all = join(device, chunks, nchunks, ncolumns);
	all->read = extra;
	return all;
}

void
gpuagg_page_device_fill_rest(PageReader *reader)
{
	if (reader->resident == NULL || !reader->resident->pinned)
		return;
	gpuagg_page_device_send(reader);
	take_all(reader, gpuagg_page_device_find(reader));
	while (gpuagg_page_resident_fills(reader) && gpuagg_page_reader_next(reader))
		continue;
}

void
gpuagg_page_device_close(const PageDevice *device)
{
	if (device->read != NULL)
		gpuagg_extra_close(device->read);
}

void
gpuagg_page_device_use(PageReader *reader)
{
	const PageResident *resident = reader->resident;

	for (int i = 0; i < resident->ncolumns; i++)
		(void) gpuagg_column_use(resident->pins[i].column);
}

const GpuaggVectorBytes *
gpuagg_page_device_strings(const PageReader *reader, int column, uint32 *n)
{
	Dictionary *dictionary = reader->resident->dictionaries[column];

	/* entries are there before blocks that use them */
	if (dictionary == NULL || !gpuagg_dictionary_learn(dictionary))
		return NULL;
	*n = gpuagg_dictionary_size(dictionary);
	return gpuagg_dictionary_entries(dictionary, 0);
}

/* The first so many chunks are from memory. */
static uint32
in_memory(const PageDevice *device)
{
	return device->nchunks - device->nread;
}

/* A blob of such a chunk was not there. */
static void
displace(PageReader *reader, const PageDevice *device, uint32 i)
{
	const PageResident *resident = reader->resident;

	if (i >= in_memory(device))
		return;
	for (int c = 0; c < resident->ncolumns; c++)
		gpuagg_column_displace(resident->pins[c].column, device->numbers[i],
							   device->blobs[(Size) i * resident->ncolumns + c], true);
}

bool
gpuagg_page_device_whole(PageReader *reader, const PageDevice *device, const uint8 *status)
{
	bool all = true;

	for (uint32 i = 0; i < device->nchunks; i++)
	{
		all &= status[i] == GPUAGG_CHUNK_IN;
		if (status[i] == GPUAGG_CHUNK_STALE)
			displace(reader, device, i);
	}
	return all;
}

int64
gpuagg_page_device_taken(PageReader *reader, const PageDevice *device, const PageColumn *columns,
						 int ncolumns, const uint8 *status)
{
	const PageResident *resident = reader->resident;
	bool *in = palloc_extended(Max(device->nchunks, 1) * sizeof(bool), MCXT_ALLOC_HUGE);
	int64 rows = 0;
	Size bytes = 0;

	for (uint32 i = 0; i < device->nchunks; i++)
	{
		in[i] = status[i] == GPUAGG_CHUNK_IN;
		if (in[i])
			rows += device->nrows[i];
		else if (status[i] == GPUAGG_CHUNK_STALE)
			displace(reader, device, i);
	}
	for (int c = 0; c < resident->ncolumns; c++)
		gpuagg_column_settle(resident->pins[c].column, device->epoch, in_memory(device),
							 device->numbers, in, device->blobs + c, resident->ncolumns);
	for (uint32 i = 0; i < in_memory(device); i++)
	{
		if (!in[i])
			continue;
		if (!device->taken)
			gpuagg_page_resident_take(reader, device->numbers[i]);
		reader->counts.device_chunks++;
		reader->counts.device_rows += device->nrows[i];
		reader->counts.rows += device->nrows[i];
	}
	for (int i = 0; i < ncolumns; i++)
		bytes += gpuagg_vector_type_size(columns[i].type);
	gpuagg_stat_batch(ENGINE_DEVICE, rows, (int64) bytes * rows);
	return rows;
}
