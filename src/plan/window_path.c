/*
 * window_path.c
 *	  Paths that compute windows with the node GpuWindow in place of core's.
 *
 * Core stacks a WindowAggPath for each window, with sorts between them, and hands over
 * only the top of the stack.  The stack is rebuilt from its bottom: a node of ours where
 * a window matches, elsewhere a copy of core's over the new input.  Our node may do a
 * full sort right below it itself, if its keys are of fixed width.
 *
 * A window's run condition, which ends it early, and the topmost window's filter, which
 * has the run conditions of all, go with the node that takes its place.
 */
#include "compat.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"

#include "gpuagg.h"
#include "plan/window_path.h"
#include "plan/plan_reason.h"
#include "types/sort_key.h"

/* Measured: a row's cost in our node, as a part of that in core's node and core's sort. */
#define WINDOW_PART 0.33
#define SORT_PART	0.14

/* A stack being rebuilt. */
typedef struct Rebuild
{
	PlannerInfo *root;
	RelOptInfo *rel;		/* whose paths the stack consists of */
	WindowMatch *matches;	/* of its windows, by winref */
	bool own_sort;			/* take over sorts */
	bool sorted;			/* one was taken over */
	GpuWindowPath *top;		/* the uppermost node of ours, or NULL */
	StringInfoData reasons; /* why windows of ours stay core's */
} Rebuild;

static create_upper_paths_hook_type previous_create_upper_paths_hook = NULL;

/* ---- the sort ---- */

/* Whether the node's sort knows the types of the keys, and their orders. */
static bool
can_sort_keys(const Rebuild *rebuild, const List *clauses)
{
	ListCell *cell;

	foreach (cell, clauses)
	{
		SortGroupClause *clause = lfirst(cell);
		Node *key = get_sortgroupclause_expr(clause, rebuild->root->processed_tlist);
		SqlForm form;
		bool descending;

		if (!gpuagg_sort_key_find(exprType(key), clause->sortop, &form, &descending))
			return false;
	}
	return list_length(clauses) <= SORT_MAX_KEYS;
}

static List *
keys_of(const WindowClause *clause)
{
	return list_concat_copy(clause->partitionClause, clause->orderClause);
}

static List *
pathkeys_of(const Rebuild *rebuild, const List *clauses)
{
	return make_pathkeys_for_sortclauses(rebuild->root, (List *) clauses,
										 rebuild->root->processed_tlist);
}

/* Whether the path is a sort for the window, by all its keys, that the node can do itself. */
static bool
can_sort(const Rebuild *rebuild, const Path *path, const WindowClause *clause)
{
	List *clauses = keys_of(clause);

	if (!rebuild->own_sort || !(IsA(path, SortPath) || IsA(path, IncrementalSortPath)) ||
		path->parent != rebuild->rel || !enable_sort)
		return false;
	return clauses != NIL && can_sort_keys(rebuild, clauses) &&
		   compare_pathkeys(path->pathkeys, pathkeys_of(rebuild, clauses)) == PATHKEYS_EQUAL;
}

/* Whether rows may come in another order than they do from core's node. */
static bool
may_lose_order(const Rebuild *rebuild, const WindowAggPath *core)
{
	List *wanted = rebuild->root->sort_pathkeys;

	/* a window above, or the query's ORDER BY, may rely on it */
	return core->path.pathkeys == NIL ||
		   (core->topwindow &&
			(wanted == NIL || !pathkeys_contained_in(wanted, core->path.pathkeys)));
}

/*
 * Whether the window is one partition of peers, in any order: then the node takes the rows as it
 * takes those that it sorts, as columns where they come so, and gives them in any order.
 */
static bool
is_whole(const Rebuild *rebuild, const WindowAggPath *core, WindowFrame frame)
{
	List *clauses = keys_of(core->winclause);

	return rebuild->own_sort && frame == WINDOW_WHOLE && can_sort_keys(rebuild, clauses) &&
		   pathkeys_of(rebuild, clauses) == NIL && may_lose_order(rebuild, core);
}

