/*
 * window_emit.c
 *	  How the rows of a GpuWindow node leave it, with their functions' values.
 *
 * Rows wait in order: those in the store or kept by the input, those of the current set,
 * those of the set after it.  A function that no engine has a scan for takes its arguments
 * as the groups of rows are made ready.
 */
#include "compat.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "engine/cpu.h"
#include "exec/window_pipeline.h"

#define SETTLED_ROWS 32 /* whose values are made together */

/* ---- one row ---- */

void
gpuagg_window_show(WindowScanState *node, Datum *values, bool *isnull)
{
	TupleTableSlot *scan = node->css.ss.ss_ScanTupleSlot;

	ExecClearTuple(scan);
	scan->tts_values = values;
	scan->tts_isnull = isnull;
	ExecStoreVirtualTuple(scan);
	node->css.ss.ps.ps_ExprContext->ecxt_scantuple = scan;
}

void
gpuagg_window_copy_columns(WindowScanState *node, TupleTableSlot *row)
{
	slot_getallattrs(row);
	memcpy(node->values, row->tts_values, node->spec->nchild * sizeof(Datum));
	memcpy(node->isnull, row->tts_isnull, node->spec->nchild * sizeof(bool));
}

void
gpuagg_window_project_init(WindowScanState *node)
{
	const ScanState *ss = &node->css.ss;
	const List *target = ss->ps.plan->targetlist;
	int n = list_length(target);
	AttrNumber *columns = palloc(Max(n, 1) * sizeof(AttrNumber));

	for (int i = 0; i < n; i++)
	{
		const Var *var = (const Var *) list_nth_node(TargetEntry, target, i)->expr;

		if (!IsA(var, Var) || var->varno != INDEX_VAR || var->varattno <= 0)
			return;
		columns[i] = var->varattno;
	}
	node->columns = columns;
	node->copies = ss->ps.ps_ProjInfo != NULL && ss->ps.qual == NULL && node->run.condition == NULL;
}

/* The row that is asked for, where its columns are copied. */
static TupleTableSlot *
copy_row(WindowScanState *node, const Datum *values, const bool *isnull)
{
	TupleTableSlot *row = node->css.ss.ps.ps_ProjInfo->pi_state.resultslot;
	int n = row->tts_tupleDescriptor->natts;

	ExecClearTuple(row);
	for (int i = 0; i < n; i++)
	{
		row->tts_values[i] = values[node->columns[i] - 1];
		row->tts_isnull[i] = isnull[node->columns[i] - 1];
	}
	return ExecStoreVirtualTuple(row);
}

TupleTableSlot *
gpuagg_window_project(WindowScanState *node, Datum *values, bool *isnull)
{
	ScanState *ss = &node->css.ss;

	if (node->copies)
		return copy_row(node, values, isnull);
	gpuagg_window_show(node, values, isnull);
	ResetExprContext(ss->ps.ps_ExprContext);
	if (ss->ps.ps_ProjInfo == NULL)
		return ss->ss_ScanTupleSlot;
	return ExecProject(ss->ps.ps_ProjInfo);
}

TupleTableSlot *
gpuagg_window_emit(WindowScanState *node, Datum *values, bool *isnull)
{
	int nchild = node->spec->nchild;

	node->numbers.rows++;
	for (int f = 0; f < node->nfunctions; f++)
	{
		if (node->functions[f].number == WINDOW_ROW_NUMBER && !node->functions[f].isnull &&
			node->spec->frame != WINDOW_ROWS)
			node->functions[f].value = Int64GetDatum(node->numbers.rows);
		values[nchild + f] = node->functions[f].value;
		isnull[nchild + f] = node->functions[f].isnull;
	}
	return gpuagg_window_project(node, values, isnull);
}

TupleTableSlot *
gpuagg_window_emit_ready(WindowScanState *node)
{
	WindowPipeline *p = node->pipeline;
	WindowWaitingRows *waiting = &node->waiting;
	Datum *values = node->values;
	bool *isnull = node->isnull;

	if (p != NULL && p->earlier_rows == 0)
	{
		Size place = gpuagg_window_place(node, p->next_emitted, 0);

		gpuagg_window_pipeline_complete(node, p->next_emitted++, waiting->ready);
		values = p->current->values + place;
		isnull = p->current->isnull + place;
	}
	else
	{
		if (node->input.keeps_rows)
			gpuagg_row_sort_row(node->input.sort, waiting->nemitted, values, isnull);
		else
		{
			gpuagg_row_store_fetch(waiting->store, node->tuple_slot);
			gpuagg_window_copy_columns(node, node->tuple_slot);
		}
		if (p != NULL)
			p->earlier_rows--;
	}
	waiting->nemitted++;
	waiting->ready--;
	return gpuagg_window_emit(node, values, isnull);
}

