/*
 * agg_rows.c
 *	  Rows of a GpuAgg node's vectors that core's executor evaluates, one after the other.
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "port/pg_bitutils.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "exec/agg_state.h"

/*
 * Bytes of values by reference that a vector may take; one with more is evaluated row by
 * row, where each row's memory is free before the next.  Also how far one vector's rows may
 * take groups beyond their limit.
 */
#define VECTOR_BYTES (4 * 1024 * 1024)

void
gpuagg_agg_row_store(AggScanState *node, int row)
{
	const AggTable *table = node->table;

	if (table != NULL && table->map != NULL)
	{
		gpuagg_page_reader_slot(node->reader, row, table->slot->tts_tupleDescriptor->natts,
								table->slot);
		(void) execute_attr_map_slot(table->map->attrMap, table->slot, node->row_slot);
	}
	else
		gpuagg_page_reader_slot(node->reader, row, node->row_natts, node->row_slot);
	node->css.ss.ps.ps_ExprContext->ecxt_scantuple = node->row_slot;
}

/* Evaluates an expression over one row; the value lives until the next vector. */
static Datum
evaluate_value(AggScanState *node, ExprState *state, int16 length, bool by_value, int row,
			   bool *isnull)
{
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	Datum value;

	CHECK_FOR_INTERRUPTS();
	gpuagg_agg_row_store(node, row);
	value = ExecEvalExpr(state, econtext, isnull);
	MemoryContextSwitchTo(node->batch_context);
	if (!by_value && !*isnull)
		value = datumCopy(value, false, length);
	MemoryContextSwitchTo(old);
	ResetExprContext(econtext);
	return value;
}

static void
flag_row(AggScanState *node, int row)
{
	node->runner->flagged[row / 64] |= UINT64CONST(1) << (row % 64);
	node->runner->any_flagged = true;
}

void
gpuagg_agg_row_evaluate(void *owner, int number, const uint64 *wanted, GpuaggVector *out)
{
	AggScanState *node = owner;
	Expr *expr = list_nth(node->compiler->rows, number);
	Oid type = exprType((Node *) expr);
	bool constant = node->compiler->row_constant[number];
	bool known = false;
	bool full = false;
	int16 length;
	bool by_value;
	Datum value = (Datum) 0;
	bool isnull = true;
	MemoryContext old = MemoryContextSwitchTo(node->batch_context);

	get_typlenbyval(type, &length, &by_value);
	for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
		for (uint64 left = wanted[w]; left != 0; left &= left - 1)
		{
			int row = w * 64 + pg_rightmost_one_pos64(left);

			if (!full && (!constant || !known))
				value = evaluate_value(node, node->row_exprs[number], length, by_value, row,
									   &isnull);
			known = true;
			full = MemoryContextMemAllocated(node->batch_context, false) > VECTOR_BYTES;
			if (!gpuagg_vector_store(out, &node->compiler->row_values[number], type, row, value,
									 isnull || full) ||
				full)
				flag_row(node, row);
		}
	MemoryContextSwitchTo(old);
}

/* An AggFill's values, evaluated over the row in the slot. */
static void
fill_from_slot(void *owner, int row, Datum *values, bool *isnull)
{
	const AggFill *of = owner;
	ExprContext *econtext = of->node->css.ss.ps.ps_ExprContext;

	for (int i = 0; i < of->set->layout.nvalues; i++)
		values[i] = ExecEvalExpr(of->node->values[of->set->values[i]].state, econtext, &isnull[i]);
}

/*
 * The row in the slot: into its group, whose keys are evaluated first, and its values with
 * DISTINCT into their sets.
 */
static void
take_slot(AggScanState *node)
{
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	int nkeys = node->spec->nkeys;
	Datum *keys = palloc((nkeys + 1) * sizeof(Datum));
	bool *isnull = palloc((nkeys + 1) * sizeof(bool));
	AggFill of = {node, gpuagg_agg_main(node)};
	AggGroup *group;

	for (int i = 0; i < nkeys; i++)
		keys[i] = ExecEvalExpr(node->values[i].state, econtext, &isnull[i]);
	group = gpuagg_groups_find_datums(of.set->groups, keys, isnull, fill_from_slot, &of);
	gpuagg_agg_sink_row(node, group, econtext);
	for (int i = 0; i < node->ndistinct; i++)
	{
		const AggInput *input = &node->inputs[gpuagg_agg_distinct_value(node, i)->input];

		of.set = &node->sets[1 + i];
		if (input->where != NULL)
		{
			Datum where = ExecEvalExpr(input->where_state, econtext, &isnull[nkeys]);

			if (isnull[nkeys] || !DatumGetBool(where))
				continue;
		}
		keys[nkeys] = ExecEvalExpr(input->argument_state, econtext, &isnull[nkeys]);
		if (!isnull[nkeys] && (of.set->distinct == NULL ||
							   !gpuagg_distinct_add_datum(of.set->distinct, group, keys[nkeys])))
			(void) gpuagg_groups_find_datums(of.set->groups, keys, isnull, fill_from_slot, &of);
	}
}

/* Whether groups are not yet far beyond their limit. */
static bool
has_slack(const AggScanState *node)
{
	for (int i = 0; i <= node->ndistinct; i++)
		if (gpuagg_groups_bytes(node->sets[i].groups) > node->memory_limit + VECTOR_BYTES)
			return false;
	return true;
}

void
gpuagg_agg_rows_take(AggScanState *node)
{
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	bool room = true;

	while (room && node->next_row < node->reader->nrows)
	{
		MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);

		CHECK_FOR_INTERRUPTS();
		gpuagg_agg_row_store(node, node->next_row);
		if (ExecQual(node->qual, econtext))
			take_slot(node);
		else
			node->counts.removed++;
		MemoryContextSwitchTo(old);
		ResetExprContext(econtext);
		node->next_row++;
		if (!has_slack(node))
			room = gpuagg_agg_output_make_room(node);
	}
	if (node->next_row >= node->reader->nrows)
		node->next_row = 0;
}

void
gpuagg_agg_rows_take_vector(AggScanState *node)
{
	node->counts.by_row++;
	node->next_row = 0;
	gpuagg_agg_rows_take(node);
}
