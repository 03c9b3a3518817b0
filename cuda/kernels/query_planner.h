/*
 * query_planner.h
 *	  What makes plans of queries; host code.
 */
#ifndef GPUAGG_QUERY_PLANNER_H
#define GPUAGG_QUERY_PLANNER_H

#include "kernels/query.h"

constexpr int PLAN_NOTHING = -1;
constexpr int PLAN_VALUES = GPUAGG_VECTOR_DEVICE_INSTRUCTIONS + 1;
constexpr int PLAN_NODES = GPU_QUERY_STEPS;

enum PlanKind
{
	PLAN_COLUMN,
	PLAN_CONSTANT,
	PLAN_COMPUTED
};

/* What a register holds at some time. */
struct PlanValue
{
	PlanKind kind;
	int type;
	int number;	 /* of the column or constant in the program */
	int needed;	 /* last node that needs it; PLAN_NOTHING: none */
	bool placed; /* in a temporary */
	uint32_t source;
};

/* An instruction, the filter, an aggregate, or the keys of groups; operands are values. */
struct PlanNode
{
	const GpuaggVectorInstruction *in; /* NULL: not an instruction */
	int aggregate;					   /* PLAN_NOTHING: none */
	bool group;						   /* its operands are the planner's keys */
	int a, b, c, mask, out;
	bool swapped;
	bool a_held; /* a is in the accumulator */
};

/* Constants that are a zone's pieces, and where the plan has them. */
struct PlanZone
{
	uint32_t first;
	uint16_t count; /* 0: there is none */
	uint16_t place;
};

struct QueryPlanner
{
	GpuQueryPlan *plan;
	const GpuaggVectorProgram *program;
	const GpuQueryAggregate *aggregates;
	int naggregates;
	const uint16_t *key_registers;
	int nkeys;
	int keys[GPUAGG_GROUP_KEYS]; /* values */
	int nvalues;
	int nnodes;
	int nconstants;
	PlanZone zone;								   /* that was added last */
	int registers[GPUAGG_VECTOR_DEVICE_REGISTERS]; /* values */
	PlanValue values[PLAN_VALUES];
	PlanNode nodes[PLAN_NODES];
};

/* The class that values of a GpuaggVectorType are of. */
static inline int
query_class_of(int type)
{
	switch (type)
	{
		case GPUAGG_VECTOR_INT16:
		case GPUAGG_VECTOR_INT32:
			return QUERY_INT32;
		case GPUAGG_VECTOR_INT64:
			return QUERY_INT64;
		case GPUAGG_VECTOR_INT128:
			return QUERY_INT128;
		case GPUAGG_VECTOR_FLOAT32:
			return QUERY_FLOAT32;
		case GPUAGG_VECTOR_FLOAT64:
			return QUERY_FLOAT64;
		default:
			return QUERY_BOOL;
	}
}

/* Makes the steps of the nodes, whose values are placed; false: there are too many. */
extern bool query_plan_steps(QueryPlanner &p);

#endif /* GPUAGG_QUERY_PLANNER_H */
