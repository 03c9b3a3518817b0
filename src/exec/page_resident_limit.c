/*
 * page_resident_limit.c
 *	  Which chunks a query fills whose own work that is not: as many as make it little longer.
 *
 * There is no limit where few chunks would be filled: then a small table comes into memory at once,
 * and so does the last part of a large one.  Pages go back into blocks that there are whatever that
 * takes.
 */
#include "compat.h"

#include "exec/page_resident_state.h"

#include "access/xact.h"

#include "gpuagg.h"
#include "resident/fill_budget.h"

#define FEW_CHUNKS 32 /* of a statement's tables together */
#define FEW_PART   8  /* or that part of a table's */

/* Of this process's statement: a table may have many partitions, which have few chunks each. */
static TimestampTz statement;
static uint32 few;	 /* chunks without a limit */
static int ncolumns; /* of the last reader's table */
static FillBudget budget;

/* Chunks of the table from which nothing comes from memory, as far as all have been decided about. */
static uint32
count_left(PageReader *reader)
{
	const PageResident *resident = reader->resident;
	PageShare *share = reader->scan->share;
	uint32 left = 0;

	for (uint32 i = 0; share == NULL && i < resident->nchunks; i++)
		left += chunk_is_empty(&resident->decided[i].used);
	for (uint32 i = 0; share != NULL && i < share->nchunks; i++)
	{
		if (pg_atomic_read_u32(&share->chunks[i].decided) == 0)
			continue;
		pg_read_barrier();
		left += chunk_is_empty(&share->chunks[i].used);
	}
	return left;
}

void
gpuagg_page_limit_find(PageReader *reader)
{
	PageResident *resident = reader->resident;
	uint32 left;

	if (resident->limit.known)
		return;
	resident->limit.known = true;
	if (gpuagg_resident != RESIDENT_AUTO)
		return;
	if (statement != GetCurrentStatementStartTimestamp())
	{
		statement = GetCurrentStatementStartTimestamp();
		few = 0;
		gpuagg_fill_budget_init(&budget);
	}
	else if (ncolumns != resident->ncolumns)
		gpuagg_fill_budget_turn(&budget);
	ncolumns = resident->ncolumns;
	left = count_left(reader);
	if (left <= resident->nchunks / FEW_PART)
		return;
	few += left;
	if (few <= FEW_CHUNKS)
		return;
	few -= left;
	resident->limit.holds = true;
	reader->scan->by_chunk = true;
}

/* Whether all columns have a block of the chunk, bare or not. */
static bool
has_blocks(const PageResident *resident, uint32 chunk)
{
	for (int i = 0; i < resident->ncolumns; i++)
	{
		ChunkState state;

		gpuagg_column_states(resident->pins[i].column, chunk, 1, &state);
		if (state.block == 0)
			return false;
	}
	return true;
}

static double
nanoseconds(instr_time from, instr_time to)
{
	INSTR_TIME_SUBTRACT(to, from);
	return (double) COMPAT_INSTR_TIME_GET_NANOSEC(to);
}

/* The chunk has been read, until `read`, and put into memory, if it was, until now. */
static void
end_chunk(PageReader *reader, instr_time read)
{
	PageLimit *limit = &reader->resident->limit;
	instr_time now;

	INSTR_TIME_SET_CURRENT(now);
	if (limit->begun && limit->tells)
		gpuagg_fill_budget_add(&budget, limit->takes, limit->npages,
							   nanoseconds(limit->start, read), nanoseconds(read, now));
	limit->start = now;
	limit->begun = false;
}

bool
gpuagg_page_resident_takes(PageReader *reader)
{
	const PageBatch *batch = reader->scan->batch;
	PageResident *resident = reader->resident;
	PageLimit *limit = &resident->limit;
	uint32 chunk = chunk_of(batch->segments[0].block);

	if (!limit->holds)
		return true;
	if (!limit->begun || limit->chunk != chunk)
	{
		uint32 npages = (uint32) chunk_npages(chunk, reader->scan->nblocks);
		bool any;
		instr_time read;

		INSTR_TIME_SET_CURRENT(read);
		any = gpuagg_fill_begin(resident->fill, chunk) && !gpuagg_fill_is_full(resident->fill);
		end_chunk(reader, read);
		limit->begun = true;
		limit->chunk = chunk;
		limit->npages = 0;
		limit->tells = any && !has_blocks(resident, chunk);
		limit->takes = any && (!limit->tells || gpuagg_fill_budget_fills(&budget, npages));
		if (!limit->takes)
			gpuagg_fill_leave(resident->fill);
		if (!limit->takes && any)
			reader->counts.later += npages;
	}
	for (int s = 0; s < batch->nsegments; s++)
		limit->npages += batch->segments[s].opens;
	return limit->takes;
}

void
gpuagg_page_limit_finish(PageReader *reader)
{
	instr_time read;

	if (!reader->resident->limit.holds)
		return;
	INSTR_TIME_SET_CURRENT(read);
	(void) gpuagg_fill_finish(reader->resident->fill);
	end_chunk(reader, read);
}
