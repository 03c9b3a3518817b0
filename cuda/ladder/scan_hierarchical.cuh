/*
 * scan_hierarchical.cuh
 *	  Scans from warp to block to grid.
 */
#ifndef GPUAGG_LADDER_SCAN_HIERARCHICAL_CUH
#define GPUAGG_LADDER_SCAN_HIERARCHICAL_CUH

#include "ladder/scan_block.cuh"

/* Strips of 32 rows that a warp scans, in registers. */
template <class P> constexpr int STRIPS = sizeof(typename P::State) > 8 ? 4 : 8;

/*
 * Blocks of one grid of grid_hierarchical: one block scans their totals.  Fewer on
 * the simulated device, so that tests need several grids.
 */
#ifdef GPUAGG_SIM
#define GRID_THREADS 32
template <class P> constexpr uint64_t GRID_BLOCKS = 40;
#else
#define GRID_THREADS 1024
template <class P> constexpr uint64_t GRID_BLOCKS = GRID_THREADS *STRIPS<P>;
#endif

/* Inclusive sums of the block's warps, in order. */
template <class P> struct WarpTotals
{
	typename P::State warp[WARP_SIZE];
};

/* The combination of all warps before this one, from each warp's total; two barriers. */
template <class P>
static __device__ __forceinline__ typename P::State
before_warp(typename P::State sum, WarpTotals<P> &shared)
{
	int warps = (int) (blockDim.x / WARP_SIZE);

	if (lane_id() == WARP_SIZE - 1)
		shared.warp[warp_id()] = sum;
	__syncthreads();
	if (warp_id() == 0)
	{
		typename P::State total = lane_id() < warps ? shared.warp[lane_id()] : P::identity();

		shared.warp[lane_id()] = warp_scan<P>(total);
	}
	__syncthreads();
	return warp_id() > 0 ? shared.warp[warp_id() - 1] : P::identity();
}

/* Warps scan, one warp scans their totals, each row is combined with its warp's prefix. */
template <class P>
static __global__ void
__launch_bounds__(LADDER_THREADS) block_hierarchical(uint64_t first, ScanSource<P> in, uint64_t n,
													 ScanSink<P> out, typename P::State *totals)
{
	SHARED(WarpTotals<P>, shared);
	uint64_t tile = ladder_block(first);
	uint64_t i = tile * blockDim.x + threadIdx.x;
	typename P::State sum = warp_scan<P>(in.at_or_identity(i, n));

	sum = P::combine(before_warp<P>(sum, shared), sum);
	if (i < n)
		out.put(i, sum);
	if (totals != NULL && threadIdx.x == blockDim.x - 1)
		totals[tile] = sum;
}

/*
 * The block's tile, STRIPS rows a thread: strips of a warp, then as in
 * block_hierarchical.  Row k of a thread is k * 32 rows after its first.
 */
template <class P> struct StripTile
{
	typename P::State sum[STRIPS<P>];
	uint64_t row; /* of sum[0] */

	/* start: the tile's first row; n: rows of the column. */
	__device__ __forceinline__ void scan(const ScanSource<P> &in, uint64_t start, uint64_t n,
										 WarpTotals<P> &shared)
	{
		typename P::State before;

		row = start + threadIdx.x + warp_id() * (STRIPS<P> - 1) * WARP_SIZE;
		UNROLL
		for (int k = 0; k < STRIPS<P>; k++)
			sum[k] = in.at_or_identity(row + k * WARP_SIZE, n);
		UNROLL
		for (int k = 0; k < STRIPS<P>; k++)
			sum[k] = warp_scan<P>(sum[k]);
		UNROLL
		for (int k = 1; k < STRIPS<P>; k++)
			sum[k] = P::combine(warp_shfl(sum[k - 1], WARP_SIZE - 1), sum[k]);
		before = before_warp<P>(sum[STRIPS<P> - 1], shared);
		UNROLL
		for (int k = 0; k < STRIPS<P>; k++)
			sum[k] = P::combine(before, sum[k]);
	}

	/* In the block's last thread: the total of the tile. */
	__device__ __forceinline__ typename P::State total() const
	{
		return sum[STRIPS<P> - 1];
	}
};

