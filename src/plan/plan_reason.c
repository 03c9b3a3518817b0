/*
 * plan_reason.c
 *	  Why a plan has none of our nodes, for EXPLAIN (VERBOSE) and the server log.
 *
 * The planner leaves notes while EXPLAIN plans a query.  They are printed after the
 * query's plan; in the structured formats as an object of their own.  EXPLAIN EXECUTE
 * does not call the hook and prints none.  The statement whose planning loads the library
 * began without the hook; its reasons are sent as notices.  Where messages of level DEBUG1
 * are wanted, the reasons of every query that is planned are sent as such.
 */
#include "compat.h"

#include "access/xact.h"
#include "commands/defrem.h"
#include "tcop/pquery.h"
#include "utils/memutils.h"

#include "plan/plan_reason.h"
#include "spec/node_log.h"

static const struct
{
	const char *group;
	const char *label;
} labels[PLAN_NODES] = {
	[PLAN_AGG] = {"Aggregate", "GpuAgg not used"},
	[PLAN_WINDOW] = {"Window", "GpuWindow not used"},
};

static ExplainOneQuery_hook_type previous_explain_one_query_hook = NULL;
static StringInfo notes = NULL; /* of the innermost EXPLAIN (VERBOSE), one for each node; or NULL */
static TimestampTz loaded_in;	/* start of the statement that loaded the library */
static StringInfoData sent;		/* as notices, in that statement */

void
gpuagg_reason_add(StringInfo reasons, const char *reason)
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

bool
gpuagg_reason_wanted(void)
{
	return notes != NULL || explains_without_hook() || gpuagg_node_logged();
}

void
gpuagg_reason_note(PlanNode node, const char *reason)
{
	if (notes != NULL)
		gpuagg_reason_add(&notes[node], reason);
	else if (explains_without_hook() && strstr(sent.data, reason) == NULL)
	{
		appendStringInfoString(&sent, reason);
		ereport(NOTICE, (errmsg("%s: %s", labels[node].label, reason)));
	}
	gpuagg_node_log(labels[node].label, reason);
}

static void
show_note(PlanNode node, const StringInfoData *own, ExplainState *es)
{
	if (own->len == 0)
		return;
	ExplainOpenGroup(labels[node].group, NULL, true, es);
	ExplainPropertyText(labels[node].label, own->data, es);
	ExplainCloseGroup(labels[node].group, NULL, true, es);
}

static void
explain_one_query(Query *query, int cursorOptions, IntoClause *into, struct ExplainState *es,
				  const char *queryString, ParamListInfo params, QueryEnvironment *queryEnv)
{
	StringInfo outer = notes;
	StringInfoData own[PLAN_NODES];

	for (int i = 0; i < PLAN_NODES; i++)
		initStringInfo(&own[i]);
	notes = es->verbose ? own : NULL;
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

	for (int i = 0; i < PLAN_NODES; i++)
	{
		show_note((PlanNode) i, &own[i], es);
		pfree(own[i].data);
	}
}

void
gpuagg_reason_install(void)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	loaded_in = GetCurrentStatementStartTimestamp();
	initStringInfo(&sent);
	MemoryContextSwitchTo(old);
	previous_explain_one_query_hook = ExplainOneQuery_hook;
	ExplainOneQuery_hook = explain_one_query;
}
