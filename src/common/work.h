/*
 * work.h
 *	  A piece of work for an engine: the operation and its columns.
 *
 * The same record is used everywhere: engines of a backend take it, a request
 * carries it, and gpuaggd plans its pieces by it.  Its type, GPUAGG_MSG_REDUCE,
 * SCAN, SORT or LADDER, is kept beside it.
 *
 * Width table: with at most GPUAGG_MAX_ROWS = 2^31 rows in one record, int64 sums
 * stay within 2^94 and chunks of float sums within 2^63.
 */
#ifndef GPUAGG_WORK_H
#define GPUAGG_WORK_H

#include "common/column.h"
#include "common/float_sum.h"
#include "common/int128.h"
#include "common/reason.h"

#define GPUAGG_MAX_ROWS	   (INT64_C(1) << 31)
#define GPUAGG_SORT_WORDS  2				   /* of a key, at most */
#define GPUAGG_LADDER_ROWS (UINT64_C(1) << 20) /* of one LADDER request */
#define GPUAGG_ALIGN	   256				   /* of every column in a region, bytes */

typedef enum GpuaggColumn
{
	GPUAGG_VALUES,	 /* of the kind; SORT: the items */
	GPUAGG_VALIDITY, /* bit i % 64 of 64-bit word i / 64: row i is not NULL */
	GPUAGG_HEADS,	 /* the same layout: row i starts a segment */
	GPUAGG_NINPUTS,
	GPUAGG_RESULTS = GPUAGG_NINPUTS, /* one a row */
	GPUAGG_STATUS,					 /* GPUAGG_ROW_* of each row */
	GPUAGG_NCOLUMNS
} GpuaggColumn;

/* What a reference to a column is relative to. */
typedef enum GpuaggPlace
{
	GPUAGG_IN_REGION /* bytes from the start of the region, or of the caller's memory */
} GpuaggPlace;

typedef struct GpuaggColumnRef
{
	uint64_t at;
	uint32_t bits;	/* of a row; 0: no such column */
	uint32_t place; /* GpuaggPlace */
} GpuaggColumnRef;

/* status byte of each row that a scan writes */
#define GPUAGG_ROW_VALUE	  0
#define GPUAGG_ROW_NULL		  1 /* no non-NULL input up to here */
#define GPUAGG_ROW_OVERFLOW	  2 /* finite inputs, sum out of the result type's range */

#define GPUAGG_SCAN_EXCLUSIVE 1u  /* flags */
#define GPUAGG_SCAN_VALIDITY  2u  /* a validity bitmap is given */
#define GPUAGG_SCAN_HEADS	  4u  /* a bitmap of heads is given */
#define GPUAGG_SCAN_NARROW	  8u  /* sums of integers of the values' type, modulo 2^32 or 2^64 */
#define GPUAGG_SCAN_STATUS	  16u /* a status byte a row is wanted */
#define GPUAGG_SCAN_AVERAGE	  32u /* sums of floats by the number of values, as doubles; the CPU's */
#define GPUAGG_SCAN_WIDE	  64u /* values are 128-bit integers, of kind INT64; the CPU's */

/*
 * The state of a scan after a row.  Integer kinds, MIN, MAX and COUNT use `sum` and
 * counts.n, sums of floats the full accumulator.
 *
 * The counts need only be right as to presence: n > 0 if a row was not NULL, n_nan,
 * n_pinf and n_ninf > 0 if there was such a value, n > n_negzero if there was a
 * value other than -0.  COUNT has the exact number in `sum`; with AVERAGE n is exact.
 *
 * With WIDE `sum` is the low two words of a sum, or the least or greatest value, and the first chunk
 * a sum's third word.
 */
typedef struct GpuaggScanState
{
	GpuaggInt128 sum; /* MIN, MAX: the order key */
	GpuaggFloatSumFull f;
} GpuaggScanState;

typedef struct GpuaggWork
{
	uint32_t region;
	uint32_t kind;	/* GpuaggKind; SORT: 0 */
	uint32_t op;	/* GpuaggOp; SORT: 0 */
	uint32_t flags; /* GPUAGG_SCAN_*: REDUCE has VALIDITY only, LADDER EXCLUSIVE only */
	uint64_t nrows;
	GpuaggColumnRef column[GPUAGG_NCOLUMNS];
	union
	{
		struct
		{
			int32_t window; /* sums of floats: chunk number where the 256-bit window starts */
			GpuaggScanState carry;
		} scan;
		struct
		{
			uint32_t words; /* of an item's key, 1 to GPUAGG_SORT_WORDS; one more follows the key */
			uint32_t bits;	/* 1 to 64 * words: stable sort by so many low bits of the key */
		} sort;				/* sorted items replace the items */
		struct
		{
			uint32_t task; /* GpuaggTask */
			uint32_t algorithm;
		} ladder;
	} u;
} GpuaggWork;

/* Bytes of a scan's value of one row. */
static inline size_t
gpuagg_scan_value_size(int kind, unsigned flags)
{
	return flags & GPUAGG_SCAN_WIDE ? sizeof(GpuaggInt128) : gpuagg_kind_size(kind);
}

/* Bytes of its result for one row; kernels.h gives the types.  A wide sum has three words. */
static inline size_t
gpuagg_scan_result_size(int kind, int op, unsigned flags)
{
	if (op == GPUAGG_COUNT || (flags & GPUAGG_SCAN_AVERAGE))
		return 8;
	if (flags & GPUAGG_SCAN_WIDE)
		return op == GPUAGG_SUM ? 3 * sizeof(uint64_t) : sizeof(GpuaggInt128);
	if (op != GPUAGG_SUM || (flags & GPUAGG_SCAN_NARROW) || gpuagg_kind_is_float(kind))
		return gpuagg_kind_size(kind);
	return kind == GPUAGG_INT64 ? sizeof(GpuaggInt128) : 8;
}

/* Bytes of a sort's item whose key has `words` words. */
static inline size_t
gpuagg_sort_item_size(int words)
{
	return ((size_t) words + 1) * sizeof(uint64_t);
}

/* Bytes of a column of nrows rows; bitmaps have whole words. */
static inline uint64_t
gpuagg_column_bytes(const GpuaggColumnRef *column, uint64_t nrows)
{
	return column->bits == 1 ? (nrows + 63) / 64 * 8 : nrows * (column->bits / 8);
}

/*
 * Sets column[].bits, that is, which columns work of this type has and their widths,
 * from the other fields except `at`.  If kind, operation or number of words is out
 * of range, there are no values.
 */
extern void gpuagg_work_set_columns(int type, GpuaggWork *work);

/*
 * Places the columns of nrows rows one after the other from `start` on, aligned;
 * those of a sort share one place.  Returns the aligned end.
 */
extern uint64_t gpuagg_work_lay_out(int type, GpuaggWork *work, uint64_t start, uint64_t nrows);

/*
 * Whether the columns are those of such work, aligned and within `bytes` bytes, and
 * no output overlaps an input or another output, except sorted items their items.
 */
extern int gpuagg_work_columns_check(int type, const GpuaggWork *work, uint64_t bytes);

#endif /* GPUAGG_WORK_H */
