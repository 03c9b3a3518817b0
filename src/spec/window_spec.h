/*
 * window_spec.h
 *	  What a GpuWindow node computes: made by the planner, read by the executor.
 *
 * The node's scan tuple has the child's columns (1 to nchild), then a column for each
 * function.  custom_scan_tlist has the child's expressions and a call of each function,
 * for EXPLAIN and for the types (window_plan.c).  custom_exprs has two expressions for
 * each function, over the scan tuple: its argument (for count(*) a NULL constant of type
 * "any") and `exclusive` (a false constant if the function has none).  Behind them come the
 * conditions of the run condition, then the constants of conditions above.  The plan's qual is the filter.  custom_private has
 * the spec as a List of Lists, which copyObject and nodeToString can handle.
 *
 * A node below another one has no target list in the plan if all its columns are columns of
 * the scan tuple.  The planner's last step looks for each expression of it in
 * custom_scan_tlist, one after the other, and for hundreds of windows, each with the columns
 * of all below it, that would take most of the planning time.
 */
#ifndef GPUAGG_WINDOW_SPEC_H
#define GPUAGG_WINDOW_SPEC_H

#include "access/attnum.h"
#include "nodes/pg_list.h"

#include "operation/running_operation.h"

/* The name by which plans find the node's methods. */
#define WINDOW_NODE_NAME "GpuWindow"

typedef enum WindowFrame
{
	WINDOW_ROWS,  /* up to the row */
	WINDOW_PEERS, /* up to its last peer */
	WINDOW_WHOLE  /* the whole partition */
} WindowFrame;

/* A column of the child by which rows are told apart or sorted. */
typedef struct WindowColumn
{
	AttrNumber attno;
	Oid equality; /* operator */
	Oid collation;
	Oid sort_operator; /* InvalidOid: rows come sorted */
	bool nulls_first;
} WindowColumn;

/* What a function's value is: of core's functions that number rows, a number. */
typedef enum WindowValue
{
	WINDOW_AGGREGATE,
	WINDOW_ROW_NUMBER,
	WINDOW_RANK, /* these two under the frame PEERS */
	WINDOW_DENSE_RANK
} WindowValue;

typedef struct WindowFunction
{
	WindowValue value;
	Aggregate aggregate; /* of numbers: COUNT */
	Oid type;			 /* of the argument, for gpuagg_running_operation() */
	Oid winfnoid;		 /* for the permission that core checks when its node starts */
} WindowFunction;

/* A condition above on a function's value: `value <strategy> constant`. */
typedef struct WindowAbove
{
	int function;
	int strategy; /* of the default btree of its type */
} WindowAbove;

typedef struct WindowSpec
{
	int nchild;
	WindowFrame frame;
	bool top;  /* no window of the query is above it */
	bool sort; /* the node first sorts by all partition columns, then all order columns */
	int npartition;
	WindowColumn *partition;
	int norder;
	WindowColumn *order;
	int nfunctions;
	WindowFunction *functions;
	int nabove;
	WindowAbove *above;
	int noutput; /* -1: the plan has the node's target list */
	int *output; /* else it comes from these columns of the scan tuple, when the node starts */
	char *kept;	 /* why other windows of the query are left to core, for EXPLAIN; or NULL */
} WindowSpec;

extern List *gpuagg_window_spec_list(const WindowSpec *spec);
extern WindowSpec *gpuagg_window_spec_read(const List *list);

#endif /* GPUAGG_WINDOW_SPEC_H */
