/*
 * gpuagg_test_pages.c
 *	  The page reader beside core's scan of the same table under the same snapshot.
 *
 *	test_pages(regclass, text[]) returns text
 *		Reads the columns of that name, in that order, and raises an error where a
 *		value, a NULL, a flag or a whole row is not what core's scan gives.  Returns
 *		the counts.
 *	test_pages_shared(regclass, readers int) returns text
 *		Several readers divide the pages among themselves; raises an error unless each
 *		row comes once.
 *	test_pages_time(regclass, text[]) returns float8
 *		Nanoseconds of processor time a row for reading the pages and loading the columns.
 *
 * A library with all of the extension, which is loaded in its place.
 */
#include "exec/page_reader.h"

#include <time.h>

#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(test_pages);
PG_FUNCTION_INFO_V1(test_pages_shared);
PG_FUNCTION_INFO_V1(test_pages_time);

#define SPARSE(row) ((row) *7 % 11 == 0)

static int
columns_of(Relation relation, ArrayType *names, PageColumn **columns)
{
	Datum *elements;
	int n;

	deconstruct_array(names, TEXTOID, -1, false, TYPALIGN_INT, &elements, NULL, &n);
	*columns = palloc(sizeof(PageColumn) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		char *name = TextDatumGetCString(elements[i]);
		AttrNumber attno = get_attnum(RelationGetRelid(relation), name);

		if (attno <= 0)
			elog(ERROR, "no column %s", name);
		if (!gpuagg_page_column(TupleDescAttr(RelationGetDescr(relation), attno - 1),
								&(*columns)[i]))
			elog(ERROR, "no form for column %s", name);
	}
	return n;
}

static bool
has_bit(const uint64 *bitmap, int i)
{
	return (bitmap[i / 64] >> i % 64 & 1) != 0;
}

/* The integer that the value is at that scale; false: it must be flagged. */
static bool
decimal_value(Datum value, const PageColumn *column, __int128 *result)
{
	char *text = DatumGetCString(DirectFunctionCall1(numeric_out, value));
	char *point = strchr(text, '.');
	int scale = point != NULL ? (int) strlen(point + 1) : 0;
	bool negative = *text == '-';
	int digits = 0;

	*result = 0;
	if (strchr(text, 'N') != NULL || strchr(text, 'I') != NULL || scale != column->scale)
		return false;
	for (char *p = text; *p != '\0'; p++)
		if (*p >= '0' && *p <= '9')
		{
			digits += digits > 0 || *p != '0';
			if (digits > 38)
				return false;
			*result = *result * 10 + (*p - '0');
		}
	if (negative)
		*result = -*result;
	pfree(text);
	return column->type == GPUAGG_VECTOR_INT128 || *result == (int64) *result;
}

/* Whether row `row` of a vector has the value that core has; *flagged: it must be flagged. */
static bool
same(const PageColumn *column, Oid type, int16 length, const GpuaggVector *vector, int row,
	 Datum value, bool *flagged)
{
	void *values = vector->values;
	GpuaggVectorBytes *bytes;
	const char *data;
	Size size;

	switch (column->form)
	{
		case PAGE_COLUMN_BITS:
			return has_bit(values, row) == DatumGetBool(value);
		case PAGE_COLUMN_DECIMAL:
		{
			__int128 expected;

			if (!decimal_value(value, column, &expected))
			{
				*flagged = true;
				return true;
			}
			if (column->type == GPUAGG_VECTOR_INT64)
				return ((int64 *) values)[row] == expected;
			return gpuagg_int128_wide(((GpuaggInt128 *) values)[row]) == expected;
		}
		case PAGE_COLUMN_COPY:
			switch (column->type)
			{
				case GPUAGG_VECTOR_INT16:
					return ((int16 *) values)[row] == (type == CHAROID
														   ? (int16) (uint8) DatumGetChar(value)
														   : DatumGetInt16(value));
				case GPUAGG_VECTOR_INT32:
				case GPUAGG_VECTOR_FLOAT32:
					return ((int32 *) values)[row] == DatumGetInt32(value);
				default:
					return ((int64 *) values)[row] == (type == OIDOID
														   ? (int64) DatumGetObjectId(value)
														   : DatumGetInt64(value));
			}
		default:
			break;
	}
	bytes = &((GpuaggVectorBytes *) values)[row];
	if (length > 0)
	{
		data = DatumGetPointer(value);
		size = type == NAMEOID ? strlen(data) : length;
	}
	else if (VARATT_IS_COMPRESSED(DatumGetPointer(value)) ||
			 VARATT_IS_EXTERNAL(DatumGetPointer(value)))
	{
		*flagged = true;
		return true;
	}
	else
	{
		data = VARDATA_ANY(DatumGetPointer(value));
		size = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
	}
	while (column->form == PAGE_COLUMN_TRIMMED && size > 0 && data[size - 1] == ' ')
		size--;
	return bytes->size == size && memcmp(bytes->data, data, size) == 0;
}

