/*
 * agg_input.c
 *	  Brings a table's vectors through a GpuAgg node's program and into its groups.
 *
 * A vector with a flagged row is evaluated again by core's executor, one row after
 * the other, which raises the error that there is or shows that there is none.
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "engine/cpu.h"
#include "exec/agg_dense.h"
#include "exec/agg_spill.h"
#include "exec/agg_state.h"

/* That a set's groups may take at least, where there are several and all may take as much. */
#define SET_BYTES ((Size) 256 * 1024)

/* Of columns in memory, so many values are taken sooner than workers are there. */
#define LEADER_VALUES (64 * 1024 * 1024)

/* ---- start ---- */

static void
init_columns(AggScanState *node)
{
	VectorCompiler *compiler = node->compiler;
	TupleDesc desc = RelationGetDescr(node->relation);
	ListCell *cell;

	node->columns = palloc0(Max(list_length(compiler->attributes), 1) * sizeof(PageColumn));
	foreach (cell, compiler->attributes)
	{
		PageColumn *column = &node->columns[foreach_current_index(cell)];
		Form_pg_attribute attribute = TupleDescAttr(desc, lfirst_int(cell) - 1);
		GpuaggVectorType type =
			(GpuaggVectorType) compiler->program.columns[foreach_current_index(cell)];

		if (type == GPUAGG_VECTOR_DATUM)
			*column = (PageColumn){attribute->attnum, PAGE_COLUMN_DATUM, type, 0};
		else if (!gpuagg_page_column(attribute, column) || column->type != type)
			elog(ERROR, "attribute %d has another vector than its expressions", lfirst_int(cell));
	}
}

/* The attributes that evaluation row by row needs, from the first on. */
static int
attributes_needed(const AggScanState *node)
{
	const CustomScan *plan = (const CustomScan *) node->css.ss.ps.plan;
	Bitmapset *attributes = NULL;
	ListCell *cell;
	int last = -1;
	int natts = 0;

	foreach (cell, plan->custom_scan_tlist)
		pull_varattnos((Node *) ((TargetEntry *) lfirst(cell))->expr, node->varno, &attributes);
	while ((last = bms_next_member(attributes, last)) >= 0)
		natts = Max(natts, last + FirstLowInvalidHeapAttributeNumber);
	return natts;
}

/* The conditions on a row, which follow the columns of the scan tuple. */
static List *
quals_of(const AggScanState *node)
{
	const CustomScan *plan = (const CustomScan *) node->css.ss.ps.plan;
	List *quals = NIL;

	for (int i = node->ncolumns; i < list_length(plan->custom_scan_tlist); i++)
		quals = lappend(quals, gpuagg_agg_entry(plan, i));
	return quals;
}

static void
init_expressions(AggScanState *node, List *quals)
{
	PlanState *parent = &node->css.ss.ps;
	ListCell *cell;

	node->qual = ExecInitQual(quals, parent);
	for (int i = 0; i < node->nstates; i++)
	{
		AggInput *input = &node->inputs[i];

		if (input->argument != NULL)
			input->argument_state = ExecInitExpr(input->argument, parent);
		if (input->where != NULL)
			input->where_state = ExecInitExpr(input->where, parent);
	}
	node->row_exprs = palloc0(Max(list_length(node->compiler->rows), 1) * sizeof(ExprState *));
	foreach (cell, node->compiler->rows)
		node->row_exprs[foreach_current_index(cell)] = ExecInitExpr(lfirst(cell), parent);
	foreach (cell, node->compiler->parameters)
		node->parameter_states =
			lappend(node->parameter_states,
					ExecInitExpr(((VectorParameter *) lfirst(cell))->expr, parent));
	node->row_natts = attributes_needed(node);
	node->row_slot = ExecInitExtraTupleSlot(parent->state, RelationGetDescr(node->relation),
											&TTSOpsVirtual);
}

/* Whether vectors have all that is asked for, and groups' values come whole from them. */
static bool
needs_columns_only(const AggScanState *node)
{
	bool only = !node->always_by_row && node->compiler->rows == NIL;

	for (int i = 0; i < node->nvalues; i++)
		only &= node->values[i].whole;
	return only && node->spec->ncarried == 0;
}

static void load_values(void *owner, int column, const uint64 *wanted);