/* ---- the stack ---- */

static Path *rebuild_path(Rebuild *rebuild, Path *path);

/* Makes the cost of core's path that over another input. */
static void
move_cost(Path *path, const Path *from, const Path *to)
{
	Cost run = Max(path->total_cost - path->startup_cost - (from->total_cost - from->startup_cost),
				   0);

	path->startup_cost += to->startup_cost - from->startup_cost;
	path->total_cost = path->startup_cost + (to->total_cost - to->startup_cost) + run;
	compat_path_disabled_like(path, to);
}

/* Core's node over another input. */
static Path *
keep_window(const WindowAggPath *window, Path *input)
{
	WindowAggPath *copy = makeNode(WindowAggPath);

	*copy = *window;
	copy->subpath = input;
	move_cost(&copy->path, window->subpath, input);
	return (Path *) copy;
}

/*
 * Our node's cost: WINDOW_PART of what core's node adds to its input, and the whole cost
 * of evaluating the target.  Its first row comes as early as core's, unless the node
 * sorts, as then it reads everything first.
 */
static void
set_cost(GpuWindowPath *window, const WindowAggPath *core, const Path *input, const Path *sort)
{
	const Path *from = core->subpath;
	const PathTarget *target = core->path.pathtarget;
	Cost first = core->path.startup_cost - from->startup_cost;
	Cost target_cost = target->cost.startup + target->cost.per_tuple * core->path.rows;
	Cost rows_cost = core->path.total_cost - from->total_cost - target_cost;
	Path *path = &window->path.path;

	if (sort != NULL)
	{
		const Path *unsorted = ((const SortPath *) sort)->subpath;

		path->startup_cost = input->total_cost +
							 SORT_PART * (sort->startup_cost - unsorted->total_cost);
		path->total_cost = path->startup_cost + (sort->total_cost - sort->startup_cost);
	}
	else
	{
		path->startup_cost = input->startup_cost;
		path->total_cost = input->total_cost;
	}
	path->total_cost += WINDOW_PART * Max(rows_cost, 0) + target_cost;
	path->startup_cost = Min(path->startup_cost + first, path->total_cost);
	compat_path_disabled_like(path, input);
}

static Path *
take_window(Rebuild *rebuild, const WindowAggPath *core, const WindowMatch *match)
{
	GpuWindowPath *window = (GpuWindowPath *) newNode(sizeof(GpuWindowPath), T_CustomPath);
	const Path *sort = NULL;
	Path *input = core->subpath;

	if (can_sort(rebuild, input, core->winclause))
	{
		List *pathkeys = input->pathkeys;

		/* what it is sorted by already does not help a radix sort */
		input = ((SortPath *) input)->subpath;
		sort = (Path *) create_sort_path(rebuild->root, rebuild->rel, input, pathkeys, -1.0);
	}
	input = rebuild_path(rebuild, input);

	window->path.path = core->path;
	window->path.path.type = T_CustomPath;
	window->path.path.pathtype = T_CustomScan;
	window->path.flags = CUSTOMPATH_SUPPORT_PROJECTION;
	window->path.custom_paths = list_make1(input);
	window->path.methods = &gpuagg_window_path_methods;
	window->clause = core->winclause;
	window->match = *match;
	window->run_condition = WINDOW_PATH_RUN_CONDITION(core);
	window->qual = core->qual;
	window->top = core->topwindow;
	window->sort = sort != NULL || is_whole(rebuild, core, match->frame);
	if (window->sort && sort == NULL)
		window->path.path.pathkeys = NIL;
	set_cost(window, core, input, sort);

	rebuild->sorted |= sort != NULL;
	rebuild->top = window;
	return (Path *) window;
}

