/*
 * window_vectors.c
 *	  The rows of a GpuWindow node as vectors, for a node above that computes with them.
 */
#include "compat.h"

#include "miscadmin.h"

#include "exec/window_groups.h"
#include "exec/window_vectors.h"
#include "types/decimal.h"

bool
gpuagg_window_vectors_begin(PlanState *ps, const bool *needed)
{
	WindowScanState *node = (WindowScanState *) ps;

	if (ps->chgParam != NULL)
		ExecReScan(ps);
	Assert(!node->begun);
	gpuagg_window_begin(node);
	if (node->pipeline == NULL || node->run.condition != NULL || ps->qual != NULL ||
		node->pipeline->nscans < node->nfunctions)
		return false;
	if (node->spec->sort)
		gpuagg_window_pipeline_keep_integers(node);
	if (node->spec->frame == WINDOW_ROWS)
		node->pipeline->needed = needed;
	else
		gpuagg_window_groups_begin(node, needed);
	/* what is above looks at all rows */
	node->nbounds = 0;
	return true;
}

int
gpuagg_window_vectors_next(PlanState *ps)
{
	WindowScanState *node = (WindowScanState *) ps;
	WindowPipeline *p = node->pipeline;
	int n;

	CHECK_FOR_INTERRUPTS();
	if (p->groups != NULL)
		return p->ngiven = gpuagg_window_groups_next(node);
	if ((p->current == NULL || p->next_row == p->current->nrows) &&
		!gpuagg_window_pipeline_advance(node))
		return 0;
	n = (int) Min(p->current->nrows - p->next_row, GPUAGG_VECTOR_ROWS);
	p->first_given = p->next_row;
	p->ngiven = n;
	p->next_emitted = p->next_row += n;
	node->waiting.nemitted += n;
	return n;
}

/* A child's value of a row; of integers the numeric. */
static Datum
child_value(const WindowScanState *node, int column, Datum value, bool isnull)
{
	int scale = gpuagg_window_pipeline_scale(node, column);

	if (scale < 0 || isnull)
		return value;
	return NumericGetDatum(
		gpuagg_decimal_to_numeric(*(const GpuaggInt128 *) DatumGetPointer(value), scale));
}

bool
gpuagg_window_vectors_column(PlanState *ps, int column, WindowVectorColumn *ready)
{
	const WindowScanState *node = (const WindowScanState *) ps;
	const WindowPipeline *p = node->pipeline;
	int f = column - node->spec->nchild;
	Size place;

	if (p->groups != NULL || (f < 0 ? gpuagg_window_pipeline_scale(node, column) >= 0
									: !p->current->columns[f].has_values))
		return false;
	place = gpuagg_window_place(node, p->first_given, column);
	*ready = (WindowVectorColumn){p->current->values + place, p->current->isnull + place,
								  p->stride};
	return true;
}

Datum
gpuagg_window_vectors_datum(PlanState *ps, int column, int row, bool *isnull)
{
	WindowScanState *node = (WindowScanState *) ps;
	WindowPipeline *p = node->pipeline;
	int64 i = p->first_given + row;
	int f = column - node->spec->nchild;
	WindowVectorColumn ready;
	Datum value;

	if (gpuagg_window_vectors_column(ps, column, &ready))
	{
		*isnull = ready.isnull[row * ready.stride];
		return ready.values[row * ready.stride];
	}
	if (f >= 0)
		return p->groups != NULL ? gpuagg_window_groups_result(node, f, row, isnull)
								 : gpuagg_window_function_result(node, f, i, isnull);
	if (p->groups != NULL)
		value = gpuagg_window_groups_column(node, column, row, isnull);
	else
	{
		Size place = gpuagg_window_place(node, i, column);

		*isnull = p->current->isnull[place];
		value = p->current->values[place];
	}
	return child_value(node, column, value, *isnull);
}

/* Of a column of windows below. */
static void
child_integers(const WindowScanState *node, int column, GpuaggInt128 *values, uint64 *valid)
{
	const WindowPipeline *p = node->pipeline;

	for (int row = 0; row < p->ngiven; row++)
	{
		Size place = gpuagg_window_place(node, p->first_given + row, column);
		bool isnull = p->groups == NULL && p->current->isnull[place];
		Datum value = p->groups != NULL ? gpuagg_window_groups_column(node, column, row, &isnull)
										: p->current->values[place];

		if (isnull)
			continue;
		values[row] = *(const GpuaggInt128 *) DatumGetPointer(value);
		valid[row / 64] |= UINT64CONST(1) << row % 64;
	}
}

bool
gpuagg_window_vectors_integers(PlanState *ps, int column, int scale, GpuaggInt128 *values,
							   uint64 *valid)
{
	const WindowScanState *node = (const WindowScanState *) ps;
	const WindowPipeline *p = node->pipeline;
	int f = column - node->spec->nchild;
	const Flight *flight;

	if (scale != (f < 0 ? gpuagg_window_pipeline_scale(node, column)
						: gpuagg_running_sums_scale(node->functions[f].op)))
		return false;
	if (f < 0)
		child_integers(node, column, values, valid);
	else if (p->groups != NULL)
		gpuagg_window_groups_integers(node, f, values, valid);
	else
	{
		flight = &p->current->columns[f].scan->flight;
		memcpy(values, (const GpuaggInt128 *) flight->results + p->first_given,
			   p->ngiven * sizeof(GpuaggInt128));
		for (int i = 0; i < p->ngiven; i += 64)
			for (int row = i; row < Min(i + 64, p->ngiven); row++)
				valid[i / 64] |= (uint64) (flight->status[p->first_given + row] == GPUAGG_ROW_VALUE)
								 << (row - i);
	}
	return true;
}

/* The sum and the number of values that a row's average is made of; false: it has none. */
static bool
find_sum(const WindowScanState *node, int f, int row, GpuaggInt128 *sum, int64 *n)
{
	const WindowPipeline *p = node->pipeline;
	int64 i = p->groups != NULL ? gpuagg_window_groups_place(node, row) : p->first_given + row;
	const WindowFunctionColumn *column;

	if (i < 0)
	{
		memcpy(sum, p->last[f].result, sizeof(GpuaggInt128));
		*n = p->last[f].count;
		return p->last[f].status == GPUAGG_ROW_VALUE;
	}
	column = &p->current->columns[f];
	*sum = ((const GpuaggInt128 *) column->scan->flight.results)[i];
	*n = column->counts[i];
	return column->scan->flight.status[i] == GPUAGG_ROW_VALUE;
}

bool
gpuagg_window_vectors_averages(PlanState *ps, int column, int scale, GpuaggInt128 *values,
							   uint64 *valid, uint64 *failed)
{
	const WindowScanState *node = (const WindowScanState *) ps;
	int f = column - node->spec->nchild;

	if (f < 0 || !gpuagg_running_averages_numerics(node->functions[f].op))
		return false;
	for (int row = 0; row < node->pipeline->ngiven; row++)
	{
		uint64 bit = UINT64CONST(1) << row % 64;
		GpuaggInt128 sum;
		int64 n;

		if (!find_sum(node, f, row, &sum, &n))
			continue;
		if (gpuagg_running_average(node->functions[f].op, sum, n, scale, &values[row]))
			valid[row / 64] |= bit;
		else
			failed[row / 64] |= bit;
	}
	return true;
}
