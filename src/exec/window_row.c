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
	node->work.report.rows[ENGINE_CPU] += rows;
	node->work.report.bytes[ENGINE_CPU] += bytes;
}

void
gpuagg_window_count_rows(WindowScanState *node)
{
	for (int i = 0; i < node->nfunctions; i++)
		gpuagg_window_count_direct(node, &node->functions[i], node->work.uncounted);
	node->work.uncounted = 0;
}

void
gpuagg_window_report_since(WorkReport *report, const WorkReport *before)
{
	const WorkReport *now = gpuagg_stat_last();

	for (int r = 0; r < GPUAGG_NREASONS; r++)
		report->fallbacks[r] += now->fallbacks[r] - before->fallbacks[r];
}

/* Marks the input's row as taken. */
static void
end_row(WindowScanState *node)
{
	node->input.row = NULL;
	if (++node->work.uncounted >= COUNT_ROWS)
		gpuagg_window_count_rows(node);
}

/* Puts the input's row where arguments that are expressions read it. */
static void
prepare_arguments(WindowScanState *node)
{
	gpuagg_window_copy_columns(node, node->input.row);
	gpuagg_window_show(node, node->values, node->isnull);
}

/* The function's argument at the input's row, which is prepared; false when it is NULL. */
static inline bool
argument(WindowScanState *node, WindowFunctionState *function, Datum *value)
{
	const TupleTableSlot *row = node->input.row;
	bool isnull;

	*value = (Datum) 0;
	if (function->attno > 0)
	{
		*value = row->tts_values[function->attno - 1];
		return !row->tts_isnull[function->attno - 1];
	}
	if (function->every_row)
		return true;
	*value = ExecEvalExpr(function->argument, node->css.ss.ps.ps_ExprContext, &isnull);
	return !isnull;
}

static TupleTableSlot *
next_single(WindowScanState *node)
{
	MemoryContext old;

	if (!gpuagg_window_input_next(&node->input))
		return NULL;
	if (node->input.new_partition)
	{
		gpuagg_window_functions_clear(node, false);
		gpuagg_window_begin_partition(node);
	}

	MemoryContextReset(node->group_context);
	old = MemoryContextSwitchTo(node->group_context);
	prepare_arguments(node);
	for (int f = 0; f < node->nfunctions; f++)
	{
		Datum value;
		bool isnull;

		if (node->run.passing)
		{
			gpuagg_window_function_pass(&node->functions[f]);
			continue;
		}
		isnull = !argument(node, &node->functions[f], &value);
		gpuagg_window_function_step(&node->functions[f], value, isnull);
	}
	MemoryContextSwitchTo(old);
	end_row(node);
	return gpuagg_window_emit(node, node->values, node->isnull);
}

/* Takes the input's row into the open group. */
static void
take_row(WindowScanState *node)
{
	MemoryContext old;

	if (!node->input.keeps_rows)
		gpuagg_row_store_append(node->waiting.store, node->input.row);
	old = MemoryContextSwitchTo(node->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	if (node->has_expressions)
		prepare_arguments(node);
	for (int f = 0; f < node->nfunctions && !node->run.passing; f++)
	{
		WindowFunctionState *function = &node->functions[f];
		Datum value;

		if (argument(node, function, &value))
			gpuagg_running_take(function->op, function->state, value);
	}
	MemoryContextSwitchTo(old);
	node->waiting.pending++;
	end_row(node);
}

static TupleTableSlot *
next_of_group(WindowScanState *node)
{
	WindowInput *input = &node->input;
	WindowWaitingRows *waiting = &node->waiting;

	while (waiting->ready == 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (!gpuagg_window_input_next(input) || (input->new_group && waiting->pending > 0))
		{
			if (waiting->pending == 0)
				return NULL;
			gpuagg_window_close_group(node, -1);
			break;
		}
		if (input->new_partition)
		{
			gpuagg_window_functions_clear(node, false);
			gpuagg_window_begin_partition(node);
		}
		take_row(node);
	}
	return gpuagg_window_emit_ready(node);
}

TupleTableSlot *
gpuagg_window_next_by_row(WindowScanState *node)
{
	return node->spec->frame == WINDOW_ROWS ? next_single(node) : next_of_group(node);
}