/* ---- a group ---- */

Datum
gpuagg_window_function_result(const WindowScanState *node, int f, int64 i, bool *isnull)
{
	const WindowPipeline *p = node->pipeline;
	const RunningOperation *op = node->functions[f].op;
	const WindowFunctionColumn *column;

	if (i < 0)
		return gpuagg_running_result(op, p->last[f].result, &p->last[f].status, 0, p->last[f].count,
									 isnull);
	column = &p->current->columns[f];
	return gpuagg_running_result(op, column->scan->flight.results, column->scan->flight.status, i,
								 column->counts != NULL ? column->counts[i] : 0, isnull);
}

/*
 * Under frames other than ROWS, sets a function's value at row i of the current set, the last one
 * of a group, or, if that is -1, after the last row that was taken: of a scan, the last row before
 * the current set.
 */
static void
set_value(WindowScanState *node, int f, int64 i)
{
	WindowPipeline *p = node->pipeline;
	WindowFunctionState *function = &node->functions[f];
	const RunningOperation *op = function->op;

	if (function->number != WINDOW_AGGREGATE)
	{
		function->isnull = false;
		function->value = Int64GetDatum(function->number == WINDOW_RANK ? node->numbers.rows + 1
																		: node->numbers.groups);
	}
	else if (p == NULL || op->kind == 0)
		function->value = gpuagg_running_value(op, function->state, &function->isnull);
	else
		function->value = gpuagg_window_function_result(node, f, i, &function->isnull);
}

void
gpuagg_window_find_value(WindowScanState *node, int f, int64 i)
{
	MemoryContext old;

	MemoryContextReset(node->group_context);
	old = MemoryContextSwitchTo(node->group_context);
	set_value(node, f, i);
	MemoryContextSwitchTo(old);
}

void
gpuagg_window_close_group(WindowScanState *node, int64 i)
{
	MemoryContext old;

	node->numbers.groups++;
	MemoryContextReset(node->group_context);
	old = MemoryContextSwitchTo(node->group_context);
	for (int f = 0; f < node->nfunctions; f++)
		if (node->run.passing)
			gpuagg_window_function_pass(&node->functions[f]);
		else
			set_value(node, f, i);
	MemoryContextSwitchTo(old);
	node->waiting.ready = node->waiting.pending;
	node->waiting.pending = 0;
}

/* The next n rows that wait leave without having been put together. */
static void
pass_rows(WindowScanState *node, int64 n)
{
	WindowPipeline *p = node->pipeline;
	int64 earlier = Min(p->earlier_rows, n);

	for (int64 i = 0; i < earlier && gpuagg_window_stores_rows(node); i++)
	{
		CHECK_FOR_INTERRUPTS();
		gpuagg_row_store_fetch(node->waiting.store, node->tuple_slot);
	}
	p->earlier_rows -= earlier;
	p->next_emitted += n - earlier;
	node->waiting.nemitted += n;
	node->numbers.rows += n;
}

/* The pending rows leave like this, as a condition above drops them all. */
static void
drop_group(WindowScanState *node)
{
	WindowWaitingRows *waiting = &node->waiting;

	pass_rows(node, waiting->pending);
	node->numbers.groups++;
	node->dropped += waiting->pending;
	waiting->pending = 0;
}

/* ---- the rows of sets ---- */

int64
gpuagg_window_next_bit(const uint64 *bitmap, bool set, int64 i, int64 n)
{
	uint64 flip = set ? 0 : PG_UINT64_MAX;

	while (i < n)
	{
		uint64 word = (bitmap[i / 64] ^ flip) >> (i % 64);

		if (word != 0)
			return Min(i + pg_rightmost_one_pos64(word), n);
		i = (i / 64 + 1) * 64;
	}
	return n;
}

int64
gpuagg_window_closed_rows(const WindowRows *rows)
{
	int64 i = rows->nrows - 1;

	while (i > 0 && !gpuagg_bit(rows->group_heads, i))
		i--;
	return i;
}

