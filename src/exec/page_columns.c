/*
 * page_columns.c
 *	  Loads columns of a batch of rows into vectors.
 *
 * Three ways to a value, from the cheapest: copy at a constant stride, where the
 * segment's tuples lie at one and nothing before the column varies; find the place
 * by a constant offset in each tuple; walk over the columns before it.  The last
 * two give places, NULL pointers for NULLs, from which the values are then made.
 */
#include "exec/page_scan.h"

#include "utils/lsyscache.h"

#define VALUES_ALIGN 64 /* bytes */

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
missing_value(TupleDesc desc, AttrNumber attno)
{
	Form_pg_attribute form = TupleDescAttr(desc, attno - 1);
	bool isnull;
	Datum value = getmissingattr(desc, attno, &isnull);
	char *stored;

	if (isnull)
		return NULL;
	if (!form->attbyval)
		return DatumGetPointer(value);
	stored = palloc0(sizeof(Datum));
	store_att_byval(stored, value, form->attlen);
	return stored;
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
	scan->may_be_null = palloc(sizeof(bool) * Max(ncolumns, 1));
	scan->by_attno = palloc(sizeof(int) * Max(ncolumns, 1));
	scan->found = palloc(sizeof(char *) * GPUAGG_VECTOR_ROWS * Max(ncolumns, 1));
	scan->at = palloc(sizeof(char *) * GPUAGG_VECTOR_ROWS);
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
		state->missing = missing_value(desc, columns[i].attno);
		reader->columns[i].values = memory;
		memory += vector_size(columns[i].type);
		if (columns[i].form == PAGE_COLUMN_DECIMAL)
			state->places = palloc(GPUAGG_VECTOR_ROWS * sizeof(char *));
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
	pfree(scan->may_be_null);
	pfree(scan->by_attno);
	pfree(scan->found);
	pfree(scan->at);
	pfree(scan->present);
	pfree(scan->rows);
	pfree(scan->all_rows);
	pfree(scan->vectors);
}

/* ---- finding values ---- */

/* The end of a tuple header, which has all that tells of its columns. */
typedef union HeaderEnd
{
	struct
	{
		uint16 line;
		uint16 infomask2;
		uint16 infomask;
		uint8 hoff;
		uint8 bits;
	} field;
	uint64 word;
} HeaderEnd;

#define HEADER_END (offsetof(HeapTupleHeaderData, t_ctid) + offsetof(ItemPointerData, ip_posid))

StaticAssertDecl(offsetof(HeapTupleHeaderData, t_infomask) ==
						 HEADER_END + offsetof(HeaderEnd, field.infomask) &&
					 offsetof(HeapTupleHeaderData, t_hoff) ==
						 HEADER_END + offsetof(HeaderEnd, field.hoff),
				 "HeaderEnd is the end of a tuple header");

/* Finds out whether the tuples of a segment have their columns at the same places. */
static void
examine(const PageScan *scan, PageSegment *segment)
{
	HeaderEnd any = {.word = 0};
	HeaderEnd all = {.word = ~UINT64CONST(0)};
	uint64 word;

	if (segment->stride != 0)
	{
		const char *tuple = segment->first + HEADER_END;

		for (int i = 0; i < segment->nrows; i++, tuple -= segment->stride)
		{
			memcpy(&word, tuple, sizeof(word));
			any.word |= word;
			all.word &= word;
		}
	}
	else
		for (int i = 0; i < segment->nrows; i++)
		{
			memcpy(&word, scan->tuples[segment->begin + i] + HEADER_END, sizeof(word));
			any.word |= word;
			all.word &= word;
		}
	segment->uniform = (any.field.infomask & HEAP_HASNULL) == 0 &&
					   any.field.hoff == all.field.hoff &&
					   ((any.field.infomask2 ^ all.field.infomask2) & HEAP_NATTS_MASK) == 0;
	segment->natts = all.field.infomask2 & HEAP_NATTS_MASK;
	segment->hoff = all.field.hoff;
	segment->examined = true;
}

