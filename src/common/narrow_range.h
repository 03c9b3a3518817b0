/*
 * narrow_range.h
 *	  Which rows of a narrow block have values in a range, without reading their values.
 */
#ifndef GPUAGG_NARROW_RANGE_H
#define GPUAGG_NARROW_RANGE_H

#include <stdbool.h>

#include "common/narrow.h"

/* Integers from `from` to `to`, both included; outside: all others. */
typedef struct GpuaggRange
{
	GpuaggInt128 from;
	GpuaggInt128 to;
	bool outside;
} GpuaggRange;

typedef enum GpuaggRangeRows
{
	GPUAGG_RANGE_NO_ROW, /* of those that are not NULL */
	GPUAGG_RANGE_SOME_ROWS,
	GPUAGG_RANGE_ALL_ROWS
} GpuaggRangeRows;

/* What minimum and maximum of a block of integers say. */
extern GpuaggRangeRows gpuagg_narrow_range_rows(const GpuaggNarrow *narrow,
												const GpuaggRange *range);

/*
 * For a block of integers with GPUAGG_RANGE_SOME_ROWS: bit i of bits, i < n, becomes whether the
 * block's row first + i is in the range; of a row that is NULL it may be anything.  Bits behind
 * them in the last word become 0.
 */
extern void gpuagg_narrow_range_select(const GpuaggNarrow *narrow, const void *stored,
									   uint64_t first, uint32_t n, const GpuaggRange *range,
									   uint64_t *bits);

#endif /* GPUAGG_NARROW_RANGE_H */
