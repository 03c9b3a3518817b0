/*
 * window_scan.c
 *	  The node GpuWindow: its methods.
 */
#include "compat.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/memutils.h"

#include "device/client.h"
#include "device/leader.h"
#include "engine/flight.h"
#include "exec/window_passed.h"
#include "exec/window_pipeline.h"
#include "exec/window_scan.h"
#include "operation/call.h"
#include "gpuagg.h"
#include "spec/node_log.h"

/* The last column of the child's rows that is read as a row comes in. */
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
 * those of windows below, for EXPLAIN only.  It prints a WindowFunc's window, looks for
 * that in a node of core's, and from 18 on fails without one.
 */
static void
make_plain_calls(CustomScan *plan)
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

/* Makes the target list that the planner left out. */
static void
make_target_list(CustomScan *plan, const WindowSpec *spec)
{
	MemoryContext old;

	if (plan->scan.plan.targetlist != NIL)
		return;
	old = MemoryContextSwitchTo(GetMemoryChunkContext(plan));
	for (int i = 0; i < spec->noutput; i++)
	{
		TargetEntry *column = list_nth(plan->custom_scan_tlist, spec->output[i] - 1);
		Var *var = makeVarFromTargetEntry(INDEX_VAR, column);

		plan->scan.plan.targetlist = lappend(plan->scan.plan.targetlist,
											 makeTargetEntry((Expr *) var, i + 1, NULL, false));
	}
	MemoryContextSwitchTo(old);
}

static void
init_run(WindowScanState *node)
{
	const WindowSpec *spec = node->spec;
	const CustomScan *plan = (const CustomScan *) node->css.ss.ps.plan;

	node->run.conditions = list_copy_tail(plan->custom_exprs, 2 * spec->nfunctions);
	node->run.conditions = list_truncate(node->run.conditions,
										 list_length(node->run.conditions) - spec->nabove);
	node->run.condition = ExecInitQual(node->run.conditions, &node->css.ss.ps);
	node->run.ends = spec->top && spec->npartition == 0;
}

static void
begin(CustomScanState *css, EState *estate, int eflags)
{
	WindowScanState *node = (WindowScanState *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	WindowSpec *spec = node->spec;
	WindowInput *input = &node->input;
	PlanState *child;
	TupleDesc desc;

	make_plain_calls(plan);

	/* the child is never read backwards or again from a mark */
	eflags &= ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK);
	child = ExecInitNode(linitial(plan->custom_plans), estate, eflags);
	css->custom_ps = list_make1(child);
	desc = ExecGetResultType(child);

	node->partition_context = AllocSetContextCreate(CurrentMemoryContext, "GpuWindow partition",
													ALLOCSET_DEFAULT_SIZES);
	node->group_context = AllocSetContextCreate(CurrentMemoryContext, "GpuWindow group",
												ALLOCSET_DEFAULT_SIZES);
	gpuagg_window_input_init(input, spec, child, &css->ss.ps, &node->work.report);
	gpuagg_window_functions_init(node);
	init_run(node);
	gpuagg_window_bounds_init(node);
	gpuagg_window_project_init(node);
	input->last_read = last_column_read(node);
	input->marks_sets = node->has_scans && node->can_read_ahead && !spec->sort &&
						gpuagg_window_keys_are_bits(input->partition_keys, spec->npartition) &&
						gpuagg_window_keys_are_bits(input->order_keys, input->norder);
	node->values = palloc((spec->nchild + spec->nfunctions) * sizeof(Datum));
	node->isnull = palloc((spec->nchild + spec->nfunctions) * sizeof(bool));
	node->tuple_slot = ExecInitExtraTupleSlot(estate, desc, &TTSOpsMinimalTuple);
	node->value_slot = ExecInitExtraTupleSlot(estate, desc, &TTSOpsVirtual);
}

/* Whether the device can compute all functions that are computed in sets, and there are some. */
static bool
has_kernels(const WindowScanState *node)
{
	for (int f = 0; f < node->nfunctions; f++)
		if (gpuagg_running_on_cpu(node->functions[f].op))
			return false;
	return node->has_scans;
}

/* Whether to ask for the device, and from how many rows on: PG_INT64_MAX for never. */
static int64
choose_engine(WindowScanState *node)
{
	GpuaggReason reason;

	reason = gpuagg_flight_wanted(FLIGHT_WINDOW, 0);
	if (reason != GPUAGG_DISABLED && !has_kernels(node))
		reason = GPUAGG_CPU_ONLY;
	/* a run condition that ends the node makes most of a batch for the device rows too many */
	else if (reason != GPUAGG_DISABLED &&
			 (!node->can_read_ahead || (node->run.condition != NULL && node->run.ends)))
		reason = GPUAGG_NO_READ_AHEAD;
	/* a rescan does not record it again */
	if (reason != GPUAGG_OK && reason != node->work.report.reason)
		gpuagg_stat_reason(reason);
	node->work.report.reason = reason;
	return reason == GPUAGG_OK || reason == GPUAGG_SMALL ? gpuagg_device_min_rows : FLIGHT_NEVER;
}

