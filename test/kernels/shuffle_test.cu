/*
 * shuffle_test.cu
 *	  Kernels of shuffle_test.cc: every shuffle of every type.
 */
#define GPUAGG_HALF
#include "cuda/device/device.cuh"

#include "shuffle.h"

#define SHUFFLE_THREADS 128
#define SHUFFLE_WARPS	(SHUFFLE_THREADS / WARP_SIZE)

namespace
{

/* Values of more than one register, as the states of scans are. */
struct Words3
{
	uint32_t word[3];
};

struct Words8
{
	uint64_t word[4];
};

} // namespace

template <class T>
static __device__ T
shuffle(int primitive, T value, int arg, int width, unsigned mask)
{
	switch (primitive)
	{
		case SHUFFLE_INDEX:
			return warp_shfl(value, arg, width, mask);
		case SHUFFLE_UP:
			return warp_shfl_up(value, arg, width, mask);
		case SHUFFLE_DOWN:
			return warp_shfl_down(value, arg, width, mask);
		default:
			return warp_shfl_xor(value, arg, width, mask);
	}
}

template <class T>
static __global__ void
shuffle_cases(const ShuffleCase *cases, uint64_t ncases, const T *values, T *results)
{
	uint64_t i = (uint64_t) blockIdx.x * SHUFFLE_WARPS + warp_id();

	if (i < ncases)
	{
		const ShuffleCase *c = &cases[i];
		uint64_t at = i * WARP_SIZE + lane_id();
		T value = values[at];

		if (c->mask >> lane_id() & 1)
			value = shuffle(c->primitive, value, c->arg[lane_id()], c->width, c->mask);
		else
			value = shuffle(c->primitive, value, c->arg[lane_id()], c->width, ~c->mask);
		results[at] = value;
	}
}

template <class T>
static GpuaggReason
launch_cases(const ShuffleCase *cases, uint64_t ncases, const void *values, void *results,
			 GpuStreamRef stream)
{
	LAUNCH(shuffle_cases<T>, (unsigned) divide_up(ncases, SHUFFLE_WARPS), SHUFFLE_THREADS, stream,
		   cases, ncases, (const T *) values, (T *) results);
	return gpu_launch_status();
}

#define SHUFFLE_TYPE(T)                  \
	{                                    \
#T, sizeof(T), launch_cases < T> \
	}

const ShuffleType shuffle_types[SHUFFLE_NTYPES] = {
	SHUFFLE_TYPE(int),			 SHUFFLE_TYPE(unsigned),  SHUFFLE_TYPE(long),
	SHUFFLE_TYPE(unsigned long), SHUFFLE_TYPE(long long), SHUFFLE_TYPE(unsigned long long),
	SHUFFLE_TYPE(float),		 SHUFFLE_TYPE(double),	  SHUFFLE_TYPE(__half),
	SHUFFLE_TYPE(__half2),		 SHUFFLE_TYPE(Words3),	  SHUFFLE_TYPE(Words8),
};

static __global__ void
warp_reductions(const int32_t *values, uint64_t nwarps, ReducedInt *results)
{
	uint64_t i = (uint64_t) blockIdx.x * SHUFFLE_WARPS + warp_id();

	if (i < nwarps)
	{
		uint64_t at = i * WARP_SIZE + lane_id();
		int32_t value = values[at];
		ReducedInt r;

		r.sum = warp_reduce_add(value);
		r.min = warp_reduce_min(value);
		r.max = warp_reduce_max(value);
		r.usum = warp_reduce_add((uint32_t) value);
		r.umin = warp_reduce_min((uint32_t) value);
		r.umax = warp_reduce_max((uint32_t) value);
		results[at] = r;
	}
}

GpuaggReason
warp_reduce_launch(const int32_t *values, uint64_t nwarps, ReducedInt *results, GpuStreamRef stream)
{
	LAUNCH(warp_reductions, (unsigned) divide_up(nwarps, SHUFFLE_WARPS), SHUFFLE_THREADS, stream,
		   values, nwarps, results);
	return gpu_launch_status();
}
