/*
 * window_explain.c
 *	  What EXPLAIN shows of a GpuWindow node.
 */
#include "compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"

#include "exec/window_passed.h"
#include "exec/window_pipeline.h"
#include "gpuagg.h"

/* DESC and NULLS FIRST or LAST, where they are not the default. */
static void
append_order(StringInfo text, const WindowColumn *column, Oid type)
{
	bool descending;

	if (!OidIsValid(column->sort_operator))
		return;
	descending = column->sort_operator == lookup_type_cache(type, TYPECACHE_GT_OPR)->gt_opr;
	if (descending)
		appendStringInfoString(text, " DESC");
	if (column->nulls_first != descending)
		appendStringInfoString(text, column->nulls_first ? " NULLS FIRST" : " NULLS LAST");
}

/* The columns as texts. */
static List *
column_texts(WindowScanState *node, const WindowColumn *columns, int n, List *context,
			 ExplainState *es)
{
	CustomScan *plan = (CustomScan *) node->css.ss.ps.plan;
	bool prefix = compat_explain_prefix(es);
	List *texts = NIL;

	for (int i = 0; i < n; i++)
	{
		TargetEntry *tle = list_nth(plan->custom_scan_tlist, columns[i].attno - 1);
		StringInfoData text;

		initStringInfo(&text);
		appendStringInfoString(&text,
							   deparse_expression((Node *) tle->expr, context, prefix, true));
		append_order(&text, &columns[i], exprType((Node *) tle->expr));
		texts = lappend(texts, text.data);
	}
	return texts;
}

static void
show_columns(WindowScanState *node, const char *label, const WindowColumn *columns, int n,
			 List *context, ExplainState *es)
{
	List *texts = column_texts(node, columns, n, context, es);

	if (texts != NIL)
		ExplainPropertyList(label, texts, es);
}

static void
append_clause(StringInfo window, const char *keyword, const List *texts)
{
	ListCell *cell;

	foreach (cell, texts)
	{
		if (foreach_current_index(cell) > 0)
			appendStringInfoString(window, ", ");
		else
			appendStringInfo(window, "%s%s ", window->len > 0 ? " " : "", keyword);
		appendStringInfoString(window, lfirst(cell));
	}
}

/* The window as it would stand behind OVER. */
static char *
window_text(WindowScanState *node, List *context, ExplainState *es)
{
	const WindowSpec *spec = node->spec;
	StringInfoData window;
	const char *frame = "";

	initStringInfo(&window);
	append_clause(&window, "PARTITION BY",
				  column_texts(node, spec->partition, spec->npartition, context, es));
	append_clause(&window, "ORDER BY", column_texts(node, spec->order, spec->norder, context, es));
	if (spec->frame == WINDOW_ROWS)
		frame = "ROWS UNBOUNDED PRECEDING";
	else if (spec->frame == WINDOW_WHOLE && spec->norder > 0)
		frame = "RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING";
	if (window.len > 0 && frame[0] != '\0')
		appendStringInfoChar(&window, ' ');
	appendStringInfoString(&window, frame);
	return window.data;
}

/* Each with its window, by which those of several nodes can be told apart. */
static void
show_functions(WindowScanState *node, List *context, ExplainState *es)
{
	CustomScan *plan = (CustomScan *) node->css.ss.ps.plan;
	bool prefix = compat_explain_prefix(es);
	const char *window = window_text(node, context, es);
	List *texts = NIL;

	for (int i = 0; i < node->nfunctions; i++)
	{
		TargetEntry *tle = list_nth(plan->custom_scan_tlist, node->spec->nchild + i);
		char *call = deparse_expression((Node *) tle->expr, context, prefix, true);

		if (node->functions[i].every_row &&
			node->functions[i].number ==
				WINDOW_AGGREGATE) /* printed as a plain function's call: without the star */
			call = psprintf("%.*s(*)", (int) strlen(call) - 2, call);
		texts = lappend(texts, psprintf("%s OVER (%s)", call, window));
	}
	ExplainPropertyList("Window Functions", texts, es);
}

/* In core's words. */
static void
show_run_condition(WindowScanState *node, List *context, ExplainState *es)
{
	bool prefix = compat_explain_prefix(es);
	Node *condition = (Node *) make_ands_explicit(node->run.conditions);

	if (node->run.conditions != NIL)
		ExplainPropertyText("Run Condition", deparse_expression(condition, context, prefix, false),
							es);
}

/* A node that takes all rows of one partition of peers has no keys to sort them by. */
static bool
sorts_by_keys(const WindowSpec *spec)
{
	return spec->sort && spec->npartition + spec->norder > 0;
}

/* In core's words; returns whether the device did some of the sort. */
static bool
show_sort(WindowScanState *node, ExplainState *es)
{
	RowSortReport report;

	if (!node->input.sorted || !sorts_by_keys(node->spec))
		return false;
	gpuagg_row_sort_report(node->input.sort, &report);
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		char *text = psprintf("%s  %s: " INT64_FORMAT "kB", report.method, report.space, report.kB);

		ExplainPropertyText("Sort Method", text, es);
	}
	else
	{
		ExplainPropertyText("Sort Method", report.method, es);
		ExplainPropertyInteger("Sort Space Used", "kB", report.kB, es);
		ExplainPropertyText("Sort Space Type", report.space, es);
	}
	ExplainPropertyInteger("Sort Pieces on Device", NULL, report.device_pieces, es);
	return report.device_pieces > 0;
}

