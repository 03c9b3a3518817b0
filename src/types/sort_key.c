/*
 * sort_key.c
 *	  Which types and operators have values of fixed width as words of the same order.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "types/sort_key.h"

static bool
find_kind(Oid type, SortKeyKind *kind)
{
	switch (type)
	{
		case BOOLOID:
			*kind = SORT_KEY_BOOL;
			return true;
		case INT2OID:
			*kind = SORT_KEY_INT16;
			return true;
		case INT4OID:
		case DATEOID:
			*kind = SORT_KEY_INT32;
			return true;
		case INT8OID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case MONEYOID:
			*kind = SORT_KEY_INT64;
			return true;
		case OIDOID:
			*kind = SORT_KEY_OID;
			return true;
		case FLOAT4OID:
			*kind = SORT_KEY_FLOAT32;
			return true;
		case FLOAT8OID:
			*kind = SORT_KEY_FLOAT64;
			return true;
		default:
			return false;
	}
}

bool
gpuagg_sort_key_find(Oid type, Oid sort_operator, SortKeyKind *kind, bool *descending)
{
	TypeCacheEntry *entry;

	type = getBaseType(type);
	if (!find_kind(type, kind))
		return false;
	entry = lookup_type_cache(type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	*descending = sort_operator == entry->gt_opr;
	return *descending || sort_operator == entry->lt_opr;
}
