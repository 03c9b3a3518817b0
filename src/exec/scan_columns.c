/*
 * scan_columns.c
 *	  The rows of a sequential scan of a table as columns.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "exec/chunk_filter.h"
#include "exec/compiled.h"
#include "exec/page_device.h"
#include "exec/scan_columns.h"
#include "exec/scan_program.h"

struct ScanColumns
{
	SeqScanState *scan;
	List *targets; /* columns of its rows, over the table */
	PlanState *node;
	Relation relation;
	ExprContext *econtext; /* of the node */
	PageCounts counts;
	PageCounts counted;		/* the same before this run */
	Instrumentation before; /* of the scan's node, of this run */
	int64 nrows;			/* that passed in it */

	/* the reader's columns: those of the program, then others */
	PageColumn *columns;
	int ncolumns;
	int *column_of; /* by column of the scan: its number there; -1: it is not kept, or computed */
	bool *is_datum; /* by value */

	/* the program: filter and values */
	VectorCompiler *compiler; /* NULL: there is none */
	GpuaggVectorRunner *runner;
	List *parameter_states;
	MemoryContext parameters;
	bool parameters_set[2]; /* of the values, of the filter */

	/* values: columns of the scan, then arguments */
	int nscan;
	int nvalues;
	Expr **exprs;		 /* of those that are computed, over the table; NULL: others */
	int *register_of;	 /* of the program, of those */
	bool *wide;			 /* decimals of 128 bits */
	int nwide;			 /* of these */
	GpuaggVector *words; /* and their two words, each behind the other */
	bool computes;		 /* any */
	bool failed;		 /* to, in this run */

	/* the filter */
	List *quals;
	bool by_row;	 /* the executor evaluates it */
	ExprState *qual; /* over a slot of the relation's rows */
	TupleTableSlot *slot;
	int natts; /* of rows that it looks at */

	/* what it tells about chunks in memory */
	FilterConditions conditions;
	ChunkFilter *chunks; /* NULL: nothing */
};

/* ---- start ---- */

/* The attribute that a column of the scan's rows is, or 0. */
static AttrNumber
attribute_of(const ScanColumns *table, int i)
{
	return gpuagg_scan_program_attribute((const SeqScan *) table->scan->ss.ps.plan, table->targets,
										 i);
}

/* Whether the columns that are kept can be read or computed. */
static bool
has_columns(const ScanColumns *table, const bool *kept)
{
	for (int i = 0; i < table->nscan; i++)
		if (kept[i] && table->exprs[i] == NULL && attribute_of(table, i) == 0)
			return false;
	return true;
}

/* Whether a register holds the expression's values as a column has them, or decimals as bigints. */
static bool
is_column(const Expr *expr, const VectorValue *value)
{
	int16 length;
	bool by_value;

	if (value->scale >= 0)
		return value->type == GPUAGG_VECTOR_INT64 || value->type == GPUAGG_VECTOR_INT128;
	get_typlenbyval(exprType((const Node *) expr), &length, &by_value);
	return by_value && value->type != GPUAGG_VECTOR_BOOL && value->type != GPUAGG_VECTOR_DATUM &&
		   gpuagg_vector_type_size(value->type) == (size_t) length;
}

/* Whether all that is computed once for the values are parameters: of the client, or of nodes above. */
static bool
has_plain_parameters(const VectorCompiler *compiler)
{
	ListCell *cell;

	foreach (cell, compiler->parameters)
	{
		const VectorParameter *parameter = lfirst(cell);

		if (!parameter->filter && !IsA(parameter->expr, Param))
			return false;
	}
	return true;
}

/* The program of the filter and of n expressions; NULL: core's executor is to evaluate them. */
static VectorCompiler *
compile(const ScanColumns *table, List *quals, Expr *const *exprs, int n, int *register_of,
		int *scales, bool *wide)
{
	const SeqScan *plan = (const SeqScan *) table->scan->ss.ps.plan;
	VectorValue *values = palloc0((n + 1) * sizeof(VectorValue));
	VectorCompiler *compiler = gpuagg_scan_program_make(plan->scan.scanrelid, table->node->state,
														quals, exprs, n, values);

	if (compiler == NULL || !has_plain_parameters(compiler))
		return NULL;
	for (int i = 0; i < n; i++)
	{
		if (exprs[i] == NULL)
			continue;
		if (!is_column(exprs[i], &values[i]))
			return NULL;
		register_of[i] = values[i].reg;
		scales[i] = values[i].scale;
		wide[i] = values[i].scale >= 0 && values[i].type == GPUAGG_VECTOR_INT128;
	}
	return compiler;
}

