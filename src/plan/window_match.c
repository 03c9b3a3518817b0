/*
 * window_match.c
 *	  Which windows of a query the node GpuWindow computes, and why not the others.
 *
 * A window matches when some of its functions are ours, the others count or number rows,
 * and have no FILTER, no argument has
 * side effects or a subquery, and the frame begins with the partition and ends with the
 * row, its last peer, or the partition.  Running functions that would raise an error are
 * left to core's node, which raises it.
 */
#include "compat.h"

#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/regproc.h"

#include "gpuagg.h"
#include "spec/core_function.h"
#include "spec/window_function.h"
#include "plan/window_match.h"

#define FRAME_START (FRAMEOPTION_START_UNBOUNDED_PRECEDING)
#define FRAME_BOUNDS                                                                          \
	(FRAMEOPTION_START_UNBOUNDED_PRECEDING | FRAMEOPTION_END_UNBOUNDED_PRECEDING |            \
	 FRAMEOPTION_START_UNBOUNDED_FOLLOWING | FRAMEOPTION_END_UNBOUNDED_FOLLOWING |            \
	 FRAMEOPTION_START_CURRENT_ROW | FRAMEOPTION_END_CURRENT_ROW | FRAMEOPTION_START_OFFSET | \
	 FRAMEOPTION_END_OFFSET)

/* Notes each function of the windows, of which the target of the topmost one has all. */
static void
find_calls(const PathTarget *target, WindowMatch *matches, Index last)
{
	List *nodes = pull_var_clause((Node *) target->exprs, PVC_INCLUDE_AGGREGATES |
															  PVC_INCLUDE_WINDOWFUNCS |
															  PVC_INCLUDE_PLACEHOLDERS);
	ListCell *cell;

	foreach (cell, nodes)
	{
		WindowFunc *call = lfirst(cell);

		if (IsA(call, WindowFunc) && call->winref <= last)
			matches[call->winref].calls = list_append_unique(matches[call->winref].calls, call);
	}
}

static const char *
match_frame(const WindowClause *clause, WindowFrame *frame)
{
	int options = clause->frameOptions;
	int bounds = options & FRAME_BOUNDS;

	if (options & FRAMEOPTION_EXCLUSION)
		return "the frame has EXCLUDE";
	if (bounds == (FRAME_START | FRAMEOPTION_END_UNBOUNDED_FOLLOWING))
		*frame = WINDOW_WHOLE;
	else if (bounds != (FRAME_START | FRAMEOPTION_END_CURRENT_ROW))
		return "the frame is neither up to the current row nor the whole partition";
	else if (options & FRAMEOPTION_ROWS)
		*frame = WINDOW_ROWS;
	else
		*frame = clause->orderClause == NIL ? WINDOW_WHOLE : WINDOW_PEERS;
	return NULL;
}

/* What a running function asks beyond an aggregate. */
static const char *
match_running(const WindowFunc *call, const WindowClause *clause)
{
	int options = clause->frameOptions;
	Node *exclusive = list_length(call->args) == 2 ? lsecond(call->args) : NULL;
	bool false_for_sure;

	if ((options & FRAMEOPTION_END_UNBOUNDED_FOLLOWING) || (options & FRAMEOPTION_GROUPS))
		return "a running function does not have the frame";
	if (exclusive == NULL ||
		!(IsA(exclusive, Const) ||
		  (IsA(exclusive, Param) && ((Param *) exclusive)->paramkind == PARAM_EXTERN)))
		return "the argument \"exclusive\" is not a constant";
	if (IsA(exclusive, Const) && ((Const *) exclusive)->constisnull)
		return "the argument \"exclusive\" is null";
	false_for_sure = IsA(exclusive, Const) && !DatumGetBool(((Const *) exclusive)->constvalue);
	if (!false_for_sure && !(options & FRAMEOPTION_ROWS))
		return "an exclusive running function needs a ROWS frame";
	return NULL;
}

/* Why a function of core's that stands beside ours is not computed; NULL: it is. */
static const char *
match_beside(const WindowFunc *call, const WindowFunction *function, WindowFrame frame)
{
	if (call->aggfilter != NULL)
		return "a function has FILTER";
	if (frame != WINDOW_PEERS &&
		(function->value == WINDOW_RANK || function->value == WINDOW_DENSE_RANK))
		return psprintf("GpuWindow computes %s only under a frame up to the last peer",
						format_procedure(call->winfnoid));
	return NULL;
}

