/*
 * window.h
 *	  Rows of a query in the order of keys, for functions over windows.
 *
 * A query (query.h) keeps registers of the rows that pass its filter: values, each with a bitmap of
 * those that are not NULL, and a bitmap of the rows themselves.  They lie at the rows' places: a
 * chunk's first place is a multiple of GPU_QUERY_UNIT.  The steps after that, each of them as
 * kernels.h says of functions:
 *
 *	measure	how many rows there are, and what their keys and sums of floats are like
 *	pack	items of all rows, for gpu_sort(): their keys as a number (key_layout.h), and the place
 *	gather	values in the items' order, and bitmaps of where partitions and peers begin
 *	reach	of what a scan (kernels.h) over these gives, each row's value
 *	scatter	these values at the rows' places, for another order
 *
 * Numbers have one or two words.  Memory for rows in order has room for a multiple of
 * GPU_WINDOW_PAD; bitmaps are written up to there.  All is aligned to 64 bytes.
 */
#ifndef GPUAGG_KERNELS_WINDOW_H
#define GPUAGG_KERNELS_WINDOW_H

#include "common/key_layout.h"
#include "common/query_window.h"
#include "device/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GPU_WINDOW_PAD 1024

/* What a query keeps of a register: as INT32, INT64, INT128, FLOAT32 or FLOAT64; INT16 as INT32. */
typedef struct GpuWindowValue
{
	void *values;
	uint32_t *valid; /* bitmap */
	uint32_t bytes;	 /* of a value: 4, 8, 16 */
	uint32_t is_float;
} GpuWindowValue;

typedef struct GpuWindowRows
{
	uint64_t places; /* a multiple of GPU_QUERY_UNIT */
	uint32_t *rows;	 /* bitmap */
	uint32_t nvalues;
	GpuWindowValue value[GPUAGG_WINDOW_VALUES];
} GpuWindowRows;

/* The bits that a value's finite numbers take, from 2^-1074 up; low > high: there are none. */
typedef struct GpuWindowExtent
{
	int32_t low;
	int32_t high; /* the first above those */
} GpuWindowExtent;

typedef struct GpuWindowMeasure
{
	uint64_t nrows;
	GpuaggKeyRange key[GPUAGG_WINDOW_KEYS];
	GpuWindowExtent extent[GPUAGG_WINDOW_VALUES]; /* of those that were asked for */
} GpuWindowMeasure;

/*
 * summed: bits of values, all of them floats, whose extent is wanted.  Scratch is filled by measure
 * and read by pack; it need not be cleared but for its first 64 bytes.
 */
extern size_t gpu_window_scratch(uint64_t places);
extern GpuaggReason gpu_window_measure(const GpuWindowRows *rows, const GpuaggWindowKey *keys,
									   uint32_t nkeys, uint32_t summed, GpuWindowMeasure *measure,
									   void *scratch, GpuStreamRef stream);

/* items: of all rows, in the order of their places. */
extern GpuaggReason gpu_window_pack(const GpuWindowRows *rows, const GpuaggWindowKey *keys,
									const GpuaggKeyLayout *layout, uint32_t nkeys, int words,
									const void *scratch, uint64_t *items, GpuStreamRef stream);

/* A value in the items' order, in `bytes` bytes: its own, or 2 of a number in 4. */
typedef struct GpuWindowGathered
{
	const GpuWindowValue *value;
	void *values;
	uint32_t *valid;
	uint32_t bytes;
} GpuWindowGathered;

/* Of a number, the bits by which partitions and peers differ; 0 all: all rows are one. */
typedef struct GpuWindowMasks
{
	uint64_t partition[2];
	uint64_t peers[2];
} GpuWindowMasks;

/* partitions, peers: bitmaps in words of 64 bits. */
extern GpuaggReason gpu_window_gather(const uint64_t *items, uint64_t nrows, int words,
									  const GpuWindowMasks *masks,
									  const GpuWindowGathered *gathered, uint32_t ngathered,
									  uint64_t *partitions, uint64_t *peers, GpuStreamRef stream);

/*
 * For a bitmap of nrows bits: levels of bitmaps of the words that are not 0, by which the next and
 * the last bit are found; at `levels`, of gpu_window_levels_bytes().
 */
extern size_t gpu_window_levels_bytes(uint64_t nrows);
extern GpuaggReason gpu_window_levels(const uint64_t *bitmap, uint64_t nrows, uint64_t *levels,
									  GpuStreamRef stream);

/*
 * Each row's value of results and status that a scan has left: that of the row that it reaches.
 * heads and levels: of the peers, or of partitions for GPUAGG_REACH_PARTITION; NULL for
 * GPUAGG_REACH_ROW.  values may be NULL: they are the results.  status and valid NULL: all are
 * values.  *overflows becomes 1 if some row's is one.
 */
typedef struct GpuWindowReach
{
	int reach;
	uint32_t bytes; /* of a result */
	uint64_t nrows;
	const void *results;
	const uint8_t *status;
	const uint64_t *heads;
	const uint64_t *levels;
	void *values;
	uint32_t *valid;
	uint32_t *overflows;
} GpuWindowReach;

extern GpuaggReason gpu_window_reach(const GpuWindowReach *reach, GpuStreamRef stream);

/*
 * Values in the items' order to their places.  valid: bits of those that are not NULL, in that order;
 * to->valid, zeros at first, gets theirs.  A NULL pointer: no value is NULL, and to->valid stays as it is.
 */
extern GpuaggReason gpu_window_scatter(const uint64_t *items, uint64_t nrows, int words,
									   const void *values, const uint32_t *valid,
									   const GpuWindowValue *to, GpuStreamRef stream);

#ifdef __cplusplus
}
#endif

#endif /* GPUAGG_KERNELS_WINDOW_H */
