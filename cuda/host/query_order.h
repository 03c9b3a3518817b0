/*
 * query_order.h
 *	  The window of a query: its rows kept, put in order, and its functions computed.
 *
 * It lies in the block of the lane that does the query, which stays on that lane until it has
 * ended.  First all slices keep their rows; then two pieces measure() and compute().
 */
#ifndef GPUAGG_QUERY_ORDER_H
#define GPUAGG_QUERY_ORDER_H

#include "common/query_wire.h"
#include "host/job.h"
#include "host/kept_rows.h"
#include "host/lane.h"
#include "kernels/kernels.h"
#include "kernels/query.h"

/* A value in an order, as a column or argument has it; from GPUAGG_WINDOW_VALUES on: functions of other orders. */
typedef struct OrderedValue
{
	uint16_t value;
	uint32_t bytes;
	size_t values; /* places in the lane's block */
	size_t valid;
} OrderedValue;

typedef struct OrderedFunction
{
	uint16_t gathered; /* its argument; NONE */
	uint32_t bytes;	   /* of a result */
	size_t results;
	size_t status;	/* 0: all are values */
	size_t reached; /* its values, where they are not the results */
	size_t counts;	/* of an average: numbers of values */
	size_t valid;

	/* where it is not of the last order: its values at the rows' places */
	size_t kept;
	size_t kept_valid; /* 0: no row's is NULL */
} OrderedFunction;

/* What is made in one of the window's orders. */
typedef struct OrderedSort
{
	int bits;
	int words; /* of items */
	uint32_t first_gathered;
	uint32_t ngathered;
} OrderedSort;

#define ORDERED_VALUES (GPUAGG_WINDOW_COLUMNS + GPUAGG_WINDOW_FUNCTIONS)

/* What comes back when functions have been computed. */
typedef struct OrderedOutcome
{
	uint32_t overflows; /* not 0: a row's result is one */
	uint32_t spare;
	GpuScanState state[GPUAGG_WINDOW_FUNCTIONS];
} OrderedOutcome;

/* The rows that are asked for, kept, and gathered. */
typedef struct OrderedRows
{
	KeptRows kept; /* without values: none are */
	uint64_t room; /* rows that the answer can have */
	uint32_t part; /* of so many, by which they are divided */
	uint32_t parts;
	uint64_t first; /* of the part's, */
	uint64_t nrows; /* when they have been measured; more than there is room for: none are given */

	/* places in the lane's block */
	size_t gathered[GPUAGG_WINDOW_VALUES];
	size_t gathered_valid[GPUAGG_WINDOW_VALUES];
} OrderedRows;

typedef struct QueryOrder
{
	GpuaggWindow window;
	KeptRows kept; /* the window's values, of the rows of slices */
	uint8_t columns[GPUAGG_WINDOW_COLUMNS];
	uint32_t ncolumns;
	uint64_t used; /* places of slices so far */
	bool stale;	   /* some chunk was: there is nothing to do */

	GpuWindowMeasure measure; /* when that has ended */
	GpuaggKeyLayout layout[GPUAGG_WINDOW_KEYS];
	OrderedSort sorts[GPUAGG_WINDOW_ORDERS];

	/* places in the lane's block */
	size_t measured;
	size_t scratch;
	size_t items;
	size_t sorted;
	size_t sort_scratch;
	size_t sort_bytes;
	size_t partitions;
	size_t peers;
	size_t levels;
	size_t peer_levels;
	size_t scan_scratch;
	size_t outcome;
	uint32_t ngathered;
	OrderedValue gathered[ORDERED_VALUES];
	uint16_t column_gathered
		[GPUAGG_WINDOW_COLUMNS]; /* of those that are no function of the last order */
	OrderedFunction functions[GPUAGG_WINDOW_FUNCTIONS];
	OrderedRows out;
} QueryOrder;

/* Takes a window that fits a program with registers of these types; columns: those of the second one. */
extern void gpud_order_init(QueryOrder *order, const GpuaggWindow *window, const uint8_t *types,
							const uint8_t *columns, uint32_t ncolumns);

/* Finds places behind block_bytes. */
extern GpuaggReason gpud_order_plan(QueryOrder *order, size_t *block_bytes);

/* Enqueues the clearing of what has to be zero. */
extern GpuaggReason gpud_order_begin(QueryOrder *order, const Lane *lane);

/* Enqueues the keeping of a slice's rows. */
extern GpuaggReason gpud_order_keep(QueryOrder *order, const Lane *lane, const GpuQuery *query);

/*
 * Enqueues the measuring, and the copy of its result to `slot`; then takes it over: CPU_ONLY: the
 * keys are too long, or sums of floats have values too far apart.
 */
extern GpuaggReason gpud_order_measure(QueryOrder *order, const Lane *lane, void *slot);
extern GpuaggReason gpud_order_measured(QueryOrder *order, const void *slot);

/*
 * Enqueues all that gives the second program's columns, and the copy of an outcome to `slot`.
 * blocks: by number of column, as the kernels of queries have them.
 */
extern GpuaggReason gpud_order_compute(QueryOrder *order, const Lane *lane, GpuQueryBlock *blocks,
									   void *slot);

/* When that has ended; CPU_ONLY: some row's value is an overflow. */
extern GpuaggReason gpud_order_computed(const QueryOrder *order, const void *slot);

/* Whether rows are asked for. */
static inline bool
gpud_order_gives_rows(const QueryOrder *order)
{
	return order->out.kept.nvalues > 0;
}

/* The values of a column that is one of the keys, if they are few integers. */
extern GpuQueryRange gpud_order_range(const QueryOrder *order, uint32_t column);

#endif /* GPUAGG_QUERY_ORDER_H */
