/*
 * aggregate_group.c
 *	  A group's state in an aggregate that SQL calls.
 */
#include "postgres.h"

#include "functions/aggregate_group.h"
#include "operation/call.h"

#define BEFORE (offsetof(AggregateGroup, acc))

/* As the families' assertions on sizes have it. */
StaticAssertDecl(BEFORE == 16, "what a group has beside its accumulator is 16 bytes");

static AggregateGroup *
group_of(Accumulator *acc, bool window)
{
	AggregateGroup *group = (AggregateGroup *) ((char *) acc - BEFORE);

	gpuagg_group_reduction_init(&group->reduction, window);
	return group;
}

AggregateGroup *
gpuagg_group_make(FunctionCallInfo fcinfo, SqlFamily family, GpuaggOp op, GpuaggKind kind)
{
	bool window;
	MemoryContext context = gpuagg_aggregate_context(fcinfo, &window);

	if (kind != 0)
		gpuagg_begin(fcinfo->flinfo);
	else
		gpuagg_begin_report(fcinfo->flinfo);
	return group_of(gpuagg_accumulator_make(context, BEFORE, family, op, kind), window);
}

void
gpuagg_group_gather(AggregateGroup *group)
{
	Accumulator *acc = &group->acc;
	const StateFamily *family = gpuagg_family_of(acc);
	int width = acc->kind != 0 ? (int) gpuagg_kind_size(acc->kind) : family->width;
	const GpuaggReduced *total =
		gpuagg_group_reduction_gather(&group->reduction, acc->kind,
									  family->count(acc) - (int64) acc->reported, width);

	if (total != NULL)
		family->add_reduced(acc, group, total);
	acc->reported = (uint64) family->count(acc);
}

Datum
gpuagg_group_remove(FunctionCallInfo fcinfo, SqlFamily family, GpuaggOp op, GpuaggKind kind,
					SqlForm form)
{
	AggregateGroup *group = gpuagg_group_of(fcinfo, family, op, kind);

	if (!PG_ARGISNULL(1) &&
		!gpuagg_families[family]->remove(&group->acc, group, form, PG_GETARG_DATUM(1)))
		PG_RETURN_NULL();
	PG_RETURN_POINTER(group);
}

Datum
gpuagg_group_combine(FunctionCallInfo fcinfo)
{
	AggregateGroup *group = PG_ARGISNULL(0) ? NULL : (AggregateGroup *) PG_GETARG_POINTER(0);
	AggregateGroup *other = PG_ARGISNULL(1) ? NULL : (AggregateGroup *) PG_GETARG_POINTER(1);

	if (other == NULL)
	{
		if (group == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(group);
	}
	gpuagg_group_gather(other);
	if (group == NULL)
		group = gpuagg_group_make(fcinfo, other->acc.family, other->acc.op, other->acc.kind);
	if (group->acc.family != other->acc.family || group->acc.op != other->acc.op)
		gpuagg_wire_refuse();
	gpuagg_group_gather(group); /* no reduction from now on: its rows are reported */
	gpuagg_family_of(&group->acc)->merge(&group->acc, group, &other->acc);
	PG_RETURN_POINTER(group);
}

bytea *
gpuagg_group_write(AggregateGroup *group, ReportForm *form)
{
	StringInfoData buf;

	gpuagg_group_gather(group);
	gpuagg_wire_begin(&buf, WIRE_STATE);
	gpuagg_accumulator_write(&group->acc, &buf);
	return gpuagg_wire_end(&buf, form);
}

AggregateGroup *
gpuagg_group_read(bytea *bytes, bool report)
{
	StringInfoData buf;
	AggregateGroup *group;

	gpuagg_wire_open(&buf, bytes, WIRE_STATE);
	group = group_of(gpuagg_accumulator_read(&buf, BEFORE), true);
	gpuagg_wire_close(&buf, report);
	return group;
}

Datum
gpuagg_group_serialize(FunctionCallInfo fcinfo)
{
	bool window;
	ReportForm form = REPORT_NONE;

	(void) gpuagg_aggregate_context(fcinfo, &window);
	PG_RETURN_BYTEA_P(gpuagg_group_write((AggregateGroup *) PG_GETARG_POINTER(0), &form));
}

Datum
gpuagg_group_deserialize(FunctionCallInfo fcinfo)
{
	bool window;

	(void) gpuagg_aggregate_context(fcinfo, &window);
	PG_RETURN_POINTER(gpuagg_group_read(PG_GETARG_BYTEA_PP(0), true));
}

static Accumulator *
state_of(FunctionCallInfo fcinfo, SqlFamily family, GpuaggOp op)
{
	AggregateGroup *group = PG_ARGISNULL(0) ? NULL : (AggregateGroup *) PG_GETARG_POINTER(0);

	if (group == NULL)
		return NULL;
	/* minima and maxima end alike */
	if (group->acc.family != family || (group->acc.op != op && family != SQL_FAMILY_KEY))
		gpuagg_wire_refuse();
	gpuagg_group_gather(group);
	return &group->acc;
}

const Accumulator *
gpuagg_group_state(FunctionCallInfo fcinfo, SqlFamily family, GpuaggOp op)
{
	return state_of(fcinfo, family, op);
}

Datum
gpuagg_group_final(FunctionCallInfo fcinfo, SqlFamily family, Aggregate aggregate, Oid result)
{
	Accumulator *acc = state_of(fcinfo, family, gpuagg_aggregates[aggregate].op);

	if (acc == NULL)
		PG_RETURN_NULL();
	return gpuagg_families[family]->finish(acc, aggregate, result, &fcinfo->isnull);
}
