/*
 * agg_scan.c
 *	  The executor's node GpuAgg: aggregates over one table, or one made of several, read as
 *	  columns.
 *
 * The plan is one node of mode WHOLE, or a FINAL one over Gather over PARTIAL ones.
 * In the leader the partial node keeps its groups for the final one and gives out no
 * tuples; in a worker it gives out its groups with their states.
 */
#include "compat.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"

#include "device/client.h"
#include "device/leader.h"
#include "device/stat.h"
#include "exec/agg_scan.h"
#include "exec/agg_spill.h"
#include "exec/agg_state.h"
#include "exec/agg_top.h"
#include "exec/function_access.h"
#include "exec/row_reader.h"
#include "exec/window_between.h"
#include "exec/window_source.h"
#include "gpuagg.h"
#include "spec/node_log.h"

/* The leader's partial node below Gather. */
static AggScanState *
find_partial(PlanState *child)
{
	while (child != NULL && !IsA(child, CustomScanState))
		child = outerPlanState(child);
	if (child == NULL)
		elog(ERROR, "GpuAgg has no partial node");
	return (AggScanState *) child;
}

/* Typmods of the columns of the plan below, by what is known of them and of parameters now. */
static List *
find_typmods(const AggScanState *node)
{
	PlanState *plan = linitial(node->css.custom_ps);
	const PlanState *window = gpuagg_window_source_node(plan);
	List *typmods = list_copy(node->spec->typmods);
	ListCell *cell;

	foreach (cell, typmods)
		if (window != NULL && lfirst_int(cell) < 0)
			lfirst_int(cell) = gpuagg_window_between_find_typmod(plan, window,
																 foreach_current_index(cell), NULL);
	return typmods;
}

/* Gives columns of the plan below their typmods, which the planner does not know. */
static bool
set_typmods(Node *expr, void *context)
{
	const AggScanState *node = context;
	Var *var = (Var *) expr;

	if (expr == NULL)
		return false;
	if (IsA(expr, Var) && var->varno == (int) node->varno && var->varlevelsup == 0)
		var->vartypmod = TupleDescAttr(node->row_desc, var->varattno - 1)->atttypmod;
	return expression_tree_walker(expr, set_typmods, context);
}

/* Finds the rows that the node aggregates: their number in expressions, and their columns. */
static void
find_rows(AggScanState *node)
{
	CustomScan *plan = (CustomScan *) node->css.ss.ps.plan;
	const AggSpec *spec = node->spec;
	int parent = (int) plan->scan.scanrelid;

	if ((spec->over_children || spec->over_subquery) &&
		!bms_get_singleton_member(plan->custom_relids, &parent))
		elog(ERROR, "GpuAgg has no parent table or subquery");
	node->varno = (Index) parent;
	if (spec->over_subquery)
	{
		CustomScan *own = palloc(sizeof(CustomScan));

		/* other executions of the plan may know others */
		*own = *plan;
		own->custom_scan_tlist = copyObject(plan->custom_scan_tlist);
		node->css.ss.ps.plan = &own->scan.plan;
		node->row_desc = gpuagg_row_reader_desc(linitial(node->css.custom_ps), spec->attributes,
												find_typmods(node));
		(void) set_typmods((Node *) own->custom_scan_tlist, node);
		return;
	}
	node->relation = spec->over_children
						 ? compat_range_table_relation(node->css.ss.ps.state, node->varno)
						 : node->css.ss.ss_currentRelation;
	node->row_desc = RelationGetDescr(node->relation);
}

static void
begin(CustomScanState *css, EState *estate, int eflags)
{
	AggScanState *node = (AggScanState *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	AggSpec *spec = node->spec;

	for (int i = 0; i < spec->ncalls; i++)
		gpuagg_check_function_access(spec->calls[i].aggfnoid, OBJECT_AGGREGATE);
	for (int i = 0; i < spec->nkeys; i++)
		gpuagg_check_operator_access(spec->equality[i]);
	node->ncolumns = spec->nkeys + spec->ncarried + spec->ndistinct + spec->ncalls +
					 list_length(spec->groupings);
	eflags &= ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK);
	if (plan->custom_plans != NIL)
		css->custom_ps = list_make1(ExecInitNode(linitial(plan->custom_plans), estate, eflags));
	if (spec->mode != AGG_FINAL)
	{
		find_rows(node);
		gpuagg_agg_input_init(node);
	}
	if (spec->over_children)
		gpuagg_agg_tables_link(node, linitial(css->custom_ps));
	if (spec->mode == AGG_FINAL)
	{
		node->partial = find_partial(linitial(css->custom_ps));
		node->partial->leader = true;
	}
}

