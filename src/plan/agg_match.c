/*
 * agg_match.c
 *	  Which aggregations the node GpuAgg computes, and why not the others.
 *
 * One table, partitioned or not, aggregates of gpuagg's alone, without ORDER BY in them;
 * nothing volatile, no subquery but those that are computed once.
 */
#include "compat.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "common/query_group.h"
#include "common/query_wire.h"
#include "common/vector.h"
#include "gpuagg.h"
#include "plan/agg_children.h"
#include "plan/agg_match.h"
#include "plan/agg_subquery.h"
#include "plan/qual_order.h"
#include "spec/vector_compile.h"
#include "spec/window_function.h"

/* ---- the table ---- */

static const char *
match_children(PlannerInfo *root, const RelOptInfo *input, AggMatch *match)
{
	ListCell *cell;

	match->children = gpuagg_agg_children(root, input);
	foreach (cell, match->children)
		if (((const AggChild *) lfirst(cell))->readable)
			return NULL;
	return "no partition or child of the table is a heap";
}

static const char *
match_table(PlannerInfo *root, const RelOptInfo *input, AggMatch *match)
{
	const RangeTblEntry *rte;
	char relkind;

	match->subquery = gpuagg_agg_subquery(input);
	if (match->subquery != NULL)
		return NULL;
	if (input->reloptkind != RELOPT_BASEREL || input->rtekind != RTE_RELATION)
		return "the input is not one table";
	rte = planner_rt_fetch(input->relid, root);
	relkind = rte->relkind;
	if (relkind != RELKIND_RELATION && relkind != RELKIND_MATVIEW &&
		relkind != RELKIND_PARTITIONED_TABLE)
		return "the input is not a table or a materialized view";
	if (rte->tablesample != NULL)
		return "the table is sampled";
	if (!bms_is_empty(input->lateral_relids))
		return "the table depends on another one";
	if (rte->inh)
		return match_children(root, input, match);
	return gpuagg_agg_readable(rte) ? NULL : "the table is not a heap";
}

/* ---- expressions ---- */

static bool
is_system_column(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((const Var *) node)->varattno <= 0;
	return expression_tree_walker(node, is_system_column, context);
}

static bool
has_placeholder(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, PlaceHolderVar) || expression_tree_walker(node, has_placeholder, context);
}

static const char constant_of_sets[] = "a constant is a column of grouping sets";

static const char *
match_expressions(Node *node)
{
	if (has_placeholder(node, NULL))
		return constant_of_sets;
	if (contain_volatile_functions(node))
		return "an expression is volatile";
	if (contain_subplans(node))
		return "an expression has a subquery";
	if (expression_returns_set(node))
		return "an expression returns a set";
	if (is_system_column(node, NULL))
		return "an expression has a system column or a whole row";
	return NULL;
}

static const char *
match_quals(PlannerInfo *root, const RelOptInfo *input, AggMatch *match)
{
	ListCell *cell;

	foreach (cell, input->baserestrictinfo)
		if (((RestrictInfo *) lfirst(cell))->pseudoconstant)
			return "a condition does not depend on the table";
	match->quals = gpuagg_qual_order(root, input->baserestrictinfo);
	return match_expressions((Node *) match->quals);
}

/* ---- groups ---- */

/* The numbers of the keys with these ressortgrouprefs; *found: there are all of them. */
static List *
number_keys(const AggMatch *match, const List *references, bool *found)
{
	List *numbers = NIL;
	ListCell *cell;

	foreach (cell, references)
	{
		int number = 0;

		while (number < list_length(match->references) &&
			   list_nth_int(match->references, number) != lfirst_int(cell))
			number++;
		*found &= number < list_length(match->references);
		numbers = lappend_int(numbers, number);
	}
	return numbers;
}

/*
 * The planner has expanded them to lists of numbers of columns.  GROUP BY () alone is one
 * group, as without GROUP BY.
 */
