/*
 * row_sort.h
 *	  Sorts rows by keys of fixed width, and tells where partitions and peers begin.
 *
 * In memory by radix, on either engine; above the limit core's tuplesort takes over.  The order is
 * that of the sort operators, which may be any pair of the default ones (< and >)
 * of boolean, integers, floats, oid, money, date, time, timestamp, timestamptz
 * and domains over them.  The order of equal rows is unspecified.
 */
#ifndef GPUAGG_ROW_SORT_H
#define GPUAGG_ROW_SORT_H

#include "executor/tuptable.h"

#include "types/sort_key.h"

typedef struct RowSort RowSort;

typedef struct RowSortKey
{
	AttrNumber attno;
	Oid sort_operator;
	Oid collation; /* of no effect on these types */
	bool nulls_first;
} RowSortKey;

typedef struct RowSortReport
{
	const char *method; /* "radix", or as EXPLAIN calls core's */
	const char *space;	/* "Memory" or "Disk" */
	int64 kB;
	int64 device_pieces; /* of a sort in memory that the device has sorted */
} RowSortReport;

/*
 * A sort of rows of this descriptor, which must outlive it, in a child of
 * `parent`.  The first `npartition` of the `nkeys` (1 to SORT_MAX_KEYS) tell
 * partitions apart, all of them peers.  `limit` is in bytes.  Files of core's
 * sort belong to the resource owner that is current at the put that needs it.
 */
extern RowSort *gpuagg_row_sort_begin(TupleDesc desc, int nkeys, const RowSortKey *keys,
									  int npartition, int64 limit, MemoryContext parent);

/* Adds the slot's row, copied. */
extern void gpuagg_row_sort_put(RowSort *sort, TupleTableSlot *slot);

/* To be called once, after the last put and before the first get. */
extern void gpuagg_row_sort_perform(RowSort *sort);

/*
 * The next row into a slot of TTSOpsMinimalTuple; false, with the slot empty,
 * after the last.  In memory a row stays where it is until the end of the sort,
 * else until the next get.  A new partition has new peers.
 */
extern bool gpuagg_row_sort_get(RowSort *sort, TupleTableSlot *slot, bool *new_partition,
								bool *new_peers);

/*
 * Where the sort is in memory, a row by its number, from 0, into a slot of
 * TTSOpsMinimalTuple; meant for a second look at them in their order.
 */
extern void gpuagg_row_sort_row(const RowSort *sort, int64 row, TupleTableSlot *slot);

/*
 * Where the sort is in memory, moves so many rows on from the first.
 * gpuagg_row_sort_seek() returns false, and moves nothing, where it is not; then
 * rows have to be put anew.  The row after a seek is marked as new as when it was
 * first got.
 */
extern bool gpuagg_row_sort_in_memory(const RowSort *sort);
extern bool gpuagg_row_sort_seek(RowSort *sort, int64 row);

/* What was used; after the sort has been performed. */
extern void gpuagg_row_sort_report(const RowSort *sort, RowSortReport *report);

/* Forgets all rows: puts may begin again. */
extern void gpuagg_row_sort_clear(RowSort *sort);
extern void gpuagg_row_sort_end(RowSort *sort);

#endif /* GPUAGG_ROW_SORT_H */
