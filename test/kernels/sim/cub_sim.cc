/*
 * cub_sim.cc
 *	  In place of cuda/kernels/cub.cu: the simulator has no CUB.
 */
#include <stddef.h>
#include <stdint.h>

#include "cuda/kernels/cub.h"

GpuaggReason
gpu_cub(int, int, uint64_t, const void *, const int32_t *, void *, void *, size_t *, GpuStreamRef)
{
	return GPUAGG_NO_KERNEL;
}
