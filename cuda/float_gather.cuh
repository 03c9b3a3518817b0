/*
 * float_gather.cuh
 *	  What stands before a tile, from the aggregates of other blocks.
 */
#ifndef GPUAGG_FLOAT_GATHER_CUH
#define GPUAGG_FLOAT_GATHER_CUH

#include "float_tile.cuh"
#include "lookback.cuh"

#ifndef V_WARP
#define V_WARP 1
#endif
#ifndef AT_A_TIME
#define AT_A_TIME 1 /* aggregates that a thread loads */
#endif

/* The look-back of one block; brings shared.before from tile to tile. */
template <class P> struct FloatGather
{
	typedef FloatTile<P> Tile;
	typedef typename P::Shared Shared;

	LookBack<FloatOp> look;
	uint64_t known;	  /* tiles before that of shared.before */
	uint64_t ordinal; /* heads in them */

	__device__ __forceinline__ explicit FloatGather(void *scratch)
		: look(scratch), known(0), ordinal(0)
	{
	}

	/* The combination over the warp, in lane order, in every lane. */
	static __device__ __forceinline__ FloatPieces combine_lanes(FloatPieces p)
	{
		const uint32_t plain = SEEN_VALUE | SEEN_NOT_NEGZERO | SEEN_HEAD;
		uint32_t heads = Tile::MARKED ? __ballot_sync(FULL_MASK, (p.seen & SEEN_HEAD) != 0) : 0;
		bool counts = heads >> lane_id() <= 1; /* no later lane starts anew */
		uint32_t seen = counts ? p.seen : 0;

		UNROLL
		for (int k = 0; k < PIECES; k++)
			p.piece[k] = warp_reduce_add(counts ? p.piece[k] : 0u);
		if (Tile::SEGMENTS)
			p.heads = warp_reduce_add(p.heads);
		p.seen = heads != 0 ? SEEN_HEAD : 0;
		p.seen |= __any_sync(FULL_MASK, (seen & SEEN_VALUE) != 0) ? SEEN_VALUE : 0;
		p.seen |= __any_sync(FULL_MASK, (seen & SEEN_NOT_NEGZERO) != 0) ? SEEN_NOT_NEGZERO : 0;
		if (__any_sync(FULL_MASK, (seen & ~plain) != 0))
			for (uint32_t mark = 1; mark < SEEN_HEAD; mark *= 2)
				p.seen |= __any_sync(FULL_MASK, (seen & mark) != 0) ? mark : 0;
		return p;
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

	/*
	 * The state of the thread's share of the tiles from `known` to `end` - 1, of
	 * which each thread has `each`; waits for them.
	 */
	__device__ __forceinline__ FloatState share(uint64_t end, uint64_t each) const
	{
		uint64_t tile = known + threadIdx.x * each;
		FloatState s = FloatOp::identity();

		for (uint64_t last = tile + each; tile < last && tile < end; tile += AT_A_TIME)
		{
			LookBackWords<FloatOp::Packed> found[AT_A_TIME];

			UNROLL
			for (int i = 0; i < AT_A_TIME; i++)
				if (tile + i < last && tile + i < end)
					found[i].load(look.slot(tile + i));
			UNROLL
			for (int i = 0; i < AT_A_TIME; i++)
				if (tile + i < last && tile + i < end)
					s = FloatOp::combine(
						s, FloatOp::unpack(found[i].wait(look.slot(tile + i), look.tag)));
		}
		return s;
	}

	/*
	 * All threads: brings shared.before up to what stands
	 * before a tile; a barrier at its end.  Takes 2^18 tiles at a time, whose
	 * heads are less than 2^30.  Warp 1 does what is left when the warps are
	 * done; thread 0 calls meanwhile() at that time.
	 */
	template <class F>
	__device__ __forceinline__ void gather(Shared &shared, uint64_t tile, int slot,
										   const GpuScanState *state_in, int window, bool *outside,
										   F meanwhile)
	{
#ifdef V_BEFORE
		if (threadIdx.x == 0)
			meanwhile();
#endif
		bool first = true;
		bool more;

		do
		{
			uint64_t end = tile - known > 1u << 18 ? known + (1u << 18) : tile;
			uint64_t each = divide_up(end - known, P::THREADS);
			FloatPieces p = {};

			if ((uint64_t) warp_id() * WARP_SIZE * each < end - known)
			{
				FloatState s = share(end, each);

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
			more = end != tile;
#ifndef V_BEFORE
			if (threadIdx.x == 0 && first)
				meanwhile();
#endif
			first = false;
			if (warp_id() == V_WARP)
			{
				p = {};
				if (lane_id() < P::WARPS)
					p = shared.gathered[lane_id()];
				p = combine_lanes(p);
				if (lane_id() == 0)
				{
					shared.gathered_heads = p.heads;
					*outside |= !add_gathered(shared.before.state, p, state_in != nullptr);
				}
				if (!more)
					Tile::set_bins(shared.before, shared.way[slot].place, window);
			}
			__syncthreads();
			if (Tile::SEGMENTS)
				ordinal += shared.gathered_heads;
			known = end;
		} while (more);
	}

	/* One thread: adds what has been gathered; false when the sum has become too large. */
	__device__ __forceinline__ bool add_gathered(FloatState &before, const FloatPieces &p,
												 bool carried) const
	{
		FloatState s;

		s.sum = pieces_sum(p);
		s.seen = p.seen;
		s.heads = p.heads;
		if (known > 0)
			s = FloatOp::combine(before, s);
		else if (carried)
			s = FloatOp::combine(look.carry(), s);
		before = s;
		return window_fits(s.sum, WINDOW_BITS - 2);
	}
};

#endif /* GPUAGG_FLOAT_GATHER_CUH */
