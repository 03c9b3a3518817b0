/*
 * window_row.c
 *	  GpuWindow row by row.
 *
 * Under a ROWS frame a row is emitted as it comes in, and nothing is kept.
 * Otherwise the rows of the open group wait in the row store until its end is
 * known, which takes one row more.  Most groups are small: the first rows of one
 * are held as values, and go to the store when there are too many.
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/datum.h"

#include "exec/window_state.h"

#define COUNT_ROWS 1024 /* rows between additions to the statistics */

void
gpuagg_window_count_rows(WindowScanState *node)
{
	for (int i = 0; i < node->nfunctions; i++)
	{
		int64 bytes = node->uncounted * node->functions[i].op->width;

		gpuagg_stat_direct(node->uncounted, bytes);
		node->report.rows[ENGINE_CPU] += node->uncounted;
		node->report.bytes[ENGINE_CPU] += bytes;
	}
	node->uncounted = 0;
}

static void
count_row(WindowScanState *node)
{
	node->rows_taken++;
	if (++node->uncounted >= COUNT_ROWS)
		gpuagg_window_count_rows(node);
}

/* Columns of a row from below into the scan tuple, which is not stored yet. */
static void
copy_columns(WindowScanState *node, TupleTableSlot *row)
{
	TupleTableSlot *scan = node->css.ss.ss_ScanTupleSlot;
	int nchild = node->spec->nchild;

	ExecClearTuple(scan);
	slot_getallattrs(row);
	memcpy(scan->tts_values, row->tts_values, nchild * sizeof(Datum));
	memcpy(scan->tts_isnull, row->tts_isnull, nchild * sizeof(bool));
}

/* The functions' values into the scan tuple. */
static void
put_values(WindowScanState *node)
{
	TupleTableSlot *scan = node->css.ss.ss_ScanTupleSlot;
	int at = node->spec->nchild;

	for (int i = 0; i < node->nfunctions; i++)
	{
		scan->tts_values[at + i] = node->functions[i].value;
		scan->tts_isnull[at + i] = node->functions[i].isnull;
	}
}

/* The scan tuple as the row that the plan asks for. */
static TupleTableSlot *
project(WindowScanState *node)
{
	ScanState *ss = &node->css.ss;

	ExecStoreVirtualTuple(ss->ss_ScanTupleSlot);
	if (ss->ps.ps_ProjInfo == NULL)
		return ss->ss_ScanTupleSlot;
	ss->ps.ps_ExprContext->ecxt_scantuple = ss->ss_ScanTupleSlot;
	return ExecProject(ss->ps.ps_ProjInfo);
}

void
gpuagg_window_prepare_arguments(WindowScanState *node)
{
	if (!node->has_expressions)
		return;
	copy_columns(node, node->row);
	ExecStoreVirtualTuple(node->css.ss.ss_ScanTupleSlot);
	node->css.ss.ps.ps_ExprContext->ecxt_scantuple = node->css.ss.ss_ScanTupleSlot;
}

/* Adds node->row to a function's state. */
static inline void
take(WindowScanState *node, WindowFunctionState *function)
{
	Datum value;

	if (gpuagg_window_argument(node, function, &value))
		gpuagg_running_take(function->op, function->state, value);
}

static TupleTableSlot *
by_single_row(WindowScanState *node)
{
	ScanState *ss = &node->css.ss;
	MemoryContext old;

	if (!gpuagg_window_next(node))
		return NULL;
	if (gpuagg_window_begin_batches(node))
		return NULL;
	if (node->new_partition)
		gpuagg_window_functions_clear(node);

	old = MemoryContextSwitchTo(ss->ps.ps_ExprContext->ecxt_per_tuple_memory);
	gpuagg_window_prepare_arguments(node);
	for (int i = 0; i < node->nfunctions; i++)
	{
		WindowFunctionState *function = &node->functions[i];

		if (!function->exclusive)
			take(node, function);
		function->value = gpuagg_running_value(function->op, function->state, &function->isnull);
		if (!function->exclusive)
			continue;
		if (function->op->result_length != 0 && !function->isnull)
			function->value = datumCopy(function->value, false, function->op->result_length);
		take(node, function); /* which may free what the value was */
	}
	copy_columns(node, node->row);
	put_values(node);
	MemoryContextSwitchTo(old);
	node->have_row = false;
	count_row(node);
	return project(node);
}

