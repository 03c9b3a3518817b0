/*
 * agg_spec.h
 *	  What a GpuAgg node computes: made by the planner, read by the executor.
 *
 * The node's scan tuple has the group keys (1 to nkeys), then expressions that are
 * the same for all rows of a group (ncarried), then arguments with DISTINCT (ndistinct),
 * which only tuples of partial nodes have, then the aggregates (ncalls), then grouping()
 * (as many as groupings).  custom_scan_tlist has their expressions, and after them, as resjunk entries that
 * no tuple has a value for, the quals of the table (nquals), in the order in which
 * they are to be tested.  What a tuple has no value for is hidden, as setrefs.c would take an
 * equal expression above the scan for it.  custom_exprs has the PARAM_EXEC parameters in all these.
 * A node over several tables has a child plan: nodes GpuAgg Table, which put their tables'
 * rows into its groups and give out nothing, and others, for what is not a heap, whose rows
 * have the keys, the ncarried expressions, and of each call its argument and its FILTER, as
 * far as it has these.  Quals are those of the parent, and all its expressions are over the
 * parent's columns; custom_relids has the parent alone, of a node GpuAgg Table the table, of a
 * node over a subquery that one.
 *
 * custom_private has the spec as a List, which copyObject and nodeToString can handle.
 */
#ifndef GPUAGG_AGG_SPEC_H
#define GPUAGG_AGG_SPEC_H

#include "compat.h"

#include "nodes/plannodes.h"

#include "operation/family.h"

/* The name by which plans find the node's methods. */
#define AGG_NODE_NAME  "GpuAgg"
#define AGG_TABLE_NAME "GpuAgg Table" /* reads one table for a node GpuAgg over several */

/* Rows in memory for which the device is asked in mode auto. */
#define AGG_DEVICE_ROWS (INT64CONST(1) << 18)

typedef enum AggMode
{
	AGG_WHOLE,	 /* from pages to results */
	AGG_PARTIAL, /* from a share of the pages to serialized states; below Gather */
	AGG_FINAL	 /* from those, and from the leader's own groups, to results */
} AggMode;

typedef struct AggCall
{
	Aggregate aggregate;
	Oid type;	  /* of the argument; ANYOID: count(*) */
	Oid result;	  /* type */
	Oid aggfnoid; /* for the permissions that core checks when its node starts */
	int distinct; /* number of its argument among those with DISTINCT; -1: all values count */
} AggCall;

/* What a sort and a LIMIT above want of the groups: the first n by a column, the sort's first key. */
typedef struct AggTop
{
	int n;		/* 0: all groups */
	int column; /* of the scan tuple */
	bool descending;
	bool nulls_first;
	int scale;	   /* of numerics; -1: of others */
	bool only_key; /* of those that are equal any will do */
} AggTop;

typedef struct AggSpec
{
	AggMode mode;
	bool over_children; /* its tables are read by nodes below it */
	bool over_subquery; /* its rows are those of a subquery, the plan below: of windows or groups */
	List *attributes;	/* of that: of each column of the plan the subquery's, */
	List *typmods;		/* and its typmod, which of numerics may be more than the query knows */
	int nkeys;
	Oid *equality; /* operators of the keys */
	int ncarried;
	int ndistinct;
	Oid *distinct_equality; /* operators of the arguments with DISTINCT */
	int ncalls;
	AggCall *calls;
	List *sets; /* grouping sets: each the numbers of its keys, from 0; NIL: all keys are one */
	List *groupings; /* the same of each grouping()'s arguments, in their order */
	int nquals;
	AggTop top;
} AggSpec;

/* The expression within a cast to its own type and collation, which expressions of a query never have. */
extern Expr *gpuagg_agg_hide(Expr *expr);

/* The expression of an entry of custom_scan_tlist, by number from 0, hidden or not. */
extern Expr *gpuagg_agg_entry(const CustomScan *plan, int number);

extern List *gpuagg_agg_spec_list(const AggSpec *spec);
extern AggSpec *gpuagg_agg_spec_read(const List *list);

#endif /* GPUAGG_AGG_SPEC_H */
