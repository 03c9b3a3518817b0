/*
 * agg_path.c
 *	  Paths that aggregate one table, or one made of several, with the node GpuAgg in place of
 *	  core's.
 *
 * [GpuAgg FINAL] > Gather > [GpuAgg PARTIAL] where workers are worth it and allowed,
 * beside a single GpuAgg.  Over several tables the last of these is above an Append of
 * [GpuAgg Table] nodes, so that tables are pruned and shared out among workers as core does
 * it, but a process has its groups once, not once a table.  No row comes before all are read, so that the startup cost
 * is nearly the total: where few rows of the result are wanted, or few of the table, plans
 * that begin with an index may be cheaper.  With gpuagg.min_table_pages 0 they are not
 * asked.
 */
#include "compat.h"

#include "access/transam.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "port/pg_bitutils.h"
#include "utils/selfuncs.h"

#include "gpuagg.h"
#include "plan/agg_children.h"
#include "plan/agg_cost.h"
#include "plan/agg_path.h"
#include "plan/agg_subquery.h"
#include "plan/agg_limit.h"
#include "plan/plan_reason.h"

#define VALUE_GROUPS  3 /* groups that a value with DISTINCT costs, where groups are spilled */
#define SORTED_FACTOR 2 /* to the cheapest path's cost: an index in the order of the table */

static create_upper_paths_hook_type previous_create_upper_paths_hook = NULL;

/* before: until there is the first group. */
static void
set_cost(PlannerInfo *root, GpuAggPath *path, Cost before, double groups)
{
	const PathTarget *target = path->path.path.pathtarget;
	QualCost having;

	cost_qual_eval_node(&having, path->having, root);
	path->path.path.startup_cost = before + target->cost.startup + having.startup;
	path->path.path.total_cost = path->path.path.startup_cost +
								 (target->cost.per_tuple + having.per_tuple + cpu_tuple_cost) *
									 groups;
}

static PathTarget *
partial_target(PlannerInfo *root, const AggMatch *match)
{
	PathTarget *target = create_empty_pathtarget();
	ListCell *cell;

	foreach (cell, match->keys)
		add_column_to_pathtarget(target, lfirst(cell), 0);
	foreach (cell, match->carried)
		add_column_to_pathtarget(target, lfirst(cell), 0);
	foreach (cell, match->distinct)
		add_column_to_pathtarget(target, lfirst(cell), 0);
	foreach (cell, match->aggrefs)
		add_column_to_pathtarget(target, (Expr *) gpuagg_agg_partial(lfirst(cell)), 0);
	return set_pathtarget_cost_width(root, target);
}

/* What all paths of a query are made from. */
typedef struct AggPaths
{
	PlannerInfo *root;
	RelOptInfo *input;
	RelOptInfo *output;
	RelOptInfo *named; /* output with the table's number, for the names of columns in EXPLAIN */
	AggMatch match;
	Node *having;
	double groups;	/* by all keys */
	double values;	/* with DISTINCT, of all groups */
	bool sorted;	/* rows can be had in the order of groups almost for nothing */
	double results; /* groups of all grouping sets */
	double rows;	/* of these, past HAVING */
} AggPaths;

static double
count_groups(const AggPaths *paths, double rows)
{
	if (paths->match.keys == NIL)
		return 1;
	return estimate_num_groups(paths->root, paths->match.key_inputs, rows, NULL, NULL);
}

/* Values with DISTINCT of all groups. */
static double
count_values(const AggPaths *paths, double rows)
{
	double values = 0;
	ListCell *cell;

	foreach (cell, paths->match.distinct)
	{
		List *keys = lappend(list_copy(paths->match.key_inputs), lfirst(cell));

		values += estimate_num_groups(paths->root, keys, rows, NULL, NULL);
	}
	return values;
}

/*
 * Whether a path of the input, that costs not much more than its cheapest, is sorted by the keys.
 * Of gpuagg's aggregates calls cost core's node more than groups cost this one.
 */
