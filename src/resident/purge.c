/*
 * purge.c
 *	  Columns in the directory whose table is gone, or has another file or type since.
 */
#include "resident/purge.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/inval.h"
#include "utils/syscache.h"

#include "resident/rules.h"

/* Some relation has changed: looked at when a transaction commits. */
static bool changed = false;

bool
gpuagg_column_is_current(const ColumnInfo *info)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(info->relation));
	bool current;

	if (!HeapTupleIsValid(tuple))
		return false;
	current = RULE(catalog, ((Form_pg_class) GETSTRUCT(tuple))->relfilenode == info->key.file);
	ReleaseSysCache(tuple);
	if (!current)
		return false;
	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(info->relation),
							Int16GetDatum(info->key.attno));
	if (!HeapTupleIsValid(tuple))
		return false;
	current = ((Form_pg_attribute) GETSTRUCT(tuple))->atttypid == info->key.type &&
			  ((Form_pg_attribute) GETSTRUCT(tuple))->atttypmod == info->key.typmod &&
			  ((Form_pg_attribute) GETSTRUCT(tuple))->attcollation == info->key.collation;
	ReleaseSysCache(tuple);
	return current;
}

int
gpuagg_directory_purge(void)
{
	int n;
	int purged = 0;
	ColumnInfo *list = gpuagg_directory_list(&n);

	for (int i = 0; i < n; i++)
		if (list[i].key.database == MyDatabaseId && !gpuagg_column_is_current(&list[i]))
			purged += gpuagg_column_evict(&list[i].key);
	pfree(list);
	return purged;
}

static void
relation_changed(Datum arg, Oid relation)
{
	changed = true;
}

/*
 * Before the commit the catalogs can be read, and show what the transaction has done.  If it fails
 * after all, a column has to be filled again.
 */
static void
transaction_ends(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_PRE_COMMIT || !changed)
		return;
	changed = false;
	(void) gpuagg_directory_purge();
}

void
gpuagg_purge_install(void)
{
	static bool installed = false;

	if (installed)
		return;
	installed = true;
	CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
	RegisterXactCallback(transaction_ends, NULL);
}
