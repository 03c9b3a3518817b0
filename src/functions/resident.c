/*
 * resident.c
 *	  What SQL can ask about resident columns, and do with them.
 */
#include "compat.h"

#include "access/relation.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_inherits.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "tcop/tcopprot.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "device/client.h"
#include "engine/flight.h"
#include "resident/device_upload.h"
#include "resident/eligible.h"
#include "resident/new_page.h"
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

static const char *
place_of(const ColumnInfo *info)
{
	if (info->device_chunks == 0)
		return "host";
	if (info->bare_chunks == info->nchunks)
		return "device";
	if (info->device_chunks < info->nchunks)
		return info->bare_chunks == 0 ? "host, partly device" : "partly host, partly device";
	return info->bare_chunks == 0 ? "host and device" : "device, partly host";
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
		Datum values[12];
		bool nulls[12] = {false};

		if (!is_shown(info, all))
			continue;
		values[0] = ObjectIdGetDatum(info->relation);
		values[1] = Int16GetDatum(info->key.attno);
		values[2] = CStringGetTextDatum(place_of(info));
		values[3] = Int64GetDatum(info->nchunks);
		values[4] = Int64GetDatum((int64) info->npages);
		values[5] = Int64GetDatum((int64) info->nrows);
		values[6] = Int64GetDatum((int64) info->bytes);
		values[7] = Int64GetDatum((int64) info->uses);
		nulls[8] = info->last_use == 0;
		values[8] = TimestampTzGetDatum(info->last_use);
		nulls[2] = info->refusal != COLUMN_ACCEPTED;
		nulls[9] = !nulls[2];
		values[9] = CStringGetTextDatum(gpuagg_refusal_text(info->refusal));
		values[10] = Int64GetDatum(info->device_chunks);
		values[11] = Int64GetDatum((int64) info->device_bytes);
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

/* The columns of a locked relation's file; of its partitions and other children too. */
static int
evict_relation(Oid relation)
{
	List *all;
	ListCell *cell;
	int n = 0;

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
	bool all = PG_ARGISNULL(0);
	Oid relation = all ? InvalidOid : PG_GETARG_OID(0);
	ColumnInfo *list;
	int evicted = 0;
	int n = 0;

	if (!all)
	{
		/* it must not be dropped meanwhile */
		LockRelationOid(relation, AccessShareLock);
		if (get_rel_name(relation) == NULL)
			ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
							errmsg("relation with OID %u does not exist", relation)));
		check_owner(relation);
	}
	if (!gpuagg_directory_open())
		PG_RETURN_INT32(0);
	(void) gpuagg_directory_purge();
	if (!all)
	{
		/* what comes next has the memory, which takes longer to make than to fill */
		evicted = evict_relation(relation);
		gpuagg_directory_trim(gpuagg_columns_limit());
		gpuagg_upload_sweep();
		PG_RETURN_INT32(evicted);
	}

	if (superuser())
		evicted = gpuagg_directory_evict(MyDatabaseId, InvalidOid);
	else
	{
		/* those of tables that one owns */
		list = gpuagg_directory_list(&n);
		for (int i = 0; i < n; i++)
			if (list[i].key.database == MyDatabaseId && get_rel_name(list[i].relation) != NULL &&
				compat_is_relation_owner(list[i].relation, GetUserId()))
				evicted += gpuagg_directory_evict(MyDatabaseId, list[i].key.file);
	}
	gpuagg_directory_trim(0);
	gpuagg_upload_sweep();
	PG_RETURN_INT32(evicted);
}

/* ---- in ---- */

/* What gpuagg_prefetch() is to bring in. */
typedef struct Wanted
{
	bool all; /* all columns that can be resident, not these: */
	Datum *names;
	int nnames;
} Wanted;

static bool
is_wanted(const Wanted *wanted, const char *name)
{
	for (int i = 0; i < wanted->nnames; i++)
		if (strcmp(NameStr(*DatumGetName(wanted->names[i])), name) == 0)
			return true;
	return wanted->all;
}

