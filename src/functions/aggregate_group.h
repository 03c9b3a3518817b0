/*
 * aggregate_group.h
 *	  A group's state in an aggregate that SQL calls: an accumulator, and in large
 *	  groups a reduction on its way to an engine.
 */
#ifndef GPUAGG_AGGREGATE_GROUP_H
#define GPUAGG_AGGREGATE_GROUP_H

#include "operation/family.h"
#include "operation/group_reduction.h"
#include "operation/wire.h"

typedef struct AggregateGroup
{
	GroupReduction reduction;
	Accumulator acc; /* its head, behind which it goes on */
} AggregateGroup;

/*
 * An empty state in the aggregate's memory context, once a group: it begins the
 * statement's report and, with a kind, asks for the device where that is required.
 */
extern AggregateGroup *gpuagg_group_make(FunctionCallInfo fcinfo, SqlFamily family, GpuaggOp op,
										 GpuaggKind kind);

/* The group that a transition function is called with, made at the first call. */
static inline AggregateGroup *
gpuagg_group_of(FunctionCallInfo fcinfo, SqlFamily family, GpuaggOp op, GpuaggKind kind)
{
	return PG_ARGISNULL(0) ? gpuagg_group_make(fcinfo, family, op, kind)
						   : (AggregateGroup *) PG_GETARG_POINTER(0);
}

/* Ends the group's reduction, so that the accumulator has every row; again: nothing. */
extern void gpuagg_group_gather(AggregateGroup *group);

/*
 * A group, its reduction ended, as bytes (wire.h), with this process's work report unless
 * `form` is NULL; and such bytes as a group in the current context, where any bytes are safe.
 */
extern bytea *gpuagg_group_write(AggregateGroup *group, ReportForm *form);
extern AggregateGroup *gpuagg_group_read(bytea *bytes, bool report);

/* Bodies of inverse transition functions; NULL: cannot, and core starts the frame anew. */
extern Datum gpuagg_group_remove(FunctionCallInfo fcinfo, SqlFamily family, GpuaggOp op,
								 GpuaggKind kind, SqlForm form);

/*
 * Bodies of the other functions of aggregates; result: the type of the final value.
 * Distributed plans let clients send serialized states, so that a final function can meet
 * a state of another aggregate: it raises an error.
 */
extern Datum gpuagg_group_combine(FunctionCallInfo fcinfo);
extern Datum gpuagg_group_serialize(FunctionCallInfo fcinfo);
extern Datum gpuagg_group_deserialize(FunctionCallInfo fcinfo);
extern Datum gpuagg_group_final(FunctionCallInfo fcinfo, SqlFamily family, Aggregate aggregate,
								Oid result);

/*
 * The state that a final function is called with, every row in its accumulator; NULL: no
 * state.  Raises an error when it is not of this family and op.
 */
extern const Accumulator *gpuagg_group_state(FunctionCallInfo fcinfo, SqlFamily family,
											 GpuaggOp op);

/* An SQL function with that body. */
#define DEFINE_FUNCTION(name, body) \
	PG_FUNCTION_INFO_V1(name);      \
                                    \
	Datum name(PG_FUNCTION_ARGS)    \
	{                               \
		return body;                \
	}

#endif /* GPUAGG_AGGREGATE_GROUP_H */
