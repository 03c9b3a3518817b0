/*
 * query_window.h
 *	  Windows between the rows of a query and its aggregates.
 *
 * The query's program runs over the rows of its chunks.  Some of its registers are kept for the
 * rows that pass its filter: the window's values.  These rows are sorted by some of them, the
 * partition's keys first, and functions are computed in that order.  There may be several such orders,
 * in each of which rows of equal keys are as they were before any.  A second program runs over
 * values and functions' results as its columns; the aggregates and keys of the query are of that
 * one's registers.  Without aggregates and keys the rows themselves can be asked for, in their last
 * order: some of its registers, for those that pass its filter.
 */
#ifndef GPUAGG_QUERY_WINDOW_H
#define GPUAGG_QUERY_WINDOW_H

#include <stdint.h>

#include "common/column.h"
#include "common/vector.h"

#define GPUAGG_WINDOW_VALUES	15
#define GPUAGG_WINDOW_KEYS		16 /* of all orders */
#define GPUAGG_WINDOW_ORDERS	8
#define GPUAGG_WINDOW_FUNCTIONS 8
#define GPUAGG_WINDOW_COLUMNS	32
#define GPUAGG_WINDOW_NONE		UINT16_MAX
#define GPUAGG_WINDOW_PLACES	(UINT64_C(1) << 31)
#define GPUAGG_WINDOW_UNIT		256 /* places of a chunk are a multiple of it */

/* Values of equal words are equal: -0 and 0, all NaNs.  NULL is before or behind all others. */
typedef struct GpuaggWindowKey
{
	uint16_t value;
	uint8_t descending;
	uint8_t nulls_first;
} GpuaggWindowKey;

/*
 * Keys from `first` of the window's on, the first ones of which are partitions' and peers'.  They follow those of
 * the order before, or are the same: then rows stay as they are.
 */
typedef struct GpuaggWindowOrder
{
	uint16_t first;
	uint16_t nkeys;
	uint16_t npartition;
	uint16_t npeers; /* at least npartition; 0: all rows are peers */
} GpuaggWindowOrder;

/* The row whose running value is that of a row. */
typedef enum GpuaggWindowReach
{
	GPUAGG_REACH_ROW,
	GPUAGG_REACH_FIRST_PEER,
	GPUAGG_REACH_LAST_PEER,
	GPUAGG_REACH_PARTITION /* its last row */
} GpuaggWindowReach;

/* A running sum, minimum, maximum or count, as kernels.h has it, or an average. */
typedef struct GpuaggWindowFunction
{
	uint8_t kind; /* GpuaggKind; COUNT: any */
	uint8_t op;	  /* GPUAGG_SUM, MIN, MAX, COUNT */
	uint8_t exclusive;
	uint8_t reach;
	uint16_t value; /* of integers up to 64 bits, and floats; COUNT: any, or NONE: all rows count */
	uint8_t heads;	/* COUNT of all rows: 1: only the first of each row's peers counts */
	uint8_t average; /* SUM of FLOAT64: 1: by the number of values */
	uint16_t order;
} GpuaggWindowFunction;

/* A column of the second program: one of the two, the other is NONE. */
typedef struct GpuaggWindowColumn
{
	uint16_t value;
	uint16_t function;
} GpuaggWindowColumn;

typedef struct GpuaggWindow
{
	uint64_t places; /* that rows may take: those of each chunk, rounded up to units */
	uint32_t nvalues;
	uint32_t nkeys;
	uint32_t norders; /* at least 1 */
	uint32_t nfunctions;
	uint16_t values[GPUAGG_WINDOW_VALUES + 1]; /* registers at the program's end */
	GpuaggWindowKey keys[GPUAGG_WINDOW_KEYS];
	GpuaggWindowOrder orders[GPUAGG_WINDOW_ORDERS];
	GpuaggWindowFunction functions[GPUAGG_WINDOW_FUNCTIONS];
	GpuaggWindowColumn columns[GPUAGG_WINDOW_COLUMNS]; /* of the second program */
	uint32_t nout;									   /* registers of rows asked for; or 0 */
	uint16_t out[GPUAGG_WINDOW_VALUES + 1];			   /* of the second program, at its end */
	uint32_t spare;									   /* 0 */
} GpuaggWindow;

/*
 * Rows in an answer, from its groups' place on: for each register its values, of the width that
 * these have (INT16: 4 bytes), and a bitmap of those that are not NULL, both aligned to 64 bytes.
 */
static inline uint32_t
gpuagg_window_width(int type)
{
	return type == GPUAGG_VECTOR_INT16 ? 4 : (uint32_t) gpuagg_vector_type_size(type);
}

static inline uint64_t
gpuagg_window_aligned(uint64_t bytes)
{
	return (bytes + 63) / 64 * 64;
}

/* Bytes of a register's values and bitmap, of so many rows. */
static inline uint64_t
gpuagg_window_out_bytes(int type, uint64_t nrows)
{
	return gpuagg_window_aligned(nrows * gpuagg_window_width(type)) +
		   gpuagg_window_aligned((nrows + 63) / 64 * 8);
}

/* Whether rows stay in an order as they are in the one before. */
static inline bool
gpuagg_window_same_sort(const GpuaggWindow *window, uint32_t order)
{
	return order > 0 && window->orders[order].first == window->orders[order - 1].first &&
		   window->orders[order].nkeys == window->orders[order - 1].nkeys;
}

/* Type of a function's results; 0: there is no such function. */
extern GpuaggVectorType gpuagg_window_result(const GpuaggWindowFunction *function);

/*
 * Whether it can be computed, over registers of these types at the program's end, for a second
 * program with ncolumns columns of these types; and rows be asked for of that one's registers.
 */
extern bool gpuagg_window_check(const GpuaggWindow *window, const uint8_t *types,
								const uint8_t *columns, uint32_t ncolumns);
extern bool gpuagg_window_check_out(const GpuaggWindow *window, const uint8_t *types);

#endif /* GPUAGG_QUERY_WINDOW_H */
