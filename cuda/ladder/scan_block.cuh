/*
 * scan_block.cuh
 *	  Scans of a block's tile in shared memory.
 */
#ifndef GPUAGG_LADDER_SCAN_BLOCK_CUH
#define GPUAGG_LADDER_SCAN_BLOCK_CUH

#include "ladder/ladder_scan.cuh"

template <class P, int N> struct SharedTile
{
	typename P::State value[N];
};

template <class P> struct SharedPair
{
	typename P::State value[2][LADDER_THREADS];
};

/* One array, with two barriers a step: sums are in registers between them. */
template <class P>
static __global__ void
__launch_bounds__(LADDER_THREADS) kogge_stone(uint64_t first, ScanSource<P> in, uint64_t n,
											  ScanSink<P> out, typename P::State *totals)
{
	typedef SharedTile<P, LADDER_THREADS> Shared;
	SHARED(Shared, shared);
	uint64_t tile = ladder_block(first);
	unsigned t = threadIdx.x;
	uint64_t i = tile * blockDim.x + t;
	typename P::State sum = in.at_or_identity(i, n);

	shared.value[t] = sum;
	for (unsigned distance = 1; distance < blockDim.x; distance *= 2)
	{
		__syncthreads();
		if (t >= distance)
			sum = P::combine(shared.value[t - distance], sum);
		__syncthreads();
		shared.value[t] = sum;
	}
	if (i < n)
		out.put(i, sum);
	if (totals != NULL && t == blockDim.x - 1)
		totals[tile] = sum;
}

/* From one array into another: one barrier a step. */
template <class P>
static __global__ void
__launch_bounds__(LADDER_THREADS)
	kogge_stone_double_buffered(uint64_t first, ScanSource<P> in, uint64_t n, ScanSink<P> out,
								typename P::State *totals)
{
	SHARED(SharedPair<P>, shared);
	uint64_t tile = ladder_block(first);
	unsigned t = threadIdx.x;
	uint64_t i = tile * blockDim.x + t;
	typename P::State sum = in.at_or_identity(i, n);
	int from = 0;

	shared.value[from][t] = sum;
	for (unsigned distance = 1; distance < blockDim.x; distance *= 2)
	{
		__syncthreads();
		if (t >= distance)
			sum = P::combine(shared.value[from][t - distance], sum);
		from = 1 - from;
		shared.value[from][t] = sum;
	}
	if (i < n)
		out.put(i, sum);
	if (totals != NULL && t == blockDim.x - 1)
		totals[tile] = sum;
}

/*
 * Two rows a thread.  Up: sums of 2, 4, .. rows, in the last of them.  Down: a
 * complete sum is added to the one half that distance after it.
 */
template <class P>
static __global__ void
__launch_bounds__(LADDER_THREADS) brent_kung(uint64_t first, ScanSource<P> in, uint64_t n,
											 ScanSink<P> out, typename P::State *totals)
{
	typedef SharedTile<P, 2 * LADDER_THREADS> Shared;
	SHARED(Shared, shared);
	uint64_t tile = ladder_block(first);
	unsigned t = threadIdx.x;
	unsigned rows = 2 * blockDim.x;
	uint64_t i = tile * rows + t;

	shared.value[t] = in.at_or_identity(i, n);
	shared.value[t + blockDim.x] = in.at_or_identity(i + blockDim.x, n);
	for (unsigned distance = 1; distance < rows; distance *= 2)
	{
		unsigned last = (t + 1) * 2 * distance - 1;

		__syncthreads();
		if (last < rows)
			shared.value[last] = P::combine(shared.value[last - distance], shared.value[last]);
	}
	for (unsigned distance = rows / 4; distance > 0; distance /= 2)
	{
		unsigned middle = (t + 1) * 2 * distance - 1 + distance;

		__syncthreads();
		if (middle < rows)
			shared.value[middle] = P::combine(shared.value[middle - distance],
											  shared.value[middle]);
	}
	__syncthreads();
	if (i < n)
		out.put(i, shared.value[t]);
	if (i + blockDim.x < n)
		out.put(i + blockDim.x, shared.value[t + blockDim.x]);
	if (totals != NULL && t == 0)
		totals[tile] = shared.value[rows - 1];
}

/* ROWS rows a thread, one tile a block. */
template <int ROWS> struct TileOfBlock
{
	template <class P> static constexpr bool shifts()
	{
		return false;
	}
	static uint64_t tile(unsigned threads)
	{
		return (uint64_t) threads * ROWS;
	}
	static uint64_t tiles(unsigned)
	{
		return 1;
	}
};

struct KoggeStone : TileOfBlock<1>
{
	template <class P> static TileKernel<P> kernel(bool)
	{
		return kogge_stone<P>;
	}
};

struct KoggeStoneDoubleBuffered : TileOfBlock<1>
{
	template <class P> static TileKernel<P> kernel(bool)
	{
		return kogge_stone_double_buffered<P>;
	}
};

struct BrentKung : TileOfBlock<2>
{
	template <class P> static TileKernel<P> kernel(bool)
	{
		return brent_kung<P>;
	}
};

template <class P>
static void
scan_block(LadderRun *run, const P &policy)
{
	ScanSource<P> in = source_of_column(run, policy);
	ScanSink<P> out = sink_to_results(run, policy);
	uint64_t n = run->ladder.nrows;

	switch (run->ladder.algorithm)
	{
		case GPUAGG_ALG_KOGGE_STONE:
			scan_tiles<KoggeStone>(run, in, n, out);
			break;
		case GPUAGG_ALG_KOGGE_STONE_DOUBLE_BUFFERED:
			scan_tiles<KoggeStoneDoubleBuffered>(run, in, n, out);
			break;
		case GPUAGG_ALG_BRENT_KUNG:
			scan_tiles<BrentKung>(run, in, n, out);
			break;
	}
}

#endif /* GPUAGG_LADDER_SCAN_BLOCK_CUH */
