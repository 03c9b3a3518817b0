/*
 * float_tile.cuh
 *	  The single-pass kernel of exact sums of floats, by row and by segment.
 *
 * Tiles learn by look-back (lookback.cuh) what stands before them, as a
 * FloatState.  Inside a tile sums are kept in bins (float_bins.cuh), at a place
 * that suits the tile: chosen from its largest value, and, when what stands
 * before it turns out to be larger than foreseen, again from that.  A tile
 * that bins do not suit (values spread too widely, NaN, infinities, -0, next to
 * the largest double) goes the wide way: a FloatState for each row.  Both ways
 * are exact, hence give the same bits.
 *
 * A block has three tiles under way: it sums one and publishes the sum, then
 * gathers what stands before the one it summed a step ago, which the others
 * have published meanwhile, and rounds that one's rows; the third is on its way
 * into shared memory, where the results of the last one have just left.
 *
 * A thread has ITEMS neighbouring rows, an odd number, so that reading them
 * from shared memory meets no bank conflicts.
 */
#ifndef GPUAGG_FLOAT_TILE_CUH
#define GPUAGG_FLOAT_TILE_CUH

#include "float_bins.cuh"
#include "float_state.cuh"
#include "scan.cuh"
#include "tile.cuh"

/*
 * Bits between a tile's largest value and the top of its bins: at first, with
 * room for sums of what stands before it, and at least.  A tile's own sum takes
 * 12, what stands before it may be as large again.
 */
#define ROOM_FIRST 40
#define ROOM_LEAST 13

#define FLOAT_STAGES 3
#ifndef LOOK_AHEAD
#define LOOK_AHEAD	 2 /* aggregates that a thread loads at a time */
#endif

enum FloatMode
{
	FLOAT_PLAIN,   /* a result a row; no bitmaps */
	FLOAT_MARKED,  /* a result a row */
	FLOAT_SEGMENTS /* a result a segment */
};

template <class T> struct FloatColumn
{
	const T *values;
	const uint64_t *validity; /* or NULL */
	const uint64_t *heads;	  /* or NULL */
	uint64_t nrows;
	uint64_t tiles;
	int window;
	bool exclusive;
	bool wide; /* always the wide way */
	T *results;
	uint8_t *status;	 /* or NULL */
	uint64_t *nsegments; /* FLOAT_SEGMENTS */
	const GpuScanState *state_in;
	GpuScanState *state_out;
	void *scratch;
};

/* A thread's rows: bit i is about row i of them. */
struct ThreadRows
{
	uint32_t present;
	uint32_t valid;
	uint32_t heads;
};

/* A sum in bins of some rows of a tile. */
struct BinsSum
{
	Bins sum;	   /* since the last head, if any */
	uint32_t seen; /* SEEN_HEAD, SEEN_VALUE; from bit 8 on heads */
};

/* What stands before a tile. */
struct FloatBefore
{
	FloatState state;
	Bins sum; /* the same in bins, but for the tail */
	double tail;
	bool fits; /* into the bins */
};

/* A range of tiles added up in pieces of 22 bits, which 1023 threads can add in 32. */
#define PIECE_BITS 22
#define PIECES	   12

static_assert(PIECES * PIECE_BITS >= WINDOW_BITS, "a window in pieces");

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
	BinsPlace at; /* place */
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

	static_assert(ITEMS % 2 == 1, "no bank conflicts");
	static_assert(ROWS % 16 == 0 && ROWS < 4096, "whole bulk copies; sums of bins fit int64");
	static_assert(WARPS <= 16, "second level of scans");

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
		BinsSum warp[WARPS];
		FloatPieces gathered[WARPS];
		FloatBefore before;
		uint32_t gathered_heads;
		FloatState total;
		typename BlockScan<FloatOp, THREADS>::Storage states;
	};
};

/* Where bins start that leave `room` bits above values with this exponent field. */
static __device__ __forceinline__ int
bins_place(int exponent, int room, int window)
{
	int place = exponent + 52 + room - BINS_SPAN;

	return place > 32 * window ? place : 32 * window;
}

/* The lanes from the last one in `heads` that is below `lane` on, but below `lane`. */
static __device__ __forceinline__ uint32_t
lanes_since(uint32_t heads, int lane)
{
	uint32_t below = (1u << lane) - 1;
	uint32_t last = heads & below;

	return last == 0 ? below : below & (~0u << (31 - __clz((int) last)));
}