/* Compares a row of the batch, whose columns are loaded, with core's; returns its flag. */
static bool
compare_row(Relation relation, PageReader *reader, const PageColumn *columns, int n, int row,
			TupleTableSlot *slot)
{
	bool flagged = false;

	for (int c = 0; c < n; c++)
	{
		Form_pg_attribute form = TupleDescAttr(RelationGetDescr(relation), columns[c].attno - 1);
		const GpuaggVector *vector = &reader->columns[c];
		bool isnull;
		Datum value = slot_getattr(slot, columns[c].attno, &isnull);
		bool valid = vector->valid == NULL || has_bit(vector->valid, row);

		if (valid == isnull)
			elog(ERROR, "row %s of column %s: NULL is %d",
				 DatumGetCString(DirectFunctionCall1(tidout, PointerGetDatum(&slot->tts_tid))),
				 NameStr(form->attname), isnull);
		if (!isnull && !same(&columns[c], getBaseType(form->atttypid), form->attlen, vector, row,
							 value, &flagged))
			elog(ERROR, "row %s of column %s: another value",
				 DatumGetCString(DirectFunctionCall1(tidout, PointerGetDatum(&slot->tts_tid))),
				 NameStr(form->attname));
	}
	if (has_bit(reader->flagged, row) != flagged)
		elog(ERROR, "row %s: flag is not %d",
			 DatumGetCString(DirectFunctionCall1(tidout, PointerGetDatum(&slot->tts_tid))),
			 flagged);
	return flagged;
}

static void
compare_slot(Relation relation, TupleTableSlot *ours, TupleTableSlot *slot)
{
	TupleDesc desc = RelationGetDescr(relation);

	slot_getallattrs(slot);
	if (!ItemPointerEquals(&ours->tts_tid, &slot->tts_tid) ||
		ours->tts_tableOid != slot->tts_tableOid)
		elog(ERROR, "another row");
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute form = TupleDescAttr(desc, i);

		if (ours->tts_isnull[i] != slot->tts_isnull[i] ||
			(!ours->tts_isnull[i] &&
			 !datumIsEqual(ours->tts_values[i], slot->tts_values[i], form->attbyval, form->attlen)))
			elog(ERROR, "another value of column %s in a row", NameStr(form->attname));
	}
}

static TableScanDesc
core_scan(Relation relation, Snapshot snapshot)
{
	return table_beginscan_strat(relation, snapshot, 0, NULL, true, false);
}

Datum
test_pages(PG_FUNCTION_ARGS)
{
	Relation relation = table_open(PG_GETARG_OID(0), AccessShareLock);
	Snapshot snapshot = RegisterSnapshot(GetActiveSnapshot());
	TableScanDesc scan = core_scan(relation, snapshot);
	TupleTableSlot *slot = table_slot_create(relation, NULL);
	TupleTableSlot *core = table_slot_create(relation, NULL);
	TupleTableSlot *ours = MakeSingleTupleTableSlot(RelationGetDescr(relation), &TTSOpsVirtual);
	PageColumn *columns;
	int n = columns_of(relation, PG_GETARG_ARRAYTYPE_P(1), &columns);
	PageReader *reader;
	uint64 sparse[GPUAGG_VECTOR_WORDS] = {0};
	uint64 flags = 0;
	uint64 batches = 0;
	uint64 rows = 0;
	uint64 again = 0;
	PageCounts counts;
	TableScanDesc second = core_scan(relation, snapshot);

	for (int i = 0; i < GPUAGG_VECTOR_ROWS; i++)
		if (SPARSE(i))
			sparse[i / 64] |= UINT64CONST(1) << i % 64;
	if (!gpuagg_page_reader_can_read(relation))
		elog(ERROR, "not a heap");
	reader = gpuagg_page_reader_open(relation, snapshot, columns, n, PAGE_MEMORY_NONE, NULL);
	while (gpuagg_page_reader_next(reader))
	{
		batches++;
		rows += reader->nrows;
		/* Once those of some rows, column by column, and once all. */
		for (int c = 0; c < n; c++)
			gpuagg_page_reader_load(reader, c, 1, sparse);
		for (int i = 0; i < reader->nrows; i++)
		{
			if (!table_scan_getnextslot(scan, ForwardScanDirection, slot))
				elog(ERROR, "too many rows");
			if (SPARSE(i))
				compare_row(relation, reader, columns, n, i, slot);
			else if (has_bit(reader->flagged, i))
				elog(ERROR, "a row that is not wanted is flagged");
		}
		gpuagg_page_reader_load(reader, 0, n, NULL);
		for (int i = 0; i < reader->nrows; i++)
		{
			if (!table_scan_getnextslot(second, ForwardScanDirection, core))
				elog(ERROR, "too many rows");
			flags += compare_row(relation, reader, columns, n, i, core);
			gpuagg_page_reader_slot(reader, i, RelationGetDescr(relation)->natts, ours);
			compare_slot(relation, ours, core);
		}
	}
	if (table_scan_getnextslot(scan, ForwardScanDirection, slot))
		elog(ERROR, "too few rows");
	counts = reader->counts;
	if (counts.rows != rows)
		elog(ERROR, "another count of rows");

	/* Once in the middle of a batch, and once to the end. */
	for (int i = 0; i < 2; i++)
	{
		gpuagg_page_reader_rescan(reader);
		again = 0;
		while (gpuagg_page_reader_next(reader))
		{
			again += reader->nrows;
			if (i == 0)
				break;
		}
	}
	if (again != rows)
		elog(ERROR, "a rescan has " UINT64_FORMAT " rows", again);
	gpuagg_page_reader_close(reader);

	table_endscan(scan);
	table_endscan(second);
	ExecDropSingleTupleTableSlot(slot);
	ExecDropSingleTupleTableSlot(core);
	ExecDropSingleTupleTableSlot(ours);
	UnregisterSnapshot(snapshot);
	table_close(relation, AccessShareLock);
	PG_RETURN_TEXT_P(cstring_to_text(
		psprintf("rows " UINT64_FORMAT ", pages " UINT64_FORMAT ", all visible " UINT64_FORMAT
				 ", strided " UINT64_FORMAT ", flagged " UINT64_FORMAT ", batches " UINT64_FORMAT,
				 rows, counts.pages, counts.all_visible, counts.strided, flags, batches)));
}

