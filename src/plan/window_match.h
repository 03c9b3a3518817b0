/*
 * window_match.h
 *	  Which windows of a query the node GpuWindow computes, and why not the others.
 */
#ifndef GPUAGG_WINDOW_MATCH_H
#define GPUAGG_WINDOW_MATCH_H

#include "nodes/pathnodes.h"

#include "spec/window_spec.h"

/* One window of a query. */
typedef struct WindowMatch
{
	const char *reason; /* NULL: the node computes it; or why it cannot, a phrase for EXPLAIN */
	WindowFrame frame;
	List *calls; /* WindowFuncs, each once */
	WindowFunction *functions;
	bool ours; /* some function is one of ours, whether or not it matches */
} WindowMatch;

/* The WindowAggPath at or below a path, with nothing but sorts above it, of that rel; or NULL. */
extern WindowAggPath *gpuagg_window_below(const RelOptInfo *rel, Path *path);

/*
 * What the node would compute in place of core's nodes in the stack under `top` of a query.  Indexed
 * by winref.
 */
extern WindowMatch *gpuagg_window_matches(const Query *query, WindowAggPath *top);

#endif /* GPUAGG_WINDOW_MATCH_H */
