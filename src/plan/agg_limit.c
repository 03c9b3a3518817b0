/*
 * agg_limit.c
 *	  Groups of a GpuAgg node of which a sort and a LIMIT above want the first few alone.
 *
 * The node leaves out groups that are behind so many others by the first key of the sort.  The sort
 * and the LIMIT stay where they are.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/tlist.h"
#include "utils/typcache.h"

#include "plan/agg_path.h"
#include "plan/agg_subquery.h"
#include "plan/agg_limit.h"
#include "spec/vector_rule.h"
#include "types/sort_key.h"

#define MOST_GROUPS 10000 /* that are wanted */

/* The value of LIMIT or OFFSET; -1: it is not known, or too large. */
static int64
known_count(const Node *node)
{
	const Const *constant = (const Const *) node;
	int64 value;

	if (!IsA(constant, Const) || constant->constisnull)
		return -1;
	value = DatumGetInt64(constant->constvalue);
	return value >= 0 && value <= MOST_GROUPS ? value : -1;
}

/* How many rows of the sort are wanted; -1: all, or it is not known. */
static int64
count_wanted(const Query *query)
{
	int64 limit = query->limitCount != NULL ? known_count(query->limitCount) : -1;
	int64 offset = query->limitOffset != NULL ? known_count(query->limitOffset) : 0;

	if (query->limitOption != LIMIT_OPTION_COUNT || query->distinctClause != NIL ||
		query->hasWindowFuncs || query->hasTargetSRFs || query->setOperations != NULL ||
		query->rowMarks != NIL || limit <= 0 || offset < 0)
		return -1;
	return limit + offset;
}

/* The column of the node's scan tuple that an expression is, and its aggregate; -1: it is none. */
static int
find_column(const AggMatch *match, const Expr *expr, int *call)
{
	ListCell *cell;

	*call = -1;
	foreach (cell, match->keys)
		if (equal(lfirst(cell), expr))
			return foreach_current_index(cell);
	foreach (cell, match->aggrefs)
		if (equal(lfirst(cell), expr))
		{
			*call = foreach_current_index(cell);
			return list_length(match->keys) + list_length(match->carried) + *call;
		}
	return -1;
}

/* Whether values are sorted as numbers: those of a numeric as integers at one scale. */
static bool
find_order(const AggMatch *match, const SortGroupClause *clause, const Expr *expr, int call,
		   AggTop *top)
{
	Oid type = exprType((const Node *) expr);
	SqlForm form;
	TypeCacheEntry *entry;
	int32 typmod;

	top->scale = -1;
	top->nulls_first = clause->nulls_first;
	if (type != NUMERICOID)
		return gpuagg_sort_key_find(type, clause->sortop, &form, &top->descending);
	if (call < 0 || match->calls[call].aggregate != AGGREGATE_SUM)
		return false;
	typmod = gpuagg_agg_result_typmod(AGGREGATE_SUM, (const Aggref *) expr);
	if (typmod < (int32) VARHDRSZ)
		return false;
	top->scale = gpuagg_typmod_scale(typmod);
	entry = lookup_type_cache(type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	top->descending = clause->sortop == entry->gt_opr;
	return top->scale >= 0 && (top->descending || clause->sortop == entry->lt_opr);
}

static const Path *
without_projection(const Path *path)
{
	while (IsA(path, ProjectionPath))
		path = ((const ProjectionPath *) path)->subpath;
	return path;
}

static void
note(const PlannerInfo *root, const Path *path, int64 wanted)
{
	const SortGroupClause *clause = linitial(root->parse->sortClause);
	const Expr *expr =
		get_sortgroupclause_tle((SortGroupClause *) clause, root->processed_tlist)->expr;
	GpuAggPath *agg;
	AggTop top = {.n = (int) wanted, .only_key = list_length(root->parse->sortClause) == 1};
	int call;

	path = without_projection(path);
	if (!IsA(path, SortPath))
		return;
	agg = (GpuAggPath *) without_projection(((const SortPath *) path)->subpath);
	if (!IsA(agg, CustomPath) || agg->path.methods != &gpuagg_agg_path_methods ||
		agg->mode == AGG_PARTIAL || agg->match.sets != NIL || agg->match.distinct != NIL)
		return;
	top.column = find_column(&agg->match, expr, &call);
	if (top.column >= 0 && find_order(&agg->match, clause, expr, call, &top))
		agg->top = top;
}

void
gpuagg_agg_limit_note(const PlannerInfo *root, const RelOptInfo *ordered)
{
	int64 wanted = count_wanted(root->parse);
	ListCell *cell;

	if (wanted < 0 || root->parse->groupClause == NIL || root->parse->sortClause == NIL)
		return;
	foreach (cell, ordered->pathlist)
		note(root, lfirst(cell), wanted);
}