/* The wide way, rarely taken: a thread's rows one by one. */
template <class P> struct FloatWide
{
	typedef typename P::T T;
	typedef typename P::Shared Shared;

	/* The thread's rows combined; *outside: one does not fit the window. */
	static __device__ inline FloatState thread_state(const T *row, const ThreadRows &rows,
													 int window, bool *outside)
	{
		FloatState s = FloatOp::identity();

		*outside = false;
		for (int i = 0; i < P::ITEMS; i++)
		{
			if (rows.heads >> i & 1)
			{
				s.sum = window_zero();
				s.seen = SEEN_HEAD;
				s.heads++;
			}
			if (rows.valid >> i & 1)
			{
				FloatState value = float_state_of((double) row[i], window);

				*outside |= (value.seen & SEEN_OUTSIDE) != 0;
				s = FloatOp::combine(s, value);
			}
		}
		return s;
	}

	/* All threads: the tile's state, in shared.total by thread 0; whether the rows fit the window. */
	static __device__ NOINLINE bool total(Shared &shared, const T *row, ThreadRows rows,
										  int window)
	{
		bool outside;
		FloatState s = thread_state(row, rows, window, &outside);

		s = BlockScan<FloatOp, P::THREADS>::reduce(s, shared.states);
		if (threadIdx.x == 0)
			shared.total = s;
		__syncthreads();
		return !outside;
	}

	/* All threads: the state of the tile's rows before the thread's, with what stands before. */
	static __device__ NOINLINE FloatState before(Shared &shared, const T *row, ThreadRows rows,
												 int window)
	{
		bool outside;
		FloatState s = thread_state(row, rows, window, &outside);
		FloatState total;

		s = BlockScan<FloatOp, P::THREADS>::exclusive(s, shared.states, &total);
		return FloatOp::combine(shared.before.state, s);
	}

	/* Results in place of the values; rows that overflow as bits. */
	static __device__ NOINLINE uint32_t results(T *row, ThreadRows rows, FloatState s,
												int window, bool exclusive)
	{
		uint32_t overflows = 0;

		for (int i = 0; i < P::ITEMS; i++)
		{
			double v = (double) row[i];
			FloatState at;
			bool overflow;

			if (rows.heads >> i & 1)
				s = FloatOp::identity();
			at = s;
			if (rows.valid >> i & 1)
				s = FloatOp::combine(s, float_state_of(v, window));
			if (!exclusive)
				at = s;
			row[i] = float_state_result<T>(at, window, &overflow);
			overflows |= (uint32_t) overflow << i;
		}
		return overflows;
	}
};

/* The bits of a sum in bins, and the tail of what stands before the tile, rounded. */
static __device__ NOINLINE uint64_t
round_with_tail(Bins sum, const Window *before, int shift, int window, bool odd)
{
	Window tail = window_low_bits(*before, shift);

	return window_round(window_add(tail, bins_to_window(sum, shift)), window, odd);
}

static __device__ __forceinline__ double
round_pair(double high, double low, double)
{
	return high + low;
}

static __device__ __forceinline__ float
round_pair(double high, double low, float)
{
	return round_to_float(high, low);
}