static bool
is_sorted(const AggPaths *paths)
{
	const List *wanted = paths->root->group_pathkeys;
	ListCell *cell;

	if (paths->match.keys == NIL || wanted == NIL)
		return false;
	foreach (cell, paths->match.aggrefs)
		if (lfirst_node(Aggref, cell)->aggfnoid >= FirstNormalObjectId)
			return false;
	foreach (cell, paths->input->pathlist)
	{
		const Path *path = lfirst(cell);

		if (pathkeys_contained_in((List *) wanted, path->pathkeys) &&
			path->total_cost <= SORTED_FACTOR * paths->input->cheapest_total_path->total_cost)
			return true;
	}
	return false;
}

static double
count_results(const AggPaths *paths)
{
	const AggMatch *match = &paths->match;
	double results = 0;
	ListCell *cell;

	if (match->sets == NIL)
		return paths->groups;
	foreach (cell, match->sets)
	{
		List *keys = NIL;
		ListCell *number;

		foreach (number, (List *) lfirst(cell))
			keys = lappend(keys, list_nth(match->key_inputs, lfirst_int(number)));
		results += keys == NIL
					   ? 1
					   : estimate_num_groups(paths->root, keys, paths->input->rows, NULL, NULL);
	}
	return results;
}

static GpuAggPath *
make_path(const AggPaths *paths, AggMode mode, PathTarget *target, double rows)
{
	GpuAggPath *path = (GpuAggPath *) newNode(sizeof(GpuAggPath), T_CustomPath);

	path->path.path.pathtype = T_CustomScan;
	path->path.path.parent = paths->named;
	path->path.path.pathtarget = target;
	path->path.path.rows = clamp_row_est(rows);
	path->path.flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->path.methods = &gpuagg_agg_path_methods;
	path->match = paths->match;
	path->mode = mode;
	path->table = paths->input->relid;
	path->having = mode == AGG_PARTIAL ? NULL : paths->having;
	return path;
}

/* ---- several tables ---- */

/* An argument that is evaluated for the rows of its FILTER alone; NULL for the others. */
static Expr *
filtered_argument(const Aggref *aggref)
{
	Expr *argument = ((TargetEntry *) linitial(aggref->args))->expr;
	CaseExpr *choice;
	CaseWhen *when;

	if (aggref->aggfilter == NULL)
		return argument;
	when = makeNode(CaseWhen);
	when->expr = aggref->aggfilter;
	when->result = argument;
	when->location = -1;
	choice = makeNode(CaseExpr);
	choice->casetype = exprType((Node *) argument);
	choice->casecollid = exprCollation((Node *) argument);
	choice->args = list_make1(when);
	choice->defresult = (Expr *) makeNullConst(choice->casetype, exprTypmod((Node *) argument),
											   choice->casecollid);
	choice->location = -1;
	return (Expr *) choice;
}

/* What nodes for tables that are no heaps give: see agg_spec.h. */
static PathTarget *
row_target(PlannerInfo *root, const AggMatch *match)
{
	PathTarget *target = create_empty_pathtarget();
	ListCell *cell;

	foreach (cell, match->key_inputs)
		add_column_to_pathtarget(target, lfirst(cell), 0);
	foreach (cell, match->carried)
		add_column_to_pathtarget(target, lfirst(cell), 0);
	foreach (cell, match->aggrefs)
	{
		const Aggref *aggref = lfirst(cell);

		if (aggref->args != NIL)
			add_column_to_pathtarget(target, filtered_argument(aggref), 0);
		if (aggref->aggfilter != NULL)
			add_column_to_pathtarget(target, aggref->aggfilter, 0);
	}
	return set_pathtarget_cost_width(root, target);
}