static const char *
match_grouping_sets(const Query *query, AggMatch *match)
{
	const List *sets = query->groupingSets;
	bool found = true;
	ListCell *cell;

	foreach (cell, match->groupings)
		match->grouping_keys =
			lappend(match->grouping_keys,
					number_keys(match, ((GroupingFunc *) lfirst(cell))->refs, &found));
	if (!found)
		return "grouping() has an argument that is no key of its own";
	if (sets == NIL || (list_length(sets) == 1 && linitial(sets) == NIL))
		return NULL;
	foreach (cell, sets)
		match->sets = lappend(match->sets, number_keys(match, lfirst(cell), &found));
	if (!found || list_length(match->keys) > 64)
		return "there are too many columns in grouping sets";
	if (match->distinct != NIL)
		return "there are grouping sets and an aggregate has DISTINCT";
	if (match->carried != NIL)
		return "a column that is no key stands beside grouping sets";
	/* a plan would have the constant itself in its results, not the key's NULL */
	foreach (cell, match->keys)
		if (IsA(lfirst(cell), Const))
			return constant_of_sets;
	/* a plan's list of results would have the first of them for both */
	if (list_length(list_union(NIL, match->keys)) < list_length(match->keys))
		return "two columns of grouping sets are the same expression";
	return NULL;
}

/*
 * Whether the keys' values can be hashed and compared.  Keys have the order of the list of
 * results, in which core evaluates them: the first error of a row is the same.
 */
static const char *
match_keys(PlannerInfo *root, AggMatch *match)
{
	List *clauses = compat_group_clause(root);
	ListCell *cell;

	match->equality = palloc(Max(list_length(clauses), 1) * sizeof(Oid));
	foreach (cell, root->processed_tlist)
	{
		TargetEntry *entry = lfirst(cell);
		SortGroupClause *clause = entry->ressortgroupref != 0
									  ? get_sortgroupref_clause_noerr(entry->ressortgroupref,
																	  clauses)
									  : NULL;

		if (clause == NULL)
			continue;
		if (!clause->hashable)
			return "a group key cannot be hashed";
		match->equality[list_length(match->keys)] = clause->eqop;
		match->keys = lappend(match->keys, entry->expr);
		match->references = lappend_int(match->references, (int) entry->ressortgroupref);
	}
	match->key_inputs = compat_before_grouping(root, match->keys);
	return match_expressions((Node *) match->key_inputs);
}

/*
 * Collects the aggregates, and the columns outside them and the keys: these depend on the
 * keys, so that each is one value a group.
 */
static bool
collect(Node *node, void *context)
{
	AggMatch *match = context;

	if (node == NULL || list_member(match->keys, node))
		return false;
	if (IsA(node, Aggref))
		match->aggrefs = list_append_unique(match->aggrefs, node);
	else if (IsA(node, GroupingFunc))
		match->groupings = list_append_unique(match->groupings, node);
	else if (IsA(node, Var))
		match->carried = list_append_unique(match->carried, node);
	else
		return expression_tree_walker(node, collect, context);
	return false;
}

static const char *
match_aggregate(const Aggref *aggref, AggCall *call, AggMatch *match)
{
	if (!gpuagg_known_aggregate(aggref->aggfnoid, &call->aggregate, &call->type))
	{
		const char *name = get_func_name(aggref->aggfnoid);
		const char *objection = gpuagg_core_objection(aggref->aggfnoid);

		match->ours |= gpuagg_core_aggregates != CORE_OFF;
		if (objection != NULL)
			return objection;
		return psprintf("GpuAgg does not compute %s", name != NULL ? name : "?");
	}
	call->aggfnoid = aggref->aggfnoid;
	call->result = aggref->aggtype;
	call->distinct = -1;
	if (aggref->args == NIL)
		call->type = ANYOID;
	if (aggref->aggorder != NIL)
		return "an aggregate has ORDER BY";
	if (aggref->aggdirectargs != NIL || aggref->agglevelsup != 0)
		return "an aggregate is not a plain one";
	return NULL;
}

