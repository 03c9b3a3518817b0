/*
 * agg_averages.c
 *	  Averages of integers and decimals of a window below a GpuAgg node, for the device.
 */
#include "compat.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "common/int_words.h"
#include "common/power_of_ten.h"
#include "exec/agg_averages.h"
#include "exec/compiled.h"
#include "exec/window_between.h"
#include "exec/window_device.h"
#include "exec/window_source.h"
#include "exec/window_state.h"
#include "spec/result_typmod.h"
#include "types/decimal.h"

/* What expressions are changed by. */
typedef struct Reading
{
	const AggScanState *node;
	PlanState *window;
	const AggAverages *averages; /* NULL: it is only looked for some */
} Reading;

/* ---- which columns are averages ---- */

/* Whether a column of the window's scan tuple is one. */
static bool
is_average(const WindowScanState *window, int scan)
{
	int f = scan - window->spec->nchild;

	return f >= 0 && f < window->spec->nfunctions && !window->functions[f].every_row &&
		   window->functions[f].plain->aggregate == AGGREGATE_AVG &&
		   window->functions[f].plain->result == NUMERICOID;
}

/* What has a column of the scan tuple that is one. */
static bool
reads_average(Node *expr, void *window)
{
	const Var *var = (const Var *) expr;

	if (expr == NULL)
		return false;
	if (IsA(expr, Var))
		return var->varno == INDEX_VAR && var->varattno > 0 &&
			   is_average(window, var->varattno - 1);
	return expression_tree_walker(expr, reads_average, window);
}

static int
column_of(const AggScanState *node, AttrNumber attno)
{
	int column = 0;

	while (list_nth_int(node->spec->attributes, column) != attno)
		column++;
	return column;
}

/* The expression of a column that the node reads, over the window's scan tuple; NULL: it is none. */
static Expr *
column_expr(const AggScanState *node, const PlanState *window, AttrNumber attno)
{
	return gpuagg_window_between_expr(linitial(node->css.custom_ps), window,
									  column_of(node, attno));
}

bool
gpuagg_agg_averages_used(const AggScanState *node, PlanState *window)
{
	ListCell *cell;

	foreach (cell, node->spec->attributes)
		if (reads_average((Node *) column_expr(node, window, (AttrNumber) lfirst_int(cell)),
						  window))
			return true;
	return false;
}

const AggAverage *
gpuagg_agg_averages_find(const AggAverages *averages, int scan)
{
	for (int i = 0; averages != NULL && i < averages->n; i++)
		if (averages->list[i].scan == scan)
			return &averages->list[i];
	return NULL;
}

int32
gpuagg_agg_averages_typmod(const AggScanState *node, const PlanState *window,
						   const AggAverages *averages, AttrNumber attno)
{
	Form_pg_attribute attribute = TupleDescAttr(node->row_desc, attno - 1);

	if (averages == NULL || attribute->atttypid != NUMERICOID)
		return attribute->atttypmod;
	return gpuagg_window_between_find_typmod(linitial(node->css.custom_ps), window,
											 column_of(node, attno), averages->known);
}

/* The average that a column is as it is; NULL: it is none. */
static const AggAverage *
average_of(const Reading *reading, const Node *expr)
{
	const Var *var = (const Var *) expr;

	if (expr == NULL || !IsA(expr, Var) || var->varno != (int) reading->node->varno ||
		var->varattno <= 0)
		return NULL;
	var = (const Var *) column_expr(reading->node, reading->window, var->varattno);
	if (var == NULL || !IsA(var, Var) || var->varno != INDEX_VAR)
		return NULL;
	return gpuagg_agg_averages_find(reading->averages, var->varattno - 1);
}

/* ---- the program ---- */

/* Rows that the tables below may have, at most. */
static uint64
most_rows(const WindowDevice *device)
{
	uint64 most = 0;

	for (int i = 0; i < device->ntables; i++)
		most += (uint64) RelationGetNumberOfBlocks(device->tables[i].relation) *
				MaxHeapTuplesPerPage;
	return most;
}

