/*
 * window_scan.c
 *	  The node GpuWindow: its methods.
 */
#include "compat.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/memutils.h"

#include "device/client.h"
#include "exec/window_scan.h"
#include "exec/window_state.h"
#include "operation/call.h"
#include "gpuagg.h"

static Node *make_state(CustomScan *plan);
static void begin(CustomScanState *css, EState *estate, int eflags);
static TupleTableSlot *exec(CustomScanState *css);
static void end(CustomScanState *css);
static void rescan(CustomScanState *css);
static void shutdown(CustomScanState *css);

static const CustomScanMethods scan_methods = {
	.CustomName = WINDOW_NODE_NAME,
	.CreateCustomScanState = make_state,
};

static const CustomExecMethods exec_methods = {
	.CustomName = WINDOW_NODE_NAME,
	.BeginCustomScan = begin,
	.ExecCustomScan = exec,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan,
	.ShutdownCustomScan = shutdown,
	.ExplainCustomScan = gpuagg_window_explain,
};

void
gpuagg_window_scan_register(void)
{
	RegisterCustomScanMethods(&scan_methods);
}

static Node *
make_state(CustomScan *plan)
{
	WindowScanState *node = palloc0(sizeof(WindowScanState));

	NodeSetTag(node, T_CustomScanState);
	node->css.methods = &exec_methods;
	node->spec = gpuagg_window_spec_read(plan->custom_private);
	return (Node *) node;
}

/* The last column of the rows from below that is looked at as a row comes in. */
static AttrNumber
last_column_read(const WindowScanState *node)
{
	const WindowSpec *spec = node->spec;
	AttrNumber last = node->has_expressions ? spec->nchild : 0;

	for (int i = 0; i < spec->npartition; i++)
		last = Max(last, spec->partition[i].attno);
	for (int i = 0; i < spec->norder; i++)
		last = Max(last, spec->order[i].attno);
	for (int i = 0; i < node->nfunctions; i++)
		last = Max(last, node->functions[i].attno);
	return last;
}

/*
 * Makes plain calls of the window functions in custom_scan_tlist, this node's and
 * those of windows below: EXPLAIN prints a WindowFunc with the window that it looks
 * up in a node of core's, and from 18 on fails without one.  Changes nothing but
 * what is printed.
 */
static void
settle_plan(CustomScan *plan)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(plan));
	ListCell *cell;

	foreach (cell, plan->custom_scan_tlist)
	{
		TargetEntry *entry = lfirst(cell);
		WindowFunc *call = (WindowFunc *) entry->expr;

		if (IsA(call, WindowFunc))
			entry->expr = (Expr *) makeFuncExpr(call->winfnoid, call->wintype, call->args,
												call->wincollid, call->inputcollid,
												COERCE_EXPLICIT_CALL);
	}
	MemoryContextSwitchTo(old);
}

static void
begin(CustomScanState *css, EState *estate, int eflags)
{
	WindowScanState *node = (WindowScanState *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	WindowSpec *spec = node->spec;
	TupleDesc desc;

	settle_plan(plan);

	/* nothing is read backwards or again from a mark, so that the child need not be able to */
	eflags &= ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK);
	node->child = ExecInitNode(linitial(plan->custom_plans), estate, eflags);
	css->custom_ps = list_make1(node->child);
	desc = ExecGetResultType(node->child);

	node->partition_context = AllocSetContextCreate(CurrentMemoryContext, "GpuWindow partition",
													ALLOCSET_DEFAULT_SIZES);
	node->group_context = AllocSetContextCreate(CurrentMemoryContext, "GpuWindow group",
												ALLOCSET_DEFAULT_SIZES);
	node->partition = gpuagg_window_keys_make(spec->partition, spec->npartition, desc);
	node->norder = spec->frame == WINDOW_PEERS ? spec->norder : 0;
	node->order = gpuagg_window_keys_make(spec->order, node->norder, desc);
	gpuagg_window_functions_init(node);
	node->last_read = last_column_read(node);
	node->all_by_value = true;
	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attbyval)
			node->all_by_value = false;
	node->values = palloc((spec->nchild + spec->nfunctions) * sizeof(Datum));
	node->isnull = palloc((spec->nchild + spec->nfunctions) * sizeof(bool));
	node->stored = ExecInitExtraTupleSlot(estate, desc, &TTSOpsMinimalTuple);
	node->passing = ExecInitExtraTupleSlot(estate, desc, &TTSOpsVirtual);
	if (spec->sort)
		node->sort_slot = ExecInitExtraTupleSlot(estate, desc, &TTSOpsMinimalTuple);
	node->in_batches = node->has_kinds && node->can_read_ahead;
	node->marks_late = node->in_batches && !spec->sort &&
					   gpuagg_window_keys_are_bits(node->partition, spec->npartition) &&
					   gpuagg_window_keys_are_bits(node->order, node->norder);
	node->first_row = true;
}