/*
 * Scans rows start .. end - 1 within tiles, into scanned[0] and on; into out if
 * scanned is NULL.
 */
template <class P>
static __global__ void
__launch_bounds__(LADDER_THREADS)
	grid_tiles(uint64_t first, ScanSource<P> in, uint64_t start, uint64_t end,
			   typename P::State *scanned, typename P::State *totals, ScanSink<P> out)
{
	SHARED(WarpTotals<P>, shared);
	uint64_t tile = ladder_block(first);
	StripTile<P> rows;

	rows.scan(in, start + tile * blockDim.x * STRIPS<P>, end, shared);
	UNROLL
	for (int k = 0; k < STRIPS<P>; k++)
	{
		uint64_t i = rows.row + k * WARP_SIZE;

		if (i < end && scanned != NULL)
			scanned[i - start] = rows.sum[k];
		else if (i < end)
			out.put(i, rows.sum[k]);
	}
	if (scanned != NULL && threadIdx.x == blockDim.x - 1)
		totals[tile] = rows.total();
}

/*
 * One block: the prefixes of a grid's tiles, from their totals and *carry, the
 * grid's prefix; *carry becomes that of the next grid.  The first grid reads none.
 */
template <class P>
static __global__ void
__launch_bounds__(GRID_THREADS)
	grid_totals(uint64_t, ScanSource<P> totals, uint64_t tiles, typename P::State *prefixes,
				typename P::State *carry, bool carried)
{
	SHARED(WarpTotals<P>, shared);
	typename P::State before = carried ? *carry : P::identity();
	StripTile<P> rows;

	rows.scan(totals, 0, tiles, shared);
	if (threadIdx.x == 0)
		prefixes[0] = before;
	UNROLL
	for (int k = 0; k < STRIPS<P>; k++)
	{
		uint64_t i = rows.row + k * WARP_SIZE;
		typename P::State sum = P::combine(before, rows.sum[k]);

		if (i + 1 < tiles)
			prefixes[i + 1] = sum;
		else if (i + 1 == tiles)
			*carry = sum;
	}
}

/*
 * Blocks scan, one block scans their totals exclusively, the two are combined; grid
 * after grid, in scratch for one.
 */
template <class P>
static void
grid_hierarchical(LadderRun *run, const P &policy)
{
	typedef typename P::State State;

	unsigned threads = ladder_threads(run);
	uint64_t n = run->ladder.nrows;
	uint64_t tile = (uint64_t) threads * STRIPS<P>;
	uint64_t grid = tile * GRID_BLOCKS<P>;
	ScanSource<P> in = source_of_column(run, policy);
	ScanSink<P> out = sink_to_results(run, policy);

	if (n <= tile)
	{
		State *none = NULL;

		LADDER_LAUNCH(run, grid_tiles<P>, 1, threads, in, UINT64_C(0), n, none, none, out);
		return;
	}

	State *scanned = ladder_take<State>(run, n < grid ? n : grid);
	State *totals = ladder_take<State>(run, GRID_BLOCKS<P>);
	State *prefixes = ladder_take<State>(run, GRID_BLOCKS<P>);
	State *carry = ladder_take<State>(run, 1);

	for (uint64_t start = 0; start < n && !run->measuring; start += grid)
	{
		uint64_t rows = n - start < grid ? n - start : grid;
		uint64_t tiles = divide_up(rows, tile);

		LADDER_LAUNCH(run, grid_tiles<P>, tiles, threads, in, start, start + rows, scanned, totals,
					  out);
		LADDER_LAUNCH(run, grid_totals<P>, 1, GRID_THREADS, source_of_states(policy, totals), tiles,
					  prefixes, carry, start > 0);
		LADDER_LAUNCH(run, add_prefixes<P>, divide_up(rows, threads), threads, scanned, prefixes,
					  log2_of(tile), start, rows, out);
	}
}

