/*
 * window_function.c
 *	  Which window functions are ours.
 *
 * A running function is known by its C symbol, an aggregate by those of its transition
 * function and its final function, which have to be members of the extension; names do
 * not matter.  So functions that were renamed are computed as what they are, replaced
 * ones are left to core, and a user's own aggregate over our functions is computed too
 * where it is the same as one of ours.  Of core's aggregates those are known that
 * core_function.c lists.  What was found is kept until the catalogs change.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "gpuagg.h"
#include "spec/core_function.h"
#include "spec/window_function.h"

#define RUNNING_PREFIX "gpuagg_running_"
#define TYPED_PREFIX   "gpuagg_typed_"

typedef struct KnownFunction
{
	Oid winfnoid; /* the key */
	bool ours;
	bool running;
	int core; /* of core's: the CoreAggregates that takes it */
	WindowFunction function;
} KnownFunction;

static HTAB *known = NULL;
static uint64 generation = 0; /* of pg_proc and pg_aggregate, as far as we have heard */

static void
forget(Datum arg, int cacheid, uint32 hashvalue)
{
	generation++;
	if (known != NULL)
		hash_destroy(known);
	known = NULL;
}

static void
make_known(void)
{
	static bool registered = false;
	HASHCTL control = {.keysize = sizeof(Oid),
					   .entrysize = sizeof(KnownFunction),
					   .hcxt = CacheMemoryContext};

	if (!registered)
	{
		CacheRegisterSyscacheCallback(PROCOID, forget, (Datum) 0);
		CacheRegisterSyscacheCallback(AGGFNOID, forget, (Datum) 0);
	}
	registered = true;
	if (known == NULL)
		known = hash_create("gpuagg window functions", 32, &control,
							HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

static bool
is_member(Oid function)
{
	Oid extension = get_extension_oid("gpuagg", true);

	return OidIsValid(extension) &&
		   getExtensionOfObject(ProcedureRelationId, function) == extension;
}

/* A row of pg_proc, as far as it says which C code a function runs. */
typedef struct Code
{
	char *symbol; /* NULL: not one to go by */
	bool internal;
	bool strict;
	Oid result;
	Oid argument; /* the second one, or InvalidOid */
} Code;

/* What a function of the extension runs; nothing if settings or another user come with it. */
static Code
code_of(HeapTuple tuple)
{
	Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);
	Code code = {.internal = form->prolang == INTERNALlanguageId,
				 .strict = form->proisstrict,
				 .result = form->prorettype,
				 .argument = form->pronargs > 1 ? form->proargtypes.values[1] : InvalidOid};
	Datum source;
	bool isnull;

	if ((!code.internal && form->prolang != ClanguageId) || form->prosecdef ||
		!heap_attisnull(tuple, Anum_pg_proc_proconfig, NULL) || !is_member(form->oid))
		return code;
	source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);
	if (!isnull)
		code.symbol = TextDatumGetCString(source);
	/* over gpu_state they are what they are over internal */
	if (code.symbol != NULL && strncmp(code.symbol, TYPED_PREFIX, strlen(TYPED_PREFIX)) == 0)
		code.symbol = psprintf("gpuagg_%s", code.symbol + strlen(TYPED_PREFIX));
	return code;
}

static Code
code_of_function(Oid function)
{
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Code code = {0};

	if (!HeapTupleIsValid(tuple))
		return code;
	code = code_of(tuple);
	ReleaseSysCache(tuple);
	return code;
}

static bool
examine_running(HeapTuple tuple, WindowFunction *function)
{
	Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);
	Code code = code_of(tuple);

	if (code.symbol == NULL || code.internal ||
		strncmp(code.symbol, RUNNING_PREFIX, strlen(RUNNING_PREFIX)) != 0)
		return false;
	function->type = form->proargtypes.values[0];
	for (int i = 0; i < AGGREGATES; i++)
		if (strcmp(code.symbol + strlen(RUNNING_PREFIX), gpuagg_aggregates[i].name) == 0)
		{
			function->aggregate = (Aggregate) i;
			return gpuagg_running_exists(function->aggregate, function->type);
		}
	return false;
}

