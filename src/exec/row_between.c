/*
 * row_between.c
 *	  Columns that a subquery computes of a window's, by vectors, for a reader of its rows.
 */
#include "compat.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"

#include "exec/compiled.h"
#include "exec/row_between.h"
#include "exec/window_vectors.h"

static void
make_inputs(RowBetween *between)
{
	const GpuaggVectorProgram *program = &between->of->compiler->program;

	between->inputs = palloc0((program->ncolumns + 1) * sizeof(GpuaggVector));
	for (uint32 i = 0; i < program->ncolumns; i++)
		between->inputs[i] = gpuagg_compiled_vector((GpuaggVectorType) program->columns[i]);
}

/* What evaluates a row. */
static void
make_states(RowBetween *between, int n, const bool *computed)
{
	const ScanState *scan = &((CustomScanState *) between->window)->ss;
	Bitmapset *attributes = NULL;
	int member = -1;

	between->econtext = CreateExprContext(between->window->state);
	between->slot = MakeSingleTupleTableSlot(scan->ss_ScanTupleSlot->tts_tupleDescriptor,
											 &TTSOpsVirtual);
	between->econtext->ecxt_scantuple = between->slot;
	between->states = palloc0((n + 1) * sizeof(ExprState *));
	for (int i = 0; i < n; i++)
	{
		if (!computed[i])
			continue;
		between->states[i] = ExecInitExpr(between->of->exprs[i], between->window);
		pull_varattnos((Node *) between->of->exprs[i], INDEX_VAR, &attributes);
	}
	between->needed = palloc0((between->of->nscan + 1) * sizeof(bool));
	while ((member = bms_next_member(attributes, member)) >= 0)
	{
		int attno = member + FirstLowInvalidHeapAttributeNumber;

		if (attno > 0)
			between->needed[attno - 1] = true;
	}
}

RowBetween *
gpuagg_row_between_make(PlanState *plan, PlanState *window, int n, const int *columns,
						const int32 *typmods, const bool *computed)
{
	RowBetween *between = palloc0(sizeof(RowBetween));

	between->of = gpuagg_window_between_make(plan, window, n, columns, typmods, NULL, computed);
	if (between->of == NULL)
		return NULL;
	between->window = window;
	between->runner = gpuagg_compiled_runner(&between->of->compiler->program);
	between->parameters = gpuagg_compiled_states(between->of->compiler, window);
	make_inputs(between);
	make_states(between, n, computed);
	between->runner->columns = between->inputs;
	return between;
}

void
gpuagg_row_between_end(RowBetween *between)
{
	ExecDropSingleTupleTableSlot(between->slot);
	FreeExprContext(between->econtext, true);
}

void
gpuagg_row_between_begin(RowBetween *between)
{
	if (!between->begun)
		between->by_row = !gpuagg_compiled_parameters(between->of->compiler, between->parameters,
													  between->econtext, false, between->runner);
	between->begun = true;
}

void
gpuagg_row_between_run(RowBetween *between, int n, uint64 *flagged, bool *any_flagged)
{
	GpuaggVectorRunner *runner = between->runner;

	if (*any_flagged || between->by_row)
	{
		/* all of them are looked at then */
		gpuagg_vector_all(flagged, n);
		*any_flagged = true;
		return;
	}
	(void) gpuagg_vector_run_filter(runner, n);
	gpuagg_vector_run_values(runner);
	memcpy(flagged, runner->flagged, sizeof(runner->flagged));
	*any_flagged = runner->any_flagged;
}

Datum
gpuagg_row_between_evaluate(RowBetween *between, int column, int row, bool *isnull)
{
	TupleTableSlot *slot = between->slot;

	ExecClearTuple(slot);
	for (int i = 0; i < between->of->nscan; i++)
	{
		slot->tts_isnull[i] = true;
		slot->tts_values[i] = (Datum) 0;
		if (between->needed[i])
			slot->tts_values[i] = gpuagg_window_vectors_datum(between->window, i, row,
															  &slot->tts_isnull[i]);
	}
	ExecStoreVirtualTuple(slot);
	return ExecEvalExpr(between->states[column], between->econtext, isnull);
}
