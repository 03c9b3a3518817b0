/*
 * agg_chunk.c
 *	  What blocks of resident columns tell a GpuAgg node about a chunk without its rows.
 *
 * A chunk has no row that passes the filter if one of its conditions, between a column and a
 * constant, holds for no value between the block's minimum and maximum.
 *
 * Most conditions become one range of values for each column, as there may be many chunks.
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

/* Values of a column, as order_of() has them, of which a chunk must have one. */
typedef struct ChunkRange
{
	int column;
	int64 from;
	int64 to;
} ChunkRange;

struct AggChunk
{
	bool answers;	 /* all states, from whole blocks */
	int *columns;	 /* of the states' arguments; -1: none is needed */
	bool *summed_up; /* by column: its blocks are looked at */

	/* made of the constants' values: ranges, and the conditions that are none */
	bool ready;
	int nranges;
	ChunkRange *ranges;
	int nothers;
	const AggCondition **others;
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
	chunk->ranges = palloc(Max(node->conditions.n, 1) * sizeof(ChunkRange));
	chunk->others = palloc(Max(node->conditions.n, 1) * sizeof(AggCondition *));
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

/* ---- ranges ---- */

/* A float's place in SQL's order: NaN is above all others, -0 equals +0. */
static inline int64
order_of_float(double value)
{
	int64 bits;

	if (isnan(value))
		return PG_INT64_MAX;
	value += 0.0; /* -0 becomes +0 */
	memcpy(&bits, &value, sizeof(bits));
	return bits < 0 ? bits ^ PG_INT64_MAX : bits;
}

/* The same of a value as blocks have it, of a type of up to 64 bits. */
static inline int64
order_of(int type, GpuaggInt128 value)
{
	return type >= GPUAGG_VECTOR_FLOAT32 ? order_of_float(float_of(type, value)) : (int64) value.lo;
}

/* A constant's place in the order of a column's values; false: it is of another type, or beyond them. */
static bool
find_place(int type, const GpuaggVectorConstant *constant, int64 *place)
{
	if (constant->isnull)
		return false;
	switch (type)
	{
		case GPUAGG_VECTOR_INT16:
		case GPUAGG_VECTOR_INT32:
		case GPUAGG_VECTOR_INT64:
			*place = (int64) constant->u.integer.lo;
			return constant->type >= GPUAGG_VECTOR_INT16 &&
				   constant->type <= GPUAGG_VECTOR_INT128 &&
				   constant->u.integer.hi == (*place < 0 ? -1 : 0);
		case GPUAGG_VECTOR_FLOAT32:
			*place = order_of_float(constant->u.float32);
			return constant->type == type;
		case GPUAGG_VECTOR_FLOAT64:
			*place = order_of_float(constant->u.float64);
			return constant->type == type;
		default:
			return false;
	}
}

/* The condition as a range; false: it is none. */
static bool
find_range(const AggCondition *condition, int type, const GpuaggVectorConstant *constant,
		   ChunkRange *range)
{
	int64 place;

	*range = (ChunkRange){condition->column, PG_INT64_MIN, PG_INT64_MAX};
	if (!find_place(type, constant, &place))
		return false;
	switch (condition->op)
	{
		case GPUAGG_VECTOR_EQ:
			range->from = range->to = place;
			return true;
		case GPUAGG_VECTOR_LE:
			range->to = place;
			return true;
		case GPUAGG_VECTOR_GE:
			range->from = place;
			return true;
		case GPUAGG_VECTOR_LT:
			range->to = place - 1;
			return place > PG_INT64_MIN;
		case GPUAGG_VECTOR_GT:
			range->from = place + 1;
			return place < PG_INT64_MAX;
		default:
			return false;
	}
}

/* Adds a range to that of its column, of which a value must be in both. */
static void
add_range(AggChunk *chunk, const ChunkRange *range)
{
	for (int i = 0; i < chunk->nranges; i++)
	{
		ChunkRange *old = &chunk->ranges[i];

		if (old->column != range->column)
			continue;
		old->from = Max(old->from, range->from);
		old->to = Min(old->to, range->to);
		return;
	}
	chunk->ranges[chunk->nranges++] = *range;
}

static void
make_ranges(const AggScanState *node, AggChunk *chunk)
{
	const uint8 *types = node->compiler->program.columns;

	chunk->ready = true;
	chunk->nranges = chunk->nothers = 0;
	for (int i = 0; i < node->conditions.n; i++)
	{
		const AggCondition *condition = &node->conditions.list[i];
		ChunkRange range;

		if (find_range(condition, types[condition->column],
					   &node->runner->constants[condition->constant], &range))
			add_range(chunk, &range);
		else
			chunk->others[chunk->nothers++] = condition;
	}
}

/* Whether no row of a chunk with these blocks meets all conditions. */
static bool
is_excluded(const AggScanState *node, const AggChunk *chunk, const BlockSummary *const *blocks)
{
	const uint8 *types = node->compiler->program.columns;

	for (int i = 0; i < chunk->nranges; i++)
	{
		const ChunkRange *range = &chunk->ranges[i];
		const BlockSummary *block = blocks[range->column];
		int type = types[range->column];

		if (block->nvalid == 0 || order_of(type, block->minimum) > range->to ||
			order_of(type, block->maximum) < range->from || range->from > range->to)
			return true;
	}
	for (int i = 0; i < chunk->nothers; i++)
	{
		const AggCondition *condition = chunk->others[i];

		if (excludes(condition, types[condition->column], blocks[condition->column],
					 &node->runner->constants[condition->constant]))
			return true;
	}
	return false;
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
	AggChunk *chunk = node->chunk;
	AggGroup *group;

	if (node->by_row)
		return false;
	if (gpuagg_agg_conditions_known(node))
	{
		if (!chunk->ready)
			make_ranges(node, chunk);
		if (is_excluded(node, chunk, blocks))
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
	/* constants may have other values from now on */
	if (node->chunk != NULL)
		node->chunk->ready = false;
	node->reader->chunk_done = node->chunk != NULL ? is_done : NULL;
	node->reader->summed_up = node->chunk != NULL ? node->chunk->summed_up : NULL;
}
