/*
 * resident.c
 *	  What SQL can ask about resident columns, and do with them.
 */
#include "compat.h"

#include "access/relation.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_inherits.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "resident/purge.h"
#include "types/page_column.h"

PG_FUNCTION_INFO_V1(gpuagg_resident_get);
PG_FUNCTION_INFO_V1(gpuagg_evict);
PG_FUNCTION_INFO_V1(gpuagg_prefetch);

/* ---- the view ---- */

/* Whether a column of this database's tables still is what it was, and the user may see it. */
static bool
is_shown(const ColumnInfo *info, bool all)
{
	return info->key.database == MyDatabaseId && gpuagg_column_is_current(info) &&
		   (all || pg_class_aclcheck(info->relation, GetUserId(), ACL_SELECT) == ACLCHECK_OK);
}

Datum
gpuagg_resident_get(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	bool all = has_privs_of_role(GetUserId(), ROLE_PG_MONITOR);
	ColumnInfo *list;
	int n = 0;

	InitMaterializedSRF(fcinfo, 0);
	if (!gpuagg_directory_open())
		return (Datum) 0;
	(void) gpuagg_directory_purge();
	list = gpuagg_directory_list(&n);
	for (int i = 0; i < n; i++)
	{
		const ColumnInfo *info = &list[i];
		Datum values[9];
		bool nulls[9] = {false};

		if (!is_shown(info, all))
			continue;
		values[0] = ObjectIdGetDatum(info->relation);
		values[1] = Int16GetDatum(info->key.attno);
		values[2] = CStringGetTextDatum("host");
		values[3] = Int64GetDatum(info->nchunks);
		values[4] = Int64GetDatum((int64) info->npages);
		values[5] = Int64GetDatum((int64) info->nrows);
		values[6] = Int64GetDatum((int64) info->bytes);
		values[7] = Int64GetDatum((int64) info->uses);
		nulls[8] = info->last_use == 0;
		values[8] = TimestampTzGetDatum(info->last_use);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* ---- out ---- */

static void
check_owner(Oid relation)
{
	if (!compat_is_relation_owner(relation, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relation)),
					   get_rel_name(relation));
}

/* The columns of a relation's file; of its partitions and other children too. */
static int
evict_relation(Oid relation)
{
	List *all;
	ListCell *cell;
	int n = 0;

	LockRelationOid(relation, AccessShareLock);
	all = find_all_inheritors(relation, AccessShareLock, NULL);
	foreach (cell, all)
	{
		Relation rel = try_relation_open(lfirst_oid(cell), NoLock);
		Oid tablespace;
		Oid database;
		Oid file;

		if (rel == NULL)
			continue;
		compat_relation_file(rel, &tablespace, &database, &file);
		if (RELKIND_HAS_STORAGE(rel->rd_rel->relkind))
			n += gpuagg_directory_evict(database, file);
		relation_close(rel, NoLock);
	}
	return n;
}

Datum
gpuagg_evict(PG_FUNCTION_ARGS)
{
	Oid relation = PG_ARGISNULL(0) ? InvalidOid : PG_GETARG_OID(0);
	ColumnInfo *list;
	int evicted = 0;
	int n = 0;

	if (OidIsValid(relation))
	{
		if (get_rel_name(relation) == NULL)
			ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
							errmsg("relation with OID %u does not exist", relation)));
		check_owner(relation);
	}
	if (!gpuagg_directory_open())
		PG_RETURN_INT32(0);
	(void) gpuagg_directory_purge();
	if (OidIsValid(relation))
		PG_RETURN_INT32(evict_relation(relation));
	if (superuser())
		PG_RETURN_INT32(gpuagg_directory_evict(MyDatabaseId, InvalidOid));

	/* those of tables that one owns */
	list = gpuagg_directory_list(&n);
	for (int i = 0; i < n; i++)
		if (list[i].key.database == MyDatabaseId && get_rel_name(list[i].relation) != NULL &&
			compat_is_relation_owner(list[i].relation, GetUserId()))
			evicted += gpuagg_directory_evict(MyDatabaseId, list[i].key.file);
	PG_RETURN_INT32(evicted);
}

/* ---- in ---- */

static void
add_column(StringInfo list, const char *schema, const char *name)
{
	appendStringInfo(list, "%s%s.gpu_count(%s)", list->len == 0 ? "" : ", ",
					 quote_identifier(schema), quote_identifier(name));
}

