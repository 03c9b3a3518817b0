/*
 * window_bounds.c
 *	  Rows of a GpuWindow node that conditions above it would drop.
 *
 * They are dropped where nobody could notice: all functions have scans, which are computed for all
 * rows in any case, columns of the result are columns or constants (such as the planner leaves for
 * columns that nobody reads), and no value of a row is an error.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"

#include "exec/window_pipeline.h"

/* Whether no column of the result is computed. */
static bool
has_plain_result(const List *targets)
{
	ListCell *cell;

	foreach (cell, targets)
	{
		const Node *expr = (const Node *) ((TargetEntry *) lfirst(cell))->expr;

		if (!IsA(expr, Var) && !IsA(expr, Const))
			return false;
	}
	return true;
}

void
gpuagg_window_bounds_init(WindowScanState *node)
{
	const WindowSpec *spec = node->spec;
	const CustomScan *plan = (const CustomScan *) node->css.ss.ps.plan;
	int first = list_length(plan->custom_exprs) - spec->nabove;

	node->bounds = palloc0(Max(spec->nabove, 1) * sizeof(WindowBound));
	for (int i = 0; i < spec->nabove; i++)
	{
		Expr *constant = list_nth(plan->custom_exprs, first + i);

		node->bounds[i].type = exprType((Node *) constant);
		node->bounds[i].constant = ExecInitExpr(constant, &node->css.ss.ps);
	}
}

/* A function's operation, of these if there are any. */
static const RunningOperation *
op_of(const WindowScanState *node, const RunningOperation *const *ops, int f)
{
	return ops != NULL ? ops[f] : node->functions[f].op;
}

/* Whether nobody notices if rows are dropped. */
static bool
can_drop(const WindowScanState *node, const RunningOperation *const *ops)
{
	for (int f = 0; f < node->nfunctions; f++)
	{
		const RunningOperation *op = op_of(node, ops, f);

		if (op->kind == 0 || gpuagg_running_may_raise(op))
			return false;
	}
	return has_plain_result(node->css.ss.ps.plan->targetlist) && node->run.condition == NULL;
}

/* Whether the bound can be compared to scans' values. */
static bool
is_known(const WindowScanState *node, const RunningOperation *const *ops, int i)
{
	int f = node->spec->above[i].function;

	/* numbers of rows are their scans' values under a ROWS frame alone */
	return (node->spec->frame == WINDOW_ROWS || node->functions[f].number == WINDOW_AGGREGATE) &&
		   gpuagg_running_bound_exists(op_of(node, ops, f), node->bounds[i].type);
}

void
gpuagg_window_bounds_begin(WindowScanState *node, const RunningOperation *const *ops)
{
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	bool drops = can_drop(node, ops);

	node->nbounds = 0;
	for (int i = 0; i < node->spec->nabove; i++)
	{
		const WindowAbove *above = &node->spec->above[i];
		WindowBound *bound = &node->bounds[i];
		bool isnull;
		MemoryContext old;
		Datum value;

		bound->known = false;
		if (!drops || !is_known(node, ops, i))
			continue;
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		value = ExecEvalExpr(bound->constant, econtext, &isnull);
		bound->known = !isnull &&
					   gpuagg_running_bound_make(op_of(node, ops, above->function), above->strategy,
												 bound->type, value, &bound->bound);
		MemoryContextSwitchTo(old);
		node->nbounds += bound->known;
	}
}

void
gpuagg_window_bounds_drop(WindowScanState *node, WindowRows *rows)
{
	memset(rows->dropped, 0, (rows->nrows + 63) / 64 * sizeof(uint64));
	for (int i = 0; i < node->spec->nabove; i++)
	{
		int f = node->spec->above[i].function;
		const WindowFunctionColumn *column = &rows->columns[f];
		const Flight *flight = &column->scan->flight;

		if (node->bounds[i].known)
			gpuagg_running_bound_drop(node->functions[f].op, &node->bounds[i].bound,
									  flight->results, flight->status, column->counts, rows->nrows,
									  rows->dropped);
	}
	for (int f = 0; f < node->nfunctions; f++)
	{
		const uint8 *status = rows->columns[f].scan->flight.status;

		if (memchr(status, GPUAGG_ROW_OVERFLOW, rows->nrows) == NULL)
			continue;
		for (int64 i = 0; i < rows->nrows; i++)
			if (status[i] == GPUAGG_ROW_OVERFLOW)
				rows->dropped[i / 64] &= ~(UINT64CONST(1) << i % 64);
	}
}
