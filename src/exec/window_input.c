/*
 * window_input.c
 *	  The rows of a GpuWindow node as they come in, and what each of them starts.
 */
#include "compat.h"

#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"

#include "exec/window_below.h"
#include "exec/window_source.h"
#include "exec/window_state.h"

void
gpuagg_window_input_init(WindowInput *input, const WindowSpec *spec, PlanState *child,
						 PlanState *node, WorkReport *report)
{
	TupleDesc desc = ExecGetResultType(child);

	input->spec = spec;
	input->child = child;
	input->node = node;
	input->econtext = node->ps_ExprContext;
	input->report = report;
	input->partition_keys = gpuagg_window_keys_make(spec->partition, spec->npartition, desc);
	input->norder = spec->frame == WINDOW_PEERS ? spec->norder : 0;
	input->order_keys = gpuagg_window_keys_make(spec->order, input->norder, desc);
	input->at_start = true;
	input->nfunctions = input->narguments = spec->nfunctions;
	input->arguments = palloc0(spec->nfunctions * sizeof(Expr *));
	input->is_checked = palloc0(spec->nfunctions * sizeof(bool));
	input->computed = palloc0(spec->nfunctions * sizeof(bool));
	input->scales = palloc0(spec->nfunctions * sizeof(int));
	input->wide = palloc0(spec->nfunctions * sizeof(bool));
}

/* ---- what is sorted ---- */

static bool
has_upper(const WindowInput *input, int argument)
{
	return input->computed[argument] && input->wide[argument];
}

int
gpuagg_window_input_upper(const WindowInput *input, int argument)
{
	int column = input->spec->nchild + input->narguments;

	for (int i = 0; i < argument; i++)
		column += has_upper(input, i);
	return column;
}

int
gpuagg_window_input_columns(const WindowInput *input)
{
	return gpuagg_window_input_upper(input, input->narguments);
}

bool *
gpuagg_window_input_wanted(const WindowInput *input, const bool *computed)
{
	const CustomScan *plan = (const CustomScan *) input->node->plan;
	int nchild = input->spec->nchild;
	bool *wanted = palloc0((nchild + 2 * input->narguments + 1) * sizeof(bool));
	Bitmapset *attributes = NULL;
	int member = -1;
	ListCell *cell;

	foreach (cell, plan->scan.plan.targetlist)
		if (input->needed == NULL || input->needed[foreach_current_index(cell)])
			pull_varattnos(lfirst(cell), INDEX_VAR, &attributes);
	pull_varattnos((Node *) plan->scan.plan.qual, INDEX_VAR, &attributes);
	foreach (cell, plan->custom_exprs)
	{
		int i = foreach_current_index(cell);

		/* two a function, of which the first is the argument */
		if (i >= 2 * input->nfunctions || i % 2 != 0 || !computed[i / 2])
			pull_varattnos(lfirst(cell), INDEX_VAR, &attributes);
	}
	for (int i = input->nfunctions; i < input->narguments; i++)
		if (!computed[i])
			pull_varattnos((Node *) input->arguments[i], INDEX_VAR, &attributes);
	while ((member = bms_next_member(attributes, member)) >= 0)
	{
		int attno = member + FirstLowInvalidHeapAttributeNumber;

		if (attno > 0 && attno <= nchild)
			wanted[attno - 1] = true;
	}
	memcpy(wanted + nchild, computed, input->narguments * sizeof(bool));
	return wanted;
}

/* The child's rows, and behind them the arguments that are computed. */
static TupleDesc
make_desc(const WindowInput *input)
{
	TupleDesc child = ExecGetResultType(input->child);
	int ncolumns = gpuagg_window_input_columns(input);
	TupleDesc desc = CreateTemplateTupleDesc(ncolumns);

	for (int i = 0; i < child->natts; i++)
		TupleDescCopyEntry(desc, i + 1, child, i + 1);
	for (int i = 0; i < input->narguments; i++)
	{
		Oid type = INT4OID;

		if (input->computed[i])
			type = input->scales[i] >= 0 ? INT8OID : exprType((Node *) input->arguments[i]);
		TupleDescInitEntry(desc, child->natts + i + 1, NULL, type, -1, 0);
	}
	for (int i = child->natts + input->narguments; i < ncolumns; i++)
		TupleDescInitEntry(desc, i + 1, NULL, INT8OID, -1, 0);
	return desc;
}

