/*
 * scan.cuh
 *	  What the files of the scans and of segmented reduction share.
 *
 * gpu_scan and gpu_segmented_reduce check what they are asked for, and hand
 * sums of floats on.  One scratch serves them all (lookback.cuh).
 */
#ifndef GPUAGG_SCAN_CUH
#define GPUAGG_SCAN_CUH

#include "kernels/kernels.h"
#include "device/lookback.cuh"

/* What blocks report to the last one. */
#define REPORT_OVERFLOW 0 /* a row had status GPUAGG_ROW_OVERFLOW */
#define REPORT_OUTSIDE	1 /* a value or the carry does not fit the window */

/* Sums of floats: scan_float.cu, segmented_reduce_float.cu.  The arguments have been checked. */
extern GpuaggReason gpu_scan_float(const GpuScan *scan, GpuStreamRef stream);
extern size_t gpu_scan_float_scratch(uint64_t nrows);
extern bool gpu_scan_float_wide; /* for tests: every tile goes the wide way, see float_wide.cuh */
extern GpuaggReason gpu_segmented_reduce_float(const GpuSegmentedReduce *reduce,
											   GpuStreamRef stream);
extern size_t gpu_segmented_reduce_float_scratch(uint64_t nrows);

#endif /* GPUAGG_SCAN_CUH */