/* Aggregates over the columns of the array; NULL: over all that can be resident. */
static char *
list_columns(Relation relation, ArrayType *array, const char *schema)
{
	TupleDesc desc = RelationGetDescr(relation);
	StringInfoData list;
	PageColumn column;
	Datum *names = NULL;
	int n = 0;

	initStringInfo(&list);
	if (array == NULL)
	{
		for (int i = 0; i < desc->natts; i++)
			if (gpuagg_page_column(TupleDescAttr(desc, i), &column) &&
				gpuagg_page_column_is_fixed(&column))
				add_column(&list, schema, NameStr(TupleDescAttr(desc, i)->attname));
		return list.data;
	}
	deconstruct_array(array, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, &names, NULL, &n);
	for (int i = 0; i < n; i++)
	{
		const char *name = NameStr(*DatumGetName(names[i]));
		AttrNumber attno = get_attnum(RelationGetRelid(relation), name);

		if (attno <= 0)
			ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
							errmsg("column \"%s\" of relation \"%s\" does not exist", name,
								   RelationGetRelationName(relation))));
		if (!gpuagg_page_column(TupleDescAttr(desc, attno - 1), &column) ||
			!gpuagg_page_column_is_fixed(&column))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("column \"%s\" of type %s cannot be resident", name,
							format_type_with_typemod(TupleDescAttr(desc, attno - 1)->atttypid,
													 TupleDescAttr(desc, attno - 1)->atttypmod))));
		add_column(&list, schema, name);
	}
	return list.data;
}

/* Reads the columns by a query, which may have workers, so that all that it reads goes to memory. */
static void
read_columns(const char *query)
{
	static const char *const settings[][2] = {{"gpuagg.resident", "on"},
											  {"gpuagg.enable_agg_scan", "on"},
											  {"gpuagg.min_table_pages", "0"}};
	int level = NewGUCNestLevel();

	for (int i = 0; i < lengthof(settings); i++)
		(void) set_config_option(settings[i][0], settings[i][1], PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(query, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute failed");
	SPI_finish();
	AtEOXact_GUC(false, level);
}

/* What is resident of a relation and its children: rows and bytes of all columns. */
static void
add_up(Oid relation, int64 *rows, int64 *bytes)
{
	List *all = find_all_inheritors(relation, NoLock, NULL);
	int n;
	ColumnInfo *list = gpuagg_directory_list(&n);

	*rows = *bytes = 0;
	for (int i = 0; i < n; i++)
		if (list_member_oid(all, list[i].relation) && is_shown(&list[i], true))
		{
			*rows += (int64) list[i].nrows;
			*bytes += (int64) list[i].bytes;
		}
}

Datum
gpuagg_prefetch(PG_FUNCTION_ARGS)
{
	Oid oid = PG_ARGISNULL(0) ? InvalidOid : PG_GETARG_OID(0);
	ArrayType *columns = PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1);
	TimestampTz start = GetCurrentTimestamp();
	Relation relation;
	char *list;
	const char *reason;
	int64 rows;
	int64 bytes;
	TupleDesc desc;
	Datum values[3];
	bool nulls[3] = {false};

	if (!OidIsValid(oid))
		PG_RETURN_NULL();
	relation = relation_open(oid, AccessShareLock);
	if (!compat_may_maintain(oid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(relation->rd_rel->relkind),
					   RelationGetRelationName(relation));
	if (relation->rd_rel->relkind != RELKIND_RELATION &&
		relation->rd_rel->relkind != RELKIND_PARTITIONED_TABLE &&
		relation->rd_rel->relkind != RELKIND_MATVIEW)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("columns of relation \"%s\" cannot be resident",
							   RelationGetRelationName(relation)),
						errdetail_relkind_not_supported(relation->rd_rel->relkind)));
	list = list_columns(relation, columns,
						get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid)));
	if (list[0] != '\0')
		read_columns(
			psprintf("SELECT %s FROM %s", list,
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(relation)),
												RelationGetRelationName(relation))));
	relation_close(relation, NoLock);
	reason = gpuagg_directory_open() || gpuagg_directory_reason()[0] != '\0'
				 ? gpuagg_directory_reason()
				 : "there is no directory of columns";
	if (reason[0] != '\0')
		ereport(NOTICE, (errmsg("not all may be resident: %s", reason)));

	add_up(oid, &rows, &bytes);
	values[0] = Int64GetDatum(rows);
	values[1] = Int64GetDatum(bytes);
	values[2] = Float8GetDatum((double) (GetCurrentTimestamp() - start) / 1e6);
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}
