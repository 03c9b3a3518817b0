/*
 * query_kept.c
 *	  Slices of earlier queries, to be used again.
 */
#include "host/query_kept.h"

#include <stdlib.h>
#include <string.h>

#define KEPT	   32  /* slices */
#define CHUNKS_MIN 8   /* fewer are found soon */
#define ROOM_SHARE 256 /* of the blobs' memory, one slice takes so much of it at most */

static KeptSlice *slices; /* the one used last comes first */
static uint64_t seen_drops;

static void
destroy(KeptSlice *kept)
{
	for (uint64_t i = 0; i < (uint64_t) kept->nchunks * kept->ncolumns; i++)
		gpud_blob_let_go(kept->blobs[i]);
	if (kept->room != NULL)
		gpud_blobs_give_back(kept->room);
	free(kept->chunks);
	free(kept->numbers);
	free(kept->blobs);
	free(kept);
}

/* Takes a slice out of the list. */
static void
leave(KeptSlice **link)
{
	KeptSlice *kept = *link;

	*link = kept->next;
	kept->gone = true;
	if (kept->users == 0)
		destroy(kept);
}

bool
gpud_kept_forget(void)
{
	bool any = slices != NULL;

	while (slices != NULL)
		leave(&slices);
	return any;
}

void
gpud_kept_check(void)
{
	if (seen_drops == gpud_blobs_drops())
		return;
	(void) gpud_kept_forget();
	/* those were dropped, and may have gone by now */
	seen_drops = gpud_blobs_drops();
}

static uint64_t
chunks_bytes(uint64_t n)
{
	return n * sizeof(GpuaggQueryChunk);
}

static uint64_t
numbers_bytes(const QueryJob *query, uint64_t n)
{
	return n * query->head.ncolumns * sizeof(uint64_t);
}

/* The next chunks that are asked for, and the numbers of their blobs, in the region. */
static const void *
asked_chunks(const QueryJob *query)
{
	return query_in_region(query) + query->places.chunks + chunks_bytes(query->job.units_done);
}

static const void *
asked_numbers(const QueryJob *query)
{
	return query_in_region(query) + query->places.numbers +
		   numbers_bytes(query, query->job.units_done);
}

/* Whether these are the columns of a query's plan, and of what it asks for. */
static bool
has_columns(const KeptSlice *kept, const QueryJob *query)
{
	const GpuQueryPlan *plan = &query->plan;

	if (kept->nasked != query->head.ncolumns || kept->ncolumns != plan->ncolumns)
		return false;
	for (uint32_t k = 0; k < plan->ncolumns; k++)
		if (kept->column[k] != plan->column[k] || kept->type[k] != plan->type[k])
			return false;
	return true;
}

KeptSlice *
gpud_kept_find(const QueryJob *query, uint64_t most)
{
	gpud_kept_check();
	for (KeptSlice **link = &slices; *link != NULL; link = &(*link)->next)
	{
		KeptSlice *kept = *link;

		if (!kept->ready || kept->database != query->job.request.u.query.database ||
			kept->nchunks > most || !has_columns(kept, query) ||
			memcmp(kept->chunks, asked_chunks(query), chunks_bytes(kept->nchunks)) != 0 ||
			memcmp(kept->numbers, asked_numbers(query), numbers_bytes(query, kept->nchunks)) != 0)
			continue;
		*link = kept->next;
		kept->next = slices;
		slices = kept;
		kept->users++;
		return kept;
	}
	return NULL;
}

/* Copies what was asked for; false: no memory, or it is not what blobs were found for. */
static bool
copy_asked(KeptSlice *kept, const QueryJob *query)
{
	uint32_t n = kept->nchunks;

	kept->chunks = malloc(chunks_bytes(n));
	kept->numbers = malloc(numbers_bytes(query, n) + 1);
	if (kept->chunks == NULL || kept->numbers == NULL)
		return false;
	query_copy_once(kept->chunks, asked_chunks(query), chunks_bytes(n));
	query_copy_once(kept->numbers, asked_numbers(query), numbers_bytes(query, n));
	for (uint32_t i = 0; i < n; i++)
	{
		const GpuaggQueryChunk *chunk = &kept->chunks[i];

		for (uint32_t k = 0; k < kept->ncolumns; k++)
		{
			const Blob *blob = query->held[(uint64_t) i * kept->ncolumns + k];

			if (chunk->masked != 0 || chunk->nrows != blob->nrows ||
				chunk->epoch != blob->name.epoch ||
				kept->numbers[(uint64_t) i * kept->nasked + kept->column[k]] != blob->name.number)
				return false;
		}
	}
	return true;
}

