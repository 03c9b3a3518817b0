/*
 * column_queue.h
 *	  A queue of rows as columns, in memory up to a limit, then in a file.
 */
#ifndef GPUAGG_COLUMN_QUEUE_H
#define GPUAGG_COLUMN_QUEUE_H

#include "compat.h"

#include "executor/tuptable.h"

typedef struct ColumnQueue ColumnQueue;

/*
 * An empty queue of rows of this descriptor, which must outlive it, of which the columns that are
 * `kept` come back; in a child of `parent`.  Of columns with a scale of 0 or more values are pointers
 * to 128-bit integers; scales may be NULL.  `limit` is in bytes.
 */
extern ColumnQueue *gpuagg_column_queue_make(TupleDesc desc, const bool *kept, const int *scales,
											 int64 limit, MemoryContext parent);

/*
 * Adds copies of n rows of Datums, each `stride` places after the one before.  The file, if there is
 * one, belongs to the current resource owner.
 */
extern void gpuagg_column_queue_put(ColumnQueue *queue, const Datum *values, const bool *isnull,
									Size stride, int64 n);

/*
 * The next rows, at most so many; returns how many: 0 if it has none.  Values by reference last until
 * the next get or put.
 */
extern int gpuagg_column_queue_get(ColumnQueue *queue, int64 most, Datum *values, bool *isnull,
								   Size stride);

/* Rows that were ever written to the file. */
extern int64 gpuagg_column_queue_spilled(const ColumnQueue *queue);

/* Removes its file and all memory. */
extern void gpuagg_column_queue_end(ColumnQueue *queue);

#endif /* GPUAGG_COLUMN_QUEUE_H */
