/*
 * window_stack.c
 *	  Nodes GpuWindow one above the other, whose functions the device computes together.
 */
#include "compat.h"

#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"

#include "exec/window_source.h"
#include "exec/window_stack.h"
#include "exec/window_table.h"

/* The node right below another one, or NULL. */
static WindowScanState *
node_below(const WindowScanState *node)
{
	PlanState *child = node->input.child;

	return gpuagg_window_source_node(child) == child ? (WindowScanState *) child : NULL;
}

/* Whether a lower node's rows are all there, and columns of its scan tuple. */
static bool
passes_columns(const WindowScanState *node)
{
	return node->columns != NULL && node->spec->nabove == 0;
}

bool
gpuagg_window_may_raise(const WindowScanState *node)
{
	for (int f = 0; f < node->nfunctions; f++)
		if (gpuagg_running_may_raise(node->functions[f].op))
			return true;
	return false;
}

const char *
gpuagg_window_stack_find(WindowScanState *top, WindowStack *stack)
{
	WindowScanState *nodes[GPUAGG_WINDOW_ORDERS];
	int n = 0;

	for (WindowScanState *node = top; node != NULL; node = node_below(node))
	{
		if (n == GPUAGG_WINDOW_ORDERS)
			return "there are too many windows";
		if (node->run.condition != NULL || node->css.ss.ps.qual != NULL)
			return "the window ends early";
		if (node != top && !passes_columns(node))
			return "columns of a window below are computed";
		/* which comes before the first row of what is above */
		if (node != top && gpuagg_window_may_raise(node))
			return "a function of a window below may raise an error";
		nodes[n++] = node;
	}
	*stack = (WindowStack){.n = n, .child = nodes[n - 1]->input.child};
	for (int i = 0; i < n; i++)
	{
		stack->nodes[i] = nodes[n - 1 - i];
		stack->first_function[i] = stack->nfunctions;
		stack->nfunctions += stack->nodes[i]->spec->nfunctions;
	}
	return NULL;
}

PlanState *
gpuagg_window_stack_child(const WindowScanState *top)
{
	const WindowScanState *below;

	while ((below = node_below(top)) != NULL)
		top = below;
	return top->input.child;
}

bool
gpuagg_window_stack_is_sorted(const WindowScanState *top)
{
	for (; top != NULL; top = node_below(top))
		if (top->input.sorted)
			return true;
	return false;
}

/* The column of a node's scan tuple that a column of its rows is. */
static int
scan_column(const WindowScanState *node, int column)
{
	const TargetEntry *entry = list_nth(node->css.ss.ps.plan->targetlist, column);

	return ((const Var *) entry->expr)->varattno - 1;
}

WindowOrigin
gpuagg_window_stack_origin(const WindowStack *stack, int scan)
{
	for (int i = stack->n - 1;; i--)
	{
		int nchild = stack->nodes[i]->spec->nchild;

		if (scan >= nchild)
			return (WindowOrigin){-1, stack->first_function[i] + scan - nchild};
		if (i == 0)
			return (WindowOrigin){scan, -1};
		scan = scan_column(stack->nodes[i - 1], scan);
	}
}

WindowFunctionState *
gpuagg_window_stack_function(const WindowStack *stack, int f, int *node)
{
	int i = stack->n - 1;

	while (stack->first_function[i] > f)
		i--;
	*node = i;
	return &stack->nodes[i]->functions[f - stack->first_function[i]];
}

void
gpuagg_window_stack_targets(const WindowStack *stack, PlanState *plan, List **targets)
{
	targets[0] = gpuagg_window_table_targets(stack->child, plan);
	for (int i = 1; i < stack->n; i++)
	{
		const WindowScanState *below = stack->nodes[i - 1];
		ListCell *cell;

		targets[i] = NIL;
		foreach (cell, below->css.ss.ps.plan->targetlist)
		{
			TargetEntry *entry = flatCopyTargetEntry(lfirst(cell));
			int scan = scan_column(below, foreach_current_index(cell));

			entry->expr = scan < below->spec->nchild
							  ? ((const TargetEntry *) list_nth(targets[i - 1], scan))->expr
							  : NULL;
			targets[i] = lappend(targets[i], entry);
		}
	}
}

bool
gpuagg_window_stack_reads_table(const List *targets, const Node *expr)
{
	ListCell *cell;

	foreach (cell, pull_var_clause(unconstify(Node *, expr), 0))
	{
		const Var *var = lfirst(cell);

		if (IS_SPECIAL_VARNO(var->varno) &&
			(var->varattno <= 0 || var->varattno > list_length(targets) ||
			 ((const TargetEntry *) list_nth(targets, var->varattno - 1))->expr == NULL))
			return false;
	}
	return true;
}

void
gpuagg_window_stack_begin(const WindowStack *stack)
{
	for (int i = stack->n - 2; i >= 0; i--)
	{
		PlanState *node = &stack->nodes[i]->css.ss.ps;

		if (node->chgParam != NULL)
		{
			MemoryContext old = MemoryContextSwitchTo(node->state->es_query_cxt);

			ExecReScan(node);
			MemoryContextSwitchTo(old);
		}
		gpuagg_window_prepare(stack->nodes[i]);
	}
}

void
gpuagg_window_stack_end(const WindowStack *stack, int64 nrows)
{
	for (int i = 0; i < stack->n - 1; i++)
	{
		Instrumentation *instrument = stack->nodes[i]->css.ss.ps.instrument;

		stack->nodes[i]->work.with_window = true;
		if (instrument == NULL)
			continue;
		InstrStartNode(instrument);
		InstrStopNode(instrument, (double) nrows);
	}
}
