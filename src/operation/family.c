/*
 * family.c
 *	  The two tables of aggregates, and what all accumulators have in common.
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "operation/family.h"
#include "operation/wire.h"

const AggregateInfo gpuagg_aggregates[AGGREGATES] = {
	[AGGREGATE_SUM] = {"sum", true, GPUAGG_SUM, offsetof(SqlType, sum)},
	[AGGREGATE_AVG] = {"avg", true, GPUAGG_SUM, offsetof(SqlType, average)},
	[AGGREGATE_MIN] = {"min", true, GPUAGG_MIN, offsetof(SqlType, oid)},
	[AGGREGATE_MAX] = {"max", true, GPUAGG_MAX, offsetof(SqlType, oid)},
	[AGGREGATE_COUNT] = {"count", true, GPUAGG_COUNT},
	[AGGREGATE_VAR_POP] = {"var_pop", false, GPUAGG_MOMENTS, offsetof(SqlType, variance), false,
						   false},
	[AGGREGATE_VAR_SAMP] = {"var_samp", false, GPUAGG_MOMENTS, offsetof(SqlType, variance), true,
							false},
	[AGGREGATE_STDDEV_POP] = {"stddev_pop", false, GPUAGG_MOMENTS, offsetof(SqlType, variance),
							  false, true},
	[AGGREGATE_STDDEV_SAMP] = {"stddev_samp", false, GPUAGG_MOMENTS, offsetof(SqlType, variance),
							   true, true},
};

const StateFamily *const gpuagg_families[SQL_FAMILIES] = {
	[SQL_FAMILY_COUNT] = &gpuagg_count_family,
	[SQL_FAMILY_INT] = &gpuagg_int_family,
	[SQL_FAMILY_FLOAT] = &gpuagg_float_family,
	[SQL_FAMILY_NUMERIC] = &gpuagg_numeric_family,
	[SQL_FAMILY_INTERVAL] = &gpuagg_interval_family,
	[SQL_FAMILY_KEY] = &gpuagg_key_family,
	[SQL_FAMILY_NUMERIC_EXTREME] = &gpuagg_numeric_extreme_family,
	[SQL_FAMILY_INTERVAL_EXTREME] = &gpuagg_interval_extreme_family,
};

SqlFamily
gpuagg_aggregate_family(Aggregate aggregate, const SqlType *type)
{
	GpuaggOp op = gpuagg_aggregates[aggregate].op;

	if (op == GPUAGG_COUNT)
		return SQL_FAMILY_COUNT;
	if (type == NULL || !OidIsValid(gpuagg_aggregate_result(aggregate, type)))
		return SQL_FAMILY_NONE;
	return op == GPUAGG_MIN || op == GPUAGG_MAX ? type->extremes : type->sums;
}

Oid
gpuagg_aggregate_result(Aggregate aggregate, const SqlType *type)
{
	if (aggregate == AGGREGATE_COUNT)
		return INT8OID;
	return *(const Oid *) ((const char *) type + gpuagg_aggregates[aggregate].result);
}

void
gpuagg_accumulator_init(Accumulator *acc, MemoryContext context, SqlFamily family, GpuaggOp op,
						GpuaggKind kind)
{
	*acc = (Accumulator){.family = family, .op = op, .kind = kind};
	gpuagg_families[family]->init(acc, context);
}

Accumulator *
gpuagg_accumulator_make(MemoryContext context, Size before, SqlFamily family, GpuaggOp op,
						GpuaggKind kind)
{
	const StateFamily *functions = gpuagg_families[family];
	Size size = op == GPUAGG_MOMENTS ? functions->size_of_moments : functions->size;
	char *chunk = MemoryContextAllocZero(context, before + size);
	Accumulator *acc = (Accumulator *) (chunk + before);

	gpuagg_accumulator_init(acc, context, family, op, kind);
	return acc;
}

void
gpuagg_accumulator_write(const Accumulator *acc, StringInfo buf)
{
	pq_sendbyte(buf, acc->family);
	pq_sendbyte(buf, acc->op);
	pq_sendbyte(buf, acc->kind);
	gpuagg_family_of(acc)->encode(acc, buf);
}

/* Whether a family keeps, and can read, states of this op whose values have this kind. */
static bool
is_readable(int family, GpuaggOp op, GpuaggKind kind)
{
	if (family <= SQL_FAMILY_NONE || family >= SQL_FAMILIES ||
		gpuagg_families[family]->decode == NULL)
		return false;
	if (kind != 0 && gpuagg_kind_size(kind) == 0)
		return false;
	if (family == SQL_FAMILY_COUNT)
		return op == GPUAGG_COUNT;
	if (family == SQL_FAMILY_KEY)
		return (op == GPUAGG_MIN || op == GPUAGG_MAX) && kind != 0;
	if (family == SQL_FAMILY_NUMERIC_EXTREME || family == SQL_FAMILY_INTERVAL_EXTREME)
		return op == GPUAGG_MIN || op == GPUAGG_MAX;
	return op == GPUAGG_SUM ||
		   (op == GPUAGG_MOMENTS && gpuagg_families[family]->size_of_moments != 0);
}

Accumulator *
gpuagg_accumulator_read(StringInfo buf, Size before)
{
	int family = pq_getmsgbyte(buf);
	GpuaggOp op = (GpuaggOp) pq_getmsgbyte(buf);
	GpuaggKind kind = (GpuaggKind) pq_getmsgbyte(buf);
	Accumulator *acc;
	GpuaggReader reader;

	if (!is_readable(family, op, kind))
		gpuagg_wire_refuse();
	acc = gpuagg_accumulator_make(CurrentMemoryContext, before, (SqlFamily) family, op, kind);
	gpuagg_wire_reader(buf, &reader);
	gpuagg_wire_read(buf, &reader,
					 gpuagg_families[family]->decode(acc, (char *) acc - before, &reader));
	return acc;
}
