/*
 * gpuagg_test_vectors.c
 *	  Compares vector programs with core's executor, row by row.
 *
 * vector_differs(query) plans SELECT e1, e2, .. FROM t [WHERE ..], compiles its target
 * list and quals, and runs the program over the rows of the table in the order of a
 * plain scan.  A vector with flagged rows is run again, a row at a time.  A row that
 * is not flagged must pass the filter if, and only if, core lets it pass, and have
 * core's values as they are displayed; where core raises an error, it must be flagged.
 */
#include "compat.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/analyze.h"
#include "parser/parsetree.h"
#include "tcop/tcopprot.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "spec/vector_rule.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(vector_differs);
PG_FUNCTION_INFO_V1(vector_uncovered);

/* Functions of the table that some program had as instructions. */
static bool covered[1024];

typedef struct Output
{
	Expr *expr;
	Oid type;
	ExprState *state;
	VectorValue value;
	Oid out_function;
} Output;

typedef struct Test
{
	EState *estate;
	ExprContext *econtext;
	Relation relation;
	TupleTableSlot *slot;
	VectorCompiler *compiler;
	GpuaggVectorRunner *runner;
	ExprState *qual;
	ExprState *where;
	List *row_states;
	int noutputs;
	Output *outputs;
	HeapTuple rows[GPUAGG_VECTOR_ROWS];
	int first; /* of rows, in the vector that is run */
	int nrows;
	uint64 unfit[GPUAGG_VECTOR_WORDS]; /* columns that their form cannot hold */
	bool filter_known;				   /* its parameters are set */
	bool values_known;
	/* results */
	int64 scanned;
	int64 passed;
	int64 flagged;
	int64 differs;
	char *example;
} Test;

static bool
has_bit(const uint64 *bitmap, int row)
{
	return (bitmap[row / 64] >> (row % 64) & 1) != 0;
}

/* Evaluates what core would; false: it raised an error, which is forgotten. */
static bool
evaluate(Test *test, ExprState *state, Datum *datum, bool *isnull)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool done = true;

	PG_TRY();
	{
		*datum = ExecEvalExpr(state, test->econtext, isnull);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		FlushErrorState();
		done = false;
	}
	PG_END_TRY();
	return done;
}

static void
take_row(Test *test, int row)
{
	ExecForceStoreHeapTuple(test->rows[row], test->slot, false);
	test->econtext->ecxt_scantuple = test->slot;
}

/* ROW: expressions without columns are evaluated once for all that want them. */
static void
evaluate_rows(void *owner, int number, const uint64 *wanted, GpuaggVector *out)
{
	Test *test = owner;
	Expr *expr = list_nth(test->compiler->rows, number);
	bool constant = test->compiler->row_constant[number];
	Datum datum = 0;
	bool isnull = true;
	bool done = false;
	bool known = false;

	for (int row = 0; row < test->nrows; row++)
	{
		if (!has_bit(wanted, row))
			continue;
		if (!constant || !known)
		{
			take_row(test, test->first + row);
			done = evaluate(test, list_nth(test->row_states, number), &datum, &isnull);
			known = true;
		}
		if (!done || !gpuagg_vector_store(out, &test->compiler->row_values[number],
										  exprType((Node *) expr), row, datum, isnull))
		{
			test->runner->flagged[row / 64] |= UINT64CONST(1) << (row % 64);
			test->runner->any_flagged = true;
		}
	}
}

static void
differ(Test *test, int row, const char *what, const char *got, const char *want)
{
	test->differs++;
	if (test->example == NULL)
		test->example = psprintf("row %lld, %s: %s, should be %s",
								 (long long) (test->scanned + test->first + row), what,
								 got != NULL ? got : "NULL", want != NULL ? want : "NULL");
}

static char *
display(const Output *output, Datum datum, bool isnull)
{
	return isnull ? NULL : OidOutputFunctionCall(output->out_function, datum);
}

