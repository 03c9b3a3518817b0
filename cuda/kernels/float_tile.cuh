/*
 * float_tile.cuh
 *	  Sums of a tile of floats in bins.
 *
 * The bins (scan_bins.cuh) are at a place chosen from the tile's largest value; if
 * the tile's prefix turns out to be too large for them, it is chosen again.
 *
 * A thread has ITEMS neighbouring rows, an odd number, so that it reads them from
 * shared memory without bank conflicts.
 */
#ifndef GPUAGG_FLOAT_TILE_CUH
#define GPUAGG_FLOAT_TILE_CUH

#include "device/block.cuh"
#include "kernels/float_state.cuh"
#include "kernels/scan_bins.cuh"

/*
 * Bits between a tile's largest value and the top of its bins: at first, with room
 * for the prefix, and at least.  The tile's own sum takes 12; a prefix may add one.
 */
#define ROOM_FIRST	 40
#define ROOM_LEAST	 13

#define FLOAT_STAGES 3

enum FloatMode
{
	FLOAT_PLAIN,	/* a result a row; no bitmaps */
	FLOAT_MARKED,	/* a result a row */
	FLOAT_AVERAGES, /* the same, by the number of values */
	FLOAT_SEGMENTS	/* a result a segment */
};

/* A thread's rows: bit i is about row i of them. */
struct ThreadRows
{
	uint32_t present;
	uint32_t valid;
	uint32_t heads;
};

/* A sum of rows of a tile in bins, with marks. */
struct MarkedBins
{
	Bins sum;	   /* since the last head, if any */
	uint32_t seen; /* SEEN_HEAD, SEEN_VALUE; from bit 8 on heads */
};

/* The prefix of a tile. */
struct FloatBefore
{
	FloatState state;
	Bins sum;	 /* of the state, in bins */
	double tail; /* of bins_round(): bits below the bins */
	bool fits;	 /* the sum fits the bins */
};

/* A Sum256 in pieces of 16 bits: a block's sum of a piece fits 32. */
#define PIECES (SUM256_BITS / 16)

struct FloatPieces
{
	uint32_t piece[PIECES];
	uint32_t seen;
	uint32_t heads;
};

/* How a tile has been summed. */
struct FloatWay
{
	int exponent; /* no value has a larger exponent field */
	int place;	  /* of the bins */
	bool bins;	  /* not the wide way */
	uint32_t heads;
	BinsPlace at; /* bins_at(place) */
};

/* A kernel's shape. */
template <class Value, FloatMode M, int NTHREADS, int NITEMS, int NBLOCKS> struct FloatPlan
{
	typedef Value T;

	static constexpr FloatMode MODE = M;
	static constexpr int THREADS = NTHREADS;
	static constexpr int WARPS = NTHREADS / WARP_SIZE;
	static constexpr int ITEMS = NITEMS;
	static constexpr int ROWS = NTHREADS * NITEMS;
	static constexpr int BLOCKS = NBLOCKS; /* of a multiprocessor, at least */

	/* the thread that takes tickets, in a warp with little else to do then */
	static constexpr int TAKER = NTHREADS - 2 * WARP_SIZE;

	static_assert(ITEMS % 2 == 1, "no bank conflicts");
	static_assert(ROWS % 16 == 0 && ROWS <= BIN_MOST_VALUES, "whole bulk copies; bins fit int64");
	static_assert(WARPS >= 2 && WARPS <= 16, "second level of scans");

	struct Shared
	{
		alignas(128) T row[FLOAT_STAGES][ROWS]; /* values, then results */
		alignas(16) T out[M == FLOAT_SEGMENTS ? ROWS + 16 / sizeof(T) : 1];
		alignas(16) uint8_t status[M == FLOAT_SEGMENTS ? 1 : ROWS];
		CopyBarrier full[FLOAT_STAGES];
		uint64_t tile[FLOAT_STAGES];
		FloatWay way[2];
		int64_t thread_sum[2][NBINS][THREADS]; /* of a tile's rows before the thread's */
		uint32_t thread_seen[2][THREADS];
		uint32_t largest[WARPS];
		MarkedBins warp[WARPS];
		FloatPieces gathered[WARPS];
		FloatBefore before;
		uint32_t gathered_heads;
		FloatState total;
		typename BlockScan<FloatOp, THREADS>::Storage states;
	};
};

/* Where bins start that leave `room` bits above values with this exponent field. */
static __device__ __forceinline__ int
bins_place(int exponent, int room, int first_chunk)
{
	int place = exponent + 52 + room - BINS_SPAN;

	return place > 32 * first_chunk ? place : 32 * first_chunk;
}