void
gpuagg_agg_input_init(AggScanState *node)
{
	Relation relation = node->relation;
	List *quals = quals_of(node);
	void *memory;

	node->compiler = gpuagg_compiler_make(RelationGetRelid(relation), node->varno);
	gpuagg_compile_filter(node->compiler, quals);
	gpuagg_agg_layout_init(node);
	if (!gpuagg_compile_finish(node->compiler))
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("expressions over table \"%s\" are too many for one node",
							   RelationGetRelationName(relation)),
						errhint("Set gpuagg.enable_agg_scan to off.")));
	init_columns(node);
	init_expressions(node, quals);

	memory = palloc(gpuagg_vector_runner_size(&node->compiler->program) + 64);
	node->runner = gpuagg_vector_runner_make((void *) TYPEALIGN(64, memory),
											 &node->compiler->program);
	node->runner->row = gpuagg_agg_row_evaluate;
	node->runner->load = load_values;
	node->runner->verdicts = gpuagg_agg_codes_verdicts;
	node->runner->strings = gpuagg_agg_codes_strings;
	node->runner->owner = node;
	node->always_by_row = node->compiler->user_function;
	for (int i = 0; i <= node->ndistinct; i++)
		node->always_by_row |= !gpuagg_groups_by_vector(node->sets[i].groups);
	node->by_row = node->always_by_row;
	node->dense = gpuagg_dense_make(node);
	node->columns_only = needs_columns_only(node);
	if (node->columns_only)
	{
		gpuagg_agg_conditions_init(node);
		gpuagg_agg_ranges_init(node);
		gpuagg_agg_chunk_init(node);
		gpuagg_agg_codes_init(node);
	}
	node->parameter_context = AllocSetContextCreate(CurrentMemoryContext, "gpuagg parameters",
													ALLOCSET_SMALL_SIZES);
	node->memory_limit = get_hash_memory_limit();
	node->set_limit = Max(node->memory_limit / node->nsets, Min(node->memory_limit, SET_BYTES));
	node->batch_context = AllocSetContextCreate(CurrentMemoryContext, "gpuagg vector",
												ALLOCSET_DEFAULT_SIZES);
}

/* ---- vectors ---- */

/*
 * Constants whose values are known when the first row needs them: those of the filter with
 * the first row, the others with the first that passes it.
 */
static void
set_parameters(AggScanState *node, bool filter)
{
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	MemoryContext old = MemoryContextSwitchTo(node->parameter_context);
	ListCell *parameter_cell;
	ListCell *state_cell;

	forboth (parameter_cell, node->compiler->parameters, state_cell, node->parameter_states)
	{
		const VectorParameter *parameter = lfirst(parameter_cell);
		bool isnull;
		Datum value;

		if (parameter->filter != filter)
			continue;
		value = ExecEvalExpr(lfirst(state_cell), econtext, &isnull);
		if (!gpuagg_vector_set_constant(&node->runner->constants[parameter->constant],
										&parameter->value, exprType((Node *) parameter->expr),
										value, isnull))
			node->by_row = true; /* its form cannot hold it */
	}
	MemoryContextSwitchTo(old);
	gpuagg_vector_constants_changed(node->runner);
	if (node->codes != NULL)
		gpuagg_agg_codes_forget(node);
}

/* ---- time, where EXPLAIN (ANALYZE) asks for it ---- */

static instr_time
start_timing(const AggScanState *node)
{
	instr_time start;

	INSTR_TIME_SET_ZERO(start);
	if (node->css.ss.ps.instrument != NULL && node->css.ss.ps.instrument->need_timer)
		INSTR_TIME_SET_CURRENT(start);
	return start;
}

static void
stop_timing(instr_time start, uint64 *ns)
{
	instr_time now;

	if (INSTR_TIME_IS_ZERO(start))
		return;
	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, start);
	*ns += COMPAT_INSTR_TIME_GET_NANOSEC(now);
}

static bool
next_vector(AggScanState *node)
{
	instr_time start = start_timing(node);
	bool more = gpuagg_page_reader_next(node->reader);

	stop_timing(start, &node->counts.ns_reading);
	return more;
}

static void
load_columns(AggScanState *node, int first, int n, const uint64 *wanted)
{
	instr_time start = start_timing(node);

	gpuagg_page_reader_load(node->reader, first, n, wanted);
	stop_timing(start, &node->counts.ns_reading);
}

