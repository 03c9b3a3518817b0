/*
 * float_gather.cuh
 *	  What stands before a tile, from the aggregates of other blocks.
 */
#ifndef GPUAGG_FLOAT_GATHER_CUH
#define GPUAGG_FLOAT_GATHER_CUH

#include "kernels/float_tile.cuh"
#include "device/lookback.cuh"

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

	/* The combination over the lanes that have something, in lane order, in every lane. */
	static __device__ __forceinline__ FloatPieces combine_lanes(FloatPieces p, bool mine)
	{
		const uint32_t plain = SEEN_VALUE | SEEN_NOT_NEGZERO | SEEN_HEAD;
		uint32_t heads = Tile::MARKED ? __ballot_sync(FULL_MASK, mine && (p.seen & SEEN_HEAD) != 0)
									  : 0;
		bool counts = mine && heads >> lane_id() <= 1; /* no later lane starts anew */
		uint32_t seen = counts ? p.seen : 0;

		UNROLL
		for (int k = 0; k < PIECES; k++)
			p.piece[k] = warp_reduce_add(counts ? p.piece[k] : 0u);
		if (Tile::SEGMENTS)
			p.heads = warp_reduce_add(mine ? p.heads : 0u);
		p.seen = heads != 0 ? SEEN_HEAD : 0;
		p.seen |= __any_sync(FULL_MASK, (seen & SEEN_VALUE) != 0) ? SEEN_VALUE : 0;
		p.seen |= __any_sync(FULL_MASK, (seen & SEEN_NOT_NEGZERO) != 0) ? SEEN_NOT_NEGZERO : 0;
		if (__any_sync(FULL_MASK, (seen & ~plain) != 0))
			for (uint32_t mark = 1; mark < SEEN_HEAD; mark *= 2)
				p.seen |= __any_sync(FULL_MASK, (seen & mark) != 0) ? mark : 0;
		return p;
	}

	/* The window: two numbers of eight words, the pieces at even places and those at odd ones. */
	static __device__ __forceinline__ Window pieces_sum(const FloatPieces &p)
	{
		Window even;
		Window odd;

		UNROLL
		for (int i = 0; i < WINDOW_LIMBS; i++)
		{
			const uint32_t *piece = p.piece + 4 * i;
			uint32_t below = i > 0 ? piece[-1] >> 16 : 0;

			even.limb[i] = piece[0] | (uint64_t) piece[2] << 32;
			odd.limb[i] = below | (uint64_t) piece[1] << 16 | (uint64_t) piece[3] << 48;
		}
		return window_add(even, odd);
	}

	/*
	 * The state of the thread's share of the tiles from `known` to `end` - 1, of
	 * which each thread has `each`; waits for them.
	 */
	__device__ __forceinline__ FloatState share(uint64_t end, uint64_t each) const
	{
		uint64_t tile = known + threadIdx.x * each;
		FloatState s = FloatOp::identity();

		for (uint64_t last = tile + each; tile < last && tile < end; tile++)
		{
			LookBackWords<FloatOp::Packed> found;

			found.load(look.slot(tile));
			s = FloatOp::combine(s, FloatOp::unpack(found.wait(look.slot(tile), look.tag)));
		}
		return s;
	}

	/*
	 * All threads: brings shared.before up to what stands before a tile; a
	 * barrier at its end.  Takes 2^18 tiles at a time, whose heads are less than
	 * 2^30.
	 */
	__device__ __forceinline__ void gather(Shared &shared, uint64_t tile, int slot,
										   const GpuScanState *state_in, int window, bool *outside)
	{
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
					p.piece[k] = (uint32_t) (s.sum.limb[k / 4] >> (16 * (k % 4))) & 0xffff;
				p.seen = s.seen;
				p.heads = s.heads;
				p = combine_lanes(p, true);
			}
			if (lane_id() == 0)
				shared.gathered[warp_id()] = p;
			__syncthreads();
			more = end != tile;
			if (warp_id() == 0)
			{
				bool mine = lane_id() < P::WARPS;

				/* without a branch, so that the warp stays together */
				p = shared.gathered[mine ? lane_id() : 0];
				__syncwarp(FULL_MASK);
				p = combine_lanes(p, mine);
				if (lane_id() == 0)
				{
					shared.gathered_heads = p.heads;
					*outside |= !add_gathered(shared.before.state, p, state_in != nullptr);
					if (!more)
						Tile::set_bins(shared.before, shared.way[slot].place, window);
				}
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