static Path *
make_table_path(const AggPaths *paths, RelOptInfo *rel, int workers, double processes)
{
	GpuAggTablePath *path = (GpuAggTablePath *) newNode(sizeof(GpuAggTablePath), T_CustomPath);

	path->path.path.pathtype = T_CustomScan;
	path->path.path.parent = rel;
	path->path.path.pathtarget = create_empty_pathtarget();
	path->path.path.rows = 1; /* none, in truth */
	path->path.path.parallel_aware = workers > 0;
	path->path.path.parallel_safe = rel->consider_parallel;
	path->path.path.parallel_workers = workers;
	path->path.path.total_cost = gpuagg_agg_table_cost(paths->root, paths->input, rel,
													   &paths->match, processes);
	path->path.methods = &gpuagg_agg_table_path_methods;
	path->quals = paths->match.quals;
	return &path->path.path;
}

/* Rows of a table that is no heap; *partial: each process has a part of them.  NULL: there is no path. */
static Path *
make_row_path(const AggPaths *paths, RelOptInfo *rel, PathTarget *target, bool parallel,
			  bool *partial)
{
	PathTarget *own = copy_pathtarget(target);
	Path *path = rel->cheapest_total_path;

	*partial = parallel && rel->partial_pathlist != NIL;
	if (*partial)
		path = linitial(rel->partial_pathlist);
	else if (parallel)
		path = get_cheapest_parallel_safe_total_inner(rel->pathlist);
	if (path == NULL)
		return NULL;
	own->exprs = (List *) compat_adjust_to_child(paths->root, (Node *) target->exprs, rel,
												 paths->input);
	return (Path *) create_projection_path(paths->root, rel, path, own);
}

/*
 * All tables, one after the other; in a plan with workers at the same time, small ones as a
 * whole by one process each.  workers: what core's plan of the same tables would have; 0: none.
 * NULL: there is no such path.
 */
static Path *
make_append_path(const AggPaths *paths, int workers, double processes)
{
	const AggMatch *match = &paths->match;
	PathTarget *target = create_empty_pathtarget();
	List *whole = NIL;
	List *shared = NIL;
	ListCell *cell;
	AppendPath *append;

	foreach (cell, match->children)
		if (!((const AggChild *) lfirst(cell))->readable)
			target = row_target(paths->root, match);
	foreach (cell, match->children)
	{
		const AggChild *child = lfirst(cell);
		bool partial = false;
		Path *path;

		if (child->readable)
		{
			int own = workers == 0 ? 0
								   : compute_parallel_worker(child->rel, child->rel->pages, -1,
															 max_parallel_workers_per_gather);

			if (workers > 0 && !enable_parallel_append)
				own = Max(own, 1);
			partial = own > 0;
			path = make_table_path(paths, child->rel, own, partial ? processes : 1);
		}
		else
			path = make_row_path(paths, child->rel, target, workers > 0, &partial);
		if (path == NULL || (workers > 0 && !partial && !enable_parallel_append))
			return NULL;
		if (partial)
			shared = lappend(shared, path);
		else
			whole = lappend(whole, path);
	}
	append = create_append_path(paths->root, paths->input, whole, shared, NIL, NULL, workers,
								workers > 0 && enable_parallel_append, -1);
	append->path.pathtarget = target;
	return &append->path;
}

/* Workers for all tables, as core counts them. */
static int
count_workers(const AggPaths *paths)
{
	const List *children = paths->match.children;
	RelOptInfo *input = paths->input;
	int workers = 0;
	ListCell *cell;

	if (children == NIL)
		return compute_parallel_worker(input, input->pages, -1, max_parallel_workers_per_gather);
	foreach (cell, children)
	{
		RelOptInfo *rel = ((const AggChild *) lfirst(cell))->rel;

		workers = Max(workers, compute_parallel_worker(rel, rel->pages, -1,
													   max_parallel_workers_per_gather));
	}
	if (enable_parallel_append)
		workers = Max(workers, pg_leftmost_one_pos32((uint32) list_length(children)) + 1);
	return Min(workers, max_parallel_workers_per_gather);
}

/* ---- the paths ---- */