Datum
test_pages_shared(PG_FUNCTION_ARGS)
{
	Relation relation = table_open(PG_GETARG_OID(0), AccessShareLock);
	int nreaders = PG_GETARG_INT32(1);
	Snapshot snapshot = RegisterSnapshot(GetActiveSnapshot());
	TableScanDesc scan = core_scan(relation, snapshot);
	TupleTableSlot *slot = table_slot_create(relation, NULL);
	TupleTableSlot *ours = MakeSingleTupleTableSlot(RelationGetDescr(relation), &TTSOpsVirtual);
	PageReader **readers = palloc(sizeof(PageReader *) * nreaders);
	PageShare share;
	uint64 rows = 0;
	uint64 expected = 0;
	uint64 sum = 0;
	uint64 pages = 0;
	bool more = true;

	gpuagg_page_share_init(&share, relation, 0, PAGE_MEMORY_NONE);
	for (int r = 0; r < nreaders; r++)
		readers[r] = gpuagg_page_reader_open(relation, snapshot, NULL, 0, PAGE_MEMORY_NONE, &share);
	while (more)
	{
		more = false;
		for (int r = 0; r < nreaders; r++)
			if (gpuagg_page_reader_next(readers[r]))
			{
				more = true;
				for (int i = 0; i < readers[r]->nrows; i++)
				{
					gpuagg_page_reader_slot(readers[r], i, 0, ours);
					sum += (uint64) ItemPointerGetBlockNumber(&ours->tts_tid) * 1000003 +
						   ItemPointerGetOffsetNumber(&ours->tts_tid);
					rows++;
				}
			}
	}
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		sum -= (uint64) ItemPointerGetBlockNumber(&slot->tts_tid) * 1000003 +
			   ItemPointerGetOffsetNumber(&slot->tts_tid);
		expected++;
	}
	if (rows != expected || sum != 0)
		elog(ERROR, "the readers have " UINT64_FORMAT " rows instead of " UINT64_FORMAT, rows,
			 expected);
	for (int r = 0; r < nreaders; r++)
	{
		pages += readers[r]->counts.pages;
		gpuagg_page_reader_close(readers[r]);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	ExecDropSingleTupleTableSlot(ours);
	UnregisterSnapshot(snapshot);
	table_close(relation, AccessShareLock);
	PG_RETURN_TEXT_P(
		cstring_to_text(psprintf("rows " UINT64_FORMAT ", pages " UINT64_FORMAT, rows, pages)));
}

/* Of this process, ns. */
static double
processor_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

Datum
test_pages_time(PG_FUNCTION_ARGS)
{
	Relation relation = table_open(PG_GETARG_OID(0), AccessShareLock);
	Snapshot snapshot = RegisterSnapshot(GetActiveSnapshot());
	PageColumn *columns;
	int n = columns_of(relation, PG_GETARG_ARRAYTYPE_P(1), &columns);
	PageReader *reader = gpuagg_page_reader_open(relation, snapshot, columns, n, PAGE_MEMORY_NONE,
												 NULL);
	double begin = processor_time();
	double end;
	uint64 rows;

	while (gpuagg_page_reader_next(reader))
		gpuagg_page_reader_load(reader, 0, n, NULL);
	end = processor_time();
	rows = reader->counts.rows;
	gpuagg_page_reader_close(reader);
	UnregisterSnapshot(snapshot);
	table_close(relation, AccessShareLock);
	PG_RETURN_FLOAT8((end - begin) / Max(rows, 1));
}