/* The expression of a value that may be computed; NULL: it is a column of the table. */
static Expr *
value_of(const ScanColumns *table, Expr *const *arguments, int i)
{
	Expr *expr;

	if (i >= table->nscan)
		return gpuagg_scan_program_expr(table->targets, arguments[i - table->nscan]);
	expr = ((TargetEntry *) list_nth(table->targets, i))->expr;
	/* a column of rows is not scaled */
	return attribute_of(table, i) > 0 || exprType((Node *) expr) == NUMERICOID ? NULL : expr;
}

static bool
is_wide(const ScanColumns *table, int i)
{
	return table->exprs[i] != NULL && table->wide[i];
}

/* Finds the values that can be computed; they are if the filter is, too. */
static void
init_values(ScanColumns *table, Expr *const *arguments, int n, bool *computed, int *scales,
			bool *wide)
{
	int *all_scales;

	table->nscan = list_length(table->targets);
	table->nvalues = table->nscan + n;
	table->exprs = palloc0((table->nvalues + 1) * sizeof(Expr *));
	table->register_of = palloc0((table->nvalues + 1) * sizeof(int));
	table->wide = palloc0((table->nvalues + 1) * sizeof(bool));
	all_scales = palloc0((table->nvalues + 1) * sizeof(int));
	for (int i = 0; i < table->nvalues; i++)
	{
		Expr *expr = value_of(table, arguments, i);

		if (expr == NULL || compile(table, NIL, &expr, 1, &table->register_of[i], &all_scales[i],
									&table->wide[i]) == NULL)
			continue;
		table->exprs[i] = expr;
		table->computes = true;
	}
	if (table->computes)
		table->compiler = compile(table, table->quals, table->exprs, table->nvalues,
								  table->register_of, all_scales, table->wide);
	if (table->compiler == NULL)
		gpuagg_scan_columns_compute_none(table);
	for (int i = 0; i < n; i++)
	{
		computed[i] = table->exprs[table->nscan + i] != NULL;
		scales[i] = computed[i] ? all_scales[table->nscan + i] : -1;
		wide[i] = computed[i] && table->wide[table->nscan + i];
	}
}

/* Memory for the words of wide values. */
static void
init_wide(ScanColumns *table)
{
	table->nwide = 0;
	for (int i = 0; i < table->nvalues; i++)
		table->nwide += is_wide(table, i);
	table->words = palloc0((2 * table->nwide + 1) * sizeof(GpuaggVector));
	for (int w = 0; w < 2 * table->nwide; w++)
		table->words[w].values = palloc(GPUAGG_VECTOR_ROWS * sizeof(int64));
}

void
gpuagg_scan_columns_compute_none(ScanColumns *table)
{
	memset(table->exprs, 0, table->nvalues * sizeof(Expr *));
	table->computes = false;
	table->compiler = NULL;
}

/* What runs the program. */
static void
init_program(ScanColumns *table)
{
	if (table->compiler == NULL && table->quals != NIL)
		table->compiler = compile(table, table->quals, NULL, 0, NULL, NULL, NULL);
	if (table->compiler == NULL)
		return;
	table->runner = gpuagg_compiled_runner(&table->compiler->program);
	table->parameter_states = gpuagg_compiled_states(table->compiler, table->node);
	if (table->parameters == NULL)
		table->parameters = AllocSetContextCreate(CurrentMemoryContext, "gpuagg parameters",
												  ALLOCSET_SMALL_SIZES);
}