static void
find_columns(AggScanState *node, int n)
{
	instr_time start = start_timing(node);

	gpuagg_page_reader_find(node->reader, 0, n);
	stop_timing(start, &node->counts.ns_reading);
}

/* A column of the filter, for the rows that earlier quals have left. */
static void
load_values(void *owner, int column, const uint64 *wanted)
{
	AggScanState *node = owner;
	instr_time start = start_timing(node);

	if (column < node->compiler->nfilter_columns)
		gpuagg_page_reader_values(node->reader, column, wanted);
	stop_timing(start, &node->counts.ns_reading);
}

/* Runs the filter over the batch; false: some row has to be evaluated by the executor. */
static bool
run_filter(AggScanState *node, int *nlive)
{
	PageReader *reader = node->reader;

	if (reader->from_memory && gpuagg_agg_ranges_filter(node, nlive))
		return true;
	find_columns(node, node->compiler->nfilter_columns);
	*nlive = gpuagg_vector_run_filter(node->runner, reader->nrows);
	return !reader->any_flagged && !node->runner->any_flagged;
}

/* Runs the program over the batch; false: some row has to be evaluated by the executor. */
static bool
run_program(AggScanState *node, int *nlive)
{
	PageReader *reader = node->reader;
	GpuaggVectorRunner *runner = node->runner;
	int nfilter = node->compiler->nfilter_columns;
	int ncolumns = (int) node->compiler->program.ncolumns;

	if (!node->filter_parameters_set)
		set_parameters(node, true);
	node->filter_parameters_set = true;
	if (node->by_row)
		return false;
	runner->columns = reader->columns;
	runner->codes = reader->codes;
	if (!run_filter(node, nlive))
		return false;
	if (*nlive == 0)
		return true;
	if (!node->value_parameters_set)
	{
		node->value_parameters_set = true;
		set_parameters(node, false);
		if (node->by_row)
			return false;
		/* registers of the filter may be needed again, and constants have been set anew */
		if (!run_filter(node, nlive))
			return false;
	}
	if (ncolumns > nfilter)
		load_columns(node, nfilter, ncolumns - nfilter,
					 *nlive == reader->nrows ? NULL : runner->live);
	if (reader->any_flagged)
		return false;
	gpuagg_vector_run_values(runner);
	return !runner->any_flagged;
}

/* Whether an error may come from a row's values, not from the state of the server or the session. */
static bool
is_of_a_row(int sqlerrcode)
{
	switch (ERRCODE_TO_CATEGORY(sqlerrcode))
	{
		case ERRCODE_TRANSACTION_ROLLBACK:
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_OPERATOR_INTERVENTION:
		case ERRCODE_SYSTEM_ERROR:
		case ERRCODE_INTERNAL_ERROR:
			return false;
		default:
			return true;
	}
}

/*
 * The same.  Where expressions are evaluated row by row, or parameters before the first row, the
 * first error that is raised need not be that of the first row that has one: such a vector is
 * evaluated again too.
 */
static bool
run_program_in_order(AggScanState *node, int *nlive)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool done = false;

	if (node->compiler->rows == NIL &&
		(node->compiler->parameters == NIL || node->value_parameters_set))
		return run_program(node, nlive);
	PG_TRY();
	{
		done = run_program(node, nlive);
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		if (!is_of_a_row(error->sqlerrcode))
			PG_RE_THROW();
		FlushErrorState();
		if (node->reader->from_memory)
		{
			gpuagg_page_reader_return(node->reader);
			gpuagg_page_reader_only_returned(node->reader);
			while (gpuagg_page_reader_next(node->reader))
				gpuagg_agg_rows_take_vector(node);
		}
		else
			gpuagg_agg_rows_take_vector(node);
		ReThrowError(error);
	}
	PG_END_TRY();
	return done;
}

/* Numbers of the live rows. */
static int
list_rows(const uint64 *live, uint16 *rows)
{
	int n = 0;

	for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
	{
		uint64 left = live[w];

		if (left == UINT64_MAX)
			for (int i = 0; i < 64; i++)
				rows[n++] = (uint16) (w * 64 + i);
		else
			for (; left != 0; left &= left - 1)
				rows[n++] = (uint16) (w * 64 + pg_rightmost_one_pos64(left));
	}
	return n;
}