/*
 * The functions that have no scan take rows first to last of the current set, a
 * group or part of one.
 */
static void
take_arguments(WindowScanState *node, int64 first, int64 last)
{
	WindowPipeline *p = node->pipeline;
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;

	for (int64 i = first; i < last; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);

		CHECK_FOR_INTERRUPTS();
		for (int f = 0; f < node->nfunctions; f++)
		{
			WindowFunctionState *function = &node->functions[f];
			Size place = gpuagg_window_place(node, i, gpuagg_window_argument_column(node, f));

			if (p->current->columns[f].scan == NULL && !p->current->isnull[place])
				gpuagg_running_take(function->op, function->state, p->current->values[place]);
		}
		MemoryContextSwitchTo(old);
		ResetExprContext(econtext);
	}
}

void
gpuagg_window_keep_last(WindowScanState *node)
{
	WindowRows *rows = node->pipeline->current;
	int64 i = rows->nrows - 1;

	for (int f = 0; f < node->nfunctions; f++)
	{
		const WindowFunctionColumn *column = &rows->columns[f];
		const ColumnScan *scan = column->scan;
		LastResult *last = &node->pipeline->last[f];
		Size width;

		if (scan == NULL)
			continue;
		width = gpuagg_scan_result_size(scan->flight.work.kind, scan->flight.work.op,
										scan->flight.work.flags);
		memcpy(last->result, (const char *) scan->flight.results + i * width, width);
		last->status = scan->flight.status[i];
		last->count = column->counts != NULL ? column->counts[i] : 0;
	}
}

/* A partition begins with the next row of the current set. */
static void
begin_partition(WindowScanState *node)
{
	if (node->pipeline->nscans < node->nfunctions)
		gpuagg_window_functions_clear(node, true);
	gpuagg_window_begin_partition(node);
}

/* Makes the rows of the next group ready that ends in the current set; false: none does. */
static bool
next_group(WindowScanState *node)
{
	WindowPipeline *p = node->pipeline;
	WindowRows *rows = p->current;
	int64 end;

	if (p->next_row == rows->nrows)
		return false;
	if (node->waiting.pending > 0 && gpuagg_bit(rows->group_heads, p->next_row))
	{
		gpuagg_window_close_group(node, -1);
		return true;
	}
	end = gpuagg_window_next_bit(rows->group_heads, true, p->next_row + 1, rows->nrows);
	if (gpuagg_bit(rows->partition_heads, p->next_row))
		begin_partition(node);
	if (p->nscans < node->nfunctions && !node->run.passing)
		take_arguments(node, p->next_row, end);
	node->waiting.pending += end - p->next_row;
	p->next_row = end;
	if (end == rows->nrows)
		return false;
	if (node->nbounds > 0 && gpuagg_bit(rows->dropped, end - 1))
		drop_group(node);
	else
		gpuagg_window_close_group(node, end - 1);
	return true;
}

/* Makes rows ready, unless some are; false: there are no more. */
static bool
find_ready(WindowScanState *node)
{
	WindowPipeline *p = node->pipeline;

	while (node->waiting.ready == 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (p->current != NULL && next_group(node))
			continue;
		if (p->current != NULL && node->waiting.pending > 0)
			gpuagg_window_keep_last(node);
		if (gpuagg_window_pipeline_advance(node))
			continue;
		if (node->waiting.pending == 0)
			return false;
		gpuagg_window_close_group(node, -1);
	}
	return true;
}

static TupleTableSlot *
next_of_groups(WindowScanState *node)
{
	return find_ready(node) ? gpuagg_window_emit_ready(node) : NULL;
}

int64
gpuagg_window_next_group(WindowScanState *node, int64 *earlier)
{
	int64 n = find_ready(node) ? node->waiting.ready : 0;

	if (earlier != NULL)
		*earlier = Min(node->pipeline->earlier_rows, n);
	pass_rows(node, n);
	node->waiting.ready = 0;
	return n;
}