/*
 * Values that are equal are taken once, whichever of them: where equal ones may differ, and
 * the result with them, core's order decides.
 */
static bool
equal_is_same(Oid type)
{
	const SqlType *sql = gpuagg_sql_type(type);

	return type == NUMERICOID || (sql != NULL && sql->sums == SQL_FAMILY_INT);
}

/* Minima and maxima are those of all values. */
static const char *
match_distinct(const Aggref *aggref, AggCall *call, AggMatch *match)
{
	const SortGroupClause *clause;
	Expr *argument;
	int n = list_length(match->distinct);

	if (aggref->aggdistinct == NIL || call->aggregate == AGGREGATE_MIN ||
		call->aggregate == AGGREGATE_MAX)
		return NULL;
	clause = linitial(aggref->aggdistinct);
	argument = ((TargetEntry *) linitial(aggref->args))->expr;
	if (!clause->hashable)
		return "an argument with DISTINCT cannot be hashed";
	/* a worker's tuple would have the group's value for it */
	if (list_member(match->carried, argument))
		return "a column beside the aggregates is an argument with DISTINCT";
	if (call->aggregate != AGGREGATE_COUNT && !equal_is_same(exprType((Node *) argument)))
		return "an aggregate has DISTINCT over values that may be equal and differ";
	for (call->distinct = 0; call->distinct < n; call->distinct++)
		if (match->distinct_equality[call->distinct] == clause->eqop &&
			equal(list_nth(match->distinct, call->distinct), argument) &&
			equal(list_nth(match->distinct_where, call->distinct), aggref->aggfilter))
			return NULL;
	match->distinct = lappend(match->distinct, argument);
	match->distinct_where = lappend(match->distinct_where, aggref->aggfilter);
	match->distinct_equality[n] = clause->eqop;
	return NULL;
}

static const char *
match_aggregates(AggMatch *match)
{
	const char *reason = NULL;
	ListCell *cell;

	match->calls = palloc0(Max(list_length(match->aggrefs), 1) * sizeof(AggCall));
	match->distinct_equality = palloc(Max(list_length(match->aggrefs), 1) * sizeof(Oid));
	/* all of them, for `ours` */
	foreach (cell, match->aggrefs)
	{
		AggCall *call = &match->calls[foreach_current_index(cell)];
		const char *objection = match_aggregate(lfirst(cell), call, match);

		match->ours |= OidIsValid(call->aggfnoid);
		if (objection == NULL)
			objection = match_distinct(lfirst(cell), call, match);
		if (objection != NULL)
			reason = objection;
	}
	return reason;
}

/* What the device would have of a group, as far as that is known before the node is there. */
typedef struct DeviceGroup
{
	int nkeys;
	int naggregates;
	uint8 keys[GPUAGG_GROUP_KEYS];
	uint8 types[GPUAGG_GROUP_AGGREGATES];
	GpuaggQueryAggregate aggregates[GPUAGG_GROUP_AGGREGATES];
} DeviceGroup;

static void
add_device_key(DeviceGroup *group, int type)
{
	if (group->nkeys < GPUAGG_GROUP_KEYS)
		group->keys[group->nkeys] = (uint8) type;
	group->nkeys++;
}

/* type: of the values; 0: there are none. */
static void
add_device_aggregate(DeviceGroup *group, Aggregate aggregate, int type)
{
	int op = type == 0 ? GPUAGG_COUNT : gpuagg_aggregates[aggregate].op;

	if (group->naggregates < GPUAGG_GROUP_AGGREGATES)
	{
		group->types[group->naggregates] = (uint8) type;
		group->aggregates[group->naggregates] =
			(GpuaggQueryAggregate){(uint8) op, {0}, GPUAGG_VECTOR_NONE, GPUAGG_VECTOR_NONE};
	}
	group->naggregates++;
}

