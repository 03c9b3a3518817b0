/*
 * agg_explain.c
 *	  What EXPLAIN shows of a GpuAgg node.
 */
#include "compat.h"

#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "exec/agg_state.h"

/* The expressions of custom_scan_tlist from `first` on, n of them. */
static void
show_expressions(const char *label, CustomScanState *css, int first, int n, List *ancestors,
				 ExplainState *es)
{
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	List *context = set_deparse_context_plan(es->deparse_cxt, &plan->scan.plan, ancestors);
	bool prefix = compat_explain_prefix(es);
	List *texts = NIL;

	for (int i = first; i < first + n; i++)
	{
		texts = lappend(texts, deparse_expression((Node *) gpuagg_agg_entry(plan, i), context,
												  prefix, false));
	}
	if (texts != NIL)
		ExplainPropertyList(label, texts, es);
}

/* Each with its keys, in the planner's order. */
static void
show_sets(CustomScanState *css, const List *sets, List *ancestors, ExplainState *es)
{
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	List *context = set_deparse_context_plan(es->deparse_cxt, &plan->scan.plan, ancestors);
	bool prefix = compat_explain_prefix(es);
	List *texts = NIL;
	ListCell *cell;

	foreach (cell, sets)
	{
		StringInfoData text;
		ListCell *key;

		initStringInfo(&text);
		appendStringInfoChar(&text, '(');
		foreach (key, (List *) lfirst(cell))
		{
			appendStringInfo(&text, "%s%s", foreach_current_index(key) > 0 ? ", " : "",
							 deparse_expression((Node *) gpuagg_agg_entry(plan, lfirst_int(key)),
												context, prefix, false));
		}
		appendStringInfoChar(&text, ')');
		texts = lappend(texts, text.data);
	}
	if (texts != NIL)
		ExplainPropertyList("Grouping Sets", texts, es);
}

/* As core shows a scan's. */
static void
show_filter(CustomScanState *css, int first, int n, List *ancestors, ExplainState *es)
{
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	List *context = set_deparse_context_plan(es->deparse_cxt, &plan->scan.plan, ancestors);
	bool prefix = compat_explain_prefix(es);
	List *quals = NIL;

	for (int i = first; i < first + n; i++)
		quals = lappend(quals, gpuagg_agg_entry(plan, i));
	if (quals == NIL)
		return;
	ExplainPropertyText("Rows Filter",
						deparse_expression((Node *) make_ands_explicit(quals), context, prefix,
										   false),
						es);
}

static void
show_columns(AggScanState *node, ExplainState *es)
{
	List *names = NIL;
	ListCell *cell;
	Oid relation;

	if (node->relation == NULL)
		return;
	relation = RelationGetRelid(node->relation);
	foreach (cell, node->compiler->attributes)
		names = lappend(names,
						(char *) quote_identifier(get_attname(relation, lfirst_int(cell), false)));
	if (names != NIL)
		ExplainPropertyList("Columns Read", names, es);
}

/* What the program has to leave to the executor, row by row. */
static void
show_rows(AggScanState *node, List *ancestors, ExplainState *es)
{
	CustomScan *plan = (CustomScan *) node->css.ss.ps.plan;
	List *context = set_deparse_context_plan(es->deparse_cxt, &plan->scan.plan, ancestors);
	List *texts = NIL;
	ListCell *cell;

	foreach (cell, node->compiler->rows)
		texts = lappend(texts, deparse_expression(lfirst(cell), context, true, false));
	if (texts != NIL)
		ExplainPropertyList("Evaluated Row by Row", texts, es);
	if (node->by_row)
		ExplainPropertyBool("All Row by Row", true, es);
}

void
gpuagg_agg_explain_memory(const AggMemory *memory, ExplainState *es)
{
	if (es->verbose && es->analyze && memory->reason != NULL)
		ExplainPropertyText(memory->mode == PAGE_MEMORY_NONE ? "Resident Columns Not Used"
															 : "Resident Columns Not Filled",
							memory->reason, es);
}

void
gpuagg_agg_explain_device(const AggMemory *memory, ExplainState *es)
{
	if (es->verbose && es->analyze && memory->mode != PAGE_MEMORY_NONE &&
		memory->device_reason != NULL)
		ExplainPropertyText("Device Not Used", memory->device_reason, es);
}

