/*
 * vector_parameter.c
 *	  What is known of a numeric parameter from the value that it has now.
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/execnodes.h"
#include "nodes/params.h"

#include "spec/vector_rule.h"

/* The client's, or a variable of PL/pgSQL: the same as long as the plan runs. */
static bool
find_extern(const EState *estate, int number, Datum *value, bool *isnull)
{
	ParamListInfo params = estate->es_param_list_info;
	ParamExternData workspace;
	const ParamExternData *found;

	if (params == NULL || number <= 0 || number > params->numParams)
		return false;
	/* raises no error: the executor may never ask for it */
	found = params->paramFetch != NULL ? params->paramFetch(params, number, true, &workspace)
									   : &params->params[number - 1];
	*value = found->value;
	*isnull = found->isnull;
	return found->ptype == NUMERICOID;
}

/* Of a node above: another one in each run. */
static bool
find_exec(const EState *estate, int number, Datum *value, bool *isnull)
{
	const ParamExecData *found;

	if (estate->es_param_exec_vals == NULL)
		return false;
	found = &estate->es_param_exec_vals[number];
	*value = found->value;
	*isnull = found->isnull;
	/* a subquery has not run, or nothing has been set */
	return found->execPlan == NULL && (found->isnull || found->value != (Datum) 0);
}

void
gpuagg_parameter_form(const EState *estate, const Param *param, VectorValue *value)
{
	bool is_extern = param->paramkind == PARAM_EXTERN;
	Datum datum;
	bool isnull;

	if (estate == NULL || param->paramtype != NUMERICOID ||
		!(is_extern ? find_extern(estate, param->paramid, &datum, &isnull)
					: param->paramkind == PARAM_EXEC &&
						  find_exec(estate, param->paramid, &datum, &isnull)))
		return;
	if (isnull)
	{
		value->type = GPUAGG_VECTOR_INT64;
		value->precision = 1;
		value->scale = 0;
		return;
	}
	gpuagg_vector_constant_form(NUMERICOID, datum, false, value);
	if (!is_extern && value->scale >= 0)
		value->precision = gpuagg_vector_digits(value->type);
}
