/*
 * agg_chunk.c
 *	  What blocks of resident columns tell a GpuAgg node about a chunk without its rows.
 *
 * A chunk has no row that passes the filter if one of its conditions, between a column and a
 * constant, holds for no value between the block's minimum and maximum.
 *
 * Where there is no filter and a whole block is used, it tells numbers of rows and extremes.
 */
#include "compat.h"

#include <math.h>

#include "common/reduced.h"
#include "engine/cpu.h"
#include "exec/agg_state.h"
#include "operation/accumulators.h"
#include "resident/column_block.h"

struct AggChunk
{
	bool answers;	 /* all states, from whole blocks */
	int *columns;	 /* of the states' arguments; -1: none is needed */
	bool *summed_up; /* by column: its blocks are looked at */
};

/* The column whose values a register has at the end; -1: none. */
static int
column_of(const GpuaggVectorProgram *program, int reg)
{
	for (uint32 i = program->ninstructions; i-- > 0;)
		if (program->instructions[i].out == reg)
			return program->instructions[i].op == GPUAGG_VECTOR_COLUMN
					   ? (int) program->instructions[i].arg
					   : -1;
	return -1;
}

/* Whether blocks tell all that the states want. */
static bool
has_answers(const AggScanState *node, int *columns)
{
	const GpuaggVectorProgram *program = &node->compiler->program;

	if (node->spec->nkeys > 0 || node->ndistinct > 0 || program->filter != GPUAGG_VECTOR_NONE)
		return false;
	for (int i = 0; i < node->nstates; i++)
	{
		const AggInput *input = &node->inputs[i];
		int op = node->states[i].op;

		columns[i] = -1;
		if (input->where != NULL)
			return false;
		if (input->feed == FEED_ROWS)
			continue;
		columns[i] = column_of(program, input->value.reg);
		if (columns[i] < 0 ||
			!(input->feed == FEED_COUNT ||
			  (input->feed == FEED_NUMBERS && (op == GPUAGG_MIN || op == GPUAGG_MAX))))
			return false;
	}
	return true;
}

void
gpuagg_agg_chunk_init(AggScanState *node)
{
	AggChunk *chunk = palloc0(sizeof(AggChunk));

	chunk->columns = palloc(Max(node->nstates, 1) * sizeof(int));
	chunk->answers = has_answers(node, chunk->columns);
	if (!chunk->answers && node->conditions.n == 0)
		return;
	chunk->summed_up = palloc0(Max(node->compiler->program.ncolumns, 1) * sizeof(bool));
	for (int i = 0; i < node->conditions.n; i++)
		chunk->summed_up[node->conditions.list[i].column] = true;
	for (int i = 0; i < node->nstates && chunk->answers; i++)
		if (chunk->columns[i] >= 0)
			chunk->summed_up[chunk->columns[i]] = true;
	node->chunk = chunk;
}

/* ---- a chunk ---- */

static double
float_of(int type, GpuaggInt128 bits)
{
	double value;
	float narrow;
	uint32 word = (uint32) bits.lo;

	if (type == GPUAGG_VECTOR_FLOAT32)
	{
		memcpy(&narrow, &word, sizeof(narrow));
		return narrow;
	}
	memcpy(&value, &bits.lo, sizeof(value));
	return value;
}

/* As SQL compares floats: NaN equals itself and is above all others. */
static int
compare_floats(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a > b) - (a < b);
}