/* Reading all tables, and the groups of one process.  False: there is no such path. */
static bool
add_input(const AggPaths *paths, GpuAggPath *path, int workers, double processes, double groups,
		  double values, Cost *cost)
{
	if (paths->match.subquery != NULL)
	{
		path->path.custom_paths = list_make1(paths->match.subquery);
		*cost = gpuagg_agg_subquery_cost(paths->match.subquery,
										 list_length(paths->match.key_inputs) +
											 list_length(paths->match.aggrefs));
	}
	else if (paths->match.children == NIL)
		*cost = gpuagg_agg_table_cost(paths->root, paths->input, paths->input, &paths->match,
									  processes);
	else
	{
		Path *append = make_append_path(paths, workers, processes);

		if (append == NULL)
			return false;
		path->path.custom_paths = list_make1(append);
		*cost = append->total_cost;
	}
	*cost += gpuagg_agg_groups_cost(&paths->match, groups, paths->sorted) +
			 gpuagg_agg_values_cost(values);
	return true;
}

/*
 * Grouping sets made from the groups of others, at most from those by all keys.  A group costs
 * what a row costs core's node.
 */
static Cost
sets_cost(const AggPaths *paths)
{
	const AggMatch *match = &paths->match;
	int n = list_length(match->sets);
	int each = list_length(match->keys) + list_length(match->aggrefs);

	return n > 1 ? (n - 1) * paths->groups * each * cpu_operator_cost : 0;
}

static void
add_whole_path(const AggPaths *paths)
{
	GpuAggPath *path = make_path(paths, AGG_WHOLE, paths->output->reltarget, paths->rows);
	double spilled = gpuagg_agg_overflow(&paths->match, paths->input->rows, paths->groups);
	Cost cost;

	if (spilled > 0)
		spilled = gpuagg_agg_device_holds(paths->root, paths->input, &paths->match, paths->groups)
					  ? 0
					  : spilled + VALUE_GROUPS * paths->values;
	if (!add_input(paths, path, 0, 1, paths->groups, paths->values, &cost))
		return;
	set_cost(paths->root, path,
			 cost + gpuagg_agg_spill_cost(&paths->match, spilled) + sets_cost(paths),
			 paths->results);
	add_path(paths->output, &path->path.path);
}

/* Workers send the groups they have each time that their memory is full; the leader spills. */
static void
add_parallel_path(const AggPaths *paths)
{
	PlannerInfo *root = paths->root;
	RelOptInfo *input = paths->input;
	RelOptInfo *output = paths->output;
	const AggMatch *match = &paths->match;
	int workers;
	double processes;
	PathTarget *target;
	GpuAggPath *partial;
	GpuAggPath *final;
	GatherPath *gather;
	double groups; /* of one process */
	double values; /* of one process */
	double sent;   /* by one worker */
	double spilled;
	double rows;
	Cost cost;

	if (!root->glob->parallelModeOK || !input->consider_parallel || !output->consider_parallel ||
		match->subquery != NULL)
		return;
	workers = count_workers(paths);
	if (workers <= 0)
		return;
	processes = gpuagg_agg_processes(workers);
	target = partial_target(root, match);
	groups = count_groups(paths, clamp_row_est(input->rows / processes));
	values = count_values(paths, clamp_row_est(input->rows / processes));
	sent = Max(groups, gpuagg_agg_overflow(match, input->rows / processes, groups)) + values;
	partial = make_path(paths, AGG_PARTIAL, target, sent);
	partial->path.path.parallel_aware = true;
	partial->path.path.parallel_safe = true;
	partial->path.path.parallel_workers = workers;
	if (!add_input(paths, partial, workers, processes, groups, values, &cost))
		return;
	set_cost(root, partial, cost, sent);
	rows = sent * workers;
	gather = create_gather_path(root, output, &partial->path.path, target, NULL, &rows);
	final = make_path(paths, AGG_FINAL, output->reltarget, paths->rows);
	final->path.custom_paths = list_make1(gather);
	spilled = gpuagg_agg_overflow(match, rows + groups, paths->groups);
	if (spilled > 0)
		spilled += VALUE_GROUPS * paths->values;
	set_cost(root, final,
			 gather->path.total_cost + gpuagg_agg_merge_cost(match, rows) +
				 gpuagg_agg_values_cost(paths->values) + gpuagg_agg_spill_cost(match, spilled) +
				 sets_cost(paths),
			 paths->results);
	add_path(output, &final->path.path);
}

