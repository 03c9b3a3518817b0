/*
 * plan_reason.h
 *	  Why a plan has none of our nodes, for EXPLAIN (VERBOSE) and the server log.
 */
#ifndef GPUAGG_PLAN_REASON_H
#define GPUAGG_PLAN_REASON_H

#include "lib/stringinfo.h"

typedef enum PlanNode
{
	PLAN_AGG,
	PLAN_WINDOW,
	PLAN_NODES
} PlanNode;

/* Adds a reason to others, unless it is among them. */
extern void gpuagg_reason_add(StringInfo reasons, const char *reason);

/* Whether notes are wanted: by an EXPLAIN (VERBOSE) that plans the query, or by the log. */
extern bool gpuagg_reason_wanted(void);

/* Notes a reason while a query is planned.  The text is copied. */
extern void gpuagg_reason_note(PlanNode node, const char *reason);

/* Makes EXPLAIN print the notes; called once, when the library is loaded. */
extern void gpuagg_reason_install(void);

#endif /* GPUAGG_PLAN_REASON_H */