template <class P>
static __global__ void
__launch_bounds__(LADDER_THREADS)
	total_of_tiles(uint64_t first, ScanSource<P> in, uint64_t n, typename P::State *totals)
{
	SHARED(WarpTotals<P>, shared);
	uint64_t tile = ladder_block(first);
	uint64_t row = tile * blockDim.x * STRIPS<P> + threadIdx.x +
				   warp_id() * (STRIPS<P> - 1) * WARP_SIZE;
	typename P::State row_of_strip[STRIPS<P>];
	typename P::State total = P::identity();

	UNROLL
	for (int k = 0; k < STRIPS<P>; k++)
		row_of_strip[k] = in.at_or_identity(row + k * WARP_SIZE, n);
	UNROLL
	for (int k = 0; k < STRIPS<P>; k++)
		total = P::combine(total, warp_reduce<P>(row_of_strip[k]));
	if (lane_id() == 0)
		shared.warp[warp_id()] = total;
	__syncthreads();
	if (warp_id() == 0)
	{
		total = lane_id() < (int) (blockDim.x / WARP_SIZE) ? shared.warp[lane_id()] : P::identity();
		total = warp_reduce<P>(total);
	}
	if (threadIdx.x == 0)
		totals[tile] = total;
}

/* prefixes: those of the tiles; NULL if there is one tile. */
template <class P>
static __global__ void
__launch_bounds__(LADDER_THREADS)
	scan_after_prefix(uint64_t first, ScanSource<P> in, uint64_t n,
					  const typename P::State *prefixes, ScanSink<P> out)
{
	SHARED(WarpTotals<P>, shared);
	uint64_t tile = ladder_block(first);
	typename P::State before = prefixes != NULL ? prefixes[tile] : P::identity();
	StripTile<P> rows;

	rows.scan(in, tile * blockDim.x * STRIPS<P>, n, shared);
	UNROLL
	for (int k = 0; k < STRIPS<P>; k++)
	{
		uint64_t i = rows.row + k * WARP_SIZE;

		if (i < n)
			out.put(i, P::combine(before, rows.sum[k]));
	}
}

/* Reduces tiles, scans their totals exclusively in the same way, then scans the tiles. */
template <class P>
static void
hierarchical(LadderRun *run, const ScanSource<P> &in, uint64_t n, const ScanSink<P> &out)
{
	typedef typename P::State State;

	unsigned threads = ladder_threads(run);
	uint64_t tiles = divide_up(n, (uint64_t) threads * STRIPS<P>);
	State *prefixes = NULL;

	if (tiles > 1)
	{
		State *totals = ladder_take<State>(run, tiles);

		prefixes = ladder_take<State>(run, tiles);
		LADDER_LAUNCH(run, total_of_tiles<P>, tiles, threads, in, n, totals);
		hierarchical(run, source_of_states(in.policy, totals), tiles,
					 sink_to_states(in.policy, prefixes, tiles, true));
	}
	LADDER_LAUNCH(run, scan_after_prefix<P>, tiles, threads, in, n, prefixes, out);
}

struct BlockHierarchical : TileOfBlock<1>
{
	template <class P> static TileKernel<P> kernel(bool)
	{
		return block_hierarchical<P>;
	}
};

template <class P>
static void
scan_hierarchical(LadderRun *run, const P &policy)
{
	ScanSource<P> in = source_of_column(run, policy);
	ScanSink<P> out = sink_to_results(run, policy);
	uint64_t n = run->ladder.nrows;

	switch (run->ladder.algorithm)
	{
		case GPUAGG_ALG_BLOCK_HIERARCHICAL:
			scan_tiles<BlockHierarchical>(run, in, n, out);
			break;
		case GPUAGG_ALG_GRID_HIERARCHICAL:
			grid_hierarchical(run, policy);
			break;
		case GPUAGG_ALG_HIERARCHICAL:
			if constexpr (P::SEGMENTED)
				hierarchical(run, in, n, out);
			break;
	}
}

#endif /* GPUAGG_LADDER_SCAN_HIERARCHICAL_CUH */
