/*
 * agg_layout.c
 *	  The states of a GpuAgg node's groups.
 *
 * Calls that need the same state over the same argument share one: sum and average,
 * the four variances.
 */
#include "compat.h"

#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "common/decimal_sum.h"
#include "exec/agg_state.h"

/* The scale that a numeric's fast part has for values of this scale, and what they are multiplied by. */
static bool
decimal_factor(int scale, int *groups, int64 *factor)
{
	if (scale > 4 * GPUAGG_DECIMAL_GROUPS)
		return false;
	*groups = (scale + 3) / 4;
	*factor = 1;
	for (int i = scale; i < *groups * 4; i++)
		*factor *= 10;
	return true;
}

static void
choose_feed(AggInput *input, AggGroupState *state)
{
	int type = input->value.type;

	state->kind = 0;
	if (input->argument == NULL)
		input->feed = FEED_ROWS;
	else if (state->family == SQL_FAMILY_COUNT)
		input->feed = FEED_COUNT;
	else if (state->family == SQL_FAMILY_NUMERIC && input->value.scale >= 0 &&
			 (type == GPUAGG_VECTOR_INT64 || type == GPUAGG_VECTOR_INT128) &&
			 decimal_factor(input->value.scale, &state->groups, &input->factor))
	{
		input->feed = FEED_DECIMAL;
		state->kind = GPUAGG_INT64;
	}
	else if (input->type->kind != 0 && input->value.scale < 0)
	{
		input->feed = FEED_NUMBERS;
		state->kind = input->type->kind;
		/* float4 values are exact doubles */
		if (state->kind == GPUAGG_FLOAT32 && state->family == SQL_FAMILY_FLOAT)
			state->kind = GPUAGG_FLOAT64;
	}
	else
		input->feed = FEED_DATUM;
}

static int
find_state(AggScanState *node, const AggGroupState *state, const AggInput *input)
{
	for (int i = 0; i < node->layout.nstates; i++)
	{
		const AggGroupState *other = &node->layout.states[i];

		if (other->family == state->family && other->op == state->op &&
			equal(node->inputs[i].argument, input->argument) &&
			equal(node->inputs[i].where, input->where))
			return i;
	}
	return -1;
}

/* columns: that rows from a node below have for the calls before this one, and then for it too. */
static void
add_call(AggScanState *node, int number, const Aggref *aggref, int *columns)
{
	const AggCall *call = &node->spec->calls[number];
	AggGroupState state = {.op = gpuagg_aggregates[call->aggregate].op};
	AggInput input = {.where = aggref->aggfilter,
					  .type = gpuagg_sql_type(call->type),
					  .argument_column = -1,
					  .where_column = -1};
	int found;

	if (aggref->args != NIL)
	{
		input.argument = ((TargetEntry *) linitial(aggref->args))->expr;
		input.argument_column = (*columns)++;
	}
	if (input.where != NULL)
		input.where_column = (*columns)++;
	state.family = gpuagg_aggregate_family(call->aggregate, input.type);
	found = find_state(node, &state, &input);
	if (found < 0)
	{
		if (input.argument != NULL)
			input.value = gpuagg_compile_value(node->compiler, input.argument, input.where);
		if (input.where != NULL)
			input.filter = gpuagg_compile_value(node->compiler, input.where, NULL);
		choose_feed(&input, &state);
		input.total = palloc(sizeof(GpuaggReduced));
		gpuagg_reduced_init(input.total);
		found = node->layout.nstates++;
		node->layout.states[found] = state;
		node->inputs[found] = input;
	}
	node->call_state[number] = found;
}

void
gpuagg_agg_layout_init(AggScanState *node)
{
	CustomScan *plan = (CustomScan *) node->css.ss.ps.plan;
	AggSpec *spec = node->spec;
	GroupLayout *layout = &node->layout;
	VectorValue *keys = palloc0(Max(spec->nkeys, 1) * sizeof(VectorValue));
	Oid *collations = palloc0(Max(spec->nkeys, 1) * sizeof(Oid));
	int columns;

	layout->nkeys = spec->nkeys;
	layout->keys = keys;
	layout->equality = spec->equality;
	layout->collations = collations;
	layout->nvalues = spec->nkeys + spec->ncarried;
	layout->values = palloc0(Max(layout->nvalues, 1) * sizeof(GroupValue));
	for (int i = 0; i < layout->nvalues; i++)
	{
		Expr *expr = ((TargetEntry *) list_nth(plan->custom_scan_tlist, i))->expr;
		GroupValue *value = &layout->values[i];

		value->type = exprType((Node *) expr);
		get_typlenbyval(value->type, &value->length, &value->by_value);
		if (i >= spec->nkeys)
			continue;
		keys[i] = gpuagg_compile_value(node->compiler, expr, NULL);
		collations[i] = exprCollation((Node *) expr);
	}
	layout->states = palloc0(Max(spec->ncalls, 1) * sizeof(AggGroupState));
	node->inputs = palloc0(Max(spec->ncalls, 1) * sizeof(AggInput));
	node->call_state = palloc0(Max(spec->ncalls, 1) * sizeof(int));
	columns = layout->nvalues;
	for (int i = 0; i < spec->ncalls; i++)
		add_call(node, i,
				 (Aggref *) ((TargetEntry *) list_nth(plan->custom_scan_tlist, layout->nvalues + i))
					 ->expr,
				 &columns);
}
