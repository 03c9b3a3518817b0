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
 * Enqueues sums of the values' own type (GPUAGG_REDUCE: one, GPUAGG_SCAN: one a
 * row), in device memory.  GPUAGG_SEGMENTED_SCAN: sums start anew at rows whose key
 * differs from that of the row before; other tasks do not read keys.  With scratch
 * NULL it only sets *scratch_bytes.
 */
extern GpuaggReason gpu_cub(int task, int kind, uint64_t nrows, const void *values,
							const int32_t *keys, void *results, void *scratch,
							size_t *scratch_bytes, GpuStreamRef stream);

#ifdef __cplusplus
}
#endif

#endif /* GPUAGG_CUB_H */