/* All of the table's rows, the workers' too, into the groups. */
static void
gather(AggScanState *node)
{
	PlanState *child = linitial(node->css.custom_ps);
	int workers = IsA(child, GatherState) ? ((Gather *) child->plan)->num_workers : 0;
	bool all = gpuagg_agg_input_take_memory(node->partial, workers);

	while (!all)
	{
		TupleTableSlot *slot = ExecProcNode(child);

		if (TupIsNull(slot))
			break;
		gpuagg_agg_output_merge(node->partial, slot);
		(void) gpuagg_agg_output_make_room(node->partial);
	}
	/* the workers have ended, and their memory is still there */
	if (node->partial->share != NULL)
	{
		AggShare *share = node->partial->share;

		node->partial->workers = share->workers;
		gpuagg_stat_give(&share->report);
		memset(&share->report, 0, sizeof(WorkReport));
	}
	gpuagg_agg_finish(node->partial);
	node->drained = true;
}

/* At the first row of a query's, or at its first vector. */
static void
start(AggScanState *node)
{
	if (!node->begun && !IsParallelWorker() && node->spec->mode != AGG_PARTIAL)
	{
		for (int i = 0; i < node->spec->ncalls; i++)
			gpuagg_stat_begin();
		gpuagg_stat_reason(gpuagg_device == DEVICE_CPU ? GPUAGG_DISABLED : GPUAGG_NO_GAIN);
		gpuagg_device_require();
		gpuagg_node_log(AGG_NODE_NAME " used", NULL);
		if (node->spec->mode == AGG_FINAL)
			gpuagg_node_log(AGG_NODE_NAME " used with workers", NULL);
	}
	node->begun = true;
}

static void
fill(AggScanState *node)
{
	start(node);
	if (node->drained)
		return;
	if (node->spec->mode == AGG_WHOLE)
		gpuagg_agg_input_drain(node);
	else
		gather(node);
}

/* The next group of those that `owner` has. */
static bool
next_result(AggScanState *node, AggScanState *owner, TupleTableSlot *slot)
{
	fill(node);
	return gpuagg_agg_output_next(owner, true, slot);
}

static bool
next_group(AggScanState *node, TupleTableSlot *slot)
{
	switch (node->spec->mode)
	{
		case AGG_WHOLE:
			return next_result(node, node, slot);

		case AGG_FINAL:
			return next_result(node, node->partial, slot);

		case AGG_PARTIAL:
			if (node->leader)
			{
				if (!node->drained)
					gpuagg_agg_input_drain(node);
				return false;
			}
			for (;;)
			{
				if (node->emitting && gpuagg_agg_output_next(node, false, slot))
				{
					node->counts.sent++;
					return true;
				}
				node->emitting = false;
				if (node->drained)
					return false;
				gpuagg_agg_input_drain(node);
				node->emitting = true;
			}
	}
	pg_unreachable();
}

static TupleTableSlot *
next_tuple(ScanState *ss)
{
	AggScanState *node = (AggScanState *) ss;
	TupleTableSlot *slot = ss->ss_ScanTupleSlot;

	start(node);
	if (!next_group(node, slot))
		return ExecClearTuple(slot);
	node->given++;
	return slot;
}

/*
 * Where there is no table of its own: earlier minor versions of core ask in place of next_tuple() while they check a row
 * that has changed.
 */
static bool
recheck(ScanState *ss, TupleTableSlot *slot)
{
	return !TupIsNull(next_tuple(ss));
}

/* Whether the groups that a sort and a LIMIT above want are known: once a run. */
static bool
find_top(AggScanState *node)
{
	if (!node->top_begun)
		node->top_found = gpuagg_agg_top_begin(node);
	node->top_begun = true;
	return node->top_found;
}

/* The next of these; HAVING has been tested. */
static TupleTableSlot *
next_top(AggScanState *node)
{
	PlanState *ps = &node->css.ss.ps;
	TupleTableSlot *slot = node->css.ss.ss_ScanTupleSlot;

	if (!gpuagg_agg_top_next(node, slot))
		return NULL;
	ps->ps_ExprContext->ecxt_scantuple = slot;
	return ps->ps_ProjInfo != NULL ? ExecProject(ps->ps_ProjInfo) : slot;
}

static TupleTableSlot *
exec(CustomScanState *css)
{
	AggScanState *node = (AggScanState *) css;

	if (node->spec->top.n > 0 && find_top(node))
		return next_top(node);
	return ExecScan(&css->ss, next_tuple, recheck);
}

static void
end(CustomScanState *css)
{
	AggScanState *node = (AggScanState *) css;

	if (node->spec->mode != AGG_FINAL)
		gpuagg_agg_input_end(node);
	if (css->custom_ps != NIL)
		ExecEndNode(linitial(css->custom_ps));
}