/* Counts the vector's rows as work of the CPU engine. */
static void
count_work(const AggScanState *node, int nrows)
{
	Size bytes = 0;

	for (uint32 i = 0; i < node->compiler->program.ncolumns; i++)
		bytes += gpuagg_vector_type_size(node->columns[i].type);
	gpuagg_stat_batch(ENGINE_CPU, nrows, (int64) (bytes * nrows));
}

/*
 * An AggFill's values, of that row of the vector: of its registers, where they have the
 * values whole.
 */
static void
fill_from_vector(void *owner, int row, Datum *values, bool *isnull)
{
	const AggFill *of = owner;
	AggScanState *node = of->node;
	const GroupLayout *layout = &of->set->layout;
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	bool stored = false;
	MemoryContext old;

	ResetExprContext(econtext);
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	for (int i = 0; i < layout->nvalues; i++)
	{
		const AggValue *value = &node->values[of->set->values[i]];

		if (i < layout->nkeys && value->whole)
			values[i] = gpuagg_vector_datum(&node->runner->registers[layout->keys[i].reg],
											&layout->keys[i], layout->values[i].type, row,
											&isnull[i]);
		else
		{
			if (!stored)
				gpuagg_agg_row_store(node, row);
			stored = true;
			values[i] = ExecEvalExpr(value->state, econtext, &isnull[i]);
		}
	}
	MemoryContextSwitchTo(old);
}

/* Into groups of a set, by their keys' values: found[i] of rows[i]. */
static void
find_by_values(AggScanState *node, const AggSet *set, const uint16 *rows, int n, AggGroup **found)
{
	const GroupLayout *layout = &set->layout;
	AggFill of = {node, set};
	GpuaggVector *keys = palloc(layout->nkeys * sizeof(GpuaggVector));

	for (int i = 0; i < layout->nkeys; i++)
	{
		gpuagg_agg_codes_follow(node, layout->keys[i].reg);
		keys[i] = node->runner->registers[layout->keys[i].reg];
	}
	gpuagg_groups_find(set->groups, keys, rows, n, fill_from_vector, &of, found);
}

void
gpuagg_agg_find_groups(AggScanState *node, const AggSet *set, const uint16 *rows, int n,
					   AggGroup **found)
{
	uint16 missing[GPUAGG_VECTOR_ROWS];
	uint16 their_rows[GPUAGG_VECTOR_ROWS];
	AggGroup *groups[GPUAGG_VECTOR_ROWS];
	int nmissing;

	if (node->codes == NULL ||
		!gpuagg_agg_codes_find(node, set, rows, n, found, missing, &nmissing))
	{
		find_by_values(node, set, rows, n, found);
		return;
	}
	if (nmissing == 0)
		return;
	for (int i = 0; i < nmissing; i++)
		their_rows[i] = rows[missing[i]];
	find_by_values(node, set, their_rows, nmissing, groups);
	for (int i = 0; i < nmissing; i++)
		found[missing[i]] = groups[i];
	gpuagg_agg_codes_enter(node, set, their_rows, nmissing, groups);
}

/* Values of an argument with DISTINCT, of those of rows[0 to n - 1] that have one. */
static void
take_distinct(AggScanState *node, int distinct, AggGroup *const *groups, const uint16 *rows, int n)
{
	const AggValue *value = gpuagg_agg_distinct_value(node, distinct);
	const AggSet *set = &node->sets[1 + distinct];
	uint64 wanted[GPUAGG_VECTOR_WORDS];
	AggGroup *found[GPUAGG_VECTOR_ROWS];
	uint16 some[GPUAGG_VECTOR_ROWS];
	int m = 0;

	(void) gpuagg_agg_sink_rows(node, &node->inputs[value->input], wanted);
	gpuagg_agg_codes_follow(node, value->form.reg);
	for (int i = 0; i < n; i++)
	{
		some[m] = rows[i];
		found[m] = groups[i];
		m += gpuagg_bit(wanted, rows[i]);
	}
	if (set->distinct != NULL)
		m = gpuagg_distinct_add(set->distinct, &node->runner->registers[value->form.reg], found,
								some, m, some);
	if (m > 0)
		gpuagg_agg_find_groups(node, set, some, m, found);
}