/* Attributes begin to begin + 63 of one tuple that are stored and not NULL. */
static uint64
present_in(HeapTupleHeader header, int begin)
{
	int natts = HeapTupleHeaderGetNatts(header) - begin;
	uint64 present = natts >= 64 ? ~UINT64CONST(0) : natts > 0 ? (UINT64CONST(1) << natts) - 1 : 0;
	uint64 bits = 0;

	if ((header->t_infomask & HEAP_HASNULL) == 0)
		return present;
	for (int i = 0; i * BITS_PER_BYTE < Min(natts, 64); i++)
		bits |= (uint64) header->t_bits[begin / BITS_PER_BYTE + i] << (i * BITS_PER_BYTE);
	return present & bits;
}

/* The same of n tuples, into scan->present.  Returns those that all of them have. */
static uint64
find_present(PageScan *scan, const PageSegment *segment, int begin, const uint16 *rows, int n)
{
	uint64 all = ~UINT64CONST(0);
	uint64 *present = scan->present;
	const char **at = scan->at;
	PageSegment local = *segment;

	for (int k = 0; k < n; k++)
	{
		const char *tuple = gpuagg_page_tuple(scan, &local, rows[k] - local.begin);
		HeaderEnd end;
		int natts;

		memcpy(&end, tuple + HEADER_END, sizeof(end));
		natts = end.field.infomask2 & HEAP_NATTS_MASK;
		if (natts <= BITS_PER_BYTE && begin == 0)
			present[k] = ((1 << natts) - 1) &
						 (end.field.bits | -((end.field.infomask & HEAP_HASNULL) ^ HEAP_HASNULL));
		else if ((end.field.infomask & HEAP_HASNULL) == 0 && natts >= begin && natts < begin + 64)
			present[k] = (UINT64CONST(1) << (natts - begin)) - 1;
		else
			present[k] = present_in((HeapTupleHeader) tuple, begin);
		all &= present[k];
		if (begin == 0)
			at[k] = tuple + end.field.hoff;
	}
	return all;
}

/* Addresses, several at a time. */
typedef uint64 Places __attribute__((vector_size(32), aligned(8), may_alias));

#define PLACES ((int) (sizeof(Places) / sizeof(uint64)))

/*
 * Steps over one attribute of n tuples: from scan->at, where the attribute before it
 * ended, to where it ends.  found: where its value is, NULL where it is not present; or
 * NULL.  all: it is present everywhere.  May go on to a multiple of PLACES.
 */
static pg_attribute_always_inline void
step_fixed_loop(PageScan *scan, int a, const char **found, int n, bool all)
{
	uint64 align = scan->attributes[a].align - 1;
	uint64 length = scan->attributes[a].length;

	for (int k = 0; k < n; k += PLACES)
	{
		Places at = *(const Places *) (scan->at + k);
		Places value = (at + align) & ~align;
		Places end = value + length;

		if (!all)
		{
			Places present = -(*(const Places *) (scan->present + k) >> (a % 64) & 1);

			value &= present;
			end = (end & present) | (at & ~present);
		}
		if (found != NULL)
			*(Places *) (found + k) = value;
		*(Places *) (scan->at + k) = end;
	}
}

static pg_attribute_always_inline void
step_fixed_each(PageScan *scan, int a, const char **found, int n, bool all)
{
	if (all)
		found != NULL ? step_fixed_loop(scan, a, found, n, true)
					  : step_fixed_loop(scan, a, NULL, n, true);
	else
		found != NULL ? step_fixed_loop(scan, a, found, n, false)
					  : step_fixed_loop(scan, a, NULL, n, false);
}

#if defined(__x86_64__)
static __attribute__((target("avx2"))) void
step_fixed_avx2(PageScan *scan, int a, const char **found, int n, bool all)
{
	step_fixed_each(scan, a, found, n, all);
}
#endif

