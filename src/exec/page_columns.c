/*
 * page_columns.c
 *	  Loads columns of a batch of rows into vectors.
 *
 * Three ways to a value, from the cheapest: copy at a constant stride, where the
 * segment's tuples lie at one and nothing before the column varies; find the place
 * by a constant offset in each tuple; walk over the columns before it.  The last
 * two give places, NULL pointers for NULLs, from which the values are then made.
 */
#include "exec/page_resident.h"
#include "exec/page_scan.h"

#include "utils/lsyscache.h"

#define VALUES_ALIGN 64 /* bytes */
#define WALK_ROWS	 64 /* so many are walked over together, if there are */

/* ---- opening ---- */

static uint8
align_bytes(char attalign)
{
	switch (attalign)
	{
		case TYPALIGN_CHAR:
			return 1;
		case TYPALIGN_SHORT:
			return ALIGNOF_SHORT;
		case TYPALIGN_INT:
			return ALIGNOF_INT;
		default:
			return ALIGNOF_DOUBLE;
	}
}

/* All attributes of the row type, with offsets as far as they are fixed. */
static void
make_attributes(PageScan *scan, TupleDesc desc)
{
	Size offset = 0;
	bool fixed = true;

	scan->attributes = palloc(sizeof(PageAttribute) * Max(desc->natts, 1));
	scan->nfixed = 0;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute form = TupleDescAttr(desc, i);
		PageAttribute *attribute = &scan->attributes[i];

		attribute->length = form->attlen;
		attribute->byval = form->attbyval;
		attribute->align = align_bytes(form->attalign);
		attribute->offset = -1;

		/* Whether one of varying length is padded depends on its header, if there is a choice. */
		if (fixed && (form->attlen > 0 || TYPEALIGN(attribute->align, offset) == offset))
		{
			attribute->offset = TYPEALIGN(attribute->align, offset);
			offset = attribute->offset + Max(form->attlen, 0);
			scan->nfixed++;
		}
		else
			fixed = false;
		if (form->attlen <= 0)
			fixed = false;
	}
}

/* The value that rows have which are older than the column, as it would be stored; or NULL. */
static const char *
missing_value(TupleDesc desc, AttrNumber attno, Datum *stored)
{
	Form_pg_attribute form = TupleDescAttr(desc, attno - 1);
	bool isnull;
	Datum value = getmissingattr(desc, attno, &isnull);

	if (isnull)
		return NULL;
	if (!form->attbyval)
		return DatumGetPointer(value);
	*stored = (Datum) 0;
	store_att_byval(stored, value, form->attlen);
	return (const char *) stored;
}

static Size
vector_size(GpuaggVectorType type)
{
	return type == GPUAGG_VECTOR_BOOL ? GPUAGG_VECTOR_WORDS * sizeof(uint64)
									  : GPUAGG_VECTOR_ROWS * gpuagg_vector_type_size(type);
}

void
gpuagg_page_columns_open(PageReader *reader, const PageColumn *columns, int ncolumns)
{
	PageScan *scan = reader->scan;
	TupleDesc desc = RelationGetDescr(scan->relation);
	Size size = VALUES_ALIGN;
	char *memory;

	make_attributes(scan, desc);
	scan->ncolumns = ncolumns;
	scan->columns = palloc0(sizeof(PageColumnState) * Max(ncolumns, 1));
	reader->columns = palloc0(sizeof(GpuaggVector) * Max(ncolumns, 1));
	scan->walked = palloc(sizeof(int) * Max(ncolumns, 1));
	scan->to_walk = palloc(sizeof(int) * Max(ncolumns, 1));
	scan->fixed = palloc(sizeof(int) * Max(ncolumns, 1));
	scan->places = palloc(sizeof(char **) * Max(ncolumns, 1));
	scan->may_be_null = palloc(sizeof(bool) * Max(ncolumns, 1));
	scan->by_attno = palloc(sizeof(int) * Max(ncolumns, 1));
	scan->found = palloc(sizeof(char *) * GPUAGG_VECTOR_ROWS * Max(ncolumns, 1));
	scan->at = palloc(sizeof(char *) * GPUAGG_VECTOR_ROWS);
	scan->tuples = palloc(sizeof(char *) * (GPUAGG_VECTOR_ROWS + 3));
	scan->present = palloc(sizeof(uint64) * GPUAGG_VECTOR_ROWS);
	scan->rows = palloc(sizeof(uint16) * GPUAGG_VECTOR_ROWS);
	scan->all_rows = palloc(sizeof(uint16) * GPUAGG_VECTOR_ROWS);
	for (int i = 0; i < GPUAGG_VECTOR_ROWS; i++)
		scan->all_rows[i] = i;

	for (int i = 0; i < ncolumns; i++)
		size += vector_size(columns[i].type) + vector_size(GPUAGG_VECTOR_BOOL);
	scan->vectors = palloc(size);
	memory = (char *) TYPEALIGN(VALUES_ALIGN, scan->vectors);
	for (int i = 0; i < ncolumns; i++)
	{
		PageColumnState *state = &scan->columns[i];
		Form_pg_attribute form = TupleDescAttr(desc, columns[i].attno - 1);
		int j = i;

		state->column = columns[i];
		state->type = getBaseType(form->atttypid);
		state->length = form->attlen;
		state->by_value = form->attbyval;
		state->offset = scan->attributes[columns[i].attno - 1].offset;
		state->missing = missing_value(desc, columns[i].attno, &state->missing_value);
		state->values = memory;
		reader->columns[i].values = memory;
		memory += vector_size(columns[i].type);
		if (columns[i].form == PAGE_COLUMN_DECIMAL)
			state->places = palloc((GPUAGG_VECTOR_ROWS + 3) * sizeof(char *));
		state->valid = (uint64 *) memory;
		memory += vector_size(GPUAGG_VECTOR_BOOL);

		for (; j > 0 && columns[scan->by_attno[j - 1]].attno > columns[i].attno; j--)
			scan->by_attno[j] = scan->by_attno[j - 1];
		scan->by_attno[j] = i;
	}
}