template <class P> struct FloatPipeline
{
	typedef typename P::T T;
	typedef typename P::Shared Shared;
	typedef FloatWide<P> Wide;

	static constexpr bool MARKED = P::MODE != FLOAT_PLAIN;
	static constexpr bool SEGMENTS = P::MODE == FLOAT_SEGMENTS;
	static constexpr uint32_t ALL = (uint32_t) ((UINT64_C(1) << P::ITEMS) - 1);

	const FloatColumn<T> &column;
	Shared &shared;
	LookBack<FloatOp> look;
	uint64_t known;	  /* tiles before that of shared.before */
	uint64_t ordinal; /* heads before it */
	uint64_t shared_end; /* where the tiles end that this block's threads share out */
	uint32_t share_count; /* of them the thread's */
	LookBackWords<FloatOp::Packed> ahead[LOOK_AHEAD];
	uint32_t parities;
	bool overflowed;
	bool outside;

	__device__ __forceinline__ FloatPipeline(const FloatColumn<T> &c, Shared &s)
		: column(c), shared(s), look(c.scratch), known(0), ordinal(0), shared_end(0), share_count(0), parities(0),
		  overflowed(false), outside(false)
	{
	}

	__device__ __forceinline__ bool comes_in_bulk(uint64_t tile) const
	{
		return BULK_COPY && aligned16(column.values) && (tile + 1) * P::ROWS <= column.nrows;
	}

	/* Thread 0: starts loading a tile, if there is one. */
	__device__ __forceinline__ void fill(int stage, uint64_t tile) const
	{
		shared.tile[stage] = tile;
		if (tile < column.tiles && comes_in_bulk(tile))
			copy_in(&shared.full[stage], shared.row[stage], column.values + tile * P::ROWS,
					(uint32_t) sizeof(shared.row[0]));
	}

	/* All threads of the block that has tile 0.  A head on row 0 cuts the carry off. */
	__device__ inline void publish_carry()
	{
		/* a stage that is not filled yet */
		static_assert(sizeof(GpuScanState) <= sizeof(shared.row[0]) && sizeof(GpuScanState) % 4 == 0,
					  "room for a state, in words");
		uint32_t *copy = (uint32_t *) shared.row[FLOAT_STAGES - 1];

		for (unsigned i = threadIdx.x; i < sizeof(GpuScanState) / 4; i += P::THREADS)
			copy[i] = ((const uint32_t *) column.state_in)[i];
		__syncthreads();
		if (threadIdx.x == 0)
		{
			FloatState carry = FloatOp::identity();

			if (column.heads == nullptr || column.nrows == 0 || !(column.heads[0] & 1))
				float_state_from_carry((const GpuScanState *) copy, column.window, &carry);
			outside |= (carry.seen & SEEN_OUTSIDE) != 0;
			look.publish_carry(carry);
		}
		copy_out_fence();
		__syncthreads();
	}

	/* Row 0 starts anew in any case. */
	__device__ __forceinline__ ThreadRows load_bits(uint64_t tile) const
	{
		ThreadRows rows = {ALL, ALL, 0};
		uint64_t row = tile * P::ROWS + threadIdx.x * P::ITEMS;

		if ((tile + 1) * P::ROWS > column.nrows)
		{
			uint64_t left = row < column.nrows ? column.nrows - row : 0;

			rows.present = left < P::ITEMS ? (1u << left) - 1 : ALL;
			rows.valid = rows.present;
		}
		if (MARKED && column.validity != nullptr)
			rows.valid = tile_bits(column.validity, row, P::ITEMS, column.nrows);
		if (MARKED && column.heads != nullptr)
			rows.heads = tile_bits(column.heads, row, P::ITEMS, column.nrows);
		if (MARKED && row == 0)
			rows.heads &= ~1u;
		return rows;
	}

	/*
	 * What kind of values the tile has: the largest exponent field, beyond all
	 * when there is what bins do not take.  NULLs become 0.
	 */
	__device__ __forceinline__ int classify(T *row, uint32_t valid)
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

			/* only -0 and the least negative numbers have a sign and nothing else there */
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
	 * The sum of the thread's rows from the last head on; *rest: one of all its
	 * rows has bits below the bins.  Magic numbers are taken away at the end, modulo 2^64.
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
	 * All threads: the tile in bins at a place.  What stands before the thread's
	 * rows in the tile goes to thread_sum and thread_seen; *total is right in
	 * the last thread.  False when that place does not do.
	 */
	static __device__ __forceinline__ bool scan_bins(Shared &shared, const T *row,
													 const ThreadRows &rows, int place, int slot,
													 BinsSum *total)
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
			shared.warp[warp_id()] = {sum, seen | (rest ? SEEN_OUTSIDE : 0) | count << 8};
		__syncthreads();

		/* the warps before this one; both halves of the warp do the same */
		BinsSum w = {bins_zero(), 0};
		int k = lane % 16;

		if (k < P::WARPS)
			w = shared.warp[k];
		if (__any_sync(FULL_MASK, (w.seen & SEEN_OUTSIDE) != 0))
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

	/* All threads: waits for a tile, publishes its sum. */
	__device__ __forceinline__ ThreadRows reduce(int stage, int slot, uint64_t tile)
	{
		T *row = shared.row[stage] + threadIdx.x * P::ITEMS;
		ThreadRows rows = load_bits(tile);
		FloatWay way;
		BinsSum total;

		if (comes_in_bulk(tile))
		{
			copy_barrier_wait(&shared.full[stage], parities >> stage & 1);
			parities ^= 1u << stage;
		}
		else
		{
			uint64_t left = column.nrows - tile * P::ROWS;

			tile_load<P::ROWS>(shared.row[stage], column.values + tile * P::ROWS,
							   left < P::ROWS ? (int) left : P::ROWS, (T) 0);
			__syncthreads();
		}
		way.exponent = classify(row, rows.valid);
		way.place = bins_place(way.exponent, ROOM_FIRST, column.window);
		way.bins = !column.wide && way.exponent < 0x7ff &&
				   way.exponent + 52 <= 32 * column.window + WINDOW_VALUE_BITS;
		while (way.bins && !scan_bins(shared, row, rows, way.place, slot, &total))
		{
			int least = bins_place(way.exponent, ROOM_LEAST, column.window);

			way.bins = way.place > least;
			way.place = least;
			__syncthreads();
		}
		if (!way.bins)
			outside |= !Wide::total(shared, row, rows, column.window);
		if (threadIdx.x == P::THREADS - 1)
		{
			FloatState s;

			if (way.bins)
			{
				s.sum = bins_to_window(total.sum, way.place - 32 * column.window);
				s.seen = total.seen & 0xff;
				s.seen |= s.seen & SEEN_VALUE ? SEEN_NOT_NEGZERO : 0;
				s.heads = total.seen >> 8;
			}
			else
				s = shared.total;
			look.publish(tile, s);
			way.heads = s.heads;
			way.at = bins_at(way.place);
			shared.way[slot] = way;
		}
		return rows;
	}

	/* The combination over the warp, in lane order, in every lane. */
	static __device__ __forceinline__ FloatPieces combine_lanes(FloatPieces p)
	{
		const uint32_t plain = SEEN_VALUE | SEEN_NOT_NEGZERO | SEEN_HEAD;
		uint32_t heads = MARKED ? __ballot_sync(FULL_MASK, (p.seen & SEEN_HEAD) != 0) : 0;
		bool counts = heads >> lane_id() <= 1; /* no later lane starts anew */
		uint32_t seen = counts ? p.seen : 0;

		UNROLL
		for (int k = 0; k < PIECES; k++)
			p.piece[k] = warp_reduce_add(counts ? p.piece[k] : 0u);
		if (SEGMENTS)
			p.heads = warp_reduce_add(p.heads);
		p.seen = heads != 0 ? SEEN_HEAD : 0;
		p.seen |= __any_sync(FULL_MASK, (seen & SEEN_VALUE) != 0) ? SEEN_VALUE : 0;
		p.seen |= __any_sync(FULL_MASK, (seen & SEEN_NOT_NEGZERO) != 0) ? SEEN_NOT_NEGZERO : 0;
		if (__any_sync(FULL_MASK, (seen & ~plain) != 0))
			for (uint32_t mark = 1; mark < SEEN_HEAD; mark *= 2)
				p.seen |= __any_sync(FULL_MASK, (seen & mark) != 0) ? mark : 0;
		return p;
	}

	/* Begins to load the first of the thread's share of the tiles from `known` to `to` - 1. */
	__device__ __forceinline__ void look_ahead(uint64_t to)
	{
		uint64_t end = to - known > 1u << 18 ? known + (1u << 18) : to;
		uint64_t each = divide_up(end - known, P::THREADS);
		uint64_t first = known + threadIdx.x * each;

		shared_end = end;
		share_count = first >= end ? 0 : (uint32_t) (end - first < each ? end - first : each);
		UNROLL
		for (uint32_t i = 0; i < LOOK_AHEAD; i++)
		{
			ahead[i] = {};
			if (i < share_count)
				ahead[i].load(look.slot(first + i));
		}
	}

	/* The state of the thread's share; waits for its tiles. */
	__device__ __forceinline__ FloatState share()
	{
		uint64_t each = divide_up(shared_end - known, P::THREADS);
		uint64_t first = known + threadIdx.x * each;
		FloatState s = FloatOp::identity();

		UNROLL
		for (uint32_t i = 0; i < LOOK_AHEAD; i++)
			if (i < share_count)
				s = FloatOp::combine(
					s, FloatOp::unpack(ahead[i].wait(look.slot(first + i), look.tag)));
		for (uint32_t i = LOOK_AHEAD; i < share_count; i++)
		{
			LookBackWords<FloatOp::Packed> found;

			found.load(look.slot(first + i));
			s = FloatOp::combine(s,
								 FloatOp::unpack(found.wait(look.slot(first + i), look.tag)));
		}
		return s;
	}

	/*
	 * All threads, after look_ahead(): brings shared.before up to what stands
	 * before a tile; a barrier at its end.  Takes 2^18 tiles at a time, whose heads are less than
	 * 2^30.
	 */
	__device__ __forceinline__ void gather(uint64_t tile, int slot)
	{
		bool more;

		do
		{
			FloatPieces p = {};

			if (__any_sync(FULL_MASK, share_count > 0))
			{
				FloatState s = share();

				UNROLL
				for (int k = 0; k < PIECES; k++)
					p.piece[k] = window_piece(s.sum, k * PIECE_BITS, PIECE_BITS);
				p.seen = s.seen;
				p.heads = s.heads;
				p = combine_lanes(p);
			}
			if (lane_id() == 0)
				shared.gathered[warp_id()] = p;
			__syncthreads();
			more = shared_end != tile;
			if (warp_id() == 0)
			{
				p = {};
				if (lane_id() < P::WARPS)
					p = shared.gathered[lane_id()];
				p = combine_lanes(p);
				if (lane_id() == 0)
					add_gathered(p);
				if (!more)
					set_bins(shared.before, shared.way[slot].place, column.window);
			}
			__syncthreads();
			if (SEGMENTS)
				ordinal += shared.gathered_heads;
			known = shared_end;
			if (more)
				look_ahead(tile);
		} while (more);
	}

	/* Pieces of 32 bits do not overlap with the next but one. */
	static __device__ __forceinline__ Window pieces_sum(const FloatPieces &p)
	{
		Window sum[2] = {window_zero(), window_zero()};

		UNROLL
		for (int k = 0; k < PIECES; k++)
		{
			int limb = k * PIECE_BITS / 64;
			int shift = k * PIECE_BITS % 64;

			sum[k % 2].limb[limb] |= (uint64_t) p.piece[k] << shift;
			if (shift > 32 && limb + 1 < WINDOW_LIMBS)
				sum[k % 2].limb[limb + 1] |= (uint64_t) p.piece[k] >> (64 - shift);
		}
		return window_add(sum[0], sum[1]);
	}

	/* Thread 0, for gather(). */
	__device__ __forceinline__ void add_gathered(const FloatPieces &p)
	{
		FloatState s;

		s.sum = pieces_sum(p);
		s.seen = p.seen;
		s.heads = p.heads;
		if (known > 0)
			s = FloatOp::combine(shared.before.state, s);
		else if (column.state_in != nullptr)
			s = FloatOp::combine(look.carry(), s);
		shared.before.state = s;
		shared.gathered_heads = p.heads;
		outside |= !window_fits(s.sum, WINDOW_BITS - 2);
	}

	/* A warp: what stands before the tile in bins at this place; a lane a part of it. */
	static __device__ __forceinline__ void set_bins(FloatBefore &before, int place, int window)
	{
		const Window &w = before.state.sum;
		int shift = place - 32 * window;
		int part = lane_id();

		__syncwarp(FULL_MASK);
		if (part < NBINS)
		{
			int64_t bits = (int64_t) window_bits(w, shift + BIN_BITS * (NBINS - 1 - part));

			before.sum.bin[part] = part == 0 ? bits : bits & BIN_MASK;
		}
		else if (part == NBINS)
			before.tail = window_any_below(w, shift) ? double_of(place_bits(place - 1)) : 0;
		else if (part == NBINS + 1)
			before.fits = place <= BINS_MAX_PLACE && float_state_plain(before.state.seen) &&
						  window_fits(w, shift + BINS_SPAN - 1);
	}

	/*
	 * All threads: a tile, its bins being too small for what stands before it,
	 * again in others, or for the wide way.
	 */
	static __device__ NOINLINE void refit(Shared &shared, const T *row, ThreadRows rows, int slot,
										  int window)
	{
		FloatBefore &before = shared.before;
		FloatWay way = shared.way[slot];
		BinsSum total;
		int least = window_length(before.state.sum) + 1 + 32 * window - BINS_SPAN;

		way.place = bins_place(way.exponent, ROOM_LEAST, window);
		if (way.place < least)
			way.place = least;
		way.bins = float_state_plain(before.state.seen) &&
				   scan_bins(shared, row, rows, way.place, slot, &total);
		__syncthreads();
		if (warp_id() == 0 && way.bins)
			set_bins(before, way.place, window);
		if (threadIdx.x == 0)
		{
			way.at = bins_at(way.place);
			shared.way[slot] = way;
		}
		__syncthreads();
	}

	/*
	 * Results in place of the thread's values; rows that overflow as bits.  `sum`
	 * has been lifted.  TAIL: `tail` may be other than 0.
	 */
	template <bool TAIL>
	__device__ __forceinline__ uint32_t scan_rows(T *row, const ThreadRows &rows,
												  const FloatWay &way, Bins sum, double tail)
	{
		const BinsPlace at = way.at;
		double waiting = 0;
		uint32_t overflows = 0;

		UNROLL
		for (int i = 0; i < P::ITEMS; i++)
		{
			double v = (double) row[i];
			double high;
			double low;
			T result;

			if (MARKED)
			{
				bool head = rows.heads >> i & 1;
				Bins none = bins_zero();

				bins_lift(none);
				UNROLL
				for (int k = 0; k < NBINS; k++)
					sum.bin[k] = head ? none.bin[k] : sum.bin[k];
				tail = head ? 0 : tail;
				waiting = head ? 0 : waiting;
			}
			bins_deposit(sum, column.exclusive ? waiting : v, at);
			waiting = v;
			bins_round(sum, at, TAIL ? tail : 0, &high, &low);
			result = round_pair(high, low, T());
			if (TAIL && tail != 0 && bins_too_close(high, way.place))
				result = round_wide(sum, way.place);
			if (sizeof(T) < sizeof(double))
				overflows |= (uint32_t) !bits_finite(bits_of((double) result)) << i;
			row[i] = result;
		}
		return overflows;
	}

	__device__ __forceinline__ T round_wide(Bins sum, int place) const
	{
		/* put down again */
		UNROLL
		for (int i = 1; i < NBINS; i++)
			sum.bin[i] -= BIN_HALF;
		return float_result(round_with_tail(sum, &shared.before.state.sum,
											place - 32 * column.window, column.window,
											sizeof(T) < sizeof(double)),
							T());
	}

	/* Status bytes of the thread's rows. */
	__device__ __forceinline__ void set_status(const ThreadRows &rows, bool seen,
											   uint32_t overflows) const
	{
		uint8_t *status = shared.status + threadIdx.x * P::ITEMS;

		UNROLL
		for (int i = 0; i < P::ITEMS; i++)
		{
			bool before;

			if (rows.heads >> i & 1)
				seen = false;
			before = seen;
			seen |= rows.valid >> i & 1;
			status[i] = overflows >> i & 1						? GPUAGG_ROW_OVERFLOW
						: (column.exclusive ? before : seen) ? GPUAGG_ROW_VALUE
															  : GPUAGG_ROW_NULL;
		}
	}

	/* The thread's first sum, lifted: what stands before the tile, and the tile's rows before. */
	__device__ __forceinline__ Bins first_sum(int slot, uint32_t *marks, double *tail) const
	{
		Bins sum;

		*marks = shared.thread_seen[slot][threadIdx.x];
		*tail = 0;
		UNROLL
		for (int i = 0; i < NBINS; i++)
			sum.bin[i] = shared.thread_sum[slot][i][threadIdx.x];
		if (!(*marks & SEEN_HEAD))
		{
			bins_add(sum, shared.before.sum);
			*marks |= shared.before.state.seen & SEEN_VALUE;
			*tail = shared.before.tail;
		}
		bins_lift(sum);
		return sum;
	}

	/* All threads: the results of a tile in place of its values, its statuses in shared.status. */
	__device__ __forceinline__ void results(int stage, int slot, const ThreadRows &rows)
	{
		T *row = shared.row[stage] + threadIdx.x * P::ITEMS;
		const FloatWay &way = shared.way[slot];
		uint32_t overflows;
		bool seen;

		if (way.bins)
		{
			uint32_t marks;
			double tail;
			Bins sum = first_sum(slot, &marks, &tail);

			seen = (marks & SEEN_VALUE) != 0;
			overflows = shared.before.tail != 0 ? scan_rows<true>(row, rows, way, sum, tail)
												: scan_rows<false>(row, rows, way, sum, 0);
		}
		else
		{
			FloatState s = Wide::before(shared, row, rows, column.window);

			seen = (s.seen & SEEN_VALUE) != 0;
			overflows = Wide::results(row, rows, s, column.window, column.exclusive);
		}
		overflows &= rows.present;
		overflowed |= overflows != 0;
		if (column.status != nullptr)
			set_status(rows, seen, overflows);
	}

	/* The result of a segment, number `local` of those that end in the tile. */
	__device__ __forceinline__ void end_segment(T *out, uint32_t local, T result, bool seen,
												bool overflow)
	{
		out[local] = result;
		overflowed |= overflow;
		if (column.status != nullptr)
			column.status[ordinal + local] = !seen		? GPUAGG_ROW_NULL
											 : overflow ? GPUAGG_ROW_OVERFLOW
														: GPUAGG_ROW_VALUE;
	}

	/* All threads: a result for each head, of the segment that it ends, into `out`. */
	__device__ __forceinline__ void segments(int stage, int slot, const ThreadRows &rows, T *out)
	{
		const T *row = shared.row[stage] + threadIdx.x * P::ITEMS;
		const FloatWay &way = shared.way[slot];

		if (way.bins)
		{
			const BinsPlace at = way.at;
			uint32_t marks;
			double tail;
			Bins sum = first_sum(slot, &marks, &tail);
			uint32_t local = marks >> 8;
			bool seen = (marks & SEEN_VALUE) != 0;

			UNROLL
			for (int i = 0; i < P::ITEMS; i++)
			{
				if (rows.heads >> i & 1)
				{
					double high;
					double low;
					T result;

					bins_round(sum, at, tail, &high, &low);
					result = round_pair(high, low, T());
					if (tail != 0 && bins_too_close(high, way.place))
						result = round_wide(sum, way.place);
					end_segment(out, local++, result, seen,
								!bits_finite(bits_of((double) result)));
					sum = bins_zero();
					bins_lift(sum);
					tail = 0;
					seen = false;
				}
				bins_deposit(sum, (double) row[i], at);
				seen |= rows.valid >> i & 1;
			}
		}
		else
		{
			FloatState s = Wide::before(shared, row, rows, column.window);
			uint32_t local = s.heads - shared.before.state.heads;

			for (int i = 0; i < P::ITEMS; i++)
			{
				if (rows.heads >> i & 1)
				{
					bool overflow;
					T result = float_state_result<T>(s, column.window, &overflow);

					end_segment(out, local++, result, (s.seen & SEEN_VALUE) != 0, overflow);
					s = FloatOp::identity();
				}
				if (rows.valid >> i & 1)
					s = FloatOp::combine(s, float_state_of((double) row[i], column.window));
			}
		}
	}

	/* All threads, after a barrier: results, and statuses, of a tile to global memory. */
	__device__ __forceinline__ void store(int stage, uint64_t tile) const
	{
		uint64_t first = tile * P::ROWS;
		uint64_t left = column.nrows - first;
		int n = left < P::ROWS ? (int) left : P::ROWS;
		T *to = column.results + first;

		if (n > 0)
			tile_store((char *) to, (const char *) shared.row[stage],
					   (uint32_t) (n * (int) sizeof(T)), BULK_COPY && aligned16(to));
		if (column.status != nullptr)
			for (int i = (int) threadIdx.x; i < n; i += P::THREADS)
				column.status[first + (unsigned) i] = shared.status[i];
	}

	/* All threads of the block that has the last tile, after gather() for it. */
	__device__ inline void finish(uint64_t tile, int slot)
	{
		GpuScanState *out = column.state_out;

		if (threadIdx.x == 0)
		{
			LookBackWords<FloatOp::Packed> total;

			total.load(look.slot(tile));
			shared.total = FloatOp::combine(
				shared.before.state, FloatOp::unpack(total.wait(look.slot(tile), look.tag)));
			if (SEGMENTS && column.nrows > 0)
			{
				bool overflow;
				uint32_t local = shared.way[slot].heads;
				T result = float_state_result<T>(shared.total, column.window, &overflow);

				end_segment(column.results + ordinal, local, result,
							(shared.total.seen & SEEN_VALUE) != 0, overflow);
			}
			if (SEGMENTS)
				*column.nsegments = column.nrows > 0 ? ordinal + shared.way[slot].heads + 1 : 0;
			if (out != nullptr)
				float_state_to_counts(shared.total.seen, out);
		}
		__syncthreads();
		if (out != nullptr && threadIdx.x < GPUAGG_CHUNKS)
			out->state.f.chunk[threadIdx.x] =
				window_chunk(shared.total.sum, column.window, (int) threadIdx.x);
	}
};