/* What core has for a row that was not flagged, beside what the program has. */
static void
compare_row(Test *test, int row)
{
	bool passes = has_bit(test->runner->live, row);
	Datum datum;
	bool isnull;

	take_row(test, test->first + row);
	if (test->qual != NULL)
	{
		if (!evaluate(test, test->qual, &datum, &isnull))
		{
			differ(test, row, "filter", "no error", "an error");
			return;
		}
		if (DatumGetBool(datum) != passes)
			differ(test, row, "filter", passes ? "true" : "false", passes ? "false" : "true");
		if (!passes || !DatumGetBool(datum))
			return;
	}
	test->passed++;
	if (test->where != NULL)
	{
		if (!evaluate(test, test->where, &datum, &isnull))
		{
			differ(test, row, "condition", "no error", "an error");
			return;
		}
		if (isnull || !DatumGetBool(datum))
			return;
	}
	for (int i = 0; i < test->noutputs; i++)
	{
		Output *output = &test->outputs[i];
		GpuaggVector *vector = &test->runner->registers[output->value.reg];
		char *want;
		char *got;
		bool known = evaluate(test, output->state, &datum, &isnull);

		want = known ? display(output, datum, isnull) : "an error";
		datum = gpuagg_vector_datum(vector, &output->value, output->type, row, &isnull);
		got = display(output, datum, isnull);
		if (!known || (want == NULL) != (got == NULL) || (want != NULL && strcmp(want, got) != 0))
			differ(test, row, psprintf("value %d", i + 1), got, want);
	}
}

/* Parameters of the filter when there is a row, the others when one has passed it. */
static bool
set_parameters(Test *test, bool filter)
{
	bool *known = filter ? &test->filter_known : &test->values_known;
	ListCell *lc;

	if (*known)
		return true;
	foreach (lc, test->compiler->parameters)
	{
		VectorParameter *parameter = lfirst(lc);
		ExprState *state;
		Datum datum;
		bool isnull;
		MemoryContext before;
		bool done;

		if (parameter->filter != filter)
			continue;
		state = ExecInitExpr(parameter->expr, NULL);
		before = MemoryContextSwitchTo(test->estate->es_query_cxt);
		done = evaluate(test, state, &datum, &isnull) &&
			   gpuagg_vector_set_parameter(&test->runner->constants[parameter->constant], parameter,
										   datum, isnull);
		MemoryContextSwitchTo(before);
		if (!done)
			return false;
	}
	gpuagg_vector_constants_changed(test->runner);
	*known = true;
	return true;
}

static void
load_columns(Test *test)
{
	int i = 0;
	ListCell *lc;

	memset(test->unfit, 0, sizeof(test->unfit));
	foreach (lc, test->compiler->attributes)
	{
		AttrNumber attno = (AttrNumber) lfirst_int(lc);
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(test->relation), attno - 1);
		GpuaggVector *vector = &test->runner->columns[i];
		VectorValue form;

		gpuagg_vector_form(attribute->atttypid, attribute->atttypmod, &form);
		if (form.type != test->compiler->program.columns[i])
			elog(ERROR, "column %d has type %d in the program, not %d", attno,
				 test->compiler->program.columns[i], form.type);
		if (vector->values == NULL)
		{
			vector->values = MemoryContextAllocZero(test->estate->es_query_cxt,
													Max(gpuagg_vector_type_size(form.type), 1) *
														GPUAGG_VECTOR_ROWS);
			vector->valid = MemoryContextAllocZero(test->estate->es_query_cxt,
												   GPUAGG_VECTOR_WORDS * sizeof(uint64));
		}
		for (int row = 0; row < test->nrows; row++)
		{
			bool isnull;
			Datum datum = heap_getattr(test->rows[test->first + row], attno,
									   RelationGetDescr(test->relation), &isnull);

			if (!gpuagg_vector_store(vector, &form, attribute->atttypid, row, datum, isnull))
				test->unfit[row / 64] |= UINT64CONST(1) << (row % 64);
		}
		i++;
	}
}