/* Live rows into groups by keys, and values with DISTINCT into their sets. */
static void
take_grouped(AggScanState *node, int nlive)
{
	const AggSet *main = gpuagg_agg_main(node);
	bool all = nlive == node->reader->nrows;
	AggGroup *found[GPUAGG_VECTOR_ROWS];
	uint16 rows[GPUAGG_VECTOR_ROWS];

	if (!all)
		list_rows(node->runner->live, rows);
	if (gpuagg_dense_take(node, all ? NULL : rows, nlive))
		return;
	if (all)
		list_rows(node->runner->live, rows);
	if (node->spec->nkeys > 0)
	{
		gpuagg_agg_find_groups(node, main, rows, nlive, found);
		gpuagg_agg_sink_grouped(node, found, rows, nlive, NULL);
	}
	else
		for (int i = 0; i < nlive; i++)
			found[i] = gpuagg_groups_only(main->groups);
	for (int i = 0; i < node->ndistinct; i++)
		take_distinct(node, i, found, rows, nlive);
}

static void
take_vector(AggScanState *node)
{
	int nlive = 0;
	MemoryContext old;

	MemoryContextReset(node->batch_context);
	node->counts.vectors++;
	count_work(node, node->reader->nrows);
	if (node->by_row || !run_program_in_order(node, &nlive))
	{
		if (node->reader->from_memory)
			gpuagg_page_reader_return(node->reader);
		else
			gpuagg_agg_rows_take_vector(node);
		return;
	}
	node->counts.removed += node->reader->nrows - nlive;
	if (nlive == 0)
		return;
	old = MemoryContextSwitchTo(node->batch_context);
	if (node->spec->nkeys == 0)
		gpuagg_agg_sink_all(node, gpuagg_groups_only(gpuagg_agg_main(node)->groups), nlive);
	if (node->spec->nkeys > 0 || node->ndistinct > 0)
		take_grouped(node, nlive);
	MemoryContextSwitchTo(old);
}

void
gpuagg_agg_input_tell(AggScanState *node)
{
	AggCounts all = node->counts;
	const PageCounts *now = &all.pages;
	const PageCounts *told = &node->told.pages;
	int64 counts[NTABLE_COUNTS] = {0};

	if (node->reader != NULL)
		gpuagg_page_counts_add(&all.pages, &node->reader->counts);
	counts[TABLE_PAGES] = (int64) (now->pages - told->pages);
	counts[TABLE_ROWS] = (int64) (now->rows - told->rows);
	counts[TABLE_VECTORS] = all.vectors - node->told.vectors;
	counts[RESIDENT_PAGES] = (int64) (now->level1 - told->level1);
	counts[RESIDENT_CONFIRMED] = (int64) (now->level2 - told->level2);
	counts[RESIDENT_FILLED] = (int64) (now->filled - told->filled);
	counts[RESIDENT_SKIPPED] = (int64) (now->skipped - told->skipped);
	gpuagg_stat_table(counts);
	node->told = all;
}

PageMemory
gpuagg_agg_input_memory(AggScanState *node, Relation relation, const PageColumn *columns,
						AggMemory *memory)
{
	if (!memory->known)
	{
		/* the reason stays as long as the plan runs */
		MemoryContext old = MemoryContextSwitchTo(node->css.ss.ps.state->es_query_cxt);

		memory->known = true;
		if (node->columns_only)
			memory->mode = gpuagg_page_memory(relation, node->css.ss.ps.state->es_snapshot, columns,
											  (int) node->compiler->program.ncolumns,
											  &memory->reason);
		else
			memory->reason = "whole rows are needed";
		MemoryContextSwitchTo(old);
		memory->nchunks = gpuagg_page_share_chunks(relation, memory->mode);
	}
	return memory->mode;
}

static void
open_reader(AggScanState *node, Relation relation, const PageColumn *columns, AggMemory *memory,
			PageShare *share)
{
	PageMemory mode = share != NULL ? PAGE_MEMORY_USE
									: gpuagg_agg_input_memory(node, relation, columns, memory);

	node->reader = gpuagg_page_reader_open(relation, node->css.ss.ps.state->es_snapshot, columns,
										   (int) node->compiler->program.ncolumns, mode, share);
	node->reader->chunk_done = node->chunk != NULL ? gpuagg_agg_chunk_done : NULL;
	node->reader->takes_codes = node->codes != NULL;
	node->reader->owner = node;
	node->reader->timed = node->css.ss.ps.instrument != NULL &&
						  node->css.ss.ps.instrument->need_timer;
}

