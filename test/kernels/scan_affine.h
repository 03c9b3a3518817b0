/*
 * scan_affine.h
 *	  The machinery of scans with an operator that does not commute, in shapes
 *	  so small that a few thousand rows are many tiles.
 *
 * A value is the map x -> a x + b modulo 2^32, a in the low half of 64 bits; a
 * running result is the maps up to there, one after the other.
 */
#ifndef GPUAGG_TEST_SCAN_AFFINE_H
#define GPUAGG_TEST_SCAN_AFFINE_H

#include "cuda/kernels/kernels.h"

#define AFFINE_IDENTITY UINT64_C(1)
#define AFFINE_SHAPES	6

/* Whether the shape takes bitmaps and statuses; whether its results are one a segment. */
extern bool affine_marked(int shape);
extern bool affine_segments(int shape);

extern size_t affine_scratch(uint64_t nrows);

/* The state's sum.lo is a map; nsegments: of shapes with segments. */
extern GpuaggReason affine_scan(int shape, const GpuScan *scan, uint64_t *nsegments,
								GpuStreamRef stream);

/* Adds to *differences the number of 64-bit words in which a and b differ. */
extern GpuaggReason count_differences(const uint64_t *a, const uint64_t *b, uint64_t words,
									  uint64_t *differences, GpuStreamRef stream);

#endif /* GPUAGG_TEST_SCAN_AFFINE_H */
