/*
 * agg_chunk.c
 *	  What blocks of resident columns tell a GpuAgg node about a chunk without its rows.
 *
 * They may exclude all rows.  Where there is no filter and a whole block is used, it tells numbers
 * of rows and extremes.
 */
#include "compat.h"

#include "common/reduced.h"
#include "engine/cpu.h"
#include "exec/agg_state.h"
#include "exec/chunk_filter.h"
#include "operation/accumulators.h"

struct AggChunk
{
	bool answers;		   /* all states, from whole blocks: there is no filter */
	int *columns;		   /* of the states' arguments; -1: none is needed */
	ChunkFilter *filter;   /* or NULL */
	const bool *summed_up; /* by column: its blocks are looked at */
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

/* Which columns those of the states are. */
static bool *
columns_of(const AggScanState *node, const int *columns)
{
	bool *are = palloc0(Max(node->compiler->program.ncolumns, 1) * sizeof(bool));

	for (int i = 0; i < node->nstates; i++)
		if (columns[i] >= 0)
			are[columns[i]] = true;
	return are;
}

void
gpuagg_agg_chunk_init(AggScanState *node)
{
	const GpuaggVectorProgram *program = &node->compiler->program;
	AggChunk *chunk = palloc0(sizeof(AggChunk));

	chunk->columns = palloc(Max(node->nstates, 1) * sizeof(int));
	chunk->answers = has_answers(node, chunk->columns);
	chunk->filter = gpuagg_chunk_filter_make(&node->conditions, program->columns,
											 (int) program->ncolumns);
	if (chunk->answers)
		chunk->summed_up = columns_of(node, chunk->columns);
	else if (chunk->filter != NULL)
		chunk->summed_up = gpuagg_chunk_filter_columns(chunk->filter);
	else
		return;
	node->chunk = chunk;
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
			room.f32 = (float) column_block_float(type, value);
			break;
		case GPUAGG_FLOAT64:
			room.f64 = column_block_float(type, value);
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
	if (chunk->filter != NULL && gpuagg_agg_conditions_known(node) &&
		gpuagg_chunk_filter_excludes(chunk->filter, node->runner->constants, blocks))
	{
		node->counts.removed += nrows;
		return true;
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

/* A PageChunkKey. */
static bool
find_key(void *owner, const int64 **numbers, int *n)
{
	const AggScanState *node = owner;
	const AggChunk *chunk = node->chunk;

	return !node->by_row && !chunk->answers && gpuagg_agg_conditions_known(node) &&
		   gpuagg_chunk_filter_key(chunk->filter, node->runner->constants, numbers, n);
}

void
gpuagg_agg_chunk_ask(AggScanState *node)
{
	if (node->chunk != NULL && node->chunk->filter != NULL)
		gpuagg_chunk_filter_reset(node->chunk->filter);
	node->reader->chunk_done = node->chunk != NULL ? is_done : NULL;
	node->reader->chunk_key = node->chunk != NULL ? find_key : NULL;
	node->reader->summed_up = node->chunk != NULL ? node->chunk->summed_up : NULL;
}
