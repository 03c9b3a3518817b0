/*
 * window_table.c
 *	  The columns of a table as the input of a GpuWindow node's sort.
 */
#include "compat.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"

#include "exec/compiled.h"
#include "exec/window_table.h"

struct WindowTable
{
	SeqScanState *scan;
	Relation relation;
	ExprContext *econtext; /* of the node */
	PageCounts counts;

	/* the reader's columns: those of the program, then others */
	PageColumn *columns;
	int ncolumns;
	int *column_of; /* by column of the child: its number there; -1: it is not kept */
	bool *is_datum; /* by column of the child */

	/* the filter */
	List *quals;
	VectorCompiler *compiler; /* NULL: there is none, or the executor's alone */
	GpuaggVectorRunner *runner;
	List *parameter_states;
	MemoryContext parameters;
	bool parameters_set;
	bool by_row;	 /* the executor evaluates it */
	ExprState *qual; /* over a slot of the relation's rows */
	TupleTableSlot *slot;
	int natts; /* of rows that it looks at */
};

/* ---- which scans ---- */

/* Attributes that the expressions have, up to the last one; -1: also what a slot has not. */
static int
attributes_of(const List *exprs, Index varno, int all)
{
	Bitmapset *attributes = NULL;
	int member = -1;
	int last = 0;

	pull_varattnos((Node *) exprs, varno, &attributes);
	while ((member = bms_next_member(attributes, member)) >= 0)
	{
		int attno = member + FirstLowInvalidHeapAttributeNumber;

		if (attno == 0)
			last = all;
		else if (attno > 0)
			last = Max(last, attno);
		else if (attno != SelfItemPointerAttributeNumber && attno != TableOidAttributeNumber)
			return -1;
	}
	return last;
}

/* Whether the child's columns that are kept are columns of its table. */
static bool
has_columns(const SeqScan *plan, const bool *kept)
{
	ListCell *cell;

	foreach (cell, plan->scan.plan.targetlist)
	{
		const Var *var = (const Var *) ((TargetEntry *) lfirst(cell))->expr;

		if (kept[foreach_current_index(cell)] &&
			(!IsA(var, Var) || var->varno != plan->scan.scanrelid || var->varattno <= 0))
			return false;
	}
	return true;
}

static bool
can_take(PlanState *child, const bool *kept)
{
	const EState *estate = child->state;
	const SeqScan *plan = (const SeqScan *) child->plan;

	/* an EXPLAIN without ANALYZE does not come here */
	return IsA(child, SeqScanState) && !plan->scan.plan.parallel_aware &&
		   estate->es_epq_active == NULL && ScanDirectionIsForward(estate->es_direction) &&
		   IsMVCCSnapshot(estate->es_snapshot) &&
		   gpuagg_page_reader_can_read(((SeqScanState *) child)->ss.ss_currentRelation) &&
		   has_columns(plan, kept) && !contain_subplans((Node *) plan->scan.plan.qual) &&
		   attributes_of(plan->scan.plan.qual, plan->scan.scanrelid, 1) >= 0;
}

/* ---- start ---- */

/* The filter as a program; NULL: it is the executor's. */
static VectorCompiler *
compile(const WindowTable *table)
{
	Index varno = ((const Scan *) table->scan->ss.ps.plan)->scanrelid;
	VectorCompiler *compiler;

	if (table->quals == NIL || !gpuagg_compile_possible((Node *) table->quals))
		return NULL;
	compiler = gpuagg_compiler_make(RelationGetRelid(table->relation), varno);
	gpuagg_compile_filter(compiler, table->quals);
	if (!gpuagg_compile_finish(compiler) || compiler->user_function || compiler->rows != NIL)
		return NULL;
	return compiler;
}

static void
init_filter(WindowTable *table, PlanState *node)
{
	const Scan *plan = (const Scan *) table->scan->ss.ps.plan;
	TupleDesc desc = RelationGetDescr(table->relation);

	table->quals = plan->plan.qual;
	table->compiler = compile(table);
	table->qual = ExecInitQual(table->quals, node);
	table->slot = ExecInitExtraTupleSlot(node->state, desc, &TTSOpsVirtual);
	table->natts = attributes_of(table->quals, plan->scanrelid, desc->natts);
	if (table->compiler != NULL)
	{
		table->runner = gpuagg_compiled_runner(&table->compiler->program);
		table->parameter_states = gpuagg_compiled_states(table->compiler, node);
		table->parameters = AllocSetContextCreate(CurrentMemoryContext, "gpuagg parameters",
												  ALLOCSET_SMALL_SIZES);
	}
}