/* Whether and when to ask for the device. */
static void
choose_engine(WindowScanState *node)
{
	node->device_at = PG_INT64_MAX;
	if (node->has_kinds)
		gpuagg_begin_engine();
	if (gpuagg_device == DEVICE_CPU)
		gpuagg_stat_reason(GPUAGG_DISABLED);
	else if (!node->has_kinds)
		gpuagg_stat_reason(GPUAGG_CPU_ONLY);
	else if (!node->can_read_ahead)
		gpuagg_stat_reason(GPUAGG_NO_READ_AHEAD);
	else if (gpuagg_device == DEVICE_AUTO) /* the CPU scans a batch in a few ns a row */
		gpuagg_stat_reason(GPUAGG_NO_GAIN);
	else
	{
		if (gpuagg_device_min_rows > 0)
			gpuagg_stat_reason(GPUAGG_SMALL);
		node->device_at = gpuagg_device_min_rows;
	}
	node->report.reason = gpuagg_stat_last()->reason;
}

/* What happens when the first row is asked for. */
static void
begin_run(WindowScanState *node)
{
	node->begun = true;
	if (!node->reported)
		gpuagg_stat_begin();
	node->reported = true;
	choose_engine(node);
	gpuagg_window_functions_begin(node);
	if (node->rows == NULL)
		node->rows = gpuagg_row_store_make(ExecGetResultType(node->child), work_mem * (Size) 1024,
										   GetMemoryChunkContext(node));
}

static TupleTableSlot *
exec(CustomScanState *css)
{
	WindowScanState *node = (WindowScanState *) css;

	if (!node->begun)
		begin_run(node);
	return node->in_batches ? gpuagg_window_by_batch(node) : gpuagg_window_by_row(node);
}

static void
end(CustomScanState *css)
{
	WindowScanState *node = (WindowScanState *) css;

	gpuagg_window_count_rows(node);
	gpuagg_window_drop_batches(node);
	if (node->rows != NULL)
		gpuagg_row_store_end(node->rows);
	gpuagg_window_end_input(node);
}

static void
rescan(CustomScanState *css)
{
	WindowScanState *node = (WindowScanState *) css;

	gpuagg_window_count_rows(node);
	gpuagg_window_drop_batches(node);
	if (node->rows != NULL)
		gpuagg_row_store_clear(node->rows);
	ExecClearTuple(node->stored);
	node->begun = false;
	node->rows_taken = 0;
	node->rows_emitted = 0;
	node->ready = 0;
	node->pending = 0;

	if (css->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(node->child, css->ss.ps.chgParam);
	gpuagg_window_rescan_input(node);
}

/* Also between fetches of a cursor, so that nothing is given up that is needed to go on. */
static void
shutdown(CustomScanState *css)
{
	WindowScanState *node = (WindowScanState *) css;

	gpuagg_window_count_rows(node);
}