static void
begin_sort(WindowInput *input)
{
	MemoryContext old = MemoryContextSwitchTo(input->econtext->ecxt_per_query_memory);

	input->wanted = gpuagg_window_input_wanted(input, input->computed);
	for (int i = 0; i < input->narguments; i++)
		if (has_upper(input, i))
			input->wanted[gpuagg_window_input_upper(input, i)] = true;
	input->sort = gpuagg_row_sort_begin(make_desc(input), input->spec, input->wanted,
										gpuagg_window_input_columns(input), input->is_below,
										work_mem * INT64CONST(1024), CurrentMemoryContext);
	if (input->table != NULL &&
		!gpuagg_window_table_keep(input->table, gpuagg_row_sort_kept(input->sort)))
		input->table = NULL;
	MemoryContextSwitchTo(old);
}

/* Begins another one, where the arguments are evaluated row by row. */
static void
begin_plain_sort(WindowInput *input)
{
	if (input->sort != NULL)
		gpuagg_row_sort_end(input->sort);
	memset(input->computed, 0, input->narguments * sizeof(bool));
	if (input->table != NULL)
		gpuagg_window_table_compute_none(input->table);
	begin_sort(input);
}

static bool
computes_any(const WindowInput *input)
{
	bool any = false;

	for (int i = 0; i < input->narguments; i++)
		any |= input->computed[i];
	return any;
}

static void
prepare_sort(WindowInput *input)
{
	bool complete = true;

	input->table = gpuagg_window_table_make(input->child, input->node, input->arguments,
											input->narguments, input->computed, input->scales,
											input->wide);
	for (int i = 0; i < input->narguments; i++)
		complete &= input->computed[i] || !input->is_checked[i];
	if (complete)
		begin_sort(input);
	else
		begin_plain_sort(input);
}

/* What the node below computes of an argument that it was asked for. */
static bool
find_computed(const WindowInput *input, int argument, int *scale, bool *wide)
{
	const WindowInput *below = &((const WindowScanState *) input->child)->input;
	int at = below->nfunctions + argument;
	bool computed = below->asked && below->computed[at];

	*scale = computed ? below->scales[at] : -1;
	*wide = computed && below->wide[at];
	return computed;
}

bool
gpuagg_window_input_agrees(const WindowInput *input)
{
	for (int i = 0; i < input->narguments; i++)
	{
		int scale;
		bool wide;
		bool computed = find_computed(input, i, &scale, &wide);

		if (computed != input->computed[i] ||
			(computed && (scale != input->scales[i] || wide != input->wide[i])))
			return false;
	}
	return true;
}

/* The same for the rows of the node below, which computes what it was asked for. */
static void
prepare_shared(WindowInput *input)
{
	if (input->sort != NULL && gpuagg_window_input_agrees(input))
		return;
	for (int i = 0; i < input->narguments; i++)
		input->computed[i] = find_computed(input, i, &input->scales[i], &input->wide[i]);
	if (input->sort != NULL)
		gpuagg_row_sort_end(input->sort);
	begin_sort(input);
}

/* Has a sort for what comes from below. */
static void
prepare(WindowInput *input)
{
	input->moves = false;
	input->shares = gpuagg_window_below_begin(input);
	if (input->shares)
	{
		prepare_shared(input);
		return;
	}
	if (input->sort == NULL)
		prepare_sort(input);
	/* others come one by one, though those of an earlier run may have been shared */
	if (input->table == NULL && computes_any(input))
		begin_plain_sort(input);
}

/* Reads all rows from below into the sort. */
static void
put_rows(WindowInput *input)
{
	TupleTableSlot *row;

	while (input->table != NULL)
	{
		if (gpuagg_window_table_take(input->table, input->sort, input->sends))
			return;
		begin_plain_sort(input);
	}
	if (input->shares)
	{
		if (gpuagg_window_below_take(input))
			return;
		input->shares = false;
		begin_plain_sort(input);
	}
	while (row = ExecProcNode(input->child), !TupIsNull(row))
	{
		CHECK_FOR_INTERRUPTS();
		gpuagg_row_sort_put(input->sort, row);
	}
}

void
gpuagg_window_input_prepare(WindowInput *input)
{
	if (!input->sorted && !input->prepared)
		prepare(input);
	input->prepared = true;
}

void
gpuagg_window_input_sort(WindowInput *input)
{
	WorkReport before;

	if (input->sorted)
		return;
	gpuagg_window_input_prepare(input);
	put_rows(input);
	before = *gpuagg_stat_last();
	gpuagg_row_sort_perform(input->sort);
	gpuagg_window_report_since(input->report, &before);
	input->sorted = true;
	input->keeps_rows = gpuagg_row_sort_in_memory(input->sort);
}

