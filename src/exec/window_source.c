/*
 * window_source.c
 *	  Where the columns of a plan over a node GpuWindow or GpuAgg come from.
 */
#include "compat.h"

#include "nodes/extensible.h"

#include "exec/window_source.h"
#include "spec/agg_spec.h"
#include "spec/window_spec.h"

static PlanState *
find_node(PlanState *plan, const char *name)
{
	if (IsA(plan, SubqueryScanState))
		plan = ((SubqueryScanState *) plan)->subplan;
	return IsA(plan, CustomScanState) &&
				   strcmp(((const CustomScanState *) plan)->methods->CustomName, name) == 0
			   ? plan
			   : NULL;
}

PlanState *
gpuagg_window_source_node(PlanState *plan)
{
	return find_node(plan, WINDOW_NODE_NAME);
}

PlanState *
gpuagg_window_source_groups(PlanState *plan)
{
	return find_node(plan, AGG_NODE_NAME);
}

bool
gpuagg_window_source_find(const PlanState *plan, const PlanState *node, int column,
						  WindowSource *source)
{
	const TargetEntry *entry = list_nth(plan->plan->targetlist, column);
	const Var *var = (const Var *) entry->expr;

	if (node != plan)
	{
		if (!IsA(var, Var) || var->varattno <= 0)
			return false;
		entry = list_nth(node->plan->targetlist, var->varattno - 1);
		var = (const Var *) entry->expr;
	}
	*source = (WindowSource){-1, NULL};
	if (IsA(var, Const))
		source->constant = (const Const *) var;
	else if (IsA(var, Var) && var->varno == INDEX_VAR && var->varattno > 0)
		source->scan = var->varattno - 1;
	return source->scan >= 0 || source->constant != NULL;
}
