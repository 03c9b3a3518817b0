/*
 * window_emit.c
 *	  Emits the rows of a GpuWindow node's batches with their functions' values.
 *
 * Rows wait in order: those that are outside of any batch, those of the current
 * one, those of batches still to come.  A function that engines have no scan for
 * takes its arguments as the groups of rows are made ready.
 */
#include "compat.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "engine/cpu.h"
#include "exec/window_batch.h"

/* The first bit that is set from i on, or n. */
static int64
next_bit(const uint64 *bitmap, int64 i, int64 n)
{
	while (i < n)
	{
		uint64 word = bitmap[i / 64] >> (i % 64);

		if (word != 0)
			return Min(i + pg_rightmost_one_pos64(word), n);
		i = (i / 64 + 1) * 64;
	}
	return n;
}

/*
 * The functions that have no scan take rows first to last of the current batch, a
 * group or part of one.
 */
static void
take_arguments(WindowScanState *node, int64 first, int64 last)
{
	WindowBatches *b = node->batches;
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;

	for (int64 i = first; i < last; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);

		CHECK_FOR_INTERRUPTS();
		for (int f = 0; f < node->nfunctions; f++)
		{
			WindowFunctionState *function = &node->functions[f];
			Size place = gpuagg_window_place(node, i, gpuagg_window_argument_column(node, f));

			if (b->current->columns[f].scan == NULL && !b->current->isnull[place])
				gpuagg_running_take(function->op, function->state, b->current->values[place]);
		}
		MemoryContextSwitchTo(old);
		ResetExprContext(econtext);
	}
}

/* A function's value at row i of the current batch, the last one of a group. */
static void
value_at(WindowScanState *node, int f, int64 i)
{
	WindowBatch *batch = node->batches->current;
	WindowFunctionState *function = &node->functions[f];
	const WindowColumnBatch *column = &batch->columns[f];
	const ColumnScan *scan = column->scan;
	Size place;

	if (scan != NULL)
		function->value = gpuagg_running_result(function->op, scan->results, scan->status, i,
												column->counts != NULL ? column->counts[i] : 0,
												&function->isnull);
	else if (node->spec->frame != WINDOW_ROWS)
		function->value = gpuagg_running_value(function->op, function->state, &function->isnull);
	else
	{
		place = gpuagg_window_place(node, i, gpuagg_window_argument_column(node, f));
		gpuagg_window_function_step(function, batch->values[place], batch->isnull[place]);
	}
}

/* The same of the last row before the current batch. */
static void
value_before(WindowScanState *node, int f)
{
	WindowFunctionState *function = &node->functions[f];
	const LastResult *last = &node->batches->last[f];

	if (function->op->kind != 0)
		function->value = gpuagg_running_result(function->op, last->result, &last->status, 0,
												last->n, &function->isnull);
	else
		function->value = gpuagg_running_value(function->op, function->state, &function->isnull);
}

/* The rows that are pending have their values: at row i, or before the current batch if -1. */
static void
set_values(WindowScanState *node, int64 i)
{
	MemoryContext old;

	MemoryContextReset(node->group_context);
	old = MemoryContextSwitchTo(node->group_context);
	for (int f = 0; f < node->nfunctions; f++)
	{
		if (i < 0)
			value_before(node, f);
		else
			value_at(node, f, i);
	}
	MemoryContextSwitchTo(old);
	node->ready = node->pending;
	node->pending = 0;
}

/* Keeps the last results of the current batch, for value_before(). */
static void
keep_last(WindowScanState *node)
{
	WindowBatch *batch = node->batches->current;
	int64 i = batch->nrows - 1;

	for (int f = 0; f < node->nfunctions; f++)
	{
		const WindowColumnBatch *column = &batch->columns[f];
		const ColumnScan *scan = column->scan;
		LastResult *last = &node->batches->last[f];
		Size width;

		if (scan == NULL)
			continue;
		width = gpuagg_scan_result_size(scan->kind, scan->op, 0);
		memcpy(last->result, (const char *) scan->results + i * width, width);
		last->status = scan->status[i];
		last->n = column->counts != NULL ? column->counts[i] : 0;
	}
}

/* Makes the rows of the next group ready that ends in the current batch; false: none does. */
static bool
next_group(WindowScanState *node)
{
	WindowBatches *b = node->batches;
	WindowBatch *batch = b->current;
	int64 end;

	if (b->at == batch->nrows)
		return false;
	if (node->pending > 0 && gpuagg_bit(batch->groups, b->at))
	{
		set_values(node, -1);
		return true;
	}
	end = next_bit(batch->groups, b->at + 1, batch->nrows);
	if (b->nscans < node->nfunctions)
	{
		if (gpuagg_bit(batch->heads, b->at))
			gpuagg_window_functions_clear(node, true);
		take_arguments(node, b->at, end);
	}
	node->pending += end - b->at;
	b->at = end;
	if (end == batch->nrows)
		return false;
	set_values(node, end - 1);
	return true;
}

/* Emits the first of the rows that are ready. */
static TupleTableSlot *
emit_ready(WindowScanState *node)
{
	WindowBatches *b = node->batches;
	Datum *values = node->values;
	bool *isnull = node->isnull;

	if (b->outside > 0)
	{
		gpuagg_window_fetch_kept(node);
		b->outside--;
	}
	else
	{
		Size place = gpuagg_window_place(node, b->emit_at++, 0);

		values = b->current->values + place;
		isnull = b->current->isnull + place;
		node->rows_emitted++;
	}
	node->ready--;
	gpuagg_window_put_values(node, values, isnull);
	return gpuagg_window_project(node, values, isnull);
}

static TupleTableSlot *
next_of_groups(WindowScanState *node)
{
	WindowBatches *b = node->batches;

	while (node->ready == 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (b->current != NULL && next_group(node))
			break;
		if (b->current != NULL && node->pending > 0)
			keep_last(node);
		if (gpuagg_window_advance(node))
			continue;
		if (node->pending == 0)
			return NULL;
		set_values(node, -1);
	}
	return emit_ready(node);
}

static TupleTableSlot *
next_single(WindowScanState *node)
{
	WindowBatches *b = node->batches;
	int nchild = node->spec->nchild;
	Datum *values;
	bool *isnull;
	Size place;
	MemoryContext old;

	if ((b->current == NULL || b->at == b->current->nrows) && !gpuagg_window_advance(node))
		return NULL;
	place = gpuagg_window_place(node, b->at, 0);
	values = b->current->values + place;
	isnull = b->current->isnull + place;
	if (b->nscans < node->nfunctions && gpuagg_bit(b->current->heads, b->at))
		gpuagg_window_functions_clear(node, true);

	MemoryContextReset(node->group_context);
	old = MemoryContextSwitchTo(node->group_context);
	for (int f = 0; f < node->nfunctions; f++)
	{
		if (b->current->columns[f].has_results)
			continue;
		value_at(node, f, b->at);
		values[nchild + f] = node->functions[f].value;
		isnull[nchild + f] = node->functions[f].isnull;
	}
	MemoryContextSwitchTo(old);
	b->emit_at = ++b->at;
	node->rows_emitted++;
	return gpuagg_window_project(node, values, isnull);
}

TupleTableSlot *
gpuagg_window_by_batch(WindowScanState *node)
{
	if (node->batches == NULL)
		gpuagg_window_make_batches(node);
	return node->spec->frame == WINDOW_ROWS ? next_single(node) : next_of_groups(node);
}
