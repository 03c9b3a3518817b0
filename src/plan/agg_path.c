/*
 * agg_path.c
 *	  Paths that aggregate one table with the node GpuAgg in place of core's.
 *
 * [GpuAgg FINAL] > Gather > [GpuAgg PARTIAL] where workers are worth it and allowed,
 * beside a single GpuAgg.  No row comes before all are read, so that the startup cost
 * is nearly the total: where few rows of the result are wanted, or few of the table, plans
 * that begin with an index may be cheaper.  With gpuagg.min_table_pages 0 they are not
 * asked.
 */
#include "compat.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "utils/selfuncs.h"

#include "gpuagg.h"
#include "plan/agg_cost.h"
#include "plan/agg_path.h"
#include "plan/plan_reason.h"

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
	double groups; /* of the table */
	double rows;   /* of the result */
} AggPaths;

static double
count_groups(const AggPaths *paths, double rows)
{
	if (paths->match.keys == NIL)
		return 1;
	return estimate_num_groups(paths->root, paths->match.keys, rows, NULL, NULL);
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

static void
add_whole_path(const AggPaths *paths)
{
	GpuAggPath *path = make_path(paths, AGG_WHOLE, paths->output->reltarget, paths->rows);
	double spilled = gpuagg_agg_overflow(&paths->match, paths->input->rows, paths->groups);

	set_cost(paths->root, path,
			 gpuagg_agg_input_cost(paths->root, paths->input, &paths->match, 1, paths->groups) +
				 gpuagg_agg_spill_cost(&paths->match, spilled),
			 paths->groups);
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
	int workers = compute_parallel_worker(input, input->pages, -1, max_parallel_workers_per_gather);
	double processes = gpuagg_agg_processes(workers);
	PathTarget *target;
	GpuAggPath *partial;
	GpuAggPath *final;
	GatherPath *gather;
	double groups; /* of one process */
	double sent;   /* by one worker */
	double rows;

	if (workers <= 0 || !root->glob->parallelModeOK || !input->consider_parallel ||
		!output->consider_parallel)
		return;
	target = partial_target(root, match);
	groups = count_groups(paths, clamp_row_est(input->rows / processes));
	sent = Max(groups, gpuagg_agg_overflow(match, input->rows / processes, groups));
	partial = make_path(paths, AGG_PARTIAL, target, sent);
	partial->path.path.parallel_aware = true;
	partial->path.path.parallel_safe = true;
	partial->path.path.parallel_workers = workers;
	set_cost(root, partial, gpuagg_agg_input_cost(root, input, match, processes, groups), sent);
	rows = sent * workers;
	gather = create_gather_path(root, output, &partial->path.path, target, NULL, &rows);
	final = make_path(paths, AGG_FINAL, output->reltarget, paths->rows);
	final->path.custom_paths = list_make1(gather);
	set_cost(root, final,
			 gather->path.total_cost + gpuagg_agg_merge_cost(match, rows) +
				 gpuagg_agg_spill_cost(match,
									   gpuagg_agg_overflow(match, rows + groups, paths->groups)),
			 paths->groups);
	add_path(output, &final->path.path);
}

/* What the settings leave to core's node; NULL: nothing. */
static const char *
unwanted(const RelOptInfo *input)
{
	if (gpuagg_min_table_pages == 0)
		return NULL;
	if (gpuagg_device == DEVICE_GPU)
		return "\"gpuagg.device\" is \"gpu\"";
	if (input->reloptkind == RELOPT_BASEREL && input->pages < gpuagg_min_table_pages)
		return "the table has fewer pages than \"gpuagg.min_table_pages\"";
	return NULL;
}

static void
add_agg_paths(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
			  const GroupPathExtraData *extra)
{
	AggPaths paths = {root, input, output, .having = extra->havingQual};
	const char *setting = unwanted(input);
	const char *reason;

	/* nothing is compiled in vain */
	if (setting != NULL && !gpuagg_reason_wanted())
		return;
	reason = gpuagg_agg_match(root, input, output, paths.having, &paths.match);
	if (reason == NULL)
		reason = setting;
	if (reason != NULL)
	{
		if (paths.match.ours)
			gpuagg_reason_note(PLAN_AGG, reason);
		return;
	}
	paths.named = makeNode(RelOptInfo);
	*paths.named = *output;
	paths.named->relids = input->relids;
	paths.match.groups_guessed = gpuagg_agg_groups_guessed(root, &paths.match);
	paths.groups = count_groups(&paths, input->rows);
	paths.rows = paths.groups;
	if (paths.having != NULL)
		paths.rows *= clauselist_selectivity(root, (List *) paths.having, 0, JOIN_INNER, NULL);
	if (gpuagg_min_table_pages == 0)
		output->pathlist = NIL;
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
}

void
gpuagg_agg_path_install(void)
{
	previous_create_upper_paths_hook = create_upper_paths_hook;
	create_upper_paths_hook = create_upper_paths;
}
