/*
 * window_spec.h
 *	  What a GpuWindow node computes: made by the planner, read by the executor.
 *
 * The node's scan tuple is the child's columns (1 to nchild) and then one column
 * for each function.  custom_scan_tlist describes it: the child's expressions,
 * then a call of each function, without its window (window_plan.c says why): for
 * EXPLAIN and for the types.  custom_exprs holds, function by function, its
 * argument x (a NULL constant of type "any" for count(*)) and `exclusive` (a
 * false constant where the function has none), over that scan tuple.
 * custom_private holds the spec as a List of Lists of Integers and OIDs, which
 * copyObject and nodeToString keep.
 */
#ifndef GPUAGG_WINDOW_SPEC_H
#define GPUAGG_WINDOW_SPEC_H

#include "access/attnum.h"
#include "nodes/pg_list.h"

#include "operation/running_operation.h"

/* Of the node, by which plans find its methods. */
#define WINDOW_NODE_NAME "GpuWindow"

typedef enum WindowFrame
{
	WINDOW_ROWS,  /* up to the row */
	WINDOW_PEERS, /* up to its last peer */
	WINDOW_WHOLE  /* the whole partition */
} WindowFrame;

/* A column of the child by which rows are told apart, or sorted. */
typedef struct WindowColumn
{
	AttrNumber attno; /* of the child */
	Oid equality;	  /* operator */
	Oid collation;
	Oid sort_operator; /* of the own sort; InvalidOid: rows come sorted */
	bool nulls_first;
} WindowColumn;

typedef struct WindowFunction
{
	RunningFunction function;
	Oid type;	  /* of the argument, as gpuagg_running_operation() wants it */
	Oid winfnoid; /* for the permission that core checks when its node starts */
} WindowFunction;

typedef struct WindowSpec
{
	int nchild;
	WindowFrame frame;
	bool sort; /* by all partition columns, then all order columns, before the rest */
	int npartition;
	WindowColumn *partition;
	int norder;
	WindowColumn *order;
	int nfunctions;
	WindowFunction *functions;
	char *kept; /* why core's node was kept for other windows of the query, for EXPLAIN; or NULL */
} WindowSpec;

extern List *gpuagg_window_spec_list(const WindowSpec *spec);
extern WindowSpec *gpuagg_window_spec_read(const List *list);

#endif /* GPUAGG_WINDOW_SPEC_H */
