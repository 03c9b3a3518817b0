/*
 * qual_order.c
 *	  The order in which core's nodes test a table's or a subquery's conditions.
 */
#include "plan/qual_order.h"

#include "optimizer/cost.h"

List *
gpuagg_qual_order(PlannerInfo *root, const List *restrictions)
{
	int n = list_length(restrictions);
	const RestrictInfo **items = palloc(Max(n, 1) * sizeof(RestrictInfo *));
	Cost *costs = palloc(Max(n, 1) * sizeof(Cost));
	Index *levels = palloc(Max(n, 1) * sizeof(Index));
	List *quals = NIL;

	for (int i = 0; i < n; i++)
	{
		const RestrictInfo *info = list_nth(restrictions, i);
		Index level = info->security_level;
		QualCost cost;
		int j;

		cost_qual_eval_node(&cost, (Node *) info, root);
		if (info->leakproof && cost.per_tuple < 10 * cpu_operator_cost)
			level = 0;
		for (j = i; j > 0 && (levels[j - 1] > level ||
							  (levels[j - 1] == level && costs[j - 1] > cost.per_tuple));
			 j--)
		{
			items[j] = items[j - 1];
			costs[j] = costs[j - 1];
			levels[j] = levels[j - 1];
		}
		items[j] = info;
		costs[j] = cost.per_tuple;
		levels[j] = level;
	}
	for (int i = 0; i < n; i++)
		quals = lappend(quals, items[i]->clause);
	return quals;
}