/* Sets *ours if the function is one of ours, else leaves it as it is. */
static const char *
match_call(const WindowFunc *call, const WindowClause *clause, WindowFrame frame,
		   WindowFunction *function, bool *ours)
{
	bool running;

	if (!gpuagg_window_function(call->winfnoid, function, &running))
	{
		const char *objection = gpuagg_core_objection(call->winfnoid);

		if (objection == NULL && gpuagg_core_beside(call->winfnoid, function))
			return match_beside(call, function, frame);

		*ours |= gpuagg_core_aggregates != CORE_OFF;
		if (objection != NULL)
			return objection;
		return psprintf("GpuWindow does not compute %s", format_procedure(call->winfnoid));
	}
	*ours = true;
	if (call->aggfilter != NULL)
		return "a function has FILTER";
	if (contain_volatile_functions((Node *) call->args))
		return "an argument is volatile";
	if (contain_subplans((Node *) call->args))
		return "an argument has a subquery";
	return running ? match_running(call, clause) : NULL;
}

/*
 * Plans find columns by their expressions: of two that are the same expression the first
 * one, and a constant is found nowhere.  Why this would make a difference for the columns
 * that the node reads; or NULL.  Grouping sets make some columns NULL.
 */
static const char *
match_columns(const Query *query, const PathTarget *target)
{
	bool is_volatile = contain_volatile_functions((Node *) target->exprs);
	ListCell *cell;

	if (!is_volatile && query->groupingSets == NIL)
		return NULL;
	foreach (cell, target->exprs)
	{
		int i = foreach_current_index(cell);

		if (query->groupingSets != NIL && IsA(lfirst(cell), Const))
			return "a constant is a column of grouping sets";
		while (++i < list_length(target->exprs))
			if (equal(lfirst(cell), list_nth(target->exprs, i)))
				return is_volatile ? "two columns are the same volatile expression"
								   : "two columns of grouping sets are the same expression";
	}
	return NULL;
}

static void
match_window(const WindowClause *clause, WindowMatch *match)
{
	ListCell *cell;

	match->functions = palloc0(list_length(match->calls) * sizeof(WindowFunction));
	match->reason = match_frame(clause, &match->frame);

	/* all calls, for `ours` */
	foreach (cell, match->calls)
	{
		const char *objection = match_call(lfirst(cell), clause, match->frame,
										   &match->functions[foreach_current_index(cell)],
										   &match->ours);

		if (objection != NULL)
			match->reason = objection;
	}
	if (match->calls == NIL)
		match->reason = "the window has no functions";
	else if (!match->ours && match->reason == NULL)
		match->reason = "the window has no functions of gpuagg's";
}

WindowAggPath *
gpuagg_window_below(const RelOptInfo *rel, Path *path)
{
	while (path->parent == rel && (IsA(path, SortPath) || IsA(path, IncrementalSortPath)))
		path = ((SortPath *) path)->subpath;
	return path->parent == rel && IsA(path, WindowAggPath) ? (WindowAggPath *) path : NULL;
}

/* Each window is looked at once, and so is each function. */
WindowMatch *
gpuagg_window_matches(const Query *query, WindowAggPath *top)
{
	const RelOptInfo *rel = top->path.parent;
	const WindowAggPath *lowest = NULL;
	WindowMatch *matches;
	Index last = 0;
	const char *objection;

	for (WindowAggPath *path = top; path != NULL; path = gpuagg_window_below(rel, path->subpath))
	{
		last = Max(last, path->winclause->winref);
		lowest = path;
	}
	matches = palloc0((last + 1) * sizeof(WindowMatch));
	find_calls(top->path.pathtarget, matches, last);
	/* above the lowest window come columns of functions alone, each once */
	objection = match_columns(query, lowest->subpath->pathtarget);
	for (WindowAggPath *path = top; path != NULL; path = gpuagg_window_below(rel, path->subpath))
	{
		WindowMatch *match = &matches[path->winclause->winref];

		match_window(path->winclause, match);
		if (match->reason == NULL)
			match->reason = objection;
	}
	return matches;
}
