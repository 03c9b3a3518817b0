/*
 * named.h
 *	  The algorithms of common/algorithm.h by name, over columns in memory.
 *
 * All except `production`, which is in array.h.  Sums of floats are plain additions
 * in the algorithm's order; an overflow gives an infinity.  Sums of integers raise
 * an error when a result is out of the range of bigint.
 */
#ifndef GPUAGG_NAMED_H
#define GPUAGG_NAMED_H

#include "engine/array.h"
#include "engine/plain.h"

/*
 * Reduces or scans the column; nrows > 0.  Algorithms of the device wait for one
 * and raise 55000 with the reason when there is none or it is lost.  A scan's
 * results take gpuagg_ladder_result_size(kind) bytes for each row.
 */
extern PlainValue gpuagg_ladder_reduce(const ArrayColumn *column, GpuaggAlgorithm algorithm);
extern void gpuagg_ladder_scan(const ArrayColumn *column, GpuaggAlgorithm algorithm, void *results);

#endif /* GPUAGG_NAMED_H */
