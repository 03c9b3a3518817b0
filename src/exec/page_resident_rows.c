/*
 * page_resident_rows.c
 *	  Batches of rows that come from memory.
 */
#include "compat.h"

#include "exec/page_resident_state.h"

/* Whether a page's rows follow those of a run in all blocks. */
static bool
follows(const PageResident *resident, const ResidentRun *run, int page)
{
	for (int i = 0; i < resident->ncolumns; i++)
	{
		const uint32 *first_row = resident->blocks[i]->first_row;

		if (first_row[page] != first_row[run->page] + run->nrows)
			return false;
	}
	return true;
}

bool
gpuagg_page_resident_next(PageReader *reader)
{
	PageResident *resident = reader->resident;

	for (;;)
	{
		int nrows = 0;
		int page;

		if (!resident->open && !gpuagg_page_resident_next_chunk(reader))
			return false;
		resident->nruns = 0;
		memset(&resident->given, 0, sizeof(ChunkPages));
		for (page = chunk_next(&resident->left, 0); page < CHUNK_PAGES;
			 page = chunk_next(&resident->left, page + 1))
		{
			int n = (int) column_block_page_rows(resident->blocks[0], page);
			ResidentRun *last = &resident->runs[Max(resident->nruns, 1) - 1];

			if (nrows + n > GPUAGG_VECTOR_ROWS)
				break;
			if (resident->nruns > 0 && follows(resident, last, page))
				last->nrows += n;
			else if (resident->nruns == PAGE_BATCH_PAGES)
				break;
			else
				resident->runs[resident->nruns++] = (ResidentRun){page, nrows, n};
			nrows += n;
			chunk_remove(&resident->left, page);
			chunk_add(&resident->given, page);
		}
		resident->open = page < CHUNK_PAGES;
		if (nrows > 0)
		{
			reader->nrows = nrows;
			reader->codes = resident->any_codes && reader->takes_codes ? resident->tables : NULL;
			reader->counts.rows += nrows;
			return true;
		}
	}
}

/*
 * Where the batch's values lie in a block, if a vector can point there: they are one after the
 * other and as wide as their type, and what is behind them, up to whole words of a bitmap, is
 * the block's too.
 */
static void *
values_in_place(const PageReader *reader, int c)
{
	const PageResident *resident = reader->resident;
	const ColumnBlock *block = resident->blocks[c];
	int type = reader->scan->columns[c].column.type;
	Size size = gpuagg_vector_type_size(type);
	uint32 row = block->first_row[resident->runs[0].page];

	if (type == GPUAGG_VECTOR_BOOL || block->form.width != size || resident->nruns > 1 ||
		row + TYPEALIGN(64, reader->nrows) > block->nrows)
		return NULL;
	return (char *) column_block_values(block) + row * size;
}

void
gpuagg_page_reader_strings(PageReader *reader, int column)
{
	PageResident *resident = reader->resident;
	const int32 *codes;
	const GpuaggVectorBytes *entries;
	GpuaggVectorBytes *strings = reader->columns[column].values;

	if (!reader->from_memory || resident->codes[column] == NULL || resident->looked_up[column])
		return;
	codes = resident->codes[column];
	entries = resident->tables[column].entries;
	for (int i = 0; i < reader->nrows; i++)
		strings[i] = entries[codes[i]];
	resident->looked_up[column] = true;
}

/* A column of strings has its codes; and its strings, if they are wanted instead. */
static void
take_codes(PageReader *reader, int c)
{
	PageResident *resident = reader->resident;
	GpuaggVectorCodes *table = &resident->tables[c];
	const GpuaggNarrow *form = &resident->blocks[c]->form;

	table->codes = resident->codes[c];
	table->entries = gpuagg_dictionary_entries(resident->dictionaries[c], (int64) form->maximum.lo);
	table->nentries = gpuagg_dictionary_size(resident->dictionaries[c]);
	resident->looked_up[c] = false;
	if (!reader->takes_codes)
		gpuagg_page_reader_strings(reader, c);
}

void
gpuagg_page_resident_load(PageReader *reader, int first, int n)
{
	const PageResident *resident = reader->resident;

	for (int c = first; c < first + n; c++)
	{
		const ColumnBlock *block = resident->blocks[c];
		const uint64 *valid = column_block_valid(block);
		PageColumnState *state = &reader->scan->columns[c];
		void *in_place = values_in_place(reader, c);
		void *values;

		state->pending = false;
		reader->columns[c].values = in_place != NULL ? in_place : state->values;
		reader->columns[c].valid = valid != NULL ? state->valid : NULL;
		values = resident->codes[c] != NULL ? (void *) resident->codes[c] : state->values;
		for (int i = 0; i < resident->nruns; i++)
		{
			const ResidentRun *run = &resident->runs[i];
			uint32 row = block->first_row[run->page];

			if (in_place == NULL)
				gpuagg_narrow_read(&block->form, column_block_values(block), row, run->nrows,
								   values, run->begin);
			if (valid != NULL)
				gpuagg_bits_copy(state->valid, run->begin, valid, row, run->nrows);
		}
		if (resident->codes[c] != NULL)
			take_codes(reader, c);
	}
}

void
gpuagg_page_resident_select(const PageReader *reader, int c, const GpuaggRange *range, uint64 *live)
{
	const PageResident *resident = reader->resident;
	const ColumnBlock *block = resident->blocks[c];
	const uint64 *valid = column_block_valid(block);
	GpuaggRangeRows rows = gpuagg_narrow_range_rows(&block->form, range);
	uint64 selected[GPUAGG_VECTOR_WORDS] = {0};

	if (rows == GPUAGG_RANGE_ALL_ROWS && valid == NULL)
		return;
	for (int i = 0; i < resident->nruns && rows != GPUAGG_RANGE_NO_ROW; i++)
	{
		const ResidentRun *run = &resident->runs[i];
		uint32 row = block->first_row[run->page];
		uint64 some[GPUAGG_VECTOR_WORDS];

		if (rows == GPUAGG_RANGE_ALL_ROWS)
			gpuagg_bits_copy(some, 0, valid, row, run->nrows);
		else
			gpuagg_narrow_range_select(&block->form, column_block_values(block), row, run->nrows,
									   range, some);
		if (rows == GPUAGG_RANGE_SOME_ROWS && valid != NULL)
		{
			uint64 known[GPUAGG_VECTOR_WORDS];

			gpuagg_bits_copy(known, 0, valid, row, run->nrows);
			for (int w = 0; w * 64 < run->nrows; w++)
				some[w] &= known[w];
		}
		gpuagg_bits_copy(selected, run->begin, some, 0, run->nrows);
	}
	for (int w = 0; w < GPUAGG_VECTOR_WORDS; w++)
		live[w] &= selected[w];
}