/* Words of a group; 0: one request does not do, or a value is the CPU's or known with a row. */
static uint32
device_words(const DeviceGroup *group, const VectorCompiler *compiler)
{
	GpuaggGroupLayout layout;

	if (group->nkeys > GPUAGG_GROUP_KEYS || group->naggregates > GPUAGG_GROUP_AGGREGATES ||
		compiler->rows != NIL || compiler->parameters != NIL ||
		compiler->program.ncolumns > GPUAGG_QUERY_COLUMNS ||
		!gpuagg_vector_fits_device(&compiler->program) ||
		!gpuagg_group_layout(&layout, group->keys, (uint32) group->nkeys, group->aggregates,
							 group->types, (uint32) group->naggregates))
		return 0;
	return gpuagg_group_packed_words(&layout);
}

/* Compiles what the node will compile, for what it costs. */
static const char *
match_program(const RelOptInfo *input, AggMatch *match)
{
	VectorCompiler *compiler = gpuagg_compiler_make(input->relid, NULL);
	DeviceGroup group = {0};
	ListCell *cell;

	gpuagg_compile_filter(compiler, match->quals);
	foreach (cell, match->key_inputs)
	{
		VectorValue key = gpuagg_compile_value(compiler, lfirst(cell), NULL);

		/* keys without a form of their own are compared by core's operators */
		if (key.type == GPUAGG_VECTOR_DATUM)
			match->by_row = true;
		add_device_key(&group, key.type);
	}
	foreach (cell, match->aggrefs)
	{
		const Aggref *aggref = lfirst(cell);
		const AggCall *call = &match->calls[foreach_current_index(cell)];
		int type = 0;

		if (aggref->args != NIL)
		{
			Expr *argument = ((TargetEntry *) linitial(aggref->args))->expr;
			VectorValue value = gpuagg_compile_value(compiler, argument, aggref->aggfilter);

			type = value.type;
			match->by_row |= call->distinct >= 0 && value.type == GPUAGG_VECTOR_DATUM;
			/* only at one scale are equal numerics the same */
			if (call->distinct >= 0 && call->aggregate != AGGREGATE_COUNT &&
				exprType((Node *) argument) == NUMERICOID && value.scale < 0)
				return "an aggregate has DISTINCT over values that may be equal and differ";
		}
		if (aggref->aggfilter != NULL)
			(void) gpuagg_compile_value(compiler, aggref->aggfilter, NULL);
		add_device_aggregate(&group, call->aggregate, type);
	}
	if (!gpuagg_compile_finish(compiler))
		return "there are too many expressions";
	match->attributes = compiler->attributes;
	match->filter_attributes = compiler->nfilter_columns;
	match->filter_instructions = (int) compiler->program.nfilter;
	match->value_instructions = (int) compiler->program.ninstructions - match->filter_instructions;
	match->by_row |= compiler->user_function;
	match->rows = compiler->rows;
	match->device_words = match->by_row ? 0 : device_words(&group, compiler);
	if (match->by_row)
	{
		match->rows = list_concat_copy(match->quals, match->key_inputs);
		match->rows = list_concat(match->rows, match->aggrefs);
	}
	return NULL;
}

const char *
gpuagg_agg_match(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output, Node *having,
				 AggMatch *match)
{
	const char *reasons[6];

	memset(match, 0, sizeof(AggMatch));
	if (!root->parse->hasAggs)
		return "there is no aggregate";
	reasons[0] = match_keys(root, match);
	(void) collect((Node *) output->reltarget->exprs, match);
	(void) collect(having, match);
	reasons[1] = match_aggregates(match);
	if (!match->ours)
		return "there is no aggregate of gpuagg";
	reasons[2] = match_grouping_sets(root->parse, match);
	if (reasons[2] == NULL)
		reasons[2] = match_table(root, input, match);
	reasons[3] = match_expressions((Node *) match->aggrefs);
	reasons[4] = match_quals(root, input, match);
	reasons[5] = match_expressions((Node *) match->carried);
	for (int i = 0; i < lengthof(reasons); i++)
		if (reasons[i] != NULL)
			return reasons[i];
	return match_program(input, match);
}
