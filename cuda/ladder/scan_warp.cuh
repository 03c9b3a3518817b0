/*
 * scan_warp.cuh
 *	  Scans whose tile is a warp's 32 rows.
 */
#ifndef GPUAGG_LADDER_SCAN_WARP_CUH
#define GPUAGG_LADDER_SCAN_WARP_CUH

#include "ladder/ladder_scan.cuh"

template <class P> struct SharedWarps
{
	typename P::State value[LADDER_THREADS];
};

/*
 * In shared memory, with warp barriers only.  An exclusive scan reads the
 * neighbour's sum, at a head the policy's start().
 */
template <class P, bool EXCLUSIVE>
static __global__ void
__launch_bounds__(LADDER_THREADS) warp_shared(uint64_t first, ScanSource<P> in, uint64_t n,
											  ScanSink<P> out, typename P::State *totals)
{
	SHARED(SharedWarps<P>, shared);
	typename P::State *value = shared.value + warp_id() * WARP_SIZE;
	uint64_t i = ladder_block(first) * blockDim.x + threadIdx.x;
	int lane = lane_id();
	typename P::State sum = in.at_or_identity(i, n);

	value[lane] = sum;
	for (int distance = 1; distance < WARP_SIZE; distance *= 2)
	{
		__syncwarp(FULL_MASK);
		if (lane >= distance)
			sum = P::combine(value[lane - distance], sum);
		__syncwarp(FULL_MASK);
		value[lane] = sum;
	}
	__syncwarp(FULL_MASK);
	if (i < n && totals != NULL && lane == 0)
		totals[i / WARP_SIZE] = value[WARP_SIZE - 1];
	if (EXCLUSIVE)
		sum = lane == 0 ? P::identity() : value[lane - 1];
	if (i < n)
		out.put(i, EXCLUSIVE && in.starts(i) ? P::start() : sum);
}

/* In registers.  An exclusive result is the sum minus the row, where that is exact. */
template <class P, bool SUBTRACT>
static __global__ void
__launch_bounds__(LADDER_THREADS) warp_shuffle(uint64_t first, ScanSource<P> in, uint64_t n,
											   ScanSink<P> out, typename P::State *totals)
{
	uint64_t i = ladder_block(first) * blockDim.x + threadIdx.x;
	typename P::State row = in.at_or_identity(i, n);
	typename P::State sum = warp_scan<P>(row);
	typename P::State total = warp_shfl(sum, WARP_SIZE - 1);

	if constexpr (SUBTRACT)
		sum = P::subtract(sum, row);
	if (i < n)
	{
		out.put(i, sum);
		if (totals != NULL && lane_id() == 0)
			totals[i / WARP_SIZE] = total;
	}
}

struct TileOfWarp
{
	static uint64_t tile(unsigned)
	{
		return WARP_SIZE;
	}
	static uint64_t tiles(unsigned threads)
	{
		return threads / WARP_SIZE;
	}
};

struct WarpShared : TileOfWarp
{
	template <class P> static constexpr bool shifts()
	{
		return true;
	}
	template <class P> static TileKernel<P> kernel(bool exclusive)
	{
		return exclusive ? warp_shared<P, true> : warp_shared<P, false>;
	}
};

struct WarpShuffle : TileOfWarp
{
	template <class P> static constexpr bool shifts()
	{
		return P::SUBTRACTS;
	}
	template <class P> static TileKernel<P> kernel(bool exclusive)
	{
		if constexpr (P::SUBTRACTS)
			if (exclusive)
				return warp_shuffle<P, true>;
		return warp_shuffle<P, false>;
	}
};

template <class P>
static void
scan_warp(LadderRun *run, const P &policy)
{
	ScanSource<P> in = source_of_column(run, policy);
	ScanSink<P> out = sink_to_results(run, policy);
	uint64_t n = run->ladder.nrows;

	if (run->ladder.algorithm == GPUAGG_ALG_WARP_SHARED)
		scan_tiles<WarpShared>(run, in, n, out);
	else
		scan_tiles<WarpShuffle>(run, in, n, out);
}

#endif /* GPUAGG_LADDER_SCAN_WARP_CUH */