template <class P>
static __global__ void
__launch_bounds__(P::THREADS, P::BLOCKS) float_scan(FloatColumn<typename P::T> column)
{
	SHARED_LARGE(typename P::Shared, shared);
	FloatPipeline<P> pipe(column, shared);
	const bool single = column.tiles <= gridDim.x; /* a tile a block */
	uint64_t ticket = column.tiles;
	uint64_t tile;
	ThreadRows rows = {0, 0, 0};
	int stage = 0;
	int slot = 0;

	if (threadIdx.x == 0)
	{
		for (int i = 0; i < FLOAT_STAGES; i++)
			copy_barrier_init(&shared.full[i]);
		pipe.fill(0, pipe.look.take());
		if (!single)
			ticket = pipe.look.take();
	}
	__syncthreads();
	tile = shared.tile[0];
	if (tile == 0 && column.state_in != nullptr)
		pipe.publish_carry();
	if (threadIdx.x == 0)
	{
		pipe.fill(1, ticket);
		if (!single)
			ticket = pipe.look.take();
	}
	if (tile < column.tiles)
		rows = pipe.reduce(0, 0, tile);
	while (tile < column.tiles)
	{
		int after = stage + 1 < FLOAT_STAGES ? stage + 1 : 0;
		int refilled = after + 1 < FLOAT_STAGES ? after + 1 : 0;
		uint64_t next = shared.tile[after];
		ThreadRows next_rows = {0, 0, 0};

		pipe.look_ahead(tile);
		if (next < column.tiles)
			next_rows = pipe.reduce(after, slot ^ 1, next);
		if (threadIdx.x == 0)
		{
			copy_out_wait<0>();
			pipe.fill(refilled, ticket);
			if (!single)
				ticket = pipe.look.take();
		}
		pipe.gather(tile, slot);
		if (shared.way[slot].bins && !shared.before.fits)
			pipe.refit(shared, shared.row[stage] + threadIdx.x * P::ITEMS, rows, slot,
					   column.window);
		if constexpr (P::MODE == FLOAT_SEGMENTS)
		{
			typename P::T *to = column.results + pipe.ordinal;
			typename P::T *out = shared.out + (uintptr_t) to % 16 / sizeof(*to);
			uint32_t bytes = shared.way[slot].heads * (uint32_t) sizeof(*to);

			pipe.segments(stage, slot, rows, out);
			copy_out_fence();
			__syncthreads();
			tile_store((char *) to, (const char *) out, bytes, BULK_COPY);
		}
		else
		{
			pipe.results(stage, slot, rows);
			copy_out_fence();
			__syncthreads();
			pipe.store(stage, tile);
		}
		if (tile == column.tiles - 1)
			pipe.finish(tile, slot);
		tile = next;
		rows = next_rows;
		stage = after;
		slot ^= 1;
	}

	bool overflowed = __syncthreads_or(pipe.overflowed);
	bool outside = __syncthreads_or(pipe.outside);

	if (threadIdx.x == 0)
	{
		bool reports[LOOKBACK_REPORTS];

		copy_out_wait<0>();
		if (overflowed)
			pipe.look.report(REPORT_OVERFLOW);
		if (outside)
			pipe.look.report(REPORT_OUTSIDE);
		if (pipe.look.close(column.tiles, reports) && column.state_out != nullptr)
		{
			column.state_out->out_of_window = reports[REPORT_OUTSIDE];
			column.state_out->overflows = reports[REPORT_OVERFLOW];
		}
	}
}

/* A column without rows has one tile, for its state. */
static inline uint64_t
float_tiles(uint64_t nrows, int rows)
{
	return nrows == 0 ? 1 : divide_up(nrows, (uint64_t) rows);
}

template <class P>
static GpuaggReason
float_launch(FloatColumn<typename P::T> column, GpuStreamRef stream)
{
	/* a process has one device */
	static const unsigned resident =
		resident_blocks(float_scan<P>, P::THREADS, sizeof(typename P::Shared));

	column.tiles = float_tiles(column.nrows, P::ROWS);
	LAUNCH_LARGE(float_scan<P>, column.tiles < resident ? (unsigned) column.tiles : resident,
				 P::THREADS, sizeof(typename P::Shared), stream, column);
	return gpu_launch_status();
}

#endif /* GPUAGG_FLOAT_TILE_CUH */