/* What the states of a transition function hold; 0: nothing that the node computes. */
static GpuaggOp
transition_op(const Code *code)
{
	const char *end;

	if (code->symbol == NULL)
		return 0;
	if (code->internal)
		return strcmp(code->symbol, "int8inc") == 0 ||
					   (strcmp(code->symbol, "int8inc_any") == 0 && code->strict)
				   ? GPUAGG_COUNT
				   : 0;
	end = strrchr(code->symbol, '_');
	if (end == NULL)
		return 0;
	return strcmp(end, "_accum") == 0	  ? GPUAGG_SUM
		   : strcmp(end, "_moments") == 0 ? GPUAGG_MOMENTS
		   : strcmp(end, "_min") == 0	  ? GPUAGG_MIN
		   : strcmp(end, "_max") == 0	  ? GPUAGG_MAX
										  : 0;
}

/* The final functions, by their symbols, and of which states. */
static const struct
{
	const char *symbol;
	SqlFamily family;
	Aggregate aggregate;
} finals[] = {
	{"gpuagg_int_sum_int8", SQL_FAMILY_INT, AGGREGATE_SUM},
	{"gpuagg_int_sum_numeric", SQL_FAMILY_INT, AGGREGATE_SUM},
	{"gpuagg_int_sum_money", SQL_FAMILY_INT, AGGREGATE_SUM},
	{"gpuagg_int_avg", SQL_FAMILY_INT, AGGREGATE_AVG},
	{"gpuagg_float_sum_float4", SQL_FAMILY_FLOAT, AGGREGATE_SUM},
	{"gpuagg_float_sum_float8", SQL_FAMILY_FLOAT, AGGREGATE_SUM},
	{"gpuagg_float_avg", SQL_FAMILY_FLOAT, AGGREGATE_AVG},
	{"gpuagg_numeric_sum", SQL_FAMILY_NUMERIC, AGGREGATE_SUM},
	{"gpuagg_numeric_avg", SQL_FAMILY_NUMERIC, AGGREGATE_AVG},
	{"gpuagg_interval_sum", SQL_FAMILY_INTERVAL, AGGREGATE_SUM},
	{"gpuagg_interval_avg", SQL_FAMILY_INTERVAL, AGGREGATE_AVG},
	{"gpuagg_extreme_value", SQL_FAMILY_KEY, AGGREGATE_MIN},
	{"gpuagg_extreme_value", SQL_FAMILY_KEY, AGGREGATE_MAX},
#define VARIANCES(name, family)                                       \
	{"gpuagg_" name "_var_pop", family, AGGREGATE_VAR_POP},           \
		{"gpuagg_" name "_var_samp", family, AGGREGATE_VAR_SAMP},     \
		{"gpuagg_" name "_stddev_pop", family, AGGREGATE_STDDEV_POP}, \
	{                                                                 \
		"gpuagg_" name "_stddev_samp", family, AGGREGATE_STDDEV_SAMP  \
	}
	VARIANCES("int", SQL_FAMILY_INT),
	VARIANCES("float", SQL_FAMILY_FLOAT),
	VARIANCES("numeric", SQL_FAMILY_NUMERIC),
};

/* Whether this final function gives the aggregate over that type. */
static bool
is_final(Oid finalfn, const WindowFunction *function)
{
	const SqlType *type = gpuagg_sql_type(function->type);
	SqlFamily family = gpuagg_aggregate_family(function->aggregate, type);
	Code code;

	if (!OidIsValid(finalfn))
		return family == SQL_FAMILY_COUNT || family == SQL_FAMILY_NUMERIC_EXTREME ||
			   family == SQL_FAMILY_INTERVAL_EXTREME;
	code = code_of_function(finalfn);
	if (code.symbol == NULL || code.internal ||
		(code.result != ANYELEMENTOID &&
		 code.result != gpuagg_aggregate_result(function->aggregate, type)))
		return false;
	for (int i = 0; i < lengthof(finals); i++)
		if (finals[i].family == family && finals[i].aggregate == function->aggregate &&
			strcmp(finals[i].symbol, code.symbol) == 0)
			return true;
	return false;
}

