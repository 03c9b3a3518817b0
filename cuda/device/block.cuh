/*
 * block.cuh
 *	  Reductions and scans of one block, built on warp.cuh.
 *
 * THREADS is the block's size, a multiple of 32 and at most 1024.  Every
 * thread of the block calls; each function ends with a barrier, so that its
 * storage can be used again at once.
 */
#ifndef GPUAGG_BLOCK_CUH
#define GPUAGG_BLOCK_CUH

#include "device/warp.cuh"

/* Sum over the block, in every thread. */
template <class T, int THREADS>
static __device__ __forceinline__ T
block_sum(T value, T (&storage)[THREADS / WARP_SIZE])
{
	T total;

	value = warp_sum(value);
	if (lane_id() == 0)
		storage[warp_id()] = value;
	__syncthreads();
	total = storage[0];
	for (int w = 1; w < THREADS / WARP_SIZE; w++)
		total += storage[w];
	__syncthreads();
	return total;
}

/*
 * Scan and reduction of one State per thread, in thread order: each warp scans,
 * one warp scans the totals of all, and each thread adds the total before its warp.
 */
template <class Op, int THREADS> struct BlockScan
{
	typedef typename Op::State State;

	static constexpr int WARPS = THREADS / WARP_SIZE;

	struct Storage
	{
		State warp[WARPS]; /* totals, then inclusive prefixes */
	};

	/* The combination over all threads before this one; *total: over the block. */
	static __device__ __forceinline__ State exclusive(State value, Storage &storage, State *total)
	{
		State inclusive = warp_scan<Op>(value);
		State before = warp_shfl_up(inclusive, 1);

		if (lane_id() == 0)
			before = Op::identity();
		if (lane_id() == WARP_SIZE - 1)
			storage.warp[warp_id()] = inclusive;
		__syncthreads();
		if (warp_id() == 0)
		{
			State w = lane_id() < WARPS ? storage.warp[lane_id()] : Op::identity();

			w = warp_scan<Op>(w);
			if (lane_id() < WARPS)
				storage.warp[lane_id()] = w;
		}
		__syncthreads();
		if (warp_id() > 0)
			before = Op::combine(storage.warp[warp_id() - 1], before);
		*total = storage.warp[WARPS - 1];
		__syncthreads();
		return before;
	}

	/* The combination over all threads of the block, in every thread. */
	static __device__ __forceinline__ State reduce(State value, Storage &storage)
	{
		State total;

		value = warp_reduce<Op>(value);
		if (lane_id() == 0)
			storage.warp[warp_id()] = value;
		__syncthreads();
		total = storage.warp[0];
		for (int w = 1; w < WARPS; w++)
			total = Op::combine(total, storage.warp[w]);
		__syncthreads();
		return total;
	}
};

#endif /* GPUAGG_BLOCK_CUH */
