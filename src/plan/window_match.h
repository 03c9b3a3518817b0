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
	WindowFrame frame;
	List *calls; /* WindowFuncs, each once */
	WindowFunction *functions;
	bool ours; /* some function is one of ours, whether or not it matches */
} WindowMatch;

/*
 * What the node would compute in place of core's node.  Returns NULL, or why it
 * cannot: a phrase for EXPLAIN.
 */
extern const char *gpuagg_window_match(const WindowAggPath *path, WindowMatch *match);

#endif /* GPUAGG_WINDOW_MATCH_H */
