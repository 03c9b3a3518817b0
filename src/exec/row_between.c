/*
 * row_between.c
 *	  Columns that a subquery computes of a window's, by vectors, for a reader of its rows.
 */
#include "compat.h"

#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "port/pg_bitutils.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

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

/* What evaluates an expression over a row; adds to the columns that are needed. */
static BetweenExpr
make_expr(const RowBetween *between, Expr *expr)
{
	BetweenExpr made = {.state = ExecInitExpr(expr, between->window)};
	Bitmapset *attributes = NULL;
	int member = -1;

	get_typlenbyval(exprType((const Node *) expr), &made.length, &made.by_value);
	pull_varattnos((Node *) expr, INDEX_VAR, &attributes);
	made.columns = palloc((bms_num_members(attributes) + 1) * sizeof(int));
	while ((member = bms_next_member(attributes, member)) >= 0)
	{
		int attno = member + FirstLowInvalidHeapAttributeNumber;

		if (attno <= 0)
			continue;
		made.columns[made.ncolumns++] = attno - 1;
		between->needed[attno - 1] = true;
	}
	return made;
}

static void
make_exprs(RowBetween *between, int n, const bool *computed)
{
	const ScanState *scan = &((CustomScanState *) between->window)->ss;
	const List *rows = between->of->compiler->rows;
	ListCell *cell;

	between->econtext = CreateExprContext(between->window->state);
	between->slot = MakeSingleTupleTableSlot(scan->ss_ScanTupleSlot->tts_tupleDescriptor,
											 &TTSOpsVirtual);
	between->needed = palloc0((between->of->nscan + 1) * sizeof(bool));
	between->exprs = palloc0((n + 1) * sizeof(BetweenExpr));
	for (int i = 0; i < n; i++)
		if (computed[i])
			between->exprs[i] = make_expr(between, between->of->exprs[i]);
	between->rows = palloc0((list_length(rows) + 1) * sizeof(BetweenExpr));
	foreach (cell, rows)
		between->rows[foreach_current_index(cell)] = make_expr(between, lfirst(cell));
}

/* Whether all that is evaluated row by row has values of a few bytes, of which there are many. */
static bool
has_small_rows(const VectorCompiler *compiler)
{
	ListCell *cell;

	foreach (cell, compiler->rows)
	{
		Oid type = exprType(lfirst(cell));

		if (type != NUMERICOID && get_typlen(type) < 0)
			return false;
	}
	return true;
}

/* A value of a row of the window's current vector, in the current memory context. */
static Datum
evaluate(RowBetween *between, const BetweenExpr *expr, int row, bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(between->econtext->ecxt_per_tuple_memory);
	TupleTableSlot *slot = between->slot;
	Datum value;

	CHECK_FOR_INTERRUPTS();
	ExecStoreAllNullTuple(slot);
	for (int i = 0; i < expr->ncolumns; i++)
	{
		int column = expr->columns[i];

		slot->tts_values[column] = gpuagg_window_vectors_datum(between->window, column, row,
															   &slot->tts_isnull[column]);
	}
	between->econtext->ecxt_scantuple = slot;
	value = ExecEvalExpr(expr->state, between->econtext, isnull);
	MemoryContextSwitchTo(old);
	if (!*isnull && !expr->by_value)
		value = datumCopy(value, false, expr->length);
	ResetExprContext(between->econtext);
	return value;
}

static void
evaluate_rows(void *owner, int number, const uint64 *wanted, GpuaggVector *out)
{
	RowBetween *between = owner;
	const VectorCompiler *compiler = between->of->compiler;
	Oid type = exprType(list_nth(compiler->rows, number));

	for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
		for (uint64 left = wanted[w]; left != 0; left &= left - 1)
		{
			int row = w * 64 + pg_rightmost_one_pos64(left);
			bool isnull;
			Datum value = evaluate(between, &between->rows[number], row, &isnull);

			if (gpuagg_vector_store(out, &compiler->row_values[number], type, row, value, isnull))
				continue;
			between->runner->flagged[w] |= left & -left;
			between->runner->any_flagged = true;
		}
}

RowBetween *
gpuagg_row_between_make(PlanState *plan, PlanState *window, int n, const int *columns,
						const int32 *typmods, const bool *computed)
{
	RowBetween *between = palloc0(sizeof(RowBetween));

	between->of = gpuagg_window_between_make(plan, window, n, columns, typmods, NULL, computed);
	if (between->of == NULL || !has_small_rows(between->of->compiler))
		return NULL;
	between->window = window;
	between->runner = gpuagg_compiled_runner(&between->of->compiler->program);
	between->runner->row = evaluate_rows;
	between->runner->owner = between;
	between->parameters = gpuagg_compiled_states(between->of->compiler, window);
	make_inputs(between);
	make_exprs(between, n, computed);
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

static void
run(const RowBetween *between, int n)
{
	(void) gpuagg_vector_run_filter(between->runner, n);
	gpuagg_vector_run_values(between->runner);
}

/* The same; false: there is an error, which need not be that of the first row that has one. */
static bool
try_run(const RowBetween *between, int n)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool done = false;

	PG_TRY();
	{
		run(between, n);
		done = true;
	}
	PG_CATCH();
	{
		FreeErrorData(gpuagg_compiled_catch(context));
	}
	PG_END_TRY();
	return done;
}

void
gpuagg_row_between_run(RowBetween *between, int n, uint64 *flagged, bool *any_flagged)
{
	const GpuaggVectorRunner *runner = between->runner;
	bool done = !*any_flagged && !between->by_row;

	if (done && between->of->compiler->rows == NIL)
		run(between, n);
	else if (done)
		done = try_run(between, n);
	if (!done)
	{
		/* all of them are looked at then */
		gpuagg_vector_all(flagged, n);
		*any_flagged = true;
		return;
	}
	memcpy(flagged, runner->flagged, sizeof(runner->flagged));
	*any_flagged = runner->any_flagged;
}

Datum
gpuagg_row_between_evaluate(RowBetween *between, int column, int row, bool *isnull)
{
	return evaluate(between, &between->exprs[column], row, isnull);
}
