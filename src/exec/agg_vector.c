/*
 * agg_vector.c
 *	  Brings a vector through a GpuAgg node's program and into its groups.
 *
 * A vector with a flagged row is evaluated again by core's executor, one row after
 * the other, which raises the error that there is or shows that there is none.
 */
#include "compat.h"

#include "executor/executor.h"
#include "utils/memutils.h"

#include "engine/cpu.h"
#include "exec/agg_dense.h"
#include "exec/agg_state.h"
#include "exec/compiled.h"

/* ---- time, where EXPLAIN (ANALYZE) asks for it ---- */

instr_time
gpuagg_agg_timing_start(const AggScanState *node)
{
	instr_time start;

	INSTR_TIME_SET_ZERO(start);
	if (node->css.ss.ps.instrument != NULL && node->css.ss.ps.instrument->need_timer)
		INSTR_TIME_SET_CURRENT(start);
	return start;
}

void
gpuagg_agg_timing_stop(instr_time start, uint64 *ns)
{
	instr_time now;

	if (INSTR_TIME_IS_ZERO(start))
		return;
	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, start);
	*ns += COMPAT_INSTR_TIME_GET_NANOSEC(now);
}

/* ---- the program ---- */

/* Constants whose values are known when the first row needs them (compiled.h). */
static void
set_parameters(AggScanState *node, bool filter)
{
	MemoryContext old = MemoryContextSwitchTo(node->parameter_context);

	if (!gpuagg_compiled_parameters(node->compiler, node->parameter_states,
									node->css.ss.ps.ps_ExprContext, filter, node->runner))
		node->by_row = true;
	MemoryContextSwitchTo(old);
	if (node->codes != NULL)
		gpuagg_agg_codes_forget(node);
}

static void
load_columns(AggScanState *node, int first, int n, const uint64 *wanted)
{
	instr_time start = gpuagg_agg_timing_start(node);

	gpuagg_page_reader_load(node->reader, first, n, wanted);
	gpuagg_agg_timing_stop(start, &node->counts.ns_reading);
}

static void
find_columns(AggScanState *node, int n)
{
	instr_time start = gpuagg_agg_timing_start(node);

	gpuagg_page_reader_find(node->reader, 0, n);
	gpuagg_agg_timing_stop(start, &node->counts.ns_reading);
}

/* A column of the filter, for the rows that earlier quals have left. */
static void
load_values(void *owner, int column, const uint64 *wanted)
{
	AggScanState *node = owner;
	instr_time start = gpuagg_agg_timing_start(node);

	if (column < node->compiler->nfilter_columns)
		gpuagg_page_reader_values(node->reader, column, wanted);
	gpuagg_agg_timing_stop(start, &node->counts.ns_reading);
}

void
gpuagg_agg_vector_init(AggScanState *node)
{
	node->runner = gpuagg_compiled_runner(&node->compiler->program);
	node->runner->row = gpuagg_agg_row_evaluate;
	node->runner->load = load_values;
	node->runner->verdicts = gpuagg_agg_codes_verdicts;
	node->runner->strings = gpuagg_agg_codes_strings;
	node->runner->owner = node;
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
		ErrorData *error = gpuagg_compiled_catch(context);

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

/* ---- groups ---- */

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
	bool many = nlive >= node->reader->nrows / 8 * 3;
	AggGroup *found[GPUAGG_VECTOR_ROWS];
	uint16 rows[GPUAGG_VECTOR_ROWS];

	if (!many)
		(void) gpuagg_vector_list(node->runner->live, rows);
	if (gpuagg_dense_take(node, many ? NULL : rows, nlive))
		return;
	if (many)
		(void) gpuagg_vector_list(node->runner->live, rows);
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

void
gpuagg_agg_vector_take(AggScanState *node)
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
