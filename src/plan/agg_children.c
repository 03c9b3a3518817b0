/*
 * agg_children.c
 *	  The tables that a partitioned table, or the parent of an inheritance tree, is made of.
 */
#include "compat.h"

#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_class.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"
#include "utils/rel.h"

#include "plan/agg_children.h"

bool
gpuagg_agg_readable(const RangeTblEntry *rte)
{
	Relation relation;
	bool readable;

	if (rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW)
		return false;
	relation = table_open(rte->relid, NoLock);
	readable = relation->rd_tableam == GetHeapamTableAmRoutine();
	table_close(relation, NoLock);
	return readable;
}

List *
gpuagg_agg_children(PlannerInfo *root, const RelOptInfo *parent)
{
	List *children = NIL;
	ListCell *cell;

	foreach (cell, root->append_rel_list)
	{
		const AppendRelInfo *info = lfirst(cell);
		RelOptInfo *rel;
		const RangeTblEntry *rte;

		if (info->parent_relid != parent->relid)
			continue;
		rel = root->simple_rel_array[info->child_relid];
		rte = planner_rt_fetch(info->child_relid, root);
		if (rel == NULL || IS_DUMMY_REL(rel))
			continue;
		if (rte->inh)
			children = list_concat(children, gpuagg_agg_children(root, rel));
		else
		{
			AggChild *child = palloc(sizeof(AggChild));

			child->rel = rel;
			child->readable = gpuagg_agg_readable(rte);
			children = lappend(children, child);
		}
	}
	return children;
}