static void
init_filter(ScanColumns *table)
{
	const Scan *plan = (const Scan *) table->scan->ss.ps.plan;
	TupleDesc desc = RelationGetDescr(table->relation);

	table->quals = plan->plan.qual;
	table->qual = ExecInitQual(table->quals, table->node);
	table->slot = ExecInitExtraTupleSlot(table->node->state, desc, &TTSOpsVirtual);
	table->natts = gpuagg_scan_program_attributes(table->quals, plan->scanrelid, desc->natts);
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
find_column(ScanColumns *table, AttrNumber attno)
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
init_columns(ScanColumns *table, const bool *kept)
{
	int nprogram = table->compiler != NULL ? (int) table->compiler->program.ncolumns : 0;

	table->columns = palloc0((nprogram + table->nscan + 1) * sizeof(PageColumn));
	table->column_of = palloc((table->nscan + 1) * sizeof(int));
	table->is_datum = palloc0((table->nvalues + table->nwide + 1) * sizeof(bool));
	if (nprogram > 0)
		gpuagg_compiled_columns(table->compiler, RelationGetDescr(table->relation), table->columns);
	table->ncolumns = nprogram;
	for (int i = 0; i < table->nscan; i++)
	{
		table->column_of[i] = -1;
		if (!kept[i] || table->exprs[i] != NULL)
			continue;
		table->column_of[i] = find_column(table, attribute_of(table, i));
		table->is_datum[i] = table->columns[table->column_of[i]].form == PAGE_COLUMN_DATUM;
	}
}

static void
init_chunks(ScanColumns *table)
{
	table->chunks = NULL;
	if (table->compiler == NULL)
		return;
	gpuagg_filter_conditions(table->compiler, &table->conditions);
	table->chunks = gpuagg_chunk_filter_make(&table->conditions, table->compiler->program.columns,
											 table->ncolumns);
}

ScanColumns *
gpuagg_scan_columns_make(PlanState *scan, List *targets, PlanState *node, Expr *const *arguments,
						 int n, bool *computed, int *scales, bool *wide)
{
	MemoryContext old;
	ScanColumns *table;

	if (!gpuagg_scan_program_possible(scan))
		return NULL;
	old = MemoryContextSwitchTo(scan->state->es_query_cxt);
	table = palloc0(sizeof(ScanColumns));
	table->scan = (SeqScanState *) scan;
	table->targets = targets;
	table->node = node;
	table->relation = table->scan->ss.ss_currentRelation;
	table->econtext = node->ps_ExprContext;
	init_filter(table);
	init_values(table, arguments, n, computed, scales, wide);
	MemoryContextSwitchTo(old);
	return table;
}

bool
gpuagg_scan_columns_keep(ScanColumns *table, const bool *kept)
{
	MemoryContext old;

	if (!has_columns(table, kept))
		return false;
	old = MemoryContextSwitchTo(table->scan->ss.ps.state->es_query_cxt);
	init_program(table);
	init_wide(table);
	init_columns(table, kept);
	init_chunks(table);
	MemoryContextSwitchTo(old);
	return true;
}

/* ---- the filter ---- */

static bool
filters_by_row(const ScanColumns *table)
{
	return table->by_row || (table->quals != NIL && table->compiler == NULL);
}

/* The batch's rows that pass, as the executor finds; returns how many. */
static int
pass_by_row(ScanColumns *table, PageReader *reader, uint64 *live)
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
set_parameters(ScanColumns *table, bool filter)
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
pass_by_vector(ScanColumns *table, PageReader *reader, uint64 *live)
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

/*
 * The batch's rows that pass; returns how many, or -1: from memory, the batch comes again, from
 * its pages; else the executor has to look.
 */
static int
pass(ScanColumns *table, PageReader *reader, uint64 *live)
{
	int n = -1;

	if (table->compiler == NULL && table->quals == NIL)
	{
		gpuagg_vector_all(live, reader->nrows);
		return reader->nrows;
	}
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

/* A PageChunkDone. */
static bool
is_done(void *owner, const BlockSummary *const *blocks, uint32 nrows, bool whole)
{
	ScanColumns *table = owner;

	if (table->by_row || (table->conditions.has_parameters && !table->parameters_set[true]) ||
		!gpuagg_chunk_filter_excludes(table->chunks, table->runner->constants, blocks))
		return false;
	InstrCountFiltered1(&table->scan->ss.ps, nrows);
	return true;
}

static PageReader *
open_reader(ScanColumns *table)
{
	const EState *estate = table->scan->ss.ps.state;
	PageMemory memory = PAGE_MEMORY_NONE;
	PageReader *reader;
	const char *reason;

	if (table->ncolumns > 0 && !filters_by_row(table))
		memory = gpuagg_page_memory(table->relation, estate->es_snapshot, table->columns,
									table->ncolumns, &reason);
	reader = gpuagg_page_reader_open(table->relation, estate->es_snapshot, table->columns,
									 table->ncolumns, memory, NULL);
	if (table->chunks != NULL)
	{
		gpuagg_chunk_filter_reset(table->chunks);
		reader->chunk_done = is_done;
		reader->summed_up = gpuagg_chunk_filter_columns(table->chunks);
		reader->owner = table;
	}
	return reader;
}

/* Divides wide values of the live rows into words; the upper ones come behind all. */
static void
divide_wide(const ScanColumns *table, const GpuaggVector **vectors, const uint16 *rows, int n)
{
	int w = 0;

	for (int i = 0; i < table->nvalues; i++)
	{
		const GpuaggVector *values = &table->runner->registers[table->register_of[i]];
		GpuaggVector *low = &table->words[2 * w];
		GpuaggVector *high = &table->words[2 * w + 1];

		if (!is_wide(table, i))
			continue;
		low->valid = high->valid = values->valid;
		for (int k = 0; k < n; k++)
		{
			GpuaggInt128 value = ((const GpuaggInt128 *) values->values)[rows[k]];

			((uint64 *) low->values)[rows[k]] = value.lo;
			((int64 *) high->values)[rows[k]] = value.hi;
		}
		vectors[i] = low;
		vectors[table->nvalues + w++] = high;
	}
}

/* Columns and arguments of n live rows of the batch; false: some row is flagged. */
static bool
put(const ScanColumns *table, PageReader *reader, const GpuaggVector **vectors, const uint64 *live,
	int n, RowSort *sort)
{
	int nfilter = table->compiler != NULL ? table->compiler->nfilter_columns : 0;
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
	for (int i = 0; i < table->nvalues; i++)
		if (table->exprs[i] != NULL)
			vectors[i] = &table->runner->registers[table->register_of[i]];
		else if (i < table->nscan && table->column_of[i] >= 0)
			vectors[i] = &reader->columns[table->column_of[i]];
	n = gpuagg_vector_list(live, rows);
	divide_wide(table, vectors, rows, n);
	gpuagg_row_sort_put_vectors(sort, vectors, table->is_datum, rows, n);
	return true;
}

/* The n rows of the batch that pass, or -1 as above; false: arguments cannot be computed. */
static bool
take_batch(ScanColumns *table, PageReader *reader, const GpuaggVector **vectors, const uint64 *live,
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
	{
		InstrCountFiltered1(child, reader->nrows - n);
		table->nrows += n;
	}
	return true;
}

bool
gpuagg_scan_columns_take(ScanColumns *table, RowSort *sort, bool sends)
{
	Instrumentation *instrument = table->scan->ss.ps.instrument;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpuagg pages",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	const GpuaggVector **vectors = palloc0((table->nvalues + table->nwide + 1) *
										   sizeof(GpuaggVector *));
	uint64 live[GPUAGG_VECTOR_WORDS];
	PageReader *reader;
	bool done = true;

	if (instrument != NULL)
		table->before = *instrument;
	table->counted = table->counts;
	table->nrows = 0;
	table->by_row = table->failed = false;
	table->parameters_set[false] = table->parameters_set[true] = false;
	if (table->parameters != NULL)
		MemoryContextReset(table->parameters);
	reader = open_reader(table);
	if (sends)
		gpuagg_page_device_send(reader);
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
	gpuagg_page_counts_add(&table->counts, &reader->counts);
	gpuagg_page_counts_tell(&table->counts, &table->counted, 0);
	gpuagg_page_reader_close(reader);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return done;
}

void
gpuagg_scan_columns_undo(ScanColumns *table)
{
	Instrumentation *instrument = table->scan->ss.ps.instrument;

	table->counts = table->counted;
	if (instrument == NULL)
		return;
	instrument->tuplecount = table->before.tuplecount;
	instrument->nfiltered1 = table->before.nfiltered1;
}

int64
gpuagg_scan_columns_rows(const ScanColumns *table)
{
	return table->nrows;
}

const PageCounts *
gpuagg_scan_columns_counts(const ScanColumns *table)
{
	return &table->counts;
}
