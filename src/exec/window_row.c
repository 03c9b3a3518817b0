/*
 * window_row.c
 *	  GpuWindow row by row.
 *
 * Under a ROWS frame a row is emitted as it comes in, and nothing is kept.
 * Otherwise the rows of the open group wait until its end is known, which takes
 * one row more.
 */
#include "compat.h"

#include "miscadmin.h"

#include "exec/window_state.h"

#define COUNT_ROWS 1024 /* rows between additions to the statistics */

void
gpuagg_window_count_direct(WindowScanState *node, const WindowFunctionState *function, int64 rows)
{
	int64 bytes = rows * function->op->width;

	gpuagg_stat_direct(rows, bytes);
	node->report.rows[ENGINE_CPU] += rows;
	node->report.bytes[ENGINE_CPU] += bytes;
}

void
gpuagg_window_count_rows(WindowScanState *node)
{
	for (int i = 0; i < node->nfunctions; i++)
		gpuagg_window_count_direct(node, &node->functions[i], node->uncounted);
	node->uncounted = 0;
}

void
gpuagg_window_report_since(WindowScanState *node, const WorkReport *before)
{
	const WorkReport *now = gpuagg_stat_last();

	for (int r = 0; r < GPUAGG_NREASONS; r++)
		node->report.fallbacks[r] += now->fallbacks[r] - before->fallbacks[r];
}

static void
count_row(WindowScanState *node)
{
	node->rows_taken++;
	if (++node->uncounted >= COUNT_ROWS)
		gpuagg_window_count_rows(node);
}

void
gpuagg_window_copy_columns(WindowScanState *node, TupleTableSlot *row)
{
	slot_getallattrs(row);
	memcpy(node->values, row->tts_values, node->spec->nchild * sizeof(Datum));
	memcpy(node->isnull, row->tts_isnull, node->spec->nchild * sizeof(bool));
}

void
gpuagg_window_put_values(WindowScanState *node, Datum *values, bool *isnull)
{
	int at = node->spec->nchild;

	for (int f = 0; f < node->nfunctions; f++)
	{
		values[at + f] = node->functions[f].value;
		isnull[at + f] = node->functions[f].isnull;
	}
}

TupleTableSlot *
gpuagg_window_project(WindowScanState *node, Datum *values, bool *isnull)
{
	ScanState *ss = &node->css.ss;

	gpuagg_window_show(node, values, isnull);
	if (ss->ps.ps_ProjInfo == NULL)
		return ss->ss_ScanTupleSlot;
	ResetExprContext(ss->ps.ps_ExprContext);
	return ExecProject(ss->ps.ps_ProjInfo);
}

/* Makes what arguments are evaluated over there, of node->row. */
static void
prepare_arguments(WindowScanState *node)
{
	gpuagg_window_copy_columns(node, node->row);
	gpuagg_window_show(node, node->values, node->isnull);
}

/* The function's argument at node->row, which is prepared; false when it is NULL. */
static inline bool
argument(WindowScanState *node, WindowFunctionState *function, Datum *value)
{
	bool isnull;

	*value = (Datum) 0;
	if (function->attno > 0)
	{
		*value = node->row->tts_values[function->attno - 1];
		return !node->row->tts_isnull[function->attno - 1];
	}
	if (function->every_row)
		return true;
	*value = ExecEvalExpr(function->argument, node->css.ss.ps.ps_ExprContext, &isnull);
	return !isnull;
}

static TupleTableSlot *
by_single_row(WindowScanState *node)
{
	MemoryContext old;

	if (!gpuagg_window_next(node))
		return NULL;
	if (node->new_partition)
		gpuagg_window_functions_clear(node, false);

	MemoryContextReset(node->group_context);
	old = MemoryContextSwitchTo(node->group_context);
	prepare_arguments(node);
	for (int f = 0; f < node->nfunctions; f++)
	{
		Datum value;
		bool isnull = !argument(node, &node->functions[f], &value);

		gpuagg_window_function_step(&node->functions[f], value, isnull);
	}
	MemoryContextSwitchTo(old);
	gpuagg_window_put_values(node, node->values, node->isnull);
	node->have_row = false;
	count_row(node);
	return gpuagg_window_project(node, node->values, node->isnull);
}

/* The open group has ended: its rows are ready, with the values they have. */
static void
close_group(WindowScanState *node)
{
	MemoryContext old;

	MemoryContextReset(node->group_context);
	old = MemoryContextSwitchTo(node->group_context);
	for (int f = 0; f < node->nfunctions; f++)
	{
		WindowFunctionState *function = &node->functions[f];

		function->value = gpuagg_running_value(function->op, function->state, &function->isnull);
	}
	MemoryContextSwitchTo(old);
	node->ready = node->pending;
	node->pending = 0;
}

/* Takes node->row into the open group. */
static void
take_pending(WindowScanState *node)
{
	MemoryContext old;

	if (!node->rows_stay)
		gpuagg_row_store_append(node->rows, node->row);
	old = MemoryContextSwitchTo(node->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	if (node->has_expressions)
		prepare_arguments(node);
	for (int f = 0; f < node->nfunctions; f++)
	{
		WindowFunctionState *function = &node->functions[f];
		Datum value;

		if (argument(node, function, &value))
			gpuagg_running_take(function->op, function->state, value);
	}
	MemoryContextSwitchTo(old);
	node->pending++;
	node->have_row = false;
	count_row(node);
}

void
gpuagg_window_fetch_kept(WindowScanState *node)
{
	if (node->rows_stay)
		gpuagg_row_sort_row(node->sort, node->rows_emitted, node->stored);
	else
		gpuagg_row_store_fetch(node->rows, node->stored);
	node->rows_emitted++;
	gpuagg_window_copy_columns(node, node->stored);
}

static TupleTableSlot *
by_group(WindowScanState *node)
{
	while (node->ready == 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (!gpuagg_window_next(node) || (node->new_group && node->pending > 0))
		{
			if (node->pending == 0)
				return NULL;
			close_group(node);
			break;
		}
		if (node->new_partition)
			gpuagg_window_functions_clear(node, false);
		take_pending(node);
	}
	node->ready--;
	gpuagg_window_fetch_kept(node);
	gpuagg_window_put_values(node, node->values, node->isnull);
	return gpuagg_window_project(node, node->values, node->isnull);
}

TupleTableSlot *
gpuagg_window_by_row(WindowScanState *node)
{
	return node->spec->frame == WINDOW_ROWS ? by_single_row(node) : by_group(node);
}