/* Whether a column is refused. */
static bool
is_refused(Oid relation, AttrNumber attno, const ColumnInfo *list, int n)
{
	for (int i = 0; i < n; i++)
		if (list[i].refusal != COLUMN_ACCEPTED && list[i].relation == relation &&
			list[i].key.attno == attno && is_shown(&list[i], true))
			return true;
	return false;
}

static int
compare_columns(const void *a, const void *b)
{
	const ColumnInfo *x = a;
	const ColumnInfo *y = b;

	return x->relation != y->relation ? (x->relation > y->relation ? 1 : -1)
									  : x->key.attno - y->key.attno;
}

/* Says which columns of relations are refused, of those that are wanted. */
static void
tell_refused(const List *relations, const Wanted *wanted)
{
	int n;
	ColumnInfo *list = gpuagg_directory_list(&n);

	qsort(list, n, sizeof(ColumnInfo), compare_columns);
	for (int i = 0; i < n; i++)
	{
		const char *name;

		if (list[i].refusal == COLUMN_ACCEPTED || !list_member_oid(relations, list[i].relation) ||
			!is_shown(&list[i], true))
			continue;
		name = get_attname(list[i].relation, list[i].key.attno, false);
		if (is_wanted(wanted, name))
			ereport(NOTICE,
					(errmsg("column \"%s\" of relation \"%s\" is not resident: it has %s", name,
							get_rel_name(list[i].relation), gpuagg_refusal_text(list[i].refusal))));
	}
}

/* Columns by name must be there, and of types that can be resident. */
static void
check_columns(Relation relation, const Datum *names, int nnames)
{
	TupleDesc desc = RelationGetDescr(relation);
	PageColumn column;

	for (int i = 0; i < nnames; i++)
	{
		const char *name = NameStr(*DatumGetName(names[i]));
		AttrNumber attno = get_attnum(RelationGetRelid(relation), name);
		Form_pg_attribute attribute;

		if (attno <= 0)
			ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
							errmsg("column \"%s\" of relation \"%s\" does not exist", name,
								   RelationGetRelationName(relation))));
		attribute = TupleDescAttr(desc, attno - 1);
		if (!gpuagg_page_column(attribute, &column) || !column.resident)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("column \"%s\" of type %s cannot be resident", name,
							format_type_with_typemod(attribute->atttypid, attribute->atttypmod))));
	}
}

/*
 * Aggregates over one relation's columns of the array, or all that can be resident; but not over
 * those that are refused.
 */
static char *
list_columns(Relation relation, const Wanted *wanted, const ColumnInfo *infos, int ninfos)
{
	TupleDesc desc = RelationGetDescr(relation);
	StringInfoData list;
	PageColumn column;

	initStringInfo(&list);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (is_wanted(wanted, NameStr(attribute->attname)) &&
			gpuagg_page_column(attribute, &column) && column.resident &&
			!is_refused(RelationGetRelid(relation), attribute->attnum, infos, ninfos))
			appendStringInfo(&list, "%spg_catalog.count(%s)", list.len == 0 ? "" : ", ",
							 quote_identifier(NameStr(attribute->attname)));
	}
	return list.data;
}

/* Runs a query over this relation alone. */
static void
run_query(const Relation relation, const char *text)
{
	List *parsed = pg_parse_query(text);
	List *queries = pg_analyze_and_rewrite_fixedparams(linitial_node(RawStmt, parsed), text, NULL,
													   0, NULL);
	Query *query = linitial_node(Query, queries);
	QueryDesc *desc;

	/* the lock on it does not keep its schema's name */
	if (linitial_node(RangeTblEntry, query->rtable)->relid != RelationGetRelid(relation))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE),
						errmsg("schema of relation \"%s\" has been renamed",
							   RelationGetRelationName(relation))));
	desc = CreateQueryDesc(pg_plan_query(query, text, CURSOR_OPT_PARALLEL_OK, NULL), text,
						   GetActiveSnapshot(), InvalidSnapshot, None_Receiver, NULL, NULL, 0);
	ExecutorStart(desc, 0);
	compat_executor_run(desc);
	ExecutorFinish(desc);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
}

