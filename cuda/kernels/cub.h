/*
 * cub.h
 *	  Inclusive sums by NVIDIA's CUB, for comparison in benchmarks.
 *
 * The simulator has no CUB: there gpu_cub() answers GPUAGG_NO_KERNEL.
 */
#ifndef GPUAGG_CUB_H
#define GPUAGG_CUB_H

#include "device/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sums of the values' own type (GPUAGG_REDUCE: one, GPUAGG_SCAN: one a row) in
 * device memory, enqueued.  GPUAGG_SEGMENTED_SCAN: the sums start anew wherever
 * a row's key differs from that of the row before; else keys is not looked at.
 * With scratch NULL nothing is done but *scratch_bytes set.
 */
extern GpuaggReason gpu_cub(int task, int kind, uint64_t nrows, const void *values,
							const int32_t *keys, void *results, void *scratch,
							size_t *scratch_bytes, GpuStreamRef stream);

#ifdef __cplusplus
}
#endif

#endif /* GPUAGG_CUB_H */
