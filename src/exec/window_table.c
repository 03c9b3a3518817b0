/*
 * window_table.c
 *	  The columns of a table as the input of a GpuWindow node's sort.
 */
#include "compat.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "exec/compiled.h"
#include "exec/window_table.h"

struct WindowTable
{
	SeqScanState *scan;
	PlanState *node;
	Relation relation;
	ExprContext *econtext; /* of the node */
	PageCounts counts;

	/* the reader's columns: those of the program, then others */
	PageColumn *columns;
	int ncolumns;
	int nkept;		/* columns of rows: the child's, then arguments */
	int *column_of; /* by column of the child: its number there; -1: it is not kept */
	bool *is_datum; /* by column of rows */

	/* the program: filter and arguments */
	VectorCompiler *compiler; /* NULL: there is none */
	GpuaggVectorRunner *runner;
	List *parameter_states;
	MemoryContext parameters;
	bool parameters_set[2]; /* of the arguments, of the filter */

	/* arguments that are computed */
	int narguments;
	Expr **arguments; /* over the table; NULL: this one is not */
	int *register_of; /* of the program; -1 */
	bool computes;	  /* any */
	bool failed;	  /* to, in this run */

	/* the filter */
	List *quals;
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
can_take(PlanState *child)
{
	const EState *estate = child->state;
	const SeqScan *plan = (const SeqScan *) child->plan;

	/* an EXPLAIN without ANALYZE does not come here */
	return IsA(child, SeqScanState) && !plan->scan.plan.parallel_aware &&
		   estate->es_epq_active == NULL && ScanDirectionIsForward(estate->es_direction) &&
		   IsMVCCSnapshot(estate->es_snapshot) &&
		   gpuagg_page_reader_can_read(((SeqScanState *) child)->ss.ss_currentRelation) &&
		   !contain_subplans((Node *) plan->scan.plan.qual) &&
		   attributes_of(plan->scan.plan.qual, plan->scan.scanrelid, 1) >= 0;
}

/* ---- start ---- */

/* Replaces columns of the scan tuple by those of the child's table. */
static Node *
replace_columns(Node *node, void *child)
{
	const List *targets = child;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varno == INDEX_VAR)
		return copyObject(
			(Node *) ((TargetEntry *) list_nth(targets, ((Var *) node)->varattno - 1))->expr);
	return expression_tree_mutator(node, replace_columns, child);
}

/* Whether a register holds the expression's values as a column has them, or decimals as bigints. */
static bool
is_column(const Expr *expr, const VectorValue *value)
{
	int16 length;
	bool by_value;

	if (value->scale >= 0)
		return value->type == GPUAGG_VECTOR_INT64;
	get_typlenbyval(exprType((const Node *) expr), &length, &by_value);
	return by_value && value->type != GPUAGG_VECTOR_BOOL && value->type != GPUAGG_VECTOR_DATUM &&
		   gpuagg_vector_type_size(value->type) == (size_t) length;
}

/* Whether all that is computed before the first row is there are values of the client. */
static bool
has_plain_parameters(const VectorCompiler *compiler)
{
	ListCell *cell;

	foreach (cell, compiler->parameters)
	{
		const VectorParameter *parameter = lfirst(cell);

		if (!parameter->filter && (!IsA(parameter->expr, Param) ||
								   ((const Param *) parameter->expr)->paramkind != PARAM_EXTERN))
			return false;
	}
	return true;
}

/* The program of the filter and of arguments; NULL: core's executor is to evaluate them. */
static VectorCompiler *
compile(const WindowTable *table, List *quals, Expr *const *arguments, int n, int *register_of,
		int *scales)
{
	Index varno = ((const Scan *) table->scan->ss.ps.plan)->scanrelid;
	VectorCompiler *compiler;

	if (!gpuagg_compile_possible((Node *) quals))
		return NULL;
	compiler = gpuagg_compiler_make(RelationGetRelid(table->relation), varno);
	compiler->narrow = n > 0;
	gpuagg_compile_filter(compiler, quals);
	for (int i = 0; i < n; i++)
	{
		VectorValue value;

		if (arguments[i] == NULL)
			continue;
		value = gpuagg_compile_value(compiler, arguments[i], NULL);
		if (!is_column(arguments[i], &value))
			return NULL;
		register_of[i] = value.reg;
		scales[i] = value.scale;
	}
	if (!gpuagg_compile_finish(compiler) || compiler->user_function || compiler->rows != NIL ||
		!has_plain_parameters(compiler))
		return NULL;
	return compiler;
}

