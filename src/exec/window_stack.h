/*
 * window_stack.h
 *	  Nodes GpuWindow one above the other, whose functions the device computes together.
 */
#ifndef GPUAGG_WINDOW_STACK_H
#define GPUAGG_WINDOW_STACK_H

#include "common/query_window.h"
#include "exec/window_state.h"

typedef struct WindowStack
{
	int n;										  /* nodes, */
	WindowScanState *nodes[GPUAGG_WINDOW_ORDERS]; /* from the lowest up */
	int first_function[GPUAGG_WINDOW_ORDERS];	  /* of a node, by number among those of all */
	int nfunctions;
	PlanState *child; /* of the lowest one */
} WindowStack;

/* A column of the top node's scan tuple: one of the child's, or a function by number among all. */
typedef struct WindowOrigin
{
	int column; /* -1: it is a function */
	int function;
} WindowOrigin;

/* Whether a value of a node's functions may raise an error when it is made. */
extern bool gpuagg_window_may_raise(const WindowScanState *node);

/* Finds the nodes from the top one down; why they cannot be taken together, or NULL. */
extern const char *gpuagg_window_stack_find(WindowScanState *top, WindowStack *stack);

/* The plan below the lowest of the nodes that begin with this one. */
extern PlanState *gpuagg_window_stack_child(const WindowScanState *top);

/* Whether one of them has its rows sorted, from a run before. */
extern bool gpuagg_window_stack_is_sorted(const WindowScanState *top);

/* Where a column of the top node's scan tuple comes from. */
extern WindowOrigin gpuagg_window_stack_origin(const WindowStack *stack, int scan);

/* A function, by number among all, and its node's number. */
extern WindowFunctionState *gpuagg_window_stack_function(const WindowStack *stack, int f,
														 int *node);

/*
 * By node the columns of its child's rows: TargetEntrys over the table of one of the plans below all; of
 * functions' values without an expression.
 */
extern void gpuagg_window_stack_targets(const WindowStack *stack, PlanState *plan, List **targets);

/* Whether an expression over a child's rows reads none of those. */
extern bool gpuagg_window_stack_reads_table(const List *targets, const Node *expr);

/* Before a run in the lower nodes' place, and after it, as if each had given so many rows. */
extern void gpuagg_window_stack_begin(const WindowStack *stack);
extern void gpuagg_window_stack_end(const WindowStack *stack, int64 nrows);

#endif /* GPUAGG_WINDOW_STACK_H */
