/*
 * sort_key.c
 *	  Which types and operators have values of fixed width as words of the same order.
 */
#include "postgres.h"

#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "types/sort_key.h"

bool
gpuagg_sort_key_find(Oid oid, Oid sort_operator, SqlForm *form, bool *descending)
{
	const SqlType *type = gpuagg_sql_type(getBaseType(oid));
	TypeCacheEntry *entry;

	if (type == NULL || type->form == SQL_OPAQUE)
		return false;
	*form = type->form;
	entry = lookup_type_cache(type->oid, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	*descending = sort_operator == entry->gt_opr;
	return *descending || sort_operator == entry->lt_opr;
}
