/*
 * named.h
 *	  The algorithms of common/algorithm.h by name, over columns in memory.
 *
 * All but `production`, which is array.h.  Sums of floats are plain additions,
 * whose order is the algorithm's: an overflow is an infinity.  Sums of integers
 * raise an error when one of the results is no bigint.
 */
#ifndef GPUAGG_NAMED_H
#define GPUAGG_NAMED_H

#include "engine/array.h"
#include "engine/plain.h"

/*
 * Reduces or scans the column.  What runs on a device waits for one and raises
 * 55000 with the reason when there is none or it is lost.  nrows > 0; results
 * of scans: of gpuagg_ladder_result_size(kind) bytes a row.
 */
extern PlainValue gpuagg_ladder_reduce(const ArrayColumn *column, GpuaggAlgorithm algorithm);
extern void gpuagg_ladder_scan(const ArrayColumn *column, GpuaggAlgorithm algorithm, void *results);

#endif /* GPUAGG_NAMED_H */