/* Pages of a table, or of those that it is made of and that are not pruned. */
static double
count_pages(PlannerInfo *root, const RelOptInfo *rel)
{
	double pages = 0;
	ListCell *cell;

	if (!planner_rt_fetch(rel->relid, root)->inh)
		return rel->pages;
	foreach (cell, root->append_rel_list)
	{
		const AppendRelInfo *info = lfirst(cell);
		RelOptInfo *child = root->simple_rel_array[info->child_relid];

		if (info->parent_relid == rel->relid && child != NULL && !IS_DUMMY_REL(child))
			pages += count_pages(root, child);
	}
	return pages;
}

/* What the settings leave to core's node; NULL: nothing. */
static const char *
unwanted(PlannerInfo *root, const RelOptInfo *input)
{
	if (gpuagg_min_table_pages == 0)
		return NULL;
	if (!enable_seqscan)
		return "\"enable_seqscan\" is \"off\"";
	if (input->reloptkind == RELOPT_BASEREL && input->rtekind == RTE_RELATION &&
		count_pages(root, input) < gpuagg_min_table_pages)
		return "the table has fewer pages than \"gpuagg.min_table_pages\"";
	return NULL;
}

/*
 * Whether groups of grouping sets, or those by all columns that they are made from, do not fit
 * into memory: core sorts for some of the sets and spills less.
 */
static bool
wants_more_groups(const AggPaths *paths)
{
	const AggMatch *match = &paths->match;

	if (match->sets == NIL || gpuagg_min_table_pages == 0)
		return false;
	return gpuagg_agg_overflow(match, paths->input->rows, Max(paths->groups, paths->results)) > 0;
}

static void
add_agg_paths(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
			  const GroupPathExtraData *extra)
{
	AggPaths paths = {root, input, output, .having = extra->havingQual};
	const char *setting = unwanted(root, input);
	const char *reason;

	/* nothing is compiled in vain */
	if (setting != NULL && !gpuagg_reason_wanted())
		return;
	reason = gpuagg_agg_match(root, input, output, paths.having, &paths.match);
	if (reason == NULL)
		reason = setting;
	if (reason == NULL)
	{
		paths.match.groups_guessed = gpuagg_agg_groups_guessed(root, &paths.match);
		paths.groups = count_groups(&paths, input->rows);
		paths.values = count_values(&paths, input->rows);
		paths.sorted = is_sorted(&paths);
		paths.results = count_results(&paths);
		if (wants_more_groups(&paths))
			reason = "the grouping sets have more groups than memory holds";
	}
	if (reason != NULL)
	{
		/* of partitions that are aggregated one by one the whole table has said it */
		if (paths.match.ours && !IS_OTHER_REL(output))
			gpuagg_reason_note(PLAN_AGG, reason);
		return;
	}
	paths.named = makeNode(RelOptInfo);
	*paths.named = *output;
	paths.named->relids = input->relids;
	paths.rows = paths.results;
	if (paths.having != NULL)
		paths.rows *= clauselist_selectivity(root, (List *) paths.having, 0, JOIN_INNER, NULL);
	if (gpuagg_min_table_pages == 0)
		output->pathlist = output->partial_pathlist = NIL;
	add_whole_path(&paths);
	add_parallel_path(&paths);
}

static void
create_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input,
				   RelOptInfo *output, void *extra)
{
	if (previous_create_upper_paths_hook)
		previous_create_upper_paths_hook(root, stage, input, output, extra);
	if (stage == UPPERREL_GROUP_AGG && gpuagg_enable_agg_scan && extra != NULL)
		add_agg_paths(root, input, output, extra);
	if (stage == UPPERREL_ORDERED && gpuagg_enable_agg_scan)
		gpuagg_agg_limit_note(root, output);
}

void
gpuagg_agg_path_install(void)
{
	previous_create_upper_paths_hook = create_upper_paths_hook;
	create_upper_paths_hook = create_upper_paths;
}
