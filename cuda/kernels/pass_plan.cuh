/*
 * pass_plan.cuh
 *	  The shape of a kernel of pass_pipeline.cuh, and its shared memory.
 */
#ifndef GPUAGG_PASS_PLAN_CUH
#define GPUAGG_PASS_PLAN_CUH

#include "device/tile.cuh"
#include "kernels/scan_op.cuh"

/* One kernel: what it computes, and its shape. */
template <class Element, Mode M, int NCHUNKS, int NVECTORS, int NSTAGES, bool IS_LARGE = true>
struct Plan
{
	typedef Element E;
	typedef ScanOp<E, M> Op;
	typedef typename Op::State State;
	typedef typename E::Value Value;
	typedef typename E::Result Result;

	static constexpr Mode MODE = M;
	static constexpr bool LARGE = IS_LARGE; /* for devices with LARGE_SHARED */
	static constexpr int CHUNKS = NCHUNKS;	/* of a tile: reducers, and scanners */
	static constexpr int THREADS = (4 + 2 * CHUNKS) * WARP_SIZE;
	static constexpr int VECTORS = NVECTORS; /* of a lane */
	static constexpr int STAGES = NSTAGES;
	static constexpr int PER_VECTOR = 16 / (int) sizeof(Value);
	static constexpr int ITEMS = VECTORS * PER_VECTOR; /* rows of a lane */
	static constexpr int LANES = CHUNKS * WARP_SIZE;
	static constexpr int ROWS = LANES * ITEMS;
	static constexpr int BYTES = LANES * VECTORS * 16;

	/* results of rows replace the tile's values if the sizes agree */
	static constexpr bool IN_PLACE = M == SEGMENTS || sizeof(Result) == sizeof(Value);
	static constexpr int OUTS = IN_PLACE ? 1 : 2;
	static constexpr int OUT_BYTES = M == SEGMENTS ? BYTES
									 : IN_PLACE	   ? 16
												   : ROWS * (int) sizeof(Result);

	static_assert(VECTORS % 2 == 1, "no bank conflicts");
	static_assert(ITEMS < 32, "a lane's bits are one word");
	static_assert(ROWS <= TILE_ROWS_MAX && ROWS % 64 == 0, "see WideSum and bitmaps");
	static_assert(CHUNKS <= WARP_SIZE, "the publisher has a lane for each");

	/* A lane's rows of a tile in the bitmaps. */
	struct Bits
	{
		uint32_t valid;
		uint32_t heads;
	};

	struct Shared
	{
		alignas(128) char stage[STAGES][BYTES];
		alignas(16) char out[OUTS][OUT_BYTES];
		CopyBarrier known[STAGES]; /* tile[] is set */
		CopyBarrier loaded[STAGES];
		CopyBarrier reduced[STAGES];
		CopyBarrier published[STAGES];
		CopyBarrier placed[STAGES];
		CopyBarrier scanned[STAGES];
		CopyBarrier stored[STAGES];
		CopyBarrier left[OUTS]; /* out[] has been written out */
		uint32_t tile[STAGES];
		uint64_t ordinal[STAGES];			/* SEGMENTS: heads before the tile */
		State before_lane[STAGES][LANES];	/* within the chunk */
		State before_chunk[STAGES][CHUNKS]; /* within the tile; at first the chunk's own total */
		State total[STAGES];
		State before[STAGES]; /* before the tile */
		Bits bits[MODE == PLAIN ? 1 : STAGES][MODE == PLAIN ? 1 : LANES];
		uint32_t overflowed; /* a result did */
	};
};

#endif /* GPUAGG_PASS_PLAN_CUH */
