/*
 * window_call.c
 *	  The functions of a GpuWindow node: permissions, arguments and states.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "exec/function_access.h"
#include "exec/window_state.h"
#include "operation/running_frame.h"

static void
init_argument(WindowScanState *node, WindowFunctionState *function, Expr *argument)
{
	Expr **computed = &node->input.arguments[function - node->functions];

	if (IsA(argument, Var) && ((Var *) argument)->varattno <= node->spec->nchild)
		function->attno = ((Var *) argument)->varattno;
	else if (IsA(argument, Const) && ((Const *) argument)->consttype == ANYOID)
		function->every_row = true;
	else
		function->argument = ExecInitExpr(argument, &node->css.ss.ps);
	/* other functions take rows one by one */
	if ((function->argument != NULL && function->plain->kind != 0) ||
		(function->plain->kind == 0 && exprType((Node *) argument) == NUMERICOID))
		*computed = argument;
}

void
gpuagg_window_functions_init(WindowScanState *node)
{
	CustomScan *plan = (CustomScan *) node->css.ss.ps.plan;
	WindowSpec *spec = node->spec;

	node->nfunctions = spec->nfunctions;
	node->functions = palloc0(spec->nfunctions * sizeof(WindowFunctionState));
	for (int i = 0; i < spec->nfunctions; i++)
	{
		WindowFunctionState *function = &node->functions[i];
		Expr *argument = list_nth(plan->custom_exprs, 2 * i);
		Expr *exclusive = list_nth(plan->custom_exprs, 2 * i + 1);
		int16 length;
		bool by_value;

		gpuagg_check_function_access(spec->functions[i].winfnoid, OBJECT_FUNCTION);
		function->plain = gpuagg_running_operation(spec->functions[i].aggregate,
												   spec->functions[i].type);
		function->number = spec->functions[i].value;
		get_typlenbyval(exprType((Node *) argument), &length, &by_value);
		function->argument_length = by_value ? 0 : length;
		init_argument(node, function, argument);
		function->exclusive_argument = ExecInitExpr(exclusive, &node->css.ss.ps);
		node->input.is_checked[i] = !gpuagg_running_can_read_ahead((Node *) argument);
	}
	gpuagg_window_functions_settle(node);
}

/* Sets the operation for the arguments that come, and its state. */
static void
choose_operation(WindowFunctionState *function, int scale, bool wide)
{
	if (function->op != NULL && function->op->scale == scale && function->op->wide == wide)
		return;
	if (scale < 0)
		function->op = function->plain;
	else
		function->op = wide ? gpuagg_running_wide(function->plain->aggregate, scale)
							: gpuagg_running_decimal(function->plain->aggregate, scale);
	function->state = gpuagg_running_state_make(function->op, CurrentMemoryContext);
}

void
gpuagg_window_functions_settle(WindowScanState *node)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(node));

	node->has_expressions = false;
	node->has_scans = false;
	node->can_read_ahead = true;
	for (int i = 0; i < node->nfunctions; i++)
	{
		WindowFunctionState *function = &node->functions[i];

		/* a count does not read its decimals */
		if (node->input.computed[i] && function->plain->kind == 0)
			choose_operation(function, node->input.scales[i], node->input.wide[i]);
		else
			choose_operation(function, -1, false);
		node->has_scans |= function->op->kind != 0;
		if (node->input.computed[i])
			continue;
		node->has_expressions |= function->argument != NULL;
		node->can_read_ahead &= !node->input.is_checked[i];
	}
	MemoryContextSwitchTo(old);
}

void
gpuagg_window_functions_begin(WindowScanState *node)
{
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	RunningFrame frame = node->spec->frame == WINDOW_ROWS ? FRAME_ROWS : FRAME_PEERS;

	for (int i = 0; i < node->nfunctions; i++)
	{
		WindowFunctionState *function = &node->functions[i];
		bool isnull;
		Datum value = ExecEvalExprSwitchContext(function->exclusive_argument, econtext, &isnull);

		function->exclusive = gpuagg_running_exclusive_value(value, isnull, frame);
	}
}

void
gpuagg_window_functions_clear(WindowScanState *node, bool only_direct)
{
	bool emptied = false;

	for (int i = 0; i < node->nfunctions; i++)
	{
		WindowFunctionState *function = &node->functions[i];

		if (only_direct && function->op->kind != 0)
			continue;
		if (gpuagg_running_state_clear(function->op, function->state))
			continue;
		if (!emptied)
			MemoryContextReset(node->partition_context);
		emptied = true;
		function->state = gpuagg_running_state_make(function->op, node->partition_context);
	}
}

void
gpuagg_window_function_step(WindowFunctionState *function, Datum value, bool isnull)
{
	const RunningOperation *op = function->op;

	if (!function->exclusive && !isnull)
		gpuagg_running_take(op, function->state, value);
	function->value = gpuagg_running_value(op, function->state, &function->isnull);
	if (!function->exclusive || isnull)
		return;
	/* taking may free what the value points to */
	if (op->result_length != 0 && !function->isnull)
		function->value = datumCopy(function->value, false, op->result_length);
	gpuagg_running_take(op, function->state, value);
}