/* Whether the vector's values are as wide as the attribute's. */
static bool
is_plain(const PageColumn *column, Form_pg_attribute attribute)
{
	return column->form == PAGE_COLUMN_COPY && attribute->attbyval &&
		   gpuagg_vector_type_size(column->type) == (size_t) attribute->attlen;
}

/* The number of the reader's column that has an attribute as it is kept. */
static int
find_column(WindowTable *table, AttrNumber attno)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(table->relation), attno - 1);
	PageColumn column;

	if (!gpuagg_page_column(attribute, &column) || !is_plain(&column, attribute))
		column = (PageColumn){attno, PAGE_COLUMN_DATUM, GPUAGG_VECTOR_DATUM, 0, false};
	for (int i = 0; i < table->ncolumns; i++)
		if (table->columns[i].attno == attno && table->columns[i].form == column.form)
			return i;
	table->columns[table->ncolumns] = column;
	return table->ncolumns++;
}

static void
init_columns(WindowTable *table, const bool *kept)
{
	const List *targets = table->scan->ss.ps.plan->targetlist;
	int nfilter = table->compiler != NULL ? (int) table->compiler->program.ncolumns : 0;
	ListCell *cell;

	table->columns = palloc0((nfilter + list_length(targets) + 1) * sizeof(PageColumn));
	table->column_of = palloc((list_length(targets) + 1) * sizeof(int));
	table->is_datum = palloc0((list_length(targets) + 1) * sizeof(bool));
	if (nfilter > 0)
		gpuagg_compiled_columns(table->compiler, table->relation, table->columns);
	table->ncolumns = nfilter;
	foreach (cell, targets)
	{
		int i = foreach_current_index(cell);
		const Var *var = (const Var *) ((TargetEntry *) lfirst(cell))->expr;

		table->column_of[i] = kept[i] ? find_column(table, var->varattno) : -1;
		if (kept[i])
			table->is_datum[i] = table->columns[table->column_of[i]].form == PAGE_COLUMN_DATUM;
	}
}

WindowTable *
gpuagg_window_table_make(PlanState *child, PlanState *node, const bool *kept)
{
	MemoryContext old;
	WindowTable *table;

	if (!can_take(child, kept))
		return NULL;
	old = MemoryContextSwitchTo(child->state->es_query_cxt);
	table = palloc0(sizeof(WindowTable));
	table->scan = (SeqScanState *) child;
	table->relation = table->scan->ss.ss_currentRelation;
	table->econtext = node->ps_ExprContext;
	init_filter(table, node);
	init_columns(table, kept);
	MemoryContextSwitchTo(old);
	return table;
}

/* ---- the filter ---- */

static bool
filters_by_row(const WindowTable *table)
{
	return table->quals != NIL && (table->compiler == NULL || table->by_row);
}

/* The batch's rows that pass, as the executor finds; returns how many. */
static int
pass_by_row(WindowTable *table, PageReader *reader, uint64 *live)
{
	int n = 0;

	memset(live, 0, GPUAGG_VECTOR_WORDS * sizeof(uint64));
	for (int i = 0; i < reader->nrows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		gpuagg_page_reader_slot(reader, i, table->natts, table->slot);
		table->econtext->ecxt_scantuple = table->slot;
		if (ExecQual(table->qual, table->econtext))
		{
			live[i / 64] |= UINT64CONST(1) << i % 64;
			n++;
		}
		ResetExprContext(table->econtext);
	}
	ExecClearTuple(table->slot);
	return n;
}

/* The same by the program; -1: some row could not be decided. */
static int
pass_by_vector(WindowTable *table, PageReader *reader, uint64 *live)
{
	GpuaggVectorRunner *runner = table->runner;
	int n;

	gpuagg_page_reader_load(reader, 0, (int) table->compiler->program.ncolumns, NULL);
	runner->columns = reader->columns;
	n = gpuagg_vector_run_filter(runner, reader->nrows);
	if (reader->any_flagged || runner->any_flagged)
		return -1;
	memcpy(live, runner->live, sizeof(runner->live));
	return n;
}

