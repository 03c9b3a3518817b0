/*
 * sort.c
 *	  Sorts items of packed keys, on the CPU or, in pieces, on the device.
 *
 * For the device the items are split by their upper bits into pieces.  The pieces
 * are sent one after the other, up to PARTS of them under way at a time, each in
 * its own part of one lease.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "common/protocol.h"
#include "engine/flight.h"
#include "engine/pause.h"
#include "engine/sort.h"
#include "gpuagg.h"

#define PARTS		4									  /* of the lease, at most */
#define PART_BYTES	((Size) GPUAGG_SEGMENT_BYTES / PARTS) /* at most */
#define LEAST_PIECE 1024 /* the CPU sorts fewer items faster than a request takes */

StaticAssertDecl(PARTS <= GPUAGG_MAX_INFLIGHT, "all parts may be under way");
StaticAssertDecl(PART_BYTES % GPUAGG_ALIGN == 0, "parts are aligned");

typedef struct SortRun
{
	int words;
	FlightLease *lease;
	bool failed;		/* send no more to the device */
	size_t piece_items; /* most items of a piece */
	Size part_bytes;
	int nparts;
	int next;
	Flight part[PARTS];
	bool busy[PARTS]; /* a piece is on the device with this part */
	int64 device_pieces;
} SortRun;

/* Finishes the piece that is under way in this part, if any. */
static void
finish_part(SortRun *run, int p)
{
	if (!run->busy[p])
		return;
	run->busy[p] = false;
	if (!gpuagg_flight_finish(&run->part[p]))
		run->failed = true;
	else if (run->part[p].engine == ENGINE_DEVICE)
		run->device_pieces++;
}

static void
submit_piece(SortRun *run, const GpuaggRadixPiece *piece)
{
	int p = run->next;
	Flight *flight = &run->part[p];

	finish_part(run, p);
	memset(flight, 0, sizeof(*flight));
	flight->type = GPUAGG_MSG_SORT;
	flight->work.u.sort.words = (uint32) run->words;
	flight->work.u.sort.bits = (uint32) piece->bits;
	flight->work.nrows = piece->n;
	(void) gpuagg_work_lay_out(flight->type, &flight->work, p * run->part_bytes, piece->n);
	flight->items = *piece;
	flight->lease = run->failed ? NULL : run->lease;
	gpuagg_flight_submit(flight);
	run->busy[p] = true;
	run->next = (p + 1) % run->nparts;
	if (flight->engine == ENGINE_CPU)
		finish_part(run, p);
}

static void
take_piece(void *arg, const GpuaggRadixPiece *piece)
{
	SortRun *run = arg;

	CHECK_FOR_INTERRUPTS();
	if (run->failed || piece->n < LEAST_PIECE || piece->n > run->piece_items || piece->bits == 0)
		gpuagg_radix_sort_piece(piece, run->words, gpuagg_pause);
	else
		submit_piece(run, piece);
}

/* Leases memory for the pieces of n items; false when there is no device now. */
static bool
begin_run(SortRun *run, int64 n)
{
	Size width = gpuagg_sort_item_size(run->words);

	/* most pieces have a large part of this, so they are not below LEAST_PIECE */
	run->piece_items = Min(PART_BYTES / width, (Size) Max(gpuagg_batch_rows, 4 * LEAST_PIECE));
	run->nparts = n <= (int64) run->piece_items ? 1 : PARTS;
	run->part_bytes = TYPEALIGN(GPUAGG_ALIGN, Min(run->piece_items, (Size) n) * width);
	run->lease = gpuagg_flight_lease(run->nparts * run->part_bytes, 1, 0, CurrentMemoryContext);
	return run->lease != NULL;
}

bool
gpuagg_sort_wanted(int64 n, int words)
{
	return words <= GPUAGG_SORT_WORDS && n >= LEAST_PIECE &&
		   gpuagg_flight_wanted(FLIGHT_SORT, n) == GPUAGG_OK;
}

int64
gpuagg_sort_items(uint64 *items, uint64 *scratch, int64 n, int words, int bits)
{
	SortRun run = {.words = words};

	if (!begin_run(&run, n))
	{
		gpuagg_radix_sort(items, scratch, n, words, bits, gpuagg_pause);
		return 0;
	}
	PG_TRY();
	{
		gpuagg_radix_split(items, scratch, n, words, bits, run.piece_items, take_piece, &run,
						   gpuagg_pause);
		for (int p = 0; p < run.nparts; p++)
			finish_part(&run, p);
	}
	PG_FINALLY();
	{
		gpuagg_flight_leave(&run.lease);
	}
	PG_END_TRY();
	return run.device_pieces;
}