/* What was read of a table in place of the scan below. */
static void
show_table(const WindowScanState *node, ExplainState *es)
{
	int64 pages = gpuagg_window_passed_pages(node);
	PageCounts counts;

	if (node->input.table == NULL)
	{
		if (pages > 0)
			ExplainPropertyInteger("Pages Read", NULL, pages, es);
		return;
	}
	counts = gpuagg_window_table_counts(node->input.table);
	ExplainPropertyInteger("Pages Read", NULL, pages + (int64) counts.pages, es);
	ExplainPropertyInteger("Pages from Memory", NULL, (int64) (counts.level1 + counts.level2), es);
	ExplainPropertyInteger("Chunks Skipped", NULL, (int64) counts.skipped, es);
	if (es->verbose && counts.later > 0)
		ExplainPropertyInteger("Pages Left to Later Queries", NULL, (int64) counts.later, es);
}

static const char *
frame_text(WindowFrame frame)
{
	switch (frame)
	{
		case WINDOW_ROWS:
			return "rows up to the current one";
		case WINDOW_PEERS:
			return "up to the last peer";
		case WINDOW_WHOLE:
			return "whole partition";
	}
	pg_unreachable();
}

static void
show_work(WindowScanState *node, bool sorted_on_device, ExplainState *es)
{
	const WorkReport *report = &node->work.report;
	const RowStore *store = node->waiting.store;
	int64 spilled = node->work.spilled;
	List *fallbacks = NIL;
	bool device = report->batches[ENGINE_DEVICE] > 0 || node->work.above || node->work.with_window;
	bool cpu = report->rows[ENGINE_CPU] > 0;

	gpuagg_window_count_rows(node);
	ExplainPropertyText("Engine", device ? (cpu ? "device, cpu" : "device") : "cpu", es);
	if (node->work.above)
		ExplainPropertyBool("Computed with Aggregates Above", true, es);
	if (node->work.with_window)
		ExplainPropertyBool("Computed with Window Above", true, es);
	ExplainPropertyInteger("Batches", NULL,
						   report->batches[ENGINE_CPU] + report->batches[ENGINE_DEVICE], es);
	ExplainPropertyInteger("Launches", NULL, report->batches[ENGINE_DEVICE], es);
	ExplainPropertyInteger("Bytes", NULL, report->bytes[ENGINE_CPU] + report->bytes[ENGINE_DEVICE],
						   es);
	for (int r = 0; r < GPUAGG_NREASONS; r++)
		if (report->fallbacks[r] > 0)
			fallbacks = lappend(fallbacks, psprintf(INT64_FORMAT " %s", report->fallbacks[r],
													gpuagg_reason_name(r)));
	if (node->pipeline != NULL && node->pipeline->queue != NULL)
		spilled += gpuagg_column_queue_spilled(node->pipeline->queue);
	if (store != NULL)
		spilled += gpuagg_row_store_spilled(store);
	if (spilled > 0)
		ExplainPropertyInteger("Spilled Rows", NULL, spilled, es);
	if (fallbacks != NIL)
		ExplainPropertyList("Fallbacks", fallbacks, es);
	/* that the settings keep windows to the CPU is no news */
	if (!device && !sorted_on_device && report->reason != GPUAGG_OK &&
		report->reason != GPUAGG_DISABLED && report->reason != GPUAGG_NO_GAIN)
		ExplainPropertyText("Device Not Used", gpuagg_reason_text(report->reason), es);
}

void
gpuagg_window_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	WindowScanState *node = (WindowScanState *) css;
	WindowSpec *spec = node->spec;
	List *context = set_deparse_context_plan(es->deparse_cxt, css->ss.ps.plan, ancestors);

	if (es->verbose)
		show_functions(node, context, es);
	show_columns(node, "Partition Key", spec->partition, spec->npartition, context, es);
	show_columns(node, "Order Key", spec->order, spec->norder, context, es);
	show_run_condition(node, context, es);
	ExplainPropertyText("Frame", frame_text(spec->frame), es);
	ExplainPropertyBool("Sort", sorts_by_keys(spec), es);
	if (es->analyze)
	{
		bool sorted_on_device = show_sort(node, es);

		show_table(node, es);
		if (node->input.shares)
			ExplainPropertyBool("Shares Rows of Window Below", true, es);
		if (node->input.moves)
			ExplainPropertyBool("Takes Columns of Window Below", true, es);
		if (node->nbounds > 0)
			ExplainPropertyInteger("Rows Removed for Filter Above", NULL, node->dropped, es);
		gpuagg_window_passed_explain(node, es);
		show_work(node, sorted_on_device, es);
	}
	if (es->verbose && spec->kept != NULL)
		ExplainPropertyText("GpuWindow Not Used For", spec->kept, es);
}
