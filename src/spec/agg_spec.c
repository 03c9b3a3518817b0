/*
 * agg_spec.c
 *	  What a GpuAgg node computes, as a List and back.
 */
#include "compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

#include "spec/agg_spec.h"

Expr *
gpuagg_agg_hide(Expr *expr)
{
	const Node *node = (const Node *) expr;

	return (Expr *) makeRelabelType(expr, exprType(node), exprTypmod(node), exprCollation(node),
									COERCE_IMPLICIT_CAST);
}

Expr *
gpuagg_agg_entry(const CustomScan *plan, int number)
{
	Expr *expr = ((TargetEntry *) list_nth(plan->custom_scan_tlist, number))->expr;
	const RelabelType *relabel = (const RelabelType *) expr;
	const Node *within;

	if (!IsA(expr, RelabelType))
		return expr;
	within = (const Node *) relabel->arg;
	/* COLLATE is a cast to the same type too */
	return relabel->resulttype == exprType(within) && relabel->resulttypmod == exprTypmod(within) &&
				   relabel->resultcollid == exprCollation(within)
			   ? relabel->arg
			   : expr;
}

List *
gpuagg_agg_spec_list(const AggSpec *spec)
{
	List *head = list_make5_int(spec->mode, spec->over_children, spec->nkeys, spec->ncarried,
								spec->ndistinct);
	List *equality = NIL;
	List *calls = NIL;

	head = lappend_int(head, spec->ncalls);
	head = lappend_int(head, spec->nquals);
	for (int i = 0; i < spec->nkeys; i++)
		equality = lappend_oid(equality, spec->equality[i]);
	for (int i = 0; i < spec->ndistinct; i++)
		equality = lappend_oid(equality, spec->distinct_equality[i]);
	for (int i = 0; i < spec->ncalls; i++)
	{
		const AggCall *call = &spec->calls[i];

		calls = lappend_oid(calls, (Oid) call->aggregate);
		calls = lappend_oid(calls, call->type);
		calls = lappend_oid(calls, call->result);
		calls = lappend_oid(calls, call->aggfnoid);
		head = lappend_int(head, call->distinct);
	}
	return list_concat(
		list_make5(head, equality, calls, spec->sets, spec->groupings),
		list_make2(spec->over_subquery ? list_make2(spec->attributes, spec->typmods) : NIL,
				   lappend_int(list_make5_int(spec->top.n, spec->top.column, spec->top.descending,
											  spec->top.nulls_first, spec->top.scale),
							   spec->top.only_key)));
}

static Oid *
read_oids(const List *list, int first, int n)
{
	Oid *oids = palloc(Max(n, 1) * sizeof(Oid));

	for (int i = 0; i < n; i++)
		oids[i] = list_nth_oid(list, first + i);
	return oids;
}

AggSpec *
gpuagg_agg_spec_read(const List *list)
{
	const List *head = linitial(list);
	const List *equality = lsecond(list);
	const List *calls = lthird(list);
	const List *top = list_nth(list, 6);
	AggSpec *spec = palloc0(sizeof(AggSpec));

	spec->mode = (AggMode) linitial_int(head);
	spec->over_children = lsecond_int(head) != 0;
	spec->nkeys = lthird_int(head);
	spec->ncarried = lfourth_int(head);
	spec->ndistinct = list_nth_int(head, 4);
	spec->ncalls = list_nth_int(head, 5);
	spec->nquals = list_nth_int(head, 6);
	spec->equality = read_oids(equality, 0, spec->nkeys);
	spec->distinct_equality = read_oids(equality, spec->nkeys, spec->ndistinct);
	spec->calls = palloc(Max(spec->ncalls, 1) * sizeof(AggCall));
	for (int i = 0; i < spec->ncalls; i++)
	{
		AggCall *call = &spec->calls[i];

		call->aggregate = (Aggregate) list_nth_oid(calls, 4 * i);
		call->type = list_nth_oid(calls, 4 * i + 1);
		call->result = list_nth_oid(calls, 4 * i + 2);
		call->aggfnoid = list_nth_oid(calls, 4 * i + 3);
		call->distinct = list_nth_int(head, 7 + i);
	}
	spec->sets = lfourth(list);
	spec->groupings = list_nth(list, 4);
	spec->over_subquery = list_nth(list, 5) != NIL;
	if (spec->over_subquery)
	{
		spec->attributes = linitial(list_nth(list, 5));
		spec->typmods = lsecond(list_nth(list, 5));
	}
	spec->top = (AggTop){linitial_int(top),		lsecond_int(top),	  lthird_int(top) != 0,
						 lfourth_int(top) != 0, list_nth_int(top, 4), list_nth_int(top, 5) != 0};
	return spec;
}