/* Runs the program over rows of test->rows; false: some are flagged. */
static bool
run(Test *test, int first, int nrows)
{
	GpuaggVectorRunner *runner = test->runner;

	test->first = first;
	test->nrows = nrows;
	take_row(test, first);
	load_columns(test);
	for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
	{
		if (test->unfit[w] != 0)
			return false;
	}
	if (!set_parameters(test, true))
		return false;
	if (gpuagg_vector_run_filter(runner, nrows) > 0 && !runner->any_flagged && !test->values_known)
	{
		if (!set_parameters(test, false))
			return false;
		gpuagg_vector_run_filter(runner, nrows);
	}
	if (runner->any_flagged)
		return false;
	gpuagg_vector_run_values(runner);
	return !runner->any_flagged;
}

static void
run_rows(Test *test, int n)
{
	MemoryContext before = MemoryContextSwitchTo(test->econtext->ecxt_per_tuple_memory);

	if (run(test, 0, n))
	{
		for (int row = 0; row < n; row++)
			compare_row(test, row);
	}
	else
	{
		for (int i = 0; i < n; i++)
		{
			if (run(test, i, 1))
				compare_row(test, 0);
			else
				test->flagged++;
		}
	}
	test->scanned += n;
	if (test->example != NULL)
		test->example = MemoryContextStrdup(test->estate->es_query_cxt, test->example);
	MemoryContextSwitchTo(before);
	ResetExprContext(test->econtext);
}

static void
scan(Test *test)
{
	TableScanDesc scan = table_beginscan(test->relation, GetActiveSnapshot(), 0, NULL);
	TupleTableSlot *slot = table_slot_create(test->relation, NULL);
	int n = 0;

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		MemoryContext before = MemoryContextSwitchTo(test->econtext->ecxt_per_tuple_memory);

		test->rows[n++] = ExecCopySlotHeapTuple(slot);
		MemoryContextSwitchTo(before);
		if (n == GPUAGG_VECTOR_ROWS)
		{
			run_rows(test, n);
			n = 0;
		}
	}
	if (n > 0)
		run_rows(test, n);
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
}

/* ---- coverage ---- */

static bool
cover(Oid function, void *context)
{
	const VectorFunction *row = gpuagg_vector_function(function);
	int n;

	if (row != NULL)
		covered[row - gpuagg_vector_functions(&n)] = true;
	return false;
}

static bool
cover_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	check_functions_in_node(node, cover, context);
	return expression_tree_walker(node, cover_walker, context);
}

/* ---- the functions ---- */

static SeqScan *
plan_of(const char *query, List **rtable)
{
	List *raw = pg_parse_query(query);
	Query *analyzed;
	PlannedStmt *planned;

	if (list_length(raw) != 1)
		elog(ERROR, "one query is wanted");
	analyzed = parse_analyze_fixedparams(linitial(raw), query, NULL, 0, NULL);
	planned = pg_plan_query(analyzed, query, 0, NULL);
	if (!IsA(planned->planTree, SeqScan))
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("the plan is not a scan of a table")));
	*rtable = planned->rtable;
	return (SeqScan *) planned->planTree;
}

/*
 * vector_differs(query text, conditional boolean, narrow boolean, OUT scanned bigint, OUT passed bigint,
 * OUT flagged bigint, OUT by_row integer, OUT differs bigint, OUT example text)
 *
 * conditional: the last expression says for which rows the others count.
 * narrow: the compiler's option of that name.
 */