static Path *
rebuild_window(Rebuild *rebuild, WindowAggPath *core)
{
	const WindowMatch *match = &rebuild->matches[core->winclause->winref];
	Path *input;

	if (match->reason == NULL)
		return take_window(rebuild, core, match);
	if (match->ours)
		gpuagg_reason_add(&rebuild->reasons, match->reason);
	input = rebuild_path(rebuild, core->subpath);
	return input == core->subpath ? (Path *) core : keep_window(core, input);
}

/* The path with nodes of ours in it; the path itself if there are none. */
static Path *
rebuild_path(Rebuild *rebuild, Path *path)
{
	Path *input;
	Path *below;

	check_stack_depth();
	if (path->parent != rebuild->rel)
		return path;
	if (IsA(path, WindowAggPath))
		return rebuild_window(rebuild, (WindowAggPath *) path);
	if (!IsA(path, SortPath) && !IsA(path, IncrementalSortPath))
		return path;
	below = ((SortPath *) path)->subpath;
	input = rebuild_path(rebuild, below);
	if (input == below)
		return path;
	if (IsA(path, SortPath))
		return (Path *) create_sort_path(rebuild->root, rebuild->rel, input, path->pathkeys, -1.0);
	return (Path *) create_incremental_sort_path(rebuild->root, rebuild->rel, input, path->pathkeys,
												 ((IncrementalSortPath *) path)->nPresortedCols,
												 -1.0);
}

/* Whether some window of the stack has functions of ours. */
static bool
has_ours(const RelOptInfo *rel, WindowAggPath *top, const WindowMatch *matches)
{
	for (WindowAggPath *path = top; path != NULL; path = gpuagg_window_below(rel, path->subpath))
		if (matches[path->winclause->winref].ours)
			return true;
	return false;
}

/*
 * The stack with nodes of ours, or NULL if it would have none.  *sorted: one of them does
 * a sort that was a node of the stack.
 */
static Path *
rebuild_stack(PlannerInfo *root, RelOptInfo *rel, Path *path, WindowMatch *matches, bool own_sort,
			  bool *sorted)
{
	Rebuild rebuild = {.root = root, .rel = rel, .matches = matches, .own_sort = own_sort};

	initStringInfo(&rebuild.reasons);
	path = rebuild_path(&rebuild, path);
	*sorted = rebuild.sorted;
	if (rebuild.top != NULL)
	{
		rebuild.top->kept = rebuild.reasons.len > 0 ? rebuild.reasons.data : NULL;
		return path;
	}
	if (rebuild.reasons.len > 0)
		gpuagg_reason_note(PLAN_WINDOW, rebuild.reasons.data);
	return NULL;
}

static void
add_window_paths(PlannerInfo *root, RelOptInfo *rel)
{
	List *paths = NIL;
	ListCell *cell;

	/* add_path() frees paths that are worse, so all are made first */
	foreach (cell, rel->pathlist)
	{
		Path *path = lfirst(cell);
		WindowAggPath *top = (WindowAggPath *) path;
		WindowMatch *matches;
		Path *ours;
		bool sorted;

		if (!IsA(path, WindowAggPath))
			continue;
		matches = gpuagg_window_matches(root->parse, top);
		if (!has_ours(rel, top, matches))
			continue;
		ours = rebuild_stack(root, rel, path, matches, true, &sorted);
		if (ours == NULL)
			continue;
		paths = lappend(paths, ours);
		if (sorted)
			paths = lappend(paths, rebuild_stack(root, rel, path, matches, false, &sorted));
	}
	foreach (cell, paths)
		add_path(rel, lfirst(cell));
}

static void
create_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
				   RelOptInfo *output_rel, void *extra)
{
	if (previous_create_upper_paths_hook)
		previous_create_upper_paths_hook(root, stage, input_rel, output_rel, extra);
	if (stage == UPPERREL_WINDOW && gpuagg_enable_window_scan)
		add_window_paths(root, output_rel);
}

void
gpuagg_window_path_install(void)
{
	previous_create_upper_paths_hook = create_upper_paths_hook;
	create_upper_paths_hook = create_upper_paths;
}