/* Finds the arguments that can be computed; they are if the filter is, too. */
static void
init_arguments(WindowTable *table, Expr *const *arguments, int n, bool *computed, int *scales)
{
	table->narguments = n;
	table->arguments = palloc0((n + 1) * sizeof(Expr *));
	table->register_of = palloc0((n + 1) * sizeof(int));
	for (int i = 0; i < n; i++)
	{
		Expr *argument = (Expr *) replace_columns((Node *) arguments[i],
												  table->scan->ss.ps.plan->targetlist);

		computed[i] = argument != NULL && gpuagg_compile_possible((Node *) argument) &&
					  compile(table, NIL, &argument, 1, &table->register_of[i], &scales[i]) != NULL;
		if (computed[i])
			table->arguments[i] = argument;
		table->computes |= computed[i];
	}
	if (table->computes)
		table->compiler = compile(table, table->quals, table->arguments, n, table->register_of,
								  scales);
	if (table->computes && table->compiler == NULL)
	{
		gpuagg_window_table_compute_none(table);
		memset(computed, 0, n * sizeof(bool));
	}
}

void
gpuagg_window_table_compute_none(WindowTable *table)
{
	memset(table->arguments, 0, table->narguments * sizeof(Expr *));
	table->computes = false;
	table->compiler = NULL;
}

/* What runs the program. */
static void
init_program(WindowTable *table)
{
	if (table->compiler == NULL && table->quals != NIL)
		table->compiler = compile(table, table->quals, NULL, 0, NULL, NULL);
	if (table->compiler == NULL)
		return;
	table->runner = gpuagg_compiled_runner(&table->compiler->program);
	table->parameter_states = gpuagg_compiled_states(table->compiler, table->node);
	if (table->parameters == NULL)
		table->parameters = AllocSetContextCreate(CurrentMemoryContext, "gpuagg parameters",
												  ALLOCSET_SMALL_SIZES);
}

