/*
 * window_reason.c
 *	  Why a plan has none of our window nodes, for EXPLAIN (VERBOSE).
 *
 * The planner leaves notes while EXPLAIN plans a query.  They are printed after the
 * query's plan; in the structured formats as an object of their own.  EXPLAIN EXECUTE
 * does not call the hook and prints none.  The statement whose planning loads the library
 * began without the hook; its reasons are sent as notices.
 */
#include "compat.h"

#include "access/xact.h"
#include "commands/defrem.h"
#include "tcop/pquery.h"
#include "utils/memutils.h"

#include "plan/window_reason.h"

static ExplainOneQuery_hook_type previous_explain_one_query_hook = NULL;
static StringInfo notes = NULL; /* of the innermost EXPLAIN (VERBOSE), or NULL */
static TimestampTz loaded_in;	/* start of the statement that loaded the library */
static StringInfoData sent;		/* as notices, in that statement */

void
gpuagg_window_reason_add(StringInfo reasons, const char *reason)
{
	if (strstr(reasons->data, reason) != NULL)
		return;
	if (reasons->len > 0)
		appendStringInfoString(reasons, "; ");
	appendStringInfoString(reasons, reason);
}

/* Whether the session's statement is an EXPLAIN (VERBOSE) that loaded the library. */
static bool
explains_without_hook(void)
{
	const PlannedStmt *statement;
	bool verbose = false;
	ListCell *cell;

	if (loaded_in != GetCurrentStatementStartTimestamp() || ActivePortal == NULL ||
		list_length(ActivePortal->stmts) != 1)
		return false;
	statement = linitial_node(PlannedStmt, ActivePortal->stmts);
	if (statement->utilityStmt == NULL || !IsA(statement->utilityStmt, ExplainStmt))
		return false;
	foreach (cell, ((const ExplainStmt *) statement->utilityStmt)->options)
		if (strcmp(((DefElem *) lfirst(cell))->defname, "verbose") == 0)
			verbose = defGetBoolean(lfirst(cell));
	return verbose;
}

void
gpuagg_window_reason_note(const char *reason)
{
	if (notes != NULL)
		gpuagg_window_reason_add(notes, reason);
	else if (explains_without_hook() && strstr(sent.data, reason) == NULL)
	{
		appendStringInfoString(&sent, reason);
		ereport(NOTICE, (errmsg("GpuWindow not used: %s", reason)));
	}
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
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	loaded_in = GetCurrentStatementStartTimestamp();
	initStringInfo(&sent);
	MemoryContextSwitchTo(old);
	previous_explain_one_query_hook = ExplainOneQuery_hook;
	ExplainOneQuery_hook = explain_one_query;
}