static void
rescan(CustomScanState *css)
{
	AggScanState *node = (AggScanState *) css;
	PlanState *child = css->custom_ps != NIL ? linitial(css->custom_ps) : NULL;

	ExecScanReScan(&css->ss);
	/* a leader's groups are the final node's, which has cleared them, and may have workers' rows */
	if (!node->leader)
	{
		node->drained = false;
		node->emitting = false;
		node->top_begun = false;
		gpuagg_agg_input_rescan(node->spec->mode == AGG_FINAL ? node->partial : node);
	}
	if (child == NULL)
		return;
	if (css->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(child, css->ss.ps.chgParam);
	if (child->chgParam == NULL)
		ExecReScan(child);
}

/* ---- parallel ---- */

static Size
estimate_dsm(CustomScanState *css, ParallelContext *pcxt)
{
	AggScanState *node = (AggScanState *) css;

	if (node->spec->over_children)
		return sizeof(AggShare);
	(void) gpuagg_agg_input_memory(node, node->relation, node->columns, &node->memory);
	return add_size(offsetof(AggShare, pages), gpuagg_page_share_size(node->memory.nchunks));
}

/* What the leader has taken from memory before there were workers. */
static void
share_memory(AggScanState *node, AggShare *share)
{
	if (node->reader != NULL)
		gpuagg_page_reader_share(node->reader, &share->pages);
}

static void
initialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	AggScanState *node = (AggScanState *) css;
	AggShare *share = coordinate;

	memset(share, 0, sizeof(AggShare));
	SpinLockInit(&share->mutex);
	if (!node->spec->over_children)
		gpuagg_page_share_init(&share->pages, node->relation, node->memory.nchunks,
							   node->memory.mode);
	share_memory(node, share);
	node->share = share;
}

static void
reinitialize_dsm(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	AggScanState *node = (AggScanState *) css;

	if (!node->spec->over_children)
	{
		gpuagg_page_share_init(&((AggShare *) coordinate)->pages, node->relation,
							   node->memory.nchunks, node->memory.mode);
		share_memory(node, coordinate);
	}
}

static void
initialize_worker(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	((AggScanState *) css)->share = coordinate;
}

void
gpuagg_agg_counts_add(AggCounts *into, const AggCounts *from)
{
	gpuagg_page_counts_add(&into->pages, &from->pages);
	into->vectors += from->vectors;
	into->by_row += from->by_row;
	into->removed += from->removed;
	into->sent += from->sent;
	into->requests += from->requests;
	into->slices += from->slices;
	into->ns_device += from->ns_device;
	into->ns_program += from->ns_program;
	into->ns_slices += from->ns_slices;
	into->ns += from->ns;
	into->ns_reading += from->ns_reading;
}

/* A worker's counts go to the leader, once. */
static void
shutdown(CustomScanState *css)
{
	AggScanState *node = (AggScanState *) css;
	AggShare *share = node->share;
	WorkReport report;
	AggCounts counts;

	if (node->counted || !IsParallelWorker() || share == NULL)
		return;
	node->counted = true;
	gpuagg_agg_input_tell(node);
	gpuagg_stat_take(&report);
	counts = node->counts;
	if (node->reader != NULL)
		gpuagg_page_counts_add(&counts.pages, &node->reader->counts);
	SpinLockAcquire(&share->mutex);
	gpuagg_agg_counts_add(&share->workers, &counts);
	gpuagg_report_add(&share->report, &report);
	SpinLockRelease(&share->mutex);
}

static const CustomExecMethods exec_methods = {
	.CustomName = AGG_NODE_NAME,
	.BeginCustomScan = begin,
	.ExecCustomScan = exec,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan,
	.EstimateDSMCustomScan = estimate_dsm,
	.InitializeDSMCustomScan = initialize_dsm,
	.ReInitializeDSMCustomScan = reinitialize_dsm,
	.InitializeWorkerCustomScan = initialize_worker,
	.ShutdownCustomScan = shutdown,
	.ExplainCustomScan = gpuagg_agg_explain,
};

static Node *
make_state(CustomScan *plan)
{
	AggScanState *node = palloc0(sizeof(AggScanState));

	gpuagg_leader_check();
	NodeSetTag(node, T_CustomScanState);
	node->css.methods = &exec_methods;
	node->fill = fill;
	node->spec = gpuagg_agg_spec_read(plan->custom_private);
	return (Node *) node;
}

static const CustomScanMethods scan_methods = {
	.CustomName = AGG_NODE_NAME,
	.CreateCustomScanState = make_state,
};

void
gpuagg_agg_scan_register(void)
{
	RegisterCustomScanMethods(&scan_methods);
	gpuagg_agg_table_register();
}
