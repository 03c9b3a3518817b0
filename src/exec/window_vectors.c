/*
 * window_vectors.c
 *	  The rows of a GpuWindow node as vectors, for a node above that computes with them.
 */
#include "compat.h"

#include "miscadmin.h"

#include "exec/window_groups.h"
#include "exec/window_vectors.h"

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

	if (p->groups != NULL)
		return gpuagg_window_groups_next(node);
	CHECK_FOR_INTERRUPTS();
	if ((p->current == NULL || p->next_row == p->current->nrows) &&
		!gpuagg_window_pipeline_advance(node))
		return 0;
	n = (int) Min(p->current->nrows - p->next_row, GPUAGG_VECTOR_ROWS);
	p->first_given = p->next_row;
	p->next_emitted = p->next_row += n;
	node->waiting.nemitted += n;
	return n;
}

Datum
gpuagg_window_vectors_datum(PlanState *ps, int column, int row, bool *isnull)
{
	WindowScanState *node = (WindowScanState *) ps;
	WindowPipeline *p = node->pipeline;
	int64 i = p->first_given + row;
	Size place = gpuagg_window_place(node, i, column);
	int f = column - node->spec->nchild;

	if (p->groups != NULL)
		return gpuagg_window_groups_datum(node, column, row, isnull);
	if (f >= 0 && !p->current->columns[f].has_values)
		return gpuagg_window_function_result(node, f, i, isnull);
	*isnull = p->current->isnull[place];
	return p->current->values[place];
}

const GpuaggInt128 *
gpuagg_window_vectors_sums(PlanState *ps, int column, int *scale, const uint8 **status)
{
	WindowScanState *node = (WindowScanState *) ps;
	WindowPipeline *p = node->pipeline;
	int f = column - node->spec->nchild;
	const Flight *flight;

	*scale = f < 0 ? -1 : gpuagg_window_sums_scale(node, f);
	if (*scale < 0)
		return NULL;
	if (p->groups != NULL)
		return gpuagg_window_groups_sums(node, f, status);
	flight = &p->current->columns[f].scan->flight;
	*status = flight->status + p->first_given;
	return (const GpuaggInt128 *) flight->results + p->first_given;
}