/* Of all processes together. */
static void
show_work(AggScanState *node, ExplainState *es)
{
	AggCounts counts = node->counts;

	if (node->reader != NULL)
		gpuagg_page_counts_add(&counts.pages, &node->reader->counts);
	gpuagg_agg_counts_add(&counts, &node->workers);
	if (node->spec->nquals > 0)
		ExplainPropertyInteger("Rows Removed by Rows Filter", NULL, counts.removed, es);
	if (!node->spec->over_subquery)
	{
		ExplainPropertyInteger("Pages Read", NULL, (int64) counts.pages.pages, es);
		ExplainPropertyInteger("Pages All-Visible", NULL, (int64) counts.pages.all_visible, es);
		ExplainPropertyInteger("Pages by Stride", NULL, (int64) counts.pages.strided, es);
	}
	else if (counts.pages.pages > 0)
		ExplainPropertyInteger("Pages Read", NULL, (int64) counts.pages.pages, es);
	if (counts.pages.level1 + counts.pages.level2 + counts.pages.filled > 0)
	{
		ExplainPropertyInteger("Pages from Memory", NULL, (int64) counts.pages.level1, es);
		ExplainPropertyInteger("Pages Confirmed", NULL, (int64) counts.pages.level2, es);
		ExplainPropertyInteger("Pages Filled", NULL, (int64) counts.pages.filled, es);
		ExplainPropertyInteger("Chunks Skipped", NULL, (int64) counts.pages.skipped, es);
		if (es->timing)
			ExplainPropertyFloat("Evidence Time", "ms", counts.pages.ns_evidence / 1e6, 3, es);
	}
	if (es->verbose && counts.pages.later > 0)
		ExplainPropertyInteger("Pages Left to Later Queries", NULL, (int64) counts.pages.later, es);
	if (counts.requests > 0)
	{
		ExplainPropertyInteger("Chunks on Device", NULL, (int64) counts.pages.device_chunks, es);
		ExplainPropertyInteger("Rows on Device", NULL, (int64) counts.pages.device_rows, es);
		if (es->timing)
			ExplainPropertyFloat("Device Time", "ms", counts.ns_device / 1e6, 3, es);
		if (es->timing && es->verbose)
		{
			ExplainPropertyFloat("Device Program Time", "ms", counts.ns_program / 1e6, 3, es);
			ExplainPropertyFloat("Slices Time", "ms", counts.ns_slices / 1e6, 3, es);
			ExplainPropertyInteger("Slices", NULL, counts.slices, es);
		}
	}
	ExplainPropertyInteger("Rows Read", NULL, (int64) counts.pages.rows, es);
	if (es->verbose && node->spec->over_subquery)
		ExplainPropertyInteger("Rows as Columns", NULL, (int64) counts.pages.given, es);
	ExplainPropertyInteger("Vectors", NULL, counts.vectors, es);
	ExplainPropertyInteger("Vectors Row by Row", NULL, counts.by_row, es);
	if (node->leader && node->spec->nkeys > 0)
		ExplainPropertyInteger("Groups Sent by Workers", NULL, counts.sent, es);
	if (es->timing && counts.ns > 0)
	{
		ExplainPropertyFloat("Time Reading", "ms", counts.ns_reading / 1e6, 3, es);
		ExplainPropertyFloat("Time Computing", "ms", (counts.ns - counts.ns_reading) / 1e6, 3, es);
	}
	if (node->spills > 0)
	{
		ExplainPropertyInteger("Spills", NULL, node->spills, es);
		ExplainPropertyInteger("Spilled Bytes", NULL, node->spilled_bytes, es);
	}
}

void
gpuagg_agg_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	AggScanState *node = (AggScanState *) css;
	AggSpec *spec = node->spec;

	show_expressions("Group Key", css, 0, spec->nkeys, ancestors, es);
	if (spec->mode != AGG_PARTIAL)
		show_sets(css, spec->sets, ancestors, es);
	if (spec->top.n > 0)
		ExplainPropertyInteger("Groups Wanted", NULL, spec->top.n, es);
	if (spec->mode != AGG_FINAL)
	{
		show_filter(css, node->ncolumns, spec->nquals, ancestors, es);
		if (es->verbose)
		{
			show_columns(node, es);
			show_rows(node, ancestors, es);
		}
		gpuagg_agg_explain_memory(&node->memory, es);
		gpuagg_agg_explain_device(&node->memory, es);
		if (es->analyze)
			show_work(node, es);
	}
	if (spec->mode != AGG_PARTIAL && es->analyze)
		ExplainPropertyInteger("Groups", NULL, node->given, es);
}
