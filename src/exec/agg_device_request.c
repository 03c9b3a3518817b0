/*
 * agg_device_request.c
 *	  Requests of a GpuAgg node's passes, which are all about the same chunks.
 */
#include "compat.h"

#include "utils/memutils.h"

#include "exec/agg_device_request.h"

AskedChunks *
gpuagg_asked_chunks(const AggQuestion *question)
{
	const PageDevice *device = question->device;
	uint32 n = device->nchunks;
	AskedChunks *asked = palloc0(sizeof(AskedChunks));

	asked->question = question;
	asked->n = n;
	asked->numbers = palloc_extended(n * sizeof(uint32), MCXT_ALLOC_HUGE);
	asked->chunks = palloc_extended(n * sizeof(BlobQueryChunk), MCXT_ALLOC_HUGE);
	asked->status = palloc_extended(n * sizeof(uint8), MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < n; i++)
		asked->numbers[i] = i;
	memcpy(asked->chunks, device->chunks, n * sizeof(BlobQueryChunk));
	return asked;
}

void
gpuagg_asked_begin(AskedChunks *asked)
{
	asked->nanswers = 0;
	asked->again = false;
}

/* ---- the request ---- */

/* Blobs of columns of the chunks that are asked for; columns: their numbers, NULL: all. */
static uint64 *
find_blobs(const AskedChunks *asked, const uint16 *columns, uint32 ncolumns)
{
	const AggQuestion *question = asked->question;
	uint64 *blobs = palloc_extended((Size) asked->n * ncolumns * sizeof(uint64), MCXT_ALLOC_HUGE);
	uint64 *next = blobs;

	for (uint32 i = 0; i < asked->n; i++)
	{
		const uint64 *all = question->device->blobs + (Size) asked->numbers[i] * question->ncolumns;

		for (uint32 c = 0; c < ncolumns; c++)
			*next++ = all[columns != NULL ? columns[c] : c];
	}
	return blobs;
}

/* The part of the program that the pass needs, where it may be less than all of it. */
static bool
init_program(AggRequest *request, const AggScanState *node, const AskedChunks *asked)
{
	const AggQuestion *question = asked->question;
	GpuaggQuery *query = &request->query->query;
	VectorPart part = {.program = question->program->program};

	if (question->window != NULL)
	{
		query->program = *question->below;
		query->window = question->window;
		query->above = question->program->program;
		request->query->shifts = question->tables->shifts;
	}
	else
	{
		if ((node->device->npasses > 1 || !gpuagg_agg_device_whole(&part.program)) &&
			!gpuagg_agg_device_part(&question->program->program, &request->pass, &part))
			return false;
		query->program = part.program;
	}
	if (part.columns != NULL || asked->n < question->device->nchunks)
		request->blobs = find_blobs(asked, part.columns, query->program.ncolumns);
	request->query->numbers = request->blobs != NULL ? request->blobs : question->device->blobs;
	return true;
}

bool
gpuagg_agg_request_init(AggRequest *request, const AggScanState *node, const AggDevicePass *pass,
						const AskedChunks *asked, BlobQuery *query)
{
	request->pass = *pass;
	request->query = query;
	request->blobs = NULL;
	memset(query, 0, sizeof(BlobQuery));
	if (!init_program(request, node, asked))
		return false;
	query->query.aggregates = request->pass.aggregates;
	query->query.naggregates = (uint32) pass->naggregates;
	query->query.parts = 1;
	query->query.nchunks = asked->n;
	query->chunks = asked->chunks;
	query->epoch = asked->question->device->epoch;
	return true;
}

GpuaggReason
gpuagg_agg_request_send(const AggRequest *request, AggScanState *node, AggQuestion *question)
{
	BlobQuery *query = request->query;
	GpuaggReason reason = gpuagg_blob_query(query);

	question->nrows = (int64) query->nrows;
	if (reason == GPUAGG_OK)
	{
		node->counts.requests++;
		node->counts.slices += query->nslices;
		node->counts.ns_program += query->ns;
		node->counts.ns_slices += query->ns_slices;
	}
	/* a program that no kernel has room for, or values that are in the table, are no trouble to count */
	else if (query->lease != NULL && reason != GPUAGG_CPU_ONLY)
		gpuagg_stat_fallback(reason);
	if (request->blobs != NULL)
		pfree(request->blobs);
	return reason;
}

/* ---- the answer ---- */

/* Notes which chunks are in an answer, and leaves out the others. */
static void
note(AskedChunks *asked, const uint8 *status)
{
	uint32 n = 0;

	for (uint32 i = 0; i < asked->n; i++)
	{
		asked->status[asked->numbers[i]] = status[i];
		if (status[i] != GPUAGG_CHUNK_IN)
			continue;
		asked->numbers[n] = asked->numbers[i];
		asked->chunks[n++] = asked->chunks[i];
	}
	asked->again |= asked->nanswers > 0 && n < asked->n;
	asked->nanswers++;
	asked->n = n;
}

bool
gpuagg_asked_answered(AskedChunks *asked, AggScanState *node, const BlobQuery *query)
{
	const AggQuestion *question = asked->question;

	if (question->window == NULL)
		note(asked, query->status);
	else if (!gpuagg_device_tables_whole(question->tables, query->status))
		node->device_reason = gpuagg_page_device_missing;
	else
		memcpy(asked->status, query->status, asked->n);
	return !asked->again && node->device_reason == NULL;
}

int64
gpuagg_asked_taken(const AskedChunks *asked)
{
	const AggQuestion *question = asked->question;

	if (question->window == NULL)
		return gpuagg_page_device_taken(question->reader, question->device, question->columns,
										question->ncolumns, asked->status);
	gpuagg_device_tables_taken(question->tables, asked->status);
	return question->nrows;
}