/* The open group has ended: its rows are ready, with the values they have. */
static void
close_group(WindowScanState *node)
{
	MemoryContext old;

	MemoryContextReset(node->group_context);
	old = MemoryContextSwitchTo(node->group_context);
	for (int i = 0; i < node->nfunctions; i++)
	{
		WindowFunctionState *function = &node->functions[i];

		function->value = gpuagg_running_value(function->op, function->state, &function->isnull);
	}
	MemoryContextSwitchTo(old);
	node->ready = node->pending;
	node->pending = 0;
}

/*
 * Holds node->row's values; false when there is no room, or where what they refer
 * to would not last.
 */
static bool
hold_row(WindowScanState *node)
{
	int nchild = node->spec->nchild;
	int at = node->nheld;

	if (at == HELD_ROWS || at != node->pending)
		return false;
	if (!node->all_by_value && !(node->sorted && gpuagg_row_sort_in_memory(node->sort)))
		return false;
	slot_getallattrs(node->row);
	memcpy(node->held_values + at * nchild, node->row->tts_values, nchild * sizeof(Datum));
	memcpy(node->held_isnull + at * nchild, node->row->tts_isnull, nchild * sizeof(bool));
	node->nheld++;
	return true;
}

/* Puts a held row's values into a slot that has all columns of the child's rows. */
static void
copy_held(WindowScanState *node, int at, TupleTableSlot *slot)
{
	int nchild = node->spec->nchild;

	ExecClearTuple(slot);
	memcpy(slot->tts_values, node->held_values + at * nchild, nchild * sizeof(Datum));
	memcpy(slot->tts_isnull, node->held_isnull + at * nchild, nchild * sizeof(bool));
}

void
gpuagg_window_store_held(WindowScanState *node)
{
	for (int i = 0; i < node->nheld; i++)
	{
		copy_held(node, i, node->held_row);
		gpuagg_row_store_append(node->rows, ExecStoreVirtualTuple(node->held_row));
	}
	node->nheld = 0;
}

/* Takes node->row into the open group. */
static void
take_pending(WindowScanState *node)
{
	MemoryContext old;

	if (!hold_row(node))
	{
		gpuagg_window_store_held(node);
		gpuagg_row_store_append(node->rows, node->row);
	}
	old = MemoryContextSwitchTo(node->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	gpuagg_window_prepare_arguments(node);
	for (int i = 0; i < node->nfunctions; i++)
		take(node, &node->functions[i]);
	MemoryContextSwitchTo(old);
	node->pending++;
	node->have_row = false;
	count_row(node);
}

static TupleTableSlot *
by_group(WindowScanState *node)
{
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (!gpuagg_window_next(node) || (node->new_group && node->pending > 0))
		{
			if (node->pending == 0)
				return NULL;
			close_group(node);
			return gpuagg_window_emit_stored(node);
		}
		if (gpuagg_window_begin_batches(node))
			return NULL;
		if (node->new_partition)
			gpuagg_window_functions_clear(node);
		take_pending(node);
	}
}

TupleTableSlot *
gpuagg_window_emit_stored(WindowScanState *node)
{
	ResetExprContext(node->css.ss.ps.ps_ExprContext);
	if (node->held_at < node->nheld)
		copy_held(node, node->held_at++, node->css.ss.ss_ScanTupleSlot);
	else
	{
		gpuagg_row_store_fetch(node->rows, node->stored);
		copy_columns(node, node->stored);
	}
	if (node->held_at == node->nheld)
		node->nheld = node->held_at = 0;
	node->ready--;
	put_values(node);
	return project(node);
}

TupleTableSlot *
gpuagg_window_by_row(WindowScanState *node)
{
	if (node->ready > 0)
		return gpuagg_window_emit_stored(node);
	return node->spec->frame == WINDOW_ROWS ? by_single_row(node) : by_group(node);
}
