/*
 * window_ask.c
 *	  Asks the device for what is made of a window's rows: for all of it or nothing.
 */
#include "compat.h"

#include "utils/memutils.h"

#include "device/client.h"
#include "exec/kept_memory.h"
#include "exec/window_ask.h"
#include "exec/window_state.h"

/* ---- tables ---- */

/* Opens readers of tables that are read and have pages. */
static DeviceTables *
open_tables(WindowDevice *window)
{
	Snapshot snapshot = window->node->css.ss.ps.state->es_snapshot;
	DeviceTables *tables = palloc0(sizeof(DeviceTables));

	tables->n = window->ntables;
	tables->list = palloc0(tables->n * sizeof(DeviceTable));
	tables->ncolumns = (int) window->program.ncolumns;
	tables->number = window->number;
	for (int i = 0; i < tables->n; i++)
	{
		WindowDeviceTable *of = &window->tables[i];
		DeviceTable *table = &tables->list[i];

		if (!window->chosen[i] || RelationGetNumberOfBlocks(of->relation) == 0)
			continue;
		table->columns = of->columns;
		table->ncolumns = of->ncolumns;
		table->places = of->places;
		table->number = of->number;
		table->reader = gpuagg_page_reader_open(of->relation, snapshot, of->columns, of->ncolumns,
												PAGE_MEMORY_LOOK, NULL);
		gpuagg_window_device_read(of, table->reader);
	}
	return tables;
}

static void
close_tables(DeviceTables *tables)
{
	for (int i = 0; i < tables->n; i++)
	{
		if (tables->list[i].device != NULL)
			gpuagg_page_device_close(tables->list[i].device);
		if (tables->list[i].reader != NULL)
			gpuagg_page_reader_close(tables->list[i].reader);
	}
}

/*
 * Rows in memory, or 0 where a table's columns are not, if its chunks may not all be excluded; these
 * are as of one table, but that *there is also of what may be excluded.
 */
static uint64
count_rows(const WindowDevice *window, const DeviceTables *tables, uint64 *bare, bool *there)
{
	uint64 rows = 0;

	*bare = 0;
	*there = true;
	for (int i = 0; i < tables->n; i++)
	{
		const PageReader *reader = tables->list[i].reader;
		uint64 some_bare;
		bool some_there;
		uint64 some;

		if (reader == NULL)
			continue;
		some = gpuagg_page_device_rows(reader, &some_bare, &some_there);
		if (some == 0 && (window->tables[i].chunks == NULL || reader->resident == NULL))
			return 0;
		rows += some;
		*bare += some_bare;
		*there &= some_there || window->tables[i].chunks != NULL;
	}
	return rows;
}

/* Finds all chunks whose rows may pass; why the device cannot be asked about them, or NULL. */
static const char *
find_chunks(DeviceTables *tables)
{
	for (int i = 0; i < tables->n; i++)
	{
		DeviceTable *table = &tables->list[i];

		if (table->reader == NULL)
			continue;
		table->device = gpuagg_page_device_find(table->reader);
		if (table->device->nhost > 0)
			return gpuagg_page_device_missing;
		if (!gpuagg_page_device_may_read(table->reader))
			return "some pages are not in memory";
	}
	return NULL;
}

/* Reads the rows that are not in memory; false: the device does not take them. */
static bool
read_rest(DeviceTables *tables)
{
	for (int i = 0; i < tables->n; i++)
	{
		DeviceTable *table = &tables->list[i];
		const PageDevice *with_rest;

		if (table->reader == NULL)
			continue;
		with_rest = gpuagg_page_device_read_rest(table->reader, table->device, table->columns,
												 table->ncolumns);
		if (with_rest == NULL)
			return false;
		table->device = with_rest;
	}
	return true;
}

/* ---- how many rows of each table pass ---- */

/* What the filter leaves of a table; why that is not known, or NULL. */
static const char *
count_table(const WindowDevice *window, const DeviceTable *table, int64 *npassed)
{
	GpuaggQueryAggregate count = {GPUAGG_COUNT, {0}, GPUAGG_VECTOR_NONE, GPUAGG_VECTOR_NONE};
	BlobQuery *query = palloc0(sizeof(BlobQuery));
	const char *reason = NULL;
	GpuaggQueryTotal total;
	GpuaggReason failure;

	query->query.program = window->asked.program;
	query->query.program.ninstructions = window->asked.program.nfilter;
	query->query.aggregates = &count;
	query->query.naggregates = 1;
	query->query.parts = 1;
	query->query.nchunks = table->device->nchunks;
	query->chunks = table->device->chunks;
	query->numbers = table->blobs;
	query->shifts = table->shifts;
	query->epoch = table->device->epoch;
	failure = gpuagg_blob_query(query);
	if (failure != GPUAGG_OK)
		reason = gpuagg_reason_text(failure);
	else if (!gpuagg_page_device_whole(table->reader, table->device, query->status))
		reason = gpuagg_page_device_missing;
	else if (!gpuagg_query_total_read(&query->totals, GPUAGG_COUNT, 0, &total))
		reason = gpuagg_reason_text(GPUAGG_DEVICE_ERROR);
	else
		*npassed = (int64) total.reduced.n;
	gpuagg_blob_query_end(query);
	return reason;
}

