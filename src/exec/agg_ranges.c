/*
 * agg_ranges.c
 *	  The filter of a GpuAgg node as ranges of columns in memory.
 *
 * Where the filter is only conditions between columns of integers and constants, they become a
 * range for each column, which rows are compared with as they are stored.  Of the filter's
 * instructions only those are run whose results are needed behind it.
 */
#include "compat.h"

#include "common/narrow_range.h"
#include "exec/agg_state.h"
#include "exec/page_resident.h"

typedef struct ColumnRange
{
	int column;
	GpuaggRange range;
} ColumnRange;

struct AggRanges
{
	bool *kept;	  /* of the filter's instructions: run */
	bool *wanted; /* of the filter's columns: their values are needed */
	bool ready;	  /* what follows has been made of the constants' values */
	bool never;	  /* no row passes */
	int n;
	ColumnRange *list; /* room for one a condition */
};

static bool
is_integer(int type)
{
	return type >= GPUAGG_VECTOR_INT16 && type <= GPUAGG_VECTOR_INT128;
}

/* ---- which instructions are needed ---- */

static void
need(bool *needed, int nregisters, int reg)
{
	if (reg < nregisters)
		needed[reg] = true;
}

/* Registers that are read when the program has run. */
static void
need_results(const AggScanState *node, bool *needed)
{
	int n = (int) node->compiler->program.nregisters;

	for (int i = 0; i < node->nstates; i++)
	{
		if (node->inputs[i].argument != NULL)
			need(needed, n, node->inputs[i].value.reg);
		if (node->inputs[i].where != NULL)
			need(needed, n, node->inputs[i].filter.reg);
	}
	for (int i = 0; i < node->nvalues; i++)
		need(needed, n, node->values[i].form.reg);
}

static bool *
kept_instructions(const AggScanState *node)
{
	const GpuaggVectorProgram *program = &node->compiler->program;
	int n = (int) program->nregisters;
	bool *needed = palloc0(Max(n, 1) * sizeof(bool));
	bool *kept = palloc0(Max(program->nfilter, 1) * sizeof(bool));

	need_results(node, needed);
	for (uint32 i = program->ninstructions; i-- > 0;)
	{
		const GpuaggVectorInstruction *in = &program->instructions[i];

		if (i < program->nfilter)
			kept[i] = needed[in->out];
		if (i < program->nfilter && !kept[i])
			continue;
		needed[in->out] = false;
		if (in->op == GPUAGG_VECTOR_COLUMN && i < program->nfilter)
			continue;
		need(needed, n, in->a);
		need(needed, n, in->b);
		need(needed, n, in->c);
		need(needed, n, in->mask);
	}
	pfree(needed);
	return kept;
}

void
gpuagg_agg_ranges_init(AggScanState *node)
{
	const FilterConditions *conditions = &node->conditions;
	const GpuaggVectorProgram *program = &node->compiler->program;

	if (!conditions->whole || conditions->n == 0)
		return;
	for (int i = 0; i < conditions->n; i++)
		if (!is_integer(program->columns[conditions->list[i].column]))
			return;
	node->ranges = palloc0(sizeof(AggRanges));
	node->ranges->kept = kept_instructions(node);
	node->ranges->wanted = palloc0(Max(node->compiler->nfilter_columns, 1) * sizeof(bool));
	for (uint32 i = 0; i < program->ninstructions; i++)
	{
		const GpuaggVectorInstruction *in = &program->instructions[i];

		if (in->op == GPUAGG_VECTOR_COLUMN && (int) in->arg < node->compiler->nfilter_columns &&
			(i >= program->nfilter || node->ranges->kept[i]))
			node->ranges->wanted[in->arg] = true;
	}
	node->ranges->list = palloc(conditions->n * sizeof(ColumnRange));
}

void
gpuagg_agg_ranges_reset(AggScanState *node)
{
	if (node->ranges != NULL)
		node->ranges->ready = false;
}

/* ---- ranges ---- */

/* Values for which the condition holds; false: there is none, or the constant is no integer. */
static bool
range_of(const FilterCondition *condition, GpuaggInt128 constant, GpuaggRange *range)
{
	const GpuaggInt128 least = {0, INT64_MIN};
	const GpuaggInt128 most = {UINT64_MAX, INT64_MAX};

	*range = (GpuaggRange){least, most, condition->op == GPUAGG_VECTOR_NE};
	switch (condition->op)
	{
		case GPUAGG_VECTOR_EQ:
		case GPUAGG_VECTOR_NE:
			range->from = range->to = constant;
			return true;
		case GPUAGG_VECTOR_LE:
			range->to = constant;
			return true;
		case GPUAGG_VECTOR_GE:
			range->from = constant;
			return true;
		case GPUAGG_VECTOR_LT:
			range->to = gpuagg_int128_add(constant, gpuagg_int128_from(-1));
			return gpuagg_int128_compare(constant, least) != 0;
		case GPUAGG_VECTOR_GT:
			range->from = gpuagg_int128_add(constant, gpuagg_int128_from(1));
			return gpuagg_int128_compare(constant, most) != 0;
		default:
			return false;
	}
}

/* Adds a range of a column to the others of it. */
static void
add_range(AggRanges *ranges, int column, const GpuaggRange *range)
{
	for (int i = 0; i < ranges->n && !range->outside; i++)
	{
		GpuaggRange *old = &ranges->list[i].range;

		if (ranges->list[i].column != column || old->outside)
			continue;
		if (gpuagg_int128_compare(range->from, old->from) > 0)
			old->from = range->from;
		if (gpuagg_int128_compare(range->to, old->to) < 0)
			old->to = range->to;
		ranges->never |= gpuagg_int128_compare(old->from, old->to) > 0;
		return;
	}
	ranges->list[ranges->n++] = (ColumnRange){column, *range};
}

/* False: a constant has become something else than an integer. */
static bool
make_ranges(AggScanState *node)
{
	AggRanges *ranges = node->ranges;

	ranges->n = 0;
	ranges->never = false;
	for (int i = 0; i < node->conditions.n; i++)
	{
		const FilterCondition *condition = &node->conditions.list[i];
		const GpuaggVectorConstant *constant = &node->runner->constants[condition->constant];
		GpuaggRange range;

		if (constant->isnull)
			ranges->never = true;
		else if (!is_integer(constant->type))
			return false;
		else if (range_of(condition, constant->u.integer, &range))
			add_range(ranges, condition->column, &range);
		else
			ranges->never = true;
	}
	ranges->ready = true;
	return true;
}

/* ---- a batch ---- */

bool
gpuagg_agg_ranges_filter(AggScanState *node, int *nlive)
{
	AggRanges *ranges = node->ranges;
	PageReader *reader = node->reader;
	uint64 live[GPUAGG_VECTOR_WORDS] = {0};

	if (ranges == NULL || !gpuagg_agg_conditions_known(node) ||
		(!ranges->ready && !make_ranges(node)))
		return false;
	if (!ranges->never)
		gpuagg_vector_all(live, reader->nrows);
	for (int i = 0; i < ranges->n && !ranges->never; i++)
		gpuagg_page_resident_select(reader, ranges->list[i].column, &ranges->list[i].range, live);
	*nlive = gpuagg_vector_count(live);
	if (*nlive == 0)
		return true;
	for (int c = 0; c < node->compiler->nfilter_columns; c++)
		if (ranges->wanted[c])
			gpuagg_page_reader_load(reader, c, 1, live);
	gpuagg_vector_run_selected(node->runner, reader->nrows, live, ranges->kept);
	return true;
}
