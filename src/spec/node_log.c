/*
 * node_log.c
 *	  What the server log says of our nodes, at level DEBUG1.
 *
 * Planning notes why a node is not used, execution that one is.  A query is planned, and a
 * function's queries are run, many times in one statement; a text is sent once.
 */
#include "compat.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "spec/node_log.h"

static TimestampTz statement;		/* the start of the one that the texts were sent in */
static MemoryContext texts_context; /* NULL: nothing was sent yet */
static List *texts = NIL;

static bool
is_new(const char *text)
{
	MemoryContext old;
	ListCell *cell;

	if (texts_context == NULL)
		texts_context = AllocSetContextCreate(TopMemoryContext, "gpuagg messages",
											  ALLOCSET_SMALL_SIZES);
	if (statement != GetCurrentStatementStartTimestamp())
	{
		texts = NIL;
		MemoryContextReset(texts_context);
		statement = GetCurrentStatementStartTimestamp();
	}
	foreach (cell, texts)
		if (strcmp(lfirst(cell), text) == 0)
			return false;
	old = MemoryContextSwitchTo(texts_context);
	texts = lappend(texts, pstrdup(text));
	MemoryContextSwitchTo(old);
	return true;
}

bool
gpuagg_node_logged(void)
{
	return message_level_is_interesting(DEBUG1);
}

void
gpuagg_node_log(const char *what, const char *why)
{
	char *text;

	if (!gpuagg_node_logged())
		return;
	text = why == NULL ? pstrdup(what) : psprintf("%s: %s", what, why);
	if (is_new(text))
		ereport(DEBUG1, (errmsg_internal("%s", text), errhidecontext(true)));
	pfree(text);
}
