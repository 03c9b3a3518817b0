/*
 * kernels.h
 *	  The production kernels, as gpuaggd's host code calls them.
 *
 * Every function takes device pointers and a stream, enqueues and returns at once,
 * allocates nothing, and is memory-safe for any content of its inputs.  Rows: 0 to
 * GPU_MAX_ROWS.  Values are aligned as their type; bitmaps are 64-bit words, bit
 * i % 64 of word i / 64 for row i, and are read in whole words.  Results are
 * deterministic to the bit.
 *
 * Scratch is device memory aligned to GPUAGG_ALIGN.  The caller clears it when it
 * allocates it; from then on it belongs to one function and one stream, because each
 * launch needs what the one before left in it.
 */
#ifndef GPUAGG_KERNELS_H
#define GPUAGG_KERNELS_H

#include "device/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GPU_MAX_ROWS (UINT64_C(1) << 40)

/*
 * Reduction of the rows whose validity bit is 1 (validity NULL: all) into *result,
 * as protocol.h says.  What an operation does not deliver is zero, an accumulator
 * empty.
 */
typedef struct GpuReduce
{
	int kind;
	int op; /* GPUAGG_SUM, MIN, MAX, COUNT, MOMENTS */
	uint64_t nrows;
	const void *values; /* COUNT: not read */
	const uint64_t *validity;
	GpuaggReduced *result; /* device memory */
	void *scratch;
} GpuReduce;

/* Enough for any kind, operation and number of rows. */
extern size_t gpu_reduce_scratch(void);
extern GpuaggReason gpu_reduce(const GpuReduce *reduce, GpuStreamRef stream);

/* How SUM and MOMENTS of floats are computed, for tests; the result is the same.  0: default. */
typedef struct GpuFloatMethod
{
	int integers;		   /* without double arithmetic, as on devices that are slow at it */
	unsigned blocks;	   /* at most */
	unsigned flush_groups; /* groups of values of a thread between flushes, at most */
	unsigned carry_groups; /* groups between carries */
} GpuFloatMethod;

/* As gpu_reduce, for SUM and MOMENTS of floats; method NULL: default. */
extern GpuaggReason gpu_reduce_float(const GpuReduce *reduce, const GpuFloatMethod *method,
									 GpuStreamRef stream);

/* The state of a scan, in device memory; with heads, that of the segment still open. */
typedef struct GpuScanState
{
	GpuaggScanState state;
	uint32_t out_of_window;
	uint32_t overflows; /* a row has status GPUAGG_ROW_OVERFLOW */
} GpuScanState;

/*
 * Running sums, minima, maxima or counts, inclusive or exclusive, with a state
 * carried in and out.  Rows whose validity bit is 0 add nothing.  A row whose
 * head bit is 1 starts anew (row 0 goes on with state_in when its bit is 0).
 *
 * Results, one a row:
 *	SUM		int32: int64, status OVERFLOW beyond; int64: GpuaggInt128; with
 *			GPUAGG_SCAN_NARROW both of the values' type, modulo 2^32 or 2^64.
 *			Floats: their type, the exact sum up to the row rounded to nearest
 *			even once; an exact zero is -0 only when every input was -0.
 *	MIN,MAX	of the values' type, in the order of order keys (column.h).
 *	COUNT	int64.
 * A row without a valid one up to it has status NULL and as its result the
 * identity: 0; for MIN the greatest, for MAX the least value of the type (NaN and
 * -infinity for floats).
 *
 * With counts a sum of FLOAT64 is divided by them before it is rounded: `counts` are
 * what COUNT gives for the same rows, below 2^32, those of state_in among them.
 *
 * Sums of floats work in 256 bits that start at chunk `window` (float_sum.h).  If a
 * value or the carry does not fit (it has bits below these, or in the top 33),
 * state_out->out_of_window is 1 and the results are meaningless.
 */
typedef struct GpuScan
{
	int kind;
	int op;			/* GPUAGG_SUM, MIN, MAX, COUNT */
	unsigned flags; /* GPUAGG_SCAN_EXCLUSIVE, GPUAGG_SCAN_NARROW; others are ignored */
	int window;		/* sums of floats */
	uint64_t nrows;
	const void *values;			  /* COUNT: not read */
	const uint64_t *validity;	  /* NULL: all rows are valid */
	const uint64_t *heads;		  /* NULL: one segment */
	const GpuScanState *state_in; /* NULL: nothing so far */
	const int64_t *counts;		  /* averages of FLOAT64, below 2^32 rows; NULL: sums */
	void *results;				  /* may be values, where the sizes agree */
	uint8_t *status;			  /* GPUAGG_ROW_* of each row; NULL: not wanted */
	GpuScanState *state_out;	  /* NULL: not wanted; may be state_in */
	void *scratch;
} GpuScan;

/* Grows with nrows; enough for any kind and operation. */
extern size_t gpu_scan_scratch(uint64_t nrows);
extern GpuaggReason gpu_scan(const GpuScan *scan, GpuStreamRef stream);

/*
 * One result a segment.  Row 0 is in segment 0, which goes on from state_in unless
 * the row's head bit is 1.  results has room for one more element than there are
 * head bits among rows 1 .. nrows - 1; *nsegments becomes the number written.  The
 * last segment, still open, is the last result and in state_out.  Types of results,
 * statuses and `window` as for GpuScan.
 */
typedef struct GpuSegmentedReduce
{
	int kind;
	int op; /* GPUAGG_SUM, MIN, MAX, COUNT */
	int window;
	uint64_t nrows;
	const void *values;
	const uint64_t *validity;
	const uint64_t *heads;
	const GpuScanState *state_in;
	void *results;
	uint8_t *status; /* one a segment; NULL: not wanted */
	uint64_t *nsegments;
	GpuScanState *state_out;
	void *scratch;
} GpuSegmentedReduce;

extern size_t gpu_segmented_reduce_scratch(uint64_t nrows);
extern GpuaggReason gpu_segmented_reduce(const GpuSegmentedReduce *reduce, GpuStreamRef stream);

/*
 * Sorts items, each `words` words of key, the most significant first, and one word
 * of anything, by the low `bits` bits of the key.  Stable.  By NVIDIA's CUB (in the
 * simulator by the standard library).  With scratch NULL it only sets *scratch_bytes
 * to what so many rows need, more than 0.
 */
typedef struct GpuSort
{
	int words; /* 1 to GPUAGG_SORT_WORDS */
	int bits;  /* 1 to 64 * words */
	uint64_t nrows;
	const uint64_t *items;
	uint64_t *results; /* apart from items */
	void *scratch;
} GpuSort;

extern GpuaggReason gpu_sort(const GpuSort *sort, size_t *scratch_bytes, GpuStreamRef stream);

#ifdef __cplusplus
}
#endif

#endif /* GPUAGG_KERNELS_H */
