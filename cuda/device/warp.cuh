/*
 * warp.cuh
 *	  Reductions and scans of one warp by shuffles.
 *
 * All 32 lanes take part.  Op is a type with `State`, `identity()` and
 * `combine(a, b)`, associative; a stands before b in row order.
 */
#ifndef GPUAGG_WARP_CUH
#define GPUAGG_WARP_CUH

#include "device/device.cuh"

/* Sum over the warp, in lane 0. */
template <class T>
static __device__ __forceinline__ T
warp_sum(T value)
{
	for (int delta = WARP_SIZE / 2; delta > 0; delta /= 2)
		value += warp_shfl_down(value, delta);
	return value;
}

/* Sum modulo 2^64 over the warp, in every lane: by 26 bits, so that 32 lanes stay below 2^32. */
static __device__ __forceinline__ uint64_t
warp_reduce_add64(uint64_t value)
{
	uint32_t low = warp_reduce_add((uint32_t) value % (1u << 26));
	uint32_t middle = warp_reduce_add((uint32_t) (value >> 26) % (1u << 26));
	uint32_t high = warp_reduce_add((uint32_t) (value >> 52));

	return low + ((uint64_t) middle << 26) + ((uint64_t) high << 52);
}

/* Combination over the warp in lane order, in lane 0. */
template <class Op>
static __device__ __forceinline__ typename Op::State
warp_reduce(typename Op::State value)
{
	for (int delta = 1; delta < WARP_SIZE; delta *= 2)
	{
		typename Op::State other = warp_shfl_down(value, delta);

		if (lane_id() % (2 * delta) == 0)
			value = Op::combine(value, other);
	}
	return value;
}

/* Inclusive scan over the lanes. */
template <class Op>
static __device__ __forceinline__ typename Op::State
warp_scan(typename Op::State value)
{
	for (int delta = 1; delta < WARP_SIZE; delta *= 2)
	{
		typename Op::State other = warp_shfl_up(value, delta);

		if (lane_id() >= delta)
			value = Op::combine(other, value);
	}
	return value;
}

/*
 * A warp's arrival at a barrier that counts its lanes, and a bulk copy that lane 0
 * starts.  No lane may still have an access to the target under way.
 */
static __device__ __forceinline__ void
warp_copy_in(CopyBarrier *barrier, void *to, const void *from, uint32_t bytes)
{
	if (lane_id() == 0)
		copy_in(barrier, to, from, bytes);
	else
		copy_barrier_arrive(barrier);
}

#endif /* GPUAGG_WARP_CUH */
