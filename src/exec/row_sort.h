/*
 * row_sort.h
 *	  Sorts rows by keys of fixed width, and tells where partitions and peers begin.
 *
 * A radix sort in memory, on either engine; beyond the limit runs on disk, which are merged.
 * Sort operators may be the default < and > of boolean, integers, floats, oid, money, date,
 * time, timestamp, timestamptz and domains over them.  The order of equal rows is
 * unspecified.
 */
#ifndef GPUAGG_ROW_SORT_H
#define GPUAGG_ROW_SORT_H

#include "executor/tuptable.h"

#include "exec/column_store.h"
#include "spec/window_spec.h"

typedef struct RowSort RowSort;

/* Columns to be given out. */
typedef struct RowColumns
{
	bool *gathered; /* by column: from the rows */
	bool *unpacked; /* from their keys */
	bool integers;	/* of numerics that are kept as integers pointers to these, as by reference */
} RowColumns;

typedef struct RowSortReport
{
	const char *method; /* "radix" or "external merge" */
	const char *space;	/* "Memory" or "Disk" */
	int64 kB;
	int64 device_pieces; /* pieces that the device sorted */
} RowSortReport;

/*
 * A sort of rows of this descriptor by all partition columns of the spec, then all its
 * order columns (together 1 to SORT_MAX_KEYS), in a child of `parent`.  Descriptor and spec
 * must outlive it.  wanted: columns that are asked for later, of rows given out only if they are
 * among the first ngiven; others are NULL or anything.  numbered: its rows may be those of another
 * sort, too.  `limit` is in bytes.  Its file belongs to
 * the resource owner of the put that begins it.
 */
extern RowSort *gpuagg_row_sort_begin(TupleDesc desc, const WindowSpec *spec, const bool *wanted,
									  int ngiven, bool numbered, int64 limit, MemoryContext parent);

extern TupleDesc gpuagg_row_sort_desc(const RowSort *sort);

/* Columns that it needs: those that are wanted, and keys. */
extern const bool *gpuagg_row_sort_kept(const RowSort *sort);

/* Adds a copy of the slot's row. */
extern void gpuagg_row_sort_put(RowSort *sort, TupleTableSlot *slot);

/* Adds n rows, 1 to STORE_ROWS, as gpuagg_column_store_put_vectors(). */
extern void gpuagg_row_sort_put_vectors(RowSort *sort, const GpuaggVector *const *columns,
										const bool *is_datum, const uint16 *rows, int n);

/*
 * Before any put, until it is cleared: numerics of columns with a scale of 0 or more are kept as
 * integers of that scale.
 */
extern void gpuagg_row_sort_keep_integers(RowSort *sort, const int *scales);

/* Adds copies of n rows from number `first` of the inputs on, as gpuagg_column_store_put_columns(). */
extern void gpuagg_row_sort_put_columns(RowSort *sort, const StoreInput *inputs, int64 first,
										int64 n);

/*
 * In place of puts, where none has been: its rows are those of `below`, whose number they keep.  A
 * column is a column of those, as all keys are, or is to be set.  `below` is numbered, in memory, and
 * neither cleared nor ended before this one is.  False: that would take more memory than it may;
 * it has no rows.
 */
extern bool gpuagg_row_sort_share(RowSort *sort, const RowSort *below, const StoreSource *sources);

/*
 * Sets a column of the n rows from number `first` in the order of `below` on; values are `stride`
 * places apart, 0: all rows have the same one.
 */
extern void gpuagg_row_sort_set(RowSort *sort, int column, const RowSort *below, int64 first,
								int64 n, const Datum *values, const bool *isnull, Size stride);

/* The same of a column that is kept as integers. */
extern void gpuagg_row_sort_set_integers(RowSort *sort, int column, const RowSort *below,
										 int64 first, int64 n, const GpuaggInt128 *values,
										 const uint8 *status, Size stride);

/* Whether it has more memory than it may. */
extern bool gpuagg_row_sort_is_full(const RowSort *sort);

/* Frees what it needs to give rows out, until it is rewound. */
extern void gpuagg_row_sort_rest(RowSort *sort);

/* Sorts; to be called once, after the last put and before the first get. */
extern void gpuagg_row_sort_perform(RowSort *sort);

/*
 * The next row, in a slot that is the sort's; NULL after the last.  It stays until the next get;
 * what its values point to stays until then, or, if the sort is in memory, and it is not a numeric
 * that is kept as an integer, until it is cleared or ended.  A new partition also starts new peers.
 */
extern TupleTableSlot *gpuagg_row_sort_get(RowSort *sort, bool *new_partition, bool *new_peers);

/* Those of the columns that are wanted, in the current memory context. */
extern RowColumns *gpuagg_row_sort_select(const RowSort *sort, const bool *columns);

/*
 * Gets some columns, or, if NULL, all that are wanted, of up to `most` rows, each `stride` places
 * after the one before; returns how many rows: not 0 but at the end.  Other columns are not set.
 * From number `at` on sets the bits of rows that start a partition and peers.  What values point
 * to stays as above, or is in the current memory context.
 */
extern int64 gpuagg_row_sort_get_many(RowSort *sort, const RowColumns *columns, int64 most,
									  Datum *values, bool *isnull, Size stride, uint64 *partitions,
									  uint64 *peers, int64 at);

/* The number of the next row to get. */
extern int64 gpuagg_row_sort_position(const RowSort *sort);

/* Whether there is no further row to get. */
extern bool gpuagg_row_sort_is_done(const RowSort *sort);

/* Makes the first row the next to get. */
extern void gpuagg_row_sort_rewind(RowSort *sort);

/* Of a column of numerics that are kept as integers, their scale; -1: others. */
extern int gpuagg_row_sort_scale(const RowSort *sort, int column);

extern bool gpuagg_row_sort_in_memory(const RowSort *sort);

/*
 * Only if the sort is in memory: a row by its number in the order, from 0; fastest for one row after
 * the other.  What its values point to stays until the next one.
 */
extern void gpuagg_row_sort_row(RowSort *sort, int64 row, Datum *values, bool *isnull);

/* The same: some columns of n rows from number `first` on, as gpuagg_row_sort_get_many(). */
extern void gpuagg_row_sort_columns(const RowSort *sort, const RowColumns *columns, int64 first,
									int64 n, Datum *values, bool *isnull, Size stride);

/* The method and memory used, after the sort has been performed. */
extern void gpuagg_row_sort_report(const RowSort *sort, RowSortReport *report);

/* Forgets all rows; puts may begin again. */
extern void gpuagg_row_sort_clear(RowSort *sort);
extern void gpuagg_row_sort_end(RowSort *sort);

#endif /* GPUAGG_ROW_SORT_H */
