/*
 * agg_spec.c
 *	  What a GpuAgg node computes, as a List and back.
 */
#include "compat.h"

#include "spec/agg_spec.h"

List *
gpuagg_agg_spec_list(const AggSpec *spec)
{
	List *head = list_make5_int(spec->mode, spec->nkeys, spec->ncarried, spec->ncalls,
								spec->nquals);
	List *equality = NIL;
	List *calls = NIL;

	head = lappend_int(head, spec->over_children);
	for (int i = 0; i < spec->nkeys; i++)
		equality = lappend_oid(equality, spec->equality[i]);
	for (int i = 0; i < spec->ncalls; i++)
	{
		const AggCall *call = &spec->calls[i];

		calls = lappend_oid(calls, (Oid) call->aggregate);
		calls = lappend_oid(calls, call->type);
		calls = lappend_oid(calls, call->result);
		calls = lappend_oid(calls, call->aggfnoid);
	}
	return list_make3(head, equality, calls);
}

AggSpec *
gpuagg_agg_spec_read(const List *list)
{
	const List *head = linitial(list);
	const List *equality = lsecond(list);
	const List *calls = lthird(list);
	AggSpec *spec = palloc0(sizeof(AggSpec));

	spec->mode = (AggMode) linitial_int(head);
	spec->nkeys = lsecond_int(head);
	spec->ncarried = lthird_int(head);
	spec->ncalls = lfourth_int(head);
	spec->nquals = list_nth_int(head, 4);
	spec->over_children = list_nth_int(head, 5) != 0;
	spec->equality = palloc(Max(spec->nkeys, 1) * sizeof(Oid));
	for (int i = 0; i < spec->nkeys; i++)
		spec->equality[i] = list_nth_oid(equality, i);
	spec->calls = palloc(Max(spec->ncalls, 1) * sizeof(AggCall));
	for (int i = 0; i < spec->ncalls; i++)
	{
		AggCall *call = &spec->calls[i];

		call->aggregate = (Aggregate) list_nth_oid(calls, 4 * i);
		call->type = list_nth_oid(calls, 4 * i + 1);
		call->result = list_nth_oid(calls, 4 * i + 2);
		call->aggfnoid = list_nth_oid(calls, 4 * i + 3);
	}
	return spec;
}