/* Goes to the next row that is to be put together; false: there is none. */
static bool
find_single(WindowScanState *node)
{
	WindowPipeline *p = node->pipeline;

	for (;;)
	{
		int64 row;

		CHECK_FOR_INTERRUPTS();
		if ((p->current == NULL || p->next_row == p->current->nrows) &&
			!gpuagg_window_pipeline_advance(node))
			return false;
		if (node->nbounds == 0)
			return true;
		row = gpuagg_window_next_bit(p->current->dropped, false, p->next_row, p->current->nrows);
		node->dropped += row - p->next_row;
		node->waiting.nemitted += row - p->next_row;
		p->next_emitted = p->next_row = row;
		if (row < p->current->nrows)
			return true;
	}
}

/* Whether a function's values are yet to be made of what its scan has left for each row. */
static inline bool
has_results(const WindowFunctionColumn *column)
{
	return column->scan != NULL && !column->has_values;
}

/*
 * Makes the values of some rows of the current set from number `row` on together, as far as scans have
 * them, unless any of them might be an error, which is to be that of its row.
 */
static void
settle_ahead(WindowScanState *node, int64 row)
{
	WindowPipeline *p = node->pipeline;
	const WindowRows *rows = p->current;
	int64 end = Min(row + SETTLED_ROWS, rows->nrows);

	if (node->nbounds > 0)
		end = gpuagg_window_next_bit(rows->dropped, true, row + 1, end);
	for (int f = 0; f < node->nfunctions; f++)
		if (has_results(&rows->columns[f]) && (gpuagg_running_may_raise(node->functions[f].op) ||
											   memchr(rows->columns[f].scan->flight.status + row,
													  GPUAGG_ROW_OVERFLOW, end - row) != NULL))
			return;
	for (int f = 0; f < node->nfunctions; f++)
	{
		const WindowFunctionColumn *column = &rows->columns[f];
		Size place = gpuagg_window_place(node, row, node->spec->nchild + f);

		if (has_results(column))
			gpuagg_running_results(node->functions[f].op, column->scan->flight.results,
								   column->scan->flight.status, column->counts, row, end,
								   rows->values + place, rows->isnull + place, p->stride);
	}
	p->settled = end;
}

void
gpuagg_window_settle_single(WindowScanState *node, int64 row)
{
	WindowPipeline *p = node->pipeline;
	WindowRows *rows = p->current;
	bool passing;
	MemoryContext old;

	if (gpuagg_bit(rows->partition_heads, row))
		begin_partition(node);
	passing = node->run.passing;
	if (row < p->settled && p->nscans == node->nfunctions && !passing)
		return;

	if (row >= p->settled)
		MemoryContextReset(node->group_context);
	old = MemoryContextSwitchTo(node->group_context);
	if (row >= p->settled && !passing)
		settle_ahead(node, row);
	for (int f = 0; f < node->nfunctions; f++)
	{
		WindowFunctionState *function = &node->functions[f];
		Size argument = gpuagg_window_place(node, row, gpuagg_window_argument_column(node, f));
		Size place = gpuagg_window_place(node, row, node->spec->nchild + f);

		if (passing)
			gpuagg_window_function_pass(function);
		else if (rows->columns[f].scan == NULL)
			gpuagg_window_function_step(function, rows->values[argument], rows->isnull[argument]);
		else if (row >= p->settled && has_results(&rows->columns[f]))
			function->value = gpuagg_window_function_result(node, f, row, &function->isnull);
		else
			continue;
		rows->values[place] = function->value;
		rows->isnull[place] = function->isnull;
	}
	MemoryContextSwitchTo(old);
}

static TupleTableSlot *
next_single(WindowScanState *node)
{
	WindowPipeline *p = node->pipeline;
	Size place;

	if (p->next_row >= p->settled || p->nscans < node->nfunctions || node->run.condition != NULL)
	{
		if (!find_single(node))
			return NULL;
		if (p->current->is_late)
			gpuagg_window_pipeline_complete(node, p->next_row,
											gpuagg_window_next_bit(p->current->dropped, true,
																   p->next_row, p->current->nrows) -
												p->next_row);
		gpuagg_window_settle_single(node, p->next_row);
	}
	place = gpuagg_window_place(node, p->next_row, 0);
	p->next_emitted = ++p->next_row;
	node->waiting.nemitted++;
	return gpuagg_window_project(node, p->current->values + place, p->current->isnull + place);
}

TupleTableSlot *
gpuagg_window_next_by_set(WindowScanState *node)
{
	return node->spec->frame == WINDOW_ROWS ? next_single(node) : next_of_groups(node);
}