/* Sets what was asked for of each table, and, where someone wants to know, what passes. */
static const char *
count_tables(WindowDevice *window, const DeviceTables *tables)
{
	bool counts = gpuagg_window_device_counts(window);
	const char *reason = NULL;

	for (int i = 0; i < tables->n && reason == NULL; i++)
	{
		const DeviceTable *table = &tables->list[i];

		if (table->device == NULL)
			continue;
		window->tables[i].nrows = window->tables[i].npassed = (int64) table->device->rows;
		if (counts && table->device->nchunks > 0)
			reason = count_table(window, table, &window->tables[i].npassed);
	}
	return reason;
}

/* ---- the request ---- */

/* The rows' places on the device. */
static uint64
places_of(const PageDevice *device)
{
	uint64 places = 0;

	for (uint32 i = 0; i < device->nchunks; i++)
		places += TYPEALIGN(GPUAGG_WINDOW_UNIT, device->chunks[i].nrows);
	return places;
}

/* Such pages come into memory, as if a scan had read them. */
static void
fill_rest(WindowDeviceTable *of, Snapshot snapshot, PageCounts *counts)
{
	PageReader *reader = gpuagg_page_reader_open(of->relation, snapshot, of->columns, of->ncolumns,
												 PAGE_MEMORY_FILL, NULL);
	int64 nexcluded = of->nexcluded;

	gpuagg_window_device_read(of, reader);
	gpuagg_page_device_fill_rest(reader);
	counts->filled += reader->counts.filled;
	gpuagg_page_reader_close(reader);
	of->nexcluded = nexcluded;
}

/* All columns have been used: by a reader that fills, or as if by one. */
static void
use(const WindowDevice *window, const DeviceTables *tables)
{
	Snapshot snapshot = window->node->css.ss.ps.state->es_snapshot;
	const char *unused;

	for (int i = 0; i < tables->n; i++)
	{
		const DeviceTable *table = &tables->list[i];
		PageMemory memory;

		if (table->reader == NULL)
			continue;
		memory = gpuagg_page_memory(window->tables[i].relation, snapshot, table->columns,
									table->ncolumns, &unused);
		if (memory == PAGE_MEMORY_FILL && table->reader->counts.all_visible > 0)
			fill_rest(&window->tables[i], snapshot, &table->reader->counts);
		else
			gpuagg_page_device_use(table->reader);
	}
}

/* Makes the program with codes of strings; false: it is none, or too large. */
static bool
make_program(WindowDevice *window, DeviceTables *tables)
{
	const PageReader **readers = palloc0(tables->n * sizeof(PageReader *));
	const int **places = palloc0(tables->n * sizeof(int *));

	for (int i = 0; i < tables->n; i++)
		if (tables->list[i].device != NULL && tables->list[i].device->nchunks > 0)
		{
			readers[i] = tables->list[i].reader;
			places[i] = tables->list[i].places;
		}
	if (!gpuagg_device_codes_program(&window->program, readers, places, tables->n,
									 &window->asked) ||
		!gpuagg_vector_fits_device(&window->asked.program))
		return false;
	gpuagg_device_tables_shift(tables, window->asked.firsts);
	return true;
}

/* Asks for the rows of chunks that have all of the tables' that pass the filter. */
static const char *
ask(WindowDevice *window, const WindowAsker *asker, DeviceTables *tables, int64 *npassed)
{
	const char *reason;

	window->window.places = places_of(&tables->all);
	if (window->window.places > GPUAGG_WINDOW_PLACES || tables->all.rows > GPUAGG_GROUP_ROWS)
		return "there are too many rows";
	if (!make_program(window, tables))
		return "conditions hold for too many strings";
	reason = count_tables(window, tables);
	if (reason == NULL)
		reason = asker->ask(asker->node, tables, npassed);
	if (reason != NULL)
	{
		/* what has gone there since */
		gpuagg_window_device_send(window);
		return reason;
	}
	if (window->ntables == 1)
		window->tables[0].npassed = *npassed;
	use(window, tables);
	gpuagg_window_device_end(window);
	return NULL;
}

/* The same of the tables as readers find them. */
static const char *
ask_tables(WindowDevice *window, const WindowAsker *asker, DeviceTables *tables, int64 *npassed)
{
	bool there;
	uint64 bare;
	uint64 rows = count_rows(window, tables, &bare, &there);
	const char *reason = asker->refuse(asker->node, rows, bare);

	if (reason != NULL)
		return reason;
	if (there)
	{
		gpuagg_device_announce();
		reason = find_chunks(tables);
		if (reason == NULL && !read_rest(tables))
			return "the device does not take some pages that are not in memory";
		if (reason == NULL && gpuagg_device_tables_join(tables))
			return tables->all.nchunks > 0 ? ask(window, asker, tables, npassed)
										   : "no row passes the filter below the window";
		if (reason != NULL && reason != gpuagg_page_device_missing)
			return reason;
	}
	gpuagg_window_device_send(window);
	return gpuagg_page_device_missing;
}

const char *
gpuagg_window_ask(WindowDevice *window, const WindowAsker *asker, PageCounts *counts,
				  int64 *npassed)
{
	MemoryContext context = gpuagg_kept_memory_take();
	MemoryContext old = MemoryContextSwitchTo(context);
	DeviceTables *tables = open_tables(window);
	const char *reason = ask_tables(window, asker, tables, npassed);

	for (int i = 0; i < tables->n && reason == NULL; i++)
		if (tables->list[i].reader != NULL)
			gpuagg_page_counts_add(counts, &tables->list[i].reader->counts);
	close_tables(tables);
	MemoryContextSwitchTo(old);
	gpuagg_kept_memory_leave(context);
	return reason;
}