static void
step_fixed(PageScan *scan, int a, const char **found, int n, bool all)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
	{
		step_fixed_avx2(scan, a, found, n, all);
		return;
	}
#endif
	step_fixed_each(scan, a, found, n, all);
}

static pg_attribute_always_inline void
step_varying_loop(PageScan *scan, int a, const char **found, int n, bool all)
{
	const PageAttribute attribute = scan->attributes[a];
	const uint64 *present = scan->present;
	const char **at = scan->at;

	for (int k = 0; k < n; k++)
	{
		const char *value = at[k];

		if (!all && (present[k] >> (a % 64) & 1) == 0)
			value = NULL;
		else if (likely(attribute.length == -1 && VARATT_IS_1B(value) && !VARATT_IS_1B_E(value)))
			at[k] = value + VARSIZE_1B(value);
		else
		{
			value = gpuagg_page_align(&attribute, value);
			at[k] = value + gpuagg_page_length(&attribute, value);
		}
		if (found != NULL)
			found[k] = value;
	}
}

static void
step_varying(PageScan *scan, int a, const char **found, int n, bool all)
{
	if (all)
		found != NULL ? step_varying_loop(scan, a, found, n, true)
					  : step_varying_loop(scan, a, NULL, n, true);
	else
		step_varying_loop(scan, a, found, n, false);
}

static void
step(PageScan *scan, int a, const char **found, int n, bool all)
{
	if (scan->attributes[a].length <= 0)
		step_varying(scan, a, found, n, all);
	else
		step_fixed(scan, a, found, n, all);
}

/*
 * Finds the values of columns scan->walked[0 to nwalked - 1], by attribute number, of rows
 * of a segment: into found[i] of the i-th of them.  Goes attribute by attribute over all
 * tuples, which do not wait for one another.
 */
static void
walk(PageScan *scan, const PageSegment *segment, int nwalked, const uint16 *rows, int n)
{
	uint64 all = find_present(scan, segment, 0, rows, n);
	int a = all == ~UINT64CONST(0) ? 64 : __builtin_ctzll(~all);
	Size begin = 0;

	/* The first attributes, if they are present everywhere, have fixed offsets. */
	a = Min(a, Min(scan->nfixed, scan->columns[scan->walked[0]].column.attno) - 1);
	if (a > 0)
		begin = scan->attributes[a - 1].offset + scan->attributes[a - 1].length;
	for (int k = 0; k < n && begin > 0; k++)
		scan->at[k] += begin;
	for (int i = 0; i < nwalked; i++)
	{
		const PageColumnState *state = &scan->columns[scan->walked[i]];
		const char **found = scan->found + (Size) i * GPUAGG_VECTOR_ROWS;
		int target = state->column.attno - 1;

		if (a > target && i > 0)
		{
			/* the same attribute in another form */
			memcpy(found, found - GPUAGG_VECTOR_ROWS, n * sizeof(*found));
			scan->may_be_null[i] = scan->may_be_null[i - 1];
			continue;
		}
		for (; a <= target; a++)
		{
			if (a % 64 == 0 && a > 0)
				all = find_present(scan, segment, a, rows, n);
			step(scan, a, a == target ? found : NULL, n, (all >> (a % 64) & 1) != 0);
		}
		scan->may_be_null[i] = (all >> (target % 64) & 1) == 0;
		if (scan->may_be_null[i] && state->missing != NULL)
			for (int k = 0; k < n; k++)
			{
				const char *tuple = gpuagg_page_tuple(scan, segment, rows[k] - segment->begin);

				if (target >= HeapTupleHeaderGetNatts((HeapTupleHeader) tuple))
					found[k] = state->missing;
			}
	}
}

/* ---- loading ---- */