/* Whether there are arguments that the sort may compute, for this node or one above. */
static bool
has_arguments(const WindowScanState *node)
{
	for (int i = 0; i < node->input.narguments; i++)
		if (node->input.arguments[i] != NULL)
			return true;
	return false;
}

void
gpuagg_window_prepare(WindowScanState *node)
{
	if (node->prepared)
		return;
	node->prepared = true;
	if (!node->work.begun)
	{
		gpuagg_stat_begin();
		if (!IsParallelWorker())
			gpuagg_node_log(WINDOW_NODE_NAME " used", NULL);
	}
	node->work.begun = true;
	gpuagg_window_functions_begin(node);
}

void
gpuagg_window_begin(WindowScanState *node)
{
	int64 device_from;

	node->begun = true;
	gpuagg_window_prepare(node);
	if (node->has_scans || has_arguments(node))
		gpuagg_begin_engine();
	if (node->spec->sort && has_arguments(node))
	{
		/* which tells what is computed */
		gpuagg_window_input_sort(&node->input);
		gpuagg_window_functions_settle(node);
	}
	gpuagg_window_bounds_begin(node, NULL);
	device_from = choose_engine(node);
	if (node->has_scans && node->can_read_ahead)
		gpuagg_window_pipeline_make(node, device_from);
	if (node->waiting.store == NULL)
		node->waiting.store = gpuagg_row_store_make(ExecGetResultType(node->input.child),
													work_mem * (Size) 1024,
													GetMemoryChunkContext(node));
}

/* Whether a row leaves the node; it is the scan tuple. */
static bool
keeps_row(WindowScanState *node)
{
	ScanState *ss = &node->css.ss;
	WindowRun *run = &node->run;

	if (run->passing)
		return !node->spec->top;
	if (!ExecQual(run->condition, ss->ps.ps_ExprContext))
	{
		run->ended = run->ends;
		run->passing = true;
		return !node->spec->top;
	}
	if (ExecQual(ss->ps.qual, ss->ps.ps_ExprContext))
		return true;
	InstrCountFiltered1(ss, 1);
	return false;
}

static TupleTableSlot *
exec(CustomScanState *css)
{
	WindowScanState *node = (WindowScanState *) css;
	TupleTableSlot *row;

	if (!node->begun && !gpuagg_window_passed_begin(node))
		gpuagg_window_begin(node);
	if (node->given)
		return gpuagg_window_passed_next(node);
	while (!node->run.ended)
	{
		CHECK_FOR_INTERRUPTS();
		row = node->pipeline != NULL ? gpuagg_window_next_by_set(node)
									 : gpuagg_window_next_by_row(node);
		if (row == NULL || keeps_row(node))
			return row;
	}
	return NULL;
}

static void
end(CustomScanState *css)
{
	WindowScanState *node = (WindowScanState *) css;

	gpuagg_window_count_rows(node);
	gpuagg_window_passed_end(node);
	gpuagg_window_pipeline_drop(node);
	if (node->waiting.store != NULL)
		gpuagg_row_store_end(node->waiting.store);
	gpuagg_window_input_end(&node->input);
}

static void
rescan(CustomScanState *css)
{
	WindowScanState *node = (WindowScanState *) css;

	gpuagg_window_count_rows(node);
	gpuagg_window_passed_rescan(node);
	gpuagg_window_pipeline_drop(node);
	if (node->waiting.store != NULL)
		gpuagg_row_store_clear(node->waiting.store);
	ExecClearTuple(node->tuple_slot);
	node->prepared = false;
	node->begun = false;
	gpuagg_window_begin_partition(node);
	node->run.ended = false;
	node->waiting.nemitted = 0;
	node->waiting.ready = 0;
	node->waiting.pending = 0;

	if (css->ss.ps.chgParam != NULL)
		gpuagg_window_input_tell(&node->input, css->ss.ps.chgParam);
	gpuagg_window_input_rescan(&node->input, css->ss.ps.chgParam);
}

/* Called between fetches of a cursor too, so nothing is released. */
static void
shutdown(CustomScanState *css)
{
	WindowScanState *node = (WindowScanState *) css;

	gpuagg_window_count_rows(node);
}

static const CustomExecMethods exec_methods = {
	.CustomName = WINDOW_NODE_NAME,
	.BeginCustomScan = begin,
	.ExecCustomScan = exec,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan,
	.ShutdownCustomScan = shutdown,
	.ExplainCustomScan = gpuagg_window_explain,
};

static Node *
make_state(CustomScan *plan)
{
	WindowScanState *node = palloc0(sizeof(WindowScanState));

	gpuagg_leader_check();
	NodeSetTag(node, T_CustomScanState);
	node->css.methods = &exec_methods;
	node->spec = gpuagg_window_spec_read(plan->custom_private);
	make_target_list(plan, node->spec);
	return (Node *) node;
}

static const CustomScanMethods scan_methods = {
	.CustomName = WINDOW_NODE_NAME,
	.CreateCustomScanState = make_state,
};

void
gpuagg_window_scan_register(void)
{
	RegisterCustomScanMethods(&scan_methods);
}
