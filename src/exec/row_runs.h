/*
 * row_runs.h
 *	  Sorted runs of rows in a temporary file, and their merge.
 */
#ifndef GPUAGG_ROW_RUNS_H
#define GPUAGG_ROW_RUNS_H

#include "compat.h"

#include "exec/row_keys.h"

typedef struct RowRuns RowRuns;

/*
 * No runs, in a child of `parent`, of rows of stores made of the same descriptor and columns.
 * `limit` is in bytes, of memory.  The file belongs to the current resource owner.
 */
extern RowRuns *gpuagg_row_runs_make(TupleDesc desc, const bool *kept, const int *scales,
									 int64 limit, MemoryContext parent);

/* Writes a run: the rows of n items, which are sorted, of a store. */
extern void gpuagg_row_runs_add(RowRuns *runs, const RowKeys *keys, const ColumnStore *store,
								const uint64 *items, int64 n);

/*
 * Begins to merge the runs, from the first row on; not for the first time only.  The keys are laid
 * out for the rows of all runs, and stay so.  Rows whose keys are equal are given in the order
 * of their runs, and of items therein.
 */
extern void gpuagg_row_runs_begin(RowRuns *runs, const RowKeys *keys);

/*
 * The items of the next rows, at most so many; returns how many, 0 after the last.  Their numbers
 * are those of rows in gpuagg_row_runs_store(), where they stay until the next call.
 */
extern int64 gpuagg_row_runs_next(RowRuns *runs, uint64 *items, int64 most);
extern const ColumnStore *gpuagg_row_runs_store(const RowRuns *runs);

/* Frees the merge's memory, until it begins again. */
extern void gpuagg_row_runs_rest(RowRuns *runs);

/* Bytes that have been written. */
extern int64 gpuagg_row_runs_bytes(const RowRuns *runs);

/* Removes the file and all memory. */
extern void gpuagg_row_runs_end(RowRuns *runs);

#endif /* GPUAGG_ROW_RUNS_H */
