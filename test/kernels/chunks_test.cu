/*
 * chunks_test.cu
 *	  Kernels of chunks_test.cc.
 */
#include "kernels/reduce_chunks.cuh"

#include "chunks.h"

#define CHUNKS_WARPS 4

template <int N> struct Room
{
	SplitWord chunk[CHUNKS_WARPS][N];
};

template <int N>
static __global__ void
propagate(const int64_t *sums, uint64_t nsums, int64_t *results)
{
	SHARED(Room<N>, room);
	uint64_t i = (uint64_t) blockIdx.x * CHUNKS_WARPS + (uint64_t) warp_id();
	SplitWord *chunk = room.chunk[warp_id()];

	for (int k = lane_id(); k < N; k += WARP_SIZE)
		chunk[k] = split_word(i < nsums ? sums[i * N + k] : 0);
	__syncwarp(FULL_MASK);
	propagate_chunks<N>(chunk);
	for (int k = lane_id(); i < nsums && k < N; k += WARP_SIZE)
		results[i * N + k] = split_value(chunk[k]);
}

template <int N>
static GpuaggReason
launch(const int64_t *sums, uint64_t nsums, int64_t *results, GpuStreamRef stream)
{
	LAUNCH(propagate<N>, (unsigned) divide_up(nsums, CHUNKS_WARPS), CHUNKS_WARPS * WARP_SIZE,
		   stream, sums, nsums, results);
	return gpu_launch_status();
}

const ChunksShape chunks_shapes[CHUNKS_NSHAPES] = {
	{3, launch<3>},
	{32, launch<32>},
	{GPUAGG_CHUNKS, launch<GPUAGG_CHUNKS>},
	{GPUAGG_SQUARE_CHUNKS, launch<GPUAGG_SQUARE_CHUNKS>},
};
