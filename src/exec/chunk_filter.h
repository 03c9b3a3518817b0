/*
 * chunk_filter.h
 *	  Chunks of resident columns that have no row which passes a filter, by their blocks' extremes.
 *
 * A chunk has none if one of the filter's conditions, between a column and a constant, holds for no
 * value between the block's minimum and maximum.
 */
#ifndef GPUAGG_CHUNK_FILTER_H
#define GPUAGG_CHUNK_FILTER_H

#include "exec/filter_conditions.h"
#include "resident/column_block.h"

typedef struct ChunkFilter ChunkFilter;

/*
 * In the current memory context, of columns of these types, which are the first of a reader's ncolumns;
 * conditions and types are kept.  NULL: there are no conditions.
 */
extern ChunkFilter *gpuagg_chunk_filter_make(const FilterConditions *conditions, const uint8 *types,
											 int ncolumns);

/* By column of the reader: whether it looks at its blocks. */
extern const bool *gpuagg_chunk_filter_columns(const ChunkFilter *filter);

/* Constants may have other values from now on. */
extern void gpuagg_chunk_filter_reset(ChunkFilter *filter);

/*
 * All that an answer depends on but the blocks, as *n numbers; false: it is not numbers.  Constants as
 * below; the numbers are the filter's.
 */
extern bool gpuagg_chunk_filter_key(ChunkFilter *filter, const GpuaggVectorConstant *constants,
									const int64 **numbers, int *n);

/* Whether no row of a chunk passes: its blocks by column; constants as they are until a reset. */
extern bool gpuagg_chunk_filter_excludes(ChunkFilter *filter, const GpuaggVectorConstant *constants,
										 const BlockSummary *const *blocks);

#endif /* GPUAGG_CHUNK_FILTER_H */