static void
init_filter(WindowTable *table)
{
	const Scan *plan = (const Scan *) table->scan->ss.ps.plan;
	TupleDesc desc = RelationGetDescr(table->relation);

	table->quals = plan->plan.qual;
	table->qual = ExecInitQual(table->quals, table->node);
	table->slot = ExecInitExtraTupleSlot(table->node->state, desc, &TTSOpsVirtual);
	table->natts = attributes_of(table->quals, plan->scanrelid, desc->natts);
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
	int nprogram = table->compiler != NULL ? (int) table->compiler->program.ncolumns : 0;
	ListCell *cell;

	table->nkept = list_length(targets) + table->narguments;
	table->columns = palloc0((nprogram + list_length(targets) + 1) * sizeof(PageColumn));
	table->column_of = palloc((list_length(targets) + 1) * sizeof(int));
	table->is_datum = palloc0((table->nkept + 1) * sizeof(bool));
	if (nprogram > 0)
		gpuagg_compiled_columns(table->compiler, table->relation, table->columns);
	table->ncolumns = nprogram;
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
gpuagg_window_table_make(PlanState *child, PlanState *node, Expr *const *arguments, int n,
						 bool *computed, int *scales)
{
	MemoryContext old;
	WindowTable *table;

	if (!can_take(child))
		return NULL;
	old = MemoryContextSwitchTo(child->state->es_query_cxt);
	table = palloc0(sizeof(WindowTable));
	table->scan = (SeqScanState *) child;
	table->node = node;
	table->relation = table->scan->ss.ss_currentRelation;
	table->econtext = node->ps_ExprContext;
	init_filter(table);
	init_arguments(table, arguments, n, computed, scales);
	MemoryContextSwitchTo(old);
	return table;
}

bool
gpuagg_window_table_keep(WindowTable *table, const bool *kept)
{
	MemoryContext old;

	if (!has_columns((const SeqScan *) table->scan->ss.ps.plan, kept))
		return false;
	old = MemoryContextSwitchTo(table->scan->ss.ps.state->es_query_cxt);
	init_program(table);
	init_columns(table, kept);
	MemoryContextSwitchTo(old);
	return true;
}

/* ---- the filter ---- */

static bool
filters_by_row(const WindowTable *table)
{
	return table->by_row || (table->quals != NIL && table->compiler == NULL);
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

/* The constants that are known with the first row that needs them; false: some has no form. */
static bool
set_parameters(WindowTable *table, bool filter)
{
	MemoryContext old = MemoryContextSwitchTo(table->parameters);
	bool fits = gpuagg_compiled_parameters(table->compiler, table->parameter_states,
										   table->econtext, filter, table->runner);

	MemoryContextSwitchTo(old);
	table->parameters_set[filter] = true;
	return fits;
}

/* The same by the program; -1: some row could not be decided. */
static int
pass_by_vector(WindowTable *table, PageReader *reader, uint64 *live)
{
	GpuaggVectorRunner *runner = table->runner;
	int n;

	gpuagg_page_reader_load(reader, 0, table->compiler->nfilter_columns, NULL);
	runner->columns = reader->columns;
	n = gpuagg_vector_run_filter(runner, reader->nrows);
	if (reader->any_flagged || runner->any_flagged)
		return -1;
	memcpy(live, runner->live, sizeof(runner->live));
	return n;
}

static int
pass_all(const PageReader *reader, uint64 *live)
{
	memset(live, 0, GPUAGG_VECTOR_WORDS * sizeof(uint64));
	memset(live, 0xff, reader->nrows / 64 * sizeof(uint64));
	if (reader->nrows % 64 != 0)
		live[reader->nrows / 64] = (UINT64CONST(1) << reader->nrows % 64) - 1;
	return reader->nrows;
}

/*
 * The batch's rows that pass; returns how many, or -1: from memory, the batch comes again, from
 * its pages; else the executor has to look.
 */
static int
pass(WindowTable *table, PageReader *reader, uint64 *live)
{
	int n = -1;

	if (table->compiler == NULL && table->quals == NIL)
		return pass_all(reader, live);
	if (table->compiler != NULL && !table->parameters_set[true])
		table->by_row = !set_parameters(table, true);
	if (!filters_by_row(table))
		n = pass_by_vector(table, reader, live);
	if (n > 0 && table->computes && !table->parameters_set[false])
	{
		/* registers of the filter may be needed again, and constants have been set anew */
		table->failed = !set_parameters(table, false);
		n = pass_by_vector(table, reader, live);
	}
	if (n < 0 && !reader->from_memory && !table->computes)
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

/* Columns and arguments of n live rows of the batch; false: some row is flagged. */
static bool
put(const WindowTable *table, PageReader *reader, const GpuaggVector **vectors, const uint64 *live,
	int n, RowSort *sort)
{
	int nfilter = table->compiler != NULL ? table->compiler->nfilter_columns : 0;
	int nchild = list_length(table->scan->ss.ps.plan->targetlist);
	uint16 rows[GPUAGG_VECTOR_ROWS];

	/* columns of a filter that was evaluated row by row are not there */
	if (filters_by_row(table) || reader->any_flagged)
		nfilter = 0;
	gpuagg_page_reader_load(reader, nfilter, table->ncolumns - nfilter,
							n == reader->nrows ? NULL : live);
	if (table->computes)
	{
		if (reader->any_flagged)
			return false;
		gpuagg_vector_run_values(table->runner);
		if (table->runner->any_flagged)
			return false;
	}
	for (int i = 0; i < nchild; i++)
		if (table->column_of[i] >= 0)
			vectors[i] = &reader->columns[table->column_of[i]];
	for (int i = 0; i < table->narguments; i++)
		if (table->arguments[i] != NULL)
			vectors[nchild + i] = &table->runner->registers[table->register_of[i]];
	gpuagg_row_sort_put_vectors(sort, vectors, table->is_datum, rows,
								gpuagg_vector_list(live, rows));
	return true;
}

/* The n rows of the batch that pass, or -1 as above; false: arguments cannot be computed. */
static bool
take_batch(WindowTable *table, PageReader *reader, const GpuaggVector **vectors, const uint64 *live,
		   int n, RowSort *sort)
{
	PlanState *child = &table->scan->ss.ps;

	if (table->failed)
		return false;
	if (n < 0 || (n > 0 && !put(table, reader, vectors, live, n, sort)))
	{
		if (!reader->from_memory)
			return false;
		gpuagg_page_reader_return(reader);
	}
	else
		InstrCountFiltered1(child, reader->nrows - n);
	return true;
}

bool
gpuagg_window_table_take(WindowTable *table, RowSort *sort)
{
	Instrumentation *instrument = table->scan->ss.ps.instrument;
	Instrumentation counted = instrument != NULL ? *instrument : (Instrumentation){0};
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpuagg pages",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	const GpuaggVector **vectors = palloc0((table->nkept + 1) * sizeof(GpuaggVector *));
	const PageCounts before = table->counts;
	uint64 live[GPUAGG_VECTOR_WORDS];
	PageReader *reader;
	bool done = true;

	table->by_row = table->failed = false;
	table->parameters_set[false] = table->parameters_set[true] = false;
	if (table->parameters != NULL)
		MemoryContextReset(table->parameters);
	reader = open_reader(table);
	while (done)
	{
		bool more;
		int n = 0;

		CHECK_FOR_INTERRUPTS();
		if (instrument != NULL)
			InstrStartNode(instrument);
		more = gpuagg_page_reader_next(reader);
		if (more)
			n = pass(table, reader, live);
		if (instrument != NULL)
			InstrStopNode(instrument, Max(n, 0));
		if (!more)
			break;
		done = take_batch(table, reader, vectors, live, n, sort);
	}
	/* its rows come again */
	if (!done && instrument != NULL)
	{
		instrument->tuplecount = counted.tuplecount;
		instrument->nfiltered1 = counted.nfiltered1;
	}
	gpuagg_page_counts_add(&table->counts, &reader->counts);
	gpuagg_page_counts_tell(&table->counts, &before, 0);
	gpuagg_page_reader_close(reader);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return done;
}

const PageCounts *
gpuagg_window_table_counts(const WindowTable *table)
{
	return &table->counts;
}