/* Whether an aggregate's states begin as the node's do. */
static bool
begins_empty(HeapTuple tuple, Aggregate aggregate)
{
	bool isnull;
	Datum initial = SysCacheGetAttr(AGGFNOID, tuple, Anum_pg_aggregate_agginitval, &isnull);

	if (aggregate != AGGREGATE_COUNT)
		return isnull;
	return !isnull && strcmp(TextDatumGetCString(initial), "0") == 0;
}

/* Moving aggregates have functions of their own, which the node's frames never call. */
static bool
examine_aggregate(HeapTuple tuple, WindowFunction *function)
{
	Form_pg_aggregate form = (Form_pg_aggregate) GETSTRUCT(tuple);
	Code transition;
	GpuaggOp op;

	if (form->aggkind != AGGKIND_NORMAL || form->aggfinalmodify != AGGMODIFY_READ_ONLY)
		return false;
	transition = code_of_function(form->aggtransfn);
	op = transition_op(&transition);
	/* beside Citus gpu_count goes by core's own function */
	if (form->aggtransfn == F_INT8INC_ANY && is_member(form->aggfnoid))
		op = GPUAGG_COUNT;
	if (op == 0)
		return false;
	function->type = op == GPUAGG_COUNT ? ANYOID : transition.argument;
	for (int i = 0; i < AGGREGATES; i++)
	{
		function->aggregate = (Aggregate) i;
		if (gpuagg_aggregates[i].op == op &&
			gpuagg_aggregate_family(function->aggregate, gpuagg_sql_type(function->type)) !=
				SQL_FAMILY_NONE &&
			is_final(form->aggfinalfn, function))
			return begins_empty(tuple, function->aggregate);
	}
	return false;
}

static bool
examine(HeapTuple tuple, KnownFunction *found)
{
	HeapTuple aggregate;
	bool ours;

	found->function.winfnoid = found->winfnoid;
	found->running = ((Form_pg_proc) GETSTRUCT(tuple))->prokind == PROKIND_WINDOW;
	if (found->running)
		return examine_running(tuple, &found->function);
	found->core = gpuagg_core_function(found->winfnoid, &found->function);
	if (found->core != CORE_OFF)
		return true;
	aggregate = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(found->winfnoid));
	if (!HeapTupleIsValid(aggregate))
		return false;
	ours = examine_aggregate(aggregate, &found->function);
	ReleaseSysCache(aggregate);
	return ours;
}

static KnownFunction
look_up(Oid winfnoid)
{
	KnownFunction found = {.winfnoid = winfnoid};
	KnownFunction *entry = NULL;

	if (known != NULL)
		entry = hash_search(known, &winfnoid, HASH_FIND, NULL);
	if (entry != NULL)
		found = *entry;
	else
	{
		HeapTuple tuple;
		uint64 before;

		make_known();
		before = generation;
		tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(winfnoid));
		if (!HeapTupleIsValid(tuple))
			return found;
		found.ours = examine(tuple, &found);
		ReleaseSysCache(tuple);
		if (generation == before) /* then the table is still there */
		{
			entry = hash_search(known, &winfnoid, HASH_ENTER, NULL);
			*entry = found;
		}
	}
	return found;
}

/* Core's are taken as far as the setting says. */
static bool
is_taken(const KnownFunction *found)
{
	return found->ours && found->core <= gpuagg_core_aggregates;
}

bool
gpuagg_window_function(Oid winfnoid, WindowFunction *function, bool *running)
{
	KnownFunction found = look_up(winfnoid);

	*function = found.function;
	*running = found.running;
	return is_taken(&found) && gpuagg_running_exists(function->aggregate, function->type);
}

bool
gpuagg_known_aggregate(Oid aggfnoid, Aggregate *aggregate, Oid *type)
{
	KnownFunction found = look_up(aggfnoid);

	*aggregate = found.function.aggregate;
	*type = found.function.type;
	return is_taken(&found) && !found.running;
}

const char *
gpuagg_core_objection(Oid function)
{
	KnownFunction found;

	if (gpuagg_core_aggregates == CORE_OFF)
		return NULL;
	found = look_up(function);
	if (found.core <= gpuagg_core_aggregates)
		return NULL;
	return psprintf("%s depends on the order of rows, and \"gpuagg.core_aggregates\" is \"exact\"",
					format_procedure(function));
}