/* The lanes below `lane`, from the last of them that is in `heads` on. */
static __device__ __forceinline__ uint32_t
lanes_since(uint32_t heads, int lane)
{
	uint32_t below = (1u << lane) - 1;
	uint32_t last = heads & below;

	return last == 0 ? below : below & (~0u << (31 - __clz((int) last)));
}

/* What a block does with a tile in shared memory. */
template <class P> struct FloatTile
{
	typedef typename P::T T;
	typedef typename P::Shared Shared;

	static constexpr bool MARKED = P::MODE != FLOAT_PLAIN;
	static constexpr bool SEGMENTS = P::MODE == FLOAT_SEGMENTS;

	/*
	 * The largest exponent field of the tile's values; if bins do not take one of
	 * them, 0x7ff or more.  NULLs become 0.
	 */
	static __device__ __forceinline__ int classify(Shared &shared, T *row, uint32_t valid)
	{
		uint32_t largest = 0;

		UNROLL
		for (int i = 0; i < P::ITEMS; i++)
		{
			T x = row[i];

			if (MARKED)
			{
				x = valid >> i & 1 ? x : (T) 0;
				row[i] = x;
			}

			uint32_t high = high_word((double) x);
			uint32_t size = high & INT32_MAX;

			/* this high word is that of -0, and of negative values of less than 2^-1042 */
			size = high == SIGN_BIT >> 32 ? UINT32_MAX : size;
			largest = size > largest ? size : largest;
		}
		largest = warp_reduce_max(largest);
		if (lane_id() == 0)
			shared.largest[warp_id()] = largest;
		__syncthreads();
		largest = warp_reduce_max(lane_id() < P::WARPS ? shared.largest[lane_id()] : 0u);
		return (int) (largest >> 20);
	}

	/*
	 * The sum of the thread's rows from its last head on; *rest: one of its rows has
	 * bits below the bins.  Magic numbers are subtracted at the end, modulo 2^64.
	 */
	static __device__ __forceinline__ Bins thread_sum(const T *row, uint32_t heads, int place,
													  bool *rest)
	{
		int last_head = MARKED && heads ? 31 - __clz((int) heads) : 0;
		uint32_t added = (uint32_t) (P::ITEMS - last_head);
		const BinsPlace at = bins_at(place);
		Bins s = bins_zero();
		bool any = false;

		UNROLL
		for (int i = 0; i < P::ITEMS; i++)
		{
			double x = (double) row[i];

			UNROLL
			for (int k = 0; k < NBINS; k++)
			{
				double t = x + at.magic[k];

				if (!MARKED || i >= last_head)
					s.bin[k] = (int64_t) ((uint64_t) s.bin[k] + bits_of(t));
				x = x - (t - at.magic[k]);
			}
			any |= x != 0;
		}
		UNROLL
		for (int k = 0; k < NBINS; k++)
			s.bin[k] = (int64_t) ((uint64_t) s.bin[k] - bits_of(at.magic[k]) * added);
		*rest = any;
		return s;
	}

	/*
	 * All threads: scans the tile in bins at a place.  thread_sum and thread_seen get
	 * the sum of the tile's rows before the thread's; *total is right in the last
	 * thread.  False if a value does not fit the bins.
	 */
	static __device__ __forceinline__ bool scan_bins(Shared &shared, const T *row,
													 const ThreadRows &rows, int place, int slot,
													 MarkedBins *total)
	{
		int lane = lane_id();
		bool rest = true;
		Bins sum = bins_zero();
		Bins before;
		uint32_t heads = 0;
		uint32_t count = 0; /* of heads up to the thread's last row */
		uint32_t seen;
		uint32_t seen_before;

		if (place <= BINS_MAX_PLACE)
			sum = thread_sum(row, rows.heads, place, &rest);
		rest = __any_sync(FULL_MASK, rest);

		/* the warp */
		bool valid = rows.valid >> (rows.heads ? 31 - __clz((int) rows.heads) : 0) != 0;
		uint32_t valids = __ballot_sync(FULL_MASK, valid);

		if (MARKED)
			heads = __ballot_sync(FULL_MASK, rows.heads != 0);

		uint32_t since = lanes_since(heads, lane);
		int first = rows.heads ? lane : lane - __popc(since);

		UNROLL
		for (int delta = 1; delta < WARP_SIZE; delta *= 2)
		{
			Bins other = warp_shfl_up(sum, delta);

			if (lane - delta >= first)
				bins_add(sum, other);
		}
		if (SEGMENTS)
		{
			count = (uint32_t) __popc(rows.heads);
			UNROLL
			for (int delta = 1; delta < WARP_SIZE; delta *= 2)
			{
				uint32_t other = warp_shfl_up(count, delta);

				count += lane >= delta ? other : 0;
			}
		}
		before = warp_shfl_up(sum, 1);
		if (lane == 0)
			before = bins_zero();
		seen_before = ((heads & ((1u << lane) - 1)) != 0 ? SEEN_HEAD : 0) |
					  ((valids & since) != 0 ? SEEN_VALUE : 0);
		seen = rows.heads ? SEEN_HEAD : seen_before;
		seen |= valid ? SEEN_VALUE : 0;
		if (lane == WARP_SIZE - 1)
			shared.warp[warp_id()] = {sum, seen | (rest ? SEEN_MISFIT : 0) | count << 8};
		__syncthreads();

		/* the warps before this one; both halves of the warp compute the same */
		MarkedBins w = {bins_zero(), 0};
		int k = lane % 16;

		if (k < P::WARPS)
			w = shared.warp[k];
		if (__any_sync(FULL_MASK, (w.seen & SEEN_MISFIT) != 0))
			return false;
		heads = __ballot_sync(FULL_MASK, (w.seen & SEEN_HEAD) != 0) & 0xffff;
		valids = __ballot_sync(FULL_MASK, (w.seen & SEEN_VALUE) != 0) & 0xffff;
		since = lanes_since(heads, warp_id());
		if (!(since >> k & 1))
			w.sum = bins_zero();
		UNROLL
		for (int bit = 1; bit < 16; bit *= 2)
			bins_add(w.sum, warp_shfl_xor(w.sum, bit, 16));
		if (SEGMENTS)
			count += warp_reduce_add(lane < warp_id() ? w.seen >> 8 : 0u);
		w.seen = ((heads & ((1u << warp_id()) - 1)) != 0 ? SEEN_HEAD : 0) |
				 ((valids & since) != 0 ? SEEN_VALUE : 0);

		if (!(seen & SEEN_HEAD))
		{
			bins_add(sum, w.sum);
			seen |= w.seen;
		}
		*total = {sum, seen | count << 8};
		if (!(seen_before & SEEN_HEAD))
		{
			bins_add(before, w.sum);
			seen_before |= w.seen;
		}
		count -= SEGMENTS ? (uint32_t) __popc(rows.heads) : 0;
		UNROLL
		for (int i = 0; i < NBINS; i++)
			shared.thread_sum[slot][i][threadIdx.x] = before.bin[i];
		shared.thread_seen[slot][threadIdx.x] = seen_before | count << 8;
		return true;
	}

	/* One thread: the prefix in bins at this place. */
	static __device__ __forceinline__ void set_bins(FloatBefore &before, int place, int first_chunk)
	{
		const Sum256 &w = before.state.sum;
		int shift = place - 32 * first_chunk;

		UNROLL
		for (int i = 0; i < NBINS; i++)
			before.sum.bin[i] = (int64_t) (sum256_bits(w, shift + BIN_BITS * (NBINS - 1 - i)) &
										   BIN_MASK);
		/* the top one is signed */
		before.sum.bin[0] = (int64_t) ((uint64_t) before.sum.bin[0] << (64 - BIN_BITS)) >>
							(64 - BIN_BITS);
		before.tail = sum256_any_below(w, shift) ? double_of(place_bits(place - 1)) : 0;
		before.fits = place <= BINS_MAX_PLACE && float_state_plain(before.state.seen) &&
					  sum256_fits(w, shift + BINS_SPAN - 1);
	}

	/* All threads: the prefix does not fit the tile's bins: other bins, or the wide way. */
	static __device__ NOINLINE void refit(Shared &shared, const T *row, ThreadRows rows, int slot,
										  int first_chunk)
	{
		FloatBefore &before = shared.before;
		FloatWay way = shared.way[slot];
		MarkedBins total;
		int least = sum256_length(before.state.sum) + 1 + 32 * first_chunk - BINS_SPAN;

		way.place = bins_place(way.exponent, ROOM_LEAST, first_chunk);
		if (way.place < least)
			way.place = least;
		way.bins = float_state_plain(before.state.seen) &&
				   scan_bins(shared, row, rows, way.place, slot, &total);
		__syncthreads();
		if (threadIdx.x == 0)
		{
			if (way.bins)
				set_bins(before, way.place, first_chunk);
			way.at = bins_at(way.place);
			shared.way[slot] = way;
		}
		__syncthreads();
	}
};

#endif /* GPUAGG_FLOAT_TILE_CUH */