/* Whether no value of the block, of a column of that type, meets the condition. */
static bool
excludes(const AggCondition *condition, int type, const BlockSummary *block,
		 const GpuaggVectorConstant *constant)
{
	int least;
	int most;

	if (block->nvalid == 0 || constant->isnull)
		return true;
	switch (type)
	{
		case GPUAGG_VECTOR_INT16:
		case GPUAGG_VECTOR_INT32:
		case GPUAGG_VECTOR_INT64:
		case GPUAGG_VECTOR_INT128:
			if (constant->type < GPUAGG_VECTOR_INT16 || constant->type > GPUAGG_VECTOR_INT128)
				return false;
			least = gpuagg_int128_compare(block->minimum, constant->u.integer);
			most = gpuagg_int128_compare(block->maximum, constant->u.integer);
			break;
		case GPUAGG_VECTOR_FLOAT32:
		case GPUAGG_VECTOR_FLOAT64:
		{
			double value = constant->type == GPUAGG_VECTOR_FLOAT32 ? constant->u.float32
																   : constant->u.float64;

			if (constant->type != type)
				return false;
			least = compare_floats(float_of(type, block->minimum), value);
			most = compare_floats(float_of(type, block->maximum), value);
			break;
		}
		default:
			return false;
	}
	switch (condition->op)
	{
		case GPUAGG_VECTOR_EQ:
			return least > 0 || most < 0;
		case GPUAGG_VECTOR_NE:
			return least == 0 && most == 0;
		case GPUAGG_VECTOR_LT:
			return least >= 0;
		case GPUAGG_VECTOR_LE:
			return least > 0;
		case GPUAGG_VECTOR_GT:
			return most <= 0;
		case GPUAGG_VECTOR_GE:
			return most < 0;
		default:
			return false;
	}
}

/* The block's least or greatest value, as the state takes values. */
static void
take_extreme(const AggInput *input, const Accumulator *acc, int type, const BlockSummary *block)
{
	GpuaggInt128 value = acc->op == GPUAGG_MIN ? block->minimum : block->maximum;
	GpuaggReduced one;
	union
	{
		int32 i32;
		int64 i64;
		float f32;
		double f64;
	} room;

	if (block->nvalid == 0)
		return;
	switch (acc->kind)
	{
		case GPUAGG_INT32:
			room.i32 = (int32) value.lo;
			break;
		case GPUAGG_FLOAT32:
			room.f32 = (float) float_of(type, value);
			break;
		case GPUAGG_FLOAT64:
			room.f64 = float_of(type, value);
			break;
		default:
			room.i64 = (int64) value.lo;
			break;
	}
	/* extremes have no other fields */
	one.n = block->nvalid;
	one.sum = gpuagg_int128_from(gpuagg_key_at((GpuaggKind) acc->kind, &room, 0));
	gpuagg_reduced_merge(input->total, &one, acc->kind, acc->op);
}

/* A PageChunkDone. */
static bool
is_done(void *owner, const BlockSummary *const *blocks, uint32 nrows, bool whole)
{
	AggScanState *node = owner;
	const uint8 *types = node->compiler->program.columns;
	const AggChunk *chunk = node->chunk;
	AggGroup *group;

	if (node->by_row)
		return false;
	if (gpuagg_agg_conditions_known(node))
		for (int i = 0; i < node->conditions.n; i++)
		{
			const AggCondition *condition = &node->conditions.list[i];

			if (excludes(condition, types[condition->column], blocks[condition->column],
						 &node->runner->constants[condition->constant]))
			{
				node->counts.removed += nrows;
				return true;
			}
		}
	if (!chunk->answers || !whole)
		return false;
	group = gpuagg_groups_only(gpuagg_agg_main(node)->groups);
	for (int i = 0; i < node->nstates; i++)
	{
		const AggInput *input = &node->inputs[i];
		Accumulator *acc = gpuagg_group_state(&gpuagg_agg_main(node)->layout, group, i);

		if (input->feed == FEED_NUMBERS)
			take_extreme(input, acc, types[chunk->columns[i]], blocks[chunk->columns[i]]);
		else
			((CountAccumulator *) acc)->n += input->feed == FEED_ROWS
												 ? nrows
												 : blocks[chunk->columns[i]]->nvalid;
	}
	return true;
}

void
gpuagg_agg_chunk_ask(AggScanState *node)
{
	node->reader->chunk_done = node->chunk != NULL ? is_done : NULL;
	node->reader->summed_up = node->chunk != NULL ? node->chunk->summed_up : NULL;
}