/* Of each column, as ranges of keys are measured: as integers of 64 bits. */
static void
find_extremes(KeptSlice *kept, const QueryJob *query)
{
	for (uint64_t i = 0; i < (uint64_t) kept->nchunks * kept->ncolumns; i++)
	{
		GpuaggNarrow *all = &kept->forms[i % kept->ncolumns];
		const GpuaggNarrow *form = &query->held[i]->form;

		if (!form->any)
			continue;
		if (!all->any || (int64_t) form->minimum.lo < (int64_t) all->minimum.lo)
			all->minimum = form->minimum;
		if (!all->any || (int64_t) form->maximum.lo > (int64_t) all->maximum.lo)
			all->maximum = form->maximum;
		all->any = 1;
	}
}

/* Room for one more: the one that was not used for longest goes. */
static void
make_place(void)
{
	KeptSlice **link = &slices;

	for (int n = 1; *link != NULL; n++)
		if (n >= KEPT && (*link)->users == 0)
			leave(link);
		else
			link = &(*link)->next;
}

KeptSlice *
gpud_kept_make(QueryJob *query, const QuerySlot *slot, const GpuQueryShape *shape)
{
	const GpuQueryPlan *plan = &query->plan;
	uint64_t blocks = (uint64_t) ((const char *) slot->blocks - (const char *) slot->chunks);
	uint64_t nblocks = (uint64_t) query->nchunks * plan->ncolumns;
	uint64_t room = blocks + nblocks * sizeof(GpuQueryBlock);
	KeptSlice *kept;

	gpud_kept_check();
	if (query->nchunks < CHUNKS_MIN || plan->ncolumns == 0 ||
		room > gpud_blobs_budget() / ROOM_SHARE)
		return NULL;
	kept = calloc(1, sizeof(KeptSlice));
	if (kept == NULL)
		return NULL;
	kept->nasked = query->head.ncolumns;
	kept->ncolumns = plan->ncolumns;
	memcpy(kept->column, plan->column, plan->ncolumns * sizeof(plan->column[0]));
	memcpy(kept->type, plan->type, plan->ncolumns * sizeof(plan->type[0]));
	kept->nchunks = query->nchunks;
	kept->blobs = malloc(nblocks * sizeof(kept->blobs[0]));
	if (kept->blobs != NULL && copy_asked(kept, query))
		kept->room = gpud_blobs_room(room);
	if (kept->room == NULL)
	{
		kept->nchunks = 0;
		destroy(kept);
		return NULL;
	}
	find_extremes(kept, query);
	memcpy(kept->blobs, query->held, nblocks * sizeof(kept->blobs[0]));
	for (uint64_t i = 0; i < nblocks; i++)
		kept->blobs[i]->kept = true;
	query->nheld = 0;
	kept->database = query->job.request.u.query.database;
	kept->shape = *shape;
	kept->nrows = query->nrows;
	kept->bytes = query->bytes;
	kept->blocks = blocks;
	kept->users = 1;
	make_place();
	kept->next = slices;
	slices = kept;
	return kept;
}

void
gpud_kept_arrived(KeptSlice *kept)
{
	kept->ready = true;
}

void
gpud_kept_let_go(KeptSlice *kept)
{
	kept->users--;
	if (kept->gone && kept->users == 0)
		destroy(kept);
	else if (!kept->gone && !kept->ready)
		for (KeptSlice **link = &slices; *link != NULL; link = &(*link)->next)
			if (*link == kept)
			{
				leave(link);
				break;
			}
}