Datum
vector_differs(PG_FUNCTION_ARGS)
{
	char *query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	bool conditional = PG_GETARG_BOOL(1);
	Test *test = palloc0(sizeof(Test));
	List *rtable;
	SeqScan *plan = plan_of(query, &rtable);
	List *targets = plan->scan.plan.targetlist;
	Expr *where = NULL;
	uint8 *types;
	int bad;
	int by_row = 0;
	Size size;
	char *memory;
	TupleDesc desc;
	Datum values[6];
	bool nulls[6] = {false};
	MemoryContext before;
	ListCell *lc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "the function must return a row");
	test->estate = CreateExecutorState();
	before = MemoryContextSwitchTo(test->estate->es_query_cxt);
	test->econtext = CreateExprContext(test->estate);
	test->relation = table_open(rt_fetch(plan->scan.scanrelid, rtable)->relid, AccessShareLock);
	test->slot = MakeSingleTupleTableSlot(RelationGetDescr(test->relation), &TTSOpsHeapTuple);
	test->compiler = gpuagg_compiler_make(plan->scan.scanrelid, NULL);
	test->compiler->narrow = PG_GETARG_BOOL(2);
	if (conditional)
		where = llast_node(TargetEntry, targets)->expr;
	foreach (lc, targets)
	{
		if (!gpuagg_compile_possible((Node *) lfirst_node(TargetEntry, lc)->expr))
			elog(ERROR, "expression cannot be compiled");
	}
	gpuagg_compile_filter(test->compiler, plan->scan.plan.qual);
	test->noutputs = list_length(targets) - (conditional ? 1 : 0);
	test->outputs = palloc0(Max(test->noutputs, 1) * sizeof(Output));
	for (int i = 0; i < test->noutputs; i++)
	{
		Output *output = &test->outputs[i];
		bool varlena;

		output->expr = list_nth_node(TargetEntry, targets, i)->expr;
		output->type = exprType((Node *) output->expr);
		output->state = ExecInitExpr(output->expr, NULL);
		getTypeOutputInfo(output->type, &output->out_function, &varlena);
		output->value = gpuagg_compile_value(test->compiler, output->expr, where);
	}
	if (where != NULL)
		test->where = ExecInitExpr(where, NULL);
	if (plan->scan.plan.qual != NIL)
		test->qual = ExecInitQual(plan->scan.plan.qual, NULL);
	if (!gpuagg_compile_finish(test->compiler))
		elog(ERROR, "the program is too large");
	types = palloc0(GPUAGG_VECTOR_REGISTERS);
	bad = gpuagg_vector_check(&test->compiler->program, types);
	if (bad >= 0)
		elog(ERROR, "instruction %d of %d is bad", bad, test->compiler->program.ninstructions);
	foreach (lc, test->compiler->rows)
	{
		test->row_states = lappend(test->row_states, ExecInitExpr(lfirst(lc), NULL));
		if (!test->compiler->row_constant[foreach_current_index(lc)])
			by_row++;
	}
	if (by_row == 0)
	{
		cover_walker((Node *) plan->scan.plan.qual, NULL);
		cover_walker((Node *) targets, NULL);
	}
	size = gpuagg_vector_runner_size(&test->compiler->program);
	memory = palloc0(size + 64);
	test->runner = gpuagg_vector_runner_make((void *) TYPEALIGN(64, memory),
											 &test->compiler->program);
	test->runner->row = evaluate_rows;
	test->runner->owner = test;
	MemoryContextSwitchTo(before);

	scan(test);

	values[0] = Int64GetDatum(test->scanned);
	values[1] = Int64GetDatum(test->passed);
	values[2] = Int64GetDatum(test->flagged);
	values[3] = Int32GetDatum(by_row);
	values[4] = Int64GetDatum(test->differs);
	nulls[5] = test->example == NULL;
	values[5] = nulls[5] ? (Datum) 0 : CStringGetTextDatum(test->example);
	table_close(test->relation, AccessShareLock);
	ExecDropSingleTupleTableSlot(test->slot);
	FreeExecutorState(test->estate);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

/* vector_uncovered() returns oid[]: functions of the table that no program had as instructions. */
Datum
vector_uncovered(PG_FUNCTION_ARGS)
{
	int n;
	const VectorFunction *functions = gpuagg_vector_functions(&n);
	ArrayBuildState *result = NULL;

	for (int i = 0; i < n; i++)
	{
		if (!covered[i])
			result = accumArrayResult(result, ObjectIdGetDatum(functions[i].function), false,
									  OIDOID, CurrentMemoryContext);
	}
	if (result == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(makeArrayResult(result, CurrentMemoryContext));
}
