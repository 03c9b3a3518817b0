/*
 * agg_path.c
 *	  Paths that aggregate one table with the node GpuAgg in place of core's.
 *
 * [GpuAgg FINAL] > Gather > [GpuAgg PARTIAL] where workers are worth it and allowed,
 * beside a single GpuAgg.  No row comes before all are read, so that the startup cost
 * is nearly the total: LIMIT, EXISTS and minima by an index stay core's.
 */
#include "compat.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "gpuagg.h"
#include "plan/agg_path.h"
#include "plan/plan_reason.h"

/*
 * Costs of a row as parts of core's unit for a row, cpu_tuple_cost: to read it, for each
 * instruction, to find its group, and for each state.
 */
#define READ_PART		 0.2
#define INSTRUCTION_PART 0.01
#define GROUP_PART		 0.2
#define STATE_PART		 0.1

static create_upper_paths_hook_type previous_create_upper_paths_hook = NULL;

static GpuAggPath *
make_path(RelOptInfo *output, const RelOptInfo *input, const AggMatch *match, AggMode mode,
		  PathTarget *target, Node *having, double groups)
{
	GpuAggPath *path = (GpuAggPath *) newNode(sizeof(GpuAggPath), T_CustomPath);

	path->path.path.pathtype = T_CustomScan;
	path->path.path.parent = output;
	path->path.path.pathtarget = target;
	path->path.path.rows = clamp_row_est(groups);
	path->path.flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->path.methods = &gpuagg_agg_path_methods;
	path->match = *match;
	path->mode = mode;
	path->table = input->relid;
	path->having = having;
	return path;
}

/* Of reading and grouping the whole table in one process: of I/O and of computing. */
static void
table_cost(PlannerInfo *root, const RelOptInfo *input, const AggMatch *match, Cost *io, Cost *cpu)
{
	double page_cost;
	QualCost rows;
	double states = list_length(match->aggrefs) * STATE_PART;

	get_tablespace_page_costs(input->reltablespace, NULL, &page_cost);
	cost_qual_eval(&rows, match->rows, root);
	if (match->keys != NIL)
		states += GROUP_PART;
	*io = page_cost * input->pages + rows.startup;
	*cpu = cpu_tuple_cost * (input->tuples * (READ_PART + match->ninstructions * INSTRUCTION_PART) +
							 input->rows * states) +
		   rows.per_tuple * input->rows;
}

static Cost
result_cost(const PathTarget *target, double groups)
{
	return target->cost.startup + (target->cost.per_tuple + cpu_tuple_cost) * groups;
}

static void
set_cost(GpuAggPath *path, Cost before, double groups)
{
	path->path.path.startup_cost = before;
	path->path.path.total_cost = before + result_cost(path->path.path.pathtarget, groups);
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

static void
add_parallel_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output, const AggMatch *match,
				  Node *having, double groups)
{
	int workers = compute_parallel_worker(input, input->pages, -1, max_parallel_workers_per_gather);
	PathTarget *target;
	GpuAggPath *partial;
	GpuAggPath *final;
	GatherPath *gather;
	double processes;
	double rows;
	Cost io;
	Cost cpu;

	if (workers <= 0 || !root->glob->parallelModeOK || !input->consider_parallel ||
		!output->consider_parallel)
		return;
	target = partial_target(root, match);
	partial = make_path(output, input, match, AGG_PARTIAL, target, NULL, groups);
	partial->path.path.parallel_aware = true;
	partial->path.path.parallel_safe = true;
	partial->path.path.parallel_workers = workers;
	table_cost(root, input, match, &io, &cpu);
	/* as core counts the leader's part */
	processes = workers + (parallel_leader_participation ? Max(1.0 - 0.3 * workers, 0) : 0);
	set_cost(partial, io + cpu / processes, groups);
	rows = groups * workers;
	gather = create_gather_path(root, output, &partial->path.path, target, NULL, &rows);
	final = make_path(output, input, match, AGG_FINAL, output->reltarget, having, groups);
	final->path.custom_paths = list_make1(gather);
	set_cost(final, gather->path.total_cost + rows * cpu_tuple_cost, groups);
	add_path(output, &final->path.path);
}

static void
add_agg_paths(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
			  const GroupPathExtraData *extra)
{
	Node *having = extra->havingQual;
	AggMatch match;
	const char *reason;
	GpuAggPath *path;
	double groups;
	Cost io;
	Cost cpu;
	bool small = input->reloptkind == RELOPT_BASEREL && input->pages < gpuagg_min_table_pages;

	if (small && !gpuagg_reason_wanted())
		return;
	reason = gpuagg_agg_match(root, input, output, having, &match);
	if (small && reason == NULL)
		reason = "the table has fewer pages than \"gpuagg.min_table_pages\"";
	if (reason != NULL)
	{
		if (match.ours)
			gpuagg_reason_note(PLAN_AGG, reason);
		return;
	}
	groups = match.keys == NIL ? 1 : estimate_num_groups(root, match.keys, input->rows, NULL, NULL);
	table_cost(root, input, &match, &io, &cpu);
	path = make_path(output, input, &match, AGG_WHOLE, output->reltarget, having, groups);
	path->path.path.parallel_safe = false;
	set_cost(path, io + cpu, groups);
	add_path(output, &path->path.path);
	add_parallel_path(root, input, output, &match, having, groups);
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
