/*
 * kernels.h
 *	  What the kernels offer to gpuaggd's host code.
 *
 * Every function takes pointers to device memory, a row count of any size
 * from 1 to GPUAGG_MAX_ROWS and a stream; it enqueues and returns at once,
 * allocates nothing, and is memory-safe for any content of its inputs.
 * `scratch` is device memory of at least the size that the _scratch function
 * gives, aligned to GPUAGG_ALIGN, of any content, and not shared with another
 * launch that may run at the same time.  Results are deterministic to the bit.
 */
#ifndef GPUAGG_KERNELS_H
#define GPUAGG_KERNELS_H

#include "gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a reduction delivers, in device memory. */
typedef struct GpuReduceResult
{
	uint64_t n;
	GpuaggInt128 sum;	  /* int32, int64 */
	GpuaggFloatSumFull f; /* float64; carries propagated: chunks below the top in [0, 2^32) */
} GpuReduceResult;

extern size_t gpu_reduce_scratch(int kind, uint64_t nrows);
extern GpuaggReason gpu_reduce(int kind, const void *values, uint64_t nrows,
							   GpuReduceResult *result, void *scratch, GpuStreamRef stream);

/*
 * Inclusive or exclusive running sums with a state carried in and out.  Rows
 * whose validity bit is 0 add nothing.  validity may be NULL (all valid).
 *
 * int32: results int64, status overflow beyond int64.  int64: results
 * GpuaggInt128.  float64: results double, the exact sum up to the row rounded
 * to nearest even once; an exact zero is -0 only when every input was -0.
 *
 * float64 works in a window of 256 bits that starts at chunk `window`.  If a
 * value or the carry does not fit it (bits below it, or within 33 bits of its
 * top), state_out->out_of_window is 1 and the results are meaningless.
 */
typedef struct GpuScanState
{
	GpuaggScanState state; /* as in protocol.h; propagated, into [0, 2^32) or balanced digits */
	uint32_t out_of_window;
	uint32_t unused;
} GpuScanState;

extern size_t gpu_scan_scratch(int kind, uint64_t nrows);
extern GpuaggReason gpu_scan(int kind, unsigned flags, int window, const void *values,
							 const uint64_t *validity, uint64_t nrows, const GpuScanState *state_in,
							 void *results, uint8_t *status, GpuScanState *state_out, void *scratch,
							 GpuStreamRef stream);

#ifdef __cplusplus
}
#endif

#endif /* GPUAGG_KERNELS_H */
