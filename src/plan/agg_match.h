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
	bool ours;		  /* the query has an aggregate of gpuagg's, or may have one of core's */
	List *keys;		  /* expressions of GROUP BY, as the list of results has them */
	List *key_inputs; /* the same over the table's rows */
	Oid *equality;	  /* their operators */
	List *carried;	  /* other expressions without aggregates that the result needs */
	List *aggrefs;	  /* each once */
	AggCall *calls;
	List *
		distinct; /* arguments with DISTINCT; such an argument with another FILTER is another one */
	List *distinct_where; /* their FILTERs, or NULL */
	Oid *distinct_equality;
	List *sets;			 /* grouping sets, as in AggSpec */
	List *groupings;	 /* GroupingFuncs, each once */
	List *grouping_keys; /* of each of them, as in AggSpec */
	List *references;	 /* of int: ressortgroupref of the keys */
	List *quals;		 /* of the table, in the order of their tests */
	List *children;		 /* AggChild: the tables that the input is made of; NIL: it is one table */
	Path *subquery;		 /* that the input is, with windows or groups; NULL: it is no such */

	/* the vector program */
	List *attributes;		 /* of int: columns that it reads, the filter's first */
	int filter_attributes;	 /* so many of them are the filter's */
	int filter_instructions; /* computed for all rows */
	int value_instructions;	 /* for those that pass the filter */
	List *rows;				 /* expressions that core's executor evaluates */
	bool by_row;			 /* these are all, for each row */

	uint32 device_words; /* of 32 bits, of a group in an answer of the device; 0: maybe none */

	bool groups_guessed; /* some key has no statistics */
} AggMatch;

/*
 * Why the node does not compute the aggregation of `input`; NULL: it does, and *match
 * says what.
 */
extern const char *gpuagg_agg_match(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
									Node *having, AggMatch *match);

#endif /* GPUAGG_AGG_MATCH_H */
