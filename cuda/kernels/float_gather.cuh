/*
 * float_gather.cuh
 *	  The prefix of a tile, from the aggregates that other blocks published.
 */
#ifndef GPUAGG_FLOAT_GATHER_CUH
#define GPUAGG_FLOAT_GATHER_CUH

#include "device/lookback.cuh"
#include "kernels/float_tile.cuh"

/* The look-back of one block; keeps shared.before, the prefix of its current tile. */
template <class P> struct FloatGather
{
	typedef FloatTile<P> Tile;
	typedef typename P::Shared Shared;

	LookBack<FloatOp> look;
	uint64_t known;	  /* tiles that shared.before combines */
	uint64_t ordinal; /* heads in them */

	__device__ __forceinline__ explicit FloatGather(void *scratch)
		: look(scratch), known(0), ordinal(0)
	{
	}

	/* The combination of the lanes with `mine`, in lane order, in every lane. */
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

	/* The sum of all pieces: of those at even and of those at odd places, each as eight words. */
	static __device__ __forceinline__ Sum256 pieces_sum(const FloatPieces &p)
	{
		Sum256 even;
		Sum256 odd;

		UNROLL
		for (int i = 0; i < SUM256_LIMBS; i++)
		{
			const uint32_t *piece = p.piece + 4 * i;
			uint32_t below = i > 0 ? piece[-1] >> 16 : 0;

			even.limb[i] = piece[0] | (uint64_t) piece[2] << 32;
			odd.limb[i] = below | (uint64_t) piece[1] << 16 | (uint64_t) piece[3] << 48;
		}
		return sum256_add(even, odd);
	}

	/* Waits for the thread's share, `each` tiles, of the tiles known .. end - 1; their state. */
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
	 * All threads: makes shared.before the prefix of a tile; ends with a barrier.
	 * Takes 2^18 tiles at a time, which have less than 2^30 heads.
	 */
	__device__ __forceinline__ void gather(Shared &shared, uint64_t tile, int slot,
										   const GpuScanState *state_in, int first_chunk,
										   bool *misfit)
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

				/* without a branch: the warp must not diverge */
				p = shared.gathered[mine ? lane_id() : 0];
				__syncwarp(FULL_MASK);
				p = combine_lanes(p, mine);
				if (lane_id() == 0)
				{
					shared.gathered_heads = p.heads;
					*misfit |= !add_gathered(shared.before.state, p, state_in != nullptr);
					if (!more)
						Tile::set_bins(shared.before, shared.way[slot].place, first_chunk);
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
		return sum256_fits(s.sum, SUM256_BITS - 2);
	}
};

#endif /* GPUAGG_FLOAT_GATHER_CUH */
