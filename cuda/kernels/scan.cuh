/*
 * scan.cuh
 *	  What the files of scans and segmented reductions share.
 *
 * gpu_scan and gpu_segmented_reduce check their arguments and pass sums of floats
 * to the functions below.  One scratch serves all (lookback.cuh).
 */
#ifndef GPUAGG_SCAN_CUH
#define GPUAGG_SCAN_CUH

#include "device/lookback.cuh"
#include "kernels/kernels.h"

/* What blocks report to the last one. */
#define REPORT_OVERFLOW 0 /* a row had status GPUAGG_ROW_OVERFLOW */
#define REPORT_MISFIT	1 /* a value or the carry does not fit 256 bits (sum256.cuh) */

/* Sums of floats, of checked arguments: scan_float.cu, segmented_reduce_float.cu. */
extern GpuaggReason gpu_scan_float(const GpuScan *scan, GpuStreamRef stream);
extern size_t gpu_scan_float_scratch(uint64_t nrows);
extern bool gpu_scan_float_wide; /* for tests: every tile goes the wide way, see float_wide.cuh */
extern GpuaggReason gpu_segmented_reduce_float(const GpuSegmentedReduce *reduce,
											   GpuStreamRef stream);
extern size_t gpu_segmented_reduce_float_scratch(uint64_t nrows);

#endif /* GPUAGG_SCAN_CUH */
