/*
 * window_input.c
 *	  The rows of a GpuWindow node as they come in, and where partitions and
 *	  groups start.
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/window_state.h"

/* Begins the sort of all rows from below, by the partition's keys and then the order's. */
static void
begin_sort(WindowScanState *node)
{
	const WindowSpec *spec = node->spec;
	RowSortKey keys[SORT_MAX_KEYS];
	int nkeys = spec->npartition + spec->norder;

	if (nkeys > SORT_MAX_KEYS)
		elog(ERROR, "too many keys to sort by");
	for (int i = 0; i < nkeys; i++)
	{
		const WindowColumn *column = i < spec->npartition ? &spec->partition[i]
														  : &spec->order[i - spec->npartition];

		keys[i].attno = column->attno;
		keys[i].sort_operator = column->sort_operator;
		keys[i].collation = column->collation;
		keys[i].nulls_first = column->nulls_first;
	}
	node->sort = gpuagg_row_sort_begin(ExecGetResultType(node->child), nkeys, keys,
									   spec->npartition, work_mem * INT64CONST(1024),
									   GetMemoryChunkContext(node));
}

static void
sort_rows(WindowScanState *node)
{
	WorkReport before;
	TupleTableSlot *row;

	if (node->sort == NULL)
		begin_sort(node);
	while (row = ExecProcNode(node->child), !TupIsNull(row))
	{
		CHECK_FOR_INTERRUPTS();
		gpuagg_row_sort_put(node->sort, row);
	}
	before = *gpuagg_stat_last();
	gpuagg_row_sort_perform(node->sort);
	gpuagg_window_report_since(node, &before);
	node->sorted = true;
	node->rows_stay = gpuagg_row_sort_in_memory(node->sort);
}

/* The next row of the sort, or NULL, and what it starts. */
static TupleTableSlot *
next_sorted(WindowScanState *node)
{
	bool new_peers;

	if (!node->sorted)
		sort_rows(node);
	if (!gpuagg_row_sort_get(node->sort, node->sort_slot, &node->new_partition, &new_peers))
		return NULL;
	slot_getsomeattrs(node->sort_slot, node->last_read);
	node->new_group = node->new_partition || node->spec->frame == WINDOW_ROWS ||
					  (node->spec->frame == WINDOW_PEERS && new_peers);
	return node->sort_slot;
}

/* What a row from a child that is sorted starts. */
static void
mark_row(WindowScanState *node, TupleTableSlot *row)
{
	WindowSpec *spec = node->spec;
	MemoryContext old;

	slot_getsomeattrs(row, node->last_read);
	old = MemoryContextSwitchTo(node->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	node->new_partition = gpuagg_window_keys_change(node->partition, spec->npartition, row);
	if (node->first_row)
		node->new_partition = true;
	node->first_row = false;
	/* the order keys are remembered in any case */
	if (spec->frame == WINDOW_ROWS)
		node->new_group = true;
	else
		node->new_group = gpuagg_window_keys_change(node->order, node->norder, row) ||
						  node->new_partition;
	MemoryContextSwitchTo(old);
}

/* The next row of a child that is sorted, or NULL. */
static TupleTableSlot *
next_from_child(WindowScanState *node)
{
	TupleTableSlot *row = ExecProcNode(node->child);

	if (TupIsNull(row))
		return NULL;
	if (!node->marks_late)
		mark_row(node, row);
	return row;
}

void
gpuagg_window_mark_rows(WindowScanState *node, const Datum *values, const bool *isnull, Size stride,
						int64 nrows, uint64 *heads, uint64 *groups)
{
	Size bytes = (nrows + 63) / 64 * sizeof(uint64);

	memset(heads, 0, bytes);
	gpuagg_window_keys_mark(node->partition, node->spec->npartition, values, isnull, stride, nrows,
							heads);
	if (node->first_row)
		heads[0] |= 1;
	node->first_row = false;
	memcpy(groups, heads, bytes);
	gpuagg_window_keys_mark(node->order, node->norder, values, isnull, stride, nrows, groups);
}

bool
gpuagg_window_next(WindowScanState *node)
{
	if (node->have_row)
		return true;
	if (node->input_ended)
		return false;
	ResetExprContext(node->css.ss.ps.ps_ExprContext);
	node->row = node->spec->sort ? next_sorted(node) : next_from_child(node);
	node->have_row = node->row != NULL;
	node->input_ended = node->row == NULL;
	return node->have_row;
}

void
gpuagg_window_rescan_input(WindowScanState *node)
{
	gpuagg_window_keys_forget(node->partition, node->spec->npartition);
	gpuagg_window_keys_forget(node->order, node->norder);
	node->first_row = true;
	node->input_ended = false;
	node->row = NULL;
	node->have_row = false;

	if (node->sort_slot != NULL)
		ExecClearTuple(node->sort_slot);
	if (node->sorted && node->child->chgParam == NULL && gpuagg_row_sort_seek(node->sort, 0))
		return;
	node->sorted = false;
	node->rows_stay = false;
	if (node->sort != NULL)
		gpuagg_row_sort_clear(node->sort);
	/* a child with changed parameters rescans itself when it is next asked for a row */
	if (node->child->chgParam == NULL)
		ExecReScan(node->child);
}

void
gpuagg_window_end_input(WindowScanState *node)
{
	if (node->sort != NULL)
		gpuagg_row_sort_end(node->sort);
	ExecEndNode(node->child);
}
