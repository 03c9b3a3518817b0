/*
 * window_ask.c
 *	  Asks the device for what is made of a window's rows: for all of it, in one request, or nothing.
 */
#include "compat.h"

#include "utils/memutils.h"

#include "device/client.h"
#include "exec/kept_memory.h"
#include "exec/window_ask.h"
#include "exec/window_state.h"

/* The rows' places on the device. */
static uint64
places_of(const PageDevice *device)
{
	uint64 places = 0;

	for (uint32 i = 0; i < device->nchunks; i++)
		places += TYPEALIGN(GPUAGG_WINDOW_UNIT, device->chunks[i].nrows);
	return places;
}

/* Asks for the rows of chunks that have all of the table's that pass the filter. */
static const char *
ask(WindowDevice *window, const WindowAsker *asker, PageReader *reader, const PageDevice *device,
	int64 *npassed)
{
	const char *reason;
	const char *unused;

	window->window.places = places_of(device);
	if (window->window.places > GPUAGG_WINDOW_PLACES || device->rows > GPUAGG_GROUP_ROWS)
		return "there are too many rows";
	reason = asker->ask(asker->node, reader, device, npassed);
	if (reason != NULL)
	{
		/* what has gone there since */
		gpuagg_window_device_send(window);
		return reason;
	}
	gpuagg_page_device_use(reader);
	(void) gpuagg_page_memory(window->relation, window->node->css.ss.ps.state->es_snapshot,
							  window->columns, (int) window->program.ncolumns, &unused);
	gpuagg_window_device_end(window, (int64) device->rows, *npassed);
	return NULL;
}

/* The same of the table as a reader finds it. */
static const char *
ask_table(WindowDevice *window, const WindowAsker *asker, PageReader *reader, int64 *npassed)
{
	const PageDevice *device;
	bool there;
	uint64 bare;
	uint64 rows = gpuagg_page_device_rows(reader, &bare, &there);
	const char *reason = asker->refuse(asker->node, rows, bare);

	if (reason != NULL)
		return reason;
	if (there)
	{
		gpuagg_device_announce();
		device = gpuagg_page_device_find(reader);
		if (!gpuagg_page_device_rest_is_new(reader))
			return "some pages are not in memory";
		if (device->nhost == 0)
			return device->nchunks > 0 ? ask(window, asker, reader, device, npassed)
									   : "no row passes the filter below the window";
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
	PageReader *reader = gpuagg_page_reader_open(window->relation,
												 window->node->css.ss.ps.state->es_snapshot,
												 window->columns, (int) window->program.ncolumns,
												 PAGE_MEMORY_LOOK, NULL);
	const char *reason;

	gpuagg_window_device_read(window, reader);
	reason = ask_table(window, asker, reader, npassed);
	if (reason == NULL)
		gpuagg_page_counts_add(counts, &reader->counts);
	gpuagg_page_reader_close(reader);
	MemoryContextSwitchTo(old);
	gpuagg_kept_memory_leave(context);
	return reason;
}
