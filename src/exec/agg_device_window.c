/*
 * agg_device_window.c
 *	  What the device does of a GpuAgg node over a window: all of it, in one request, or nothing.
 */
#include "compat.h"

#include "executor/executor.h"
#include "utils/memutils.h"

#include "exec/agg_averages.h"
#include "exec/agg_device.h"
#include "exec/agg_device_between.h"
#include "exec/agg_device_passes.h"
#include "exec/compiled.h"
#include "exec/window_ask.h"
#include "gpuagg.h"

static bool
has_booleans(const GpuaggVectorProgram *program)
{
	return memchr(program->columns, GPUAGG_VECTOR_BOOL, program->ncolumns) != NULL;
}

/* Where the columns of the node's program come from; false: some is made between the two. */
static bool
find_sources(const AggScanState *node, const PlanState *window, WindowSource *sources,
			 VectorValue *forms)
{
	const PlanState *plan = linitial(node->css.custom_ps);
	ListCell *cell;

	if (has_booleans(&node->compiler->program))
		return false;
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

/* Whether the columns come as the node's program has them. */
static bool
has_forms(const WindowDevice *window, const VectorValue *forms, int n)
{
	for (int i = 0; i < n; i++)
		if (window->counts[i] >= 0 || window->forms[i].type != forms[i].type ||
			window->forms[i].scale != forms[i].scale)
			return false;
	return true;
}

/* What depends on averages that are numeric; why the device cannot do it, or NULL. */
static const char *
find_averages(AggScanState *node, PlanState *window)
{
	MemoryContext old = MemoryContextSwitchTo(node->css.ss.ps.state->es_query_cxt);
	const char *refusal = node->device->refusal;

	if (gpuagg_agg_averages_used(node, window))
	{
		node->averages = gpuagg_agg_averages_make(node, window, &refusal);
		if (refusal == NULL)
			refusal = gpuagg_agg_device_find(node, node->device);
	}
	MemoryContextSwitchTo(old);
	return refusal;
}

/* Whether columns are averages that are sums and counts there, and not the top window's. */
static bool
has_lower_averages(const WindowDevice *window, const WindowSource *sources, int n)
{
	for (int i = 0; i < n; i++)
		if (window->counts[i] >= 0 && sources[i].scan < window->node->spec->nchild)
			return true;
	return false;
}

/* The node below as the device has it, made when it first runs; NULL: the device does nothing. */
static WindowDevice *
find_window(AggScanState *node, PlanState *window)
{
	int n = (int) node->compiler->program.ncolumns;
	bool plain = false;
	WindowSource sources[GPUAGG_WINDOW_COLUMNS];
	VectorValue forms[GPUAGG_WINDOW_COLUMNS];

	if (node->window != NULL)
		return node->window;
	node->device_reason = find_averages(node, window);
	if (node->device_reason == NULL)
	{
		plain = node->averages == NULL && find_sources(node, window, sources, forms);
		if (!plain)
			node->between = gpuagg_agg_between_make(node, window);
	}
	if (node->between != NULL)
		n = gpuagg_agg_between_sources(node->between, sources);
	if (node->device_reason != NULL)
		node->window = NULL;
	else if (plain || node->between != NULL)
		node->window = gpuagg_window_device_make(window, sources, n, &node->device_reason);
	else
		node->device_reason = "an expression between window and aggregates is the CPU's";
	if (node->window != NULL && has_lower_averages(node->window, sources, n))
	{
		node->device_reason = "averages of a window below another one are the CPU's";
		node->window = NULL;
	}
	if (node->window != NULL &&
		!(plain ? has_forms(node->window, forms, n)
				: gpuagg_agg_between_fits(node, node->between, node->window)))
	{
		node->device_reason = "a column of the window is the CPU's";
		node->window = NULL;
	}
	if (node->window == NULL)
		node->device = NULL;
	else if (node->averages != NULL)
	{
		gpuagg_agg_between_place(node, node->between);
		gpuagg_agg_device_place(node, node->device);
	}
	return node->window;
}

/* Sets the constants of both programs; false: they cannot be known before the rows. */
static bool
know_parameters(AggScanState *node)
{
	MemoryContext old = MemoryContextSwitchTo(node->parameter_context);
	bool known = gpuagg_window_device_begin(node->window) &&
				 gpuagg_compiled_parameters_early(gpuagg_agg_device_compiler(node),
												  node->averages != NULL
													  ? node->averages->parameter_states
													  : node->parameter_states,
												  &node->css.ss.ps, gpuagg_agg_device_runner(node));

	MemoryContextSwitchTo(old);
	return known;
}

static const char *
refuse(const void *node, uint64 rows, uint64 bare)
{
	return gpuagg_agg_device_reason(node, rows, bare, WINDOW_ASK_ROWS);
}

static const char *
ask(void *above, const DeviceTables *tables, int64 *npassed)
{
	AggScanState *node = above;
	WindowDevice *window = node->window;
	AggQuestion question = {.device = &tables->all,
							.ncolumns = tables->ncolumns,
							.tables = tables,
							.below = &window->asked.program,
							.window = &window->window};

	node->device_reason = NULL;
	gpuagg_agg_device_ask(node, &question, true);
	*npassed = question.nrows;
	return node->device_reason;
}

/* Whether columns of the tables can be in memory at all. */
static bool
may_look(AggScanState *node)
{
	MemoryContext old = MemoryContextSwitchTo(node->css.ss.ps.state->es_query_cxt);

	if (!node->memory.known)
		node->memory.reason = gpuagg_window_device_refusal(node->window);
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
	WindowAsker asker = {node, refuse, ask};
	int64 npassed = 0;
	bool done = false;

	if (window == NULL)
		return false;
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
			node->device_reason = gpuagg_window_ask(node->window, &asker, &node->counts.pages,
													&npassed);
			done = node->device_reason == NULL;
		}
	}
	if (done)
		gpuagg_window_device_above(node->window, plan, npassed);
	node->memory.device_reason = node->device_reason;
	return done;
}