/*
 * Reads the columns by a query, which may have workers, so that all that it reads goes to memory.
 * Who may maintain the table without reading it does that as its owner: nothing is returned, and
 * no function is called but core's.
 */
static void
read_columns(Relation relation, const char *query)
{
	static const char *const settings[][2] = {{"gpuagg.core_aggregates", "exact"},
											  {"gpuagg.resident", "prefetch"},
											  {"gpuagg.enable_agg_scan", "on"},
											  {"gpuagg.min_table_pages", "0"}};
	int level = NewGUCNestLevel();
	Oid user;
	int context;

	GetUserIdAndSecContext(&user, &context);
	if (pg_class_aclcheck(RelationGetRelid(relation), user, ACL_SELECT) != ACLCHECK_OK)
		SetUserIdAndSecContext(relation->rd_rel->relowner, context | SECURITY_RESTRICTED_OPERATION);
	for (int i = 0; i < lengthof(settings); i++)
		(void) set_config_option(settings[i][0], settings[i][1], PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	run_query(relation, query);
	AtEOXact_GUC(false, level);
	SetUserIdAndSecContext(user, context);
}

/* Brings in the columns of one relation, without its children.  False if there is none to bring in. */
static bool
read_relation(Oid oid, const Wanted *wanted)
{
	Relation relation = relation_open(oid, NoLock);
	bool any = false;

	if (RELKIND_HAS_STORAGE(relation->rd_rel->relkind) && !RELATION_IS_OTHER_TEMP(relation))
	{
		int n;
		ColumnInfo *infos = gpuagg_directory_list(&n);
		char *list = list_columns(relation, wanted, infos, n);

		any = list[0] != '\0';
		if (any)
			read_columns(relation,
						 psprintf("SELECT %s FROM ONLY %s", list,
								  quote_qualified_identifier(get_namespace_name(
																 RelationGetNamespace(relation)),
															 RelationGetRelationName(relation))));
		pfree(infos);
	}
	relation_close(relation, NoLock);
	return any;
}

/* Brings what is resident of one relation's columns to the device, if there is one. */
static void
send_relation(Oid oid, const Wanted *wanted)
{
	int n;
	ColumnInfo *list = gpuagg_directory_list(&n);

	for (int i = 0; i < n; i++)
	{
		DeviceUpload *upload;
		ColumnPin pin;

		if (list[i].relation != oid || list[i].refusal != COLUMN_ACCEPTED ||
			!is_shown(&list[i], true) ||
			!is_wanted(wanted, get_attname(oid, list[i].key.attno, false)) ||
			!gpuagg_column_pin(&list[i].key, oid, false, &pin))
			continue;
		upload = gpuagg_upload_open(list[i].last, true);
		if (upload != NULL)
		{
			gpuagg_upload_column(upload, pin.column);
			gpuagg_upload_close(upload, true);
		}
		gpuagg_column_unpin(&pin);
	}
	pfree(list);
}

/* The same, of what is not resident yet.  False if there is none to bring in. */
static bool
bring_relation(Oid oid, const Wanted *wanted, bool device)
{
	bool any;

	if (device)
		send_relation(oid, wanted);
	any = read_relation(oid, wanted);
	if (device)
		send_relation(oid, wanted);
	return any;
}

/* Whether some values of these relations are on the device alone. */
static bool
has_bare(const List *relations)
{
	int n;
	ColumnInfo *list = gpuagg_directory_list(&n);
	bool any = false;

	for (int i = 0; i < n; i++)
		any |= list[i].bare_chunks > 0 && list_member_oid(relations, list[i].relation);
	pfree(list);
	return any;
}

typedef struct Bringing
{
	const List *relations;
	const Wanted *wanted;
	bool device;
	bool any; /* was there to bring in */
} Bringing;

static void
bring_relations(void *argument)
{
	Bringing *all = argument;
	ListCell *cell;

	foreach (cell, all->relations)
		all->any |= bring_relation(lfirst_oid(cell), all->wanted, all->device);
	/* that may have taken values away to which pages were to be added */
	if (has_bare(all->relations))
		foreach (cell, all->relations)
			(void) bring_relation(lfirst_oid(cell), all->wanted, all->device);
}

/* What is resident of relations. */
typedef struct Loaded
{
	int64 rows; /* of all columns */
	int64 bytes;
	int64 pages;		/* of the relations, without new ones at their ends */
	int64 missing;		/* of these, those that a column has not that was used since */
	const char *reason; /* why nothing is resident of one of them; or NULL */
} Loaded;

static void
add_up(Oid oid, TimestampTz since, Loaded *loaded)
{
	Relation relation = relation_open(oid, AccessShareLock);
	int n;
	ColumnInfo *list = gpuagg_directory_list(&n);
	int64 pages = 0;
	int64 least = 0;
	bool any = false;
	bool refused = false;

	for (int i = 0; i < n; i++)
	{
		if (list[i].relation != oid || !is_shown(&list[i], true))
			continue;
		refused |= list[i].refusal != COLUMN_ACCEPTED;
		loaded->rows += (int64) list[i].nrows;
		loaded->bytes += (int64) list[i].bytes;
		if (list[i].last_use < since)
			continue;
		least = any ? Min(least, (int64) list[i].npages) : (int64) list[i].npages;
		any = true;
	}
	if (RELKIND_HAS_STORAGE(relation->rd_rel->relkind) && !RELATION_IS_OTHER_TEMP(relation))
		pages = (int64) gpuagg_used_pages(relation);
	loaded->pages += pages;
	if (any || !refused)
		loaded->missing += pages - Min(pages, least);
	if (pages > 0 && loaded->reason == NULL)
		loaded->reason = gpuagg_resident_ineligible(relation, GetActiveSnapshot());
	relation_close(relation, NoLock);
	pfree(list);
}

/* Says that not all pages are resident, and why. */
static void
report_missing(const Loaded *loaded)
{
	const char *reason = loaded->reason != NULL ? loaded->reason : gpuagg_directory_reason();

	if (loaded->missing > 0)
		ereport(NOTICE, (errmsg("%lld of %lld pages are not resident: %s",
								(long long) loaded->missing, (long long) loaded->pages,
								reason[0] != '\0' ? reason : "they are not all-visible")));
}

Datum
gpuagg_prefetch(PG_FUNCTION_ARGS)
{
	Oid oid = PG_ARGISNULL(0) ? InvalidOid : PG_GETARG_OID(0);
	TimestampTz start = GetCurrentTimestamp();
	Relation relation;
	Wanted wanted = {.all = PG_ARGISNULL(1)};
	Loaded loaded = {0};
	List *relations;
	ListCell *cell;
	Bringing all = {.wanted = &wanted};
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
	if (!wanted.all)
	{
		deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
						  &wanted.names, NULL, &wanted.nnames);
		check_columns(relation, wanted.names, wanted.nnames);
	}
	relation_close(relation, NoLock);

	relations = find_all_inheritors(oid, AccessShareLock, NULL);
	if (gpuagg_directory_open())
		(void) gpuagg_directory_purge();
	/* what the device has makes room in shared memory for what is read */
	all.device = gpuagg_device_await();
	all.relations = relations;
	gpuagg_flights_guard(bring_relations, &all);
	foreach (cell, relations)
		add_up(lfirst_oid(cell), start, &loaded);
	if (all.any)
		report_missing(&loaded);
	tell_refused(relations, &wanted);

	values[0] = Int64GetDatum(loaded.rows);
	values[1] = Int64GetDatum(loaded.bytes);
	values[2] = Float8GetDatum((double) (GetCurrentTimestamp() - start) / 1e6);
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}
