/*
 * page_resident_fill.c
 *	  Rows that a page reader has read go into memory.
 */
#include "compat.h"

#include "exec/page_resident_state.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "utils/memutils.h"

#include "device/attempt.h"
#include "engine/cpu.h"
#include "resident/rules.h"

typedef struct PlainWish
{
	struct varlena *value;
	MemoryContext context;
	struct varlena *plain;
} PlainWish;

static void
decompress(void *arg)
{
	PlainWish *wish = arg;
	MemoryContext old = MemoryContextSwitchTo(wish->context);

	wish->plain = detoast_attr(wish->value);
	MemoryContextSwitchTo(old);
}

/*
 * A string that was flagged, as it is without compression; false: it cannot be kept.  What lies
 * out of line is not fetched.
 */
static bool
make_string_plain(PageReader *reader, int c, Datum value, GpuaggVectorBytes *string)
{
	const PageColumn *column = &reader->scan->columns[c].column;
	bool trimmed = column->form == PAGE_COLUMN_TRIMMED;
	PlainWish wish = {(struct varlena *) DatumGetPointer(value), reader->resident->plain, NULL};

	if (!trimmed && toast_raw_datum_size(value) - VARHDRSZ > DICTIONARY_BYTES)
	{
		gpuagg_fill_refuse(reader->resident->fill, c, COLUMN_LONG_VALUE);
		return true;
	}
	if (VARATT_IS_EXTERNAL(wish.value) || !gpuagg_attempt(decompress, &wish, NULL, 0))
		return false;
	string->data = (const uint8_t *) VARDATA_ANY(wish.plain);
	string->size = VARSIZE_ANY_EXHDR(wish.plain);
	while (trimmed && string->size > 0 && string->data[string->size - 1] == ' ')
		string->size--;
	return true;
}

/*
 * Of flagged rows makes strings what they are without compression, for as long as the batch is
 * current; the rows stay flagged.  False: there is a value that cannot be kept.
 */
static bool
make_plain(PageReader *reader, const PageSegment *segment)
{
	const PageScan *scan = reader->scan;

	if (gpuagg_bits_count(reader->odd_numbers, segment->begin, segment->nrows) > 0)
		return false;
	for (int i = segment->begin; i < segment->begin + segment->nrows; i++)
		for (int c = 0; c < scan->ncolumns && gpuagg_bit(reader->flagged, i); c++)
		{
			const PageColumnState *state = &scan->columns[c];
			HeapTupleData tuple = {0};
			bool isnull;
			Datum value;

			if (!gpuagg_page_column_has_strings(&state->column) || state->length != -1)
				continue;
			tuple.t_data = (HeapTupleHeader) gpuagg_page_tuple(segment, i - segment->begin);
			value = heap_getattr(&tuple, state->column.attno, RelationGetDescr(scan->relation),
								 &isnull);
			if (!isnull &&
				(VARATT_IS_EXTERNAL(DatumGetPointer(value)) ||
				 VARATT_IS_COMPRESSED(DatumGetPointer(value))) &&
				!make_string_plain(reader, c, value,
								   (GpuaggVectorBytes *) reader->columns[c].values + i))
				return false;
		}
	return true;
}

void
gpuagg_page_resident_fill(PageReader *reader)
{
	const PageBatch *batch = reader->scan->batch;
	ColumnFill *fill = reader->resident->fill;

	if (reader->any_flagged && reader->resident->plain == NULL)
		reader->resident->plain = AllocSetContextCreate(CurrentMemoryContext, "gpuagg strings",
														ALLOCSET_SMALL_SIZES);
	if (reader->resident->plain != NULL)
		MemoryContextReset(reader->resident->plain);
	RULES_PAUSE(after_page);
	for (int s = 0; s < batch->nsegments; s++)
	{
		const PageSegment *segment = &batch->segments[s];
		bool flagged;
		bool lost;
		XLogRecPtr lsn = RULE_VALUE(fill_lsn, segment->lsn, BufferGetLSNAtomic(segment->buffer));

		if (XLogRecPtrIsInvalid(segment->lsn))
			continue;
		flagged = reader->any_flagged &&
				  gpuagg_bits_count(reader->flagged, segment->begin, segment->nrows) > 0;
		lost = flagged && !make_plain(reader, segment);
		gpuagg_fill_rows(fill, segment->block, lsn, segment->buffer, reader->columns,
						 segment->begin, segment->nrows, segment->opens, segment->ends);
		if (lost)
			gpuagg_fill_drop(fill, segment->block);
	}
	gpuagg_fill_vectors_end(fill);
	/* a table larger than the memory has a part of itself there, and costs no more than its pages */
	if (gpuagg_fill_is_full(fill))
	{
		gpuagg_page_resident_finish(reader);
		gpuagg_page_resident_stop_filling(reader);
	}
}

void
gpuagg_page_resident_fill_empty(PageReader *reader, BlockNumber block, XLogRecPtr lsn,
								Buffer buffer)
{
	gpuagg_fill_empty(reader->resident->fill, block, lsn, buffer);
}

void
gpuagg_page_resident_finish(PageReader *reader)
{
	if (reader->resident->fill == NULL)
		return;
	gpuagg_page_limit_finish(reader);
	reader->counts.filled = gpuagg_fill_finish(reader->resident->fill);
}

void
gpuagg_page_resident_stop_filling(PageReader *reader)
{
	if (!gpuagg_page_resident_fills(reader))
		return;
	gpuagg_fill_close(reader->resident->fill);
	reader->resident->fill = NULL;
}

bool
gpuagg_page_resident_fills(const PageReader *reader)
{
	return reader->resident != NULL && reader->resident->fill != NULL;
}
