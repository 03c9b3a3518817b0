/*
 * sort.c
 *	  Sorts items of packed keys, on the CPU or, in pieces, on the device.
 *
 * For the device the CPU splits the items by their upper bits into pieces, which
 * go there one behind the other, some of them at a time, each in its own part of
 * one lease.  A piece that the device does not bring back is sorted here: its
 * items are still where they were.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "common/radix.h"
#include "device/client.h"
#include "engine/sort.h"
#include "gpuagg.h"
#include "device/stat.h"

#define AUTO_ROWS	(1 << 20)							  /* from here on it pays, measured */
#define PARTS		4									  /* of the lease, at most */
#define PART_BYTES	((Size) GPUAGG_SEGMENT_BYTES / PARTS) /* at most */
#define LEAST_PIECE 1024 /* fewer items the CPU sorts in less time than asking takes */

StaticAssertDecl(PARTS <= GPUAGG_MAX_INFLIGHT, "all parts may be under way");
StaticAssertDecl(PART_BYTES % GPUAGG_ALIGN == 0, "parts are aligned");

/* A part of the lease, and the piece that is on the device with it. */
typedef struct SortPart
{
	GpuaggRadixPiece piece;
	uint32 request; /* 0: none */
	Size offset;
	uint64 digest; /* of the piece */
} SortPart;

typedef struct SortRun
{
	int words;
	DeviceLease *lease;
	bool failed;		/* the device gets no more */
	size_t piece_items; /* that a piece has at most */
	int nparts;
	int next;
	SortPart part[PARTS];
	int64 device_pieces;
} SortRun;

static void
check_for_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

