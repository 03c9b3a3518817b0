/*
 * window_function.c
 *	  Which window functions are ours.
 *
 * A function is known by its name and by being a member of the extension, in
 * whatever schema; an aggregate's transition function has to be a member too, and
 * a running function still the C function that the extension made it, so that
 * replaced ones are left to core.  What was found is kept until pg_proc changes.
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
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "plan/window_function.h"

typedef struct KnownFunction
{
	Oid winfnoid; /* the key */
	bool ours;
	bool running;
	WindowFunction function;
} KnownFunction;

static HTAB *known = NULL;
static uint64 generation = 0; /* of pg_proc, as far as we have heard */

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
		CacheRegisterSyscacheCallback(PROCOID, forget, (Datum) 0);
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

/* gpu_<name> or gpu_running_<name>, of an aggregate that has running functions. */
static bool
find_by_name(const char *name, Aggregate *aggregate, bool *running)
{
	if (strncmp(name, "gpu_", 4) != 0)
		return false;
	name += 4;
	*running = strncmp(name, "running_", 8) == 0;
	if (*running)
		name += 8;
	for (int i = 0; i < AGGREGATES; i++)
		if (gpuagg_aggregates[i].running && strcmp(name, gpuagg_aggregates[i].name) == 0)
		{
			*aggregate = (Aggregate) i;
			return true;
		}
	return false;
}

/* Whether a running function is the C function that the extension made. */
static bool
is_as_made(HeapTuple tuple)
{
	Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);
	bool isnull;
	Datum source;

	if (form->prokind != PROKIND_WINDOW || form->prolang != ClanguageId || form->prosecdef ||
		!heap_attisnull(tuple, Anum_pg_proc_proconfig, NULL))
		return false;
	source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);
	/* gpu_running_sum is gpuagg_running_sum, and so on */
	return !isnull && strcmp(TextDatumGetCString(source) + strlen("gpuagg_"),
							 NameStr(form->proname) + strlen("gpu_")) == 0;
}

static bool
has_our_transition(Oid aggregate)
{
	HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	bool ours;

	if (!HeapTupleIsValid(tuple))
		return false;
	ours = is_member(((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn);
	ReleaseSysCache(tuple);
	return ours;
}

static bool
examine(HeapTuple tuple, KnownFunction *found)
{
	Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);
	WindowFunction *function = &found->function;

	if (!find_by_name(NameStr(form->proname), &function->aggregate, &found->running) ||
		!is_member(found->winfnoid))
		return false;
	if (found->running ? !is_as_made(tuple) : !has_our_transition(found->winfnoid))
		return false;
	function->winfnoid = found->winfnoid;
	function->type = form->pronargs == 0 ? ANYOID : form->proargtypes.values[0];
	return gpuagg_running_exists(function->aggregate, function->type);
}

bool
gpuagg_window_function(Oid winfnoid, WindowFunction *function, bool *running)
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
			return false;
		found.ours = examine(tuple, &found);
		ReleaseSysCache(tuple);
		if (generation == before) /* then the table is still there */
		{
			entry = hash_search(known, &winfnoid, HASH_ENTER, NULL);
			*entry = found;
		}
	}
	*function = found.function;
	*running = found.running;
	return found.ours;
}