/* Finds the averages, and how they are there. */
static const char *
find_averages(AggAverages *averages, PlanState *window)
{
	const WindowScanState *node = (const WindowScanState *) window;
	int nscan = list_length(((const CustomScan *) window->plan)->custom_scan_tlist);
	WindowSource sources[GPUAGG_WINDOW_FUNCTIONS];
	const char *refusal;
	const WindowDevice *device;

	for (int f = 0; f < node->spec->nfunctions; f++)
	{
		int scan = node->spec->nchild + f;

		if (!is_average(node, scan))
			continue;
		if (averages->n == GPUAGG_WINDOW_FUNCTIONS)
			return "the window has too many columns";
		sources[averages->n] = (WindowSource){scan, NULL};
		averages->list[averages->n++].scan = scan;
	}
	device = gpuagg_window_device_make(window, sources, averages->n, &refusal);
	if (device == NULL)
		return refusal;
	averages->known = palloc(nscan * sizeof(int32));
	for (int i = 0; i < nscan; i++)
		averages->known[i] = -1;
	for (int i = 0; i < averages->n; i++)
	{
		AggAverage *average = &averages->list[i];

		if (device->counts[i] < 0 ||
			!gpuagg_device_quotient_init(&average->quotient, device->forms[i].scale,
										 most_rows(device)))
			return "averages have too many digits";
		averages->known[average->scan] = gpuagg_own_scales_typmod(average->quotient.scale);
	}
	return NULL;
}

/* An expression as the device has it: averages are decimals of one scale. */
static Node *
replace_averages(Node *expr, void *reading)
{
	const Reading *of = reading;

	if (expr == NULL)
		return NULL;
	if (IsA(expr, Var) && ((const Var *) expr)->varno == (int) of->node->varno &&
		((const Var *) expr)->varattno > 0)
	{
		Var *var = copyObject((Var *) expr);

		var->vartypmod = gpuagg_agg_averages_typmod(of->node, of->window, of->averages,
													var->varattno);
		return (Node *) var;
	}
	return expression_tree_mutator(expr, replace_averages, reading);
}

static Expr *
replaced(const Reading *reading, Expr *expr)
{
	return (Expr *) replace_averages((Node *) expr, unconstify(Reading *, reading));
}

static const char *
compile_state(const Reading *reading, AggAverages *averages, int i)
{
	const AggScanState *node = reading->node;
	const AggInput *input = &node->inputs[i];
	Expr *where = replaced(reading, input->where);
	const AggAverage *average = average_of(reading, (const Node *) input->argument);
	int op = node->states[i].op;

	averages->of[i] = -1;
	if (input->argument != NULL)
	{
		if (average != NULL && op == GPUAGG_MOMENTS)
			return "variances of averages are the CPU's";
		if (average != NULL && op != GPUAGG_COUNT)
		{
			AggAverage *of = &averages->list[average - averages->list];

			averages->of[i] = (int) (average - averages->list);
			of->quotient.coded |= op == GPUAGG_SUM;
			of->quotient.least |= op == GPUAGG_MIN;
			of->quotient.greatest |= op == GPUAGG_MAX;
		}
		averages->values[i] = gpuagg_compile_value(averages->compiler,
												   replaced(reading, input->argument), where);
		if (op != GPUAGG_COUNT && average == NULL && averages->values[i].own_scales)
			return "an expression of averages is the CPU's";
	}
	if (where != NULL)
		averages->filters[i] = gpuagg_compile_value(averages->compiler, where, NULL);
	return NULL;
}

static const char *
compile(const Reading *reading, AggAverages *averages)
{
	const AggScanState *node = reading->node;
	const CustomScan *plan = (const CustomScan *) node->css.ss.ps.plan;
	const char *refusal = NULL;
	List *quals = NIL;

	for (int i = 0; i < node->spec->nquals; i++)
		quals = lappend(quals, replaced(reading, gpuagg_agg_entry(plan, node->ncolumns + i)));
	averages->compiler = gpuagg_compiler_make(node->varno, node->css.ss.ps.state);
	averages->compiler->gives_own_scales = true;
	gpuagg_compile_filter(averages->compiler, quals);
	averages->keys = palloc0(Max(node->spec->nkeys, 1) * sizeof(VectorValue));
	averages->values = palloc0(Max(node->nstates, 1) * sizeof(VectorValue));
	averages->filters = palloc0(Max(node->nstates, 1) * sizeof(VectorValue));
	averages->of = palloc0(Max(node->nstates, 1) * sizeof(int));
	for (int i = 0; i < node->spec->nkeys; i++)
	{
		Expr *key = gpuagg_agg_entry(plan, i);

		averages->keys[i] = gpuagg_compile_value(averages->compiler, replaced(reading, key), NULL);
		if (averages->keys[i].own_scales)
			return "an expression of averages is the CPU's";
	}
	for (int i = 0; i < node->nstates && refusal == NULL; i++)
		refusal = compile_state(reading, averages, i);
	if (refusal != NULL)
		return refusal;
	return gpuagg_compile_finish(averages->compiler) && !averages->compiler->user_function &&
				   averages->compiler->rows == NIL
			   ? NULL
			   : "an expression is the CPU's";
}