static void
close_reader(AggScanState *node)
{
	if (node->reader == NULL)
		return;
	gpuagg_agg_input_tell(node);
	gpuagg_page_counts_add(&node->counts.pages, &node->reader->counts);
	gpuagg_page_reader_close(node->reader);
	node->reader = NULL;
	node->table = NULL;
}

/* What is left of the table that is being read; false: there is no room for more groups. */
static bool
take_vectors(AggScanState *node)
{
	for (;;)
	{
		if (node->next_row > 0)
			gpuagg_agg_rows_take(node);
		else if (next_vector(node))
			take_vector(node);
		else
			return true;
		if (!gpuagg_agg_output_make_room(node))
			return false;
	}
}

bool
gpuagg_agg_input_take_memory(AggScanState *node)
{
	instr_time start = start_timing(node);
	bool all = false;

	if (node->spec->over_children || node->reader != NULL ||
		gpuagg_agg_input_memory(node, node->relation, node->columns, &node->memory) ==
			PAGE_MEMORY_NONE)
		return false;
	open_reader(node, node->relation, node->columns, &node->memory, NULL);
	if (gpuagg_page_reader_begin_memory(node->reader, LEADER_VALUES))
	{
		/* a leader has room for groups */
		(void) take_vectors(node);
		/* it may take no part in the rest */
		gpuagg_agg_sink_finish(node);
		gpuagg_page_reader_end_memory(node->reader);
		all = gpuagg_page_reader_is_complete(node->reader);
		if (all)
		{
			gpuagg_agg_input_tell(node);
			node->drained = true;
		}
	}
	stop_timing(start, &node->counts.ns);
	return all;
}

bool
gpuagg_agg_input_take_table(AggScanState *node, AggTable *table)
{
	if (node->table != table)
	{
		Assert(node->table == NULL);
		open_reader(node, table->relation, table->columns, &table->memory, table->share);
		node->table = table;
	}
	if (!take_vectors(node))
		return false;
	close_reader(node);
	return true;
}

/* What the nodes below give, and the tables that they read; false: no room. */
static bool
take_children(AggScanState *node)
{
	PlanState *child = linitial(node->css.custom_ps);

	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(child);

		if (node->full)
		{
			node->full = false;
			return false;
		}
		if (TupIsNull(slot))
			return true;
		gpuagg_agg_output_take(node, slot);
		if (!gpuagg_agg_output_make_room(node))
			return false;
	}
}

void
gpuagg_agg_input_drain(AggScanState *node)
{
	instr_time start = start_timing(node);
	bool all;

	if (node->spec->over_children)
		all = take_children(node);
	else
	{
		if (node->reader == NULL)
			open_reader(node, node->relation, node->columns, &node->memory,
						node->share != NULL ? &node->share->pages : NULL);
		all = take_vectors(node);
	}
	gpuagg_agg_sink_finish(node);
	if (all)
	{
		if (node->spec->mode == AGG_WHOLE)
			gpuagg_agg_finish(node);
		node->drained = true;
		gpuagg_agg_input_tell(node);
	}
	stop_timing(start, &node->counts.ns);
}

void
gpuagg_agg_input_rescan(AggScanState *node)
{
	/* opened again when rows are asked for: what processes share may not be set anew yet */
	close_reader(node);
	gpuagg_agg_sets_clear(node);
	gpuagg_agg_ranges_reset(node);
	for (int i = 0; i < node->nstates; i++)
		gpuagg_reduced_init(node->inputs[i].total);
	node->filter_parameters_set = false;
	node->value_parameters_set = false;
	MemoryContextReset(node->parameter_context);
	node->by_row = node->always_by_row;
	node->next_row = 0;
	node->full = false;
	node->drained = false;
}

void
gpuagg_agg_input_end(AggScanState *node)
{
	close_reader(node);
	for (int i = 0; i < node->nsets; i++)
		gpuagg_agg_spill_end(&node->sets[i]);
}