/* The next row of the sort, or NULL, and what it starts. */
static TupleTableSlot *
next_sorted(WindowInput *input)
{
	WindowFrame frame = input->spec->frame;
	TupleTableSlot *row;
	bool new_peers;

	gpuagg_window_input_sort(input);
	row = gpuagg_row_sort_get(input->sort, &input->new_partition, &new_peers);
	if (row == NULL)
		return NULL;
	slot_getsomeattrs(row, input->last_read);
	input->new_group = input->new_partition || frame == WINDOW_ROWS ||
					   (frame == WINDOW_PEERS && new_peers);
	return row;
}

/* What a row from a child that is sorted starts. */
static void
mark_row(WindowInput *input, TupleTableSlot *row)
{
	const WindowSpec *spec = input->spec;
	MemoryContext old;

	slot_getsomeattrs(row, input->last_read);
	old = MemoryContextSwitchTo(input->econtext->ecxt_per_tuple_memory);
	input->new_partition = gpuagg_window_keys_change(input->partition_keys, spec->npartition, row);
	if (input->at_start)
		input->new_partition = true;
	input->at_start = false;
	if (spec->frame == WINDOW_ROWS)
		input->new_group = true;
	else /* the call remembers the row's keys, so it is made for a new partition too */
		input->new_group = gpuagg_window_keys_change(input->order_keys, input->norder, row) ||
						   input->new_partition;
	MemoryContextSwitchTo(old);
}

/* The next row of a child that is sorted, or NULL. */
static TupleTableSlot *
next_from_child(WindowInput *input)
{
	TupleTableSlot *row = ExecProcNode(input->child);

	if (TupIsNull(row))
		return NULL;
	if (!input->marks_sets)
		mark_row(input, row);
	return row;
}

void
gpuagg_window_input_mark(WindowInput *input, const Datum *values, const bool *isnull, Size stride,
						 int64 nrows, uint64 *partition_heads, uint64 *group_heads)
{
	Size bytes = (nrows + 63) / 64 * sizeof(uint64);

	memset(partition_heads, 0, bytes);
	gpuagg_window_keys_mark(input->partition_keys, input->spec->npartition, values, isnull, stride,
							nrows, partition_heads);
	if (input->at_start)
		partition_heads[0] |= 1;
	input->at_start = false;
	memcpy(group_heads, partition_heads, bytes);
	gpuagg_window_keys_mark(input->order_keys, input->norder, values, isnull, stride, nrows,
							group_heads);
}

bool
gpuagg_window_input_next(WindowInput *input)
{
	if (input->row != NULL)
		return true;
	if (input->ended)
		return false;
	ResetExprContext(input->econtext);
	input->row = input->spec->sort ? next_sorted(input) : next_from_child(input);
	input->ended = input->row == NULL;
	return !input->ended;
}

static bool
has_changed(Node *node, void *changed)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((const Param *) node)->paramkind == PARAM_EXEC)
		return bms_is_member(((const Param *) node)->paramid, changed);
	return expression_tree_walker(node, has_changed, changed);
}

/* Whether arguments that are columns of the sort are others now. */
static bool
has_other_arguments(const WindowInput *input, const Bitmapset *changed)
{
	for (int i = 0; i < input->narguments && changed != NULL; i++)
		if (input->computed[i] &&
			has_changed((Node *) input->arguments[i], unconstify(Bitmapset *, changed)))
			return true;
	return false;
}

void
gpuagg_window_input_rescan(WindowInput *input, const Bitmapset *changed)
{
	gpuagg_window_keys_forget(input->partition_keys, input->spec->npartition);
	gpuagg_window_keys_forget(input->order_keys, input->norder);
	input->at_start = true;
	input->ended = false;
	input->row = NULL;
	input->sends = false;

	if (input->sorted && input->child->chgParam == NULL && !has_other_arguments(input, changed))
	{
		gpuagg_row_sort_rewind(input->sort);
		return;
	}
	input->prepared = false;
	input->sorted = false;
	input->keeps_rows = false;
	if (input->sort != NULL)
		gpuagg_row_sort_clear(input->sort);
	/* a child with changed parameters rescans itself when it is next asked for a row */
	if (input->child->chgParam == NULL || input->table != NULL)
		ExecReScan(input->child);
}

void
gpuagg_window_input_tell(WindowInput *input, const Bitmapset *changed)
{
	PlanState *child = input->child;

	UpdateChangedParamSet(child, unconstify(Bitmapset *, changed));
	/* it may have columns for this node that need others than its own */
	if (gpuagg_window_source_node(child) == child && ((const WindowScanState *) child)->input.asked)
		child->chgParam = bms_add_members(child->chgParam, changed);
}

void
gpuagg_window_input_end(WindowInput *input)
{
	if (input->sort != NULL)
		gpuagg_row_sort_end(input->sort);
	ExecEndNode(input->child);
}