AggAverages *
gpuagg_agg_averages_make(const AggScanState *node, PlanState *window, const char **refusal)
{
	AggAverages *averages = palloc0(sizeof(AggAverages));
	Reading reading = {node, window, averages};

	*refusal = find_averages(averages, window);
	if (*refusal == NULL)
		*refusal = compile(&reading, averages);
	if (*refusal != NULL)
		return NULL;
	averages->runner = gpuagg_compiled_runner(&averages->compiler->program);
	averages->parameter_states = gpuagg_compiled_states(averages->compiler,
														unconstify(PlanState *, &node->css.ss.ps));
	return averages;
}

/* ---- totals ---- */

static const AggAverage *
average_of_state(const AggScanState *node, int state)
{
	return &node->averages->list[node->averages->of[state]];
}

bool
gpuagg_agg_averages_coded(const AggScanState *node, int state)
{
	return node->averages != NULL && node->averages->of[state] >= 0 &&
		   node->states[state].op == GPUAGG_SUM;
}

uint16
gpuagg_agg_averages_register(const AggScanState *node, int state)
{
	int op = node->states[state].op;

	if (node->averages->of[state] < 0 || op == GPUAGG_SUM)
		return node->averages->values[state].reg;
	return (uint16) (average_of_state(node, state)->first +
					 (op == GPUAGG_MIN ? DEVICE_QUOTIENT_LEAST : DEVICE_QUOTIENT_GREATEST));
}

uint16
gpuagg_agg_averages_code(const AggScanState *node, int state)
{
	return (uint16) (average_of_state(node, state)->first + DEVICE_QUOTIENT_CODE);
}

/* 10^n in 64 bits is not all that words are divided by. */
static void
divide_words(uint64 *words, int n)
{
	for (; n > 18; n -= 18)
		(void) gpuagg_words_divide(words, GPUAGG_SUM_WORDS, (uint64) gpuagg_power_of_ten(18));
	(void) gpuagg_words_divide(words, GPUAGG_SUM_WORDS, (uint64) gpuagg_power_of_ten(n));
}

/* A sum at the scale that its averages have at most: it has no digits behind that. */
static void
take_sum(AggScanState *node, int state, AggGroup *group, const GpuaggQueryTotal *total,
		 const DeviceQuotient *quotient, int scale)
{
	uint64 sum[GPUAGG_SUM_WORDS];
	uint64 squares[GPUAGG_SQUARE_WORDS];
	bool negative;

	gpuagg_query_total_words(total, sum, squares);
	negative = gpuagg_words_absolute(sum, GPUAGG_SUM_WORDS);
	divide_words(sum, quotient->scale - scale);
	if (negative)
		gpuagg_words_negate(sum, GPUAGG_SUM_WORDS);
	gpuagg_agg_sink_words(node, state, group, (int64) total->reduced.n, scale, sum, squares);
}

static void
take_extreme(AggScanState *node, int state, AggGroup *group, const GpuaggQueryTotal *total,
			 const DeviceQuotient *quotient)
{
	ExprContext *econtext = node->css.ss.ps.ps_ExprContext;
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	int code;
	__int128 average = gpuagg_device_quotient_extreme(gpuagg_int128_wide(total->reduced.sum),
													  node->states[state].op == GPUAGG_MIN, &code);
	int scale = gpuagg_device_quotient_scale(quotient, code);

	average /= gpuagg_power_of_ten(quotient->scale - scale);
	gpuagg_agg_deposit(node, state, group,
					   NumericGetDatum(
						   gpuagg_decimal_to_numeric(gpuagg_int128_narrow(average), scale)));
	MemoryContextSwitchTo(old);
	ResetExprContext(econtext);
}

void
gpuagg_agg_averages_take(AggScanState *node, int state, AggGroup *group, GpuaggQueryTotal *total,
						 const GpuaggQueryTotal *code)
{
	if (node->averages == NULL || node->averages->of[state] < 0)
		gpuagg_agg_device_total(node, state, group, total);
	else if (total->reduced.n > 0)
	{
		const DeviceQuotient *quotient = &average_of_state(node, state)->quotient;

		if (node->states[state].op == GPUAGG_SUM)
			take_sum(node, state, group, total, quotient,
					 gpuagg_device_quotient_scale(quotient, (int) code->reduced.sum.lo));
		else
			take_extreme(node, state, group, total, quotient);
	}
}
