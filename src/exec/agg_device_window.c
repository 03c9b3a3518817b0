/*
 * agg_device_window.c
 *	  What the device does of a GpuAgg node over a window: all of it, in one request, or nothing.
 *
 * All rows of the window's table have to be on the device: a row that is not there could change
 * the function's value of any other.
 */
#include "compat.h"

#include "executor/executor.h"
#include "utils/memutils.h"

#include "device/client.h"
#include "exec/agg_device.h"
#include "exec/compiled.h"
#include "exec/kept_memory.h"
#include "exec/window_device.h"
#include "gpuagg.h"

/* In mode auto, rows for which the device is asked: each takes the CPU some 100 ns. */
#define AUTO_ROWS	100000

#define PLACES_ROWS 256 /* whose places lie together in a chunk */

/* Where the columns of the node's program come from; false: some is computed between the two. */
static bool
find_sources(const AggScanState *node, const PlanState *window, WindowSource *sources,
			 VectorValue *forms)
{
	const PlanState *plan = linitial(node->css.custom_ps);
	ListCell *cell;

	foreach (cell, node->compiler->attributes)
	{
		int i = foreach_current_index(cell);
		Form_pg_attribute attribute = TupleDescAttr(node->row_desc, lfirst_int(cell) - 1);
		int column = 0;

		while (list_nth_int(node->spec->attributes, column) != lfirst_int(cell))
			column++;
		if (!gpuagg_window_source_find(plan, window, column, &sources[i]))
			return false;
		gpuagg_vector_form(attribute->atttypid, attribute->atttypmod, &forms[i]);
	}
	return true;
}

/* The node below as the device has it, made when it first runs; NULL: the device does nothing. */
static WindowDevice *
find_window(AggScanState *node, PlanState *window)
{
	int n = (int) node->compiler->program.ncolumns;
	WindowSource sources[GPUAGG_WINDOW_COLUMNS];
	VectorValue forms[GPUAGG_WINDOW_COLUMNS];

	if (node->window != NULL)
		return node->window;
	if (window == NULL || !find_sources(node, window, sources, forms))
		node->device_reason = "an expression between window and aggregates is the CPU's";
	else
		node->window = gpuagg_window_device_make(window, sources, forms, n, &node->device_reason);
	if (node->window == NULL)
		node->device = NULL;
	return node->window;
}

/* Sets the constants of both programs; false: they cannot be known before the rows. */
static bool
know_parameters(AggScanState *node)
{
	MemoryContext old = MemoryContextSwitchTo(node->parameter_context);
	bool known = gpuagg_window_device_begin(node->window) &&
				 gpuagg_compiled_parameters_early(node->compiler, node->parameter_states,
												  &node->css.ss.ps, node->runner);

	MemoryContextSwitchTo(old);
	return known;
}

/* The rows' places on the device. */
static uint64
places_of(const PageDevice *device)
{
	uint64 places = 0;

	for (uint32 i = 0; i < device->nchunks; i++)
		places += TYPEALIGN(PLACES_ROWS, device->chunks[i].nrows);
	return places;
}

/* Asks for the rows of chunks that are the whole table; sets the reason if it has not got them. */
static void
ask(AggScanState *node, PageReader *reader, const PageDevice *device)
{
	WindowDevice *window = node->window;
	AggQuestion question = {.reader = reader,
							.columns = window->columns,
							.ncolumns = (int) window->program.ncolumns,
							.device = device,
							.below = &window->program,
							.window = &window->window};
	const char *reason;

	window->window.places = places_of(device);
	if (window->window.places > GPUAGG_WINDOW_PLACES || device->rows > GPUAGG_GROUP_ROWS)
	{
		node->device_reason = "there are too many rows";
		return;
	}
	gpuagg_agg_device_ask(node, &question, true);
	if (node->device_reason != NULL)
	{
		/* what has gone there since */
		gpuagg_window_device_send(window);
		return;
	}
	gpuagg_page_device_use(reader);
	(void) gpuagg_page_memory(window->relation, node->css.ss.ps.state->es_snapshot, window->columns,
							  question.ncolumns, &reason);
	gpuagg_page_counts_add(&node->counts.pages, &reader->counts);
	gpuagg_window_device_end(window, linitial(node->css.custom_ps), (int64) device->rows,
							 question.nrows);
}

/* The same of the table as a reader finds it. */
static void
ask_table(AggScanState *node, PageReader *reader)
{
	const PageDevice *device;
	bool there;
	uint64 bare;
	uint64 rows = gpuagg_page_device_rows(reader, &bare, &there);

	node->device_reason = gpuagg_agg_device_reason(node, rows, bare, AUTO_ROWS);
	if (node->device_reason != NULL)
		return;
	if (there)
	{
		gpuagg_device_announce();
		device = gpuagg_page_device_find(reader);
		if (device->nread > 0)
		{
			node->device_reason = "some pages are not in memory";
			return;
		}
		if (device->nhost == 0 && device->nchunks > 0)
		{
			ask(node, reader, device);
			return;
		}
	}
	node->device_reason = "columns are not on the device";
	gpuagg_window_device_send(node->window);
}

/* Looks at the table's columns in memory. */
static void
look(AggScanState *node)
{
	WindowDevice *window = node->window;
	Snapshot snapshot = node->css.ss.ps.state->es_snapshot;
	int ncolumns = (int) window->program.ncolumns;
	MemoryContext context = gpuagg_kept_memory_take();
	MemoryContext old = MemoryContextSwitchTo(context);
	PageReader *reader = gpuagg_page_reader_open(window->relation, snapshot, window->columns,
												 ncolumns, PAGE_MEMORY_LOOK, NULL);

	ask_table(node, reader);
	gpuagg_page_reader_close(reader);
	MemoryContextSwitchTo(old);
	gpuagg_kept_memory_leave(context);
}

/* Whether columns of the table can be in memory at all. */
static bool
may_look(AggScanState *node)
{
	EState *estate = node->css.ss.ps.state;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);

	if (!node->memory.known)
		node->memory.reason = gpuagg_page_memory_refusal(node->window->relation,
														 estate->es_snapshot, node->window->columns,
														 (int) node->window->program.ncolumns);
	node->memory.known = true;
	if (node->memory.reason != NULL)
		node->memory.mode = PAGE_MEMORY_NONE;
	MemoryContextSwitchTo(old);
	return node->memory.reason == NULL;
}

/* What a rescan of the nodes below has left for when they are run. */
static void
rescan_below(PlanState *plan, PlanState *window)
{
	MemoryContext old = MemoryContextSwitchTo(plan->state->es_query_cxt);

	if (plan->chgParam != NULL)
		ExecReScan(plan);
	if (window->chgParam != NULL)
		ExecReScan(window);
	MemoryContextSwitchTo(old);
}

bool
gpuagg_agg_device_window(AggScanState *node)
{
	PlanState *plan = linitial(node->css.custom_ps);
	PlanState *window = gpuagg_window_source_node(plan);
	bool done = false;

	node->memory.mode = PAGE_MEMORY_LOOK;
	if (node->device != NULL && gpuagg_device == DEVICE_CPU)
		node->device_reason = gpuagg_reason_text(GPUAGG_DISABLED);
	else if (node->device != NULL && find_window(node, window) != NULL)
	{
		rescan_below(plan, window);
		if (!may_look(node))
			node->device_reason = NULL;
		else if (!know_parameters(node))
			node->device_reason = "constants are not known before the rows";
		else
		{
			look(node);
			done = node->device_reason == NULL;
		}
	}
	node->memory.device_reason = node->device_reason;
	return done;
}