/* The constants that are known with the first row. */
static void
set_parameters(WindowTable *table)
{
	MemoryContext old = MemoryContextSwitchTo(table->parameters);

	table->parameters_set = true;
	table->by_row = !gpuagg_compiled_parameters(table->compiler, table->parameter_states,
												table->econtext, true, table->runner);
	MemoryContextSwitchTo(old);
}

/* The batch's rows that pass; returns how many, or -1: the batch comes again, from its pages. */
static int
pass(WindowTable *table, PageReader *reader, uint64 *live)
{
	int n = -1;

	if (table->quals == NIL)
	{
		memset(live, 0, GPUAGG_VECTOR_WORDS * sizeof(uint64));
		memset(live, 0xff, reader->nrows / 64 * sizeof(uint64));
		if (reader->nrows % 64 != 0)
			live[reader->nrows / 64] = (UINT64CONST(1) << reader->nrows % 64) - 1;
		return reader->nrows;
	}
	if (table->compiler != NULL && !table->parameters_set)
		set_parameters(table);
	if (!filters_by_row(table))
		n = pass_by_vector(table, reader, live);
	if (n < 0 && reader->from_memory)
		gpuagg_page_reader_return(reader);
	else if (n < 0)
		n = pass_by_row(table, reader, live);
	return n;
}

/* ---- rows ---- */

static PageReader *
open_reader(WindowTable *table)
{
	const EState *estate = table->scan->ss.ps.state;
	PageMemory memory = PAGE_MEMORY_NONE;
	const char *reason;

	if (table->ncolumns > 0 && !filters_by_row(table))
		memory = gpuagg_page_memory(table->relation, estate->es_snapshot, table->columns,
									table->ncolumns, &reason);
	return gpuagg_page_reader_open(table->relation, estate->es_snapshot, table->columns,
								   table->ncolumns, memory, NULL);
}

/* The batch's columns of n live rows. */
static void
put(const WindowTable *table, PageReader *reader, const GpuaggVector **vectors, const uint64 *live,
	int n, RowSort *sort)
{
	int nfilter = table->compiler != NULL ? (int) table->compiler->program.ncolumns : 0;
	uint16 rows[GPUAGG_VECTOR_ROWS];

	/* columns of a filter that was evaluated row by row are not there */
	if (filters_by_row(table) || reader->any_flagged)
		nfilter = 0;
	gpuagg_page_reader_load(reader, nfilter, table->ncolumns - nfilter,
							n == reader->nrows ? NULL : live);
	for (int i = 0; i < list_length(table->scan->ss.ps.plan->targetlist); i++)
		if (table->column_of[i] >= 0)
			vectors[i] = &reader->columns[table->column_of[i]];
	gpuagg_row_sort_put_vectors(sort, vectors, table->is_datum, rows,
								gpuagg_vector_list(live, rows));
}

void
gpuagg_window_table_take(WindowTable *table, RowSort *sort)
{
	PlanState *child = &table->scan->ss.ps;
	int ncolumns = list_length(child->plan->targetlist);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpuagg pages",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	const GpuaggVector **vectors = palloc0((ncolumns + 1) * sizeof(GpuaggVector *));
	const PageCounts before = table->counts;
	uint64 live[GPUAGG_VECTOR_WORDS];
	PageReader *reader;

	table->parameters_set = table->by_row = false;
	if (table->parameters != NULL)
		MemoryContextReset(table->parameters);
	reader = open_reader(table);
	for (;;)
	{
		bool more;
		int n = 0;

		CHECK_FOR_INTERRUPTS();
		if (child->instrument != NULL)
			InstrStartNode(child->instrument);
		more = gpuagg_page_reader_next(reader);
		if (more)
			n = pass(table, reader, live);
		if (child->instrument != NULL)
			InstrStopNode(child->instrument, Max(n, 0));
		if (!more)
			break;
		if (n >= 0)
			InstrCountFiltered1(child, reader->nrows - n);
		if (n > 0)
			put(table, reader, vectors, live, n, sort);
	}
	gpuagg_page_counts_add(&table->counts, &reader->counts);
	gpuagg_page_counts_tell(&table->counts, &before, 0);
	gpuagg_page_reader_close(reader);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

const PageCounts *
gpuagg_window_table_counts(const WindowTable *table)
{
	return &table->counts;
}