void
gpuagg_page_columns_close(PageReader *reader)
{
	PageScan *scan = reader->scan;

	pfree(scan->attributes);
	for (int i = 0; i < scan->ncolumns; i++)
		if (scan->columns[i].places != NULL)
			pfree(scan->columns[i].places);
	pfree(scan->columns);
	pfree(reader->columns);
	pfree(scan->walked);
	pfree(scan->to_walk);
	pfree(scan->fixed);
	pfree(scan->places);
	pfree(scan->may_be_null);
	pfree(scan->by_attno);
	pfree(scan->found);
	pfree(scan->at);
	pfree(scan->tuples);
	pfree(scan->present);
	pfree(scan->rows);
	pfree(scan->all_rows);
	pfree(scan->vectors);
}

/* ---- loading ---- */

/* Values from their places scan->found; later, if all rows are looked for and it takes time. */
static void
take_values(PageReader *reader, int c, const char **found, const uint16 *rows, int n, bool later)
{
	PageColumnState *state = &reader->scan->columns[c];

	if (later && state->column.form == PAGE_COLUMN_DECIMAL)
	{
		if (found != state->places + rows[0])
			memcpy(state->places + rows[0], found, n * sizeof(char *));
		state->pending = true;
	}
	else
		gpuagg_page_values(reader, c, found, rows, n);
}

/* A column that lies at the same place in all tuples of the segment. */
static void
load_fixed(PageReader *reader, int c, const PageSegment *segment, const uint16 *rows, int n,
		   bool later)
{
	PageScan *scan = reader->scan;
	const PageColumnState *state = &scan->columns[c];
	int offset = segment->hoff + state->offset;
	bool copied = state->column.form == PAGE_COLUMN_COPY || state->column.form == PAGE_COLUMN_BITS;

	/* Rows that are not wanted do no harm, unless they are many. */
	if (copied && segment->stride != 0 && n * 4 >= segment->nrows)
		gpuagg_page_copy_stride(state, reader->columns[c].values, segment->first + offset,
								segment->stride, segment->begin, segment->nrows);
	else
	{
		for (int k = 0; k < n; k++)
			scan->found[k] = gpuagg_page_tuple(segment, rows[k] - segment->begin) + offset;
		take_values(reader, c, scan->found, rows, n, later);
	}
}

/* Loads scan->walked of the rows that wait for it, the last of which is before `end`. */
static void
load_walked(PageReader *reader, const uint16 *end, bool later)
{
	PageScan *scan = reader->scan;
	int n = scan->nwaiting;
	const uint16 *rows = end - n;

	scan->nwaiting = 0;
	if (n == 0)
		return;
	for (int i = 0; i < scan->nwalked; i++)
	{
		const PageColumnState *state = &scan->columns[scan->walked[i]];

		scan->places[i] = later && state->places != NULL
							  ? state->places + rows[0]
							  : scan->found + (Size) i * GPUAGG_VECTOR_ROWS;
	}
	gpuagg_page_walk(scan, n);
	for (int i = 0; i < scan->nwalked; i++)
	{
		const char **found = scan->places[i];
		int c = scan->walked[i];

		if (scan->may_be_null[i] && gpuagg_page_mark_nulls(scan->columns[c].valid, found, rows, n))
			reader->columns[c].valid = scan->columns[c].valid;
		take_values(reader, c, found, rows, n, later);
		gpuagg_page_prefetch(scan->following, PREFETCH_LINES);
	}
}

