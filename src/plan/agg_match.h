/*
 * agg_match.h
 *	  Which aggregations the node GpuAgg computes.
 */
#ifndef GPUAGG_AGG_MATCH_H
#define GPUAGG_AGG_MATCH_H

#include "compat.h"

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

#include "spec/agg_spec.h"

typedef struct AggMatch
{
	bool ours;	   /* the query has an aggregate of gpuagg's */
	List *keys;	   /* expressions of GROUP BY */
	Oid *equality; /* their operators */
	List *carried; /* other expressions without aggregates that the result needs */
	List *aggrefs; /* each once */
	AggCall *calls;
	List *quals;	   /* of the table, in the order of their tests */
	int ninstructions; /* of the vector program */
	List *rows;		   /* expressions that it evaluates row by row */
} AggMatch;

/*
 * Why the node does not compute the aggregation of `input`; NULL: it does, and *match
 * says what.
 */
extern const char *gpuagg_agg_match(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
									Node *having, AggMatch *match);

#endif /* GPUAGG_AGG_MATCH_H */
