/*
 * compiled.c
 *	  Compiled expressions of a table in a node: its columns, and constants that become known.
 */
#include "compat.h"

#include "catalog/pg_type.h"
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

/* Whether a value is the client's, or has been set by a node or a subquery that has run. */
static bool
is_known(const Expr *expr, const EState *estate)
{
	const FuncExpr *cast = (const FuncExpr *) expr;
	const Param *param = (const Param *) expr;

	if (IsA(expr, RelabelType))
		return is_known(((const RelabelType *) expr)->arg, estate);
	/* these widen numbers */
	if (IsA(expr, FuncExpr) && cast->funcformat == COERCE_IMPLICIT_CAST)
		switch (exprType(linitial(cast->args)))
		{
			case INT2OID:
			case INT4OID:
			case INT8OID:
			case FLOAT4OID:
				return is_known(linitial(cast->args), estate);
			default:
				return false;
		}
	return IsA(expr, Param) && (param->paramkind == PARAM_EXTERN ||
								(param->paramkind == PARAM_EXEC &&
								 estate->es_param_exec_vals[param->paramid].execPlan == NULL));
}

bool
gpuagg_compiled_parameters_known(const VectorCompiler *compiler, const EState *estate)
{
	ListCell *cell;

	foreach (cell, compiler->parameters)
		if (!is_known(((const VectorParameter *) lfirst(cell))->expr, estate))
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
		bool isnull;
		Datum value;

		if (parameter->filter != filter)
			continue;
		value = ExecEvalExpr(lfirst(state_cell), econtext, &isnull);
		fits &= gpuagg_vector_set_constant(&runner->constants[parameter->constant],
										   &parameter->value, exprType((Node *) parameter->expr),
										   value, isnull);
	}
	gpuagg_vector_constants_changed(runner);
	return fits;
}