/* Clears the bits of rows whose place is NULL; returns whether there are any. */
static bool
mark_nulls(uint64 *valid, const char *const *found, const uint16 *rows, int n)
{
	int word = rows[0] / 64;
	uint64 nulls = 0;
	uint64 any = 0;

	for (int k = 0; k < n; k++)
	{
		if (rows[k] / 64 != word)
		{
			valid[word] &= ~nulls;
			any |= nulls;
			nulls = 0;
			word = rows[k] / 64;
		}
		nulls |= (uint64) (found[k] == NULL) << rows[k] % 64;
	}
	valid[word] &= ~nulls;
	return (any | nulls) != 0;
}

/* Values from their places scan->found; later, if all rows are looked for and it takes time. */
static void
take_values(PageReader *reader, int c, const char **found, const uint16 *rows, int n, bool later)
{
	PageColumnState *state = &reader->scan->columns[c];

	if (later && state->column.form == PAGE_COLUMN_DECIMAL)
	{
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
			scan->found[k] = gpuagg_page_tuple(scan, segment, rows[k] - segment->begin) + offset;
		take_values(reader, c, scan->found, rows, n, later);
	}
}

static void
load_walked(PageReader *reader, int nwalked, const PageSegment *segment, const uint16 *rows, int n,
			bool later)
{
	PageScan *scan = reader->scan;

	walk(scan, segment, nwalked, rows, n);
	for (int i = 0; i < nwalked; i++)
	{
		const char **found = scan->found + (Size) i * GPUAGG_VECTOR_ROWS;
		int c = scan->walked[i];

		if (scan->may_be_null[i] && mark_nulls(scan->columns[c].valid, found, rows, n))
			reader->columns[c].valid = scan->columns[c].valid;
		take_values(reader, c, found, rows, n, later);
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
	int nrows = wanted != NULL ? list_rows(wanted, reader->nrows, scan->rows) : reader->nrows;

	Assert(first >= 0 && n >= 0 && first + n <= scan->ncolumns);
	if (n == 0)
		return;
	for (int c = first; c < first + n; c++)
	{
		reader->columns[c].valid = NULL;
		scan->columns[c].pending = false;
		memset(scan->columns[c].valid, 0xff, GPUAGG_VECTOR_WORDS * sizeof(uint64));
		if (scan->columns[c].column.form == PAGE_COLUMN_BITS)
			memset(reader->columns[c].values, 0, GPUAGG_VECTOR_WORDS * sizeof(uint64));
	}
	for (int s = 0; s < scan->nsegments; s++)
	{
		PageSegment *segment = &scan->segments[s];
		int end = segment->begin + segment->nrows;
		int count = segment->nrows;
		int nwalked = 0;

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
			if (state->offset >= 0 && !segment->examined)
				examine(scan, segment);
			if (state->offset >= 0 && segment->uniform && state->column.attno <= segment->natts)
				load_fixed(reader, c, segment, rows, count, later);
			else
				scan->walked[nwalked++] = c;
		}
		if (nwalked > 0)
			load_walked(reader, nwalked, segment, rows, count, later);
		rows += count;
		nrows -= count;
	}
}

void
gpuagg_page_reader_load(PageReader *reader, int first, int n, const uint64 *wanted)
{
	load(reader, first, n, wanted, false);
}

void
gpuagg_page_reader_find(PageReader *reader, int first, int n)
{
	load(reader, first, n, NULL, true);
}

void
gpuagg_page_reader_values(PageReader *reader, int c, const uint64 *wanted)
{
	PageScan *scan = reader->scan;
	PageColumnState *state = &scan->columns[c];
	int n;

	if (!state->pending)
		return;
	state->pending = false;
	n = list_rows(wanted, reader->nrows, scan->rows);
	for (int k = 0; k < n; k++)
		scan->found[k] = state->places[scan->rows[k]];
	gpuagg_page_values(reader, c, scan->found, scan->rows, n);
}
