/*
 * window_reason.c
 *	  Why a plan has none of our window nodes, for EXPLAIN (VERBOSE).
 *
 * The planner leaves notes while EXPLAIN plans a query.  They are printed after the
 * query's plan; in the structured formats as an object of their own.  EXPLAIN EXECUTE
 * does not call the hook and prints none.
 */
#include "compat.h"

#include "plan/window_reason.h"

static ExplainOneQuery_hook_type previous_explain_one_query_hook = NULL;
static StringInfo notes = NULL; /* of the innermost EXPLAIN (VERBOSE), or NULL */

void
gpuagg_window_reason_add(StringInfo reasons, const char *reason)
{
	if (strstr(reasons->data, reason) != NULL)
		return;
	if (reasons->len > 0)
		appendStringInfoString(reasons, "; ");
	appendStringInfoString(reasons, reason);
}

void
gpuagg_window_reason_note(const char *reason)
{
	if (notes != NULL)
		gpuagg_window_reason_add(notes, reason);
}

static void
explain_one_query(Query *query, int cursorOptions, IntoClause *into, struct ExplainState *es,
				  const char *queryString, ParamListInfo params, QueryEnvironment *queryEnv)
{
	StringInfo outer = notes;
	StringInfoData own;

	initStringInfo(&own);
	notes = es->verbose ? &own : NULL;
	PG_TRY();
	{
		if (previous_explain_one_query_hook)
			previous_explain_one_query_hook(query, cursorOptions, into, es, queryString, params,
											queryEnv);
		else
			compat_explain_one_query(query, cursorOptions, into, es, queryString, params, queryEnv);
	}
	PG_FINALLY();
	{
		notes = outer;
	}
	PG_END_TRY();

	if (own.len > 0)
	{
		ExplainOpenGroup("Window", NULL, true, es);
		ExplainPropertyText("GpuWindow not used", own.data, es);
		ExplainCloseGroup("Window", NULL, true, es);
	}
	pfree(own.data);
}

void
gpuagg_window_reason_install(void)
{
	previous_explain_one_query_hook = ExplainOneQuery_hook;
	ExplainOneQuery_hook = explain_one_query;
}
