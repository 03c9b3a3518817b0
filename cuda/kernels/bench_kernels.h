/*
 * bench_kernels.h
 *	  Kernels around a benchmark: its column, a plain read of it, a checksum.
 *
 * As in kernels.h: device pointers, aligned to GPUAGG_ALIGN; functions enqueue
 * and return.  What the column holds is written in common/bench_column.h.
 */
#ifndef GPUAGG_BENCH_KERNELS_H
#define GPUAGG_BENCH_KERNELS_H

#include "device/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

extern GpuaggReason gpu_bench_values(int kind, uint64_t nrows, uint64_t seed, void *values,
									 GpuStreamRef stream);

/* Bit i % 64 of word i / 64 is 1 where row i starts a segment; bits beyond the rows are 0. */
extern GpuaggReason gpu_bench_heads(uint64_t nrows, uint64_t seed, uint64_t *heads,
									GpuStreamRef stream);

/* A key for each row: the number of its segment's first row. */
extern GpuaggReason gpu_bench_keys(uint64_t nrows, const uint64_t *heads, int32_t *keys,
								   GpuStreamRef stream);

/* Reads a column of so many bytes, as fast as possible; changes *sink. */
extern GpuaggReason gpu_bench_read(uint64_t bytes, const void *values, uint64_t *sink,
								   GpuStreamRef stream);

/*
 * Adds the checksum of results to *sum.  Results of integer kinds are of
 * result_size 4 or 8 bytes, of float kinds they have that type.
 */
extern GpuaggReason gpu_bench_checksum(int kind, size_t result_size, uint64_t nresults,
									   const void *results, uint64_t *sum, GpuStreamRef stream);

#ifdef __cplusplus
}
#endif

#endif /* GPUAGG_BENCH_KERNELS_H */
