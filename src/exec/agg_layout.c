/*
 * agg_layout.c
 *	  The values and states of a GpuAgg node's groups.
 *
 * Calls that need the same state over the same argument share one: sum and average,
 * the four variances.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
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
	for (int i = 0; i < node->nstates; i++)
	{
		const AggGroupState *other = &node->states[i];

		if (other->family == state->family && other->op == state->op &&
			node->inputs[i].distinct == input->distinct &&
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
					  .distinct = call->distinct,
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
		if (input.distinct >= 0)
			input.feed = FEED_DISTINCT;
		input.total = palloc(sizeof(GpuaggReduced));
		gpuagg_reduced_init(input.total);
		found = node->nstates++;
		node->states[found] = state;
		node->inputs[found] = input;
	}
	node->call_state[number] = found;
}

static Expr *
expression(const AggScanState *node, int i)
{
	return gpuagg_agg_entry((const CustomScan *) node->css.ss.ps.plan, i);
}

/* The input whose argument is the one with DISTINCT of that number. */
static int
find_distinct(const AggScanState *node, int number)
{
	for (int i = 0; i < node->nstates; i++)
		if (node->inputs[i].distinct == number)
			return i;
	elog(ERROR, "GpuAgg has no aggregate of an argument with DISTINCT");
}

static void
add_value(AggScanState *node, int i)
{
	const AggSpec *spec = node->spec;
	int distinct = i - spec->nkeys - spec->ncarried;
	Expr *expr = expression(node, i);
	AggValue *value = &node->values[i];
	Expr *where = NULL;

	value->type.type = exprType((Node *) expr);
	get_typlenbyval(value->type.type, &value->type.length, &value->type.by_value);
	value->state = ExecInitExpr(expr, &node->css.ss.ps);
	if (i >= spec->nkeys && distinct < 0)
		return;
	value->collation = exprCollation((Node *) expr);
	value->equality = distinct < 0 ? spec->equality[i] : spec->distinct_equality[distinct];
	if (distinct >= 0)
	{
		value->input = find_distinct(node, distinct);
		value->same = spec->nkeys + spec->ncarried;
		while (!equal(expression(node, value->same), expr))
			value->same++;
		where = node->inputs[value->input].where;
	}
	value->form = gpuagg_compile_value(node->compiler, expr, where);

	/* registers have no trailing blanks: a column of char(n) has them up to n characters */
	value->whole = getBaseType(value->type.type) != BPCHAROID ||
				   (IsA(expr, Var) && value->form.width >= 0);
}

void
gpuagg_agg_layout_init(AggScanState *node)
{
	AggSpec *spec = node->spec;
	int first_distinct = spec->nkeys + spec->ncarried;
	int columns = first_distinct;

	node->nvalues = first_distinct + spec->ndistinct;
	node->values = palloc0(Max(node->nvalues, 1) * sizeof(AggValue));
	for (int i = 0; i < first_distinct; i++)
		add_value(node, i);
	node->states = palloc0(Max(spec->ncalls, 1) * sizeof(AggGroupState));
	node->inputs = palloc0(Max(spec->ncalls, 1) * sizeof(AggInput));
	node->call_state = palloc0(Max(spec->ncalls, 1) * sizeof(int));
	for (int i = 0; i < spec->ncalls; i++)
		add_call(node, i, (Aggref *) expression(node, node->nvalues + i), &columns);
	for (int i = first_distinct; i < node->nvalues; i++)
		add_value(node, i);
	gpuagg_agg_sets_make(node);
}
