/*
 * page_memory.c
 *	  What a reader of a table may do with columns in memory, and why it may not.
 */
#include "compat.h"

#include "utils/builtins.h"

#include "exec/page_reader.h"
#include "gpuagg.h"
#include "resident/directory.h"
#include "resident/eligible.h"

#define USE_BLOCKS 1000 /* a smaller table's use does not count */

/* Why values of a column cannot be kept, as has been found; or NULL. */
static const char *
refusal_of(Relation relation, const PageColumn *column)
{
	ColumnKey key;
	ColumnRefusal refusal;

	if (!gpuagg_page_column_has_strings(column))
		return NULL;
	key = gpuagg_column_key(relation, column->attno);
	refusal = gpuagg_column_refusal(&key);
	if (refusal == COLUMN_ACCEPTED)
		return NULL;
	return psprintf("column \"%s\" has %s",
					NameStr(TupleDescAttr(RelationGetDescr(relation), column->attno - 1)->attname),
					gpuagg_refusal_text(refusal));
}

const char *
gpuagg_page_memory_refusal(Relation relation, Snapshot snapshot, const PageColumn *columns,
						   int ncolumns)
{
	const char *reason = gpuagg_resident == RESIDENT_OFF
							 ? "\"gpuagg.resident\" is off"
							 : gpuagg_resident_ineligible(relation, snapshot);
	ColumnKey any;

	for (int i = 0; i < ncolumns && reason == NULL; i++)
		if (!columns[i].resident)
			reason = psprintf("columns of type %s cannot be resident",
							  format_type_be(
								  TupleDescAttr(RelationGetDescr(relation), columns[i].attno - 1)
									  ->atttypid));
	if (reason == NULL && !gpuagg_directory_open())
		reason = pstrdup(gpuagg_directory_reason());
	for (int i = 0; i < ncolumns && reason == NULL; i++)
		reason = refusal_of(relation, &columns[i]);
	if (reason == NULL && ncolumns == 0 && !gpuagg_column_any(relation, &any))
		reason = "no column of the table is resident";
	return reason;
}

PageMemory
gpuagg_page_memory(Relation relation, Snapshot snapshot, const PageColumn *columns, int ncolumns,
				   const char **reason)
{
	bool seen = true;

	*reason = gpuagg_page_memory_refusal(relation, snapshot, columns, ncolumns);
	if (*reason != NULL)
		return PAGE_MEMORY_NONE;
	if (ncolumns == 0)
		return PAGE_MEMORY_USE;
	if (gpuagg_resident == RESIDENT_ON || gpuagg_resident == RESIDENT_PREFETCH)
		return PAGE_MEMORY_FILL;
	if (RelationGetNumberOfBlocks(relation) < USE_BLOCKS)
	{
		*reason = "a table of less than 1,000 pages fills no memory by itself";
		return PAGE_MEMORY_USE;
	}
	for (int i = 0; i < ncolumns; i++)
	{
		ColumnKey key = gpuagg_column_key(relation, columns[i].attno);

		seen &= gpuagg_column_seen(&key);
	}
	if (!seen)
		*reason = "the first use of a column within an hour fills no memory";
	return seen ? PAGE_MEMORY_FILL : PAGE_MEMORY_USE;
}