/* What an item adds to a digest, which is the same in any order of the items. */
static inline uint64
digest_of(const uint64 *item, int words)
{
	uint64 h = 0;

	for (int i = 0; i <= words; i++)
		h = (h ^ item[i]) * UINT64CONST(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

static pg_attribute_always_inline uint64
send_words(uint64 *region, const uint64 *items, size_t n, int words)
{
	uint64 digest = 0;

	for (size_t i = 0; i < n; i++)
	{
		for (int w = 0; w <= words; w++)
			region[w] = items[w];
		digest += digest_of(items, words);
		region += words + 1;
		items += words + 1;
	}
	return digest;
}

/* Copies items to the region; returns their digest. */
static uint64
send_items(uint64 *region, const uint64 *items, size_t n, int words)
{
	return words == 1 ? send_words(region, items, n, 1) : send_words(region, items, n, 2);
}

static pg_attribute_always_inline bool
are_sorted_words(const uint64 *items, size_t n, int words, uint64 digest)
{
	bool ordered = true;

	digest -= digest_of(items, words);
	for (size_t i = 1; i < n; i++)
	{
		const uint64 *last = items;

		items += words + 1;
		ordered &= words == 1 ? last[0] <= items[0]
							  : last[0] < items[0] || (last[0] == items[0] && last[1] <= items[1]);
		digest -= digest_of(items, words);
	}
	return ordered && digest == 0;
}

/* Whether these are the items of that digest, in order: their addresses will be followed. */
static bool
are_sorted(const uint64 *items, size_t n, int words, uint64 digest)
{
	return words == 1 ? are_sorted_words(items, n, 1, digest)
					  : are_sorted_words(items, n, 2, digest);
}

/* ---- pieces ---- */

static void
sort_here(const SortRun *run, const GpuaggRadixPiece *piece)
{
	gpuagg_radix_sort_piece(piece, run->words, check_for_interrupts);
}

/* Takes the piece from the device that is there with this part, if any. */
static void
finish_part(SortRun *run, SortPart *part)
{
	const GpuaggRadixPiece *piece = &part->piece;
	const uint64 *sorted = (const uint64 *) (run->lease->base + part->offset);
	uint32 request = part->request;
	GpuaggReply reply;

	if (request == 0)
		return;
	part->request = 0;
	if (!gpuagg_device_wait(request, &reply))
		run->failed = true;
	else if (!are_sorted(sorted, piece->n, run->words, part->digest))
	{
		gpuagg_stat_fallback(GPUAGG_DEVICE_ERROR);
		run->failed = true;
	}
	else
	{
		Size bytes = piece->n * gpuagg_sort_item_size(run->words);

		memcpy(piece->into_other ? piece->other : piece->items, sorted, bytes);
		gpuagg_stat_batch(ENGINE_DEVICE, (int64) piece->n, (int64) bytes);
		run->device_pieces++;
		return;
	}
	sort_here(run, piece);
}

/* Hands a piece to the device; false when that cannot take it. */
static bool
submit_piece(SortRun *run, const GpuaggRadixPiece *piece)
{
	SortPart *part = &run->part[run->next];
	GpuaggRequest request;

	finish_part(run, part);
	if (run->failed)
		return false;
	part->piece = *piece;
	part->digest = send_items((uint64 *) (run->lease->base + part->offset), piece->items, piece->n,
							  run->words);
	memset(&request, 0, sizeof(request));
	request.h.type = GPUAGG_MSG_SORT;
	request.u.work.u.sort.words = (uint32_t) run->words;
	request.u.work.u.sort.bits = (uint32_t) piece->bits;
	request.u.work.nrows = piece->n;
	(void) gpuagg_work_lay_out(GPUAGG_MSG_SORT, &request.u.work, part->offset, piece->n);
	part->request = gpuagg_device_submit(run->lease, &request);
	run->failed = part->request == 0;
	run->next = (run->next + 1) % run->nparts;
	return !run->failed;
}

static void
take_piece(void *arg, const GpuaggRadixPiece *piece)
{
	SortRun *run = arg;

	CHECK_FOR_INTERRUPTS();
	if (run->failed || piece->n < LEAST_PIECE || piece->n > run->piece_items || piece->bits == 0 ||
		!submit_piece(run, piece))
		sort_here(run, piece);
}

/* ---- the whole ---- */

/* Whether to ask for the device at all. */
static bool
wants_device(int64 n, int words)
{
	int64 least = gpuagg_device == DEVICE_AUTO ? AUTO_ROWS : LEAST_PIECE;

	return gpuagg_device != DEVICE_CPU && words <= GPUAGG_SORT_WORDS &&
		   n >= Max(least, gpuagg_device_min_rows);
}

/* Leases memory for the pieces of n items; false when there is no device for it now. */
static bool
begin_run(SortRun *run, int64 n)
{
	Size width = gpuagg_sort_item_size(run->words);
	Size part_bytes;

	if (!gpuagg_device_ready())
		return false;
	/* most pieces have a good part of that, and so more than the least */
	run->piece_items = Min(PART_BYTES / width, (Size) Max(gpuagg_batch_rows, 4 * LEAST_PIECE));
	run->nparts = n <= (int64) run->piece_items ? 1 : PARTS;
	part_bytes = TYPEALIGN(GPUAGG_ALIGN, Min(run->piece_items, (Size) n) * width);
	for (int i = 0; i < run->nparts; i++)
		run->part[i].offset = i * part_bytes;
	run->lease = gpuagg_device_lease(run->nparts * part_bytes);
	return run->lease != NULL;
}

int64
gpuagg_sort_items(uint64 *items, uint64 *scratch, int64 n, int words, int bits)
{
	SortRun run = {.words = words};

	if (!wants_device(n, words) || !begin_run(&run, n))
	{
		gpuagg_radix_sort(items, scratch, n, words, bits, check_for_interrupts);
		return 0;
	}
	PG_TRY();
	{
		gpuagg_radix_split(items, scratch, n, words, bits, run.piece_items, take_piece, &run,
						   check_for_interrupts);
		for (int i = 0; i < run.nparts; i++)
			finish_part(&run, &run.part[i]);
	}
	PG_FINALLY();
	{
		gpuagg_device_release(run.lease);
	}
	PG_END_TRY();
	return run.device_pieces;
}
