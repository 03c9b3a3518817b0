/*
 * compiled.c
 *	  Compiled expressions of a table in a node: its columns, and constants that become known.
 */
#include "compat.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"

#include "exec/compiled.h"

void
gpuagg_compiled_columns(const VectorCompiler *compiler, TupleDesc desc, PageColumn *columns)
{
	ListCell *cell;

	foreach (cell, compiler->attributes)
	{
		PageColumn *column = &columns[foreach_current_index(cell)];
		Form_pg_attribute attribute = TupleDescAttr(desc, lfirst_int(cell) - 1);
		GpuaggVectorType type =
			(GpuaggVectorType) compiler->program.columns[foreach_current_index(cell)];

		if (type == GPUAGG_VECTOR_DATUM)
			*column = (PageColumn){attribute->attnum, PAGE_COLUMN_DATUM, type, 0};
		else if (!gpuagg_page_column(attribute, column) || column->type != type)
			elog(ERROR, "attribute %d has another vector than its expressions", lfirst_int(cell));
	}
}

GpuaggVector
gpuagg_compiled_vector(GpuaggVectorType type)
{
	void *memory = palloc0(gpuagg_compiled_vector_bytes(type) + 64);

	return (GpuaggVector){.values = (void *) TYPEALIGN(64, memory),
						  .valid = palloc0(GPUAGG_VECTOR_WORDS * sizeof(uint64))};
}

GpuaggVectorRunner *
gpuagg_compiled_runner(const GpuaggVectorProgram *program)
{
	void *memory = palloc(gpuagg_vector_runner_size(program) + 64);

	return gpuagg_vector_runner_make((void *) TYPEALIGN(64, memory), program);
}

bool
gpuagg_compiled_for_device(const GpuaggVectorProgram *program, bool strings)
{
	for (uint32 i = 0; i < program->ninstructions; i++)
	{
		const GpuaggVectorInstruction *in = &program->instructions[i];

		if (in->op == GPUAGG_VECTOR_ROW || in->type == GPUAGG_VECTOR_DATUM ||
			(in->type == GPUAGG_VECTOR_BYTES && !strings))
			return false;
	}
	return true;
}

int
gpuagg_compiled_strings(const GpuaggVectorProgram *program, int reg)
{
	for (uint32 i = program->ninstructions; i-- > 0;)
	{
		const GpuaggVectorInstruction *in = &program->instructions[i];

		if (in->out == reg)
			return in->op == GPUAGG_VECTOR_COLUMN && in->type == GPUAGG_VECTOR_BYTES ? (int) in->arg
																					 : -1;
	}
	return -1;
}

static bool
same_program(const GpuaggVectorProgram *a, const GpuaggVectorProgram *b)
{
	return a->ninstructions == b->ninstructions && a->nfilter == b->nfilter &&
		   a->filter == b->filter && a->nregisters == b->nregisters &&
		   a->nconstants == b->nconstants && a->ncolumns == b->ncolumns && a->nrows == b->nrows &&
		   memcmp(a->instructions, b->instructions,
				  a->ninstructions * sizeof(GpuaggVectorInstruction)) == 0 &&
		   memcmp(a->columns, b->columns, a->ncolumns) == 0;
}

static bool
same_parameter(const VectorParameter *a, const VectorParameter *b)
{
	return a->constant == b->constant && a->conversion == b->conversion && a->filter == b->filter &&
		   a->early == b->early && a->value.type == b->value.type &&
		   a->value.scale == b->value.scale && a->value.width == b->value.width &&
		   equal(a->expr, b->expr);
}

bool
gpuagg_compiled_same(const VectorCompiler *a, const VectorCompiler *b)
{
	ListCell *cell_a;
	ListCell *cell_b;

	if (!same_program(&a->program, &b->program) ||
		list_length(a->parameters) != list_length(b->parameters))
		return false;
	for (uint32 i = 0; i < a->program.nconstants; i++)
		if (!gpuagg_vector_same_constant(&a->program.constants[i], &b->program.constants[i]))
			return false;
	forboth (cell_a, a->parameters, cell_b, b->parameters)
		if (!same_parameter(lfirst(cell_a), lfirst(cell_b)))
			return false;
	return true;
}

List *
gpuagg_compiled_states(const VectorCompiler *compiler, PlanState *parent)
{
	List *states = NIL;
	ListCell *cell;

	foreach (cell, compiler->parameters)
		states = lappend(states, ExecInitExpr(((VectorParameter *) lfirst(cell))->expr, parent));
	return states;
}

static bool
compute(const VectorParameter *parameter, ExprState *state, ExprContext *econtext,
		GpuaggVectorRunner *runner)
{
	bool isnull;
	Datum value = ExecEvalExpr(state, econtext, &isnull);

	return gpuagg_vector_set_parameter(&runner->constants[parameter->constant], parameter, value,
									   isnull);
}

/* The same of an expression that SQL may evaluate later, or never; false also: there is an error. */
static bool
compute_early(const VectorParameter *parameter, ExprState *state, ExprContext *econtext,
			  GpuaggVectorRunner *runner)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool done = false;

	PG_TRY();
	{
		done = compute(parameter, state, econtext, runner);
	}
	PG_CATCH();
	{
		FreeErrorData(gpuagg_compiled_catch(context));
	}
	PG_END_TRY();
	return done;
}

bool
gpuagg_compiled_parameters(const VectorCompiler *compiler, const List *states,
						   ExprContext *econtext, bool filter, GpuaggVectorRunner *runner)
{
	bool fits = true;
	ListCell *parameter_cell;
	ListCell *state_cell;

	forboth (parameter_cell, compiler->parameters, state_cell, states)
	{
		const VectorParameter *parameter = lfirst(parameter_cell);

		if (parameter->filter == filter)
			fits &= (parameter->early ? compute_early : compute)(parameter, lfirst(state_cell),
																 econtext, runner);
	}
	gpuagg_vector_constants_changed(runner);
	return fits;
}

/* Whether an error may come from a row's values. */
static bool
is_of_row(int sqlerrcode)
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

ErrorData *
gpuagg_compiled_catch(MemoryContext context)
{
	ErrorData *error;

	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	if (!is_of_row(error->sqlerrcode))
		PG_RE_THROW();
	FlushErrorState();
	return error;
}

/* Whether an expression has the value of a subquery that has not run. */
static bool
has_unknown(Node *expr, void *estate)
{
	const Param *param = (const Param *) expr;

	if (expr == NULL)
		return false;
	if (IsA(expr, Param))
		return param->paramkind == PARAM_EXEC &&
			   ((const EState *) estate)->es_param_exec_vals[param->paramid].execPlan != NULL;
	return expression_tree_walker(expr, has_unknown, estate);
}

bool
gpuagg_compiled_parameters_early(const VectorCompiler *compiler, const List *states,
								 PlanState *parent, GpuaggVectorRunner *runner)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool known = true;
	ListCell *cell;

	foreach (cell, compiler->parameters)
		if (has_unknown((Node *) ((const VectorParameter *) lfirst(cell))->expr, parent->state))
			return false;
	PG_TRY();
	{
		for (int filter = 0; filter < 2 && known; filter++)
			known = gpuagg_compiled_parameters(compiler, states, parent->ps_ExprContext, filter,
											   runner);
	}
	PG_CATCH();
	{
		FreeErrorData(gpuagg_compiled_catch(context));
		known = false;
	}
	PG_END_TRY();
	return known;
}