/* The numbers of the rows in a bitmap. */
static int
list_rows(const uint64 *wanted, int nrows, uint16 *rows)
{
	int n = 0;

	for (int word = 0; word * 64 < nrows; word++)
	{
		uint64 bits = wanted[word];

		if (nrows - word * 64 < 64)
			bits &= (UINT64CONST(1) << (nrows - word * 64)) - 1;
		for (; bits != 0; bits &= bits - 1)
			rows[n++] = word * 64 + __builtin_ctzll(bits);
	}
	return n;
}

static void
load(PageReader *reader, int first, int n, const uint64 *wanted, bool later)
{
	PageScan *scan = reader->scan;
	const uint16 *rows = wanted != NULL ? scan->rows : scan->all_rows;
	int nrows = reader->nrows;
	bool walks = false;

	Assert(first >= 0 && n >= 0 && first + n <= scan->ncolumns);
	if (n == 0 || reader->loaded)
		return;
	if (reader->from_memory)
	{
		gpuagg_page_resident_load(reader, first, n);
		return;
	}
	if (wanted != NULL)
		nrows = list_rows(wanted, nrows, scan->rows);
	for (int c = first; c < first + n; c++)
	{
		walks |= scan->columns[c].offset < 0;
		reader->columns[c].values = scan->columns[c].values;
		reader->columns[c].valid = NULL;
		scan->columns[c].pending = false;
		memset(scan->columns[c].valid, 0xff, GPUAGG_VECTOR_WORDS * sizeof(uint64));
		if (scan->columns[c].column.form == PAGE_COLUMN_BITS)
			memset(reader->columns[c].values, 0, GPUAGG_VECTOR_WORDS * sizeof(uint64));
	}
	for (int s = 0; s < scan->batch->nsegments; s++)
	{
		PageSegment *segment = &scan->batch->segments[s];
		int end = segment->begin + segment->nrows;
		int count = segment->nrows;
		int nwalked = 0;
		int nfixed = 0;

		if (wanted != NULL)
			for (count = 0; count < nrows && rows[count] < end;)
				count++;
		if (count == 0)
			continue;
		for (int i = 0; i < scan->ncolumns; i++)
		{
			int c = scan->by_attno[i];
			const PageColumnState *state = &scan->columns[c];

			if (c < first || c >= first + n)
				continue;
			/* Who has to walk over the tuples finds the others on the way. */
			if (state->offset >= 0 && !segment->examined && !walks)
				gpuagg_page_examine(segment);
			if (state->offset >= 0 && segment->examined && segment->uniform &&
				state->column.attno <= segment->natts)
				scan->fixed[nfixed++] = c;
			else
				scan->to_walk[nwalked++] = c;
		}
		if (nwalked != scan->nwalked ||
			memcmp(scan->walked, scan->to_walk, nwalked * sizeof(int)) != 0)
		{
			load_walked(reader, rows, later);
			memcpy(scan->walked, scan->to_walk, nwalked * sizeof(int));
			scan->nwalked = nwalked;
		}
		for (int i = 0; i < nfixed; i++)
		{
			load_fixed(reader, scan->fixed[i], segment, rows, count, later);
			gpuagg_page_prefetch(scan->following, PREFETCH_LINES);
		}
		if (nwalked > 0)
		{
			gpuagg_page_list_tuples(segment, rows, count, scan->tuples + scan->nwaiting);
			scan->nwaiting += count;
		}
		rows += count;
		nrows -= count;
		if (scan->nwaiting >= WALK_ROWS)
			load_walked(reader, rows, later);
	}
	load_walked(reader, rows, later);
}

void
gpuagg_page_reader_load(PageReader *reader, int first, int n, const uint64 *wanted)
{
	if (reader->source != NULL)
		reader->source->load(reader, first, n, wanted);
	else
		load(reader, first, n, wanted, false);
}

void
gpuagg_page_reader_find(PageReader *reader, int first, int n)
{
	if (reader->source != NULL)
		reader->source->load(reader, first, n, NULL);
	else
		load(reader, first, n, NULL, true);
}

void
gpuagg_page_reader_values(PageReader *reader, int c, const uint64 *wanted)
{
	PageScan *scan = reader->scan;
	PageColumnState *state;
	int n;

	if (reader->source != NULL)
		return;
	state = &scan->columns[c];
	if (!state->pending)
		return;
	state->pending = false;
	n = list_rows(wanted, reader->nrows, scan->rows);
	for (int k = 0; k < n; k++)
		scan->found[k] = state->places[scan->rows[k]];
	gpuagg_page_values(reader, c, scan->found, scan->rows, n);
}
