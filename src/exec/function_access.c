/*
 * function_access.c
 *	  Who may execute an aggregate or window function.
 */
#include "compat.h"

#include "catalog/objectaccess.h"
#include "catalog/pg_aggregate.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "exec/function_access.h"

static void
check(Oid function, Oid role, ObjectType kind)
{
	AclResult aclresult = compat_function_aclcheck(function, role);

	if (aclresult != ACLCHECK_OK)
		aclcheck_error(aclresult, kind, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

void
gpuagg_check_function_access(Oid function, ObjectType kind)
{
	HeapTuple tuple;
	Form_pg_aggregate form;
	Oid transfn;
	Oid finalfn;
	Oid owner;

	check(function, GetUserId(), kind);

	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return;
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	transfn = form->aggtransfn;
	finalfn = form->aggfinalfn;
	ReleaseSysCache(tuple);

	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);

	check(transfn, owner, OBJECT_FUNCTION);
	if (OidIsValid(finalfn))
		check(finalfn, owner, OBJECT_FUNCTION);
}

void
gpuagg_check_operator_access(Oid operator)
{
	check(get_opcode(operator), GetUserId(), OBJECT_FUNCTION);
}
